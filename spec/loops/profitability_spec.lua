-- SPDX-License-Identifier: MIT
--- What pays: costs by kind of device, what calls teach the model, and when a program is built. Device facts and times
--- are made up here where they can be.

local costs = require "clcompute.loops.runtime.costs"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local profitability = require "clcompute.loops.runtime.profitability"

local CPU = { type = "cpu", compute_units = 2, clock_mhz = 2600 }
local GPU = { type = "gpu", compute_units = 132, clock_mhz = 1980 }

describe("the costs of a device", function()
  it("are a row for its kind that says where it was measured", function()
    assert.equal("CPU devices", costs.of(CPU).name)
    for _, kind in ipairs { "gpu", "accelerator", "custom" } do
      assert.equal("GPUs", costs.of({ type = kind, compute_units = 1, clock_mhz = 1 }).name)
    end
    for _, row in pairs(costs.ROWS) do assert.matches("examples/results/profile%-", row.measured) end
    assert.is_true(#costs.HOST.measured > 0)
  end)

  it("follow the compute units and the clock", function()
    local function seconds(facts) return costs.device_seconds(costs.of(facts), 1, 1e9, 1e6) end
    local two = seconds(CPU)
    assert.near(two / 4, seconds { type = "cpu", compute_units = 8, clock_mhz = 2600 }, 0.01 * two)
    assert.near(two / 2, seconds { type = "cpu", compute_units = 2, clock_mhz = 5200 }, 0.01 * two)
    assert.near(two, seconds { type = "cpu", compute_units = 2, clock_mhz = 0 }, 0.01 * two) -- not known
  end)

  it("are those of a full device only where there are work-items enough", function()
    local gpu, cpu = costs.of(GPU), costs.of(CPU)
    local function statement(row, items) return costs.device_seconds(row, 1, 1e12, items) / 1e12 end
    assert.is_true(statement(gpu, 1) > 10 * statement(cpu, 1)) -- one alone is slower than a core
    assert.near(statement(cpu, 1), statement(cpu, 64), 1e-15) -- a group is a task of one core
    assert.near(statement(cpu, 1) / 2, statement(cpu, 128), 1e-15)
    assert.equal(statement(cpu, 128), statement(cpu, 1e9))
    local full = statement(gpu, 1e9)
    assert.is_true(full > 1e-12 and full < 1e-11, full)
    assert.is_true(statement(gpu, 1024) > 50 * full)
    assert.equal(full, statement(gpu, 1e6))
  end)

  it("are near to what was measured: on an H200 of examples/results/polykernels-h200-quick.txt, on POCL", function()
    for _, case in ipairs { { GPU, 128 * 128 * 130, 128 * 128, 89.1e-6 }, -- mmm, on buffers
      { GPU, 2 * 128 * 128 * 64, 128, 2.16e-3 }, -- ssymm
      { CPU, 1e5, 1, 75e-6 }, { CPU, 1024 * 1e5, 1024, 28.5e-3 } } do -- sums of 100,000 terms
      local row = costs.of(case[1])
      local ratio = (costs.device_seconds(row, 1, case[2], case[3]) + row.wait) / case[4]
      assert.is_true(ratio > 1 / 3 and ratio < 3, ratio)
    end
  end)

  it("are none where nothing is launched", function()
    assert.equal(0.0, costs.device_seconds(costs.of(GPU), 0, 0, 0))
  end)
end)

-- --- made-up calls ------------------------------------------------------------------------

local variable = { name = "a", rank = 1 }
local nest = { kind = "kernel", index = 1, depth = 1, host_loops = {}, reads = { variable }, writes = { variable } }
local plan = { nest, kernels = { nest } }
local MODEL = { heuristics = "model" }

local function numbers_of(work, items)
  return { launches = { 1 }, work = { work }, operations = { 4 * work }, is_vector = {}, items = { items }, rest = {},
    counts = {}, total = work }
end

local function facts_of(elements, home)
  return { [variable] = { bytes = 8 * elements, elements = elements, host = home == "host", device = home == "device",
    home = home } }
end

--- A verdict on a call of a nest on a buffer.
local function decide(facts, numbers, memory)
  local figures = profitability.figures(numbers, costs.of(facts), memory)
  local standing = memory and costs.standing(memory, numbers.total)
  return profitability.decide(plan, numbers, facts_of(1000, "device"), figures, MODEL, standing)
end

describe("profitability", function()
  it("leaves a lone work-item to Lua on a GPU, and takes as many statements of many", function()
    assert.same({ false }, decide(GPU, numbers_of(1e6, 1), nil).on_device)
    assert.same({ true }, decide(GPU, numbers_of(1e6, 1e5), nil).on_device)
    assert.same({ true }, decide(CPU, numbers_of(1e6, 1), nil).on_device)
  end)

  --- A call on a machine where nests take `device` times as long as the model says, those in Lua `lua` times, and
  -- copies as long as it says unless told otherwise.
  local function live(memory, facts, numbers, device, lua, copies)
    local verdict = decide(facts, numbers, memory)
    costs.stand(memory, numbers.total, verdict.on_device)
    verdict.run = costs.run_of(memory, numbers.total, verdict.on_device)
    if costs.is_due(verdict.run) then
      local model = verdict.figures.model
      local is_there = verdict.on_device[1]
      local spent = { [0] = 0.0, is_there and 0.0 or model.lua[1] * lua }
      costs.learn(memory, verdict, { launches = is_there and 1 or 0, spent = spent,
        seconds = spent[1] + verdict.copy_seconds * (copies or 1)
          + (is_there and model.device[1] * device or 0.0) })
    end
    return verdict.on_device[1], verdict
  end

  local function history(facts, numbers, calls, ...)
    local memory, letters = costs.new_memory(), {}
    for i = 1, calls do letters[i] = live(memory, facts, numbers, ...) and "D" or "L" end
    return table.concat(letters), memory
  end

  it("leaves the device when calls take far longer there than the model says, and stays away", function()
    for _, facts in ipairs { CPU, GPU } do
      assert.equal("DDD" .. ("L"):rep(17), (history(facts, numbers_of(1e6, 1e5), 20, 3000, 1)))
    end
  end)

  it("takes the device when Lua takes far longer than the model says", function()
    assert.equal(("L"):rep(20), (history(GPU, numbers_of(1e6, 8), 20, 1, 1)))
    assert.equal("LLL" .. ("D"):rep(17), (history(GPU, numbers_of(1e6, 8), 20, 1, 10)))
  end)

  it("changes its mind a few times at most, whatever calls take", function()
    for _ = 1, 300 do
      local numbers = numbers_of(10.0 ^ (2 + 6 * math.random()), 10.0 ^ (5 * math.random()))
      local memory, before, changes = costs.new_memory(), nil, 0
      for _ = 1, 40 do
        local noise = 10.0 ^ (2 * math.random() - 1)
        local is_there = live(memory, GPU, numbers, noise, 10.0 ^ (2 * math.random() - 1))
        if before ~= nil and is_there ~= before then changes = changes + 1 end
        before = is_there
      end
      assert.is_true(changes <= 4, changes)
    end
  end)

  it("stays with its choice where the other is hardly shorter", function()
    local memory, numbers = costs.new_memory(), numbers_of(1e4, 1)
    local figures = profitability.figures(numbers, costs.of(CPU))
    local function choose(lua_seconds, standing)
      figures.lua[1] = lua_seconds
      return profitability.decide(plan, numbers, facts_of(10, "host"), figures, MODEL, standing).on_device[1]
    end
    local device = profitability.cost(plan, numbers, facts_of(10, "host"), { true }, figures).seconds
    assert.is_true(choose(1.1 * device))
    assert.is_false(choose(1.1 * device, { false }))
    assert.is_true(choose(1.5 * device, { false }))
    assert.is_false(choose(0.9 * device))
    assert.is_true(choose(0.9 * device, { true }))
    assert.is_false(choose(0.7 * device, { true }))
    assert.is_nil(costs.standing(memory, 1e4))
    figures.is_measured.device[1] = true
    assert.is_true(choose(1.1 * device, { false }))
  end)

  it("believes two measurements, the shorter of the last two, and only for sizes alike", function()
    local _, memory = history(CPU, numbers_of(1e6, 1e5), 2, 3, 1, 3)
    assert.is_nil(costs.factor(memory, "device", 1, 1e6)) -- the first call does not count
    live(memory, CPU, numbers_of(1e6, 1e5), 50, 1, 50)
    assert.near(3, costs.factor(memory, "device", 1, 1e6), 1e-9)
    assert.near(3, costs.factor(memory, "device", 1, 9e5), 1e-9)
    assert.is_nil(costs.factor(memory, "device", 1, 1e8))
    assert.is_nil(costs.factor(memory, "device", 1, 1e4))
    assert.is_nil(costs.factor(memory, "lua", 1, 1e6))
  end)

  it("learns nothing of the device from a call whose launches are not those that were counted", function()
    local memory, numbers = costs.new_memory(), numbers_of(1e6, 1e5)
    for _ = 1, 4 do
      local verdict = decide(CPU, numbers, memory)
      verdict.run = costs.run_of(memory, numbers.total, verdict.on_device)
      costs.learn(memory, verdict, { launches = 0, spent = { [0] = 0.0, 0.0 }, seconds = 1e-6 })
    end
    assert.is_nil(costs.factor(memory, "device", 1, 1e6))
    assert.is_false(costs.is_due(costs.run_of(memory, numbers.total, { true })))
  end)

  it("counts the rows of a table of tables with its copies", function()
    local numbers, long, short = numbers_of(1e6, 1e5), facts_of(3000, "host"), facts_of(3000, "host")
    short[variable].rows = 1000
    local figures = profitability.figures(numbers, costs.of(CPU))
    local function seconds(facts) return profitability.cost(plan, numbers, facts, { true }, figures).seconds end
    assert.near(2 * 1000 * costs.HOST.row, seconds(short) - seconds(long), 1e-9) -- there and back
  end)

  it("says of each figure whether it is the model's or measured", function()
    local _, memory = history(GPU, numbers_of(1e6, 1e5), 4, 2, 1, 2)
    local figures = profitability.figures(numbers_of(1e6, 1e5), costs.of(GPU), memory)
    assert.equal("launches: 1, statements: 1e+06, work-items: 100000; they take 23.4 us on the device (measured), "
      .. "16 ms in Lua (model)", profitability.sides(figures, 1))
  end)
end)

-- --- calls --------------------------------------------------------------------------------

local SCALE = "function(a, n)\n  for i = 1, n do a[i] = %s * a[i] end\nend"

--- Other costs for the time of a test.
local function with_costs(changes, f)
  local row, before = helper.device().type == "cpu" and costs.ROWS.cpu or costs.ROWS.gpu, {}
  for key, value in pairs(changes) do before[key], row[key] = row[key], value end
  local ok, message = pcall(f)
  for key, value in pairs(before) do row[key] = value end
  assert(ok, message)
end

local FREE = { build = 0.0, load = 0.0, launch = 1e-12, wait = 0.0, copy = 0.0, byte = 0.0, statement = 1e-15 }

describe("a choice", function()
  local SWAPS = [[function(a, b, n)
    for t = 1, n do
      for i = 1, n do b[i] = 2 * a[i] end
      for i = 1, n do a[i] = 0.5 * b[i] end
    end
  end]]

  --- Whether the last of some calls had launches of nests, which are said to take `launches` seconds; others take 2 ms.
  local function choose(compiled, a, b, calls, launches)
    local learn, is_in_launches = costs.learn, nil
    costs.learn = function(memory, verdict, took)
      learn(memory, verdict, { spent = took.spent, launches = took.launches,
        seconds = verdict.on_device[1] and launches or 2e-3 })
    end
    local ok, message = pcall(function()
      for _ = 1, calls do compiled(a, b, 400) end
      is_in_launches = compiled.state.latest.verdict.on_device[1]
    end)
    costs.learn = learn
    assert(ok, message)
    return is_in_launches
  end

  --- What `choose` says after so many calls each, one after the other, of a new function.
  local function choices_of(list)
    local device, answers = helper.device(), {}
    local compiled = assert(loops.compile(SWAPS, { device = device }))
    local a, b = device:random("double", 400), device:zeros("double", 400)
    with_costs(FREE, function()
      for i, case in ipairs(list) do answers[i] = choose(compiled, a, b, case.calls, case.launches) end
    end)
    return answers
  end

  helper.on_cpu("is doubted after some calls: what seemed hardly longer is timed once more", function()
    assert.same({ false, true, true }, choices_of { { calls = 50, launches = 3e-3 }, { calls = 130, launches = 1e-3 },
      { calls = 400, launches = 1e-3 } })
  end)

  helper.on_cpu("stands again where the other one is slower still", function()
    assert.same({ false, false }, choices_of { { calls = 50, launches = 2.5e-3 },
      { calls = 130, launches = 2.5e-3 } })
  end)

  helper.on_cpu("stays where the other one took far longer", function()
    assert.same({ false, false }, choices_of { { calls = 50, launches = 9e-3 }, { calls = 200, launches = 1e-3 } })
  end)
end)

describe("a compiled function", function()
  local device = helper.device()

  local HEAT = [[function(a, b, n, steps)
    for t = 1, steps do
      for i = 2, n - 1 do for j = 2, n - 1 do
        b[i][j] = a[i][j] + 0.1 * (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4.0 * a[i][j])
      end end
      for i = 2, n - 1 do for j = 2, n - 1 do a[i][j] = b[i][j] end end
    end
  end]]
  local PREFIX = "function(a, n) for i = 2, n do a[i] = a[i] + a[i - 1] end end"

  it("is estimated in Lua by its operations, which storing in a buffer of floats has more of", function()
    local expected = { double = { 27, 5 }, float = { 32, 5 } } -- operations of a pass
    for dtype, per_pass in pairs(expected) do
      local compiled = assert(loops.compile(HEAT, { device = device, force = false }))
      local a <close> = device:zeros(dtype, 10, 10)
      local b <close> = device:zeros(dtype, 10, 10)
      compiled(a, b, 10, 3)
      local lua = compiled.state.latest.verdict.figures.model.lua
      for index, operations in ipairs(per_pass) do
        assert.near(3 * 8 * (1 + 8 * operations) * costs.HOST.operation, lua[index], 1e-12)
      end
    end
  end)

  helper.on_cpu("is estimated alike for one work-item of a loop and of the same loop further on", function()
    local loop = "for t = 1, n do local x = a[t] for i = 1, n do a[i] = a[i] + x end end\n"
    local compiled = assert(loops.compile(("function(a, b, n)\n%sfor i = 1, n do b[i] = a[i] end\n%send"):format(loop,
      loop), { device = device }))
    local a <close> = device:zeros("double", 50)
    local b <close> = device:zeros("double", 50)
    compiled(a, b, 50)
    local text, found = compiled:explain(), {}
    for number in text:gmatch "nest_(%d), line [24]: one work%-item" do
      found[#found + 1] = text:match(("nest_%d: %%a+: (launches: 1, [^\n]*)"):format(number))
    end
    assert.equal(2, #found, text)
    assert.equal(found[1], found[2])
  end)

  it("is estimated in Lua as it takes there, on tables and buffers", function()
    if os.getenv "SANITIZED" then return pending "the sanitizers slow it down" end
    if device.type ~= "cpu" then return pending "a sum has no kernel to choose elsewhere" end
    for _, case in ipairs { { HEAT, { 60, 60 }, { 60, 60 }, 60, 10 }, { PREFIX, { 30000 }, 30000 } } do
      for _, kind in ipairs { "table", "double", "float" } do
        local values, least = {}, math.huge
        for i = 2, #case do
          local shape = case[i]
          values[i - 1] = type(shape) == "number" and shape or device:random(kind == "table" and "float" or kind,
            table.unpack(shape))
          if kind == "table" and type(shape) == "table" then values[i - 1] = values[i - 1]:read() end
        end
        local compiled = assert(loops.compile(case[1], { device = device, force = false }))
        for _ = 1, 9 do
          local start = os.clock()
          compiled(table.unpack(values))
          least = math.min(least, os.clock() - start)
        end
        local chooses = assert(loops.compile(case[1], { device = device }))
        chooses(table.unpack(values))
        local ratio = least / chooses.state.latest.verdict.lua_seconds
        assert.is_true(ratio > 1 / 5 and ratio < 5, ("%s: %g"):format(kind, ratio))
      end
    end
  end)

  it("goes back to Lua within a few calls where the device is slower, with the same results", function()
    if device.type ~= "cpu" then return pending "so many elements may be for a GPU" end
    with_costs(FREE, function()
      local element = costs.HOST.element
      costs.HOST.element = 0.0
      local compiled = assert(loops.compile(SCALE:format "2.0", { device = device }))
      local list, expected, launches = {}, {}, {}
      for i = 1, 3000 do list[i], expected[i] = 1.0, 2.0 ^ 12 end -- in Lua some 20 us, the copies alone more
      for i = 1, 12 do
        compiled(list, 3000)
        launches[i] = compiled:stats().launches
      end
      costs.HOST.element = element
      assert.same(expected, list)
      assert.is_true(launches[1] == 1 and launches[12] < 12, launches[12])
      assert.equal(launches[8], launches[12])
      assert.truthy(compiled:explain():find "they take %S+ %S+ on the device %(measured%)", compiled:explain())
    end)
  end)

  it("finds small calls again whose bounds are computed, and leaves errors in these to the call", function()
    for bound, numbers in pairs { ["math.floor(n / 2)"] = { 4, 5 }, ["#x // n"] = { 1, 2, 3 },
      ["math.max(1, #x - n)"] = { 1, 9 } } do
      local text = ("return function(x, n) local s = 0.0 for i = 1, %s do s = s + x[i] end return s end"):format(bound)
      local f = assert(load(text))()
      local compiled = assert(loops.compile(f))
      for _ = 1, 3 do
        for _, n in ipairs(numbers) do
          assert.equal(f({ 1.0, 2.0, 3.0, 4.0 }, n), compiled({ 1.0, 2.0, 3.0, 4.0 }, n))
        end
      end
    end
    local compiled = assert(loops.compile(load "return function(x, n) for i = 1, #x // n do x[i] = 0 end end"()))
    for _, n in ipairs { 2, 2, 0, 2, 0 } do
      local ok, message = pcall(compiled, { 1, 2, 3, 4 }, n)
      assert.equal(n > 0, ok)
      assert.is_nil(not ok and message:find "shortcut" or nil)
    end
  end)

  helper.on_cpu("repeats a call in a few microseconds above its launches once it was measured", function()
    if os.getenv "SANITIZED" then return pending "the sanitizers slow it down" end
    local calls = 20000
    with_costs({ build = 0.0, load = 0.0 }, function()
      local compiled = assert(loops.compile(SCALE:format "2.0", { device = device }))
      local buffer <close> = device:zeros("double", 1e6)
      for _ = 1, 6 do compiled(buffer, 1000000) end
      assert.equal(6, compiled:stats().launches)
      assert.is_table(compiled.state.repetition)
      local kept = compiled.state.repetition
      kept.kernels, kept.record = { kept.kernels[1], launch = function() end }, nil -- which is never doubted
      local start = os.clock()
      for _ = 1, calls do compiled(buffer, 1000000) end
      assert.is_true((os.clock() - start) / calls < 20e-6)
    end)
  end)

  it("builds at once what an earlier process left in the cache, and not what none did", function()
    local folder = os.tmpname()
    os.remove(folder)
    local script = ([[
      local loops, device = require "clcompute.loops", require "clcompute".device "%s"
      local f = assert(loops.compile("function(a, n) for i = 1, n do a[i] = 2.0 * a[i] end end", { device = device }))
      local a = device:zeros("double", 1e6)
      f(a, 1000000)
      print(f:stats().launches, f:explain():match "building the program[^\n]*")
      if %s then
        local g = assert(loops.compile("function(a, n) for i = 1, n do a[i] = 2.0 * a[i] end end",
          { device = device, force = true }))
        g(a, 1000000)
      end]])
    local function run(is_forced)
      local ok, output = helper.run(script:format(device.place, is_forced), { CLCOMPUTE_CACHE = folder })
      assert.is_true(ok, output)
      return output
    end
    assert.matches("^0\tbuilding the program takes about %S+ ms %(it is not in the cache%); all calls until now would "
      .. "have saved", run(false))
    assert.matches("^0\t", run(true)) -- no file was left by a question
    assert.equal("1\tnil\n", run(false))
    os.execute("rm -r " .. folder)
  end)

  it("shows both sides of every nest while a build waits, and whose costs they are", function()
    local compiled = assert(loops.compile(helper.unseen(SCALE), { device = device }))
    local buffer <close> = device:zeros("double", 1e5)
    compiled(buffer, 100000)
    local text = compiled:explain()
    assert.equal(0, compiled:stats().launches)
    for _, expected in ipairs { "nest_1: Lua: launches: 1, statements: 100000, work-items: 100000; they take ",
      " on the device (model), ", " in Lua (model)", "costs: those of " .. costs.of(device).name .. " (",
      "all in Lua: building the program takes about" } do
      assert.truthy(text:find(expected, 1, true), expected .. "\n" .. text)
    end
    assert.matches("estimated: %S+ %S+ on the device with 0 copies of 0 bytes, %S+ %S+ in Lua with 2 copies of "
      .. "1.6e%+06 bytes", text)
  end)

  it("shows what a nest in Lua takes as it was measured, after the model's figure", function()
    with_costs({ build = 0.0, load = 0.0, launch = 1.0 }, function()
      local compiled, list = assert(loops.compile(SCALE:format "2.0", { device = device })), {}
      for i = 1, 1000 do list[i] = 1.0 end
      for call = 1, 4 do
        compiled(list, 1000)
        local source = call < 4 and "model" or "measured" -- of which there are two then: the first call does not count
        assert.matches(("nest_1: Lua: [^\n]* in Lua %%(%s%%)"):format(source), compiled:explain())
      end
    end)
  end)

  it("shows both sides where something else keeps a nest in Lua", function()
    local compiled = assert(loops.compile([[function(a, b, n)
      for i = 1, n do if b[i] > 0 then a[i + 1] = 1.0 end end
    end]], { device = device }))
    compiled({ 0.0, 0.0 }, { 0.0, 0.0 }, 2)
    local text = compiled:explain()
    assert.truthy(text:find("all in Lua: whether 'a' is left in line 2 depends on data", 1, true), text)
    assert.truthy(text:find("nest_1: Lua: launches: 1, statements: 3, work-items: 2; they take", 1, true), text)
  end)

  it("shows one reason where it is that of all nests, else each nest's own", function()
    local text = [[function(a, b, n)
      for i = 1, n do b[i] = 2 * b[i] end
      for i = 1, n do for j = 1, n do a[i][j] = b[i] end end
    end]]
    local function shown(options)
      local compiled = assert(loops.compile(text, options))
      compiled({ { 1.0 } }, { 1.0 }, 1)
      return compiled:explain()
    end
    local one = shown { force = false }
    assert.matches("all nests: force = false\n  nest_1: Lua: launches", one)
    local own = shown { heuristics = "paper" }
    for i = 1, 2 do assert.matches(("nest_%d: Lua: loops in it: %d;"):format(i, i), own) end
    assert.not_matches("all nests", own)
  end)

  it("shows what each loop became", function()
    local compiled = assert(loops.compile([[function(a, b, n, steps)
      for t = 1, steps do
        for i = 1, n do
          for j = 1, n do
            for k = 1, 2 do a[i][j] = 0.5 * a[i][j] end
          end
        end
        for i = 2, n do b[i] = b[i - 1] end
      end
    end]], { force = true }))
    local text = compiled:explain()
    for line, role in pairs { [2] = "a loop on the host", [3] = "work-items of dimension 1, in tiles",
      [4] = "work-items of dimension 0, in tiles", [5] = "a loop inside a work-item", [8] = "Lua" } do
      local shown = text:match(("\n +%d: +for [^\n]*"):format(line))
      assert.equal(" -> " .. role, shown:sub(-#role - 4), text)
    end
  end)

  it("says so where its device or queue was closed between two calls, and still explains", function()
    local queue = device:queue()
    local compiled = assert(loops.compile(SCALE:format "2.0", { device = queue, force = true }))
    local buffer, list = queue:zeros("double", 3), { 1.0 }
    for _ = 1, 2 do compiled(buffer, 3) end
    compiled(list, 1)
    queue:close()
    local message = helper.raises("option 'device': the device is released", compiled, list, 1)
    assert.is_nil(message:find("clcompute/", 1, true), message)
    helper.raises("option 'device': the device is released", compiled, device:zeros("double", 3), 3)
    message = helper.raises("argument #1 'a': the buffer is released", compiled, buffer, 3)
    assert.is_nil(message:find("clcompute/", 1, true), message)
    assert.truthy(compiled:explain():find("the latest call, on ", 1, true))
    assert.same({ 2.0 }, list)
  end)
end)
