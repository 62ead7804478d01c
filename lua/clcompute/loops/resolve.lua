-- SPDX-License-Identifier: MIT

--- Gives every name its variable, so that names are unique and scopes are gone; puts functions of one expression in
-- place of their calls; splits `local a, b` and dissolves `do`. The result is a new tree with nodes of its own, so one
-- parsed function can be resolved again for another specialisation; ids are the same each time.
--
-- Statements: `for` (variable, from, to, step, body), `local` (variable, value), `assign` (target, value), `if`
-- (arms = { { condition, body } }, otherwise). Expressions: `number`, `boolean` (value), `name` (variable), `index`
-- (array, subscripts), `length` (array, dimension, subscripts), `binary` (op, left, right), `unary` (op, operand),
-- `call` (name, arguments). Every node has line, column, offset and finish: its first and last byte.
-- @module clcompute.loops.resolve

local captures = require "clcompute.loops.captures"
local failure = require "clcompute.loops.failure"
local mathematics = require "clcompute.loops.mathematics"
local usage = require "clcompute.loops.usage"
local variables = require "clcompute.loops.variables"

local resolve = {}

local DEEPEST, DEEPEST_INLINING, MOST_NODES = 200, 20, 50000

local Resolver = {}
Resolver.__index = Resolver

function Resolver:fail(node, message, ...)
  failure.raise(self.origin, self.site or node, message:format(...))
end

--- A node at the place of a parsed one, or of the call that an inlined function stands for.
function Resolver:node(kind, parsed, fields)
  self.nodes = self.nodes + 1
  if self.nodes > MOST_NODES then
    self:fail(parsed, "more than %d expressions with all calls put in place", MOST_NODES)
  end
  local at = self.site or parsed
  fields.kind, fields.line, fields.column, fields.offset, fields.finish =
    kind, at.line, at.column, at.offset, at.finish
  return fields
end

--- Runs f with another scope, holder and site, then goes back.
function Resolver:within(scope, holder, site, f, ...)
  local before = { self.scope, self.holder, self.site }
  self.scope, self.holder, self.site = scope, holder, site
  local result = f(self, ...)
  self.scope, self.holder, self.site = before[1], before[2], before[3]
  return result
end

-- --- names --------------------------------------------------------------------

local function new_scope(parent)
  return { names = {}, parent = parent }
end

function Resolver:bind(name, denotation)
  self.scope.names[name] = denotation
end

function Resolver:declare(token, role, fields)
  local variable = self.variables:new(token.text, role, token, self.loops)
  for key, value in pairs(fields or {}) do variable[key] = value end
  self:bind(token.text, { tag = "variable", variable = variable })
  return variable
end

