-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local inf, nan = math.huge, 0 / 0

-- Each dtype: how string.pack writes it, and numbers that it holds exactly.
local dtypes = {
  char = { "b", { -128, -1, 0, 127 } }, uchar = { "B", { 0, 1, 200, 255 } },
  short = { "h", { -32768, -1, 0, 32767 } }, ushort = { "H", { 0, 1, 40000, 65535 } },
  int = { "i4", { -2147483648, -1, 0, 2147483647 } }, uint = { "I4", { 0, 1, 3000000000, 4294967295 } },
  long = { "j", { math.mininteger, -1, 0, math.maxinteger } }, ulong = { "j", { 0, 1, math.maxinteger, -1 } },
  half = { nil, { -2.0, 0.0, 0.099975586, 65504.0 } }, float = { "f", { -1.5, 0.0, 0.1, 3.0 } },
  double = { "d", { -1e300, 0.0, 0.1, 3.0 } },
}
dtypes.half[2][3] = 1639 / 2 ^ 14 -- the half nearest to 0.1
dtypes.float[2][3] = string.unpack("f", string.pack("f", 0.1))

local names = {}
for name in pairs(dtypes) do names[#names + 1] = name end
table.sort(names)

-- A table of nested tables of that shape, with 1, 2, 3, ... inside.
local function counting(shape, next_value)
  next_value = next_value or (function()
    local i = 0
    return function() i = i + 1 return i end
  end)()
  local t = {}
  for i = 1, shape[1] do t[i] = #shape == 1 and next_value() or counting({ table.unpack(shape, 2) }, next_value) end
  return t
end

-- object:method(...), spelled so, since Lua counts a method's arguments from there.
local function call(object, method, ...)
  return load(("local object, t = ... object:%s(table.unpack(t, 1, t.n))"):format(method))(object, table.pack(...))
end

local shapes = { { 0 }, { 1 }, { 7 }, { 2, 3 }, { 3, 1 }, { 2, 0 }, { 2, 3, 4 }, { 1, 1, 1, 1 }, { 2, 3, 1, 5 } }

helper.describe_each("making a buffer", function(d)
  for _, dtype in ipairs(names) do
    local format, values = table.unpack(dtypes[dtype])
    it("of " .. dtype .. " keeps its numbers and its bytes", function()
      local b = d:buffer(values, dtype)
      assert.equal(dtype, b.dtype)
      assert.same(values, b:read())
      assert.equal(math.type(values[1]), math.type(b[1]))
      local bytes = b:string()
      assert.equal(b.bytes, #bytes)
      if format then assert.equal(string.pack(format:rep(4), table.unpack(values)), bytes) end
      assert.same({ { values[1], values[2] }, { values[3], values[4] } }, d:buffer(bytes, dtype, 2, 2):read())
    end)
  end

  it("takes the shape of nested tables, up to 4 deep", function()
    for _, shape in ipairs(shapes) do
      local t = counting(shape)
      local b = d:buffer(t, "int")
      assert.same(shape, b.shape)
      assert.equal(shape[1], #b)
      assert.same(t, b:read())
      assert.equal(#b:string(), b.bytes)
    end
  end)

  it("gives floats unless told otherwise", function()
    assert.equal("float", d:buffer({ 1 }).dtype)
    assert.equal("float", d:buffer({ 1 }, nil).dtype)
  end)

  it("of zeros or of unset elements has the shape given", function()
    for _, shape in ipairs(shapes) do
      local zeros = d:zeros("double", table.unpack(shape))
      assert.same(shape, zeros.shape)
      assert.same(shape, d:empty("char", table.unpack(shape)).shape)
      assert.equal(("\0"):rep(zeros.bytes), zeros:string())
    end
  end)

  it("reads tables raw, whatever their metatables say", function()
    local t = setmetatable({ 1, 2 }, {
      __index = function() error "asked" end,
      __len = function() error "asked" end,
    })
    assert.same({ 1, 2 }, d:buffer(t):read())
  end)

  it("refuses tables that are no array, naming the place", function()
    local cases = {
      ["[2]: number expected, got nil"] = { 1, nil, 3 }, ["[2]: 2 values expected, got 1"] = { { 1, 2 }, { 3 } },
      ["[2]: 1 value expected, got 2"] = { { 1 }, { 2, 3 } }, ["[2]: table expected, got number"] = { { 1 }, 2 },
      ["[2]: number expected, got table"] = { 1, { 2 } },
      ["[1][2][1]: number expected, got boolean"] = { { { 1 }, { true } } },
      ["[2][1]: number expected, got string"] = { { 1 }, { "2" } },
      ["no elements of its own"] = setmetatable({}, { __index = { 1, 2 }, __len = function() return 2 end }),
      ["nested more than 4 deep"] = { { { { { 1 } } } } }, ["[3]: number expected, got userdata"] = { 1, 2, d },
    }
    for text, t in pairs(cases) do helper.raises({ "#1", text }, function() d:buffer(t) end) end
    local endless = {}
    endless[1] = endless
    helper.raises("nested more than 4 deep", d.buffer, d, endless)
  end)

  it("refuses tables that share rows until no memory holds them", function()
    local function rows(row, n)
      local t = {}
      for i = 1, n do t[i] = row end
      return t
    end
    local t = rows(1, 65536)
    helper.raises("exceeds the largest this device allocates", d.buffer, d, rows(rows(t, 64), 65536))
    for _ = 1, 3 do t = rows(t, 65536) end -- 2^64 elements
    helper.raises({ "#2", "65536x65536x65536x65536 float elements do not fit" }, d.buffer, d, t)
  end)

  it("refuses sizes that are none, naming the argument", function()
    local cases = {
      { "#2", "size expected" }, { "#2", "must not be negative, got -1", -1 },
      { "#2", "no integer representation", 1.5 }, { "#2", "no integer representation", nan },
      { "#2", "no integer representation", inf }, { "#2", "no integer representation", 1e30 },
      { "#2", "number expected, got string", "many" }, { "#2", "number expected, got table", {} },
      { "#2", "number expected, got nil", nil, 3, n = 4 }, { "#3", "must not be negative, got -2", 3, -2 },
      { "#6", "at most 4 dimensions", 1, 1, 1, 1, 1 }, { "#2", "do not fit in memory", math.maxinteger },
      { "#3", "do not fit in memory", 2 ^ 31, 2 ^ 31 }, { "#3", "do not fit in memory", 0, 2 ^ 62 },
    }
    for _, method in ipairs { "zeros", "empty" } do
      for _, case in ipairs(cases) do
        helper.raises({ case[1], case[2] }, call, d, method, "double", table.unpack(case, 3, case.n or #case))
      end
      helper.raises({ "4194304 MiB exceeds the largest" }, call, d, method, "float", 2 ^ 40)
      helper.raises({ "#1", "no dtype 'real'; there are char uchar" }, call, d, method, "real", 1)
      helper.raises({ "#1", "string expected, got no value" }, call, d, method)
      helper.raises({ "#1", "string expected, got table" }, call, d, method, {}, 1)
    end
  end)

  it("refuses other values and counts, naming the argument", function()
    helper.raises({ "#2", "table or string expected, got FILE*" }, d.buffer, d, io.stdout)
    helper.raises({ "#2", "table or string expected, got no value" }, d.buffer, d)
    helper.raises({ "#2", "table or string expected, got number" }, d.buffer, d, 3)
    helper.raises({ "#3", "no dtype 'real'" }, d.buffer, d, { 1 }, "real")
    helper.raises({ "no dtype 'float4'", "double; a vector is so many numbers" }, d.zeros, d, "float4", 2)
    for _, name in ipairs { "real4", "float4x", "4", "x", "" } do
      assert.not_matches("a vector is", helper.raises("no dtype '" .. name .. "'", d.zeros, d, name, 2))
    end
    helper.raises({ "#4", "a table brings its own shape" }, d.buffer, d, { 1 }, "float", 1)
    helper.raises({ "#3", "string expected" }, d.buffer, d, "\0\0\0\0")
    helper.raises({ "#2", "a table of values comes first, then the dtype" }, d.buffer, d, "int", { 1, 2 })
    helper.raises("device expected, got string; a method is called with a colon", d.buffer, "int")
    local message = helper.raises("buffer expected, got number", cl.gemm, 3, 4)
    assert.is_nil(message:find "colon") -- of a function that is none
    assert.same({ 2 }, d:buffer(("\0"):rep(8), "float").shape) -- as many as there are
    assert.same({ 0 }, d:buffer("", "float").shape)
    helper.raises({ "#2", "a multiple of the 4 bytes of a float expected, got 5" }, d.buffer, d, "12345", "float")
    helper.raises({ "#2", "2x3 short elements are 12 bytes, got 4" }, d.buffer, d, "\0\0\0\0", "short", 2, 3)
  end)
end)

describe("making a buffer", function()
  it("that would not fit beside the others says how much is in use", function()
    local d, kept = helper.device(), {}
    local half = math.min(d:info().max_allocation, d.global_memory) // 2 + 1
    helper.raises({ "does not fit", "are in use" }, function()
      for i = 1, 2 + 2 * d.global_memory // half do kept[i] = d:empty("char", half) end
    end)
    for _, b in ipairs(kept) do b:release() end
    assert.equal(half, #d:empty("char", half)) -- released memory counts as free at once
  end)
end)

helper.describe_each("a number", function(d)
  -- dtype, number given, number held (nil: refused)
  local cases = {
    { "int", 3.0, 3 }, { "int", 2.5 }, { "int", 2147483648 }, { "int", -2147483649 }, { "int", nan },
    { "int", inf }, { "int", 1e300 }, { "uint", -1 }, { "uint", 4294967296 }, { "char", 128 },
    { "char", -129 }, { "uchar", 256 }, { "uchar", -1 }, { "short", 32768 }, { "ushort", 65536 },
    { "long", 2.0 ^ 53, 2 ^ 53 | 0 }, { "long", 2.0 ^ 63 }, { "ulong", -1, -1 }, { "ulong", 2.0 ^ 64 },
    { "float", 0.1, string.unpack("f", string.pack("f", 0.1)) }, { "float", 16777217, 16777216.0 },
    { "float", 3.4028235e38, (2 - 2 ^ -23) * 2.0 ^ 127 }, { "float", 1e39 }, { "float", -1e39 },
    { "float", inf, inf }, { "float", -inf, -inf }, { "float", 1e-60, 0.0 }, { "float", 2 ^ -149, 2 ^ -149 },
    { "half", 65504, 65504.0 }, { "half", 65519.99, 65504.0 }, { "half", 65520 }, { "half", inf, inf },
    { "half", 2049, 2048.0 }, { "half", 2051, 2052.0 }, { "half", 2 ^ -24, 2 ^ -24 }, { "half", 1e-9, 0.0 },
    { "double", 1e308, 1e308 }, { "double", 2 ^ 53 | 1, 9007199254740992.0 }, { "double", inf, inf },
  }
  for _, case in ipairs(cases) do
    local dtype, given, held = table.unpack(case, 1, 3)
    it(("%s %s %s"):format(tostring(given), held and "is held by" or "is refused by", dtype), function()
      local b = d:zeros(dtype, 2)
      local ways = {
        table = function() return d:buffer({ 0, given }, dtype)[2] end,
        write = function() return b:write({ given }, 2)[2] end,
        index = function() b[2] = given return b[2] end,
        set = function() return b:set(2, given):get(2) end,
        fill = function() return b:fill(given, 2)[2] end,
      }
      for way, f in pairs(ways) do
        if held then
          local got = f()
          assert.equal(held, got, way)
          assert.equal(math.type(held), math.type(got), way)
        else
          local why = math.type(given) == "integer" or given == given // 1 and given - given == 0
          helper.raises(why and "does not fit " .. dtype or
            dtype:find "^[hf]" and "does not fit" or "has no integer value", f)
        end
      end
      if not held then assert.same({ 0, 0 }, b:read()) end
    end)
  end

  it("of every half is its value by IEEE 754, and goes back to the same bits", function()
    local bytes, values = {}, {}
    for bits = 0, 0xFFFF do
      local exponent, fraction = bits >> 10 & 31, bits & 1023
      if exponent < 31 then
        local v = exponent == 0 and fraction * 2.0 ^ -24 or (1024 + fraction) * 2.0 ^ (exponent - 25)
        bytes[#bytes + 1], values[#values + 1] = ("H"):pack(bits), bits >> 15 == 1 and -v or v
      end
    end
    bytes = table.concat(bytes)
    assert.is_true(bytes == d:buffer(values, "half"):string())
    for i, v in ipairs(d:buffer(bytes, "half", #values):read()) do
      if v ~= values[i] then assert.equal(values[i], v) end
    end
  end)

  it("may be no number in a floating type", function()
    for _, dtype in ipairs { "half", "float", "double" } do
      local v = d:buffer({ nan }, dtype)[1]
      assert.are_not.equal(v, v)
    end
  end)
end)

helper.describe_each("a buffer", function(d)
  it("reads its own elements also where a hook reads others meanwhile", function()
    local x, y, seen = d:buffer({ 1, 2, 3 }, "int"), d:buffer({ 7, 0 }, "int"), 0
    local write = d:program "kernel void f(global int *x) { x[1] += 1; }".f
    write(1, x)
    debug.sethook(function()
      debug.sethook()
      write(1, y)
      seen = y[1]
    end, "c", 1)
    local found = x[2]
    debug.sethook()
    assert.equal(3, found)
    assert.equal(7, seen)
  end)

  it("reads any bits behind a launch", function() -- also those by which a landing that is empty is known
    local write = d:program "kernel void f(global ulong *x, ulong v) { x[0] = v; }".f
    local x = d:zeros("ulong", 1)
    x:get(1)
    for _, bits in ipairs { 0, 0xa5c3f00da5c3f00d, 0xa5c3f00d, 0xa5c3f00d << 32, -1 } do
      write(1, x, bits)
      assert.equal(bits, x[1])
      write(1, x, bits)
      assert.equal(bits & 0xffffffff, x:as "uint"[1])
    end
  end)

  local function matrix() return d:buffer({ { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 12 } }, "int") end

  it("reads rows first to last", function()
    local b = matrix()
    assert.same({ { 4, 5, 6 }, { 7, 8, 9 } }, b:read(2, 3))
    assert.same({ { 10, 11, 12 } }, b:read(4))
    assert.same({ { 1, 2, 3 } }, b:read(nil, 1))
    assert.same({}, b:read(3, 2))
    assert.same({}, b:read(5))
    assert.same({}, d:zeros("float", 0):read())
    assert.same({ {}, {} }, d:zeros("float", 2, 0):read())
    local rows = 1 << 20
    assert.equal(rows, #d:empty("char", rows, 0):read())
    helper.raises("1048577x0 elements are none, but 1048577 empty tables: at most 1048576 are made",
      function() d:empty("char", rows + 1, 0):read() end)
    helper.raises("2097152 empty tables", function() d:empty("char", rows, 2, 0, 3):read() end)
    assert.same({}, d:empty("char", 0, 1 << 30):read())
    assert.same({ {}, {} }, d:empty("char", 1 << 30, 0):read(5, 6))
  end)

  it("writes tables, bytes and buffers over the rows from first on", function()
    local b = d:zeros("int", 4, 2)
    assert.equal(b, b:write({ { 1, 2 } }))
    assert.equal(b, b:write(string.pack("i4i4", 3, 4), 2))
    assert.equal(b, b:write(d:buffer({ { 5, 6 }, { 7, 8 } }, "int"), 3))
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, b:read())
    b:write({}, 5):write("", 5):write(d:zeros("int", 0, 2), 5)
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, b:read())
  end)

  it("writes parts of itself as if they were copied first", function()
    local b = d:buffer({ 1, 2, 3, 4, 5 }, "short")
    assert.same({ 1, 1, 2, 3, 5 }, b:write(b:view(1, 3), 2):read())
    assert.same({ 1, 2, 3, 5, 5 }, b:write(b:view(2, 5)):read())
    assert.same({ 1, 2, 3, 5, 5 }, b:write(b):read())
  end)

  it("fills rows with one value", function()
    assert.same({ { 1, 2, 3 }, { 0, 0, 0 }, { 0, 0, 0 }, { 10, 11, 12 } }, matrix():fill(0, 2, 3):read())
    for _, dtype in ipairs(names) do
      local value = dtypes[dtype][2][4]
      assert.same({ value, value, value }, d:empty(dtype, 3):fill(value):read())
    end
    assert.same({ 7, 8 }, d:buffer({ 7, 8 }, "int"):fill(0, 3):fill(0, 1, 0):read())
  end)

  it("copies itself to memory of its own", function()
    local b = matrix()
    local c = b:copy()
    b:fill(0)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 }, { 10, 11, 12 } }, c:read())
    assert.equal(d, c.device)
    assert.same({ 4, 3 }, c.shape)
    assert.same({ { 7, 8, 9 } }, c:view(3, 3):copy():read())
  end)

  it("copies itself to, and is written from, every device", function()
    for _, other in ipairs(cl.devices()) do
      local c = matrix():copy(other)
      assert.equal(other, c.device)
      assert.same(matrix():read(), c:read())
      assert.same({ { 4, 5, 6 }, { 7, 8, 9 } }, d:zeros("int", 2, 3):write(c:view(2, 3)):read())
      assert.equal(0, #d:zeros("int", 0):copy(other))
    end
  end)

  it("gets and sets single elements", function()
    local b = matrix()
    assert.equal(6, b:get(2, 3))
    assert.equal(b, b:set(2, 3, -6))
    assert.same({ 4, 5, -6 }, b[2]:read())
    local v = d:buffer { 1, 2, 3 }
    v[3] = v[1] + v:get(2) * 10
    assert.same({ 1, 2, 21 }, v:read())
    assert.equal(2.0, v[2.0])
    assert.equal(24, d:buffer(counting { 2, 3, 2, 2 }, "int"):get(2, 3, 2, 2))
  end)

  it("gives the rows of a matrix as views", function()
    local b = matrix()
    local row = b[3]
    assert.same({ 3 }, row.shape)
    row[2] = 80
    row:fill(0, 3)
    assert.same({ 7, 80, 0 }, b:read(3, 3)[1])
    assert.same({ 2, 5 }, d:zeros("int", 3, 2, 5)[1].shape)
  end)

  it("gives views and other shapes of the same memory, of views too", function()
    local b = d:buffer(counting { 12 }, "int")
    local middle = b:view(3, 8)
    assert.same({ 3, 4, 5, 6, 7, 8 }, middle:read())
    assert.equal(string.pack("i4i4i4i4i4i4", 3, 4, 5, 6, 7, 8), middle:string())
    local square = middle:view(2, 5):reshape(2, 2)
    assert.same({ { 4, 5 }, { 6, 7 } }, square:read())
    square:set(1, 2, 50)
    square[2]:write { 60, 70 }
    assert.same({ 1, 2, 3, 4, 50, 60, 70, 8, 9, 10, 11, 12 }, b:read())
    assert.equal(0, #b:view(13, 12))
    assert.same({ 70, 8, 9, 10, 11, 12 }, b:view(7):read())
    assert.same({ { 60, 70 } }, square:view(2):read())
    assert.same({ 2, 1, 3, 2 }, b:reshape(2, 1, 3, 2).shape)
    assert.same({ 0, 7 }, d:zeros("int", 0):reshape(0, 7).shape)
  end)

  it("shows the same bytes as elements of another dtype, of views too", function()
    local m = d:buffer({ { 1, -1 }, { 256, 3 } }, "int")
    local u = m:as "uint"
    assert.same({ { 1, 4294967295 }, { 256, 3 } }, u:read())
    assert.equal("uint", u.dtype)
    assert.same({ { 0, 1, 0, 0, 3, 0, 0, 0 } }, m:as("uchar"):view(2, 2):read())
    assert.same({ 2, 4 }, m:as("short").shape)
    assert.same({ 2, 1 }, m:as("long").shape)
    assert.same({ 3 << 32 | 256 }, m[2]:as("ulong"):read())
    m:as("uchar")[2]:view(1, 4):as("float"):fill(1)
    assert.equal(0x3f800000, m:get(2, 1))
    assert.same({ 0, 3 }, d:zeros("float", 0, 6):as("double").shape)
    helper.raises("the last dimension has 12 bytes, no multiple of the 8 bytes of a long", m.as,
      d:zeros("int", 2, 3), "long")
    helper.raises("starts 4 bytes into its memory, no multiple of the 8 bytes of a double; copy the view", m.as,
      d:zeros("int", 4):view(2, 3), "double")
  end)

  it("outlives its views, and they outlive it", function()
    local b = matrix()
    local view = b:view(2, 2)
    b:release()
    collectgarbage()
    assert.same({ { 4, 5, 6 } }, view:read())
    view:release()
    local c = matrix()
    c[1]:release()
    assert.equal(1, c:get(1, 1))
  end)

  it("gives back what its views were for a kernel when they are released", function()
    local count = require "clcount"
    local function sub_buffers()
      local n = 0
      for _, handle in ipairs(count.live()) do n = n + (handle.call == "clCreateSubBuffer" and 1 or 0) end
      return n
    end
    local x, first = d:zeros("char", 2 * d.align), d.align + 1
    local view, before = x:view(first, first + 3), sub_buffers()
    d:program("kernel void one(global char *x) { x[get_global_id(0)] = 1; }").one(4, view)
    assert.equal(before + 1, sub_buffers())
    view:release()
    assert.equal(before, sub_buffers())
  end)

  it("has fields, a length and no others", function()
    local b = matrix()
    assert.equal(4, #b)
    assert.equal(48, b.bytes)
    assert.equal("int", b.dtype)
    assert.equal(d, b.device)
    b.shape[1] = 99
    assert.same({ 4, 3 }, b.shape)
    helper.raises("a buffer has no field 'colour'", function() return b.colour end)
    helper.raises("a buffer has no field 'nil'", function() return b[nil] end)
    helper.raises("a buffer has no field 'flil'; did you mean 'fill'?", function() return b:flil(1) end)
    helper.raises("a buffer has no field 'shap'; did you mean 'shape'?", function() return b.shap end)
    helper.raises("a buffer has no field 'size'; write b.count, b.shape or b.bytes", function() return b.size end)
    helper.raises("a buffer has no field 'cumsum'; write cl.scan", function() return b:cumsum() end)
    helper.raises("; write b:slice({ first, last }, ...)", function() return b[{ 2, 4 }] end)
    helper.raises("a buffer has no field 'sum'; write cl.sum(...)", function() return b:sum() end)
    assert.is_nil(helper.raises("a buffer has no field '__gc'", function() return b.__gc end):find("mean", 1, true))
    helper.raises("cannot set field 'dtype' of a buffer", function() b.dtype = "float" end)
    helper.raises("use b:set(i, j, v)", function() b[1] = 3 end)
    assert.is_false(getmetatable(b))
  end)

  it("shows dtype, shape, device and first elements", function()
    local function shown(b)
      local head = ("%s buffer %s on %s:"):format(b.dtype, table.concat(b.shape, "x"), d.name)
      local text = tostring(b)
      assert.equal(head, text:sub(1, #head))
      return text:sub(#head + 1)
    end
    local function count(...)
      local n, values = 1, {}
      for _, extent in ipairs { ... } do n = n * extent end
      for i = 1, n do values[i] = i end
      return d:buffer(values, "int"):reshape(...)
    end
    assert.equal(" 0.1, 2, inf", shown(d:buffer { 0.1, 2, inf }))
    assert.equal(" nan, nan", shown(d:buffer { nan, -nan }))
    assert.equal(" 1, 2, 3, 4, 5, 6", shown(count(6)))
    assert.equal(" 1, 2, 3, 4, 5, 6, ...", shown(count(7)))
    assert.equal("\n   1,  2,  3\n   4,  5,  6\n   7,  8,  9\n  10, 11, 12", shown(matrix()))
    assert.equal("\n  6.5, -3", shown(d:buffer { { 6.5, -3 } }))
    assert.equal("\n   8,  9, 10, 11, 12, 13, ...\n  15, 16, 17, 18, 19, 20, ...", shown(count(4, 7):view(2, 3)))
    assert.equal(("\n  0"):rep(6), shown(d:zeros("uchar", 6, 1)))
    assert.equal(("\n  0"):rep(6) .. "\n  ...", shown(d:zeros("uchar", 7, 1)))
    assert.equal("\n   1,  2\n   3,  4\n\n   5,  6\n   7,  8\n\n   9, 10\n  11, 12\n  ...", shown(count(2, 2, 2, 2)))
    for _, empty in ipairs { d:zeros("int", 0), d:zeros("int", 0, 3), d:zeros("int", 3, 0), d:zeros("int", 2, 0, 2) } do
      assert.equal("", shown(empty))
    end
    assert.equal("buffer (released)", tostring(matrix():release()))
  end)

  it("is shown without reading more than is shown", function()
    local b = d:zeros("float", 300, 300)
    collectgarbage "stop"
    finally(function() collectgarbage "restart" end)
    local before = collectgarbage "count"
    tostring(b)
    assert.is_true(collectgarbage "count" - before < 16) -- KiB, of 352
  end)

  it("copies what is written behind queued commands, and in their order", function()
    local n = helper.is_simulator(d) and 64 or 4096
    local add = d:program("kernel void add(global int *p, int v) { p[get_global_id(0)] += v; }"):kernel "add"
    local t = {}
    for i = 1, n do t[i] = 0 end
    -- Oclgrind calls uninitialised what d:zeros filled, and what lies beside a partial copy.
    local b, partial = d:buffer(t, "int"), not helper.is_simulator(d)
    for round = 1, 20 do
      for i = 1, n do t[i] = round * i end
      add(n, b, 1)
      b:write(t)
      for i = 1, n do t[i] = 0 end
      add(n, b, round)
      if partial then b:set(1, -round) end
      add(n, b, 1)
    end
    local got = b:read()
    if partial then assert.equal(-20 + 1, got[1]) end
    for i = partial and 2 or 1, n do assert.equal(20 * i + 21, got[i]) end
  end)

  it("takes more queued commands than it keeps track of", function()
    local b = d:zeros("int", 2)
    for i = 1, 1000 do b:fill(i) end
    assert.same({ 1000, 1000 }, b:read())
  end)
end)

helper.describe_each("misuse of a buffer", function(d)
  local b, v = d:zeros("int", 4, 3), d:zeros("float", 3)
  local kernel = d:program("kernel void f(global int *p) { p[0] = 1; }"):kernel "f"

  -- What the message holds, then method and arguments.
  local cases = {
    { "#1", "0 is outside 1 .. 4", b, "read", 0 }, { "#1", "6 is outside 1 .. 4", b, "read", 6 },
    { "#2", "5 is outside 2 .. 4", b, "read", 2, 5 }, { "#2", "1 is outside 3 .. 4", b, "read", 3, 1 },
    { "#1", "no integer representation", b, "read", 1.5 }, { "#1", "no integer representation", b, "read", nan },
    { "#1", "number expected, got string", b, "read", "all" }, { "#1", "number expected, got table", v, "fill", {} },
    { "#1", "number expected, got no value", v, "fill" }, { "#2", "0 is outside", v, "fill", 1, 0 },
    { "#3", "4 is outside", v, "fill", 1, 1, 4 },
    { "#1", "table, string, buffer or host array expected, got nil", v, "write" },
    { "#1", "table, string, buffer or host array expected, got number", v, "write", 3 },
    { "#1", "buffer expected, got FILE*", v, "write", io.stdout },
    { "#1", "buffer expected, got clcompute.Kernel", v, "write", kernel },
    { "#1", "float buffer expected, got int", v, "write", d:zeros("int", 3) },
    { "#1", "rows of 3 elements expected, got 2", b, "write", d:zeros("int", 3, 2) },
    { "#1", "5 bytes are not whole rows of 12 bytes", b, "write", "12345" },
    { "#2", "4 rows from 1 do not fit in 1 .. 3", v, "write", { 1, 2, 3, 4 } },
    { "#2", "2 rows from 3 do not fit in 1 .. 3", v, "write", { 1, 2 }, 3 },
    { "#2", "1 rows from 0 do not fit in 1 .. 3", v, "write", { 1 }, 0 },
    { "#2", "do not fit in 1 .. 3", v, "write", { 1 }, math.maxinteger },
    { "#2", "do not fit in 1 .. 3", v, "write", ("\0"):rep(16) },
    { "#1", "[2]: 3 values expected, got 2", b, "write", { { 1, 2, 3 }, { 1, 2 } } },
    { "#1", "[1]: table expected, got number", b, "write", { 1, 2, 3 } },
    { "#1", "[2]: number expected, got nil", v, "write", { 1, nil, 3 } },
    { "#1", "device expected, got clcompute.Buffer", v, "copy", b },
    { "#1", "number expected, got no value", v, "view" }, { "#1", "5 is outside 1 .. 3", v, "view", 5 },
    { "#2", "4 is outside 1 .. 3", v, "view", 1, 4 }, { "#1", "size expected", v, "reshape" },
    { "", "2x2 is 4 elements, but the buffer has 3", v, "reshape", 2, 2 },
    { "#1", "must not be negative", v, "reshape", -3 }, { "#5", "at most 4 dimensions", v, "reshape", 3, 1, 1, 1, 1 },
    { "", "2-dimensional buffer: 2 indices expected, got 1", b, "get", 1 },
    { "", "2 indices expected, got 3", b, "get", 1, 2, 3 },
    { "", "1-dimensional buffer: 1 index expected, got 0", v, "set", 1 }, { "", "1 index expected, got 0", v, "set" },
    { "#2", "4 is outside 1 .. 3", b, "get", 1, 4 }, { "#1", "0 is outside 1 .. 4", b, "set", 0, 1, 9 },
    { "#1", "no integer representation", v, "get", 0.5 }, { "#2", "number expected, got string", v, "set", 1, "x" },
    { "#3", "1.5 has no integer value", b, "set", 1, 1, 1.5 },
  }
  for _, case in ipairs(cases) do
    local place, text, object, method = table.unpack(case, 1, 4)
    it(("of %s: %s"):format(method, text), function()
      helper.raises({ place, text }, call, object, method, table.unpack(case, 5))
    end)
  end

  it("by index names the index", function()
    for _, i in ipairs { 0, 4, -1, math.mininteger } do
      if i ~= 4 then helper.raises("element " .. i .. " is outside 1 .. 3", function() return v[i] end) end
      helper.raises("element " .. i .. " is outside 1 .. 3", function() v[i] = 1 end)
    end
    helper.raises("row 6 is outside 1 .. 4", function() return b[6] end)
    helper.raises("b[1.5]: an index is an integer", function() return v[1.5] end)
    helper.raises("b[1.5]: an index is an integer", function() v[1.5] = 1 end)
    helper.raises("nan]: an index is an integer", function() return b[nan] end)
    helper.raises("element 1: number expected, got string", function() v[1] = "x" end)
    helper.raises("element 1: number expected, got nil", function() v[1] = nil end)
    helper.raises("element 3: 1e+300 does not fit float", function() d:zeros("float", 3)[3] = 1e300 end)
  end)

  it("with another value in its place says what came", function()
    local others = { ["FILE*"] = io.stdout, ["clcompute.Kernel"] = kernel, ["clcompute.Device"] = d, string = "x" }
    for _, method in ipairs { "read", "string", "write", "fill", "copy", "get", "set", "view", "reshape" } do
      for text, value in pairs(others) do helper.raises({ "#1", "buffer expected, got " .. text }, v[method], value) end
      helper.raises({ "#1", "buffer expected, got no value" }, v[method])
    end
  end)

  it("after its release is an error, for every use", function()
    local gone = d:zeros("float", 3)
    local view = gone:view(1, 2)
    assert.equal(gone, gone:release())
    assert.equal(gone, gone:release())
    local uses = {
      read = {}, string = {}, write = { { 1 } }, fill = { 1 }, copy = {}, get = { 1 }, set = { 1, 1 },
      view = { 1, 1 }, reshape = { 3 },
    }
    for method, arguments in pairs(uses) do
      helper.raises("buffer is released", gone[method], gone, table.unpack(arguments))
    end
    helper.raises("buffer is released", function() return #gone end)
    helper.raises("buffer is released", function() return gone[1] end)
    helper.raises("buffer is released", function() gone[1] = 1 end)
    helper.raises("buffer is released", function() return gone.shape end)
    helper.raises({ "#1", "buffer is released" }, function() v:write(gone) end)
    assert.same({ 0, 0 }, view:read())
  end)

  it("is released at the end of a <close> block", function()
    local kept
    do
      local c <close> = d:zeros("float", 1)
      kept = c
    end
    helper.raises("buffer is released", kept.read, kept)
  end)

  it("with forged metatables is an error", function()
    local meta, kernels = debug.getmetatable(v), debug.getmetatable(kernel)
    local forged = d:zeros("float", 3)
    debug.setmetatable(forged, kernels)
    helper.raises("kernel expected", function() forged(3) end)
    helper.raises("buffer expected", v.read, forged)
    debug.setmetatable(forged, meta)
    assert.same({ 0, 0, 0 }, forged:read())
    local file <close> = io.tmpfile()
    local own = debug.getmetatable(file)
    debug.setmetatable(file, meta)
    helper.raises("buffer expected", v.read, file)
    helper.raises("buffer expected", function() return file.shape end)
    helper.raises("expected", function() file:release() end)
    meta.__gc(file)
    debug.setmetatable(file, own)
    assert.equal("file", io.type(file))
    helper.raises("buffer expected", v.read, setmetatable({}, meta))
    for _, value in ipairs { io.stdout, 1, {}, "x" } do meta.__gc(value) end
    meta.__gc(forged)
    meta.__gc(forged)
    helper.raises("buffer is released", v.read, forged)
    assert.equal("buffer (released)", tostring(forged))
  end)

  it("counts rows up to the largest integer", function()
    local long = d:zeros("char", math.maxinteger, 0)
    assert.equal(math.maxinteger, #long:fill(0))
    assert.equal(1, #long:view(2, 2))
  end)

  it("does not release a device in a buffer's name", function()
    helper.raises("buffer expected, got clcompute.Device", d:zeros("float", 1).release, d)
    assert.same({ 0 }, d:zeros("float", 1):read())
  end)
end)

helper.describe_each("a buffer in a for loop", function(d)
  it("ends ipairs, which looks one element further", function()
    local sum, rows = 0, 0
    for i, v in ipairs(d:buffer { 1, 2, 3 }) do sum = sum + i * v end
    for i, row in ipairs(d:buffer { { 1, 2 }, { 3, 4 } }) do rows = rows + i * row[2] end
    assert.equal(14, sum)
    assert.equal(10, rows)
    assert.is_nil(d:buffer({ 1 })[2])
  end)

  it("gives pairs what read gives", function()
    local seen = {}
    for i, row in pairs(d:buffer({ { 1, 2 }, { 3, 4 } }, "int")) do seen[i] = row end
    assert.same({ { 1, 2 }, { 3, 4 } }, seen)
    assert.matches("buffer is released$", helper.raises("", pairs, d:zeros("int", 2):release()))
  end)

  it("is made of lists alone", function()
    helper.raises("a list has no key '0'", d.buffer, d, { [0] = 1, 2, 3 })
    helper.raises("a list has no key 'x'", d.buffer, d, { 1, x = 2 })
    helper.raises("[2]: a list has no key 'x'", d.buffer, d, { { 1 }, { 1, x = 2 } })
    helper.raises("a list has no key 'a'", d.buffer, d, { a = 1 })
    local hashed = {}
    for i = 100, 1, -1 do hashed[i] = i end
    assert.equal(100, d:buffer(hashed)[100])
  end)
end)

describe("the collector", function()
  -- what the process holds shows device memory only where that is the host's
  local case = helper.device():info().unified_memory and it or pending
  case("frees dropped buffers as their device memory asks for it", function()
    local output = helper.output(([[
      local cl = require "clcompute"
      local d = cl.device %q
      local function memory(what)
        for line in io.lines "/proc/self/status" do
          local kib = line:match("^" .. what .. ":%%s*(%%d+)")
          if kib then return kib // 1024 end
        end
      end
      d:zeros("float", 1):read()
      local before = memory "VmRSS"
      for i = 1, 200 do
        d:empty("char", 16 << 20):fill(i %% 100)
        if i %% 8 == 0 then d:wait() end -- or a busy machine has fills in its queue, which hold buffers
      end
      d:wait()
      io.write(memory "VmHWM" - before)
    ]]):format(helper.device().platform))
    assert.is_true(tonumber(output) >= 16, output) -- pages were touched
    local most = os.getenv "STRESS" and 800 or 512 -- MiB; the forced collector does more at a step, less often
    assert.is_true(tonumber(output) < most, output .. " MiB held for 3200 MiB dropped, 16 at a time")
  end)
end)
