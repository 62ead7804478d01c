-- SPDX-License-Identifier: MIT

--- Resolves expressions: names become variables, functions of one expression stand in place of their calls.
-- @module clcompute.loops.front.resolve_expression

local inline = require "clcompute.loops.front.inline"
local mathematics = require "clcompute.loops.tree.mathematics"
local usage = require "clcompute.loops.front.usage"

local resolve_expression = {}

local DEEPEST = 200

local EXPRESSIONS = {}

--- The resolved expression of a parsed one.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed of `clcompute.loops.front.expression`
-- @treturn table
function resolve_expression.resolve(self, parsed)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(parsed, "an expression of more than %d levels", DEEPEST) end
  local result = EXPRESSIONS[parsed.kind](self, parsed)
  self.depth = self.depth - 1
  return result
end

local function resolve_list(self, list)
  local resolved = {}
  for i, parsed in ipairs(list) do resolved[i] = resolve_expression.resolve(self, parsed) end
  return resolved
end

function EXPRESSIONS.number(self, parsed)
  return self:node("number", parsed, { value = parsed.value })
end

function EXPRESSIONS.boolean(self, parsed)
  return self:node("boolean", parsed, { value = parsed.value })
end

local NO_VALUE = {
  math = "'%s' is no number",
  ["function"] = "'%s' is a function: call it",
  inlined = "'%s' is a function: call it",
}

function EXPRESSIONS.name(self, parsed)
  local denotation = self:denote(parsed)
  local tag = denotation.tag
  if tag == "variable" then
    usage.number(self.origin, denotation.variable, self.site or parsed)
    return self:node("name", parsed, { variable = denotation.variable })
  elseif tag == "constant" then
    return self:node("number", parsed, { value = denotation.value })
  elseif tag == "argument" then
    return self:within(denotation, resolve_expression.resolve, denotation.node)
  end
  local name = parsed.field and parsed.name .. "." .. parsed.field or parsed.name
  self:fail(parsed, "%s", tag == "refused" and denotation.reason or NO_VALUE[tag]:format(name))
end

EXPRESSIONS.field = EXPRESSIONS.name

--- The variable of a name that is indexed; an array that is an argument of an inlined function is its caller's.
local function array_of(self, node)
  local denotation = self:denote(node)
  if denotation.tag == "argument" and denotation.node.kind == "name" then
    return self:within(denotation, array_of, denotation.node)
  elseif denotation.tag == "variable" then
    return denotation.variable
  end
  self:fail(node, "%s", denotation.reason or ("'%s' is not an array"):format(node.name))
end

function EXPRESSIONS.index(self, parsed)
  local array = array_of(self, parsed)
  usage.index(self.origin, array, self.site or parsed, #parsed.subscripts)
  local subscripts = self:evaluating(nil, resolve_list, parsed.subscripts)
  return self:node("index", parsed, { array = array, subscripts = subscripts })
end

function EXPRESSIONS.length(self, parsed)
  local operand = parsed.operand
  local subscripts = resolve_list(self, operand.subscripts or {})
  for i, subscript in ipairs(subscripts) do
    if math.type(subscript.value) ~= "integer" then
      self:fail(operand.subscripts[i], "a length is taken as #%s[1]: rows have the same length, so any literal does",
        operand.name)
    end
  end
  local array = array_of(self, operand)
  usage.length(self.origin, array, self.site or parsed, #subscripts + 1)
  return self:node("length", parsed, { array = array, dimension = #subscripts + 1, subscripts = subscripts })
end

function EXPRESSIONS.unary(self, parsed)
  return self:node("unary", parsed, { op = parsed.op, operand = resolve_expression.resolve(self, parsed.operand) })
end

function EXPRESSIONS.binary(self, parsed)
  local is_always = parsed.op ~= "and" and parsed.op ~= "or"
  local left = resolve_expression.resolve(self, parsed.left)
  local right = self:evaluating(is_always and self.before or nil, resolve_expression.resolve, parsed.right)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = right })
end

local function arguments_expected(least, most)
  local plural = most == 1 and "" or "s"
  return most == math.huge and ("at least %d argument"):format(least) or ("%d argument%s"):format(most, plural)
end

local function check_arguments(self, parsed, name, least, most)
  local count = #parsed.arguments
  if count < least or count > most then
    self:fail(parsed, "'%s' takes %s here, got %d", name, arguments_expected(least, most), count)
  end
end

function EXPRESSIONS.call(self, parsed)
  local callee = parsed.callee
  local name = callee.field and callee.name .. "." .. callee.field or callee.name
  local denotation = self:denote(callee)
  if denotation.tag == "inlined" then
    check_arguments(self, parsed, denotation.name, #denotation.parameters, #denotation.parameters)
    return inline.value(self, parsed, denotation, resolve_expression.resolve)
  end
  if denotation.tag == "function" then
    local takes = mathematics.FUNCTIONS[denotation.name]
    check_arguments(self, parsed, name, takes.least, takes.most)
    return self:node("call", parsed, { name = denotation.name, arguments = resolve_list(self, parsed.arguments) })
  elseif denotation.tag == "refused" then
    self:fail(callee, "unknown call '%s': %s", name, denotation.reason)
  end
  self:fail(callee, "unknown call '%s': functions of math and of one expression are accepted", name)
end

return resolve_expression
