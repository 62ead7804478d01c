-- SPDX-License-Identifier: MIT

--- The steps of a curve: stretches over which it hardly changes, as the speed of memory does over the sizes that one
-- level of caches holds.
-- @module clcompute.device_profile.plateaus

local statistics = require "clcompute.bench.statistics"

local plateaus = {}

local LEAST = 2 -- points of a plateau; a single one is on its way from one to the next
local PENALTY = math.log(2) ^ 2 / 2 -- of one more: levels that differ twofold are told apart by two points of each

--- The sum of the squares that logarithms of points first to last are away from their mean, from sums of them.
local function scatter(sums, squares, first, last)
  local n = last - first + 1
  local sum = sums[last] - sums[first - 1]
  return squares[last] - squares[first - 1] - sum * sum / n
end

--- Where the stretches of the best division begin: it weighs the scatter within them against their number.
local function divide(points)
  local sums, squares = { [0] = 0 }, { [0] = 0 }
  for i, point in ipairs(points) do
    local y = math.log(point.y)
    sums[i], squares[i] = sums[i - 1] + y, squares[i - 1] + y * y
  end
  local cost, first = { [0] = 0 }, {}
  for last = 1, #points do
    for begin = 1, last do
      local total = cost[begin - 1] + scatter(sums, squares, begin, last) + PENALTY
      if not cost[last] or total < cost[last] then cost[last], first[last] = total, begin end
    end
  end
  local starts, last = {}, #points
  while last > 0 do
    table.insert(starts, 1, first[last])
    last = first[last] - 1
  end
  return starts
end

--- The plateaus of a curve.
-- @tparam table points a list of { x=, y= } with x rising and y above 0
-- @treturn table a list of { from=, to=, value= }: the first and last x, the median of y
function plateaus.of(points)
  local list, starts = {}, divide(points)
  for i, start in ipairs(starts) do
    local last = (starts[i + 1] or #points + 1) - 1
    if last - start + 1 >= LEAST then
      local values = {}
      for k = start, last do values[#values + 1] = points[k].y end
      list[#list + 1] = { from = points[start].x, to = points[last].x, value = statistics.median(values) }
    end
  end
  return list
end

return plateaus
