-- SPDX-License-Identifier: MIT
--- Plain kernels for now: a device's fast ones take seconds to build and to judge. Meanwhile the plain ones serve; most
-- scripts never come to more.

local answers = require "clcompute.answers"
local behind = require "clcompute.tuning.behind"
local internal = require "clcompute.core.internal"

local for_now = {}

-- Multiply-adds of plain kernels, of products for each compute unit, as they take all of a device, where a system of
-- equations takes a unit. `behind`: then another process builds the fast ones, after an eighth of a second on two
-- cores, 1 ms of products and 0.1 s of systems on an H100. On a GPU plain ones serve until it ends; on a CPU they keep
-- it from its core. `enough`: there who has computed as much waits, and where no other process builds. `single`: so
-- does a call that takes about as long as the build.
local LIMITS = {
  gemm = {
    cpu = { behind = 1 << 26, single = 1 << 30, enough = 1 << 30 },
    gpu = { behind = 1 << 24, single = 1 << 32, enough = 1 << 27 },
  },
  lu = { gpu = { behind = 1 << 26, single = 1 << 31, enough = 1 << 29 } },
}

local done = {} -- multiply-adds, by what is built

--- A name for what is built: the same for devices of a kind, another one for isolated ones, as tests of kernels have.
local function key_of(device, operation, dtype)
  return answers.key(device, { name = operation .. " " .. dtype, kernels = "" })
end

--- Counts the multiply-adds of a call.
function for_now.count(device, operation, dtype, work)
  local key = key_of(device, operation, dtype)
  done[key] = (done[key] or 0) + work
end

--- Whether to wait for the fast kernels.
local function is_enough(device, operation, dtype, work)
  local limits, key = LIMITS[operation][device.type], key_of(device, operation, dtype)
  local units = operation == "gemm" and device.compute_units or 1
  if work >= limits.single * units then return true end
  local is_built = done[key] >= limits.behind * units and behind.builds(device, operation, dtype, key)
  return done[key] >= limits.enough * units and not (is_built and device.type == "gpu")
end

--- The verdict on the fast kernels of an operation, where it is known or worth to be found out.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @tparam table test
-- @tparam ?number work multiply-adds of this call, which were counted; nil: plain kernels may not serve
-- @treturn ?string nil: plain kernels are to serve for now
function for_now.verdict(device, operation, dtype, test, work)
  local can_wait = work and LIMITS[operation] and LIMITS[operation][device.type]
  if not can_wait or device.platform == "Oclgrind" or internal.builds_all then return answers.verdict(device, test) end
  local kept = answers.kept_verdict(device, test)
  if kept then
    behind.forget(key_of(device, operation, dtype))
    return kept
  end
  return is_enough(device, operation, dtype, work) and answers.verdict(device, test) or nil
end

return for_now
