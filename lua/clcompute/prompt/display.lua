-- SPDX-License-Identifier: MIT

--- Values as a prompt shows them: strings in quotes, tables with their fields, matrices in columns; cut to the
-- terminal.

local catalogue = require "clcompute.prompt.catalogue"
local width = require("clcompute.base").width

local display = {}

local ROWS = 12 -- of a matrix, at most
local COLUMNS_READ = 64 -- elements of a row that are looked at
local MEMBERS, DEPTH = 24, 4 -- of a table
local ALL = 200 -- members of a table and of those in it
local LONGEST = 60 -- columns of a string within a table
local LINES = 24 -- of a string without line ends, at most
local TEXT = 20000 -- bytes of a string of several lines
local DOTS = "..."

-- --- strings and names -----------------------------------------------------------------------

local ESCAPES = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ['"'] = '\\"', ["\\"] = "\\\\" }

local function escape(c)
  return ESCAPES[c] or ("\\x%02X"):format(c:byte())
end

local function quoted(text)
  return '"' .. text:gsub(utf8.len(text) and '[%c"\\]' or '[%c"\\\x80-\xff]', escape) .. '"'
end

--- A string: one of several lines as it is, but for what a terminal would obey; of a long one the beginning.
local function string_text(text, columns)
  local is_text = text:find "\n."
  local beginning = text:sub(1, is_text and TEXT or LINES * columns)
  local rest = #beginning < #text and ("%s of %d bytes"):format(DOTS, #text) or ""
  if not is_text then return quoted(beginning) .. rest end
  return beginning:gsub("\n$", ""):gsub("[\0-\8\11-\31\127]", escape) .. rest
end

-- --- matrices ------------------------------------------------------------------------------------

local function element(value)
  return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
end

