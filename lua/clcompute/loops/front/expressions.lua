-- SPDX-License-Identifier: MIT

--- Expressions, with variables in place of names. Of `and`, `or`, `not` and comparisons with nil this says what they
-- come to where an element, what a call leaves out, or `math.tointeger` may be nil (`presence`, `missing`, `integral`):
-- there is no nil in a kernel.

local calling = require "clcompute.loops.front.calling"
local indexing = require "clcompute.loops.front.indexing"
local integral = require "clcompute.loops.front.integral"
local missing = require "clcompute.loops.front.missing"
local presence = require "clcompute.loops.front.presence"
local restrictions = require "clcompute.loops.front.restrictions"

local expressions = {}

local KINDS = { call = calling.one, index = indexing.element, length = indexing.length } -- others follow

--- The resolved expression of a parsed one.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @treturn table
function expressions.resolve(self, parsed)
  return self:deeper(parsed, KINDS[parsed.kind])
end

-- --- values and names --------------------------------------------------------------------------

function KINDS.number(self, parsed)
  return self:node(parsed.kind, parsed, { value = parsed.value })
end

KINDS.boolean = KINDS.number

local NO_VALUE = {
  math = "'%s' is no number",
  table = "'%s' is no number",
  ["function"] = "'%s' is a function: call it",
  ipairs = "'%s' is a function: a 'for' may go over it",
  inlined = "'%s' is a function: call it",
  row = "'%s' is a row: index it",
}

--- A number as a text has it: one below 0 is the negative of another one.
local function number_node(self, parsed, value)
  if value == math.mininteger or not (value < 0 or 1 / value < 0) then
    return self:node("number", parsed, { value = value })
  end
  return self:node("unary", parsed, { op = "-", operand = self:node("number", parsed, { value = -value }) })
end

function KINDS.name(self, parsed)
  local denotation = self:denote(parsed)
  local tag = denotation.tag
  if tag == "variable" then
    restrictions.number(self.origin, denotation.variable, self.site or parsed)
    return self:node("name", parsed, { variable = denotation.variable })
  elseif tag == "constant" then
    return number_node(self, parsed, denotation.value)
  elseif tag == "argument" then
    return self:within(denotation, expressions.resolve, denotation.node)
  end
  if tag == "missing" then missing.refuse(self, parsed, denotation) end
  self:fail(parsed, "%s", tag == "refused" and denotation.reason or NO_VALUE[tag]:format(calling.name_of(parsed)))
end

KINDS.field = KINDS.name

KINDS["nil"] = function(self, parsed)
  self:fail(parsed, "nil is not accepted: values are numbers and booleans; what is missing may be math.huge, or -1")
end

function KINDS.string(self, parsed)
  self:fail(parsed, "a string is not accepted: values are numbers and booleans; texts are made before or behind the "
    .. "compiled function")
end

function KINDS.table(self, parsed)
  self:fail(parsed, "a table is made with a name, 'local t = {}', or as a row of one, t[i] = {}")
end

-- --- operators and conditions ------------------------------------------------------------------

local IS_JOINED = { ["and"] = true, ["or"] = true }
local EQUALITIES = { ["=="] = true, ["~="] = true }

--- Resolves by f what is left of an expression of which is known what it, or its left side, comes to as a condition.
local function settled(self, parsed, f)
  if IS_JOINED[parsed.op] then
    local left = missing.truth(self, parsed.left)
    if left == nil then return nil end
    return f(self, left == (parsed.op == "and") and parsed.right or parsed.left)
  end
  local holds = missing.truth(self, parsed)
  return holds ~= nil and self:node("boolean", parsed, { value = holds }) or nil
end

