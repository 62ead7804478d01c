-- SPDX-License-Identifier: MIT
--- Sequential loops several passes of which go in two launches: which ones, how many launches, and that nothing that
-- they compute depends on it.

local copies = require "spec.support.copies"
local explain = require "clcompute.loops.explain"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local SMALL = { passes = 3, cache = 1, blocks = 1 }
local IN_GROUPS = { passes = 2, cache = 1, blocks = 1, together = 8 }

--- The rounds of a function, or nil.
local function rounds_of(text, target)
  local force = target == nil or nil -- then nothing is a task
  local compiled = assert(loops.compile(text, { force = force, target = target or "cpu" }))
  return explain.specialisation(compiled.state).plan.rounds[1]
end

local function vector(n)
  local list = {}
  for i = 1, n do list[i] = 4 * math.random() - 2 end
  return list
end

local function matrix(n)
  local list = {}
  for i = 1, n do
    list[i] = vector(n)
    list[i][i] = n + math.random() -- eliminations divide by it
  end
  return list
end

local compiled_of = {} -- by device and text: in rounds and without

local function both_of(text, device, target)
  local key = tostring(device) .. target .. text
  if not compiled_of[key] then
    compiled_of[key] = {}
    for i, tiles in ipairs { target == "gpu" and IN_GROUPS or SMALL, { passes = 1 } } do
      compiled_of[key][i] = assert(loops.compile(text, { force = true, target = target, device = device,
        tiles = tiles }))
    end
  end
  return compiled_of[key]
end

--- Runs a function in Lua, and on a device in rounds and without; returns the launches of both.
local function check_for(target, text, device, ...)
  local expected = copies.of { ... }
  assert(load("return " .. text))()(table.unpack(expected))
  local launches = {}
  for i, compiled in ipairs(both_of(text, device, target)) do
    local got, before = copies.of { ... }, compiled:stats().launches
    compiled(table.unpack(got))
    assert.same(expected, got)
    launches[i] = compiled:stats().launches - before
  end
  return table.unpack(launches)
end

local function check(...) return check_for("cpu", ...) end

local JACOBI = [[function(a, b, n, steps)
  for t = 1, steps do
    for i = 2, n - 1 do b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3 end
    for i = 2, n - 1 do a[i] = b[i] end
  end
end]]

-- The same with a loop that counts the rows behind the one before.
local BEHIND = JACOBI:gsub("for i = 2, n %- 1 do a%[i%] = b%[i%]", "for i = 1, n - 2 do a[i + 1] = b[i + 1]")

local ELIMINATION = [[function(a, n)
  for k = 1, n do
    for j = k + 1, n do a[k][j] = a[k][j] / a[k][k] end
    for i = k + 1, n do for j = k + 1, n do a[i][j] = a[i][j] - a[i][k] * a[k][j] end end
  end
end]]

local FIELDS = [[function(ex, ey, hz, n, steps)
  for t = 1, steps do
    for j = 1, n do ey[1][j] = t end
    for i = 2, n do for j = 1, n do ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i - 1][j]) end end
    for i = 1, n do for j = 2, n do ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j - 1]) end end
    for i = 1, n - 1 do for j = 1, n - 1 do
      hz[i][j] = hz[i][j] - 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j])
    end end
  end
end]]

-- Cholesky's factor, column by column.
local CHOLESKY = [[function(a, n)
  for j = 1, n do
    a[j][j] = math.sqrt(a[j][j])
    for i = j + 1, n do a[i][j] = a[i][j] / a[j][j] end
    for i = j + 1, n do for m = j + 1, i do a[i][m] = a[i][m] - a[i][j] * a[m][j] end end
  end
end]]

