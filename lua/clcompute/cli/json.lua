-- SPDX-License-Identifier: MIT

--- What `--json` prints: plain tables as JSON whose keys are in order, so that two outputs compare.
-- @module clcompute.cli.json

local need = require "clcompute.cli.need"

local json = {}

--- A copy without metatables, whose inherited fields dkjson would take for the table's own; adds the names of all
-- fields, at any depth, to a set.
local function copy(value, names)
  if type(value) ~= "table" then return value end
  local plain = {}
  for key, member in next, value do
    if type(key) == "string" then names[key] = true end
    plain[key] = copy(member, names)
  end
  return plain
end

--- A value as JSON, indented. An empty table is a list.
-- @param value tables, strings, numbers and booleans
-- @treturn string
-- @raise when Debian's lua-dkjson is missing
function json.encode(value)
  local dkjson = need.module("dkjson", "lua-dkjson")
  local names, order = {}, {}
  local plain = copy(value, names)
  for name in pairs(names) do order[#order + 1] = name end
  table.sort(order)
  return dkjson.encode(plain, { indent = true, keyorder = order })
end

return json
