-- SPDX-License-Identifier: MIT

--- Floats that may be integers in Lua, because data decide: `math.max(0, x)`, `x > 0 and x or 0`, a local that is given
-- both. A kernel computes them as floats. That is the same as long as the integers are small and meet floats; it is not
-- where the sign of a zero, a division by zero or 64 bits make a difference: such a node `is_ambiguous`.
-- @module clcompute.loops.front.mixture

local mixture = {}

local LARGEST = 1 << 53 -- of integers that are floats too
local NARROW = { char = true, uchar = true, short = true, ushort = true, int = true, uint = true }

--- The operands of a node whose values it may have itself.
local function alternatives(node)
  if node.kind == "call" and (node.name == "max" or node.name == "min") then return node.arguments end
  if node.op == "or" then return { node.left, node.right } end
  if node.op == "and" then return { node.right } end
  return {}
end

local is_small

--- Whether a local is given one value, which is small.
local function holds_small(variable)
  if variable.assigned or not variable.definition then return false end
  if variable.holds_small == nil then variable.holds_small = is_small(variable.definition) end
  return variable.holds_small
end

local SMALL = {
  number = function(node) return math.abs(node.value) <= LARGEST and node.value ~= math.mininteger end,
  name = function(node)
    local variable = node.variable
    return variable.role == "loop" or variable.is_index or holds_small(variable)
  end,
  length = function() return true end,
  index = function(node) return NARROW[node.array.element] end,
}

--- Whether an integer is surely not beyond what floats hold, but for sums that nobody writes.
function is_small(node)
  if SMALL[node.kind] then return SMALL[node.kind](node) or false end
  if node.kind == "unary" then return node.op == "-" and is_small(node.operand) end
  return (node.op == "+" or node.op == "-") and is_small(node.left) and is_small(node.right)
end

local function is_positive_literal(node)
  return node.type == "int" and node.kind == "number" and node.value > 0 and is_small(node)
end

--- Whether an operand is a float in Lua too.
local function is_float(node)
  return node.type == "float" and not node.is_mixed
end

local function is_either(node)
  return node.is_mixed or node.type == "int"
end

local ZERO_MATTERS = { ["*"] = true, ["//"] = true, ["%"] = true, fmod = true }
local TAKES_LITERAL = { ["*"] = true, ["//"] = true }
local KEEPS_MIXTURE = { ["+"] = true, ["-"] = true, ["*"] = true, ["//"] = true, ["%"] = true, abs = true, fmod = true }

--- Notes what an operator on two operands, of which one is mixed, makes of it.
local function mark_pair(node, operator, left, right)
  if not KEEPS_MIXTURE[operator] or not (left.is_mixed or right.is_mixed) then return end
  if is_float(left) or is_float(right) then return end
  node.is_mixed = true
  local other = left.is_mixed and right or left
  local is_harmless = is_positive_literal(right) or operator == "*" and is_positive_literal(left)
  if ZERO_MATTERS[operator] and not (TAKES_LITERAL[operator] and is_harmless) then node.is_ambiguous = true end
  if not other.is_mixed and not is_small(other) then node.is_ambiguous = true end
end

--- Notes whether a node of type float is one of several values, some of them integers.
local function mark_alternatives(node)
  local has_integer, has_large = false, false
  for _, operand in ipairs(alternatives(node)) do
    if is_either(operand) then has_integer = true end
    if operand.type == "int" and not is_small(operand) then has_large = true end
  end
  node.is_mixed = has_integer
  node.is_ambiguous = has_integer and has_large
end

--- Marks a node whose operands are marked and have their types: `is_mixed`, `is_ambiguous`.
function mixture.mark(node)
  node.is_mixed, node.is_ambiguous = nil, nil
  if node.type ~= "float" then return end
  if node.kind == "name" then
    node.is_mixed = node.variable.is_mixed
  elseif node.kind == "unary" then
    node.is_mixed, node.is_ambiguous = node.operand.is_mixed, node.operand.is_mixed
  elseif node.kind == "call" and (node.name == "abs" or node.name == "fmod") then
    local first, second = node.arguments[1], node.arguments[2]
    if second then mark_pair(node, "fmod", first, second) else node.is_mixed = first.is_mixed end
  elseif node.kind == "binary" and node.op ~= "and" and node.op ~= "or" then
    mark_pair(node, node.op, node.left, node.right)
  else
    mark_alternatives(node)
  end
end

--- Whether a variable of a type is mixed when it is given a value too; one beyond what floats hold is ambiguous.
function mixture.is_met(type, node)
  if type == "float" and node.type == "int" and not is_small(node) then node.is_ambiguous = true end
  return node.is_mixed or (type == "float") ~= (node.type == "float") and type ~= "bool"
end

return mixture
