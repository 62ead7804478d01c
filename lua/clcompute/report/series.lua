-- SPDX-License-Identifier: MIT
--- The series of a chart: their points; how they and marked points look, by colour, dash and marker, rings and frames;
-- and their names, in a legend or at the lines' ends.

local axes = require "clcompute.report.axes"
local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"

local series = {}

--- The series of points, each { name, index, points, hollow }, in order of appearance. One of gaps alone is left out.
function series.of(list)
  local found, order = {}, {}
  for _, point in ipairs(list) do
    local one = found[point.series]
    if not one then
      one = { name = point.series, points = {}, drawn = 0, hollow = true }
      found[point.series] = one
      order[#order + 1] = one
    end
    one.points[#one.points + 1] = point
    if not point.gap then
      one.drawn = one.drawn + 1
      one.hollow = one.hollow and point.hollow
    end
  end
  local drawn = {}
  for _, one in ipairs(order) do
    if one.drawn > 0 then
      drawn[#drawn + 1] = one
      one.index = #drawn
    end
  end
  return drawn
end

-- --- looks ----------------------------------------------------------------------------

--- Colours there are (html.lua has them); with markers and dashes 7 x 4 series are told apart.
series.COLOURS = 7

local DASHES = { "", "8 4", "3 3", "12 4 3 4" }
local HOLLOW_DASH = "2 4"
local SAMPLE, GAP = 26, 8 -- pixels of a line sample, and after it

-- Markers as paths around 0, 0 of about the same area, scaled by the radius.
local MARKERS = {
  { { -1, 0 }, round = true },
  { { -0.9, -0.9 }, { 0.9, -0.9 }, { 0.9, 0.9 }, { -0.9, 0.9 } },
  { { 0, -1.25 }, { 1.15, 0.8 }, { -1.15, 0.8 } },
  { { 0, -1.3 }, { 1.3, 0 }, { 0, 1.3 }, { -1.3, 0 } },
  { { 0, 1.25 }, { 1.15, -0.8 }, { -1.15, -0.8 } },
  { { -0.45, -1.2 }, { 0.45, -1.2 }, { 0.45, -0.45 }, { 1.2, -0.45 }, { 1.2, 0.45 }, { 0.45, 0.45 }, { 0.45, 1.2 },
    { -0.45, 1.2 }, { -0.45, 0.45 }, { -1.2, 0.45 }, { -1.2, -0.45 }, { -0.45, -0.45 } },
  { { 0, -1.3 }, { 1.2, -0.4 }, { 0.75, 1.1 }, { -0.75, 1.1 }, { -1.2, -0.4 } },
}

--- The class that gives a series its colour.
function series.class(one)
  return "s" .. (one.index - 1) % series.COLOURS + 1
end

--- The dash pattern of its line: other ones when the colours begin again, and for hollow series.
function series.dash(one)
  if one.hollow then return HOLLOW_DASH end
  local dash = DASHES[(one.index - 1) // series.COLOURS % #DASHES + 1]
  return dash ~= "" and dash or nil
end

--- A marker at a position; `content`: its tooltip.
function series.marker(one, x, y, radius, list, content)
  list = list or {}
  list.class = radius < 2 and "marker dot" or one.hollow and "marker hollow" or "marker"
  local shape = MARKERS[(one.index - 1) % #MARKERS + 1]
  if shape.round then
    list.cx, list.cy, list.r = x + 0.0, y + 0.0, radius + 0.0
    return markup.element("circle", list, content)
  end
  local corners = {}
  for i, corner in ipairs(shape) do
    corners[i] = ("%.2f %.2f"):format(x + corner[1] * radius, y + corner[2] * radius)
  end
  list.d = "M" .. table.concat(corners, "L") .. "Z"
  return markup.element("path", list, content)
end

--- A short piece of the line with its marker, or a swatch where the chart has bars.
local function sample(one, x, y, swatch)
  if swatch then
    return markup.element("rect", { class = one.hollow and "bar hollow" or "bar", x = x + 8.0, y = y - 6.0, width = 14,
      height = 12, rx = 2 })
  end
  return markup.element("line", { class = "line", x1 = x, x2 = x + SAMPLE, y1 = y, y2 = y,
    ["stroke-dasharray"] = series.dash(one) }) .. series.marker(one, x + SAMPLE / 2, y, 4)
end

local function legend_item(one, x, y, text, swatch)
  local label = markup.text("text", { class = "label", x = x + SAMPLE + GAP, y = y + axes.FONT * 0.35 }, text)
  local full = text ~= one.name and markup.text("title", {}, one.name) or ""
  return markup.element("g", { class = series.class(one) }, full .. sample(one, x + 0.0, y + 0.0, swatch) .. label)
end

--- Names above the plot, in as many lines as they take; returns the markup and the height. `swatch`: for bars.
-- `extra`: further items { name=, draw=function(x, y) }, of marks.
function series.legend(list, extra, top, width, swatch)
  local parts, x, y = {}, 0, top + axes.LINE / 2
  local function place(name, draw)
    local text = markup.cut_middle(format.clean(name), width - SAMPLE - GAP, axes.FONT)
    local taken = SAMPLE + GAP + markup.pixels(text, axes.FONT)
    if x > 0 and x + taken > width then x, y = 0, y + axes.LINE + 3 end
    parts[#parts + 1] = draw(x, y, text)
    x = x + taken + 2 * GAP
  end
  for _, one in ipairs(list) do
    place(one.name, function(at_x, at_y, text) return legend_item(one, at_x, at_y, text, swatch) end)
  end
  for _, item in ipairs(extra) do
    place(item.name, function(at_x, at_y, text)
      return item.draw(at_x + SAMPLE / 2, at_y)
        .. markup.text("text", { class = "label", x = at_x + SAMPLE + GAP, y = at_y + axes.FONT * 0.35 }, text)
    end)
  end
  if #parts == 0 then return "", 0 end
  return table.concat(parts), y + axes.LINE / 2 + GAP - top
end

--- Heights for labels that want to stand at `wanted` (sorted), one line apart at least, within top and bottom.
local function spread(wanted, top, bottom)
  local at = {}
  for i, y in ipairs(wanted) do at[i] = math.max(y, top, (at[i - 1] or -math.huge) + axes.LINE) end
  local limit = bottom
  for i = #at, 1, -1 do
    at[i] = math.min(at[i], limit)
    limit = at[i] - axes.LINE
  end
  return at
end

--- Names beside the last points: `ends` is a list of { series=, x=, y= }.
function series.end_labels(ends, x, top, bottom, width)
  table.sort(ends, function(a, b) return a.y < b.y or a.y == b.y and a.series.index < b.series.index end)
  local wanted = {}
  for i, item in ipairs(ends) do wanted[i] = item.y end
  local parts = {}
  for i, y in ipairs(spread(wanted, top, bottom)) do
    local item = ends[i]
    local text = markup.cut_middle(format.clean(item.series.name), width, axes.FONT)
    local full = text ~= item.series.name and markup.text("title", {}, item.series.name) or ""
    parts[i] = markup.element("g", { class = series.class(item.series) }, full
      .. markup.element("path", { class = "leader", d = ("M%.1f %.1fL%.1f %.1fL%.1f %.1f"):format(item.x + 7, item.y,
        x - 12, y, x - 5, y) })
      .. markup.text("text", { class = "label strong", x = x + 0.0, y = y + axes.FONT * 0.35 }, text))
  end
  return table.concat(parts)
end

-- --- marks ----------------------------------------------------------------------------
--
-- Special points, such as primes: a ring around the marker, or a frame around the cell, with an entry in the legend.

local RING = 3 -- a point may have several marks, one outside the other

--- Rings around a point.
function series.rings(point, x, y, radius)
  local parts = {}
  for i, index in ipairs(point.marks) do
    parts[i] = markup.element("circle", { class = "mark m" .. index, cx = x + 0.0, cy = y + 0.0,
      r = radius + RING * i + 0.0 })
  end
  return table.concat(parts)
end

--- Frames within a cell.
function series.frames(point, x, y, width, height)
  local parts = {}
  for i, index in ipairs(point.marks) do
    local inset = RING * i - 1.5
    parts[i] = markup.element("rect", { class = "mark m" .. index, x = x + inset, y = y + inset,
      width = math.max(1.0, width - 2 * inset), height = math.max(1.0, height - 2 * inset), rx = 2 })
  end
  return table.concat(parts)
end

--- Items for series.legend of the marks that some point has.
function series.mark_items(spec, list)
  local used, items = {}, {}
  for _, point in ipairs(list) do
    for _, index in ipairs(point.marks or {}) do used[index] = true end
  end
  for index, mark in ipairs(spec.marks or {}) do
    if used[index] then
      items[#items + 1] = { name = mark.title or mark.key, draw = function(x, y)
        if spec.kind == "line" then return series.rings({ marks = { index } }, x, y, 3) end
        return series.frames({ marks = { index } }, x - 9, y - 9, 18, 18)
      end }
    end
  end
  return items
end

return series
