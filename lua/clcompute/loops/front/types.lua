-- SPDX-License-Identifier: MIT

--- Gives expressions and variables their types for one call's kinds of arguments. A local's type is what all values
-- that it is given fit, and so is a table's: one that holds integers and is given a float is "float".
--
-- Types are "int", "float" and "bool", by Lua's rules. An `and` that is either false or a number is `is_partial`: its
-- type is the number's, and only `or`, `not`, `and` and conditions take it. A float that may be an integer in Lua is
-- `is_mixed` (below).

local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local failure = require("clcompute.loops.tree").failure
local walk = require("clcompute.loops.tree").walk

-- --- mixtures --------------------------------------------------------------------------

-- Floats that may be integers in Lua, because data decide: `math.max(0, x)`, `x > 0 and x or 0`, a local that is given
-- both. A kernel computes them as floats. That is the same as long as the integers are small and meet floats; it is not
-- where the sign of a zero, a division by zero or 64 bits make a difference: such a node `is_ambiguous`.
local mixture = {}

local LARGEST = 1 << 53 -- of integers that are floats too
local NARROW = { char = true, uchar = true, short = true, ushort = true, int = true, uint = true }

--- The operands of a node whose values it may have itself.
local function alternatives(node)
  if node.kind == "call" and (node.name == "max" or node.name == "min") then return node.arguments end
  if node.op == "or" then return { node.left, node.right } end
  if node.op == "and" then return { node.right } end
  return {}
end

local is_small

--- Whether a local is given one value, which is small.
local function holds_small(variable)
  if variable.assigned or not variable.definition then return false end
  if variable.holds_small == nil then variable.holds_small = is_small(variable.definition) end
  return variable.holds_small
end

local SMALL = {
  number = function(node) return math.abs(node.value) <= LARGEST and node.value ~= math.mininteger end,
  name = function(node)
    local variable = node.variable
    return variable.role == "loop" or variable.is_index or holds_small(variable)
  end,
  length = function() return true end,
  index = function(node) return NARROW[node.array.element] end,
}

--- Whether an integer is surely not beyond what floats hold, but for sums that nobody writes.
function is_small(node)
  if SMALL[node.kind] then return SMALL[node.kind](node) or false end
  if node.kind == "unary" then return node.op == "-" and is_small(node.operand) end
  return (node.op == "+" or node.op == "-") and is_small(node.left) and is_small(node.right)
end

local function is_positive_literal(node)
  return node.type == "int" and node.kind == "number" and node.value > 0 and is_small(node)
end

--- Whether an operand is a float in Lua too.
local function is_lua_float(node)
  return node.type == "float" and not node.is_mixed
end

local function is_either(node)
  return node.is_mixed or node.type == "int"
end

local ZERO_MATTERS = { ["*"] = true, ["//"] = true, ["%"] = true, fmod = true }
local TAKES_LITERAL = { ["*"] = true, ["//"] = true }
local KEEPS_MIXTURE = { ["+"] = true, ["-"] = true, ["*"] = true, ["//"] = true, ["%"] = true, abs = true, fmod = true }

--- Notes what an operator on two operands, of which one is mixed, makes of it.
local function mark_pair(node, operator, left, right)
  if not KEEPS_MIXTURE[operator] or not (left.is_mixed or right.is_mixed) then return end
  if is_lua_float(left) or is_lua_float(right) then return end
  node.is_mixed = true
  local other = left.is_mixed and right or left
  local is_harmless = is_positive_literal(right) or operator == "*" and is_positive_literal(left)
  if ZERO_MATTERS[operator] and not (TAKES_LITERAL[operator] and is_harmless) then node.is_ambiguous = true end
  if not other.is_mixed and not is_small(other) then node.is_ambiguous = true end
end

--- Notes whether a node of type float is one of several values, some of them integers.
local function mark_alternatives(node)
  local has_integer, has_large = false, false
  for _, operand in ipairs(alternatives(node)) do
    if is_either(operand) then has_integer = true end
    if operand.type == "int" and not is_small(operand) then has_large = true end
  end
  node.is_mixed = has_integer
  node.is_ambiguous = has_integer and has_large
end

