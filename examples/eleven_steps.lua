-- SPDX-License-Identifier: MIT
--- The eleven steps of an OpenCL program (Borisov 2015, section 3), in Lua.

local cl = require "clcompute"

-- 1. what platforms and devices are there
for _, platform in ipairs(cl.platforms()) do
  print(platform.name, platform.version)
  for _, device in ipairs(platform.devices) do print("", device) end
end

-- 2. choose a device; 5. its context and command queue open when first used
local device = cl.device()

-- 3. a kernel from the text of a program (listing 1)
local program = device:program [[
  __kernel void kernel1(const float alpha, __global float *A, __global float *B,
                        __global float *C) {
    int idx = get_global_id(0);
    C[idx] = alpha * A[idx] + B[idx];
  }
]]

-- 4. memory on the device; 6. copy data from the host to it
local n = 1000
local a = device:random("float", n, { seed = 1 })
local b = device:random("float", n, { seed = 2 })
local c = device:empty("float", n)

-- 7. the kernel's arguments; 8. launch
local event = program.kernel1(n, 2.0, a, b, c)

-- 9. copy the result back (waits for the kernel)
local result = c:read()

-- 10. do something with it
local x, y = a:read(), b:read()
for i = 1, n do assert(math.abs(result[i] - (2.0 * x[i] + y[i])) < 1e-6) end
print(("%d elements are right; the launch took %.0f us, a driver's first compile included"):format(
  n, event.seconds * 1e6))

-- 11. release: the collector does it, or this, at once
device:close()
