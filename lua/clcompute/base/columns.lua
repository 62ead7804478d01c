-- SPDX-License-Identifier: MIT

--- Lines of cells as text in aligned columns.

-- --- width -----------------------------------------------------------------------------

-- The width of a text; cutting and padding to a width. The unit is a column of a terminal, where CJK characters take
-- two and combining marks none, or what another measure of a code point says. Any bytes will do: one that is not UTF-8
-- counts as U+FFFD, which terminals and browsers show for it.
local width = {}

local ELLIPSIS, REPLACEMENT = "…", 0xFFFD

-- Ranges of code points that take two columns, or none; in order.
local DOUBLE = { { 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0xA4CF }, { 0xA960, 0xA97C },
  { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 },
  { 0x1F300, 0x1F64F }, { 0x1F680, 0x1F6FF }, { 0x1F900, 0x1FAFF }, { 0x20000, 0x3FFFD } }
local NONE = { { 0x300, 0x36F }, { 0x483, 0x489 }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF },
  { 0xFE00, 0xFE0F } }

local function within(ranges, code)
  for _, range in ipairs(ranges) do
    if code < range[1] then return false end
    if code <= range[2] then return true end
  end
  return false
end

--- The columns of a code point: 0, 1 or 2.
-- @tparam integer code
-- @treturn integer
function width.of_code(code)
  if code < 0x300 then return 1 end
  return within(DOUBLE, code) and 2 or within(NONE, code) and 0 or 1
end

--- Iterates over a text: where a character begins, and its code point.
local function codes(text)
  local at = 1
  return function()
    local from = at
    if from > #text then return nil end
    if not utf8.len(text, from, from) then
      at = from + 1
      return from, REPLACEMENT
    end
    at = utf8.offset(text, 2, from)
    return from, utf8.codepoint(text, from)
  end
end

--- The room that a text takes.
-- @tparam string text
-- @tparam[opt] function measure room of a code point; columns of a terminal unless given
-- @treturn number
function width.of(text, measure)
  measure = measure or width.of_code
  local sum = 0
  for _, code in codes(text) do sum = sum + measure(code) end
  return sum
end

--- Breaks a text at spaces into lines; a longer word has a line of its own.
-- @tparam string text
-- @tparam integer columns of a line
-- @tparam[opt] string first what the first line begins with
-- @tparam[opt] string further what the others begin with
-- @treturn table a list
function width.wrap(text, columns, first, further)
  local lines, line = {}, nil
  for word in text:gmatch "%S+" do
    local longer = line and line .. " " .. word or (first or "") .. word
    if line and width.of(longer) > columns then
      lines[#lines + 1], line = line, (further or "") .. word
    else
      line = longer
    end
  end
  lines[#lines + 1] = line
  return lines
end

--- The text, or as much of its beginning as fits with an ellipsis behind it; "" where not even that fits.
-- @tparam string text
-- @tparam number limit the room there is
-- @tparam[opt] function measure room of a code point; columns of a terminal unless given
-- @treturn string
function width.cut(text, limit, measure)
  measure = measure or width.of_code
  if width.of(text, measure) <= limit then return text end
  local room = limit - width.of(ELLIPSIS, measure)
  if room < 0 then return "" end
  for from, code in codes(text) do
    room = room - measure(code)
    if room < 0 then return text:sub(1, from - 1):gsub("%s+$", "") .. ELLIPSIS end
  end
end

--- The text with blanks up to so many columns; a wider one stays as it is.
-- @tparam string text
-- @tparam integer columns
-- @tparam[opt="left"] string align "left", "right" or "center"
-- @treturn string
function width.pad(text, columns, align)
  local room = math.max(0, columns - width.of(text))
  local before = align == "right" and room or align == "center" and room // 2 or 0
  return (" "):rep(before) .. text .. (" "):rep(room - before)
end

-- --- columns ---------------------------------------------------------------------------

local columns = { width = width }

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
