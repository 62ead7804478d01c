-- SPDX-License-Identifier: MIT
--- Lesson 9: local memory is for what a group reads again (source 4, localMemoryExample). 64 work-items bring 64
-- numbers into the group's memory, and each multiplies its own with all that follow: a partial factorial. So every
-- number is fetched from global memory once, and read up to 64 times from local memory.
--
-- 64! is too large for a float; so the numbers are (j + 2) / (j + 1), of which the product from i on is 65 / (i + 1).

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local device = cl.device()

local program = device:program [[
  kernel void localMemoryExample(global const float *In, global float *Out) {
    local float localBuffer[64];
    uint tx = get_local_id(0);
    uint gx = get_global_id(0);

    // each work-item writes one element; together they write it all
    localBuffer[tx] = In[gx];

    // ensure that all have written
    barrier(CLK_LOCAL_MEM_FENCE);

    float f = localBuffer[tx];
    for (uint i = tx + 1; i < 64; i++) f *= localBuffer[i];
    Out[gx] = f;
  }

  // The same from global memory: no barrier, since nobody waits for anybody.
  kernel void fromGlobal(global const float *In, global float *Out) {
    uint tx = get_local_id(0);
    uint gx = get_global_id(0);
    float f = In[gx];
    for (uint i = tx + 1; i < 64; i++) f *= In[gx - tx + i];
    Out[gx] = f;
  }
]]

local GROUP, GROUPS = 64, 4096
local n = GROUP * GROUPS

local numbers = {}
for i = 0, GROUP - 1 do numbers[i + 1] = string.pack("f", (i + 2) / (i + 1)) end
local input = device:buffer(table.concat(numbers):rep(GROUPS), "float", n)
local output = device:empty("float", n)

--- The largest error as a share of its bound: 64 numbers are rounded, and 63 products.
local function check()
  local worst = 0
  for g = 1, n, 1024 * GROUP do
    for i, value in ipairs(output:read(g, g + GROUP - 1)) do
      local exact = 65 / i
      local share = math.abs(value - exact) / (exact * 128 * 2.0 ^ -24)
      if share ~= share then return share end
      worst = math.max(worst, share)
    end
  end
  return worst
end

local candidates = {}
for i, name in ipairs { "localMemoryExample", "fromGlobal" } do
  candidates[i] = { name = name, device = device, check = check,
    fn = function() program[name]({ global = n, group = GROUP }, input, output) end }
end
local rows = bench.compare(candidates, { seconds = 0.3, peak = false })
for _, row in ipairs(rows) do
  if row.status ~= "ok" or not row.checked then error(row.reason or row.name .. " is wrong") end
  row.ms = row.value * 1e3
end
print(("the first group: %.3f %.3f %.3f ... %.3f, where 65 / i is meant\n"):format(output[1], output[2], output[3],
  output[64]))
print(report.text({ rows = rows, columns = { { key = "name" }, { key = "ms", title = "time, ms" },
  { key = "max_error", title = "error by its bound" }, { key = "ratio", title = "time by the first's" } } }))
print(device.type == "cpu"
  and "A CPU has no local memory of its own: it is ordinary memory there, in the same caches as the rest."
  or "A GPU's local memory lies within the compute unit; caches serve the second kernel, as far as they reach.")
