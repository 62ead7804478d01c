-- SPDX-License-Identifier: MIT

--- Reads of a small table by every work-item of a group: what the experiments with local memory measure.

local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format

local TableReads = {}
TableReads.__index = TableReads

local GROUP, QUICK_GROUP = 256, 16
local BYTES, QUICK_BYTES = 32768, 512
local STEP = 5          -- entries from one read to the next
local LEAST = 4         -- steps of UNROLL reads
local MOST = 1 << 17    -- up to there the sums are exact as floats, also of CPU_SUMS reads a step
local UNROLL = 8
local CPU_SUMS = 32     -- of floats: a core has no other work-items to hide the latency of an addition with

-- What is read at once: that of buffers and how many of its elements, all its bytes, and the type of its sum.
local TYPES = {
  float = { dtype = "float", parts = 1, bytes = 4, sum = "float" },
  float2 = { dtype = "float", parts = 2, bytes = 8, sum = "float2" },
  float4 = { dtype = "float", parts = 4, bytes = 16, sum = "float4" },
  uchar = { dtype = "uchar", parts = 1, bytes = 1, sum = "int" },
  short = { dtype = "short", parts = 1, bytes = 2, sum = "int" },
}

local SPACES = { ["local"] = 0, global = 1, registers = 2, constant = 3 }

--- Bytes of a table: a power of two that leaves room in local memory.
local function table_bytes(lab)
  local bytes = lab:choose(BYTES, QUICK_BYTES)
  while 3 * bytes // 2 > lab.device.local_memory do bytes = bytes // 2 end
  return bytes
end

local function group_of(lab)
  return math.min(lab:choose(GROUP, QUICK_GROUP), lab.device.max_group_size)
end

--- How reads are measured, in words.
-- @tparam table lab
-- @treturn string
function TableReads.how(lab)
  local group = group_of(lab)
  return ("%s add up entries of a table of %s, several neighbouring ones at a time."):format(
    curve.items_text(lab:items(group), group), format.size(table_bytes(lab)))
end

--- Random numbers from 0 to 3.
local function random_values(count)
  local values, state = {}, 1
  for i = 1, count do
    state = state * 6364136223846793005 + 1442695040888963407
    values[i] = state >> 62
  end
  return values
end

--- Of one part of an element, the sums of `unroll` elements from each entry on; from 0.
local function window_sums(values, part, parts, entries, unroll)
  local sums, sum = {}, 0
  for i = 0, unroll - 1 do sum = sum + values[i * parts + part] end
  for i = 0, entries - 1 do
    sums[i] = sum
    sum = sum - values[i * parts + part] + values[(i + unroll) * parts + part]
  end
  return sums
end

--- Reads of a type from a place.
-- @tparam table lab
-- @tparam string type "float", "float2", "float4", "uchar" or "short"
-- @tparam string space "local", "global" (through the caches), "constant" or "registers" (floating types)
-- @treturn table
function TableReads.new(lab, type, space)
  local device, kind, group = lab.device, TYPES[type], group_of(lab)
  local unroll = device.type == "cpu" and not lab.quick and math.max(UNROLL, CPU_SUMS // kind.parts) or UNROLL
  local entries = table_bytes(lab) // kind.bytes
  local items = lab:items(group)
  local self = setmetatable({
    lab = lab, kind = kind, space = space, group = group, items = items, entries = entries, unroll = unroll,
    range = { global = { items }, group = { group } }, n = 1,
    values = random_values((entries + unroll) * kind.parts),
    kernel = lab:kernel("probe_reads", { TYPE = type, SUM = kind.sum, SPACE = SPACES[space], ENTRIES = entries,
      UNROLL = unroll, GROUP = group }),
  }, TableReads)
  self.from = device:buffer(self.values, kind.dtype)
  self.out = device:empty(kind.sum == "int" and "int" or "float", items * kind.parts)
  self.sums = {}
  for part = 1, kind.parts do self.sums[part] = window_sums(self.values, part, kind.parts, entries, unroll) end
  return self
end

function TableReads:__close()
  self.from:release()
  self.out:release()
end

--- Queues a launch.
-- @tparam integer stride elements between the reads of neighbouring work-items
-- @treturn Event
function TableReads:launch(stride)
  return self.kernel(self.range, self.n, stride, STEP, self.from, self.out)
end

--- Makes launches with stride 1 long enough to be timed, by their number of reads.
function TableReads:fit_size()
  self.n = self.lab:size(LEAST, MOST, function(n)
    self.n = n
    self:launch(1)
  end)
end

--- What a part of the sum of a work-item is.
-- @tparam integer item in its group, from 0
-- @tparam integer stride
-- @tparam integer part from 1
function TableReads:expected(item, stride, part)
  local sums, mask, at = self.sums[part], self.entries - 1, item * stride
  if self.space == "registers" then return self.n * sums[at & mask] end
  local sum = 0
  for _ = 1, self.n do
    sum = sum + sums[at & mask]
    at = at + STEP
  end
  return sum
end

--- Whether the last launch had the right sums, of some work-items of the first and the last group.
function TableReads:check(stride)
  local parts, group = self.kind.parts, self.group
  for _, item in ipairs { 0, group // 3, group // 2, group - 1 } do
    for part = 1, parts do
      local right = self:expected(item, stride, part)
      for _, first in ipairs { 0, self.items - group } do
        local found = self.out:get((first + item) * parts + part)
        if found ~= right then
          return false, ("part %d of work-item %d is %s, not %s"):format(part, first + item, found, right)
        end
      end
    end
  end
  return true
end

--- The bytes that a launch reads.
function TableReads:bytes()
  return self.items * self.n * self.unroll * self.kind.bytes
end

--- Measures a row.
-- @tparam string name
-- @tparam table params
-- @tparam integer stride
-- @treturn table the row; `each` is the time of a read, of all work-items together
function TableReads:row(name, params, stride)
  self.out:fill(0) -- no sum of an earlier row passes for one of this
  return self.lab:time {
    name = name, params = params, bytes = self:bytes(), operations = self.items * self.n * self.unroll,
    launch = function() return self:launch(stride) end, check = function() return self:check(stride) end,
  }
end

return TableReads
