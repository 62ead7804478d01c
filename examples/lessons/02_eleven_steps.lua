-- SPDX-License-Identifier: MIT
--- Lesson 2: the eleven steps of an OpenCL program (source 1, section 3), with its first listing. In C each step is
-- the calls that stand beside it; here some are one line, and two are nobody's business.

local cl = require "clcompute"

-- 1. What platforms and devices are there: clGetPlatformIDs, clGetPlatformInfo, clGetDeviceIDs, clGetDeviceInfo
print(("1. platforms: %d, devices: %d"):format(#cl.platforms(), #cl.devices()))

-- 2. Choose a device, make a context for it: clCreateContext, when the device is first used
local device = cl.device()
print("2. the device is " .. device.name)

-- 3. A kernel from text: clCreateProgramWithSource, clBuildProgram, clCreateKernel (listing 1)
local program = device:program [[
  __kernel void kernel1(const float alpha, __global float *A, __global float *B,
                        __global float *C) {
    int idx = get_global_id(0);
    C[idx] = alpha * A[idx] + B[idx];
  }
]]
print("3. built; its kernels: " .. table.concat(program.kernels, ", "))

-- 4. Memory on the device: clCreateBuffer. 5. A queue: clCreateCommandQueue, when the device is first used.
-- 6. Data from host to device: clEnqueueWriteBuffer
local n, alpha = 1000, 2.0
local x, y = {}, {}
for i = 1, n do x[i], y[i] = i, n - i end
local a, b, c = device:buffer(x), device:buffer(y), device:empty("float", n)
print(("4-6. three buffers of %d bytes, two of them written"):format(a.bytes))

device:timing(true) -- the queue notes when each launch began and ended

-- 7. The kernel's arguments: clSetKernelArg. 8. Launch: clEnqueueNDRangeKernel. It is queued, not yet done.
local event = program.kernel1(n, alpha, a, b, c)
print("7-8. launched; its status is " .. event.status)

-- 9. The result back to the host: clEnqueueReadBuffer. That waits for the kernel, which the queue has before it.
local result = c:read()
local again = program.kernel1(n, alpha, a, b, c)
print(("9. read; the launch took %.0f us, the same again %.0f us"):format(event.seconds * 1e6, again.seconds * 1e6))

-- 10. Do something with it. The numbers are small integers, so that nothing is rounded.
for i = 1, n do assert(result[i] == alpha * x[i] + y[i], "wrong element") end
print(("10. all %d elements are right"):format(n))

-- 11. Release: clReleaseMemObject, clReleaseKernel ... The collector does it, or this, at once.
device:close()
print("11. released; buffers alive: " .. cl.live().buffer)
