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
-- Where vectors can compute all that a pass does, rows are their lanes (`clcompute.loops.generation.row_lanes`).

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local choices = require "clcompute.loops.generation.choices"
local clone = require("clcompute.loops.tree").clone
local faults = require "clcompute.loops.generation.faults"
local keeping = require "clcompute.loops.generation.keeping"
local lockstep = require "clcompute.loops.generation.lockstep"
local pass_orders = require("clcompute.loops.analysis").pass_orders
local row_lanes = require "clcompute.loops.generation.row_lanes"
local walk = require("clcompute.loops.tree").walk

local skewing = {}

local ROWS = lockstep.rows -- side by side, where they are no lanes
local MOST_STATEMENTS = 4 -- of a row

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

--- The loop within a row, where it is short and plain. Both sides of its choices are computed.
local function within(node)
  local inner = node.body[1]
  local function is_plain(loop) return not loop.parallel and not loop.irregular and loop.step == 1 end
  if #node.body ~= 1 or inner.kind ~= "for" or not is_plain(node) or not is_plain(inner) then return nil end
  if faults.are_in(inner.body)
    or walk.find(inner.body, function(part) return part.kind == "for" or part.kind == "break" end) then return nil end
  return changed(inner, { body = choices.of(inner.body, inner.variable.id) })
end

-- --- the loops --------------------------------------------------------------------------------

--- What stands for an expression in a row.
local function in_row(node, rows, row)
  return walk.replaced(node, function(part)
    if part.kind ~= "name" or part.variable ~= rows.outer.variable then return nil end
    return bounds.plus(bounds.name(rows.first), row - 1)
  end)
end

--- The body of a row; `place` stands for the variable of the inner loop.
local function body_of(row, place, rows)
  local others = { [rows.outer.variable] = bounds.plus(bounds.name(rows.first), row - 1),
    [rows.inner.variable] = place }
  return clone.statements(rows.inner.body, others, function(variable) return ("%s_row%d"):format(variable.id, row) end)
end

--- A pass of the first row as one of the row of which a loop is.
local function leaning(pass, rows)
  return bounds.leaning(pass, rows.behind, rows.outer.variable, bounds.name(rows.first))
end

--- Adds the rows one after the other, from a pass to another one, of which one is the first row's. Lanes have few such
-- passes; where there are more of them each row has a loop of its own, whose bounds need no arithmetic.
local function add_apart(list, rows, before, behind)
  local inner = rows.inner
  if rows.are_lanes then
    list[#list + 1] = changed(rows.outer, { from = bounds.name(rows.first), to = rows.last, is_short = true, body = {
      changed(inner, { from = behind and leaning(behind, rows), to = before and leaning(before, rows) }) } })
    return
  end
  for row = 1, rows.count do
    local function of_row(pass, bound)
      return pass and bounds.plus(pass, -rows.behind * (row - 1)) or in_row(bound, rows, row)
    end
    list[#list + 1] = changed(inner, { from = of_row(behind, inner.from), to = of_row(before, inner.to),
      body = body_of(row, bounds.name(inner.variable), rows) })
  end
end

--- A bound of each of the rows, as passes of the first one; of those that are the same in all rows the one of `row`.
local function bounds_of(node, rows, row)
  if not walk.mentions(node, rows.outer.variable) then return { bounds.plus(node, rows.behind * (row - 1)) } end
  local list = {}
  for number = 1, rows.count do list[number] = bounds.plus(in_row(node, rows, number), rows.behind * (number - 1)) end
  return list
end

