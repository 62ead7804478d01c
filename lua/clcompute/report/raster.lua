-- SPDX-License-Identifier: MIT
--- Matrices as pictures: in a terminal half blocks in colours, two pixels a character, or characters from light to
-- dense; and an SVG that holds the pixels.

local document = require "clcompute.report.document"
local drawing = require "clcompute.report.drawing"
local heat = require "clcompute.report.heat"
local html = require "clcompute.report.html"
local markup = require "clcompute.report.markup"
local type_of = require("clcompute.base").options.type_of
local width = require("clcompute.base").width

local raster = {}

local HEIGHT, LARGEST_PIXEL = 24, 4 -- lines of text; a small matrix is enlarged, each element to so many pixels at most
local MOST_PIXELS = 512 -- of an edge that are kept; of a larger matrix, means of neighbours
local PIECE = 1 << 18 -- elements of a buffer that are read at once
local OPTIONS = { map = "string", low = "number", high = "number" }

-- --- colours ---------------------------------------------------------------------------

local COLOURS = 256

local MAPS = {
  grey = function(share)
    local level = math.floor(share * 255 + 0.5)
    return { level, level, level }
  end,
  viridis = function(share)
    local red, green, blue = heat.colour(share):match "(%x%x)(%x%x)(%x%x)"
    return { tonumber(red, 16), tonumber(green, 16), tonumber(blue, 16) }
  end,
}
local BLACK = { 0, 0, 0 } -- of what is not a number

local function palette_of(name)
  local palette = {}
  for i = 0, COLOURS - 1 do palette[i] = MAPS[name](i / (COLOURS - 1)) end
  return palette
end

-- --- matrices --------------------------------------------------------------------------
-- A matrix here is {rows=, columns=, channels=, read= function(first, last) that returns lists of all channels of those
-- rows, number= function of an element}.

local function of_buffer(buffer)
  local shape = buffer.shape
  local channels = shape[3] or 1
  if #shape < 2 or #shape > 3 or #shape == 3 and channels ~= 3 and channels ~= 4 then
    error(("m: rows x columns, or rows x columns x 3 or 4 channels expected, got %s"):format(
      table.concat(shape, "x")), 0)
  end
  local m = { rows = shape[1], columns = shape[2], channels = channels, number = drawing.number_of(buffer.dtype),
    is_bytes = buffer.dtype == "uchar" }
  local flat = buffer.bytes > 0 and channels > 1 and buffer:reshape(shape[1], shape[2] * channels) or buffer
  function m.read(first, last) return flat:read(first, last) end
  return m
end