-- Columns that need the next one: pieces that shrink, and gaps, along the loop within.
local COLUMNS = [[function(a, b, n)
  for t = 3, n - 2 do
    for j = 3, n - 2 do b[t][j] = b[t][j] / 2 + a[t + 2][j + 1] end
    for i = t + 1, n do for j = t + 1, i do b[i][j] = b[i][j] - a[i][t] * a[j][t] * 0.01 end end
    for j = 3, n - 2 do a[t][j] = a[t][j] / 2 + b[t][j] end
  end
end]]

-- Two colours, of which each reads the other one: a loop of few passes in the one that goes in rounds.
local RED_BLACK = [[function(a, n, steps)
  for t = 1, steps do for colour = 0, 1 do
    for i = 2, n - 1 do for j = 2 + (i + colour) % 2, n - 1, 2 do
      a[i][j] = 0.25 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1])
    end end
  end end
end]]

-- Nests of a random loop over t, of matrices v and w.
local NESTS = {
  "for j = 3, n - 2 do v[t][j] = v[t][j] / 2 + w[t + 1][j - 1] end",
  "for j = t + 1, n - 2 do v[t][j] = v[t][j] / 2 + w[t + 2][j + 1] end",
  "for i = t + 1, n do for j = t + 1, n do v[i][j] = v[i][j] - w[i][t] * w[t][j] * 0.01 end end",
  "for i = t + 1, n do for j = t + 1, i do v[i][j] = v[i][j] - w[i][t] * w[j][t] * 0.01 end end",
  "for i = t + 1, n do v[i][t] = v[i][t] / 2 end",
  "v[t][t] = v[t][t] * 0.5 + 1",
  "for j = 3, n - 2 do for i = 3, n - 2 do v[i][j] = 0.2 * (w[i - 1][j] + w[i][j + 1]) end end",
  "for i = 3, n - 2 do for j = 3, n - 2 do if w[i][j - 1] > 0.3 then v[i][j] = w[i + 2][j] * 0.5 end end end",
}

