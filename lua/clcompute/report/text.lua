-- SPDX-License-Identifier: MIT
--- A report for a terminal: aligned columns, a bar for the measured value.
-- @module clcompute.report.text

local cells = require "clcompute.report.cells"
local extent = require "clcompute.report.extent"
local format = require "clcompute.report.format"

local text = {}

local GAP, SMALLEST, BAR, SMALLEST_BAR = 2, 8, 24, 6 -- columns of the terminal
local EIGHTHS = { [0] = "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" }

-- --- bars -----------------------------------------------------------------------

local function bar(share, width, ascii)
  if ascii then return ("#"):rep(math.max(1, math.floor(share * width + 0.5))) end
  local eighths = math.max(1, math.floor(share * width * 8 + 0.5))
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

local function add_bars(grid, width, ascii)
  local index = measured_column(grid)
  local high = index and largest(grid, index)
  if not high or width < SMALLEST_BAR then return end
  grid.columns[#grid.columns + 1] = { title = "", align = "left" }
  for _, row in ipairs(grid.rows) do
    local value = row[index].value
    local drawn = row.ok and format.is_finite(value) and bar(value / high, width, ascii) or ""
    row[#row + 1] = { text = drawn }
  end
end

-- --- layout ----------------------------------------------------------------------

local function widths_of(grid)
  local widths = {}
  for j, column in ipairs(grid.columns) do
    widths[j] = extent.columns(cells.head(column))
    for _, row in ipairs(grid.rows) do widths[j] = math.max(widths[j], extent.columns(row[j].text)) end
  end
  return widths
end

local function total(widths)
  local sum = GAP * math.max(0, #widths - 1)
  for _, width in ipairs(widths) do sum = sum + width end
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

local function pad(string, width, align)
  local room = width - extent.columns(string)
  if align == "right" then return (" "):rep(room) .. string end
  if align == "center" then return (" "):rep(room // 2) .. string .. (" "):rep(room - room // 2) end
  return string .. (" "):rep(room)
end

local function line(grid, widths, texts)
  local parts = {}
  for j, column in ipairs(grid.columns) do
    parts[j] = pad(extent.cut_columns(texts[j], widths[j]), widths[j], column.align)
  end
  return (table.concat(parts, (" "):rep(GAP)):gsub("%s+$", ""))
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
  local widths = widths_of(grid)
  local room = options.width - total(widths) - GAP
  if not shrink(grid, widths, options.width) then return records(grid, put) end
  if options.bar and room >= SMALLEST_BAR then
    add_bars(grid, math.min(room, BAR), options.ascii)
    widths = widths_of(grid)
  end
  local heads, rules = {}, {}
  for j, column in ipairs(grid.columns) do
    heads[j], rules[j] = cells.head(column), ("─"):rep(widths[j])
  end
  put(line(grid, widths, heads))
  put(line(grid, widths, rules))
  for _, row in ipairs(grid.rows) do
    local texts = {}
    for j, cell in ipairs(row) do texts[j] = cell.text end
    put(line(grid, widths, texts))
  end
end

-- --- words -------------------------------------------------------------------------

--- Breaks a paragraph at spaces; a longer word has a line of its own.
local function put_paragraph(paragraph, width, put)
  local current = ""
  for word in extent.clean(paragraph):gmatch "%S+" do
    if current ~= "" and extent.columns(current) + 1 + extent.columns(word) > width then
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
  local width = 0
  for _, fact in ipairs(facts) do width = math.max(width, extent.columns(extent.clean(tostring(fact[1])))) end
  for _, fact in ipairs(facts) do
    put(pad(extent.clean(tostring(fact[1])), width) .. "  " .. extent.clean(tostring(fact[2])))
  end
  if #facts > 0 then put "" end
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
