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
-- isl proves that no pass of a row needs, or overwrites what is read by, a later one of a row before it.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local faults = require "clcompute.loops.generation.faults"
local isl_text = require("clcompute.loops.analysis").isl_text
local walk = require("clcompute.loops.tree").walk

local skewing = {}

local ROWS = 4 -- side by side
local FARTHEST = 2 -- passes that a row is behind the one before
local MOST_STATEMENTS = 4
local BUDGET = 200000 -- isl's operations for a distance

local changed = ast.changed

-- --- whether it is right ----------------------------------------------------------------------

--- The accesses in a loop.
local function accesses_in(scop, loop)
  local list = {}
  for _, statement in ipairs(scop.statements) do
    local is_within = false
    for _, around in ipairs(statement.loops) do is_within = is_within or around.variable == loop.variable end
    table.move(is_within and statement.accesses or {}, 1, is_within and #statement.accesses or 0, #list + 1, list)
  end
  return list
end

local function in_row_before(text, ids)
  for _, id in ipairs(ids) do text = text:gsub("%f[%w_]" .. id .. "%f[^%w_]", id .. "_before") end
  return text
end

--- Whether rows may be so many passes behind the one before.
local function is_right(scop, outer, inner, behind)
  local ids, names = { outer.variable.id, inner.variable.id }, {}
  for i, id in ipairs(ids) do names[i] = id .. "_before" end
  local order = { ("1 <= %s - %s < %d"):format(ids[1], names[1], ROWS),
    ("%s > %s + %d * (%s - %s)"):format(names[2], ids[2], behind, ids[1], names[1]) }
  local list, accesses = {}, accesses_in(scop, inner)
  for _, from in ipairs(accesses) do
    for _, to in ipairs(accesses) do
      if from.variable == to.variable and (from.write or to.write) then
        list[#list + 1] = { one = in_row_before(isl_text.access(scop, from, #from.statement.loops), ids),
          other = isl_text.access(scop, to, #to.statement.loops, order, names) }
      end
    end
  end
  return require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false
end

--- Whether an element is the one that the pass before stored: the target of an assignment, one pass back.
local function is_before(node, target)
  if node.kind ~= "index" or node.array ~= target.array then return false end
  local last = #node.subscripts
  for d = 1, last do
    if affine.distance(node.subscripts[d], target.subscripts[d]) ~= (d == last and -1 or 0) then return false end
  end
  return true
end

local function stores(node)
  return node.kind == "assign" and node.target.array ~= nil
end

--- Whether a statement has choices, which wait for nothing where they are guessed.
local function chooses(node)
  return node.kind == "if" or node.op == "and" or node.op == "or"
end

--- The statement of a row that stores, if it computes a float from what the pass before stored, each row in its own
-- elements; nil where others store, too.
local function chain_of(body, outer, inner)
  local found, is_own
  for _, node in ipairs(body) do
    if stores(node) and found then return nil end
    found = stores(node) and node or found
  end
  local target = found and found.target
  if not target or target.type ~= "float" or walk.find(body, chooses) then return nil end
  for d, subscript in ipairs(target.subscripts) do
    local is_last = d == #target.subscripts
    if is_last and affine.multiple(subscript, inner.variable) ~= 1 then return nil end
    is_own = is_own or not is_last and (affine.multiple(subscript, outer.variable) or 0) ~= 0
  end
  return is_own and walk.find({ found.value }, function(part) return is_before(part, target) end) and found or nil
end

--- The loop within a row, where rows may go side by side.
local function within(node)
  local inner = node.body[1]
  local function is_plain(loop) return not loop.parallel and not loop.irregular and loop.step == 1 end
  if #node.body ~= 1 or inner.kind ~= "for" or not is_plain(node) or not is_plain(inner) then return nil end
  if walk.is_bounded_by(inner, node.variable) or #inner.body > MOST_STATEMENTS or faults.are_in(inner.body)
    or walk.find(inner.body, function(part) return part.kind == "for" or part.kind == "break" end) then return nil end
  return chain_of(inner.body, node, inner) and inner or nil
end

-- --- the loops --------------------------------------------------------------------------------

local function name_of(variable) return ast.node("name", { type = "int", variable = variable }) end

local function plus(node, value)
  if value == 0 then return node end
  return ast.node("binary", { op = value > 0 and "+" or "-", type = "int", left = node,
    right = ast.node("number", { type = "int", value = math.abs(value) }) })
end

local function small(node) return ast.node("bound", { node = node, type = "int" }) end

local function is_reached(left, right)
  return ast.node("binary", { op = "<=", type = "bool", left = small(left), right = small(right) })
end

--- The body with a local in place of what the pass before stored, and what that is.
local function with_kept(inner, chain)
  local kept, read = ast.made_up(inner.variable.id .. "_kept", chain.target.type), nil
  local body = {}
  for i, node in ipairs(inner.body) do
    body[i] = node ~= chain and node or changed(node, { value = walk.replaced(node.value, function(part)
      if not is_before(part, chain.target) then return nil end
      read = part
      return kept
    end) })
  end
  body[#body + 1] = ast.node("assign", { target = kept, value = chain.target })
  return body, kept.variable, read
end

--- Rows side by side.
local function side_by_side(outer, inner, behind)
  local first = changed(outer.variable, { id = outer.variable.id .. "_first" })
  local last, at = plus(name_of(first), ROWS - 1), name_of(inner.variable)
  local kept_body, kept, read = with_kept(inner, chain_of(inner.body, outer, inner))
  local names = {}
  for row = 1, ROWS do names[row] = ast.made_up(("%s_row%d"):format(kept.id, row), kept.type) end
  -- Statements of a row, of the pass that it is at where the first row is at `pass`.
  local function copy(statements, row, pass)
    local others = { [outer.variable] = plus(name_of(first), row - 1), [kept] = names[row],
      [inner.variable] = plus(pass, -behind * (row - 1)) }
    return clone.statements(statements, others, function(variable) return ("%s_row%d"):format(variable.id, row) end)
  end
  local function loop(from, to, statements, top, bottom)
    local body = {}
    for row = top, bottom do
      local own = copy(statements, row, at)
      table.move(own, 1, #own, #body + 1, body)
    end
    return changed(inner, { from = from, to = to, body = body })
  end
  local body, start = {}, plus(inner.from, behind * (ROWS - 1))
  for row = 1, ROWS - 1 do -- one after the other they begin,
    body[row] = loop(plus(inner.from, behind * (row - 1)), plus(inner.from, behind * row - 1), inner.body, 1, row)
  end
  for row = 1, ROWS do
    local node = copy({ ast.node("local", { variable = kept, value = read }) }, row, start)[1]
    body[#body + 1] = changed(node, { variable = names[row].variable })
  end
  body[#body + 1] = loop(start, inner.to, kept_body, 1, ROWS)
  for row = 1, ROWS - 1 do -- and end
    body[#body + 1] = loop(plus(inner.to, behind * (row - 1) + 1), plus(inner.to, behind * row), inner.body, row + 1,
      ROWS)
  end
  local condition = ast.node("binary", { op = "and", type = "bool", left = is_reached(last, outer.to),
    right = is_reached(start, inner.to) })
  local top = ast.node("call", { name = "min", type = "int", arguments = { small(last), small(outer.to) } })
  local alone = changed(outer, { from = name_of(first), to = top })
  return changed(outer, { variable = first, step = ROWS, body = { ast.node("if", {
    arms = { ast.node("arm", { condition = condition, body = body }) }, otherwise = { alone } }) } })
end

--- The statements of a task with rows side by side.
-- @tparam {table,...} nodes
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn {table,...}
function skewing.apply(nodes, scop)
  return walk.replaced_statements(nodes, function(node)
    local inner = node.kind == "for" and within(node)
    for behind = 1, inner and FARTHEST or 0 do
      if is_right(scop, node, inner, behind) then return side_by_side(node, inner, behind) end
    end
  end)
end

return skewing
