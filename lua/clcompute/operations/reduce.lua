-- SPDX-License-Identifier: MIT
--- Reducing: all elements of an expression combined into one number.
-- @module clcompute.operations.reduce

local code = require "clcompute.operations.code"
local enqueue = require("clcompute.core.internal").enqueue
local expression = require "clcompute.operations.expression"
local kernels = require "clcompute.operations.kernels"
local operands = require "clcompute.operations.operands"
local operations = require "clcompute.operations.operations"
local typing = require "clcompute.operations.typing"

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

local function launch_chunks(pair, plan, n, out, has_init, init, list)
  local chunk = plan.workers == 1 and n or plan.chunk
  enqueue.launch(pair.chunks, plan.items, plan.group, n, chunk, out, has_init, init, operands.values(list))
end

--- Combines the chunks' results on the device, in the first element of `out`.
local function launch_rest(pair, plan, partials, out, has_init, init)
  enqueue.launch(pair.rest, plan.group, plan.group, plan.workers, plan.workers, out, has_init, init, partials)
end

--- Combines them in Lua.
local function fold(f, results)
  local total = results[1]
  for k = 2, #results do total = f(total, results[k]) end
  return total
end

--- Launches, and waits for the number. `partials` and `out` are memory for what is between.
local function run(pair, plan, n, r, init, partials, out)
  local has_init, value = init and 1 or 0, init or 0
  if plan.workers == 1 then
    launch_chunks(pair, plan, n, out, has_init, value, r.list)
    return out:get(1)
  end
  launch_chunks(pair, plan, n, partials, 0, 0, r.list)
  local f = not init and plan.finish_in_lua and operations.in_lua(r.operation, r.result)
  if f then return fold(f, partials:read(1, plan.workers)) end
  launch_rest(pair, plan, partials, out, has_init, value)
  return out:get(1)
end

local function compute(where, device, n, r, init)
  local state = kernels.state(device)
  local plan = kernels.plan(state, "reduce", n)
  local pair = find_kernels(where, state, device, plan, r)
  local partials = kernels.take(state, device, r.result, plan.workers)
  local out = kernels.take(state, device, r.result .. " result", 1, r.result)
  local result = run(pair, plan, n, r, init, partials, out)
  kernels.give(state, r.result, partials)
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
