-- SPDX-License-Identifier: MIT
--- The doctor's tests of this library's fast kernels, in a process of its own: a driver may end it.
-- @module clcompute.doctor.trial

local cl = require "clcompute"
local known_answer = require "clcompute.doctor.known_answer"
local operations = require "clcompute.doctor.operations"
local process = require "clcompute.doctor.process"

local trial = {}

--- { "operation", key, status, detail } for each test.
function trial.operations(selector)
  local device = cl.device(selector)
  for _, key in ipairs(operations.keys()) do
    process.put("begin", operations.rows[key].name)
    local status, detail = known_answer.run(device, operations.rows[key])
    process.put("operation", key, status, detail or "right")
  end
end

return trial
