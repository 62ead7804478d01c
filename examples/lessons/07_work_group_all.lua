-- SPDX-License-Identifier: MIT
--- Lesson 7: what a whole group finds out (source 3, listing 5.7). work_group_all is true for every work-item of a
-- group when the condition holds for all of them, work_group_any when it does for one. The include offers them on
-- every device, also where OpenCL C has none.
--
-- Mended here: the listing reads input[tid + 1], which for the last work-item lies behind the array; so the input has
-- one element more than there are work-items. Its arguments lost their asterisks and their `global`.

local cl = require "clcompute"
local device = cl.device()

local program = device:program [[
  #include <clcompute/work_group.h>

  kernel void compare_elements(global const int *input, global int *output) {
    int tid = get_global_id(0);
    int result = work_group_all(input[tid] > input[tid + 1]);
    output[tid] = result;
  }

  kernel void compare_any(global const int *input, global int *output) {
    int tid = get_global_id(0);
    int result = work_group_any(input[tid] > input[tid + 1]);
    output[tid] = result;
  }
]]

-- Three groups of 8: falling throughout, falling but for one step, rising throughout.
local group, n = 8, 24
local numbers = { 90 }
for i = 1, n do
  local falls = i <= group or i <= 2 * group and i ~= 12
  numbers[i + 1] = numbers[i] + (falls and -1 or 1)
end

--- For each group, how many of its items see their neighbour smaller.
local function smaller()
  local count = {}
  for i = 1, n do
    local g = (i - 1) // group + 1
    count[g] = (count[g] or 0) + (numbers[i] > numbers[i + 1] and 1 or 0)
  end
  return count
end

local input = device:buffer(numbers, "int")
local all, any = device:empty("int", n), device:empty("int", n)
program.compare_elements({ global = n, group = group }, input, all)
program.compare_any({ global = n, group = group }, input, any)

-- The standard promises "not zero" for true, which need not be 1.
local all_of, any_of, count = all:read(), any:read(), smaller()
for i = 1, n do
  local g = (i - 1) // group + 1
  assert((all_of[i] ~= 0) == (count[g] == group), "wrong all")
  assert((any_of[i] ~= 0) == (count[g] > 0), "wrong any")
end
for g, falling in ipairs(count) do
  local first = (g - 1) * group + 1
  print(("group %d: %d of %d fall: all %s, any %s"):format(g, falling, group, all_of[first] ~= 0, any_of[first] ~= 0))
end
