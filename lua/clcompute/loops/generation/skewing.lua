-- SPDX-License-Identifier: MIT

--- Lets rows of a nest of sequential loops go side by side in a task, each some passes behind the one before: where
-- each number waits for the one before it in its row, the other rows are computed meanwhile. Of two rows it would be
--
--     for i = 2, n do for j = 2, n do a[i][j] = (a[i - 1][j] + a[i][j - 1]) / 2 end end
--     for i = 2, n, 2 do
--       a[i][2] = ...                                                          -- the first row is one pass ahead
--       for j = 3, n do a[i][j] = ...; a[i + 1][j - 1] = ... end
--       a[i + 1][n] = ...
--     end
--
-- What order is right `clcompute.loops.analysis.pass_orders` finds out. Rows need not begin and end at the same passes.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local choices = require "clcompute.loops.generation.choices"
local clone = require("clcompute.loops.tree").clone
local faults = require "clcompute.loops.generation.faults"
local keeping = require "clcompute.loops.generation.keeping"
local lockstep = require "clcompute.loops.generation.lockstep"
local pass_orders = require("clcompute.loops.analysis").pass_orders
local walk = require("clcompute.loops.tree").walk

local skewing = {}

local ROWS = lockstep.rows -- side by side
local MOST_STATEMENTS = 4

local changed = ast.changed

-- --- whether it pays -------------------------------------------------------------------------

local function stores(node)
  return node.kind == "assign" and node.target.array ~= nil
end

--- Whether there are choices of which one side alone is computed: they wait for nothing where they are guessed.
local function has_guesses(nodes)
  local is_free = {} -- the `and` of a choice of which both are
  return walk.find(nodes, function(node)
    if choices.is_free(node) then is_free[node.left] = true return false end
    return node.kind == "if" or (node.op == "and" or node.op == "or") and not is_free[node]
  end) ~= nil
end

--- Whether the only statement of a row that stores computes that from what the pass before stored: each row along the
-- last dimension, in its own elements.
local function is_chain(body, outer, inner)
  local found, is_own
  for _, node in ipairs(body) do
    if stores(node) and found then return false end
    found = stores(node) and node or found
  end
  local target = found and found.target
  if not target or has_guesses(body) then return false end
  for d, subscript in ipairs(target.subscripts) do
    local is_last = d == #target.subscripts
    if affine.multiple(subscript, inner.variable) ~= (is_last and 1 or 0) then return false end
    is_own = is_own or not is_last and (affine.multiple(subscript, outer.variable) or 0) ~= 0
  end
  local _, locals = keeping.of(inner)
  return is_own and #locals > 0
end

--- The loop within a row, where rows may go side by side. Both sides of its choices are computed.
local function within(node)
  local inner = node.body[1]
  local function is_plain(loop) return not loop.parallel and not loop.irregular and loop.step == 1 end
  if #node.body ~= 1 or inner.kind ~= "for" or not is_plain(node) or not is_plain(inner) then return nil end
  if #inner.body > MOST_STATEMENTS or faults.are_in(inner.body)
    or walk.find(inner.body, function(part) return part.kind == "for" or part.kind == "break" end) then return nil end
  local chosen = changed(inner, { body = choices.of(inner.body, inner.variable.id) })
  return is_chain(chosen.body, node, chosen) and chosen or nil
end

-- --- the loops --------------------------------------------------------------------------------

--- What stands for an expression in each of the rows, once where it is the same in all of them.
local function in_rows(node, outer, first)
  if not walk.mentions(node, outer.variable) then return { node } end
  local list = {}
  for row = 1, ROWS do
    list[row] = walk.replaced(node, function(part)
      return part.kind == "name" and part.variable == outer.variable and bounds.plus(bounds.name(first), row - 1) or nil
    end)
  end
  return list
end

--- Bounds of the rows, each `behind` passes after the one before, as passes of the first row.
local function of_first_row(list, behind)
  local passes = {}
  for row, bound in ipairs(list) do passes[row] = bounds.plus(bound, behind * (row - 1)) end
  return passes
end

local function append(list, other) table.move(other, 1, #other, #list + 1, list) end

--- Rows side by side, from the pass of the first row at which all of them have begun to the last one of which none has
-- ended; what is before and behind these is done row by row.
local function side_by_side(outer, inner, behind)
  local first = changed(outer.variable, { id = outer.variable.id .. "_row" })
  local last, at = bounds.plus(bounds.name(first), ROWS - 1), bounds.name(inner.variable)
  local starts, ends = in_rows(inner.from, outer, first), in_rows(inner.to, outer, first)
  local start = ast.made_up(inner.variable.id .. "_start", "int")
  local stop = ast.made_up(inner.variable.id .. "_stop", "int")
  local others = {}
  for row = 1, ROWS do others[row] = { [outer.variable] = bounds.plus(bounds.name(first), row - 1) } end
  -- Statements of a row; `place` stands for the variable of the inner loop.
  local function copy(statements, row, place)
    others[row][inner.variable] = place
    return clone.statements(statements, others[row], function(variable)
      return ("%s_row%d"):format(variable.id, row)
    end)
  end
  local function pass(from, row) return bounds.plus(from, -behind * (row - 1)) end
  local function alone(from, to, row)
    return changed(inner, { from = from, to = to, body = copy(inner.body, row, at) })
  end
  local body, main = {}, {}
  for row = 1, ROWS do body[row] = alone(starts[row] or starts[1], pass(bounds.plus(start, -1), row), row) end
  for row = 1, ROWS do append(main, copy(inner.body, row, pass(at, row))) end
  local kept_body, locals = keeping.of(changed(inner, { from = start, to = stop, body = main }))
  append(body, locals)
  body[#body + 1] = changed(inner, { from = start, to = stop, body = kept_body })
  for row = 1, ROWS do body[#body + 1] = alone(pass(bounds.plus(stop, 1), row), ends[row] or ends[1], row) end
  local condition = ast.node("binary", { op = "and", type = "bool", left = bounds.is_reached(last, outer.to, 1),
    right = bounds.is_reached(start, stop, 1) })
  local rest = changed(outer, { from = bounds.name(first), to = bounds.earliest({ last, outer.to }, 1),
    is_short = true })
  local all = #starts == 1 and { bounds.plus(starts[1], behind * (ROWS - 1)) } or starts
  return changed(outer, { variable = first, step = ROWS, body = {
    ast.node("local", { variable = start.variable, value = bounds.latest(of_first_row(all, behind), 1) }),
    ast.node("local", { variable = stop.variable, value = bounds.earliest(of_first_row(ends, behind), 1) }),
    ast.node("if", { arms = { ast.node("arm", { condition = condition, body = body }) }, otherwise = { rest } }) } })
end

--- The statements of a task with rows side by side.
-- @tparam {table,...} nodes
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn {table,...}
function skewing.apply(nodes, scop)
  return walk.replaced_statements(nodes, function(node)
    local inner = node.kind == "for" and within(node)
    local behind = inner and pass_orders.distance(scop, node, inner, 1, ROWS)
    return behind and side_by_side(node, inner, behind)
  end)
end

return skewing
