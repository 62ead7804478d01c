-- SPDX-License-Identifier: MIT
--- A report as one HTML page that needs nothing else: no network, no fonts, no script.
-- @module clcompute.report.html

local cells = require "clcompute.report.cells"
local chart = require "clcompute.report.chart"
local markup = require "clcompute.report.markup"
local style = require "clcompute.report.style"
local width = require("clcompute.base").width

local html = {}

local element, text = markup.element, markup.text

local WIDE, NARROW = 760, 320 -- pixels of a chart on a screen, and on a phone
local FEW, LONG = 12, 24 -- rows of a table that is open under its chart; characters of a cell that may wrap

-- --- tables ------------------------------------------------------------------------

local function head_row(grid)
  local list = {}
  for j, column in ipairs(grid.columns) do
    list[j] = text("th", { scope = "col", class = column.align }, cells.head(column))
  end
  return element("tr", {}, list)
end

local function cell(column, one)
  local classes = column.align
  if column.align == "left" and width.of(one.text) > LONG then classes = "left words" end
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

--- A table that scrolls by itself where it is wider than the page, also by keyboard; and its footnotes.
local function data_table(section)
  local grid, body = cells.of(section), {}
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

--- The document (of document.new) as a page.
function html.write(made)
  local title = made.title or "Measurements"
  local sections, nav = {}, contents(made.sections)
  for i, section in ipairs(made.sections) do sections[i] = section_markup(section, "section-" .. i) end
  local main = table.concat(sections)
  local hint = main:find("<svg", 1, true) and " Resting on a point of a chart shows its numbers." or ""
  local page = element("div", { class = nav and "page listed" or "page" }, {
    header(made, title), nav or "", element("main", {}, main),
    text("footer", {}, "Written by clcompute.report." .. hint),
  })
  return table.concat({
    "<!doctype html>", '<html lang="en">', "<head>", element("meta", { charset = "utf-8" }),
    element("meta", { name = "viewport", content = "width=device-width, initial-scale=1" }),
    element("meta", { name = "color-scheme", content = "light dark" }),
    text("title", {}, title), element("style", {}, style.page), "</head>", "<body>", page, "</body>", "</html>", "",
  }, "\n")
end

return html
