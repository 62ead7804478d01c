-- SPDX-License-Identifier: MIT
-- Tables that a function makes: arrays of the call's own, which it may return.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 12

local function product(a, b, n)
  local c = {}
  for i = 1, n do
    local row = {}
    for j = 1, n do
      local s = 0.0
      for k = 1, n do s = s + a[i][k] * b[k][j] end
      row[j] = s
    end
    c[i] = row
  end
  return c
end

local function blur(a, out, n)
  local across, weights = {}, { 0.25, 0.5, 0.25 }
  for i = 1, n do
    across[i] = {}
    for j = 2, n - 1 do
      local s = 0.0
      for k = 1, 3 do s = s + weights[k] * a[i][j + k - 2] end
      across[i][j] = s
    end
  end
  for i = 2, n - 1 do
    for j = 2, n - 1 do out[i][j] = across[i - 1][j] + across[i][j] + across[i + 1][j] end
  end
end

local function row_by_row(a, out, n)
  for i = 1, n do
    local turned, sum = {}, 0.0
    for j = 1, n do turned[j] = a[i][n - j + 1] end
    for j = 1, n do sum = sum + turned[j] * a[i][j] end
    out[i][1] = sum
  end
end

local function distance(a, b, n)
  local before, now = {}, {}
  for j = 0, n do before[j] = j end
  for i = 1, n do
    now[0] = i
    for j = 1, n do
      local cost = a[i] == b[j] and 0 or 1
      now[j] = math.min(before[j] + 1, now[j - 1] + 1, before[j - 1] + cost)
    end
    for j = 0, n do before[j] = now[j] end
  end
  return before[n]
end

