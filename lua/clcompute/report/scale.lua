-- SPDX-License-Identifier: MIT
--- From values to positions and back, linear or logarithmic, with ticks at round numbers.
-- @module clcompute.report.scale

local scale = {}
scale.__index = scale

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

--- A scale for values from low to high: `base` nil (linear), 2 or 10; about `count` ticks; `tight`: it ends at the
-- values, else at round numbers. `from` and `to` are the positions of its ends and may be set later.
function scale.new(low, high, base, count, tight)
  local self = setmetatable({ base = base, from = 0, to = 1 }, scale)
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
function scale:place(from, to)
  self.from, self.to = from, to
  return self
end

--- 0 at the low end, 1 at the high end.
function scale:share(value)
  if self.base then -- logarithms first: high / low may exceed every number
    return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
  end
  return (value - self.low) / (self.high - self.low + 0.0)
end

--- The position of a value.
function scale:at(value)
  return self.from + self:share(value) * (self.to - self.from)
end

--- The value at a position.
function scale:value(position)
  local share = (position - self.from) / (self.to - self.from)
  if self.base then return self.low ^ (1 - share) * self.high ^ share end
  return self.low + share * (self.high - self.low)
end

return scale
