-- SPDX-License-Identifier: MIT

--- One call of a compiled function: from its values to the copies, launches and loops.
-- @module clcompute.loops.runtime.call

local arguments = require "clcompute.loops.runtime.arguments"
local bounds = require "clcompute.loops.analysis.bounds"
local profitability = require "clcompute.loops.runtime.profitability"
local reduction = require "clcompute.loops.runtime.reduction"
local repetition = require "clcompute.loops.runtime.repetition"
local specialise = require "clcompute.loops.specialise"
local storage = require "clcompute.loops.runtime.storage"

local call = {}

-- --- what is kept between calls -----------------------------------------------------------

--- The specialisation for the kinds of a call.
function call.specialisation(state, taken)
  local spec = state.specialisations[taken.signature]
  if not spec then
    spec = specialise.run(state.parsed, state.variables, taken, state.options)
    spec.programs, spec.gained = {}, 0.0
    state.specialisations[taken.signature] = spec
  end
  return spec
end

--- The device of a call: that of the options, else that of its buffers, else the best. Buffers of two queues of one
-- device are refused too: copies and launches would overtake each other.
local function device_of(state, taken)
  local device, first = state.options.device, nil
  for _, array in ipairs(taken.arrays) do
    local own = array.buffer and array.buffer.device
    if own and device and own ~= device then
      error(("%s: it is on %s, %s on %s"):format(array.row.label, own.name, first or "the option 'device'",
        own.place == device.place and "another queue of it" or device.name), 0)
    end
    if own and not device then device, first = own, array.row.label end
  end
  return device or require "clcompute".device()
end

--- Options of the build. Compilers divide floats as floats where a quotient of doubles is rounded to float: that is the
-- same only if both are rounded correctly, which NVIDIA's does not do unasked.
local function options_of(device)
  local quiet = "-w" -- what a compiler warns of was written in Lua
  return device.has_correct_division and quiet .. " -cl-fp32-correctly-rounded-divide-sqrt" or quiet
end

local function build(spec, device, name)
  local options, shape = options_of(device), nil
  if spec.accumulators > 0 then
    shape = reduction.shape(device, spec.accumulators)
    options = options .. reduction.options(shape)
  end
  local program, built = device:program(spec.text, { name = name .. ".cl", options = options }), {}
  for i, nest in ipairs(spec.plan.kernels) do
    built[i] = nest.accumulators and reduction.new(nest, program, device, shape, spec.real)
      or program:kernel(nest.name)
  end
  return built
end

local function kernels_of(spec, device, name)
  spec.programs[device] = spec.programs[device] or build(spec, device, name)
  return spec.programs[device]
end

--- The numbers and sizes of a call, by name.
local function values_of(spec, state, taken)
  local values, shapes = {}, {}
  for _, array in ipairs(taken.arrays) do shapes[array.variable] = array.shape end
  for _, name in ipairs(spec.names) do
    local variable = state.variables[name.argument]
    if name.dimension then
      values[name.id] = shapes[taken.twins[variable] or variable][name.dimension]
    else
      values[name.id] = taken.numbers[variable]
    end
  end
  return values
end

-- --- the verdict --------------------------------------------------------------------------

--- What profitability asks of each array.
local function array_facts(spec, arrays)
  local facts = {}
  for i, variable in ipairs(spec.arrays) do
    local array = arrays[i]
    facts[variable] = { bytes = array.bytes, elements = array.count, host = array.host, device = array.device,
      home = array.home }
  end
  return facts
end

local function in_lua(spec, reason)
  local verdict = { on_device = {}, reasons = {}, in_lua = reason }
  for index in ipairs(spec.plan.kernels) do
    verdict.on_device[index], verdict.reasons[index] = false, reason
  end
  return verdict
end

local function is_any(on_device)
  for _, value in ipairs(on_device) do
    if value then return true end
  end
  return false
end

--- Building pays when what the calls would have gained by now is as long as it takes.
local function postpone_build(spec, verdict, device)
  if spec.programs[device] or not verdict.lua_seconds then return verdict end
  spec.gained = spec.gained + verdict.lua_seconds - verdict.seconds
  if spec.gained >= profitability.COSTS.build then return verdict end
  local waiting = in_lua(spec, ("building the program takes about %s; all calls until now would have saved %s")
    :format(profitability.time(profitability.COSTS.build), profitability.time(spec.gained)))
  waiting.lua_seconds, waiting.device_seconds = verdict.lua_seconds, verdict.device_seconds
  waiting.copies, waiting.bytes = verdict.copies, verdict.bytes
  return waiting
