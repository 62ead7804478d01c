-- SPDX-License-Identifier: MIT
--- Tests of the fast kernels of this library, in a process of their own: a driver may end it.
-- @module clcompute.doctor.trial

local cl = require "clcompute"
local known_answer = require "clcompute.answers.known_answer"
local operations = require "clcompute.answers.operations"
local process = require("clcompute.base").process

local trial = {}

--- Runs every test on a device and puts a record for each.
-- @string place of the device
function trial.run(place)
  local device = cl.device(place)
  for _, key in ipairs(operations.keys()) do
    process.put("begin", operations.rows[key].name)
    local status, detail = known_answer.run(device, operations.rows[key])
    process.put("operation", key, status, detail or "right")
  end
end

return trial
