-- SPDX-License-Identifier: MIT
--- What a script hands over is checked against a table of known keys before it is used.
-- @module clcompute.report.check

local check = {}

local function sorted_keys(known)
  local names = {}
  for name in pairs(known) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

--- Raises unless `given` is a table with keys of `known` only: name to the types it may have, "string|table".
function check.keys(what, given, known)
  if type(given) ~= "table" then error(("%s: table expected, got %s"):format(what, type(given)), 0) end
  for key, value in pairs(given) do
    local types = known[key]
    if not types then
      error(("%s: unknown key '%s' (known: %s)"):format(what, tostring(key), sorted_keys(known)), 0)
    end
    if not ("|" .. types .. "|"):find("|" .. type(value) .. "|", 1, true) then
      error(("%s: '%s': %s expected, got %s"):format(what, key, types:gsub("|", " or "), type(value)), 0)
    end
  end
  return given
end

--- Raises unless value is one of the keys of `choices`.
function check.choice(what, value, choices)
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

--- Raises unless value is a list of tables, without holes, none of which holds itself.
function check.tables(what, value)
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

return check
