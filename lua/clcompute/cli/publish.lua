-- SPDX-License-Identifier: MIT

--- What the commands that measure have in common: which devices, and how the result is shown.
-- @module clcompute.cli.publish

local need = require "clcompute.cli.need"
local output = require "clcompute.cli.output"
local process = require("clcompute.base").process
local write_file = require("clcompute.base").write_file

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

--- Whether a file can be written. Only asks: opening it would empty a page, or leave an empty one.
local function is_writable(path)
  local file = process.quote(path)
  if path == "" then return false end
  if os.execute("test -e " .. file) then
    return os.execute(("test ! -d %s && test -w %s"):format(file, file))
  end
  local folder = process.quote(path:match "^.*/" or ".")
  return os.execute(("test -d %s && test -w %s"):format(folder, folder))
end

--- Makes a folder where there is none; returns whether files can be written in it.
local function make_folder(path)
  local folder = process.quote(path)
  return os.execute(("mkdir -p -- %s 2>/dev/null && test -w %s"):format(folder, folder))
end

--- Raises what would keep the result from being shown or kept: to be called before anything is measured.
-- @tparam table options those of `configure`, and `rows`, a folder, which is made
-- @raise a missing lua-dkjson, or a file or folder that cannot be written
function publish.check(options)
  if options.json or options.rows then need.module("dkjson", "lua-dkjson") end
  if options.html and not is_writable(options.html) then
    error(("--html: cannot write '%s'"):format(options.html), 0)
  end
  if options.rows and not make_folder(options.rows) then
    error(("--rows: cannot write in folder '%s'"):format(options.rows), 0)
  end
end

--- The devices to be measured.
-- @treturn table a list that is not empty
function publish.devices(options)
  if options.device then return { need.device(options.device) } end
  local devices = need.library().devices()
  if #devices == 0 then error("no OpenCL device; `clcompute doctor` says what to install", 0) end
  return devices
end

local function as_text(report, document, options)
  if options.json then return report.json(document) end
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
