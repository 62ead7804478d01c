-- SPDX-License-Identifier: MIT
--- Two queues of one device: commands of different queues may run beside each other, and an event
-- makes one queue wait for the other where it must.

local cl = require "clcompute"
local device = cl.device()
local other = device:queue()

local SOURCE = [[
  // Work for one work-item, so that a second one finds room beside it.
  kernel void steps(global float *x, int n) {
    float v = x[0];
    for (int i = 0; i < n; i++) v = v * 0.999f + 1.0f;
    x[0] = v;
  }
]]
local here, there = device:program(SOURCE).steps, other:program(SOURCE).steps
local a, b = device:zeros("float", 1), other:zeros("float", 1)
local n = tonumber(arg[1]) or 20000000

local function seconds(work)
  device:wait()
  other:wait()
  local start = cl.clock()
  work()
  device:wait()
  other:wait()
  return cl.clock() - start
end

seconds(function() here(1, a, 1) there(1, b, 1) end) -- the first launch compiles
local after = seconds(function() here(1, a, n) here(1, a, n) end)
local beside = seconds(function() here(1, a, n) there(1, b, n) end)
print(("one queue, one after the other: %.1f ms; two queues: %.1f ms"):format(after * 1e3, beside * 1e3))

-- b takes what a becomes: the copy waits for the kernel of the other queue.
a:fill(0)
here(1, a, n):before(other)
there(1, b:write(a), 1)
other:wait()
print(("in order: a = %.3f, b = one step further = %.3f"):format(a[1], b[1]))
assert(math.abs(b[1] - (a[1] * 0.999 + 1)) < 1e-3)
