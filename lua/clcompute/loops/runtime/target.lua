-- SPDX-License-Identifier: MIT

--- What kernels are shaped for: the numbers of a device, or of another kind of device, and those that a call is given.
-- @module clcompute.loops.runtime.target

local known = require "clcompute.tuning.known"
local options = require "clcompute.options"
local rules = require "clcompute.tuning.rules"
local tuning = require "clcompute.tuning"

local target = {}

--- The numbers of a device, or of another kind of device than it is; groups that it can have.
local function own_row(device, facts, kind)
  local row
  if kind and kind ~= (device.type == "cpu" and "cpu" or "gpu") then
    row = tuning.choose(known.loops, options.merge(facts, { type = kind }))
  else
    row = tuning.of(device, "loops", facts.dtype)
  end
  if row.group then row.group = math.max(1, math.min(row.group, math.floor(facts.max_group ^ 0.5))) end
  return row
end

local function row_of(device, dtype, given)
  local facts = tuning.facts(device, dtype)
  local row = options.merge(own_row(device, facts, given.target), given.tiles or {})
  local fault = rules.fault("loops", row, facts)
  if fault then error(("option 'tiles': %s"):format(fault), 0) end
  return row
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
-- `key`, a string
function target.of(device, given)
  local float, double = row_of(device, "float", given), row_of(device, "double", given)
  return { is_wide = float.kernel == "items", float = float, double = double,
    key = key_of(float) .. ";" .. key_of(double) }
end

--- Numbers for those who read where there is no device.
-- @tparam table given as for `of`
function target.without_device(given)
  local facts = { type = given.target or "cpu", vector = 16, size = 4, max_group = 256, name = "no device" }
  local row = options.merge(tuning.choose(known.loops, options.merge(facts, { dtype = "float" })), given.tiles or {})
  return { is_wide = row.kernel == "items", float = row, double = row, key = key_of(row) }
end

local WEAK = { __mode = "k" }

local kept, generation = setmetatable({}, WEAK), nil

--- The same, found once for each device and until numbers change.
-- @tparam table state of `clcompute.loops`
-- @tparam Device device
function target.kept(state, device)
  if generation ~= tuning.generation() then kept, generation = setmetatable({}, WEAK), tuning.generation() end
  kept[device] = kept[device] or setmetatable({}, WEAK)
  local of_device, own = kept[device], state.options.tiles and state or state.options.target or "its own"
  of_device[own] = of_device[own] or target.of(device, state.options)
  return of_device[own]
end

return target
