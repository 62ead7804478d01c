-- SPDX-License-Identifier: MIT

--- How many columns of a terminal a text takes: CJK characters take two, combining marks none.
-- @module clcompute.cli.width

local width = {}

-- Ranges of code points, in order.
local WIDE = { { 0x1100, 0x115F }, { 0x2E80, 0x303E }, { 0x3041, 0xA4CF }, { 0xA960, 0xA97C }, { 0xAC00, 0xD7A3 },
  { 0xF900, 0xFAFF }, { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x1F300, 0x1F64F },
  { 0x1F900, 0x1F9FF }, { 0x20000, 0x3FFFD } }
local COMBINING = { { 0x300, 0x36F }, { 0x483, 0x489 }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } }

local function is_in(ranges, code)
  for _, range in ipairs(ranges) do
    if code < range[1] then return false end
    if code <= range[2] then return true end
  end
  return false
end

local function width_of_code(code)
  if code < 0x300 then return 1 end
  return is_in(WIDE, code) and 2 or is_in(COMBINING, code) and 0 or 1
end

--- The columns that a text takes; where it is not UTF-8, one a byte.
-- @tparam string text
-- @treturn integer
function width.of(text)
  if not utf8.len(text) then return #text end
  local columns = 0
  for _, code in utf8.codes(text) do columns = columns + width_of_code(code) end
  return columns
end

--- The text, or its beginning and "..", in at most so many columns.
-- @tparam string text
-- @tparam integer columns
-- @treturn string
function width.cut(text, columns)
  if width.of(text) <= columns then return text end
  local room = columns - 2
  if room < 0 then return (".."):sub(1, math.max(columns, 0)) end
  if not utf8.len(text) then return text:sub(1, room) .. ".." end
  for place, code in utf8.codes(text) do
    room = room - width_of_code(code)
    if room < 0 then return text:sub(1, place - 1) .. ".." end
  end
end

--- The text with blanks up to so many columns.
-- @tparam string text
-- @tparam integer columns
-- @tparam[opt] boolean right blanks first
-- @treturn string
function width.pad(text, columns, right)
  local blanks = (" "):rep(columns - width.of(text))
  return right and blanks .. text or text .. blanks
end

return width
