-- SPDX-License-Identifier: MIT

--- Floats that may be integers in Lua, because data decide: a local that begins with 0 and gets floats later,
-- `math.max(0, x)`, `x > 0 and x or 0`. A kernel computes them as floats, which is the same as long as floats hold the
-- integers that they may be. It is not where the sign of a zero, a division by zero or 64 bits make a difference: such
-- a node `is_ambiguous`. Which integers a number may be in Lua is an interval here, { least, most }, whose ends are
-- infinite beyond what floats hold; nil of a number that is a float, or has no value yet.

local mixtures = {}

local SUM = 1 << 53 -- of integers that floats hold, and all below it: where sums over passes end
local LARGEST = SUM >> 2 -- of other ends: as much again is for small addends, and `mixtures.ADDED` for others
mixtures.ADDED = SUM >> 1
local PASSES = 1 << 47 -- no call has so many, one after another
local SMALL = LARGEST // PASSES -- an addend that any number of passes may add
local STORED = 1 << 24 -- ends of what tables hold: a product of two has ends, and calls that store more are few
local ANY = { -math.huge, math.huge }
local SIZE = { 0, 1 << 36 } -- of arrays
local ARGUMENT = { -(1 << 31), 1 << 31 } -- one that is not `is_large`
local ELEMENTS = {}
for dtype, bits in pairs { char = 8, short = 16, int = 32 } do
  ELEMENTS[dtype], ELEMENTS["u" .. dtype] = { -(1 << bits - 1), (1 << bits - 1) - 1 }, { 0, (1 << bits) - 1 }
end

-- --- intervals ---------------------------------------------------------------------------------

local function interval(least, most, limit)
  limit = limit or LARGEST
  return { least < -limit and -math.huge or math.min(least, limit),
    most > limit and math.huge or math.max(most, -limit) }
end

local function is_finite(one)
  return one[1] >= -SUM and one[2] <= SUM
end
mixtures.is_finite = is_finite

local function has_zero(one)
  return one[1] <= 0 and one[2] >= 0
end

--- Both intervals and what is between them.
local function joined(one, other)
  if not one or not other then return one or other end
  return { math.min(one[1], other[1]), math.max(one[2], other[2]) }
end
mixtures.joined = joined

--- The next of few ends, from below.
local function further(most)
  return most <= 0 and 0 or most <= LARGEST and LARGEST or most <= SUM and SUM or math.huge
end

--- The same, for loops that go on: few other intervals follow.
local function widened(known, found)
  if not known or not found then return known or found end
  return { found[1] >= known[1] and known[1] or -further(-found[1]),
    found[2] <= known[2] and known[2] or further(found[2]) }
end

local function magnitude(one) return math.max(-one[1], one[2]) end

local function product(one, other)
  return (one == 0 or other == 0) and 0 or one * 1.0 * other
end

local INTERVALS = {
  ["+"] = function(left, right) return left[1] + right[1], left[2] + right[2] end,
  ["-"] = function(left, right) return left[1] - right[2], left[2] - right[1] end,
  ["*"] = function(left, right)
    local a, b = product(left[1], right[1]), product(left[1], right[2])
    local c, d = product(left[2], right[1]), product(left[2], right[2])
    return math.min(a, b, c, d), math.max(a, b, c, d)
  end,
  ["//"] = function(left, right)
    local most = magnitude(left)
    if right[1] > 0 then return left[1] < 0 and left[1] or 0, left[2] < 0 and -1 or left[2] end
    return -most, most
  end,
  ["%"] = function(_, right) return math.min(right[1] + 1, 0), math.max(right[2] - 1, 0) end,
  fmod = function(left) return math.min(left[1], 0), math.max(left[2], 0) end,
  ["&"] = function(left, right)
    local most = math.min(left[1] >= 0 and left[2] or math.huge, right[1] >= 0 and right[2] or math.huge)
    return most == math.huge and -math.huge or 0, most
  end,
}

-- --- expressions -------------------------------------------------------------------------------

--- Whether both operands are one local: a square has the sign of no factor.
local function is_square(left, right)
  return left.kind == "name" and right.kind == "name" and left.variable == right.variable
