-- SPDX-License-Identifier: MIT

--- Cuts a sequential loop at the pass in which its variable is that of a loop around it with the same bounds, where
-- what is before that pass and behind it is parallel then.
--
--     for k = 1, n do for i = 1, n do for j = 1, n do p[i][j] = math.min(p[i][j], p[i][k] + p[k][j]) end end end
--     for i = 1, k - 1 do ... end; for i = k, k do ... end; for i = k + 1, n do ... end, and in these
--     for j = 1, k - 1 do ... end; for j = k, k do ... end; for j = k + 1, n do ... end

local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local dependences = require "clcompute.loops.analysis.dependences"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local splitting = {}

local MOST_STATEMENTS = 24 -- of a third of a loop that is cut, with loops in it cut, too

local function has_bounds_of(node, other)
  return node.step == 1 and other.step == 1 and lua_text.expression(node.from) == lua_text.expression(other.from)
    and lua_text.expression(node.to) == lua_text.expression(other.to)
end

--- How many statements are in a loop, three times in those that may be cut, too.
local function count_statements(nodes, outer)
  local count = 0
  for _, node in ipairs(nodes) do
    if node.kind == "for" then
      count = count + count_statements(node.body, outer) * (has_bounds_of(node, outer) and 3 or 1)
    elseif node.kind == "if" then
      for _, arm in ipairs(node.arms) do count = count + count_statements(arm.body, outer) end
      count = count + count_statements(node.otherwise or {}, outer)
    else
      count = count + 1
    end
  end
  return count
end

local function is_irregular(node) return node.kind == "for" and node.irregular ~= nil end

--- Whether a subscript in a loop is the variable of another one alone.
local function has_subscript(node, variable)
  return walk.find(node.body, function(part)
    if part.kind ~= "index" then return false end
    for _, subscript in ipairs(part.subscripts) do
      if subscript.kind == "name" and subscript.variable == variable then return true end
    end
    return false
  end) ~= nil
end

--- The loops around at whose variables a loop may be cut, the outermost first.
local function cuts_of(node, around)
  local list = {}
  if node.parallel or walk.find({ node }, is_irregular) or not clone.can(node.body)
    or count_statements(node.body, node) > MOST_STATEMENTS then return list end
  for _, other in ipairs(around) do
    if not other.irregular and has_bounds_of(node, other) and has_subscript(node, other.variable) then
      list[#list + 1] = other
    end
  end
  return list
end

--- The three loops.
local function pieces_of(node, other, rename)
  local at = ast.node("name", { type = "int", variable = other.variable })
  local function beside(op)
    return ast.node("binary", { op = op, left = at, type = "int",
      right = ast.node("number", { value = 1, type = "int" }) })
  end
  local list = {}
  for i, ends in ipairs { { node.from, beside "-" }, { at, at }, { beside "+", node.to } } do
    local piece = ast.changed(node, { from = ends[1], to = ends[2] })
    list[i] = clone.statements({ piece }, {}, rename)[1]
  end
  return list
end

--- The first loop that was not looked at yet and may be cut: the list that it is in, its place there, and where.
local function next_of(nodes, around, is_seen)
  for i, node in ipairs(nodes) do
    if node.kind == "for" then
      local cuts = is_seen[node] and {} or cuts_of(node, around)
      if #cuts > 0 then return nodes, i, cuts end
      around[#around + 1] = node
      local list, at, found = next_of(node.body, around, is_seen)
      around[#around] = nil
      if list then return list, at, found end
    end
  end
end

--- Puts statements in place of some in a list.
local function replace(list, at, count, others)
  for _ = 1, count do table.remove(list, at) end
  for i, node in ipairs(others) do table.insert(list, at + i - 1, node) end
end

--- Whether the passes of a loop before that of another one, and those behind it, are parallel.
local function is_parallel_beside(node, other, scop)
  for _, op in ipairs { "<", ">" } do
    local formula = ("%s %s %s"):format(node.variable.id, op, other.variable.id)
    if dependences.is_carried_where(scop, node, formula) then return false end
  end
  return true
end

--- Changes a tree. Passes have their order as before.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
function splitting.apply(tree, analyse, scop)
  local is_seen, rename = {}, clone.renaming(tree)
  local list, at, cuts = next_of(tree.body, {}, is_seen)
  while list do
    local node = list[at]
    is_seen[node] = true
    for _, other in ipairs(cuts) do
      if is_parallel_beside(node, other, scop) then
        local pieces = pieces_of(node, other, rename)
        for _, piece in ipairs(pieces) do is_seen[piece] = true end
        replace(list, at, 1, pieces)
        scop = analyse()
        break
      end
    end
    list, at, cuts = next_of(tree.body, {}, is_seen)
  end
end

return splitting
