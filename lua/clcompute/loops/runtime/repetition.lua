-- SPDX-License-Identifier: MIT

--- A call like the one before: it needs no second look at its values, if all is on the device. On a GPU its launches
-- are recorded and queued again, in less time than making them takes. What is remembered keeps no buffer alive.

local decision = require "clcompute.loops.runtime.decision"
local interrupt = require("clcompute.base").interrupt
local plans = require("clcompute.loops.tree").plan
local storage = require "clcompute.loops.runtime.storage"
local tuning = require "clcompute.tuning"

local repetition = {}

local internal -- of the core, which is there where a call was

local WEAK_VALUES = { __mode = "v" }

--- Whether a plan, or a condition in it, has something to do in Lua.
local function runs_in_lua(plan, on_device)
  for _, part in ipairs(plan) do
    local is_kernel, is_launched = part.kind == "kernel", on_device[part.index]
    if part.kind == "lua" or part.kind == "if" and #part.reads > 0 then return true end
    if is_kernel and (#part.nonzero > 0 or not is_launched and not part.instead) then return true end
    for _, body in ipairs(is_launched and {} or plans.bodies(part)) do
      if runs_in_lua(body, on_device) then return true end
    end
  end
  return false
end

--- Lets go of what a remembered call has of its own.
local function drop(run)
  storage.let_go(run.arrays)
  if run.sequence then run.sequence:release() end
end

--- Forgets the remembered call.
function repetition.forget(state)
  local run = state.repetition
  state.repetition = nil
  if run then drop(run) end
end

--- Remembers a call, if the next one like it would do nothing but launch kernels on the buffers that it is given; what
-- the call made for itself goes on with it.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the call
-- @tparam table arrays of `clcompute.loops.runtime.storage`, settled
-- @tparam table run `spec`, `device`, `numbers`, `kernels`, `on_device`; `record`, of `decision`
function repetition.remember(state, values, arrays, run)
  if runs_in_lua(run.spec.plan, run.on_device) then return storage.let_go(arrays) end
  for i in ipairs(run.spec.positions) do
    if not arrays[i].buffer or arrays[i].is_own then return storage.let_go(arrays) end
  end
  for i in ipairs(run.spec.positions) do arrays[i].memory, arrays[i].buffer = nil, nil end
  internal = internal or require "clcompute.core.internal"
  run.arrays, run.count, run.generation = arrays, #state.variables, tuning.generation()
  run.values = setmetatable(table.move(values, 1, run.count, 1, {}), WEAK_VALUES)
  state.repetition = run
end

--- Makes the launches of a remembered call.
local function launch_all(state, run, values)
  for i, position in ipairs(run.spec.positions) do run.arrays[i].memory = values[position] end
  local ok, message = pcall(run.spec.run, run.numbers, run.arrays, run.kernels, run.on_device, state.counters)
  for i in ipairs(run.spec.positions) do run.arrays[i].memory = nil end
  if not ok then error(message, 0) end
end

--- Makes the launches of a remembered call, and counts them.
local function launch_counted(state, run, values)
  local before = state.counters.launches
  launch_all(state, run, values)
  run.launches = state.counters.launches - before
end

local MOST = 4096 -- launches of a recording: each has a kernel of its own

--- Whether the launches of a call may be recorded: on a GPU, once it is known how many they are. Where kernels note
-- what fails, each launch swaps what they note it in.
local function may_record(run)
  return run.sequence == nil and run.launches and run.launches <= MOST and run.spec.row.kernel == "items"
    and not run.kernels.faults
end

--- Records the launches of a remembered call. Where that fails it is not tried again; where the device is at
-- something else it is.
local function record(state, run, values)
  local launches, is_collecting = state.counters.launches, collectgarbage "isrunning"
  collectgarbage "stop"
  local ok, sequence = pcall(internal.record_unheld, run.device, function() launch_all(state, run, values) end)
  if is_collecting then collectgarbage "restart" end
  state.counters.launches = launches
  if not ok and interrupt.is(sequence) then error(sequence, 0) end
  run.sequence = ok and sequence
end

--- Queues the recorded launches of a call.
-- @treturn boolean whether they are queued: not where there are none, nor where the device is at something else
local function replay(state, run, values)
  if may_record(run) then record(state, run, values) end
  if not run.sequence or not internal.replay(run.sequence) then return false end
  state.counters.launches = state.counters.launches + run.launches
  return true
end

--- Runs a call if it is the remembered one.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the call
-- @tparam function check raises what kernels have noted: check(spec, kernels, numbers)
-- @treturn boolean whether it was
function repetition.run(state, values, check)
  local run = state.repetition
  if not run or run.generation ~= tuning.generation() or not internal.are_same(run.values, values, run.count) then
    return false
  end
  state.repetition = nil -- if a launch fails, it is not what it was
  if not replay(state, run, values) then launch_counted(state, run, values) end
  check(run.spec, run.kernels, run.numbers)
  repetition.forget(state) -- of a call that a hook made meanwhile
  if decision.count(run.spec, run.record) then drop(run) else state.repetition = run end
  return true
end

return repetition
