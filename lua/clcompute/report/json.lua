-- SPDX-License-Identifier: MIT
--- Rows and documents as JSON, and kept rows back from a file of one JSON object a line.
-- @module clcompute.report.json

local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format

local json = {}

local function dkjson()
  local ok, module = pcall(require, "dkjson")
  if not ok then error("JSON needs the Lua module dkjson: apt install lua-dkjson", 0) end
  return module
end

-- dkjson takes { n = 1024 }, common among params, for a list of that length: such tables write themselves.
local LONE_N = { __tojson = function(value) return ('{"n":%s}'):format(dkjson().encode(value.n)) end }

local function has_lone_n(value)
  return type(value.n) == "number" and next(value) == "n" and next(value, "n") == nil
end

--- A copy for dkjson: without functions (of columns), which have no JSON, and in UTF-8, as JSON must be.
local function prepared(value)
  if type(value) == "string" then return format.utf8(value) end
  if type(value) == "userdata" or type(value) == "thread" then error(("a %s has no JSON"):format(type(value)), 0) end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, item in pairs(value) do
    if type(item) ~= "function" then copy[prepared(key)] = prepared(item) end
  end
  return has_lone_n(copy) and setmetatable(copy, LONE_N) or copy
end

--- What a script gave, as indented JSON; NaN and infinity become null.
function json.write(given)
  return dkjson().encode(prepared(given), { indent = true, keyorder = fields.ORDER }) .. "\n"
end

--- Rows as JSON, one a line.
function json.lines(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = dkjson().encode(prepared(row), { keyorder = fields.ORDER })
  end
  return #lines > 0 and table.concat(lines, "\n") .. "\n" or ""
end

--- The row that a line holds and nothing else; or nil and why not.
local function row_of(line)
  local ok, row, stop, why = pcall(dkjson().decode, line, 1, nil)
  if not ok then return nil, "it is nested too deeply" end
  if type(row) == "table" and line:find "^%s*{" and not line:find("%S", stop) then return row end
  return nil, why or line:sub(1, 40)
end

--- The rows of a .jsonl file. A last line that was cut off, as a sweep that was ended leaves it, is left out.
function json.read(path)
  local file, message = io.open(path, "rb")
  if not file then error(message, 0) end
  local text, failure = file:read("a")
  file:close()
  if not text then error(("%s: %s"):format(path, failure), 0) end
  local rows, number = {}, 0
  for content, ending in text:gmatch "([^\n]*)(\n?)" do
    number = number + 1
    local row, why = row_of(content)
    local may_be_cut = ending == "" and (#rows > 0 or content:find "^{")
    if row then
      rows[#rows + 1] = row
    elseif content:find "%S" and not may_be_cut then
      error(("%s:%d: one JSON object a line expected: %s"):format(path, number, why), 0)
    end
  end
  return rows
end

return json
