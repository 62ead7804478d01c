-- SPDX-License-Identifier: MIT
--- From values to positions and back, linear or logarithmic, with ticks at round numbers.
-- @module clcompute.report.scale

local scale = {}
scale.__index = scale

local ENOUGH = 1e-9 -- of a step: where rounding would lose a tick

--- A round step (1, 2 or 5 times a power of ten) that divides a span into at most `count` parts.
local function round_step(span, count)
  local raw = span / count
  local power = 10.0 ^ math.floor(math.log(raw, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if raw <= factor * power * (1 + ENOUGH) then return factor * power end
  end
  return 10 * power
end

local function linear_ticks(low, high, count)
  if low == high then
    local pad = low == 0 and 1 or math.abs(low) / 2
    low, high = low - (low > 0 and pad or 0), high + pad
  end
  local step = round_step(high - low, count)
  local first, last = math.floor(low / step + ENOUGH), math.ceil(high / step - ENOUGH)
  local ticks = {}
  for i = first, last do ticks[#ticks + 1] = i * step end
  return ticks
end

--- Powers of the base around the values; within few decades also their 2 and 5 fold.
local function log_ticks(low, high, base, count)
  local function power_of(value) return math.log(value) / math.log(base) end
  local first, last = math.floor(power_of(low) + ENOUGH), math.ceil(power_of(high) - ENOUGH)
  if first == last then first, last = first - 1, last + 1 end
  local stride = math.max(1, math.ceil((last - first) / count))
  local factors = base == 10 and last - first <= 2 and { 1, 2, 5 } or { 1 }
  local ticks = {}
  for power = first, last, stride do
    for _, factor in ipairs(factors) do ticks[#ticks + 1] = factor * (base + 0.0) ^ power end
  end
  if ticks[#ticks] < high * (1 - ENOUGH) then
    ticks[#ticks + 1] = (base + 0.0) ^ (first + stride * math.ceil((last - first) / stride))
  end
  while ticks[2] and ticks[2] <= low * (1 + ENOUGH) do table.remove(ticks, 1) end
  while #ticks > 2 and ticks[#ticks - 1] >= high * (1 - ENOUGH) do ticks[#ticks] = nil end
  return ticks
end

--- A scale for values from low to high: `base` nil (linear), 2 or 10; about `count` ticks; `tight`: it ends at the
-- values, else at ticks. `from` and `to` are the positions of its ends and may be set later.
function scale.new(low, high, base, count, tight)
  local ticks = base and log_ticks(low, high, base, count) or linear_ticks(low, high, count)
  local ends = { base = base, ticks = ticks, low = ticks[1], high = ticks[#ticks], from = 0, to = 1 }
  local self = setmetatable(ends, scale)
  if tight and low < high then
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
  return (value - self.low) / (self.high - self.low)
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
