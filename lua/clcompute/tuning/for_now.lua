-- SPDX-License-Identifier: MIT
--- A plain kernel for now: a device's fast product takes seconds to build and to judge. Until the plain ones have taken
-- as long, they serve; most scripts never come to that.

local answers = require "clcompute.answers"
local internal = require "clcompute.core.internal"

local for_now = {}

-- Multiply-adds of plain products: on a CPU they take as long as a fast one's build, 2 s. On a GPU they take 8 ms, and
-- the build 4 s: who multiplies more than that looks at the speed, and waits once.
local ENOUGH = { cpu = 1 << 31, gpu = 1 << 34 }

local done = {} -- multiply-adds, by key

--- Whether a plain product may serve on a device.
function for_now.serves(device)
  return ENOUGH[device.type] and device.platform ~= "Oclgrind" and not internal.builds_all
end

--- The verdict on the fast kernel, where it is known or worth to be found out.
-- @string key of the device, operation and dtype
-- @tparam table test
-- @tparam number work multiply-adds of this product
-- @treturn ?string nil: a plain kernel is to serve for now
function for_now.verdict(device, key, test, work)
  done[key] = (done[key] or 0) + work
  local is_enough = done[key] >= ENOUGH[device.type]
  return answers.kept_verdict(device, test) or is_enough and answers.verdict(device, test) or nil
end

return for_now
