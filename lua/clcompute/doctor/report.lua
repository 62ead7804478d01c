-- SPDX-License-Identifier: MIT
--- What the doctor found: rows, and the report as text.
-- @module clcompute.doctor.report

local interrupt = require("clcompute.base").interrupt

local Report = {}
Report.__index = Report
Report.__name = "clcompute.Report"

local AUTHORS = "report this text to the authors of clcompute"

--- Adds a row.
function Report.add(report, check, status, detail, remedy)
  report.rows[#report.rows + 1] = { check = check, status = status, detail = detail, remedy = remedy }
  if status == "fault" then report.faults = report.faults + 1 end
end

--- Adds the row of a check that raised; Ctrl-C is no fault, it ends the examination.
local function add_failure(report, name, message)
  interrupt.pass_on(message)
  report:add(name, "fault", "the check failed: " .. tostring(message), AUTHORS)
end

--- Adds the row of a check that returns status, detail and remedy; one that raises is a fault itself.
function Report.check(report, name, check, ...)
  local ok, status, detail, remedy = pcall(check, ...)
  if ok then return report:add(name, status, detail, remedy) end
  add_failure(report, name, status)
end

--- Calls f(report, ...), which adds rows itself; returns its result. That it raises is a fault.
function Report.guard(report, name, f, ...)
  local ok, result = pcall(f, report, ...)
  if ok then return result end
  add_failure(report, name, result)
end

local function indent(text)
  return (text:gsub("\n", "\n           "))
end

--- The report as text: a line for each row, below it the remedy.
function Report.__tostring(report)
  local lines = { ("clcompute doctor: %d %s in %d checks"):format(
    report.faults, report.faults == 1 and "fault" or "faults", #report.rows) }
  for _, row in ipairs(report.rows) do
    lines[#lines + 1] = ("  %-7s  %s%s"):format(row.status, row.check, row.detail and ": " .. indent(row.detail) or "")
    if row.remedy then lines[#lines + 1] = "           remedy: " .. indent(row.remedy) end
  end
  return table.concat(lines, "\n")
end

--- An empty report.
function Report.new()
  return setmetatable({ rows = {}, faults = 0, icds = {}, platforms = {}, devices = {} }, Report)
end

return Report
