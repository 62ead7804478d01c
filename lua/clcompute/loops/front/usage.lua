-- SPDX-License-Identifier: MIT

--- One variable is one thing: an array with the same number of subscripts everywhere, or a number; and only locals
-- are assigned.
-- @module clcompute.loops.front.usage

local failure = require "clcompute.loops.tree.failure"

local usage = {}

local function subscripts(count)
  return count == 1 and "1 subscript" or count .. " subscripts"
end

local function mark_array(origin, variable, node)
  local name = variable.name
  if variable.role == "loop" then
    failure.raise(origin, node, ("'%s' is a loop variable, not an array"):format(name))
  elseif variable.role == "local" then
    failure.raise(origin, node, ("'%s' is a local, not an array: index the parameter itself"):format(name))
  elseif variable.number then
    failure.raise(origin, node, ("'%s' is used as an array here, but as a number in line %d")
      :format(name, variable.number.line))
  end
  variable.role = "array"
  variable.use = variable.use or node
end

local function check_dimension(origin, variable, node)
  local longest = variable.longest
  if variable.rank and longest and longest.dimension > variable.rank then
    failure.raise(origin, node, ("'%s' has %s, but a length of dimension %d is taken in line %d"):format(variable.name,
      subscripts(variable.rank), longest.dimension, longest.line))
  end
end

--- Notes that a variable is indexed with so many subscripts.
function usage.index(origin, variable, node, count)
  mark_array(origin, variable, node)
  if variable.rank and variable.rank ~= count then
    failure.raise(origin, node, ("'%s' has %s here, but %s in line %d"):format(variable.name, subscripts(count),
      subscripts(variable.rank), variable.indexed.line))
  end
  variable.rank, variable.indexed = count, variable.indexed or node
  check_dimension(origin, variable, node)
end

--- Notes that the length of a dimension is taken.
function usage.length(origin, variable, node, dimension)
  mark_array(origin, variable, node)
  if not variable.longest or variable.longest.dimension < dimension then
    variable.longest = { dimension = dimension, line = node.line }
  end
  check_dimension(origin, variable, node)
end

--- Notes that a variable is read as a number.
function usage.number(origin, variable, node)
  if variable.role == "array" then
    failure.raise(origin, node, ("'%s' is used as a number here, but as an array in line %d")
      :format(variable.name, variable.use.line))
  end
  variable.number = variable.number or node
end

local KEPT = { parameter = "a parameter", capture = "an upvalue", loop = "a loop variable", array = "an array" }

--- Notes an assignment to a variable.
function usage.assign(origin, variable, node)
  local kept = KEPT[variable.role]
  if kept then
    failure.raise(origin, node, ("'%s' is %s and cannot be assigned: use a local"):format(variable.name, kept))
  end
  variable.assigned = variable.assigned or node
end

return usage
