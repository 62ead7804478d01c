-- SPDX-License-Identifier: MIT
--- Locals that begin as integers and are given floats later.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_mixtures = require "spec.support.random_mixtures"

local function vector(count, element)
  local list = {}
  for i = 1, count do list[i] = element(i) end
  return list
end

local function zeros(count) return vector(count, function() return 0.0 end) end

--- Whether numbers are the same, integers where integers are expected.
local function same(expected, got)
  return math.type(expected) == math.type(got) and copies.same(expected, got)
end

--- Compiles a function and compares its calls with those of the function, on tables and on buffers.
local function check(text, device, values, options)
  local f, all = assert(load("return " .. text))(), { device = device, force = true }
  for key, value in pairs(options or {}) do all[key] = value end
  local compiled = assert(loops.compile(text, all))
  local expected = copies.of(values)
  local results = table.pack(f(table.unpack(expected)))
  for _, own in ipairs { copies.of(values), copies.in_buffers(values, device, "double") } do
    local found = copies.read(table.pack(compiled(table.unpack(own))))
    for i = 1, results.n do
      assert(copies.are_equal(results[i], found[i], type(found[i]) == "number" and same or nil), text)
    end
    assert(copies.are_equal(expected, copies.read(own)), text)
  end
  return compiled
end

--- The kernels of a function as text, without comments.
local function code_of(compiled) return (compiled:source():gsub("//[^\n]*", "")) end

-- Functions as they are written, with 0 and 1; FLOAT behind an integer is what makes it a float.
local ESCAPES = {
  [[function(out, w, h, most)
    for i = 1, h do for j = 1, w do
      local cr, ci = 3 * j / w - 2, 3 * i / h - 1.5
      local zr, zi, n = 0FLOAT, 0FLOAT, 0
      while n < most and zr * zr + zi * zi <= 4 do
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        n = n + 1
      end
      out[(i - 1) * w + j] = n
    end end
  end]],
  [[function(out, w, h, most)
    for i = 1, h do for j = 1, w do
      local cr, ci = 3 * j / w - 2, 3 * i / h - 1.5
      local x, y = 0FLOAT, 0FLOAT
      local count = most
      for k = 1, most do
        local xx, yy = x * x, y * y
        if xx + yy > 4 then count = k; break end
        x, y = xx - yy + cr, math.abs(2 * x * y) + ci
      end
      out[(i - 1) * w + j] = count
    end end
  end]],
  [[function(out, w, h, most)
    for i = 1, h do for j = 1, w do
      local zr, zi, rr, ii = 0FLOAT, 0FLOAT, 0FLOAT, 0FLOAT
      local n = 0
      repeat
        zi = 2 * zr * zi + 3 * i / h - 1.5
        zr = rr - ii + 3 * j / w - 2
        rr, ii = zr ^ 2, zi ^ 2
        n = n + 1
      until rr + ii > 4 or n == most
      out[(i - 1) * w + j] = n + rr
    end end
  end]],
}

local SUMS = {
  newton = "local r = 1FLOAT for k = 1, 9 do r = (r + (x[i] ^ 2 + 1) / r) / 2 end y[i] = r",
  horner = "local p = 0FLOAT for k = n, 1, -1 do p = p * x[i] + x[k] end y[i] = p",
  series = "local t, s = 1FLOAT, 1FLOAT for k = 1, 9 do t = t * x[i] / k s = s + t end y[i] = s",
  largest = "local m = 0FLOAT for k = 1, n do if x[k] > m and k ~= i then m = x[k] end end y[i] = m",
  force = [[local f, g = 0FLOAT, 0FLOAT
    for k = 1, n do if k ~= i then local d = x[k] - x[i]; f, g = f + d * g, g + d end end y[i] = f * g]],
  moments = [[local mean, squares, count = 0FLOAT, 0FLOAT, 0
    for k = i, n do
      count = count + 1
      local d = x[k] - mean
      mean = mean + d / count
      squares = squares + d * (x[k] - mean)
    end
    y[i] = mean + squares / count]],
  scaled = "local a, b = 1FLOAT, 1FLOAT for k = 1, 9 do a, b = b, (a + b) * x[i] end y[i] = a",
  overwritten = "local d, s = 0FLOAT, 0FLOAT for k = 1, n do d = x[k] - x[i] s = s + d * -d end y[i] = s",
}

