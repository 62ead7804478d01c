-- SPDX-License-Identifier: MIT

--- Takes what the first pass of a loop does before anything else, under a condition, out of it, where the loop is
-- parallel then. A parallel loop around becomes two.
--
--     for j do for k = i + 1, n do if k == i + 1 then b[j][i] = b[j][i] / a[i][i] end; b[j][k] = ... end end
--     for j do if i + 1 <= n then b[j][i] = b[j][i] / a[i][i] end end
--     for j do for k = i + 1, n do b[j][k] = ... end end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local walk = require("clcompute.loops.tree").walk

local peeling = {}

--- Whether a condition holds in the first pass of a loop alone.
local function is_first(node, loop)
  return node.kind == "binary" and node.op == "==" and loop.step == 1 and node.left.kind == "name"
    and node.left.variable == loop.variable and affine.distance(node.right, loop.from) == 0
end

--- What a loop does first in its first pass alone, under a condition that it has a pass; nil where it does no such.
local function first_of(loop, rename)
  local node = loop.kind == "for" and not loop.parallel and not loop.irregular and loop.body[1]
  if not node or node.kind ~= "if" or #node.arms > 1 or node.otherwise or not is_first(node.arms[1].condition, loop)
    or not clone.can { loop } or walk.find({ loop }, ast.is_uncertain) then return nil end
  local body = clone.statements(node.arms[1].body, { [loop.variable] = loop.from }, rename)
  local condition = ast.node("binary", { op = "<=", left = loop.from, right = loop.to, type = "bool" }, loop)
  return ast.node("if", { arms = { ast.node("arm", { condition = condition, body = body }, node) } }, node)
end

--- Peels a loop, which stands at a place in a list, or in a parallel one there, if it is parallel then; returns whether
-- it is.
local function peel(list, at, loop, state)
  local items, first = list[at], first_of(loop, state.rename)
  if not first then return false end
  local body = loop.body
  loop.body = table.move(body, 2, #body, 1, {})
  if items ~= loop then first = clone.statements({ ast.changed(items, { body = { first } }) }, {}, state.rename)[1] end
  table.insert(list, at, first)
  state.analyse()
  if loop.parallel and #loop.body > 0 then return true end
  loop.body = body
  table.remove(list, at)
  state.analyse()
  return false
end

local function visit(nodes, state)
  local at = 1
  while at <= #nodes do
    local node = nodes[at]
    local inner = walk.is_parallel(node) and #node.body == 1 and node.body[1]
    if peel(nodes, at, inner or node, state) then
      at = at + 1
    else
      for _, body in ipairs(walk.bodies(node)) do visit(body, state) end
    end
    at = at + 1
  end
end

--- Changes a tree.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then
function peeling.apply(tree, analyse)
  visit(tree.body, { analyse = analyse, rename = clone.renaming(tree) })
end

return peeling
