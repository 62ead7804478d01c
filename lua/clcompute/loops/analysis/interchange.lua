-- SPDX-License-Identifier: MIT

--- Moves sequential loops inwards. A loop within one of which no two passes touch the same element, whatever the pass
-- of the loop around, may as well be outside of it: then all of it is one launch instead of one for each pass.
--
--     for i do for j do for k do c[j][k] = c[j][k] + a[i][j] * a[i][k] end end end     a launch for each i
--     for j do for k do for i do ... end end end                                      one, and sums in registers

local walk = require("clcompute.loops.tree").walk

local interchange = {}

--- Whether a loop can go inside the only statement of its body.
local function can_swap(outer)
  local inner = not outer.irregular and #outer.body == 1 and outer.body[1]
  return inner and inner.kind == "for" and inner.parallel and not inner.irregular
    and not walk.is_bounded_by(inner, outer.variable)
end

--- Swaps a loop in a list of statements with the only one in its body. Done again, that restores them.
local function swap(list, at)
  local outer = list[at]
  local inner = outer.body[1]
  outer.body, inner.body, list[at] = inner.body, { outer }, inner
end

--- How many parallel loops are nested perfectly from a node on.
local function width(node)
  local count = 0
  while node.kind == "for" and node.parallel and not node.irregular do
    count, node = count + 1, #node.body == 1 and node.body[1] or {}
  end
  return count
end

--- Moves a loop inwards as far as it goes.
local function move(list, at, analyse, is_wide)
  local outer, before, places = list[at], width(list[at].body[1]), {}
  local place, position = list, at
  while can_swap(outer) do
    swap(place, position)
    analyse()
    if not place[position].parallel then
      swap(place, position)
      analyse()
      break
    end
    places[#places + 1] = { place, position }
    place, position = place[position].body, 1
  end
  if is_wide and #places > 0 and width(list[at]) < before then
    for i = #places, 1, -1 do swap(table.unpack(places[i])) end
    analyse()
    places = {}
  end
  outer.is_moved = #places > 0
end

--- The next sequential loop that was not looked at yet and might be moved, and where it stands.
local function next_of(nodes, is_seen)
  for i, node in ipairs(nodes) do
    local list, at
    if node.kind == "for" then
      if not node.parallel and not is_seen[node] and can_swap(node) then return nodes, i end
      list, at = next_of(node.body, is_seen)
    elseif node.kind == "if" then
      for _, arm in ipairs(node.arms) do
        if not list then list, at = next_of(arm.body, is_seen) end
      end
      if not list and node.otherwise then list, at = next_of(node.otherwise, is_seen) end
    end
    if list then return list, at end
  end
end

--- Changes the order of loops in a tree; those that were moved have `is_moved`. Elements are computed as before, each
-- from the same numbers in the same order.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then
-- @tparam boolean is_wide whether the device needs many work-items: then no parallel loop is lost for it
function interchange.apply(tree, analyse, is_wide)
  local is_seen = {}
  local list, at = next_of(tree.body, is_seen)
  while list do
    is_seen[list[at]] = true
    move(list, at, analyse, is_wide)
    list, at = next_of(tree.body, is_seen)
  end
end

return interchange
