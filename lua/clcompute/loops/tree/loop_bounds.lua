-- SPDX-License-Identifier: MIT

--- Bounds of loops: the sums that those of the source are, and those that passes make from them. They are small
-- integers, as those are, so that C's own arithmetic will do for them.

local affine = require "clcompute.loops.tree.affine"
local ast = require "clcompute.loops.tree.ast"

local bounds = {}

-- --- of the source -----------------------------------------------------------------------------

--- The affine forms whose greatest is the first value of a loop that goes up (of one that goes down: whose least).
-- Where a loop goes in steps there is just one, which its passes are counted from.
-- @tparam table loop a `for` node
-- @treturn ?{table,...} nil where data decide it
function bounds.firsts(loop)
  local name = loop.step > 0 and "max" or "min"
  return affine.forms(loop.from, math.abs(loop.step) == 1 and name or nil)
end

--- The affine forms whose least is the last value of a loop that goes up, `math.min(i + 31, n)` (of one that goes down:
-- whose greatest).
function bounds.lasts(loop)
  return affine.forms(loop.to, loop.step > 0 and "min" or "max")
end

--- Whether it is known before a loop, of a call's numbers and the loops around it, which passes it has.
function bounds.are_sums(loop)
  return not loop.pace and bounds.firsts(loop) ~= nil and bounds.lasts(loop) ~= nil
end

-- --- of passes ---------------------------------------------------------------------------------

--- The name of a variable, as a node.
function bounds.name(variable)
  return ast.node("name", { type = variable.type or "int", variable = variable })
end

--- A sum of a node and an integer.
function bounds.plus(node, value)
  if value == 0 then return node end
  return ast.node("binary", { op = value > 0 and "+" or "-", type = "int", left = node,
    right = ast.node("number", { type = "int", value = math.abs(value) }) }, node)
end

--- A node, less so many times what a variable is above its first value; both are nodes.
function bounds.leaning(node, times, variable, first)
  if times == 0 then return node end
  local function binary(op, left, right)
    return ast.node("binary", { op = op, type = "int", left = left, right = right })
  end
  return binary(times > 0 and "-" or "+", node, binary("*", binary("-", bounds.name(variable), first),
    ast.node("number", { value = math.abs(times), type = "int" })))
end

--- The `e` of `math.max(e, 0)`; other nodes as they are.
function bounds.without_zero(node)
  local is_zero = node.kind == "call" and node.name == "max" and #node.arguments == 2 and node.arguments[2].value == 0
  return is_zero and node.arguments[1] or node
end

--- What is added to a variable in an expression; nil for others. Locals of one value stand for it.
function bounds.offset(node, variable)
  if node.kind == "name" then
    if node.variable == variable then return 0 end
    local is_value = node.variable.role == "local" and not node.variable.assigned
    return is_value and bounds.offset(node.variable.definition, variable) or nil
  end
  local added = (node.op == "+" or node.op == "-") and node.right and node.right.value
  local before = math.type(added) == "integer" and bounds.offset(node.left, variable)
  return before and before + (node.op == "+" and added or -added) or nil
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
