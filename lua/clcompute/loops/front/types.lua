-- SPDX-License-Identifier: MIT

--- Gives expressions and variables their types for one call's kinds of arguments. A local's type is what all values
-- that it is given fit, and so is a table's: one that holds integers and is given a float is "float".
-- @module clcompute.loops.front.types

local expression_types = require "clcompute.loops.front.expression_types"
local mixture = require "clcompute.loops.front.mixture"

local types = {}

local join = expression_types.join

local TABLE_DTYPES = { int = "long", float = "double" }
local ARTICLE = { int = "an integer", float = "a float", bool = "a boolean" }

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
  local found = self:number(node, "an array")
  if found == "int" or expression_types.is_float(array.element) then return end
  if array.is_buffer then
    self:fail(node, "a float cannot be stored in '%s', a buffer of %s: use math.floor or '//'", array.name,
      array.element)
  end
  array.element, self.has_changed = "double", true
end

STATEMENTS["local"] = function(self, node) give(self, node.variable, node.value) end

function STATEMENTS.assign(self, node)
  if node.target.kind == "index" then
    self:any(node.target)
    store(self, node.target.array, node.value)
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

--- Gives types to a tree; one that has had others is resolved again before.
-- @tparam table tree of `clcompute.loops.front.resolve`, checked by `clcompute.loops.front.restrictions`
-- @tparam table kinds variable, of parameters and captures, to `{ kind="buffer", dtype=, rank= }`,
-- `{ kind="table", element="int"|"float", rank= }` or `{ kind="number", type="int"|"float" }`
-- @treturn table the tree; nodes and variables have `type`, arrays `element` (a dtype), `rank` and `is_buffer`
function types.infer(tree, kinds)
  local self = expression_types.new(tree.origin)
  take(self, tree.parameters, kinds)
  take(self, tree.captures, kinds)
  repeat -- a type only ever gets wider
    self.has_changed = false
    infer_block(self, tree.body)
  until not self.has_changed
  return tree
end

return types