end

local function is_same_as_last(spec, values, device)
  local last = spec.last
  if not last or last.device ~= device then return false end
  for _, name in ipairs(spec.deciding) do
    if last.values[name] ~= values[name] then return false end
  end
  return true
end

--- The name of a number so large that sums of it wrap in Lua: what the analysis says of conditions is not so then.
local function wrapping(spec, values)
  for _, name in ipairs(spec.scop.numbers) do
    if values[name] > arguments.LARGEST or values[name] < -arguments.LARGEST then
      return spec.scop.parameters[name].variable.name
    end
  end
end

--- Where each nest of a call runs; `vast` is the name of a number that wraps.
local function decide(state, spec, values, arrays, device, vast)
  if spec.no_kernel then return in_lua(spec, spec.no_kernel) end
  if spec.needs_double and not device.has_double then
    return in_lua(spec, ("%s has no double, which %s"):format(device.name, state.options.mode == "exact"
      and "exact arithmetic needs (mode = \"fast\" does without)" or "the arrays are of"))
  end
  if vast then return in_lua(spec, ("'%s' is in conditions, and beyond 2^53"):format(vast)) end
  local unsafe = spec.may_fail(values)
  if unsafe then
    return in_lua(spec, ("whether '%s' is left in line %d depends on data"):format(unsafe.array.name,
      unsafe.access.node.line))
  end
  for _, array in ipairs(arrays) do
    if array.shape.is_virtual then
      return in_lua(spec, ("a metatable gives elements of '%s'"):format(array.variable.name))
    end
  end
  if is_same_as_last(spec, values, device) then return spec.last.verdict end
  local numbers = spec.estimate(values)
  local verdict = profitability.decide(spec.plan, numbers, array_facts(spec, arrays), state.options)
  verdict.numbers = numbers
  local final = is_any(verdict.on_device) and postpone_build(spec, verdict, device) or verdict
  if final == verdict then spec.last = { values = values, device = device, verdict = verdict } end
  return final
end

-- --- running ------------------------------------------------------------------------------

--- The buffers that Lua worked on: they were copied to a table, as a whole.
local function buffers_in_lua(arrays)
  local list = {}
  for _, array in ipairs(arrays) do
    if array.home == "device" and array.table then list[#list + 1] = array.variable end
  end
  return list
end

--- Brings all arrays home, and then says what went wrong, if anything.
local function settle(arrays, ok, message)
  for _, array in ipairs(arrays) do
    local is_settled, fault = pcall(storage.settle, array)
    if ok and not is_settled then ok, message = false, fault end
  end
  if not ok then error(message, 0) end
end

local function open_arrays(state, spec, taken, device, counters)
  local arrays = {}
  for i, array in ipairs(taken.arrays) do
    arrays[i] = storage.new(array, spec.arrays[i].element, state.options.base, device, counters)
  end
  return arrays
end

--- Runs a compiled function. Raises a string without a place.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the parameters and captures
function call.run(state, values)
  if repetition.run(state, values) then return end
  local taken = arguments.take(state.rows, values, state.options.base, state.is_written)
  local spec = call.specialisation(state, taken)
  local numbers = values_of(spec, state, taken)
  local vast = wrapping(spec, numbers)
  local failed = not vast and spec.fails(numbers)
  if failed then error(bounds.describe(spec.scop, failed, numbers), 0) end
  local device = device_of(state, taken)
  numbers.wide = device.type ~= "cpu"
  local arrays = open_arrays(state, spec, taken, device, state.counters)
  local verdict = decide(state, spec, numbers, arrays, device, vast)
  state.latest = { spec = spec, verdict = verdict, device = device }
  local kernels
  if is_any(verdict.on_device) then kernels = kernels_of(spec, device, state.name) end
  settle(arrays, pcall(spec.run, numbers, arrays, kernels, verdict.on_device, state.counters))
  state.latest.buffers_in_lua = buffers_in_lua(arrays)
  repetition.remember(state, values, arrays, { spec = spec, numbers = numbers, kernels = kernels,
    on_device = verdict.on_device })
end

return call
