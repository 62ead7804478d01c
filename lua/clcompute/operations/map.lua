-- SPDX-License-Identifier: MIT

--- cl.map: an expression for every element.

local enqueue = require("clcompute.core.internal").enqueue
local translation = require "clcompute.operations.translation"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local preambles = require "clcompute.operations.preamble"

local map = {}

local OPTIONS = { out = "Buffer", dtype = "string", preamble = "string" }
local NONE = {}
local KERNEL = {} -- where it is at its place

--- What depends on where the memory is and how it is used: elements at a time, and whether the result goes past the
-- caches.
local function variant(row, list, out, in_place)
  local size = operands.sizes[out.dtype]
  local streams = row.stream and out.count * size >= row.stream and out.first * size % 64 == 0 and not in_place
    and out.dtype ~= "half" or false
  local fits = row.granule > 0 or out.first % row.lanes == 0 and macros.is_aligned(list, row.lanes)
  return fits and row.lanes or 1, streams
end

--- The expression as kernels have it, and what stands before them.
local function translate(where, text, list, out, scalar, preamble)
  local translated, used = translation.translate(where, text, operands.kinds(where, list), preamble)
  operands.check_used(where, text, list, used)
  local before, element = macros.behind(preamble, operands.value_type(out.dtype), translated, list,
    operands.value_type, operands.value_type(scalar))
  return element, before
end

local function build(where, text, device, row, list, out, scalar, element, before, lanes, streams, operators)
  local defines = macros.of(list, element, row, operands.value_type, operands.value_type(scalar))
  defines.RESULT, defines.VALUE = out.dtype, operands.value_type(out.dtype)
  defines.HALF, defines.LANES, defines.STREAM = out.dtype == "half" and 1 or 0, lanes, streams and 1 or 0
  defines.OPERATORS = operators
  return macros.build(where, text, device, row.kernel, defines, before)
end

local function launch(kernel, row, items, chunk, lanes, list, out)
  local n = out.count
  if n > 0 and row.granule > 0 then
    enqueue.launch(kernel, items, row.group, n, chunk, out.value, operands.values(list))
  elseif n > 0 then
    enqueue.launch(kernel, -(-n // lanes), row.group, n, out.value, operands.values(list))
  end
end

--- Computes an expression that is right as it stands, of operands that are not written.
-- @string text of arg_<name> for each operand
-- @tparam table list operands; numbers with their `type`
-- @tparam table out the buffer for the result, described
function map.compute(text, list, out)
  local row, items, _, chunk = enqueue.spread(out.device, "map", out.count)
  local lanes, streams = variant(row, list, out, false)
  local place = macros.place(row, list, "ours", text, out.dtype, lanes, streams)
  if not place[KERNEL] then
    place[KERNEL] = build("map", text, out.device, row, list, out, out.dtype, text, nil, lanes, streams, 1)
  end
  launch(place[KERNEL], row, items, chunk, lanes, list, out)
end

local INT_MAX = (1 << 31) - 1

--- The dtype of a result that is one of the choices, buffers or numbers; of these each has that type.
-- @tparam table list operands
-- @tparam table choices names
-- @tparam ?string wanted
local function dtype_of_choices(list, choices, wanted)
  local chosen, has_buffer, is_long = {}, false, false
  for _, operand in ipairs(list) do
    if choices[operand.name] then
      chosen[#chosen + 1] = operand
      has_buffer = has_buffer or operand.dtype ~= nil
      is_long = is_long or operand.kind == "integer" and (operand.value > INT_MAX or operand.value < -INT_MAX - 1)
    end
  end
  local of_numbers = not has_buffer and (is_long and "long" or "int") or nil
  local dtype = wanted or operands.result_dtype(chosen, of_numbers)
  for _, operand in ipairs(chosen) do
    if not operand.dtype then operand.type = operands.value_type(dtype) end
  end
  return dtype
end

--- cl.map; what it raises begins with the name of the function that was called. Of operands that are `choices`, by
-- their names, the result is one: the others do not count for its dtype.
function map.all(where, text, given, o, choices)
  if type(text) ~= "string" then translation.translate(where, text) end
  if type(given) ~= "table" then
    error(("%s: table of operands by their names expected, as { x = x, y = y }, got %s"):format(where,
      operands.type_of(given)), 0)
  end
  o = o and operands.check_options(where, o, OPTIONS) or NONE
  local target, wanted = operands.target(where, o)
  local list, first = operands.read(where, given, target)
  local scalar = operands.result_dtype(list, wanted)
  local dtype = choices and dtype_of_choices(list, choices, wanted) or wanted or scalar
  local out, in_place = operands.result(where, target, dtype, list, first)
  local row, items, _, chunk = enqueue.spread(first.device, "map", math.max(out.count, 1))
  local preamble = preambles.read(where, o.preamble)
  local lanes, streams = variant(row, list, out, in_place)
  local place = macros.place(row, list, text, out.dtype, scalar, lanes, streams, preamble and preamble.text or "")
  if not place[KERNEL] then
    local element, before = translate(where, text, list, out, scalar, preamble)
    place[KERNEL] = build(where, text, first.device, row, list, out, scalar, element, before, lanes, streams)
  end
  launch(place[KERNEL], row, items, chunk, lanes, list, out)
  return out.value
end

function map.map(text, given, o)
  return map.all("map", text, given, o)
end

return map
