-- SPDX-License-Identifier: MIT
--- Lesson 12: a sum by halves. A group adds its numbers in a tree: in each step half of the work-items that are left
-- add a partner's number. The halving form keeps the workers together, so that whole wavefronts go idle; the doubling
-- form spreads them out, so that every wavefront stays busy with ever fewer of its lanes (lesson 10).
--
-- It has another reason here: a loop that has a barrier and asks for the group's size in its condition is miscompiled
-- by POCL 3.1, Debian 12's driver for CPUs. The last kernel is such a one, to see whether this device is hit.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local device = cl.device()

local program = device:program [[
  kernel void halving(global const int *x, global int *out, local int *s) {
    const uint t = get_local_id(0), n = get_local_size(0);
    s[t] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = n / 2; k > 0; k /= 2) {
      if (t < k) s[t] += s[t + k];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = s[0];
  }

  kernel void doubling(global const int *x, global int *out, local int *s) {
    const uint t = get_local_id(0), n = get_local_size(0);
    s[t] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 1; k < n; k *= 2) {
      if ((t & (2 * k - 1)) == 0) s[t] += s[t + k];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = s[0];
  }
]]

-- The library knows such loops, and warns when it builds one for a driver that gets them wrong; Lua shows warnings only
-- where they are on: this, or lua5.4 -W.
warn "@on"
local trap = device:program [[
  kernel void trap(global const int *x, global int *out, local int *s) {
    const uint t = get_local_id(0);
    s[t] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 1; k < get_local_size(0); k *= 2) {
      if ((t & (2 * k - 1)) == 0) s[t] += s[t + k];
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = s[0];
  }
]]

print "who works, in a group of 16:    halving            doubling"
local k, step = 8, 1
while k > 0 do
  local left, right = {}, {}
  for t = 0, 15 do
    left[#left + 1] = t < k and "#" or "."
    right[#right + 1] = t % (2 * step) == 0 and "#" or "."
  end
  print(("%23d adds   %s   %s"):format(k, table.concat(left), table.concat(right)))
  k, step = k // 2, step * 2
end

local GROUP, n = 128, 1 << 19
local x, out = device:random("int", n, { seed = 1 }), device:empty("int", n // GROUP)
local sum = 0
for _, value in ipairs(x:read()) do sum = sum + value end

--- Two launches of a kernel leave n / 128 / 128 sums, which the host adds.
local function total(kernel)
  local again = device:empty("int", n // GROUP // GROUP)
  kernel({ global = n, group = GROUP }, x, out, cl.scratch("int", GROUP))
  kernel({ global = n // GROUP, group = GROUP }, out, again, cl.scratch("int", GROUP))
  local all = 0
  for _, value in ipairs(again:read()) do all = all + value end
  return all
end

local candidates = {}
for i, name in ipairs { "halving", "doubling" } do
  candidates[i] = { name = name, device = device, fn = function() return total(program[name]) end,
    check = function(result) return result == sum, ("%d, not %d"):format(result, sum) end }
end
local rows = bench.compare(candidates, { seconds = 0.3, peak = false })
for _, row in ipairs(rows) do
  if row.status ~= "ok" or not row.checked then error(row.reason) end
  row.ms = row.value * 1e3
end
print("\n" .. report.text({ title = ("The sum of %d numbers"):format(n), rows = rows, columns = { { key = "name" },
  { key = "ms", title = "time, ms" }, { key = "ratio", title = "time by halving's" } } }))

local ones, one = device:empty("int", GROUP):fill(1), device:empty("int", 1)
trap.trap({ global = GROUP, group = GROUP }, ones, one, cl.scratch("int", GROUP))
print(("%d ones sum to %d with the group's size in the loop's condition: %s"):format(GROUP, one[1],
  one[1] == GROUP and "right on this device" or "this driver miscompiles it; ask for the size before the loop"))
