-- SPDX-License-Identifier: MIT

--- Everything built before it is needed: what `clcompute warm` does, and how a script asks for its fast products.

local arity = require("clcompute.base").arity
local cold = require "clcompute.warm.cold"
local core = require "clcompute.core"
local internal = require "clcompute.core.internal"
local options = require("clcompute.base").options
local shares = require "clcompute.warm.shares"
local tuning = require "clcompute.tuning"

local warm = {}

local function check_device(value)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  if not meta or meta.__name ~= "clcompute.Device" then
    error("ready: Device expected, got " .. options.type_of(value), 3)
  end
end

--- A product by the fast kernel, which that builds where a verdict is kept, but no build.
local function multiply(device, dtype)
  local a <close> = device:zeros(dtype, 64, 64)
  core.gemm(a, a, { kernel = "fast" }):release()
end

--- Builds and judges a device's fast products and systems, unless they are there.
function warm.ready(device)
  check_device(device)
  local notice <close> = internal.notice "building the fast kernels" -- luacheck: no unused
  for _, dtype in ipairs(tuning.dtypes(device)) do
    tuning.of(device, "gemm", dtype)
    multiply(device, dtype)
    tuning.of(device, "lu", dtype)
  end
  device:wait()
  return device
end

--- Builds and judges all that operations take on a device, and keeps it. As many processes as there are processors do.
-- @tparam Device device
-- @tparam ?string only a text that the names of operations and dtypes have; nil: all of them
-- @tparam ?function tell called with what comes next, how many have been, and the seconds that each takes somewhere
-- @treturn integer of how many
function warm.build(device, only, tell)
  return shares.run_all(device, only or "", tell or function() end)
end

warm.share = shares.run

warm.cold = cold.measure

return arity.functions(warm)
