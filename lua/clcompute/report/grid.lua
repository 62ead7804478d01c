-- SPDX-License-Identifier: MIT
--- Index spaces: work-items, or work-groups, where they lie, with the borders of groups. Rows as clcompute.trace_range
-- gives them. Three dimensions are shown plane by plane.

local axes = require "clcompute.report.axes"
local fields = require "clcompute.report.fields"
local markup = require "clcompute.report.markup"
local places = require("clcompute.base").places
local series = require "clcompute.report.series"

local grid = {}

local GAP = 8
local MOST = { 48, 48, 56 } -- side of a work-item by dimensions: room for that many small ids
local STRIP, TINY = 34, 4 -- height of a row in one dimension; side without borders
local HEIGHT, PLANE = 900, 22 -- of all planes, where they can; side of a work-item where they are too many, at least
local MARGIN = 12 -- around a picture with a heading
local FINE = 16 -- side of a group, below which its border is thin
local INSET = 1.5 -- of hollow cells, whose borders would meet

-- --- the space -----------------------------------------------------------------------

local function is_drawn(point)
  return not point.gap
end

--- Where a point begins, and its size, along a dimension; (0, 1) along those that the space does not have.
local function span(point, d)
  return point.place[d] or 0, point.size and point.size[d] or 1
end

