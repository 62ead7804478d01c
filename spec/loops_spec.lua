-- SPDX-License-Identifier: MIT
--- Functions that loops.compile has compiled do what Lua does with them.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

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

--- All of it.
local function check_all(f, device, values)
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
  for t = 1, T do
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
    for _, size in ipairs { 0, 1, 2, n } do
      local shape = { size, size }
      check(mmm, device, { nested(shape, random_floats), nested(shape, random_floats), nested(shape, random_floats), size })
    end
    check_all(mmm, device, { nested({ n, n }, random_floats), nested({ n, n }, random_floats),
      nested({ n, n }, random_floats), n })
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
    local compiled = check_all(four, device, { nested({ m, m, m, m }, random_floats),
      nested({ m, m, m, m }, random_floats), m })
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
      end end
    end, device, { values, nested({ 17, count, count }, random_integers), count })
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
end)
