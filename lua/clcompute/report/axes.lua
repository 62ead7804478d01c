-- SPDX-License-Identifier: MIT
--- Axes: from values to positions and back, linear or logarithmic, with ticks at round numbers; and the frame of a
-- chart, ticks with labels, grid lines, titles with units.

local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"

local axes = {}

-- --- scales ---------------------------------------------------------------------------

local Scale = {}
Scale.__index = Scale

local ENOUGH = 1e-9 -- of a step: where rounding would lose a tick
local FACTORS = { 1, 2, 5 } -- of the powers of ten that are round numbers
local NARROWEST = 1e-11 -- span of a linear axis as a share of its values: with less its ticks would be one number
local FINE = 100 -- times the smallest value, up to which all round numbers are ticks

--- A round step (1, 2 or 5 times a power of ten) that divides a span into at most `count` parts.
local function round_step(span, count)
  local raw = span / count
  local power = 10.0 ^ math.floor(math.log(raw, 10))
  for _, factor in ipairs(FACTORS) do
    if raw <= factor * power * (1 + ENOUGH) then return factor * power end
  end
  return 10 * power
end

--- Whether a linear axis cannot tell its ends apart.
local function is_point(low, high)
  return high - low <= NARROWEST * math.max(math.abs(low), math.abs(high))
end

local function linear_ticks(low, high, count)
  if is_point(low, high) then
    local pad = low == 0 and 1 or math.abs(low) / 2
    low, high = low - (low > 0 and pad or 0), high + pad
  end
  local step = round_step(high - low, count)
  local first, last = math.floor(low / step + ENOUGH), math.ceil(high / step - ENOUGH)
  local ticks = {}
  for i = first, last do ticks[#ticks + 1] = i * step end
  return ticks, ticks[1], ticks[#ticks]
end

--- The round numbers of a logarithmic axis, counted through: 1, 2, 5, 10, 20 ... or the powers of two.
local function round_number(index, base)
  if base == 2 then return 2.0 ^ index end
  return FACTORS[index % #FACTORS + 1] * 10.0 ^ (index // #FACTORS)
end

--- The index of the largest round number that is not above a value.
local function round_index(value, base)
  local each = base == 2 and 1 or #FACTORS
  local index = each * math.floor(math.log(value) / math.log(base) - ENOUGH)
  while round_number(index + 1, base) <= value * (1 + ENOUGH) do index = index + 1 end
  return index
end

--- Ticks at powers of the base, within few decades also at their 2 and 5 fold; and the round numbers around the
-- values, where the axis ends.
local function log_ticks(low, high, base, count)
  local first, last = round_index(low, base), round_index(high, base)
  if round_number(last, base) < high * (1 - ENOUGH) then last = last + 1 end
  if first == last then first, last = first - 1, last + 1 end
  local is_fine = base == 10 and high / low <= FINE
  local each = (is_fine or base == 2) and 1 or #FACTORS
  local stride = is_fine and 1 or each * math.max(1, math.ceil((last - first) / each / count))
  local ticks = {}
  for index = math.ceil(first / each) * each, last, stride do ticks[#ticks + 1] = round_number(index, base) end
  return ticks, round_number(first, base), round_number(last, base)
end

--- Smallest and largest of a field over the points that are drawn.
function axes.range(list, low_field, high_field)
  local low, high
  for _, point in ipairs(list) do
    if not point.gap then
      low = math.min(low or point[low_field], point[low_field])
      high = math.max(high or point[high_field], point[high_field])
    end
  end
  return low, high
end

--- A scale for values from low to high: `base` nil (linear), 2 or 10; about `count` ticks; `tight`: it ends at the
-- values, else at round numbers. `from` and `to` are the positions of its ends and may be set later.
function axes.scale(low, high, base, count, tight)
  local self = setmetatable({ base = base, from = 0, to = 1 }, Scale)
  low, high = low + 0.0, high + 0.0 -- the difference of integers may wrap around
  if base then
    self.ticks, self.low, self.high = log_ticks(low, high, base, count)
  else
    self.ticks, self.low, self.high = linear_ticks(low, high, count)
  end
  local ticks = self.ticks
  if tight and not is_point(low, high) then
    self.low, self.high = low, high
    for i = #ticks, 1, -1 do
      if ticks[i] < low - math.abs(low) * ENOUGH or ticks[i] > high + math.abs(high) * ENOUGH then
        table.remove(ticks, i)
      end
    end
  end
  return self
end

--- Sets the positions of the two ends.
function Scale:place(from, to)
  self.from, self.to = from, to
  return self
end

--- 0 at the low end, 1 at the high end.
function Scale:share(value)
  if self.base then -- logarithms first: high / low may exceed every number
    return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
  end
  return (value - self.low) / (self.high - self.low + 0.0)
end

--- The position of a value.
function Scale:at(value)
  return self.from + self:share(value) * (self.to - self.from)
end

--- The value at a position.
function Scale:value(position)
  local share = (position - self.from) / (self.to - self.from)
  if self.base then return self.low ^ (1 - share) * self.high ^ share end
  return self.low + share * (self.high - self.low)
end

-- --- the frame ------------------------------------------------------------------------

-- Font size of all texts of a chart, and the distance of two lines of text.
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
      local half = markup.pixels(labels[i], axes.FONT) / 2
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
    local half = markup.pixels(label, axes.FONT) / 2
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
  for _, label in ipairs(labels) do width = math.max(width, markup.pixels(label, axes.FONT)) end
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
      local half = markup.pixels(labels[i], axes.FONT) / 2
      local at = math.max(half, math.min(x, limit - half))
      label = markup.text("text", { class = "label middle", x = at, y = bottom + axes.LINE + 2 }, labels[i])
    end
    parts[i] = tick_group("x", tick, line .. label)
  end
  return table.concat(parts)
end

return axes
