-- SPDX-License-Identifier: MIT

--- Numbers, strings, booleans, nil and tables of these as bytes, and back.

local values = {}

local AT_ONCE = 200 -- numbers of one call, as arguments or results
local LETTERS = { integer = "i8", float = "d" }
local LISTS = { integer = "I", float = "D" }
local KINDS = { I = "integer", D = "float" }

--- The kind and the count of the numbers of a list, where all of its values are numbers of one kind.
local function numbers_of(value)
  local count = getmetatable(value) == nil and #value or 0
  local kind = count > 0 and math.type(value[1])
  for k = 2, kind and count or 0 do
    if math.type(value[k]) ~= kind then return nil, 0 end
  end
  return kind, kind and count or 0
end

--- So many at once take an eighth of the time of one by one.
local function add_numbers(list, value, kind, count)
  local letter = LETTERS[kind]
  list[#list + 1] = string.pack("<c1i8", LISTS[kind], count)
  for first = 1, count, AT_ONCE do
    local last = math.min(first + AT_ONCE - 1, count)
    list[#list + 1] = string.pack("<" .. letter:rep(last - first + 1), table.unpack(value, first, last))
  end
end

local function number_bytes(kind, value)
  if kind == "integer" then return string.pack("<c1i8", "i", value) end
  return string.pack("<c1d", "d", value)
end

local add

local function add_table(where, list, value, depth)
  if depth > 100 then error(where .. ": a table nested more than 100 deep, or within itself", 0) end
  list[#list + 1] = "t"
  local kind, count = numbers_of(value)
  if kind then add_numbers(list, value, kind, count) end
  for key, inner in next, value do
    if not (math.type(key) == "integer" and key >= 1 and key <= count) then
      add(where, list, key, depth + 1)
      add(where, list, inner, depth + 1)
    end
  end
  list[#list + 1] = "e"
end

function add(where, list, value, depth)
  local kind = math.type(value) or type(value)
  if kind == "integer" or kind == "float" then
    list[#list + 1] = number_bytes(kind, value)
  elseif kind == "string" then
    list[#list + 1] = string.pack("<c1s8", "s", value)
  elseif kind == "nil" or kind == "boolean" then
    list[#list + 1] = value == nil and "n" or value and "y" or "f"
  elseif kind == "table" then
    add_table(where, list, value, depth)
  else
    error(("%s: number, string, boolean or table expected, got %s"):format(where, kind), 0)
  end
end

--- A value as bytes; what is raised begins with `where`. Reductions send numbers, which are quick.
function values.pack(where, value)
  local kind = math.type(value)
  if kind then return number_bytes(kind, value) end
  local list = {}
  add(where, list, value, 0)
  return table.concat(list)
end

local CONSTANTS = { y = true, f = false }
local FORMATS = { i = "<i8", d = "<d", s = "<s8" }

--- Puts unpacked values into a list from a place on; returns where the bytes go on, which come last.
local function put(list, first, ...)
  local count = select("#", ...) - 1
  table.move({ ... }, 1, count, first, list)
  return (select(count + 1, ...))
end

local function read_numbers(bytes, at, list)
  local letter, count = LETTERS[KINDS[bytes:sub(at, at)]], string.unpack("<i8", bytes, at + 1)
  at = at + 9
  for first = 1, count, AT_ONCE do
    at = put(list, first, string.unpack("<" .. letter:rep(math.min(AT_ONCE, count - first + 1)), bytes, at))
  end
  return at
end

local function read(bytes, at)
  local tag = bytes:sub(at, at)
  at = at + 1
  if FORMATS[tag] then return string.unpack(FORMATS[tag], bytes, at) end
  if tag ~= "t" then return CONSTANTS[tag], at end
  local result = {}
  if KINDS[bytes:sub(at, at)] then at = read_numbers(bytes, at, result) end
  while bytes:sub(at, at) ~= "e" do
    local key, value
    key, at = read(bytes, at)
    value, at = read(bytes, at)
    result[key] = value
  end
  return result, at + 1
end

function values.unpack(bytes) return (read(bytes, 1)) end

return values
