-- SPDX-License-Identifier: MIT
--- The rows of a sweep in a file, one JSON object a line, appended as they come; and which of them need not be measured
-- again. A last line that was cut off is taken away.

local report = require "clcompute.report"
local timing = require "clcompute.bench.timing"

local Journal = {}
Journal.__index = Journal

local function load_json()
  local ok, json = pcall(require, "dkjson")
  if ok then return json end
  error("sweep: option 'file' needs the Lua module dkjson; on Debian: apt install lua-dkjson", 0)
end

--- Opens the file, or raises in the name of the sweep.
local function open(path, mode)
  local file, message = io.open(path, mode)
  if not file then error(("sweep: option 'file': %s"):format(message), 0) end
  return file
end

--- Writes a text at the end of a file, or over what begins after so many bytes of it.
local function write(path, text, at)
  local file = open(path, at and "r+b" or "ab")
  if at then file:seek("set", at) end
  local ok, message = file:write(text)
  local closed, why = file:close()
  if not (ok and closed) then error(("sweep: %s: %s"):format(path, message or why), 0) end
end

--- The bytes of a file, which is made where there is none: that it can be written shows before anything is measured.
local function read(path)
  open(path, "ab"):close()
  local file <close> = open(path, "rb")
  local text, message = file:read "a"
  if not text then error(("sweep: option 'file': %s: %s"):format(path, message), 0) end
  return text
end

--- The row that a line holds and nothing else; nil, and whether the line is JSON of something else.
local function row_of(self, line)
  local ok, value, stop = pcall(self.json.decode, line)
  if not ok or value == nil then return nil, false end
  local is_row = type(value) == "table" and type(value.params) == "table" and type(value.status) == "string"
  if is_row and not line:find("%S", stop) then return value end
  return nil, true
end

--- Whether a last line without its end may be what is left of a row, so that nothing is lost with it. Behind rows it
-- is, whatever it holds: after a power cut that may be anything.
local function is_torn(self, line, is_json)
  return #self.rows > 0 or not is_json and (line:find "^{" or not line:find "[^\0]")
end

--- Reads the rows of a text.
-- @treturn integer the bytes before a line that was cut off, or all
local function parse(self, text)
  local number = 0
  for start, line, ending in text:gmatch "()([^\n]*)(\n?)" do
    number = number + 1
    local row, is_json = row_of(self, line)
    if row then
      self.rows[#self.rows + 1] = row
    elseif line:find "%S" then
      if ending == "" and is_torn(self, line, is_json) then return start - 1 end
      error(("sweep: %s: line %d is no row of a sweep"):format(self.path, number), 0)
    end
  end
  return #text
end

--- Opens the journal at a path; its rows are in `rows`. What was cut off is overwritten with line breaks where it
-- stands, so that a link stays one and no row is ever out of the file.
function Journal.open(path)
  local self = setmetatable({ path = path, rows = {}, json = load_json() }, Journal)
  local text = read(path)
  local whole = parse(self, text)
  if whole < #text then
    write(path, ("\n"):rep(#text - whole), whole)
  elseif text:find "[^\n]$" then
    write(path, "\n")
  end
  return self
end

--- Appends a row; it is in the file when this returns.
function Journal:append(row)
  write(self.path, report.jsonl { row })
end

-- --- what is done -----------------------------------------------------------------

--- How rows are measured now. One in the file that was measured otherwise does not stand for a new one.
-- @tparam table given
-- @tparam boolean everywhere whether the row names no driver: any device of the process may have mattered
function Journal.setup(given, everywhere)
  local version = timing.library and timing.library._VERSION or "no OpenCL"
  local words = { version, ("seconds %.14g"):format(given.seconds) }
  if given.rounds then words[#words + 1] = "rounds " .. given.rounds end
  if given.peak then words[#words + 1] = "peak" end
  if given.together then words[#words + 1] = "together " .. table.concat(given.together, " ") end
  if everywhere then words[#words + 1] = timing.machine() end
  return table.concat(words, ", ")
end

--- Whether a row of the file stands for a new one.
local function is_valid(row, given)
  if row.status ~= "ok" and row.status ~= "unsupported" then return false end
  if row.driver and not timing.is_here(row.device, row.driver) then return false end
  return row.setup == Journal.setup(given, not row.driver)
end

--- The rows that stand for new ones. Those of a sweep over other axes would stand for several points, or for none.
-- @tparam table given the checked options of the sweep
-- @string names of its axes
function Journal:valid(given, names)
  local list = {}
  for _, row in ipairs(self.rows) do
    if row.axes and row.axes ~= names then
      error(("sweep: option 'file': %s is of a sweep over %s, not over %s"):format(self.path, row.axes, names), 0)
    end
    if is_valid(row, given) then list[#list + 1] = row end
  end
  return list
end

return Journal
