-- SPDX-License-Identifier: MIT

--- Puts functions in place of their calls: those of one expression as that expression, others as their statements
-- before the statement of the call, and a local for the number that they return.

local affine = require("clcompute.loops.tree").affine
local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local jumps = require "clcompute.loops.front.jumps"
local walk = require("clcompute.loops.tree").walk

local inlining = {}

local DEEPEST_CALLS = 20 -- calls in the functions that calls stand for
local MOST_VARIABLES = 100 -- then arguments get no locals any more: Lua has 200 in one function

-- --- what a function is --------------------------------------------------------------------

--- The statements of a function without jumps, and how many numbers it returns; and its value, if it is but one
-- expression.
local function body_of(denotation)
  if not denotation.body then
    local body, count = jumps.structured(denotation.holder.origin, denotation.parsed)
    denotation.body, denotation.count = body, count
    local is_expression = #body == 1 and body[1].kind == "give" and count == 1
    denotation.value = is_expression and body[1].values[1] or nil
  end
  return denotation
end

--- Counts where a part of a parsed function names a parameter, and notes whether it does so for an array, or assigns
-- it.
local function count(parsed, name, uses)
  if parsed.name == name and parsed.kind then
    uses.count = uses.count + 1
    uses.is_array = uses.is_array or parsed.kind ~= "name"
  end
  if parsed.kind == "length" then uses.is_array = uses.is_array or parsed.operand.name == name end
  if parsed.kind == "each" then uses.is_array = uses.is_array or parsed.call.arguments[1].name == name end
  for _, part in pairs(parsed) do
    if type(part) == "table" then count(part, name, uses) end
  end
  return uses
end

-- --- rows ---------------------------------------------------------------------------------

local function has_name(tokens, name)
  for _, token in ipairs(tokens) do
    if token.text == name then return true end
  end
  return false
end

--- Whether the statements of an inlined function take a name for an array, or a function does that they pass it to; of
-- one that is being asked, as it calls itself, they do not.
local function takes_array(self, denotation, name)
  local body = body_of(denotation).body
  if count(body, name, { count = 0 }).is_array then return true end
  if self.asked[body] then return false end
  self.asked[body] = true
  local place = { scope = denotation.scope, holder = denotation.holder, site = self.site, calls = self.calls }
  local is_taken = self:within(place, inlining.is_indexed, body, 1, name)
  self.asked[body] = nil
  return is_taken
end

--- Whether a function that is put in place of a call takes an argument of that name for an array.
local function is_taken(self, call, name)
  if appending.is_insert(call) then return call.arguments[1].name == name end
  local denotation = self:denote(call.callee)
  for i, argument in ipairs(denotation.tag == "inlined" and call.arguments or {}) do
    local parameter = argument.kind == "name" and argument.name == name and denotation.parameters[i]
    if parameter and takes_array(self, denotation, parameter.text) then return true end
  end
  return false
end

-- By kind, whether a node takes a name for an array.
local TAKES = {
  index = function(_, node, name) return node.name == name end,
  length = function(_, node, name) return node.operand.name == name end,
  each = function(_, node, name) return node.call.arguments[1].name == name end,
  call = is_taken,
}

-- By kind, whether a name is another one in what is in a node.
local DECLARES = {
  ["for"] = function(node, name) return node.name.text == name end,
  each = function(node, name) return node.name.text == name or node.value ~= nil and node.value.text == name end,
  define = function(node, name) return has_name(node.parameters, name) end,
}

local is_in_node

--- Whether a name is taken for an array in statements from one on, up to where it gets another meaning.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam {table,...} nodes parsed
-- @tparam integer first
-- @string name
function inlining.is_indexed(self, nodes, first, name)
  for i = first, #nodes do
    if is_in_node(self, nodes[i], name) then return true end
    if nodes[i].kind == "local" and has_name(nodes[i].names, name) then return false end
  end
  return false
end

