-- SPDX-License-Identifier: MIT
-- Faults that kernels have noted while the host goes on.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

describe("faults of kernels", function()
  local device = helper.device()

  it("are raised before what Lua comes to behind the kernel, and leave nothing of it to the next call", function()
    local compiled = assert(loops.compile([[function(x, y, k, n)
      for i = 1, n do x[i] = 10 // y[i] end
      k[1] = 1 % k[2]
    end]], { device = device, force = true }))
    local function call(divisor, other)
      local y, k = device:full("long", 2, 9), device:full("long", 2, 3)
      y:set(4, divisor)
      k:set(2, other)
      return select(2, pcall(compiled, device:zeros("long", 9), y, k, 9))
    end
    assert.matches("line 2: attempt to divide by zero", call(0, 0))
    assert.is_nil(call(2, 2))
    assert.matches("n%%+0", call(2, 0))
    assert.matches("line 2: attempt to divide by zero", call(0, 2))
    assert.is_nil(call(2, 2))
  end)

  it("end a loop of the host whose end a kernel that met one no longer reaches", function()
    local compiled = assert(loops.compile([[function(x, y, n)
      while x[1] > 0 do for i = 1, n do x[i] = x[i] - 10 // y[i] end end
    end]], { device = device, force = true }))
    local y = device:full("long", 2, 50)
    y:set(50, 0)
    assert.matches("line 2: attempt to divide by zero", select(2, pcall(compiled, device:full("long", 40, 50), y, 50)))
    y:set(50, 2)
    assert.is_true(pcall(compiled, device:full("long", 40, 50), y, 50))
  end)

  it("are found in steps that data tell on GPUs, too", function()
    local compiled = assert(loops.compile([[function(x, y, n, s)
      for i = 1, n do local t = 0.0; for j = 1, n, s do t = t + x[j] end; y[i] = t end
    end]], { device = device, force = true, target = "gpu" }))
    local x, y = device:full("float", 1, 20), device:zeros("float", 20)
    compiled(x, y, 20, 2)
    assert.equal(10, y[20])
    assert.matches("step", select(2, pcall(compiled, x, y, 20, 0)))
  end)
end)
