-- SPDX-License-Identifier: MIT
--- Choosing elements by a condition, in order: cl.compact, and what cl.unique is made of.

local enqueue = require("clcompute.core.internal").enqueue
local condition = require "clcompute.arrays.condition"
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"

local macros, operands, translation = operations.macros, operations.operands, operations.translation

local choosing = {}

local COUNTED, KEPT = {}, {} -- where the kernels are at their place

-- By the kernel of a row of scans: that which keeps elements, and that which counts those of a chunk.
local KEEP = { scan_chunks = "compact_chunks", scan_groups = "compact_groups" }
local SUM_UP = { scan_chunks = "reduce_chunks", scan_groups = "reduce_groups" }

--- What both kernels have.
local function defines_of(c, row)
  local scalar = operands.value_type(operands.result_dtype(c.list))
  return macros.of(c.list, c.expression, row, operands.value_type, scalar)
end

local function build_count(where, c, device, row)
  local kernel, reduce_row = SUM_UP[row.kernel], enqueue.spread(device, "reduce", 1)
  local defines = defines_of(c, reduce_row)
  defines.EXPRESSION = ("(%s) != 0"):format(c.expression)
  defines.RESULT, defines.GROUP = c.count, row.group
  if reduce_row.kernel ~= kernel then defines.LANES = 1 end
  return macros.build(where, c.text, device, kernel, defines, c.preamble)
end

local function build_keep(where, c, device, row)
  local defines = defines_of(c, row)
  defines.RESULT, defines.COUNT, defines.KEPT = c.unsigned, c.count, c.kept
  defines.LANES = nil -- of a scan's vectors
  if c.source then defines.PARAMETERS = defines.PARAMETERS .. (" BUFFER(%s, clc_kept)"):format(c.unsigned) end
  return macros.build(where, c.text, device, KEEP[row.kernel], defines, c.preamble)
end

--- Keeps something of each element for which a condition holds; waits for their number.
-- @string where the function that was called
-- @tparam table c {text= the condition as messages have it, expression= as kernels have it, list= operands, first= the
-- first buffer of these, kept= what is kept of element i, source= buffer that is known there as mem_clc_kept, dtype=
-- of the result, spare= elements more that it shall have, preamble=}
-- @treturn Buffer of one dimension
-- @treturn int elements that are kept
function choosing.keep(where, c)
  local device, n = c.first.device, c.first.count
  if n == 0 then return device:empty(c.dtype, c.spare or 0), 0 end
  local row, items, workers, chunk = enqueue.spread(device, "scan", n)
  c.count, c.unsigned = elements.index_dtype(n), elements.unsigned(c.dtype)
  local place = macros.place(row, c.list, "keep", c.expression, c.count, c.kept, c.unsigned, c.preamble or "")
  if not place[KEPT] then
    place[COUNTED], place[KEPT] = build_count(where, c, device, row), build_keep(where, c, device, row)
  end
  local ends = enqueue.take(device, "ends", c.count, workers)
  local values = table.pack(operands.values(c.list))
  enqueue.launch(place[COUNTED], items, row.group, n, chunk, ends, 0, 0, table.unpack(values))
  operations.scan("a + b", ends, { out = ends })
  local total = ends:get(workers)
  local out = device:empty(c.dtype, total + (c.spare or 0))
  values[#values + 1] = c.source
  if total > 0 then
    enqueue.launch(place[KEPT], items, row.group, n, chunk, elements.of(out), ends, table.unpack(values))
  end
  enqueue.give(ends, "ends")
  return out, total
end

--- Of compact's arguments the condition as cl.map has it, its operands, and what is kept of.
local function read(x, mask)
  if type(x) == "string" then
    local c = condition.read("compact", x, mask)
    local source = c.given.x
    if type(source) ~= "userdata" then error("compact: a buffer 'x' expected among the operands", 0) end
    return c, operands.describe("compact", "operand 'x'", source)
  end
  local source = operands.describe("compact", "argument 1", x, "x")
  local described = operands.describe("compact", "argument 2", mask, "mask")
  if described.count ~= source.count then
    error(("compact: 'x' has %d elements, but 'mask' has %d"):format(source.count, described.count), 0)
  end
  if elements.is_narrow(source.dtype) and not elements.is_narrow(described.dtype) then
    error(("compact: cl.compact(x, mask) expected, got %s elements and a mask of %s; behind elements of one byte "
      .. "stands a mask of one byte, as cl.ne(mask, 0) is"):format(source.dtype, described.dtype), 0)
  end
  elements.check_device("compact", "argument 2", described, source.device)
  return { text = "mask[i] != 0", list = { described }, first = source }, source
end

function choosing.compact(x, mask)
  local c, source = read(x, mask)
  c.expression = translation.translate("compact", c.text, operands.kinds("compact", c.list))
  c.source, c.dtype, c.kept = elements.of(source.value), source.dtype, "mem_clc_kept[first_clc_kept + i]"
  return (choosing.keep("compact", c))
end

return choosing