function is_in_node(self, node, name)
  local takes, declares = TAKES[node.kind], DECLARES[node.kind]
  if takes and takes(self, node, name) then return true end
  if declares and declares(node, name) then return false end
  for _, part in pairs(node) do
    local is_found = type(part) == "table" and (part.kind and is_in_node(self, part, name)
      or not part.kind and inlining.is_indexed(self, part, 1, name))
    if is_found then return true end
  end
  return false
end

--- The array that a name denotes; nil where it denotes something else. A parameter that is not indexed yet is one if
-- the function indexes it further on.
function inlining.array_of(self, name)
  local variable = self:denote(ast.parsed("name", { name = name }, self.statements[1])).variable
  local is_array = variable and (variable.role == "array" or variable.role == "parameter"
    and inlining.is_indexed(self, self.statements, 1, name))
  return is_array and variable or nil
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

--- An argument where it was written.
local function in_place(self, parsed)
  return { tag = "argument", node = parsed, scope = self.scope, holder = self.holder, site = self.site,
    calls = self.calls }
end

--- A local with a value, among some statements.
local function local_of(self, into, name, at, value)
  local variable = self:variable(name, { role = "local", node = at, definition = value, is_argument = true })
  table.insert(into, self:node("local", at, { variable = variable, value = value }))
  return variable
end

--- What a parameter of a function of one expression denotes: its argument where it stands, or a local with its value.
local function denotation_of(self, parameter, parsed, value)
  local uses = count(value, parameter.text, { count = 0 })
  if uses.count == 1 or uses.is_array or is_name(self, parsed) then return in_place(self, parsed) end
  local resolved = self.resolver.expression(self, parsed)
  if not self.before or self.count >= MOST_VARIABLES then return in_place(self, parsed) end
  if is_plain(resolved) or may_be_partial(resolved) then return in_place(self, parsed) end
  return { tag = "variable", variable = local_of(self, self.before, parameter.text, parsed, resolved) }
end

--- What a parameter of a function of statements denotes, which may assign it: a local, or an array.
local function owned(self, parameter, parsed, denotation)
  if takes_array(self, denotation, parameter.text) then return in_place(self, parsed) end
  local resolved = self.resolver.expression(self, parsed)
  local variable = local_of(self, self.place, parameter.text, parsed, resolved)
  variable.is_argument = nil
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

--- Runs f within a function, whose parameters are bound.
local function within(self, parsed, denotation, calls, scope, f, ...)
  return self:within({ scope = scope, holder = denotation.holder, site = self.site or parsed, calls = calls }, f, ...)
end

--- The value of a function of one expression.
local function expression_of(self, parsed, denotation)
  local calls, scope = entered(self, parsed, denotation), denotations.new_scope(denotation.scope)
  for i, parameter in ipairs(denotation.parameters) do
    scope.names[parameter.text] = denotation_of(self, parameter, parsed.arguments[i], denotation.value)
  end
  return within(self, parsed, denotation, calls, scope, self.resolver.expression, denotation.value)
end

--- Whether statements change something from outside, but for some variables of their function.
local function has_effects(nodes, own)
  local uses = walk.uses(nodes)
  for _, variable in ipairs(uses.assigned) do
    if not own[variable] then return true end
  end
  return #uses.writes > 0
end

--- Adds a local that gets its value later.
local function add_blank(self, parsed)
  local zero = self:node("number", parsed, { value = 0 })
  local variable = self:variable("result", { role = "local", node = parsed, definition = zero })
  variable.assigned = parsed
  table.insert(self.place, self:node("local", parsed, { variable = variable, value = zero, is_blank = true }))
  return variable
end