--- Adds passes that all rows go through together: those of each row, one row after the other.
local function add_in_turn(list, rows, start, stop)
  local main, at = {}, bounds.name(rows.inner.variable)
  for row = 1, rows.count do
    local body = body_of(row, bounds.plus(at, -rows.behind * (row - 1)), rows)
    table.move(body, 1, #body, #main + 1, main)
  end
  local body, locals = keeping.of(changed(rows.inner, { from = start, to = stop, body = main }))
  table.move(locals, 1, #locals, #list + 1, list)
  list[#list + 1] = changed(rows.inner, { from = start, to = stop, body = body })
end

--- The same with rows as lanes.
local function add_in_lanes(list, rows, start, stop)
  list[#list + 1] = changed(rows.inner, { from = start, to = stop,
    body = body_of(1, bounds.name(rows.inner.variable), rows),
    row_lanes = { row = rows.first, pass = rows.inner.variable, behind = rows.behind } })
end

--- The last pass of as many as lanes have steps at a time.
local function whole(start, stop)
  return ast.node("text", { type = "int",
    text = ("%s + ((%s - %s + 1) & -%d) - 1"):format(start, stop, start, row_lanes.rows) })
end

--- Rows side by side, from the pass of the first row at which all of them have begun to the last one of which none has
-- ended; what is before and behind these is done row by row.
-- @tparam table rows `outer` and `inner`, the loops; `count`; `behind`; `are_lanes`
local function side_by_side(rows)
  local outer, inner = rows.outer, rows.inner
  rows.first = changed(outer.variable, { id = outer.variable.id .. "_row" })
  rows.last = bounds.plus(bounds.name(rows.first), rows.count - 1)
  local start = ast.made_up(inner.variable.id .. "_start", "int")
  local stop = ast.made_up(inner.variable.id .. "_stop", "int")
  local list = {
    ast.node("local", { variable = start.variable, value = bounds.latest(bounds_of(inner.from, rows, rows.count), 1) }),
    ast.node("local", { variable = stop.variable, value = bounds.earliest(bounds_of(inner.to, rows, 1), 1) }) }
  if rows.are_lanes then
    list[3] = ast.node("assign", { target = stop, value = whole(start.variable.id, stop.variable.id) })
  end
  local body = {}
  add_apart(body, rows, bounds.plus(start, -1), nil)
  local add = rows.are_lanes and add_in_lanes or add_in_turn
  add(body, rows, start, stop)
  add_apart(body, rows, nil, bounds.plus(stop, 1))
  local condition = ast.node("binary", { op = "and", type = "bool",
    left = bounds.is_reached(rows.last, outer.to, 1), right = bounds.is_reached(start, stop, 1) })
  local rest = changed(outer, { from = bounds.name(rows.first), to = bounds.earliest({ rows.last, outer.to }, 1),
    is_short = true })
  list[#list + 1] = ast.node("if", { arms = { ast.node("arm", { condition = condition, body = body }) },
    otherwise = { rest } })
  return changed(outer, { variable = rows.first, step = rows.count, body = list })
end

--- How many passes rows are behind each other as lanes; nil where they are none. All lanes read before one of them
-- stores, so it may be one pass more than where rows take turns.
local function lag_of_lanes(outer, inner, scop, real)
  for behind = 1, row_lanes.most_behind do
    if row_lanes.of(inner.body, { row = outer.variable, pass = inner.variable, behind = behind }, real)
      and pass_orders.may_overlap(scop, outer, inner, behind, row_lanes.rows) then return behind end
  end
end

--- How rows go side by side; nil where they do not.
local function rows_of(outer, scop, real)
  local inner = outer.kind == "for" and within(outer)
  if not inner then return nil end
  local lag = lag_of_lanes(outer, inner, scop, real)
  if lag then return { outer = outer, inner = inner, count = row_lanes.rows, behind = lag, are_lanes = true } end
  if #outer.body[1].body > MOST_STATEMENTS or not is_chain(inner.body, outer, inner) then return nil end
  lag = pass_orders.distance(scop, outer, inner, 1, ROWS)
  return lag and { outer = outer, inner = inner, count = ROWS, behind = lag }
end

--- How many passes a row is behind the one before where they are lanes; 0 where they are none.
-- @tparam table node the outer one of two loops
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the type of floats that are computed
function skewing.lag(node, scop, real)
  local rows = rows_of(node, scop, real)
  return rows and rows.are_lanes and rows.behind or 0
end

--- The statements of a task with rows side by side.
-- @tparam {table,...} nodes
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the type of floats that are computed
-- @treturn {table,...}
function skewing.apply(nodes, scop, real)
  return walk.replaced_statements(nodes, function(node)
    local rows = rows_of(node, scop, real)
    return rows and side_by_side(rows)
  end)
end

return skewing
