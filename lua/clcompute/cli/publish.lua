-- SPDX-License-Identifier: MIT

--- What the commands that measure have in common: which devices, and how the result is shown.
-- @module clcompute.cli.publish

local need = require "clcompute.cli.need"
local output = require "clcompute.cli.output"

local publish = {}

local WIDTH = 140 -- of tables, where the output is no terminal whose width is known

--- Adds the options for `publish.devices` and `publish.document`.
function publish.configure(parser)
  parser:option("--device", "Only this device: gpu, cpu, accelerator, part of its name, or 0:1.")
    :argname "<selector>"
  parser:option("--html", "Also write a page with charts."):argname "<file>"
  parser:mutex(
    parser:flag("--json", "Print JSON instead of tables."),
    parser:flag("--markdown", "Print Markdown."),
    parser:flag("--csv", "Print comma-separated values."))
end

--- The devices to be measured.
-- @treturn table a list that is not empty
function publish.devices(options)
  if options.device then return { need.device(options.device) } end
  local devices = need.library().devices()
  if #devices == 0 then error("no OpenCL device; `clcompute doctor` says what to install", 0) end
  return devices
end

local function write_file(path, text)
  local file, message = io.open(path, "wb")
  if not file then error(message, 0) end
  local written, why = file:write(text)
  local closed, reason = file:close()
  if not (written and closed) then error(("%s: %s"):format(path, why or reason), 0) end
end

local function as_text(report, document, options)
  if options.json then
    need.module("dkjson", "lua-dkjson")
    return report.json(document)
  end
  if options.markdown then return report.markdown(document) end
  if options.csv then return (report.csv(document):gsub("\r?\n$", "")) end
  return report.text(document, { width = math.max(40, math.tointeger(tonumber(os.getenv "COLUMNS")) or WIDTH) })
end

--- Whether a row says that something computed a wrong result, or raised.
local function has_failed(document)
  for _, section in ipairs(document.sections) do
    for _, row in ipairs(section.rows or {}) do
      if row.status == "failed" then return true end
    end
  end
  return false
end

--- Prints a document of `clcompute.report`, and writes its page where that is asked for.
-- @treturn integer the exit code: 1 when a measurement failed
function publish.document(document, options)
  local report = require "clcompute.report"
  output.print(as_text(report, document, options))
  if options.html then write_file(options.html, report.html(document)) end
  return has_failed(document) and 1 or 0
end

return publish
