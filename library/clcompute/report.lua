---@meta clcompute.report
-- SPDX-License-Identifier: MIT

---Rows of measurements as text, Markdown, CSV, JSON, and one self-contained HTML page with charts. Needs neither
---OpenCL nor the C core; JSON needs Debian's `lua-dkjson`.
---
---Every function takes a document, one section of it, or bare rows as `clcompute.bench` makes them: a document of one
---section with default columns. A key is the name of a field, with dots into nested tables ("params.n"). `value`,
---`min`, `q1` and `q3` of a row are in its `unit`, else seconds; `cold` is in seconds. Rows in s, ms, us and ns side
---by side are shown in seconds; where units have nothing in common each cell has its own, and the chart the rows of
---the first. Columns of seconds without a format share one prefix. A row whose `status` is not "ok" is in the table,
---with its reason, and not in the chart. The `ratio` of a row whose `agrees` is false has a question mark, and a
---`peak_share` above 1 reads "> 100 %"; footnotes say why.
---@class clcompute.report
local report = {}

---A measurement. Other fields are allowed; columns and charts reach them by name.
---@class clcompute.report.Row
---@field name? string
---@field params? table plain values; "params.n" is a key
---@field device? string
---@field value? number the median
---@field unit? string of value, min, q1, q3 and cold; "s" unless given
---@field q1? number
---@field q3? number
---@field gflops? number
---@field gbs? number
---@field peak_share? number 0 to 1
---@field checked? boolean
---@field max_error? number
---@field status? "ok"|"unsupported"|"skipped"|"failed"
---@field reason? string

---@class clcompute.report.Column
---@field key string|string[] a field, with dots into nested tables; two for a range
---@field title? string
---@field unit? string s, B, B/s, FLOP, FLOP/s, OP/s, /s, Hz, J and W get prefixes
---@field format? string|fun(value: any, row: table): string "%.2f", "percent" or a function
---@field align? "left"|"right"|"center"
---@field wrap? boolean sentences, which text breaks to fit
---@field detail? boolean text leaves it out where lines are too long; unless told, quartiles, first calls and errors

---@class clcompute.report.Mark
---@field key string rows where this field is true have a ring or a frame
---@field title? string in the legend

---A chart of the rows of its section. A grid takes the rows of `cl.trace_range` and needs its kind alone: three
---dimensions are drawn plane by plane, what was added to the range is hollow. The spans of a timeline that overlap in
---a lane stand below each other; a timeline is in the unit `xunit`, else in the unit of the column of `start`.
---@class clcompute.report.Chart
---@field kind "line"|"bar"|"heat"|"grid"|"timeline"
---@field x? string|string[] all but grid and timeline; bars: what they are called, one field or several
---@field y? string all but grid and timeline
---@field value? string heat maps: the field behind the colour; grid: what stands in a cell ("global_id", "group_id")
---@field series? string|string[] grid: one field, "part" unless given
---@field lane? string|string[] timelines: where a span stands
---@field start? string timelines
---@field finish? string timelines
---@field state? string|string[] timelines: what colour and hatching tell
---@field low? string
---@field high? string
---@field xlog? 2|10
---@field ylog? 2|10
---@field log? 2|10 heat maps: the colours
---@field hollow? string rows where this field is true are drawn hollow: another's numbers
---@field marks? clcompute.report.Mark[]
---@field title? string
---@field xtitle? string
---@field ytitle? string
---@field vtitle? string
---@field xunit? string
---@field yunit? string
---@field vunit? string

---@class clcompute.report.Section
---@field title? string
---@field text? string|string[] paragraphs
---@field rows? clcompute.report.Row[]
---@field columns? clcompute.report.Column[] the columns of measurements unless given
---@field chart? clcompute.report.Chart
---@field caption? string below the chart, or below the table where there is none

---@class clcompute.report.Document
---@field title? string
---@field subtitle? string
---@field facts? string[][] pairs of name and value
---@field sections clcompute.report.Section[]

---@class clcompute.report.TextOptions
---@field width? integer columns of the terminal, 100 unless given
---@field ascii? boolean true: no other characters
---@field bar? boolean false: none

