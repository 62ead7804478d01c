-- SPDX-License-Identifier: MIT

--- Gives every name its variable, so that names are unique and scopes are gone; puts functions of one expression in
-- place of their calls, locals for their arguments before the statement; splits `local a, b` and dissolves `do`. The
-- result is a new tree with nodes of its own, so one parsed function can be resolved again for another specialisation;
-- ids are the same each time.
--
-- Statements: `for` (variable, from, to, step, body), `local` (variable, value), `assign` (target, value), `if`
-- (arms = { { condition, body } }, otherwise). Expressions: `number`, `boolean` (value), `name` (variable), `index`
-- (array, subscripts), `length` (array, dimension, subscripts), `binary` (op, left, right), `unary` (op, operand),
-- `call` (name, arguments). Every node has line, column, offset and finish: its first and last byte.
-- @module clcompute.loops.front.resolve

local names = require "clcompute.loops.front.names"
local resolve_expression = require "clcompute.loops.front.resolve_expression"
local usage = require "clcompute.loops.front.usage"

local resolve = {}

local expression = resolve_expression.resolve

--- Resolves an expression that is evaluated each time right behind the statements of a list.
local function value_of(self, parsed, into)
  return self:evaluating(into, expression, parsed)
end

local STATEMENTS = {}

--- Resolves a block in a scope of its own.
local function resolve_block(self, body, declare)
  local around = self:enter()
  if declare then declare() end
  local resolved = {}
  for _, statement in ipairs(body) do STATEMENTS[statement.kind](self, statement, resolved) end
  self:leave(around)
  return resolved
end

--- What `local sqrt = math.sqrt` and `local m = math` denote; nil for values.
local function alias(self, parsed)
  if parsed.kind ~= "name" and parsed.kind ~= "field" then return nil end
  local denotation = self:denote(parsed)
  local is_alias = denotation.tag == "math" or denotation.tag == "function" or denotation.tag == "inlined"
  return is_alias and denotation or nil
end

STATEMENTS["local"] = function(self, parsed, into)
  local values = {}
  for i, value in ipairs(parsed.values) do values[i] = alias(self, value) or value_of(self, value, into) end
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

--- The function sees itself, if `local function` defined it, but no names that follow: those get a scope further in.
function STATEMENTS.define(self, parsed)
  local denotation = { tag = "inlined", name = parsed.name, parameters = parsed.parameters, value = parsed.value,
    scope = self.scope, holder = self.holder, key = parsed }
  self:enter()
  self:bind(parsed.name, denotation)
  if parsed.sees_itself then denotation.scope = self.scope end
  self:enter()
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
    target = expression(self, target)
  end
  local value = value_of(self, parsed.value, into)
  into[#into + 1] = self:node("assign", parsed, { target = target, value = value })
end

STATEMENTS["do"] = function(self, parsed, into)
  for _, statement in ipairs(resolve_block(self, parsed.body)) do into[#into + 1] = statement end
end

STATEMENTS["if"] = function(self, parsed, into)
  local arms = {}
  for i, arm in ipairs(parsed.arms) do
    local condition = value_of(self, arm.condition, i == 1 and into or nil)
    arms[i] = { condition = condition, body = resolve_block(self, arm.body) }
  end
  local otherwise = parsed.otherwise and resolve_block(self, parsed.otherwise)
  into[#into + 1] = self:node("if", parsed, { arms = arms, otherwise = otherwise })
end

STATEMENTS["for"] = function(self, parsed, into)
  local loop = self:node("for", parsed, { step = parsed.step, from = expression(self, parsed.from),
    to = expression(self, parsed.to) })
  local around = self.loops
  loop.body = resolve_block(self, parsed.body, function()
    loop.variable = self:declare(parsed.name, "loop")
    self.loops = table.move(around, 1, #around, 1, {})
    self.loops[#self.loops + 1] = loop
  end)
  loop.variable.loop, self.loops = loop, around
  into[#into + 1] = loop
end

--- The tree of a parsed function with variables in place of names.
-- @tparam table parsed of `clcompute.loops.front.parser`
-- @treturn table `{ kind="function", name=, parameters={variables}, captures={variables}, body=, origin= }`
function resolve.run(parsed)
  local self = names.new(parsed)
  local tree = self:node("function", parsed, { name = parsed.name, parameters = {}, captures = self.captures,
    origin = parsed.origin })
  for i, token in ipairs(parsed.parameters) do
    tree.parameters[i] = self:declare(token, "parameter", { is_parameter = true })
  end
  tree.body = resolve_block(self, parsed.body)
  return tree
end

return resolve
