-- SPDX-License-Identifier: MIT

--- Nests whose integers are loop variables, bounds and subscripts alone: where numbers and sizes of a call are small
-- enough, GPUs compute them in 32 bits, in which they are faster than in 64.

local affine = require("clcompute.loops.tree").affine
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local indices = {}

local BITS = 31
local MOST_ELEMENTS = (1 << BITS) - (1 << 16) -- less what tiles and groups are too large by
local SLACK = 4 -- a work-item's place is its loop's first value and a number of passes, which is twice that at most

local growth

--- The most that any of some expressions is, or nil.
local function most_growth(nodes)
  local most = 0.0
  for _, node in ipairs(nodes) do
    local own = growth(node)
    most = most and own and math.max(most, own)
  end
  return most
end

--- The most that an expression is, in multiples of the largest of its variables, as a float; nil where it is no sum of
-- such.
function growth(node)
  if node.kind == "name" and node.variable.role == "local" then return growth(node.variable.definition) end
  if node.kind == "name" or node.kind == "length" then return 1.0 end
  if node.kind == "number" then return math.abs(node.value + 0.0) end
  if node.kind == "unary" and node.op == "-" then return growth(node.operand) end
  if node.kind == "call" then return most_growth(node.arguments) end
  if node.kind ~= "binary" or not ("+-*"):find(node.op, 1, true) then return nil end
  local left, right = growth(node.left), growth(node.right)
  if not left or not right then return nil end
  return node.op == "*" and left * right or left + right
end

--- Whether an expression is an integer that stands for itself, not for a part of another one.
local function is_integer(node)
  return node.type == "int" and node.kind ~= "for" and node.kind ~= "local" and node.kind ~= "assign"
end

--- The most that any integer of a nest and any bound of the loops around it is, in multiples of the largest of its
-- variables, or nil.
local function most_of(nest)
  local most = 1.0
  local function visit(node)
    if node.kind == "for" then most = most and math.max(most, math.abs(node.step)) end
    if not is_integer(node) then return end
    local own = (affine.forms(node, "min") or affine.forms(node, "max")) and growth(node)
    most = most and own and math.max(most, own) or nil
    return false
  end
  walk.node(nest.node, visit)
  for _, loop in ipairs(nest.host_loops) do walk.nodes({ loop.from, loop.to }, visit) end
  return most
end

--- The number of a nest's last wavefront, in multiples of the largest of its loops' variables.
local function last_front(nest)
  local sum = 0
  for _, term in ipairs(nest.wavefront and nest.wavefront.terms or {}) do sum = sum + math.abs(term.coefficient) end
  return sum
end

--- The largest value that a loop's variable may have, by what numbers of work-items are: where loops share a dimension,
-- the product of their passes.
local function room_of(nest)
  local shared = 1
  for _, node in ipairs(nest.tiles and {} or nest.band) do
    local place = nest.mapping[node]
    if place.shared and not place.outermost then shared = shared + 1 end
  end
  return 2.0 ^ (BITS / shared) // SLACK
end

--- Whether an integer comes that is computed on the host, of which nothing is known before.
local function has_unknown(nest)
  for _, variable in ipairs(nest.scalars) do
    if variable.role == "local" and variable.type == "int" then return true end
  end
  return false
end

--- The largest number or size of a call with which 32 bits hold all integers of all nests that have a limit.
-- @tparam {table,...} nests with their `largest`
-- @treturn ?integer nil where none has
function indices.least(nests)
  local least
  for _, nest in ipairs(nests) do
    if nest.largest then least = math.min(least or nest.largest, nest.largest) end
  end
  return least
end

--- The same of nests that are one kernel: nil where one of them has no limit.
function indices.common(nests)
  for _, nest in ipairs(nests) do
    if not nest.largest then return nil end
  end
  return indices.least(nests)
end

--- Whether a call can do with 32 bits.
-- @tparam ?integer largest of `least`
-- @tparam table values numbers and sizes of the call, by name
-- @tparam {table,...} names of them, of `clcompute.loops.compiler`
-- @tparam {table,...} arrays with their `count` of elements
-- @treturn boolean
function indices.are_small(largest, values, names, arrays)
  if not largest then return false end
  for _, name in ipairs(names) do
    local value = values[name.id]
    if math.type(value) == "integer" and (value > largest or value < -largest) then return false end
  end
  for _, array in ipairs(arrays) do
    if array.count > MOST_ELEMENTS then return false end
  end
  return true
end

--- The largest number or size of a call with which 32 bits hold all integers of a nest.
-- @tparam table nest with its `node`, `depth`, `scalars`, `host_loops`, `band`, `mapping`, `tiles` and `wavefront`
-- @treturn ?integer nil where it has other integers than places
function indices.largest(nest)
  local has_more = nest.accumulators or has_unknown(nest) or faults.are_in { nest.node }
  local most = not has_more and most_of(nest)
  if not most then return nil end
  local largest = room_of(nest) // math.max(most, last_front(nest))
  -- a loop's variable is within its bounds, which name those of the loops around it, and so on
  for _ = 1, #nest.host_loops + nest.depth do largest = largest // most end
  return largest > 0 and math.tointeger(largest) or nil
end

return indices
