-- SPDX-License-Identifier: MIT
--- Lists of numbers as lines over their index, or over other numbers: dots of Braille in a terminal, where a character
-- has two columns of four, or a mark a point; and the line chart of a report.

local chart = require "clcompute.report.chart"
local document = require "clcompute.report.document"
local drawing = require "clcompute.report.drawing"
local html = require "clcompute.report.html"
local type_of = require("clcompute.base").options.type_of
local width = require("clcompute.base").width

local plot = {}

local HEIGHT = 12 -- lines
local MOST_LINES = 16 -- series; more would hide each other
local MOST_POINTS = 1000 -- of a series that are drawn; of more, the least and the largest of each run
local RIGHT = "cl.plot(y, { x = x }) draws y over x, cl.plot { x, y } draws both"
local OPTIONS = { x = "table|userdata", names = "table" }

local is_finite = require("clcompute.base").format.is_finite

-- --- numbers ---------------------------------------------------------------------------

local function numbers_of_buffer(buffer, what)
  if #buffer.shape > 1 then
    error(("%s: a buffer of one dimension expected, got %s"):format(what, table.concat(buffer.shape, "x")), 0)
  end
  local list, to_number = buffer:read(), drawing.number_of(buffer.dtype)
  for i, v in ipairs(list) do list[i] = to_number(v) end
  return list
end

--- The numbers of a buffer or a list.
local function numbers_of(value, what)
  if drawing.is_buffer(value) then return numbers_of_buffer(value, what) end
  if type_of(value) ~= "table" then error(("%s: buffer or list expected, got %s"):format(what, type_of(value)), 0) end
  local list, key = {}, next(value)
  if key ~= nil and rawlen(value) == 0 then
    error(("%s: a list has no key '%s'; %s"):format(what, tostring(key), RIGHT), 0)
  end
  for i = 1, rawlen(value) do -- raw: no code of a script runs
    list[i] = rawget(value, i)
    if type(list[i]) ~= "number" then
      error(("%s: number expected at [%d], got %s"):format(what, i, type(list[i])), 0)
    end
  end
  return list
end

