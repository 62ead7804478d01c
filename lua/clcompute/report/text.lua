-- SPDX-License-Identifier: MIT
--- A report as lines to be read: for a terminal, with aligned columns, cut or wrapped to fit, and a bar for what the
-- chart draws; and as Markdown, with tables as GitHub has them.

local columns = require("clcompute.base").columns
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local width = require("clcompute.base").width

local text = {}

--- The document (of document.new) as text.
-- @tparam table made
-- @tparam table style functions that return lines: `heading(string, mark)`, with Markdown's mark, `paragraph(string)`,
--  `facts(list)` and `table(grid, section)`; `no_rows`, what stands for an empty table
local function write(made, style)
  local lines = {}
  local function add(block)
    table.move(block, 1, #block, #lines + 1, lines)
    lines[#lines + 1] = ""
  end
  local function add_paragraphs(list)
    for _, string in ipairs(list) do add(style.paragraph(string)) end
  end
  if made.title then add(style.heading(made.title, "# ")) end
  add_paragraphs { made.subtitle }
  if #made.facts > 0 then add(style.facts(made.facts)) end
  for _, section in ipairs(made.sections) do
    if section.title and section.title ~= made.title then add(style.heading(section.title, "## ")) end
    add_paragraphs(section.text)
    local grid = fields.cells(section)
    add(#section.rows > 0 and style.table(grid, section) or { style.no_rows })
    add_paragraphs(grid.notes)
    add_paragraphs { section.caption }
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

local SMALLEST, SMALLEST_WRAPPED, BAR, SMALLEST_BAR = 8, 24, 24, 6 -- columns of the terminal
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
local function lines_of(grid)
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

--- The widest column that may still be narrower, or nil: of those that wrap, else of names.
local function widest_of(grid, widths, wraps)
  local widest
  for j, column in ipairs(grid.columns) do
    local least = wraps and SMALLEST_WRAPPED or SMALLEST
    local may = column.align == "left" and (column.wrap or false) == wraps and widths[j] > least
    if may and (not widest or widths[j] > widths[widest]) then widest = j end
  end
  return widest
end

--- Takes from the columns that wrap, then from those of names, until the line fits; false when it cannot.
local function shrink(grid, widths, limit)
  while total(widths) > limit do
    local widest = widest_of(grid, widths, true) or widest_of(grid, widths, false)
    if not widest then return false end
    widths[widest] = widths[widest] - 1
  end
  return true
end

--- Breaks a text at spaces into lines; a longer word has a line of its own.
local function wrapped(string, limit)
  local lines, current = {}, ""
  for word in format.clean(string):gmatch "%S+" do
    if current ~= "" and width.of(current) + 1 + width.of(word) > limit then
      lines[#lines + 1] = current
      current = ""
    end
    current = current == "" and word or current .. " " .. word
  end
  if current ~= "" then lines[#lines + 1] = current end
  return lines
end

--- Adds a line of cells, those of columns that wrap on as many lines as they need.
local function add_cells(lines, grid, texts, widths, aligns)
  local folded, count = {}, 1
  for j, column in ipairs(grid.columns) do
    folded[j] = column.wrap and wrapped(texts[j], widths[j]) or { texts[j] }
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
      if row[j].text ~= "" then lines[#lines + 1] = ("%s: %s"):format(fields.head(column), row[j].text) end
    end
  end
  return lines
end

local function aligned_table(grid, chart, options)
  local texts, aligns = lines_of(grid)
  local widths = columns.measure(texts)
  local room = options.width - total(widths) - columns.GAP
  if not shrink(grid, widths, options.width) then return records(grid) end
  if options.bar and room >= SMALLEST_BAR then
    add_bars(grid, chart, math.min(room, BAR), options.ascii)
    texts, aligns = lines_of(grid)
    widths = columns.measure(texts)
  end
  local rules, lines = {}, {}
  for j, one in ipairs(widths) do rules[j] = ("─"):rep(one) end
  table.insert(texts, 2, rules)
  for _, line in ipairs(texts) do add_cells(lines, grid, line, widths, aligns) end
  return lines
end

-- --- words -------------------------------------------------------------------------

local ASCII = { ["µ"] = "u", ["–"] = "-", ["…"] = "~", ["─"] = "-", ["·"] = "/", ["×"] = "x" }

local function to_ascii(string)
  return (string:gsub(utf8.charpattern, function(char) return #char > 1 and (ASCII[char] or "?") or nil end))
end

local function aligned_facts(facts)
  local lines = {}
  for i, fact in ipairs(facts) do
    lines[i] = { format.clean(fact[1]), format.clean(fact[2]) }
  end
  local widths = columns.measure(lines)
  for i, line in ipairs(lines) do lines[i] = columns.line(line, widths, {}) end
  return lines
end

--- The document (of document.new) for a terminal. Options: width (100), ascii (false), bar (true).
function text.plain(made, options)
  local function paragraph(string) return wrapped(string, options.width) end
  local whole = write(made, { heading = paragraph, paragraph = paragraph, facts = aligned_facts, no_rows = "(no rows)",
    table = function(grid, section) return aligned_table(grid, section.chart, options) end })
  return options.ascii and to_ascii(whole) or whole
end

-- --- Markdown ----------------------------------------------------------------------

local RULES = { left = ":--", right = "--:", center = ":-:" }

--- A text that means itself: no emphasis, link, tag, cell border or entity.
local function escape(string)
  return (format.clean(string):gsub("[\\`*_%[%]|~#]", "\\%0"):gsub("&", "&amp;"):gsub("<", "&lt;")
    :gsub(">", "&gt;"))
end

local markdown = { no_rows = "No rows." }

function markdown.heading(string, mark)
  return { mark .. escape(string) }
end

--- A paragraph must not begin like a list or a heading either.
function markdown.paragraph(string)
  return { (escape(string):gsub("^%s*([-+=])", "\\%1"):gsub("^(%s*%d+)([.)])", "%1\\%2")) }
end

function markdown.facts(facts)
  local lines = {}
  for i, fact in ipairs(facts) do lines[i] = ("- **%s**: %s"):format(escape(fact[1]), escape(fact[2])) end
  return lines
end

function markdown.table(grid)
  local rules, lines = {}, lines_of(grid)
  for i, texts in ipairs(lines) do
    for j, string in ipairs(texts) do texts[j] = escape(string) end
    lines[i] = "| " .. table.concat(texts, " | ") .. " |"
  end
  for j, column in ipairs(grid.columns) do rules[j] = RULES[column.align] end
  table.insert(lines, 2, "| " .. table.concat(rules, " | ") .. " |")
  return lines
end

--- The document (of document.new) as Markdown.
function text.markdown(made)
  return write(made, markdown)
end

return text
