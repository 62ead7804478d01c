-- SPDX-License-Identifier: MIT
--- Kernels of expressions: the macros by which they get at their operands (kernels/clcompute/elementwise.h), and
-- building them once a device.

local translation = require "clcompute.operations.translation"
local operands = require "clcompute.operations.operands"

local macros = {}

--- What is kept under a word; a table, made where there is none.
function macros.step(place, word)
  local next_place = place[word]
  if not next_place then
    next_place = {}
    place[word] = next_place
  end
  return next_place
end

local function walk(place, word, ...)
  if word == nil then return place end
  return walk(macros.step(place, word), ...)
end

--- Where kernels of operands are kept: a table for each list of words, names and types, under those of a row. To walk
-- there makes no string.
-- @tparam table row of `clcompute.tuning.known`; rows are forgotten when numbers change, and their kernels with them
-- @tparam table list operands
-- @param ... words, no nil among them
function macros.place(row, list, ...)
  local place = walk(row.kernels, ...)
  for _, operand in ipairs(list) do
    place = macros.step(macros.step(place, operand.name), operand.dtype or operand.type or operand.kind)
    if operand.parts then place = macros.place({ kernels = place }, operand.parts, operand.text) end
  end
  return place
end

local function parameter(operand, scalar)
  if not operand.dtype then return ("NUMBER(%s, %s)"):format(operand.type or scalar, operand.name) end
  return ("BUFFER(%s, %s)"):format(operand.dtype, operand.name)
end

