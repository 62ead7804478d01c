-- SPDX-License-Identifier: MIT

--- Goes through triangles column by column where passes of their rows wait for each other: those of a column may be
-- parallel. What stands behind the loop within a row counts as the row's pass on the diagonal.
--
--     for i = 1, n do for j = 1, i - 1 do l[i][j] = ... end; l[i][i] = ... end
--     for j = 1, n do l[j][j] = ...; for i = j + 1, n do l[i][j] = ... end end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local triangles = {}

local function is_sequential(node)
  return node.kind == "for" and not node.parallel and not node.irregular and math.abs(node.step) == 1
end

--- The loop within the rows of a triangle, if it is more than a sum; nil where a loop is no such rows, or Lua may raise
-- an error in it: in which pass would be another one.
local function row_of(node)
  local inner = is_sequential(node) and #node.body > 1 and node.body[1]
  if not inner or not is_sequential(inner) or inner.step ~= node.step or walk.depth(inner) < 2 then return nil end
  local is_triangle = affine.distance(inner.from, node.from) == 0
    and affine.distance(inner.to, bounds.name(node.variable)) == -node.step
  if not is_triangle or not clone.can(node.body) or walk.find(node.body, ast.may_raise) then return nil end
  return inner
end

--- What stands on the diagonal, in terms of the column.
local function diagonal_of(outer, inner, rename)
  local nodes = table.move(outer.body, 2, #outer.body, 1, {})
  return clone.statements(nodes, { [outer.variable] = bounds.name(inner.variable) }, rename)
end

--- Turns a loop over rows into one over columns; returns it, and what undoes that.
local function turn(outer, inner, rename)
  local rows, row = { from = outer.from, body = outer.body }, { to = inner.to, body = inner.body }
  local body = diagonal_of(outer, inner, rename)
  body[#body + 1] = outer
  outer.from, outer.body = bounds.plus(bounds.name(inner.variable), outer.step), row.body
  inner.to, inner.body = outer.to, body
  return inner, function()
    outer.from, outer.body, inner.to, inner.body = rows.from, rows.body, row.to, row.body
  end
end

--- The first loop that was not looked at yet and may be turned, where it stands, and the one within it.
local function next_of(nodes, scop, is_seen)
  for i, node in ipairs(nodes) do
    if node.kind == "for" then
      local inner = not is_seen[node] and row_of(node)
      is_seen[node] = true
      if inner and pass_orders.may_overlap(scop, node, inner, 0) then return nodes, i, inner end
      local list, at, found = next_of(node.body, scop, is_seen)
      if list then return list, at, found end
    end
  end
end

--- Changes a tree. Elements are computed as before, each from the same numbers in the same order.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
function triangles.apply(tree, analyse, scop)
  local is_seen, rename = {}, clone.renaming(tree)
  local list, at, inner = next_of(tree.body, scop, is_seen)
  while list do
    local outer = list[at]
    local turned, undo = turn(outer, inner, rename)
    list[at] = turned
    scop = analyse()
    outer.is_turned = outer.parallel
    if not outer.parallel then
      undo()
      list[at] = outer
      scop = analyse()
    end
    list, at, inner = next_of(tree.body, scop, is_seen)
  end
end

return triangles
