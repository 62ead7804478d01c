-- SPDX-License-Identifier: MIT
--- Many objects, and much memory, each in a process of its own. STRESS=1 (`make stress`) asks
-- for the full numbers; without it a tenth, for the suite to stay short. SOAK=600 (`make soak`) is the soak's seconds.

local helper = require "spec.helper"

local SHARE = os.getenv("STRESS") and 1 or 10

--- Runs a script that has `d`, a device; returns what it printed.
local function run(device, script, ...)
  local place = device.place
  local ok, output, code = helper.run(([[
    local cl = require "clcompute"
    local d = cl.device %q
  ]]):format(place) .. script:format(...), { CLCOUNT_EXIT = 9, CLCOUNT_QUIET = "" })
  assert.is_true(ok, ("exit code %s: %s"):format(code, output))
  return output
end

--- That the layer, which must have been there, saw no leak.
local function has_no_leak(output)
  local calls = tonumber(output:match "clcount: (%d+) calls, 0 leaked, 0 bad releases")
  assert.is_truthy(calls, "the layer is not there, or found something: " .. output)
  return calls
end

describe("a thousand buffers of 64 MB", function()
  -- what the process holds shows device memory only where that is the host's
  local device = helper.device()
  local case = device:info().unified_memory and it or pending

  case("filled by a kernel and dropped stay below 600 MB resident", function()
    local output = run(device, [[
      local N, COUNT = 16 << 20, %d
      local p = d:program "kernel void set(global uint *v, uint a) { size_t i = get_global_id(0); v[i] = a + i; }"
      local last
      for i = 1, COUNT do
        last = d:empty("uint", N)
        p.set(N, last, i)
      end
      assert(last:get(1) == COUNT and last:get(N) == COUNT + N - 1)
      for line in io.lines "/proc/self/status" do
        local kib = line:match "^VmHWM:%%s*(%%d+)"
        if kib then print("peak " .. kib * 1024) end
      end
    ]], 1000 // SHARE)
    local peak = tonumber(output:match "peak (%d+)")
    print(("stress: %d buffers of 64 MB, peak %d MB resident"):format(1000 // SHARE, peak // 1000000))
    assert.is_true(peak >= 64 << 20, output) -- pages were touched
    assert.is_true(peak < 600e6, output)
    has_no_leak(output)
  end)
end)

helper.describe_each("a long life", function(device)
  if helper.is_simulator(device) then return pending "a simulator takes hours" end

  it("of buffers, views, kernels and events leaks no handle", function()
    local count = 200000 // SHARE
    local output = run(device, [[
      local p = d:program "kernel void set(global uint *v, uint a) { v[get_global_id(0)] = a; }"
      local n = d.align // 4 -- where a view that a kernel takes may start
      for i = 1, %d do
        local b = d:empty("uint", 2 * n)
        local v = b:view(n + 1, 2 * n)
        local k = p:kernel "set"
        local e = k(n, v, i)
        k:release() -- or the program would give the same one again
        if i %% 1000 == 0 then
          e:wait()
          assert(b:get(n + 1) == i and v:get(n) == i)
        end
      end
      d:wait()
      local peak = 0
      for _, n in pairs(cl.live()) do peak = math.max(peak, math.type(n) and n or 0) end
      print("alive " .. peak)
    ]], count)
    -- at least: a buffer, a kernel, a launch, and their releases
    assert.is_true(has_no_leak(output) > 6 * count, output)
    local alive = tonumber(output:match "alive (%d+)")
    if SHARE == 1 then assert.is_true(alive < count / 2, output) end -- the collector kept up; few say nothing
    print(("stress: %d buffers, views, kernels and events, at most %d alive at the end"):format(count, alive))
  end)

  it("of programs leaks no handle", function()
    local count = 500 // SHARE
    local output = run(device, [[
      local x = d:zeros("int", 1)
      for i = 1, %d do
        local p = d:program(("kernel void f(global int *x) { x[0] = %%d; }"):format(i))
        if i %% 50 == 0 then p.f(1, x); assert(x[1] == i) end
      end
    ]], count)
    assert.is_true(has_no_leak(output) > 2 * count, output)
  end)
end)

helper.describe_each("a soak of all that holds memory", function(device)
  it("has each value right, and does not grow", function()
    local seconds, bits = os.getenv "SOAK" or 3, helper.is_simulator(device) and 6 or 18
    local output = run(device, "arg = { d.place, %s, %d, %d } dofile 'spec/support/soak.lua'", seconds, helper.seed,
      bits)
    has_no_leak(output)
    print("stress: " .. output:match "[^\n]* rounds[^\n]*")
  end)
end)
