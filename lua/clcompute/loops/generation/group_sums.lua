-- SPDX-License-Identifier: MIT

--- Sums in tasks that the work-items of one group go through together (`group_tasks`). In Lua's order they are those of
-- `ordered_sums`. In any order each work-item sums up every so manieth pass; then the first ones put together what
-- others found, and all put together what these have: two barriers, however many work-items there are.

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local chains = require "clcompute.loops.generation.chains"
local group_loops = require "clcompute.loops.generation.group_loops"
local group_tasks = require "clcompute.loops.generation.group_tasks"
local ordered_sums = require "clcompute.loops.generation.ordered_sums"
local plan = require("clcompute.loops.tree").plan
local reduction_kernels = require "clcompute.loops.generation.reduction_kernels"
local walk = require("clcompute.loops.tree").walk

local group_sums = {}

local add = c_statements.add

local FIRST = 32 -- work-items that put together what others found

local NAMES = { int = "int_found", float = "real_found" }

--- What the sums of a task need.
-- @tparam {table,...} nodes of `clcompute.loops.generation.sharing`
-- @treturn ?table a part "team" of the plan; nil where there are none
function group_sums.of(nodes)
  local loops, lanes = {}, { int = 0, float = 0 }
  walk.nodes(nodes, function(node)
    if not node.is_sum then return end
    loops[#loops + 1] = node.loop
    if not node.loop.reductions then return end
    for type, count in pairs(group_tasks.places(node.loop)) do lanes[type] = math.max(lanes[type], count) end
  end)
  if #loops == 0 then return nil end
  return plan.part("team", { room = chains.room(loops), lanes = lanes, by_rows = true, loops = loops })
end

--- Declares local memory, which must stand in the outermost scope of a kernel, and which work-item it is.
-- @tparam table team part of the plan
-- @tparam table output
function group_sums.print_room(team, output)
  output.depth = 1
  for _, type in ipairs { "int", "float" } do
    if team.lanes[type] > 0 then
      add(output, ("local %s %s[%d][TEAM_ITEMS];"):format(c_statements.type(type, output.context), NAMES[type],
        team.lanes[type]))
    end
  end
  if team.room then
    ordered_sums.print_room(team, output, "TEAM_ITEMS")
    add(output, "const long column = 0, columns = 1, lane = (long)get_local_id(0);")
    add(output, "const bool has_pass = true;")
  end
  add(output, "const bool is_owner = get_local_id(0) == 0;")
  output.print_sum = function(node) group_sums.print(node, team, output) end
  output.instead = {}
end

--- Prints a loop in which a work-item adds to what it has what others have left in local memory.
local function print_further(list, head, output)
  output[#output + 1] = "#pragma unroll 8" -- so that it waits for several at once
  c_statements.block(output, head, function()
    for _, part in ipairs(list) do
      add(output, ("%s = %s(%s, %s[other]);"):format(part.id, part.helper, part.id, part.found))
    end
  end)
end

--- Prints how what the work-items have is put together; all have the result then.
local function print_together(list, output)
  for _, part in ipairs(list) do
    add(output, ("%s[slice] = %s;"):format(part.found, part.id))
    output.context.helpers[part.helper] = true
  end
  add(output, "EVERYBODY")
  c_statements.block(output, ("if (slice < %d) "):format(FIRST), function()
    print_further(list, ("for (long other = slice + %d; other < slices; other += %d) "):format(FIRST, FIRST), output)
    for _, part in ipairs(list) do add(output, ("%s[slice] = %s;"):format(part.found, part.id)) end
  end)
  add(output, "EVERYBODY")
  for _, part in ipairs(list) do add(output, ("%s = %s[0];"):format(part.id, part.found)) end
  add(output, ("const long found = min(slices, (long)%d);"):format(FIRST))
  print_further(list, "for (long other = 1; other < found; other++) ", output)
end

--- Prints how an x gets what was found for it: a local of each work-item, or an element.
local function print_result(part, output)
  local condition = reduction_kernels.changes(part, output.context)
  if not part.is_local then condition = "is_owner && " .. condition end
  c_statements.block(output, ("if (%s) "):format(condition), function()
    c_statements.store(part.target, part.result, output, part.node)
  end)
end

--- Prints a loop of sums in any order.
local function print_unordered(loop, output)
  local list, counts = reduction_kernels.accumulators(loop.reductions, "_part"), { int = 0, float = 0 }
  for _, part in ipairs(list) do
    add(output, ("%s %s = %s;"):format(c_statements.type(part.type, output.context), part.id,
      c_expression.number(part.identity, output.context)))
    output.instead[part.node] = part.instead
  end
  group_loops.print_slice(loop, output, c_statements)
  local found = {}
  for i, part in ipairs(list) do
    output.instead[part.node] = nil
    found[i] = setmetatable({ found = ("%s[%d]"):format(NAMES[part.type], counts[part.type]) }, { __index = part })
    counts[part.type] = counts[part.type] + 1
  end
  print_together(found, output)
  for _, part in ipairs(list) do print_result(part, output) end
end

--- Prints a loop of sums.
-- @tparam table node "shared"
-- @tparam table team part of the plan
-- @tparam table output
function group_sums.print(node, team, output)
  c_statements.block(output, "", function()
    if node.loop.reductions then
      print_unordered(node.loop, output)
      if not node.is_joined then add(output, "EVERYBODY") end
    else
      ordered_sums.print(node.loop, team, output, node.is_joined)
    end
  end)
end

return group_sums
