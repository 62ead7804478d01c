-- SPDX-License-Identifier: MIT
--- Bar charts: a horizontal bar a row, with its spread as a whisker and its value as a label. On a logarithmic
-- axis a bar's length would mean nothing: there it is a dot.

local axes = require "clcompute.report.axes"
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format
local markup = require "clcompute.report.markup"
local series = require "clcompute.report.series"

local bar = {}

local NARROW = 500
local THICK, STEP, BETWEEN, GAP = 18, 24, 12, 8 -- pixels of a bar, to the next, between groups, beside texts

--- Groups of bars under one name, in the order of the rows: { label=, { point, series }, ... }.
local function group(list, drawn, spec)
  local by_name, found, order = {}, {}, {}
  for _, one in ipairs(drawn) do by_name[one.name] = one end
  for _, point in ipairs(list) do
    if not point.gap then
      local label = format.clean(fields.label(point.row, spec.x))
      if not found[label] then
        found[label] = { label = label }
        order[#order + 1] = found[label]
      end
      table.insert(found[label], { point = point, series = by_name[point.series] })
    end
  end
  return order
end

local function label_width(groups, width)
  local widest = 0
  for _, one in ipairs(groups) do widest = math.max(widest, markup.pixels(one.label, axes.FONT)) end
  return math.min(widest, width * 0.5)
end

local function value_width(list, write)
  local widest = 0
  for _, point in ipairs(list) do
    if not point.gap then widest = math.max(widest, markup.pixels(write(point.y), axes.FONT)) end
  end
  return widest
end

local function whisker(point, x, y)
  if point.low >= point.high then return "" end
  local from, to, half = x:at(point.low), x:at(point.high), THICK / 5
  return markup.element("path", { class = "whisker", d = ("M%.2f %.2fV%.2fM%.2f %.2fH%.2fM%.2f %.2fV%.2f"):format(
    from, y - half, y + half, from, y, to, to, y - half, y + half) })
end

--- A bar from zero, or a dot with a guide on a logarithmic axis.
local function shape(item, x, y, tooltip)
  local point, look = item.point, { index = item.series.index, hollow = item.point.hollow }
  local data = { ["data-value"] = markup.exact(point.y), ["data-series"] = item.series.name }
  local at = x:at(point.y)
  if x.base then
    data["data-at"] = at
    return markup.element("line", { class = "grid", x1 = x.from, x2 = at, y1 = y, y2 = y })
      .. series.marker(look, at, y, 6, data, tooltip)
  end
  local zero = x:at(0)
  data.class = look.hollow and "bar hollow" or "bar"
  data["data-at"], data.x, data.y, data.width, data.height, data.rx = at, math.min(zero, at), y - THICK / 2,
    math.max(math.abs(at - zero), 0.5), THICK, 2
  return markup.element("rect", data, tooltip)
end

local function draw_item(item, x, y, plot)
  local point = item.point
  local name = item.series.name ~= "" and item.series.name .. ": " or ""
  local tooltip = markup.text("title", {}, ("%s%s"):format(name, format.engineering(point.y, plot.unit, 4)))
  local from = math.max(x:at(point.high), x:at(point.y), x.base and x.from or x:at(0)) + (x.base and 14.0 or GAP)
  return markup.element("g", { class = series.class(item.series) }, shape(item, x, y, tooltip) .. whisker(point, x, y))
    .. series.rings(point, x:at(point.y), y, 3)
    .. markup.text("text", { class = "label strong", x = from, y = y + axes.FONT * 0.35 }, plot.write(point.y))
end

--- A label on one line or on two, which are cut where they have no room.
local function label_lines(label, plot)
  local function fits(text) return markup.pixels(text, axes.FONT) <= plot.label_room end
  local stop
  for at in (fits(label) and "" or label):gmatch "() " do
    stop = fits(label:sub(1, at - 1)) and at or stop
  end
  local lines = stop and { label:sub(1, stop - 1), label:sub(stop + 1) } or { label }
  for i, text in ipairs(lines) do lines[i] = markup.cut_middle(text, plot.label_room, axes.FONT) end
  return lines
end

--- The lines of a label; the first one's middle is at `y`.
local function draw_label(label, lines, y, plot)
  local parts = { table.concat(lines, " ") ~= label and markup.text("title", {}, label) or "" }
  for i, text in ipairs(lines) do
    parts[i + 1] = text ~= "" and markup.text("text", { class = plot.stacked and "label" or "label end",
      x = plot.stacked and 0 or plot.label_room, y = y + (i - 1) * axes.LINE + axes.FONT * 0.35 }, text) or ""
  end
  return markup.element("g", {}, parts)
end

--- All groups below each other; the markup and where they end.
local function draw_groups(groups, x, top, plot)
  local parts, y = {}, top
  for _, one in ipairs(groups) do
    local lines = label_lines(one.label, plot)
    local label_height, height = #lines * axes.LINE, #one * STEP
    local lack = plot.stacked and 0 or math.max(label_height - height, 0) -- of height for a label at the side
    y = y + lack / 2
    local at = y + axes.LINE / 2 + (plot.stacked and 0 or (height - label_height) / 2)
    parts[#parts + 1] = draw_label(one.label, lines, at, plot)
    if plot.stacked then y = y + label_height + 2 end
    for _, item in ipairs(one) do
      parts[#parts + 1] = draw_item(item, x, y + STEP / 2, plot)
      y = y + STEP
    end
    y = y + lack / 2 + (#one > 1 and BETWEEN or plot.stacked and 6 or 2)
  end
  return table.concat(parts), y
end

local function value_scale(list, spec, width)
  local low, high = axes.range(list, "low", "high")
  if not spec.ylog then low, high = math.min(low, 0), math.max(high, 0) end
  return axes.scale(low, high, spec.ylog, width < NARROW and 4 or 8)
end

--- The chart, `width` pixels wide: markup and height.
function bar.draw(list, spec, titles, width)
  local drawn, values = series.of(list), {}
  for _, point in ipairs(list) do values[#values + 1] = point.y end
  local write, unit = format.shared(values, titles.y_unit)
  local groups, x = group(list, drawn, spec), value_scale(list, spec, width)
  local tick_labels, tick_unit = axes.labels(x, titles.y_unit)
  local legend, top = series.legend(#drawn > 1 and drawn or {}, series.mark_items(spec, list), 0, width, not spec.ylog)
  local stacked = width < NARROW
  local function shown(value)
    local text = write(value)
    return unit and format.has_prefix(titles.y_unit) and ("%s %s"):format(text, unit) or text
  end
  local plot = { write = shown, unit = titles.y_unit, stacked = stacked,
    label_room = stacked and width or label_width(groups, width) }
  local left = stacked and 6 or plot.label_room + 12
  x:place(left + 0.0, width - value_width(list, shown) - 22)
  local bars, bottom = draw_groups(groups, x, top + 6, plot)
  local head = top + 2
  return table.concat {
    legend, axes.horizontal(x, tick_labels, bottom, head, width),
    markup.element("line", { class = "axis", x1 = x:at(x.base and x.low or 0), x2 = x:at(x.base and x.low or 0),
      y1 = head, y2 = bottom }), bars,
    markup.text("text", { class = "label axis-title end", x = width + 0.0, y = bottom + 2 * axes.LINE + 6 },
      markup.cut_pixels(axes.title(titles.y, tick_unit), width, axes.FONT)),
  }, bottom + 2 * axes.LINE + 14
end

return bar