end

-- Whether integers give another number than floats do, a zero with its sign.
local DIFFERS = {
  ["*"] = function(left, right) return has_zero(left) and right[1] < 0 or has_zero(right) and left[1] < 0 end,
  ["//"] = function(left, right) return has_zero(right) or right[1] < 0 and has_zero(left) end,
  ["%"] = function(left, right) return has_zero(right) or left[1] < 0 end,
}
DIFFERS.fmod = DIFFERS["%"]

local ADDS = { ["+"] = true, ["-"] = true }
local MAY_GROW = { ["+"] = true, ["-"] = true, ["*"] = true } -- beyond both operands

--- The interval of a sum or difference, which passes may add up. Where the lesser of both is not small, the call's
-- number of passes tells whether floats hold it (`addend`); as long as nobody knows, the node is ambiguous.
local function summed(node, one, other, least, most)
  local addend = math.min(magnitude(one), magnitude(other))
  local is_beyond = is_finite(one) and is_finite(other) and (least < -LARGEST or most > LARGEST)
  if not is_beyond or addend > (node.type == "float" and LARGEST or SMALL) then return interval(least, most) end
  if addend > SMALL then node.addend, node.is_ambiguous = addend, true end
  return { least < -LARGEST and -SUM or least, most > LARGEST and SUM or most }
end

--- The interval of an operator on two operands, each of which is an integer somewhere.
local function of_pair(self, node, operator, left, right)
  local one, other = self.integers[left], self.integers[right]
  if not one or not other then return nil end
  local find, differs = INTERVALS[operator], DIFFERS[operator]
  if not find then return ANY end
  local least, most = find(one, other)
  if operator == "*" and is_square(left, right) then least, differs = has_zero(one) and 0 or least, nil end
  if node.type == "float" and not (is_finite(one) and is_finite(other) and not (differs and differs(one, other))) then
    node.is_ambiguous = true
  end
  if ADDS[operator] then return summed(node, one, other, least, most) end
  return interval(least, most, not MAY_GROW[operator] and SUM or nil)
end

--- The interval of values of which a node has one.
local function of_alternatives(self, nodes)
  local all
  for _, node in ipairs(nodes) do all = joined(all, self.integers[node]) end
  return all
end

local CALLS = {
  abs = function(self, node)
    local one = self.integers[node.arguments[1]]
    return one and { has_zero(one) and 0 or math.min(math.abs(one[1]), math.abs(one[2])), magnitude(one) }
  end,
  fmod = function(self, node) return of_pair(self, node, "fmod", node.arguments[1], node.arguments[2]) end,
  max = function(self, node) return of_alternatives(self, node.arguments) end,
}
CALLS.min = CALLS.max

--- Of a function that makes an integer of any number.
local function of_rounded(self, node)
  local argument = node.arguments[1]
  return node.type == "int" and (argument.type == "int" and self.integers[argument] or ANY) or nil
end

local INTEGERS = {
  number = function(_, node)
    return math.type(node.value) == "integer" and interval(node.value, node.value) or nil
  end,
  name = function(self, node) return self.now[node.variable] or self.given[node.variable] end,
  length = function() return SIZE end,
  index = function(self, node)
    return node.type == "int" and (ELEMENTS[node.array.element] or ANY) or self.stored[node.array]
  end,
  call = function(self, node) return (CALLS[node.name] or of_rounded)(self, node) end,
  unary = function(self, node)
    local one = self.integers[node.operand]
    if node.op == "~" then return ANY end
    if one and node.type == "float" and has_zero(one) then node.is_ambiguous = true end
    return one and { -one[2], -one[1] }
  end,
  binary = function(self, node)
    if node.op == "or" then return of_alternatives(self, { node.left, node.right }) end
    if node.op == "and" then return self.integers[node.right] end
    if node.op == "/" or node.op == "^" then return nil end
    return of_pair(self, node, node.op, node.left, node.right)
  end,
}

