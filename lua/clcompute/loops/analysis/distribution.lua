-- SPDX-License-Identifier: MIT

--- Gives statements that stand beside the deep loops of a nest a nest of their own, where the rest is better without
-- them: parallel loops are nested perfectly then, or go through memory element by element. On GPUs each statement of a
-- parallel loop that has a parallel loop in it becomes a nest. No pass of a parallel loop touches what another one
-- writes, so all passes may do their first statements before any does the others.
--
--     for i do c[i][i] = 1; for j do c[i][j] = 0; for k do c[i][j] = c[i][j] + ... end; c[j][i] = c[i][j] end end
--     for i do c[i][i] = 1 end; for i do for j do c[i][j] = 0; for k do ... end end end
--     for i do for j do c[j][i] = c[i][j] end end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local walk = require("clcompute.loops.tree").walk

local distribution = {}

local DEEP = 3 -- loops in each other: the launch of a further nest is nothing beside those

--- Whether a statement may go with copies of the loops around it: it names no local.
local function is_movable(node)
  if node.kind == "for" then
    if not node.parallel or node.irregular then return false end
    for _, inner in ipairs(node.body) do
      if not is_movable(inner) then return false end
    end
    return true
  end
  if node.kind ~= "assign" or not node.target.array then return false end
  return not walk.find({ node }, function(part)
    return part.kind == "name" and part.variable.role == "local" or part.kind == "index" and part.checked ~= nil
  end)
end

--- Whether passes of one of some loops may be neighbours in memory in all that statements touch.
local function has_lane(nodes, band)
  for _, loop in ipairs(band) do
    local units = affine.units(nodes, loop.variable)
    if units and units > 0 then return true end
  end
  return false
end

--- How many statements before the deep ones, and behind them, are to go: of those that may, all where one parallel loop
-- is left, or those without which there are neighbours.
local function shares_of(body, band)
  local first, last, deepest = 1, #body, 0
  for _, node in ipairs(body) do deepest = math.max(deepest, walk.depth(node)) end
  local function may_go(node) return walk.depth(node) < deepest and is_movable(node) end
  while first <= last and may_go(body[first]) do first = first + 1 end
  while last >= first and may_go(body[last]) do last = last - 1 end
  local node = body[first]
  if first == last and walk.is_parallel(node) then return first, last end
  if has_lane(body, band) then return 1, #body end
  for _, ends in ipairs { { 1, last }, { first, #body }, { first, last } } do
    if has_lane(table.move(body, ends[1], ends[2], 1, {}), band) then return table.unpack(ends) end
  end
  return 1, #body
end

--- Statements in copies of the loops of a band, with variables of their own.
local function apart(nodes, band, state)
  for i = #band, 1, -1 do nodes = { ast.changed(band[i], { body = nodes }) } end
  state.is_changed = true
  return clone.statements(nodes, {}, state.rename)[1]
end

--- Takes statements out of the innermost loop of a band; returns the nests that come before it and behind it.
local function distribute(band, before, behind, state)
  local loop = band[#band]
  local body = loop.body
  local first, last = shares_of(body, band)
  if first > 1 then table.insert(before, apart(table.move(body, 1, first - 1, 1, {}), band, state)) end
  if last < #body then
    table.insert(behind, 1, apart(table.move(body, last + 1, #body, 1, {}), band, state))
  end
  if first > 1 or last < #body then loop.body = table.move(body, first, last, 1, {}) end
  local inner = loop.body[1]
  if #loop.body == 1 and walk.is_parallel(inner) then
    band[#band + 1] = inner
    distribute(band, before, behind, state)
  end
end

--- Whether a loop with all that is in it may become several: no error of Lua comes from it, which would come after
-- other statements than in Lua.
local function is_certain(node)
  return clone.can { node } and not walk.find({ node }, ast.is_uncertain)
end

--- A nest for each statement of a loop that has a parallel loop in it, and for what is between them; nil where the loop
-- is not parallel, or has something else than loops and assignments in it.
local function nests_of(node, state)
  if not walk.is_parallel(node) or #node.body < 2 or not is_certain(node) then return nil end
  local list, run = {}, {}
  local function flush()
    if #run > 0 then list[#list + 1] = apart(run, { node }, state) end
    run = {}
  end
  for _, inner in ipairs(node.body) do
    if inner.kind ~= "for" and (inner.kind ~= "assign" or not inner.target.array) then return nil end
    local is_wide = walk.find({ inner }, walk.is_parallel) ~= nil
    if is_wide then flush() end
    run[#run + 1] = inner
    if is_wide then flush() end
  end
  flush()
  return #list > 1 and list or nil
end

--- The same list, with such nests, of the innermost loops first.
local function in_nests(nodes, state)
  local list = {}
  for _, node in ipairs(nodes) do
    if node.kind == "for" then node.body = in_nests(node.body, state) end
    local others = node.kind == "for" and nests_of(node, state) or { node }
    table.move(others, 1, #others, #list + 1, list)
  end
  return list
end

local function visit(nodes, state)
  local list = {}
  for _, node in ipairs(nodes) do
    local before, behind = {}, {}
    if walk.is_parallel(node) and walk.depth(node) >= DEEP then
      distribute({ node }, before, behind, state)
    elseif node.kind == "for" then
      node.body = visit(node.body, state)
    end
    table.move(before, 1, #before, #list + 1, list)
    list[#list + 1] = node
    table.move(behind, 1, #behind, #list + 1, list)
  end
  return list
end

--- Changes a tree.
-- @tparam table tree whose loops have `parallel`
-- @tparam boolean is_wide whether the device needs many work-items: then parallel loops are nested perfectly wherever
-- they can be
-- @treturn boolean whether anything is other than before: then it is to be analysed anew
function distribution.apply(tree, is_wide)
  local state = { rename = clone.renaming(tree), is_changed = false }
  tree.body = (is_wide and in_nests or visit)(tree.body, state)
  return state.is_changed
end

return distribution