--- The channels of a pixel of a table, added to a list; false where it is none.
local function add_pixel(list, value, channels)
  if channels > 1 and not (type(value) == "table" and rawlen(value) == channels) then return false end
  for k = 1, channels do
    local v = value
    if channels > 1 then v = rawget(value, k) end
    if type(v) ~= "number" then return false end
    list[#list + 1] = v
  end
  return true
end

--- A list of lists of numbers, or of pixels of 3 or 4. No code of a script runs.
local function of_table(list)
  local first = rawget(list, 1)
  local is_list = type(first) == "table"
  local pixel = is_list and rawget(first, 1)
  local m = { rows = rawlen(list), columns = is_list and rawlen(first) or 0, number = function(v) return v end,
    channels = type(pixel) == "table" and rawlen(pixel) or 1 }
  if m.channels ~= 1 and m.channels ~= 3 and m.channels ~= 4 then
    error("m: pixels of 3 or 4 numbers expected", 0)
  end
  local rows = {}
  for i = 1, m.rows do
    local row = rawget(list, i)
    if type(row) ~= "table" or rawlen(row) ~= m.columns then
      error(("m: a list of %d expected at [%d]"):format(m.columns, i), 0)
    end
    rows[i] = {}
    for j = 1, m.columns do
      if not add_pixel(rows[i], rawget(row, j), m.channels) then
        error(("m: %s expected at [%d][%d]"):format(m.channels > 1 and "pixel" or "number", i, j), 0)
      end
    end
  end
  function m.read(from, to) return table.move(rows, from, to, 1, {}) end
  return m
end

local function matrix_of(value)
  if drawing.is_buffer(value) then return of_buffer(value) end
  if type_of(value) == "table" then return of_table(value) end
  error(("m: buffer or list of lists expected, got %s"):format(type_of(value)), 0)
end

--- The mean of the numbers of one channel in a block of rows and columns; NaN where there is none.
local function mean_of(rows, first, last, channel, channels, number)
  local sum, count = 0.0, 0
  for _, row in ipairs(rows) do
    for column = first, last do
      local v = number(row[(column - 1) * channels + channel])
      if v == v then sum, count = sum + v, count + 1 end
    end
  end
  return sum / count
end

--- The matrix in another size: each element the mean of those that it covers, or the one that it lies in.
local function resized(m, rows, columns)
  local made = { rows = rows, columns = columns, channels = m.channels, number = function(v) return v end }
  local function covered(i, n, of)
    local first = (i - 1) * of // n + 1
    return first, math.max(first, i * of // n)
  end
  for i = 1, rows do
    local row, source = {}, m.read(covered(i, rows, m.rows))
    for j = 1, columns do
      local first, last = covered(j, columns, m.columns)
      for k = 1, m.channels do row[#row + 1] = mean_of(source, first, last, k, m.channels, m.number) end
    end
    made[i] = row
  end
  function made.read(first, last) return table.move(made, first, last, 1, {}) end
  return made
end

--- The least and the largest finite element; nil where there is none.
local function range_of(m)
  local low, high
  local step = math.max(1, PIECE // math.max(1, m.columns * m.channels))
  for first = 1, m.columns > 0 and m.rows or 0, step do
    for _, row in ipairs(m.read(first, math.min(first + step - 1, m.rows))) do
      for _, element in ipairs(row) do
        local v = m.number(element)
        if v - v == 0 then
          if not low or v < low then low = v end
          if not high or v > high then high = v end
        end
      end
    end
  end
  return low, high
end

-- --- pixels ----------------------------------------------------------------------------

--- A function that gives the colour of a pixel: {red, green, blue}, each 0 to 255.
local function colour_of(m, picture)
  if m.channels == 1 then
    return function(row, column)
      local v = m[row][column]
      if v ~= v then return BLACK end
      return picture.palette[math.floor(drawing.share(v, picture.low, picture.high) * (COLOURS - 1) + 0.5)]
    end
  end
  return function(row, column)
    local colour = {}
    for k = 1, 3 do
      local v = m[row][(column - 1) * m.channels + k]
      colour[k] = v == v and math.floor(drawing.share(v, picture.low, picture.high) * 255 + 0.5) or 0
    end
    return colour
  end
end

-- --- text ------------------------------------------------------------------------------

local SHADES = " .:-=+*#%@"
local STRIP = 16 -- characters of the colours below

--- The nearest of the 256 colours of a terminal: a cube of 6 levels an edge, and 24 grays.
local function index_of(colour)
  local red, green, blue = table.unpack(colour)
  if red == green and green == blue and red >= 8 and red < 243 then return 232 + math.min(23, (red - 3) // 10) end
  local function level(v) return v < 48 and 0 or v < 115 and 1 or (v - 35) // 40 end
  return 16 + 36 * level(red) + 6 * level(green) + level(blue)
end

--- What a terminal takes for a colour of the foreground (38) or the background (48).
local function code_of(ground, colour, style)
  if style.colours == "256" then return ("%d;5;%d"):format(ground, index_of(colour)) end
  return ("%d;2;%d;%d;%d"):format(ground, table.unpack(colour))
end

--- Lines of half blocks: the upper pixel is the foreground, the lower one the background.
local function block_lines(m, colour, style)
  local lines = {}
  for row = 1, m.rows, 2 do
    local parts, before = {}, nil
    for column = 1, m.columns do
      local code = code_of(38, colour(row, column), style) .. ";"
        .. (row < m.rows and code_of(48, colour(row + 1, column), style) or "49")
      parts[#parts + 1] = (code == before and "" or "\27[" .. code .. "m") .. "▀"
      before = code
    end
    lines[#lines + 1] = table.concat(parts) .. "\27[0m"
  end
  return lines
end

local function shade_of(share)
  local at = math.min(#SHADES, math.floor(share * #SHADES) + 1)
  return SHADES:sub(at, at)
end

--- Lines of characters: the share of a gray, the luminance of a colour.
local function shade_lines(m, colour, picture)
  local lines = {}
  for row = 1, m.rows do
    local parts = {}
    for column = 1, m.columns do
      local share
      if m.channels == 1 then
        share = m[row][column] == m[row][column] and drawing.share(m[row][column], picture.low, picture.high) or 0
      else
        local red, green, blue = table.unpack(colour(row, column))
        share = (0.299 * red + 0.587 * green + 0.114 * blue) / 255
      end
      parts[column] = shade_of(share)
    end
    lines[row] = table.concat(parts)
  end
  return lines
end

--- What the colours mean, and of how many elements.
local function legend(picture, style)
  local size = ("%d x %d"):format(picture.rows, picture.columns)
  if picture.channels > 1 then return ("%s x %d"):format(size, picture.channels) end
  if not picture.is_finite then return size .. ", no finite elements" end
  local strip = "[" .. SHADES .. "]"
  if style.colours ~= "none" then
    local parts = {}
    for i = 0, STRIP - 1 do
      local colour = picture.palette[i * (COLOURS - 1) // (STRIP - 1)]
      parts[#parts + 1] = "\27[" .. code_of(38, colour, style) .. "m█"
    end
    strip = table.concat(parts) .. "\27[0m"
  end
  return ("%s %s %s   %s"):format(drawing.label(picture.low), strip, drawing.label(picture.high), size)
end

local function text_of(picture, m, o, style)
  local head = o.title and width.cut(o.title, style.columns) .. "\n" or ""
  if m.rows * m.columns == 0 then return head .. "(no elements)" end
  if style.ascii then style.colours = "none" end
  local scale = math.min(style.columns / m.columns, 2 * (style.height or HEIGHT) / m.rows, LARGEST_PIXEL)
  if scale > 1 then scale = math.floor(scale) end
  local columns, rows = math.max(1, m.columns * scale // 1 | 0), math.max(1, m.rows * scale // 1 | 0)
  if style.colours == "none" then rows = (rows + 1) // 2 end -- a character is twice as high as wide
  local shown = resized(m, rows, columns)
  local colour = colour_of(shown, picture)
  local lines = style.colours == "none" and shade_lines(shown, colour, picture) or block_lines(shown, colour, style)
  lines[#lines + 1] = legend(picture, style)
  return head .. table.concat(lines, "\n")
end

-- --- SVG -------------------------------------------------------------------------------

local FONT, GAP, KEY_HEIGHT, KEY_WIDTH = 13, 8, 12, 240 -- pixels
local DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

local function base64(bytes)
  local text = bytes:gsub("..?.?", function(group)
    local a, b, c = group:byte(1, 3)
    local bits = a << 16 | (b or 0) << 8 | (c or 0)
    local digits = {}
    for i = 0, 3 do
      local at = (bits >> 18 - 6 * i & 63) + 1
      digits[i + 1] = i <= #group and DIGITS:sub(at, at) or "="
    end
    return table.concat(digits)
  end)
  return text
end

--- An image of pixels, stretched over a rectangle.
local function image(pixels, columns, rows, place)
  local head = { width = columns, height = rows, channels = 3, bytes = 1 }
  local png = require("clcompute.formats").picture(head, pixels, "png")
  place.href, place.preserveAspectRatio = "data:image/png;base64," .. base64(png), "none"
  place.style = "image-rendering:pixelated"
  return markup.element("image", place)
end

local function pixels_of(m, colour)
  local parts = {}
  for row = 1, m.rows do
    for column = 1, m.columns do parts[#parts + 1] = string.char(table.unpack(colour(row, column))) end
  end
  return table.concat(parts)
end

--- The strip that tells what the colours mean.
local function key(picture, top)
  local parts = {}
  for i = 0, COLOURS - 1 do parts[#parts + 1] = string.char(table.unpack(picture.palette[i])) end
  local low, high = drawing.label(picture.low), drawing.label(picture.high)
  local left = markup.pixels(low, FONT) + GAP
  local base = top + KEY_HEIGHT - 1.0
  return markup.text("text", { class = "label", x = 0, y = base }, low)
    .. image(table.concat(parts), COLOURS, 1, { x = left, y = top + 0.0, width = KEY_WIDTH, height = KEY_HEIGHT })
    .. markup.text("text", { class = "label", x = left + KEY_WIDTH + GAP, y = base }, high)
end

local function svg_of(picture, m, o, pixels)
  if m.rows * m.columns == 0 then return nil end
  local height = math.ceil(pixels * m.rows / m.columns)
  local parts = { markup.text("title", {}, o.title or "Picture"),
    markup.text("desc", {}, ("A matrix of %d x %d as colours."):format(picture.rows, picture.columns)),
    markup.element("style", {}, html.CHART_STYLE),
    image(pixels_of(m, colour_of(m, picture)), m.columns, m.rows, { x = 0, y = 0, width = pixels, height = height }) }
  if picture.channels == 1 and picture.is_finite then
    parts[#parts + 1] = key(picture, height + GAP)
    height = height + 2 * GAP + KEY_HEIGHT
  end
  return markup.element("svg", { xmlns = "http://www.w3.org/2000/svg", class = "chart", role = "img",
    viewBox = ("0 0 %d %d"):format(pixels, height) }, parts)
end

-- --- all -------------------------------------------------------------------------------

local function check_range(o)
  for _, name in ipairs { "low", "high" } do
    if o[name] and o[name] - o[name] ~= 0 then
      error(("options: '%s': a finite number expected, got %s"):format(name, o[name]), 0)
    end
  end
  if o.low and o.high and o.low >= o.high then
    error(("options: 'low': a number below 'high' expected, got %s and %s"):format(o.low, o.high), 0)
  end
end

--- A drawing of a matrix.
function raster.new(value, options)
  local o = drawing.check_options(options, OPTIONS)
  if o.map then document.check_choice("options: 'map'", o.map, MAPS) end
  check_range(o)
  local m = matrix_of(value)
  local low, high = o.low, o.high
  if m.channels > 1 and m.is_bytes then low, high = low or 0, high or 255 end
  if not low or not high then
    local least, largest = range_of(m)
    low, high = low or least, high or largest
  end
  local picture = { rows = m.rows, columns = m.columns, channels = m.channels, low = low or 0, high = high or 1,
    is_finite = low ~= nil, palette = palette_of(o.map or "viridis") }
  local kept = resized(m, math.min(m.rows, MOST_PIXELS), math.min(m.columns, MOST_PIXELS))
  return drawing.new("Picture", o, function(style) return text_of(picture, kept, o, style) end,
    function(pixels) return svg_of(picture, kept, o, pixels) end)
end

return raster
