-- SPDX-License-Identifier: MIT

--- cl.map: an expression for every element.

local enqueue = require("clcompute.core.internal").enqueue
local translation = require "clcompute.operations.translation"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local preambles = require "clcompute.operations.preamble"

local OPTIONS = { out = "Buffer", dtype = "string", preamble = "string" }
local NONE = {}

--- Whether all memories begin where a vector of `lanes` elements may.
local function is_aligned(list, out, lanes)
  if out.first % lanes ~= 0 then return false end
  for _, operand in ipairs(list) do
    if operand.dtype and operand.first % lanes ~= 0 then return false end
  end
  return true
end

--- What depends on where the memory is and how it is used: elements at a time, and whether the result goes past the
-- caches.
local function variant(row, list, out, in_place)
  local size = operands.sizes[out.dtype]
  local streams = row.stream and out.count * size >= row.stream and out.first * size % 64 == 0 and not in_place
    and out.dtype ~= "half" or false
  return (row.granule > 0 or is_aligned(list, out, row.lanes)) and row.lanes or 1, streams
end

local function build(text, device, key, row, list, out, scalar, preamble, lanes, streams)
  local translated, used = translation.translate("map", text, operands.kinds("map", list), preamble)
  operands.check_used("map", text, list, used)
  local value, of_number = operands.value_type(out.dtype), operands.value_type(scalar)
  local before, element = macros.behind(preamble, value, translated, list, operands.value_type, of_number)
  local defines = macros.of(list, element, row, operands.value_type, of_number)
  defines.RESULT, defines.VALUE = out.dtype, value
  defines.HALF, defines.LANES, defines.STREAM = out.dtype == "half" and 1 or 0, lanes, streams and 1 or 0
  return macros.build("map", text, device, row, key, row.kernel, defines, before)
end

--- The kernel, from what is kept or built, and how many elements it does at a time.
local function find_kernel(text, device, row, list, out, scalar, preamble, in_place)
  local lanes, streams = variant(row, list, out, in_place)
  local key = ("%s\n%s\n%s %s %d %s"):format(text, macros.signature(list), out.dtype, scalar, lanes, streams)
  if preamble then key = ("%s\n%s"):format(key, preamble.text) end
  return row.kernels[key] or build(text, device, key, row, list, out, scalar, preamble, lanes, streams), lanes
end

local function map(text, given, o)
  if type(text) ~= "string" then translation.translate("map", text) end
  if type(given) ~= "table" then
    error("map: table of operands by their names expected, as { x = x, y = y }, got " .. operands.type_of(given), 0)
  end
  o = o and operands.check_options("map", o, OPTIONS) or NONE
  local target, wanted = operands.target("map", o)
  local list, first = operands.read("map", given, target)
  local scalar = operands.result_dtype(list, wanted)
  local out, in_place = operands.result("map", target, wanted or scalar, list, first)
  local device, n = first.device, out.count
  local row, items, _, chunk = enqueue.spread(device, "map", math.max(n, 1))
  local preamble = preambles.read("map", o.preamble)
  local kernel, lanes = find_kernel(text, device, row, list, out, scalar, preamble, in_place)
  if n > 0 and row.granule > 0 then
    enqueue.launch(kernel, items, row.group, n, chunk, out.value, operands.values(list))
  elseif n > 0 then
    enqueue.launch(kernel, -(-n // lanes), row.group, n, out.value, operands.values(list))
  end
  return out.value
end

return map