--- Lists of numbers: of one buffer or list, of the rows of a matrix, or of a list of these.
local function lists_of(value)
  local lists = {}
  if drawing.is_buffer(value) and #value.shape == 2 then
    for i = 1, math.min(#value, MOST_LINES + 1) do lists[i] = numbers_of(value[i], "x") end
  elseif type(value) == "table" and rawlen(value) > 0 and type(rawget(value, 1)) ~= "number" then
    for i = 1, rawlen(value) do lists[i] = numbers_of(rawget(value, i), ("x[%d]"):format(i)) end
  else
    lists[1] = numbers_of(value, "x")
  end
  if #lists > MOST_LINES then error(("x: at most %d lines expected"):format(MOST_LINES), 0) end
  return lists
end

--- Of a run of points the least and the largest, in their order; none where no point is finite.
local function add_extremes(line, xs, list, first, last)
  local low, high
  for i = first, last do
    if is_finite(list[i]) and is_finite(xs and xs[i] or i) then
      if not low or list[i] < list[low] then low = i end
      if not high or list[i] > list[high] then high = i end
    end
  end
  local function add(i, y)
    local x = xs and xs[i] or i
    line[#line + 1] = { x = is_finite(x) and x or nil, y = y, gap = y == nil }
  end
  if not low then return add(first) end
  add(math.min(low, high), list[math.min(low, high)])
  if low ~= high then add(math.max(low, high), list[math.max(low, high)]) end
end

--- The points of a list, as many as are drawn: { x=, y=, gap= whether it has no place }.
local function points_of(list, xs)
  local line, step = {}, math.max(1, math.ceil(2 * #list / MOST_POINTS))
  if #list <= MOST_POINTS then step = 1 end
  for first = 1, #list, step do add_extremes(line, xs, list, first, math.min(first + step - 1, #list)) end
  return line
end

local function lines_of(value, o)
  local lines, xs = {}, o.x and numbers_of(o.x, "options: 'x'")
  for i, list in ipairs(lists_of(value)) do
    if xs and #xs ~= #list then
      error(("options: 'x': %d numbers expected, as line %d has, got %d"):format(#list, i, #xs), 0)
    end
    lines[i] = points_of(list, xs)
    local name = o.names and rawget(o.names, i)
    if name ~= nil and type(name) ~= "string" then
      error(("options: 'names': string expected at [%d], got %s"):format(i, type(name)), 0)
    end
    lines[i].name = name or tostring(i)
  end
  return lines
end

--- The least and the largest of a field of all points; nil where there are no points.
local function range_of(lines, field)
  local low, high
  for _, line in ipairs(lines) do
    for _, point in ipairs(line) do
      local value = point[field]
      if value and (not low or value < low) then low = value end
      if value and (not high or value > high) then high = value end
    end
  end
  return low, high
end

-- --- the canvas ------------------------------------------------------------------------
-- A canvas is {columns=, lines=, across= and down= dots of a character, [line][column] = {bits=, line= drawn last}}.

-- The bit of each dot of Braille, by its row and column in the character.
local BRAILLE = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } }
local SWATCH = 0x36 -- a piece of a line
local MARKS = { "*", "o", "+", "x", "#", "@", "%", "&" }
local INKS = { 36, 33, 35, 32, 34, 31 } -- of the terminal: cyan, yellow, magenta, green, blue, red

local function new_canvas(columns, lines, is_braille)
  local canvas = { columns = columns, lines = lines, across = is_braille and 2 or 1, down = is_braille and 4 or 1 }
  for i = 1, lines do canvas[i] = {} end
  return canvas
end

--- Puts a dot; places count from 0, from the top left.
local function put(canvas, x, y, line)
  local row, column = canvas[y // canvas.down + 1], x // canvas.across + 1
  local cell = row[column] or { bits = 0 }
  cell.bits, cell.line = cell.bits | BRAILLE[y % canvas.down + 1][x % canvas.across + 1], line
  row[column] = cell
end

local function draw_segment(canvas, from, to, line)
  local steps = math.max(math.abs(to.x - from.x), math.abs(to.y - from.y), 1)
  for i = 0, steps do
    put(canvas, (from.x * (steps - i) + to.x * i + steps // 2) // steps,
      (from.y * (steps - i) + to.y * i + steps // 2) // steps, line)
  end
end

--- Draws a line; `place` gives a point its dot.
local function draw_line(canvas, points, place, line)
  local before
  for _, point in ipairs(points) do
    local at = not point.gap and place(point) or nil
    if at then draw_segment(canvas, before or at, at, line) end
    before = at
  end
end

-- --- text ------------------------------------------------------------------------------

local function inked(text, line, style)
  return style.colours == "none" and text or ("\27[%dm%s\27[0m"):format(INKS[(line - 1) % #INKS + 1], text)
end

local function mark_of(cell, is_braille)
  return is_braille and utf8.char(0x2800 + cell.bits) or MARKS[(cell.line - 1) % #MARKS + 1]
end

--- A line of the canvas, without the blanks at its end. What is drawn by one line is coloured at once.
local function row_text(canvas, row, style, is_braille)
  local parts, run, line, last = {}, {}, nil, 0
  local function close()
    if #run > 0 then parts[#parts + 1] = inked(table.concat(run), line, style) end
    run = {}
  end
  for column = 1, canvas.columns do
    local cell = canvas[row][column]
    if cell then
      if cell.line ~= line or column > last + 1 then close() end
      if column > last + 1 then parts[#parts + 1] = (" "):rep(column - last - 1) end
      run[#run + 1], line, last = mark_of(cell, is_braille), cell.line, column
    end
  end
  close()
  return table.concat(parts)
end

--- The names of the lines below the axis, with the mark of each.
local function legend(lines, style, is_braille, indent)
  local parts = {}
  for i, line in ipairs(lines) do
    local mark = inked(mark_of({ bits = SWATCH, line = i }, is_braille), i, style)
    parts[i] = mark .. " " .. width.cut(line.name, style.columns - #indent - 2)
  end
  return indent .. table.concat(parts, "  ")
end

--- The labels of the axis beside the lines of the canvas, by line.
local function y_labels(low, high, height)
  if low == high then return { [height // 2 + 1] = drawing.label(low) } end
  return { [1] = drawing.label(high), [height] = drawing.label(low) }
end

local function widest_of(labels)
  local widest = 0
  for _, label in pairs(labels) do widest = math.max(widest, #label) end
  return widest
end

--- The least and the largest x, one at each end.
local function x_label(low, high, columns)
  local left, right = drawing.label(low), drawing.label(high)
  if low == high then return (" "):rep((columns - #left) // 2) .. left end
  return left .. (" "):rep(math.max(1, columns - #left - #right)) .. right
end

local function text_of(lines, o, style)
  local y_low, y_high = range_of(lines, "y")
  local x_low, x_high = range_of(lines, "x")
  local head = o.title and width.cut(o.title, style.columns) .. "\n" or ""
  if not y_low then return head .. (#(lines[1] or {}) > 0 and "(no finite elements)" or "(no elements)") end
  local height = math.max(style.height or HEIGHT, 2)
  local labels = y_labels(y_low, y_high, height)
  local room = widest_of(labels)
  -- Without colours dots of several lines would not be told apart, but marks are.
  local is_braille = not style.ascii and (#lines == 1 or style.colours ~= "none")
  local canvas = new_canvas(math.max(4, style.columns - room - 2), height, is_braille)
  local right, bottom = canvas.columns * canvas.across - 1, height * canvas.down - 1
  local function place(point)
    return { x = math.floor(drawing.share(point.x, x_low, x_high) * right + 0.5),
      y = math.floor((1 - drawing.share(point.y, y_low, y_high)) * bottom + 0.5) }
  end
  for i, line in ipairs(lines) do draw_line(canvas, line, place, i) end
  local text, bar, tick = {}, style.ascii and "|" or "│", style.ascii and "+" or "┤"
  for row = 1, height do
    text[row] = width.pad(labels[row] or "", room, "right") .. " " .. (labels[row] and tick or bar)
      .. row_text(canvas, row, style, is_braille)
  end
  local indent = (" "):rep(room + 1)
  text[#text + 1] = indent .. (style.ascii and "+" or "└") .. (style.ascii and "-" or "─"):rep(canvas.columns)
  text[#text + 1] = indent .. " " .. x_label(x_low, x_high, canvas.columns)
  if #lines > 1 or o.names then text[#text + 1] = legend(lines, style, is_braille, indent .. " ") end
  return head .. table.concat(text, "\n")
end

-- --- the chart -------------------------------------------------------------------------

--- The line chart of a report, from the same points.
local function svg_of(lines, o, pixels, id)
  local rows = {}
  for _, line in ipairs(lines) do
    for _, point in ipairs(line) do rows[#rows + 1] = { x = point.x, y = point.y, line = line.name } end
  end
  local section = { title = o.title or "Plot", rows = rows,
    chart = { kind = "line", x = "x", y = "y", series = (#lines > 1 or o.names) and "line" or nil,
      xtitle = o.x and "x" or "index" } }
  local made = document.new { sections = { section } }
  return (chart.svg(made.sections[1], pixels, id or "plot", html.CHART_STYLE))
end

--- Raises for a second list in the place of the options.
function plot.check_single(options)
  local is_list = type(options) == "table" and type(rawget(options, 1)) == "number"
  if not is_list and not drawing.is_buffer(options) then return end
  error("options: table of names expected, got numbers; " .. RIGHT, 0)
end

--- A drawing of a buffer or list, of the rows of a matrix, or of a list of these.
function plot.new(x, options)
  local o = drawing.check_options(options, OPTIONS)
  local lines = lines_of(x, o)
  return drawing.new("Plot", o, function(style) return text_of(lines, o, style) end,
    function(pixels, id) return svg_of(lines, o, pixels, id) end)
end

return plot
