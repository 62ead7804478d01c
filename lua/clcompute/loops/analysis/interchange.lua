-- SPDX-License-Identifier: MIT

--- Moves sequential loops inwards. A loop within one of which no two passes touch the same element, whatever the pass
-- of the loop around, may as well be outside of it: then all of it is one launch instead of one for each pass.
--
--     for i do for j do for k do c[j][k] = c[j][k] + a[i][j] * a[i][k] end end end     a launch for each i
--     for j do for k do for i do ... end end end                                      one, and sums in registers

local affine = require("clcompute.loops.tree").affine
local bounds = require("clcompute.loops.tree").loop_bounds
local walk = require("clcompute.loops.tree").walk

local interchange = {}

--- How far the last pass of a loop is from that of the loop around it, where they are a triangle of which the first
-- column is not before the first row; nil where they are none: of `for j = 1, n do for k = 1, j - 2 do` it is -2, as
-- of `for k = 1, n - 2 do for j = k + 2, n do`.
local function triangle_offset(outer, inner)
  if outer.step ~= 1 or inner.step ~= 1 or walk.mentions(inner.from, outer.variable) then return nil end
  local distance = affine.distance(inner.to, bounds.name(outer.variable))
  local least = distance and affine.distance(inner.from, outer.from)
  return least and least - distance >= 0 and distance or nil
end

--- Whether a loop can go inside the only statement of its body: into a triangle only where a processor does not go
-- through memory in another order for that.
local function can_swap(outer, is_wide)
  local inner = not outer.irregular and #outer.body == 1 and outer.body[1]
  return inner and walk.is_parallel(inner)
    and (not walk.is_bounded_by(inner, outer.variable)
      or (is_wide or outer.is_separated) and triangle_offset(outer, inner) ~= nil)
end

--- Swaps a loop in a list of statements with the only one in its body; returns what restores them.
local function swap(list, at)
  local outer = list[at]
  local inner = outer.body[1]
  local body, from, to = inner.body, outer.from, inner.to
  local distance = walk.is_bounded_by(inner, outer.variable) and triangle_offset(outer, inner)
  if distance then
    inner.to = bounds.plus(outer.to, distance)
    outer.from = bounds.plus(bounds.name(inner.variable), -distance)
  end
  outer.body, inner.body, list[at] = body, { outer }, inner
  return function()
    outer.body, inner.body, list[at] = { inner }, body, outer
    outer.from, inner.to = from, to
  end
end

--- Moves a loop inwards as far as it goes.
local function move(list, at, analyse, is_wide)
  local outer, before, undone = list[at], walk.width(list[at].body[1]), {}
  local place, position = list, at
  while can_swap(outer, is_wide) do
    local undo = swap(place, position)
    analyse()
    if not place[position].parallel then
      undo()
      analyse()
      break
    end
    undone[#undone + 1] = undo
    place, position = place[position].body, 1
  end
  if is_wide and #undone > 0 and walk.width(list[at]) < before then
    for i = #undone, 1, -1 do undone[i]() end
    analyse()
    undone = {}
  end
  outer.is_moved = outer.is_moved or #undone > 0
end

--- The next sequential loop that was not looked at yet and might be moved, and where it stands.
local function next_of(nodes, is_seen, is_wide)
  for i, node in ipairs(nodes) do
    if node.kind == "for" and not node.parallel and not is_seen[node] and can_swap(node, is_wide) then
      return nodes, i
    end
    for _, body in ipairs(walk.bodies(node)) do
      local list, at = next_of(body, is_seen, is_wide)
      if list then return list, at end
    end
  end
end

--- Changes the order of loops in a tree; those that were moved have `is_moved`. Elements are computed as before, each
-- from the same numbers in the same order.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then
-- @tparam boolean is_wide whether the device needs many work-items: then no parallel loop is lost for it
function interchange.apply(tree, analyse, is_wide)
  local is_seen = {}
  local list, at = next_of(tree.body, is_seen, is_wide)
  while list do
    is_seen[list[at]] = true
    move(list, at, analyse, is_wide)
    list, at = next_of(tree.body, is_seen, is_wide)
  end
end

return interchange
