-- SPDX-License-Identifier: MIT

--- What kernels are shaped for: the numbers of a device, or of another kind of device, and those that a call is given.

local options = require("clcompute.base").options
local tuning = require "clcompute.tuning"

local kernel_target = {}

--- A row with the numbers that were given in place of its own, groups that the device can have, and its bytes of local
-- memory.
local function changed(row, given, facts)
  row = options.merge(row, given.tiles or {})
  local fault = tuning.rules.fault("loops", row, facts)
  if fault then error(("option 'tiles': %s"):format(fault), 0) end
  if row.group then row.group = math.max(1, math.min(row.group, math.floor(facts.max_group ^ 0.5))) end
  row.local_memory = facts.local_memory
  return row
end

--- The numbers of a device, or of another kind of device than it is.
local function row_of(device, dtype, given)
  local facts = tuning.facts(device, dtype)
  if given.target and given.target ~= (device.type == "cpu" and "cpu" or "gpu") then
    return changed(tuning.choose(tuning.known.loops, options.merge(facts, { type = given.target })), given, facts)
  end
  return changed(tuning.of(device, "loops", dtype), given, facts)
end

--- A text that is the same for the same numbers.
local function key_of(row)
  local parts = {}
  for name, value in pairs(row) do
    if type(value) ~= "table" then parts[#parts + 1] = ("%s=%s"):format(name, value) end
  end
  table.sort(parts)
  return table.concat(parts, ",")
end

--- Finds the numbers.
-- @tparam Device device
-- @tparam table given `target` and `tiles` of `clcompute.loops`
-- @treturn table `is_wide`: whether a work-item has one pass, as GPUs need many; `float` and `double`: rows of numbers;
-- `has_long_atomics`: whether it adds to 64-bit integers in one step; `has_masks`: whether it computes with vectors of
-- truth values; `may_wait`: whether its groups are threads, of which one may wait for another; `spread`, as in
-- `tuning.known.loops`; `key`, a string
function kernel_target.of(device, given)
  local float, double = row_of(device, "float", given), row_of(device, "double", given)
  if float.kernel ~= double.kernel then
    error(("the numbers of loops are those of '%s' for floats, of '%s' for doubles"):format(float.kernel,
      double.kernel), 0)
  end
  local has_long_atomics = device.extensions:find("cl_khr_int64_base_atomics", 1, true) ~= nil
  local has_masks = device.platform ~= "Oclgrind" -- which takes the opposite of true for 254
  local is_wide = float.kernel == "items"
  local may_wait = not is_wide and device.type == "cpu" and device.compute_units > 1 and device.platform ~= "Oclgrind"
  return { is_wide = is_wide, float = float, double = double, has_long_atomics = has_long_atomics,
    has_masks = has_masks, may_wait = may_wait, spread = float.spread,
    key = ("%s;%s;%s;%s;%s"):format(key_of(float), key_of(double), has_long_atomics, has_masks, may_wait) }
end

--- The same, for calls whose arrays of their own would be too large.
-- @tparam table target
-- @tparam integer thrift 0: they may be any; 1: passes have none; 2: there are none
function kernel_target.thrifty(target, thrift)
  return setmetatable({ thrift = thrift, key = ("%s;%d"):format(target.key, thrift) }, { __index = target })
end

--- Numbers for those who read where there is no device.
-- @tparam table given as for `of`
function kernel_target.without_device(given)
  local facts = { type = given.target or "cpu", vector = 16, size = 4, max_group = 256, name = "no device",
    platform = "none", capability = 0, local_memory = 1 << 15, dtype = "float" }
  local row = changed(tuning.choose(tuning.known.loops, facts), given, facts)
  local is_wide = row.kernel == "items"
  return { is_wide = is_wide, float = row, double = row, has_masks = true, may_wait = not is_wide, spread = row.spread,
    key = key_of(row) }
end

--- What is wrong with the numbers that are given, whatever device they will be for.
-- @tparam table given as for `of`
-- @treturn ?string nil: nothing
function kernel_target.fault(given)
  local fault
  for _, kind in ipairs { given.target or "cpu", given.target or "gpu" } do
    local ok, message = pcall(kernel_target.without_device, options.merge(given, { target = kind }))
    if ok then return nil end
    fault = fault or message
  end
  return fault
end

--- The numbers, found once for a compiled function and a device, until numbers change.
-- @tparam table state of `clcompute.loops`
-- @tparam Device device
function kernel_target.kept(state, device)
  if state.generation ~= tuning.generation() then
    state.targets, state.generation = setmetatable({}, { __mode = "k" }), tuning.generation()
  end
  state.targets[device] = state.targets[device] or kernel_target.of(device, state.options)
  return state.targets[device]
end

return kernel_target
