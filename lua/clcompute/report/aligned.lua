-- SPDX-License-Identifier: MIT
--- A table as lines of at most so many columns of a terminal, with a bar for what the chart draws. Where room is
-- scarce, names of devices are shorter, then what all rows have alike stands above, once, then bars are left out, then
-- details; at last names are cut.

local columns = require("clcompute.base").columns
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local width = require("clcompute.base").width

local aligned = {}

-- Columns of the terminal: of a name while there are details, and at last; of a text that wraps; of bars.
local LEGIBLE, SMALLEST, SMALLEST_WRAPPED, BAR, SMALLEST_BAR = 24, 8, 24, 24, 6
local EIGHTHS = { [0] = "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

-- --- bars -----------------------------------------------------------------------

local function bar(share, room, ascii)
  if ascii then return ("#"):rep(math.max(1, math.floor(share * room + 0.5))) end
  local eighths = math.max(1, math.floor(share * room * 8 + 0.5))
  return ("█"):rep(eighths // 8) .. EIGHTHS[eighths % 8]
end

--- The largest value of a column, when bars can compare: at least two values, none negative.
local function largest(grid, index)
  local count, high = 0, 0
  for _, row in ipairs(grid.rows) do
    local value = row[index].value
    if row.ok and format.is_finite(value) then
      if value < 0 then return nil end
      count, high = count + 1, math.max(high, value)
    end
  end
  return count >= 2 and high > 0 and high or nil
end

--- The column that gets bars: what the chart draws over its x, else the measured value.
local function drawn_column(grid, chart)
  local key = chart and (chart.kind == "line" or chart.kind == "bar") and chart.y or "value"
  for index, column in ipairs(grid.columns) do
    if column.key == key then return index end
  end
end

--- Adds a column of bars, headed by the title of what they stand for.
local function add_bars(grid, chart, room, ascii)
  local index = drawn_column(grid, chart)
  local high = index and largest(grid, index)
  if not high then return end
  grid.columns[#grid.columns + 1] = { title = width.cut(grid.columns[index].title, room), align = "left" }
  for _, row in ipairs(grid.rows) do
    local value = row[index].value
    local drawn = row.ok and format.is_finite(value) and bar(value / high, room, ascii) or ""
    row[#row + 1] = { text = drawn }
  end
end

-- --- layout ----------------------------------------------------------------------

--- The texts of a grid by line, the heads first; and the side of each column.
function aligned.lines_of(grid)
  local heads, aligns = {}, {}
  for j, column in ipairs(grid.columns) do heads[j], aligns[j] = fields.head(column), column.align end
  local lines = { heads }
  for i, row in ipairs(grid.rows) do
    lines[i + 1] = {}
    for j, cell in ipairs(row) do lines[i + 1][j] = cell.text end
  end
  return lines, aligns
end

local function total(widths)
  local sum = columns.GAP * math.max(0, #widths - 1)
  for _, one in ipairs(widths) do sum = sum + one end
  return sum
end

local function measure(grid)
  return columns.measure((aligned.lines_of(grid)))
end

--- The widest column that may still be narrower, or nil: of those that wrap, else of names.
local function widest_of(grid, widths, wraps, smallest)
  local widest
  for j, column in ipairs(grid.columns) do
    local least = wraps and SMALLEST_WRAPPED or smallest
    local may = column.align == "left" and (column.wrap or false) == wraps and widths[j] > least
    if may and (not widest or widths[j] > widths[widest]) then widest = j end
  end
  return widest
end

--- Takes from the columns that wrap, then from those of names, until the line fits; nil when it cannot.
local function shrunk(grid, limit, smallest)
  local widths = measure(grid)
  while total(widths) > limit do
    local widest = widest_of(grid, widths, true) or widest_of(grid, widths, false, smallest)
    if not widest then return nil end
    widths[widest] = widths[widest] - 1
  end
  return widths
end

--- What people call a device: "pthread-haswell-Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz" is an Intel Xeon E5-2680 v3.
local function short_name(name)
  name = name:gsub("^%l+%-[%l%d_-]+%-(%u)", "%1"):gsub("%([RrTtMm]+%)", ""):gsub(" @ .*", "")
  return (name:gsub(" CPU%f[ %z]", ""):gsub(" Processor%f[ %z]", ""):gsub("%s+", " "))
end

local function count_distinct(texts)
  local seen, count = {}, 0
  for _, one in ipairs(texts) do
    if not seen[one] then seen[one], count = true, count + 1 end
  end
  return count
end

--- Shortens the names of devices, unless two became one.
local function shorten_devices(grid)
  for j, column in ipairs(grid.columns) do
    local long, short = {}, {}
    for i, row in ipairs(grid.rows) do long[i], short[i] = row[j].text, short_name(row[j].text) end
    if column.key == "device" and count_distinct(long) == count_distinct(short) then
      for i, row in ipairs(grid.rows) do row[j].text = short[i] end
    end
  end
end

--- The grid without a column, and that one.
local function without(grid, j)
  local less = { columns = table.move(grid.columns, 1, #grid.columns, 1, {}), rows = {} }
  for i, row in ipairs(grid.rows) do
    less.rows[i] = table.move(row, 1, #row, 1, { ok = row.ok })
    table.remove(less.rows[i], j)
  end
  return less, table.remove(less.columns, j)
end

--- The grid without its last detail, and the head of that one; nil where there is none.
local function without_detail(grid)
  for j = #grid.columns, 1, -1 do
    if grid.columns[j].detail then
      local less, column = without(grid, j)
      return less, column.title
    end
  end
end

local function is_told(text)
  return text ~= "" and text ~= format.MISSING
end

local function named(column, text)
  return ("%s: %s"):format(fields.head(column), text)
end

--- The grid without the columns that are the same in all rows, and what those say.
local function without_constants(grid)
  local told = {}
  for j = #grid.rows > 1 and #grid.columns or 0, 1, -1 do
    local texts = {}
    for i, row in ipairs(grid.rows) do texts[i] = row[j].text end
    if #grid.columns > 1 and count_distinct(texts) == 1 then
      local less, column = without(grid, j)
      grid = less
      if is_told(texts[1]) then table.insert(told, 1, named(column, texts[1])) end
    end
  end
  return grid, told
end

--- The grid with as many of its details as fit, the widths of its columns, nil where even names that are cut leave no
-- room, and the heads of what was left out.
local function fitted(grid, limit)
  local left_out = {}
  while true do
    local widths = shrunk(grid, limit, LEGIBLE)
    if widths then return grid, widths, left_out end
    local less, title = without_detail(grid)
    if not less then return grid, shrunk(grid, limit, SMALLEST), left_out end
    grid = less
    table.insert(left_out, 1, title)
  end
end

--- A text in lines of so many columns.
function aligned.wrapped(text, limit)
  return width.wrap(format.clean(text), limit)
end

--- Adds a line of cells, those of columns that wrap on as many lines as they need.
local function add_cells(lines, grid, texts, widths, aligns)
  local folded, count = {}, 1
  for j, column in ipairs(grid.columns) do
    folded[j] = column.wrap and aligned.wrapped(texts[j], widths[j]) or { texts[j] }
    count = math.max(count, #folded[j])
  end
  for k = 1, count do
    local part = {}
    for j = 1, #grid.columns do part[j] = folded[j][k] or "" end
    lines[#lines + 1] = columns.line(part, widths, aligns)
  end
end

--- Where a line does not fit: one line a cell.
local function records(grid)
  local lines = {}
  for i, row in ipairs(grid.rows) do
    if i > 1 then lines[#lines + 1] = "" end
    for j, column in ipairs(grid.columns) do
      if is_told(row[j].text) then lines[#lines + 1] = named(column, row[j].text) end
    end
  end
  return lines
end

local function has_bars(grid, chart)
  local index = drawn_column(grid, chart)
  return index and largest(grid, index) ~= nil
end

--- The columns that the smallest bars take.
local function room_of_bars(grid, chart, options)
  return options.bar and has_bars(grid, chart) and columns.GAP + SMALLEST_BAR or 0
end

local function fitted_lines(grid, chart, options)
  local wanted = room_of_bars(grid, chart, options)
  local made, widths, left_out = fitted(grid, options.width)
  if not widths then return records(grid) end
  local room = options.width - total(measure(made)) - columns.GAP
  if wanted > 0 and #left_out == 0 and room >= SMALLEST_BAR then
    add_bars(made, chart, math.min(room, BAR), options.ascii)
    widths = measure(made)
  end
  local texts, aligns = aligned.lines_of(made)
  local rules, lines = {}, {}
  for j, one in ipairs(widths) do rules[j] = ("─"):rep(one) end
  table.insert(texts, 2, rules)
  for _, line in ipairs(texts) do add_cells(lines, made, line, widths, aligns) end
  if #left_out > 0 then
    local note = aligned.wrapped("no room for: " .. table.concat(left_out, ", "), options.width)
    table.move(note, 1, #note, #lines + 1, lines)
  end
  return lines
end

--- The lines of a table, `grid` of fields.cells. Options: width, ascii, bar.
function aligned.table(grid, chart, options)
  local wanted = room_of_bars(grid, chart, options)
  if total(measure(grid)) + wanted > options.width then shorten_devices(grid) end
  if shrunk(grid, options.width, LEGIBLE) then return fitted_lines(grid, chart, options) end
  local less, told = without_constants(grid)
  local lines = aligned.wrapped(table.concat(told, "; "), options.width)
  if #told > 0 then lines[#lines + 1] = "" end
  local rest = fitted_lines(less, chart, options)
  return table.move(rest, 1, #rest, #lines + 1, lines)
end

return aligned
