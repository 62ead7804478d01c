-- SPDX-License-Identifier: MIT
--- Line charts: a series a line, the spread as a band, gaps where rows have no value.

local axes = require "clcompute.report.axes"
local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"
local series = require "clcompute.report.series"

local line = {}

local NARROW = 500 -- a chart of less takes less height and has its names above
local MOST_LABELS, WIDEST_LABEL = 8, 190 -- names beside the lines: so many, pixels
local CROWDED = 60 -- points of a series from which on markers are dots

--- Points by x; those without x cannot be ordered, so they go.
local function sorted(list)
  local ordered = {}
  for i, point in ipairs(list) do
    if format.is_finite(point.x) then ordered[#ordered + 1] = { point = point, place = i } end
  end
  table.sort(ordered, function(a, b)
    if a.point.x ~= b.point.x then return a.point.x < b.point.x end
    return a.place < b.place
  end)
  for i, item in ipairs(ordered) do ordered[i] = item.point end
  return ordered
end

--- Pieces of a line between gaps.
local function pieces(list)
  local found, current = {}, nil
  for _, point in ipairs(list) do
    if point.gap then
      current = nil
    elseif current then
      current[#current + 1] = point
    else
      current = { point }
      found[#found + 1] = current
    end
  end
  return found
end

local function path(positions)
  local parts = {}
  for i, at in ipairs(positions) do parts[i] = ("%.2f %.2f"):format(at[1], at[2]) end
  return "M" .. table.concat(parts, "L")
end

--- From q1 to q3, there along the upper edge and back along the lower.
local function band(piece, x, y)
  local edge, wide = {}, false
  for i, point in ipairs(piece) do
    edge[i], wide = { x:at(point.x), y:at(point.high) }, wide or point.low < point.high
  end
  if not wide then return "" end
  for i = #piece, 1, -1 do edge[#edge + 1] = { x:at(piece[i].x), y:at(piece[i].low) } end
  if #piece == 1 then return markup.element("path", { class = "whisker", d = path(edge) }) end
  return markup.element("path", { class = "band", d = path(edge) .. "Z" })
end

local function tooltip(point, one, plot)
  local parts = { one.name ~= "" and one.name .. ": " or "",
    ("%s = %s, %s"):format(plot.x_title, format.significant(point.x, 6), format.engineering(point.y, plot.unit, 4)) }
  if point.low < point.high then
    parts[3] = (" (%s to %s)"):format(format.engineering(point.low, plot.unit),
      format.engineering(point.high, plot.unit))
  end
  return markup.text("title", {}, table.concat(parts))
end

local function draw_points(one, list, plot)
  local parts, radius = {}, #list > CROWDED and 1.6 or 4
  for _, point in ipairs(list) do
    if not point.gap then
      local x, y = plot.x:at(point.x), plot.y:at(point.y)
      parts[#parts + 1] = series.rings(point, x, y, radius)
      local look = { index = one.index, hollow = point.hollow }
      parts[#parts + 1] = series.marker(look, x, y, radius, { ["data-x"] = markup.exact(point.x),
        ["data-value"] = markup.exact(point.y), ["data-series"] = one.name }, tooltip(point, one, plot))
    end
  end
  return table.concat(parts)
end

local function draw_series(one, plot)
  local list, bands, lines = sorted(one.points), {}, {}
  for i, piece in ipairs(pieces(list)) do
    local positions = {}
    for j, point in ipairs(piece) do positions[j] = { plot.x:at(point.x), plot.y:at(point.y) } end
    bands[i] = band(piece, plot.x, plot.y)
    lines[i] = #piece > 1 and markup.element("path", { class = "line", d = path(positions),
      ["stroke-dasharray"] = series.dash(one) }) or ""
  end
  return markup.element("g", { class = series.class(one) },
    table.concat(bands) .. table.concat(lines) .. draw_points(one, list, plot))
end

--- The last point drawn of each series.
local function last_points(list, plot)
  local ends = {}
  for i, one in ipairs(list) do
    for _, point in ipairs(sorted(one.points)) do
      if not point.gap then ends[i] = { series = one, x = plot.x:at(point.x), y = plot.y:at(point.y) } end
    end
  end
  return ends
end

--- Pixels for names beside the lines; nil where they go into a legend.
local function label_room(list, width)
  if width < NARROW or #list < 2 or #list > MOST_LABELS then return nil end
  local room = 0
  for _, one in ipairs(list) do room = math.max(room, markup.pixels(format.clean(one.name), axes.FONT) + 2) end
  return room <= WIDEST_LABEL and room or nil
end

local function all_integers(list)
  for _, point in ipairs(list) do
    if not point.gap and point.x % 1 ~= 0 then return false end
  end
  return true
end

--- Scales around all points; a linear vertical one begins at zero, and whole numbers get no ticks between.
local function scales(list, spec, width)
  local low, high = axes.range(list, "low", "high")
  if not spec.ylog then low, high = math.min(low, 0), math.max(high, 0) end
  local first, last = axes.range(list, "x", "x")
  local count = width < NARROW and 5 or 10
  if not spec.xlog and all_integers(list) then count = math.max(1, math.min(count, last + 0.0 - first)) end
  return axes.scale(first, last, spec.xlog, count, true),
    axes.scale(low, high, spec.ylog, width < NARROW and 5 or 7)
end

--- The distinct x of all points that are drawn, in order.
local function distinct(list)
  local seen, values = {}, {}
  for _, point in ipairs(list) do
    local value = not point.gap and point.x or nil
    if value and not seen[value] then
      seen[value] = true
      values[#values + 1] = value
    end
  end
  table.sort(values)
  return values
end

--- The chart, `width` pixels wide: markup and height.
function line.draw(list, spec, titles, width)
  local drawn = series.of(list)
  local x, y = scales(list, spec, width)
  local y_labels, y_unit = axes.labels(y, titles.y_unit)
  local room = label_room(drawn, width)
  local named = room and {} or (#drawn > 1 and drawn or {})
  local legend, taken = series.legend(named, series.mark_items(spec, list), 0, width)
  local top = taken + axes.LINE + 14
  local height = width < NARROW and 240 or 320
  local left, right = axes.width(y_labels) + 14, width - (room and room + 34 or 14)
  local bottom = top + height
  x:place(left + 8, right - 8)
  y:place(bottom, top)
  local x_labels, x_unit = axes.ticks_at(x, distinct(list), titles.x_unit)
  local plot = { x = x, y = y, x_title = titles.x, unit = titles.y_unit }
  local parts = { legend,
    markup.text("text", { class = "label axis-title", x = 0, y = taken + axes.FONT }, markup.cut_pixels(
      axes.title(titles.y, y_unit), width, axes.FONT)),
    axes.vertical(y, y_labels, left, right), axes.horizontal(x, x_labels, bottom, nil, width),
    markup.element("line", { class = "axis", x1 = left, x2 = right, y1 = bottom, y2 = bottom }) }
  for _, one in ipairs(drawn) do parts[#parts + 1] = draw_series(one, plot) end
  if room then
    parts[#parts + 1] = series.end_labels(last_points(drawn, plot), right + 20, top, bottom - 4, room)
  end
  parts[#parts + 1] = markup.text("text", { class = "label axis-title end", x = right + 0.0,
    y = bottom + 2 * axes.LINE + 6 }, markup.cut_pixels(axes.title(titles.x, x_unit), right, axes.FONT))
  return table.concat(parts), bottom + 2 * axes.LINE + 14
end

return line
