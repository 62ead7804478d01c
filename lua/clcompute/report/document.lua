-- SPDX-License-Identifier: MIT
--- What a report says: sections of rows, columns and a chart. Checked here, so that writers need not.

local fields = require "clcompute.report.fields"
local places = require("clcompute.base").places

local document = {}

local DOCUMENT = { title = "string", subtitle = "string", facts = "table", sections = "table" }
local SECTION = { title = "string", text = "string|table", columns = "table", rows = "table", chart = "table",
  caption = "string" }
local COLUMN = { key = "string|table", title = "string", unit = "string", format = "string|function", align = "string",
  wrap = "boolean", detail = "boolean" }
local ALIGNMENTS = { left = true, right = true, center = true }

-- --- checks ------------------------------------------------------------------------

local function sorted_keys(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

--- Raises unless `given` is a table with keys of `known` only: name to the types it may have, "string|table".
function document.check_keys(what, given, known)
  if type(given) ~= "table" then error(("%s: table expected, got %s"):format(what, type(given)), 0) end
  for key, value in pairs(given) do
    local types = known[key]
    if not types then
      local unknown = what == "options" and "unknown option" or what .. ": unknown key"
      error(("%s '%s'; there are: %s"):format(unknown, tostring(key), sorted_keys(known)), 0)
    end
    if not ("|" .. types .. "|"):find("|" .. type(value) .. "|", 1, true) then
      error(("%s: '%s': %s expected, got %s"):format(what, key, types:gsub("|", " or "), type(value)), 0)
    end
  end
  return given
end

--- Raises unless value is one of the keys of `choices`.
function document.check_choice(what, value, choices)
  if value == nil or choices[value] == nil then
    error(("%s: one of %s expected, got %s"):format(what, sorted_keys(choices), tostring(value)), 0)
  end
  return value
end

--- Whether a table holds itself, at any depth: it could not be written.
local function is_cyclic(value, above)
  if above[value] then return true end
  above[value] = true
  for _, item in pairs(value) do
    if type(item) == "table" and is_cyclic(item, above) then return true end
  end
  above[value] = nil
  return false
end

--- Raises where a row stands in the place of a list.
function document.refuse_row(given)
  if type(given) == "table" and not given.sections and (given.value ~= nil or given.status ~= nil) then
    error("list of rows expected, got one row: { row } is a list", 0)
  end
end

--- Raises unless value is a list of tables, without holes, none of which holds itself.
function document.check_tables(what, value)
  if type(value) ~= "table" then error(("%s: list of tables expected, got %s"):format(what, type(value)), 0) end
  local count, last = 0, 0
  for key, item in pairs(value) do
    if math.type(key) ~= "integer" or key < 1 or type(item) ~= "table" then
      error(("%s: list of tables expected, got a %s at '%s'"):format(what, type(item), tostring(key)), 0)
    end
    if is_cyclic(item, {}) then error(("%s: the table at '%s' contains itself"):format(what, key), 0) end
    count, last = count + 1, math.max(last, key)
  end
  if count < last then error(("%s: list without holes expected, got %d of %d"):format(what, count, last), 0) end
  return value
end

-- --- default columns ----------------------------------------------------------------

local function checked_text(value)
  return value == true and "ok" or value == false and "WRONG" or tostring(value)
end

local BEFORE = { { key = "name", title = "name" } }
local AFTER = {
  { key = "device", title = "device" },
  { key = "value", title = "median" },
  { key = { "q1", "q3" }, title = "quartiles" },
  { key = "gflops", title = "rate", unit = "GFLOP/s" },
  { key = "gbs", title = "bandwidth", unit = "GB/s" },
  { key = "peak_share", title = "of peak", format = "percent" },
  { key = "ratio", title = "ratio" },
  { key = "checked", title = "check", format = checked_text, align = "left" },
  { key = "max_error", title = "error" },
}

local PLACE = { key = "group_id" } -- what every row of clcompute.trace_range has

--- Names of all params, sorted.
local function param_names(rows)
  local seen, names = {}, {}
  for _, row in ipairs(rows) do
    for name in pairs(type(row.params) == "table" and row.params or {}) do
      if not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

local function is_used(rows, column)
  local key = type(column.key) == "table" and column.key[1] or column.key
  for _, row in ipairs(rows) do
    if fields.at(row, key) ~= nil then return true end
  end
  return false
end

--- The columns of rows of measurements, and of rows of clcompute.trace_range: those that any row has a value for.
local function default_columns(rows)
  local columns = {}
  local function add(column)
    if is_used(rows, column) then columns[#columns + 1] = column end
  end
  for _, column in ipairs(BEFORE) do add(column) end
  for _, name in ipairs(param_names(rows)) do add { key = "params." .. tostring(name), title = tostring(name) } end
  for _, column in ipairs(AFTER) do add(column) end
  if is_used(rows, PLACE) then
    for _, field in ipairs(places.FIELDS) do
      if not field.is_detail then add { key = field[1], title = field[2], align = "right" } end
    end
  end
  return columns
end

--- The columns of rows that are spans of a timeline.
local function span_columns(chart)
  local columns = {}
  for _, role in ipairs { "lane", "start", "finish", "state" } do
    local keys = chart[role]
    for _, key in ipairs(type(keys) == "table" and keys or { keys }) do
      if type(key) == "string" then -- what else it may be, the chart complains about
        columns[#columns + 1] = { key = key, unit = (role == "start" or role == "finish") and chart.xunit or nil }
      end
    end
  end
  return columns
end

-- --- sections --------------------------------------------------------------------------

--- Whether a key names a field, or is a list of names.
local function is_key(key)
  if type(key) ~= "table" then return key ~= nil end
  for i = 1, #key do
    if type(key[i]) ~= "string" then return false end
  end
  return #key > 0
end

local function check_column(column, where)
  document.check_keys(where, column, COLUMN)
  if not is_key(column.key) then
    error(where .. ": 'key' is missing: the name of a field, or two for a range", 0)
  end
  if column.align then document.check_choice(where .. ": 'align'", column.align, ALIGNMENTS) end
end

--- Rows that failed show why, whatever columns were asked for.
local function with_status(columns, rows)
  local failed = false
  for _, row in ipairs(rows) do failed = failed or not fields.is_ok(row) end
  if not failed then return columns end
  for _, column in ipairs(columns) do
    if column.key == "status" or column.key == "reason" then return columns end
  end
  local list = table.move(columns, 1, #columns, 1, {})
  list[#list + 1] = { key = "status", title = "status", align = "left",
    format = function(_, row) return fields.is_ok(row) and "ok" or fields.reason(row) end }
  return list
end

local function new_section(given, index)
  local where = ("section %d"):format(index)
  document.check_keys(where, given, SECTION)
  local rows = document.check_tables(where .. ": 'rows'", given.rows or {})
  local is_timeline = given.chart and given.chart.kind == "timeline"
  local columns = document.check_tables(where .. ": 'columns'",
    given.columns or is_timeline and span_columns(given.chart) or default_columns(rows))
  for i, column in ipairs(columns) do check_column(column, ("%s, column %d"):format(where, i)) end
  local text = given.text or {}
  return {
    title = given.title, caption = given.caption, chart = given.chart, rows = rows,
    text = type(text) == "string" and { text } or text,
    columns = with_status(columns, rows),
  }
end

local function check_facts(facts)
  for i, fact in ipairs(document.check_tables("document: 'facts'", facts)) do
    if fact[1] == nil or fact[2] == nil then
      error(("document: fact %d: { name, value } expected"):format(i), 0)
    end
  end
  return facts
end

--- Whether a table is a list, or empty.
local function is_list(given)
  return next(given) == nil or math.type(next(given)) == "integer"
end

--- A document from what a script gave: a document, one section, or bare rows.
function document.new(given)
  if type(given) ~= "table" then
    error(("document or list of rows expected, got %s"):format(type(given)), 0)
  end
  if given.rows then given = { title = given.title, sections = { given } } end
  if not given.sections and is_list(given) then given = { sections = { { rows = given } } } end
  document.refuse_row(given)
  document.check_keys("document", given, DOCUMENT)
  local made = { title = given.title, subtitle = given.subtitle, facts = check_facts(given.facts or {}), sections = {} }
  for i, section in ipairs(document.check_tables("document: 'sections'", given.sections or {})) do
    made.sections[i] = new_section(section, i)
  end
  return made
end

return document
