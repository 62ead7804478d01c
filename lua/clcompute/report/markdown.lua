-- SPDX-License-Identifier: MIT
--- A report as Markdown, tables as GitHub has them.
-- @module clcompute.report.markdown

local cells = require "clcompute.report.cells"
local format = require("clcompute.base").format

local markdown = {}

local RULES = { left = ":--", right = "--:", center = ":-:" }

--- A text that means itself: no emphasis, link, tag, cell border or entity.
local function escape(string)
  return (format.clean(string):gsub("[\\`*_%[%]|~#]", "\\%0"):gsub("&", "&amp;"):gsub("<", "&lt;")
    :gsub(">", "&gt;"))
end

--- A paragraph must not begin like a list or a heading either.
local function paragraph(string)
  return (escape(string):gsub("^%s*([-+=])", "\\%1"):gsub("^(%s*%d+)([.)])", "%1\\%2"))
end

local function line(texts)
  return "| " .. table.concat(texts, " | ") .. " |"
end

local function put_table(grid, put)
  local heads, rules = {}, {}
  for j, column in ipairs(grid.columns) do
    heads[j], rules[j] = escape(cells.head(column)), RULES[column.align]
  end
  put(line(heads))
  put(line(rules))
  for _, row in ipairs(grid.rows) do
    local texts = {}
    for j, cell in ipairs(row) do texts[j] = escape(cell.text) end
    put(line(texts))
  end
end

--- The document (of document.new) as Markdown.
function markdown.write(made)
  local lines = {}
  local function put(string) lines[#lines + 1] = string end
  local function block(string)
    put(string)
    put ""
  end
  if made.title then block("# " .. escape(made.title)) end
  if made.subtitle then block(paragraph(made.subtitle)) end
  for _, fact in ipairs(made.facts) do put(("- **%s**: %s"):format(escape(fact[1]), escape(fact[2]))) end
  if #made.facts > 0 then put "" end
  for _, section in ipairs(made.sections) do
    if section.title and section.title ~= made.title then block("## " .. escape(section.title)) end
    for _, string in ipairs(section.text) do block(paragraph(string)) end
    local grid = cells.of(section)
    if #section.rows > 0 then put_table(grid, put) else put "No rows." end
    put ""
    for _, note in ipairs(grid.notes) do block(paragraph(note)) end
    if section.caption then block(paragraph(section.caption)) end
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

return markdown
