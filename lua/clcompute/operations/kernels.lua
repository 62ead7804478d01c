-- SPDX-License-Identifier: MIT
--- Kernels of expressions, built once a device, and the memory that reductions need between launches.
-- @module clcompute.operations.kernels

local expression = require "clcompute.operations.expression"
local plans = require "clcompute.operations.plans"

local kernels = {}

local states = setmetatable({}, { __mode = "k" })

--- What is kept of a device: {facts=, kernels=, scratch=, plans=}.
function kernels.state(device)
  local state = states[device]
  if not state then
    state = { facts = plans.facts(device), kernels = {}, scratch = {}, plans = {} }
    states[device] = state
  end
  return state
end

--- The plan of an operation on n elements; the last one is kept.
function kernels.plan(state, operation, n)
  local plan = state.plans[operation]
  if not plan or plan.n ~= n then
    plan = plans.of(state.facts, operation, n)
    plan.n = n
    state.plans[operation] = plan
  end
  return plan
end

--- Forgets what is kept of a device, as when its facts change.
function kernels.forget(device)
  states[device] = nil
end

--- The kernel of a file with macros. An error shows the text it is of.
-- @string where begins messages
-- @string text what the script wrote
-- @tparam Device device
-- @string name the file
-- @tparam table macros
-- @treturn Kernel
function kernels.build(where, text, device, name, macros)
  local dtype = "float"
  for _, value in pairs(macros) do
    if type(value) == "string" and value:find "%f[%w]double%f[%W]" then dtype = "double" end
  end
  local ok, result = pcall(device.kernel, device, name, { dtype = dtype, defines = macros })
  if ok then return result end
  local log = tostring(result):gsub("%f[%w_]" .. expression.PREFIX, "")
  log = log:gsub("^bad argument #1 to '%?' %((.*)%)$", "%1") -- of a device that was closed; here it is no argument
  error(("%s: \"%s\" does not build: %s"):format(where, text, log), 0)
end

--- Takes a buffer of at least n elements out of what is kept under a key; `give` brings it back. A finalizer that
-- reduces meanwhile takes another one.
function kernels.take(state, device, key, n, dtype)
  local buffer = state.scratch[key]
  state.scratch[key] = nil
  if not buffer or #buffer < n then buffer = device:empty(dtype or key, n) end
  return buffer
end

function kernels.give(state, key, buffer)
  state.scratch[key] = buffer
end

return kernels
