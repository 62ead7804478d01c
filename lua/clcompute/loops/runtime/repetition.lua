-- SPDX-License-Identifier: MIT

--- A call with the very values of the one before, all on the device: it needs no second look at them.
--
-- What is remembered does not keep buffers alive.
-- @module clcompute.loops.runtime.repetition

local arguments = require "clcompute.loops.runtime.arguments"
local tuning = require "clcompute.tuning"

local repetition = {}

local WEAK = { __mode = "v" }

local runs_in_lua

local function is_arm_in_lua(part, on_device)
  for _, arm in ipairs(part.arms) do
    if runs_in_lua(arm.body, on_device) then return true end
  end
  return #part.reads > 0 or part.otherwise and runs_in_lua(part.otherwise, on_device)
end

local IN_LUA = {
  lua = function() return true end,
  loop = function(part, on_device) return runs_in_lua(part.body, on_device) end,
  ["if"] = is_arm_in_lua,
  either = function(part, on_device) return runs_in_lua(part.few, on_device) or runs_in_lua(part.many, on_device) end,
  kernel = function(part, on_device) return not on_device[part.index] or #part.nonzero > 0 end,
}

function runs_in_lua(plan, on_device)
  for _, part in ipairs(plan) do
    if IN_LUA[part.kind](part, on_device) then return true end
  end
  return false
end

--- Remembers a call, if the next one like it would do nothing but launch kernels on the buffers that it is given.
-- @tparam table state of `clcompute.loops`
-- @tparam table values of the call
-- @tparam table arrays of `clcompute.loops.runtime.storage`, settled
-- @tparam table run `spec`, `numbers`, `kernels`, `on_device`
function repetition.remember(state, values, arrays, run)
  state.repetition = nil
  if runs_in_lua(run.spec.plan, run.on_device) then return end
  for _, array in ipairs(arrays) do
    if not array.buffer or array.is_own then return end
  end
  for _, array in ipairs(arrays) do array.memory, array.buffer = nil, nil end
  run.arrays, run.count, run.generation = arrays, #state.variables, tuning.generation()
  run.values = setmetatable(table.move(values, 1, run.count, 1, {}), WEAK)
  state.repetition = run
end

--- Whether two values are the same, of the same type; 0.0 may be -0.0, so it never is; nor is what is released.
local function is_same(a, b)
  if type(a) == "userdata" and arguments.is_released(a) then return false end
  return a == b and a ~= nil and math.type(a) == math.type(b) and not (a == 0 and math.type(a) == "float")
end

--- Runs a call if it is the remembered one.
-- @treturn boolean whether it was
function repetition.run(state, values)
  local run = state.repetition
  if not run or run.generation ~= tuning.generation() then return false end
  for i = 1, run.count do
    if not is_same(run.values[i], values[i]) then return false end
  end
  state.repetition = nil -- if a launch fails, it is not what it was
  for i, array in ipairs(run.arrays) do array.memory = values[run.spec.positions[i]] end
  run.spec.run(run.numbers, run.arrays, run.kernels, run.on_device, state.counters)
  for _, array in ipairs(run.arrays) do array.memory = nil end
  state.repetition = run
  return true
end

return repetition
