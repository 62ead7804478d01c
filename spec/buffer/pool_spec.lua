-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local count = require "clcount"

local function pooled() return cl.live().pooled end

--- How many buffers OpenCL made in f().
local function created(f)
  count.fail("clCreateBuffer", -4, 1000) -- the thousandth
  f()
  local seen = count.hits().seen
  count.fail()
  return seen
end

local LATE = "kernel void late(global int *x, int n) { volatile int i; for (i = 0; i < n; i++); x[0] = 1; }"
local device = helper.device()
local describe_pool = not device.isolated and describe or pending
device:zeros("float", 1024):release()
local it_pools = pooled() > 0 and it or pending -- CLCOMPUTE_POOL may be off

describe_pool("the pool of released memory", function()
  local d = device
  before_each(function() d:wait():trim() end)
  teardown(function() d:trim() end)

  it_pools("gives a buffer of about the same size what another one left", function()
    assert.equal(1, created(function()
      for n = 1000, 1020 do d:zeros("float", n):release() end
    end))
    assert.is_true(pooled() >= 4000 and pooled() < 4600)
    local x <close> = d:empty("double", 505)
    assert.equal(0, pooled())
    assert.equal(4040, x.bytes)
  end)

  it_pools("gives what the collector found", function()
    assert.is_true(created(function()
      for _ = 1, 50 do
        d:zeros("float", 100000)
        collectgarbage()
      end
    end) <= 2)
  end)

  it_pools("has nothing collected while memory goes round, and garbage before new memory is made", function()
    local collected = false
    local n = math.max(1 << 20, d:info().global_memory // 64 // 250) -- a GPU's collector hears of a 64th of its memory
    d:empty("float", n):release()
    collectgarbage()
    setmetatable({}, { __gc = function() collected = true end })
    for _ = 1, 20 do d:empty("float", n):release() end
    assert.is_false(collected)
    local made = created(function()
      for _ = 1, 500 do d:empty("float", n) end
    end)
    assert.is_true(collected)
    assert(made < 250, made)
  end)

  it("leaves nothing of the old elements where zeros, numbers or a table are asked for", function()
    for _ = 1, 20 do
      d:empty("int", 300):fill(77):release()
      local x <close> = d:zeros("int", 300)
      local y <close> = d:random("float", 300, { seed = 4 })
      local z <close> = d:buffer({ 1, 2, 3 }, "int")
      assert.same({ 0, 0 }, { cl.max(x), cl.min(x) })
      assert.is_true(cl.max(y) < 1)
      assert.same({ 1, 2, 3 }, z:read())
    end
  end)

  it_pools("gets memory when the last view of it is released", function()
    local x = d:zeros("float", 5000)
    local view = x:view(1, 10)
    x:release()
    assert.equal(0, pooled())
    assert.equal(0, view[3])
    view:release()
    assert.is_true(pooled() >= 20000)
  end)

  it("gets none that other libraries know, nor that of check mode", function()
    local x = d:zeros("float", 5000)
    local view = x:view(1, 10)
    view:raw()
    view:release()
    x:release()
    d:check(true)
    d:zeros("float", 5000):release()
    d:check(false)
    assert.equal(0, pooled())
  end)

  it_pools("gives no memory that a command of another queue may still use", function()
    local q <close> = d:queue()
    local late, n = q:program(LATE).late, helper.is_simulator(d) and 100 or 30000000
    late(1, d:zeros("int", 700), 1):wait()
    d:wait():trim()
    for _ = 1, 5 do
      local x = d:zeros("int", 700)
      d:wait()
      local e = late(1, x, n)
      x:release()
      local y <close> = d:zeros("int", 700)
      d:wait()
      e:wait()
      assert.equal(0, y[1])
    end
    d:wait()
    assert.equal(0, created(function() d:zeros("int", 700):release() end))
  end)

  it("gives no memory that commands of a collected queue still use", function()
    if helper.is_simulator(d) then return pending "takes long commands" end
    local script = ([[
      local cl = require "clcompute"
      local d = cl.device(%q)
      local x = d:zeros("int", 700)
      d:wait()
      do
        local late = d:queue():program(%q).late
        local start = cl.clock()
        late(1, x, 100000000):wait()
        for _ = 1, math.min(200, 3.5 // (cl.clock() - start)) do late(1, x, 100000000) end
      end
      collectgarbage() -- waits for two seconds
      collectgarbage()
      x:release()
      local y = d:zeros("int", 700)
      d:wait()
      local wrong, ends = false, cl.clock() + 2.5
      repeat wrong = wrong or y[1] ~= 0 until cl.clock() > ends
      print(wrong, cl.live().queue)]]):format(d.place, LATE)
    assert.equal("false\t0\n", helper.output(script))
  end)

  it_pools("gives memory at once on the one queue that used it", function()
    local p <close> = d:program(LATE)
    p.late(1, d:zeros("int", 700), 1):wait()
    d:wait():trim()
    local x = d:zeros("int", 700)
    p.late(1, x, 3000000)
    x:release()
    assert.equal(0, created(function()
      local y <close> = d:zeros("int", 700)
      assert.equal(0, y[1])
    end))
  end)

  it_pools("is not written by a launch of which the driver told nothing, and for which it did not wait", function()
    if helper.is_simulator(d) then return pending "its launches have ended when they are queued" end
    local p <close> = d:program(LATE)
    p.late(1, d:zeros("int", 700), 1):wait()
    d:wait():trim()
    local x = d:zeros("int", 700)
    p.late(1, x, 30000000)
    count.fail("any", -5, 1, 1 << 40)
    assert.is_false(pcall(d.wait, d))
    count.fail()
    x:release()
    local sevens = {}
    for i = 1, 700 do sevens[i] = 7 end
    local y <close> = d:buffer(sevens, "int")
    p.late(1, d:zeros("int", 1), 1):wait() -- behind the other one
    assert.equal(7, y[1])
  end)

  it("goes to the driver where memory is short", function()
    d:zeros("float", 5000):release()
    count.fail("clCreateBuffer", -4)
    local x <close> = d:empty("float", 77777)
    count.fail()
    assert.equal(77777, #x)
    assert.equal(0, pooled())
  end)

  it_pools("keeps a part of the device's memory at most", function()
    local most = d.global_memory // (d.type == "cpu" and 64 or 8)
    local bytes = math.min(most // 4, d.max_allocation)
    for i = 1, 8 do d:empty("uchar", bytes + i * (2 << 20)):release() end -- of sizes that differ
    assert.is_true(pooled() > 0 and pooled() <= most)
    for i = 1, 300 do d:empty("uchar", (i % 7 + 1) << (8 + i % 5)):release() end
    assert.is_true(pooled() <= most)
  end)

  it("keeps nothing where a queue was collected while it computed", function()
    if helper.is_simulator(d) then return pending "a long launch takes minutes" end
    assert.equal("0\t0\n", helper.output(([[
      local cl = require "clcompute"
      local d = cl.device(%q)
      local ended = d:buffer({ 0 }, "int")
      local function abandon()
        local q = d:queue()
        local late = q:program [=[
          kernel void late(global int *x, global int *ended, long n) {
            for (volatile long i = 0; i < n; i++);
            x[0] = ended[0] = 1;
          }]=].late
        q:timing(true)
        local sample = 10000000
        local seconds = late(1, ended, ended, sample).seconds
        ended:fill(0):read()
        late(1, q:zeros("int", 900), ended, sample * 3 // seconds | 0)
      end
      abandon()
      for _ = 1, 2 do collectgarbage() end
      local y = d:zeros("int", 900)
      d:wait()
      while ended[1] == 0 do end
      print(y[1], cl.live().pooled)]]):format(d.place)))
  end)

  it("is off where the environment says so", function()
    local script = ([[
      local cl = require "clcompute"
      cl.device(%q):zeros("float", 1000):release()
      print(cl.live().pooled)]]):format(d.place)
    assert.equal("0\n", helper.output(script, { CLCOMPUTE_POOL = "off" }))
    for _, value in ipairs { "on", "" } do
      assert.is_true(tonumber(helper.output(script, { CLCOMPUTE_POOL = value })) >= 4000)
    end
  end)
end)

helper.describe_each("a device", function(d)
  it("trims its pool, and keeps what is in use", function()
    local x <close> = d:buffer { 1, 2, 3 }
    d:zeros("float", 100):release()
    assert.equal(d, d:trim())
    assert.same({ 1, 2, 3 }, x:read())
  end)
end)
