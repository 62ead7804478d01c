-- SPDX-License-Identifier: MIT

--- Gives an assignment that keeps the loops around it from being parallel a nest of its own, behind the rest, where isl
-- proves that all its passes may come later. On a processor one pass through memory is shorter than two; so it is done
-- there if two loops are parallel then, and none before: sums of rows and columns stay in registers.
--
--     for i do for j do s = 0; for k < i do c[k][j] = c[k][j] + b[i][j] * a[i][k]; s = s + b[k][j] * a[i][k] end
--       c[i][j] = c[i][j] + s end end
--     for i do for j do s = 0; for k < i do s = s + b[k][j] * a[i][k] end; c[i][j] = c[i][j] + s end end
--     for i do for j do for k < i do c[k][j] = c[k][j] + b[i][j] * a[i][k] end end end

local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local separation = {}

-- --- what may go -------------------------------------------------------------------------------

--- How many assignments to elements there are in a nest.
local function count_stores(node)
  local count = 0
  walk.node(node, function(part)
    if part.kind == "assign" and part.target.array then count = count + 1 end
  end)
  return count
end

--- The assignments to elements in innermost loops that are not alone there, without locals, each with the loops around
-- it: `{ node=, loops= }`.
local function candidates_of(node, loops, list)
  if walk.mentions_local { node.from, node.to } then return list end
  loops = table.move(loops, 1, #loops, 1, {})
  loops[#loops + 1] = node
  local is_innermost = walk.depth(node) == 1
  for _, inner in ipairs(node.body) do
    if inner.kind == "for" then
      candidates_of(inner, loops, list)
    elseif is_innermost and #node.body > 1 and inner.kind == "assign" and inner.target.array
      and not walk.mentions_local { inner } then
      list[#list + 1] = { node = inner, loops = loops }
    end
  end
  return list
end

-- --- moving it ---------------------------------------------------------------------------------

local function without(body, node)
  local rest = {}
  for _, other in ipairs(body) do
    if other ~= node then rest[#rest + 1] = other end
  end
  return rest
end

--- Moves an assignment into a nest behind the one that it is in; returns what undoes that.
local function move(list, at, candidate, rename)
  local loops, nest = candidate.loops, { candidate.node }
  local inner = loops[#loops]
  local body = inner.body
  for i = #loops, 1, -1 do nest = { ast.changed(loops[i], { body = nest, is_separated = true }) } end
  inner.body = without(body, candidate.node)
  table.insert(list, at + 1, clone.statements(nest, {}, rename)[1])
  return function()
    inner.body = body
    table.remove(list, at + 1)
  end
end

--- Whether a nest is better than before, by how many of its loops are parallel.
local function is_better(before, now, is_wide)
  return now > before and (is_wide or before == 0 and now >= 2)
end

--- Takes assignments out of a nest as long as that makes it better.
local function separate(list, at, analyse, scop, rename, is_wide)
  local node = list[at]
  for _, candidate in ipairs(count_stores(node) > 1 and candidates_of(node, {}, {}) or {}) do
    if pass_orders.may_go_behind(scop, node, { [candidate.node] = true }) then
      local before, undo = walk.width(node), move(list, at, candidate, rename)
      scop = analyse()
      if is_better(before, walk.width(node), is_wide) then
        return separate(list, at, analyse, scop, rename, is_wide)
      end
      undo()
      scop = analyse()
    end
  end
  return scop
end

--- Changes the nests of a tree. Elements are computed as before, each from the same numbers in the same order.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam boolean is_wide whether the device needs many work-items
function separation.apply(tree, analyse, scop, is_wide)
  local rename, at = clone.renaming(tree), 1
  while at <= #tree.body do
    local node = tree.body[at]
    if node.kind == "for" and walk.depth(node) > 1 and not walk.find({ node }, ast.is_uncertain)
      and clone.can { node } then
      scop = separate(tree.body, at, analyse, scop, rename, is_wide)
    end
    at = at + 1
  end
end

return separation
