-- SPDX-License-Identifier: MIT
--- Radix sorts: stable passes over the digits of keys, from the lowest one. The device finds out which passes are
-- needed, so nothing waits.

local enqueue = require("clcompute.core.internal").enqueue
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"

local operands = operations.operands

local radix = {}

local KINDS = { char = 1, short = 1, int = 1, long = 1, half = 2, float = 2, double = 2 } -- others are unsigned
local INFINITY = { half = "0x7c00", float = "0x7f800000u", double = "0x7ff0000000000000ul" }

--- The macros of kernels/clcompute/sort.h that tell keys of a dtype.
function radix.key_defines(dtype, descending)
  return { KEY = elements.unsigned(dtype), KIND = KINDS[dtype] or 0, SPECIAL = INFINITY[dtype],
    DESCENDING = descending and 1 or 0 }
end

-- Bytes of local memory besides the elements of a tile, where a work-item counts digits of its own, and where a warp
-- does.
local COUNTS = {
  sort_move_groups = function(row) return (2 * row.group + 8) * ((1 << row.bits) + 2) + 4 * row.group + 64 end,
  sort_move_warps = function(row) return (row.group // 16 + 16 << row.bits) + 4 * row.group + 64 end,
}

--- Elements of a work-item of a GPU: as many as its local memory lets it have of so many bytes.
local function share_of(row, device, bytes)
  if not row.share then return nil end
  local room = device.local_memory - COUNTS[row.kernel](row)
  return math.max(1, math.min(row.share, room // (row.group * bytes)))
end

--- What is sorted: buffers as kernels have them, and of each kernel what tells its builds apart.
local function describe(x, out, o, row, streams)
  local dtype, n, _, device = enqueue.facts(x)
  local carried = o.along and 1 or o.along_out and 2 or 0
  local carry = o.along_out and elements.unsigned((enqueue.facts(o.along_out)))
  local defines = radix.key_defines(dtype, o.descending)
  defines.BITS, defines.COUNT, defines.GROUP = row.bits, elements.index_dtype(n), row.group
  defines.CARRIED, defines.CARRY, defines.STREAM = carried, carry, streams and 1 or 0
  local size, carried_size = operands.sizes[dtype], carry and operands.sizes[carry] or 0
  local by_turns = row.kernel == "sort_move_warps" -- keys and what they carry have the same memory
  defines.SHARE = share_of(row, device, by_turns and math.max(size, carried_size) or size + carried_size)
  local of_bits = ("%s %s"):format(dtype, o.descending)
  local of_counts = ("%s %s"):format(of_bits, defines.COUNT)
  local of_moves = ("%s %d %s %s"):format(of_counts, carried, carry, streams)
  return { defines = defines, size = size, carry = carry, in_place = o.in_place and 1 or 0,
    keys = { sort_bits = of_bits, sort_count = of_counts, sort_finish = of_moves, [row.kernel] = of_moves },
    x = elements.of(x), out = elements.of(out), along = o.along and elements.of(o.along),
    along_out = o.along_out and elements.of(o.along_out) }
end

--- The buffers of elements, and of what they carry.
local function arguments(s, spare, along_spare)
  if s.along then return s.x, s.out, spare, s.along, s.along_out, along_spare end
  if s.along_out then return s.x, s.out, spare, s.along_out, along_spare end
  return s.x, s.out, spare
end

--- Queues the scan of the counts of all chunks, digit by digit.
local function find_starts(device, s, row, starts, chunks)
  if row.kernel == "sort_move_warps" then
    local kernel = elements.kernel(device, row, "sort_starts", s.defines.COUNT, { COUNT = s.defines.COUNT,
      BITS = row.bits, GROUP = row.group })
    return enqueue.launch(kernel, row.group << row.bits, row.group, chunks, starts)
  end
  local counts <close> = starts:view(1, chunks << row.bits)
  operations.scan("a + b", counts, { exclusive = true, out = counts })
end

local function queue(device, s, n, row, items, workers, chunk)
  local function launch(name, ...)
    local kernel = elements.kernel(device, row, name, s.keys[name], s.defines)
    enqueue.launch(kernel, items, row.group, n, chunk, ...)
  end
  local count, key = s.defines.COUNT, s.defines.KEY
  local passes = enqueue.take(device, "sort passes", "uint", 1)
  local starts = enqueue.take(device, "sort starts", count, workers + 1 << row.bits)
  local spare = enqueue.take(device, "sort spare", key, n)
  local along_spare = s.along_out and enqueue.take(device, "sort carried", s.carry, n)
  passes:fill(0)
  launch("sort_bits", s.x, passes)
  for pass = 0, (8 * s.size - 1) // row.bits do
    launch("sort_count", s.in_place, pass, passes, starts, s.x, s.out, spare)
    find_starts(device, s, row, starts, workers)
    launch(row.kernel, s.in_place, pass, passes, starts, arguments(s, spare, along_spare))
  end
  launch("sort_finish", s.in_place, passes, arguments(s, spare, along_spare))
  enqueue.give(passes, "sort passes")
  enqueue.give(starts, "sort starts")
  enqueue.give(spare, "sort spare")
  if along_spare then enqueue.give(along_spare, "sort carried") end
end

--- Queues a stable sort of x into `out`, which may be x.
-- @tparam Buffer x of n > 0 elements
-- @tparam Buffer out of its dtype and size
-- @tparam table o {descending=, in_place= whether out is x, along= what moves along into along_out=; along_out alone
-- gets the elements' indices, from 1}
function radix.sort(x, out, o)
  local dtype, n, _, device = enqueue.facts(x)
  local row, items, workers, chunk = enqueue.spread(device, "sort", n)
  local streams = row.stream and n * operands.sizes[dtype] >= row.stream
  local s = describe(x, out, o, row, streams)
  queue(device, s, n, row, items, workers, chunk)
  for _, view in ipairs { s.x, s.out, s.along_out, s.along } do view:release() end
end

return radix
