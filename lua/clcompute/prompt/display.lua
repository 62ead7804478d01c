-- SPDX-License-Identifier: MIT

--- Values as a prompt shows them: strings in quotes, tables with their fields, numbers in columns; cut to the terminal.

local catalogue = require "clcompute.prompt.catalogue"
local format = require("clcompute.base").format
local numbers = require "clcompute.prompt.numbers"
local width = require("clcompute.base").width

local display = {}

local MEMBERS, DEPTH = 24, 4 -- of a table
local ALL = 200 -- members of a table and of those in it
local LONGEST = 60 -- columns of a string within a table
local LINES = 24 -- of a string without line ends, at most
local TEXT = 20000 -- bytes of a string of several lines
local DOTS = "..."
local PATIENCE = 0.2 -- seconds that an event may take to end

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
  return format.visible((beginning:gsub("\n$", ""))) .. rest
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
  local is_list, is_matrix = numbers.is_list(value), numbers.is_matrix(value)
  local is_picture = is_list and rawlen(value) > MEMBERS or is_matrix and depth == 0
  if #line <= columns and not line:find "\n" and not is_picture then return line end
  if is_list then return numbers.list(value, columns) end
  if is_matrix then return numbers.matrix(value, columns) end
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

--- An event with the time that its launch took, or with its status where that does not end soon. Raises what failed.
local function event_text(event)
  local text, is_live, status = tostring(event), pcall(function() return event.status end)
  if not is_live or status == "recorded" then return text end
  local ended, reason = pcall(event.wait, event, PATIENCE)
  if not ended and tostring(reason):find("did not end within", 1, true) then return text .. ", " .. event.status end
  if not ended then error(reason, 0) end
  local is_timed, seconds = pcall(function() return event.seconds end)
  return is_timed and text .. ", " .. format.engineering(seconds, "s"):gsub("µ", "u") or text
end

--- A function, of the library as it is called.
local function function_text(value, known)
  local entry = known:entry_of(value)
  return entry and entry.signature and entry.signature .. ": help(x) tells what it does" or tostring(value)
end

--- One value.
-- @param value
-- @tparam integer columns of the terminal
-- @tparam table known of `clcompute.prompt.catalogue`
-- @treturn string
function display.value(value, columns, known)
  if type(value) == "string" then return string_text(value, columns) end
  if numbers.is_buffer(value) then return numbers.buffer(value, columns) end
  if catalogue.class_of(value) == "clcompute.Event" then return event_text(value) end
  if type(value) == "function" then return function_text(value, known) end
  if type(value) ~= "table" or has_text(value) then return tostring(value) end
  local module = known:module_of(value)
  if module then return module_text(value, module, columns) end
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