--- Macros of the buffers among the operands, side by side.
local function of_buffers(list, macro, ...)
  local words = {}
  for _, operand in ipairs(list) do
    if operand.dtype then words[#words + 1] = macro(operand, ...) end
  end
  return table.concat(words, " ")
end

local element
function element(operand, type_of)
  if operand.parts then -- as if it were stored
    return ("%s EXPRESSION_ELEMENT(%s, %s, %s)"):format(of_buffers(operand.parts, element, operands.value_type),
      type_of(operand.dtype), operand.name, operand.text)
  end
  if operand.struct then return ("STRUCT_ELEMENT(%s, %s)"):format(operand.struct, operand.name) end
  local is_half = operand.dtype == "half"
  local macro = is_half and "HALF_ELEMENT" or "ELEMENT"
  if operand.of_results then macro = is_half and "RESULT_HALF" or "RESULT_ELEMENT" end
  return ("%s(%s, %s)"):format(macro, type_of(operand.dtype), operand.name)
end

local function prefetch(operand)
  return ("PREFETCH(%s, %d)"):format(operand.name, operands.sizes[operand.dtype])
end

local function four(operand)
  if operand.of_results then return "" end
  if operand.dtype == "half" then return ("HALF_ELEMENTS_4(%s)"):format(operand.name) end
  return ("ELEMENTS_4(%s, %s)"):format(operand.dtype, operand.name)
end

local lane
function lane(operand, type_of)
  if operand.parts then
    return ("%s EXPRESSION_ELEMENT(%s, %s, %s)"):format(of_buffers(operand.parts, lane, operands.value_type),
      type_of(operand.dtype), operand.name, operand.text)
  end
  if operand.of_results then return element(operand, type_of) end
  return ("LANE_ELEMENT(%s, %s)"):format(type_of(operand.dtype), operand.name)
end

--- Whether all memories begin where a vector of `lanes` elements may; no struct's does.
function macros.is_aligned(list, lanes)
  for _, operand in ipairs(list) do
    local parts = operand.parts
    if operand.struct and lanes > 1 then return false end
    if parts and not macros.is_aligned(parts, lanes) then return false end
    if operand.dtype and not parts and operand.first % lanes ~= 0 then return false end
  end
  return true
end

--- The macros for operands, and for the numbers of a row.
-- @tparam table list operands
-- @string text the expression, as `translation.translate` writes it down
-- @tparam table row of `clcompute.tuning.known`
-- @tparam function type_of the type of the elements of a dtype
-- @string[opt] scalar the type of numbers
function macros.of(list, text, row, type_of, scalar)
  local parameters, all = {}, operands.leaves(list)
  for k, operand in ipairs(all) do parameters[k] = parameter(operand, scalar) end
  return {
    EXPRESSION = text, PARAMETERS = table.concat(parameters, " "), LOADS = of_buffers(list, element, type_of),
    FETCH = of_buffers(all, prefetch), VECTORS = of_buffers(all, four), LANE_LOADS = of_buffers(list, lane, type_of),
    OPERATORS = all ~= list and 1 or nil, GROUP = row.group, LANES = row.lanes, AHEAD = row.ahead,
  }
end

--- An expression as a function behind a preamble, where no name of a kernel hides one of it; the text of both, and the
-- call. Without a preamble nil, and the expression.
-- @tparam ?table preamble of `preamble.read`
-- @string result the type of the expression
-- @string text, list, type_of, scalar as in `macros.of`
function macros.behind(preamble, result, text, list, type_of, scalar)
  if not preamble then return nil, text end
  local parameters, arguments = { "const long i" }, { "i" }
  for k, operand in ipairs(list) do
    local name = translation.PREFIX .. operand.name
    parameters[k + 1] = ("const %s %s"):format(operand.dtype and type_of(operand.dtype) or operand.type or scalar, name)
    arguments[k + 1] = name
  end
  local function_text = ("%s\nstatic %s clc_element(%s) { return %s; }"):format(preamble.text, result,
    table.concat(parameters, ", "), text)
  return function_text, ("clc_element(%s)"):format(table.concat(arguments, ", "))
end

--- What a compiler finds wrong, each thing once, without its places, which are in a kernel that no script wrote. The
-- whole log where it names none.
local function reasons(log)
  local list, seen = {}, {}
  for line in log:gmatch "[^\n]+" do
    local reason = line:match "^error: [^:]+:%d+:%d+: (.*)" or line:match ":%d+:%d+: error: (.*)"
    if reason and not seen[reason] then list[#list + 1] = reason end
    seen[reason or line] = true
  end
  return #list > 0 and table.concat(list, "; ") or log
end

local INTEGERS_ALONE = {
  { "^", "'^' is for the bits of integers: write pow(x, y)" },
  { "%", "'%' is for integers: write fmod(x, y)" },
}

--- What is to be written, where a compiler names what scripts mistake: "; write ...", or nothing.
local function hint(text, log)
  if log:find "call to 'abs' is ambiguous" then return "; write fabs(x)" end
  if log:find "is ambiguous" then
    return "; its arguments are to be of one type: write 2.0f for 2.0 or 2 beside a float, (float)n for an integer n"
  end
  if log:find "member reference base type" then
    return "; elements of buffers are numbers: buffers of structs are for kernels of d:program"
  end
  if not log:find "invalid operands" then return "" end
  for _, one in ipairs(INTEGERS_ALONE) do
    if text:find(one[1], 1, true) then return "; " .. one[2] end
  end
  return ""
end

--- The kernel of a file with macros. An error shows the text it is of.
-- @string where begins messages
-- @string text what the script wrote
-- @tparam Device device
-- @string name the file
-- @tparam table defines
-- @string[opt] preamble what stands in front of the file
-- @treturn Kernel
function macros.build(where, text, device, name, defines, preamble)
  local dtype = "float"
  for _, value in pairs(defines) do
    if type(value) == "string" and value:find "%f[%w]double%f[%W]" then dtype = "double" end
  end
  local ok, result = pcall(device.kernel, device, name, { dtype = dtype, defines = defines, preamble = preamble })
  if ok then return result end
  local log = tostring(result):gsub("%f[%w_]" .. translation.PREFIX, "")
  log = log:gsub("^bad argument #%d to '%?' %((.*)%)$", "%1") -- of a closed device or a preamble, no argument here
  if not preamble then log = reasons(log) end -- else there are places in the script's own lines
  error(("%s: \"%s\" does not build: %s%s"):format(where, text, log, hint(text, log)), 0)
end

return macros
