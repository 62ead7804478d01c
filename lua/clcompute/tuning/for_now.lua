-- SPDX-License-Identifier: MIT
--- Plain kernels for now: a device's fast ones take seconds to build and to judge. Until the plain ones have taken as
-- long, they serve; most scripts never come to that.

local answers = require "clcompute.answers"
local internal = require "clcompute.core.internal"

local for_now = {}

-- Multiply-adds of plain products: on a CPU they take as long as a fast one's build, 2 s. On a GPU they take 8 ms, and
-- the build 4 s: who multiplies more than that looks at the speed, and waits once. Systems on a GPU, half a second of
-- them: one group solves each.
local ENOUGH = { gemm = { cpu = 1 << 31, gpu = 1 << 34 }, lu = { gpu = 1 << 29 } }

local done = {} -- multiply-adds, by device, operation and dtype

--- The verdict on the fast kernels of an operation, where it is known or worth to be found out.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @tparam table test
-- @tparam ?number work multiply-adds of this call; nil: plain kernels may not serve
-- @treturn ?string nil: plain kernels are to serve for now
function for_now.verdict(device, operation, dtype, test, work)
  local enough = ENOUGH[operation] and ENOUGH[operation][device.type]
  if not (work and enough) or device.platform == "Oclgrind" or internal.builds_all then
    return answers.verdict(device, test)
  end
  local key = ("%s %s %s"):format(device.place, operation, dtype)
  done[key] = (done[key] or 0) + work
  local is_enough = done[key] >= enough
  return answers.kept_verdict(device, test) or is_enough and answers.verdict(device, test) or nil
end

return for_now
