-- SPDX-License-Identifier: MIT
local count = require "clcount"
local helper = require "spec.helper"
local cl = require "clcompute"

local SOURCE = [[
  kernel void touch(global int *x) { x[get_global_id(0)] += 1; }
  /* Bounded: a chain that no compiler shortens. */
  kernel void busy(global uint *x, uint rounds) {
    uint v = x[0];
    for (uint i = 0; i < rounds; i++) v = v * 1664525u + (v >> 7) + i;
    x[0] = v;
  }
]]

--- Ints that are 0; written, since Oclgrind 21.10 takes filled memory for uninitialised.
local function zeros(d, n) return d:buffer(("\0"):rep(4 * n), "int", n) end

local function describe_launches(d, timed)
  local p = d:program(SOURCE)
  setup(function() d:timing(timed) end)
  teardown(function() d:timing(false) end)

  --- Tests what a launch that is timed says of it.
  local function times(name, body)
    if timed then it(name, body) end
  end

  local function times_of(e)
    local t = e:profile()
    local message = ("%.9f %.9f %.9f %.9f"):format(t.queued, t.submitted, t.started, t.finished)
    assert.is_true(t.queued <= t.submitted and t.submitted <= t.started and t.started <= t.finished, message)
    return t
  end

  it("is waited for, and then complete", function()
    local x = zeros(d, 4)
    local e = p.touch(4, x)
    assert.equal(e, e:wait())
    assert.equal("complete", e.status)
    assert.equal(e, e:wait(0))
    assert.equal(e, e:wait(nil))
    assert.same({ 1, 1, 1, 1 }, x:read())
  end)

  it("becomes complete for a script that only asks", function()
    local e = p.touch(4, zeros(d, 4))
    local known = { queued = true, submitted = true, running = true, complete = true }
    local limit = cl.clock and cl.clock() + 20 or os.time() + 20
    local status
    repeat
      status = e.status
      assert.is_true(known[status], status)
    until status == "complete" or (cl.clock and cl.clock() or os.time()) > limit
    assert.equal("complete", status)
  end)

  times("is timed in order", function()
    local e = p.touch(64, zeros(d, 64))
    local t = times_of(e)
    assert.is_true(t.finished > 0)
    assert.is_true(e.seconds >= 0 and e.seconds < 60)
    assert.near(t.finished - t.started, e.seconds, 1e-6)
    assert.equal(e.seconds, e.seconds)
  end)

  times("shows its times since it was queued, legibly", function()
    local t, TIME = p.touch(64, zeros(d, 64)):profile(), " %+ [%d.]+ [um]s"
    assert.matches(("^queued, submitted%s, started%s, finished%s$"):format(TIME, TIME, TIME), tostring(t))
    t.queued, t.submitted, t.started, t.finished = 1000, 1000.0000125, 1000.5, 1002
    assert.equal("queued, submitted + 12.5 us, started + 500 ms, finished + 2000 ms", tostring(t))
    t.queued, t.submitted, t.started, t.finished = 0, 0.0004, 0.0009990, 0.0010004
    assert.equal("queued, submitted + 400.0 us, started + 999.0 us, finished + 1.0004 ms", tostring(t))
    t.queued, t.finished = nil, "never" -- as everybody may
    assert.matches("^queued, submitted", tostring(t))
  end)

  times("of a later launch starts after the earlier has ended", function()
    local x = zeros(d, 64)
    local first, second = p.touch(64, x), p.touch(64, x)
    assert.is_true(times_of(first).finished <= times_of(second).started)
  end)

  it("of an empty range is finished from the start", function()
    local e = p.touch(0, zeros(d, 1))
    assert.equal("complete", e.status)
    assert.equal(e, e:wait(0))
    if timed then assert.equal(0, e.seconds) end
  end)

  times("of a split launch goes from its first start to its last end", function()
    local x = zeros(d, 35)
    local whole = p.touch({ global = { 35 }, group = { 16 }, remainder = "split" }, x)
    local t = times_of(whole)
    assert.near(t.finished - t.started, whole.seconds, 1e-6)
    for _, v in ipairs(x:read()) do assert.equal(1, v) end
    -- between its neighbours in the queue, so that no part is left out
    local before, split = p.touch(1, x), p.touch({ global = { 35 }, group = { 16 }, remainder = "split" }, x)
    local after = p.touch(1, x)
    assert.is_true(times_of(before).finished <= times_of(split).started)
    assert.is_true(times_of(split).finished <= times_of(after).started)
  end)

  it("is kept for each of several hundred launches in flight", function()
    local x, events = zeros(d, 1), {}
    for i = 1, 700 do events[i] = p.touch(1, x) end
    assert.equal(700, x[1])
    for i = 700, 1, -1 do assert.equal("complete", events[i]:wait().status) end
  end)

  it("may be dropped before its launch has ended", function()
    local x = zeros(d, 1)
    for i = 1, 300 do
      p.touch(1, x)
      if i % 50 == 0 then collectgarbage() end
    end
    assert.equal(300, x[1])
  end)

  it("outlives program, kernel and buffers", function()
    local function launch()
      local own, x = d:program(SOURCE), zeros(d, 4)
      local touch = own.touch
      local e = touch(4, x)
      touch:release()
      own:release()
      x:release()
      return e
    end
    local e = launch()
    collectgarbage()
    collectgarbage()
    assert.equal("complete", e:wait().status)
    if timed then times_of(e) end
  end)

  it("is of no use once released", function()
    local x = zeros(d, 1)
    local e = p.touch(1, x)
    assert.equal("event of kernel 'touch'", tostring(e))
    assert.equal(d, e.device)
    e:release()
    e:release()
    assert.equal("event (released)", tostring(e))
    for _, use in ipairs {
      function() e:wait() end, function() e:profile() end,
      function() return e.status end, function() return e.seconds end,
    } do helper.raises("event is released", use) end
    assert.equal(1, x[1])
  end)

  it("refuses wrong times and unknown fields", function()
    local e = p.touch(1, zeros(d, 1))
    for _, case in ipairs {
      { -1, "seconds must not be negative" }, { 0.0 / 0.0, "seconds must not be negative" },
      { "soon", "number expected, got string" }, { {}, "number expected, got table" },
    } do helper.raises(case[2], e.wait, e, case[1]) end
    helper.raises("duration", function() return e.duration end)
    helper.raises("", e.wait, io.stdout)
    helper.raises("", e.wait)
    assert.equal(e, e:wait(math.huge))
  end)