---Aligned columns for a terminal, with a bar for what the chart draws over its x; without a chart, for the measured
---value. Where room is scarce, names of devices are shorter ("Intel Xeon" for "pthread-haswell-Intel(R) Xeon(R)
---Processor"), then bars are left out, then details, which a line below the table names; then names are cut. Where even
---that is too wide, each cell has a line.
---```lua
---print(require("clcompute.report").text({ { name = "saxpy", value = 0.002 } }, { bar = false })) --> ...saxpy...
---```
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@param options? clcompute.report.TextOptions
---@return string
function report.text(given, options) end

---Markdown with GitHub's tables.
---```lua
---print(require("clcompute.report").markdown { { name = "saxpy", value = 0.002 } }) --> ...| saxpy |...
---```
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.markdown(given) end

---Comma-separated values (RFC 4180): every field of every row with all its digits, nested fields as "params.n". Of a
---document with several sections, the first field is the section's title.
---```lua
---print(require("clcompute.report").csv { { name = "saxpy", value = 0.002 } }) --> ...saxpy...
---```
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.csv(given) end

---JSON of just what was given, without functions. NaN and infinity become null, bytes that are no UTF-8 U+FFFD (in
---`jsonl` and `csv` too).
---
---Errors: lua-dkjson is missing.
---```lua
---print(require("clcompute.report").json { { name = "saxpy" } }) --> ..."saxpy"...
---```
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.json(given) end

---Rows as JSON, one object a line, for files that grow; `report.read` reads them back.
---
---Errors: lua-dkjson is missing.
---```lua
---io.write(require("clcompute.report").jsonl { { name = "saxpy" } })
---```
---@param rows clcompute.report.Row[]
---@return string # ends with a newline, unless there are no rows
function report.jsonl(rows) end

---One page that needs nothing else: charts as SVG, a table under each, light and dark, for phones and paper. Its foot says
---when it was written and by which version, of a checkout also by which commit.
---```lua
---local page = require("clcompute.report").html { title = "Two kernels", sections = { {
---  rows = { { name = "a", value = 1 }, { name = "b", value = 2 } },
---  chart = { kind = "bar", x = "name", y = "value" },
---} } }
---print(page:sub(1, 15)) --> <!doctype html>
---```
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.html(given) end

---@class clcompute.report.SVGOptions
---@field width? integer pixels, 760 unless given; below 500 it is laid out for a phone

---The chart of one section as an SVG file.
---```lua
---local rows = cl.trace_range { global = { 10, 7 }, group = { 4, 3 }, remainder = "split" }
---print(require("clcompute.report").svg({ rows = rows, chart = { kind = "grid" } }):sub(1, 4)) --> <svg
---```
---@param section clcompute.report.Section with rows and chart
---@param options? clcompute.report.SVGOptions
---@return string? # nil when no row has a point
---@return string? # which rows are not in the chart, and why
function report.svg(section, options) end

---Rows that were kept, one JSON object a line. A last line that was cut off is left out.
---
---Errors: a file that cannot be read; a line that is no JSON object, with its number; lua-dkjson is missing.
---```lua
---local report, path = require "clcompute.report", os.tmpname()
---io.open(path, "w"):write(report.jsonl { { name = "saxpy" } }):close()
---print(report.read(path)[1].name) --> saxpy
---os.remove(path)
---```
---@param path string of a .jsonl file
---@return clcompute.report.Row[]
function report.read(path) end

---`cl.plot`, also where there is no OpenCL: of lists.
---```lua
---print(require("clcompute.report").plot({ 3, 1, 2 }, { height = 3, ascii = true })) --> 3 +...
---```
---@param x clcompute.Buffer|clcompute.Values|(clcompute.Buffer|number[])[]
---@param options? clcompute.PlotOptions
---@return clcompute.Drawing
function report.plot(x, options) end

---`cl.picture`, also where there is no OpenCL: of lists of lists. Its SVG and its page need the C core.
---```lua
---print(require("clcompute.report").picture({ { 0, 1 } }, { ascii = true })) --> ...1 x 2
---```
---@param m clcompute.Buffer|clcompute.Values
---@param options? clcompute.PictureOptions
---@return clcompute.Drawing
function report.picture(m, options) end

return report
