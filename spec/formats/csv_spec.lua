-- SPDX-License-Identifier: MIT
--- Buffers as comma-separated values.

local helper = require "spec.helper"

local folder = helper.folder()
local path = folder .. "/numbers.csv"

teardown(function() os.execute("rm -rf " .. folder) end)

local d = helper.device()

local function load(text, dtype)
  helper.write(path, text)
  return d:load(path, dtype and { dtype = dtype })
end

helper.describe_each("a .csv file", function(device)
  it("gives back the bits that were saved, in every dtype", function()
    for _, dtype in ipairs(helper.dtypes(device)) do
      for _, shape in ipairs { { 1 }, { 7 }, { 1, 4 }, { 3, 5 }, { 13, 2 } } do
        local b = device:random(dtype, table.unpack(shape))
        if not (dtype == "half" or dtype == "float" or dtype == "double") then -- any bits
          local count = shape[1] * (shape[2] or 1)
          b = device:random("uchar", 8 * count):as(dtype):view(1, count):reshape(table.unpack(shape))
        end
        assert.equal(b, b:save(path))
        local c = device:load(path, { dtype = dtype })
        assert.equal(dtype, c.dtype)
        assert.same(shape, c.shape)
        assert.equal(b:string(), c:string(), dtype)
      end
    end
  end)
end)

