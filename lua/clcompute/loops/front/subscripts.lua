-- SPDX-License-Identifier: MIT

--- Writes subscripts and bounds as the sums that they are: `j - j + k` as `k`, `2 * (i + 1) - 3` as `2 * i - 1`. So an
-- expression names just the variables that it depends on, which passes ask of it in either way, and numbers in it are
-- no larger than its value needs.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local walk = require("clcompute.loops.tree").walk

local subscripts = {}

local function number(value, at)
  return ast.node("number", { type = "int", value = value }, at)
end

local function binary(op, left, right, at)
  return ast.node("binary", { op = op, type = "int", left = left, right = right }, at)
end

--- The node of a term's unknown: as it stands in the expression.
local function unknown_in(node, term)
  return walk.find({ node }, function(part)
    if part.kind == "name" then return part.variable == term.variable end
    return part.kind == "length" and part.array == term.array and part.dimension == term.dimension
  end)
end

--- A positive multiple.
local function multiple(coefficient, unknown, at)
  return coefficient == 1 and unknown or binary("*", number(coefficient, at), unknown, at)
end

--- A sum as an expression: what is added comes first, a number last.
-- @tparam {table,...} terms `{ coefficient=, node= }`
-- @tparam integer rest the number
-- @tparam table at a node whose place it has
-- @treturn table
function subscripts.sum(terms, rest, at)
  local sum
  local function add_all(sign, op)
    for _, term in ipairs(terms) do
      if term.coefficient * sign > 0 then
        local value = multiple(term.coefficient * sign, term.node, at)
        sum = sum and binary(op, sum, value, at) or value
      end
    end
  end
  add_all(1, "+")
  if not sum then sum, rest = number(rest, at), 0 end
  add_all(-1, "-")
  if rest == 0 then return sum end
  return binary(rest > 0 and "+" or "-", sum, number(math.abs(rest), at), at)
end

--- The sum of a form.
local function sum_of(node, form)
  local terms = {}
  for i, term in ipairs(form.terms) do
    terms[i] = { coefficient = term.coefficient, node = unknown_in(node, term) }
  end
  return subscripts.sum(terms, form.constant, node)
end

local function is_quotient(term) return term.quotient ~= nil end

local function is_local(part) return part.kind == "name" and part.variable.role == "local" end

--- The sum for a node; nil where it is one already, or speaks of locals or quotients, which stay as they are.
local function sum_for(node)
  if node.kind ~= "binary" and node.kind ~= "unary" then return nil end
  local form = affine.of(node)
  if not form or affine.has_term(form, is_quotient) or walk.find({ node }, is_local) then return nil end
  return sum_of(node, form)
end

--- Rewrites the subscripts and bounds of a tree.
-- @tparam table tree of `clcompute.loops.front.types`
function subscripts.simplify(tree)
  walk.nodes(tree.body, function(node)
    if node.kind == "for" then
      node.from, node.to = walk.replaced(node.from, sum_for), walk.replaced(node.to, sum_for)
    elseif node.kind == "index" then
      for i, subscript in ipairs(node.subscripts) do node.subscripts[i] = walk.replaced(subscript, sum_for) end
    end
  end)
end

return subscripts