end

helper.describe_each("an event", function(d)
  describe("that is timed", function() describe_launches(d, true) end)
  describe("that is not timed", function() describe_launches(d, false) end)

  it("tells no times where they were not asked for", function()
    local touch, x = d:program(SOURCE).touch, zeros(d, 4)
    local before = touch(4, x)
    assert.is_false(d:timing())
    assert.equal(d, d:timing(true))
    assert.is_true(d:timing())
    local e = touch(4, x)
    for _, read in ipairs { function() return before.seconds end, before.profile } do
      helper.raises("kernel 'touch' was not timed: d:timing(true)", read, before)
    end
    assert.is_true(e.seconds >= 0)
    d:timing(false)
    assert.is_true(e:profile().finished > 0)
    helper.raises("was not timed", function() return touch(0, x).seconds end)
    assert.same({ 2, 2, 2, 2 }, x:read())
    helper.raises("boolean expected, got number", d.timing, d, 1)
  end)

  it("is timed on the queues that are made of a device which is timed, and while a profile is on", function()
    local touch, x = d:program(SOURCE).touch, zeros(d, 4)
    d:timing(true)
    local q <close> = d:queue()
    d:timing(false)
    assert.is_true(q:timing())
    assert.is_true(q:program(SOURCE).touch(4, x).seconds >= 0)
    cl.profile(true)
    local e = touch(4, x)
    cl.profile(false)
    assert.is_true(e.seconds >= 0)
    helper.raises("was not timed", function() return touch(4, x).seconds end)
    assert.is_true(cl.device(d.place, { timing = true, isolated = d.isolated }):timing())
    assert.is_false(cl.device(d.place, { timing = false, isolated = d.isolated }):timing())
  end)

  it("of what failed fails what is to wait for it, and keeps its failure when later ones fail", function()
    if d.isolated then return pending "the launches of an isolated device have ended when they return" end
    local touch, x = d:program(SOURCE).touch, zeros(d, 4)
    local sequence = d:record(function() touch(4, x) end)
    local q <close> = d:queue()
    d:wait()
    finally(function()
      count.fail()
      pcall(d.wait, d)
    end)
    local first = sequence() -- which has no event: a barrier behind it tells of its end
    count.fail("clEnqueueBarrierWithWaitList", -5)
    helper.raises({ "clEnqueueBarrierWithWaitList failed", "CL_OUT_OF_RESOURCES" }, first.before, first, q)
    count.fail()
    local second = touch(4, x)
    count.fail("command", -14)
    helper.raises("CL_OUT_OF_RESOURCES", d.wait, d)
    count.fail()
    assert.equal("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", second.status)
    assert.equal("CL_OUT_OF_RESOURCES", first.status)
    helper.raises("CL_EXEC_STATUS_ERROR", second.before, second, q)
    assert.equal("complete", touch(4, x):wait().status)
  end)
end)

