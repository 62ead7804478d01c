-- SPDX-License-Identifier: MIT
--- Lesson 6: barrier and local memory (source 3, listing 5.6). 32 work-items in groups of 8; each puts its number into
-- the group's local memory, waits for the others, and adds its neighbour's. Two launches in a row; the queue runs them
-- in order, so the second finds all that the first wrote.
--
-- Mended here: the listing gives its second launch `input` and `intermediate` again, so that `output`,
-- which the host reads, is never written; it takes `intermediate` and `output`, as the figure shows.
-- The kernel's first arguments lost their asterisks. And work_group_barrier() is of OpenCL C 2.0;
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
local output = device:zeros("float", n)
local range = { global = n, group = group }

--- The same in Lua.
local function step(a)
  local b = {}
  for i = 0, n - 1 do
    local first = i - i % group
    b[i + 1] = a[i + 1] + a[first + (i + 1 - first) % group + 1]
  end
  return b
end

local function check(buffer, expected)
  for i, v in ipairs(buffer:read()) do
    assert(v == expected[i], ("element %d is %g, not %g"):format(i, v, expected[i]))
  end
end

local function show(name, buffer)
  print(("%-13s %s ..."):format(name .. ":", table.concat(buffer:read(1, group + 1), " ")))
end

-- As the listing has it: the second launch repeats the first.
for _ = 1, 2 do program.simpleKernel(range, input, intermediate, cl.scratch("float", group)) end
for _, v in ipairs(output:read()) do assert(v == 0) end
print "as printed, the two launches never touch output: it is all zeros"

-- As it is meant.
program.simpleKernel(range, input, intermediate, cl.scratch("float", group))
program.simpleKernel(range, intermediate, output, cl.scratch("float", group))
check(intermediate, step(numbers))
check(output, step(step(numbers)))
show("input", input)
show("intermediate", intermediate)
show("output", output)
print(("the 8th adds the 1st of its own group, not the 9th: %g = %g + %g"):format(intermediate[8], input[8], input[1]))
print(("%d numbers, two dependent launches: right"):format(n))
