-- SPDX-License-Identifier: MIT

--- Gives expressions and variables their types for one call's kinds of arguments. A local's type is what all values
-- that it is given fit, and so is a table's: one that holds integers and is given a float is "float".
--
-- Types are "int", "float" and "bool", by Lua's rules. An `and` that is either false or a number is `is_partial`: its
-- type is the number's, and only `or`, `not`, `and` and conditions take it. A float that may be an integer in Lua is
-- `is_mixed` (`clcompute.loops.front.mixtures`).

local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local failure = require("clcompute.loops.tree").failure
local mixtures = require "clcompute.loops.front.mixtures"
local walk = require("clcompute.loops.tree").walk

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
  mixtures.mark(self, node)
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

--- Refuses a float; of a local that also gets integers, with where it gets floats.
local function refuse_float(self, node, what)
  local variable = node.kind == "name" and node.variable
  local at = variable and variable.role == "local" and variable.assigned and variable.float_at
  if at then
    self:fail(node, "%s takes integers, and '%s' is a float, which it is given in line %d: give it integers alone, or "
      .. "write math.floor(%s)", what, variable.name, at.line, variable.name)
  end
  self:fail(node, "%s takes integers, this is a float: math.floor makes one of it", what)
end

function Types:integer(node, what)
  local found = self:number(node, what)
  if found == "float" then refuse_float(self, node, what) end
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
    self:integer(subscript, "a subscript")
  end
  return FLOATS[node.array.element] and "float" or "int"
end

function EXPRESSIONS.call(self, node)
  local result = denotations.FUNCTIONS[node.name].result
  local joined
  for _, argument in ipairs(node.arguments) do joined = join(joined, self:number(argument, "math." .. node.name)) end
  return result == "join" and joined or result
end

--- An operand of an operator on integers: Lua makes one of a float, `x | 0`, or raises an error.
local function whole(self, node, side)
  local what = "'" .. node.op .. "'"
  if self:number(node[side], what) == "int" then return end
  if node[side].kind == "number" then refuse_float(self, node[side], what) end
  node[side] = ast.node("call", { name = "tointeger", arguments = { node[side] }, is_operand = true }, node[side])
  self:number(node[side])
end

function EXPRESSIONS.unary(self, node)
  if node.op == "not" then
    self:any(node.operand)
    return "bool"
  end
  if node.op == "-" then return self:number(node.operand, "'-'") end
  whole(self, node, "operand")
  return "int"
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
  whole(self, node, "left")
  whole(self, node, "right")
  return "int"
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
  if joined ~= variable.type then self.is_wider = true end
  if found == "float" then variable.float_at = variable.float_at or node end
  variable.type = joined
  mixtures.give(self, variable, node)
end

--- Makes a table's elements wide enough; a buffer's stay what they are.
local function store(self, array, node)
  local found = self:number(node, array.is_result and "what a function returns" or "an array")
  if found == "int" or is_float(array.element) then return end
  if array.is_buffer then
    self:fail(node, "a float cannot be stored in '%s', a buffer of %s: use math.floor or '//'", array.name,
      array.element)
  end
  array.element, self.is_wider = "double", true
end

--- What a function returns that is an integer where data say so. Where nothing is stored that a call is given, one that
-- returns such a number may ask Lua which it is (`doubt`).
local function mark_result(self, array, value)
  local integers = is_float(array.element) and self.integers[value]
  if not integers then return end
  local is_finite = mixtures.is_finite(integers)
  if not self.is_pure or not is_finite then value.is_ambiguous, value.addend = true, nil end
  if self.is_pure or is_finite then array.doubt = mixtures.joined(array.doubt, integers) end
  self.is_mixed = true
end

STATEMENTS["local"] = function(self, node)
  node.variable.is_mixed = nil
  if not node.is_blank or not node.variable.assigned then return give(self, node.variable, node.value) end
  self:any(node.value)
end

STATEMENTS["break"] = mixtures.leave

function STATEMENTS.assign(self, node)
  if node.target.kind == "index" then
    self:any(node.target)
    store(self, node.target.array, node.value)
    if is_float(node.target.array.element) then mixtures.store(self, node.target.array, node.value) end
    if node.target.array.is_result then mark_result(self, node.target.array, node.value) end
    self:any(node.target)
  else
    give(self, node.target.variable, node.value)
    node.is_float = node.value.type == "float" and not node.value.is_mixed
    self:any(node.target)
  end
