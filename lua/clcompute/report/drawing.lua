-- SPDX-License-Identifier: MIT
--- What cl.plot and cl.picture return: text for a terminal, made when it is asked for, and an SVG of the same.

local arity = require("clcompute.base").arity
local document = require "clcompute.report.document"
local html = require "clcompute.report.html"
local spelling = require("clcompute.base").spelling

local drawing = {}

local WIDTH, NARROWEST = 80, 20 -- columns where no terminal says how many it has; at least
local SVG_WIDTH, LEAST_SVG = 760, 280 -- pixels

--- Options that every drawing has, and their types.
drawing.OPTIONS = { title = "string", width = "number", height = "number", ascii = "boolean", colours = "string" }

local COLOURS = { ["24bit"] = true, ["256"] = true, none = true }

-- --- the terminal ----------------------------------------------------------------------

local function environment(name) return os.getenv(name) or "" end

--- The columns of the terminal that standard output is; nil where it is none, or the core is not loaded, which knows.
local function terminal_columns()
  local is_loaded, internal = pcall(require, "clcompute.core.internal")
  return is_loaded and internal.terminal_columns(1) or nil
end

local function has_utf8()
  for _, name in ipairs { "LC_ALL", "LC_CTYPE", "LANG" } do
    local locale = environment(name)
    if locale ~= "" then return locale:lower():find "utf%-?8" ~= nil end
  end
  return false
end

local function colours_of_terminal()
  if environment "NO_COLOR" ~= "" or environment "TERM" == "dumb" then return "none" end
  local colours = environment "COLORTERM"
  if colours == "truecolor" or colours == "24bit" then return "24bit" end
  return environment "TERM":find("256color", 1, true) and "256" or "none"
end

--- How a drawing is to look: as its options say, else as the terminal allows.
-- @treturn table {columns=, height= (lines or nil), ascii=, colours= "24bit", "256" or "none"}
local function style_of(o)
  local columns = terminal_columns()
  local told = math.tointeger(tonumber(environment "COLUMNS"))
  return {
    columns = o.width or math.max(NARROWEST, told or columns or WIDTH), height = o.height,
    ascii = o.ascii == nil and not has_utf8() or o.ascii == true,
    colours = o.colours or columns and colours_of_terminal() or "none",
  }
end

-- --- options ---------------------------------------------------------------------------

local MOST = 10000 -- columns, and lines

--- Raises unless an option that is given is an integer from `least` on, which a drawing can have.
local function check_count(o, name, least)
  local value = o[name] and math.tointeger(o[name])
  if o[name] and not (value and value >= least and value <= MOST) then
    error(("options: '%s': an integer from %d to %d expected, got %s"):format(name, least, MOST, o[name]), 0)
  end
  o[name] = value
end

--- Checks options: those of every drawing and further ones.
-- @tparam ?table given
-- @tparam table known name to types
-- @treturn table a copy
function drawing.check_options(given, known)
  local types, o = {}, {}
  for _, part in ipairs { drawing.OPTIONS, known } do
    for name, value in pairs(part) do types[name] = value end
  end
  for name, value in pairs(document.check_keys("options", given or {}, types)) do o[name] = value end
  if o.colours then document.check_choice("options: 'colours'", o.colours, COLOURS) end
  check_count(o, "width", NARROWEST)
  check_count(o, "height", 1)
  return o
end

-- --- the object ------------------------------------------------------------------------

local SELF = {} -- the key of what an object draws with
local Drawing = { __name = "clcompute.Drawing" }

local function self_of(object, name)
  if getmetatable(object) ~= Drawing then error(("%s: drawing expected, got %s"):format(name, type(object)), 3) end
  return rawget(object, SELF)
end

function Drawing.__tostring(object)
  local self = rawget(object, SELF)
  return self.text(style_of(self.options))
end

--- The SVG, or what keeps it from being drawn, raised in the name of a method.
local function svg_of(self, name, given, id)
  local ok, result = pcall(function()
    local width = document.check_keys("options", given or {}, { width = "number" }).width or SVG_WIDTH
    if not (width >= LEAST_SVG and width < math.huge) then
      error(("options: 'width': at least %d expected, got %s"):format(LEAST_SVG, width), 0)
    end
    return self.svg(math.floor(width), id) or error("there is nothing to draw", 0)
  end)
  if ok then return result end
  error(type(result) == "string" and ("%s: %s"):format(name, result) or result, 3)
end

local methods = {}

function methods.svg(object, options)
  return (svg_of(self_of(object, "svg"), "svg", options))
end

--- The page of a drawing, and of further ones below it.
function methods.html(object, ...)
  local drawings, figures = { object, ... }, {}
  for k = 1, 1 + select("#", ...) do
    local self = self_of(drawings[k], "html")
    figures[k] = { title = self.options.title or self.name, svg = svg_of(self, "html", nil, "drawing-" .. k) }
  end
  return html.frame(figures)
end

Drawing.__index = spelling.refuse_others(arity.methods(methods, "Drawing"), "drawing")

--- A new drawing.
-- @tparam string name of what has no title
-- @tparam table options of drawing.check_options
-- @tparam function text (style) --> lines for a terminal, without a line end behind the last
-- @tparam function svg (width, what ids begin with) --> <svg>, or nil where there is nothing to draw
function drawing.new(name, options, text, svg)
  return setmetatable({ [SELF] = { name = name, options = options, text = text, svg = svg } }, Drawing)
end

-- --- values ----------------------------------------------------------------------------

--- Whether a value is a buffer.
function drawing.is_buffer(value)
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  return meta and meta.__name == "clcompute.Buffer" or false
end

--- A function that makes a number of an element: those of ulong above all of long are negative in Lua.
function drawing.number_of(dtype)
  if dtype ~= "ulong" then return function(v) return v end end
  return function(v) return v < 0 and v + 2.0 ^ 64 or v end
end

--- A number as a label.
function drawing.label(value)
  return math.type(value) == "integer" and ("%d"):format(value) or ("%.6g"):format(value)
end

--- Where a value lies between two others, from 0 to 1; half where they are equal. Half the numbers are computed with,
-- so that no difference is infinite.
function drawing.share(value, low, high)
  local span = high / 2 - low / 2
  if not (span > 0) then return 0.5 end
  return math.max(0.0, math.min(1.0, (value / 2 - low / 2) / span))
end

return drawing
