-- SPDX-License-Identifier: MIT

--- The width of a text; cutting and padding to a width. The unit is a column of a terminal, where CJK characters take
-- two and combining marks none, or what another measure of a code point says. Any bytes will do: one that is not UTF-8
-- counts as U+FFFD, which terminals and browsers show for it.
-- @module clcompute.base.width

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

return width