--- Marks a node whose operands are marked and have their types: `is_mixed`, `is_ambiguous`.
function mixture.mark(node)
  node.is_mixed, node.is_ambiguous = nil, nil
  if node.type ~= "float" then return end
  if node.kind == "name" then
    node.is_mixed = node.variable.is_mixed
  elseif node.kind == "unary" then
    node.is_mixed, node.is_ambiguous = node.operand.is_mixed, node.operand.is_mixed
  elseif node.kind == "call" and (node.name == "abs" or node.name == "fmod") then
    local first, second = node.arguments[1], node.arguments[2]
    if second then mark_pair(node, "fmod", first, second) else node.is_mixed = first.is_mixed end
  elseif node.kind == "binary" and node.op ~= "and" and node.op ~= "or" then
    mark_pair(node, node.op, node.left, node.right)
  else
    mark_alternatives(node)
  end
end

--- Whether a variable of a type is mixed when it is given a value too; one beyond what floats hold is ambiguous.
function mixture.is_met(type, node)
  if type == "float" and node.type == "int" and not is_small(node) then node.is_ambiguous = true end
  return node.is_mixed or (type == "float") ~= (node.type == "float") and type ~= "bool"
end

-- --- types -----------------------------------------------------------------------------

local types = {}

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
  for _, subscript in ipairs(node.subscripts) do
    if self:number(subscript, "a subscript") == "float" then
      self:fail(subscript, "a subscript takes integers, this is a float: math.floor makes one of it")
    end
  end
  return FLOATS[node.array.element] and "float" or "int"
end

function EXPRESSIONS.call(self, node)
  local result = denotations.FUNCTIONS[node.name].result
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

-- Numbers are true: what is left of `and` only matters if it can be false.
BINARY["and"] = function(self, node)
  local left, right = self:any(node.left), self:any(node.right)
  if ast.is_number(node.left) then
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
  if ast.is_number(node.left) then return left end
  local joined = join(left, right)
  if not joined then self:fail(node, "this may be a boolean or a number") end
  node.is_partial = node.right.is_partial
  return joined
end

function EXPRESSIONS.binary(self, node)
  return BINARY[node.op](self, node)
end

--- Whether elements of a dtype are floats.
local function is_float(dtype)
  return FLOATS[dtype] or false
end

local TABLE_DTYPES = { int = "long", float = "double" }
local ARTICLE = { int = "an integer", float = "a float", bool = "a boolean" }

-- --- statements ----------------------------------------------------------------------------

local STATEMENTS = {}

local function infer_block(self, statements)
  for _, statement in ipairs(statements) do STATEMENTS[statement.kind](self, statement) end
end

--- Makes a variable's type wide enough for a value. The local of an argument has that argument's, whatever it was
-- before a table became one of floats, as if it stood in place.
local function give(self, variable, node)
  local found, before = self:value(node), nil
  if not variable.is_argument then before = variable.type end
  local joined = join(before, found)
  if not joined then
    self:fail(node, "'%s' is %s, and this is %s", variable.name, ARTICLE[variable.type], ARTICLE[found])
  end
  local is_mixed = mixture.is_met(before or joined, node) or variable.is_mixed
  if joined ~= variable.type or is_mixed ~= variable.is_mixed then self.has_changed = true end
  variable.type, variable.is_mixed = joined, is_mixed
end

--- Makes a table's elements wide enough; a buffer's stay what they are.
local function store(self, array, node)
  local found = self:number(node, array.is_result and "what a function returns" or "an array")
  if found == "int" or is_float(array.element) then return end
  if array.is_buffer then
    self:fail(node, "a float cannot be stored in '%s', a buffer of %s: use math.floor or '//'", array.name,
      array.element)
  end
  array.element, self.has_changed = "double", true
end

--- The integer that a local begins with which gets floats then, `local s = 0`; nil for others.
local function beginning_of(self, node)
  local values = node.kind == "name" and self.values[node.variable]
  local first = values and node.variable.definition
  if not first or first.kind ~= "number" or math.type(first.value) ~= "integer" then return nil end
  for _, value in ipairs(values) do
    if value.type ~= "float" or value.is_mixed then return nil end
  end
  return first.value
end

--- What a function returns that is an integer where data say so. Where it is what a local begins with, and nothing else
-- is stored, a call that returns just that number may ask Lua which it is (`doubt`).
local function mark_result(self, array, value)
  if not value.is_mixed then return end
  array.doubt = self.is_pure and beginning_of(self, value) or nil
  value.is_ambiguous = array.doubt == nil or nil
