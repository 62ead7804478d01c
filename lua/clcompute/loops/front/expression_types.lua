-- SPDX-License-Identifier: MIT

--- The types of expressions, by Lua's rules: "int", "float" or "bool". An `and` that is either false or a number is
-- `is_partial`: its type is the number's, and only `or`, `not`, `and` and conditions take it. A float that may be an
-- integer in Lua is `is_mixed` (clcompute.loops.front.mixture).
-- @module clcompute.loops.front.expression_types

local failure = require "clcompute.loops.tree.failure"
local mathematics = require "clcompute.loops.tree.mathematics"
local mixture = require "clcompute.loops.front.mixture"

local FLOATS = { half = true, float = true, double = true }

local Types = {}
Types.__index = Types

function Types:fail(node, message, ...)
  failure.raise(self.origin, node, message:format(...))
end

--- The type that both fit; nil for a boolean and a number.
local function join(one, other)
  if not one or one == other then return other end
  if one == "bool" or other == "bool" then return nil end
  return "float"
end

local EXPRESSIONS = {}

--- The type of an expression; it and all in it keep theirs.
function Types:any(node)
  node.is_partial = nil
  node.type = EXPRESSIONS[node.kind](self, node)
  mixture.mark(node)
  return node.type
end

--- The same, of one that always has a value of its type.
function Types:value(node)
  local found = self:any(node)
  if node.is_partial then self:fail(node, "this is false or a number: 'or' and another number must follow") end
  return found
end

function Types:number(node, what)
  local found = self:value(node)
  if found == "bool" then self:fail(node, "%s takes numbers, this is a boolean", what) end
  return found
end

function Types:integer(node, what)
  local found = self:number(node, what)
  if found == "float" then self:fail(node, "%s takes integers, this is a float", what) end
  return found
end

function EXPRESSIONS.number(_, node)
  return math.type(node.value) == "integer" and "int" or "float"
end

function EXPRESSIONS.boolean() return "bool" end

function EXPRESSIONS.name(_, node) return node.variable.type end

function EXPRESSIONS.length(self, node)
  for _, subscript in ipairs(node.subscripts) do self:any(subscript) end
  return "int"
end

function EXPRESSIONS.index(self, node)
  for _, subscript in ipairs(node.subscripts) do self:integer(subscript, "a subscript") end
  return FLOATS[node.array.element] and "float" or "int"
end

function EXPRESSIONS.call(self, node)
  local result = mathematics.FUNCTIONS[node.name].result
  local joined
  for _, argument in ipairs(node.arguments) do joined = join(joined, self:number(argument, "math." .. node.name)) end
  return result == "join" and joined or result
end

function EXPRESSIONS.unary(self, node)
  if node.op == "not" then
    self:any(node.operand)
    return "bool"
  end
  return node.op == "~" and self:integer(node.operand, "'~'") or self:number(node.operand, "'-'")
end

local BINARY = {}

local function arithmetic(self, node)
  local what = "'" .. node.op .. "'"
  return join(self:number(node.left, what), self:number(node.right, what))
end

local function float_arithmetic(self, node)
  arithmetic(self, node)
  return "float"
end

local function bitwise(self, node)
  local what = "'" .. node.op .. "'"
  self:integer(node.left, what)
  return self:integer(node.right, what)
end

local function order(self, node)
  arithmetic(self, node)
  return "bool"
end

local function equality(self, node)
  if not join(self:value(node.left), self:value(node.right)) then
    self:fail(node, "a boolean is never equal to a number")
  end
  return "bool"
end

for operator in ("+ - * // %"):gmatch "%S+" do BINARY[operator] = arithmetic end
for operator in ("/ ^"):gmatch "%S+" do BINARY[operator] = float_arithmetic end
for operator in ("& | ~ << >>"):gmatch "%S+" do BINARY[operator] = bitwise end
for operator in ("< <= > >="):gmatch "%S+" do BINARY[operator] = order end
for operator in ("== ~="):gmatch "%S+" do BINARY[operator] = equality end

local function is_number(node)
  return node.type ~= "bool" and not node.is_partial
end

-- Numbers are true: what is left of `and` only matters if it can be false.
BINARY["and"] = function(self, node)
  local left, right = self:any(node.left), self:any(node.right)
  if is_number(node.left) then
    node.is_partial = node.right.is_partial
  elseif right ~= "bool" then
    node.is_partial = true
  elseif left ~= "bool" then
    return "bool" -- false or what is right
  end
  return right
end

BINARY["or"] = function(self, node)
  local left, right = self:any(node.left), self:any(node.right)
  if is_number(node.left) then return left end
  local joined = join(left, right)
  if not joined then self:fail(node, "this may be a boolean or a number") end
  node.is_partial = node.right.is_partial
  return joined
end

function EXPRESSIONS.binary(self, node)
  return BINARY[node.op](self, node)
end

local expression_types = { join = join }

--- Whether elements of a dtype are floats.
function expression_types.is_float(dtype)
  return FLOATS[dtype] or false
end

--- What finds the types of expressions: `any(node)`, `value(node)`, which must not be partial, `number(node, what)` and
-- `integer(node, what)`; they give nodes their `type` and return it.
-- @tparam table origin of the tree, for messages
-- @treturn table
function expression_types.new(origin)
  return setmetatable({ origin = origin }, Types)
end

return expression_types