end

STATEMENTS["if"] = function(self, node)
  local bodies = { node.otherwise or false }
  for i, arm in ipairs(node.arms) do
    self:any(arm.condition)
    bodies[i + 1] = arm.body
  end
  mixtures.choose(self, bodies, infer_block)
end

STATEMENTS["for"] = function(self, node)
  node.variable.type = "int"
  self:integer(node.from, "the first value of a loop")
  self:integer(node.to, "the last value of a loop")
  if node.pace then self:integer(node.pace, "the step of a loop") end
  mixtures.pass(self, node, infer_block)
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
  variable.type, self.given[variable] = kind.type, mixtures.of_argument(kind)
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

--- Whether a function stores nothing but in what it returns.
local function is_pure(tree)
  return not walk.find(tree.body, function(node)
    local array = node.kind == "assign" and node.target.kind == "index" and node.target.array
    return array and not array.is_result and not array.is_made
  end)
end

--- Goes through a tree until nothing of one sort changes.
local function infer_all(self, tree, what)
  for _, result in ipairs(tree.results) do result.doubt = nil end
  self.before, self.stored, self.round = {}, {}, 0
  repeat
    self[what], self.is_mixed, self.round = false, false, self.round + 1
    self.integers, self.now, self.exits = {}, {}, {}
    infer_block(self, tree.body)
  until not self[what]
end

--- Where integers make a difference, those that are stored in a table of floats that is read have to stay integers: Lua
-- stores them.
local function keep_integers(self, tree)
  local is_target, is_read = {}, {}
  if not walk.find(tree.body, function(node) return node.is_ambiguous end) then return end
  walk.nodes(tree.body, function(node)
    if node.kind == "assign" then is_target[node.target] = true end
    if node.kind == "index" and not is_target[node] and self.stored[node.array] then is_read[node.array] = true end
  end)
  walk.nodes(tree.body, function(node)
    if node.kind == "assign" and is_read[node.target.array] and self.integers[node.value] then
      node.value.is_ambiguous = true
    end
  end)
end

--- Whether what a statement gives a value holds floats.
local function takes_floats(node)
  local variable = node.variable or node.target.variable
  if variable then return variable.type == "float" end
  return is_float(node.target.array.element)
end

--- Makes integers as written floats where they are given to floats, and all mixtures where none makes a difference. Lua
-- runs what is written all the same.
-- @tparam table tree
function types.settle(tree)
  local is_clear = not walk.find(tree.body, function(node) return node.is_ambiguous end)
  walk.nodes(tree.body, function(node)
    if is_clear and node.is_mixed then node.is_mixed = nil end
    if node.kind ~= "local" and node.kind ~= "assign" then return end
    if node.value.kind == "number" and takes_floats(node) then node.value.type = "float" end
    if is_clear and node.variable then node.variable.is_mixed = nil end
  end)
  return tree
end

--- Gives types to a tree; one that has had others is resolved again before.
-- @tparam table tree of `clcompute.loops.front.resolve`, checked by `clcompute.loops.front.restrictions`
-- @tparam table kinds variable, of parameters and captures, to `{ kind="buffer", dtype=, rank= }`,
-- `{ kind="table", element="int"|"float", rank= }` or `{ kind="number", type="int"|"float", is_large= }`
-- @treturn table the tree; nodes and variables have `type`, arrays `element` (a dtype), `rank` and `is_buffer`
function types.infer(tree, kinds)
  local self = setmetatable({ origin = tree.origin, given = {}, is_pure = is_pure(tree) }, Types)
  take(self, tree.parameters, kinds)
  take(self, tree.captures, kinds)
  for _, array in ipairs(tree.scratch or {}) do array.element = TABLE_DTYPES.int end
  infer_all(self, tree, "is_wider") -- types only get wider
  if self.is_mixed then infer_all(self, tree, "has_changed") end -- integers of these types
  keep_integers(self, tree)
  types.settle(tree)
  return tree
end

return types
