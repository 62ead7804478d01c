-- SPDX-License-Identifier: MIT

--- Puts functions in place of their calls: those of a `return` alone as its expressions, others as their statements
-- before the statement of the call, and locals for the numbers that they return.

local affine = require("clcompute.loops.tree").affine
local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local jumps = require "clcompute.loops.front.jumps"
local missing = require "clcompute.loops.front.missing"
local names = require "clcompute.loops.front.names"
local walk = require("clcompute.loops.tree").walk

local inlining = {}

local DEEPEST_CALLS = 20 -- calls in the functions that calls stand for
local MOST_VARIABLES = 100 -- then arguments get no locals any more: Lua has 200 in one function

-- --- what a function is --------------------------------------------------------------------

--- The statements of a function without jumps, and how many numbers it returns, if that is known; and its values, if
-- it is but a `return`.
local function body_of(denotation)
  if not denotation.body then
    local body, count = jumps.structured(denotation.holder.origin, denotation.parsed)
    denotation.body, denotation.count = body, count
    denotation.values = #body == 1 and body[1].kind == "give" and body[1].values or nil
  end
  return denotation
end

--- How many numbers a function returns; nil where a call says so that has not been resolved.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table denotation of an inlined function
-- @treturn ?integer
function inlining.count(self, denotation)
  return body_of(denotation).count or self:counts(denotation.holder.origin)[denotation.parsed.offset]
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
-- @tparam table self of `clcompute.loops.front.names`
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

--- What a parameter of a function of expressions denotes: its argument where it stands, or a local with its value.
local function denotation_of(self, parameter, parsed, denotation)
  if missing.is_nil(self, parsed) then return missing.denotation(self, parameter, denotation) end
  local uses = count(denotation.values, parameter.text, { count = 0 })
  if uses.count == 1 or uses.is_array or is_name(self, parsed) then return in_place(self, parsed) end
  local resolved = self.resolver.expression(self, parsed)
  if not self.before or self.count >= MOST_VARIABLES then return in_place(self, parsed) end
  if is_plain(resolved) or may_be_partial(resolved) then return in_place(self, parsed) end
  local variable = self:add_local(self.before, parameter.text, parsed, resolved, { is_argument = true })
  return { tag = "variable", variable = variable }
end

--- What a parameter of a function of statements denotes, which may assign it: a local, or an array.
local function owned(self, parameter, parsed, denotation)
  if missing.is_nil(self, parsed) then return missing.denotation(self, parameter, denotation) end
  if takes_array(self, denotation, parameter.text) then return in_place(self, parsed) end
  local resolved = self.resolver.expression(self, parsed)
  return { tag = "variable", variable = self:add_local(self.place, parameter.text, parsed, resolved) }
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

--- Whether Lua raises no error where it computes a value.
local function is_silent(node)
  if node.kind ~= "index" then return PLAIN[node.kind] or affine.of(node) ~= nil end
  for _, subscript in ipairs(node.subscripts) do
    if not is_silent(subscript) then return false end
  end
  return true
end

--- The first values of a list; others are computed if Lua may raise an error there.
-- @tparam table self
-- @tparam {table,...} values resolved
-- @tparam integer takes how many
-- @tparam table parsed the place of locals for others
-- @tparam {table,...} into statements
-- @treturn {table,...}
function inlining.taken(self, values, takes, parsed, into)
  local list = table.move(values, 1, math.min(takes, #values), 1, {})
  for i = #list + 1, #values do
    if not is_silent(values[i]) then self:add_local(into, "unused", parsed, values[i], { is_argument = true }) end
  end
  return list
end

--- The values of a function of expressions.
local function expressions_of(self, parsed, denotation, arguments, takes)
  local calls, scope = entered(self, parsed, denotation), names.scope(denotation.scope)
  for i, parameter in ipairs(denotation.parameters) do
    scope.names[parameter.text] = denotation_of(self, parameter, arguments[i], denotation)
  end
  if #denotation.values == 1 and self.whole == parsed then self.whole = denotation.values[1] end
  local values = within(self, parsed, denotation, calls, scope, self.resolver.list, denotation.values)
  return inlining.taken(self, values, takes, parsed, self.place)
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

--- Adds the statements of a function; returns the first of the numbers that it returns.
local function statements_of(self, parsed, denotation, arguments, takes)
  local into, calls = self.place, entered(self, parsed, denotation)
  local scope, own = names.scope(denotation.scope), {}
  for i, parameter in ipairs(denotation.parameters) do
    local denoted = owned(self, parameter, arguments[i], denotation)
    scope.names[parameter.text] = denoted
    if denoted.variable then own[denoted.variable] = true end
  end
  local results = { holder = denotation.holder, parsed = denotation.parsed, count = inlining.count(self, denotation),
    takes = takes, is_single = is_given_last(denotation.body) }
  for i = 1, results.is_single and 0 or math.min(takes, results.count or 0) do
    results[i] = add_blank(self, parsed)
    own[results[i]] = true
  end
  local around = self.results
  self.results = results
  local body = within(self, parsed, denotation, calls, scope, self.resolver.block, denotation.body)
  self.results = around
  table.move(body, 1, #body, #into + 1, into)
  if self.whole ~= parsed and has_effects(body, own) then
    self:fail(parsed, "'%s' changes arrays or locals: its call is a statement, or all of a value", denotation.name)
  end
  local values = {}
  for i, result in ipairs(results) do values[i] = self:node("name", parsed, { variable = result }) end
  return values
end

--- Notes how many numbers a function returns, and resolves all once more.
-- @tparam table self
-- @tparam table fn `holder` and `parsed` of the function
-- @tparam integer number
function inlining.note_count(self, fn, number)
  self.again(self:counts(fn.holder.origin), fn.parsed.offset, number)
end

--- Checks that there is a place for a function's statements and numbers.
local function check_place(self, parsed, denotation, number)
  if self.place or denotation.values and number == 1 then return end
  local what = denotation.values and ("returns %d numbers: give them to locals"):format(number)
    or "has statements: give its value to a local"
  self:fail(parsed, "'%s' %s before, not behind 'and', 'or' or 'elseif'", denotation.name, what)
end

--- Checks that a function returns as many numbers as are needed.
function inlining.check_count(self, parsed, name, number, needed)
  if number >= needed then return end
  self:fail(parsed, "'%s' returns %d number%s, and %s needed here", name, number, number == 1 and "" or "s",
    needed == 1 and "one is" or needed .. " are")
end

--- The first values of an inlined function with its parameters bound to the arguments of a call, whose number is right.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed the call
-- @tparam table denotation of its function
-- @tparam {table,...} arguments parsed
-- @tparam number takes how many; huge: all
-- @treturn {table,...}
function inlining.values(self, parsed, denotation, arguments, takes)
  local number = inlining.count(self, denotation)
  local add = denotation.values and expressions_of or statements_of
  if not number then
    inlining.note_count(self, denotation, #self:evaluating({}, {}, add, parsed, denotation, arguments, math.huge))
  end
  if takes < math.huge then inlining.check_count(self, parsed, denotation.name, number, takes) end
  check_place(self, parsed, denotation, number)
  return add(self, parsed, denotation, arguments, takes)
end

return inlining
