-- SPDX-License-Identifier: MIT
--- Choosing elements by a condition, in order: cl.compact, and what cl.unique is made of.

local enqueue = require("clcompute.core.internal").enqueue
local condition = require "clcompute.arrays.condition"
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"

local lookback, macros, operands = operations.lookback, operations.macros, operations.operands
local translation = operations.translation

local choosing = {}

local COUNTED, KEPT = {}, {} -- where the kernels are at their place

-- By the kernel that counts the elements of a chunk: that which keeps them.
local KEEP = { reduce_chunks = "compact_chunks", reduce_groups = "compact_groups" }

local FAULT = 1 << 40 -- in a count: an element that should not be there; more than there are elements
local WITH_FAULT = "((a | b) & FAULTul) | ((a & ~FAULTul) + (b & ~FAULTul))"

choosing.FAULT = FAULT

--- What both kernels have.
local function defines_of(c, row)
  local scalar = operands.value_type(operands.result_dtype(c.list))
  return macros.of(c.list, c.expression, row, operands.value_type, scalar)
end

local function build_count(where, c, device, row)
  local defines = defines_of(c, row)
  defines.EXPRESSION = c.counted or ("(%s) != 0"):format(c.expression)
  defines.OPERATION = c.counted and WITH_FAULT:gsub("FAULT", FAULT)
  defines.RESULT, defines.ONE_LAUNCH = c.count, row.one_launch
  if row.kernel == "reduce_groups" then defines.LANES = 1 end
  return macros.build(where, c.text, device, row.kernel, defines, c.preamble)
end

local function build_keep(where, c, device, row, name, more)
  local defines = defines_of(c, row)
  defines.RESULT, defines.KEPT, defines.LANES = c.unsigned, c.kept, nil
  if c.source then defines.PARAMETERS = defines.PARAMETERS .. (" BUFFER(%s, clc_kept)"):format(c.unsigned) end
  for key, value in pairs(more) do defines[key] = value end
  return macros.build(where, c.text, device, name, defines, c.preamble)
end

local function find_place(c, row)
  return macros.place(row, c.list, "keep", c.expression, c.count, c.kept, c.unsigned, c.preamble or "")
end

--- Queues the counts of the chunks, and what they add up to; waits for it.
local function count(kernel, row, items, workers, n, chunk, ends, device, values)
  if row.one_launch then
    local ended = operations.reduction.take_counters(device)
    local all = enqueue.take(device, "kept", ends.dtype, 1)
    enqueue.launch(kernel, items, row.group, n, chunk, all, 0, 0, ends, ended, table.unpack(values))
    local total = all:get(1)
    enqueue.give(all, "kept")
    operations.reduction.give_counters(ended)
    return total
  end
  enqueue.launch(kernel, items, row.group, n, chunk, ends, 0, 0, table.unpack(values))
  local counts = ends:view(1, workers)
  operations.scan("a + b", counts, { out = counts })
  return ends:get(workers)
end

local COPIED = 4 -- a result of less than one in so many elements does not hold the memory of all
local SPARED = 4 -- of the largest buffer the part that results may have which nobody counted

--- Whether one pass serves: the result has memory for all elements first.
local function is_one_pass(c, device, row, parts, n)
  return parts > 1 and not c.counted and n * operands.sizes[c.unsigned] <= device.max_allocation // SPARED
    and lookback.serves(device, row)
end

--- Keeps in one pass, whose tiles wait for those before them: in memory for all elements, as none are counted before.
local function keep_tiles(where, c, device, row, n, values)
  local place, size = find_place(c, row), operands.sizes[c.unsigned]
  if not place[KEPT] then
    local defines = lookback.defines(row, size)
    defines.VALUE = c.count
    place[KEPT] = build_keep(where, c, device, row, "compact_lookback", defines)
  end
  values[#values + 1] = c.source
  local all <close>, ends = device:empty(c.unsigned, n), enqueue.take(device, "kept", c.count, 1)
  lookback.launch(place[KEPT], device, row, size, n, all, ends, table.unpack(values))
  local total = ends:get(1)
  enqueue.give(ends, "kept")
  if total == 0 then return device:empty(c.dtype, 0) end
  local part <close> = all:view(1, total)
  local kept <close> = total * COPIED < n and part:copy() or part
  return kept:as(c.dtype)
end

--- Keeps something of each element for which a condition holds; waits for their number.
-- @string where the function that was called
-- @tparam table c {text= the condition as messages have it, expression= as kernels have it, list= operands, first= the
-- first buffer of these, kept= what is kept of element i, source= buffer that is known there as mem_clc_kept, dtype=
-- of the result, spare= elements more that it shall have, preamble=, counted= in place of the expression where elements
-- are counted, a ulong that may be FAULT}
-- @treturn ?Buffer of one dimension; nil where something was FAULT
-- @treturn int elements that are kept
function choosing.keep(where, c)
  local device, n = c.first.device, c.first.count
  if n == 0 then return device:empty(c.dtype, c.spare or 0), 0 end
  c.count, c.unsigned = c.counted and "ulong" or elements.index_dtype(n), elements.unsigned(c.dtype)
  local values = table.pack(operands.values(c.list))
  local tiles, _, parts = enqueue.spread(device, "scan", n)
  if is_one_pass(c, device, tiles, parts, n) then
    local out = keep_tiles(where, c, device, tiles, n, values)
    return out, #out
  end
  local row, items, workers, chunk = enqueue.spread(device, "reduce", n)
  local place = find_place(c, row)
  if not place[KEPT] then
    place[COUNTED], place[KEPT] = build_count(where, c, device, row), build_keep(where, c, device, row,
      KEEP[row.kernel], { COUNT = c.count, SUMMED = row.one_launch and 0 or nil })
  end
  local ends = enqueue.take(device, "ends", c.count, workers)
  local total = count(place[COUNTED], row, items, workers, n, chunk, ends, device, values)
  if total >= FAULT then
    enqueue.give(ends, "ends")
    return nil, total
  end
  local out = device:empty(c.dtype, total + (c.spare or 0))
  values[#values + 1] = c.source
  if total > 0 then
    local to <close> = elements.of(out)
    enqueue.launch(place[KEPT], items, row.group, n, chunk, to, ends, table.unpack(values))
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
  if type(mask) == "string" then
    error(("compact: the condition goes first: cl.compact(%q, x)"):format(mask), 0)
  end
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
  c.dtype = source.dtype
  local is_read = c.used and c.used.x and operands.value_type(c.dtype) == c.dtype -- for the condition
  if is_read then
    c.kept = ("as_%s(arg_x)"):format(elements.unsigned(c.dtype))
  else
    c.kept = "mem_clc_kept[first_clc_kept + i]"
  end
  local of <close> = not is_read and elements.of(source.value) or nil
  c.source = of
  return (choosing.keep("compact", c))
end

return choosing
