-- SPDX-License-Identifier: MIT
--- A chart as SVG, of any width: what a section asks for, the points that its rows have, the picture. Colours are
-- classes: the page has the style, or the picture itself.

local bar = require "clcompute.report.bar"
local document = require "clcompute.report.document"
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local grid = require "clcompute.report.grid"
local heat = require "clcompute.report.heat"
local line = require "clcompute.report.line"
local markup = require "clcompute.report.markup"
local places = require("clcompute.base").places
local timeline = require "clcompute.report.timeline"

local chart = {}

local KINDS = { line = line, bar = bar, heat = heat, grid = grid, timeline = timeline }
local NAMES = { line = "Line chart", bar = "Bar chart", heat = "Heat map", grid = "Index space", timeline = "Timeline" }
local NEEDED = { line = { "x", "y" }, bar = { "x", "y" }, heat = { "x", "y", "value" }, grid = {},
  timeline = { "lane", "start", "finish" } }
local SPEC = {
  kind = "string", title = "string", x = "string|table", y = "string", value = "string", series = "string|table",
  lane = "string|table", start = "string", finish = "string", state = "string|table",
  low = "string", high = "string", xlog = "number", ylog = "number", log = "number", marks = "table",
  hollow = "string", xtitle = "string", ytitle = "string", vtitle = "string", xunit = "string", yunit = "string",
  vunit = "string",
}
local MARK = { key = "string", title = "string" }
local BASES = { [2] = true, [10] = true }

--- Raises unless a field is named by a text, or by a list of them that is not empty.
local function check_names(option, names)
  if type(names) ~= "table" then return end
  for _, name in ipairs(names) do
    if type(name) ~= "string" then
      error(("chart: '%s': names of fields expected, got a %s"):format(option, type(name)), 0)
    end
  end
  if #names == 0 then error(("chart: '%s': the name of a field expected, got {}"):format(option), 0) end
end

local function check_spec(spec)
  document.check_keys("chart", spec, SPEC)
  document.check_choice("chart: 'kind'", spec.kind, KINDS)
  for _, name in ipairs(NEEDED[spec.kind]) do
    if not spec[name] then error(("chart: a %s chart needs '%s', the name of a field"):format(spec.kind, name), 0) end
  end
  if type(spec.series) == "table" and spec.kind == "grid" then
    error("chart: 'series': one name expected, got a list", 0)
  end
  if type(spec.x) == "table" and spec.kind ~= "bar" then error("chart: 'x': one name expected, got a list", 0) end
  check_names("x", spec.x)
  check_names("series", spec.series)
  check_names("lane", spec.lane)
  check_names("state", spec.state)
  for _, name in ipairs { "xlog", "ylog", "log" } do
    if spec[name] and not BASES[spec[name]] then
      error(("chart: '%s': 2 or 10 expected, got %s"):format(name, spec[name]), 0)
    end
  end
  for i, mark in ipairs(document.check_tables("chart: 'marks'", spec.marks or {})) do
    document.check_keys(("chart: mark %d"):format(i), mark, MARK)
    if not mark.key then error(("chart: mark %d: 'key' is missing"):format(i), 0) end
  end
  return spec
end

-- --- points ---------------------------------------------------------------------------

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
local function read_row(row, spec, scales)
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
local function read(section, spec, scales)
  local list, reasons = {}, {}
  for _, row in ipairs(section.rows) do
    local point, reason = read_row(row, spec, scales)
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

-- --- the picture ----------------------------------------------------------------------

--- The name of a field for an axis: as its column has it.
local function title_of(section, key)
  for _, column in ipairs(section.columns) do
    if column.key == key and column.title then return column.title end
  end
  return key:match "[^.]+$"
end

local function first_of(names)
  return type(names) == "table" and names[1] or names
end

--- What an axis is in: the unit that the chart tells, else that of its field.
local function scale_of(section, key, told)
  if told then return { unit = told } end
  local unit, is_mixed = fields.unit(section, key)
  return { unit = unit, is_mixed = is_mixed }
end

local function scales_of(section, spec)
  if spec.kind == "timeline" then
    local time = scale_of(section, spec.start, spec.xunit)
    return { x = time, y = time, value = time }
  end
  local scales = { x = scale_of(section, first_of(spec.x), spec.xunit), y = scale_of(section, spec.y, spec.yunit) }
  scales.value = spec.kind == "heat" and scale_of(section, spec.value, spec.vunit) or scales.y
  return scales
end

local function titles_of(section, spec, scales)
  if spec.kind == "grid" then return grid.titles(spec) end
  if spec.kind == "timeline" then
    return { x = spec.xtitle or "time", x_unit = scales.x.unit,
      y = spec.ytitle or title_of(section, first_of(spec.lane)) }
  end
  return {
    x = spec.xtitle or title_of(section, first_of(spec.x)), x_unit = scales.x.unit,
    y = spec.ytitle or title_of(section, spec.y), y_unit = scales.y.unit,
    value = spec.value and (spec.vtitle or title_of(section, spec.value)), value_unit = scales.value.unit,
  }
end

--- What a listener hears instead of seeing the chart.
local function description(spec, titles, list, count)
  if spec.kind == "grid" then
    return ("%s of %s; the table has the numbers."):format(NAMES.grid, grid.describe(list))
  elseif spec.kind == "timeline" then
    return ("%s: what each %s does over %s, %d %s; the table has the numbers."):format(NAMES.timeline, titles.y,
      titles.x, count, count == 1 and "span" or "spans")
  end
  local what = spec.kind == "heat" and ("%s over %s and %s"):format(titles.value, titles.x, titles.y)
    or ("%s over %s"):format(titles.y, titles.x)
  return ("%s of %s, %d %s; the table has the numbers."):format(NAMES[spec.kind], what, count,
    count == 1 and "point" or "points")
end

local function count_drawn(list)
  local count = 0
  for _, point in ipairs(list) do count = count + (point.gap and 0 or 1) end
  return count
end

--- The chart of a section (of document.new) as <svg>, and a note on rows that are not in it. `id` must be unique on the
-- page; `style`: the sheet of one that is a file of its own. Nil and the note when no row has a point.
function chart.svg(section, width, id, style)
  local spec = check_spec(section.chart)
  local scales = scales_of(section, spec)
  local list, note = read(section, spec, scales)
  local count = count_drawn(list)
  if count == 0 then return nil, note or "There are no rows." end
  local titles = titles_of(section, spec, scales)
  local name = spec.title or section.title or titles.chart or titles.y
  titles.heading = style and name or nil -- on a page the section has it
  local drawing, height = KINDS[spec.kind].draw(list, spec, titles, width, id .. "-colours")
  local svg = markup.element("svg", {
    xmlns = "http://www.w3.org/2000/svg", class = "chart", viewBox = ("0 0 %d %d"):format(width, math.ceil(height)),
    role = "img", ["aria-labelledby"] = ("%s-title %s-desc"):format(id, id), ["data-kind"] = spec.kind,
    ["data-xlog"] = spec.xlog, ["data-ylog"] = spec.ylog,
  }, {
    markup.text("title", { id = id .. "-title" }, name),
    markup.text("desc", { id = id .. "-desc" }, description(spec, titles, list, count)),
    style and markup.element("style", {}, style) or "", drawing,
  })
  return svg, note
end

return chart
