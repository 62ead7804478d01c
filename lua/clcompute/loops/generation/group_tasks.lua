-- SPDX-License-Identifier: MIT

--- Statements of a task that the work-items of one group go through together, as a sum in them is shared: locals are of
-- each work-item, which all compute the same; loops that are parallel, or are so but for sums, are shared; and what
-- else stores in arrays, one does.
--
--     for i = 1, n do                                               each work-item
--       local w = b[i]                                              each
--       for j = 1, i - 1 do w = w - a[i][j] * y[j] end              shared
--       y[i] = w                                                    one of them
--     end
--
-- A barrier ends what is shared and what one does. So one is missing only between what each reads and a store there.

local ast = require("clcompute.loops.tree").ast
local chains = require "clcompute.loops.generation.chains"
local walk = require("clcompute.loops.tree").walk

local group_tasks = {}

local MOST = 2 -- of a loop's terms of a type, or of its sums in any order: 512 work-items have 48 KiB for all of them

-- --- what is shared ---------------------------------------------------------------------------

--- Whether a loop has passes that are known before, none of which ends it.
function group_tasks.is_regular(node)
  return node.kind == "for" and not node.irregular and not node.pace and not node.word
end

local function is_parallel(node) return group_tasks.is_regular(node) and node.parallel end

--- Whether statements assign no locals from around them but some.
local function assigns_only(nodes, targets)
  for _, variable in ipairs(walk.uses(nodes).assigned) do
    if not targets[variable] then return false end
  end
  return true
end

--- How many places in local memory the sums of a loop need for each work-item, by type.
function group_tasks.places(node)
  if not node.reductions then return select(2, chains.of(node)) end
  local counts = { int = 0, float = 0 }
  for _, sum in ipairs(node.reductions) do counts[sum.target.type] = counts[sum.target.type] + 1 end
  return counts
end

--- What a loop sums up: `reductions` in any order, or `recurrences` in Lua's; nil where there is no room for it.
local function sums_of(node)
  if not node.reductions and not chains.are_in(node) then return nil end
  local places = group_tasks.places(node)
  return math.max(places.int, places.float) <= MOST and (node.reductions or node.recurrences) or nil
end

--- Whether a loop is parallel but for sums that work-items may share.
function group_tasks.is_sum(node)
  local sums = group_tasks.is_regular(node) and not node.parallel and sums_of(node)
  if not sums or walk.find(node.body, is_parallel) then return false end
  local targets = {}
  for _, sum in ipairs(sums) do
    if sum.target.kind == "name" then targets[sum.target.variable] = true end
  end
  return assigns_only({ node }, targets)
end

local is_sum = group_tasks.is_sum

local function is_shared(node) return is_parallel(node) and assigns_only({ node }, {}) or is_sum(node) end

-- --- statements in step -----------------------------------------------------------------------

local function is_plain_local(node)
  return node.kind == "local" or node.kind == "assign" and node.target.kind == "name"
end

--- Whether a statement changes locals alone, whichever way it goes.
local function is_of_locals(node)
  return #walk.uses({ node }).writes == 0
    and not walk.find({ node }, function(part) return part.kind == "for" or part.kind == "break" end)
end

--- What a statement is for: "shared", "common" (a loop around such), "each" or "alone"; nil: none of these.
local function role_of(node)
  if is_shared(node) then return "shared" end
  if group_tasks.is_regular(node) and not walk.breaks_out(node.body) and walk.find(node.body, is_shared)
    and not walk.find({ node.from, node.to }, function(part) return part.kind == "index" end) then return "common" end
  if is_plain_local(node) then return "each" end
  if assigns_only({ node }, {}) then return "alone" end
  return is_of_locals(node) and "each" or nil
end

