-- SPDX-License-Identifier: MIT
--- Rows for other programs: documents as comma-separated values and as JSON, and kept rows back from a file of one JSON
-- object a line.

local format = require("clcompute.base").format

local serialization = {}

-- Fields of a measurement in the order of reading; others follow, sorted.
local ORDER = {
  "section", "name", "params", "device", "driver", "date", "status", "reason", "value", "unit", "min", "q1", "q3",
  "runs", "cold", "compile", "upload", "kernel", "download", "flops", "bytes", "gflops", "gbs", "peak_share",
  "ratio", "ratio_low", "ratio_high", "agrees", "checked", "max_error",
}

-- --- comma-separated values ----------------------------------------------------------

local RANK = {}
for i, name in ipairs(ORDER) do RANK[name] = i end

local function rank(name)
  return RANK[name:match "^[^.]+"] or math.huge
end

--- A row without nested tables: params.n is the field "params.n".
local function flatten(row, into, prefix)
  into = into or {}
  for key, value in pairs(row) do
    local name = (prefix or "") .. tostring(key)
    if type(value) == "table" then
      flatten(value, into, name .. ".")
    elseif type(value) ~= "function" then
      into[name] = value
    end
  end
  return into
end

--- The names in any of the flat rows, in order.
local function names_of(rows)
  local seen, names = {}, {}
  for _, row in ipairs(rows) do
    for name in pairs(row) do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names, function(a, b)
    local rank_a, rank_b = rank(a), rank(b)
    if rank_a ~= rank_b then return rank_a < rank_b end
    return a < b
  end)
  return names
end

local function digits(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

local function quote(value)
  if value == nil then return "" end
  local text = type(value) == "number" and digits(value) or format.utf8(tostring(value))
  if text:find '[",\r\n]' or text:find "^%s" or text:find "%s$" then return '"' .. text:gsub('"', '""') .. '"' end
  return text
end

local function record(values, n)
  local texts = {}
  for i = 1, n do texts[i] = quote(values[i]) end
  return table.concat(texts, ",") .. "\r\n"
end

--- Rows of the whole document, flattened; those of several sections say which is theirs.
local function flat_rows(made)
  local rows = {}
  for _, section in ipairs(made.sections) do
    for _, row in ipairs(section.rows) do
      local flat = flatten(row)
      if #made.sections > 1 then flat.section = section.title end
      rows[#rows + 1] = flat
    end
  end
  return rows
end

--- The document (of document.new) as comma-separated values after RFC 4180: every field of every row, nested ones as
-- "params.n".
function serialization.csv(made)
  local rows = flat_rows(made)
  local names = names_of(rows)
  local lines = { record(names, #names) }
  for i, row in ipairs(rows) do
    local values = {}
    for j, name in ipairs(names) do values[j] = row[name] end
    lines[i + 1] = record(values, #names)
  end
  return #names > 0 and table.concat(lines) or ""
end

-- --- JSON ----------------------------------------------------------------------------

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
function serialization.json(given)
  return dkjson().encode(prepared(given), { indent = true, keyorder = ORDER }) .. "\n"
end

--- Rows as JSON, one a line.
function serialization.jsonl(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = dkjson().encode(prepared(row), { keyorder = ORDER })
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
function serialization.read(path)
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

return serialization
