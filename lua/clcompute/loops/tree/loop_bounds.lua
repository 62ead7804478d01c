-- SPDX-License-Identifier: MIT

--- Bounds of loops that passes make from those of the source. They are small integers, as those are, so that C's own
-- arithmetic will do for them.

local ast = require "clcompute.loops.tree.ast"

local bounds = {}

--- The name of a variable, as a node.
function bounds.name(variable)
  return ast.node("name", { type = variable.type or "int", variable = variable })
end

--- A sum of a node and an integer.
function bounds.plus(node, value)
  if value == 0 then return node end
  return ast.node("binary", { op = value > 0 and "+" or "-", type = "int", left = node,
    right = ast.node("number", { type = "int", value = math.abs(value) }) })
end

--- A node that is known to be small.
function bounds.small(node)
  return ast.node("bound", { node = node, type = "int" })
end

--- Whether one bound is not beyond another one, in the direction of a loop.
function bounds.is_reached(left, right, step)
  return ast.node("binary", { op = step > 0 and "<=" or ">=", type = "bool", left = bounds.small(left),
    right = bounds.small(right) })
end

local function extreme(name, list)
  local arguments = {}
  for i, node in ipairs(list) do arguments[i] = bounds.small(node) end
  return #arguments == 1 and arguments[1] or ast.node("call", { name = name, type = "int", arguments = arguments })
end

--- Of values of a loop's variable the one that comes first.
function bounds.earliest(list, step)
  return extreme(step > 0 and "min" or "max", list)
end

--- Of values of a loop's variable the one that comes last.
function bounds.latest(list, step)
  return extreme(step > 0 and "max" or "min", list)
end

return bounds
