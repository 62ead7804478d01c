-- SPDX-License-Identifier: MIT
--- A report as lines to be read: for a terminal, wrapped to fit; and as Markdown, with tables as GitHub has them.

local aligned = require "clcompute.report.aligned"
local columns = require("clcompute.base").columns
local fields = require "clcompute.report.fields"
local format = require("clcompute.base").format

local text = {}

--- The document (of document.new) as text.
-- @tparam table made
-- @tparam table style functions that return lines: `heading(string, mark)`, with Markdown's mark, `paragraph(string)`,
--  `facts(list)` and `table(grid, section)`; `no_rows`, what stands for an empty table
local function write(made, style)
  local lines = {}
  local function add(block)
    table.move(block, 1, #block, #lines + 1, lines)
    lines[#lines + 1] = ""
  end
  local function add_paragraphs(list)
    for _, string in ipairs(list) do add(style.paragraph(string)) end
  end
  if made.title then add(style.heading(made.title, "# ")) end
  add_paragraphs { made.subtitle }
  if #made.facts > 0 then add(style.facts(made.facts)) end
  for _, section in ipairs(made.sections) do
    if section.title and section.title ~= made.title then add(style.heading(section.title, "## ")) end
    add_paragraphs(section.text)
    local grid = fields.cells(section)
    add(#section.rows > 0 and style.table(grid, section) or { style.no_rows })
    add_paragraphs(grid.notes)
    add_paragraphs { section.caption }
  end
  return (table.concat(lines, "\n"):gsub("\n+$", "")) .. "\n"
end

-- --- words -------------------------------------------------------------------------

local ASCII = { ["µ"] = "u", ["–"] = "-", ["…"] = "~", ["─"] = "-", ["·"] = "/", ["×"] = "x" }

local function to_ascii(string)
  return (string:gsub(utf8.charpattern, function(char) return #char > 1 and (ASCII[char] or "?") or nil end))
end

--- Names and values in two columns, of which the second is wrapped.
local function aligned_facts(facts, limit)
  local names, lines = {}, {}
  for i, fact in ipairs(facts) do names[i] = { format.clean(fact[1]) } end
  local room = columns.measure(names)[1]
  for i, fact in ipairs(facts) do
    local values = aligned.wrapped(fact[2], limit - room - columns.GAP)
    for k = 1, math.max(1, #values) do
      local value = values[k] or ""
      lines[#lines + 1] = columns.line({ k == 1 and names[i][1] or "", value }, { room, #value }, {})
    end
  end
  return lines
end

--- The document (of document.new) for a terminal. Options: width (100), ascii (false), bar (true).
function text.plain(made, options)
  local function paragraph(string) return aligned.wrapped(string, options.width) end
  local whole = write(made, { heading = paragraph, paragraph = paragraph, no_rows = "(no rows)",
    facts = function(facts) return aligned_facts(facts, options.width) end,
    table = function(grid, section) return aligned.table(grid, section.chart, options) end })
  return options.ascii and to_ascii(whole) or whole
end

-- --- Markdown ----------------------------------------------------------------------

local RULES = { left = ":--", right = "--:", center = ":-:" }

--- A text that means itself: no emphasis, link, tag, cell border or entity.
local function escape(string)
  return (format.clean(string):gsub("[\\`*_%[%]|~#]", "\\%0"):gsub("&", "&amp;"):gsub("<", "&lt;")
    :gsub(">", "&gt;"))
end

local markdown = { no_rows = "No rows." }

function markdown.heading(string, mark)
  return { mark .. escape(string) }
end

--- A paragraph must not begin like a list or a heading either.
function markdown.paragraph(string)
  return { (escape(string):gsub("^%s*([-+=])", "\\%1"):gsub("^(%s*%d+)([.)])", "%1\\%2")) }
end

function markdown.facts(facts)
  local lines = {}
  for i, fact in ipairs(facts) do lines[i] = ("- **%s**: %s"):format(escape(fact[1]), escape(fact[2])) end
  return lines
end

function markdown.table(grid)
  local rules, lines = {}, aligned.lines_of(grid)
  for i, texts in ipairs(lines) do
    for j, string in ipairs(texts) do texts[j] = escape(string) end
    lines[i] = "| " .. table.concat(texts, " | ") .. " |"
  end
  for j, column in ipairs(grid.columns) do rules[j] = RULES[column.align] end
  table.insert(lines, 2, "| " .. table.concat(rules, " | ") .. " |")
  return lines
end

--- The document (of document.new) as Markdown.
function text.markdown(made)
  return write(made, markdown)
end

return text
