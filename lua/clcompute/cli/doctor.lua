-- SPDX-License-Identifier: MIT

--- `clcompute doctor`: what is wrong with OpenCL here, and its remedy. Needs neither OpenCL nor the C core.

local command_line = require "clcompute.cli.command_line"
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
    "clcompute doctor --cold         # what the first calls cost where nothing is built",
  },
}

--- Adds the options.
function doctor.configure(parser)
  parser:option("--device", "Only this device: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:flag("--quick", "Leave the known-answer tests out.")
  parser:flag("--cold", "Measure the first calls of operations on empty caches instead.")
  parser:flag("--json", "Print JSON.")
end

--- Seconds of processor time by phase, of these POCL's own by the clock; then those of the clock.
local COLD = { { key = "name", title = "first call" } }
for _, column in ipairs { { "source", "front end" }, { "launch", "work-groups" }, { "binary", "binaries" },
  { "vectoriser", "vectoriser" }, { "code", "code" }, { "link", "link" }, { "judged", "known answers" },
  { "all", "CPU s" }, { "seconds", "s" } } do
  COLD[#COLD + 1] = { key = column[1], title = column[2], format = "%.2f", align = "right" }
end

local LEGEND = [[
Seconds of processor time on empty caches: "front end" reads the source; "work-groups" compiles kernels at their first
launch, and computes; "binaries" compiles programs to keep them; "known answers" tries the compiler, with all that is
built for it; "CPU s" is all. Seconds by the clock: "vectoriser", "code" and "link" are POCL's, within work-groups and
binaries; "s" is the time to the result.]]

--- The rows of the table: below each call its kernels.
local function cold_rows(measured)
  local rows = {}
  for _, row in ipairs(measured) do
    rows[#rows + 1] = row
    for _, kernel in ipairs(row.kernels or {}) do
      rows[#rows + 1] = setmetatable({ name = "  " .. kernel.name }, { __index = kernel })
    end
  end
  return rows
end

local function show_cold(options)
  if options.device then command_line.device(options.device) end -- what is wrong with it is told once
  command_line.library()
  local rows = require "clcompute.warm".cold(options.device)
  output.print(options.json and output.json(rows) or output.table(COLD, cold_rows(rows)) .. "\n\n" .. LEGEND)
  for _, row in ipairs(rows) do
    if row.fault then error(row.name .. ": " .. row.fault, 0) end
  end
  return 0
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
  if options.cold then return show_cold(options) end
  local show = output.progress()
  local report = require "clcompute.doctor".examine { device = options.device, answers = not options.quick,
    progress = function(event) show(event) end }
  show:close()
  if options.json then output.print(output.json(report)) else output.print_verdicts(fitted(tostring(report))) end
  return report.faults == 0 and 0 or 1
end

return doctor
