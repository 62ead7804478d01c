-- SPDX-License-Identifier: MIT

--- Parameters that a call gives nothing, of the function that is compiled or of one put in place of its calls: nil in
-- Lua. There is no nil in a kernel, but what a call leaves out is known here, so `b or 0`, `if not b then b = 0 end`
-- and `if b == nil then` are what they come to.

local missing = {}

--- What a parameter denotes that a call gives nothing.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parameter a token
-- @tparam table fn what the function denotes
-- @treturn table a denotation
function missing.denotation(self, parameter, fn)
  return { tag = "missing", name = parameter.text, fn = fn.name, loops = #self.loops, branches = self.branches }
end

--- What a name denotes, be it that of an argument, and f of it there.
local function denoted(self, parsed, f)
  local denotation = self:denote(parsed)
  if denotation.tag ~= "argument" then return f(denotation) end
  return self:within(denotation, function(there)
    local node = denotation.node
    if node.kind ~= "name" then return f { tag = "expression", node = node } end
    return denoted(there, node, f)
  end)
end

--- Whether an expression is nil in Lua.
-- @tparam table self
-- @tparam ?table parsed
-- @treturn boolean
function missing.is_nil(self, parsed)
  if parsed == nil or parsed.kind == "nil" then return true end
  if parsed.kind == "name" then return denoted(self, parsed, function(found) return found.tag == "missing" end) end
  if parsed.op == "and" then return missing.is_nil(self, parsed.left) end
  return parsed.op == "or" and missing.is_nil(self, parsed.left) and missing.is_nil(self, parsed.right)
end

local MAY_BE_NIL = { index = true, ["and"] = true, ["or"] = true }

--- Whether a name is of what always has a value: not of an element that may be missing.
local function is_given(self, parsed)
  return parsed.kind == "name" and denoted(self, parsed, function(found)
    if found.tag == "expression" then return not (MAY_BE_NIL[found.node.kind] or MAY_BE_NIL[found.node.op]) end
    return found.variable ~= nil and not found.variable.is_bare
  end)
end

--- Whether a name is of a number that each call gives, or an array.
local function is_parameter(self, parsed)
  return parsed.kind == "name" and denoted(self, parsed, function(found)
    return found.variable ~= nil and found.variable.role == "parameter"
  end)
end

--- What a comparison with nil comes to; nil where data say so.
local function compared(self, parsed)
  local left, right = parsed.left, parsed.right
  if left.kind ~= "nil" and right.kind ~= "nil" then return nil end
  local other = left.kind == "nil" and right or left
  local is_nil = missing.is_nil(self, other)
  if not is_nil and not is_given(self, other) then return nil end
  return is_nil == (parsed.op == "==")
end

local truth

-- By operator, what an expression comes to as a condition.
local TRUTHS = {
  ["=="] = compared, ["~="] = compared,
  ["not"] = function(self, parsed)
    local operand = truth(self, parsed.operand)
    if operand ~= nil then return not operand end
  end,
  ["and"] = function(self, parsed)
    local left = truth(self, parsed.left)
    if left then return truth(self, parsed.right) end
    return left
  end,
  ["or"] = function(self, parsed)
    local left = truth(self, parsed.left)
    if left == false then return truth(self, parsed.right) end
    return left
  end,
}

--- Whether a condition holds, where what a call leaves out says so; nil elsewhere.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?boolean
function truth(self, parsed)
  if missing.is_nil(self, parsed) then return false end
  if parsed.kind == "number" or is_parameter(self, parsed) then return true end
  local find = TRUTHS[parsed.op]
  if find then return find(self, parsed) end
end

missing.truth = truth

--- Raises a failure at a name without a value.
function missing.refuse(self, parsed, denotation)
  self:fail(parsed, "'%s' is nil in this call of '%s', which leaves it out: pass it, or let the function begin with "
    .. "'%s = %s or 0'", denotation.name, denotation.fn, denotation.name, denotation.name)
end

--- Whether an assignment gives such a parameter its value for all that follows in its function.
-- @tparam table self
-- @tparam table denotation of the name
-- @treturn boolean
function missing.is_settled(self, denotation)
  return #self.loops == denotation.loops and self.branches == denotation.branches
end

return missing
