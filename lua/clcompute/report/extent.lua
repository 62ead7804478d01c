-- SPDX-License-Identifier: MIT
--- How much room a text takes: columns of a terminal, or pixels of a chart.
-- @module clcompute.report.extent

local extent = {}

local REPLACEMENT = "\u{FFFD}"

-- Ranges of code points that take two columns, or none.
local DOUBLE = { { 0x1100, 0x115F }, { 0x2E80, 0xA4CF }, { 0xAC00, 0xD7A3 }, { 0xF900, 0xFAFF },
  { 0xFE30, 0xFE6F }, { 0xFF00, 0xFF60 }, { 0xFFE0, 0xFFE6 }, { 0x1F300, 0x1FAFF }, { 0x20000, 0x3FFFD } }
local NONE = { { 0x0300, 0x036F }, { 0x200B, 0x200F }, { 0x20D0, 0x20FF }, { 0xFE00, 0xFE0F } }

local function within(ranges, code)
  for _, range in ipairs(ranges) do
    if code >= range[1] and code <= range[2] then return true end
  end
  return false
end

--- The text with every byte that is not UTF-8 replaced, and without control characters.
function extent.clean(text)
  local at = 1
  local parts = {}
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = REPLACEMENT
    at = bad + 1
  end
  return (table.concat(parts):gsub("[\t\r\n]+", " "):gsub("%c", ""))
end

--- Columns of one code point.
local function code_columns(code)
  if code < 0x300 then return 1 end
  if within(NONE, code) then return 0 end
  return within(DOUBLE, code) and 2 or 1
end

--- Columns that a text takes on a terminal. It must be clean.
function extent.columns(text)
  local n = 0
  for _, code in utf8.codes(text) do n = n + code_columns(code) end
  return n
end

-- Shares of the font size, of a wide sans serif: real fonts take less.
local NARROW = "[ijlI.,:;|!'%s%(%)%[%]ft/%-]"

local function code_share(code)
  if code >= 0x300 then return within(NONE, code) and 0 or within(DOUBLE, code) and 1.05 or 0.7 end
  local char = utf8.char(code)
  if char:find "^[mwMW@%%]" then return 0.95 end
  if char:find("^" .. NARROW) then return 0.38 end
  if char:find "^%u" then return 0.72 end
  return 0.61
end

--- Pixels that a text takes at a font size: an estimate from above.
function extent.pixels(text, size)
  local n = 0
  for _, code in utf8.codes(text) do n = n + code_share(code) end
  return n * size
end

--- The text, cut with an ellipsis where `measure(text)` would exceed `limit`.
local function cut(text, limit, measure, ellipsis)
  if measure(text) <= limit then return text end
  local ends = {} -- byte after each code point
  for at in utf8.codes(text) do ends[#ends + 1] = at end
  for i = #ends, 2, -1 do
    local shorter = text:sub(1, ends[i] - 1):gsub("%s+$", "") .. ellipsis
    if measure(shorter) <= limit then return shorter end
  end
  return ellipsis
end

--- Cut to so many columns of a terminal.
function extent.cut_columns(text, limit)
  return cut(text, limit, extent.columns, "…")
end

--- Cut to so many pixels.
function extent.cut_pixels(text, limit, size)
  return cut(text, limit, function(t) return extent.pixels(t, size) end, "…")
end

--- Cut to so many pixels in the middle: names often differ at their end.
function extent.cut_middle(text, limit, size)
  if extent.pixels(text, size) <= limit then return text end
  local ends = utf8.len(text)
  for kept = ends - 1, 2, -1 do
    local head, tail = utf8.offset(text, kept - kept // 2 + 1), utf8.offset(text, ends - kept // 2 + 1)
    local shorter = text:sub(1, head - 1) .. "…" .. text:sub(tail)
    if extent.pixels(shorter, size) <= limit then return shorter end
  end
  return "…"
end

return extent
