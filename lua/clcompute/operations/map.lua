-- SPDX-License-Identifier: MIT

--- cl.map: an expression for every element.
-- @module clcompute

local code = require "clcompute.operations.code"
local enqueue = require("clcompute.core.internal").enqueue
local expression = require "clcompute.operations.expression"
local kernels = require "clcompute.operations.kernels"
local operands = require "clcompute.operations.operands"
local public = require "clcompute.operations.public"
local typing = require "clcompute.operations.typing"

local OPTIONS = { out = "Buffer", dtype = "string" }
local NONE = {}

--- Whether all memories begin where a vector of `lanes` elements may.
local function is_aligned(list, out, lanes)
  if out.first % lanes ~= 0 then return false end
  for _, operand in ipairs(list) do
    if operand.dtype and operand.first % lanes ~= 0 then return false end
  end
  return true
end

--- The parts of a plan that depend on where the memory is and how it is used.
local function variant(plan, list, out, in_place)
  local bytes, start = out.count * typing.sizes[out.dtype], out.first * typing.sizes[out.dtype]
  local streams = plan.stream and bytes >= plan.stream and start % 64 == 0 and not in_place and out.dtype ~= "half"
  local lanes = (plan.chunk or is_aligned(list, out, plan.lanes)) and plan.lanes or 1
  return lanes, streams or false
end

local function build(text, device, plan, list, out, scalar, lanes, streams)
  local translated, used = expression.translate("map", text, operands.kinds("map", list))
  operands.check_used("map", text, list, used)
  local macros = code.macros(list, translated, { scalar = typing.value(scalar), type_of = typing.value,
    ahead = plan.ahead, vectors = not plan.chunk and lanes > 1 })
  macros.RESULT, macros.VALUE, macros.HALF = out.dtype, typing.value(out.dtype), out.dtype == "half" and 1 or 0
  macros.LANES, macros.STREAM = lanes, streams and 1 or 0
  return kernels.build("map", text, device, plan.kernel, macros)
end

--- The kernel, from what is kept or built.
local function find_kernel(state, text, device, plan, list, out, scalar, in_place)
  local lanes, streams = variant(plan, list, out, in_place)
  local key = ("%s\n%s\n%s %s %d %s"):format(text, code.signature(list), out.dtype, scalar, lanes, streams)
  local kernel = state.kernels[key]
  if not kernel then
    kernel = build(text, device, plan, list, out, scalar, lanes, streams)
    state.kernels[key] = kernel
  end
  return kernel, lanes
end

local function launch(kernel, plan, lanes, out, list)
  local n = out.count
  if plan.chunk then
    enqueue.launch(kernel, plan.items, plan.group, n, plan.chunk, out.value, operands.values(list))
  else
    enqueue.launch(kernel, -(-n // lanes), plan.group, n, out.value, operands.values(list))
  end
end

local function map(text, given, o)
  o = o and operands.check_options("map", o, OPTIONS) or NONE
  if type(text) ~= "string" then expression.translate("map", text) end
  if type(given) ~= "table" then error("map: table of operands expected, got " .. type(given), 0) end
  local list, first = operands.read("map", given)
  local target, wanted = operands.target("map", o)
  local scalar = typing.result(list, wanted)
  local out, in_place = operands.result("map", target, wanted or scalar, list, first)
  local device, n = first.device, out.count
  local state = kernels.state(device)
  local plan = kernels.plan(state, "map", math.max(n, 1))
  local kernel, lanes = find_kernel(state, text, device, plan, list, out, scalar, in_place)
  if n > 0 then launch(kernel, plan, lanes, out, list) end
  return out.value
end

--- An expression of OpenCL C for every element: out[i] <- expression. Queued.
--
-- The table gives names to what the expression uses: buffers, whose element is `x[i]`, and numbers. `i` is the index
-- from 0, over all elements in row-major order. What else may stand there are operators, numbers, the mathematical,
-- integer, common and relational functions of OpenCL C, its constants and casts to its scalar types.
--
-- The result has the dtype that comes last in `char uchar short ushort int uint long ulong half float double` of those
-- of the buffers; a Lua float among buffers of integers makes it float; `dtype`, or that of `out`, is another choice.
-- Lua's numbers take the type the operands make, or the given dtype if it is later in that list. Within an expression
-- C's rules hold: two chars make an int, of which a result of char keeps the low bits; integer division by zero is
-- undefined. Half is computed in float.
-- @function map
-- @string expression
-- @tparam table operands name to Buffer or number; the buffers have the same number of elements, not necessarily
-- the same shape
-- @tparam[opt] table options `out`: a Buffer for the result, which may be one of the operands; `dtype` of the result
-- @treturn Buffer the result: `out`, or a new one of the shape of the operand whose name is first in the alphabet
-- @raise what is wrong with the expression or an operand, with the expression
-- @usage local z = cl.map("a*x[i] + y[i]", { a = 2, x = x, y = y })
-- cl.map("sqrt(x[i])", { x = x }, { out = x })
return public("map", map)
