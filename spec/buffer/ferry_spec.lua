-- SPDX-License-Identifier: MIT
--- Copies between devices of different contexts: those that are here, two GPUs or a driver and Oclgrind, and two of
--- POCL in a process of their own.

local helper = require "spec.helper"
local cl = require "clcompute"

-- Elements of several pieces, of more than the slots of a port hold.
local MANY = 3 << 20

local function pair()
  for _, other in ipairs(helper.devices()) do
    if other ~= helper.device() then return helper.device(), other end
  end
end

describe("a copy to another device", function()
  local d, other = pair()
  local internal = require "clcompute.core.internal"

  local function numbers(device, n, seed) return device:random("float", n, { seed = seed }) end

  if not other then
    it("needs two devices", function() pending "there is one alone" end)
    return
  end

  it("has every element, of any number and from any first one", function()
    local x = numbers(d, MANY, 1)
    for _, range in ipairs { { 1, 1 }, { 1, 4096 }, { 2, 4098 }, { 1, MANY }, { 12345, MANY - 1 } } do
      local part = x:view(range[1], range[2])
      local there = part:copy(other)
      assert.is_true(part:string() == there:string(), range[1])
      assert.is_true(there:copy(d):string() == part:string(), range[2])
    end
  end)

  it("takes rectangles, in pieces of rows, of parts of rows, and of slices", function()
    for _, case in ipairs {
      { shape = { 300, 500 }, size = { 300, 500 }, at = { 1, 1 }, to_at = { 1, 1 } },
      { shape = { 1100, 700 }, size = { 1093, 611 }, at = { 8, 90 }, to_at = { 3, 2 } },
      { shape = { 2, 1 << 20 }, size = { 2, (1 << 20) - 3 }, at = { 1, 4 }, to_at = { 1, 2 } },
      { shape = { 3, 200, 900 }, size = { 2, 150, 899 }, at = { 2, 51, 2 }, to_at = { 1, 3, 1 } },
    } do
      local shape = case.shape
      local count = shape[1] * shape[2] * (shape[3] or 1)
      local x = numbers(d, count, 2):reshape(table.unpack(shape))
      local here, there = d:zeros("float", table.unpack(shape)), other:zeros("float", table.unpack(shape))
      for _, to in ipairs { here, there } do
        x:copy_rect { to = to, size = case.size, at = case.at, to_at = case.to_at }
      end
      assert.is_true(here:string() == there:string(), count)
      local back = d:zeros("float", table.unpack(shape))
      there:copy_rect { to = back, size = case.size, at = case.to_at, to_at = case.at }
      local expected = d:zeros("float", table.unpack(shape))
      here:copy_rect { to = expected, size = case.size, at = case.to_at, to_at = case.at }
      assert.is_true(expected:string() == back:string(), count)
    end
  end)

  it("comes behind what is queued on both, and before what is queued next", function()
    local x, y = d:full("int", 1, MANY), other:full("int", 7, MANY)
    for round = 1, 5 do
      x:fill(round)
      y:fill(-round)
      y:write(x)
      x:fill(0)
      y:fill(9, 1, 1)
      assert.same({ 9, round, round, 0 }, { y:get(1), y:get(2), y:get(MANY), x:get(1) })
    end
  end)

  it("computes an expression first that waits for what it overwrites", function()
    local x, y = d:full("float", 3, MANY), other:full("float", 1, 1 << 14)
    local sum = y + 1
    y:write(x:view(1, 1 << 14))
    assert.same({ 2, 3 }, { sum:get(5), y:get(5) })
  end)

  it("goes several at once, both ways, some of one device", function()
    local n = 700
    local a, b = numbers(d, n * n, 3):reshape(n, n), numbers(other, n * n, 4):reshape(n, n)
    local to_a, to_b, beside = d:zeros("float", n, n), other:zeros("float", n, n), d:zeros("float", n, n)
    local half = n // 2
    local under_way = internal.carry {
      { source = a, at = { 1, 1 }, target = to_b, to_at = { 1, half + 1 }, size = { n, half } },
      { source = a, at = { 1, half + 1 }, target = to_b, to_at = { 1, 1 }, size = { n, half } },
      { source = b, at = { 1, 1 }, target = to_a, to_at = { 1, 1 }, size = { half, n } },
      { source = b, at = { half + 1, 1 }, target = to_a, to_at = { half + 1, 1 }, size = { half, n } },
      { source = a, at = { 1, 1 }, target = beside, to_at = { 1, 1 }, size = { n, n } },
    }
    internal.arrive(under_way)
    internal.arrive(under_way) -- a second time it has arrived already
    assert.is_true(to_a:string() == b:string())
    assert.is_true(beside:string() == a:string())
    assert.same({ a:get(5, half + 3), a:get(n, 1) }, { to_b:get(5, 3), to_b:get(n, half + 1) })
    assert.is_nil(internal.carry { { source = a, at = { 1, 1 }, target = to_b, to_at = { 1, 1 }, size = { 1, 1 } } })
  end)

  it("that nobody waits for makes room for the next one", function()
    local a, b = numbers(d, MANY, 5):reshape(1, MANY), other:zeros("float", 1, MANY)
    local function begin()
      return internal.carry { { source = a, at = { 1, 1 }, target = b, to_at = { 1, 1 }, size = { 1, MANY } } }
    end
    begin()
    collectgarbage()
    collectgarbage()
    local first = begin()
    local second = begin() -- completes the first
    internal.arrive(second)
    internal.arrive(first)
    assert.is_true(a:string() == b:string())
  end)

  it("is given up where a buffer goes meanwhile, or an error of a hook ends it", function()
    local a, b = numbers(d, MANY, 6):reshape(1, MANY), other:zeros("float", 1, MANY)
    local busy = d:program [[kernel void busy(global uint *x, uint rounds) {
      uint v = x[0];
      for (uint i = 0; i < rounds; i++) v = v * 1664525 + 1013904223;
      x[0] = v;
    }]].busy
    local word = d:zeros("uint", 1)
    busy(1, word, 100000000) -- or all may be read before the buffer goes
    local under_way = internal.carry {
      { source = a, at = { 1, 1 }, target = b, to_at = { 1, 1 }, size = { 1, MANY } } }
    b:release()
    helper.raises("was released meanwhile", internal.arrive, under_way)
    local c = other:zeros("float", 1, MANY)
    c:write(a)
    assert.is_true(a:string() == c:string())
    local steps = 0
    busy(1, word, 100000000)
    local ok, message = pcall(function()
      debug.sethook(function()
        local callee, caller = debug.getinfo(2, "S"), debug.getinfo(3, "S")
        if callee.what == "C" and caller.what == "C" then steps = steps + 1 end
        if steps == 2 then -- it has begun
          debug.sethook()
          error "stop"
        end
      end, "c")
      c:write(a)
    end)
    debug.sethook()
    assert.is_false(ok)
    assert.matches("stop", message)
    assert.is_true(c:write(a):string() == a:string())
  end)

  it("is counted by cl.profile, as read and as written", function()
    local a, b = numbers(d, MANY, 7), other:zeros("float", MANY)
    d:wait()
    other:wait()
    cl.profile(true)
    b:write(a)
    local seen = {}
    for _, row in ipairs(cl.profile()) do
      if row.kind == "read" or row.kind == "write" then seen[row.place .. row.kind] = row.bytes end
    end
    cl.profile(false)
    assert.equal(4 * MANY, seen[d.place .. "read"])
    assert.equal(4 * MANY, seen[other.place .. "write"])
  end)
end)

describe("two devices of one driver", function()
  it("copy to each other, and one that is closed is opened afresh", function()
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    assert.equal("right\n", helper.output([[
      local cl = require "clcompute"
      local a, b = table.unpack(cl.devices "portable")
      for round = 1, 2 do
        local x = a:random("float", 3 << 20, { seed = round })
        local y = x:copy(b):copy(a)
        assert(x:string() == y:string())
        local place = b.place
        b:close()
        b = cl.device(place)
      end
      local x = a:random("float", 3 << 20)
      x:copy(b)
      print "right" -- with a copy under way
    ]], { POCL_DEVICES = "pthread pthread" }))
  end)
end)
