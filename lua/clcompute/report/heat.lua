-- SPDX-License-Identifier: MIT
--- Heat maps: a value for each pair, such as size and group, as a colour and, where there is room, a number.

local axes = require "clcompute.report.axes"
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"
local series = require "clcompute.report.series"

local heat = {}

local NARROW, GAP = 500, 8
local LEAST, MOST, HEIGHT = 12, 84, 34 -- width of a cell, height of a cell
local KEY, KEY_WIDTH = 12, 240 -- the strip of colours

-- --- colours ---------------------------------------------------------------------------

-- A perceptually even ramp from dark blue to yellow (viridis, CC0), evenly spaced.
local STOPS = { "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725" }

local DARK, LIGHT = "#000000", "#ffffff"

local function channels(colour)
  local list = {}
  for pair in colour:gmatch "%x%x" do list[#list + 1] = tonumber(pair, 16) end
  return list
end

--- Relative luminance after WCAG 2.
local function luminance(colour)
  local sum = 0
  for i, value in ipairs(channels(colour)) do
    local share = value / 255
    local linear = share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
    sum = sum + linear * ({ 0.2126, 0.7152, 0.0722 })[i]
  end
  return sum
end

--- The contrast of two colours after WCAG 2, from 1 to 21.
function heat.contrast(a, b)
  local light, dark = luminance(a), luminance(b)
  if light < dark then light, dark = dark, light end
  return (light + 0.05) / (dark + 0.05)
end

--- The colour at a share from 0 to 1 of the ramp, and the ink that is legible on it.
function heat.colour(share)
  local at = math.max(0, math.min(1, share)) * (#STOPS - 1)
  local index = math.min(math.floor(at), #STOPS - 2)
  local from, to = channels(STOPS[index + 1]), channels(STOPS[index + 2])
  local mixed = {}
  for i = 1, 3 do mixed[i] = math.floor(from[i] + (to[i] - from[i]) * (at - index) + 0.5) end
  local colour = ("#%02x%02x%02x"):format(table.unpack(mixed))
  local ink = heat.contrast(colour, LIGHT) >= heat.contrast(colour, DARK) and LIGHT or DARK
  return colour, ink
end

-- --- cells -----------------------------------------------------------------------------

--- The distinct values of a key, in order of size where all are numbers, else of appearance.
local function categories(list, key)
  local seen, order, numeric = {}, {}, true
  for _, point in ipairs(list) do
    local value = fields.at(point.row, key)
    if value ~= nil and not seen[value] then
      seen[value] = true
      order[#order + 1] = value
      numeric = numeric and type(value) == "number"
    end
  end
  if numeric then table.sort(order) end
  local place = {}
  for i, value in ipairs(order) do place[value] = i end
  return { values = order, place = place }
end

local function category_text(value)
  return type(value) == "number" and format.significant(value, 6) or format.clean(value)
end

--- A pair without a value, and why.
local function absent_cell(point, x, y, size)
  local why = fields.is_ok(point.row) and "no value" or fields.reason(point.row)
  return markup.element("rect", { class = "absent", x = x + 1.0, y = y + 1.0, width = size - 2.0,
    height = HEIGHT - 2.0 }, markup.text("title", {}, why))
end

local function tooltip(point, plot)
  return markup.text("title", {}, ("%s = %s, %s = %s: %s"):format(
    plot.x_title, category_text(fields.at(point.row, plot.x_key)),
    plot.y_title, category_text(fields.at(point.row, plot.y_key)), format.engineering(point.y, plot.unit, 4)))
end

local function cell(point, x, y, size, plot)
  if point.gap then return absent_cell(point, x, y, size) end
  local fill, ink = heat.colour(plot.scale:share(point.y))
  local text = plot.write(point.y)
  local fits = markup.pixels(text, axes.FONT) <= size - 4
  return markup.element("rect", { class = "cell", x = x + 0.0, y = y + 0.0, width = size + 0.0, height = HEIGHT,
      fill = fill, ["data-value"] = markup.exact(point.y) }, tooltip(point, plot))
    .. series.frames(point, x, y, size, HEIGHT)
    .. (fits and markup.text("text", { class = "label middle cell-text", x = x + size / 2,
      y = y + HEIGHT / 2 + axes.FONT * 0.35, fill = ink, ["data-on"] = fill }, text) or "")
end

--- Names of the columns, thinned or cut so that none touches the next.
local function column_names(columns, left, size, y)
  local widest = 0
  for _, value in ipairs(columns.values) do
    widest = math.max(widest, markup.pixels(category_text(value), axes.FONT) + GAP)
  end
  local numeric = type(columns.values[1]) == "number"
  local step = numeric and math.max(1, math.ceil(widest / size)) or 1
  local parts = {}
  for i = 1, #columns.values, step do
    local text = category_text(columns.values[i])
    if not numeric then text = markup.cut_middle(text, size - 4, axes.FONT) end
    parts[#parts + 1] = markup.text("text", { class = "label middle", x = left + (i - 0.5) * size, y = y }, text)
  end
  return table.concat(parts)
end

local function row_names(rows, room, top)
  local parts = {}
  for i, value in ipairs(rows.values) do
    local y = top + (i - 0.5) * HEIGHT + axes.FONT * 0.35
    parts[i] = markup.text("text", { class = "label end", x = room + 0.0, y = y },
      markup.cut_middle(category_text(value), room, axes.FONT))
  end
  return table.concat(parts)
end

local function names_width(rows, limit)
  local widest = 0
  for _, value in ipairs(rows.values) do
    widest = math.max(widest, markup.pixels(category_text(value), axes.FONT))
  end
  return math.min(widest, limit)
end

--- The strip that tells what the colours mean, with the value at both ends.
local function colour_key(colours, plot, top, width, id)
  local stops = {}
  for i, stop in ipairs(STOPS) do
    stops[i] = markup.element("stop", { offset = (i - 1) / (#STOPS - 1), ["stop-color"] = stop })
  end
  local low, high = plot.write_end(colours.low), plot.write_end(colours.high)
  local from = markup.pixels(low, axes.FONT) + GAP
  local size = math.min(KEY_WIDTH, width - from - markup.pixels(high, axes.FONT) - 2 * GAP)
  local base = top + KEY - 1
  return markup.element("linearGradient", { id = id }, stops)
    .. markup.text("text", { class = "label", x = 0, y = base }, low)
    .. markup.element("rect", { x = from, y = top + 0.0, width = size + 0.0, height = KEY, rx = 2,
      fill = "url(#" .. id .. ")" })
    .. markup.text("text", { class = "label", x = from + size + GAP, y = base }, high)
end

--- Draws each pair once; a second row for a pair would hide the first, so it is an error.
local function draw_cells(list, columns, rows, left, top, size, plot)
  local parts, taken = {}, {}
  for _, point in ipairs(list) do
    local i = columns.place[fields.at(point.row, plot.x_key)]
    local j = rows.place[fields.at(point.row, plot.y_key)]
    if i and j then
      local at = j * #columns.values + i
      if taken[at] then
        error(("chart: two rows for %s = %s, %s = %s"):format(plot.x_title, category_text(columns.values[i]),
          plot.y_title, category_text(rows.values[j])), 0)
      end
      taken[at] = true
      parts[#parts + 1] = cell(point, left + (i - 1) * size, top + (j - 1) * HEIGHT, size, plot)
    end
  end
  return table.concat(parts)
end

local function colour_scale(list, spec)
  local low, high = axes.range(list, "y", "y")
  local made = axes.scale(low, high, spec.log, 5)
  low, high = low + 0.0, high + 0.0
  made.low, made.high = low, high > low and high or (low == 0 and 1 or low + math.abs(low))
  return made
end

--- The chart, `width` pixels wide: markup and height. A narrow one runs down the page along its longer side.
function heat.draw(list, spec, titles, width, id)
  local columns, rows = categories(list, spec.x), categories(list, spec.y)
  local plot = { x_title = titles.x, y_title = titles.y, x_key = spec.x, y_key = spec.y, unit = titles.value_unit }
  if width < NARROW and #columns.values > #rows.values then
    columns, rows = rows, columns
    plot.x_title, plot.y_title, plot.x_key, plot.y_key = titles.y, titles.x, spec.y, spec.x
  end
  local values = {}
  for _, point in ipairs(list) do values[#values + 1] = point.y end
  local write, unit = format.shared(values, titles.value_unit, 3)
  plot.write = write
  plot.write_end = function(value) return format.engineering(value, titles.value_unit) end
  plot.scale = colour_scale(list, spec)
  local legend, top = series.legend({}, series.mark_items(spec, list), 0, width)
  local room = names_width(rows, width * 0.3)
  local left = room + GAP
  local size = math.max(LEAST, math.min(MOST, (width - left - 2) / #columns.values))
  local head = top + 2 * axes.LINE + GAP
  local bottom = head + #rows.values * HEIGHT
  local below = axes.title(titles.value, unit)
  return table.concat {
    legend,
    markup.text("text", { class = "label axis-title", x = 0, y = top + axes.FONT }, markup.cut_pixels(
      ("%s ↓  %s →"):format(plot.y_title, plot.x_title), width, axes.FONT)),
    column_names(columns, left, size, head - GAP + 1.0), row_names(rows, room, head),
    draw_cells(list, columns, rows, left, head, size, plot),
    markup.text("text", { class = "label axis-title", x = 0, y = bottom + axes.LINE + 6 },
      markup.cut_pixels(below .. (spec.log and " (colours: logarithmic)" or ""), width, axes.FONT)),
    colour_key(plot.scale, plot, bottom + axes.LINE + 18, width, id),
  }, bottom + 2 * axes.LINE + 20
end

return heat
