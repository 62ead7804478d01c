-- SPDX-License-Identifier: MIT

--- One call of a compiled function: from its values to the copies, launches and loops.
-- @module clcompute.loops.runtime.call

local arguments = require "clcompute.loops.runtime.arguments"
local blocks = require "clcompute.loops.runtime.blocks"
local bounds = require "clcompute.loops.analysis.bounds"
local calibration = require "clcompute.loops.runtime.calibration"
local decision = require "clcompute.loops.runtime.decision"
local indices = require "clcompute.loops.generation.indices"
local interrupt = require("clcompute.base").interrupt
local reduction = require "clcompute.loops.runtime.reduction"
local rounds = require "clcompute.loops.runtime.rounds"
local repetition = require "clcompute.loops.runtime.repetition"
local specialise = require "clcompute.loops.compiler"
local storage = require "clcompute.loops.runtime.storage"
local target = require "clcompute.loops.runtime.target"

local call = {}

-- --- what is kept between calls -----------------------------------------------------------

local WEAK = { __mode = "k" } -- a device, which may be one of many queues, is not kept for its kernels

--- The specialisation for the kinds of a call and of device.
local function specialisation(state, taken, device)
  local shaped_for = target.kept(state, device)
  local key = shaped_for.key .. " " .. taken.signature
  local spec = state.specialisations[key]
  if not spec then
    spec = specialise.run(state.parsed, state.variables, taken, state.options, shaped_for)
    spec.programs, spec.places = setmetatable({}, WEAK), setmetatable({}, WEAK)
    state.specialisations[key] = spec
  end
  return spec
end

local function place_of(device) return device.place end

--- Raises for a device that was closed.
local function check_device(device)
  if not device then return end
  local ok, message = pcall(place_of, device)
  if ok then return end
  interrupt.pass_on(message)
  error("option 'device': the device is released", 0)
end

--- The device of a call: that of the options, else that of its buffers, else the best. Buffers of two queues of one
-- device are refused too: copies and launches would overtake each other.
local function device_of(state, taken)
  local device, first = state.options.device, nil
  check_device(device)
  for _, array in ipairs(taken.arrays) do
    local own = array.buffer and array.buffer.device
    if own and device and own ~= device then
      error(("%s: it is on %s, %s on %s"):format(array.row.label, own.name, first or "the option 'device'",
        own.isolated ~= device.isolated and "the same hardware, of which one is isolated and the other is not"
          or own.place == device.place and "another queue of it" or device.name), 0)
    end
    if own and not device then device, first = own, array.row.label end
  end
  return device or require "clcompute".device()
end

local function build(spec, device, name, is_small)
  local shape = reduction.shape(device, spec.accumulators)
  local program = device:program(spec.text, decision.build_options(spec, device, name, is_small))
  local built = { launch = require("clcompute.core.internal").enqueue.call }
  for i, nest in ipairs(spec.plan.kernels) do
    built[i] = nest.accumulators and reduction.new(nest, program, device, shape, spec.real)
      or nest.tiles and blocks.new(nest, program, device) or program:kernel(nest.name)
  end
  built.rounds = {}
  for i, round in ipairs(spec.plan.rounds) do built.rounds[i] = rounds.new(round, program, device, spec.row) end
  return built
end

local function kernels_of(spec, device, name, is_small)
  local kernels = decision.kernels(spec, device, is_small) or build(spec, device, name, is_small)
  spec.programs[device] = spec.programs[device] or {}
  spec.programs[device][is_small] = kernels
  return kernels
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

local function execute(state, spec, values, arrays, kernels, on_device, ...)
  settle(arrays, pcall(spec.run, values, arrays, kernels, on_device, state.counters, ...))
end

--- Executes a call and waits for it, so that later verdicts know what it took. What was queued before is waited for
-- first; a call that neither launches nor copies has nothing to wait for.
local function execute_timed(state, spec, values, arrays, kernels, verdict, device)
  local clock, spent = require "clcompute".clock, {}
  local is_waited = kernels or verdict.copy_seconds > 0
  for index = 0, #verdict.on_device do spent[index] = 0.0 end
  if is_waited then device:wait() end
  local launches, start = state.counters.launches, clock()
  execute(state, spec, values, arrays, kernels, verdict.on_device, clock, spent)
  if is_waited then device:wait() end
  decision.learn(spec, device, verdict, { seconds = clock() - start, spent = spent,
    launches = state.counters.launches - launches })
end

--- Runs a compiled function. Raises a string without a place.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the parameters and captures
function call.run(state, values)
  if repetition.run(state, values) then return end
  local taken = arguments.take(state.rows, values, state.options.base, state.is_written)
  local device = device_of(state, taken)
  local spec = specialisation(state, taken, device)
  local numbers = values_of(spec, state, taken)
  local vast = decision.wrapping(spec, numbers)
  local failed = not vast and spec.fails(numbers)
  if failed then error(bounds.describe(spec.scop, failed, numbers), 0) end
  numbers.wide = device.type ~= "cpu"
  local arrays = open_arrays(state, spec, taken, device, state.counters)
  numbers.is_small = indices.are_small(spec.largest, numbers, spec.names, arrays)
  local verdict = decision.make(state, spec, numbers, arrays, device, vast)
  state.latest = { spec = spec, verdict = verdict, place = decision.place(spec, device), values = numbers }
  local kernels, is_timed = nil, verdict.run and calibration.is_due(verdict.run)
  if decision.is_any(verdict.on_device) then kernels = kernels_of(spec, device, state.name, numbers.is_small) end
  if is_timed then
    execute_timed(state, spec, numbers, arrays, kernels, verdict, device)
  else
    execute(state, spec, numbers, arrays, kernels, verdict.on_device)
  end
  state.latest.buffers_in_lua = buffers_in_lua(arrays)
  if is_timed then
    state.repetition = nil
    return
  end
  repetition.remember(state, values, arrays, { spec = spec, numbers = numbers, kernels = kernels,
    on_device = verdict.on_device })
end

return call
