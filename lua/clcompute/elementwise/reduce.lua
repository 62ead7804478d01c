-- SPDX-License-Identifier: MIT
--- Reducing: all elements of an expression combined into one number.
-- @module clcompute.elementwise.reduce

local code = require "clcompute.elementwise.code"
local enqueue = require "clcompute.enqueue"
local expression = require "clcompute.elementwise.expression"
local kernels = require "clcompute.elementwise.kernels"
local operands = require "clcompute.elementwise.operands"
local operations = require "clcompute.elementwise.operations"
local plans = require "clcompute.elementwise.plans"
local typing = require "clcompute.elementwise.typing"

local PARTIAL = { { name = "x" } } -- the operand of the launch that combines the chunks' results

local function macros_of(list, text, operation, result, scalar, plan)
  local macros = code.macros(list, text, { scalar = scalar, type_of = typing.wide, ahead = plan.ahead })
  macros.RESULT, macros.OPERATION, macros.LANES = result, operation, plan.lanes
  return macros
end

--- Two kernels: one for chunks of the elements, one for the results of these.
local function build(where, device, plan, r)
  local operation = operations.translate(where, r.operation)
  local translated, used = expression.translate(where, r.map, operands.kinds(where, r.list))
  operands.check_used(where, r.map, r.list, used)
  PARTIAL[1].dtype = r.result
  local scalar = typing.wide(typing.result(r.list))
  local of_rest = macros_of(PARTIAL, "arg_x", operation, r.result, scalar, plan)
  local of_chunks = macros_of(r.list, translated, operation, r.result, scalar, plan)
  local rest = kernels.build(where, r.operation, device, plan.kernel, of_rest) -- first: what fails is the operation
  return { rest = rest, chunks = kernels.build(where, r.map, device, plan.kernel, of_chunks) }
end

local function find_kernels(where, state, device, plan, r)
  local key = ("%s\n%s\n%s\n%s"):format(r.operation, r.map, code.signature(r.list), r.result)
  local pair = state.kernels[key]
  if not pair then
    pair = build(where, device, plan, r)
    state.kernels[key] = pair
  end
  return pair
end

--- Queues the launches; the result is then the first element of `out`.
local function launch(pair, plan, n, out, init, list, partials)
  local has_init, value = init and 1 or 0, init or 0
  if plan.workers == 1 then
    enqueue.launch(pair.chunks, plan.items, plan.group, n, n, out, has_init, value, operands.values(list))
  else
    enqueue.launch(pair.chunks, plan.items, plan.group, n, plan.chunk, partials, 0, 0, operands.values(list))
    enqueue.launch(pair.rest, plan.group, plan.group, plan.workers, plan.workers, out, has_init, value, partials)
  end
end

local function compute(where, device, n, r, init)
  local state = kernels.state(device)
  local plan = plans.of(state.facts, "reduce", n)
  local pair = find_kernels(where, state, device, plan, r)
  local scratch = kernels.take(state, device, r.result, plan.workers)
  local out = kernels.take(state, device, r.result .. " result", 1, r.result)
  launch(pair, plan, n, out, init, r.list, scratch)
  local result = out:get(1)
  kernels.give(state, r.result, scratch)
  kernels.give(state, r.result .. " result", out)
  return result
end

--- Reduces; the arguments are checked here, so that functions made of it name themselves.
-- @string where the function that was called
-- @string operation of a and b
-- @param given buffer or table of operands
-- @string[opt] map the expression of an element; x[i] unless given
-- @string[opt] dtype of the result
-- @param[opt] init number
-- @treturn number or nil where there are no elements and no init
return function(where, operation, given, map, dtype, init)
  local list, first = operands.read(where, given)
  typing.check(where, dtype)
  if init ~= nil and type(init) ~= "number" then
    error(("%s: option 'init': number expected, got %s"):format(where, type(init)), 0)
  end
  local result = typing.wide(dtype or typing.result(list))
  if first.count == 0 then return init end
  return compute(where, first.device, first.count, { operation = operation, map = map or "x[i]", list = list,
    result = result }, init)
end
