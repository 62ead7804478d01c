-- SPDX-License-Identifier: MIT

--- On GPUs: a nest of two sequential loops in which the passes of a diagonal do not depend on each other, as a loop
-- over diagonals with a parallel loop in it. Groups share the diagonals of one launch then, where wavefronts take a
-- launch each.
--
--     for i = 1, n do for j = 1, m do d[i][j] = d[i - 1][j] + d[i][j - 1] end end
--     for k = 1 + 1, n + m do
--       for i = math.max(1, k - m), math.min(n, k - 1) do d[i][k - i] = d[i - 1][k - i] + d[i][k - i - 1] end
--     end

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local walk = require("clcompute.loops.tree").walk
local wavefronts = require "clcompute.loops.analysis.wavefronts"

local diagonals = {}

local function sum(op, left, right)
  return ast.node("binary", { op = op, type = "int", left = left, right = right }, left)
end

local function extreme(name, ...)
  return ast.node("call", { name = name, type = "int", arguments = { ... } }, (...))
end

--- Whether wavefronts are the diagonals of two loops, the bounds of which are the same in all rows.
local function are_diagonals(mark)
  local outer, inner = table.unpack(mark.loops)
  return #mark.loops == 2 and outer.step == 1 and inner.step == 1 and mark.coefficients[1] == 1
    and mark.coefficients[2] == 1 and not walk.is_bounded_by(inner, outer.variable) and clone.can(inner.body)
end

--- The loop over diagonals.
local function over_diagonals(outer, inner, rename)
  local diagonal = ast.changed(outer.variable, { id = rename(outer.variable),
    name = ("%s + %s"):format(outer.variable.name, inner.variable.name) })
  local function beside(bound) return sum("-", bounds.name(diagonal), bound) end
  local rows = ast.changed(outer, { from = extreme("max", outer.from, beside(inner.to)),
    to = extreme("min", outer.to, beside(inner.from)),
    body = clone.statements(inner.body, { [inner.variable] = beside(bounds.name(outer.variable)) }, rename) })
  outer.variable.loop = rows
  diagonal.loop = ast.changed(outer, { variable = diagonal, from = sum("+", outer.from, inner.from),
    to = sum("+", outer.to, inner.to), body = { rows } })
  return diagonal.loop, rows
end

--- Puts a loop over diagonals in the place of a nest, if isl finds the loop in it parallel.
local function rewrite(list, at, mark, state)
  local node, outer = list[at], mark.loops[1]
  local over, rows = over_diagonals(outer, mark.loops[2], state.rename)
  list[at] = over
  state.scop = state.analyse()
  if rows.parallel then return end
  list[at], outer.variable.loop = node, node
  state.scop = state.analyse()
end

--- Goes through a list to the outermost nests that have wavefronts.
local function visit(list, state)
  for i, node in ipairs(list) do
    local mark = node.kind == "for" and wavefronts.find(state.scop, node)
    if mark and are_diagonals(mark) then
      rewrite(list, i, mark, state)
    elseif not mark then
      for _, body in ipairs(walk.bodies(node)) do visit(body, state) end
    end
  end
end

--- Rewrites such nests.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse does so again after a change, and returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
function diagonals.apply(tree, analyse, scop)
  visit(tree.body, { scop = scop, analyse = analyse, rename = clone.renaming(tree) })
end

return diagonals
