-- SPDX-License-Identifier: MIT
--- Functions that loops.compile has compiled do what Lua does with them.

local helper = require "spec.helper"
local loops = require "clcompute.loops"
local shapes = require "spec.support.loop_shapes"

local huge, nan = math.huge, 0 / 0

-- --- arrays -------------------------------------------------------------------------------

--- A nested table of a shape, its elements from `element(number)`, counted from 1.
local function nested(shape, element, first)
  first = first or 1
  local list, inner = {}, 1
  for d = 2, #shape do inner = inner * shape[d] end
  for i = 1, shape[1] do
    local start = first + (i - 1) * inner
    list[i] = #shape == 1 and element(start) or nested({ table.unpack(shape, 2) }, element, start)
  end
  return list
end

local function random_floats() return 4 * math.random() - 2 end
local function random_integers() return math.random(-50, 50) end

local function copy(value)
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in pairs(value) do list[i] = copy(item) end
  return list
end

local function round(value) return (string.unpack("f", string.pack("f", value))) end

--- A nested table whose elements are rounded when they are stored, as those of a buffer of floats.
local function rounding(list)
  local inner = {}
  for i, item in pairs(list) do inner[i] = type(item) == "table" and rounding(item) or round(item) end
  return setmetatable({}, { __index = inner, __len = function() return #inner end,
    __newindex = function(_, i, value) inner[i] = round(value) end })
end

--- Whether two numbers are the same: NaN is NaN, and -0.0 is not 0.0.
local function same(a, b)
  if a ~= a then return b ~= b end
  return a == b and (a ~= 0 or 1 / a == 1 / b)
end

local function assert_same(expected, got, place)
  if type(got) == "table" then
    for i, item in pairs(got) do assert_same(expected[i], item, place .. "[" .. i .. "]") end
  elseif not same(expected, got) then
    error(("%s is %s, in Lua %s"):format(place, got, expected), 0)
  end
end

-- --- runs ---------------------------------------------------------------------------------

local function compile(f, device, options)
  local all = { device = device, force = true }
  for key, value in pairs(options or {}) do all[key] = value end
  return assert(loops.compile(f, all))
end

local function map(values, f)
  local results = {}
  for i, value in ipairs(values) do results[i] = type(value) == "number" and value or f(value) end
  return results
end

--- Runs a function in Lua and compiled, on tables and on buffers of doubles and floats, and compares all arrays.
local function check(f, device, values, options)
  local compiled = compile(f, device, options)
  local expected = map(values, copy)
  f(table.unpack(expected))
  local tables = map(values, copy)
  compiled(table.unpack(tables))
  assert_same(expected, tables, "tables")
  return compiled
end

local function check_buffers(f, device, values, dtype, expected)
  local compiled = compile(f, device)
  local buffers = map(values, function(list) return device:buffer(list, dtype) end)
  f(table.unpack(expected))
  compiled(table.unpack(buffers))
  assert_same(expected, map(buffers, function(buffer) return buffer:read() end), dtype)
  return compiled
end

local turn = 0

