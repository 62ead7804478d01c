-- SPDX-License-Identifier: MIT
--- A report for a terminal: aligned columns, cut to fit, a bar for the measured value.
-- @module clcompute.report.text

local cells = require "clcompute.report.cells"
local columns = require "clcompute.text.columns"
local extent = require "clcompute.report.extent"
local format = require "clcompute.report.format"
local width = require "clcompute.text.width"

local text = {}

local SMALLEST, BAR, SMALLEST_BAR = 8, 24, 6 -- columns of the terminal
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

--- The column that gets bars: the measured value.
local function measured_column(grid)
  for index, column in ipairs(grid.columns) do
    if column.key == "value" then return index end
  end
end

local function add_bars(grid, room, ascii)
  local index = measured_column(grid)
  local high = index and largest(grid, index)
  if not high or room < SMALLEST_BAR then return end
  grid.columns[#grid.columns + 1] = { title = "", align = "left" }
  for _, row in ipairs(grid.rows) do
    local value = row[index].value
    local drawn = row.ok and format.is_finite(value) and bar(value / high, room, ascii) or ""
    row[#row + 1] = { text = drawn }
  end
end

-- --- layout ----------------------------------------------------------------------

--- The texts of a grid by line, the heads first; and the side of each column.
local function lines_of(grid)
  local heads, aligns = {}, {}
  for j, column in ipairs(grid.columns) do heads[j], aligns[j] = cells.head(column), column.align end
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

--- Takes from the widest column of names until the line fits; false when it cannot.
local function shrink(grid, widths, limit)
  while total(widths) > limit do
    local widest
    for j, column in ipairs(grid.columns) do
      local is_name = column.align == "left" and widths[j] > SMALLEST
      if is_name and (not widest or widths[j] > widths[widest]) then widest = j end
    end
    if not widest then return false end
    widths[widest] = widths[widest] - 1
  end
  return true
end

--- Where a line does not fit: one line a cell.
local function records(grid, put)
  for i, row in ipairs(grid.rows) do
    if i > 1 then put "" end
    for j, column in ipairs(grid.columns) do
      if row[j].text ~= "" then put(("%s: %s"):format(cells.head(column), row[j].text)) end
    end
  end
end

local function put_table(grid, options, put)
  local lines, aligns = lines_of(grid)
  local widths = columns.measure(lines)
  local room = options.width - total(widths) - columns.GAP
  if not shrink(grid, widths, options.width) then return records(grid, put) end
  if options.bar and room >= SMALLEST_BAR then
    add_bars(grid, math.min(room, BAR), options.ascii)
    lines, aligns = lines_of(grid)
    widths = columns.measure(lines)
  end
  local rules = {}
  for j, one in ipairs(widths) do rules[j] = ("─"):rep(one) end
  table.insert(lines, 2, rules)
  for _, texts in ipairs(lines) do put(columns.line(texts, widths, aligns)) end
end

-- --- words -------------------------------------------------------------------------

--- Breaks a paragraph at spaces; a longer word has a line of its own.
local function put_paragraph(paragraph, limit, put)
  local current = ""
  for word in extent.clean(paragraph):gmatch "%S+" do
    if current ~= "" and width.of(current) + 1 + width.of(word) > limit then
      put(current)
      current = ""
    end
    current = current == "" and word or current .. " " .. word
  end
  if current ~= "" then put(current) end
end

local ASCII = { ["µ"] = "u", ["–"] = "-", ["…"] = "~", ["─"] = "-", ["·"] = "/", ["×"] = "x" }

local function to_ascii(string)
  return (string:gsub(utf8.charpattern, function(char) return #char > 1 and (ASCII[char] or "?") or nil end))
end

local function put_facts(facts, put)
  if #facts == 0 then return end
  local lines = {}
  for i, fact in ipairs(facts) do
    lines[i] = { extent.clean(tostring(fact[1])), extent.clean(tostring(fact[2])) }
  end
  local widths = columns.measure(lines)
  for _, line in ipairs(lines) do put(columns.line(line, widths, {})) end
  put ""
end

--- The document (of document.new) as text. Options: width (100), ascii (false), bar (true).
function text.write(made, options)
  local lines = {}
  local function put(string) lines[#lines + 1] = options.ascii and to_ascii(string) or string end
  local function paragraph(string)
    put_paragraph(string, options.width, put)
    put ""
  end
  if made.title then paragraph(made.title) end
  if made.subtitle then paragraph(made.subtitle) end
  put_facts(made.facts, put)
  for _, section in ipairs(made.sections) do
    if section.title and section.title ~= made.title then paragraph(section.title) end
    for _, string in ipairs(section.text) do paragraph(string) end
    local grid = cells.of(section)
    if #section.rows > 0 then put_table(grid, options, put) else put "(no rows)" end
    put ""
    for _, note in ipairs(grid.notes) do paragraph(note) end
    if section.caption then paragraph(section.caption) end
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

return text