describe("a .csv file", function()
  it("has exactly these bytes", function()
    d:buffer({ { 1, -2 }, { 3, 4 } }, "int"):save(path)
    assert.equal("1,-2\n3,4\n", helper.read(path))
    d:buffer({ 0.1, -0.0, math.huge, -math.huge, 0 / 0, 1e-45 }, "float"):save(path)
    assert.equal("0.100000001\n-0\ninf\n-inf\nnan\n1.40129846e-45\n", helper.read(path))
    d:buffer({ -1, 0, 1 << 63, math.maxinteger }, "ulong"):save(path)
    assert.equal("18446744073709551615\n0\n9223372036854775808\n9223372036854775807\n", helper.read(path))
    if d.has_double then
      d:buffer({ { 0.1, 5e-324 } }, "double"):save(path)
      assert.equal("0.10000000000000001,4.9406564584124654e-324\n", helper.read(path))
    end
  end)

  it("keeps every half, and hard floats and doubles", function()
    local bits = {}
    for i = 0, 0x7c00 do bits[i + 1] = i end
    local halves = d:buffer(bits, "ushort"):as "half"
    halves:save(path)
    assert.equal(halves:string(), d:load(path, { dtype = "half" }):string())
    local floats = d:random("uint", 20000, { high = 0x7f7fffff }):as "float"
    floats:save(path)
    assert.equal(floats:string(), d:load(path):string())
    if not d.has_double then return end
    local doubles = d:random("ulong", 20000, { high = 0x7fefffffffffffff }):as "double"
    doubles:save(path)
    assert.equal(doubles:string(), d:load(path, { dtype = "double" }):string())
    assert.equal(string.pack("d", -0.0), load("-0\n", "double"):string())
  end)

  it("is a vector where it has one column, and has no elements where it is empty", function()
    assert.same({ 3 }, load("1\n2\n3\n").shape)
    assert.same({ 1, 3 }, load("1,2,3").shape)
    assert.same({ 0 }, load("", "int").shape)
    assert.same({ 0 }, load("\n\n").shape)
    for _, shape in ipairs { { 0 }, { 0, 3 }, { 3, 0 } } do
      d:zeros("int", table.unpack(shape)):save(path)
      assert.equal("", helper.read(path))
    end
  end)

  it("may have blanks, signs, exponents, other line ends and a byte order mark", function()
    assert.same({ { 1, 20 }, { -0.5, 4 } }, load("\xef\xbb\xbf 1 ,\t+2e1\r\n-.5,4.\r\n\r\n"):read())
    assert.same({ { 7, -8 } }, load("+7.00,-8.", "int"):read())
    local list = load("NaN\n-Inf\nInfinity\n"):read()
    assert.is_true(list[1] ~= list[1] and list[2] == -math.huge and list[3] == math.huge)
  end)

  it("may begin with a line of names, which save writes on request", function()
    assert.same({ { 1, 2 }, { 3, 4 } }, load("time,x 1\n1,2\n3,4\n"):read())
    assert.same({ 5 }, load('"a,1"\r\n5\r\n'):read())
    assert.same({ 0 }, load("name\n").shape)
    d:buffer({ { 1, 2 } }):save(path, { header = { "2019", 'the "x"' } })
    assert.equal('"2019","the ""x"""\n1,2\n', helper.read(path))
    assert.same({ { 1, 2 } }, d:load(path):read())
    local function refused(message, header, to)
      helper.raises(message, function() d:buffer({ { 1, 2 } }):save(to or path, { header = header }) end)
    end
    refused("option 'header': 2 names expected, one a column, got 1", { "a" })
    refused("option 'header': [2]: text of one line expected", { "a", 2 })
    refused("option 'header' is for .csv files", { "a", "b" }, folder .. "/a.npy")
  end)

  it("is read as floats unless a dtype is told", function()
    assert.equal("float", load("1,2\n").dtype)
    assert.same({ 1 << 62, math.mininteger }, load("4611686018427387904\n-9223372036854775808", "long"):read())
    assert.equal(-1, load("18446744073709551615", "ulong")[1])
    assert.equal(9, load("9", "ulong")[1])
  end)

  it("passes in pieces when it is large", function()
    local m = d:random("short", 700, 300)
    m:save(path)
    assert.equal(m:string(), d:load(path, { dtype = "short" }):string())
  end)

  it("is written with points in every locale", function()
    local locale = os.setlocale(nil, "numeric")
    if not os.setlocale("de_DE.UTF-8", "numeric") then return pending "no locale with decimal commas" end
    local ok, message = pcall(function()
      d:buffer({ { 0.5, 2 } }):save(path)
      assert.equal("0.5,2\n", helper.read(path))
      assert.same({ { 0.5, 2 } }, d:load(path):read())
    end)
    os.setlocale(locale, "numeric")
    assert.is_true(ok, message)
  end)

  it("that is none is refused with its line and column", function()
    local function refused(message, text, dtype)
      local said = helper.raises({ path .. ": ", message }, load, text, dtype)
      assert.is_nil(said:find("csv.lua", 1, true), said)
    end
    refused("line 1, column 2: a number expected, got 'name'", "1,name\n")
    refused("line 1, column 2: a number that float holds expected, got '1e39'", "1,1e39\n")
    refused("line 2, column 1: a number that half holds expected, got '-65520'", "65519\n-65520\n", "half")
    refused("line 2, column 1: a number expected, got ''", "1,2\n,3\n")
    refused("line 1, column 3: a number expected, got ''", "1,2,\n")
    refused("line 1, column 1: a number expected, got '0x10'", "0x10")
    refused("line 1, column 1: a number expected, got '1;2'", "1;2")
    refused("line 1, column 1: a number expected, got '1 2'", "1 2")
    refused("line 1, column 1: a number expected, got '??", "\1\2\3")
    refused("line 1, column 1: a number expected, got '999999", ("9"):rep(500))
    refused("line 1, column 1: a number that double holds expected, got '1e999'", "1e999", "double")
    refused("line 2 has 1 column, but those before it have 2", "1,2\n3\n")
    refused("line 2 is empty, and line 3 is not", "1\n\n3\n")
    refused("line 1, column 1: an integer of int expected, got '2.5'", "2.5", "int")
    refused("line 1, column 1: an integer of int expected, got 'nan'", "nan", "int")
    refused("an integer of int expected, got '2147483648'", "2147483648", "int")
    refused("an integer of uchar expected, got '-1'", "-1", "uchar")
    refused("an integer of char expected, got '-129'", "-129", "char")
    refused("an integer of long expected, got '-9223372036854775809'", "-9223372036854775809", "long")
    refused("an integer of long expected, got '9223372036854775808'", "9223372036854775808", "long")
    refused("an integer of ulong expected, got '18446744073709551616'", "18446744073709551616", "ulong")
    refused("an integer of ulong expected, got '99999999999999999999", ("9"):rep(30), "ulong")
    refused("an integer of ulong expected, got '-1'", "-1", "ulong")
    refused("option 'dtype': a dtype expected, got 'flaot'", "1", "flaot")
    helper.raises("load: option 'dtype': string expected, got integer", load, "1", 1)
    helper.raises("a .csv file has 1 or 2 dimensions; this buffer is 1x1x1",
      function() d:zeros("int", 1, 1, 1):save(path) end)
    d:zeros("int", 3):save(folder .. "/a.npy")
    helper.raises("option 'dtype' is for .csv files", d.load, d, folder .. "/a.npy", { dtype = "int" })
  end)
end)