--- Whether the last statement gives the number that a function returns, and no other one does.
local function is_given_last(body)
  local gives = 0
  local function visit(part)
    if part.kind == "give" then gives = gives + 1 end
    for _, inner in pairs(part) do
      if type(inner) == "table" then visit(inner) end
    end
  end
  visit(body)
  return gives == 1 and body[#body].kind == "give"
end

--- Adds the statements of a function; returns the local with the number that it returns, or nil.
local function statements_of(self, parsed, denotation)
  local into, calls = self.place, entered(self, parsed, denotation)
  local scope, own = denotations.new_scope(denotation.scope), {}
  for i, parameter in ipairs(denotation.parameters) do
    local denoted = owned(self, parameter, parsed.arguments[i], denotation)
    scope.names[parameter.text] = denoted
    if denoted.variable then own[denoted.variable] = true end
  end
  local is_single = is_given_last(denotation.body)
  local result = not is_single and denotation.count > 0 and add_blank(self, parsed) or nil
  if result then own[result] = true end
  local around, results = self.results, { result, is_single = is_single }
  self.results = results
  local body = within(self, parsed, denotation, calls, scope, self.resolver.block, denotation.body)
  self.results = around
  table.move(body, 1, #body, #into + 1, into)
  if self.whole ~= parsed and has_effects(body, own) then
    self:fail(parsed, "'%s' changes arrays or locals: its call is a statement, or all of a value", denotation.name)
  end
  return results[1]
end

--- Checks that there is a place for a function's statements.
local function check_place(self, parsed, denotation)
  if self.place then return end
  self:fail(parsed, "'%s' has statements: give its value to a local before, not behind 'and', 'or' or 'elseif'",
    denotation.name)
end

--- The value of an inlined function with its parameters bound to the arguments of a call, whose number is right.
-- @tparam table self of `denotations.names`
-- @tparam table parsed the call
-- @tparam table denotation of its function
-- @treturn table
function inlining.value(self, parsed, denotation)
  body_of(denotation)
  if denotation.value then return expression_of(self, parsed, denotation) end
  if denotation.count ~= 1 then
    self:fail(parsed, "'%s' returns %d numbers, and one is needed here", denotation.name, denotation.count)
  end
  check_place(self, parsed, denotation)
  return self:node("name", parsed, { variable = statements_of(self, parsed, denotation) })
end

--- Adds the statements of an inlined function whose call is a statement.
function inlining.perform(self, parsed, denotation)
  body_of(denotation)
  if denotation.value then return expression_of(self, parsed, denotation) end
  if denotation.count > 1 then
    self:fail(parsed, "'%s' returns %d numbers: one is accepted", denotation.name, denotation.count)
  end
  statements_of(self, parsed, denotation)
end

--- The number of an array among those that a `return` of the whole function may give in one place; nil where it gives a
-- number.
local function array_number(self, parsed, result)
  local array = self.results.kinds and parsed.kind == "name" and inlining.array_of(self, parsed.name)
  if not array then return nil end
  result.arrays = result.arrays or {}
  for i, known in ipairs(result.arrays) do
    if known == array then return i end
  end
  table.insert(result.arrays, array)
  return #result.arrays
end

--- What a `return` gives in one place: a value, or the number of an array.
local function given(self, parsed, result, into)
  local number = array_number(self, parsed, result)
  local kinds = self.results.kinds
  local kind = number and "array" or "number"
  if kinds and kinds[result] and kinds[result] ~= kind then
    self:fail(parsed, "every 'return' gives an array in this place, or every one a number")
  end
  if kinds then kinds[result] = kind end
  if number then appending.give(self, result.arrays[number], parsed, into) end
  return number and self:node("number", parsed, { value = number }) or self.resolver.value(self, parsed, into)
end

--- Adds what a `return` gives: to the locals, or the arrays of one element, that stand for it.
-- @tparam table self
-- @tparam table parsed the node `give`
-- @tparam {table,...} into statements
function inlining.give(self, parsed, into)
  local values = {}
  for i, value in ipairs(parsed.values) do values[i] = given(self, value, self.results[i], into) end
  if self.results.is_single then
    self.results[1] = local_of(self, into, "result", parsed, values[1])
    return
  end
  for i, result in ipairs(self.results) do
    local target = result.role == "array" and ast.node("index", { array = result, subscripts = {
      ast.node("number", { value = self.base }, parsed) } }, parsed) or self:node("name", parsed, { variable = result })
    into[#into + 1] = self:node("assign", parsed, { target = target, value = values[i] })
  end
end

return inlining
