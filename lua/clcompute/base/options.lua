-- SPDX-License-Identifier: MIT
--- Checks tables of options: what is not known, or of another type, is an error that says so.

local options = {}

local function known_names(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

--- The type of a value as messages name it: "Device" and "Buffer" too; of a table that is an object, as a spread
-- buffer, also the way out.
-- @param value
-- @treturn string
function options.type_of(value)
  if type(value) == "table" then
    local own = debug.getmetatable(value)
    return own and type(own) == "table" and rawget(own, "in_words") or "table"
  end
  local meta = type(value) == "userdata" and debug.getmetatable(value)
  return meta and meta.__name and meta.__name:match "[^.]*$" or type(value)
end

--- The type of a value as options name it: "integer" too.
local function type_of(value)
  return math.type(value) == "integer" and "integer" or options.type_of(value)
end

local function fits(value, types)
  local found = type_of(value)
  if found == types then return true end
  for name in types:gmatch "[^|]+" do
    if name == found or name == type(value) then return true end
  end
  return false
end

--- Raises unless every field of `given` is known and of a type it may have.
-- @string where begins messages: the function that was called
-- @tparam table given
-- @tparam table known name to types: `{ seconds = "number", device = "Device|table" }`
function options.check(where, given, known)
  if options.type_of(given) ~= "table" then
    local hint = math.type(given) and known.axis and ("; { axis = %s } is for an axis"):format(given) or ""
    error(("%s: table of options expected, got %s%s"):format(where, options.type_of(given), hint), 0)
  end
  for key, value in pairs(given) do
    local types = known[key]
    if not types then
      error(("%s: unknown option '%s'; there are: %s"):format(where, tostring(key), known_names(known)), 0)
    end
    if not fits(value, types) then
      local expected = types:gsub("|", " or ")
      error(("%s: option '%s': %s expected, got %s"):format(where, key, expected, type_of(value)), 0)
    end
  end
  return given
end

--- Raises unless a number that is given is above zero.
function options.positive(where, given, ...)
  for _, key in ipairs { ... } do
    local value = given[key]
    if value ~= nil and not (value > 0 and value < math.huge) then
      error(("%s: option '%s': must be above 0 and finite, got %s"):format(where, key, value), 0)
    end
  end
end

--- Raises unless the text of an option that is given is a key of `allowed`.
function options.one_of(where, given, key, allowed)
  local value = given[key]
  if value == nil or allowed[value] then return end
  local names = known_names(allowed):gsub(", ", " or ")
  error(("%s: option '%s': %s expected, got '%s'"):format(where, key, names, value), 0)
end

--- One table with the fields of all; later ones win.
function options.merge(...)
  local all = {}
  for _, part in ipairs { ... } do
    for key, value in pairs(part) do all[key] = value end
  end
  return all
end

return options
