-- SPDX-License-Identifier: MIT

--- Lets rows, passes of a loop, go through the sequential loops in them side by side: where each number waits for the
-- one before it, the other rows are computed meanwhile. Of two rows it would be
--
--     for i = 1, n do for j = 2, n do a[i][j] = (a[i][j - 1] + b[j]) / 2 end end
--     for i = 1, n, 2 do
--       for j = 2, n do a[i][j] = ...; a[i + 1][j] = ... end
--     end
--
-- What is no such loop is done row by row. Rows of a parallel loop may have any order; of others isl is asked, which
-- need not be told of locals that keep what a pass stored: no other statement of the loop stores in that array then.

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local extrema = require "clcompute.loops.generation.extrema"
local faults = require "clcompute.loops.generation.faults"
local fission = require "clcompute.loops.generation.fission"
local keeping = require "clcompute.loops.generation.keeping"
local pass_orders = require("clcompute.loops.analysis").pass_orders
local walk = require("clcompute.loops.tree").walk

local lockstep = {}

lockstep.rows = 4 -- side by side
local MOST_STATEMENTS = 8 -- of a loop: each row has registers of its own

local changed = ast.changed

-- --- where it pays ---------------------------------------------------------------------------

--- Whether passes of a loop read what earlier ones have stored, or may.
local function has_flow(node)
  for _, dependence in ipairs(node.carried or {}) do
    if dependence.kind == "flow" then return true end
  end
  return node.carried == nil
end

--- Whether rows go through a loop together: it has the same passes in all of them, and does not become vectors in each.
-- `own`: what differs from row to row, as keys.
local function goes_together(node, own, real)
  if node.kind ~= "for" or node.parallel or node.irregular or extrema.of(node, real) or not has_flow(node) then
    return false
  end
  return not walk.find({ node.from, node.to }, function(part)
    return part.kind == "index" or part.kind == "name" and own[part.variable] ~= nil
  end)
end

--- Whether a loop is one of numbers that wait for each other.
local function waits(node, own, real)
  return goes_together(node, own, real) and walk.depth(node) == 1 and #node.body <= MOST_STATEMENTS
    and not walk.find(node.body, function(part) return part.kind == "if" end)
end

--- What differs from row to row: the loop's variable, and the locals in it.
local function own_of(loop)
  local own = { [loop.variable] = true }
  walk.nodes(loop.body, function(part)
    if part.kind == "local" then own[part.variable] = true end
  end)
  return own
end

