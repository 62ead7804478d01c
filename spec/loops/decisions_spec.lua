-- SPDX-License-Identifier: MIT
--- What loops.compile decides without a device: where values are right, what pays, which loops become what.

local costs = require "clcompute.loops.runtime.costs"
local helper = require "spec.helper"
local lua_text = require "clcompute.loops.tree.lua_text"
local profitability = require "clcompute.loops.runtime.profitability"
local loops = require "clcompute.loops"
local storage = require "clcompute.loops.runtime.storage"

describe("coherence", function()
  --- Two sides that really are copied: a write sets what a side holds.
  local function new(fields)
    local counters = storage.counters()
    local array = { bytes = 8, counters = counters, host_value = 0, device_value = 0,
      upload = function(self) self.device_value = self.host_value end,
      download = function(self) self.host_value = self.device_value end }
    for key, value in pairs(fields) do array[key] = value end
    return storage.coherent(array), counters
  end

  it("copies when a side is needed that is not valid, and only then", function()
    local array, counters = new { host = true }
    array:to_host()
    assert.equal(0, counters.uploads + counters.downloads)
    array:to_device()
    array:to_device()
    array:to_host()
    assert.same({ launches = 0, uploads = 1, bytes_up = 8, downloads = 0, bytes_down = 0 }, counters)
    array:written_on_device()
    array:to_host()
    array:to_host()
    assert.equal(1, counters.downloads)
  end)

  it("does not bring back what is written as a whole", function()
    local array, counters = new { host = true }
    array:written_on_device()
    array:written_on_host()
    array:to_host()
    assert.equal(0, counters.uploads + counters.downloads)
  end)

  it("refuses an array that is valid nowhere", function()
    assert.matches("an array that is valid nowhere", select(2, pcall(storage.coherent, { bytes = 8 })), 1, true)
  end)

  --- The least number of copies for a sequence of uses: trying at each whether to copy to the other side as well.
  local function fewest(sequence, at, host, device)
    local use = sequence[at]
    if not use then return 0 end
    local least = math.huge
    for _, copies in ipairs { false, true } do
      local h, d, cost = host, device, 0
      if copies and (h ~= d) then h, d, cost = true, true, 1 end
      local valid = use.side == "host" and h or use.side == "device" and d
      if valid then
        if use.write then h, d = use.side == "host", use.side == "device" end
        least = math.min(least, cost + fewest(sequence, at + 1, h, d))
      end
    end
    return least
  end

  it("gives every use the right values with the fewest copies", function()
    for _ = 1, 2000 do
      local sequence, expected = {}, 0
      local array, counters = new { host = true }
      for i = 1, math.random(1, 6) do
        sequence[i] = { side = math.random(2) == 1 and "host" or "device", write = math.random(2) == 1 }
      end
      for i, use in ipairs(sequence) do
        local field = use.side .. "_value"
        if use.side == "host" then array:to_host() else array:to_device() end
        assert.equal(expected, array[field])
        if use.write then
          expected = i
          array[field] = i
          if use.side == "host" then array:written_on_host() else array:written_on_device() end
        end
      end
      assert.equal(fewest(sequence, 1, true, false), counters.uploads + counters.downloads)
    end
  end)
end)

