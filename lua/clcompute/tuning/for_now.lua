-- SPDX-License-Identifier: MIT
--- Plain kernels for now: a device's fast ones take seconds to build and to judge. Meanwhile the plain ones serve; most
-- scripts never come to more.

local answers = require "clcompute.answers"
local behind = require "clcompute.tuning.behind"
local internal = require "clcompute.core.internal"

local for_now = {}

-- Multiply-adds of plain kernels, of products for each compute unit, as they take all of a device, where a system of
-- equations takes a unit. `behind`: then another process builds the fast ones, and plain ones serve until it ends. That
-- is an eighth of a second on two cores, 1 ms of products and 0.1 s of systems on an H100. `single`: a call that takes
-- about as long as the build waits for it. `alone`: where there is no other process, who has computed as much waits.
local LIMITS = {
  gemm = {
    cpu = { behind = 1 << 26, single = 1 << 30, alone = 1 << 30 },
    gpu = { behind = 1 << 24, single = 1 << 32, alone = 1 << 27 },
  },
  lu = { gpu = { behind = 1 << 26, single = 1 << 31, alone = 1 << 29 } },
}

local done = {} -- multiply-adds, by what the verdict depends on

--- Whether to wait for the fast kernels.
local function is_enough(device, operation, dtype, test, work)
  local limits, key = LIMITS[operation][device.type], answers.key(device, test)
  local units = operation == "gemm" and device.compute_units or 1
  done[key] = (done[key] or 0) + work
  if work >= limits.single * units then return true end
  if done[key] >= limits.behind * units and behind.builds(device, operation, dtype, key) then return false end
  return done[key] >= limits.alone * units
end

--- The verdict on the fast kernels of an operation, where it is known or worth to be found out.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @tparam table test
-- @tparam ?number work multiply-adds of this call; nil: plain kernels may not serve
-- @treturn ?string nil: plain kernels are to serve for now
function for_now.verdict(device, operation, dtype, test, work)
  local can_wait = work and LIMITS[operation] and LIMITS[operation][device.type]
  if not can_wait or device.platform == "Oclgrind" or internal.builds_all then return answers.verdict(device, test) end
  local kept = answers.kept_verdict(device, test)
  if kept then return kept end
  return is_enough(device, operation, dtype, test, work) and answers.verdict(device, test) or nil
end

return for_now
