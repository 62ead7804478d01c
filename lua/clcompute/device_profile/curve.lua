-- SPDX-License-Identifier: MIT

--- Curves of rows: how they are shown, and what is read off them: where they arrive, the law that they follow, their
-- plateaus. Rows without a time are left out, as if they had not been measured.

local format = require("clcompute.base").format

local curve = {}

--- The field of a row: "rate", or "params.paths".
local function field(row, key)
  local name = key:match "^params%.(.*)$"
  if name then return row.params and row.params[name] end
  return row[key]
end

--- What a launch takes: the median of its runs, which stands in the row, so that a reader finds every rate again.
-- @treturn ?number nil of a row that was not measured
function curve.time(row)
  local time = row.value
  return row.status == "ok" and type(time) == "number" and time > 0 and time < math.huge and time or nil
end

--- The points of those rows that were measured, by x.
-- @tparam table rows
-- @tparam string x a field: "times", or "params.paths"
-- @tparam[opt] string y a field (default: the time)
-- @treturn table a list of { x=, y=, row= }
function curve.of(rows, x, y)
  local points = {}
  for _, row in ipairs(rows) do
    local at, value = field(row, x), curve.time(row)
    if y and value then value = field(row, y) end
    if type(at) == "number" and value then
      points[#points + 1] = { x = at, y = value, row = row }
    end
  end
  table.sort(points, function(p, q) return p.x < q.x end)
  return points
end

--- Those rows whose field has a value: one of several curves.
-- @tparam table rows
-- @tparam string key a field
-- @param value
-- @treturn table
function curve.only(rows, key, value)
  local list = {}
  for _, row in ipairs(rows) do
    if field(row, key) == value then list[#list + 1] = row end
  end
  return list
end

--- The y at x, or nil.
function curve.at(points, x)
  for _, point in ipairs(points) do
    if point.x == x then return point.y end
  end
end

--- The point with the largest y, or nil.
function curve.highest(points)
  local best
  for _, point in ipairs(points) do
    if not best or point.y > best.y then best = point end
  end
  return best
end

--- The smallest x whose y is at least a share of the highest: where a curve that rises has arrived. Nil of no points.
function curve.arrival(points, share)
  local best = curve.highest(points)
  for _, point in ipairs(points) do
    if point.y >= share * best.y then return point.x end
  end
end

-- --- laws ------------------------------------------------------------------------

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

--- The line y = a + b x of least squares.
-- @tparam table xs
-- @tparam table ys as many
-- @treturn table `a`, `b`, and `unexplained`, the share of the variation of y that it leaves: 1 where there is nothing
--  to be explained, or nothing to explain it by
local function line_of(xs, ys)
  local middle_x, middle_y = mean(xs), mean(ys)
  local xx, xy, yy = 0, 0, 0
  for i, x in ipairs(xs) do
    local dx, dy = x - middle_x, ys[i] - middle_y
    xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
  end
  if not (xx > 0 and yy > 0) then return { a = middle_y, b = 0, unexplained = 1 } end
  local b = xy / xx
  return { a = middle_y - b * middle_x, b = b, unexplained = math.max(0, 1 - b * xy / yy) }
end

--- The law that explains most of a curve: of the candidates c the one whose line y = a + b law(x, c) fits best.
-- @tparam table points a list of { x=, y= }
-- @tparam table candidates
-- @tparam function law law(x, candidate)
-- @treturn ?table `a`, `b`, `unexplained`, and the `candidate`; nil of fewer than three points
-- @treturn ?number what the next best leaves unexplained; 1 where there is no other
function curve.law(points, candidates, law)
  if #points < 3 then return nil end
  local best, next_best
  for _, candidate in ipairs(candidates) do
    local xs, ys = {}, {}
    for i, point in ipairs(points) do xs[i], ys[i] = law(point.x, candidate), point.y end
    local line = line_of(xs, ys)
    line.candidate = candidate
    if not best or line.unexplained < best.unexplained then
      best, next_best = line, best
    elseif not next_best or line.unexplained < next_best.unexplained then
      next_best = line
    end
  end
  return best, next_best and next_best.unexplained or 1
end

-- --- plateaus --------------------------------------------------------------------
--
-- Stretches over which a curve hardly changes, as the speed of memory does over the sizes that one level of caches
-- holds.

local LEAST = 2 -- points of a plateau; a single one is on its way from one to the next
local PENALTY = math.log(2) ^ 2 / 2 -- of one more: levels that differ twofold are told apart by two points of each
local DISTINCT = 1.5 -- times, between neighbours: levels that are closer change from one run to the next

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
function curve.plateaus(points)
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

-- --- words and sections -----------------------------------------------------------

local STEADY = 1.25 -- times, within a plateau: if it varies by more, that is told

--- What is said of a curve that lost too many of its points.
curve.TOO_FEW = "Too few points could be measured to say anything."

--- A time as it is told in words: "78.9 µs".
function curve.seconds_text(value)
  return format.engineering(value, "s")
end

--- Work-items as they are told in words: "16384 work-items in groups of 256".
function curve.items_text(items, group)
  return ("%d work-items in groups of %d"):format(items, group)
end

--- A plateau's value in words: "238 GB/s", or "238 GB/s (111 GB/s to 284 GB/s)" where it is no level stretch.
-- @number value
-- @tparam ?number low the least
-- @tparam ?number high the most
-- @tparam string unit
-- @treturn string
function curve.level_text(value, low, high, unit)
  local text = format.engineering(value, unit)
  if not low or high < STEADY * low then return text end
  return ("%s (%s to %s)"):format(text, format.engineering(low, unit), format.engineering(high, unit))
end

--- A section with a line chart.
-- @tparam table given `title`; `how` its rows were measured, in a sentence or two; `rows`; `x` and `y`,
--  fields; `xtitle`, `ytitle`, `yunit`, `format` of the column y; `series`, a field, and its title
--  `series_title`; `xlog`, `ylog`; `hollow`, a field true in rows that were not measured; `reading`
-- @treturn table
function curve.section(given)
  local y = given.y or "value"
  local columns = { { key = given.x, title = given.xtitle } }
  if given.series then table.insert(columns, 1, { key = given.series, title = given.series_title or "" }) end
  columns[#columns + 1] = { key = "value", title = "median" }
  columns[#columns + 1] = { key = { "q1", "q3" }, title = "quartiles" }
  if y ~= "value" then
    columns[#columns + 1] = { key = y, title = given.ytitle, unit = given.yunit, format = given.format }
  end
  return {
    title = given.title, how = given.how, rows = given.rows, columns = columns, reading = given.reading,
    chart = { kind = "line", x = given.x, y = y, series = given.series, xlog = given.xlog, ylog = given.ylog,
      xtitle = given.xtitle, ytitle = given.ytitle, yunit = given.yunit, hollow = given.hollow },
  }
end

return curve
