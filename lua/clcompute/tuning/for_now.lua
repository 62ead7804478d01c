-- SPDX-License-Identifier: MIT
--- Plain kernels for now: a device's fast ones take seconds to build and to judge. Until the plain ones have taken as
-- long, they serve; most scripts never come to that.

local answers = require "clcompute.answers"
local behind = require "clcompute.tuning.behind"
local internal = require "clcompute.core.internal"

local for_now = {}

-- Multiply-adds of plain kernels. From `behind` on another process builds the fast ones: a script that computed for an
-- eighth of a second goes on. With `enough` they have taken as long as that build, 4 s on a CPU, 4 to 6 s on a GPU, and
-- the script waits for it. `alone`: where there is no other process, 2 s. Who multiplies on a GPU for 8 ms looks at the
-- speed, and waits once; systems of equations, of which one group solves each, serve for half a second.
local LIMITS = {
  gemm = {
    cpu = { behind = 1 << 27, enough = 1 << 32, alone = 1 << 31 },
    gpu = { behind = 1 << 31, enough = 1 << 43, alone = 1 << 34 },
  },
  lu = { gpu = { behind = 1 << 26, enough = 1 << 34, alone = 1 << 29 } },
}

local done = {} -- multiply-adds, by device, operation and dtype

--- Whether plain kernels have served long enough; starts the process that builds the fast ones when it is time.
local function is_enough(device, operation, dtype, limits, work)
  local key = ("%s %s %s"):format(device.place, operation, dtype)
  done[key] = (done[key] or 0) + work
  local is_between = done[key] >= limits.behind and done[key] < limits.enough
  local is_begun = is_between and behind.begin(device, operation, dtype)
  return done[key] >= (is_begun and limits.enough or limits.alone)
end

--- The verdict on the fast kernels of an operation, where it is known or worth to be found out.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @tparam table test
-- @tparam ?number work multiply-adds of this call; nil: plain kernels may not serve
-- @treturn ?string nil: plain kernels are to serve for now
function for_now.verdict(device, operation, dtype, test, work)
  local limits = LIMITS[operation] and LIMITS[operation][device.type]
  if not (work and limits) or device.platform == "Oclgrind" or internal.builds_all then
    return answers.verdict(device, test)
  end
  local kept = answers.kept_verdict(device, test)
  if kept then return kept end
  return is_enough(device, operation, dtype, limits, work) and answers.verdict(device, test) or nil
end

return for_now
