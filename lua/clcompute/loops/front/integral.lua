-- SPDX-License-Identifier: MIT

--- `math.tointeger` gives nil for a float that is no integer, and there is no nil in a kernel: where a default follows
-- it, or a condition asks for it, it is a comparison and a number. Elsewhere what it is given is looked at as it is
-- computed.

local evaluating = require "clcompute.loops.front.evaluating"

local integral = {}

--- What `math.tointeger` is given, parsed; nil for other expressions.
local function argument_of(self, parsed)
  if parsed.kind ~= "call" or #parsed.arguments ~= 1 then return nil end
  local denotation = self:denote(parsed.callee)
  return denotation.tag == "function" and denotation.name == "tointeger" and parsed.arguments[1] or nil
end

--- A function that makes a node of an argument each time: of a local that keeps it, if there is a place for that.
local function copies_of(self, parsed)
  local kept = self.before and evaluating.kept(self, self.resolver.expression(self, parsed), parsed, self.before)
  return function()
    return kept and self:node("name", parsed, { variable = kept.variable }) or self.resolver.expression(self, parsed)
  end
end

local END = 0x1p63 -- of Lua's integers

--- The condition that a number is an integer of Lua's.
local function is_one(self, parsed, copy)
  local function binary(op, left, right) return self:node("binary", parsed, { op = op, left = left, right = right }) end
  local function number(value) return self:node("number", parsed, { value = value }) end
  local is_whole = binary("==", binary("%", copy(), number(1)), number(0))
  local is_above = binary(">=", copy(), self:node("unary", parsed, { op = "-", operand = number(END) }))
  return binary("and", binary("and", is_whole, is_above), binary("<", copy(), number(END)))
end

--- The condition that `math.tointeger` gives a number; nil for other expressions.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed
-- @treturn ?table
function integral.condition(self, parsed)
  local argument = argument_of(self, parsed)
  return argument and is_one(self, parsed, copies_of(self, argument))
end

--- What `math.tointeger` gives, false for nil; nil for other expressions.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed
-- @treturn ?table
function integral.value(self, parsed)
  local argument = argument_of(self, parsed)
  if not argument then return nil end
  local copy = copies_of(self, argument)
  return self:node("binary", parsed, { op = "and", left = is_one(self, parsed, copy),
    right = self:node("call", parsed, { name = "floor", arguments = { copy() } }) })
end

return integral
