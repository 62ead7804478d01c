-- SPDX-License-Identifier: MIT
--- The unit of a field in all rows of a section, and values brought to it: rows may be in s, ms, us and ns side by
-- side.
-- @module clcompute.report.units

local document = require "clcompute.report.document"

local units = {}

local PER_SECOND = { s = 1, ms = 1e3, us = 1e6, ns = 1e9 }

-- Fields in the unit of their row. The first call (`cold`) is in seconds in every row.
local IN_UNIT_OF_ROW = { value = true, min = true, q1 = true, q3 = true }

--- The unit that a row says its values are in.
function units.of_row(row)
  return row.unit and tostring(row.unit) or "s"
end

local function told_by_column(section, key)
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
function units.of(section, key)
  local told = told_by_column(section, key)
  if told then return told end
  if key == "cold" then return "s" end
  if not IN_UNIT_OF_ROW[key] then return nil end
  local first, differ, are_times = nil, false, true
  for _, row in ipairs(section.rows) do
    if document.field(row, key) ~= nil then
      local unit = units.of_row(row)
      first = first or unit
      differ, are_times = differ or unit ~= first, are_times and PER_SECOND[unit] ~= nil
    end
  end
  if differ and are_times then return "s" end
  return first or "s", differ or nil
end

--- The value of a field, in that unit where both are parts of a second.
function units.value(row, key, unit)
  local value = document.field(row, key)
  local from, to = IN_UNIT_OF_ROW[key] and PER_SECOND[row.unit], PER_SECOND[unit]
  if type(value) ~= "number" or not from or not to or from == to then return value end
  return value / from * to
end

return units