--- The shapes that a function is tried in: all of them, or one in turn where each is a build of half a second.
local function shapes_for(device)
  local others = table.move(shapes, 2, #shapes, 1, {})
  if helper.is_simulator(device) then return others end
  turn = turn + 1
  return helper.long(others) or { others[1 + turn % #others] }
end

--- All of it.
local function check_all(f, device, values)
  for _, shape in ipairs(shapes_for(device)) do
    check(f, device, values, { target = shape.target, tiles = shape.tiles })
  end
  check(f, device, values)
  check(f, device, values, { force = false })
  local compiled = check_buffers(f, device, values, "double", map(values, copy))
  check_buffers(f, device, values, "float", map(values, rounding))
  return compiled
end

-- --- functions ----------------------------------------------------------------------------

local function mmm(A, B, C, n)
  for i = 1, n do for j = 1, n do
    local s = 0.0
    for k = 1, n do s = s + A[i][k] * B[k][j] end
    C[i][j] = s
  end end
end

local function jac2d(a, b, n, T)
  for _ = 1, T do
    for i = 2, n - 1 do for j = 2, n - 1 do
      b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j])
    end end
    for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
  end
end

local function lud(a, n)
  for k = 1, n do
    for j = k + 1, n do a[k][j] = a[k][j] / a[k][k] end
    for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
  end
end

local function triangle(a, b, n)
  for i = n, 1, -2 do for j = i, n, 3 do
    if i == j then b[i][j] = a[j][i] elseif a[i][j] > 0 and i + j < n then b[i][j] = a[i][j] / 3
    else b[i][j] = -a[i][j] end
  end end
end

local function four(a, b, n)
  for i = 1, n do for j = 1, n do for k = i, n do for l = 1, n do
    b[i][j][k][l] = a[i][j][k][l] + 1.5 * i - j * k / l
  end end end end
end

local function seidel(a, n)
  for i = 2, n - 1 do a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3 end
end

helper.describe_each("loops.compile", function(device)
  local n = helper.is_simulator(device) and 5 or 37

  it("runs a matrix product", function()
    for _, size in ipairs { 0, 1, 2 } do
      local shape = { size, size }
      check(mmm, device, { nested(shape, random_floats), nested(shape, random_floats),
        nested(shape, random_floats), size })
    end
    check_all(mmm, device, { nested({ n, n }, random_floats), nested({ n, n }, random_floats),
      nested({ n, n }, random_floats), n })
  end)

  it("runs a function without arguments, which does nothing", function()
    local compiled = assert(loops.compile("function() for i = 1, 4 do local x = i end end", { device = device,
      force = true }))
    assert.equal(0, select("#", compiled()))
    assert.equal(1, compiled:stats().launches)
  end)

  it("runs sequential loops on the host", function()
    check_all(jac2d, device, { nested({ n, n }, random_floats), nested({ n, n }, random_floats), n, 3 })
    check_all(lud, device, { nested({ n, n }, random_floats), n })
  end)

  it("runs triangles, steps, steps downwards and conditions", function()
    check_all(triangle, device, { nested({ n, n }, random_floats), nested({ n, n }, random_floats), n })
  end)

  it("collapses what is deeper than three loops", function()
    local m = helper.is_simulator(device) and 3 or 5
    local values = { nested({ m, m, m, m }, random_floats), nested({ m, m, m, m }, random_floats), m }
    check_all(four, device, values)
    local compiled = check(four, device, values, { target = "gpu" })
    assert.matches("get_global_id%(2%) / j_%d+_base %% j_%d+_mod", compiled:source())
  end)

  it("runs what is not parallel in Lua", function()
    local compiled = check_all(seidel, device, { nested({ n }, random_floats), n })
    assert.equal(0, compiled:stats().launches)
    assert.truthy(compiled:explain():find("a[i] (line", 1, true))
  end)

  it("computes with NaN, infinities and both zeros as Lua does", function()
    local values = { 0.0, -0.0, 1.0, -1.0, huge, -huge, nan, 2.5, -3.75, 1e308, 5e-324, 2.0 ^ 53, 7.0 }
    local count = #values
    check(function(a, b, m)
      for i = 1, m do for j = 1, m do
        local x, y = a[i], a[j]
        b[1][i][j] = x + y
        b[2][i][j] = x * y
        b[3][i][j] = x / y
        b[4][i][j] = x // y
        b[5][i][j] = x % y
        b[6][i][j] = math.fmod(x, y)
        b[7][i][j] = math.max(x, y)
        b[8][i][j] = math.min(x, y)
        b[9][i][j] = x < y and 1.0 or x <= y and 2.0 or x == y and 3.0 or 4.0
        b[10][i][j] = x > y and -x or x >= y and math.abs(y) or x ~= y and math.sqrt(x) or y ^ 2
        b[11][i][j] = i < x and 1.0 or i == y and 2.0 or j >= x and 3.0 or x > j and 4.0 or x ~= i and 5.0 or 6.0
      end end
    end, device, { values, nested({ 11, count, count }, random_floats), count })
  end)

  it("rounds in Lua what goes into a buffer of floats to the nearest one, of two the even one", function()
    local values = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 0x1.fffffep127, 0x1.fffffeffffffp127, 0x1.ffffffp127, 1e300,
      0x1.fffffffffffffp1023, 0x1p-126, 0x1.fffffffffffffp-127, 0x1.ffffffp-127, 0x1p-149, 0x1p-150, 0x1.8p-149,
      0x1.8p-150, 0x1.0000000000001p-150, 0x1p-1074, 0x1.234567p-140 }
    for _ = 1, 3000 do -- halfway between two floats, beside that, and anywhere, with all exponents
      local places = { 1 << 28, (1 << 28) + math.random(-1, 1), math.random(0, (1 << 29) - 1) }
      local exponent = math.random() < 0.5 and math.random(870, 1152) or math.random(0, 2046)
      local upper = math.random() < 0.1 and (1 << 23) - 1 or math.random(0, (1 << 23) - 1)
      for _, lower in ipairs(places) do
        local bits = math.random(0, 1) << 63 | exponent << 52 | upper << 29 | lower
        values[#values + 1] = string.unpack("d", string.pack("i8", bits))
      end
    end
    local count = #values
    local given <close> = device:buffer(values, "double")
    local got <close> = device:zeros("float", count)
    local store = assert(loops.compile("function(x, y, n) for i = 1, n do y[i] = 1 * x[i] end end", { force = false }))
    store(given, got, count)
    local stored = got:read()
    for i = 1, count do assert.is_true(same(round(values[i]), stored[i]), ("%a"):format(values[i])) end
    local integers = { 0, -7, 16777217, 16777219, (1 << 53) + 1, math.maxinteger, math.mininteger }
    local longs <close> = device:buffer(integers, "long")
    local floats <close> = device:zeros("float", #integers)
    store(longs, floats, #integers)
    for i, value in ipairs(integers) do assert.equal(round(value), floats:get(i)) end
  end)

  it("computes with integers as Lua does", function()
    local values = { 0, 1, -1, 2, 7, -7, 10, math.maxinteger, math.mininteger, 1 << 53, (1 << 53) + 1, 63, 64, -64 }
    local count = #values
    check(function(a, b, m)
      for i = 1, m do for j = 1, m do
        local x, y = a[i], a[j]
        b[1][i][j] = x + y
        b[2][i][j] = x * y
        b[3][i][j] = x - y
        b[4][i][j] = x // 7
        b[5][i][j] = x % -7
        b[6][i][j] = x // -1 + x % 10
        b[7][i][j] = math.max(x, y)
        b[8][i][j] = math.min(x, y)
        b[9][i][j] = x < y and 1 or x == y and 3 or -x
        b[10][i][j] = x << y
        b[11][i][j] = x >> y
        b[12][i][j] = (x & y) | (x ~ y)
        b[13][i][j] = ~x
        b[14][i][j] = math.abs(x)
        b[15][i][j] = math.fmod(x, -7)
        b[16][i][j] = x * 6364136223846793005 + i
        b[17][i][j] = math.floor(x / 3) + math.ceil(y / 1024)
        b[18][i][j] = math.abs(x) % 10 + math.abs(y) // 4
        b[19][i][j] = math.abs(math.mininteger) % 7
        b[20][i][j] = math.abs(x | math.mininteger) < 0 and 1 or 0
      end end
    end, device, { values, nested({ 20, count, count }, random_integers), count })
  end)

  it("computes math.rad and math.deg as Lua does", function()
    local rad, floats, integers = math.rad, { 1e308, -0.0, 0.1, huge, nan, 5e-324, 359.7 }, { 0, -7, 180, 45, 90, 1, 3 }
    check(function(x, k, y, count)
      for i = 1, count do
        y[1][i], y[2][i] = rad(x[i]), math.deg(x[i])
        y[3][i], y[4][i] = rad(k[i]), math.deg(k[i])
      end
    end, device, { floats, integers, nested({ 4, 7 }, random_floats), 7 })
  end)

  it("shifts by numbers below 0 where passes are vectors", function()
    for k = -4, 5, 9 do
      check(function(a, m, c)
        for i = 1, m do a[i] = (c & i) >> -i end
        for i = 1, m do a[m + i] = (c & i) << -i end
      end, device, { nested({ 10 }, random_integers), 5, k }, { target = "cpu", tiles = { vector = 2, passes = 3 } })
    end
  end)

  it("compares integers with floats by value", function()
    local integers = { 0, 1, -1, math.maxinteger, math.mininteger, (1 << 53) + 1, -(1 << 53) - 1 }
    local floats = { 0.5, -0.5, 1.0, 2.0 ^ 63, -2.0 ^ 63, 2.0 ^ 53, -2.0 ^ 53, huge, -huge, nan }
    check(function(a, b, c, m, k)
      for i = 1, m do for j = 1, k do
        local x, y = a[i], b[j]
        c[i][j] = (x < y and 1 or 0) + (x <= y and 2 or 0) + (x == y and 4 or 0) + (x > y and 8 or 0)
          + (x >= y and 16 or 0) + (x ~= y and 32 or 0) + (y < x and 64 or 0) + (y <= x and 128 or 0)
          + (y == x and 256 or 0) + (y > x and 512 or 0)
      end end
    end, device, { integers, floats, nested({ #integers, #floats }, random_integers), #integers, #floats })
  end)

  it("stores in every type of integer what fits, and its low bits of what does not", function()
    local dtypes = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong" }
    if not helper.is_simulator(device) then dtypes = helper.long(dtypes) or { "char", "ushort", "ulong" } end
    for _, dtype in ipairs(dtypes) do
      local a, b = device:buffer({ 1, 2, 100, 120, 127 }, dtype), device:zeros(dtype, 5)
      local c = device:zeros(dtype, 5)
      local function f(x, y, m)
        for i = 1, m do y[i] = x[i] * 1000003 - 7 * (x[i] // 2) + (i << 40) end
      end
      compile(f, device)(a, b, 5)
      compile(f, device, { force = false })(a, c, 5)
      assert.same(c:read(), b:read(), dtype)
      assert.are_not.same(device:zeros(dtype, 5):read(), b:read())
    end
  end)

  it("stores integers in a buffer of doubles as doubles, wherever it runs", function()
    local function f(x, y, m)
      for i = 1, m do x[i] = (1 << 53) + i end
      for i = 1, m do y[i] = x[i] + 1 end
    end
    for _, force in ipairs { true, false } do
      local x, y = device:zeros("double", 3), device:zeros("double", 3)
      compile(f, device, { force = force })(x, y, 3)
      assert.same({ 2.0 ^ 53, 2.0 ^ 53 + 2, 2.0 ^ 53 + 4 }, x:read())
      assert.same({ 2.0 ^ 53, 2.0 ^ 53 + 4, 2.0 ^ 53 + 4 }, y:read())
    end
  end)

  it("counts the iterations of bounds that hold one quotient twice", function()
    local compiled = check(function(a, m)
      for i = 1, m // 2 + m % 2 do a[i] = i * 1.0 end
    end, device, { nested({ 200 }, random_floats), 399 })
    assert.equal(1, compiled:stats().launches)
  end)

  it("writes a long sum in a time that grows with its length", function()
    local source = "function(a) for i = 1, 2 do a[i] = a[i]" .. (" + 1"):rep(150) .. " end end"
    local a = { 0.5, 1.5 }
    compile(source, device)(a)
    assert.same({ 150.5, 151.5 }, a)
  end)

  --- Runs a function of two tables in Lua and compiled: both must do the same.
  local function compare_on_tables(text)
    local x, y, expected = {}, {}, {}
    for i = 1, 8 do x[i], y[i], expected[i] = i + 0.0, 100.0 * i, 100.0 * i end
    assert(load("return " .. text))()(x, expected, 8)
    assert(loops.compile(text, { device = device, force = true }))(x, y, 8)
    assert.same(expected, y, text)
  end

  it("takes a local that is true or false for what data may say", function()
    for _, text in ipairs {
      "function(x, y, n) for i = 1, n do local h = x[i] > 5; if h then y[i] = x[i] end end end",
      "function(x, y, n) local h = x[1] > 100; for i = 1, n do if h then y[i] = 2.0 end end end",
      "function(x, y, n) for i = 4, n do local h = x[i] > 5; y[i] = h and x[i - 3] or x[i] end end",
      "function(x, y, n) for k = 1, 2 do local h = x[k] > 1; for i = 1, n do if h then y[i] = y[i] + k end end end end",
      "function(x, y, n) local h = n > 100; for i = 1, n do if h then y[i] = x[i + 3] + 1 end end end",
      "function(x, y, n) for i = 4, n do local h = x[i] > 50; y[i] = h and x[i - 5] or x[i] end end",
      "function(x, y, n) for i = 1, n do y[i] = false and x[i + 100] or y[i] end end",
      "function(x, y, n) for i = 1, n do y[i] = (not n) and x[i + 1000000] or y[i] end end",
      "function(x, y, n) for i = 1, n do y[i] = (x[i] > 5 and not n) and x[i + 1000000] or y[i] end end",
    } do
      compare_on_tables(text)
    end
  end)

  it("reads what a condition keeps in its array, whichever side of a choice it is", function()
    for _, text in ipairs {
      "function(x, y, n) for i = 1, n do if i == 1 then y[i] = x[i] else y[i] = y[i - 1] + x[i] end end end",
      "function(x, y, n) for i = 1, n do if i == n then y[i] = x[i] else y[i] = x[i + 1] end end end",
      "function(x, y, n) for i = 1, n do y[i] = i <= 1 and x[i] or x[i - 1] end end",
      "function(x, y, n) for i = 1, n do y[i] = (i == 1 or i == 2) and x[i] or x[i - 2] end end",
      "function(x, y, n) for i = 1, n do y[i] = i > 1 and x[i - 1] or x[i] end end",
    } do
      compare_on_tables(text)
    end
  end)

  it("gives kernels booleans from outside", function()
    local compiled = check(function(a, b, m)
      local is_first, is_large = b[1] > 0, m > 100
      for i = 1, m do
        if is_first and not is_large then a[i] = b[i] end
      end
    end, device, { { 1.0, 2.0, 3.0 }, { 4.0, 5.0, 6.0 }, 3 })
    assert.equal(1, compiled:stats().launches)
  end)

  it("stores math.floor and math.ceil of what is no integer of 64 bits", function()
    local values = { nan, huge, -huge, 1e300, -1e19, -0.0, -0.5, 2.5, 2.0 ^ 62 }
    local compiled = check(function(a, b, c, m)
      for i = 1, m do
        b[i] = math.floor(a[i]) + 0.5
        c[i] = math.ceil(a[i])
      end
    end, device, { values, nested({ 9 }, random_floats), nested({ 9 }, random_floats), 9 })
    assert.equal(1, compiled:stats().launches)
    assert.truthy(compiled:explain():find("math.floor and math.ceil, where an integer is needed", 1, true))
  end)

  it("runs in Lua what data make integers or floats, where that makes a difference", function()
    local rows = { nested({ 2 }, random_floats), nested({ 2 }, random_floats), nested({ 2 }, random_floats),
      nested({ 2 }, random_floats) }
    local compiled = check(function(a, b, m)
      for i = 1, m do b[1][i] = 1 / -math.max(0, a[i]) end
      for i = 1, m do b[2][i] = 1 / (-1 * (a[i] > 0 and a[i] or 0)) end
      for i = 1, m do
        local s = 0
        if a[i] > 0 then s = 0.5 end
        b[3][i] = 1 / -s
      end
      for i = 1, m do
        local s = 9007199254740993 * i
        if a[i] > 0 then s = 0.5 end
        b[4][i] = s - 9007199254740992
      end
    end, device, { { -1.5, 2.5 }, rows, 2 })
    assert.equal(0, compiled:stats().launches)
    assert.truthy(compiled:explain():find("whether this is computed in integers depends on data", 1, true))
    local useful = check(function(a, b, m)
      for i = 1, m do
        local s = 0
        for j = 1, m do s = s + a[j] * i end
        b[i] = 2 * math.max(0, math.min(255, a[i])) + s / m
      end
    end, device, { { -1.5, 2.5 }, { 0.0, 0.0 }, 2 })
    assert.equal(1, useful:stats().launches)
  end)

  it("does not take conditions for what they are without wrapping round", function()
    local compiled = check(function(a, m)
      for i = 1, m do
        if i * 4503599627370496 * 2 <= 0 then a[1] = i * 1.0 end -- never for integers without end
      end
    end, device, { { 0.0 }, 1500 })
    assert.equal(0, compiled:stats().launches)
  end)

  it("runs tables in Lua whose elements a metatable gives", function()
    local function f(a, m)
      for i = 1, m do a[i] = a[i] + 1 end
    end
    local inner, compiled = { 1.0, 2.0, 3.0 }, compile(f, device)
    compiled(setmetatable({}, { __index = inner, __newindex = inner, __len = function() return 3 end }), 3)
    assert.same({ 2.0, 3.0, 4.0 }, inner)
    assert.truthy(compiled:explain():find("a metatable gives elements of 'a'", 1, true))
    compiled(setmetatable(inner, { __index = { name = "matrix" } }), 3)
    assert.same({ 3.0, 4.0, 5.0 }, table.move(inner, 1, 3, 1, {}))
    assert.equal(1, compiled:stats().launches)
  end)

  it("takes a float for an integer only where nothing is computed with it", function()
    check(function(a, m)
      for i = 1, m do a[i] = a[i] / m end
    end, device, { { 1.0, 2.0 }, 2.0 })
    helper.raises("argument #2 'm': it is computed with beside bounds and subscripts, so an integer is expected, "
      .. "got the float 4.0", compile(function(a, m)
      for i = 1, m do a[i] = m * 4611686018427387904 end
    end, device), { 0.0, 0.0, 0.0, 0.0 }, 4.0)
    helper.raises({ "'1.0': the loop in line 2 would go through floats", "write integers", "'local x = i * h'" },
      assert(loops.compile("function(a, m)\n  for i = 1.0, m do a[1] = i end\nend", { device = device })), { 0.0 }, 4)
  end)

  it("goes over an array whose name is that of one of the loop's own", function()
    check(assert(load [[return function(x, y)
      for x, v in ipairs(x) do y[x] = v * x end
      for i, x in ipairs(x) do y[i] = y[i] + x end
    end]])(), device, { { 1.5, 2.5, 3.5 }, { 0.0, 0.0, 0.0 } })
  end)

  it("is refused before a call where types let none pass", function()
    local compiled, failure = loops.compile("function(x, n)\n  for i = 1, n do x[i] = x[i] | 0.5 end\nend")
    assert.is_nil(compiled)
    assert.matches("2:33: '|' takes integers, this is a float", tostring(failure), 1, true)
  end)

  it("names the line that takes an array for a number", function()
    local compiled = assert(loops.compile("function(x, n)\n local t = {}\n for i = 1, n do t[i] = x end\n return t end",
      { device = device }))
    helper.raises("argument #1 'x': number expected, got table: it is used as one in line 3", compiled, { 1.0 }, 2)
    helper.raises("argument #1 'x': number expected, got Buffer: it is used as one in line 3", compiled,
      device:buffer { 1 }, 2)
    helper.raises("argument #1 'x': number expected, got boolean", compiled, true, 2)
  end)

  it("takes captured numbers and arrays as they are at the call", function()
    local scale, offsets = 2.0, { 10.0, 20.0, 30.0 }
    local function f(a, m)
      for i = 1, m do a[i] = a[i] * scale + offsets[i] end
    end
    local compiled, a = compile(f, device), { 1.0, 2.0, 3.0 }
    compiled(a, 3)
    assert.same({ 12.0, 24.0, 36.0 }, a)
    scale, offsets = 0.5, device:buffer({ 1, 2, 3 }, "double")
    compiled(a, 3)
    assert.same({ 7.0, 14.0, 21.0 }, a)
    scale = nil
    helper.raises("upvalue 'scale': number expected, got nil", compiled, a, 3)
  end)

  it("raises an error where a captured function is another one at the call", function()
    local function double(x) return 2 * x end
    local change, a = double, { 1.0, 2.0 }
    local function f(x, m)
      for i = 1, m do x[i] = change(x[i]) end
    end
    local compiled = compile(f, device)
    compiled(a, 2)
    assert.same({ 2.0, 4.0 }, a)
    change = math.abs
    helper.raises("upvalue 'change' is not the function any more that was compiled: compile again", compiled, a, 2)
    change = double
    compiled(a, 2)
    assert.same({ 4.0, 8.0 }, a)
  end)

  it("knows an array that is given twice", function()
    local function shift(a, b, m)
      for i = 2, m do b[i] = a[i - 1] + 1 end
    end
    local compiled = compile(shift, device)
    local a, b = { 5.0, 0.0, 0.0, 0.0 }, device:buffer({ 5, 0, 0, 0 }, "double")
    compiled(a, a, 4)
    assert.same({ 5.0, 6.0, 7.0, 8.0 }, a)
    compiled(b, b, 4)
    assert.same({ 5.0, 6.0, 7.0, 8.0 }, b:read())
    assert.equal(0, compiled:stats().launches)
    compiled(a, { 0.0, 0.0, 0.0, 0.0 }, 4)
    assert.equal(1, compiled:stats().launches)
  end)

  it("refuses arrays that share part of their memory, unless nobody writes", function()
    local all = device:zeros("double", 6)
    local compiled = compile(function(a, b, c, m)
      for i = 1, m do c[i] = a[i] + b[i] end
    end, device)
    local c = device:zeros("double", 4)
    compiled(all:view(1, 4), all:view(3, 6), c, 4)
    helper.raises("argument #3 'c': it shares part of its memory with argument #1 'a', and one of them is written",
      compiled, all:view(1, 4), c, all:view(3, 6), 4)
    local row = { 1.0, 2.0 }
    helper.raises("argument #1 'm': m[2] is the same table as m[1]", compile(function(m, count)
      for i = 1, count do m[i][i] = 0.0 end
    end, device), { row, row }, 2)
    local first, last = all:view(1, 4), all:view(3, 6)
    -- one array is what is read and what is written
    helper.raises("shares part of its memory", compiled, first, last, first, 4)
  end)

  it("works on views wherever they start", function()
    local all = device:buffer(nested({ 9 }, function(i) return i end), "double")
    local compiled = compile(function(a, m)
      for i = 1, m do a[i] = -a[i] end
    end, device)
    compiled(all:view(2, 4), 3)
    compiled(all:view(8, 8), 1)
    assert.same({ 1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, -8.0, 9.0 }, all:read())
  end)

  it("counts from 0 where it is told to", function()
    local function f(a, b, count)
      for i = 0, count - 1 do for j = 0, i do b[i][j] = a[i] * 10 + j end end
    end
    local function zeros(count)
      local rows = {}
      for i = 0, count - 1 do
        rows[i] = {}
        for j = 0, count - 1 do rows[i][j] = -1 end
      end
      return rows
    end
    local from_0 = compile(f, device, { base = 0 })
    for count, a in pairs { [3] = { [0] = 3, 1, 2 }, [1] = { [0] = 3 }, [0] = {} } do
      local b, expected = zeros(count), zeros(count)
      f(a, expected, count)
      from_0(a, b, count)
      assert.same(expected, b)
    end
    local buffer = device:zeros("long", 3, 3)
    compile(f, device, { base = 0, force = false })(device:buffer({ 3, 1, 2 }, "long"), buffer, 3)
    assert.same({ { 30, 0, 0 }, { 10, 11, 0 }, { 20, 21, 22 } }, buffer:read())
    local failed, message = loops.compile(function(x) for i = 0, #x - 1 do x[i] = 0.0 end end, { base = 0 })
    assert.is_nil(failed)
    assert.truthy(message[1]:find("with base = 0 the length of 'x' is not known: pass it as a number", 1, true))
  end)

  it("takes buffers of one queue of one device", function()
    local function f(a, b, m)
      for i = 1, m do b[i] = a[i] + 1 end
    end
    local queue = device:queue()
    local a, b = queue:buffer({ 1, 2 }, "double"), queue:zeros("double", 2)
    compile(f)(a, b, 2)
    assert.same({ 2.0, 3.0 }, b:read())
    helper.raises("the option 'device' on another queue of it", compile(f, device), a, b, 2)
    for _, other in ipairs(helper.devices()) do
      if other ~= device then
        helper.raises("argument #2 'b': it is on", compile(f), a, other:zeros("double", 2), 2)
        helper.raises("the option 'device' on " .. other.name, compile(f, other), a, b, 2)
      end
    end
  end)

  it("takes lengths", function()
    check_all(function(a, b)
      for i = 1, #a do for j = 1, #a[1] do b[j][i] = a[i][j] * #b end end
    end, device, { nested({ 3, 4 }, random_floats), nested({ 4, 3 }, random_floats) })
  end)

  it("copies what is needed, once", function()
    local a, b = nested({ n, n }, random_floats), nested({ n, n }, random_floats)
    local compiled = compile(jac2d, device, { tiles = { passes = 1 } })
    local steps = helper.is_simulator(device) and 4 or 100
    compiled(a, b, n, steps)
    local bytes = n * n * 8
    assert.same({ launches = 2 * steps, uploads = 2, bytes_up = 2 * bytes, downloads = 2, bytes_down = 2 * bytes },
      compiled:stats())
    compiled(device:buffer(a, "double"), device:buffer(b, "double"), n, steps)
    assert.same({ launches = 4 * steps, uploads = 2, bytes_up = 2 * bytes, downloads = 2, bytes_down = 2 * bytes },
      compiled:stats())
    compiled = compile(mmm, device)
    compiled(a, b, nested({ n, n }, random_floats), n)
    assert.same({ launches = 1, uploads = 2, bytes_up = 2 * bytes, downloads = 1, bytes_down = bytes },
      compiled:stats())
  end)

  it("runs what is sequential in Lua between launches, on copies", function()
    local function f(a, b, s, m, T)
      for _ = 1, T do
        for i = 1, m do b[i] = a[i] * 0.5 end
        for i = 2, m do s[i] = s[i - 1] + b[i] end
        for i = 1, m do a[i] = b[i] + 1 end
      end
    end
    local values = { nested({ n }, random_floats), nested({ n }, random_floats), nested({ n }, random_floats), n, 3 }
    local compiled = check_all(f, device, values) -- on buffers: s comes to the host once, b each time, s goes back
    assert.same({ launches = 6, uploads = 1, bytes_up = n * 8, downloads = 4, bytes_down = 4 * n * 8 },
      compiled:stats())
  end)

  it("checks bounds before anything runs", function()
    local compiled, a, b = compile(function(a, b, m)
      for i = 1, m do b[i] = 1.0 end
      for i = 1, m do b[i] = a[i + 1] end
    end, device), { 1.0, 2.0, 3.0, 4.0 }, { 0.0, 0.0, 0.0, 0.0 }
    local message = helper.raises("a[5] is needed at line", function() compiled(a, b, 4) end)
    assert.matches("^spec/loops/loops_spec.lua:%d+: ", message)
    assert.same({ 0.0, 0.0, 0.0, 0.0 }, b)
    compiled(a, b, 3)
    assert.same({ 2.0, 3.0, 4.0, 0.0 }, b)
  end)

  it("runs what data decide, in any mixture with what they do not", function()
    local compiled = check_all(function(a, b, c, x, m)
      for i = 1, m do
        if a[i] > x then b[i] = a[i] elseif i % 3 == 0 and not (a[i] < -x or c[i] > a[i]) then b[i] = -a[i] c[i] = x end
        local s, count = 0.0, 0
        for j = 1, m do
          if a[j] > a[i] then
            count = count + 1
            if j > i or c[i] < 0.0 then s = s + a[j] else s = s * 0.5 end
          end
        end
        if count > 2 then c[i] = s else c[i] = c[i] + count end
      end
    end, device, { nested({ n }, random_floats), nested({ n }, random_floats), nested({ n }, random_floats), 0.5, n })
    assert.equal(1, compiled:stats().launches)
  end)

  it("raise for an index outside of a buffer that data decide about", function()
    local function fails(text, message, ...)
      local compiled = assert(loops.compile(text, { force = true, device = device }))
      local ok, fault = pcall(compiled, ...)
      assert.is_false(ok)
      assert.matches(message, fault, 1, true)
    end
    local line, rows = device:buffer({ 1, 2, 3 }, "double"), device:buffer({ { 1, 2 }, { 3, 4 } }, "double")
    fails("function(a, n) for i = 1, n do if a[i] > 0 then a[i + 1] = 1.0 end end end",
      "argument #1 'a': index 4 of dimension 1 is outside of 1 .. 3", line, 3)
    fails("function(a, c, n) for i = 1, n do if a[i] > 0 then c[i] = a[i - 1] end end end",
      "argument #1 'a': index 0 of dimension 1 is outside of 1 .. 3", line, device:buffer({ 0, 0, 0 }, "double"), 3)
    fails("function(a, n) for i = 1, n do for j = 1, n do if a[i][j] > 0 then a[i][j + 1] = 1.0 end end end end",
      "argument #1 'a': index 3 of dimension 2 is outside of 1 .. 2", rows, 2)
  end)

  it("name the line where Lua fails in loops that stay there", function()
    local count = assert(loops.compile("function(h, k, n)\n  for i = 1, n do\n    if k[i] < 1 then\n      h[1] = 0\n"
      .. "    elseif h[k[i] + 1] < 9 then\n      h[k[i]] = h[k[i]] + 1\n    end\n  end\nend",
      { force = false, device = device }))
    local function raised(h, ...) return select(2, pcall(count, h, { ... }, 1)) end
    assert.equal("line 6: attempt to perform arithmetic on a nil value (field '?')", raised({ [4] = 1, 2, 3 }, 3))
    assert.equal("line 5: attempt to compare nil with number", raised({ 1, 2, 3 }, 7))
    assert.equal("line 5: argument #1 'h': index 8 of dimension 1 is outside of 1 .. 3",
      raised(device:buffer({ 1, 2, 3 }, "long"), 7))
  end)

  it("copies in what data decide to write, as all of the rest stays", function()
    local function f(a, b, c, m)
      for i = 1, m do
        local s = 0.0
        if a[i] > 0.0 then s = a[i] b[i] = s end
        c[i] = s
      end
    end
    local values = { nested({ n }, random_floats), nested({ n }, random_floats), nested({ n }, random_floats), n }
    local compiled = check(f, device, values)
    assert.equal(2, compiled:stats().uploads) -- a and b
    check_all(f, device, values)
  end)

  it("calls functions of one expression for integers and floats, with numbers around as they are", function()
    local scale = 3
    local function power(x, y) return y > 0 and x * x * scale or x - y end
    local next = function(i) return i + 1 end
    local function f(a, w, m)
      local k = 0.5
      local function shifted(x) return power(x + k, x) + math.abs(x + k) end
      for i = 1, m do
        a[i] = shifted(power(a[next(i) - 1] * 2.0, a[i]))
        k = 1.5
        w[i] = power(w[i] // 2, w[i]) + power(i, 3)
      end
    end
    local values = { nested({ n }, random_floats), nested({ n }, random_integers), n }
    check(f, device, values)
    local function g(a, w, m)
      for i = 1, m do
        local k = a[i] > 0 and 0.5 or 0.25
        local function shifted(x) return power(x + k, x) + math.abs(x + k) end
        a[i] = shifted(power(a[next(i) - 1] * 2.0, a[i]))
        k = 1.5
        w[i] = power(w[i] // 2, w[i]) + power(i, 3)
        if shifted(a[i] * 0.5) > 2.0 then a[i] = shifted(k * 2.0) end
      end
    end
    local compiled = check(g, device, values)
    assert.equal(1, compiled:stats().launches)
    scale = -2.5
    check(g, device, { nested({ n }, random_floats), nested({ n }, random_floats), n })
  end)

  it("takes arguments of inlined functions as expressions: integers in a table of floats, and small ones", function()
    local function f(a, m)
      local function square(x) return x * x end
      for i = 1, m do a[i] = square(a[i] + 1) + 0.5 end
    end
    local compiled = compile(f, device)
    local values, expected = { 1, -2, 3 }, { 1, -2, 3 }
    compiled(values, 3)
    f(expected, 3)
    assert.same(expected, values)
    assert.equal(1, compiled:stats().launches)
    compiled = compile(function(w, a, m)
      local function above(x) return math.max(x, 0.5) + x end
      for i = 1, m do a[i] = above(w[i] - 1) end
    end, device)
    local buffer = device:zeros("double", 3)
    compiled(device:buffer({ 1, 2, -3 }, "int"), buffer, 3)
    assert.same({ 0.5, 2.0, -3.5 }, buffer:read())
    assert.equal(1, compiled:stats().launches)
  end)

  it("leaves to Lua what data may lead out of an array", function()
    local compiled, a = compile(function(a, m)
      for i = 1, m do
        if a[i] > 0 then a[i] = a[i] + 1 else a[i] = a[i + m] end
      end
    end, device), { 1.0, 2.0 }
    compiled(a, 2)
    assert.same({ 2.0, 3.0 }, a)
    assert.truthy(compiled:explain():find("whether 'a' is left in line", 1, true))
  end)

  it("leaves to Lua conditions on numbers that wrap", function()
    local function f(a, x, m)
      for i = 1, m do
        if x + 1 > x then a[i] = 1 else a[i + m] = 2 end
        if x > 0 then
          if x * (1 << 53) > 0 then a[i] = a[i] + 10 else a[i + m] = a[i + m] + 20 end
        end
      end
    end
    local compiled = check(f, device, { { 0, 0, 0, 0 }, math.maxinteger, 2 })
    assert.truthy(compiled:explain():find("'x' is in conditions, and beyond 2^53", 1, true))
    for _, x in ipairs { 1023, 1024 } do check(f, device, { { 0, 0, 0, 0 }, x, 2 }) end
    helper.raises("but #a is 2", function()
      compile(function(a, x, m) for i = 1, m do if x < 9 then a[i + x] = 1 end end end, device)({ 0, 0 }, 8, 2)
    end)
  end)

  it("takes nests under conditions on the host", function()
    local function f(a, b, c, m, T)
      for t = 1, T do
        if c[t] > 0 then
          for i = 1, m do b[i] = a[i] * 0.5 end
        elseif t % 2 == 0 then
          local shift = a[1]
          for i = 1, m do b[i] = a[i] + shift end
        else
          c[t] = b[1]
        end
        for i = 1, m do a[i] = b[i] + t end
      end
    end
    local steps = { 1.0, -1.0, -1.0, 1.0, -1.0 }
    local values = { nested({ n }, random_floats), nested({ n }, random_floats), steps, n, #steps }
    local compiled = check_all(f, device, values)
    assert.equal(3 + #steps, compiled:stats().launches)
    assert.truthy(compiled:explain():find("`if` on the host, line", 1, true))
    compiled = check(function(a, m, choice)
      if choice == 1 then
        for i = 1, m do a[i] = 1.0 end
      elseif choice == 2 then
        for i = 2, m do a[i] = 2.0 end
      end
    end, device, { { 5.0, 6.0, 7.0 }, 3, 2 })
    assert.same({ 1, 1, 1 }, { compiled:stats().launches, compiled:stats().uploads, compiled:stats().downloads })
    local buffer = device:zeros("double", 3)
    for choice = 1, 3 do
      for _ = 1, 2 do compiled(buffer, 3, choice) end
    end
    assert.same({ 1.0, 2.0, 2.0 }, buffer:read())
    assert.equal(1 + 4, compiled:stats().launches)
  end)

  it("hands booleans and integers that became floats to kernels", function()
    check(function(a, m)
      local is_large, start = m > 3, 0
      if m > 100 then start = 0.5 end
      for i = 1, m do if is_large then a[i] = start + i end end
    end, device, { { 5.0, 6.0, 7.0, 8.0 }, 4 })
  end)

  it("raises Lua's error of an integer division by zero", function()
    local function f(a, k, m)
      for i = 1, m do a[i] = i // k end
    end
    check(f, device, { { 0, 0, 0 }, -2, 3 })
    local _, message = pcall(f, { 0, 0, 0 }, 0, 3)
    helper.raises(message:match ": (.*)$", compile(f, device), { 0, 0, 0 }, 0, 3)
    local function remainder(a, b, m) for i = 1, m do a[i] = a[i] % b[i] end end
    local function rest(a, b, m) for i = 1, m do a[i] = math.fmod(a[i], b[i]) end end
    for _, of_data in ipairs { remainder, rest } do
      local compiled = check(of_data, device, { { 7, 8, 9 }, { 2, -3, 4 }, 3 })
      assert.equal(1, compiled:stats().launches)
      _, message = pcall(of_data, { 7, 8, 9 }, { 2, 0, 4 }, 3)
      helper.raises(message:match ": (.*)$", compiled, { 7, 8, 9 }, { 2, 0, 4 }, 3)
      assert.equal(2, compiled:stats().launches)
    end
  end)

  it("leaves what was done when Lua raises an error between launches", function()
    local function f(a, b, m)
      for i = 1, m do b[i] = a[i] + 1 end
      for i = 2, m do a[i] = a[i - 1] // b[i] end
      for i = 1, m do b[i] = 0 end
    end
    for _, place in ipairs { "table", "buffer" } do
      local a, b = { 1, 5, -1, 3 }, { 0, 0, 0, 0 }
      local expected_a, expected_b = copy(a), copy(b)
      assert.is_false(pcall(f, expected_a, expected_b, 4))
      if place == "buffer" then a, b = device:buffer(a, "long"), device:buffer(b, "long") end
      assert.is_false(pcall(compile(f, device), a, b, 4))
      if place == "buffer" then a, b = a:read(), b:read() end
      assert.same({ expected_a, expected_b }, { a, b }, place)
    end
  end)

  it("computes in the arrays' own type in fast mode", function()
    local a = device:buffer({ 1, 2, 3 }, "float")
    local compiled = compile(function(x, s, m)
      for i = 1, m do x[i] = math.sqrt(x[i]) * s + 0.25 end
    end, device, { mode = "fast" })
    compiled(a, 0.5, 3)
    for i, value in ipairs(a:read()) do
      assert.is_true(math.abs(value - (math.sqrt(i) * 0.5 + 0.25)) < 8 * helper.eps.float)
    end
    assert.is_nil(compiled:source():find "double")
  end)

  it("knows a float among integers wherever it is", function()
    local function double(a, m) for i = 1, m do a[i] = a[i] * 2 end end
    for place = 1, 4 do
      for _, value in ipairs { 0.0, -0.0, 0.5, -1e300, nan } do
        local a = { 1, 5, -7, -2 }
        a[place] = value
        check(double, device, { a, 4 })
      end
    end
    check(double, device, { { math.maxinteger, math.mininteger, math.maxinteger, -2 }, 4 })
  end)

  it("takes the elements of tables that hold more, and names one that is missing", function()
    local function double(a, m) for i = 1, m do for j = 1, m do a[i][j] = 2 * a[i][j] end end end
    local compiled, a = compile(double, device), { { 1.0, 2.0 }, { 3.0, 4.0, name = "second" }, n = 2 }
    compiled(a, 2)
    assert.same({ { 2.0, 4.0 }, { 6.0, 8.0, name = "second" }, n = 2 }, a)
    helper.raises("argument #1 'a': element a[2][2] is no number but a nil",
      compiled, { { 1.0, 2.0, 3.0 }, { 3.0, nil, 4.0 } }, 2)
  end)

  it("refuses ragged tables of small calls before anything is written, behind good ones too", function()
    local function double(a, m, k) for i = 1, m do for j = 1, k do a[i][j] = 2 * a[i][j] end end end
    local compiled = assert(loops.compile(double, { device = device }))
    for _ = 1, 3 do compiled({ { 1, 2 }, { 3, 4 } }, 2, 2) end
    local a = { { 1, 2 }, { 3 } }
    helper.raises("argument #1 'a': not rectangular: a[2] has 1 elements, the first of its kind 2", compiled, a, 2, 2)
    helper.raises("a[2] is a number", compiled, { a[1], 3 }, 2, 2)
    assert.same({ { 1, 2 }, { 3 } }, a)
  end)

  it("looks behind the first float of a row where it copies alone", function()
    for force, expected in pairs { [false] = true, [true] = "element x[2] is no number but a string" } do
      local compiled = assert(loops.compile("function(x, n) for i = 1, n do x[i] = 2 * x[i] end end",
        { device = device, force = force }))
      local x = { 1.5, "2" }
      local ok, message = pcall(compiled, x, 2)
      assert.is_true(ok == expected or message:find(expected, 1, true) ~= nil, message)
      assert.equal(ok and 4 or "2", x[2])
    end
  end)

  it("raises what is wrong with arguments, at the caller", function()
    local compiled = compile(mmm, device)
    local a = device:zeros("double", 2, 2)
    for text, values in pairs {
      ["argument #1 'A': buffer or table expected, got number"] = { 1, a, a, 2 },
      ["argument #2 'B': the function uses 2 subscripts, the buffer has 1 dimension"] = { a, a:reshape(4), a, 2 },
      ["argument #4 'n': number expected, got nil (or let the function begin with 'n = n or 0')"] = { a, a, a },
      ["argument #1 'A': a buffer of half is not taken: b:astype \"float\" is a copy"] =
        { device:zeros("half", 2, 2), a, a, 2 },
      ["argument #4 'n': it is used in bounds or subscripts, so an integer is expected, got 1.5"] = { a, a, a, 1.5 },
      ["argument #1 'A': not rectangular: A[2] has 1 elements, the first of its kind 2"] =
        { { { 1, 2 }, { 3 } }, a, a, 2 },
      ["argument #1 'A': element A[1][2] is no number but a string"] = { { { 1, "2" }, { 3, 4 } }, a, a, 2 },
      ["argument #1 'A': A[1] is a number, but the function uses 2 subscripts"] = { { 1, 2 }, a, a, 2 },
    } do
      local message = helper.raises(text, function() compiled(table.unpack(values, 1, 4)) end)
      assert.matches("^spec/loops/loops_spec.lua:%d+: ", message)
    end
    helper.raises("argument #1 'x': element x[2] is no number but a table", compile(function(x, m)
      for i = 1, m do x[i] = x[i] + 1 end
    end, device), { 1.5, {}, 2.5 }, 3)
    local message = helper.raises("a compiled function has no field 'explian'; did you mean 'explain'?",
      function() compiled:explian() end)
    assert.matches("^spec/loops/loops_spec.lua:%d+: ", message)
    compiled:close()
    helper.raises("this compiled function is closed", compiled, a, a, a, 2)
    for _, name in ipairs { "explain", "source", "stats", "close", "__call", "__tostring" } do
      local f = getmetatable(compiled)[name] or compiled[name]
      message = helper.raises("compiled function expected, got number; a method is called with a colon",
        function() f(5) end)
      assert.matches("^spec/loops/loops_spec.lua:%d+: ", message, name)
    end
  end)
end)
