-- SPDX-License-Identifier: MIT
--- Warns of loops that a device's compiler gets wrong: those with a barrier whose condition calls get_local_size
-- (POCL 3.1). Whether it does is found out when the first such source is built.
-- @module clcompute.answers.loop_warning

local answers = require "clcompute.answers.answers"
local verdict_on = require "clcompute.answers.verdict"

local MESSAGE = "clcompute: %s:%d: get_local_size in a loop condition: this device's compiler (%s, %s) gets such loops"
  .. " wrong; %s"

--- The warning of a loop in a line of a source.
local function message(device, name, line)
  local where = device.platform .. " " .. device.driver
  return MESSAGE:format(name, line, device.name, where, answers.local_size_loop.remedy)
end

--- Called by d:program with the line of the first such loop.
return function(device, name, line)
  if verdict_on(device, answers.local_size_loop) == "fault" then warn(message(device, name, line)) end
end