describe("profitability", function()
  local a, b = { name = "a", rank = 2 }, { name = "b", rank = 2 }

  --- A nest in a loop of 100, followed by another one, as plans have it.
  local function plan_of(depth)
    local outer = {}
    local first = { kind = "kernel", index = 1, depth = depth, host_loops = { outer }, reads = { a }, writes = { b } }
    local second = { kind = "kernel", index = 2, depth = depth, host_loops = { outer }, reads = { b }, writes = { a } }
    local plan = { { kind = "loop", node = outer, body = { first, second } }, kernels = { first, second } }
    return plan, function(work)
      return { launches = { 100, 100 }, work = { work, work }, operations = { 4 * work, 4 * work }, is_vector = {},
        items = { 1e4, 1e4 }, rest = {}, counts = { [outer] = 100 } }
    end
  end

  local function arrays(home)
    local facts = {}
    for _, variable in ipairs { a, b } do
      facts[variable] = { bytes = 8e6, elements = 1e6, host = home == "host", device = home == "device", home = home }
    end
    return facts
  end

  local model = { heuristics = "model" }
  local row = costs.of { type = "cpu", compute_units = 2, clock_mhz = 2600 }

  local function cost(plan, numbers, facts, on_device)
    return profitability.cost(plan, numbers, facts, on_device, profitability.figures(numbers, row))
  end

  local function decide(plan, numbers, facts, options)
    return profitability.decide(plan, numbers, facts, profitability.figures(numbers, row), options)
  end

  it("counts the copies of a choice", function()
    local plan, numbers = plan_of(2)
    local function copies(first, second, home)
      return cost(plan, numbers(1e8), arrays(home), { first, second }).copies
    end
    assert.equal(4, copies(true, true, "host"))
    assert.equal(0, copies(true, true, "device"))
    assert.equal(0, copies(false, false, "host"))
    assert.equal(4, copies(false, false, "device"))
    assert.equal(1 + 2 * 100, copies(true, false, "host")) -- b up once; a up and b down each time
  end)

  it("counts a wait for the device where it is used", function()
    local plan, numbers = plan_of(2)
    assert.equal(row.wait, cost(plan, numbers(1e8), arrays "device", { true, true }).copy_seconds)
    assert.equal(0.0, cost(plan, numbers(1e8), arrays "host", { false, false }).copy_seconds)
  end)

  it("counts the copies of what a condition reads in Lua", function()
    local plan, numbers = plan_of(2)
    local branch = { kind = "if", reads = { a }, writes = {}, arms = { { body = plan } } }
    assert.equal(1, cost({ branch, kernels = plan.kernels }, numbers(1e8), arrays "device", { true, true }).copies)
  end)

  it("counts no copy of what is written as a whole", function()
    local plan, numbers = plan_of(2)
    local call = numbers(1e8)
    call.unneeded = { { [b] = true }, {} }
    assert.equal(3, cost(plan, call, arrays "host", { true, true }).copies)
    assert.equal(100 + 100 + 1, -- b up and a down each time, a up once
      cost(plan, call, arrays "host", { false, true }).copies)
  end)

  it("counts of one work-item and what runs instead of it only what runs, with what is Lua in any case", function()
    local plan, numbers = plan_of(2)
    local lua = { kind = "lua", reads = { a }, writes = { a } }
    table.insert(plan[1].body, lua)
    local task = { kind = "kernel", index = 3, depth = 3, host_loops = {}, reads = { a, b }, writes = { a, b },
      is_task = true, instead = { plan[1] } }
    local whole = { task, kernels = { plan.kernels[1], plan.kernels[2], task } }
    local call = numbers(1e6)
    call.launches[3], call.work[3], call.operations[3], call.items[3] = 1, 2.01e6, 8.04e6, 1
    call.rest = { [lua] = 1e5 }
    local function seconds(...) return cost(whole, call, arrays "host", { ... }).seconds end
    local in_lua = 8.1e6 * costs.HOST.operation
    assert.near(in_lua, seconds(false, false, false), 1e-9)
    assert.equal(cost(whole, call, arrays "device", { false, false, true }).seconds,
      cost(whole, call, arrays "device", { true, true, true }).seconds)
    assert.near(costs.device_seconds(row, 1, 2.01e6, 1) + row.wait,
      cost(whole, call, arrays "device", { true, true, true }).seconds, 1e-9)
    assert.same({ false, false, true }, decide(whole, call, arrays "device", model).on_device)
    assert.equal(1e5, cost(whole, call, arrays "host", { false, false, false }).rest)
    assert.equal(0, cost(whole, call, arrays "host", { true, true, true }).rest)
    call.work[3] = 2.01e9 -- one work-item is not worth it
    assert.is_false(decide(whole, call, arrays "device", model).on_device[3])
  end)

  it("takes what is long and refuses what is short", function()
    local plan, numbers = plan_of(2)
    assert.same({ true, true }, decide(plan, numbers(1e8), arrays "host", model).on_device)
    assert.same({ false, false }, decide(plan, numbers(1e4), arrays "host", model).on_device)
    assert.same({ true, true }, decide(plan, numbers(1e6), arrays "device", model).on_device)
  end)

  it("never chooses what costs more than all in Lua or all on the device", function()
    local plan, numbers = plan_of(2)
    for _ = 1, 200 do
      local work = numbers(10.0 ^ (9 * math.random()))
      work.work[2] = 10.0 ^ (9 * math.random())
      local facts = arrays(math.random(2) == 1 and "host" or "device")
      local verdict = decide(plan, work, facts, model)
      assert.equal(cost(plan, work, facts, verdict.on_device).seconds, verdict.seconds)
      assert.is_true(verdict.seconds <= verdict.lua_seconds and verdict.seconds <= verdict.device_seconds)
    end
  end)

  it("follows the paper's two rules", function()
    local function by_paper(depth, home)
      local plan, numbers = plan_of(depth)
      return decide(plan, numbers(1), arrays(home), { heuristics = "paper" })
    end
    assert.same({ false, false }, by_paper(2, "host").on_device)
    assert.same({ true, true }, by_paper(3, "host").on_device)
    assert.same({ true, true }, by_paper(2, "device").on_device)
    assert.same({ false, false }, by_paper(1, "device").on_device)
    assert.equal("loops in it: 1; dimensions of what must be copied: 0; sequential loops around: 1; "
      .. "the first must be the largest", by_paper(1, "device").reasons[1])
  end)

  it("does as it is told", function()
    local plan, numbers = plan_of(2)
    local function told(options) return decide(plan, numbers(1), arrays "host", options) end
    assert.same({ true, true }, told({ heuristics = "none" }).on_device)
    assert.same({ true, true }, told({ heuristics = "model", force = true }).on_device)
    assert.same({ false, false }, told({ heuristics = "none", force = false }).on_device)
    local forced = told { force = true }
    assert.equal("force = true", forced.reasons[1])
    assert.equal("launches: 100, statements: 1, work-items: 10000; they take 400 us on the device (model), "
      .. "0.016 us in Lua (model)", profitability.sides(forced.figures, 1))
  end)
end)

