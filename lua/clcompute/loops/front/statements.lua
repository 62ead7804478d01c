-- SPDX-License-Identifier: MIT

--- Statements and blocks, with a scope for each. `do` and functions in place of calls are dissolved; each loop is one
-- that counts its passes.

local appending = require "clcompute.loops.front.appending"
local assigning = require "clcompute.loops.front.assigning"
local ast = require("clcompute.loops.tree").ast
local calling = require "clcompute.loops.front.calling"
local declaring = require "clcompute.loops.front.declaring"
local evaluating = require "clcompute.loops.front.evaluating"
local expressions = require "clcompute.loops.front.expressions"
local missing = require "clcompute.loops.front.missing"
local returning = require "clcompute.loops.front.returning"
local swaps = require "clcompute.loops.front.swaps"

local statements = {}

local KINDS = { assign = assigning.one, assigns = assigning.several, define = declaring.lua_function,
  give = returning.give, ["local"] = declaring.locals } -- others follow

-- --- blocks ------------------------------------------------------------------------------------

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
    KINDS[statement.kind](self, statement, resolved)
    self.ends = ends
    local last = resolved[#resolved]
    if last and last.kind == "break" then return end
  end
end

--- Resolves a block in a scope of its own.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam {table,...} body parsed
-- @tparam ?function declare declares a name that the block sees
-- @treturn {table,...} resolved
function statements.block(self, body, declare)
  local around, resolved = self:enter(), {}
  if declare then declare() end
  resolve_statements(self, body, resolved)
  self:leave(around)
  return resolved
end

--- Adds the statements of a block.
KINDS["do"] = function(self, parsed, into)
  for _, statement in ipairs(statements.block(self, parsed.body)) do into[#into + 1] = statement end
end

--- A block that ends the function, in whatever other one it stands.
function KINDS.rest(self, parsed, into)
  self.ends, self.exchanges = true, self.exchanges + 1
  KINDS["do"](self, parsed, into)
  self.exchanges = self.exchanges - 1
end

--- A block in which two names mean each other's arrays, also in functions that are called there.
function KINDS.swapped(self, parsed, into)
  local one, other = parsed.one, parsed.other
  local names, others = self:names_with(one), self:names_with(other)
  names[one], others[other] = others[other], names[one]
  KINDS["do"](self, parsed, into)
  names[one], others[other] = others[other], names[one]
end

-- --- calls -------------------------------------------------------------------------------------

local OF_ERRORS = "an error is raised behind the compiled function: keep where something is wrong in a local, bad = i, "
  .. "and return that"

-- Why calls of some globals are no statements.
local NO_STATEMENTS = {
  print = "print stays in Lua: store the numbers in a table, and print them behind the compiled function",
  error = OF_ERRORS, assert = OF_ERRORS,
}

--- A call whose value is not taken: of a function that is put in its place.
function KINDS.perform(self, parsed, into)
  local call = parsed.call
  if appending.is_insert(call) and self:denote(ast.parsed("name", { name = "table" }, call)).tag == "table" then
    return assigning.insert(self, appending.of_insert(call), into)
  end
  local denotation = self:denote(call.callee)
  if denotation.tag ~= "inlined" then
    self:fail(parsed, "%s", denotation.tag == "refused" and NO_STATEMENTS[calling.name_of(call.callee)]
      or "a call is not a statement here: functions of math only give a value; others are called before or behind the "
      .. "compiled function")
  end
  evaluating.whole(self, calling.values, call, into, 0)
end

-- --- conditions and loops ----------------------------------------------------------------------

KINDS["break"] = function(self, parsed, into) into[#into + 1] = self:node("break", parsed, {}) end

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

KINDS["if"] = function(self, parsed, into)
  local taken, body = arms_of(self, parsed)
  if #taken == 0 then return body and KINDS["do"](self, ast.parsed("do", { body = body }, parsed), into) end
  local arms, ends = {}, self.ends
  for i, arm in ipairs(taken) do
    local before = i == 1 and into or nil
    self.ends = false -- a function that is called there
    local condition = self:evaluating(before, before, expressions.condition, arm.condition)
    self.ends, self.branches = ends, self.branches + 1
    arms[i] = ast.node("arm", { condition = condition, body = statements.block(self, arm.body) }, arm)
  end
  local otherwise = body and statements.block(self, body)
  self.branches = self.branches - #taken
  into[#into + 1] = self:node("if", parsed, { arms = arms, otherwise = otherwise })
end

--- Adds a loop; `declare` makes its variable.
local function add_loop(self, parsed, fields, into, declare)
  local around, loop = self.loops, nil
  local body = statements.block(self, parsed.body, function()
    fields.variable, fields.body = declare(), {}
    loop = self:node("for", parsed, fields)
    loop.variable.loop = loop
    self.loops = table.move(around, 1, #around, 1, {})
    self.loops[#self.loops + 1] = loop
  end)
  loop.body, self.loops = body, around
  into[#into + 1] = loop
end

KINDS["for"] = function(self, parsed, into)
  local values = evaluating.values(self, { parsed.from, parsed.to, parsed.pace }, into, evaluating.value)
  add_loop(self, parsed, { from = values[1], to = values[2], step = parsed.step, pace = values[3] }, into, function()
    return self:declare(parsed.name, { role = "loop" })
  end)
end

--- `while` and `repeat`: a loop whose passes are counted, which nobody asks for.
function KINDS.forever(self, parsed, into)
  local from = self:node("number", parsed, { value = 1 })
  local to = self:node("number", parsed, { value = math.maxinteger })
  add_loop(self, parsed, { from = from, to = to, step = 1, word = parsed.word }, into, function()
    return self:variable(parsed.word, { role = "loop" })
  end)
end

local HIDDEN = "(for array)" -- a name that no text has

--- `for i, v in ipairs(x)` as `for i = 1, #x do local v = x[i]`. The names of the loop may be that of the array.
function KINDS.each(self, parsed, into)
  local at, array = parsed.call, parsed.call.arguments[1]
  if self:denote(parsed.call.callee).tag ~= "ipairs" then
    self:fail(parsed.call, "a generic 'for' goes over ipairs of an array, and '%s' is not Lua's 'ipairs': write "
      .. "'ipairs(x)'", parsed.call.callee.name)
  end
  local around, name = self:enter(), array.name
  if name == parsed.name.text then
    self:bind(HIDDEN, self:denote(array))
    name = HIDDEN
  end
  local body = { ast.parsed("do", { body = parsed.body }, parsed) }
  if parsed.value then
    local index = ast.parsed("name", { name = parsed.name.text }, at)
    table.insert(body, 1, ast.parsed("local", { names = { parsed.value }, values = {
      ast.parsed("index", { name = name, subscripts = { index } }, at) } }, parsed))
  end
  KINDS["for"](self, ast.parsed("for", { name = parsed.name, from = ast.parsed("number", { value = 1 }, at),
    to = ast.parsed("length", { operand = array }, at), step = 1, body = body }, parsed), into)
  self:leave(around)
end

return statements
