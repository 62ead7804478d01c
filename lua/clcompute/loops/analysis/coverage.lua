-- SPDX-License-Identifier: MIT

--- Tells whether a nest of loops needs what an array held before: whether it leaves an element unwritten, or reads one
-- before it has written it. Where it does neither, the array need not be copied to where the nest runs.
-- @module clcompute.loops.analysis.coverage

local polyhedral_text = require "clcompute.loops.analysis.polyhedral_text"

local coverage = {}

local BUDGET = 300000 -- a copy too many is no fault, and there are many arrays and nests to ask for

--- Calls f with each access to an array within a nest, and the loops around the nest.
local function each_access(scop, node, array, f)
  for _, statement in ipairs(scop.statements) do
    local outer = polyhedral_text.outer(statement, node)
    for _, access in ipairs(outer and statement.accesses or {}) do
      if access.variable == array then f(access, table.move(statement.loops, 1, outer, 1, {})) end
    end
  end
end

--- Whether a nest has writes to an array of which data decide if they happen: those cover nothing.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table node the outermost `for` of the nest
-- @tparam table array its variable
-- @treturn boolean
function coverage.is_undecided(scop, node, array)
  local found = false
  each_access(scop, node, array, function(access)
    if access.write and not access.must then found = true end
  end)
  return found
end

--- The condition under which a nest needs an array's values.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table node the outermost `for` of the nest
-- @tparam table array its variable
-- @tparam ?integer budget in isl's operations
-- @treturn string|boolean a Lua expression over parameters and the variables of the loops around, for when the nest
-- runs; true or false where it always or never does. Where the budget is exceeded, true
function coverage.needed(scop, node, array, budget)
  local poly = require "clcompute.poly"
  local extent, rows, is_written, around = polyhedral_text.extent(scop, array), {}, false, nil
  local texts = { extent }
  each_access(scop, node, array, function(access, loops)
    if access.write and not access.must then return end
    local map = polyhedral_text.access(scop, access, #loops)
    rows[#rows + 1] = { map = map, write = access.write,
      schedule = polyhedral_text.schedule(scop, access.statement, #loops) }
    texts[#texts + 1] = map
    is_written, around = is_written or access.write, loops
  end)
  if not is_written then return true end
  local text = poly.uncovered { context = polyhedral_text.context(scop, table.concat(texts, " "), around),
    extent = extent, accesses = rows, budget = budget or BUDGET }
  return text == nil or text == "true" or text
end

return coverage
