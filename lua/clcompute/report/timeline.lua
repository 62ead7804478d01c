-- SPDX-License-Identifier: MIT
--- Timelines: spans of time on lanes, such as what each work-item does when. A state has a colour and a hatching, so
-- that it is told apart without colours too.

local axes = require "clcompute.report.axes"
local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"
local series = require "clcompute.report.series"

local timeline = {}

local NARROW = 500
local THICK, STEP, BETWEEN, GAP = 15, 18, 3, 12 -- pixels of a span, to the next track, between lanes, beside names
local ROOM = 0.36 -- of the width, that names may take
local THINNEST = 0.5 -- pixels of a span that took no time
local SWATCH = 16

-- Strokes on a tile of 8 x 8 pixels; a state beyond the last begins anew.
local TILE = 8
local HATCHINGS = {
  "",
  "M-2 2L2 -2M0 8L8 0M6 10L10 6",
  "M3 4H5",
  "M-2 6L2 10M0 0L8 8M6 -2L10 2",
  "M4 0V8",
  "M0 0L8 8M0 8L8 0",
  "M0 4H8",
}

local function hatching(one)
  return (one.index - 1) % #HATCHINGS + 1
end

local function pattern_id(id, index)
  return ("%s-hatching-%d"):format(id, index)
end

--- The hatchings that the states need.
local function patterns(states, id)
  local used, parts = {}, {}
  for _, one in ipairs(states) do
    local index = hatching(one)
    if HATCHINGS[index] ~= "" and not used[index] then
      used[index] = true
      parts[#parts + 1] = markup.element("pattern", { id = pattern_id(id, index), width = TILE, height = TILE,
        patternUnits = "userSpaceOnUse" }, markup.element("path", { class = "hatching", d = HATCHINGS[index] }))
    end
  end
  return table.concat(parts)
end

--- A rectangle in the colour and hatching of a state.
local function box(one, list, id, tooltip)
  list.class, list.rx = list.class or "bar", 2
  local index = hatching(one)
  local shape = markup.element("rect", list, tooltip)
  if HATCHINGS[index] ~= "" then
    shape = shape .. markup.element("rect", { x = list.x, y = list.y, width = list.width, height = list.height, rx = 2,
      fill = ("url(#%s)"):format(pattern_id(id, index)), ["pointer-events"] = "none" })
  end
  return markup.element("g", { class = series.class(one) }, shape)
end

--- Items for series.legend.
local function legend_items(states, id)
  local items = {}
  for i, one in ipairs(states) do
    items[i] = { name = one.name, draw = function(x, y)
      return box(one, { x = x - SWATCH / 2, y = y - SWATCH / 2, width = SWATCH, height = SWATCH }, id)
    end }
  end
  return items
end

--- Puts the spans of a lane on as few tracks as keep any two apart; returns their number.
local function assign_tracks(spans)
  table.sort(spans, function(a, b)
    if a.low ~= b.low then return a.low < b.low end
    return a.order < b.order
  end)
  local free_from = {}
  for _, span in ipairs(spans) do
    local track = 1
    while free_from[track] and free_from[track] > span.low do track = track + 1 end
    free_from[track], span.track = span.high, track
  end
  return #free_from
end

--- Lanes in the order of the rows: { label=, spans=, tracks= }.
local function lanes_of(list)
  local found, order = {}, {}
  for i, point in ipairs(list) do
    if not point.gap then
      local label = format.clean(point.lane)
      if not found[label] then
        found[label] = { label = label, spans = {} }
        order[#order + 1] = found[label]
      end
      point.order = i
      table.insert(found[label].spans, point)
    end
  end
  for _, lane in ipairs(order) do lane.tracks = assign_tracks(lane.spans) end
  return order
end

local function widest_label(lanes)
  local widest = 0
  for _, lane in ipairs(lanes) do widest = math.max(widest, markup.pixels(lane.label, axes.FONT)) end
  return widest
end

local function draw_span(span, one, x, y, plot)
  local from, to = x:at(span.low), x:at(span.high)
  local what = one.name ~= "" and ("%s: %s"):format(span.lane, one.name) or span.lane
  local low_unit = format.has_prefix(plot.unit) and plot.unit or nil -- each end has its own prefix
  local tooltip = markup.text("title", {}, ("%s, %s to %s"):format(what, format.engineering(span.low, low_unit, 4),
    format.engineering(span.high, plot.unit, 4)))
  local width = math.max(to - from, THINNEST)
  return box(one, { class = span.hollow and "bar hollow" or "bar", x = from, y = y, width = width, height = THICK,
      ["data-x"] = markup.exact(span.low), ["data-value"] = markup.exact(span.high), ["data-series"] = one.name },
    plot.id, tooltip) .. series.frames(span, from, y, width, THICK)
end

local function draw_label(lane, y, plot)
  local text = markup.cut_middle(lane.label, plot.room, axes.FONT)
  local full = text ~= lane.label and markup.text("title", {}, lane.label) or ""
  return markup.element("g", {}, full .. markup.text("text", { class = plot.stacked and "label" or "label end",
    x = plot.stacked and 0.0 or plot.room, y = y + axes.FONT * 0.35 }, text))
end

--- All lanes below each other; the markup and where they end.
local function draw_lanes(lanes, x, top, plot)
  local parts, y = {}, top
  for _, lane in ipairs(lanes) do
    parts[#parts + 1] = draw_label(lane, plot.stacked and y + axes.LINE / 2 or y + lane.tracks * STEP / 2, plot)
    if plot.stacked then y = y + axes.LINE end
    for _, span in ipairs(lane.spans) do
      local at = y + (span.track - 1) * STEP + (STEP - THICK) / 2
      parts[#parts + 1] = draw_span(span, plot.state[span.series], x, at, plot)
    end
    y = y + lane.tracks * STEP + BETWEEN
  end
  return table.concat(parts), y
end

--- The chart, `width` pixels wide: markup and height. `id`: what names of its hatchings begin with.
function timeline.draw(list, spec, titles, width, id)
  local lanes, states = lanes_of(list), series.of(list)
  local low, high = axes.range(list, "low", "high")
  local x = axes.scale(low, high, nil, width < NARROW and 4 or 8, true)
  local labels, unit = axes.labels(x, titles.x_unit)
  local widest = widest_label(lanes)
  local plot = { id = id, unit = titles.x_unit, state = {}, stacked = width < NARROW and widest > width * ROOM }
  for _, one in ipairs(states) do plot.state[one.name] = one end
  plot.room = plot.stacked and width or math.min(widest, width * ROOM)
  local items = spec.state and legend_items(states, id) or {}
  for _, item in ipairs(series.mark_items(spec, list)) do items[#items + 1] = item end
  local legend, top = series.legend({}, items, 0, width)
  x:place(plot.stacked and GAP or plot.room + GAP, width - 2.0 * GAP)
  local drawn, bottom = draw_lanes(lanes, x, top + GAP / 2, plot)
  return table.concat {
    patterns(states, id), legend, axes.horizontal(x, labels, bottom, top + 2, width), drawn,
    markup.text("text", { class = "label axis-title end", x = width + 0.0, y = bottom + 2 * axes.LINE + 6 },
      markup.cut_pixels(axes.title(titles.x, unit), width, axes.FONT)),
  }, bottom + 2 * axes.LINE + 14
end

return timeline
