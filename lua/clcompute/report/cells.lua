-- SPDX-License-Identifier: MIT
--- The table of a section as texts: heads with units, cells, alignment, footnotes. Text, Markdown and HTML print
-- these.
-- @module clcompute.report.cells

local document = require "clcompute.report.document"
local extent = require "clcompute.report.extent"
local format = require "clcompute.report.format"
local remarks = require "clcompute.report.remarks"

local cells = {}

local function keys_of(column)
  return type(column.key) == "table" and column.key or { column.key }
end

--- Every number of a column.
local function numbers(column, rows)
  local list = {}
  for _, row in ipairs(rows) do
    for _, key in ipairs(keys_of(column)) do
      local value = document.field(row, key)
      if type(value) == "number" then list[#list + 1] = value end
    end
  end
  return list
end

local function unit_of(section, column)
  return column.unit or document.unit(section, keys_of(column)[1])
end

--- All numbers that are seconds and have no format of their own: they are read against each other, so one unit
-- suits them all.
local function times(section)
  local list = {}
  for _, column in ipairs(section.columns) do
    if not column.format and unit_of(section, column) == "s" then
      local values = numbers(column, section.rows)
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

local function plain_text(value)
  if value == true then return "yes" end
  if value == false then return "no" end
  return extent.clean(tostring(value))
end

--- The text of one cell: a value, or a range of two.
local function cell_text(column, row, write)
  local parts = {}
  for _, key in ipairs(keys_of(column)) do
    local value = document.field(row, key)
    if value == nil and column.key == "status" then value = "ok" end
    if value ~= nil then
      local own = type(value) == "number" or type(column.format) == "function"
      local text = own and extent.clean(write(value, row)) or plain_text(value)
      if text ~= "" then parts[#parts + 1] = text end
    end
  end
  if #parts == 0 then return format.MISSING end
  return table.concat(parts, " – ")
end

--- The column at the head: title, unit, alignment; and the function that writes its cells.
local function new_column(section, column, shared)
  local values = numbers(column, section.rows)
  local write, shown = writer(column, unit_of(section, column), values, shared)
  local title = column.title or table.concat(keys_of(column), " – ")
  return {
    key = keys_of(column)[1], title = extent.clean(title), unit = #values > 0 and shown or nil,
    align = column.align or (#values > 0 and "right" or "left"),
    write = write, source = column,
  }
end

local function new_cell(column, row, add_note)
  local value, text = document.field(row, column.key), cell_text(column.source, row, column.write)
  local remark = remarks.on(column.source, value, row)
  if remark then
    text = remark.mark(text)
    add_note(remark.note)
  end
  return { text = text, value = type(value) == "number" and value or nil }
end

--- The columns (key, title, unit, align), rows of cells (text, value: the number behind it) and footnotes of a section.
function cells.of(section)
  local made, noted, shared = { columns = {}, rows = {}, notes = {} }, {}, times(section)
  local function add_note(note)
    if not noted[note] then made.notes[#made.notes + 1] = note end
    noted[note] = true
  end
  for i, column in ipairs(section.columns) do made.columns[i] = new_column(section, column, shared) end
  for i, row in ipairs(section.rows) do
    local line = { ok = document.is_ok(row) }
    for j, column in ipairs(made.columns) do line[j] = new_cell(column, row, add_note) end
    made.rows[i] = line
  end
  return made
end

--- The head of a column: "median, ms".
function cells.head(column)
  return column.unit and column.unit ~= "" and ("%s, %s"):format(column.title, column.unit) or column.title
end

return cells
