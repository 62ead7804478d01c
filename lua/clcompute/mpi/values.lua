-- SPDX-License-Identifier: MIT

--- Numbers, strings, booleans, nil and tables of these as bytes, and back.

local values = {}

local add

local function add_table(where, list, value, depth)
  if depth > 100 then error(where .. ": a table nested more than 100 deep, or within itself", 0) end
  list[#list + 1] = "t"
  for key, inner in next, value do
    add(where, list, key, depth + 1)
    add(where, list, inner, depth + 1)
  end
  list[#list + 1] = "e"
end

function add(where, list, value, depth)
  local kind = math.type(value) or type(value)
  if kind == "integer" then
    list[#list + 1] = string.pack("<c1i8", "i", value)
  elseif kind == "float" then
    list[#list + 1] = string.pack("<c1d", "d", value)
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

--- A value as bytes; what is raised begins with `where`.
function values.pack(where, value)
  local list = {}
  add(where, list, value, 0)
  return table.concat(list)
end

local CONSTANTS = { y = true, f = false }
local FORMATS = { i = "<i8", d = "<d", s = "<s8" }

local function read(bytes, at)
  local tag = bytes:sub(at, at)
  at = at + 1
  if FORMATS[tag] then return string.unpack(FORMATS[tag], bytes, at) end
  if tag ~= "t" then return CONSTANTS[tag], at end
  local result = {}
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