--- An `and` or `or` of what f makes of the left side and g of the right one, which may not be evaluated. Where
-- something is taken in place of nil, an `or nil` is nothing.
local function joined(self, parsed, f, g)
  local value = settled(self, parsed, g)
  if value then return value end
  local is_needless = parsed.op == "or" and g ~= expressions.resolve and missing.is_nil(self, parsed.right)
  if is_needless then return f(self, parsed.left) end
  local left = f(self, parsed.left)
  local right = self:evaluating(nil, nil, g, parsed.right)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = right })
end

local optional

--- An element that is read as it is written, although it may be missing: in Lua a table that the function makes has nil
-- there. `how`: whether what follows is a "default", or a "condition" asks for it.
local function read(self, parsed, how)
  local node = expressions.resolve(self, parsed)
  if node.kind == "index" and node.array.is_made then node.may_miss = how end
  return node
end

--- The resolved expression of a condition, of which only counts whether it holds: an element does where it is there.
function expressions.condition(self, parsed)
  return self:deeper(parsed, function()
    if IS_JOINED[parsed.op] then return joined(self, parsed, expressions.condition, expressions.condition) end
    if missing.is_nil(self, parsed) then return self:node("boolean", parsed, { value = false }) end
    return presence.truth(self, parsed) or integral.condition(self, parsed) or read(self, parsed, "condition")
  end)
end

--- Whether a condition asks whether an element is there, or a row.
local function asks(self, parsed)
  if parsed.kind == "index" then return true end
  if parsed.kind == "name" then
    local denotation = self:denote(parsed)
    return denotation.tag == "row" or denotation.tag == "argument" and denotation.node.kind == "index"
  end
  if parsed.op == "not" then return asks(self, parsed.operand) end
  if EQUALITIES[parsed.op] then return parsed.left.kind == "nil" or parsed.right.kind == "nil" end
  return IS_JOINED[parsed.op] and (asks(self, parsed.left) or asks(self, parsed.right)) or false
end

--- The resolved expression of what an `or` follows, which is taken where there is no element. Behind another condition
-- there is one: `i < n and x[i + 1] or 0` says itself where.
function optional(self, parsed)
  return self:deeper(parsed, function()
    if parsed.op == "or" then return joined(self, parsed, optional, optional) end
    if parsed.op == "and" then
      return joined(self, parsed, expressions.condition, asks(self, parsed.left) and optional or expressions.resolve)
    end
    return presence.value(self, parsed) or integral.value(self, parsed) or read(self, parsed, "default")
  end)
end

function KINDS.unary(self, parsed)
  local value = settled(self, parsed)
  if value then return value end
  local f = parsed.op == "not" and expressions.condition or expressions.resolve
  return self:node("unary", parsed, { op = parsed.op, operand = f(self, parsed.operand) })
end

local UNKNOWN = "whether there is an element of '%s' is known in and behind a loop that fills all of it, "
  .. "'for i = 1, n do t[i] = e end': fill it first, or store a number such as math.huge or -1 for nil"

--- Whether an element is there, or is not: `x[i] ~= nil`, `x[i] == nil`; nil for other expressions.
local function compared_with_nil(self, parsed)
  local left, right = parsed.left, parsed.right
  if not EQUALITIES[parsed.op] or left.kind ~= "nil" and right.kind ~= "nil" then return nil end
  local element = left.kind == "nil" and right or left
  local is_there = presence.condition(self, element) or integral.condition(self, element)
  local array = not is_there and element.kind == "index" and indexing.array_of(self, element)
  if array and array.is_made then self:fail(element, UNKNOWN, array.name) end
  if not is_there or parsed.op == "~=" then return is_there end
  return self:node("unary", parsed, { op = "not", operand = is_there })
end

function KINDS.binary(self, parsed)
  if IS_JOINED[parsed.op] then
    return joined(self, parsed, parsed.op == "and" and expressions.condition or optional, expressions.resolve)
  end
  local value = settled(self, parsed) or compared_with_nil(self, parsed)
  if value then return value end
  local left = expressions.resolve(self, parsed.left)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = expressions.resolve(self, parsed.right) })
end

return expressions
