-- SPDX-License-Identifier: MIT
--- Elements of HTML and SVG. Texts are escaped where they enter, so nothing else has to.
-- @module clcompute.report.markup

local extent = require "clcompute.report.extent"

local markup = {}

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }

--- A text as it stands between tags and in attributes.
function markup.escape(text)
  return (extent.clean(tostring(text)):gsub("[&<>\"']", ENTITIES))
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

return markup
