-- SPDX-License-Identifier: MIT
--- The points of a chart, read from the rows of its section: table and chart cannot disagree.
-- @module clcompute.report.points

local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local places = require("clcompute.base").places

local points = {}

-- Sizes of numbers that an axis has room for: the spans, steps and ends it computes must be numbers themselves.
local LEAST, MOST = 1e-300, 1e300
local LAST_ID = 2 ^ 53

--- A value that has a place on the axis, in its unit, else why it has none. `is_mixed`: rows may have another unit.
local function place(row, key, is_log, axis, unit, is_mixed)
  local value = fields.in_unit(row, key, unit)
  if value == nil then return nil, "no " .. axis end
  if type(value) ~= "number" then return nil, axis .. " is no number" end
  if not format.is_finite(value) then return nil, axis .. " is not finite" end
  if is_mixed and fields.unit_of_row(row) ~= unit then return nil, ("%s is not in %s"):format(axis, unit) end
  if is_log and value <= 0 then return nil, axis .. " is not positive" end
  local size = math.abs(value + 0.0)
  if size > MOST then return nil, ("%s is beyond %g"):format(axis, MOST) end
  if size > 0 and size < LEAST then return nil, ("%s is closer to 0 than %g"):format(axis, LEAST) end
  return value
end

--- One end of a spread; the value itself where the row has none.
local function spread(row, key, value, is_log, unit)
  return key and place(row, key, is_log, "spread", unit) or value
end

local function marks_of(row, spec)
  local list = {}
  for i, mark in ipairs(spec.marks or {}) do
    if fields.at(row, mark.key) then list[#list + 1] = i end
  end
  return list
end

--- The span of a row, from `low` to `high`, or nil and why it is not in the chart.
local function read_span(row, spec, scales)
  local lane = fields.label(row, spec.lane)
  if lane == "" then return nil, "no lane" end
  local start, no_start = place(row, spec.start, false, "start", scales.x.unit, scales.x.is_mixed)
  if not start then return nil, no_start end
  local finish, no_finish = place(row, spec.finish, false, "finish", scales.x.unit, scales.x.is_mixed)
  if not finish then return nil, no_finish end
  if finish < start then return nil, "finish is before start" end
  return { lane = lane, low = start, high = finish }
end

--- A list of 1 to 3 integers that positions can tell apart.
local function is_place(value)
  if type(value) ~= "table" or #value < 1 or #value > 3 then return false end
  for _, at in ipairs(value) do
    if math.type(at) ~= "integer" or at < 0 or at > LAST_ID then return false end
  end
  return true
end

--- The point of a row of an index space: a work-item, or a work-group, which has a size.
local function read_place(row)
  local id, size = row.global_id, nil
  if row.first_id then id, size = row.first_id, row.local_size end
  if not is_place(id) then return nil, "no id" end
  if row.first_id and (not is_place(size) or #size ~= #id) then return nil, "no size of the group" end
  return { place = id, size = size,
    group = ("%s: %s"):format(row.part, places.text(row.group_id)),
    hollow = row.active == false or size and row.active_items ~= row.items or false }
end

--- The point of a row by its value, or nil and why it is not in the chart.
local function read_value(row, spec, scales)
  local x, y, reason
  if spec.kind == "line" then
    x, reason = place(row, spec.x, spec.xlog, "x", scales.x.unit, scales.x.is_mixed)
  elseif spec.kind == "heat" and (fields.at(row, spec.x) == nil or fields.at(row, spec.y) == nil) then
    reason = "not at a cell"
  end
  if reason then return nil, reason end
  local y_key = spec.kind == "heat" and spec.value or spec.y
  y, reason = place(row, y_key, spec.kind == "heat" and spec.log or spec.ylog, "value", scales.value.unit,
    scales.value.is_mixed)
  if reason then return nil, reason end
  local is_log, unit = spec.ylog, scales.value.unit
  local low, high = spread(row, spec.low, y, is_log, unit), spread(row, spec.high, y, is_log, unit)
  return { x = x, y = y, low = math.min(low, y), high = math.max(high, y) }
end

local READERS = { grid = read_place, timeline = read_span } -- the others: read_value
local SERIES = { timeline = "state" } -- what tells series apart where it is not `series`

--- The point of a row, or nil and why it is not in the chart.
local function read(row, spec, scales)
  if not fields.is_ok(row) then return nil, fields.reason(row) end
  local point, reason = (READERS[spec.kind] or read_value)(row, spec, scales)
  if not point then return nil, reason end
  point.row, point.marks = row, marks_of(row, spec)
  point.hollow = point.hollow or spec.hollow and fields.at(row, spec.hollow) and true or false
  return point
end

--- Texts with how often each came: "unsupported: no double (2)".
local function tally(reasons)
  local count, order = {}, {}
  for _, reason in ipairs(reasons) do
    if not count[reason] then order[#order + 1] = reason end
    count[reason] = (count[reason] or 0) + 1
  end
  for i, reason in ipairs(order) do order[i] = ("%s (%d)"):format(reason, count[reason]) end
  return table.concat(order, "; ")
end

--- All points in the order of the rows (a row without is a gap: { x =, gap = true }), and a note on those left out.
-- `scales`: what `x` and `value` are in, each { unit =, is_mixed = }.
function points.read(section, spec, scales)
  local list, reasons = {}, {}
  for _, row in ipairs(section.rows) do
    local point, reason = read(row, spec, scales)
    if not point then
      reasons[#reasons + 1] = reason
      point = { gap = true, row = row, x = spec.kind == "line" and fields.in_unit(row, spec.x, scales.x.unit) or nil }
    end
    local key = spec[SERIES[spec.kind] or "series"] or (spec.kind == "grid" and "part")
    point.series = key and fields.label(row, key) or ""
    list[#list + 1] = point
  end
  if #reasons == 0 then return list, nil end
  return list, ("%d of %d rows are not in the chart: %s."):format(#reasons, #section.rows, tally(reasons))
end

--- Points by series, each { name, index, points, hollow }, in order of appearance; series of gaps alone are left out.
function points.by_series(list)
  local found, order = {}, {}
  for _, point in ipairs(list) do
    local series = found[point.series]
    if not series then
      series = { name = point.series, points = {}, drawn = 0, hollow = true }
      found[point.series] = series
      order[#order + 1] = series
    end
    series.points[#series.points + 1] = point
    if not point.gap then
      series.drawn = series.drawn + 1
      series.hollow = series.hollow and point.hollow
    end
  end
  local drawn = {}
  for _, series in ipairs(order) do
    if series.drawn > 0 then
      drawn[#drawn + 1] = series
      series.index = #drawn
    end
  end
  return drawn
end

--- The distinct values of a field over all points that are drawn, in order.
function points.distinct(list, field)
  local seen, values = {}, {}
  for _, point in ipairs(list) do
    local value = not point.gap and point[field] or nil
    if value and not seen[value] then
      seen[value] = true
      values[#values + 1] = value
    end
  end
  table.sort(values)
  return values
end

--- Smallest and largest of a field over all points that are drawn.
function points.range(list, low_field, high_field)
  local low, high
  for _, point in ipairs(list) do
    if not point.gap then
      low = math.min(low or point[low_field], point[low_field])
      high = math.max(high or point[high_field], point[high_field])
    end
  end
  return low, high
end

return points
