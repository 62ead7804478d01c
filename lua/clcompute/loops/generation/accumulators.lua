-- SPDX-License-Identifier: MIT

--- What a work-item keeps of each reduction of a nest: a variable of its own, which takes the place of x, begins with
-- the value that changes nothing, and is put together with those of the others by the operation.
-- @module clcompute.loops.generation.accumulators

local changed = require "clcompute.loops.tree.rewrite".changed

local accumulators = {}

-- By operation and type. -0.0 + x is x whatever x is; 0.0 + -0.0 is not.
local IDENTITY = {
  sum = { int = 0, float = -0.0 }, product = { int = 1, float = 1.0 },
  min = { int = math.maxinteger, float = math.huge }, max = { int = math.mininteger, float = -math.huge },
}

-- The function of clcompute.loops.generation.c_helpers that puts two values together.
local HELPER = {
  sum = { int = "add_int", float = "add_real" }, product = { int = "mul_int", float = "mul_real" },
  min = { int = "min_int", float = "min_real" }, max = { int = "max_int", float = "max_real" },
}

local OPERATOR = { sum = "+", product = "*" }

local replaced

local function replaced_arguments(node, old, new)
  local arguments, is_there = {}, false
  for i, argument in ipairs(node.arguments) do
    local other = replaced(argument, old, new)
    arguments[i], is_there = other or argument, is_there or other ~= nil
  end
  return is_there and changed(node, { arguments = arguments }) or nil
end

--- An expression with one node in it replaced, or nil where it is not there; the operators around it `is_reordered`.
function replaced(node, old, new)
  if node == old then return new end
  if node.kind == "call" then return replaced_arguments(node, old, new) end
  if node.kind ~= "binary" then return nil end
  local left, right = replaced(node.left, old, new), replaced(node.right, old, new)
  if not left and not right then return nil end
  return changed(node, { left = left or node.left, right = right or node.right, is_reordered = true })
end

local function call(operation, arguments, type)
  return { kind = "call", name = operation, arguments = arguments, type = type }
end

--- The right side of a reduction with another variable in place of x, which stands first in a function, so that NaN is
-- left out there.
local function value_of(reduction, name)
  if OPERATOR[reduction.operation] or reduction.is_first then
    return replaced(reduction.node.value, reduction.occurrence, name)
  end
  return call(reduction.operation, { name, table.unpack(reduction.others) }, name.type)
end

--- The assignment of a reduction with another variable in place of x.
local function instead_of(reduction, name)
  return changed(reduction.node, { target = name, value = value_of(reduction, name) })
end

--- x and what was found, put together, as a node; in the order of the statement, which matters to NaN.
local function combined(reduction, name)
  local target, operator = reduction.target, OPERATOR[reduction.operation]
  if operator then return { kind = "binary", op = operator, left = target, right = name, type = target.type } end
  return call(reduction.operation, reduction.is_first and { target, name } or { name, target }, target.type)
end

--- A node of a type that is a variable's name.
local function name_of(id, type)
  return { kind = "name", type = type, variable = { id = id, type = type } }
end

--- The accumulators of a nest's reductions.
-- @tparam {table,...} reductions of `clcompute.loops.analysis.reductions`, in a tree with types
-- @treturn {table,...} `id`, `type` ("int" or "float"), `operation`, `target` (x), `is_local` (whether that is one),
-- `node` (the assignment), `instead` (the one of the work-item), `identity` (what it begins with), `helper` (a function
-- of two values in C), `result` (an expression: x and the accumulator), `found` (an expression: x and a variable of
-- that name)
function accumulators.of(reductions)
  local list = {}
  for i, reduction in ipairs(reductions) do
    local target, operation = reduction.target, reduction.operation
    local type, is_local = target.type, target.kind == "name"
    local id = is_local and target.variable.id or ("%s_x%d"):format(target.array.id, i)
    local name = name_of(id, type)
    list[i] = { id = id, type = type, operation = operation, target = target, is_local = is_local,
      node = reduction.node, instead = instead_of(reduction, name), identity = IDENTITY[operation][type],
      helper = HELPER[operation][type], result = combined(reduction, name),
      found = combined(reduction, name_of("found", type)) }
  end
  return list
end

return accumulators