describe("loops.compile", function()
  local function scale(a, n)
    for i = 1, n do a[i] = 2 * a[i] end
  end

  it("builds nothing for a call that does not pay, and runs the function itself for the next ones", function()
    local compiled = assert(loops.compile(scale, { device = helper.device() }))
    local a = { 1.0, 2.0, 3.0 }
    for _ = 1, 3 do compiled(a, 3) end
    assert.same({ 8.0, 16.0, 24.0 }, a)
    assert.equal(0, compiled:stats().launches)
    assert.is_nil(next(compiled.state.latest.spec.programs))
    assert.truthy(compiled:explain():find("nest_1: Lua: launches: 1, statements: 3, ", 1, true))
    helper.raises({ "a[4] is needed at line", "for n=4, but #a is 3" }, function() compiled(a, 4) end)
  end)

  it("checks both arrays of a short call after one that was given one array twice", function()
    local compiled = assert(loops.compile(function(x, y, n)
      for i = 1, n do y[i] = x[i] + 1.0 end
    end, { device = helper.device() }))
    local both, short = { 1.0, 2.0, 3.0 }, { 0.0 }
    compiled(both, both, 3)
    helper.raises("but #y is 1", function() compiled(both, short, 3) end)
    assert.same({ 0.0 }, short)
  end)

  it("builds when the calls would have gained what it takes", function()
    local compiled = assert(loops.compile(helper.unseen "function(a, n) for i = 1, n do a[i] = %s * a[i] end end",
      { device = helper.device() }))
    local buffer <close> = helper.device():zeros("double", 1e6)
    local calls = 0
    repeat
      compiled(buffer, 1000000)
      calls = calls + 1
    until compiled:stats().launches > 0 or calls == 100
    assert.is_true(calls > 1 and calls < 100, calls)
  end)

  it("refuses options that are not there", function()
    for text, options in pairs {
      ["loops.compile: unknown option 'tile'"] = { tile = 16 },
      ["loops.compile: option 'base': 0 or 1 expected, got 2"] = { base = 2 },
      ["loops.compile: option 'mode': exact or fast expected, got 'slow'"] = { mode = "slow" },
      ["loops.compile: option 'heuristics': model or none or paper expected, got 'guess'"] = { heuristics = "guess" },
      ["loops.compile: option 'reduce': sequential or tree expected, got 'both'"] = { reduce = "both" },
    } do
      helper.raises(text, loops.compile, scale, options)
    end
  end)

  it("refuses options beside the path of a file", function()
    helper.raises("{ file = path } expected, it has 'reduce' too: options are the second argument", loops.compile,
      { file = "examples/loops.lua", reduce = "tree" })
  end)

  it("returns nil and the failure of a source that it does not accept", function()
    local compiled, failure = loops.compile "function(a) a.x = 1 end"
    assert.is_nil(compiled)
    assert.equal("(text):1:13: a field cannot be assigned: records are arrays, one for each field", failure[1])
    assert.truthy(tostring(failure):find("\n            ^", 1, true))
  end)

  it("names the array that has too many dimensions", function()
    local _, failure = loops.compile "function(a, n) for i = 1, n do a[i][i][i][i][i] = 1 end end"
    assert.equal("(text):1:32: 'a' has 5 subscripts: an array has at most 4 dimensions", failure[1])
  end)

  it("says so where there are more arrays than Lua has room for", function()
    local names, values = {}, {}
    for i = 1, 60 do names[i], values[i] = "a" .. i, { { { { 1.0 } } } } end -- 240 sizes
    local compiled = assert(loops.compile(("function(%s) for i = 1, 1 do %s[i][i][i][i] = 1.0 end end"):format(
      table.concat(names, ", "), table.concat(names, "[i][i][i][i] = 1.0; ")), { device = helper.device() }))
    helper.raises("(text):1:1: too many arrays and locals for one function", compiled, table.unpack(values))
  end)

  it("takes loops in loops with many beside them", function()
    local function nest(depth)
      if depth == 0 then return "" end
      local lines = {}
      for l = 1, 5 do lines[l] = ("for j%d = 1, n do w[j%d] = 0.5 * w[j%d] + i%d end"):format(l, l, l, depth) end
      return ("for i%d = 2, n do v[i%d] = v[i%d - 1] + 1 %s %s end"):format(depth, depth, depth,
        table.concat(lines, " "), nest(depth - 1))
    end
    local f = assert(load(("return function(v, w, n) %s end"):format(nest(4))))()
    local expected, got = { 1.0, 2.0, 3.0 }, { 1.0, 2.0, 3.0 }
    f({ 1.0, 2.0, 3.0 }, expected, 3)
    assert(loops.compile(f, { device = helper.device() }))({ 1.0, 2.0, 3.0 }, got, 3)
    assert.same(expected, got)
  end)

  it("says what to install where isl is not there", function()
    local loaded, preload = package.loaded["clcompute.poly"], package.preload["clcompute.poly"]
    package.loaded["clcompute.poly"], package.preload["clcompute.poly"] = nil, function() error "not there" end
    local compiled, failure = loops.compile(scale)
    package.loaded["clcompute.poly"], package.preload["clcompute.poly"] = loaded, preload
    assert.is_nil(compiled)
    assert.truthy(tostring(failure):find("install the package libisl-dev and build again, or install the rock "
      .. "clcompute-poly", 1, true))
  end)

  it("takes the device that there is after one was closed", function()
    local compiled, a = assert(loops.compile(scale, { force = true })), { 1.0 }
    compiled(a, 1)
    require "clcompute".device():close()
    compiled(a, 1)
    assert.same({ 4.0 }, a)
  end)

  helper.on_cpu("costs little above its launches when a call is repeated", function()
    if os.getenv "SANITIZED" then return pending "the sanitizers slow it down" end
    local device, calls = helper.device(), 20000
    local compiled = assert(loops.compile(scale, { force = true }))
    local buffer = device:zeros("double", 3)
    compiled(buffer, 3)
    compiled.state.latest.spec.programs[device][false].launch = function() end
    local start = os.clock()
    for _ = 1, calls do compiled(buffer, 3) end
    assert.is_true((os.clock() - start) / calls < 20e-6)
    assert.equal(calls + 1, compiled:stats().launches)
    buffer:release()
  end)

  it("decides again only where sizes, or numbers in bounds and conditions, differ", function()
    local compiled = assert(loops.compile([[function(a, x, limit, n)
      for i = 1, n do if i < limit then a[i] = x * a[i] end end
    end]], { device = helper.device(), force = true }))
    local decide, decisions = profitability.decide, 0
    profitability.decide = function(...)
      decisions = decisions + 1
      return decide(...)
    end
    local a, b = { 1.0, 1.0, 1.0 }, { 1.0, 1.0, 1.0, 1.0 }
    local counts, calls = {}, { { a, 2.0, 3, 3 }, { a, 3.0, 3, 3 }, { a, 3.0, 2, 3 }, { a, 3.0, 2, 2 },
      { b, 3.0, 2, 2 } }
    for i, values in ipairs(calls) do
      local ok, message = pcall(compiled, table.unpack(values))
      counts[i] = ok and decisions or message
    end
    profitability.decide = decide
    assert.same({ 1, 1, 2, 3, 4 }, counts)
    assert.same({ { 54.0, 6.0, 1.0 }, { 3.0, 1.0, 1.0, 1.0 } }, { a, b })
  end)

  it("keeps no queue alive but the latest one", function()
    local compiled = assert(loops.compile(scale, { force = true }))
    local queues = setmetatable({}, { __mode = "v" })
    for i = 1, 3 do
      queues[i] = helper.device():queue()
      compiled(queues[i]:zeros("double", 3), 3)
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(queues[1])
    assert.is_nil(queues[2])
  end)

  it("keeps no buffer alive, and says which is released", function()
    local device = helper.device()
    local compiled = assert(loops.compile(scale, { force = true }))
    local kept = setmetatable({ device:zeros("double", 3) }, { __mode = "v" })
    for _ = 1, 3 do compiled(kept[1], 3) end
    collectgarbage()
    collectgarbage()
    assert.is_nil(kept[1])
    local buffer = device:zeros("double", 3)
    for _ = 1, 2 do compiled(buffer, 3) end
    buffer:release()
    local message = helper.raises("argument #1 'a': the buffer is released", function() compiled(buffer, 3) end)
    assert.matches("^spec/loops/decisions_spec.lua:%d+: %D", message)
  end)

  describe("on a device of many work-items", function()
    local wide = { force = true, tiles = helper.WIDE }

    it("has the launches of a repeated call recorded, and queues them again", function()
      local device = helper.device()
      local compiled = assert(loops.compile([[function(a, b, n, steps)
        for t = 1, steps do
          for i = 2, n - 1 do b[i] = a[i - 1] + a[i + 1] end
          for i = 2, n - 1 do a[i] = 0.25 * b[i] end
        end
      end]], wide))
      local function expected(calls)
        local list = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }
        for _ = 1, 3 * calls do
          local sums = {}
          for i = 2, 5 do sums[i] = list[i - 1] + list[i + 1] end
          for i = 2, 5 do list[i] = 0.25 * sums[i] end
        end
        return list
      end
      local a, b = device:buffer({ 1, 2, 3, 4, 5, 6 }, "double"), device:zeros("double", 6)
      for _ = 1, 3 do compiled(a, b, 6, 3) end
      local run = compiled.state.repetition
      assert.same(run.spec.row.kernel == "items" and device.isolated, run.sequence == false)
      run.kernels.launch = not device.isolated and error or run.kernels.launch
      for _ = 4, 5 do compiled(a, b, 6, 3) end
      assert.same(expected(5), a:read())
      assert.equal(30, compiled:stats().launches)
      compiled(a, b, 6, 3)
      assert.equal(36, compiled:stats().launches)
    end)

    it("keeps no buffer alive, nor its memory, and takes no other one for it", function()
      local device = helper.device()
      local compiled = assert(loops.compile(scale, wide))
      local kept = setmetatable({ device:buffer({ 1, 1, 1 }, "double") }, { __mode = "v" })
      for _ = 1, 3 do compiled(kept[1], 3) end
      assert.same({ 8.0, 8.0, 8.0 }, kept[1]:read())
      collectgarbage()
      collectgarbage()
      assert.is_nil(kept[1])
      local other = device:buffer({ 1, 1, 1 }, "double")
      for _ = 1, 3 do compiled(other, 3) end
      assert.same({ 8.0, 8.0, 8.0 }, other:read())
      other:release()
      helper.raises("argument #1 'a': the buffer is released", compiled, other, 3)
    end)

    it("tells of what fails in each call, whatever calls came between", function()
      local device = helper.device()
      local compiled = assert(loops.compile([=[function(a, b, index, n)
        for i = 1, n do a[i] = a[i] + b[index[i]] end
      end]=], wide))
      local a, b = device:zeros("double", 3), device:buffer({ 1, 2, 3 }, "double")
      local index, wrong = device:buffer({ 1, 2, 3 }, "int"), device:buffer({ 1, 2, 4 }, "int")
      for _ = 1, 4 do compiled(a, b, index, 3) end
      assert.is_false((pcall(compiled, a, b, wrong, 3)))
      index:write { 7, 1, 1 }
      assert.is_false((pcall(compiled, a, b, index, 3)))
      index:write { 1, 2, 3 }
      compiled(a, b, index, 3)
    end)

    it("looks at what hooks do, and keeps it out of what it records", function()
      local device = helper.device()
      local compiled, a = assert(loops.compile(scale, wide)), device:buffer({ 1, 1, 1 }, "double")
      local log = device:zeros("int", 1)
      for i = 1, 4 do
        debug.sethook(function() log:fill(i) end, "", 50)
        compiled(a, 3)
        debug.sethook()
      end
      log:fill(9)
      for _ = 1, 3 do compiled(a, 3) end
      assert.same({ { 9 }, { 128.0, 128.0, 128.0 } }, { log:read(), a:read() })
      debug.sethook(function() a:release() end, "", 20)
      local ok, message = pcall(compiled, a, 3)
      debug.sethook()
      assert.is_false(ok)
      assert.truthy(message:find("release", 1, true), message)
    end)

    it("makes the launches anew while the script records", function()
      local device = helper.device()
      if device.isolated then return end -- which records nothing
      local compiled, a = assert(loops.compile(scale, wide)), device:buffer({ 1, 1, 1 }, "double")
      for _ = 1, 4 do compiled(a, 3) end
      local sequence = device:record(function() compiled(a, 3) end)
      assert.same({ 16.0, 16.0, 16.0 }, a:read())
      sequence(2)
      compiled(a, 3)
      assert.same({ 128.0, 128.0, 128.0 }, a:read())
    end)
  end)

  it("has a kernel where a zero of either type makes no difference", function()
    for operation, is_kernel in pairs { ["+ 1"] = true, ["- 1"] = true, ["* 2"] = true, ["// 2"] = true,
      ["* 0.5"] = true, ["* i"] = true, ["% 2"] = true, ["* -2"] = false, ["* n"] = false, ["% n"] = false,
      ["+ (1 << 60)"] = false } do
      local text = "function(a, b, n) for i = 1, n do a[i] = math.max(0, b[i]) %s end end"
      local compiled = assert(loops.compile(text:format(operation), { device = helper.device(), force = true }))
      compiled({ 7.5, 8.5 }, { 2.5, 3.5 }, 2)
      assert.equal(is_kernel, not compiled:source():find("no kernel", 1, true), operation)
    end
  end)

  it("says why there is no kernel", function()
    for source, reason in pairs {
      ["function(a, n) for i = 2, n do a[i] = a[i - 1] + 1 end end"] = "no loop is parallel",
      ["function(a, n) a[n] = 0 end"] = "no loop is parallel",
      ["function(a, b, n) for i = 1, n do a[i] = -math.max(0, b[i]) end end"] =
        "line 1: whether this is computed in integers depends on data (0.0 instead of 0 makes it floats)",
    } do
      local compiled = assert(loops.compile(source, { device = helper.device(), force = true }))
      if source:find "max" then compiled({ 7.5, 8.5 }, { 2.5, 3.5 }, 2) else compiled({ 1, 2 }, 2) end
      assert.equal("// no kernel: " .. reason .. "\n", compiled:source())
      local text = compiled:explain()
      assert.truthy(text:find("all in Lua: " .. reason, 1, true), text)
      local of_loop = text:find("1: for i          parallel, but no kernel: " .. reason, 1, true)
      assert.equal(source:find "max" ~= nil, of_loop ~= nil)
    end
  end)

  it("says which buffers Lua works on", function()
    local device = helper.device()
    local compiled = assert(loops.compile(scale, { force = false }))
    local buffer <close> = device:zeros("double", 3)
    local hint = "  buffers that Lua works on are copied as a whole at each call, which tables are not: a\n"
    compiled(buffer, 3)
    assert.truthy(compiled:explain():find(hint, 1, true))
    compiled({ 1.0 }, 1)
    assert.falsy(compiled:explain():find(hint, 1, true))
    local on_device = assert(loops.compile(scale, { force = true }))
    on_device(buffer, 3)
    assert.falsy(on_device:explain():find(hint, 1, true))
  end)

  it("says what is not copied in", function()
    for body, expected in pairs { ["a[i] = 2 * b[i]"] = "writes a; a is not copied in if all of it is written\n",
      ["a[i] = 2 * a[i] + b[i]"] = "reads a, b, writes a\n" } do
      local text = assert(loops.compile(("function(a, b, n) for i = 1, n do %s end end"):format(body))):explain()
      assert.truthy(text:find(expected, 1, true), text)
    end
    local text = assert(loops.compile [[function(a, b, n)
      if n < 5 then return 1 end
      for i = 1, n do a[i] = 2 * b[i] end
      return 2
    end]]):explain()
    assert.truthy(text:find("writes a; a is not copied in if all of it is written\n", 1, true), text)
  end)

  it("begins its explanation with what becomes of the function", function()
    local text, d = "function(a, n) for i = 1, n do a[i] = a[i] + 1.0 end end", helper.device()
    local function told(compiled) return compiled:explain():match "^loops of %(text%): ([^\n]*)" end
    assert.equal("stays in Lua with such arguments: no loop is parallel",
      told(assert(loops.compile "function(a) a[1] = 1.0 end")))
    local compiled = assert(loops.compile(text, { device = d }))
    assert.equal("1 nest may run on a device; each call decides", told(compiled))
    compiled({ 1.0, 2.0 }, 2)
    assert.matches("^the latest call stayed in Lua: it takes about [%d.]+ %as there, and [%d.]+ %as on the device$",
      told(compiled))
    for force, words in pairs { [true] = "ran 1 nest of 1 on " .. d.name, [false] = "stayed in Lua: force = false" } do
      local forced = assert(loops.compile(text, { device = d, force = force }))
      forced({ 1.0, 2.0 }, 2)
      assert.equal("the latest call " .. words, told(forced))
    end
  end)

  it("tells of the paper's copies where there are tables, and of no line where there is one", function()
    local d = helper.device()
    local compiled = assert(loops.compile([[function(a, n) for i = 1, n do a[i] = a[i] + 1.0 end
      for i = 2, n do a[i] = a[i - 1] end end]], { device = d }))
    assert.matches("copies if all arrays are tables", compiled:explain(), 1, true)
    assert.matches("a[i - 1] (line 2) reads what a[i] (line 2) wrote", compiled:explain(), 1, true)
    compiled(d:buffer { 1, 2 }, 2)
    assert.falsy(compiled:explain():find("copies if", 1, true))
    local line = assert(loops.compile "function(a, n) for i = 2, n do a[i] = a[i - 1] end end"):explain()
    assert.matches("a[i - 1] reads what a[i] wrote", line, 1, true)
  end)

  it("tells of the copies for all that is in place of a task", function()
    local run = require("clcompute.suite.polykernels").load("ludcmp").run
    local text = assert(loops.compile(run, { device = helper.device(), target = "cpu" })):explain()
    assert.matches("device nest_2: reads a; writes a\n.-host line 22: reads b, a, y, x; writes y, x\n", text)
  end)

  helper.on_cpu("explains what depends on what, and shows the source before the first call", function()
    local compiled = assert(loops.compile([[function(a, b, n)
      for i = 2, n do a[i] = a[i - 1] + b[i] end
      for i = 1, n do b[i] = a[i] end
    end]], { device = helper.device(), force = true }))
    local text = compiled:explain()
    for _, expected in ipairs { "2: for i          sequential: a[i - 1] (line 2) reads what a[i] (line 2) wrote",
      "3: for i          parallel", "nest_1, line 3: work-items (i) in tiles; reads a, writes b",
      "Lua, from line 2: reads a, b, writes a" } do
      assert.truthy(text:find(expected, 1, true), expected .. "\n" .. text)
    end
    assert.truthy(compiled:source():find("// 3: b[i] = a[i]", 1, true))
  end)

  it("says of which arrays data decide whether a nest writes them", function()
    local text = assert(loops.compile [[function(a, b, c, x, n)
      for i = 1, n do
        if a[i] > x then b[i] = a[i] end
        c[i] = a[i]
      end
    end]]):explain()
    local expected = "reads a, writes b where data say so, c; c is not copied in if all of it is written"
    assert.truthy(text:find(expected, 1, true), text)
  end)

  local function page_of_stages()
    local file <close> = assert(io.open "docs/compiler.md")
    return file:read "a"
  end

  it("has a place in docs/compiler.md for each of its files", function()
    local page, files = page_of_stages(), io.popen "find lua/clcompute/loops -name '*.lua'"
    for name in files:lines() do
      local folder, file = name:match "loops/(.-)([^/]*)%.lua$"
      local alone, first = "`" .. file .. "`", "`" .. folder .. file .. "`"
      assert.truthy(page:find(alone, 1, true) or page:find(first, 1, true), name)
    end
    files:close()
  end)

  helper.on_cpu("does what docs/compiler.md shows", function()
    local page = page_of_stages()
    local compiled = assert(loops.compile(page:match "```lua\n(.-)```", { device = helper.device(), force = true }))
    local a, b = helper.device():zeros("float", 8), helper.device():zeros("float", 8)
    compiled(a, b, 8, 1)
    assert.truthy(compiled:source():find(page:match "```c\n(.-)```", 1, true), compiled:source())
    local spec = compiled.state.latest.spec
    assert.equal(page:match "```lua\n(function%(a_1.-)\n```", lua_text.whole(spec.tree))
    local host = spec.host_text
    for line in page:match("```lua\n(for t_5.-)```"):gmatch "%s*([^\n]+)" do
      if line ~= "..." then assert.truthy(host:find(line, 1, true), line) end
    end
    local tasks = page:match "## Tasks\n(.-)\n## "
    if helper.device().type == "cpu" then
      local text = assert(loops.compile(tasks:match "```lua\n(.-)```", { device = helper.device() })):explain()
      for line in tasks:match("```\n(nest_4.-)```"):gmatch "%s*([^\n]+)" do
        assert.truthy(text:find(line, 1, true), line .. "\n" .. text)
      end
    end
    for line in page:match("```\n(loop on the host.-)```"):gmatch "%s*([^\n]+)" do
      assert.truthy(compiled:explain():find(line, 1, true), line)
    end
  end)

  it("shows integers where floats are refused", function()
    local compiled = assert(loops.compile "function(a, n) for i = 1, n do a[i] = a[i] & 7 end end")
    assert.truthy(compiled:source():find("global long *restrict a", 1, true))
  end)
end)
