-- SPDX-License-Identifier: MIT
--- Code: the macros by which a kernel gets at its operands.
-- @module clcompute.operations.code

local expression = require "clcompute.operations.expression"
local typing = require "clcompute.operations.typing"

local PREFIX = expression.PREFIX

local code = {}

local function parameter(operand, scalar_type)
  if not operand.dtype then return (", const %s %s%s"):format(scalar_type, PREFIX, operand.name) end
  return (", __global const %s *mem_%s, const ulong first_%s"):format(operand.dtype, operand.name, operand.name)
end

local function load(operand, type_of)
  local name, dtype = operand.name, operand.dtype
  local element = ("mem_%s[first_%s + i]"):format(name, name)
  if dtype == "half" then element = ("vload_half(first_%s + i, mem_%s)"):format(name, name) end
  return ("const %s %s%s = %s;"):format(type_of(dtype), PREFIX, name, element)
end

local function fetch(operand, ahead)
  local first = ("(size_t)(mem_%s + first_%s + at)"):format(operand.name, operand.name)
  return ("for (uint byte = 0; byte < LANES * %d; byte += 64) "
    .. "__builtin_prefetch((const void *)(%s + byte + %d), 0, 3);"):format(typing.sizes[operand.dtype], first, ahead)
end

local function vectors(operand)
  local name, dtype = operand.name, operand.dtype
  local from = ("mem_%s + first_%s + first"):format(name, name)
  local read = ("*(__global const %s4 *)(%s)"):format(dtype, from)
  if dtype == "half" then read = ("vload_half4(0, %s)"):format(from) end
  return ("%s lanes_%s[4]; vstore4(%s, 0, lanes_%s);"):format(typing.value(dtype), name, read, name)
end

local function lane_load(operand)
  return ("const %s %s%s = lanes_%s[lane];"):format(typing.value(operand.dtype), PREFIX, operand.name, operand.name)
end

--- Lines of the buffers among the operands, put together.
local function of_buffers(operands, line, ...)
  local lines = {}
  for _, operand in ipairs(operands) do
    if operand.dtype then lines[#lines + 1] = line(operand, ...) end
  end
  return table.concat(lines, " ")
end

--- The macros for operands.
-- @tparam table operands
-- @string text the expression, as `expression.translate` writes it down
-- @tparam table how `scalar`: the type of numbers; `type_of`: a function from a buffer's dtype to the type of its
-- elements; `ahead`: bytes to prefetch, if any; `vectors`: true for those of map_vectors
function code.macros(operands, text, how)
  local parameters = {}
  for k, operand in ipairs(operands) do parameters[k] = parameter(operand, how.scalar) end
  local macros = {
    EXPRESSION = text,
    PARAMETERS = table.concat(parameters, " "),
    LOADS = of_buffers(operands, load, how.type_of),
    FETCH = how.ahead and of_buffers(operands, fetch, how.ahead) or "",
  }
  if how.vectors then
    macros.VECTORS, macros.LANE_LOADS = of_buffers(operands, vectors), of_buffers(operands, lane_load)
  end
  return macros
end

--- What tells kernels of the same text apart.
function code.signature(operands)
  local parts = {}
  for k, operand in ipairs(operands) do parts[k] = operand.name .. " " .. (operand.dtype or operand.kind) end
  return table.concat(parts, ",")
end

return code