--- The variable of an upvalue: one, however many functions share it.
function Resolver:capture(denotation, name, node)
  local variable = self.captured[denotation.id]
  if not variable then
    variable = self.variables:new(name, "capture", self.site or node, {})
    variable.is_capture, variable.fn, variable.index = true, denotation.fn, denotation.index
    self.captured[denotation.id] = variable
    self.captures[#self.captures + 1] = variable
  end
  return { tag = "variable", variable = variable }
end

--- What a name denotes here; with `field`, what that field of it does.
function Resolver:denote(node)
  local denotation
  local scope = self.scope
  while scope and not denotation do
    denotation, scope = scope.names[node.name], scope.parent
  end
  denotation = denotation or captures.denote(self.holder, node.name)
  if denotation.tag == "upvalue" then denotation = self:capture(denotation, node.name, node) end
  if node.kind ~= "field" then return denotation end
  if denotation.tag == "argument" then
    local argument = denotation
    denotation = self:within(argument.scope, argument.holder, argument.site, self.denote, argument.node)
  end
  if denotation.tag == "math" then return captures.of_math(node.field) end
  if denotation.tag == "refused" then return denotation end
  self:fail(node, "field '%s' of '%s' is not accepted: only math has fields", node.field, node.name)
end

-- --- expressions --------------------------------------------------------------

local EXPRESSIONS = {}

function Resolver:expression(parsed)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(parsed, "an expression of more than %d levels", DEEPEST) end
  local result = EXPRESSIONS[parsed.kind](self, parsed)
  self.depth = self.depth - 1
  return result
end

function Resolver:expressions(list)
  local resolved = {}
  for i, parsed in ipairs(list) do resolved[i] = self:expression(parsed) end
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
    return self:within(denotation.scope, denotation.holder, denotation.site, self.expression, denotation.node)
  end
  local name = parsed.field and parsed.name .. "." .. parsed.field or parsed.name
  self:fail(parsed, "%s", tag == "refused" and denotation.reason or NO_VALUE[tag]:format(name))
end

EXPRESSIONS.field = EXPRESSIONS.name

--- The variable of a name that is indexed; an array that is an argument of an inlined function is its caller's.
function Resolver:array(node)
  local denotation = self:denote { kind = "name", name = node.name, line = node.line, column = node.column,
    offset = node.offset, finish = node.finish }
  if denotation.tag == "argument" and denotation.node.kind == "name" then
    return self:within(denotation.scope, denotation.holder, denotation.site, self.array, denotation.node)
  elseif denotation.tag == "variable" then
    return denotation.variable
  end
  self:fail(node, "%s", denotation.reason or ("'%s' is not an array"):format(node.name))
end

function EXPRESSIONS.index(self, parsed)
  local array = self:array(parsed)
  usage.index(self.origin, array, self.site or parsed, #parsed.subscripts)
  return self:node("index", parsed, { array = array, subscripts = self:expressions(parsed.subscripts) })
end

function EXPRESSIONS.length(self, parsed)
  local operand = parsed.operand
  local subscripts = self:expressions(operand.subscripts or {})
  for i, subscript in ipairs(subscripts) do
    if math.type(subscript.value) ~= "integer" then
      self:fail(operand.subscripts[i], "a length is taken as #%s[1]: rows have the same length, so any literal does",
        operand.name)
    end
  end
  local array = self:array(operand)
  usage.length(self.origin, array, self.site or parsed, #subscripts + 1)
  return self:node("length", parsed, { array = array, dimension = #subscripts + 1, subscripts = subscripts })
end

function EXPRESSIONS.unary(self, parsed)
  return self:node("unary", parsed, { op = parsed.op, operand = self:expression(parsed.operand) })
end

function EXPRESSIONS.binary(self, parsed)
  local left = self:expression(parsed.left)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = self:expression(parsed.right) })
end

local function arguments_expected(least, most)
  local plural = most == 1 and "" or "s"
  return most == math.huge and ("at least %d argument"):format(least) or ("%d argument%s"):format(most, plural)
end

function Resolver:check_arguments(parsed, name, least, most)
  local count = #parsed.arguments
  if count < least or count > most then
    self:fail(parsed, "'%s' takes %s here, got %d", name, arguments_expected(least, most), count)
  end
end

--- The value of an inlined function with its parameters bound to the arguments of a call.
function Resolver:inline(parsed, denotation)
  self:check_arguments(parsed, denotation.name, #denotation.parameters, #denotation.parameters)
  if self.inlining == DEEPEST_INLINING then
    self:fail(parsed, "'%s': calls within calls are put in place up to %d levels", denotation.name, DEEPEST_INLINING)
  end
  local scope = new_scope(denotation.scope)
  for i, parameter in ipairs(denotation.parameters) do
    scope.names[parameter.text] = { tag = "argument", node = parsed.arguments[i], scope = self.scope,
      holder = self.holder, site = self.site }
  end
  self.inlining = self.inlining + 1
  local value = self:within(scope, denotation.holder, self.site or parsed, self.expression, denotation.value)
  self.inlining = self.inlining - 1
  return value
end

function EXPRESSIONS.call(self, parsed)
  local callee = parsed.callee
  local name = callee.field and callee.name .. "." .. callee.field or callee.name
  local denotation = self:denote(callee)
  if denotation.tag == "inlined" then return self:inline(parsed, denotation) end
  if denotation.tag == "function" then
    local takes = mathematics.FUNCTIONS[denotation.name]
    self:check_arguments(parsed, name, takes[1], takes[2])
    return self:node("call", parsed, { name = denotation.name, arguments = self:expressions(parsed.arguments) })
  elseif denotation.tag == "refused" then
    self:fail(callee, "unknown call '%s': %s", name, denotation.reason)
  end
  self:fail(callee, "unknown call '%s': functions of math and of one expression are accepted", name)
end

-- --- statements ---------------------------------------------------------------

local STATEMENTS = {}

--- Resolves a block in a scope of its own.
function Resolver:block(body, declare)
  local before = self.scope
  self.scope = new_scope(before)
  if declare then declare() end
  local resolved = {}
  for _, statement in ipairs(body) do STATEMENTS[statement.kind](self, statement, resolved) end
  self.scope = before
  return resolved
end

--- What `local sqrt = math.sqrt` and `local m = math` denote; nil for values.
function Resolver:alias(parsed)
  if parsed.kind ~= "name" and parsed.kind ~= "field" then return nil end
  local denotation = self:denote(parsed)
  local is_alias = denotation.tag == "math" or denotation.tag == "function" or denotation.tag == "inlined"
  return is_alias and denotation or nil
end

STATEMENTS["local"] = function(self, parsed, into)
  local values = {}
  for i, value in ipairs(parsed.values) do values[i] = self:alias(value) or self:expression(value) end
  for i, token in ipairs(parsed.names) do
    local value = values[i]
    if value.tag then
      self:bind(token.text, value)
    else
      local variable = self:declare(token, "local", { definition = value })
      local first = i == 1 and parsed or token
      into[#into + 1] = self:node("local", first, { variable = variable, value = value })
    end
  end
end

--- Names that follow must not be seen from inside of the function, so they get a scope further in.
function STATEMENTS.define(self, parsed)
  local denotation = { tag = "inlined", name = parsed.name, parameters = parsed.parameters, value = parsed.value,
    scope = self.scope, holder = self.holder }
  self.scope = new_scope(self.scope)
  self:bind(parsed.name, denotation)
end

function STATEMENTS.assign(self, parsed, into)
  local target = parsed.target
  if target.kind == "name" then
    local denotation = self:denote(target)
    if denotation.tag ~= "variable" then
      self:fail(target, "%s", denotation.reason or ("'%s' cannot be assigned"):format(target.name))
    end
    usage.assign(self.origin, denotation.variable, target)
    target = self:node("name", target, { variable = denotation.variable })
  else
    target = self:expression(target)
  end
  into[#into + 1] = self:node("assign", parsed, { target = target, value = self:expression(parsed.value) })
end

STATEMENTS["do"] = function(self, parsed, into)
  for _, statement in ipairs(self:block(parsed.body)) do into[#into + 1] = statement end
end

STATEMENTS["if"] = function(self, parsed, into)
  local arms = {}
  for i, arm in ipairs(parsed.arms) do
    local condition = self:expression(arm.condition)
    arms[i] = { condition = condition, body = self:block(arm.body) }
  end
  local otherwise = parsed.otherwise and self:block(parsed.otherwise)
  into[#into + 1] = self:node("if", parsed, { arms = arms, otherwise = otherwise })
end

STATEMENTS["for"] = function(self, parsed, into)
  local loop = self:node("for", parsed, { step = parsed.step, from = self:expression(parsed.from),
    to = self:expression(parsed.to) })
  local around = self.loops
  loop.body = self:block(parsed.body, function()
    loop.variable = self:declare(parsed.name, "loop")
    self.loops = table.move(around, 1, #around, 1, {})
    self.loops[#self.loops + 1] = loop
  end)
  loop.variable.loop, self.loops = loop, around
  into[#into + 1] = loop
end

--- The tree of a parsed function with variables in place of names.
-- @tparam table parsed of `clcompute.loops.parser`
-- @treturn table `{ kind="function", name=, parameters={variables}, captures={variables}, body=, origin= }`
function resolve.run(parsed)
  local self = setmetatable({ origin = parsed.origin, holder = captures.holder(parsed), variables = variables.new(),
    scope = new_scope(), loops = {}, captured = {}, captures = {}, depth = 0, inlining = 0, nodes = 0 }, Resolver)
  local tree = self:node("function", parsed, { name = parsed.name, parameters = {}, captures = self.captures,
    origin = parsed.origin })
  for i, token in ipairs(parsed.parameters) do
    tree.parameters[i] = self:declare(token, "parameter", { is_parameter = true })
  end
  tree.body = self:block(parsed.body)
  return tree
end

return resolve
