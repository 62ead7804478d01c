-- SPDX-License-Identifier: MIT
--- Elements of HTML and SVG, and the room that a text takes in a chart. Texts are escaped where they enter, so nothing
-- else has to.

local format = require("clcompute.base").format
local width = require("clcompute.base").width

local markup = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- A text as it stands between tags and in attributes.
function markup.escape(text)
  return (format.clean(text):gsub("[&<>\"']", ENTITIES))
end

local function attribute_text(value)
  if math.type(value) ~= "float" then return markup.escape(value) end
  return (("%.2f"):format(value):gsub("%.?0+$", "")) -- a position: a hundredth of a pixel will do
end

local function attributes(list)
  local names, parts = {}, {}
  for name in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do parts[#parts + 1] = (' %s="%s"'):format(name, attribute_text(list[name])) end
  return table.concat(parts)
end

local VOID = { meta = true, br = true, hr = true, col = true }

--- An element: its name, its attributes by name (floats are positions), and its content, markup already.
function markup.element(name, list, content)
  if VOID[name] then return ("<%s%s>"):format(name, attributes(list)) end
  if type(content) == "table" then content = table.concat(content) end
  return ("<%s%s>%s</%s>"):format(name, attributes(list), content or "", name)
end

--- An element whose content is a text.
function markup.text(name, list, text)
  return markup.element(name, list, markup.escape(text))
end

--- A number in full, for attributes that programs read.
function markup.exact(value)
  return ("%.17g"):format(value)
end

-- --- room -------------------------------------------------------------------------

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
function markup.pixels(text, size)
  return width.of(text, code_share) * size
end

--- Cut to so many pixels.
function markup.cut_pixels(text, limit, size)
  return width.cut(text, limit / size, code_share)
end

--- So many characters of a text, from both ends.
local function ends_of(text, length, kept)
  local head, tail = utf8.offset(text, kept - kept // 2 + 1), utf8.offset(text, length - kept // 2 + 1)
  return text:sub(1, head - 1) .. "…" .. text:sub(tail)
end

--- Cut to so many pixels in the middle: names often differ at their end.
function markup.cut_middle(text, limit, size)
  if markup.pixels(text, size) <= limit then return text end
  local length = utf8.len(text)
  local fits, too_many = 1, length -- more characters are never narrower
  while too_many - fits > 1 do
    local kept = (fits + too_many) // 2
    if markup.pixels(ends_of(text, length, kept), size) <= limit then fits = kept else too_many = kept end
  end
  return fits < 2 and "…" or ends_of(text, length, fits)
end

return markup
