-- SPDX-License-Identifier: MIT
--- Rows as comma-separated values after RFC 4180: every field of every row, nested ones as "params.n".
-- @module clcompute.report.csv

local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format

local csv = {}

local RANK = {}
for i, name in ipairs(fields.ORDER) do RANK[name] = i end

local function rank(name)
  return RANK[name:match "^[^.]+"] or #fields.ORDER + 1
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

local function number(value)
  if math.type(value) == "integer" then return ("%d"):format(value) end
  local short = ("%.15g"):format(value)
  return tonumber(short) == value and short or ("%.17g"):format(value)
end

local function quote(value)
  if value == nil then return "" end
  local text = type(value) == "number" and number(value) or format.utf8(tostring(value))
  if text:find '[",\r\n]' or text:find "^%s" or text:find "%s$" then return '"' .. text:gsub('"', '""') .. '"' end
  return text
end

local function line(values, n)
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

--- The document (of document.new) as one table.
function csv.write(made)
  local rows = flat_rows(made)
  local names = names_of(rows)
  local lines = { line(names, #names) }
  for i, row in ipairs(rows) do
    local values = {}
    for j, name in ipairs(names) do values[j] = row[name] end
    lines[i + 1] = line(values, #names)
  end
  return #names > 0 and table.concat(lines) or ""
end

return csv
