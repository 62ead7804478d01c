-- SPDX-License-Identifier: MIT
--- Rows in a file, one JSON object a line, appended as they come. A line that was cut off is taken away.
-- @module clcompute.bench.journal

local report = require "clcompute.report"

local Journal = {}
Journal.__index = Journal

local function load_json()
  local ok, json = pcall(require, "dkjson")
  if ok then return json end
  error("sweep: option 'file' needs the Lua module dkjson; on Debian: apt install lua-dkjson", 0)
end

local function write(path, mode, text)
  local file = assert(io.open(path, mode))
  local ok, message = file:write(text)
  local closed, why = file:close()
  if not (ok and closed) then error(("sweep: %s: %s"):format(path, message or why), 0) end
end

--- The rows of a text, and the bytes up to its last whole line.
local function parse(self, text)
  local whole = 0
  for line, finish in text:gmatch "([^\n]*)\n?()" do
    local is_last = finish > #text
    local value = self.json.decode(line)
    if type(value) == "table" and type(value.params) == "table" then
      self.rows[#self.rows + 1], whole = value, finish - 1
    elseif line:find "%S" and not (line:find "^{" and is_last and text:sub(-1) ~= "\n") then
      error(("sweep: %s: line %d is no row of a sweep"):format(self.path, #self.rows + 1), 0)
    end
  end
  return whole
end

--- Opens the journal at a path; its rows are in `rows`.
function Journal.open(path)
  local self = setmetatable({ path = path, rows = {}, json = load_json() }, Journal)
  local file = io.open(path, "rb")
  if not file then return self end
  local text = file:read "a"
  file:close()
  local whole = parse(self, text)
  if text == "" or (whole == #text and text:sub(-1) == "\n") then return self end
  local kept = text:sub(1, whole):gsub("\n$", "")
  write(path .. ".part", "wb", kept == "" and "" or kept .. "\n")
  assert(os.rename(path .. ".part", path))
  return self
end

--- Appends a row; it is in the file when this returns.
function Journal:append(row)
  write(self.path, "ab", report.jsonl { row })
end

return Journal
