-- SPDX-License-Identifier: MIT
--- A report as one HTML page that needs nothing else: no network, no fonts, no script.

local chart = require "clcompute.report.chart"
local fields = require "clcompute.report.fields"
local markup = require "clcompute.report.markup"
local version = require("clcompute.base").version
local width = require("clcompute.base").width

local html = {}

local element, text = markup.element, markup.text

local WIDE, NARROW = 760, 320 -- pixels of a chart on a screen, and on a phone
local FEW = 12 -- rows of a table that is open under its chart
local LONG, SENTENCE = 24, 60 -- characters of a cell that may wrap, and of one that a phone gives most of its width

-- --- style sheets ------------------------------------------------------------------
--
-- Light, dark and paper. Series have the colours of Okabe and Ito, darkened on white and lightened on black to a
-- contrast of 3 or more. Veil and shade: a table that is wider than the screen has a shade at the edge behind which it
-- goes on; the veil, which scrolls with the table, hides it where the table ends.

local LIGHT = [[
--paper:#fdfdfc;--veil:#fdfdfc00;--shade:#1c212640;
--panel:#ffffff;--ink:#1c2126;--soft:#565f68;--rule:#dfe3e6;--grid:#e6e9ec;--accent:#0067a3;
--s1:#0072b2;--s2:#d55e00;--s3:#008a64;--s4:#b5568c;--s5:#a37000;--s6:#2a8cc4;--s7:#3c4248;--bad:#b3261e;]]

local DARK = [[
--paper:#14171a;--veil:#14171a00;--shade:#e9ecee4d;
--panel:#1a1e22;--ink:#e9ecee;--soft:#a6afb7;--rule:#343a40;--grid:#2b3136;--accent:#6cbcf0;
--s1:#4aa8e0;--s2:#f08a4b;--s3:#2fc499;--s4:#de9cc2;--s5:#e6a91f;--s6:#8ccbf0;--s7:#c9cfd4;--bad:#ff8a80;]]

local FONTS = [[
font-family:-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue","Liberation Sans",Arial,sans-serif;]]

local CHART = [[
.chart{display:block;width:100%;height:auto;overflow:visible}
.chart text{font-size:13px;fill:var(--ink);font-variant-numeric:tabular-nums}
.chart text{paint-order:stroke;stroke:var(--panel);stroke-width:4px;stroke-linejoin:round}
.chart .label{fill:var(--soft)}.chart .strong{fill:var(--ink)}
.chart .axis-title{fill:var(--ink);font-weight:600}
.chart .end{text-anchor:end}.chart .middle{text-anchor:middle}
.chart .cell-text{stroke:none}.chart .cell-text[fill="#ffffff"]{fill:#fff}.chart .cell-text[fill="#000000"]{fill:#000}
.chart .grid{stroke:var(--grid);stroke-width:1}.chart .axis{stroke:var(--soft);stroke-width:1}
.chart .line{fill:none;stroke:var(--c);stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round}
.chart .band{fill:var(--c);opacity:.16}
.chart .whisker{fill:none;stroke:var(--ink);stroke-width:1.5}
.chart .marker{fill:var(--c);stroke:var(--panel);stroke-width:1.25}
.chart .marker.hollow{fill:var(--panel);stroke:var(--c);stroke-width:2}
.chart .marker.dot{stroke:none}
.chart .bar{fill:var(--c)}
.chart .bar.hollow{fill:var(--panel);stroke:var(--c);stroke-width:2;stroke-dasharray:4 3}
.chart .hatching{fill:none;stroke:var(--panel);stroke-width:2;stroke-linecap:round}
.chart .leader{fill:none;stroke:var(--c);stroke-width:1;opacity:.7}
.chart .cell{stroke:var(--panel);stroke-width:1}
.chart .absent{fill:none;stroke:var(--soft);stroke-dasharray:3 3;opacity:.7}
.chart .item{fill:var(--c);fill-opacity:.28;stroke:var(--panel);stroke-width:1}
.chart .item.hollow{fill:none;stroke:var(--c);stroke-dasharray:2 2}.chart .item.tiny{stroke:none}
.chart .group{fill:none;stroke:var(--c);stroke-width:2}.chart .group.fine{stroke-width:1;stroke-opacity:.6}
.chart .mark{fill:none;stroke:var(--ink);stroke-width:1.75}
.chart .m2{stroke-dasharray:3 2}.chart .m3{stroke-dasharray:1 2}
.chart rect.mark{stroke:#fff;paint-order:stroke;outline:1.5px solid #111}
]]

for i = 1, 7 do CHART = CHART .. (".s%d{--c:var(--s%d)}"):format(i, i) end

local PAGE = [[
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0;background:var(--paper);color:var(--ink);font-size:17px;line-height:1.6;overflow-wrap:break-word}
.page{max-width:1296px;margin:0 auto;padding:clamp(1.5rem,5vw,4.5rem) clamp(1rem,4vw,3rem)}
header,nav,footer{max-width:820px;margin-inline:auto}
main{max-width:1200px;margin-inline:auto}
h1{font-size:clamp(1.9rem,1.3rem + 2.6vw,3.1rem);line-height:1.12;letter-spacing:-.022em;font-weight:680;margin:0;
text-wrap:balance}
.subtitle{font-size:clamp(1.05rem,1rem + .4vw,1.3rem);color:var(--soft);line-height:1.5;margin:.9rem 0 0;max-width:46em}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr));gap:1.1rem 2rem;
margin:2.2rem 0 0;padding:1.4rem 0;border-block:1px solid var(--rule)}
.facts div{min-width:0}
.facts dt{font-size:.74rem;letter-spacing:.07em;text-transform:uppercase;color:var(--soft);line-height:1.4}
.facts dd{margin:.15rem 0 0;line-height:1.4;overflow-wrap:anywhere}
nav{margin-top:2rem;font-size:.94rem}
nav h2{font-size:.74rem;
letter-spacing:.07em;text-transform:uppercase;color:var(--soft);margin:0 0 .4rem;font-weight:500}
nav ol{margin:0;padding:0;list-style:none;columns:17rem}
nav li{padding:.16rem 0;break-inside:avoid}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.2em}
nav a{text-decoration:none}nav a:hover,nav a:focus-visible{text-decoration:underline}
section{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,820px) minmax(0,1fr);
margin-top:clamp(2.8rem,6vw,4.6rem);scroll-margin-top:1.5rem}
section>*{grid-column:2;min-width:0}
.data{grid-column:1/-1;justify-self:center;min-width:min(820px,100%);max-width:100%}
h2{font-size:clamp(1.3rem,1.1rem + .9vw,1.7rem);
line-height:1.25;letter-spacing:-.012em;font-weight:650;margin:0 0 .8rem;
text-wrap:balance}
p{margin:0 0 1rem;max-width:42em}
figure{margin:1.6rem 0 1.2rem;background:var(--panel);border:1px solid var(--rule);border-radius:10px;
padding:clamp(.9rem,3vw,1.6rem)}
figcaption{margin-top:1rem;font-size:.9rem;line-height:1.5;color:var(--soft)}
.note{font-size:.9rem;color:var(--soft)}
.narrow{display:none;max-width:480px;margin-inline:auto}
.scroll{overflow-x:auto;margin:.8rem 0 0;border-block:1px solid var(--rule);background-repeat:no-repeat;
background-image:linear-gradient(to right,var(--paper) 40%,var(--veil)),
linear-gradient(to left,var(--paper) 40%,var(--veil)),
linear-gradient(to right,var(--shade),transparent),linear-gradient(to left,var(--shade),transparent);
background-position:left,right,left,right;background-size:44px 100%,44px 100%,16px 100%,16px 100%;
background-attachment:local,local,scroll,scroll}
.scroll+.note{margin-top:.7rem}
.scroll:focus-visible{outline:2px solid var(--accent)}
table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.4;font-variant-numeric:tabular-nums}
th,td{padding:.48rem .65rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{padding-left:.2rem}
tbody tr:last-child td{border-bottom:0}
th{font-weight:600;color:var(--soft);vertical-align:bottom}
td.words{white-space:normal;min-width:9em;max-width:26em}td.sentence{min-width:min(22em,62vw)}
.right{text-align:right}.center{text-align:center}
tr.bad td{color:var(--soft)}tr.bad td:last-child{color:var(--bad)}
summary{cursor:pointer;font-size:.92rem;color:var(--accent);padding:.3rem 0}
footer{margin-top:5rem;padding-top:1.2rem;border-top:1px solid var(--rule);font-size:.85rem;color:var(--soft)}
@media (max-width:680px){.wide{display:none}.narrow{display:block}body{font-size:16px}figure{margin-inline:-.4rem}}
@media (min-width:1440px){
.page.listed{display:grid;max-width:1550px;grid-template-columns:190px minmax(0,1200px);column-gap:64px;
justify-content:center}
.listed header,.listed main,.listed footer{grid-column:2;margin-inline:0;width:100%}
.listed section{grid-template-columns:0 minmax(0,820px) minmax(0,1fr)}.listed .data{justify-self:start}
.listed nav{grid-column:1;grid-row:1/span 3;position:sticky;top:4.5rem;align-self:start;margin:0;
max-height:calc(100vh - 6rem);overflow-y:auto}
}
@media print{
@page{margin:16mm}
body{font-size:10.5pt;background:#fff}.page{padding:0;max-width:none;display:block!important}
nav{display:none}.wide{display:block}.narrow{display:none}
figure,tr{break-inside:avoid}h2{break-after:avoid}section{margin-top:2rem}
section{display:block}.scroll{overflow:visible;background:none}
details::details-content{content-visibility:visible;block-size:auto}summary{display:none}
th,td{white-space:normal;padding:.25rem .4rem}table{font-size:8pt}
}
]]

local function with_colours(selector)
  return ("%s{%s}\n@media screen and (prefers-color-scheme:dark){%s{%s}}\n"):format(selector, LIGHT, selector, DARK)
end

local PAGE_STYLE = ":root{color-scheme:light dark}\n" .. with_colours ":root" .. "body{" .. FONTS .. "}\n" .. PAGE
  .. CHART

--- The style sheet of a chart that is a file of its own.
html.CHART_STYLE = with_colours ".chart" .. ".chart{" .. FONTS .. "background:var(--panel)}\n" .. CHART

-- --- tables ------------------------------------------------------------------------

local function head_row(grid)
  local list = {}
  for j, column in ipairs(grid.columns) do
    list[j] = text("th", { scope = "col", class = column.align }, fields.head(column))
  end
  return element("tr", {}, list)
end

local function cell(column, one)
  local classes = column.align
  local length = column.align == "left" and width.of(one.text) or 0
  if length > LONG then classes = length > SENTENCE and "left words sentence" or "left words" end
  return text("td", { class = classes, ["data-key"] = column.key,
    ["data-value"] = one.value and markup.exact(one.value) or nil }, one.text)
end

local function body_row(grid, row)
  local list = {}
  for j, one in ipairs(row) do list[j] = cell(grid.columns[j], one) end
  return element("tr", { class = not row.ok and "bad" or nil }, list)
end

local function note(string)
  return text("p", { class = "note" }, string)
end

--- A table, which scrolls where it is wider than the page, also by keyboard; and its footnotes.
local function data_table(section)
  local grid, body = fields.cells(section), {}
  for i, row in ipairs(grid.rows) do body[i] = body_row(grid, row) end
  local whole = element("table", {}, element("thead", {}, head_row(grid)) .. element("tbody", {}, body))
  local notes = {}
  for i, string in ipairs(grid.notes) do notes[i] = note(string) end
  return element("div", { class = "scroll", role = "region", tabindex = 0,
    ["aria-label"] = "table: " .. (section.title or "measurements") }, whole) .. table.concat(notes)
end

-- --- sections ----------------------------------------------------------------------

--- The chart with the caption, which stands alone where no row has a point.
local function figure(section, id)
  local wide, left_out = chart.svg(section, WIDE, id .. "-wide")
  local below = left_out and note(left_out) or ""
  if not wide then return below .. (section.caption and note(section.caption) or "") end
  local narrow = chart.svg(section, NARROW, id .. "-narrow")
  local caption = section.caption and text("figcaption", {}, section.caption) or ""
  return element("figure", {}, element("div", { class = "wide" }, wide)
    .. element("div", { class = "narrow" }, narrow) .. caption) .. below
end

local function section_body(section, id)
  local count = #section.rows
  if not section.chart then
    return element("div", { class = "data" }, (count == 0 and note "No rows." or data_table(section))
      .. (section.caption and note(section.caption) or ""))
  end
  if count == 0 then return figure(section, id) end
  return figure(section, id) .. element("details", { class = "data", open = count <= FEW and "" or nil },
    text("summary", {}, ("The numbers: %d %s"):format(count, count == 1 and "row" or "rows")) .. data_table(section))
end

local function section_markup(section, id)
  local parts = { section.title and text("h2", {}, section.title) or "" }
  for _, paragraph in ipairs(section.text) do parts[#parts + 1] = text("p", {}, paragraph) end
  parts[#parts + 1] = section_body(section, id)
  return element("section", { id = id }, parts)
end

-- --- page --------------------------------------------------------------------------

local function facts_markup(facts)
  local list = {}
  for i, fact in ipairs(facts) do
    list[i] = element("div", {}, text("dt", {}, fact[1]) .. text("dd", {}, fact[2]))
  end
  return #list > 0 and element("dl", { class = "facts" }, list) or ""
end

local function header(made, title)
  return element("header", {}, text("h1", {}, title)
    .. (made.subtitle and text("p", { class = "subtitle" }, made.subtitle) or "") .. facts_markup(made.facts))
end

--- Links to the sections that have titles; none for a page of one.
local function contents(sections)
  local links = {}
  for i, section in ipairs(sections) do
    if section.title then
      links[#links + 1] = element("li", {}, text("a", { href = "#section-" .. i }, section.title))
    end
  end
  if #links < 2 then return nil end
  return element("nav", { ["aria-labelledby"] = "contents" },
    text("h2", { id = "contents" }, "Contents") .. element("ol", {}, links))
end

--- Who wrote the page and when: version and, where a checkout was built, its commit.
local function origin()
  local found, commit = pcall(require, "clcompute.commit")
  local built = found and commit ~= "" and (" (commit %s)"):format(commit) or ""
  return ("Written on %s by %s%s."):format(os.date "%Y-%m-%d", version, built)
end

--- A page around what its body holds.
local function page(title, body)
  return table.concat({
    "<!doctype html>", '<html lang="en">', "<head>", element("meta", { charset = "utf-8" }),
    element("meta", { name = "viewport", content = "width=device-width, initial-scale=1" }),
    element("meta", { name = "color-scheme", content = "light dark" }),
    text("title", {}, title), element("style", {}, PAGE_STYLE), "</head>", "<body>", body, "</body>", "</html>", "",
  }, "\n")
end

--- A page of charts, with the title of the first one; several have captions.
-- @tparam table figures list of {title=, svg=}
function html.frame(figures)
  local title, parts = figures[1].title, {}
  for k, one in ipairs(figures) do
    local caption = #figures > 1 and text("figcaption", {}, one.title) or ""
    parts[k] = element("figure", {}, one.svg .. caption)
  end
  return page(title, element("div", { class = "page" }, {
    element("header", {}, text("h1", {}, title)),
    element("main", {}, element("section", {}, parts)), text("footer", {}, origin()),
  }))
end

--- The document (of document.new) as a page.
function html.write(made)
  local title = made.title or "Measurements"
  local sections, nav = {}, contents(made.sections)
  for i, section in ipairs(made.sections) do sections[i] = section_markup(section, "section-" .. i) end
  local main = table.concat(sections)
  local hint = main:find("<svg", 1, true) and " Resting on a point of a chart shows its numbers." or ""
  return page(title, element("div", { class = nav and "page listed" or "page" }, {
    header(made, title), nav or "", element("main", {}, main),
    text("footer", {}, origin() .. hint),
  }))
end

return html
