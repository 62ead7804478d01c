-- SPDX-License-Identifier: MIT

--- Where the nests of one call run: what rules the device out, what is profitable, and whether to build by now.
--
-- What is known of a device and one set of kinds of arguments is its place: the costs there, what calls took, and what
-- they would have gained.

local arguments = require "clcompute.loops.runtime.arguments"
local costs = require "clcompute.loops.runtime.costs"
local launchers = require "clcompute.loops.runtime.launchers"
local profitability = require "clcompute.loops.runtime.profitability"

local decision = {}

--- The place of a specialisation on a device.
function decision.place(spec, device)
  local place = spec.places[device]
  if not place then
    place = { name = device.name, costs = costs.of(device), memory = costs.new_memory(), gained = 0.0,
      is_kept = {} }
    spec.places[device] = place
  end
  return place
end

--- The name of a number so large that sums of it wrap in Lua: what the analysis says of conditions is not so then.
function decision.wrapping(spec, values)
  for _, name in ipairs(spec.scop.numbers) do
    if values[name] > arguments.LARGEST or values[name] < -arguments.LARGEST then
      return spec.scop.parameters[name].variable.name
    end
  end
end

local function in_lua(spec, reason)
  local verdict = { on_device = {}, reasons = {}, all_in_lua = reason }
  for index in ipairs(spec.plan.kernels) do verdict.on_device[index] = false end
  return verdict
end

--- Whether any nest runs on the device.
function decision.is_any(on_device)
  for _, value in ipairs(on_device) do
    if value then return true end
  end
  return false
end

-- --- building -----------------------------------------------------------------------------

--- Options of the build. Compilers divide floats as floats where a quotient of doubles is rounded to float: that is the
-- same only if both are rounded correctly, which NVIDIA's does not do unasked.
-- @tparam table spec
-- @tparam Device device
-- @string name
-- @tparam boolean is_small whether 32 bits hold all indices
-- @treturn table of `Device:program`
function decision.build_options(spec, device, name, is_small)
  local options = "-w" -- what a compiler warns of was written in Lua
  if device.has_correct_division then options = options .. " -cl-fp32-correctly-rounded-divide-sqrt" end
  if is_small then options = options .. " -DINDEX=int" end
  if device.platform == "Oclgrind" then -- which gets some vectors wrong, and tells of what is read beside
    options = options .. " -cl-opt-disable -DONE_BY_ONE"
  end
  if spec.accumulators > 0 then
    options = options .. launchers.reduction_options(launchers.reduction_shape(device, spec.accumulators))
  end
  if spec.has_groups then options = options .. launchers.group_options(device, spec.row) end
  return { name = name .. ".cl", options = options }
end

--- The kernels that were built for calls whose indices have 32 bits or more, or nil.
function decision.kernels(spec, device, is_small)
  return spec.programs[device] and spec.programs[device][is_small]
end

--- Seconds of a build, which is short where an earlier process left the program in the cache, and whether it did.
local function build_seconds(spec, place, device, name, is_small)
  if place.is_kept[is_small] == nil then
    place.is_kept[is_small] = device:is_built(spec.text, decision.build_options(spec, device, name, is_small))
  end
  local is_kept = place.is_kept[is_small]
  return is_kept and place.costs.load or place.costs.build, is_kept
end

--- Building pays when what the calls would have gained by now, this one too, is as long as it takes.
local function postpone_build(spec, verdict, place, seconds, is_kept)
  place.gained = place.gained + verdict.lua_seconds - verdict.seconds
  if place.gained >= seconds then return verdict end
  local cost, waiting = verdict.in_lua, in_lua(spec)
  waiting.is_waiting = true
  waiting.all_in_lua = ("building the program takes about %s (%s); all calls until now would have saved %s"):format(
    profitability.time(seconds), is_kept and "it is in the cache" or "it is not in the cache",
    profitability.time(place.gained))
  waiting.seconds, waiting.bytes, waiting.copy_seconds = cost.seconds, cost.bytes, cost.copy_seconds
  waiting.rest = cost.rest
  for _, field in ipairs { "figures", "lua_seconds", "device_seconds", "copies", "all_bytes", "in_lua" } do
    waiting[field] = verdict[field]
  end
  return waiting
end

-- --- the verdict --------------------------------------------------------------------------

--- What profitability asks of each array.
local function array_facts(spec, arrays)
  local facts = {}
  for i, variable in ipairs(spec.arrays) do
    local array = arrays[i]
    local shape, rows = array.shape, nil
    if #shape > 1 and shape[#shape] > 0 and array.home ~= "nowhere" then rows = array.count // shape[#shape] end
    facts[variable] = { bytes = array.bytes, elements = array.count, rows = rows, host = array.host,
      device = array.device, home = array.home }
  end
  return facts
