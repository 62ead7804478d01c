-- SPDX-License-Identifier: MIT

--- Gives every name its variable, so that names are unique and scopes are gone; puts functions in place of their calls
-- (`inlining`); splits `local a, b` and `a, b = b, a`; dissolves `do`. The result is a new tree with nodes of its own,
-- so one parsed function can be resolved again for another specialisation; ids are the same each time.
--
-- Statements: `for` (variable, from, to, step, body), `local` (variable, value), `assign` (target, value), `if`
-- (arms = { { condition, body } }, otherwise), `break`. Expressions: `number`, `boolean` (value), `name` (variable),
-- `index` (array, subscripts), `length` (array, dimension, subscripts), `binary` (op, left, right),
-- `unary` (op, operand), `call` (name, arguments). Every node has line, column, offset and finish: its first and last
-- byte.

local appending = require "clcompute.loops.front.appending"
local assigning = require "clcompute.loops.front.assigning"
local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local flags = require "clcompute.loops.front.flags"
local inlining = require "clcompute.loops.front.inlining"
local irregular = require "clcompute.loops.front.irregular"
local jumps = require "clcompute.loops.front.jumps"
local missing = require "clcompute.loops.front.missing"
local made_tables = require "clcompute.loops.front.made_tables"
local presence = require "clcompute.loops.front.presence"
local restrictions = require "clcompute.loops.front.restrictions"
local swaps = require "clcompute.loops.front.swaps"
local walk = require("clcompute.loops.tree").walk

local resolve = {}

local EXPRESSIONS = {}

--- The resolved expression of a parsed one.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @treturn table
local function resolve_expression(self, parsed)
  return self:deeper(parsed, EXPRESSIONS[parsed.kind])
end

local call_values

