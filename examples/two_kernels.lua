-- SPDX-License-Identifier: MIT
--- Two launches in a row, where the second needs what the first wrote (listing 5.6 of the chapter on
-- NDRange and work-groups): the queue runs them in order, so nothing has to be waited for in between.
--
-- Mended here: the listing gives its second launch `input` and `intermediate` again, so that `output`,
-- which the host reads, is never written; it takes `intermediate` and `output`, as the figure shows.
-- The kernel's first argument lacks its `__global` pointer. And work_group_barrier() is of OpenCL C 2.0;
-- barrier() is the same and exists in every version.

local cl = require "clcompute"
local device = cl.device()

local program = device:program [[
  // Each work-item adds to its number the next one of its work-group, the last the first.
  kernel void simpleKernel(global const float *a, global float *b, local float *localbuf) {
    // cache data in local memory
    localbuf[get_local_id(0)] = a[get_global_id(0)];

    // wait until all work-items have read the data and it becomes visible
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint other = (get_local_id(0) + 1) % get_local_size(0);
    b[get_global_id(0)] = localbuf[get_local_id(0)] + localbuf[other];
  }
]]

local n, group = 32, 8
local numbers = {}
for i = 1, n do numbers[i] = i end

local input = device:buffer(numbers)
local intermediate = device:empty("float", n)
local output = device:empty("float", n)
local range = { global = n, group = group }

program.simpleKernel(range, input, intermediate, cl.scratch("float", group))
program.simpleKernel(range, intermediate, output, cl.scratch("float", group))

--- The same in Lua.
local function step(a)
  local b = {}
  for i = 0, n - 1 do
    local first = i - i % group
    b[i + 1] = a[i + 1] + a[first + (i + 1 - first) % group + 1]
  end
  return b
end

local expected = step(step(numbers))
for i, v in ipairs(output:read()) do
  assert(v == expected[i], ("element %d is %g, not %g"):format(i, v, expected[i]))
end
print("output: " .. table.concat(output:read(1, group), " ") .. " ...")
print(("%d numbers, two dependent launches: right"):format(n))
