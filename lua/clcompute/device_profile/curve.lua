-- SPDX-License-Identifier: MIT

--- Curves of rows, to be read: rows without a time are left out, as if they had not been measured.
-- @module clcompute.device_profile.curve

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

return curve
