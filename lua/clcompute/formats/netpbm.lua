-- SPDX-License-Identifier: MIT

--- Pictures as binary PGM (gray) and PPM (red, green, blue): a header of three numbers in decimal, then the rows.

local picture = require "clcompute.formats.picture"

local netpbm = {}

local LONGEST_HEADER = 4096 -- bytes, with its comments
local CHANNELS = { P5 = 1, P6 = 3 }

local function fail(...) error(string.format(...), 0) end

--- The next number of the header's text from `at` on, behind blanks and comments, and where it ends.
local function next_number(text, at, what)
  local next
  repeat
    next = at
    at = text:match("^%s*()", at)
    at = text:match("^#[^\n]*\n()", at) or at
  until at == next
  local digits, stop = text:match("^(%d+)()", at)
  if not digits or #digits > 9 then fail("bad header: %s expected at byte %d", what, at) end
  return tonumber(digits), stop
end

--- Reads the header of an open file.
-- @treturn table {width=, height=, channels=, bytes=, most= (the largest value), start= (bytes before the rows)}
local function read_header(file)
  local text = file:read(LONGEST_HEADER) or ""
  local h, at = { channels = CHANNELS[text:sub(1, 2)] }, 3
  if not text:find("^[%s#]", at) then fail "bad header: a blank expected behind its first two letters" end
  h.width, at = next_number(text, at, "the width")
  h.height, at = next_number(text, at, "the height")
  h.most, at = next_number(text, at, "the largest value")
  if not text:find("^%s", at) then fail("bad header: a blank expected behind the largest value") end
  if h.width < 1 or h.height < 1 then fail("a picture of %dx%d pixels", h.width, h.height) end
  if h.most < 1 or h.most > 65535 then fail("a largest value of %d; it is 1 to 65535", h.most) end
  h.bytes, h.start = h.most < 256 and 1 or 2, at
  return h
end

--- Spreads values up to h.most over those of 8 or 16 bits.
local function scale(h, rows)
  local full = 256 ^ h.bytes - 1
  if h.most == full then return rows end
  local format = ">I" .. h.bytes
  local scaled = setmetatable({}, { __index = function(known, value)
    local n = string.unpack(format, value)
    if n > h.most then fail("a value of %d, above the largest, %d", n, h.most) end
    known[value] = string.pack(format, (n * full + h.most / 2) // h.most | 0)
    return known[value]
  end })
  return (rows:gsub(("."):rep(h.bytes), scaled))
end

--- A new image with the picture of an open file.
function netpbm.read(device, file)
  local h = read_header(file)
  local expected, length = h.width * h.height * h.channels * h.bytes, file:seek "end"
  if length - h.start ~= expected then
    fail("%dx%d pixels are %d bytes, but %d follow the header", h.width, h.height, expected, length - h.start)
  end
  return picture.to_image(device, h, function()
    file:seek("set", h.start)
    local rows = file:read(expected)
    if not rows or #rows < expected then fail "the file became shorter while it was read" end
    return scale(h, rows)
  end)
end

--- The file of a picture; "pgm" takes gray ones, "ppm" the others.
-- @tparam table head {width=, height=, channels=, bytes= (of a channel), what= it is}
-- @tparam string rows
-- @string extension
function netpbm.write(head, rows, extension)
  local plain, kept = picture.without_alpha(head, rows)
  local kind = plain.channels == 1 and "pgm" or "ppm"
  if extension ~= kind then fail("%s are kept as .%s or .png", head.what, kind) end
  return ("%s\n%d %d\n%d\n"):format(kind == "pgm" and "P5" or "P6", plain.width, plain.height,
    256 ^ plain.bytes - 1 | 0) .. kept
end

return netpbm
