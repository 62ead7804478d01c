-- SPDX-License-Identifier: MIT

--- Lets two rows of a nest of sequential loops go side by side in a task, the second one some passes behind: where each
-- number waits for the one before it in its row, the other row is computed meanwhile.
--
--     for i = 2, n do for j = 2, n do a[i][j] = (a[i - 1][j] + a[i][j - 1]) / 2 end end
--     for i = 2, n, 2 do
--       a[i][2] = ...                                                          -- the first row is one pass ahead
--       for j = 3, n do a[i][j] = ...; a[i + 1][j - 1] = ... end
--       a[i + 1][n] = ...
--     end
--
-- isl proves that no pass of the second row needs, or overwrites what is read by, a later one of the first.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local isl_text = require("clcompute.loops.analysis").isl_text
local walk = require("clcompute.loops.tree").walk

local skewing = {}

local FARTHEST = 2 -- passes that the second row is behind
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

--- Whether the second row may be so many passes behind the first.
local function is_right(scop, outer, inner, behind)
  local ids, names = { outer.variable.id, inner.variable.id }, {}
  for i, id in ipairs(ids) do names[i] = id .. "_before" end
  local order = { ("%s = %s - 1"):format(names[1], ids[1]), ("%s > %s + %d"):format(names[2], ids[2], behind) }
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

--- The only assignment of a row, if it computes a float from what the pass before stored, each row in its own elements.
local function chain_of(body, outer, inner)
  local found, is_own
  for _, node in ipairs(body) do
    if node.kind ~= "assign" and node.kind ~= "local" or node.kind == "assign" and found then return nil end
    found = node.kind == "assign" and node or found
  end
  local target = found and found.target
  if not target or not target.array or target.type ~= "float" then return nil end
  for d, subscript in ipairs(target.subscripts) do
    local is_last = d == #target.subscripts
    if is_last and affine.multiple(subscript, inner.variable) ~= 1 then return nil end
    is_own = is_own or not is_last and (affine.multiple(subscript, outer.variable) or 0) ~= 0
  end
  return is_own and walk.find(body, function(part) return is_before(part, target) end) and found or nil
end

--- The loop within a row, where two rows may go side by side.
local function within(node)
  local inner = node.body[1]
  local function is_plain(loop) return not loop.parallel and not loop.irregular and loop.step == 1 end
  if #node.body ~= 1 or inner.kind ~= "for" or not is_plain(node) or not is_plain(inner) then return nil end
  if walk.is_bounded_by(inner, node.variable) or #inner.body > MOST_STATEMENTS then return nil end
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
    body[i] = changed(node, { value = walk.replaced(node.value, function(part)
      if not is_before(part, chain.target) then return nil end
      read = part
      return kept
    end) })
  end
  body[#body + 1] = ast.node("assign", { target = kept, value = chain.target })
  return body, kept.variable, read
end

--- Two rows side by side.
local function side_by_side(outer, inner, behind)
  local first = changed(outer.variable, { id = outer.variable.id .. "_first" })
  local rows, at = { name_of(first), plus(name_of(first), 1) }, name_of(inner.variable)
  local kept_body, kept, read = with_kept(inner, chain_of(inner.body, outer, inner))
  local function copy(statements, row, pass, kept_name)
    local others = { [outer.variable] = rows[row], [inner.variable] = pass, [kept] = kept_name }
    return clone.statements(statements, others, function(variable) return ("%s_row%d"):format(variable.id, row) end)
  end
  local before, both = {}, {}
  for row, ends in ipairs { { plus(inner.from, behind), at }, { inner.from, plus(at, -behind) } } do
    local name = ast.made_up(("%s_row%d"):format(kept.id, row), kept.type)
    local start = ast.node("local", { variable = name.variable, value = read })
    before[row] = changed(copy({ start }, row, ends[1])[1], { variable = name.variable })
    local statements = copy(kept_body, row, ends[2], name)
    table.move(statements, 1, #statements, #both + 1, both)
  end
  local function loop(from, to, statements) return changed(inner, { from = from, to = to, body = statements }) end
  local arm = ast.node("arm", {
    condition = ast.node("binary", { op = "and", type = "bool", left = is_reached(rows[2], outer.to),
      right = is_reached(plus(inner.from, behind), inner.to) }),
    body = { loop(inner.from, plus(inner.from, behind - 1), copy(inner.body, 1, at)), before[1], before[2],
      loop(plus(inner.from, behind), inner.to, both),
      loop(plus(inner.to, 1 - behind), inner.to, copy(inner.body, 2, at)) } })
  local last = ast.node("call", { name = "min", type = "int", arguments = { small(rows[2]), small(outer.to) } })
  local alone = changed(outer, { from = rows[1], to = last })
  return changed(outer, { variable = first, step = 2,
    body = { ast.node("if", { arms = { arm }, otherwise = { alone } }) } })
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
