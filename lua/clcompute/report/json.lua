-- SPDX-License-Identifier: MIT
--- Rows and documents as JSON, and kept rows back from a file of one JSON object a line.
-- @module clcompute.report.json

local fields = require "clcompute.report.fields"

local json = {}

local function dkjson()
  local ok, module = pcall(require, "dkjson")
  if not ok then error("JSON needs the Lua module dkjson: apt install lua-dkjson", 0) end
  return module
end

--- A copy without functions (of columns), which have no JSON.
local function without_functions(value)
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, item in pairs(value) do
    if type(item) ~= "function" then copy[key] = without_functions(item) end
  end
  return setmetatable(copy, getmetatable(value))
end

--- What a script gave, as indented JSON; NaN and infinity become null.
function json.write(given)
  local copy = without_functions(given)
  if next(copy) == nil then copy = setmetatable({}, { __jsontype = "array" }) end
  return dkjson().encode(copy, { indent = true, keyorder = fields.ORDER }) .. "\n"
end

--- The rows of a .jsonl file. A last line that was cut off, as a sweep that was ended leaves it, is left out.
function json.read(path)
  local decode = dkjson().decode
  local file, message = io.open(path, "rb")
  if not file then error(message, 0) end
  local text, failure = file:read("a")
  file:close()
  if not text then error(("%s: %s"):format(path, failure), 0) end
  local rows, number = {}, 0
  for content, ending in text:gmatch "([^\n]*)(\n?)" do
    number = number + 1
    local row, stop, why = decode(content, 1, nil)
    local rest = row ~= nil and content:find("%S", stop)
    if type(row) == "table" and not rest then
      rows[#rows + 1] = row
    elseif content:find "%S" and ending == "\n" then
      error(("%s:%d: one JSON object a line expected: %s"):format(path, number, why or content:sub(1, 40)), 0)
    end
  end
  return rows
end

return json
