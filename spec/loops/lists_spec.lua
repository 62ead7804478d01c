-- SPDX-License-Identifier: MIT
-- Lists as Lua programs make them: tables that get longer at their end, and tables of booleans.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local random_lists = require "spec.support.random_lists"

local N = 40

local LISTS = {
  ["elements that a condition chooses"] = function(x)
    local above = {}
    for i = 1, #x do
      if x[i] > 0 then above[#above + 1] = x[i] end
    end
    return above
  end,
  ["two lists at a time, and how long both are"] = function(x)
    local above, places = {}, {}
    for i = 1, #x do
      if x[i] > 0 then table.insert(above, x[i]) else places[#places + 1] = i end
    end
    return above, places, #above + #places
  end,
  ["a number of its own that counts"] = function(x)
    local above, n, weights = {}, 0, { 0.25, 0.5, 0.25 }
    for i = #x, 1, -3 do
      if x[i] > 0 then
        n = n + 1
        above[n] = 2 * x[i]
      end
    end
    local pairs_of = { { 1.5, 2.5 }, { 3.5, 4.5 } }
    for i = 1, n do above[i] = above[i] + weights[i % #weights + 1] + pairs_of[i % #pairs_of + 1][2] end
    return above, n
  end,
  ["runs, of which the last one gets longer"] = function(x)
    local values, counts, n, lengths, longest = {}, {}, 0, {}, 0
    for i = 1, #x do
      if n > 0 and (x[i] > 0) == (values[n] > 0) then
        counts[n] = counts[n] + 1
      else
        n = n + 1
        values[n] = x[i]
        counts[n] = 1
      end
      if i == 1 or x[i] > x[i - 1] then
        lengths[#lengths + 1] = { x[i], 1 }
      else
        lengths[#lengths][2] = lengths[#lengths][2] + 1
      end
    end
    for i = 1, n do longest = math.max(longest, counts[i]) end
    return values, counts, lengths, longest
  end,
  ["the last one, and one beyond, where there are some"] = function(x)
    local tops, sum, n = {}, 0.0, 0
    for i = 1, #x do
      if not tops[#tops] or tops[#tops] < x[i] then tops[#tops + 1] = x[i] end
      if tops[#tops - 1] == nil then n = n + 1 end
    end
    for i = 0, #x do
      if tops[i] then sum = sum + (tops[i + 1] or 100) end
    end
    return tops, sum, n
  end,
  ["a number that counts, and what it counted last"] = function(x)
    local list, n = {}, 0
    for i = 1, #x do
      if not list[n] or list[n] ~= x[i] then
        n = n + 1
        list[n] = x[i]
      end
    end
    return list
  end,
  ["rows that get longer"] = function(x)
    local rows, sums = {}, {}
    for i = 1, #x do
      local row = {}
      for k = 3, 6 do row[#row + 1] = x[i] * k end
      rows[i] = row
      sums[i] = {}
      local own = sums[i]
      for k = 1, 2 do table.insert(own, row[k] + k) end
    end
    return rows, sums
  end,
  ["rows that get longer and are appended"] = function(x)
    local function push(list, value) list[#list + 1] = value end
    local rows, others, sum = {}, {}, 0.0
    for i = 1, #x do
      local row, pair = {}, { i, x[i] }
      rows[#rows + 1] = row
      for k = 1, 3 do push(row, x[i] + k) end
      table.insert(others, pair)
    end
    for i = 1, #rows do sum = sum + rows[i][2] + others[i][1] end
    return rows, others, sum, #rows
  end,
  ["rows of rows that get longer"] = function(x)
    local all = {}
    for i = 1, #x do
      local plane = {}
      for j = 1, 2 do
        local row = {}
        for k = 1, 2 do row[#row + 1] = 10 * j + k + x[i] end
        plane[j] = row
      end
      all[i] = plane
    end
    return all
  end,
  ["rows of pairs, and rows that two loops make together"] = function(x)
    local pairs_of, rows = {}, {}
    for i = 1, #x - 1, 2 do
      local row = {}
      for k = i, i + 1 do row[#row + 1] = x[k] end
      pairs_of[(i + 1) // 2] = row
    end
    for i = 1, #x do
      for j = 1, 2 do
        rows[2 * (i - 1) + j] = {}
        for k = 1, 2 do rows[2 * (i - 1) + j][k] = x[i] + k end
      end
    end
    return pairs_of, rows
  end,
  ["rows of rows, made beside each other"] = function(x)
    local all, fixed = {}, { { { 1, #x }, { 2, 3 } }, { { 4, 5 }, { 6, 7 } } }
    for i = #x, 1, -1 do
      all[i] = {}
      all[i][1] = {}
      all[i][2] = {}
      for j = 1, 2 do
        for k = 1, 2 do all[i][j][k] = x[i] + j end
      end
    end
    return all, fixed
  end,
  ["loops within each other, and a literal before"] = function(x)
    local pairs_of = { 0.5, 0.25 }
    for i = 1, #x do
      for j = 1, i - 1, 2 do
        if x[i] > x[j] then pairs_of[#pairs_of + 1] = i * 100 + j end
      end
    end
    pairs_of[#pairs_of + 1] = #pairs_of
    return pairs_of
  end,
  ["what is chosen is gone through, changed and summed up"] = function(x)
    local places, twice, sum = {}, {}, 0.0
    for i = 1, #x do
      if x[i] > 0 then places[#places + 1] = i end
    end
    for k, place in ipairs(places) do twice[k] = 2 * x[place] end
    for k = 1, #twice do
      twice[k] = twice[k] + k
      sum = sum + twice[k]
    end
    return twice, sum, places
  end,
  ["a list of each pass"] = function(x)
    local sums = {}
    for i = 1, #x do
      local above, sum = {}, 0.0
      for j = 1, #x do
        if x[j] > x[i] then above[#above + 1] = x[j] end
      end
      for k = 1, #above do sum = sum + above[k] end
      sums[i] = sum + #above
    end
    return sums
  end,
  ["rows"] = function(x)
    local points, sum = {}, 0.0
    for i = 1, #x do
      if x[i] > 0 then points[#points + 1] = { x[i], i } else points[#points + 1] = { i, 1 } end
      if x[i] > 1 then break end
    end
    for _, point in ipairs(points) do sum = sum + point[1] * point[2] end
    return points, sum
  end,
  ["functions that append"] = function(x)
    local function push(list, value) table.insert(list, value) end
    local function push_both(list, value)
      push(list, value)
      push(list, -value)
    end
    local all, last, above = {}, {}, {}
    local function keep(value) last[#last + 1] = value end
    local function push_above(list, value)
      if value < 0 then return end
      list[#list + 1] = value
    end
    for i = 1, #x do
      push_both(all, x[i])
      push_above(above, x[i])
      if x[i] > 0 then keep(i) end
    end
    return all, last, above
  end,
  ["several at once, and sums that go on"] = function(x)
    local sums, places = { 0.0 }, {}
    for i = 1, #x do places[#places + 1], sums[#sums + 1] = i, sums[#sums] + x[i] end
    for i = #sums, 1, -1 do places[#places + 1] = sums[i] end
    return sums, places
  end,
  ["a return before anything is stored"] = function(x)
    local above = {}
    if #x < 2 then return above, 0 end
    local n = 0
    for i = 1, #x do
      if i == 30 then return above, n end
      if x[i] > 0 then
        n = n + 1
        above[n] = x[i]
      end
    end
    return above, n
  end,
  ["nothing"] = function(x)
    local far, sum = {}, 1.0
    for i = 1, #x do
      if x[i] > 1000 then far[#far + 1] = x[i] end
    end
    for _, v in ipairs(far) do sum = sum + v end
    return far, sum
  end,
  ["the length of a table that loops fill"] = function(x)
    local filled, sums, rows = {}, {}, {}
    for i = 1, #x do filled[i] = x[i] end
    for i = 2, #filled do filled[i] = filled[i] + filled[i - 1] end
    for i = 3, #x do sums[#sums + 1] = filled[i] end
    for i = 1, #sums do rows[i] = { sums[i], i } end
    local last = 0.0
    for _, row in ipairs(rows) do last = last + row[1] end
    return filled, last, #rows
  end,
  ["primes, by a table of booleans"] = function(x)
    local is_prime, primes = {}, {}
    for i = 2, #x do is_prime[i] = true end
    for i = 2, #x do
      if is_prime[i] then
        primes[#primes + 1] = i
        for j = i * i, #x, i do is_prime[j] = false end
      end
    end
    return primes
  end,
}

local function reals(count)
  local list = {}
  for i = 1, count do list[i] = math.random() - 0.5 end
  return list
end

helper.describe_each("a function that makes lists", function(device)
  for name, f in pairs(LISTS) do
    it("does what it does in Lua: " .. name, function()
      for _, options in ipairs { { force = true }, { force = false }, { force = true, target = "gpu" } } do
        options.device = device
        local compiled <close> = assert(loops.compile(f, options))
        for _, count in ipairs { N, N, 1, 0 } do
          assert.is_true(copies.are_calls_equal(compiled, f, { reals(count) }, device))
        end
      end
    end)
  end

  it("does what it does in Lua: random ones, but for few that are refused", function()
    local count, refused = os.getenv "LONG" and 400 or 6, 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, x, y = random_lists.text(), reals(math.random(3, 60)), {}
      for i in ipairs(x) do y[i] = math.random(-5, 5) end
      local f = assert(load(text))()
      local options = { device = device, force = seed % 3 ~= 0, target = seed % 5 == 0 and "gpu" or nil }
      local compiled, reason = loops.compile(f, options)
      local place = ("seed %d\n%s%s"):format(seed, text, reason)
      if compiled then
        local values = { x, y, math.min(#x, math.random(0, 60)) }
        local ok, is_right = pcall(copies.are_calls_equal, compiled, f, values, device)
        assert.is_true(ok and is_right, place .. tostring(is_right))
        compiled:close()
      else
        refused = refused + 1
        local is_known = reason.reason:find "gets longer at its end" or reason.reason:find "gets is not known before"
        assert.is_truthy(is_known, place)
      end
    end
    assert.is_true(refused <= math.max(count // 5, 3))
  end)

  it("stays parallel where a loop appends once in each pass", function()
    local compiled <close> = assert(loops.compile(function(x)
      local twice, sum = {}, {}
      for i, v in ipairs(x) do twice[#twice + 1] = i * v end
      for i = 1, #twice do sum[i] = twice[i] + 1 end
      return sum
    end, { device = device, force = true }))
    assert.same({ 4.0, 3.0 }, compiled { 3.0, 1.0 })
    local _, count = compiled:explain():gsub(": for %w+ +parallel", "")
    assert.equal(2, count)
  end)

  it("returns buffers as long as they get where an argument is one", function()
    local compiled <close> = assert(loops.compile(LISTS.rows, { device = device, force = true }))
    local points = compiled(device:buffer { 0.5, -1, 2, 4 })
    assert.same({ 3, 2 }, points.shape)
    assert.equal(0, #compiled(device:zeros("double", 0)))
  end)

  it("says where data decide how long one gets", function()
    local function refused(source)
      local compiled, failure = loops.compile(source)
      assert.is_nil(compiled)
      return tostring(failure)
    end
    local MESSAGE = "how long '%s' gets is not found, as data say how often a loop around its appends goes round: fill "
      .. "it before, by 'for i = 1, most do t[i] = 0 end', and count"
    assert.matches(MESSAGE:format "list", refused(function(x)
      local list = {}
      for i = 1, x[1] do
        if x[i] > 0 then list[#list + 1] = i end
      end
      return list
    end), 1, true)
    assert.matches(MESSAGE:format "own", refused(function(c, x, n)
      for i = 1, n do
        local own = {}
        for _ = 1, c[i] do own[#own + 1] = x[i] end
        x[i] = #own
      end
    end), 1, true)
  end)
end)

helper.describe_each("booleans", function(device)
  local function above(x)
    local is_above, is_any = {}, false
    for i = 1, #x do
      is_above[i] = {}
      for j = 1, 2 do is_above[i][j] = x[i] > j and x[i] ~= 3 end
      if is_above[i][1] and not is_above[i][2] then is_any = true end
    end
    return is_above, is_any
  end

  it("are returned, as elements of a table or alone", function()
    for _, force in ipairs { true, false } do
      local compiled <close> = assert(loops.compile(above, { device = device, force = force }))
      local list, is_any = compiled { 0.5, 1.5, 3.0, 4.0 }
      assert.same({ { false, false }, { true, false }, { false, false }, { true, true } }, list)
      assert.is_true(is_any)
      assert.is_false((select(2, compiled { 3, 4 })))
    end
  end)

  it("are 1 and 0 in a buffer", function()
    local compiled <close> = assert(loops.compile(above, { device = device, force = true }))
    assert.same({ { 0, 0 }, { 1, 0 } }, (compiled(device:buffer { 0.5, 1.5 })):read())
  end)
end)