local function differences(x, n)
  local d, sum = {}, 0.0
  for i = 2, n do d[#d + 1] = x[i] - x[i - 1] end
  for i = 1, n - 1 do sum = sum + d[i] end
  return d, sum, x
end

local function histogram(k, n)
  local h = {}
  for bin = 1, n do h[bin] = 0 end
  for i = 1, #k do h[k[i]] = h[k[i]] + 1 end
  return h
end

local function flat_product(a, b, n)
  local turned, c = {}, {}
  for i = 1, n do
    for j = 1, n do turned[(j - 1) * n + i] = b[i][j] end
  end
  for i = 1, n do
    for j = 1, n do
      local s = 0.0
      for k = 1, n do s = s + a[i][k] * turned[(j - 1) * n + k] end
      c[(i - 1) * n + j] = s
    end
  end
  return c
end

local function letters(factor)
  local list = {}
  for i = 1, N do list[i] = (i * factor) % 4 + 1.0 end
  return list
end

local function reals()
  local list = {}
  for i = 1, N do list[i] = math.random() end
  return list
end

helper.describe_each("a function that makes tables", function(device)
  local CASES = {
    ["a product that is returned"] = { product, helper.matrix(N, N), helper.matrix(N, N), N },
    ["what a second nest reads, and literals"] = { blur, helper.matrix(N, N), helper.matrix(N, N), N },
    ["a table of each row"] = { row_by_row, helper.matrix(N, N), helper.matrix(N, N), N },
    ["tables that begin at 0"] = { distance, letters(3), letters(7), N },
    ["a table that gets longer, a sum and an argument"] = { differences, reals(), N },
    ["flat tables that are matrices"] = { flat_product, helper.matrix(N, N), helper.matrix(N, N), N },
    ["elements that are added to where data say"] = { histogram, { 1, 3, 3, 2, 1, 3, 5, 1, 4, 3, 2, 5 }, 5 },
  }
  for name, case in pairs(CASES) do
    it("does what it does in Lua: " .. name, function()
      local f, values = case[1], { table.unpack(case, 2) }
      for _, options in ipairs { { force = true }, { force = false }, { force = true, target = "gpu" } } do
        options.device = device
        local compiled <close> = assert(loops.compile(f, options))
        for _ = 1, 2 do assert.is_true(copies.are_calls_equal(compiled, f, values, device)) end
      end
    end)
  end

  it("returns a buffer where an argument is one, else a table", function()
    local compiled <close> = assert(loops.compile(product, { device = device, force = true }))
    local a, b = device:random("double", 3, 3, { seed = 1 }), device:random("double", 3, 3, { seed = 2 })
    local one, other = compiled(a, b, 3), compiled(b, a, 3)
    assert.same({ 3, 3 }, one.shape)
    assert.equal("double", one.dtype)
    assert.is_true(copies.are_equal({ product(a:read(), b:read(), 3), product(b:read(), a:read(), 3) },
      { one:read(), other:read() }))
    assert.same({ { 6.0 } }, compiled({ { 2.0 } }, { { 3.0 } }, 1))
    assert.same({}, compiled({}, {}, 0))
    assert.equal(0, #compiled(device:zeros("double", 0, 0), device:zeros("double", 0, 0), 0))
  end)

  it("tells the place of a float that is a subscript of a table from 0", function()
    local compiled <close> = assert(loops.compile [[function(s, n)
      local u = {}
      for q = 0, n do u[q] = 2.0 * q end
      for i = 1, n do u[i % s] = u[i % s] - 0.5 end
      return u[1]
    end]])
    helper.raises(":4:25: a subscript takes integers, this is a float: math.floor makes one of it", compiled, 3.0, 5)
    assert.equal(1.0, compiled(3, 5))
  end)

  it("keeps floats in mode 'fast'", function()
    local compiled <close> = assert(loops.compile(product, { device = device, force = true, mode = "fast" }))
    local a = device:random("float", 5, 5, { seed = 1 })
    local c = compiled(a, a, 5)
    assert.equal("float", c.dtype)
    local expected = product(a:read(), a:read(), 5)
    for i, row in ipairs(c:read()) do
      for j, value in ipairs(row) do assert.near(expected[i][j], value, 1e-5) end
    end
  end)

  it("lets rows go side by side that have a table each", function()
    local compiled <close> = assert(loops.compile(row_by_row, { device = device, force = true }))
    local a = helper.matrix(4, 4)
    compiled(a, helper.matrix(4, 4), 4)
    assert.equal(1, compiled:stats().launches)
    assert.matches("for i +parallel", compiled:explain())
  end)

  it("is Lua where elements may be read or returned that have no value", function()
    local function read(x, n)
      local t, sum = {}, 0.0
      for i = 1, n, 2 do t[i] = x[i] end
      for i = 1, n do sum = sum + t[i] end
      return sum
    end
    local function triangle(x, n)
      local t = {}
      for i = 1, n do
        t[i] = {}
        for j = 1, i do t[i][j] = x[j] end
      end
      return t
    end
    local compiled <close> = assert(loops.compile(read, { device = device, force = true }))
    assert.equal(7.0, compiled({ 7.0 }, 1))
    helper.raises("attempt to perform arithmetic on a nil value", compiled, { 1.0, 2.0, 3.0 }, 3)
    local function some(x, n)
      local t = {}
      for i = 1, n do
        if x[i] > 1 then t[i] = x[i] end
      end
      return t
    end
    local filled <close> = assert(loops.compile(some, { device = device, force = true }))
    assert.same({ 2.0, 3.0 }, filled({ 2.0, 3.0 }, 2))
    assert.same({ [2] = 3.0 }, filled({ 1.0, 3.0 }, 2))
    local function seen(x, n)
      for i = 1, n do
        local t = {}
        if x[i] > 1 then t[1] = x[i] end
        x[i] = t[1] == 2 and 1.0 or 0.0
      end
    end
    local anew, failure = loops.compile(seen)
    assert.is_nil(anew)
    local UNSET = "elements of 't', which each pass makes anew, may be read before anything is stored in them"
    assert.matches(UNSET, tostring(failure), 1, true)
    local function second(x, n)
      for p = 1, n do
        local t = {}
        for i = 1, n do t[#t + 1] = { i, x[i] } end
        x[p] = n > 0 and t[2][2] or 0.0
      end
    end
    local appended <close> = assert(loops.compile(second, { device = device, force = true }))
    local given = { 1.5, 2.5 }
    appended(given, 2)
    assert.same({ 2.5, 2.5 }, given)
    helper.raises(UNSET, appended, { 1.5 }, 1)
    assert.matches("for p", appended:explain(), 1, true)
    local ragged <close> = assert(loops.compile(triangle, { device = device, force = true }))
    assert.same({ { 1.0 }, { 1.0, 2.0 } }, ragged({ 1.0, 2.0 }, 2))
    assert.equal(0, ragged:stats().launches)
    assert.matches("elements of 't', which it makes, may be read or returned without", ragged:explain(), 1, true)
    helper.raises("'t': element t[1][2] is no number but a nil", ragged, device:buffer({ 1.0, 2.0 }, "double"), 2)
  end)

  it("returns a buffer as long as Lua's table where data say how far that is filled", function()
    local function until_zero(x)
      local t = {}
      for i = 1, #x do
        if x[i] == 0 then break end
        t[i] = x[i]
      end
      return t
    end
    local function left_by_return(x)
      local t = {}
      for i = 1, #x do
        if x[i] == 0 then return t end
        t[i] = x[i]
      end
      return t
    end
    local function behind_end(x, w)
      local t = {}
      for i = 1, #x do t[i] = 0 end
      for i = 1, #x do
        if x[i] > 9 then t[i + w] = 1 end
      end
      return t
    end
    local function either(x)
      local t = {}
      if x[1] > 5 then
        for i = 1, #x do t[i] = 1 end
      else
        for i = 1, 2 do t[i] = 2 end
      end
      return t
    end
    local function rows_of_data(x)
      local t = {}
      for i = 1, #x do
        t[i] = {}
        for j = 1, 3 do
          if x[j] == 0 then break end
          t[i][j] = x[i]
        end
      end
      return t
    end
    for _, f in ipairs { until_zero, left_by_return, behind_end, either, rows_of_data } do
      for _, force in ipairs { true, false } do
        local compiled <close> = assert(loops.compile(f, { device = device, force = force }))
        for _, x in ipairs { { 1, 2, 0, 4 }, { 0, 1 }, { 9, 8, 7 } } do
          if f ~= rows_of_data or x[1] ~= 1 then
            local values <close> = device:buffer(x, "long")
            local got <close> = compiled(values, f == behind_end and 3 or nil)
            assert.same(f(x, 3), got:read())
          end
        end
      end
    end
    local compiled <close> = assert(loops.compile(behind_end, { device = device }))
    helper.raises("'t': element t[4] is no number but a nil; the call returns a buffer: store a number in each element "
      .. "before the last", compiled, device:buffer({ 1, 2, 11 }, "long"), 2)
  end)

  it("has items in braces that see names as they are before", function()
    local text = [[
      function(x, a)
        local x, a, t = { x[2], x[1] + a }, 3, { x[1], a }
        local rows = {}
        for i = 1, 4 do
          local t = { t[2] * i, t[1] + a }
          rows[i] = t
        end
        return x, t, rows
      end
    ]]
    for _, force in ipairs { true, false } do
      local compiled <close> = assert(loops.compile(text, { device = device, force = force }))
      assert.is_true(copies.are_calls_equal(compiled, load("return " .. text)(), { { 5.5, 7.5 }, 2.5 }, device))
    end
  end)

  it("has the rows in braces that Lua makes", function()
    local function until_zero(x)
      local t = {}
      for i = 1, #x do
        if x[i] == 0 then break end
        t[i] = { x[i], i }
      end
      return t
    end
    local function every_second(x)
      local t = {}
      for i = 1, #x, 2 do t[i] = { x[i], i } end
      return t
    end
    local function stored_again(x)
      local t = {}
      for i = 1, #x do
        if x[i] == 0 then break end
        local row = { x[i], i }
        t[i] = row
      end
      for i = 1, #x do t[i][1] = 5 end
      return t
    end
    for _, force in ipairs { true, false } do
      for _, f in ipairs { until_zero, every_second } do
        local compiled <close> = assert(loops.compile(f, { device = device, force = force }))
        for _, x in ipairs { { 1, 2, 0, 4 }, { 0, 1 }, { 9, 8, 7 } } do
          assert.same(f(x), compiled(x))
          if f == until_zero then assert.same(f(x), compiled(device:buffer(x, "long")):read()) end
        end
        if f == every_second then
          helper.raises("'t': element t[2] is no row but a nil; the call returns a buffer", compiled,
            device:buffer({ 1, 2, 3 }, "long"))
        end
      end
      local again <close> = assert(loops.compile(stored_again, { device = device, force = force }))
      assert.same({ { 5, 1 }, { 5, 2 } }, again({ 1, 2 }))
      helper.raises("attempt to index a nil value", again, { 1, 0 })
    end
  end)

  it("is as long as a loop with a step that is no literal may store", function()
    local function divisors(n)
      local d = {}
      for i = 1, n do d[i] = 0 end
      for i = 1, n do
        for j = i, n, i do d[j] = d[j] + 1 end
      end
      return d
    end
    local function multiples(n)
      local d = {}
      for i = 2, n do
        for j = n, i, -i do d[j] = i end
      end
      return d
    end
    for _, f in ipairs { divisors, multiples } do
      for _, force in ipairs { true, false } do
        local compiled <close> = assert(loops.compile(f, { device = device, force = force }))
        for n = 0, 12 do assert.same(f(n), compiled(n)) end
      end
    end
  end)

  it("has rows without elements", function()
    local function rows(x, n, m)
      local t = {}
      for i = 1, n do
        t[i] = {}
        for j = 1, m do t[i][j] = x[i] end
      end
      return t
    end
    local function above(x, n)
      local t = {}
      for i = 1, n do
        t[i] = {}
        for j = i + 1, n do t[i][j - i] = x[j] end
      end
      return t
    end
    for _, force in ipairs { true, false } do
      local compiled <close> = assert(loops.compile(rows, { device = device, force = force }))
      assert.same({ {}, {} }, compiled({ 1.0, 2.0 }, 2, 0))
      assert.same({}, compiled({ 1.0, 2.0 }, 0, 2))
      local ragged <close> = assert(loops.compile(above, { device = device, force = force }))
      assert.same({ { 2.0, 3.0 }, { 3.0 }, {} }, ragged({ 1.0, 2.0, 3.0 }, 3))
    end
  end)

  it("has as many elements as a loop over a product of numbers stores", function()
    local function filled(x, h, w)
      local t, n = {}, h * w
      for i = 1, n do t[i] = -1 end
      for i = 1, n // h do t[i] = i end
      for i = 1, math.floor(#x / 2) do t[i] = x[i] end
      return t
    end
    for _, force in ipairs { true, false } do
      local compiled <close> = assert(loops.compile(filled, { device = device, force = force }))
      assert.same({ 7, 8, 3, -1, -1, -1 }, compiled({ 7, 8, 9, 10, 11 }, 2, 3))
      assert.same({ 1, 2 }, compiled({}, 1, 2))
      helper.raises("argument #3 'w': number expected, got nil", compiled, {}, 1)
      helper.raises("'h * w': it is used in bounds or subscripts, so an integer is expected", compiled, {}, 1.5, 1)
    end
  end)

  it("raises an error at an index beyond its table", function()
    local compiled <close> = assert(loops.compile(histogram, { device = device, force = false }))
    helper.raises("attempt to perform arithmetic on a nil value", compiled, { 1, 6 }, 5)
  end)
end)

helper.describe_each("two arrays change places in a loop", function(device)
  local function smooth(a, b, n, steps)
    local function mean(i) return (a[i - 1] + a[i] + a[i + 1]) / 3 end
    if n < 3 then return a, 0 end
    for step = 1, steps do
      for i = 2, n - 1 do b[i] = mean(i) + step end
      a, b = b, a
    end
    a[1] = b[2]
    return a, 1
  end
  local function distance_of_rows(a, b, n, steps)
    local before, now = {}, {}
    for j = 0, n do before[j], now[j] = j, 0 end
    for i = 1, steps do
      now[0] = i
      for j = 1, n do
        local cost = a[i % n + 1] == b[j] and 0 or 1
        now[j] = math.min(before[j] + 1, now[j - 1] + 1, before[j - 1] + cost)
      end
      before, now = now, before
    end
    return before[n]
  end
  local function twice(a, b, n, steps)
    local x, y = {}, {}
    for i = 1, n do x[i], y[i] = a[i], b[i] end
    for _ = 1, steps do
      for i = 1, n do y[i] = x[n - i + 1] + 1 end
      x, y = y, x
    end
    for _ = 0, steps do
      for i = 1, n do y[i] = x[i] * 2 end
      x, y = y, x
    end
    return x, y
  end

  local function bounds_that_change(a, b, n, steps)
    local last = steps
    for _ = steps - 2, last do
      for i = 1, n do b[i] = a[i] / 2 end
      last = last - 1
      a, b = b, a
    end
    return a, last
  end

  local function bounds_of_data(a, b, n, steps)
    local count = { steps }
    for _ = 1, count[1] do
      for i = 2, n do b[i] = a[i - 1] / 2 end
      count[1] = 1
      a, b = b, a
    end
    return a
  end

  local function until_close(a, b, n, steps)
    local passes, change = 0, 100.0
    while change > 0.125 and passes < steps do
      local far = 0.0
      for i = 2, n - 1 do
        b[i] = 0.5 * (a[i - 1] + a[i + 1])
        far = math.max(far, math.abs(b[i] - a[i]))
      end
      if far > 90 then break end
      a, b = b, a
      passes, change = passes + 1, far
      if a[3] > 90 then break end
    end
    a[1] = b[2]
    return a, passes, change
  end

  local function until_last(a, b, n, steps)
    local passes = 1
    repeat
      for i = 2, n do b[i] = a[i - 1] / 2 end
      a, b = b, a
      local is_last = a[2] < 0.1
      passes = passes + 1
    until passes > steps or is_last
    return b, passes
  end

  local function exchanged_before(a, b, n, steps)
    for t = 1, steps do
      local h = t / 2
      for i = 2, n do b[i] = a[i - 1] + h end
      a, b = b, a
      b[1] = a[2] + h
    end
    return a
  end

  for name, f in pairs { ["a 'while', before its end"] = until_close, ["a 'repeat'"] = until_last,
    ["a 'for', before its end"] = exchanged_before, ["bounds that passes change"] = bounds_that_change,
    ["bounds of data"] = bounds_of_data,
    ["arguments, which a local function sees"] = smooth, ["tables"] = distance_of_rows,
    ["tables that are returned"] = twice } do
    it("and do what they do in Lua: " .. name, function()
      for _, options in ipairs { { force = true }, { force = false }, { force = true, target = "gpu" } } do
        options.device = device
        local compiled <close> = assert(loops.compile(f, options))
        for _, steps in ipairs { -2, -1, 0, 1, 2, 5 } do
          assert.is_true(copies.are_calls_equal(compiled, f, { letters(3), letters(7), N, steps }, device))
        end
      end
    end)
  end

  it("and the one is returned that has the name", function()
    local compiled <close> = assert(loops.compile(smooth, { device = device, force = true }))
    local a, b = { 1.0, 2.0, 3.0 }, { 1.0, 2.0, 3.0 }
    assert.equal(b, (compiled(a, b, 3, 1)))
    assert.equal(a, (compiled(a, b, 3, 2)))
    assert.equal(a, (compiled(a, b, 2, 1)))
  end)
end)
