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

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local restrictions = require "clcompute.loops.front.restrictions"

local resolve = {}

local DEEPEST = 200 -- of an expression

local EXPRESSIONS = {}

local inlined

--- The resolved expression of a parsed one.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @treturn table
local function resolve_expression(self, parsed)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(parsed, "an expression of more than %d levels", DEEPEST) end
  local result = EXPRESSIONS[parsed.kind](self, parsed)
  self.depth = self.depth - 1
  return result
end

local function resolve_list(self, list)
  local resolved = {}
  for i, parsed in ipairs(list) do resolved[i] = resolve_expression(self, parsed) end
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
    restrictions.number(self.origin, denotation.variable, self.site or parsed)
    return self:node("name", parsed, { variable = denotation.variable })
  elseif tag == "constant" then
    return self:node("number", parsed, { value = denotation.value })
  elseif tag == "argument" then
    return self:within(denotation, resolve_expression, denotation.node)
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
  restrictions.index(self.origin, array, self.site or parsed, #parsed.subscripts)
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
  restrictions.length(self.origin, array, self.site or parsed, #subscripts + 1)
  return self:node("length", parsed, { array = array, dimension = #subscripts + 1, subscripts = subscripts })
end

function EXPRESSIONS.unary(self, parsed)
  return self:node("unary", parsed, { op = parsed.op, operand = resolve_expression(self, parsed.operand) })
end

function EXPRESSIONS.binary(self, parsed)
  local is_always = parsed.op ~= "and" and parsed.op ~= "or"
  local left = resolve_expression(self, parsed.left)
  local right = self:evaluating(is_always and self.before or nil, resolve_expression, parsed.right)
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
    return inlined(self, parsed, denotation)
  end
  if denotation.tag == "function" then
    local takes = denotations.FUNCTIONS[denotation.name]
    check_arguments(self, parsed, name, takes.least, takes.most)
    return self:node("call", parsed, { name = denotation.name, arguments = resolve_list(self, parsed.arguments) })
  elseif denotation.tag == "refused" then
    self:fail(callee, "unknown call '%s': %s", name, denotation.reason)
  end
  self:fail(callee, "unknown call '%s': functions of math and of one expression are accepted", name)
end

local DEEPEST_CALLS = 20 -- calls in the functions that calls stand for
local MOST_VARIABLES = 100 -- then arguments get no locals any more: Lua has 200 in one function

-- --- how a function uses a parameter ------------------------------------------------------

local LISTS = { "arguments", "subscripts" }
local SUBEXPRESSIONS = { "left", "right", "operand", "callee" }

--- Counts where a parsed expression names a parameter, and notes whether it does so for an array.
local function count(parsed, name, uses)
  if parsed.name == name then
    uses.count = uses.count + 1
    uses.is_array = uses.is_array or parsed.kind ~= "name"
  end
  if parsed.kind == "length" then uses.is_array = uses.is_array or parsed.operand.name == name end
  for _, key in ipairs(SUBEXPRESSIONS) do
    if parsed[key] then count(parsed[key], name, uses) end
  end
  for _, key in ipairs(LISTS) do
    for _, part in ipairs(parsed[key] or {}) do count(part, name, uses) end
  end
  return uses
end

-- --- arguments ----------------------------------------------------------------------------

--- Whether an argument is a name, be it that of a parameter which stands for one: of an array there is no value.
local function is_name(self, parsed)
  if parsed.kind ~= "name" then return false end
  local denotation = self:denote(parsed)
  return denotation.tag ~= "argument" or self:within(denotation, is_name, denotation.node)
end

--- Whether the value may be false where a number is meant, which no local can hold.
local function may_be_partial(node)
  return node.op == "and" or node.op == "or" and may_be_partial(node.right)
end

local PLAIN = { number = true, boolean = true, name = true, index = true }

--- Whether to evaluate an expression again costs nothing that compilers leave, or a few additions of integers.
local function is_plain(node)
  return PLAIN[node.kind] or node.kind == "unary" and node.operand.kind == "number" or affine.of(node) ~= nil
end

--- What a parameter denotes: its argument where it stands, or a local with its value.
local function denotation_of(self, parameter, parsed, value)
  local in_place = { tag = "argument", node = parsed, scope = self.scope, holder = self.holder, site = self.site,
    calls = self.calls }
  local uses = count(value, parameter.text, { count = 0 })
  if uses.count == 1 or uses.is_array or is_name(self, parsed) then return in_place end
  local resolved = resolve_expression(self, parsed)
  if not self.before or self.count >= MOST_VARIABLES then return in_place end
  if is_plain(resolved) or may_be_partial(resolved) then return in_place end
  local variable = self:variable(parameter.text, { role = "local", node = parameter, definition = resolved,
    is_argument = true })
  table.insert(self.before, self:node("local", parsed, { variable = variable, value = resolved }))
  return { tag = "variable", variable = variable }
end

-- --- calls --------------------------------------------------------------------------------

--- The calls around with that of a function in them; a failure if it is among them already.
local function entered(self, parsed, denotation)
  local calls = self.calls
  local around = calls
  while around do
    if around.key == denotation.key then
      self:fail(parsed, "'%s' calls itself: it cannot be put in place of its calls", denotation.name)
    end
    around = around.around
  end
  local depth = calls and calls.depth + 1 or 1
  if depth > DEEPEST_CALLS then
    self:fail(parsed, "'%s': calls within calls are put in place up to %d levels", denotation.name, DEEPEST_CALLS)
  end
  return { key = denotation.key, around = calls, depth = depth }
end

--- The value of an inlined function with its parameters bound to the arguments of a call, whose number is right.
-- @tparam table self of `denotations.names`
-- @tparam table parsed the call
-- @tparam table denotation of its function
-- @treturn table
function inlined(self, parsed, denotation)
  local calls, scope = entered(self, parsed, denotation), denotations.new_scope(denotation.scope)
  for i, parameter in ipairs(denotation.parameters) do
    scope.names[parameter.text] = denotation_of(self, parameter, parsed.arguments[i], denotation.value)
  end
  return self:within({ scope = scope, holder = denotation.holder, site = self.site or parsed, calls = calls },
    resolve_expression, denotation.value)
end

-- --- statements ----------------------------------------------------------------------------

--- Resolves an expression that is evaluated each time right behind the statements of a list.
local function value_of(self, parsed, into)
  return self:evaluating(into, resolve_expression, parsed)
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
      local variable = self:declare(token, { role = "local", definition = value })
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
    restrictions.assign(self.origin, denotation.variable, target)
    target = self:node("name", target, { variable = denotation.variable })
  else
    target = resolve_expression(self, target)
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
    arms[i] = ast.node("arm", { condition = condition, body = resolve_block(self, arm.body) }, arm)
  end
  local otherwise = parsed.otherwise and resolve_block(self, parsed.otherwise)
  into[#into + 1] = self:node("if", parsed, { arms = arms, otherwise = otherwise })
end

STATEMENTS["for"] = function(self, parsed, into)
  local from, to = resolve_expression(self, parsed.from), resolve_expression(self, parsed.to)
  local around, loop = self.loops, nil
  local body = resolve_block(self, parsed.body, function()
    local variable = self:declare(parsed.name, { role = "loop" })
    loop = self:node("for", parsed, { variable = variable, from = from, to = to, step = parsed.step, body = {} })
    variable.loop = loop
    self.loops = table.move(around, 1, #around, 1, {})
    self.loops[#self.loops + 1] = loop
  end)
  loop.body, self.loops = body, around
  into[#into + 1] = loop
end

--- The tree of a parsed function with variables in place of names.
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @treturn table `{ kind="function", name=, parameters={variables}, captures={variables}, body=, origin= }`
function resolve.run(parsed)
  local self = denotations.names(parsed)
  local parameters = {}
  for i, token in ipairs(parsed.parameters) do
    parameters[i] = self:declare(token, { role = "parameter", is_parameter = true })
  end
  return ast.node("function", { name = parsed.name, parameters = parameters, captures = self.captures,
    body = resolve_block(self, parsed.body), origin = parsed.origin }, parsed)
end

return resolve
