-- SPDX-License-Identifier: MIT
--- What a report says: sections of rows, columns and a chart. Checked here, so that writers need not.
-- @module clcompute.report.document

local check = require "clcompute.report.check"
local places = require("clcompute.base").places

local document = {}

local DOCUMENT = { title = "string", subtitle = "string", facts = "table", sections = "table" }
local SECTION = { title = "string", text = "string|table", columns = "table", rows = "table", chart = "table",
  caption = "string" }
local COLUMN = { key = "string|table", title = "string", unit = "string", format = "string|function", align = "string",
  wrap = "boolean" }
local ALIGNMENTS = { left = true, right = true, center = true }

--- The value at a dotted key: "params.n".
function document.field(row, key)
  local value = row[key]
  if value ~= nil then return value end
  value = row
  for name in key:gmatch "[^.]+" do
    if type(value) ~= "table" then return nil end
    local index = value[name]
    if index == nil then index = value[math.tointeger(tonumber(name))] end
    value = index
  end
  if value == row then return nil end
  return value
end

--- The values at a key or a list of keys as one text.
function document.label(row, key)
  local parts = {}
  for _, name in ipairs(type(key) == "table" and key or { key }) do
    local value = document.field(row, name)
    if type(value) == "table" then value = places.text(value) end
    if value ~= nil then parts[#parts + 1] = tostring(value) end
  end
  return table.concat(parts, " · ")
end

--- Whether a row is a measurement that succeeded.
function document.is_ok(row)
  return row.status == nil or row.status == "ok"
end

--- Why a row has no value: "unsupported: no double".
function document.reason(row)
  if row.reason then return ("%s: %s"):format(row.status or "failed", tostring(row.reason)) end
  return tostring(row.status)
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
    if document.field(row, key) ~= nil then return true end
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
  check.keys(where, column, COLUMN)
  if not is_key(column.key) then
    error(where .. ": 'key' is missing: the name of a field, or two for a range", 0)
  end
  if column.align then check.choice(where .. ": 'align'", column.align, ALIGNMENTS) end
end

--- Rows that failed show why, whatever columns were asked for.
local function with_status(columns, rows)
  local failed = false
  for _, row in ipairs(rows) do failed = failed or not document.is_ok(row) end
  if not failed then return columns end
  for _, column in ipairs(columns) do
    if column.key == "status" or column.key == "reason" then return columns end
  end
  local list = table.move(columns, 1, #columns, 1, {})
  list[#list + 1] = { key = "status", title = "status", align = "left",
    format = function(_, row) return document.is_ok(row) and "ok" or document.reason(row) end }
  return list
end

local function new_section(given, index)
  local where = ("section %d"):format(index)
  check.keys(where, given, SECTION)
  local rows = check.tables(where .. ": 'rows'", given.rows or {})
  local is_timeline = given.chart and given.chart.kind == "timeline"
  local columns = check.tables(where .. ": 'columns'",
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
  for i, fact in ipairs(check.tables("document: 'facts'", facts)) do
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
  check.keys("document", given, DOCUMENT)
  local made = { title = given.title, subtitle = given.subtitle, facts = check_facts(given.facts or {}), sections = {} }
  for i, section in ipairs(check.tables("document: 'sections'", given.sections or {})) do
    made.sections[i] = new_section(section, i)
  end
  return made
end

return document
