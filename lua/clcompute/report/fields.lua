-- SPDX-License-Identifier: MIT
--- The fields of rows: by dotted keys, in one unit where rows are in s, ms, us and ns side by side, and as the cells of
-- a table, which text, Markdown and HTML print.

local format = require("clcompute.base").format
local places = require("clcompute.base").places

local fields = {}

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

-- --- cells ------------------------------------------------------------------------------

-- Keys of columns that say more of what another column says: quartiles, the first call, an error.
local DETAILS = { q1 = true, q3 = true, min = true, runs = true, cold = true, max_error = true }

-- By the key of a column: which cells, how they are marked, and what stands under the table.
local REMARKS = {
  ratio = {
    applies = function(_, row) return row.agrees == false end,
    mark = function(text) return text .. " ?" end,
    note = "?: the ratio is uncertain: taken three times, it moved by more than 10 %.",
  },
  peak_share = {
    applies = function(value, _, column)
      return column.format == "percent" and type(value) == "number" and value > 1
    end,
    mark = function() return "> 100 %" end,
    note = "> 100 %: faster than the peak that was measured in the same run; part of the data may come from a cache.",
  },
}

--- The remark on the cell of a column with this value.
-- @treturn ?table `mark`, a function from the cell's text to the one to be shown; `note`, the footnote
local function remark_on(column, value, row)
  local remark = REMARKS[column.key]
  return remark and value ~= nil and remark.applies(value, row, column) and remark or nil
end

local function keys_of(column)
  return type(column.key) == "table" and column.key or { column.key }
end

--- Every number of a column, in its unit.
local function numbers(column, rows, unit)
  local list = {}
  for _, row in ipairs(rows) do
    for _, key in ipairs(keys_of(column)) do
      local value = fields.in_unit(row, key, unit)
      if type(value) == "number" then list[#list + 1] = value end
    end
  end
  return list
end

--- Its unit, and whether each row has another.
local function unit_of(section, column)
  if column.unit then return column.unit end
  return fields.unit(section, keys_of(column)[1])
end

--- All numbers that are seconds and have no format of their own: they are read against each other, so one prefix
-- suits them all.
local function times(section)
  local list = {}
  for _, column in ipairs(section.columns) do
    local unit, is_mixed = unit_of(section, column)
    if not column.format and unit == "s" and not is_mixed then
      local values = numbers(column, section.rows, unit)
      table.move(values, 1, #values, #list + 1, list)
    end
  end
  return list
end

--- How a column writes a value of a row, and the unit in its head. `shared`: see times.
local function writer(column, unit, values, shared)
  local wanted = column.format
  if type(wanted) == "function" then
    return function(value, row) return tostring(wanted(value, row)) end, unit
  elseif wanted == "percent" then
    return format.percent(values), nil
  elseif wanted then
    return function(value) return (wanted:format(value)) end, unit
  end
  return format.shared(values, unit, nil, unit == "s" and shared or nil)
end

--- How a value is written where rows are in units that have nothing in common.
local function write_with_unit(value, row)
  return format.engineering(value, fields.unit_of_row(row))
end

local function plain_text(value)
  return format.clean(places.text(value))
end

--- The text of one cell: a value, or a range of two.
local function cell_text(column, row, write, unit)
  local parts = {}
  for _, key in ipairs(keys_of(column)) do
    local value = fields.in_unit(row, key, unit)
    if value == nil and column.key == "status" then value = "ok" end
    if value ~= nil then
      local own = type(value) == "number" or type(column.format) == "function"
      local text = own and format.clean(write(value, row)) or plain_text(value)
      if text ~= "" then parts[#parts + 1] = text end
    end
  end
  if #parts == 0 then return format.MISSING end
  return table.concat(parts, " – ")
end

--- The column at the head: title, unit, alignment; and the function that writes its cells.
local function new_column(section, column, shared)
  local unit, is_mixed = unit_of(section, column)
  if is_mixed then unit = nil end
  local values = numbers(column, section.rows, unit)
  local write, shown = writer(column, unit, values, shared)
  if is_mixed and not column.format then write, shown = write_with_unit, nil end
  local title = column.title or table.concat(keys_of(column), " – ")
  return {
    key = keys_of(column)[1], title = format.clean(title), unit = #values > 0 and shown or nil,
    align = column.align or (#values > 0 and "right" or "left"), wrap = column.wrap,
    detail = column.detail or column.detail == nil and DETAILS[keys_of(column)[1]] or false,
    write = write, unit_of_values = unit, is_mixed = is_mixed, source = column,
  }
end

local function new_cell(column, row, add_note)
  local value = fields.in_unit(row, column.key, column.unit_of_values)
  local text = cell_text(column.source, row, column.write, column.unit_of_values)
  local remark = remark_on(column.source, value, row)
  if remark then
    text = remark.mark(text)
    add_note(remark.note)
  end
  return { text = text, value = type(value) == "number" and not column.is_mixed and value or nil }
end

--- The columns (key, title, unit, align, wrap, detail), rows of cells (text, value: the number behind it, comparable
-- within its column) and footnotes of a section.
function fields.cells(section)
  local made, noted, shared = { columns = {}, rows = {}, notes = {} }, {}, times(section)
  local function add_note(note)
    if not noted[note] then made.notes[#made.notes + 1] = note end
    noted[note] = true
  end
  for i, column in ipairs(section.columns) do made.columns[i] = new_column(section, column, shared) end
  for i, row in ipairs(section.rows) do
    local line = { ok = fields.is_ok(row) }
    for j, column in ipairs(made.columns) do line[j] = new_cell(column, row, add_note) end
    made.rows[i] = line
  end
  return made
end

--- The head of a column: "median, ms".
function fields.head(column)
  return column.unit and column.unit ~= "" and ("%s, %s"):format(column.title, column.unit) or column.title
end

return fields
