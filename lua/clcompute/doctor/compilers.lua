-- SPDX-License-Identifier: MIT
--- Runs the known-answer tests of each device of a report in child processes. The test during which a driver ended or
-- stopped a child is a fault; the next child goes on with the test after it. A wrong answer that the library avoids is
-- a warning.

local answers = require "clcompute.answers"
local child = require "clcompute.doctor.child"
local drivers = require "clcompute.doctor.drivers"
local process = require("clcompute.base").process

local compilers = {}

local DEATHS = 2 -- of a driver, after which the rest of its tests is skipped
local TESTS = answers.compiler_tests.list
local UPDATE = "update the driver, or choose another device with $CLCOMPUTE_DEVICE"

--- The row of a test, of a record of `clcompute.doctor.probe`.
local function add_answer(report, device, test, record)
  local _, _, status, detail, ran = table.unpack(record)
  local check = ("%s %s"):format(device.place, test.name)
  if status ~= "fault" then return report:add(check, status, detail) end
  if test.avoided and ran == "true" then status = "warning" end
  report:add(check, status, ("%s: %s"):format(detail, test.consequence), test.remedy)
end

--- Runs the tests from `first` on in one child; returns the number of the one that ended it, if any.
local function run_answers(report, device, first, limit)
  local records, ended = child.call(limit, "probe.answers(...)", device.place, tostring(first))
  for _, record in ipairs(records) do
    if record[1] == "answer" then add_answer(report, device, TESTS[tonumber(record[2])], record) end
  end
  if not ended then return nil end
  local guilty = tonumber(child.last_begun(records)) or first
  local last = records[#records]
  if last and last[1] == "answer" then
    report:add(device.place .. " end of the process", "fault", ended, UPDATE)
  else
    report:add(("%s %s"):format(device.place, TESTS[guilty].name), "fault", ended, UPDATE)
  end
  return guilty
end

local function examine_answers(report, device, limit)
  local first, deaths = 1, 0
  while first <= #TESTS do
    local guilty = run_answers(report, device, first, limit)
    if not guilty then return end
    first, deaths = guilty + 1, deaths + 1
    if deaths == DEATHS and first <= #TESTS then
      return report:add(device.place .. " further tests", "skipped", ("the process died %d times"):format(deaths))
    end
  end
end

--- The tests of the library's own kernels, in one more child.
local function examine_operations(report, device, limit)
  local records, ended = child.call(limit, "probe.operations(require 'clcompute', ...)", device.place)
  for _, record in ipairs(records) do
    local test = record[1] == "operation" and answers.operation_tests.rows[record[2]]
    if test then add_answer(report, device, test, record) end
  end
  if ended then
    report:add(("%s %s"):format(device.place, child.last_begun(records) or "operations"), "fault", ended, UPDATE)
  end
end

--- A reason to leave a device's tests out, or nil.
local function untestable(device, has_linker)
  if not device.has_compiler then return "no compiler" end
  if drivers.is_pocl(device.platform) and not has_linker then return "no ld: the driver would abort the process" end
end

--- Adds the rows of the devices that the report lists; `limit`: seconds for each process; `progress(text)` is told what
-- begins.
function compilers.examine(report, limit, progress)
  local has_linker = process.find "ld" ~= nil
  for _, device in ipairs(report.devices) do
    local reason = untestable(device, has_linker)
    if reason then
      report:add(device.place .. " known answers", "skipped", reason)
    else
      progress("testing the compiler of " .. device.name)
      examine_answers(report, device, limit)
      progress("testing operations on " .. device.name)
      examine_operations(report, device, limit)
    end
  end
end

return compilers
