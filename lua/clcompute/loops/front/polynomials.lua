-- SPDX-License-Identifier: MIT

--- Sums of products of integers: `(i - 1) * n + j` is `i * n - n + j`. A polynomial is a list of terms `{ coefficient=,
-- unknowns=, key= }`. An unknown is `{ node=, key=, is_steady=, is_data= }`: a variable, a length, a quotient; it is
-- steady if it is the same in all of a call. What data decide is one, too, whatever it is.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local lua_text = require("clcompute.loops.tree").lua_text
local subscripts = require "clcompute.loops.front.subscripts"

local polynomials = {}

local LARGEST = 2 ^ 53 -- as of affine forms
local MOST_TERMS = 32

--- Adds a term; returns the sum, nil where a number gets too large, or the sum too long.
local function add(sum, coefficient, unknowns)
  local keys = {}
  for i, unknown in ipairs(unknowns) do keys[i] = unknown.key end
  local key, at = table.concat(keys, " * "), #sum + 1
  for i, term in ipairs(sum) do
    if term.key == key then at = i end
  end
  local before = sum[at] and sum[at].coefficient or 0
  if at > MOST_TERMS or math.abs(before + 1.0 * coefficient) > LARGEST then return nil end
  sum[at] = { coefficient = before + coefficient, unknowns = unknowns, key = key }
  if sum[at].coefficient == 0 then table.remove(sum, at) end
  return sum
end

--- The sum of a polynomial and a multiple of another one.
-- @treturn ?table nil where a number gets too large
function polynomials.plus(one, other, factor)
  local sum = table.move(one, 1, #one, 1, {})
  for _, term in ipairs(other) do
    if math.abs(1.0 * factor * term.coefficient) > LARGEST then return nil end
    if not add(sum, factor * term.coefficient, term.unknowns) then return nil end
  end
  return sum
end

--- A number as a polynomial.
function polynomials.constant(value)
  return add({}, value, {})
end

--- An unknown as a polynomial.
function polynomials.single(unknown)
  return add({}, 1, { unknown })
end

local function is_of_loop(term)
  return term.variable ~= nil and term.variable.loop ~= nil
end

local function is_open(term)
  return is_of_loop(term) and term.variable.loop.is_open
end

--- Whether data decide what an expression is.
function polynomials.is_data(node)
  local form = affine.of(node)
  return not form or affine.has_term(form, is_open)
end

local function unknown_of(node)
  local form, is_data = affine.of(node), polynomials.is_data(node)
  return polynomials.single { node = node, key = lua_text.expression(node), is_data = is_data,
    is_steady = not is_data and not affine.has_term(form, is_of_loop) }
end

--- Whether data decide a part of a polynomial.
function polynomials.has_data(polynomial)
  for _, term in ipairs(polynomial) do
    for _, unknown in ipairs(term.unknowns) do
      if unknown.is_data then return true end
    end
  end
  return false
end

local function is_steady(polynomial)
  for _, term in ipairs(polynomial) do
    for _, unknown in ipairs(term.unknowns) do
      if not unknown.is_steady then return false end
    end
  end
  return true
end

--- Unknowns of both, in one order.
local function joined(one, other)
  local list = table.move(other, 1, #other, #one + 1, table.move(one, 1, #one, 1, {}))
  table.sort(list, function(a, b) return a.key < b.key end)
  return list
end

local function product(one, other)
  local sum = {}
  for _, a in ipairs(one) do
    for _, b in ipairs(other) do
      if math.abs(1.0 * a.coefficient * b.coefficient) > LARGEST then return nil end
      if not add(sum, a.coefficient * b.coefficient, joined(a.unknowns, b.unknowns)) then return nil end
    end
  end
  return sum
end

-- --- of the tree ----------------------------------------------------------------------------

local KINDS = {}

local known = setmetatable({}, { __mode = "k" }) -- local to what its definition gave, or false

local function of_definition(variable)
  if known[variable] == nil then known[variable] = polynomials.of(variable.definition) or false end
  return known[variable] or nil
end

function KINDS.number(node)
  local is_small = math.type(node.value) == "integer" and math.abs(node.value * 1.0) <= LARGEST
  return is_small and polynomials.constant(node.value) or nil
end

--- A local that is a sum of numbers of the call, `local w = width + 2`, stays one: it may be the length of a row. So
-- does one of data, which may be others by then.
function KINDS.name(node)
  local variable = node.variable
  if variable.role ~= "local" or variable.assigned then return unknown_of(node) end
  local value = of_definition(variable)
  if not value or polynomials.has_data(value) or is_steady(value) and #value > 1 then return unknown_of(node) end
  return value
end

function KINDS.unary(node)
  if node.op ~= "-" then return unknown_of(node) end
  local operand = polynomials.of(node.operand)
  return operand and polynomials.plus({}, operand, -1)
end

local function with_sign(sign)
  return function(left, right) return polynomials.plus(left, right, sign) end
end

--- A factor that is a sum of numbers of the call, `(i - 1) * (w + 2)`, is one number, too.
local function factor_of(node, own, other)
  return is_steady(own) and #own > 1 and not is_steady(other) and unknown_of(node) or own
end

local OPERATIONS = { ["+"] = with_sign(1), ["-"] = with_sign(-1),
  ["*"] = function(left, right, node)
    return product(factor_of(node.left, left, right), factor_of(node.right, right, left))
  end }

function KINDS.binary(node)
  local operation = OPERATIONS[node.op]
  if not operation then return unknown_of(node) end
  local left = polynomials.of(node.left)
  local right = left and polynomials.of(node.right)
  return right and operation(left, right, node)
end

--- The polynomial of a resolved expression.
-- @tparam table node
-- @treturn ?table nil where its numbers are too large, or it is too long
function polynomials.of(node)
  return (KINDS[node.kind] or unknown_of)(node)
end

-- --- parts ----------------------------------------------------------------------------------

--- The first term that is a product of unknowns, or nil.
function polynomials.product_in(polynomial)
  for _, term in ipairs(polynomial) do
    if #term.unknowns > 1 then return term end
  end
end

--- Unknowns without one that is among them, or nil where it is not.
local function without(unknowns, divisor)
  for i, unknown in ipairs(unknowns) do
    if unknown.key == divisor.key then
      local rest = table.move(unknowns, 1, #unknowns, 1, {})
      table.remove(rest, i)
      return rest
    end
  end
end

--- The multiple of an unknown in a polynomial, and what is left.
function polynomials.divided(polynomial, divisor)
  local quotient, rest = {}, {}
  for _, term in ipairs(polynomial) do
    local others = without(term.unknowns, divisor)
    add(others and quotient or rest, term.coefficient, others or term.unknowns)
  end
  return quotient, rest
end

--- A polynomial without products as an expression.
-- @tparam table polynomial
-- @tparam table at a node whose place it has
-- @treturn table
function polynomials.node(polynomial, at)
  local terms, constant = {}, 0
  for _, term in ipairs(polynomial) do
    local unknown = term.unknowns[1]
    if unknown then
      local node = unknown.is_data and unknown.node or ast.apart(unknown.node, {}) -- elements are noted once
      terms[#terms + 1] = { coefficient = term.coefficient, node = node }
    else
      constant = term.coefficient
    end
  end
  return subscripts.sum(terms, constant, at)
end

return polynomials
