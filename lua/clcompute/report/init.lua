-- SPDX-License-Identifier: MIT
--- Rows of measurements as text, Markdown, CSV, JSON, and one self-contained HTML page with charts.
-- Needs neither OpenCL nor the C core; JSON needs lua-dkjson.
--
-- Every function takes a *document*, one section of it, or bare rows (as `clcompute.bench` makes them), which are a
-- document of one section with default columns:
--
--     { title=, subtitle=, facts = { { "device", "..." }, ... }, sections = { section, ... } }
--     section: { title=, text = "..." or list of paragraphs, rows=, columns=, chart=, caption= }
--     column:  { key = "params.n" or { "q1", "q3" } (a range), title=, unit=, align=,
--                format = "%.2f", "percent" or function(value, row),
--                wrap = true (sentences, which text breaks to fit) }
--     chart:   { kind = "line", x=, y=, series=, low=, high=, xlog=, ylog= }
--              { kind = "bar", x=, y=, series=, low=, high=, ylog= }     x: what the bars are called
--              { kind = "heat", x=, y=, value=, log= }
--              { kind = "timeline", lane=, start=, finish=, state= }     spans; those of a lane that overlap stand
--              below each other
--              { kind = "grid", series = "part", value = "global_id" }   work-items or groups where they lie
--              all: title=, xtitle=, ytitle=, vtitle=, xunit=, yunit=, vunit=,
--              hollow = field that is true in rows to be drawn hollow (another's numbers),
--              marks = { { key=, title= }, ... } (a ring or frame where that field is true)
--
-- A grid takes rows as clcompute.trace_range makes them and needs nothing but its kind: `series` is the field behind
-- the colour, `value` what stands in a cell. Three dimensions are drawn plane by plane; what was added to the range is
-- hollow.
--
-- A chart reads the rows of its section. Keys are names of fields, with dots into nested tables; `x` of bars,
-- `series`, `lane` and `state` may be lists of them. `xlog`, `ylog` and `log` are 2 or 10. A timeline is in the unit
-- `xunit`, else in that of the column of `start`. Units s, B, B/s, FLOP, FLOP/s, OP/s, /s, Hz, J and W get prefixes;
-- `value`, `min`, `q1` and `q3` are in the row's `unit`, else seconds, and `cold` is in seconds. Rows in s, ms, us and
-- ns side by side are shown in seconds; where units have nothing in common each cell has its own, and the chart the
-- rows of the first. Columns of seconds without a format share one prefix. A row whose
-- `status` is not "ok" is in the table, with its reason, and not in the chart.
-- The `ratio` of a row whose `agrees` is false has a question mark, and a `peak_share` above 1 reads "> 100 %" where
-- it is written as percent; footnotes say why. `caption` stands below the chart, or below the table where there is
-- none.
-- @module clcompute.report
-- @usage local report = require "clcompute.report"
-- print(report.text(rows))
-- io.open("page.html", "w"):write(report.html { title = "saxpy", sections = { { rows = rows,
--   chart = { kind = "line", x = "params.n", y = "value", series = "device", xlog = 2, ylog = 10 } } } })

local chart = require "clcompute.report.chart"
local document = require "clcompute.report.document"
local html = require "clcompute.report.html"
local serialization = require "clcompute.report.serialization"
local text = require "clcompute.report.text"

local report = {}

local TEXT_OPTIONS = { width = "number", ascii = "boolean", bar = "boolean" }
local SVG_OPTIONS = { width = "number" }
local LEAST_WIDTH, LEAST_SVG = 20, 280

--- Calls f(...) and raises its errors in the name of the script that called the function.
local function guard(name, f, ...)
  local ok, result, more = pcall(f, ...)
  if ok then return result, more end
  if type(result) ~= "string" then error(result, 0) end
  error(("%s: %s"):format(name, result), 3)
end

local function width_option(given, default, least)
  local width = given or default
  if not (width >= least and width < math.huge) then
    error(("options: 'width': at least %d expected, got %s"):format(least, width), 0)
  end
  return math.floor(width)
end

--- Aligned columns for a terminal, with a bar for what the chart draws over its x; without one, for the measured value.
-- @function text
-- @tparam table given document, section or rows
-- @tparam[opt] table options `width`: columns of the terminal (100); names are cut to fit, and where
--  that is not enough each cell has a line; `ascii`: no other characters (false); `bar`: false for none
-- @treturn string
function report.text(given, options)
  return (guard("text", function()
    local o = document.check_keys("options", options or {}, TEXT_OPTIONS)
    local settings = { width = width_option(o.width, 100, LEAST_WIDTH), ascii = o.ascii, bar = o.bar ~= false }
    return text.plain(document.new(given), settings)
  end))
end

--- Markdown with GitHub's tables.
-- @function markdown
-- @tparam table given document, section or rows
-- @treturn string
function report.markdown(given)
  return (guard("markdown", function() return text.markdown(document.new(given)) end))
end

--- Comma-separated values after RFC 4180: every field of every row with all its digits, nested ones as "params.n".
-- Of a document with several sections, the first field is the section's title.
-- @function csv
-- @tparam table given document, section or rows
-- @treturn string
function report.csv(given)
  return (guard("csv", function() return serialization.csv(document.new(given)) end))
end

--- JSON of just what was given, without functions; NaN and infinity become null, bytes that are no
-- UTF-8 U+FFFD (in `jsonl` and `csv` too).
-- @function json
-- @tparam table given document, section or rows
-- @treturn string
-- @raise when lua-dkjson is missing
function report.json(given)
  return (guard("json", function()
    document.new(given) -- checks it
    return serialization.json(given)
  end))
end

--- Rows as JSON, one object a line, for files that grow: report.read reads them back.
-- @function jsonl
-- @tparam table rows
-- @treturn string ends with a newline, unless there are no rows
-- @raise when lua-dkjson is missing
function report.jsonl(rows)
  return (guard("jsonl", function() return serialization.jsonl(document.check_tables("rows", rows)) end))
end

--- One page that needs nothing else: charts as SVG, a table under each, light and dark, for phones and paper.
-- @function html
-- @tparam table given document, section or rows
-- @treturn string
function report.html(given)
  return (guard("html", function() return html.write(document.new(given)) end))
end

--- The chart of one section as an SVG file.
-- @function svg
-- @tparam table section with `rows` and `chart`
-- @tparam[opt] table options `width`: pixels (760); below 500 it is laid out for a phone
-- @treturn ?string nil when no row has a point
-- @treturn ?string which rows are not in the chart, and why
function report.svg(section, options)
  local svg, note = guard("svg", function()
    local o = document.check_keys("options", options or {}, SVG_OPTIONS)
    if type(section) ~= "table" or not section.chart then error("section with 'rows' and 'chart' expected", 0) end
    local made = document.new { sections = { section } }
    return chart.svg(made.sections[1], width_option(o.width, 760, LEAST_SVG), "chart", html.CHART_STYLE)
  end)
  return svg, note
end

--- Rows that were kept, one JSON object a line. A last line that was cut off is left out.
-- @function read
-- @tparam string path of a .jsonl file
-- @treturn table rows
-- @raise when the file cannot be read or a line is no JSON object, with its number; when lua-dkjson is missing
function report.read(path)
  return (guard("read", function()
    if type(path) ~= "string" then error(("path expected, got %s"):format(type(path)), 0) end
    return serialization.read(path)
  end))
end

return report
