---@meta clcompute.report
-- SPDX-License-Identifier: MIT

---Rows of measurements as text, Markdown, CSV, JSON, and one self-contained HTML page with charts.
---Needs neither OpenCL nor the C core; JSON needs lua-dkjson.
---@class clcompute.report
local report = {}

---A measurement; other fields are allowed, and columns and charts reach them by name.
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

---@class clcompute.report.Mark
---@field key string rows where this field is true have a ring or a frame
---@field title? string in the legend

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
---@field columns? clcompute.report.Column[] those of measurements unless given
---@field chart? clcompute.report.Chart
---@field caption? string

---@class clcompute.report.Document
---@field title? string
---@field subtitle? string
---@field facts? string[][] pairs of name and value
---@field sections clcompute.report.Section[]

---Aligned columns for a terminal, with a bar for the measured value.
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@param options? { width?: integer, ascii?: boolean, bar?: boolean } width: columns of the terminal (100)
---@return string
function report.text(given, options) end

---Markdown with GitHub's tables.
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.markdown(given) end

---Comma-separated values (RFC 4180): every field of every row with all its digits, nested ones as "params.n".
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.csv(given) end

---JSON of just what was given, without functions; NaN and infinity become null.
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.json(given) end

---Rows as JSON, one object a line, for files that grow: report.read reads them back.
---@param rows clcompute.report.Row[]
---@return string
function report.jsonl(rows) end

---One page that needs nothing else: charts, a table under each, light and dark, for phones and paper.
---@param given clcompute.report.Document|clcompute.report.Section|clcompute.report.Row[]
---@return string
function report.html(given) end

---The chart of one section as an SVG file; nil when no row has a point.
---@param section clcompute.report.Section with rows and chart
---@param options? { width?: integer } pixels (760); below 500 it is laid out for a phone
---@return string? svg
---@return string? note which rows are not in the chart, and why
function report.svg(section, options) end

---Rows that were kept, one JSON object a line. A last line that was cut off is left out.
---@param path string
---@return clcompute.report.Row[]
function report.read(path) end

return report
