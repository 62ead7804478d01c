-- SPDX-License-Identifier: MIT

--- Lines of cells as text in aligned columns.
-- @module clcompute.base.columns

local width = require "clcompute.base.width"

local columns = {}

--- Blanks between two columns.
columns.GAP = 2

--- The width of each column.
-- @tparam table lines a list that is not empty, of lists of strings, all as long
-- @tparam[opt] integer longest no column is wider
-- @treturn table a list of integers
function columns.measure(lines, longest)
  local widths = {}
  for i = 1, #lines[1] do
    local widest = 0
    for _, cells in ipairs(lines) do widest = math.max(widest, width.of(cells[i])) end
    widths[i] = math.min(widest, longest or widest)
  end
  return widths
end

--- A line: each cell cut and padded to its column; without blanks at its end.
-- @tparam table cells list of strings
-- @tparam table widths of the columns
-- @tparam table aligns "left", "right" or "center" of each column; left where it is nil
-- @treturn string
function columns.line(cells, widths, aligns)
  local parts = {}
  for i, cell in ipairs(cells) do parts[i] = width.pad(width.cut(cell, widths[i]), widths[i], aligns[i]) end
  return (table.concat(parts, (" "):rep(columns.GAP)):gsub(" +$", ""))
end

--- To the right where all values are numbers, else to the left.
local function natural_aligns(header, rows)
  local aligns = {}
  for i = 1, #header do
    local numeric = #rows > 0
    for _, row in ipairs(rows) do numeric = numeric and type(row[i]) == "number" end
    aligns[i] = numeric and "right" or "left"
  end
  return aligns
end

local function as_strings(row)
  local cells = {}
  for i, value in ipairs(row) do cells[i] = tostring(value) end
  return cells
end

--- A table: a line for the header and one for each row.
-- @tparam table header list of titles
-- @tparam table rows list of lists, as long as the header, of values without nil
-- @tparam[opt] table aligns "left", "right" or "center" of each column; unless given, numbers to the right
-- @tparam[opt] integer longest the widest that a column may be; what is longer is cut
-- @treturn string without a newline at its end
function columns.format(header, rows, aligns, longest)
  aligns = aligns or natural_aligns(header, rows)
  local lines = { header }
  for i, row in ipairs(rows) do lines[i + 1] = as_strings(row) end
  local widths = columns.measure(lines, longest)
  local out = {}
  for i, cells in ipairs(lines) do out[i] = columns.line(cells, widths, aligns) end
  return table.concat(out, "\n")
end

return columns
