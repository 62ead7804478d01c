-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

local folder = helper.folder()
local path = folder .. "/array.npy"

local function write_file(bytes, name) helper.write(name or path, bytes) end
local function read_file(name) return helper.read(name or path) end

--- A .npy file with that header text and elements.
local function npy(text, elements, version)
  version = version or 1
  return "\x93NUMPY" .. string.char(version, 0) .. string.pack(version == 1 and "<s2" or "<s4", text) .. elements
end

local function header_text(descr, shape, fortran)
  return ("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"):format(descr, fortran or "False", shape)
end

-- Each dtype: numpy's code, and how string.pack writes it (half: packed by hand).
local dtypes = {
  char = { "i1", "b" }, uchar = { "u1", "B" }, short = { "i2", "h" }, ushort = { "u2", "H" }, int = { "i4", "i4" },
  uint = { "u4", "I4" }, long = { "i8", "i8" }, ulong = { "u8", "i8" }, half = { "f2" }, float = { "f4", "f" },
  double = { "f8", "d" },
}
local names = {}
for name in pairs(dtypes) do names[#names + 1] = name end
table.sort(names)

local shapes = { { 1 }, { 7 }, { 0 }, { 3, 5 }, { 1, 4 }, { 4, 0 }, { 2, 3, 4 }, { 2, 1, 3, 2 }, { 0, 3, 0, 2 } }

-- The interpreter that has numpy; python3 of the path may be another than Debian's.
local numpy_python
for _, candidate in ipairs { "python3", "/usr/bin/python3" } do
  if not numpy_python and os.execute(candidate .. " -c 'import numpy' 2>/dev/null") then numpy_python = candidate end
end

--- Runs Python; returns what it printed, or raises it.
local function python(script)
  write_file(script, folder .. "/script.py")
  local pipe = assert(io.popen(("cd %s && %s script.py 2>&1"):format(folder, numpy_python)))
  local output = pipe:read("a")
  assert.is_true(pipe:close(), output)
  return output
end

teardown(function() os.execute("rm -rf " .. folder) end)

helper.describe_each("a .npy file", function(d)
  for _, dtype in ipairs(names) do
    it("gives back what was saved: " .. dtype, function()
      for _, shape in ipairs(shapes) do
        local b = d:random(dtype, table.unpack(shape))
        assert.equal(b, b:save(path))
        local c = d:load(path)
        assert.equal(dtype, c.dtype)
        assert.same(shape, c.shape)
        assert.equal(b:string(), c:string())
        assert.equal(d, c.device)
      end
    end)

    it("is read in either byte order: " .. dtype, function()
      local code, format = table.unpack(dtypes[dtype])
      local values = { 1, 2, 3, 65, 10, 0 }
      local little, big = {}, {}
      for i, v in ipairs(values) do
        if format then
          little[i], big[i] = string.pack("<" .. format, v), string.pack(">" .. format, v)
        else
          little[i] = d:buffer({ v }, "half"):string()
          big[i] = little[i]:reverse()
        end
      end
      for order, bytes in pairs { ["<"] = little, [">"] = big, ["="] = little, ["|"] = little } do
        write_file(npy(header_text(order .. code, "(2, 3)"), table.concat(bytes)))
        assert.same({ { 1, 2, 3 }, { 65, 10, 0 } }, d:load(path):read())
      end
    end)

    it("in Fortran order becomes rows: " .. dtype, function()
      for _, shape in ipairs(shapes) do
        local b = d:random(dtype, table.unpack(shape))
        local bytes, size, parts = b:string(), tonumber(dtypes[dtype][1]:sub(2)), {}
        local function walk(i, place) -- the first index fastest
          if i == 0 then
            parts[#parts + 1] = bytes:sub(place * size + 1, place * size + size)
            return
          end
          local stride = 1
          for j = i + 1, #shape do stride = stride * shape[j] end
          for k = 0, shape[i] - 1 do walk(i - 1, place + k * stride) end
        end
        walk(#shape, 0)
        local text = "(" .. table.concat(shape, ",") .. ",)"
        write_file(npy(header_text("<" .. dtypes[dtype][1], text, "True"), table.concat(parts)))
        assert.equal(bytes, d:load(path):string())
      end
    end)
  end

  it("refuses names that other programs take for their own", function()
    for _, name in ipairs { "x.jpg", "x.TXT", "x.json" } do
      helper.raises("no buffer is saved as .", d:zeros("int", 2).save, d:zeros("int", 2), name)
    end
  end)

  it("saves views, rows and other shapes of the same memory", function()
    local b = d:random("int", 50, 7)
    for first, last in pairs { [1] = 50, [2] = 9, [50] = 50, [13] = 12 } do
      b:view(first, last):save(path)
      assert.same(b:read(first, last), d:load(path):read())
    end
    b[17]:save(path)
    assert.same(b:read(17)[1], d:load(path):read())
    b:view(11, 20):reshape(2, 5, 7):save(path)
    assert.same({ 2, 5, 7 }, d:load(path).shape)
  end)

  it("passes in pieces when it is large", function()
    local n = helper.is_simulator(d) and 4 or 2000003
    local b = d:random("ushort", n, 5) -- 20 MB, and no whole number of pieces
    b:save(path)
    local c = d:load(path)
    assert.is_true(b:string() == c:string())
    local swapped = read_file():gsub("'<u2'", "'>u2'", 1)
    write_file(swapped)
    assert.is_true(d:load(path):string() == (b:string():gsub("(.)(.)", "%2%1")))
    b:reshape(1, 5 * n):save(path) -- a row larger than a piece
    assert.is_true(b:string() == d:load(path):string())
  end)
end)

describe("a .npy file", function()
  local d = helper.device()

  it("has exactly these bytes", function()
    d:buffer({ { 1, 2, 3 }, { 4, 5, 6 } }, "short"):save(path)
    assert.equal("\x93NUMPY\1\0\x76\0{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }" .. (" "):rep(58)
      .. "\n\1\0\2\0\3\0\4\0\5\0\6\0", read_file())
    d:buffer({ 7 }, "uchar"):save(path)
    assert.equal("\x93NUMPY\1\0\x76\0{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }" .. (" "):rep(60)
      .. "\n\7", read_file())
    assert.equal(0, (#read_file() - 1) % 64)
  end)

  it("may be of version 1.0, 2.0 or 3.0", function()
    for version = 1, 3 do
      write_file(npy(header_text("<i2", "(2,)"), "\1\0\2\0", version))
      assert.same({ 1, 2 }, d:load(path):read())
    end
  end)

  it("of a single number becomes a buffer of one element", function()
    write_file(npy(header_text("<i2", "()"), "\9\0"))
    local b = d:load(path)
    assert.same({ 1 }, b.shape)
    assert.equal(9, b[1])
  end)

  it("may write its header in every way that Python reads alike", function()
    local texts = {
      "{'descr':'<i2','fortran_order':False,'shape':(2,1)}",
      "{'shape': (2, 1,), 'descr': '<i2', 'fortran_order': False}\n",
      '{"fortran_order": False, "shape": (2, 1), "descr": "<i2",}',
      " \n{ 'descr' : '<i2' ,\n 'fortran_order' : False , 'shape' : ( 2 , 1 , ) , } \n",
      "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1)}",
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 1L)}", -- Python 2
      header_text("<i2", "(2, 1)") .. (" "):rep(30000),
    }
    for _, text in ipairs(texts) do
      write_file(npy(text, "\1\0\2\0"))
      assert.same({ { 1 }, { 2 } }, d:load(path):read())
    end
  end)

  it("is refused with its name and fault", function()
    local big = "9223372036854775807"
    local cases = {
      { "no .npy, .npz or .csv file and no picture (.png, binary .pgm or .ppm): it starts with ''", "" },
      { "bad archive: it has no directory at its end", "PK\3\4 an .npz archive" },
      { "it starts with '\\x93NUMPX'", "\x93NUMPX" },
      { "format version 4.0", npy(header_text("<i2", "(1,)"), "\1\0", 4) },
      { "format version 0.0", npy(header_text("<i2", "(1,)"), "\1\0", 0) },
      { "format version 1.1", (npy(header_text("<i2", "(1,)"), "\1\0"):gsub("NUMPY\1\0", "NUMPY\1\1")) },
      { "a header of 4294967295 bytes; at most 65535", "\x93NUMPY\2\0\xff\xff\xff\xff{" },
      { "a header of 65536 bytes", npy((" "):rep(65536), "", 3) }, { "'{' expected, got its end", npy("", "") },
      { "'{' expected, got its end", npy("   \n", "") }, { "'{' expected, got '[1, 2]'", npy("[1, 2]", "") },
      { "'{' expected, got 'os.execute(1)'", npy("os.execute(1)", "") },
      { "'{' expected, got '\\x00\\x00'", npy("\0\0", "") },
      { "a key expected, got 'descr: 1'", npy("{descr: 1", "") }, { "':' expected", npy("{'descr' '<i2'}", "") },
      { "',' or '}' expected", npy("{'descr': '<i2' 'shape': ()}", "") },
      { "the type, a string, expected, got '[('a', '<i4')], 'fortran...'",
        npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "\0\0\0\0") },
      { "the type, a string, expected", npy("{'descr': '<i2\", 'shape': ()}", "") },
      { "the type, a string, expected", npy("{'descr': '<\\x69\\x32', 'shape': ()}", "") },
      { "key 'descr' comes twice", npy("{'descr': '<i2', 'descr': '<i2'}", "") },
      { "unknown key 'scale'", npy("{'scale': 1}", "") }, { "key 'descr' is missing", npy("{}", "") },
      { "key 'fortran_order' is missing", npy("{'descr': '<i2', 'shape': ()}", "") },
      { "key 'shape' is missing", npy("{'descr': '<i2', 'fortran_order': False}", "") },
      { "goes on after its dict", npy(header_text("<i2", "(1,)") .. "; import os", "\1\0") },
      { "goes on after its dict", npy(header_text("<i2", "(1,)") .. "\0", "\1\0") },
      { "True or False expected, got 'true'", npy(header_text("<i2", "(1,)", "true"), "\1\0") },
      { "',' or '}' expected, got '1, 'shape'", npy(header_text("<i2", "(1,)", "True1"), "\1\0") },
      { "True or False expected, got '0", npy(header_text("<i2", "(1,)", "0"), "\1\0") },
      { "the shape, a tuple, expected, got '[1]", npy(header_text("<i2", "[1]"), "\1\0") },
      { "the shape, a tuple, expected, got '1, }", npy(header_text("<i2", "1"), "\1\0") },
      { "the shape ('1') is no tuple", npy(header_text("<i2", "(1)"), "\1\0") },
      { "an integer extent expected, got '(1,),)", npy(header_text("<i2", "((1,),)"), "\1\0") },
      { "an integer extent expected, got ',)", npy(header_text("<i2", "(,)"), "\1\0") },
      { "an integer extent expected, got 'x,)", npy(header_text("<i2", "(x,)"), "\1\0") },
      { "an integer extent expected, got '+1", npy(header_text("<i2", "(+1,)"), "\1\0") },
      { "',' or ')' of the shape expected, got '.5,)", npy(header_text("<i2", "(1.5,)"), "\1\0") },
      { "',' or ')' of the shape expected, got 'e3,)", npy(header_text("<i2", "(1e3,)"), "\1\0") },
      { "',' or ')' of the shape expected, got 'x10", npy(header_text("<i2", "(0x10,)"), "\1\0") },
      { "',' or ')' of the shape expected, got '2)", npy(header_text("<i2", "(1 2)"), "\1\0") },
      { "extent '007' is no integer", npy(header_text("<i2", "(007,)"), "\1\0") },
      { "extent '9223372036854775808' is no integer", npy(header_text("<i2", "(9223372036854775808,)"), "\1\0") },
      { "extent '999999999999999999999999...' is no integer",
        npy(header_text("<i2", "(" .. ("9"):rep(500) .. ",)"), "") },
      { "negative extent -1", npy(header_text("<i2", "(-1,)"), "") },
      { "negative extent -0", npy(header_text("<i2", "(-0,)"), "") },
      { "negative extent -2", npy(header_text("<i2", "(-2, -2)"), "\0\0\0\0\0\0\0\0") },
      { "overflow", npy(header_text("<i2", "(" .. big .. ",)"), "") },
      { "4294967296x4294967296 elements of 1 bytes overflow", npy(header_text("|i1", "(4294967296, 4294967296)"), "") },
      { "overflow", npy(header_text("<f8", "(2147483648, 2147483648, 2)"), "") },
      { "overflow", npy(header_text("<f8", "(0, " .. big .. ")"), "") },
      { "overflow", npy(header_text("<f8", "(" .. big .. ", 0, 3)"), "") },
      { "5 dimensions; a buffer has at most 4", npy(header_text("<i2", "(1, 1, 1, 1, 1)"), "\1\0") },
      { "more than 32 extents", npy(header_text("<i2", "(" .. ("1,"):rep(5000) .. ")"), "\1\0") },
      { "1152921504606846975 char elements are 1152921504606846975 bytes, but 2 follow",
        npy(header_text("|i1", "(1152921504606846975,)"), "\1\0") },
      { "4 short elements are 8 bytes, but 7 follow the header", npy(header_text("<i2", "(4,)"), "1234567") },
      { "2x2 short elements are 8 bytes, but 9 follow the header", npy(header_text("<i2", "(2, 2)"), "123456789") },
      { "0 short elements are 0 bytes, but 1 follow", npy(header_text("<i2", "(0,)"), "1") },
      { "1 short elements are 2 bytes, but 0 follow", npy(header_text("<i2", "()"), "") },
    }
    for _, descr in ipairs { "O", "|O", "<U3", "c8", "<c8", "|b2", "?", "<i3", "<i16", "<f16", "<f1", "|V8", "<M8[s]",
      "i2", "", "<", "<i", "<2i", "!i2", "<i2 ", "<i02", "float32", "|S4", "<<i2", "\1\2" } do
      cases[#cases + 1] = { "has no dtype here", npy(header_text(descr, "(1,)"), "\1\0\0\0\0\0\0\0") }
    end
    for _, case in ipairs(cases) do
      write_file(case[2])
      local message = helper.raises({ path .. ": ", case[1] }, function() d:load(path) end)
      assert.is_nil(message:find("npy.lua", 1, true), message)
      assert.truthy(message:find("^[^:]*npy_spec%.lua:%d+: "), message) -- the script's line
    end
  end)

  it("is refused when it is cut anywhere", function()
    for version = 1, 2 do
      local whole = npy(header_text("<i2", "(2, 3)"), "123456789012", version)
      for n = 0, #whole - 1 do
        write_file(whole:sub(1, n))
        helper.raises(path .. ": ", d.load, d, path)
      end
      write_file(whole)
      assert.same({ 2, 3 }, d:load(path).shape)
    end
  end)

  it("with any byte changed is an error or an array of the length it had", function()
    local whole = npy(header_text("<i2", "(2, 3)"), "123456789012")
    for i = 1, #whole - 12 do
      for _ = 1, 8 do
        write_file(whole:sub(1, i - 1) .. string.char(math.random(0, 255)) .. whole:sub(i + 1))
        local ok, result = pcall(d.load, d, path)
        if ok then
          assert.equal(12, result.bytes)
        else
          assert.truthy(result:find(path .. ": ", 1, true), result)
        end
      end
    end
  end)

  it("leaves nothing behind when there is no room for it on the device", function()
    local n = 2 * d.global_memory -- a sparse file: some drivers give all of the memory, and say less
    local start = npy(header_text("|u1", ("(%d,)"):format(n)), "")
    write_file(start)
    assert.is_true(os.execute(("truncate -s %d %s"):format(n + #start, path)))
    local message = helper.raises({ path .. ": ", "exceeds the largest this device allocates" }, d.load, d, path)
    assert.is_nil(message:find("npy.lua", 1, true))
  end)

  it("of numpy's bool becomes uchar", function()
    write_file(npy(header_text("|b1", "(3,)"), "\1\0\1"))
    local b = d:load(path)
    assert.same({ "uchar", { 1, 0, 1 } }, { b.dtype, b:read() })
  end)

  it("that cannot be opened is an error with the reason", function()
    helper.raises(folder .. "/none.npy: No such file or directory", d.load, d, folder .. "/none.npy")
    helper.raises(folder .. ": Is a directory", d.load, d, folder)
    helper.raises({ "#1", "path expected, got none" }, function() d:load() end)
    helper.raises({ "#1", "path expected, got nil" }, function() d:load(nil) end)
    helper.raises({ "#1", "path expected, got table" }, function() d:load {} end)
    helper.raises({ "#1", "holds a NUL byte" }, function() d:load "a\0b" end)
    helper.raises("device expected", d.load, d:zeros("int", 1), path)
  end)

  it("that is a pipe or a device is refused, and not waited for", function()
    local pipe = folder .. "/pipe"
    assert.is_true(os.execute("mkfifo " .. pipe))
    for _, name in ipairs { pipe, "/dev/zero", "/dev/null" } do
      helper.raises(name .. ": a plain file expected, not a pipe, socket or device", d.load, d, name)
    end
  end)

  it("that cannot be written is an error, and the old one stays", function()
    local b = d:buffer { 1, 2, 3 }
    helper.raises(folder .. "/none/a.npy: No such file or directory", b.save, b, folder .. "/none/a.npy")
    helper.raises({ "#1", "path expected, got none" }, function() b:save() end)
    helper.raises({ "#1", "path expected, got nil" }, function() b:save(nil) end)
    helper.raises({ "#1", "path expected, got number" }, function() b:save(3) end)
    helper.raises({ "#1", "holds a NUL byte" }, function() b:save "a\0b" end)
    helper.raises("/dev/null: not a regular file", b.save, b, "/dev/null")
    helper.raises("//dev/null: not a regular file", b.save, b, "//dev/null")
    helper.raises("buffer expected", b.save, d, path)
    local sub = folder .. "/sub"
    assert.is_true(os.execute("mkdir " .. sub))
    helper.raises(sub .. ": ", b.save, b, sub) -- a folder is there
    assert.is_nil(io.popen("ls -A " .. folder .. " | grep clcompute-"):read("a"):match("%S"))
    b:release()
    helper.raises("buffer is released", b.save, b, path)
  end)

  it("that replaces another keeps its mode, and where links lead", function()
    local b, sub = d:buffer { 1, 2, 3 }, folder .. "/replaced"
    local function sh(command) assert.is_true(os.execute("cd " .. sub .. " && " .. command), command) end
    assert.is_true(os.execute("mkdir " .. sub))
    sh "touch private && chmod 600 private && ln -s private link && ln -s link chain && ln -s nothing dangling"
    b:save(sub .. "/chain")
    sh "test -L link && test -L chain && test $(stat -c %a private) = 600"
    assert.same({ 1, 2, 3 }, d:load(sub .. "/private"):read())
    write_file(([[
      local cl = require "clcompute"
      cl.device():buffer { 1 }:save(%q)]]):format(sub .. "/new"), folder .. "/new.lua")
    sh(("umask 027; %s ../new.lua"):format(helper.lua)) -- what new files get
    sh "test $(stat -c %a new) = 640"
    if io.popen("id -u"):read "n" == 0 then
      sh "touch daemons && chown root:daemon daemons && chmod 660 daemons"
      b:save(sub .. "/daemons")
      sh "test $(stat -c %a:%G daemons) = 660:daemon"
    end
    helper.raises("dangling: a symbolic link to nothing", b.save, b, sub .. "/dangling")
    sh "mkfifo pipe"
    helper.raises("pipe: not a regular file", b.save, b, sub .. "/pipe")
    sh "test -p pipe"
    local long = sub .. "/" .. ("n"):rep(255) -- as long as a name may be
    assert.same({ 1, 2, 3 }, d:load(b:save(long) and long):read())
  end)

  for kilobytes, n in pairs { [4] = 100000, [10000] = 5000000 } do -- at once; by host arrays
    it(("of %d floats survives a full disk: the old one stays, the new part goes"):format(n), function()
      write_file("old")
      write_file(([[
        local cl = require "clcompute"
        local ok, message = pcall(function() cl.device():zeros("float", %d):save(%q) end)
        print(ok, message)]]):format(n, path), folder .. "/full.lua")
      local limited = "sh -c \"trap '' XFSZ; ulimit -f %d; %s %s/full.lua\" 2>&1"
      local pipe = io.popen(limited:format(2 * kilobytes, helper.lua, folder))
      local output = pipe:read("a")
      pipe:close()
      assert.truthy(output:find("array.npy: File too large", 1, true), output)
      assert.equal("old", read_file())
      assert.is_nil(io.popen("ls -A " .. folder .. " | grep clcompute-"):read("a"):match("%S"))
    end)
  end

  it("has its module loaded with the first call only", function()
    local _, output = helper.run [[
      local cl = require "clcompute"
      print(package.loaded["clcompute.formats"], cl.add_methods)
      pcall(function() cl.device():load "none" end)
      print(type(package.loaded["clcompute.formats"]))]]
    assert.equal("nil\tnil\ntable\n", output)
  end)
end)

describe("numpy", function()
  local d = helper.device()

  local function with_numpy(sentence, body)
    it(sentence, function()
      if not numpy_python then return pending "python3-numpy is not installed" end
      body()
    end)
  end

  with_numpy("reads what is saved, and would write the same bytes", function()
    for _, dtype in ipairs(names) do
      for i, shape in ipairs(shapes) do
        d:random(dtype, table.unpack(shape)):save(("%s/%s%d.npy"):format(folder, dtype, i))
      end
    end
    local output = python [[
import glob, numpy
count = 0
for name in glob.glob('*[0-9].npy'):
    a = numpy.load(name)
    numpy.save('again.npy', a)
    theirs, ours = open('again.npy', 'rb').read(), open(name, 'rb').read()
    # older versions leave no room for the first extent to grow
    assert numpy.array_equal(numpy.load('again.npy'), a)
    if len(theirs) == len(ours): assert theirs == ours, name
    count += 1
print(count)
a = numpy.load('float4.npy'); print(a.dtype, a.shape)
]]
    assert.equal(("%d\nfloat32 (3, 5)\n"):format(#names * #shapes), output)
  end)

  with_numpy("writes what is loaded: each dtype, order, byte order and number of dimensions", function()
    local output = python [[
import numpy
codes = dict(char='i1', uchar='u1', short='i2', ushort='u2', int='i4', uint='u4', long='i8', ulong='u8',
             half='f2', float='f4', double='f8')
shapes = [(), (5,), (0,), (3, 5), (0, 2), (2, 3, 4), (3, 2, 1, 5)]
for dtype, code in codes.items():
    for i, shape in enumerate(shapes):
        n = int(numpy.prod(shape))
        a = ((numpy.arange(n) * 37 + 5) % 128).astype(code).reshape(shape)
        for order in 'CF':
            for sign in '<>':
                numpy.save(f'{dtype}-{i}-{order}-{"big" if sign == ">" else "little"}.npy',
                           numpy.array(a, dtype=sign + code, order=order))
with open('version2.npy', 'wb') as f: numpy.lib.format.write_array(f, numpy.arange(3, dtype='<i4'), version=(2, 0))
with open('version3.npy', 'wb') as f: numpy.lib.format.write_array(f, numpy.arange(3, dtype='<i4'), version=(3, 0))
numpy.save('complex.npy', numpy.zeros(3, dtype='c8'))
numpy.save('struct.npy', numpy.zeros(3, dtype=[('a', '<i4'), ('b', '<f4')]))
numpy.save('object.npy', numpy.array([{}, 3], dtype=object))
]]
    assert.equal("", output)
    local expected = { { 1 }, { 5 }, { 0 }, { 3, 5 }, { 0, 2 }, { 2, 3, 4 }, { 3, 2, 1, 5 } }
    for _, dtype in ipairs(names) do
      for i, shape in ipairs(expected) do
        for _, kind in ipairs { "C-little", "C-big", "F-little", "F-big" } do
          local b = d:load(("%s/%s-%d-%s.npy"):format(folder, dtype, i - 1, kind))
          assert.equal(dtype, b.dtype)
          assert.same(shape, b.shape)
          local count = 1
          for _, n in ipairs(shape) do count = count * n end
          for k, v in ipairs(b:reshape(count):read()) do
            if v ~= ((k - 1) * 37 + 5) % 128 then assert.equal(((k - 1) * 37 + 5) % 128, v) end
          end
        end
      end
    end
    for version = 2, 3 do assert.same({ 0, 1, 2 }, d:load(("%s/version%d.npy"):format(folder, version)):read()) end
    helper.raises("type '<c8' has no dtype", d.load, d, folder .. "/complex.npy")
    helper.raises("the type, a string, expected", d.load, d, folder .. "/struct.npy")
    helper.raises("type '|O' has no dtype", d.load, d, folder .. "/object.npy")
  end)
end)