describe("waiting for a long launch", function()
  local d = helper.device()
  if d.isolated then return pending "on an isolated device a launch has ended when its call returns" end
  local p = d:program(SOURCE)
  local x = d:zeros("uint", 1)
  setup(function() d:timing(true) end)
  teardown(function() d:timing(false) end)

  --- Rounds of `busy` that take about so long here.
  local function rounds_for(seconds)
    local sample = 2000000
    p.busy(1, x, sample):wait()
    local once = p.busy(1, x, sample).seconds
    return math.min(2 ^ 32 - 1, seconds / once * sample) // 1 | 0
  end

  it("gives up after the seconds it was given, and the launch goes on", function()
    local e = p.busy(1, x, rounds_for(1.5))
    local start = os.clock()
    local message = helper.raises({ "kernel 'busy' did not end within 0.05 seconds" }, e.wait, e, 0.05)
    assert.is_nil(message:find("failed", 1, true))
    assert.is_true(os.clock() - start < 5)
    assert.is_true(e.status == "running" or e.status == "submitted")
    helper.raises("did not end within 0", e.wait, e, 0)
    assert.equal("complete", e:wait().status)
    assert.is_true(e.seconds > 0.06)
  end)

  it("can end while another launch is still queued", function()
    local short = p.busy(1, x, 1000)
    local long = p.busy(1, x, rounds_for(0.5))
    short:wait()
    helper.raises("did not end within", long.wait, long, 0)
    long:wait()
  end)

  it("that is not timed can be at an end before later launches are queued", function()
    local rounds = rounds_for(0.5)
    d:timing(false)
    local short = p.busy(1, x, 1000)
    assert.equal("complete", short:wait().status)
    local long = p.busy(1, x, rounds)
    assert.equal("complete", short.status)
    helper.raises("did not end within", long.wait, long, 0)
    assert.equal("complete", long:wait().status)
    d:timing(true)
  end)

  local function write_file(path, text)
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
  end

  --- Runs a script that starts a launch of so many seconds, then lines typed at the prompt (nil: no prompt);
  -- sends SIGINT while it waits; what it printed.
  local function interrupt_within(seconds, script, typed)
    local path, out, input = os.tmpname(), os.tmpname(), os.tmpname()
    write_file(input, typed or "")
    write_file(path, ([[
      local cl = require "clcompute"
      local d = cl.device "%s"
      local p = d:program [==[%s]==]
      local x = d:zeros("uint", 1)
      p.busy(1, x, 1):wait()
      local e = p.busy(1, x, %d)
      io.stdout:setvbuf "no"
      function waiting() print "waiting" end
      %s
    ]]):format(d.platform, SOURCE, rounds_for(seconds), script))
    -- a shell ignores SIGINT for what it starts in the background; env undoes that
    local command = ([[env --default-signal=INT %s %s %s <%s >%s 2>&1 & child=$!
      for i in $(seq 100); do grep -q waiting %s && break; sleep 0.05; done
      sleep 0.2; kill -INT $child; wait $child; echo "exit $?" >>%s]]):format(helper.lua,
        typed and "-i" or "", path, input, out, out, out)
    os.execute(command)
    local printed = assert(io.open(out))
    local output = printed:read "a"
    printed:close()
    os.remove(path)
    os.remove(out)
    os.remove(input)
    return output
  end

  --- The same; on a busy machine a launch may end before the signal comes: then with a longer one.
  local function interrupt(script, typed)
    local output
    for _, seconds in ipairs { 2, 6, 18 } do
      output = interrupt_within(seconds, script, typed)
      if output:find("interrupted!", 1, true) then break end
    end
    return output
  end

  it("is ended by Ctrl-C", function()
    local output = interrupt "waiting() e:wait() print 'not reached'"
    assert.truthy(output:find("interrupted!", 1, true), output)
    assert.truthy(output:find("exit 1\n", 1, true), output)
    assert.is_nil(output:find("not reached", 1, true), output)
  end)

  it("is ended by Ctrl-C in whatever blocks, and the device stays usable", function()
    local output = interrupt [[
      waiting()
      print(pcall(x.read, x))
      e:wait()
      print("then", #x:read(), e.status)
    ]]
    assert.truthy(output:find("false%s+.*interrupted!"), output)
    assert.truthy(output:find("then\t1\tcomplete\nexit 0", 1, true), output)
  end)

  it("is ended by Ctrl-C in a coroutine", function()
    local output = interrupt [[
      coroutine.wrap(function()
        waiting()
        print("inside", pcall(e.wait, e))
      end)()
    ]]
    assert.truthy(output:find("inside\tfalse\t[^\n]*interrupted!"), output)
  end)

  it("is ended by Ctrl-C at the prompt, which stays", function()
    local output = interrupt("event = e",
      "waiting() event:wait() print 'not reached'\nprint('then', event:wait().status)\n")
    assert.truthy(output:find("interrupted!", 1, true), output)
    assert.truthy(output:find("then\tcomplete", 1, true), output)
    assert.is_nil(output:find("not reached\n", 1, true), output)
  end)
end)

helper.describe_each("waiting while a debug hook does the same on", function(d)
  local LOOPS = d.platform == "Oclgrind" and 20 or 20000
  local k = d:program([[kernel void f(global float *x, int n) {
    float a = x[get_global_id(0)];
    for (int i = 0; i < n; i++) a = a * 0.5f + 1;
    x[get_global_id(0)] = a;
  }]]).f
  local x = d:zeros("float", 64)

  --- Calls wait() while commands run, and act() in each hook meanwhile; returns what pcall does.
  local function waiting(wait, act)
    local event
    for _ = 1, 8 do event = k(64, x, LOOPS) end
    local inside, times = false, 0
    debug.sethook(function()
      if inside then return end
      inside, times = true, times + 1
      act(event)
      inside = false
    end, "c")
    local ok, message = pcall(wait, event)
    debug.sethook()
    assert.is_true(times > 0)
    return ok, message
  end

  it("goes on when the hook waits for the queue too", function()
    for _, act in ipairs { function() d:wait() end, function() return x:read() end, function(e) e:wait() end } do
      assert.is_true(waiting(function() return d:wait() end, act))
      assert.is_true(waiting(function(e) return e:wait() end, act))
      assert.is_true(waiting(function() return x[1] end, act))
    end
  end)

  it("ends in an error when the hook releases the event", function()
    local ok, message = waiting(function(e) return e:wait() end, function(e)
      d:wait()
      e:release()
    end)
    assert.is_false(ok)
    assert.matches("event .*released", message)
  end)

  it("is not interrupted by a hook that takes itself away", function()
    local times = 0
    assert.is_true(waiting(function() return d:wait() end, function()
      times = times + 1
      if times == 3 then debug.sethook() end
    end))
  end)
end)