--- Rows of cells below each other, as many columns as the terminal has room for.
-- @tparam table rows lists of strings, all as long, not empty
-- @tparam boolean has_more whether there are further columns
local function grid(rows, has_more, columns)
  local widths, room, count = {}, columns - #DOTS - 3, 0
  for i = 1, #rows[1] do
    widths[i] = 0
    for _, row in ipairs(rows) do widths[i] = math.max(widths[i], #row[i]) end
    room = room - widths[i] - 2
    if room < 0 and i > 1 then break end
    count = i
  end
  local lines = {}
  for r, row in ipairs(rows) do
    local cells = {}
    for i = 1, count do cells[i] = width.pad(row[i], widths[i], "right") end
    lines[r] = "  " .. table.concat(cells, "  ") .. ((count < #row or has_more) and "  " .. DOTS or "")
  end
  return lines
end

local function elements(list)
  local cells = {}
  for i = 1, rawlen(list) do cells[i] = element(rawget(list, i)) end -- no code of the user's runs
  return cells
end

--- A buffer of two dimensions: its first rows, and of each as much as is shown.
local function matrix(buffer, columns)
  local shape, rows = buffer.shape, {}
  local shown = math.min(shape[2], COLUMNS_READ)
  for i = 1, math.min(shape[1], ROWS) do rows[i] = elements(buffer[i]:read(1, shown)) end
  local head = ("%s buffer %dx%d on %s:"):format(buffer.dtype, shape[1], shape[2], buffer.device.name)
  local lines = shown > 0 and #rows > 0 and grid(rows, shape[2] > shown, columns) or {}
  table.insert(lines, 1, width.cut(head, columns))
  if #rows < shape[1] then lines[#lines + 1] = "  " .. DOTS end
  return table.concat(lines, "\n")
end

local function is_matrix(value)
  return catalogue.class_of(value) == "clcompute.Buffer" and pcall(function() return value.shape end)
    and #value.shape == 2
end

--- Whether a table is a list of lists of numbers, all as long.
local function is_nested(value)
  local first = rawget(value, 1)
  if type(first) ~= "table" or rawlen(value) < 2 then return false end
  for k = 1, rawlen(value) do
    local row = rawget(value, k)
    if type(row) ~= "table" or rawlen(row) ~= rawlen(first) or rawlen(row) == 0 then return false end
    for i = 1, rawlen(row) do if type(rawget(row, i)) ~= "number" then return false end end
  end
  return next(value, rawlen(value)) == nil
end

-- --- tables ------------------------------------------------------------------------------------

local function key_text(key)
  if type(key) == "string" then return key:find "^[%a_][%w_]*$" and key or "[" .. quoted(key) .. "]" end
  return "[" .. tostring(key) .. "]"
end

--- The keys of a table beside its list, those that are strings first, in their order.
local function other_keys(value)
  local keys, length = {}, rawlen(value)
  for key in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    if type(a) ~= type(b) then return type(a) == "string" or type(b) ~= "string" and type(a) < type(b) end
    if type(a) == "string" or type(a) == "number" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local member

--- The members of a table as texts. `seen`: the tables around it, and how many members are `left` to be shown.
local function members(value, columns, seen, depth)
  local list, length, keys = {}, rawlen(value), other_keys(value)
  local function add(text)
    list[#list + 1], seen.left = text, seen.left - 1
  end
  for i = 1, math.min(length, MEMBERS) do
    if seen.left > 0 then add(member(rawget(value, i), columns, seen, depth)) end
  end
  for i = 1, math.min(#keys, MEMBERS - #list) do
    if seen.left > 0 then add(key_text(keys[i]) .. " = " .. member(rawget(value, keys[i]), columns, seen, depth)) end
  end
  if #list < length + #keys then list[#list + 1] = DOTS end
  return list
end

local function one_line(list)
  return #list == 0 and "{}" or "{ " .. table.concat(list, ", ") .. " }"
end

local function indented(text)
  return "  " .. text:gsub("\n", "\n  ")
end

local function table_text(value, columns, seen, depth)
  if seen[value] or depth > DEPTH then return "{ ... }" end
  seen[value] = true
  local list = members(value, columns - 2, seen, depth + 1)
  seen[value] = nil
  local line = one_line(list)
  if #line <= columns and not line:find "\n" then return line end
  for i, text in ipairs(list) do list[i] = indented(text) end
  return "{\n" .. table.concat(list, ",\n") .. "\n}"
end

local function has_text(value)
  local meta = debug.getmetatable(value)
  return type(meta) == "table" and (rawget(meta, "__tostring") or rawget(meta, "__name")) ~= nil
end

--- A value within a table.
function member(value, columns, seen, depth)
  if type(value) == "string" then return quoted(width.cut(value, LONGEST)) end
  if type(value) == "table" and not has_text(value) then return table_text(value, columns, seen, depth) end
  return (width.cut(tostring(value):gsub("\n.*", " " .. DOTS), math.max(columns, 20)))
end

-- --- all -----------------------------------------------------------------------------------------

--- The names of a module in columns.
local function module_text(value, module, columns)
  local names, widest = {}, 0
  for key in next, value do names[#names + 1] = tostring(key) end
  table.sort(names)
  for _, name in ipairs(names) do widest = math.max(widest, #name) end
  local lines, per_line = {}, math.max(1, (columns - 2) // (widest + 2))
  for i = 1, #names, per_line do
    local cells = {}
    for j = i, math.min(i + per_line - 1, #names) do cells[#cells + 1] = width.pad(names[j], widest) end
    lines[#lines + 1] = ("  " .. table.concat(cells, "  ")):gsub(" +$", "")
  end
  return ("%s: help \"name\" tells what one does\n%s"):format(module, table.concat(lines, "\n"))
end

--- One value.
-- @param value
-- @tparam integer columns of the terminal
-- @tparam table known of `clcompute.prompt.catalogue`
-- @treturn string
function display.value(value, columns, known)
  if type(value) == "string" then return string_text(value, columns) end
  if is_matrix(value) then return matrix(value, columns) end
  if type(value) ~= "table" or has_text(value) then return tostring(value) end
  local module = known:module_of(value)
  if module then return module_text(value, module, columns) end
  if is_nested(value) then
    local rows, length = {}, rawlen(value)
    for i = 1, math.min(length, ROWS) do rows[i] = elements(value[i]) end
    local lines = grid(rows, false, columns)
    if length > ROWS then lines[#lines + 1] = "  " .. DOTS end
    return "{\n" .. table.concat(lines, "\n") .. "\n}"
  end
  return table_text(value, columns, { left = ALL }, 0)
end

--- The results of a chunk: on one line where they have room.
-- @tparam table results with their number `n`
-- @tparam integer columns
-- @tparam table known
-- @treturn string
function display.results(results, columns, known)
  local texts, is_line = {}, true
  for i = 1, results.n do
    texts[i] = display.value(results[i], columns, known)
    is_line = is_line and not texts[i]:find "\n"
  end
  return table.concat(texts, is_line and "\t" or "\n")
end

return display