--- Whether passes of a sequential loop may go side by side: the loops right within it that wait.
local function may_interleave(loop, own, real, scop)
  local inner = {}
  for _, node in ipairs(loop.body) do
    if waits(node, own, real) and not fission.of(node) then
      inner[#inner + 1] = node
    elseif goes_together(node, own, real) then
      return false
    end
  end
  return #inner > 0 and pass_orders.may_go_together(scop, loop, inner, lockstep.rows)
end

--- Whether rows of a loop are to go side by side: it is parallel, or isl proves that they may.
-- @tparam table loop a `for` node
-- @string real the type of floats in C
-- @tparam ?table scop of `clcompute.loops.analysis.scop`; without it sequential loops do not
function lockstep.pays(loop, real, scop)
  if loop.irregular or loop.pace or loop.is_short or math.abs(loop.step) ~= 1 then return false end
  if faults.are_in(loop.body) or not clone.can(loop.body) then return false end
  local own = own_of(loop)
  local function is_waiting(part) return part.kind == "for" and waits(part, own, real) end
  if not walk.find(loop.body, is_waiting) then return false end
  return loop.parallel or scop ~= nil and may_interleave(loop, own, real, scop)
end

-- --- the loops -------------------------------------------------------------------------------

--- Adds copies of statements, one row after the other, so that compilers see what a row reads of its own, and notes in
-- `rows` what stands for the locals that they declare.
local function add_copies(list, nodes, rows)
  for number, row in ipairs(rows) do
    local copies = clone.statements(nodes, row, function(variable) return ("%s_row%d"):format(variable.id, number) end)
    table.move(copies, 1, #copies, #list + 1, list)
    for _, node in ipairs(nodes) do
      if node.kind == "for" then row[node.variable] = nil end
    end
  end
end

local side_by_side

--- Adds a loop that rows go through together, with locals for what each has from the pass before.
local function add_common(list, node, rows, real)
  local body, locals = keeping.of(node, rows.are_sequential)
  local before = {}
  add_copies(before, locals, rows)
  list[#list + 1] = keeping.behind(before, changed(node, { body = side_by_side(body, rows, real) }))
end

--- The statements of all rows.
-- @tparam {table,...} nodes
-- @tparam {table,...} rows by variable, the node that stands for its name in a row
-- @string real
function side_by_side(nodes, rows, real)
  local list, apart = {}, {} -- what rows do one after the other
  local function flush()
    add_copies(list, apart, rows)
    apart = {}
  end
  for _, node in ipairs(nodes) do
    if goes_together(node, rows[1], real) then
      local first, other = fission.of(node)
      apart[#apart + 1] = first
      flush()
      add_common(list, other or node, rows, real)
    else
      apart[#apart + 1] = node
    end
  end
  flush()
  return list
end

-- --- caches ----------------------------------------------------------------------------------

-- Addresses that are so many bytes apart share a set of a processor's first cache, which holds this many lines of them;
-- and so many bytes stay in its last one, from where lines come soon enough: then rows side by side are shorter still.
local WAY, LINES, LAST = 4096, 8, 10 << 20

--- How far the elements of neighbouring rows are apart, in C; nil where rows are next to each other, or the same.
local function pitch_of(index, variable)
  local sizes
  for d = index.array.rank, 1, -1 do
    if walk.mentions(index.subscripts[d], variable) then return sizes end
    sizes = (sizes and sizes .. " * " or "") .. ast.size(index.array, d)
  end
end

--- The condition under which rows side by side do not push each other out of the cache, in C; nil where they never do.
-- Arrays are taken to be square.
local function spread(loop)
  local list, known, first, bytes = {}, {}, nil, 0
  walk.nodes(loop.body, function(part)
    local pitch = part.kind == "index" and not known[part.array] and pitch_of(part, loop.variable)
    if not pitch then return end
    local own = ast.bytes(part.array.element)
    known[part.array], first, bytes = true, first or pitch, bytes + own
    list[#list + 1] = ("%s %% %d != 0"):format(pitch, WAY // own)
  end)
  if #list * lockstep.rows <= LINES then return nil end
  return ("(%s <= %d || %s)"):format(first, (LAST / bytes) ^ 0.5 // 1, table.concat(list, " || "))
end

--- Whether rows up to the last of some are there, and may be in the cache together.
local function may_begin(last, loop)
  local is_there, condition = bounds.is_reached(last, loop.to, loop.step), spread(loop)
  if not condition then return is_there end
  return ast.node("binary", { op = "and", type = "bool", left = is_there,
    right = ast.node("text", { text = condition, type = "bool" }) })
end

--- A loop whose rows go side by side, and one by one where there are no more as many.
-- @tparam table loop a `for` node for which it pays
-- @string real
function lockstep.apply(loop, real)
  local first = changed(loop.variable, { id = loop.variable.id .. "_row" })
  local last, rows = bounds.plus(bounds.name(first), (lockstep.rows - 1) * loop.step), {}
  rows.are_sequential = not loop.parallel
  for number = 1, lockstep.rows do
    rows[number] = { [loop.variable] = bounds.plus(bounds.name(first), (number - 1) * loop.step) }
  end
  local rest = changed(loop, { from = bounds.name(first), to = bounds.earliest({ last, loop.to }, loop.step),
    parallel = false, is_short = true })
  return changed(loop, { variable = first, step = lockstep.rows * loop.step, body = { ast.node("if", {
    arms = { ast.node("arm", { condition = may_begin(last, loop),
      body = side_by_side(loop.body, rows, real) }) }, otherwise = { rest } }) } })
end

return lockstep