local function pick(list) return list[math.random(#list)] end

local function random_loop()
  local nests = {}
  for i = 1, math.random(3) do
    local others = { v = pick { "a", "b" }, w = pick { "a", "b" } }
    nests[i] = pick(NESTS):gsub("%f[%w][vw]%f[%W]", others)
  end
  return ("function(a, b, n) for t = 3, n - 2 do %s end end"):format(table.concat(nests, "\n"))
end

describe("a loop goes in rounds", function()
  it("of pieces that shrink as little as neighbours are read", function()
    local round = rounds_of(JACOBI)
    assert.same({ 2, { 0, 1 } }, { round.slope, round.steps })
    round = rounds_of(FIELDS)
    assert.same({ 2, { 0, 1, 1, 2 } }, { round.slope, round.steps })
    local wide = JACOBI:gsub("i %- 1%]", "i - 2]"):gsub("2, n %- 1", "3, n - 2")
    assert.equal(4, rounds_of(wide).slope)
  end)

  it("of independent pieces where no neighbour is read", function()
    local round = rounds_of [[function(a, b, n, steps)
      for t = 1, steps do
        for i = 1, n do b[i] = a[i] * 0.5 end
        for i = 1, n do a[i] = b[i] + t end
      end
    end]]
    assert.equal(0, round.slope)
  end)

  it("of a front, where all rows need those of the passes", function()
    local round = rounds_of(ELIMINATION)
    assert.is_true(round.is_front)
    assert.equal(0, round.reach)
    round = rounds_of((ELIMINATION:gsub("a%[k%]", "a[k + 1]"):gsub("for i = k %+ 1", "for i = k + 2")
      :gsub("k = 1, n do", "k = 1, n - 1 do")))
    assert.equal(1, round.reach)
  end)

  it("where further subscripts keep passes apart", function()
    local round = rounds_of(RED_BLACK)
    assert.same({ 2, { 0, 1 } }, { round.slope, round.steps })
  end)

  it("unless isl finds a result that would depend on it", function()
    for _, text in ipairs {
      [[function(a, b, n, steps) for t = 1, steps do -- any row needs any other
        for i = 1, n do b[i] = a[n + 1 - i] end
        for i = 1, n do a[i] = b[i] end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- a row of all passes before, in the middle of them
        for i = 1, n do b[i] = a[n // 2] + 1 end
        for i = 1, n do a[i] = b[i] end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- neighbours too far away
        for i = 6, n - 5 do b[i] = a[i - 5] + a[i + 5] end
        for i = 6, n - 5 do a[i] = b[i] end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- a sweep along the line, which no cut leaves whole
        for j = 1, n do for i = 2, n do a[i][j] = a[i][j] + a[i - 1][j] end end
        for i = 1, n do for j = 2, n do a[i][j] = a[i][j] + a[i][j - 1] end end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- bounds that come and go
        for i = t % 3 + 1, n do b[i] = a[i] * 0.5 end
        for i = t % 3 + 1, n do a[i] = b[i] + 1 end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- the loop along the line is not shared out
        for j = 1, n do for k = 1, n do for l = 1, n do for i = 1, n do b[i][j][k][l] = a[i][j][k][l] end end end end
        for j = 1, n do for k = 1, n do for l = 1, n do for i = 1, n do a[i][j][k][l] = b[i][j][k][l] end end end end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- nor where it is skewed
        for j = 1, n do for i = j, j + 5 do b[i][j] = a[i][j] * 0.5 end end
        for j = 1, n do for i = j, j + 5 do a[i][j] = b[i][j] + 1 end end
      end end]],
      [[function(a, b, n, steps) for t = 1, n do -- a local of the nest tells the row
        for j = 1, n do local r = t; b[r][j] = a[r][j] * 0.5 end
        for i = 1, n do for j = 1, n do a[i][j] = a[i][j] + b[i][j] end end
      end end]],
      [[function(a, c, n) for k = 1, n do -- all rows in each pass, of which a front has few work-items
        for j = 1, n do a[k][j] = a[k][j] * 0.5 end
        for i = 1, n do for j = 1, n do c[i][j] = c[i][j] + 0.1 * a[k][j] end end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do -- Lua in between
        for i = 2, n - 1 do b[i] = a[i - 1] + a[i + 1] end
        a[1] = b[2]
        for i = 2, n - 1 do a[i] = b[i] end
      end end]],
    } do
      assert.is_nil(rounds_of(text), text)
    end
  end)

  it("on a GPU in groups, of columns where no rows do", function()
    local round = rounds_of(JACOBI, "gpu")
    assert.same({ true, 1, 2, { 0, 1 } }, { round.in_groups, round.at, round.slope, round.steps })
    round = rounds_of(ELIMINATION, "gpu")
    assert.same({ true, 1 }, { round.is_front, round.at })
    round = rounds_of(CHOLESKY, "gpu")
    assert.same({ true, 2 }, { round.is_front, round.at })
    assert.is_nil(rounds_of(CHOLESKY, "cpu"))
    round = rounds_of(COLUMNS, "gpu")
    assert.same({ 2, 1 }, { round.at, round.slope })
  end)

  it("on a GPU unless passes have loops of their own, or may fail", function()
    for _, text in ipairs {
      [[function(a, b, n, steps) for t = 1, steps do
        for i = 1, n do local s = 0.0; for j = 1, n do s = s + a[i][j] end; b[i][t] = s end
        for i = 1, n do a[i][t] = b[i][t] end
      end end]],
      [[function(a, b, n, steps) for t = 1, steps do
        for i = 1, n do b[i] = a[i] * 0.5 end
        for i = 1, n do if b[i] > 0 then a[i] = a[math.floor(b[i])] end end
      end end]],
    } do
      assert.is_nil(rounds_of(text, "gpu"), text)
    end
  end)

  it("not where `tiles` or the paper's heuristics say so", function()
    for _, options in ipairs { { tiles = { passes = 1 } }, { heuristics = "paper" } } do
      local compiled = assert(loops.compile(JACOBI, options))
      assert.not_matches("in rounds", compiled:explain())
    end
    assert.matches("in rounds of several passes: pieces that shrink by 2 at both ends in each, then the gaps",
      assert(loops.compile(JACOBI, { target = "cpu" })):explain())
    assert.matches("in rounds of several passes: the rows they name, then all others\n",
      assert(loops.compile(ELIMINATION, { target = "cpu" })):explain())
    assert.matches("in rounds of several passes: the columns they name, then all others; a piece is a work%-group's\n",
      assert(loops.compile(CHOLESKY, { target = "gpu" })):explain())
  end)
end)

helper.describe_each("a loop in rounds", function(device)
  -- Room for a piece of 16 and more for each compute unit.
  local n = math.max(helper.is_simulator(device) and 70 or 150, 20 * device.compute_units)

  it("has two launches for several passes", function()
    local in_rounds, without = check(JACOBI, device, vector(n), vector(n), n, 9)
    assert.same({ 10, 18 }, { in_rounds, without }) -- a piece of 16 has room for two passes
    local launches = check(ELIMINATION, device, matrix(40), 40)
    assert.is_true(launches < 40 or device.compute_units > 8) -- whose rounds would have one pass
  end)

  it("has two pieces for each compute unit, or one where two would have no room for two passes", function()
    local compiled = assert(loops.compile(JACOBI, { force = true, target = "cpu", device = device,
      tiles = { passes = 8, cache = 1000000, blocks = 2 } }))
    for width, launches in pairs { [16] = 8, [15] = 6 } do -- rounds of 16 // 8 = 2 and of 30 // 8 = 3 passes
      local length, before = 2 * device.compute_units * width + 2, compiled:stats().launches
      compiled(vector(length), vector(length), length, 8)
      assert.equal(launches, compiled:stats().launches - before)
    end
  end)

  it("is right for every size and number of passes", function()
    for _, size in ipairs { 1, 2, 3, 4, 31, 32, 33, 34, 65 } do
      for _, steps in ipairs { 0, 1, 2, 3, 7 } do
        check(JACOBI, device, vector(size), vector(size), size, steps)
      end
    end
    check(BEHIND, device, vector(65), vector(65), 65, 7)
    for _, size in ipairs { 1, 2, 3, 4, 5, 17 } do check(ELIMINATION, device, matrix(size), size) end
    check(FIELDS, device, matrix(48), matrix(48), matrix(48), 48, 5)
    for _, size in ipairs { 2, 3, 33, 48 } do
      for _, steps in ipairs { 0, 1, 4 } do check(RED_BLACK, device, matrix(size), size, steps) end
    end
  end)

  it("is right in groups, for every size and number of passes", function()
    local function check_groups(...) return check_for("gpu", ...) end
    local in_rounds, without = check_groups(JACOBI, device, vector(16 * n), vector(16 * n), 16 * n, 9)
    assert.is_true(in_rounds < without)
    in_rounds, without = check_groups(ELIMINATION, device, matrix(40), 40)
    assert.is_true(in_rounds < without)
    for _, size in ipairs { 1, 2, 3, 4, 5, 17, 66 } do
      check_groups(ELIMINATION, device, matrix(size), size)
      for _, steps in ipairs { 0, 1, 5, 9 } do
        check_groups(JACOBI, device, vector(16 * size), vector(16 * size), 16 * size, steps)
        check_groups(BEHIND, device, vector(16 * size), vector(16 * size), 16 * size, steps)
      end
    end
    check_groups(FIELDS, device, matrix(33), matrix(33), matrix(33), 33, 5)
    check_groups(RED_BLACK, device, matrix(33), 33, 5)
    for _, size in ipairs { 9, 23, 40 } do check_groups(COLUMNS, device, matrix(size), matrix(size), size) end
  end)

  it("is right in groups at random", function()
    local count = 0
    for _ = 1, helper.long(400) or 12 do
      local text, on_device = random_loop(), {}
      local compiled <close> = assert(loops.compile(text, { device = device, target = "gpu", tiles = {
        passes = math.random(2, 5), cache = pick { 1, 4096 }, blocks = 1, together = pick { 1, 8 }, paired = 1 } }))
      local plan = explain.specialisation(compiled.state).plan
      for i, kernel in ipairs(plan.kernels) do on_device[i] = not kernel.instead end
      for _, size in ipairs { 5, 23 } do
        local given = { matrix(size), matrix(size) }
        local expected, buffers = copies.of(given), copies.in_buffers(given, device, "double")
        assert(load("return " .. text))()(expected[1], expected[2], size)
        assert(helper.call_with(on_device, compiled, buffers[1], buffers[2], size))
        assert.is_true(copies.are_equal(expected, copies.read(buffers)), text)
      end
      count = count + math.min(#plan.rounds, 1)
    end
    assert.is_true(count > 0)
  end)

  it("is right in groups that have columns", function()
    for _, size in ipairs { 5, 40, 70 } do
      local compiled = assert(loops.compile(CHOLESKY, { device = device, target = "gpu", tiles = IN_GROUPS }))
      local given, on_device = matrix(size), {}
      local expected = copies.of { given }
      assert(load("return " .. CHOLESKY))()(expected[1], size)
      for i, kernel in ipairs(explain.specialisation(compiled.state).plan.kernels) do
        on_device[i] = not kernel.instead -- no task in place of launches
      end
      local a = device:buffer(given, "double")
      assert(helper.call_with(on_device, compiled, a, size))
      assert.same(expected[1], a:read())
      assert.equal(2 * -(-size // 2) - 1, compiled:stats().launches)
    end
  end)

  it("copies each array once, and not what its first nest writes as a whole", function()
    local text = [[function(a, b, n, steps)
      for t = 1, steps do
        for i = 1, n do b[i] = a[i] * 0.5 end
        for i = 2, n - 1 do a[i] = b[i - 1] + b[i + 1] end
      end
    end]]
    local compiled = assert(loops.compile(text, { force = true, target = "cpu", device = device, tiles = SMALL }))
    local a, b = vector(n), vector(n)
    local expected = copies.of { a, b }
    compiled(a, b, n, 8)
    assert(load("return " .. text))()(expected[1], expected[2], n, 8)
    assert.same(expected, { a, b })
    local stats = compiled:stats()
    assert.same({ 1, 2 }, { stats.uploads, stats.downloads })
    assert.is_true(stats.launches < 16)
  end)

  it("is the same when a finalizer calls the function meanwhile", function()
    local compiled = assert(loops.compile(JACOBI, { force = true, target = "cpu", device = device, tiles = SMALL }))
    local small = { vector(40), vector(40) }
    local a, b = device:buffer(vector(n), "double"), device:buffer(vector(n), "double")
    local expected = { a:read(), b:read() }
    assert(load("return " .. JACOBI))()(expected[1], expected[2], n, 12)
    local count, is_on = 0, true
    local function arm()
      if is_on then setmetatable({}, { __gc = function()
        count = count + 1
        if count <= 40 then compiled(device:buffer(small[1], "double"), device:buffer(small[2], "double"), 40, 6) end
        arm()
      end }) end
    end
    local pause = collectgarbage("setpause", 10)
    arm()
    compiled(a, b, n, 12)
    is_on = false
    collectgarbage("setpause", pause)
    assert.same(expected, { a:read(), b:read() })
  end)

  it("runs without rounds where a nest is empty in the first pass", function()
    local text = [[function(a, b, n, steps)
      for t = 1, steps do
        for i = n + 2 - t, n do b[i] = a[i] * 0.5 end
        for i = 1, n do a[i] = b[i] + 1 end
      end
    end]]
    check(text, device, vector(n), vector(n), n, 6)
  end)
end)
