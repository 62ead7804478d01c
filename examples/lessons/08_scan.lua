-- SPDX-License-Identifier: MIT
--- Lesson 8: reductions and scans within a group (source 3, 5.3.6). The inclusive scan gives each work-item the sum of
-- all up to its own number, the exclusive one that of all before. A scan of a whole array is made of three launches.
--
-- Mended here: source 3 says that for want of an order these functions are not for floating-point numbers. They are;
-- the order is the device's own, so the last digits may differ from device to device.

local cl = require "clcompute"
local device = cl.device()

local program = device:program [[
  #include <clcompute/work_group.h>

  kernel void scan_groups(global const int *x, global int *sums, global int *totals) {
    const int i = get_global_id(0);
    int s = work_group_scan_inclusive_add(x[i]);
    int total = work_group_reduce_add(x[i]);
    sums[i] = s;
    if (get_local_id(0) == 0) totals[get_group_id(0)] = total;
  }

  kernel void scan_totals(global int *totals) {
    const int i = get_global_id(0);
    int before = work_group_scan_exclusive_add(totals[i]);
    totals[i] = before;
  }

  kernel void add_totals(global int *sums, global const int *totals) {
    sums[get_global_id(0)] += totals[get_group_id(0)];
  }

  kernel void sum_floats(global const float *x, global float *sums) {
    float s = work_group_reduce_add(x[get_global_id(0)]);
    if (get_local_id(0) == 0) sums[get_group_id(0)] = s;
  }
]]

-- One group of 8, to look at.
local x = device:buffer({ 3, 1, 4, 1, 5, 9, 2, 6 }, "int")
local sums, total = device:empty("int", 8), device:empty("int", 1)
program.scan_groups({ global = 8, group = 8 }, x, sums, total)
print("x:              " .. table.concat(x:read(), " "))
print("inclusive scan: " .. table.concat(sums:read(), " "))

-- 64 groups of 64: each group by itself, then their totals, then every element gets what stands before its group.
local group, groups = 64, 64
local n = group * groups
local numbers = device:random("int", n, { seed = 1 })
local result, totals = device:empty("int", n), device:empty("int", groups)
program.scan_groups({ global = n, group = group }, numbers, result, totals)
program.scan_totals({ global = groups, group = groups }, totals)
program.add_totals({ global = n, group = group }, result, totals)

local running, values = 0, numbers:read()
for i, value in ipairs(result:read()) do
  running = running + values[i]
  assert(value == running, ("element %d is %d, not %d"):format(i, value, running))
end
print(("%d numbers scanned in three launches; the last sum is %d: right"):format(n, running))

-- Floats: the group's own order, a loop upwards and one downwards, each with its own rounding errors.
local floats, sum = device:random("float", group, { seed = 2 }), device:empty("float", 1)
program.sum_floats({ global = group, group = group }, floats, sum)
local function to_float(value) return (string.unpack("f", string.pack("f", value))) end
local list = floats:read()
local exact, up, down = 0.0, 0.0, 0.0
for i, value in ipairs(list) do
  exact = exact + value -- in double precision
  up, down = to_float(up + value), to_float(down + list[#list + 1 - i])
end
print(("%d floats: group %.9g, upwards %.9g, downwards %.9g, exact %.9g"):format(group, sum[1], up, down, exact))
local bound = (group - 1) * 2.0 ^ -24 * exact -- of any order of adding positive numbers
for _, value in ipairs { sum[1], up, down } do assert(math.abs(value - exact) <= bound, "beyond its bound") end
assert(up ~= down)
