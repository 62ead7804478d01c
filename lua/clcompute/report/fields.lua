-- SPDX-License-Identifier: MIT
--- The fields of rows: by dotted keys, as texts, and in one unit where rows are in s, ms, us and ns side by side.
-- @module clcompute.report.fields

local places = require("clcompute.base").places

local fields = {}

--- Fields of a measurement in the order of reading; others follow, sorted.
fields.ORDER = {
  "section", "name", "params", "device", "driver", "date", "status", "reason", "value", "unit", "min", "q1", "q3",
  "runs", "cold", "compile", "upload", "kernel", "download", "flops", "bytes", "gflops", "gbs", "peak_share",
  "ratio", "ratio_low", "ratio_high", "agrees", "checked", "max_error",
}

--- The value at a dotted key: "params.n".
function fields.at(row, key)
  local value = row[key]
  if value ~= nil then return value end
  value = row
  for name in key:gmatch "[^.]+" do
    if type(value) ~= "table" then return nil end
    local index = value[name]
    if index == nil then index = value[math.tointeger(tonumber(name))] end
    value = index
  end
  if value == row then return nil end
  return value
end

--- The values at a key or a list of keys as one text.
function fields.label(row, key)
  local parts = {}
  for _, name in ipairs(type(key) == "table" and key or { key }) do
    local value = fields.at(row, name)
    if type(value) == "table" then value = places.text(value) end
    if value ~= nil then parts[#parts + 1] = tostring(value) end
  end
  return table.concat(parts, " · ")
end

--- Whether a row is a measurement that succeeded.
function fields.is_ok(row)
  return row.status == nil or row.status == "ok"
end

--- Why a row has no value: "unsupported: no double".
function fields.reason(row)
  if row.reason then return ("%s: %s"):format(row.status or "failed", tostring(row.reason)) end
  return tostring(row.status)
end

-- --- units ------------------------------------------------------------------------------

local PER_SECOND = { s = 1, ms = 1e3, us = 1e6, ns = 1e9 }

-- Fields in the unit of their row. The first call (`cold`) is in seconds in every row.
local IN_UNIT_OF_ROW = { value = true, min = true, q1 = true, q3 = true }

--- The unit that a row says its values are in.
function fields.unit_of_row(row)
  return row.unit and tostring(row.unit) or "s"
end

local function unit_of_column(section, key)
  for _, column in ipairs(section.columns) do
    if column.unit and (column.key == key or type(column.key) == "table" and column.key[1] == key) then
      return column.unit
    end
  end
end

--- The unit that suits the values of a field: that of its column; of the rows, where they agree; seconds, where they
-- are in different parts of them.
-- @treturn ?string unit, nil where none is known
-- @treturn ?boolean whether rows are in others that have no common one; then the unit is that of the first
function fields.unit(section, key)
  local told = unit_of_column(section, key)
  if told then return told end
  if key == "cold" then return "s" end
  if not IN_UNIT_OF_ROW[key] then return nil end
  local first, differ, are_times = nil, false, true
  for _, row in ipairs(section.rows) do
    if fields.at(row, key) ~= nil then
      local unit = fields.unit_of_row(row)
      first = first or unit
      differ, are_times = differ or unit ~= first, are_times and PER_SECOND[unit] ~= nil
    end
  end
  if differ and are_times then return "s" end
  return first or "s", differ or nil
end

--- The value of a field, in that unit where both are parts of a second.
function fields.in_unit(row, key, unit)
  local value = fields.at(row, key)
  local from, to = IN_UNIT_OF_ROW[key] and PER_SECOND[row.unit], PER_SECOND[unit]
  if type(value) ~= "number" or not from or not to or from == to then return value end
  return value / from * to
end

return fields
