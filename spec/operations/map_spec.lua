-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local LOW = { char = -60, short = -9000, int = -1000000, long = -1000000 }
local HIGH = { char = 60, uchar = 120, short = 9000, ushort = 20000, int = 1000000, uint = 2000000, long = 1000000,
  ulong = 2000000 }

--- Numbers that fit when doubled; those of floating types have few digits.
local function numbers(d, dtype, n, seed)
  local options = { seed = helper.seed + seed, low = LOW[dtype], high = HIGH[dtype] }
  if HIGH[dtype] then return d:random(dtype, n, options) end
  local list = d:random("int", n, { seed = helper.seed + seed, low = -500, high = 500 }):read()
  for i = 1, n do list[i] = list[i] / 8 end
  return d:buffer(list, dtype)
end

local function assert_equal_lists(expected, got)
  assert.equal(#expected, #got)
  for i = 1, #expected do
    if expected[i] ~= got[i] then error(("element %d: expected %s, got %s"):format(i, expected[i], got[i])) end
  end
end

helper.describe_kinds("map", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    it("computes every element of every size, for " .. dtype, function()
      for _, n in ipairs(helper.sizes(d)) do
        if n < 70000 or dtype == "float" or dtype == "char" then
          local x, y = numbers(d, dtype, n, 1), numbers(d, dtype, n, 2)
          local expected, of_y = x:read(), y:read()
          for i = 1, n do expected[i] = 2 * expected[i] - (of_y[i] - expected[i]) - expected[i] end
          local out = cl.map("a*x[i] - (y[i] - x[i]) - x[i]", { a = 2, x = x, y = y })
          assert.equal(dtype, out.dtype)
          if dtype:find "^u" then
            local bits = { uchar = 8, ushort = 16, uint = 32 }
            for i = 1, n do expected[i] = bits[dtype] and expected[i] & (1 << bits[dtype]) - 1 or expected[i] end
          elseif dtype == "char" then
            for i = 1, n do expected[i] = (expected[i] + 128) % 256 - 128 end
          end
          assert_equal_lists(expected, out:read())
        end
      end
    end)
  end

  it("takes views of any start, and writes nothing beside them", function()
    for _, dtype in ipairs { "char", "half", "float" } do
      for _, n in ipairs { 1, 64, 129, 1000 } do
        for _, first in ipairs { 1, 2, 4, 5, 17 } do
          local x, out = numbers(d, dtype, n + 20, 3), d:zeros(dtype, n + 20):fill(7)
          local view = x:view(first, first + n - 1)
          cl.map("x[i] + 1", { x = view }, { out = out:view(3, n + 2) })
          local expected, got = view:read(), out:read()
          for i = 1, n + 20 do
            local inside = i >= 3 and i <= n + 2
            assert.equal(inside and expected[i - 2] + 1 or 7, got[i])
          end
        end
      end
    end
  end)

  it("keeps to its elements where the result goes by the caches", function()
    if helper.is_simulator(d) then return pending "too large for a simulator" end
    for _, first in ipairs { 1, 17, 18 } do
      local n = 1000003
      local x, out = d:random("float", n, { seed = helper.seed }), d:zeros("float", n + 40):fill(7)
      cl.map("x[i]", { x = x }, { out = out:view(first, first + n - 1) })
      assert.equal(x:string(), out:view(first, first + n - 1):string())
      for i = 1, first - 1 do assert.equal(7, out[i]) end
      for i = first + n, n + 40 do assert.equal(7, out[i]) end
    end
  end)

  if is_sample then return end

  it("works in place, and with the same buffer under two names", function()
    local x = d:random("float", 1000, { seed = helper.seed })
    local before = x:read()
    assert.equal(x, cl.map("x[i]*x[i]", { x = x }, { out = x }))
    local got = x:read()
    for i = 1, 1000 do assert.near(before[i] * before[i], got[i], helper.eps.float) end
    cl.map("x[i] - y[i]", { x = x, y = x }, { out = x })
    for _, v in ipairs(x:read()) do assert.equal(0, v) end
  end)

  it("knows the index, which counts from 0 and has a sign", function()
    local list = cl.map("x[i]*0 + (i - 3)*2", { x = d:zeros("int", 100) }):read()
    for i = 1, 100 do assert.equal((i - 1 - 3) * 2, list[i]) end
  end)

  it("computes from the index alone, for every element of out", function()
    local out = d:zeros("int", 3, 37)
    assert.equal(out, cl.map("i * k - 5", { k = 2 }, { out = out }))
    for i, value in ipairs(out:reshape(111):read()) do assert.equal(2 * (i - 1) - 5, value) end
    assert.equal(0, #cl.map("i * k - 5", { k = 2 }, { out = d:zeros("int", 0) }))
  end)

  it("gives the dtype that comes last, and a float where a Lua float meets integers", function()
    local function of(a, b, scalar)
      return cl.map("x[i] + y[i]*s", { x = d:zeros(a, 3), y = d:zeros(b, 3), s = scalar }).dtype
    end
    assert.equal("uchar", of("char", "uchar", 1))
    assert.equal("int", of("int", "short", 1))
    assert.equal("ulong", of("long", "ulong", 1))
    assert.equal("half", of("int", "half", 0.5))
    assert.equal("float", of("long", "float", 1))
    assert.equal("float", of("int", "int", 0.5))
    assert.equal("float", of("half", "float", 0.5))
    if d.has_double then assert.equal("double", of("float", "double", 1)) end
  end)

  it("converts to the dtype of out, or the one that is asked for", function()
    local x = d:buffer { 1.75, -1.75, 3 }
    assert.same({ 1, -1, 3 }, cl.map("x[i]", { x = x }, { dtype = "int" }):read())
    local out = d:zeros("uchar", 3)
    assert.equal(out, cl.map("x[i] > limit", { x = x, limit = 1.5 }, { out = out }))
    assert.same({ 1, 0, 1 }, out:read())
    assert.same({ 1.75, -1.75, 3 }, cl.map("x[i]", { x = x }, { dtype = "half" }):read())
  end)

  it("computes half in float, rounded to nearest", function()
    local x = d:buffer({ 1, 2048, 0.5 }, "half")
    assert.same({ 1, 2048, 0.5 }, cl.map("(x[i] + 0.25f) - 0.25f", { x = x }):read())
    assert.same({ 1, 2048, 0.5 }, cl.map("x[i] + s", { x = x, s = 2.0 ^ -12 }):read())
  end)

  it("has the functions of OpenCL C", function()
    local x = d:random("float", 300, { seed = helper.seed, low = 0.1, high = 2 })
    local list, got = x:read(), cl.map("exp(-x[i]) + fmax(sqrt(x[i]), 1.0f)", { x = x }):read()
    for i = 1, 300 do
      assert.near(math.exp(-list[i]) + math.max(math.sqrt(list[i]), 1), got[i], 8 * helper.eps.float)
    end
  end)

  it("multiplies and combines bits behind parentheses and in front of signs", function()
    local x = d:buffer({ 6, 7 }, "int")
    assert.same({ 2, 3 }, cl.map("(x[i]) & (3)", { x = x }):read())
    assert.same({ -36, -49 }, cl.map("(x[i]) * -(int)(x[i])", { x = x }):read())
    assert.same({ 1, 0 }, cl.map("x[i] && (x[i]) && !(x[i] & 1)", { x = x }):read())
  end)

  it("has the shape of its operands", function()
    local out = cl.map("x[i] + y[i]", { x = d:zeros("float", 3, 4), y = d:zeros("float", 12) })
    assert.same({ 3, 4 }, out.shape)
    assert.same({ 0, 4 }, cl.map("-x[i]", { x = d:zeros("float", 0, 4) }).shape)
  end)
end)

helper.describe_each("map", function(d)
  local x, y = d:buffer { 1, 2 }, d:buffer { 3, 4 }

  it("reads an expression anew for operands of other kinds", function()
    for _ = 1, 2 do
      assert.same({ 4, 5 }, cl.map("x[i] + y", { x = x, y = 3 }):read())
      helper.raises({ "map", "'y' is a buffer: y[i] is its element" }, cl.map, "x[i] + y", { x = x, y = y })
    end
  end)

  it("shows the expression where it is wrong, and says what is", function()
    for _, case in ipairs {
      { "x[i] + z", "unknown name 'z'; there are: i, x" },
      { "x[i] + y[i]", "unknown name 'y'" },
      { "x + 1", "'x' is a buffer: x[i] is its element" },
      { "x[i + 1]", "a buffer is indexed by i alone, 'x[i]'" },
      { "x[0]", "a buffer is indexed by i alone" },
      { "x[i", "']' is missing" },
      { "(x[i]", "')' is missing" },
      { "x[i])", "')' closes nothing" },
      { "x[i]) + (1", "')' closes nothing" },
      { "x[i] = 1", "'=' assigns" },
      { "x[i] += 1", "'+=' assigns" },
      { "x[i]++", "'++' changes its operand" },
      { "x[i]; x[i]", "';' has no place" },
      { "x[i] // 1", "'//' begins a comment" },
      { "x[i] /* 1", "'/*' begins a comment" },
      { "x[i]**2", "'**' is no operator of C: write pow(x, y)" },
      { "x[i] ~= 2", "'~=' is Lua's: write !=" },
      { "x[i] and 1", "'and' is Lua's: write &&" },
      { "x[i] or 1", "'or' is Lua's: write ||" },
      { "not x[i]", "'not' is Lua's: write !" },
      { "math.sin(x[i])", "'math.sin' is Lua's: write sin(...)" },
      { "math.max(x[i])", "'math.max' is Lua's: write fmax(...)" },
      { "math.random(x[i])", "unknown name 'math'; there are: i, x" },
      { "sqr(x[i])", "unknown name 'sqr'; did you mean 'sqrt'? There are: i, x" },
      { "x[i] * INFINTY", "unknown name 'INFINTY'; did you mean 'INFINITY'? There are: i, x" },
      { "x[i]^2", "does not build" }, { "x[i]^2", "; '^' is for the bits of integers: write pow(x, y)" },
      { "x[i] % 2", "; '%' is for integers: write fmod(x, y)" },
      { "abs(x[i])", "; write fabs(x)" },
      { "max(x[i], 2.0)", "its arguments are to be of one type: write 2.0f" },
      { "x[i] # 1", "'#' has no place" },
      { "x[i], 2", "',' outside of a function's arguments" },
      { "x[i] + sqrt", "'sqrt' is a function: sqrt(...)" },
      { "x[i] + get_global_id(0)", "unknown name 'get_global_id'" },
      { "barrier(1) + x[i]", "unknown name 'barrier'" },
      { "i[x]", "'i' is a number, not a buffer" },
      { "(&x[i])[9]", "'&' in front of an operand is for pointers" },
      { "x[i] + *(&x[i] + 9)", "'*' in front of an operand" },
      { "(float)*(float*)((long)&x[i] + 36)", "'*' in front of an operand" },
      { "x[i] + (float)(float*)36", "'*' in front of an operand" },
      { "x[i] + (long)&x[i]", "'&' in front of an operand" },
      { "x[i] && &&x[i]", "'&&' in front of an operand" },
      { "(x[i])[9]", "'[' has its place behind a buffer's name alone" },
      { "x[i][9]", "'[' has its place" },
      { "x[i] + \u{e9}", "'\u{e9}' has no place" },
      { "x[i] + \xff", "'\xff' has no place" },
      { "x[i] +", "does not build" },
      { "pow(x[i])", "does not build" },
    } do
      helper.raises({ "map: ", case[2], '"' .. case[1] .. '"' }, cl.map, case[1], { x = x })
    end
    local fields = "elements are numbers, without a field 'mass'; buffers of structs are for kernels of d:program"
    helper.raises(fields, cl.map, "2 * x[i].mass", { x = cl.struct("body", "float mass;"):buffer(d, { { mass = 1 } }) })
    helper.raises("; elements of buffers are numbers", cl.map, "x[i].mass", { x = x }, { preamble = "#define ONE 1" })
    assert.matches('^map: "pow%(x%[i%]%)" does not build: [^\n:]+$', select(2, pcall(cl.map, "pow(x[i])", { x = x })))
    local _, message = pcall(cl.map, "pow(x[i]) + pow(x[i])", { x = x })
    assert.equal(1, select(2, message:gsub("no matching function", "")), message)
    helper.raises({ "nothing to compute" }, cl.map, "  ", { x = x })
    helper.raises({ "map: expression (a string) expected, got nil" }, cl.map, nil, { x = x })
  end)

  it("names the operand or the option that is wrong", function()
    local released = d:buffer { 1 }
    released:release()
    for _, case in ipairs {
      { "table of operands by their names expected, as { x = x, y = y }, got nil", nil },
      { "as { x = x, y = y }, got Buffer", x },
      { "a buffer expected among the operands", {} },
      { "a buffer expected among the operands", { a = 1 } },
      { "operand 'y' is not used in \"x[i]\"", { x = x, y = y } },
      { "operand 'a' is not used", { x = x, a = 1 } },
      { "operand 'x': buffer or number expected, got string", { x = "1" } },
      { "operand 'x': buffer or number expected, got table", { x = { 1 } } },
      { "operand 'x': buffer expected, got Device", { x = d } },
      { "operand 'x' is released", { x = released } },
      { "'x' has 2 elements, but 'y' has 3", { x = x, y = d:buffer { 1, 2, 3 } } },
      { "no operand can be called 'i'", { x = x, i = 1 } },
      { "no operand can be called 'max', which is a word of OpenCL C", { x = x, max = 1 } },
      { "no operand can be called 'float'", { x = x, float = 1 } },
      { "no operand can be called 'while'", { x = x, ["while"] = 1 } },
      { "no operand can be called 'M_PI'", { x = x, M_PI = 1 } },
      { "'a b' is no name for an operand", { x = x, ["a b"] = 1 } },
      { "'1' is no name for an operand", { x } },
      { "option 'out': buffer expected, got number", { x = x }, { out = 1 } },
      { "unknown option 'uot'", { x = x }, { uot = y } },
      { "option 'out' has 3 elements, but 'x' has 2", { x = x }, { out = d:zeros("float", 3) } },
      { "option 'out' is released", { x = x }, { out = released } },
      { "no dtype 'real'", { x = x }, { dtype = "real" } },
      { "option 'dtype' is int, but 'out' has float elements", { x = x }, { dtype = "int", out = y } },
    } do
      assert.matches("^map: ", helper.raises(case[1], cl.map, "x[i]", case[2], case[3]))
    end
    helper.raises({ "map: operand 'a': 1e+300 does not fit float" }, cl.map, "a*x[i]", { a = 1e300, x = x })
    helper.raises({ "map: operand 'a': 300 does not fit char" }, cl.map, "a*x[i]",
      { a = 300, x = d:zeros("char", 2) })
  end)

  it("refuses a result that overlaps an operand, shifted", function()
    local all = d:buffer { 1, 2, 3, 4 }
    helper.raises({ "map: the result overlaps 'x', shifted" }, cl.map, "x[i]", { x = all:view(1, 3) },
      { out = all:view(2, 4) })
    assert.same({ 1, 2, 3, 4 }, all:read())
  end)

  it("tells the place in the script", function()
    local ok, message = pcall(function() return cl.map("x[i] + z", { x = x }) + 1 end)
    assert.is_false(ok)
    assert.matches("^[^\n]*spec/operations/map_spec%.lua:%d+: map: ", message)
  end)

  it("takes names that kernels use for themselves", function()
    local operands = { n = 1, chunk = 2, LANES = 3, RESULT = 4, out = x, at = y, lane = 5, VALUE = 6, first = 7,
      arg_x = 8, mem_x = 9, a = 10, b = 11 }
    local words = {}
    for name, value in pairs(operands) do words[#words + 1] = math.type(value) and name or name .. "[i]" end
    assert.same({ 66 + 1 + 3, 66 + 2 + 4 }, cl.map(table.concat(words, " + "), operands):read())
  end)

  it("builds a kernel once", function()
    cl.profile(true)
    for k = 1, 3 do cl.map("k*x[i] + 0.125f", { k = k, x = x }) end
    local builds = 0
    for _, row in ipairs(cl.profile()) do
      if row.kind == "build" then builds = builds + row.calls end
    end
    cl.profile(false)
    assert.equal(1, builds)
  end)
end)

describe("map", function()
  it("refuses buffers of two devices", function()
    local devices = helper.devices()
    if #devices < 2 then return pending "one device alone" end
    helper.raises({ "map: operand 'y': ", "another device" }, cl.map, "x[i] + y[i]",
      { x = devices[1]:buffer { 1 }, y = devices[2]:buffer { 1 } })
  end)

  it("works on a device that was closed and opened again", function()
    local d = helper.device()
    local x = d:buffer { 1, 2 }
    cl.map("x[i] + 1", { x = x })
    local place = d.place
    d:close()
    helper.raises({ "map: operand 'x' is released" }, cl.map, "x[i] + 1", { x = x })
    assert.same({ 2, 3 }, cl.map("x[i] + 1", { x = cl.device(place):buffer { 1, 2 } }):read())
  end)
end)
