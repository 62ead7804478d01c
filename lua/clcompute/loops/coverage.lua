-- SPDX-License-Identifier: MIT

--- Tells whether a nest of loops needs what an array held before: whether it leaves an element unwritten, or reads one
-- before it has written it. Where it does neither, the array need not be copied to where the nest runs.
-- @module clcompute.loops.coverage

local polyhedral_text = require "clcompute.loops.polyhedral_text"

local coverage = {}

--- How many loops stand around a loop, or nil where it is not one of those around a statement.
local function depth_of(node, statement)
  for d, loop in ipairs(statement.loops) do
    if loop == node then return d - 1 end
  end
end

--- The reads and the certain writes of an array within a nest, with the loops around it as parameters.
local function rows(scop, node, array)
  local result = {}
  for _, statement in ipairs(scop.statements) do
    local outer = depth_of(node, statement)
    for _, access in ipairs(outer and statement.accesses or {}) do
      if access.variable == array and (access.must or not access.write) then
        result[#result + 1] = { map = polyhedral_text.access(scop, access, outer), write = access.write,
          schedule = polyhedral_text.schedule(scop, statement, outer) }
      end
    end
  end
  return result
end

--- The condition under which a nest needs an array's values.
-- @tparam table scop of `clcompute.loops.scop`
-- @tparam table node the outermost `for` of the nest
-- @tparam table array its variable
-- @tparam ?integer budget in isl's operations
-- @treturn string|boolean a Lua expression over parameters and the variables of the loops around; true or false where
-- it always or never does. Where the budget is exceeded, true
function coverage.needed(scop, node, array, budget)
  local poly = require "clcompute.poly"
  local accesses = rows(scop, node, array)
  if #accesses == 0 then return true end
  local text = poly.uncovered { context = polyhedral_text.context(scop), extent = polyhedral_text.extent(scop, array),
    accesses = accesses, budget = budget }
  return text == nil or text == "true" or text
end

return coverage
