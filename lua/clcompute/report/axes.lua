-- SPDX-License-Identifier: MIT
--- The frame of a chart: ticks with labels, grid lines, titles with units.
-- @module clcompute.report.axes

local extent = require "clcompute.report.extent"
local format = require "clcompute.report.format"
local markup = require "clcompute.report.markup"

local axes = {}

--- Font size of all texts of a chart, and the distance of two lines of text.
axes.FONT, axes.LINE = 13, 18

local GAP = 8 -- between two labels, and between label and axis
local MOST_VALUES, LEAST_VALUES = 12, 3 -- of an axis whose ticks are at the values: all there are, those with room

local function positions_of(scale)
  local positions = {}
  for i, tick in ipairs(scale.ticks) do positions[i] = scale:at(tick) end
  return positions
end

--- Which labels to show, so that none touches the next: every one, or every 2nd, 3rd ...
local function stride(positions, labels)
  for step = 1, #labels do
    local fits, edge = true, -math.huge
    for i = 1, #labels, step do
      local half = extent.pixels(labels[i], axes.FONT) / 2
      if positions[i] - half < edge then fits = false end
      edge = positions[i] + half + GAP
    end
    if fits then return step end
  end
  return math.max(1, #labels)
end

--- Labels for the ticks of a scale, and the unit they are in (nil where each has its own).
function axes.labels(scale, unit)
  if not scale.base then return format.linear_ticks(scale.ticks, unit) end
  local labels = {}
  for i, tick in ipairs(scale.ticks) do labels[i] = format.log_tick(tick, unit, scale.base, scale.high) end
  return labels, not format.has_prefix(unit) and unit or nil
end

--- Which labels have room, from the left: a list of their indices.
local function with_room(positions, labels)
  local list, edge = {}, -math.huge
  for i, label in ipairs(labels) do
    local half = extent.pixels(label, axes.FONT) / 2
    if positions[i] - half >= edge then
      list[#list + 1] = i
      edge = positions[i] + half + GAP
    end
  end
  return list
end

--- Puts the ticks of a horizontal scale (placed already) at the data where these are few, as many as have room for
-- their labels; returns the labels and their unit.
function axes.ticks_at(scale, values, unit)
  local round = scale.ticks
  if #values < 2 or #values > MOST_VALUES then return axes.labels(scale, unit) end
  scale.ticks = values
  local labels, label_unit = axes.labels(scale, unit)
  local shown = with_room(positions_of(scale), labels)
  if #shown < math.min(#values, LEAST_VALUES) then
    scale.ticks = round
    return axes.labels(scale, unit)
  end
  local ticks, texts = {}, {}
  for i, index in ipairs(shown) do ticks[i], texts[i] = values[index], labels[index] end
  scale.ticks = ticks
  return texts, label_unit
end

--- "time, ms".
function axes.title(title, unit)
  if not unit or unit == "" then return title end
  return title == "" and unit or ("%s, %s"):format(title, unit)
end

--- Width of the widest label.
function axes.width(labels)
  local width = 0
  for _, label in ipairs(labels) do width = math.max(width, extent.pixels(label, axes.FONT)) end
  return width
end

local function tick_group(axis, value, content)
  return markup.element("g", { class = "tick", ["data-axis"] = axis, ["data-value"] = markup.exact(value) }, content)
end

--- Grid lines across and labels on the left, for a vertical scale.
function axes.vertical(scale, labels, left, right)
  local parts = {}
  for i, tick in ipairs(scale.ticks) do
    local y = scale:at(tick)
    parts[i] = tick_group("y", tick, markup.element("line", { class = "grid", x1 = left, x2 = right, y1 = y, y2 = y })
      .. markup.text("text", { class = "label end", x = left - GAP, y = y + axes.FONT * 0.35 }, labels[i]))
  end
  return table.concat(parts)
end

--- Ticks below, for a horizontal scale; `grid`: lines up to there, instead of marks on the axis. Labels stay left of
-- `limit`.
function axes.horizontal(scale, labels, bottom, grid, limit)
  local positions = positions_of(scale)
  local step = stride(positions, labels)
  local parts = {}
  for i, tick in ipairs(scale.ticks) do
    local x = positions[i]
    local line = markup.element("line", { class = grid and "grid" or "axis", x1 = x, x2 = x, y1 = bottom,
      y2 = grid or bottom + 5 })
    local label = ""
    if (i - 1) % step == 0 then
      local half = extent.pixels(labels[i], axes.FONT) / 2
      local at = math.max(half, math.min(x, limit - half))
      label = markup.text("text", { class = "label middle", x = at, y = bottom + axes.LINE + 2 }, labels[i])
    end
    parts[i] = tick_group("x", tick, line .. label)
  end
  return table.concat(parts)
end

return axes