--- First id and number of ids along dimensions 0 and 1, and the list of planes, by their ids along dimension 2.
local function space_of(list)
  local space, high, seen = { low = {}, count = {}, planes = {} }, {}, {}
  for _, point in ipairs(list) do
    for d = 1, 2 do
      local first, size = span(point, d)
      space.low[d] = math.min(space.low[d] or first, first)
      high[d] = math.max(high[d] or 0, first + size)
    end
    local plane = span(point, 3)
    if not seen[plane] then
      seen[plane] = true
      space.planes[#space.planes + 1] = plane
    end
    space.dims = #point.place
  end
  for d = 1, 2 do space.count[d] = high[d] - space.low[d] end
  table.sort(space.planes)
  return space
end

--- Height of what stands above a plane.
local function head_of(space)
  return (space.dims == 3 and 2 or 1) * axes.LINE + GAP
end

--- How many planes stand side by side.
local function planes_abreast(space, side, left, width)
  local taken = left + space.count[1] * side + GAP
  return math.max(1, math.floor((width + 1) / taken)) -- a pixel: sides are quotients, rounded
end

--- The side of a work-item along both dimensions, and how many planes stand side by side. Planes are made smaller when
-- they would stand too high below one another.
local function measure(space, left, width)
  local side = math.min(MOST[space.dims], (width - left - 2) / space.count[1])
  if space.dims == 1 then return { side, STRIP }, 1 end
  side = math.min(side, HEIGHT / space.count[2])
  local planes = #space.planes
  if planes == 1 then return { side, side }, 1 end
  local rows = math.ceil(planes / planes_abreast(space, side, left, width))
  if rows * (head_of(space) + space.count[2] * side + GAP) > HEIGHT then
    side = math.min(side, math.max(PLANE, (width / planes - left - GAP) / space.count[1]))
  end
  return { side, side }, planes_abreast(space, side, left, width)
end

-- --- cells and groups -----------------------------------------------------------------

local function tooltip(row)
  local parts = {}
  for _, field in ipairs(places.FIELDS) do
    local value = row[field[1]]
    if value ~= nil then parts[#parts + 1] = field[2] .. " " .. places.text(value) end
  end
  return markup.text("title", {}, table.concat(parts, "; "))
end

local function class_of(point, plot)
  return series.class { index = plot.index[point.series] }
end

--- A rectangle of the space, in pixels.
local function box(plot, first, size)
  local x = plot.left + (first[1] - plot.space.low[1]) * plot.side[1]
  local y = plot.top + (first[2] - plot.space.low[2]) * plot.side[2]
  return { x = x + 0.0, y = y + 0.0, width = size[1] * plot.side[1] + 0.0, height = size[2] * plot.side[2] + 0.0 }
end

local function cell(point, plot)
  local x, width = span(point, 1)
  local y, height = span(point, 2)
  local list = box(plot, { x, y }, { width, height })
  local text = places.text(fields.at(point.row, plot.value) or "")
  local fits = markup.pixels(text, axes.FONT) <= list.width - 4 and axes.LINE <= list.height
  local label = fits and markup.text("text", { class = "label strong middle cell-text", x = list.x + list.width / 2,
    y = list.y + list.height / 2 + axes.FONT * 0.35 }, text) or ""
  list.class = "item" .. (point.hollow and " hollow" or "") .. (list.width < TINY and " tiny" or "")
  if point.hollow and list.width >= TINY then
    list.x, list.y = list.x + INSET, list.y + INSET
    list.width, list.height = list.width - 2 * INSET, list.height - 2 * INSET
  end
  list["data-id"] = table.concat(point.place, ",")
  return markup.element("g", { class = class_of(point, plot) },
    markup.element("rect", list, tooltip(point.row)) .. label)
end

--- The borders of the groups of work-items, each around what it has in a plane.
local function borders(list, plot)
  local found, order = {}, {}
  for _, point in ipairs(list) do
    local x, width = span(point, 1)
    local y, height = span(point, 2)
    local group = found[point.group]
    if not group then
      group = { low = { x, y }, high = { x + width, y + height }, point = point }
      found[point.group], order[#order + 1] = group, group
    end
    group.high[1], group.high[2] = math.max(group.high[1], x + width), math.max(group.high[2], y + height)
  end
  local parts = {}
  for i, group in ipairs(order) do
    local rect = box(plot, group.low, { group.high[1] - group.low[1], group.high[2] - group.low[2] })
    local side = math.min(rect.width, rect.height)
    rect.class = (side < FINE and "group fine " or "group ") .. class_of(group.point, plot)
    parts[i] = side >= TINY and markup.element("rect", rect) or ""
  end
  return table.concat(parts)
end

-- --- names -----------------------------------------------------------------------------

--- The ids at which groups begin along a dimension.
local function starts(list, d)
  local first = {}
  for _, point in ipairs(list) do
    local at = span(point, d)
    first[point.group] = math.min(first[point.group] or at, at)
  end
  local seen, ids = {}, {}
  for _, at in pairs(first) do
    if not seen[at] then ids[#ids + 1] = at end
    seen[at] = true
  end
  table.sort(ids)
  return ids
end

local function widest(ids)
  local most = 0
  for _, id in ipairs(ids) do most = math.max(most, markup.pixels(tostring(id), axes.FONT)) end
  return most
end

--- Ids above the columns where groups begin, as many as have room.
local function column_ids(plot)
  local parts, edge = {}, -math.huge
  for _, id in ipairs(plot.columns) do
    local x = plot.left + (id - plot.space.low[1]) * plot.side[1]
    if x >= edge then
      parts[#parts + 1] = markup.text("text", { class = "label", x = x + 0.0, y = plot.top - 5.0 }, id)
      edge = x + markup.pixels(tostring(id), axes.FONT) + GAP
    end
  end
  return table.concat(parts)
end

local function row_ids(plot)
  if plot.space.dims == 1 then return "" end
  local parts, edge = {}, -math.huge
  for _, id in ipairs(plot.rows) do
    local y = plot.top + (id - plot.space.low[2]) * plot.side[2]
    if y >= edge then
      parts[#parts + 1] = markup.text("text", { class = "label end", x = plot.left - GAP + 0.0,
        y = y + axes.FONT - 1.0 }, id)
      edge = y + axes.LINE
    end
  end
  return table.concat(parts)
end

--- Samples for the legend: the series, where there are several, and what hollow means.
local function legend_items(order, list, name)
  local items, added = {}, false
  local function swatch(class, index)
    return function(x, y)
      return markup.element("g", { class = series.class { index = index } }, markup.element("rect",
        { class = class, x = x - 7.0, y = y - 7.0, width = 14, height = 14 }))
    end
  end
  if #order > 1 and #order <= series.COLOURS then
    for i, one in ipairs(order) do items[i] = { name = name .. " " .. one, draw = swatch("item", i) } end
  end
  for _, point in ipairs(list) do added = added or point.hollow end
  if added then
    local has_groups = list[1].size ~= nil
    items[#items + 1] = { name = has_groups and "at least partly outside the range" or "outside the range",
      draw = swatch("item hollow", 1) }
  end
  return items
end

-- --- the chart ---------------------------------------------------------------------------

--- Names of the axes, and of the chart where nothing else names it.
function grid.titles(spec)
  return { x = spec.xtitle or "dimension 0", y = spec.ytitle or "dimension 1", chart = "Index space" }
end

--- What there is to see: "30 work-items in 4 work-groups".
function grid.describe(list)
  local cells, groups, seen, has_groups = 0, 0, {}, false
  for _, point in ipairs(list) do
    if is_drawn(point) then
      cells, has_groups = cells + 1, point.size ~= nil
      groups = groups + (seen[point.group] and 0 or 1)
      seen[point.group] = true
    end
  end
  local function say(count, noun) return ("%d work-%s%s"):format(count, noun, count == 1 and "" or "s") end
  return has_groups and say(groups, "group") or ("%s in %s"):format(say(cells, "item"), say(groups, "group"))
end

--- One plane: head, ids, cells and borders; returns markup.
local function draw_plane(plot, list, plane)
  local here = {}
  for _, point in ipairs(list) do
    if span(point, 3) == plane then here[#here + 1] = point end
  end
  local parts = { column_ids(plot), row_ids(plot) }
  if plot.space.dims == 3 then
    parts[3] = markup.text("text", { class = "label strong", x = plot.left + 0.0,
      y = plot.top - axes.LINE - 5.0 }, ("dimension 2 = %d"):format(plane))
  end
  for _, point in ipairs(here) do parts[#parts + 1] = cell(point, plot) end
  parts[#parts + 1] = borders(here, plot)
  return table.concat(parts)
end

--- The planes below their legend: markup and height.
local function draw_space(all, spec, titles, width)
  local list = {}
  for _, point in ipairs(all) do
    if is_drawn(point) then list[#list + 1] = point end
  end
  local space, order, index = space_of(list), {}, {}
  for i, one in ipairs(series.of(list)) do order[i], index[one.name] = one.name, i end
  local columns, rows = starts(list, 1), starts(list, 2)
  local left = space.dims == 1 and 1 or widest(rows) + GAP
  local side, abreast = measure(space, left, width)
  local plot = { space = space, side = side, index = index, columns = columns, rows = rows,
    value = spec.value or (list[1].size and "group_id" or "global_id") }
  local told = (spec.series or "part"):gsub("_", " ")
  local legend, top = series.legend({}, legend_items(order, list, told), 0, width)
  local axis = space.dims == 1 and titles.x .. " →" or ("%s ↓  %s →"):format(titles.y, titles.x)
  local parts = { legend, markup.text("text", { class = "label axis-title", x = 0, y = top + axes.FONT },
    markup.cut_pixels(axis, width, axes.FONT)) }
  local head = head_of(space)
  local taken = { left + space.count[1] * side[1] + GAP, head + space.count[2] * side[2] + GAP }
  for i, plane in ipairs(space.planes) do
    plot.left = left + (i - 1) % abreast * taken[1]
    plot.top = top + axes.LINE + (i - 1) // abreast * taken[2] + head
    parts[#parts + 1] = draw_plane(plot, list, plane)
  end
  return table.concat(parts), top + axes.LINE + math.ceil(#space.planes / abreast) * taken[2]
end

--- The chart, `width` pixels wide: markup and height. A picture that is a file of its own has a heading and a margin.
function grid.draw(list, spec, titles, width)
  if not titles.heading then return draw_space(list, spec, titles, width) end
  local room, top = width - 2 * MARGIN, MARGIN + axes.LINE + GAP
  local drawing, height = draw_space(list, spec, titles, room)
  local heading = markup.text("text", { class = "label axis-title", x = MARGIN, y = MARGIN + axes.FONT },
    markup.cut_pixels(titles.heading, room, axes.FONT))
  return heading .. markup.element("g", { transform = ("translate(%d %g)"):format(MARGIN, top) }, drawing),
    top + height + MARGIN
end

return grid