helper.describe_each("a local that begins as an integer", function(device)
  local n = helper.is_simulator(device) and 6 or 24

  --- Checks that a function is computed on the device, by kernels that are those of its floats.
  local function check_floats(text, values)
    local compiled <close> = check((text:gsub("FLOAT", "")), device, values)
    assert.equal(2, compiled:stats().launches, text)
    if not helper.is_simulator(device) then return end -- which builds in a tenth of the time
    local floats <close> = check((text:gsub("FLOAT", ".0")), device, values)
    assert.equal(code_of(floats), code_of(compiled))
  end

  it("is a float from the start where that makes no difference", function()
    for _, text in ipairs(ESCAPES) do check_floats(text, { zeros(n * 8), 8, n, 30 }) end
    local x = vector(n, function(i) return math.sin(i) end)
    for _, body in pairs(SUMS) do
      check_floats(("function(x, y, n) for i = 1, n do %s end end"):format(body), { x, zeros(n), n })
    end
  end)

  it("may be an argument", function()
    local text = [[function(y, n, first)
      for i = 1, n do
        local x = first
        for k = 1, 5 do x = 3.5 * i / n * x * (1 - x) end
        y[i] = x
      end
    end]]
    for _, first in ipairs { 1, 0, -3, 1 << 31, 0.25 } do
      local compiled <close> = check(text, device, { zeros(n), n, first })
      assert.equal(2, compiled:stats().launches)
    end
    local subtract = "function(y, n, x) for i = 1, n do if y[i] > 1 then x = 0.5 end y[i] = x - (1 << 53) end end"
    local large <close> = check(subtract, device, { zeros(n), n, (1 << 53) + 1 })
    assert.equal(0, large:stats().launches)
  end)

  local WITH_BODY = [[function(x, y, n, k)
    for i = 1, n do
      local s, t = 0, -1
      if x[i] > 0 then s, t = 0.5, -1.5 end
      %s
      y[i] = s
    end
  end]]

  it("is an integer in Lua where the sign of a zero, a division by zero or 64 bits tell", function()
    local bodies = {
      "s = 1 / (s * -1)", "s = 1 / (k * s)", "s = 1 / -s", "s = 1 / (s * t)", "s = 1 / (s // -2)",
      "s = 1 / (-2 * s % 2)", "s = 1 / math.fmod(s - 4, 2)",
      "for j = 1, 70 do t = t * 2 end s = t", "for j = 1, 100 do s, t = t, s + t + t end",
      "for j = 1, 70 do t = t + t end s = t", "s = t * (1 << 53) + 1 - (1 << 53)",
    }
    local x = vector(n, function(i) return i % 3 - 1.0 end)
    for _, body in ipairs(bodies) do
      local compiled <close> = check(WITH_BODY:format(body), device, { x, zeros(n), n, -2 })
      assert.equal(0, compiled:stats().launches, body)
      assert.matches("line %d: whether this is computed in integers depends on data", compiled:explain())
    end
    for _, body in ipairs { "s = s * s", "s = 1 / (t * t)", "s = 1 / -(t - 3)", "s = (s + 4) // 3", "s = (s + 4) % 3",
      "s = s // (t + 5)", "s = math.abs(t) * s", "s = 1 / math.max(s, 0)" } do
      local compiled <close> = check(WITH_BODY:format(body), device, { x, zeros(n), n, -2 })
      assert.equal(2, compiled:stats().launches, body)
    end
    local divided <close> = assert(loops.compile([[function(x, y, n)
      for i = 1, n do
        local s = 0
        if x[i] > 0 then s = x[i] end
        y[i] = 1 // s
      end
    end]], { device = device, force = true }))
    helper.raises("attempt to divide by zero", divided, { 1.0, 0.0 }, { 0.0, 0.0 }, 2)
  end)

  it("has its place in what is said of it", function()
    local compiled <close> = check([[function(x, y, n)
      local function turned(v)
        local s = 2
        if v > 0 then s = v end
        return -(s - 2)
      end
      for i = 1, n do y[i] = turned(x[i]) end
    end]], device, { zeros(n), zeros(n), n })
    assert.matches("line 5, called in line 7: whether this is computed in integers depends on data "
      .. "('s' begins with 2 in line 3: write 2.0)", compiled:explain(), 1, true)
  end)

  it("is returned as Lua has it", function()
    local x = vector(n, function(i) return i / 4 end)
    for _, text in ipairs {
      "function(x, m) local s = 0 for i = 1, #x do s = s + x[i] end return s * 2, s / 2, s end",
      "function(x, m) local s = 0 for i = 1, m do s = s + x[i] end return s * 2, -s, s - 3 end",
      [[function(x, m) local most, t = 0, {}
        for i = 1, #x do t[i] = x[i] * 2 most = math.max(most, t[i] - 90) end
        return most, t
      end]],
      "function(x, m) if x[2] > 3 or m == 0 then return 0, 1 end return x[4], x[3] end",
      [[function(x, m) local a, b = 0, 0
        for _, v in ipairs(x) do a, b = a + v, b + v * v end
        local mean = a / #x
        return mean, b / #x - mean * mean
      end]],
    } do
      for _, reduce in ipairs { "sequential", "tree" } do
        for m = 0, 1 do check(text, device, { x, m }, { reduce = reduce }):close() end
      end
    end
  end)

  it("is an integer for Lua behind a loop that would be shared out", function()
    local negative, positive = vector(n, function() return -1.0 end), vector(n, function(i) return i / 4 end)
    for text, is_shared in pairs {
      ["function(x) local s = 0 for i = 1, #x do if x[i] > 0 then s = s - x[i] end end return 1 / (-s) end"] = false,
      ["function(x) local s = 0 for i = 1, #x do s = math.max(s, x[i]) end local t = s * 2 return -1 / -t end"] = false,
      ["function(x) local s = 0 for i = 1, #x do s = math.max(s, x[i]) end return s + 1 end"] = true,
      ["function(x) local s = 0.0 for i = 1, #x do s = math.max(s, x[i]) end return 1 / (-s) end"] = true,
      [ [[function(x) local s, t = 0, 0 for i = 1, #x do s = math.max(s, x[i]) end
        for i = 1, 3 do t = s end return 1 / (-t) end]] ] = false,
    } do
      check(text, device, { negative }, { reduce = "tree" }):close()
      local compiled <close> = check(text, device, { positive }, { reduce = "tree" })
      assert.equal(is_shared, compiled:stats().launches > 0)
    end
  end)

  it("is what it is in Lua, in random functions", function()
    local count = helper.long(500) or helper.is_simulator(device) and 40 or 16
    local launches = 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, length = random_mixtures.text(), math.random(n // 3)
      local values = random_mixtures.arguments(length)
      local f, force = assert(load(text))(), math.random(3) > 1 or nil
      local compiled = assert(loops.compile(text:match "return (.*)", { device = device, force = force }))
      if pcall(f, table.unpack(copies.of(values))) then
        assert(copies.are_calls_equal(compiled, f, values, device), ("seed %d\n%s"):format(seed, text))
      else
        assert.is_false((pcall(compiled, table.unpack(copies.of(values)))))
      end
      launches = launches + compiled:stats().launches
      compiled:close()
    end
    assert.is_true(launches > count // 20, "few were parallel")
  end)

  --- Calls a function with a table of two zeros, others, and each of some numbers of passes; returns how many launches
  -- each call had.
  local function launches_of(text, others, ...)
    local f, counts = assert(load("return " .. text))(), {}
    local compiled <close> = assert(loops.compile(text, { device = device, force = true }))
    for i, passes in ipairs { ... } do
      local expected, found, before = zeros(2), zeros(2), i == 1 and 0 or compiled:stats().launches
      f(expected, passes, table.unpack(others))
      compiled(found, passes, table.unpack(others))
      assert(copies.are_equal(expected, found), text)
      counts[i] = compiled:stats().launches - before
    end
    return counts
  end

  it("is summed in floats by as many passes as they hold the sum of", function()
    local k = (1 << 31) - 1
    local text = "function(y, m, k) for i = 1, 2 do local t = 0 %s y[i] = t end end"
    for body, passes in pairs {
      ["for j = 1, m do t = t + (k * 262144 + 1) end if i > 3 then t = 0.5 end"] = { 7, 8, 19 },
      ["for j = m, 1, -1 do t = (k * 262144 + 1) - t end if i > 3 then t = 0.5 end"] = { 7, 8, 19 },
      ["for j = 1, m do if i > 3 then t = t + 0.5 else t = t + (k * 262144 + 1) end end"] = { 7, 8, 19 },
      ["for j = 1, m do t = t + k * 31 end if i > 3 then t = 0.5 end"] = { 50, 140101 },
      ["for h = 1, m do for j = h, m do t = t + k * 31 end end if i > 3 then t = 0.5 end"] = { 5, 530 },
      ["for h = 1, m do local u = t for j = 1, m do u = u + k * 31 t = u end end if i > 3 then t = 0.5 end"]
        = { 5, 380 },
    } do
      local counts = launches_of(text:format(body), { k }, table.unpack(passes))
      assert.same(#passes == 3 and { 1, 0, 0 } or { 1, 0 }, counts, body)
    end
  end)

  it("is summed by the passes of the loops that it outlives", function()
    local text = [[function(y, m, k)
      for i = 1, 2 do
        for h = 1, m do
          local t = 0
          for j = 1, 5 do t = t + (k * 262144 + 1) end
          if i > 3 then t = 0.5 end
          y[i] = t + h
        end
      end
    end]]
    assert.same({ 1, 1 }, launches_of(text, { (1 << 31) - 1 }, 19, 2))
  end)

  it("is summed in Lua where data say how many passes there are, unless it counts", function()
    local text = [[function(y, m, k)
      for i = 1, 2 do
        local t, j = 0, 0
        while j < m do t, j = t + %s, j + 1 end
        if i > 3 then t = 0.5 end
        y[i] = t
      end
    end]]
    assert.same({ 0, 0 }, launches_of(text:format "k * 31", { (1 << 31) - 1 }, 3, 140101))
    assert.same({ 1 }, launches_of(text:format "16", { 1 }, 3))
  end)

  it("may add elements of a buffer of integers", function()
    for dtype, value in pairs { int = -1 << 31 | 1, uint = (1 << 32) - 1 } do
      local x <close> = device:buffer({ value }, dtype)
      local text = [[function(y, m, x)
        for i = 1, 2 do
          local t = 0
          for j = 1, m do t = t + x[1] * 31 end
          if i > 3 then t = 0.5 end
          y[i] = t
        end
      end]]
      assert.same({ 1, 0 }, launches_of(text, { x }, 20, 140101))
    end
  end)

  it("may begin with a number beside those that floats do not hold", function()
    for _, first in ipairs { "9007199254740992", "-9007199254740992", "9007199254740991", "4503599627370496" } do
      local text = "function(y, m) for i = 1, 2 do local a = %s if i > m then a = 0.5 end y[i] = (a %s 1) %s 1 end end"
      assert.same({ 0 }, launches_of(text:format(first, "+", "-"), {}, 3))
      assert.same({ 0 }, launches_of(text:format(first, "-", "+"), {}, 3))
    end
    local text = [[function(y, m, first)
      for i = 1, 2 do
        local t = first
        for k = first, first + m do if k > 0 and i < 3 then t = k break end end
        if i > 3 then t = 0.5 end
        y[i] = (t + 2) - 2
      end
    end]]
    assert.same({ 0 }, launches_of(text, { (1 << 53) - 5 }, 2))
  end)

  it("takes 0 from a float as Lua does, which adds it", function()
    for _, value in ipairs { "x[i] - 0", "minus(x[i], 0)" } do -- but no argument
      local text = ("function(x, y, n) local function minus(a, b) return a - b end for i = 1, n do y[i] = %s end end")
        :format(value)
      local compiled <close> = check(text, device, { vector(n, function() return -0.0 end), zeros(n), n })
      assert.equal(2, compiled:stats().launches)
    end
  end)
end)

-- What loops do with b, a list of 1.0 and -1.0, and how many are launched for tables: where an integer tells, none.
local STORED = {
  { 0, "for i = 1, n do v[i] = b[i] > 0 and -2 or b[i] / 2.5 a[i] = math.sqrt(math.fmod(v[i], v[i])) end" },
  { 0, "for i = 1, n do v[i] = b[i] > 0 and -2 or b[i] / 2.5 end for i = 1, n do a[i] = v[i] % 2 end" },
  { 0, "for i = 1, n do v[i] = 0 end for i = 1, n do a[i] = -v[i] end" },
  { 0, "for i = 1, n do v[i] = b[i] > 0 and 0 or b[i] end for i = 1, n do local s = v[i] a[i] = s * -1 end" },
  { 0, [[local t = {}
    for i = 1, n do t[i] = b[i] > 0 and 0 or b[i] end
    for i = 1, n do v[i] = t[i] end
    for i = 1, n do a[i] = -1 * v[i] end]] },
  { 3, "for i = 1, n do v[i] = 0 end for i = 1, n do v[i] = v[i] + b[i] end for i = 1, n do a[i] = v[i] * 2 end" },
  { 2, "for i = 1, n do v[i] = i end for i = 1, n do a[i] = v[i] * v[i] - b[i] end" },
  { 1, "for i = 1, n do v[i] = 0 for j = 1, n do v[i] = v[i] + 1 end a[i] = v[i] // 2 end" },
  { 2, "for i = 1, n do v[i] = 0.0 end for i = 1, n do a[i] = -v[i] end" },
}

helper.describe_each("an integer that a table of floats is given", function(device)
  it("stays one where that tells", function()
    for _, case in ipairs(STORED) do
      local text = ("return function(a, b, v, n) %s end"):format(case[2])
      local values = { zeros(4), { 1.0, -1.0, 1.0, -1.0 }, zeros(4), 4 }
      local expected, got = copies.of(values), copies.of(values)
      assert(load(text))()(table.unpack(expected))
      local compiled <close> = assert(loops.compile(text, { device = device, force = true }))
      compiled(table.unpack(got))
      for i = 1, 3 do assert(copies.are_equal(expected[i], got[i]), case[2]) end
      assert.equal(case[1], compiled:stats().launches, case[2])
    end
  end)

  it("is a float in a buffer", function()
    local compiled <close> = assert(loops.compile("return function(a, b, v, n) " .. STORED[3][2] .. " end",
      { device = device, force = true }))
    local a, b, v = device:zeros("double", 4), device:zeros("double", 4), device:zeros("double", 4)
    compiled(a, b, v, 4)
    assert.same({ 2, -math.huge }, { compiled:stats().launches, 1 / a[1] })
  end)
end)