end

STATEMENTS["local"] = function(self, node)
  if not node.is_blank or not node.variable.assigned then return give(self, node.variable, node.value) end
  self:any(node.value)
end

STATEMENTS["break"] = function() end

function STATEMENTS.assign(self, node)
  if node.target.kind == "index" then
    self:any(node.target)
    store(self, node.target.array, node.value)
    if node.target.array.is_result then mark_result(self, node.target.array, node.value) end
    self:any(node.target)
  else
    give(self, node.target.variable, node.value)
    self:any(node.target)
  end
end

STATEMENTS["if"] = function(self, node)
  for _, arm in ipairs(node.arms) do
    self:any(arm.condition)
    infer_block(self, arm.body)
  end
  if node.otherwise then infer_block(self, node.otherwise) end
end

STATEMENTS["for"] = function(self, node)
  node.variable.type = "int"
  self:integer(node.from, "the first value of a loop")
  self:integer(node.to, "the last value of a loop")
  if node.pace then self:integer(node.pace, "the step of a loop") end
  infer_block(self, node.body)
end

-- --- kinds --------------------------------------------------------------------

local function plural(count, noun)
  return ("%d %s%s"):format(count, noun, count == 1 and "" or "s")
end

local function take_array(self, variable, kind)
  local use, longest = variable.use, variable.longest
  if kind.kind == "number" then
    self:fail(use, "'%s' is an array here, but a number was given", variable.name)
  elseif variable.rank and variable.rank ~= kind.rank then
    self:fail(use, "'%s' has %s here, but %s", variable.name, plural(variable.rank, "subscript"),
      plural(kind.rank, "dimension"))
  elseif longest and longest.dimension > kind.rank then
    self:fail(use, "'%s' has only %s", variable.name, plural(kind.rank, "dimension"))
  end
  variable.rank, variable.is_buffer = kind.rank, kind.kind == "buffer"
  variable.element = kind.dtype or TABLE_DTYPES[kind.element]
end

local function take_number(self, variable, kind)
  if kind.kind ~= "number" then
    self:fail(variable.number or variable.node, "'%s' is a number here, but an array was given", variable.name)
  elseif variable.is_index and kind.type ~= "int" then
    self:fail(variable.number, "'%s' is used in a bound or a subscript and must be an integer", variable.name)
  end
  variable.type = kind.type
end

--- What the arguments are. A parameter that the function does not use may be anything.
local function take(self, variables, kinds)
  for _, variable in ipairs(variables) do
    local kind = kinds[variable]
    if variable.role == "array" then
      take_array(self, variable, kind)
    elseif variable.number then
      take_number(self, variable, kind)
    end
  end
end

--- The values that locals are assigned, by variable, and whether nothing but results is stored.
local function assignments(tree)
  local values, is_pure = {}, true
  walk.nodes(tree.body, function(node)
    local target = node.kind == "assign" and node.target
    if not target then return end
    if target.kind == "index" then
      is_pure = is_pure and target.array.is_result == true
    else
      values[target.variable] = values[target.variable] or {}
      table.insert(values[target.variable], node.value)
    end
  end)
  return values, is_pure
end

--- Gives types to a tree; one that has had others is resolved again before.
-- @tparam table tree of `clcompute.loops.front.resolve`, checked by `clcompute.loops.front.restrictions`
-- @tparam table kinds variable, of parameters and captures, to `{ kind="buffer", dtype=, rank= }`,
-- `{ kind="table", element="int"|"float", rank= }` or `{ kind="number", type="int"|"float" }`
-- @treturn table the tree; nodes and variables have `type`, arrays `element` (a dtype), `rank` and `is_buffer`
function types.infer(tree, kinds)
  local self = setmetatable({ origin = tree.origin }, Types)
  self.values, self.is_pure = assignments(tree)
  take(self, tree.parameters, kinds)
  take(self, tree.captures, kinds)
  for _, array in ipairs(tree.scratch or {}) do array.element = TABLE_DTYPES.int end
  repeat -- a type only ever gets wider
    self.has_changed = false
    infer_block(self, tree.body)
  until not self.has_changed
  return tree
end

return types
