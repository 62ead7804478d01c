-- SPDX-License-Identifier: MIT

--- Known answers: tests of a device's compiler and of this library's kernels on it, and the verdicts that are kept of
-- them. The tests are read without the C core too, which running them needs.

local compiler_tests = require "clcompute.answers.compiler_tests"

local answers = {
  compiler_tests = compiler_tests,
  operation_tests = require "clcompute.answers.operation_tests",
}

--- Runs a row of `compiler_tests` or `operation_tests` on a device, whatever is kept.
-- @return what `clcompute.answers.known_answer` says
function answers.run(device, test)
  return require "clcompute.answers.known_answer".run(device, test)
end

--- The verdict on a device: what is kept of a test, else what it says now.
-- @tparam Device device
-- @tparam table test a row of `compiler_tests` or `operation_tests`
-- @treturn string "ok", "fault" or "unknown": it could not be run
-- @raise what failed on the device before
function answers.verdict(device, test)
  return require "clcompute.answers.known_answer".verdict(device, test)
end

--- Whether a device's own work-group functions are right.
function answers.has_collectives(device)
  return answers.verdict(device, compiler_tests.collectives) == "ok"
end

--- Whether arrays in kernels may exceed what a device says of its local memory.
function answers.grants_large_arrays(device)
  return answers.verdict(device, compiler_tests.large_arrays) ~= "fault"
end

local LOOP_WARNING = "clcompute: %s:%d: get_local_size in a loop condition: this device's compiler (%s, %s) gets such"
  .. " loops wrong; %s"

--- Warns of a loop with a barrier whose condition calls get_local_size, where the device's compiler gets such loops
-- wrong (POCL 3.1).
-- @tparam Device device
-- @tparam string name of the source
-- @tparam integer line of the first such loop
function answers.warn_of_loop(device, name, line)
  local test = compiler_tests.local_size_loop
  if answers.verdict(device, test) ~= "fault" then return end
  local where = device.platform .. " " .. device.driver
  warn(LOOP_WARNING:format(name, line, device.name, where, test.remedy))
end

return answers
