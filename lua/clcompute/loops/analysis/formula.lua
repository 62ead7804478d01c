-- SPDX-License-Identifier: MIT

--- Conditions as formulas of isl. What is not affine, and so depends on data, is approximated: from above by a
-- necessary condition, from below by a sufficient one.
-- @module clcompute.loops.analysis.formula

local affine = require "clcompute.loops.tree.affine"
local affine_text = require "clcompute.loops.analysis.affine_text"

local formula = {}

local COMPARISONS = { ["=="] = "=", ["~="] = "!=", ["<"] = "<", ["<="] = "<=", [">"] = ">", [">="] = ">=" }

--- One side of a comparison, or nil where it is not affine, or not in Lua's integers, which wrap round.
local function side(node)
  local form = node.type == "int" and affine.of(node)
  return form and not affine.may_wrap(form) and affine_text.of_form(form) or nil
end

--- `left op right`, or nil where that is no affine comparison.
local function comparison(node)
  local op = node.kind == "binary" and COMPARISONS[node.op]
  local left = op and side(node.left)
  local right = left and side(node.right)
  return right and ("%s %s %s"):format(left, op, right)
end

--- What stands for a leaf that is not affine is "true" from above, "false" from below; `not` exchanges them.
local function approximate(node, unknown, opposite)
  if node.kind == "boolean" then return tostring(node.value) end
  if node.kind == "unary" and node.op == "not" then
    return ("not (%s)"):format(approximate(node.operand, opposite, unknown))
  end
  if node.op == "and" or node.op == "or" then
    return ("(%s) %s (%s)"):format(approximate(node.left, unknown, opposite), node.op,
      approximate(node.right, unknown, opposite))
  end
  return comparison(node) or unknown
end

--- A formula that holds whenever the condition does.
function formula.necessary(node)
  return approximate(node, "true", "false")
end

--- A formula under which the condition holds for certain.
function formula.sufficient(node)
  return approximate(node, "false", "true")
end

--- A formula that holds whenever the condition does not.
function formula.necessary_not(node)
  return ("not (%s)"):format(formula.sufficient(node))
end

--- Whether the formulas say exactly what the condition does.
function formula.is_exact(node)
  if node.kind == "boolean" then return true end
  if node.kind == "unary" and node.op == "not" then return formula.is_exact(node.operand) end
  if node.op == "and" or node.op == "or" then return formula.is_exact(node.left) and formula.is_exact(node.right) end
  return comparison(node) ~= nil
end

--- The values that a loop's variable takes.
-- @tparam table loop a `for` node
-- @treturn string
function formula.range(loop)
  local from, to, variable = affine_text.of(loop.from), affine_text.of(loop.to), loop.variable.id
  local stride = math.abs(loop.step)
  local first, last = from, to
  if loop.step < 0 then first, last = to, from end
  local range = ("%s <= %s <= %s"):format(first, variable, last)
  if stride == 1 then return range end
  return ("%s and (%s - (%s)) mod %d = 0"):format(range, variable, from, stride)
end

return formula
