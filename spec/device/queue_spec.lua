-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local STEP = [[
  kernel void step(global int *x, int n) {
    int v = x[0];
    for (int i = 0; i < n; i++) v = v * 3 + 1;
    x[0] = v;
  }
  kernel void last_is_long(global int *x, int n) {
    int v = 1;
    if (get_global_id(0) == 16)
      for (int i = 0; i < n; i++) v = v * 3 + 1;
    x[get_global_id(0)] = v;
  }
]]

helper.describe_each("a further queue", function(d)
  it("is a Device of its own on the same memory", function()
    local q = d:queue()
    assert.not_equal(d, q)
    assert.equal(d.name, q.name)
    assert.equal(d.align, q.align)
    assert.matches(" queue$", tostring(q))
    local x = d:buffer({ 1, 2, 3 }, "int")
    d:wait()
    q:program(STEP).step(1, x, 1):wait()
    assert.same({ 4, 2, 3 }, x:read())
    assert.equal(q, q:zeros("int", 1).device)
    assert.equal(q, q:program(STEP).step.device)
  end)

  it("waits for an event of another one", function()
    local q = d:queue()
    local long = helper.is_simulator(d) and 1000 or 20000000
    local x = d:buffer({ 0 }, "int")
    local first, second = d:program(STEP).step, q:program(STEP).step
    second(1, q:zeros("int", 1), 1):wait() -- compiled
    local expected = x:copy()
    first(1, expected, long)
    first(1, expected, 1):wait()
    local e = first(1, x, long)
    assert.equal(e, e:before(q))
    second(1, x, 1)
    q:wait()
    assert.equal("complete", e.status)
    assert.equal(expected[1], x[1])
  end)

  it("copies what is there once the queue of the source is done", function()
    local q <close> = d:queue()
    local long, step = helper.is_simulator(d) and 1000 or 20000000, d:program(STEP).step
    local x, m, expected = d:zeros("int", 4), d:zeros("int", 2, 2), d:zeros("int", 1)
    step(1, expected, long)
    local y, n, value = q:zeros("int", 4), q:zeros("int", 2, 2), expected[1] -- read later it would wait for `step`
    q:wait()
    local function copied(into, source, first)
      source:fill(0)
      step(1, source, 1):wait()
      source:fill(0)
      step(1, source, long)
      assert.equal(value, first(into(source)))
    end
    copied(function(b) return y:write(b) end, x, function(b) return b[1] end)
    copied(function(b) return b:copy(q) end, x, function(b) return b[1] end)
    copied(function(b) return n:write(b) end, m, function(b) return b[1][1] end)
    copied(function(b) b:copy_rect { to = n, size = { 1, 2 } } return n end, m, function(b) return b[1][1] end)
  end)

  it("waits for the last part of a split launch", function()
    local q = d:queue()
    local long = helper.is_simulator(d) and 1000 or 20000000
    local x, first, second = d:zeros("int", 17), d:program(STEP).last_is_long, q:program(STEP).step
    second(1, q:zeros("int", 1), 1):wait() -- compiled
    local split = { global = 17, group = 16, remainder = "split" }
    first(split, x, 1):wait()
    local e = first(split, x, long):before(q)
    second(1, q:zeros("int", 1), 1):wait()
    assert.equal("complete", e.status)
  end)

  it("lives as long as what was made on it", function()
    local x = d:queue():buffer { 1, 2, 3 }
    collectgarbage()
    collectgarbage()
    assert.same({ 1, 2, 3 }, x:read())
    assert.matches(" queue$", tostring(x.device))
  end)

  it("waits for nothing where it closes and all of its commands have ended", function()
    local script = [[local d = require "clcompute".device "%s"
      for _ = 1, 20 do
        local q <close> = d:queue()
        q:zeros("int", 1):read()
      end]]
    helper.output(script:format(d.place), nil, 30) -- two seconds each are what commands in flight are given
  end)

  it("closes by itself, and with its device", function()
    local q = d:queue()
    local x, y = q:zeros("int", 1), d:zeros("int", 1)
    q:close()
    helper.raises("buffer is released", x.read, x)
    helper.raises("device is released", q.zeros, q, "int", 1)
    assert.same({ 0 }, y:read())
    local again = d:queue():queue()
    d:close()
    helper.raises("device is released", again.zeros, again, "int", 1)
  end)
end)

describe("two queues", function()
  it("run their commands beside each other", function()
    local d = helper.device()
    if d.compute_units < 2 then return pending("one compute unit") end
    d:timing(true)
    finally(function() d:timing(false) end)
    local q = d:queue()
    local p, r = d:program(STEP).step, q:program(STEP).step
    local x, y = d:zeros("int", 1), q:zeros("int", 1)
    local n = 30000000
    --- Seconds that two launches ran at the same time, by the device's own clock; below 0: they did not.
    local function overlap(second, z)
      local e, f = p(1, x, n), second(1, z, n)
      local a, b = e:profile(), f:profile()
      return math.min(a.finished, b.finished) - math.max(a.started, b.started)
    end
    p(1, x, 1):wait()
    r(1, y, 1):wait() -- compiled
    local best = -math.huge
    for _ = 1, 10 do -- on a loaded machine the second may start late
      assert.is_true(overlap(p, x) <= 0, "commands of one queue ran at the same time")
      best = math.max(best, overlap(r, y))
      if best > 0 then break end
    end
    assert.is_true(best > 0, ("the second queue's command started %g s after the first one's end"):format(-best))
  end)
end)

describe("live", function()
  it("lists what holds memory and counts objects", function()
    collectgarbage()
    local d = helper.device()
    d:wait()
    local before = cl.live()
    local b = d:empty("float", 3, 4)
    local view = b:view(2, 3)
    local queue = d:queue()
    local after = cl.live()
    assert.equal(before.device, after.device)
    assert.equal(before.queue + 1, after.queue)
    queue:close()
    assert.equal(before.bytes + 48, after.bytes)
    assert.equal(before.buffer + 2, after.buffer)
    assert.same({ dtype = "float", shape = "3x4", bytes = 48, shared = true }, after[#before + 1])
    assert.equal("2x4", after[#before + 2].shape)
    b:release()
    assert.equal(before.bytes + 48, cl.live().bytes)
    view:release()
    assert.equal(before.bytes, cl.live().bytes)
  end)
end)
