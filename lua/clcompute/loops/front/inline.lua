-- SPDX-License-Identifier: MIT

--- Puts functions of one expression in place of their calls. As in Lua, an argument is evaluated once: one that its
-- function names several times, or never, gets a local of its own before the statement, unless it is plain: a name, a
-- literal, an element of an array, or affine. Others stand where the parameter stood.
--
-- There is no place for such locals before bounds, subscripts, conditions behind `elseif` and the right sides of `and`
-- and `or`: those are affine, or not evaluated each time. There every argument stands where its parameter stood.
-- @module clcompute.loops.front.inline

local affine = require "clcompute.loops.tree.affine"
local names = require "clcompute.loops.front.names"

local inline = {}

local DEEPEST = 20 -- calls in the functions that calls stand for
local MOST_VARIABLES = 100 -- then arguments get no locals any more: Lua has 200 in one function

-- --- how a function uses a parameter ------------------------------------------------------

local LISTS = { "arguments", "subscripts" }
local PARTS = { "left", "right", "operand", "callee" }

--- Counts where a parsed expression names a parameter, and notes whether it does so for an array.
local function count(parsed, name, uses)
  if parsed.name == name then
    uses.count = uses.count + 1
    uses.is_array = uses.is_array or parsed.kind ~= "name"
  end
  if parsed.kind == "length" then uses.is_array = uses.is_array or parsed.operand.name == name end
  for _, key in ipairs(PARTS) do
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
local function denotation_of(self, parameter, parsed, value, resolve)
  local in_place = { tag = "argument", node = parsed, scope = self.scope, holder = self.holder, site = self.site,
    calls = self.calls }
  local uses = count(value, parameter.text, { count = 0 })
  if uses.count == 1 or uses.is_array or is_name(self, parsed) then return in_place end
  local resolved = resolve(self, parsed)
  if not self.before or self.variables.count >= MOST_VARIABLES then return in_place end
  if is_plain(resolved) or may_be_partial(resolved) then return in_place end
  local variable = self:variable(parameter, "local", { definition = resolved, is_argument = true })
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
  if depth > DEEPEST then
    self:fail(parsed, "'%s': calls within calls are put in place up to %d levels", denotation.name, DEEPEST)
  end
  return { key = denotation.key, around = calls, depth = depth }
end

--- The value of an inlined function with its parameters bound to the arguments of a call, whose number is right.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed the call
-- @tparam table denotation of its function
-- @tparam function resolve gives the resolved expression of a parsed one
-- @treturn table
function inline.value(self, parsed, denotation, resolve)
  local calls, scope = entered(self, parsed, denotation), names.new_scope(denotation.scope)
  for i, parameter in ipairs(denotation.parameters) do
    scope.names[parameter.text] = denotation_of(self, parameter, parsed.arguments[i], denotation.value, resolve)
  end
  return self:within({ scope = scope, holder = denotation.holder, site = self.site or parsed, calls = calls }, resolve,
    denotation.value)
end

return inline
