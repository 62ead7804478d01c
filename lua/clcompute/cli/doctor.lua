-- SPDX-License-Identifier: MIT

--- `clcompute doctor`: what is wrong with OpenCL here, and its remedy. Needs neither OpenCL nor the C core.

local output = require "clcompute.cli.output"
local terminal = require "clcompute.cli.terminal"
local width = require("clcompute.base").width

local doctor = {
  name = "doctor",
  description = "Find out what is wrong with OpenCL on this machine. The exit code is 1 when there is a "
    .. "fault; what the library avoids is a warning.",
  examples = {
    "clcompute doctor                # everything",
    "clcompute doctor --quick        # without the tests of the compilers",
    "clcompute doctor --device 0:0 --json",
  },
}

--- Adds the options.
function doctor.configure(parser)
  parser:option("--device", "Only this device: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:flag("--quick", "Leave the known-answer tests out.")
  parser:flag("--json", "Print JSON.")
end

--- The report with rows as wide as the terminal. Remedies stay as they are: they are copied.
local function fitted(text)
  local columns, lines = terminal.width(math.huge), {}
  for line in text:gmatch "[^\n]+" do
    local verdict, rest = line:match "^(  %l+ +)(.*)$"
    local wrapped = verdict and width.wrap(rest, columns, verdict, (" "):rep(#verdict)) or { line }
    table.move(wrapped, 1, #wrapped, #lines + 1, lines)
  end
  return table.concat(lines, "\n")
end

--- Runs the command.
function doctor.run(options)
  local report = require "clcompute.doctor".examine { device = options.device, answers = not options.quick }
  if options.json then output.print(output.json(report)) else output.print_verdicts(fitted(tostring(report))) end
  return report.faults == 0 and 0 or 1
end

return doctor