--- Finds which integers a node may be whose operands are marked and have their types; marks it: `is_mixed`,
-- `is_ambiguous`, `addend`.
-- @tparam table self `integers`, the intervals of nodes; `now`, of variables; `given`, of numbers of the call;
-- `is_mixed`, whether one is
-- @tparam table node
function mixtures.mark(self, node)
  node.is_mixed, node.is_ambiguous, node.addend = nil, nil, nil
  local found = node.type ~= "bool" and INTEGERS[node.kind] and INTEGERS[node.kind](self, node) or nil
  self.integers[node] = found
  if node.type ~= "float" or not found then return end
  node.is_mixed, self.is_mixed = true, true
  if not is_finite(found) then node.is_ambiguous = true end
end

-- --- statements --------------------------------------------------------------------------------
--
-- `now` are the intervals of variables at a place. Rounds go through the function until the places before loops, which
-- their passes lead to as well, have all that they may have.

local PATIENCE = 2 -- rounds, behind which intervals get wide at once

local function copied(state)
  local copy = {}
  for variable, found in pairs(state) do copy[variable] = found end
  return copy
end

--- Adds what another way leads with to a place.
local function add(place, way)
  for variable, found in pairs(way) do place[variable] = joined(place[variable], found) end
end

--- The same of a place before a loop.
local function add_before(self, place, way)
  for variable, found in pairs(way) do
    local known = place[variable]
    local all = (self.round > PATIENCE and widened or joined)(known, found)
    if not known or all[1] ~= known[1] or all[2] ~= known[2] then place[variable], self.has_changed = all, true end
  end
end

--- Notes what a variable is given, by its declaration as well; what floats do not hold is ambiguous.
function mixtures.give(self, variable, node)
  local found = self.integers[node]
  self.now[variable] = found
  if variable.type ~= "float" or not found then return end
  variable.is_mixed, self.is_mixed = true, true
  if not is_finite(found) then node.is_ambiguous = true end
end

--- Notes what a table of floats is given; another way may lead to its elements.
function mixtures.store(self, array, node)
  local known, found = self.stored[array], self.integers[node]
  if array.is_buffer or not found then return end
  local all = (self.round > PATIENCE and widened or joined)(known, found)
  local least, most = math.max(all[1], -STORED), math.min(all[2], STORED)
  if known and least == known[1] and most == known[2] then return end
  self.stored[array], self.has_changed = { least, most }, true
end

--- Goes through one of several bodies; a false one stands for none.
function mixtures.choose(self, bodies, visit)
  local before, after = self.now, {}
  for _, body in ipairs(bodies) do
    self.now = copied(before)
    if body then visit(self, body) end
    add(after, self.now)
  end
  self.now = after
end

--- The numbers that the variable of a loop has.
local function of_loop(self, node)
  local from, to = self.integers[node.from] or ANY, self.integers[node.to] or ANY
  local is_up, is_down = node.pace or node.step > 0, node.pace or node.step < 0
  local least, most = math.min(from[1], is_down and to[1] or from[1]), math.max(from[2], is_up and to[2] or from[2])
  if node.irregular and not node.pace then -- whatever data say, it counts passes
    local span = math.abs(node.step) * 1.0 * PASSES
    least, most = math.max(least, from[1] - span), math.min(most, from[2] + span)
  end
  return interval(least, most)
end

--- Goes through the passes of a loop. Out of `while` and `repeat` leads a `break`.
function mixtures.pass(self, node, visit)
  local before, exits, variable = self.before[node] or {}, self.exits, of_loop(self, node)
  self.before[node], self.exits = before, {}
  add_before(self, before, self.now)
  self.now = copied(before)
  self.now[node.variable] = variable
  visit(self, node.body)
  add_before(self, before, self.now)
  if not node.word then add(self.exits, before) end
  self.now, self.exits = self.exits, exits
end

--- Notes with what a `break` leaves its loop.
function mixtures.leave(self)
  add(self.exits, self.now)
end

--- The integers that a number of the call may be.
-- @tparam table kind of `clcompute.loops.runtime.arguments`
-- @treturn ?table an interval
function mixtures.of_argument(kind)
  if kind.type ~= "int" then return nil end
  return kind.is_large and ANY or ARGUMENT
end

return mixtures
