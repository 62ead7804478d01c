-- SPDX-License-Identifier: MIT

--- What a command prints. On standard output a write that fails is an error: a full disk must not look like success.
-- @module clcompute.cli.output

local need = require "clcompute.cli.need"
local write_file = require("clcompute.base").write_file

local output = {}

local EPIPE = 32
local WIDTH = 140 -- of tables, where the output is no terminal whose width is known

--- Raised when the reader went away, as `head` does: no fault of the command, which ends in silence.
output.BROKEN_PIPE = setmetatable({}, { __tostring = function() return "broken pipe" end })

local function check(ok, message, code)
  if ok then return end
  if code == EPIPE then error(output.BROKEN_PIPE, 0) end
  error("standard output: " .. message, 0)
end

--- Writes a text and a newline.
-- @tparam string text
-- @raise when it cannot be written, here or in `flush`
function output.print(text)
  check(io.stdout:write(text, "\n"))
end

--- Hands on what was printed; the last call of a command.
-- @raise when it cannot be written
function output.flush()
  check(io.stdout:flush())
end

--- Writes an error as one line on standard error.
-- @tparam string message its own line breaks become blanks
function output.complain(message)
  local line = message:gsub("^clcompute: ", ""):gsub("%s*\n%s*", " ")
  io.stderr:write("clcompute: ", line, "\n")
end

--- Writes what is wrong with a file on standard error, as it is: its first line begins with the place, which editors
-- look for.
-- @tparam string text
function output.show_fault(text)
  io.stderr:write(text, "\n")
end

-- --- JSON -----------------------------------------------------------------------

--- A copy without metatables, whose inherited fields dkjson would take for the table's own; adds the names of all
-- fields, at any depth, to a set.
local function copy(value, names)
  if type(value) ~= "table" then return value end
  local plain = {}
  for key, member in next, value do
    if type(key) == "string" then names[key] = true end
    plain[key] = copy(member, names)
  end
  return plain
end

--- What `--json` prints: a value as indented JSON, whose keys are in order, so that two outputs compare. An empty table
-- is a list.
-- @param value tables, strings, numbers and booleans
-- @treturn string
-- @raise when Debian's lua-dkjson is missing
function output.json(value)
  local dkjson = need.module("dkjson", "lua-dkjson")
  local names, order = {}, {}
  local plain = copy(value, names)
  for name in pairs(names) do order[#order + 1] = name end
  table.sort(order)
  return dkjson.encode(plain, { indent = true, keyorder = order })
end

-- --- reports --------------------------------------------------------------------

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
-- @tparam table document
-- @tparam table options of `command_line.add_output`
-- @treturn integer the exit code: 1 when a measurement failed
function output.document(document, options)
  local report = require "clcompute.report"
  output.print(as_text(report, document, options))
  if options.html then write_file(options.html, report.html(document)) end
  return has_failed(document) and 1 or 0
end

return output
