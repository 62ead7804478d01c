-- SPDX-License-Identifier: MIT
--- Forms in which programs write tables, defaults and bounds: each does on a device what it does in Lua.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

--- Floats, some of them whole.
local function floats(n)
  local list = {}
  for i = 1, n do list[i] = i % 3 == 0 and i * 1.0 or i * 0.75 - 2 end
  return list
end

local function integers(n)
  local list = {}
  for i = 1, n do list[i] = (i * i + 3 * i) % 7 + 1 end
  return list
end

-- By name, a function, and its arguments for a size.
local FORMS = {
  ["rows made together"] = { function(n)
    local a, b, c = {}, {}, {}
    for i = 1, n do
      a[i], b[i], c[i] = {}, { i, 2 * i }, 0.5
      for j = 1, 3 do a[i][j] = i * j end
    end
    return a, b, c
  end, function(n) return { n } end },
  ["rows appended together"] = { function(n)
    local a, b = {}, {}
    for i = 1, n do a[#a + 1], b[#b + 1] = { i, 1 }, { i, 2 * i } end
    return a, b
  end, function(n) return { n } end },
  ["numbers beside a row, of which the first stays"] = { function(n)
    local a, b = {}, {}
    for i = 1, n do a[i], a[i], b[i] = 1, 2, { 3 } end
    return a, b
  end, function(n) return { n } end },
  ["defaults of several arguments at once"] = { function(x, n, s, k)
    n, s, k = s or 2, n or 3, k or 1
    for i = 1, #x do x[i] = x[i] * n + s - k end
    return n, s
  end, function(n) return { floats(n), 7 } end },
  ["defaults beside an element"] = { function(x, n, s)
    n, x[1], s = n or 3, n or 5, s or 4
    for i = 1, #x do x[i] = x[i] * n + s end
  end, function(n) return { floats(n + 1), 7 } end },
  ["defaults of a local function"] = { function(x)
    local function f(a, b, c) b, c = b or 2, c or a return a * b + c end
    for i = 1, #x do x[i] = f(x[i], 3) + f(x[i]) + f(x[i], nil, 4) end
  end, function(n) return { floats(n) } end },
  ["keys in braces"] = { function(a, b)
    local d, w = {}, { [-1] = 0.25, [0] = 0.5, [1] = 0.25 }
    for i = 0, #a do
      d[i] = { [0] = i }
      for j = 1, #b do
        if i == 0 then
          d[i][j] = j
        else
          local cost = a[i] == b[j] and 0 or 1
          d[i][j] = math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
        end
      end
    end
    for i = 1, #a do
      local s = 0.0
      for k = -1, 1 do s = s + w[k] * b[math.max(i + k, 1)] end
      a[i] = s
    end
    return d[#a][#b]
  end, function(n)
    local a = {}
    for i, v in ipairs(integers(n)) do a[i] = v * 1.0 end
    return { a, integers(n + 1) }
  end },
  ["keys beside a list in braces"] = { function(x)
    local f, w = { [0] = 0, 1, 1 }, { [1] = 3, [2] = 4 }
    for i = 3, #x do f[i] = f[i - 1] + f[i - 2] end
    for i = 3, #x do w[i] = x[i] end
    return f[#x], w
  end, function(n) return { floats(n) } end },
  ["floats as the last values of loops"] = { function(x, n, z)
    for i = 1, math.sqrt(n) do x[i] = x[i] + 1 end
    for i = 1, n / z do x[i] = x[i] + 2 end
    for i = 0, n / z - 1 do x[i + 1] = x[i + 1] + 2 end
    for i = n, n / 2, -1 do if i > 0 then x[i] = x[i] * 2 end end
    for i = n, n / 4, -2 do if i > 0 then x[i] = x[i] * 3 end end
    for i = 1, 0.75 * n do x[i] = x[i] + 0.5 end
    for i = 1, math.min(n, 2.5) do x[i] = x[i] + 0.25 end
  end, function(n) return { floats(n), n, n == 0 and 0 or 2 } end },
  ["floats as last values that data say, or no number"] = { function(x)
    local y = {}
    for i = 1, #x do
      y[i] = 0
      for k = 0, math.sqrt(x[i]) do y[i] = y[i] + k end
      for k = -2, i ^ 0.5 / 2 do y[i] = y[i] + 3 * k end
    end
    return y
  end, function(n) return { floats(n) } end },
  ["shifts and powers as last values"] = { function(n)
    local bits, a, b, c = n % 6, {}, {}, {}
    for i = 1, 1 << bits do a[i] = i end
    for i = 1, 2 ^ bits do b[i] = i ~ (i >> 1) end
    for i = 1, (bits ~ 5) & 7 | 1 do c[i] = ~i end
    return a, b, c
  end, function(n) return { n } end },
  ["bits of floats that are whole"] = { function(v, w)
    local out = {}
    for i = 1, #v do
      local half = 2 * v[i] / 2
      out[i] = (v[i] | 0) + (w[i] & 3) + (~v[i] ~ w[i]) + (1 << half)
    end
    return out
  end, function(n)
    local whole = {}
    for i = 1, n do whole[i] = (i % 5) * 1.0 end
    return { whole, integers(n) }
  end },
  ["the last element of a list, before the text appends to it"] = { function(x)
    local values, counts, sums = {}, {}, { 0.5 }
    for _, v in ipairs(x) do
      if #values > 0 and values[#values] == v then
        counts[#counts] = counts[#counts] + 1
      else
        values[#values + 1] = v
        table.insert(counts, 1)
      end
      sums[#sums] = sums[#sums] + v
      if v > 4 then sums[#sums + 1] = v end
    end
    for i = 1, #x do x[i] = 2 * x[i] end
    return values, counts, sums
  end, function(n)
    local x = {}
    for i = 1, n do x[i] = i // 3 end
    return { x }
  end },
  ["rows of three dimensions that may be missing"] = { function(a, b)
    for z = 1, #a do
      for y = 1, #a[z] do
        local up, s = a[z][y + 1], a[z][y][1]
        if up then s = s + up[2] end
        if a[z][y - 1] then s = s + 2 * a[z][y - 1][1] end
        if a[z + 1] then s = s - a[z + 1][y][2] end
        b[z][y][1] = s
      end
    end
  end, function(n)
    local a, b = {}, {}
    for z = 1, n + 1 do
      a[z], b[z] = {}, {}
      for y = 1, 3 do a[z][y], b[z][y] = { z + 0.5 * y, z * y + 0.25 }, { 0.0, 1.0 } end
    end
    return { a, b }
  end },
  ["a store at the end of each way, of which one has a loop before"] = { function(x)
    local kinds, heights = {}, {}
    for i = 1, #x do
      heights[i] = {}
      if x[i] > 3 then
        kinds[i] = 2
      elseif x[i] < 1 then
        local below = 0
        for j = math.max(1, i - 2), i do if x[j] < 1 then below = below + 1 end end
        if below == 1 then kinds[i] = 1 else kinds[i] = below + 3 end
      else
        kinds[i] = 0
      end
      for j = 1, 2 do
        local h = x[i] + j
        if h < 4 then
          h = h * h
          heights[i][j] = h + 0.5
        else
          heights[i][j] = h
        end
      end
    end
    return kinds, heights
  end, function(n) return { floats(n) } end },
  ["a number that a loop changes, behind one that fills a table up to it"] = { function(a)
    local n, wave = #a, {}
    for i = 1, n do wave[i] = 0 end
    while n > 1 do
      local half = n // 2
      for i = 1, half do
        wave[i] = (a[2 * i - 1] + a[2 * i]) / 2
        wave[half + i] = (a[2 * i - 1] - a[2 * i]) / 2
      end
      for i = 1, n do a[i] = wave[i] end
      n = half
    end
    return n
  end, function(n) return { floats(n) } end },
  ["a local of a number that is changed behind it"] = { function(x, y, m)
    local n = 3
    for _ = 1, 3 do
      local from = n + 0
      local s = x[from + 1] or 0.5
      for i = 1, m do y[from + i] = y[i] + s end
      n = n - 1
    end
    for i = 1, m do x[i] = 2 * x[i] end
  end, function(n) return { floats(n), floats(n + 3), n } end },
  ["rotations"] = { function(x, y, k)
    local n, out = #x, {}
    for i = 1, n do out[(i - 1 + k) % n + 1] = x[i] end
    for i = 0, n - 1 do
      local s = 2 * x[i + 1] + (i - k) % n
      y[(i - k) % n + 1] = y[(i - k) % n + 1] + s
    end
    return out
  end, function(n) return { floats(n), floats(n), 3 } end },
}

--- Runs a function in Lua and compiled on tables, with the same results, which is told otherwise; returns whether it
-- was launched.
local function is_launched(f, device, ...)
  local compiled <close> = assert(loops.compile(f, { device = device, force = true }))
  local arguments = { ... }
  assert.is_true(copies.are_calls_equal(compiled, f, arguments, device))
  return compiled:stats().launches > 0
end

describe("forms that people write", function()
  local device = helper.device()

  for name, form in pairs(FORMS) do
    it("are taken: " .. name, function()
      local compiled <close> = assert(loops.compile(form[1], { device = device, force = true }))
      for _, n in ipairs { 0, 1, 2, 5, 17 } do
        assert.is_true(copies.are_calls_equal(compiled, form[1], form[2](n), device), ("%s: %d"):format(name, n))
      end
      assert.is_true(compiled:stats().launches > 0, name)
    end)
  end

  it("are no loop that goes down to what may be NaN, with which Lua goes on", function()
    local compiled, failure = loops.compile(function(x, v) for i = 3, math.sqrt(v), -1 do x[i] = 0 end end)
    assert.is_nil(compiled)
    assert.matches("the last value of a loop takes integers, this is a float", tostring(failure))
  end)

  it("raise an error for bits of a float that is not whole", function()
    local compiled <close> = assert(loops.compile(function(v, out)
      for i = 1, #v do out[i] = v[i] | 0 end
    end, { device = device, force = true }))
    assert.error_matches(function() compiled({ 1.0, 2.5 }, { 0, 0 }) end, "number has no integer representation")
    assert.equal(1, compiled:stats().launches)
  end)

  it("are no rotation where passes are others, or integers wrap", function()
    local function rotate(x, y, k, m)
      local n = #x
      for i = 1, m do y[(i + k) % n + 1] = x[i % n + 1] end
    end
    assert.is_false(is_launched(rotate, device, floats(5), floats(5), 3, 9))
    assert.is_false(is_launched(function(x, y, k)
      local n = #x
      for i = 1, n do y[(i + k) % n + 1] = x[i] end
    end, device, floats(5), floats(5), math.maxinteger - 2))
    assert.is_false(is_launched(function(x, k)
      for i = 1, #x do x[(i + k) % #x + 1] = x[i] + 1 end
    end, device, floats(5), 3))
  end)

  it("stay in Lua where a default follows an element that may lie beyond a table which is stored elsewhere, too",
    function()
      assert.is_false(is_launched(function(x, k)
        local t, out = {}, {}
        for i = 1, #x do t[i] = x[i] end
        t[1] = 7
        for i = 1, #k do out[i] = t[k[i]] or 3 end
        return out
      end, device, floats(5), { -1, 0, 1, 5, 6, 7 }))
    end)

  it("are not taken for the same where one value changes the place of the other", function()
    local compiled, failure = loops.compile "function(p, t) local u = {} p[1], u[p[1]] = 2, {} t[1] = u[1][1] end"
    assert.is_nil(compiled)
    assert.matches("a table is made with a name", failure.reason)
  end)
end)
