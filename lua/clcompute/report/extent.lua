-- SPDX-License-Identifier: MIT
--- The room that a text takes in a chart, in pixels; and texts made fit to be shown.
-- @module clcompute.report.extent

local width = require("clcompute.base").width

local extent = {}

local REPLACEMENT = "\u{FFFD}"

--- The text with every byte that is not UTF-8 replaced.
function extent.utf8(text)
  if utf8.len(text) then return text end
  local at = 1
  local parts = {}
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = REPLACEMENT
    at = bad + 1
  end
  return table.concat(parts)
end

--- The same without control characters, of any value.
function extent.clean(text)
  return (extent.utf8(tostring(text)):gsub("[\t\r\n]+", " "):gsub("%c", ""))
end

-- Shares of the font size in DejaVu Sans, the widest of the usual fonts.
local WIDER = { [0] = 0, 0.7, 1.05 } -- beyond Latin, by columns of a terminal
local NARROW = "[ijlI.,:;|!'%s%(%)%[%]ft/%-]"

local function code_share(code)
  if code >= 0x300 then return WIDER[width.of_code(code)] end
  local char = utf8.char(code)
  if char:find "^[mwMW@%%]" then return 1 end
  if char:find("^" .. NARROW) then return 0.41 end
  if char:find "^%u" then return 0.79 end
  return 0.65
end

--- Pixels that a text takes at a font size: an estimate from above.
function extent.pixels(text, size)
  return width.of(text, code_share) * size
end

--- Cut to so many pixels.
function extent.cut_pixels(text, limit, size)
  return width.cut(text, limit / size, code_share)
end

--- So many characters of a text, from both ends.
local function ends_of(text, length, kept)
  local head, tail = utf8.offset(text, kept - kept // 2 + 1), utf8.offset(text, length - kept // 2 + 1)
  return text:sub(1, head - 1) .. "…" .. text:sub(tail)
end

--- Cut to so many pixels in the middle: names often differ at their end.
function extent.cut_middle(text, limit, size)
  if extent.pixels(text, size) <= limit then return text end
  local length = utf8.len(text)
  local fits, too_many = 1, length -- more characters are never narrower
  while too_many - fits > 1 do
    local kept = (fits + too_many) // 2
    if extent.pixels(ends_of(text, length, kept), size) <= limit then fits = kept else too_many = kept end
  end
  return fits < 2 and "…" or ends_of(text, length, fits)
end

return extent
