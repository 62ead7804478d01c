-- SPDX-License-Identifier: MIT

--- The steps of a curve: stretches over which it hardly changes, as the speed of memory does over the sizes that one
-- level of caches holds.
-- @module clcompute.device_profile.plateaus

local format = require("clcompute.base").format

local plateaus = {}

local LEAST = 2 -- points of a plateau; a single one is on its way from one to the next
local PENALTY = math.log(2) ^ 2 / 2 -- of one more: levels that differ twofold are told apart by two points of each

local DISTINCT = 1.5 -- times, between neighbours: levels that are closer change from one run to the next
local STEADY = 1.25 -- times, within one: if it varies by more, that is told

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

--- The plateau of points first to last; its value is the median y, of an even number the smaller of the middle two, so
-- that it is always one of those measured.
local function plateau(points, first, last)
  local sorted = {}
  for i = first, last do sorted[#sorted + 1] = points[i].y end
  table.sort(sorted)
  return { from = points[first].x, to = points[last].x, value = sorted[(#sorted + 1) // 2], low = sorted[1],
    high = sorted[#sorted] }
end

local function are_close(a, b)
  return math.max(a, b) < DISTINCT * math.min(a, b)
end

--- The plateaus of a curve.
-- @tparam table points a list of { x=, y= } with x rising and y above 0
-- @treturn table a list of { from=, to=, value=, low=, high= }: the first and last x; the median, least and most of y
function plateaus.of(points)
  local list, starts, first = {}, divide(points), nil
  for i, start in ipairs(starts) do
    local last = (starts[i + 1] or #points + 1) - 1
    if last - start + 1 >= LEAST then
      local found, before = plateau(points, start, last), list[#list]
      if before and are_close(before.value, found.value) then
        list[#list] = plateau(points, first, last)
      else
        first, list[#list + 1] = start, found
      end
    end
  end
  return list
end

--- A plateau's value in words: "238 GB/s", or "238 GB/s (111 GB/s to 284 GB/s)" where it is no level stretch.
-- @number value
-- @tparam ?number low the least
-- @tparam ?number high the most
-- @tparam string unit
-- @treturn string
function plateaus.text(value, low, high, unit)
  local text = format.engineering(value, unit)
  if not low or high < STEADY * low then return text end
  return ("%s (%s to %s)"):format(text, format.engineering(low, unit), format.engineering(high, unit))
end

return plateaus
