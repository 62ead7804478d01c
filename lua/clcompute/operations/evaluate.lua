-- SPDX-License-Identifier: MIT

--- What operators make of buffers, as a + b: csrc/buffer/term.c asks here for the elements, once something needs
-- them.

local enqueue = require("clcompute.core.internal").enqueue
local macros = require "clcompute.operations.macros"
local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"

local LONGEST = 16384 -- elements of a row that one work-item of a CPU does
local FEW = 8 -- elements of a row that one work-item of a GPU does, where neighbours have enough of it
local WARP = 32
local KERNEL = {} -- where it is at its place

local function described(name, buffer)
  local dtype, count, first, device = enqueue.facts(buffer)
  return { name = name, value = buffer, dtype = dtype, count = count, first = first, device = device }
end

--- The operands of an expression: so many buffers x1, x2, ..., then numbers s1, s2, ... and the type of each.
local function list_of(buffers, ...)
  local list, given = {}, { ... }
  for k = 1, buffers do list[k] = described("x" .. k, given[k]) end
  for k = buffers + 1, #given, 2 do
    list[#list + 1] = { name = "s" .. (k - buffers + 1) // 2, value = given[k], type = given[k + 1] }
  end
  return list
end

-- --- operands that lie otherwise ------------------------------------------------------------

--- The steps of the operands as further numbers: x1_1 along the outermost dimension, and so on.
local function with_steps(list, layout)
  local all = { table.unpack(list) }
  for k, steps in ipairs(layout) do
    for dimension, step in ipairs(steps) do
      all[#all + 1] = { name = ("x%d_%d"):format(k, dimension), value = step, type = "ulong" }
    end
  end
  return all
end

--- What tells kernels of layouts apart: how many dimensions, and which operands go on by 0 or 1 in a row.
local function layout_key(layout)
  local words = { #layout.extents }
  for k, steps in ipairs(layout) do words[k + 1] = math.min(steps[#steps], 2) end
  return table.concat(words, " ")
end

--- The text by which an operand's element in a row is found: where its rows begin, and the element.
local function texts_of(operand, steps)
  local offsets, n = {}, #steps
  for dimension = 1, n - 1 do
    offsets[dimension] = ("place_%d * arg_%s_%d"):format(dimension, operand.name, dimension)
  end
  local macro = operand.dtype == "half" and "ROW_HALF" or "ROW_ELEMENT"
  local step = steps[n] > 1 and ("arg_%s_%d"):format(operand.name, n) or steps[n]
  return ("ROW_BASE(%s, %s)"):format(operand.name, n > 1 and table.concat(offsets, " + ") or "0"),
    ("%s(%s, %s, %s)"):format(macro, operands.value_type(operand.dtype), operand.name, step)
end

local function build_rows(device, row, text, list, out, layout, lanes, few)
  local dimensions, bases, elements, extents, places = #layout.extents, {}, {}, {}, {}
  for k, steps in ipairs(layout) do bases[k], elements[k] = texts_of(list[k], steps) end
  for dimension = dimensions - 1, 2, -1 do
    extents[#extents + 1] = ("NUMBER(ulong, extent_%d)"):format(dimension)
    places[#places + 1] = ("DIGIT(place_%d, arg_extent_%d)"):format(dimension, dimension)
  end
  if dimensions > 1 then places[#places + 1] = "const ulong place_1 = rest;" end
  local defines = macros.of(list, text, row, operands.value_type)
  defines.LOADS, defines.FETCH, defines.VECTORS, defines.LANE_LOADS = nil, nil, nil, nil
  defines.RESULT, defines.VALUE = out.dtype, operands.value_type(out.dtype)
  defines.HALF = out.dtype == "half" and 1 or 0
  defines.INTERLEAVED = few
  defines.LANES, defines.EXTENTS, defines.PLACE = lanes, table.concat(extents, " "), table.concat(places, " ")
  defines.BASES, defines.ROWS = table.concat(bases, " "), table.concat(elements, " ")
  defines.OPERATORS = 1
  return macros.build("map", text, device, "map_rows", defines)
end

local function compute_rows(text, list, out, layout)
  local device, dimensions = out.device, #layout.extents
  local row = enqueue.spread(device, "map", out.count)
  local inner = layout.extents[dimensions]
  local is_chunked = row.granule > 0
  local lanes, few = 1, inner >= FEW * WARP and FEW or 1
  if is_chunked then lanes, few = math.min(row.lanes, 16), 0 end
  local span = is_chunked and math.min(LONGEST, inner) or few
  local all = with_steps(list, layout)
  local place = macros.place(row, all, "rows", text, out.dtype, layout_key(layout), few)
  if not place[KERNEL] then place[KERNEL] = build_rows(device, row, text, all, out, layout, lanes, few) end
  local between = {}
  for dimension = dimensions - 1, 2, -1 do between[#between + 1] = layout.extents[dimension] end
  for _, operand in ipairs(all) do between[#between + 1] = operand.value end
  local rows, parts = out.count // inner, -(-inner // span)
  enqueue.launch(place[KERNEL], rows * parts, row.group, rows, inner, span, parts, out.value, table.unpack(between))
end

-- --- all ------------------------------------------------------------------------------------

--- Computes the elements of a buffer.
-- @tparam Buffer result
-- @string text of OpenCL C, of arg_x1, arg_x2, ..., arg_s1, ...
-- @tparam ?table layout where an operand lies otherwise than the result: the `extents` of the result, neighbours joined
-- where all operands allow it, and for each operand how many of its elements lie between neighbours along them
-- @int buffers how many of the operands are buffers
-- @param ... these, then numbers, each with its type
return function(result, text, layout, buffers, ...)
  local list, out = list_of(buffers, ...), described("out", result)
  if layout then return compute_rows(text, list, out, layout) end
  map.compute(text, list, out)
end