--- Where statements begin that come after all that is shared, and assign no locals but those of their list: there one
-- work-item goes on.
local function tail_of(nodes)
  local first, own = #nodes + 1, {}
  while first > 1 and not (role_of(nodes[first - 1]) == "shared" or role_of(nodes[first - 1]) == "common") do
    first = first - 1
  end
  for _, node in ipairs(nodes) do
    if node.kind == "local" then own[node.variable] = true end
  end
  return assigns_only(table.move(nodes, first, #nodes, 1, {}), own) and first or #nodes + 1
end

--- A parallel loop whose passes are changed.
function group_tasks.changed(loop, change)
  return change and ast.changed(loop, { body = change(loop.body) }) or loop
end

local in_step

--- Adds a barrier where statements store in what each work-item may be reading.
local function wait_for(nodes, list, state)
  for _, array in ipairs(walk.uses(nodes).writes) do
    if state.pending[array] then
      list[#list + 1], state.pending = ast.node("meeting", {}, nodes[1]), {}
      return
    end
  end
end

-- By role, what adds some statements of it to a list; those of one work-item come together, others one by one.
local ADD = {
  shared = function(nodes, list, state)
    wait_for(nodes, list, state)
    local loop, sums = nodes[1], is_sum(nodes[1])
    if not sums then loop = group_tasks.changed(loop, state.change) end
    list[#list + 1], state.pending = ast.node("shared", { loop = loop, is_sum = sums or nil }, loop), {}
  end,
  alone = function(nodes, list, state)
    wait_for(nodes, list, state)
    local body = state.change and state.change(nodes) or nodes
    list[#list + 1], state.pending = ast.node("alone", { body = body }, nodes[1]), {}
  end,
  each = function(nodes, list, state)
    list[#list + 1] = nodes[1]
    for _, array in ipairs(walk.uses(nodes).reads) do state.pending[array] = true end
  end,
  common = function(nodes, list, state)
    local before, loop = state.pending, nodes[1]
    state.pending = setmetatable({}, { __index = before })
    local body = in_step(loop.body, state)
    if next(state.pending) then body[#body + 1] = ast.node("meeting", {}, loop) end -- before its next pass
    state.pending = before -- it may have none
    list[#list + 1] = ast.changed(loop, { body = body, is_common = true })
  end,
}

--- Whether statements behind a sum are one work-item's, and mention alone what it sums up in the locals of their list.
local function is_joined(list, at, nodes)
  local is_own, next_one = {}, list[at + 1]
  if not next_one or next_one.kind ~= "alone" then return nil end
  for _, node in ipairs(nodes) do
    if node.kind == "local" then is_own[node.variable] = true end
  end
  local sums = walk.uses({ list[at].loop }).assigned
  for _, variable in ipairs(sums) do
    local function is_it(part) return part.kind == "name" and part.variable == variable end
    if not is_own[variable] or walk.find(table.move(list, at + 2, #list, 1, {}), is_it) then return nil end
  end
  return true
end

--- The statements of a list as those of each work-item; raises nothing, as `are_in_step` was asked before.
function in_step(nodes, state)
  local list, tail, at = {}, tail_of(nodes), 1
  while at <= #nodes do
    local role, last = at >= tail and "alone" or role_of(nodes[at]), at
    while role == "alone" and last < #nodes and (last + 1 >= tail or role_of(nodes[last + 1]) == role) do
      last = last + 1
    end
    ADD[role](table.move(nodes, at, last, 1, {}), list, state)
    at = last + 1
  end
  for i, node in ipairs(list) do
    if node.is_sum then node.is_joined = is_joined(list, i, nodes) end
  end
  return list
end

--- Whether all statements of a list, and of the loops around what is shared, have a role.
local function are_in_step(nodes)
  for i = 1, tail_of(nodes) - 1 do
    local role = role_of(nodes[i])
    if not role or role == "common" and not are_in_step(nodes[i].body) then return false end
  end
  return true
end

--- The statements of a list with sums in it as those of each work-item, with "shared" in place of what is shared, and
-- "alone" in place of what one does.
-- @tparam {table,...} nodes whose locals nothing behind them mentions
-- @tparam ?function change what becomes of the statements that a work-item goes through without others
-- @treturn ?{table,...} nil where there is no sum to share, or a statement is for neither each work-item nor one
function group_tasks.apply(nodes, change)
  if not walk.find(nodes, is_sum) or not are_in_step(nodes) then return nil end
  local state = { pending = {}, change = change }
  local list = in_step(nodes, state)
  if next(state.pending) then list[#list + 1] = ast.node("meeting", {}, nodes[#nodes]) end
  return walk.find(list, function(part) return part.is_sum end) and list or nil
end

return group_tasks
