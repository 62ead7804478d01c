-- SPDX-License-Identifier: MIT

--- Reads of a small table by every work-item of a group: what the experiments with local memory measure.
-- @module clcompute.device_profile.table_reads

local table_reads = {}

local GROUP, QUICK_GROUP = 256, 16
local BYTES, QUICK_BYTES = 32768, 512
local MOST = 1 << 17 -- steps: the sums of the largest type are exact as floats up to there
local HIGHEST = 3    -- of the values
local SPACES = { ["local"] = 0, global = 1, registers = 2 }
local CHECKED = 4 -- work-items of a group

--- What is read at once: the type in a kernel, that of a buffer and how many of its elements, bytes, and the type of
-- the sums.
table_reads.TYPES = {
  float = { name = "float", dtype = "float", parts = 1, bytes = 4, sum = "float" },
  float2 = { name = "float2", dtype = "float", parts = 2, bytes = 8, sum = "float" },
  float4 = { name = "float4", dtype = "float", parts = 4, bytes = 16, sum = "float" },
  uchar = { name = "uchar", dtype = "uchar", parts = 1, bytes = 1, sum = "int" },
  short = { name = "short", dtype = "short", parts = 1, bytes = 2, sum = "int" },
}

--- Bytes of a table: a power of two that leaves room in local memory.
local function table_bytes(lab)
  local bytes = lab:choose(BYTES, QUICK_BYTES)
  while 3 * bytes // 2 > lab.device.local_memory do bytes = bytes // 2 end
  return bytes
end

--- Small random integers. With those at the end that a read at the last entry goes on to.
local function values_of(count)
  local values, state = {}, 1
  for i = 1, count do
    state = (state * 6364136223846793005 + 1442695040888963407)
    values[i] = state >> 62
  end
  assert(HIGHEST == 3)
  return values
end

--- Sums, of each part, of `unroll` entries from each entry on.
local function windows_of(values, entries, unroll, parts)
  local windows = {}
  for part = 1, parts do
    local sums, sum = {}, 0
    for i = 0, unroll - 1 do sum = sum + values[i * parts + part] end
    for i = 0, entries - 1 do
      sums[i] = sum
      sum = sum - values[i * parts + part] + values[(i + unroll) * parts + part] 
    end
    windows[part] = sums
  end
  return windows
end
