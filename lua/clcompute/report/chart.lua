-- SPDX-License-Identifier: MIT
--- A section's chart as SVG, of any width. Colours are classes: the page has the style, or the picture itself.
-- @module clcompute.report.chart

local bar = require "clcompute.report.bar"
local document = require "clcompute.report.document"
local fields = require "clcompute.report.fields"
local grid = require "clcompute.report.grid"
local heat = require "clcompute.report.heat"
local line = require "clcompute.report.line"
local markup = require "clcompute.report.markup"
local points = require "clcompute.report.points"
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
  local list, note = points.read(section, spec, scales)
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
