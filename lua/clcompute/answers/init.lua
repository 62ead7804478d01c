-- SPDX-License-Identifier: MIT

--- Known answers: tests of a device's compiler and of this library's kernels on it, and the verdicts that are kept of
-- them. The tests are read without the C core too, which running them needs. Who acts on a fault: `tuning.of`, which
-- takes a plain kernel then, the compiler of loops, the formats of images, and `clcompute doctor`.

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

--- The verdict that is known already; nil: the test has not been run.
function answers.kept_verdict(device, test)
  return require "clcompute.answers.known_answer".kept_verdict(device, test)
end

--- What a verdict depends on: driver and device, the text of the kernels, whether they are built in a worker.
function answers.key(device, test)
  return require "clcompute.answers.known_answer".key(device, test)
end

--- Whether a device's own work-group functions are right.
function answers.has_collectives(device)
  return answers.verdict(device, compiler_tests.collectives) == "ok"
end

--- Whether work-groups may wait for what those that began before them publish.
function answers.has_progress(device)
  return answers.verdict(device, compiler_tests.progress) == "ok"
end

--- Whether arrays in kernels may exceed what a device says of its local memory.
function answers.grants_large_arrays(device)
  return answers.verdict(device, compiler_tests.large_arrays) ~= "fault"
end

--- Whether kernels write to pinned memory of the host where the host has it (csrc/device/telling.c).
function answers.kernels_tell(device)
  return answers.verdict(device, compiler_tests.telling) == "ok"
end

--- Whether a device's kernels get images of single halves wrong.
function answers.misreads_halves(device)
  if require "clcompute.answers.known_answer".is_running() then return false end
  return answers.verdict(device, answers.operation_tests.rows["image half"]) == "fault"
end

local WARNING = "clcompute: %s: %s: this device's compiler (%s, %s) gets %s loops wrong; %s"
local CAREFUL = "the program is built with -cl-opt-disable"

--- Warns of loops that the device's compiler gets wrong (POCL 3.1), each by its own known answer.
-- @tparam Device device
-- @tparam boolean is_saved whether they are built: a careful device refuses them, without a warning
-- @tparam string|false ... for each row of `compiler_tests.loops` the place of the first such loop, "file:line"
-- @treturn boolean whether a careful device is not to run them as they are: it says that once
function answers.judge_loops(device, is_saved, ...)
  if require "clcompute.answers.known_answer".is_running() then return false end
  for i, loop in ipairs(compiler_tests.loops) do
    local place = select(i, ...)
    local minds = place and (device.careful or not loop.careful)
    if minds and answers.verdict(device, loop.test) == "fault" then
      if is_saved and device.careful then return true end
      local where, which = device.platform .. " " .. device.driver, loop.careful and "some such" or "such"
      warn(WARNING:format(place, loop.what, device.name, where, which, device.careful and CAREFUL or loop.remedy))
      if device.careful then return true end
    end
  end
  return false
end

return answers
