-- SPDX-License-Identifier: MIT

--- Calls: of functions of `math`, and of functions that are put in their place (`inlining`). A call that is the last
-- one of a list gives as many numbers as are taken.

local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local inlining = require "clcompute.loops.front.inlining"

local calling = {}

--- The values of a list, of which a last call may give several.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam {table,...} list parsed
-- @treturn {table,...} resolved
function calling.list(self, list)
  local resolved = {}
  for i, parsed in ipairs(list) do
    local own = parsed.takes and calling.values(self, parsed, parsed.takes)
      or { self.resolver.expression(self, parsed) }
    table.move(own, 1, #own, i, resolved)
  end
  return resolved
end

--- A name, or a field, as it is written.
function calling.name_of(parsed)
  return parsed.field and parsed.name .. "." .. parsed.field or parsed.name
end

--- How many numbers a call gives.
function calling.count(self, parsed)
  local denotation = self:denote(parsed.callee)
  if denotation.tag ~= "inlined" then return 1 end
  return inlining.count(self, denotation) or #calling.values(self, parsed, math.huge)
end

--- The arguments of a call: a last one that is a call of several numbers has become locals, whose names none in the
-- source is.
local function arguments_of(self, parsed)
  local list, last = parsed.arguments, parsed.arguments[#parsed.arguments]
  if not last or not last.takes or calling.count(self, last) == 1 then return list end
  list = table.move(list, 1, #list - 1, 1, {})
  for _, value in ipairs(calling.values(self, last, math.huge)) do
    local name = ("value %d"):format(self.count)
    self:bind(name, { tag = "variable", variable = self:add_local(self.place, "value", last, value) })
    list[#list + 1] = ast.parsed("name", { name = name }, last)
  end
  return list
end

local function arguments_expected(least, most)
  local plural = most == 1 and "" or "s"
  return most == math.huge and ("at least %d argument"):format(least) or ("%d argument%s"):format(most, plural)
end

local function check_arguments(self, parsed, name, count, least, most)
  if count < least or count > most then
    self:fail(parsed, "'%s' takes %s here, got %d", name, arguments_expected(least, most), count)
  end
end

--- The values of a call of an inlined function.
local function inlined(self, parsed, takes, denotation)
  local arguments = arguments_of(self, parsed)
  check_arguments(self, parsed, denotation.name, #arguments, 0, #denotation.parameters)
  return inlining.values(self, parsed, denotation, arguments, takes)
end

--- A call of a function of math, or the product that it is.
local function math_node(self, parsed, name, arguments)
  local factor = denotations.FACTORS[name]
  if not factor then return self:node("call", parsed, { name = name, arguments = arguments }) end
  return self:node("binary", parsed, { op = "*", left = arguments[1],
    right = self:node("number", parsed, { value = factor }) })
end

--- The value of a call of a function of math.
local function of_math(self, parsed, takes, denotation, name)
  local arguments, expected = calling.list(self, parsed.arguments), denotations.FUNCTIONS[denotation.name]
  check_arguments(self, parsed, name, #arguments, expected.least, expected.most)
  if takes < math.huge then inlining.check_count(self, parsed, name, 1, takes) end
  return { math_node(self, parsed, denotation.name, arguments) }
end

-- What a callee denotes to the values of its call.
local CALLS = { inlined = inlined, ["function"] = of_math }

--- The values of a call, as many as are taken.
-- @tparam table self
-- @tparam table parsed
-- @tparam number takes how many; huge: all
-- @treturn {table,...} resolved
function calling.values(self, parsed, takes)
  local name, denotation = calling.name_of(parsed.callee), self:denote(parsed.callee)
  local call = CALLS[denotation.tag]
  if call then return call(self, parsed, takes, denotation, name) end
  self:fail(parsed.callee, "unknown call '%s': %s", name, denotation.tag == "refused" and denotation.reason
    or "functions of math and local functions are accepted")
end

--- A call of which one number is taken; in a list that holds no more, it has to be the only one.
function calling.one(self, parsed)
  local count = parsed.takes and calling.count(self, parsed) or 1
  if count > 1 then
    self:fail(parsed, "'%s' returns %d numbers, and one is needed here", calling.name_of(parsed.callee), count)
  end
  return calling.values(self, parsed, 1)[1]
end

return calling