--- The values of a list, of which a last call may give several.
local function resolve_list(self, list)
  local resolved = {}
  for i, parsed in ipairs(list) do
    local own = parsed.takes and call_values(self, parsed, parsed.takes) or { resolve_expression(self, parsed) }
    table.move(own, 1, #own, i, resolved)
  end
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

function EXPRESSIONS.name(self, parsed)
  local denotation = self:denote(parsed)
  local tag = denotation.tag
  if tag == "variable" then
    restrictions.number(self.origin, denotation.variable, self.site or parsed)
    return self:node("name", parsed, { variable = denotation.variable })
  elseif tag == "constant" then
    return number_node(self, parsed, denotation.value)
  elseif tag == "argument" then
    return self:within(denotation, resolve_expression, denotation.node)
  end
  if tag == "missing" then missing.refuse(self, parsed, denotation) end
  local name = parsed.field and parsed.name .. "." .. parsed.field or parsed.name
  self:fail(parsed, "%s", tag == "refused" and denotation.reason or NO_VALUE[tag]:format(name))
end

EXPRESSIONS.field = EXPRESSIONS.name

EXPRESSIONS["nil"] = function(self, parsed)
  self:fail(parsed, "nil is not accepted: values are numbers and booleans; what is missing may be math.huge, or -1")
end

local array_of

--- The array of an index that stands for a row, and its subscripts.
local function row_at(self, node)
  local array, subscripts = array_of(self, node)
  local own = resolve_list(self, node.subscripts)
  return array, table.move(own, 1, #own, #subscripts + 1, subscripts)
end

--- The variable of a name that is indexed, and the subscripts that the name stands for, of a row; an array that is an
-- argument of an inlined function is its caller's.
function array_of(self, node)
  local denotation = self:denote(node)
  local argument = denotation.tag == "argument" and denotation.node
  if argument and (argument.kind == "name" or argument.kind == "index") then
    return self:within(denotation, argument.kind == "name" and array_of or row_at, argument)
  elseif denotation.tag == "variable" then
    return denotation.variable, {}
  elseif denotation.tag == "row" then
    return denotation.array, ast.copies(denotation.subscripts)
  elseif denotation.tag == "missing" then
    missing.refuse(self, node, denotation)
  end
  self:fail(node, "%s", denotation.reason or ("'%s' is not an array"):format(node.name))
end

function EXPRESSIONS.index(self, parsed)
  local array, subscripts = array_of(self, parsed)
  restrictions.index(self.origin, array, self.site or parsed, #subscripts + #parsed.subscripts)
  local own = self:evaluating(nil, self.place, resolve_list, parsed.subscripts)
  table.move(own, 1, #own, #subscripts + 1, subscripts)
  return self:node("index", parsed, { array = array, subscripts = subscripts })
end

function EXPRESSIONS.string(self, parsed)
  self:fail(parsed, "a string is not accepted: values are numbers and booleans; texts are made before or behind the "
    .. "compiled function")
end

function EXPRESSIONS.table(self, parsed)
  self:fail(parsed, "a table is made with a name, 'local t = {}', or as a row of one, t[i] = {}")
end

function EXPRESSIONS.length(self, parsed)
  local operand = parsed.operand
  local subscripts = resolve_list(self, operand.subscripts or {})
  local array, row = array_of(self, operand)
  local dimension = #row + #subscripts + 1
  if array.row_length and dimension == 2 then return self:node("number", parsed, { value = array.row_length }) end
  if array.is_made then return appending.length(self, array, parsed, dimension) end
  restrictions.length(self.origin, array, self.site or parsed, dimension)
  for d = 1, dimension - 1 do subscripts[d] = self:node("number", parsed, { value = 1 }) end -- rows are equally long
  return self:node("length", parsed, { array = array, dimension = dimension, subscripts = subscripts })
end

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
  local is_needless = parsed.op == "or" and g ~= resolve_expression and missing.is_nil(self, parsed.right)
  if is_needless then return f(self, parsed.left) end
  local left = f(self, parsed.left)
  local right = self:evaluating(nil, nil, g, parsed.right)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = right })
end

local resolve_optional

--- The same of a condition, of which only counts whether it holds: an element holds where it is there.
local function resolve_condition(self, parsed)
  return self:deeper(parsed, function()
    if IS_JOINED[parsed.op] then return joined(self, parsed, resolve_condition, resolve_condition) end
    if missing.is_nil(self, parsed) then return self:node("boolean", parsed, { value = false }) end
    return presence.condition(self, parsed) or resolve_expression(self, parsed)
  end)
end

--- Whether a condition asks whether an element is there.
local function asks(parsed)
  if parsed.kind == "index" then return true end
  if parsed.op == "not" then return asks(parsed.operand) end
  if EQUALITIES[parsed.op] then return parsed.left.kind == "nil" or parsed.right.kind == "nil" end
  return IS_JOINED[parsed.op] and (asks(parsed.left) or asks(parsed.right)) or false
end

--- The same of what an `or` follows, which is taken where there is no element. Behind another condition there is one:
-- `i < n and x[i + 1] or 0` says itself where.
function resolve_optional(self, parsed)
  return self:deeper(parsed, function()
    if parsed.op == "or" then return joined(self, parsed, resolve_optional, resolve_optional) end
    if parsed.op == "and" then
      return joined(self, parsed, resolve_condition, asks(parsed.left) and resolve_optional or resolve_expression)
    end
    return presence.value(self, parsed) or resolve_expression(self, parsed)
  end)
end

function EXPRESSIONS.unary(self, parsed)
  local value = settled(self, parsed)
  if value then return value end
  local f = parsed.op == "not" and resolve_condition or resolve_expression
  return self:node("unary", parsed, { op = parsed.op, operand = f(self, parsed.operand) })
end

--- Whether an element is there, or is not: `x[i] ~= nil`, `x[i] == nil`; nil for other expressions.
local function compared_with_nil(self, parsed)
  local left, right = parsed.left, parsed.right
  if not EQUALITIES[parsed.op] or left.kind ~= "nil" and right.kind ~= "nil" then return nil end
  local is_there = presence.condition(self, left.kind == "nil" and right or left)
  if not is_there or parsed.op == "~=" then return is_there end
  return self:node("unary", parsed, { op = "not", operand = is_there })
end

function EXPRESSIONS.binary(self, parsed)
  if IS_JOINED[parsed.op] then
    return joined(self, parsed, parsed.op == "and" and resolve_condition or resolve_optional, resolve_expression)
  end
  local value = settled(self, parsed) or compared_with_nil(self, parsed)
  if value then return value end
  local left = resolve_expression(self, parsed.left)
  return self:node("binary", parsed, { op = parsed.op, left = left, right = resolve_expression(self, parsed.right) })
end

local function arguments_expected(least, most)
  local plural = most == 1 and "" or "s"
  return most == math.huge and ("at least %d argument"):format(least) or ("%d argument%s"):format(most, plural)
end

--- A call of a function of math, or the product that it is.
local function call_node(self, parsed, name, arguments)
  local factor = denotations.FACTORS[name]
  if not factor then return self:node("call", parsed, { name = name, arguments = arguments }) end
  return self:node("binary", parsed, { op = "*", left = arguments[1],
    right = self:node("number", parsed, { value = factor }) })
end

local function check_arguments(self, parsed, name, count, least, most)
  if count < least or count > most then
    self:fail(parsed, "'%s' takes %s here, got %d", name, arguments_expected(least, most), count)
  end
end

local function name_of(callee)
  return callee.field and callee.name .. "." .. callee.field or callee.name
end

--- How many numbers a call gives.
local function count_of(self, parsed)
  local denotation = self:denote(parsed.callee)
  if denotation.tag ~= "inlined" then return 1 end
  return inlining.count(self, denotation) or #call_values(self, parsed, math.huge)
end

local kept

--- The arguments of a call: a last one that is a call of several numbers has become locals, whose names none in the
-- source is.
local function arguments_of(self, parsed)
  local list, last = parsed.arguments, parsed.arguments[#parsed.arguments]
  if not last or not last.takes or count_of(self, last) == 1 then return list end
  list = table.move(list, 1, #list - 1, 1, {})
  for _, value in ipairs(call_values(self, last, math.huge)) do
    local name = ("value %d"):format(self.count)
    self:bind(name, { tag = "variable", variable = self:add_local(self.place, "value", last, value) })
    list[#list + 1] = ast.parsed("name", { name = name }, last)
  end
  return list
end

--- The values of a call, as many as are taken.
function call_values(self, parsed, takes)
  local callee = parsed.callee
  local name, denotation = name_of(callee), self:denote(callee)
  if denotation.tag == "inlined" then
    local arguments, count = arguments_of(self, parsed), #denotation.parameters
    check_arguments(self, parsed, denotation.name, #arguments, 0, count)
    return inlining.values(self, parsed, denotation, arguments, takes)
  elseif denotation.tag == "function" then
    local arguments, expected = resolve_list(self, parsed.arguments), denotations.FUNCTIONS[denotation.name]
    check_arguments(self, parsed, name, #arguments, expected.least, expected.most)
    if takes < math.huge then inlining.check_count(self, parsed, name, 1, takes) end
    return { call_node(self, parsed, denotation.name, arguments) }
  elseif denotation.tag == "refused" then
    self:fail(callee, "unknown call '%s': %s", name, denotation.reason)
  end
  self:fail(callee, "unknown call '%s': functions of math and local functions are accepted", name)
end

--- A call of which one number is taken; in a list that holds no more, it has to be the only one.
function EXPRESSIONS.call(self, parsed)
  local count = parsed.takes and count_of(self, parsed) or 1
  if count > 1 then
    self:fail(parsed, "'%s' returns %d numbers, and one is needed here", name_of(parsed.callee), count)
  end
  return call_values(self, parsed, 1)[1]
end

-- --- statements ----------------------------------------------------------------------------

--- Resolves by f what is evaluated each time right behind the statements of a list.
local function resolve_whole(self, f, parsed, into, ...)
  local around = self.whole
  self.whole = parsed
  local value = self:evaluating(into, into, f, parsed, ...)
  self.whole = around
  return value
end

--- The value of an expression there.
local function value_of(self, parsed, into)
  return resolve_whole(self, resolve_expression, parsed, into)
end

--- Whether a value may be another one behind statements with some uses: two arrays of a call may be one.
local function may_change(node, uses)
  local assigned, stores = walk.set(uses.assigned), #uses.writes > 0
  return walk.find({ node }, function(part) return assigned[part.variable] or stores and part.array ~= nil end) ~= nil
end

--- Keeps values in locals, before statements of a list from one on that may change them.
-- @tparam table self
-- @tparam {table,...} values resolved
-- @tparam {table,...} into statements
-- @tparam integer first
-- @tparam table parsed what the statements are of
local function keep(self, values, into, first, parsed)
  local uses = walk.uses(table.move(into, first, #into, 1, {}))
  if #uses.assigned + #uses.writes == 0 then return end
  for i, value in ipairs(values) do
    if value.kind == "table" and #value.items > 0 then
      self:fail(parsed, "this call changes what may be in the table before it: write two statements")
    elseif value.kind and value.kind ~= "table" and may_change(value, uses) then
      local own = {}
      values[i] = kept(self, value, parsed, own)
      table.insert(into, first, own[1])
      first = first + 1
    end
  end
end

--- The values of a list, one after the other, each as it is before statements that follow: those of `one`, and all that
-- a last call gives.
local function values_of(self, list, into, one)
  local values = {}
  for i, parsed in ipairs(list) do
    local first = #into + 1
    local own = parsed.takes and resolve_whole(self, call_values, parsed, into, parsed.takes)
      or { one(self, parsed, into, i) }
    keep(self, values, into, first, parsed)
    table.move(own, 1, #own, i, values)
  end
  return values
end

local STATEMENTS = {}

local MAY_END = { ["if"] = true, ["do"] = true }

--- Resolves statements one behind the other, up to a `break`. Where they end the function, arrays may change places at
-- a loop's end.
local function resolve_statements(self, body, resolved)
  local ends = self.ends
  for i, statement in ipairs(body) do
    local unrolled = ends and swaps.unrolled(self, body, i)
    if unrolled then return resolve_statements(self, unrolled, resolved) end
    self.block, self.behind = body, i + 1
    self.ends = ends and i == #body and MAY_END[statement.kind]
    STATEMENTS[statement.kind](self, statement, resolved)
    self.ends = ends
    local last = resolved[#resolved]
    if last and last.kind == "break" then return end
  end
end

--- Resolves a block in a scope of its own.
local function resolve_block(self, body, declare)
  local around, resolved = self:enter(), {}
  if declare then declare() end
  resolve_statements(self, body, resolved)
  self:leave(around)
  return resolved
end

--- A block that ends the function, in whatever other one it stands.
function STATEMENTS.rest(self, parsed, into)
  self.ends, self.exchanges = true, self.exchanges + 1
  STATEMENTS["do"](self, parsed, into)
  self.exchanges = self.exchanges - 1
end

--- A block in which two names mean each other's arrays, also in functions that are called there.
function STATEMENTS.swapped(self, parsed, into)
  local one, other = parsed.one, parsed.other
  local names, others = self:names_with(one), self:names_with(other)
  names[one], others[other] = others[other], names[one]
  STATEMENTS["do"](self, parsed, into)
  names[one], others[other] = others[other], names[one]
end

local ALIASED = { math = true, ["function"] = true, inlined = true, row = true }

--- What `local sqrt = math.sqrt`, `local m = math` and `local b = a` of an array denote; nil for values.
-- @tparam table self
-- @tparam table parsed the value
-- @string name that it gets
-- @tparam {table,...} block parsed statements
-- @tparam integer behind where those begin that know the name
local function alias(self, parsed, name, block, behind)
  if parsed.kind ~= "name" and parsed.kind ~= "field" then return nil end
  local denotation = self:denote(parsed)
  if ALIASED[denotation.tag] then return denotation end
  local is_number = parsed.kind == "field" or denotation.variable and denotation.variable.number
  local is_array = not is_number and (denotation.tag == "variable" or denotation.tag == "argument")
    and (inlining.array_of(self, parsed.name) or inlining.is_indexed(self, block, behind, name))
  return is_array and denotation or nil
end

--- A local that gets its value later; `unassigned` checks that it does before it is read.
local function declare_blank(self, token, into)
  local zero = self:node("number", token, { value = 0 })
  local variable = self:declare(token, { role = "local", definition = zero, is_bare = true })
  into[#into + 1] = self:node("local", token, { variable = variable, value = zero, is_blank = true,
    is_bare = true })
end

local row_of

--- `local t = { ... }`: a table, or a row of one that it becomes in the rest of the block.
local function make_table(self, token, parsed, place, into)
  if not place then return made_tables.make(self, token, parsed, into) end
  if appending.is_end(place) then self:fail(place, "a row is appended in braces: t[#t + 1] = { x, y }") end
  local row = row_of(self, place, into)
  if row.array.is_made then appending.note(self, row.array, row.subscripts, place) end
  made_tables.note_row(self, row.array, row.subscripts, place)
  self:bind(token.text, row)
  made_tables.fill(self, row.array, row.subscripts, parsed, into)
end

STATEMENTS["local"] = function(self, parsed, into)
  local block, behind = self.block, self.behind
  if #parsed.values == 0 then
    for _, token in ipairs(parsed.names) do declare_blank(self, token, into) end
    return
  end
  local values = values_of(self, parsed.values, into, function(_, value, _, i)
    local is_row = value.kind == "index" and inlining.is_indexed(self, block, behind, parsed.names[i].text)
    return value.kind == "table" and value or is_row and row_of(self, value, into)
      or alias(self, value, parsed.names[i].text, block, behind) or value_of(self, value, into)
  end)
  for i, token in ipairs(parsed.names) do
    local value = values[i]
    if value.kind == "table" then
      make_table(self, token, value, made_tables.place_of(self, block, behind, token.text), into)
    elseif value.tag then
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
  local denotation = { tag = "inlined", name = parsed.name, parameters = parsed.parameters, parsed = parsed,
    scope = self.scope, holder = self.holder, key = parsed }
  self:enter()
  self:bind(parsed.name, denotation)
  if parsed.sees_itself then denotation.scope = self.scope end
  self:enter()
end

--- A local with a value, as a name.
function kept(self, value, at, into)
  return self:node("name", at, { variable = self:add_local(into, "value", at, value) })
end

--- Whether an expression is the same in all of a block: loop variables and what a call fixes are.
local function is_steady(node)
  return not walk.find({ node }, function(part)
    return part.kind == "index" or part.kind == "call" or part.kind == "name" and part.variable.role == "local"
  end)
end

--- What `local row = a[i]` denotes where elements of that are used.
function row_of(self, parsed, into)
  local array, subscripts = array_of(self, parsed)
  for _, subscript in ipairs(parsed.subscripts) do
    local value = value_of(self, subscript, into)
    subscripts[#subscripts + 1] = is_steady(value) and value or kept(self, value, subscript, into)
  end
  return { tag = "row", array = array, subscripts = subscripts }
end

local OF_ERRORS = "an error is raised behind the compiled function: keep where something is wrong in a local, bad = i, "
  .. "and return that"

-- Why calls of some globals are no statements.
local NO_STATEMENTS = {
  print = "print stays in Lua: store the numbers in a table, and print them behind the compiled function",
  error = OF_ERRORS, assert = OF_ERRORS,
}

--- A call whose value is not taken: of a function that is put in its place.
function STATEMENTS.perform(self, parsed, into)
  local call = parsed.call
  if appending.is_insert(call) and self:denote(ast.parsed("name", { name = "table" }, call)).tag == "table" then
    return assigning.insert(self, appending.of_insert(call), into)
  end
  local denotation = self:denote(call.callee)
  if denotation.tag ~= "inlined" then
    self:fail(parsed, "%s", denotation.tag == "refused" and NO_STATEMENTS[name_of(call.callee)]
      or "a call is not a statement here: functions of math only give a value; others are called before or behind the "
      .. "compiled function")
  end
  resolve_whole(self, call_values, call, into, 0)
end

STATEMENTS.give, STATEMENTS.assign, STATEMENTS.assigns = inlining.give, assigning.one, assigning.several

STATEMENTS["break"] = function(self, parsed, into) into[#into + 1] = self:node("break", parsed, {}) end

STATEMENTS["do"] = function(self, parsed, into)
  for _, statement in ipairs(resolve_block(self, parsed.body)) do into[#into + 1] = statement end
end

--- The arms of an `if` that may be taken, and its `else`.
local function arms_of(self, parsed)
  local arms = {}
  for _, arm in ipairs(parsed.arms) do
    local holds = missing.truth(self, arm.condition)
    if holds then return arms, arm.body end
    if holds == nil then arms[#arms + 1] = arm end
  end
  return arms, parsed.otherwise
end

STATEMENTS["if"] = function(self, parsed, into)
  local taken, body = arms_of(self, parsed)
  if #taken == 0 then return body and STATEMENTS["do"](self, ast.parsed("do", { body = body }, parsed), into) end
  local arms, ends = {}, self.ends
  for i, arm in ipairs(taken) do
    local before = i == 1 and into or nil
    self.ends = false -- a function that is called there
    local condition = self:evaluating(before, before, resolve_condition, arm.condition)
    self.ends, self.branches = ends, self.branches + 1
    arms[i] = ast.node("arm", { condition = condition, body = resolve_block(self, arm.body) }, arm)
  end
  local otherwise = body and resolve_block(self, body)
  self.branches = self.branches - #taken
  into[#into + 1] = self:node("if", parsed, { arms = arms, otherwise = otherwise })
end

--- Adds a loop; `declare` makes its variable.
local function add_loop(self, parsed, fields, into, declare)
  local around, loop = self.loops, nil
  local body = resolve_block(self, parsed.body, function()
    fields.variable, fields.body = declare(), {}
    loop = self:node("for", parsed, fields)
    loop.variable.loop = loop
    self.loops = table.move(around, 1, #around, 1, {})
    self.loops[#self.loops + 1] = loop
  end)
  loop.body, self.loops = body, around
  into[#into + 1] = loop
end

STATEMENTS["for"] = function(self, parsed, into)
  local from, to, pace = table.unpack(values_of(self, { parsed.from, parsed.to, parsed.pace }, into, value_of))
  add_loop(self, parsed, { from = from, to = to, step = parsed.step, pace = pace }, into, function()
    return self:declare(parsed.name, { role = "loop" })
  end)
end

--- `while` and `repeat`: a loop whose passes are counted, which nobody asks for.
function STATEMENTS.forever(self, parsed, into)
  local from = self:node("number", parsed, { value = 1 })
  local to = self:node("number", parsed, { value = math.maxinteger })
  add_loop(self, parsed, { from = from, to = to, step = 1, word = parsed.word }, into, function()
    return self:variable(parsed.word, { role = "loop" })
  end)
end

--- `for i, v in ipairs(x)` as `for i = 1, #x do local v = x[i]`.
function STATEMENTS.each(self, parsed, into)
  local at, array = parsed.call, parsed.call.arguments[1]
  if self:denote(parsed.call.callee).tag ~= "ipairs" then
    self:fail(parsed.call, "a generic 'for' goes over ipairs of an array, and this is not Lua's 'ipairs': write "
      .. "'ipairs(x)'")
  end
  local body = { ast.parsed("do", { body = parsed.body }, parsed) }
  if parsed.value then
    local index = ast.parsed("name", { name = parsed.name.text }, at)
    table.insert(body, 1, ast.parsed("local", { names = { parsed.value }, values = {
      ast.parsed("index", { name = array.name, subscripts = { index } }, at) } }, parsed))
  end
  STATEMENTS["for"](self, ast.parsed("for", { name = parsed.name, from = ast.parsed("number", { value = 1 }, at),
    to = ast.parsed("length", { operand = array }, at), step = 1, body = body }, parsed), into)
end

-- --- the function ----------------------------------------------------------------------------

local RESOLVER = { expression = resolve_expression, list = resolve_list, block = resolve_block, value = value_of,
  values = values_of, keep = keep, count = count_of, fill = made_tables.fill,
  array_of = array_of, row_at = row_at, kept = kept }

--- An array of one element for each number that the function returns.
local function results_of(self, parsed, count)
  local list = {}
  for i = 1, count do
    list[i] = self:variable(count == 1 and "result" or "result " .. i, { role = "array", node = parsed, loops = {},
      rank = 1, use = parsed, indexed = parsed, is_capture = true, is_result = true })
  end
  return list
end

--- Statements without those that store in an array.
local function without_stores(nodes, array)
  local list = {}
  for _, node in ipairs(nodes) do
    for _, arm in ipairs(node.arms or {}) do arm.body = without_stores(arm.body, array) end
    if node.otherwise then node.otherwise = without_stores(node.otherwise, array) end
    if node.body then node.body = without_stores(node.body, array) end
    if not node.target or node.target.array ~= array then list[#list + 1] = node end
  end
  return list
end

--- What a function returns, and its statements: a result that is one array in any case needs no number.
local function settle_results(self, body)
  local list = {}
  for i, result in ipairs(self.results) do
    local is_one = result.arrays and #result.arrays == 1
    if is_one then body = without_stores(body, result) else table.insert(self.captures, result) end
    list[i] = is_one and result.arrays[1] or result
  end
  return list, body
end

--- Declares the parameters. One that is assigned is a local, whose first value is the call's.
local function declare_parameters(self, parsed, into)
  local parameters = {}
  for i, token in ipairs(parsed.parameters) do
    parameters[i] = self:declare(token, { role = "parameter", is_parameter = true })
    if self.wanted.locals[token.offset] then
      local value = self:node("name", token, { variable = parameters[i] })
      restrictions.number(self.origin, parameters[i], token)
      local variable = self:add_local(into, token.text, token, value, { assigned = token })
      self:bind(token.text, { tag = "variable", variable = variable })
    end
  end
  return parameters
end

--- The tree of a parsed function, if nothing turns out that had to be known from the beginning.
local function resolve_once(parsed, base, wanted, is_cautious)
  local self = denotations.names(parsed, wanted)
  self.resolver, self.base = RESOLVER, base
  local body = {}
  local parameters = declare_parameters(self, parsed, body)
  local statements, count = jumps.structured(parsed.origin, parsed)
  self.statements = statements
  count = count or self:counts(parsed.origin)[parsed.offset]
  self.results = results_of(self, parsed, count or 0)
  self.results.holder, self.results.parsed, self.results.count = self.holder, parsed, count
  self.results.kinds = {} -- of the results so far, "array" or "number"
  self.ends = true
  local resolved = resolve_block(self, statements)
  table.move(resolved, 1, #resolved, #body + 1, body)
  local needless = appending.settle(self)
  for _, length in ipairs(needless) do body = without_stores(body, length) end
  local results
  results, body = settle_results(self, body)
  local tree = ast.node("function", { name = parsed.name, parameters = parameters, captures = self.captures,
    body = body, origin = parsed.origin, base = self.base, results = results,
    scratch = #self.made > 0 and self.made or nil }, parsed)
  return irregular.mark(flags.apply(tree), function(name, fields) return self:variable(name, fields) end, is_cautious)
end

--- The tree of a parsed function with variables in place of names.
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @tparam ?integer base of the arrays: 0 or, unless given, 1
-- @tparam ?boolean is_cautious of `clcompute.loops.front.irregular`
-- @treturn table `{ kind="function", name=, parameters={variables}, captures={variables}, body=, origin= }`
function resolve.run(parsed, base, is_cautious)
  local wanted = { cursors = {}, locals = {}, counts = {} }
  while true do
    local ok, result = pcall(resolve_once, parsed, base or 1, wanted, is_cautious)
    if ok then return result end
    if result ~= denotations.AGAIN then error(result, 0) end
  end
end

return resolve