end

local function is_same_as_last(spec, values, device, force)
  local last = spec.last
  if not last or last.device ~= device or last.force ~= force then return false end
  for _, name in ipairs(spec.deciding) do
    if last.values[name] ~= values[name] then return false end
  end
  return true
end

--- Why nothing may run on the device, or nil; `vast` is the name of a number that wraps.
local function obstacle(state, spec, values, arrays, device, vast)
  if spec.no_kernel then return spec.no_kernel end
  if spec.needs_double and not device.has_double then
    return ("%s has no double, which %s"):format(device.name, state.options.mode == "exact"
      and "exact arithmetic needs (mode = \"fast\" does without)" or "the arrays are of")
  end
  if vast then return ("'%s' is in conditions, and beyond 2^53"):format(vast) end
  for _, gap in ipairs(spec.gaps) do
    if gap.holds(values) then return gap.reason end
  end
  local unsafe = spec.may_fail(values)
  if unsafe then
    return ("whether '%s' is left in line %d depends on data"):format(unsafe.array.name, unsafe.access.node.line)
  end
  for _, array in ipairs(arrays) do
    if array.shape.is_virtual then return ("a metatable gives elements of '%s'"):format(array.variable.name) end
  end
end

--- By the model, with what calls have taught of it. While a build waits it is Lua that stands.
local function by_model(state, spec, numbers, facts, device, place, is_small)
  local memory = place.memory
  local figures = profitability.figures(numbers, place.costs, memory)
  local standing, total = costs.standing(memory, numbers.total), numbers.total
  local run = standing and costs.run_of(memory, total, standing)
  if run and costs.is_doubted(run) then costs.doubt(memory, run) end
  local preset = costs.once_more(memory, total)
  local verdict = profitability.decide(spec.plan, numbers, facts, figures, state.options, standing, preset)
  if decision.is_any(verdict.on_device) and not decision.kernels(spec, device, is_small) then
    verdict = postpone_build(spec, verdict, place, build_seconds(spec, place, device, state.name, is_small))
  end
  if not preset then costs.stand(memory, total, verdict.on_device) end
  verdict.run = costs.run_of(memory, total, verdict.on_device)
  return verdict
end

--- Where each nest of a call runs.
-- @tparam table state of `clcompute.loops`
-- @tparam table spec of `clcompute.loops.compiler`
-- @tparam table values the numbers and sizes of the call, by name
-- @tparam table arrays of `clcompute.loops.runtime.storage`
-- @tparam Device device
-- @tparam ?string vast the name of a number that wraps
-- @treturn table a verdict of `clcompute.loops.runtime.profitability`; `all_in_lua`: why nothing runs on the device,
-- where that is no matter of figures; `is_waiting`: it is for a build; `run`: the record of calls like this, where they
-- may be timed
function decision.make(state, spec, values, arrays, device, vast)
  local reason = obstacle(state, spec, values, arrays, device, vast)
  if reason then return in_lua(spec, reason) end
  if is_same_as_last(spec, values, device, state.options.force) then return spec.last.verdict end
  local numbers, facts = spec.estimate(values), array_facts(spec, arrays)
  local place = decision.place(spec, device)
  local verdict
  if state.options.force == nil and state.options.heuristics == "model" then
    verdict = by_model(state, spec, numbers, facts, device, place, values.is_small)
  else
    verdict = profitability.decide(spec.plan, numbers, facts, profitability.figures(numbers, place.costs),
      state.options)
  end
  if not verdict.is_waiting then
    spec.last = { values = values, device = device, force = state.options.force, verdict = verdict }
  end
  return verdict
end

--- Learns from a call that was timed, so that the next one is decided anew. What a build would have gained is what the
-- call took, not what it was thought to take.
-- @tparam table spec
-- @tparam Device device
-- @tparam table verdict of `make`
-- @tparam table took of `clcompute.loops.runtime.costs`
function decision.learn(spec, device, verdict, took)
  local place = decision.place(spec, device)
  if verdict.is_waiting then place.gained = place.gained + took.seconds - verdict.lua_seconds end
  costs.learn(place.memory, verdict, took)
  spec.last = nil
end

--- Counts a call that was not timed.
-- @tparam table spec
-- @tparam ?table run of its verdict
-- @treturn boolean whether the next one is decided anew
function decision.count(spec, run)
  if not run then return false end
  costs.count(run)
  if costs.is_doubted(run) then spec.last = nil end
  return costs.is_doubted(run)
end

--- The figures of a call whose verdict did not need any, for those who read.
-- @treturn ?table nil where numbers wrap
function decision.figures(spec, values, place)
  if decision.wrapping(spec, values) then return nil end
  return profitability.figures(spec.estimate(values), place.costs, place.memory)
end

return decision
