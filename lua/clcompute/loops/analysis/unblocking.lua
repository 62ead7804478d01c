-- SPDX-License-Identifier: MIT

--- Puts the strips of a loop together where a program goes through them one by one, as blocked programs do for a cache:
-- which blocks suit a device is chosen later, of whole loops.
--
--     for ii = 1, n, 32 do for i = ii, math.min(ii + 31, n) do x[i] = ... end end
--     for i = 1, n do x[i] = ... end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local isl_text = require "clcompute.loops.analysis.isl_text"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local unblocking = {}

-- --- the whole loop ------------------------------------------------------------------------------

local parts_of

local function parts_of_all(nodes)
  local list = {}
  for _, node in ipairs(nodes) do
    local parts = parts_of(node)
    table.move(parts, 1, #parts, #list + 1, list)
  end
  return list
end

--- The expressions whose least a last value is.
function parts_of(node)
  if node.kind == "call" and node.name == "min" then return parts_of_all(node.arguments) end
  if node.kind ~= "binary" or node.left.kind ~= "call" or node.op ~= "+" and node.op ~= "-" then return { node } end
  local list = {} -- `math.min(i + 32, n) - 1`
  for i, part in ipairs(parts_of(node.left)) do list[i] = ast.changed(node, { left = part }) end
  return list
end

local function least_of(list)
  return #list == 1 and list[1] or ast.node("call", { name = "min", type = "int", arguments = list }, list[1])
end

--- An expression for one pass of a loop.
local function at_pass(node, loop, value)
  return walk.replaced(node, function(part)
    return part.kind == "name" and part.variable == loop.variable and value or nil
  end)
end

--- The last value of a loop's variable; nil where it is the least of several sums.
local function last_of(loop)
  if not affine.of(loop.to) then return nil end
  if loop.step == 1 then return loop.to end
  local function binary(op, left, right)
    return ast.node("binary", { op = op, type = "int", left = left, right = right })
  end
  local step = ast.node("number", { type = "int", value = loop.step })
  return binary("+", loop.from, binary("*", binary("//", binary("-", loop.to, loop.from), step), step))
end

--- Where a loop's last passes end: the end of a strip among what does not change from strip to strip; nil where strips
-- do not follow each other without a gap.
local function ends_of(strips, loop, width)
  local kept, end_of_strip = {}, nil
  for _, part in ipairs(parts_of(loop.to)) do
    if not walk.mentions(part, strips.variable) then
      kept[#kept + 1] = part
    elseif affine.distance(part, loop.from) == width - 1 then
      end_of_strip = part
    else
      return nil
    end
  end
  return kept, end_of_strip
end

--- Whether strips begin at the values of their loop's variable, and passes end no later than these: then the last strip
-- ends behind the last pass.
local function is_covered(strips, loop, kept)
  if affine.distance(loop.from, bounds.name(strips.variable)) ~= 0 then return false end
  for _, last in ipairs(parts_of(strips.to)) do
    local is_there = false
    for _, part in ipairs(kept) do is_there = is_there or affine.distance(part, last) == 0 end
    if not is_there then return false end
  end
  return true
end

local function is_in(nodes, variable)
  return walk.find(nodes, function(part) return part.kind == "name" and part.variable == variable end) ~= nil
end

--- The first and the last value of a loop's variable in all strips together; nil where it does not go through strips.
local function whole(strips, loop)
  if loop.step ~= 1 or strips.step < 1 or loop.irregular or strips.irregular or not affine.of(strips.from) then
    return nil
  end
  local multiple = affine.multiple(loop.from, strips.variable)
  if not multiple or multiple < 1 then return nil end
  local kept, end_of_strip = ends_of(strips, loop, multiple * strips.step)
  if not end_of_strip or is_in(loop.body, strips.variable) then return nil end
  if not is_covered(strips, loop, kept) then
    local last = last_of(strips)
    if not last then return nil end
    table.insert(kept, 1, at_pass(end_of_strip, strips, last))
  end
  return at_pass(loop.from, strips, strips.from), least_of(kept)
end

-- --- where it is ---------------------------------------------------------------------------------

local BUDGET = 100000 -- of isl's operations for a question

--- Whether a loop has a pass wherever the loops around it have one.
local function always_runs(loop, around, scop)
  if not affine.of(loop.from) or not affine.of(loop.to) then return false end
  return require "clcompute.poly".overlap { budget = BUDGET, pairs = { { other = "{ T[] -> pass[] }",
    one = isl_text.without_pass(scop, loop, around) } } } == false
end

--- The loop between a local that is read from an element and the assignment that stores it there again; nil where a
-- body is not like this, or elements do not hold just what the local does.
local function between(body, variable, real)
  local first, loop, store = body[1], body[2], body[3]
  if #body ~= 3 or first.kind ~= "local" or loop.kind ~= "for" or store.kind ~= "assign" then return nil end
  local element, array = first.value, first.value.array
  local is_one = element.kind == "index" and lua_text.expression(element) == lua_text.expression(store.target)
    and store.value.kind == "name" and store.value.variable == first.variable
  return is_one and array.element == real and not is_in({ element }, variable)
    and not walk.find({ loop }, function(part) return part.array == array end) and loop or nil
end

--- The loop right within a loop over strips, with its first and last value in all of them.
local function within(strips, around, state)
  local body = strips.body
  local loop = #body == 1 and body[1].kind == "for" and body[1]
  if not loop then
    loop = between(body, strips.variable, state.real)
    if loop and not always_runs(strips, around, state.scop) then return nil end -- then nothing is read or stored
  end
  if loop then return loop, whole(strips, loop) end
end

--- The same of a loop further within, where all loops from the one to the other are parallel, so that their order is
-- free.
local function far_within(strips)
  local loop = strips
  while loop.parallel and #loop.body == 1 and loop.body[1].kind == "for" and loop.body[1].parallel do
    loop = loop.body[1]
    local from, to = whole(strips, loop)
    if from then return loop, from, to end
    if walk.is_bounded_by(loop, strips.variable) then return nil end
  end
end

--- Makes the loop in the strips of a loop a whole one; returns whether there is one.
local function join(strips, around, state)
  local loop, from, to = within(strips, around, state)
  if not from then loop, from, to = far_within(strips) end
  if not from then return false end
  loop.from, loop.to, loop.strips = from, to, strips.line
  loop.parallel = loop.parallel and strips.parallel -- until that is found out anew
  return true
end

local function apply_to(nodes, around, state)
  local has_changed, at = false, 1
  while nodes[at] do
    local node = nodes[at]
    if node.kind == "for" and join(node, around, state) then
      has_changed = true
      table.remove(nodes, at)
      for i = #node.body, 1, -1 do table.insert(nodes, at, node.body[i]) end
    else
      if node.kind == "for" then around[#around + 1] = node end
      for _, body in ipairs(walk.bodies(node)) do has_changed = apply_to(body, around, state) or has_changed end
      if node.kind == "for" then around[#around] = nil end
      at = at + 1
    end
  end
  return has_changed
end

--- Changes the loops of a tree that have `parallel`; those that were in strips have `strips`, the line of the loop over
-- these.
-- @tparam table tree
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the dtype of floats that are computed
-- @treturn boolean whether any was: `parallel` is to be found out anew
function unblocking.apply(tree, scop, real)
  return apply_to(tree.body, {}, { scop = scop, real = real })
end

return unblocking
