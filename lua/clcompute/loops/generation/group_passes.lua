-- SPDX-License-Identifier: MIT

--- Passes that are a work-group's. Where a parallel loop has fewer passes than a GPU has work-items, and each pass sums
-- up or fills something in loops of its own, the work-items of a group share these loops: `slices` of them, each of
-- which has every so manieth pass, put together what they found by halves in local memory, or one sums in Lua's order
-- (`ordered_sums`). A group has one pass of the parallel loop, if the elements that its loops read lie one behind the
-- other ("rows"), or COLUMNS passes side by side, if neighbours in memory are those of neighbouring passes ("columns").
--
--     for i = 1, n do                                               a group
--       local s = 0.0                                               each work-item
--       for j = 1, m do s = s + a[i][j] * x[j] end                  shared by its work-items
--       y[i] = s                                                    one of them
--     end

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local chains = require "clcompute.loops.generation.chains"
local faults = require "clcompute.loops.generation.faults"
local group_loops = require "clcompute.loops.generation.group_loops"
local ordered_sums = require "clcompute.loops.generation.ordered_sums"
local plan = require("clcompute.loops.tree").plan
local reduction_kernels = require "clcompute.loops.generation.reduction_kernels"
local trip_counts = require("clcompute.loops.analysis").trip_counts
local walk = require("clcompute.loops.tree").walk

local group_passes = {}

local MOST_DIMENSIONS = 3

-- --- which nests ------------------------------------------------------------------------------

--- Whether work-items may share a loop.
local function is_shared(node)
  return node.kind == "for" and (node.parallel or node.reductions or node.recurrences) and not node.irregular
    and not node.pace
end

--- Whether a statement assigns elements of arrays, and whether it assigns locals from around it.
local function assigns(node)
  local elements, locals, own = false, false, {}
  walk.node(node, function(part)
    if part.kind == "local" then own[part.variable] = true end
    if part.kind ~= "assign" then return end
    if part.target.kind == "index" then elements = true else locals = locals or not own[part.target.variable] end
  end)
  return elements, locals
end

--- Whether a statement is for each work-item of a group, or for one of them.
local function is_single(node)
  if walk.find({ node }, function(part) return part.kind == "for" or part.kind == "break" end) then return false end
  local elements, locals = assigns(node)
  return not (elements and locals)
end

--- The loops of a pass that work-items share; nil where one of its statements is neither shared nor single.
local function shared_loops(nodes)
  local list = {}
  for _, node in ipairs(nodes) do
    if is_shared(node) then list[#list + 1] = node elseif not is_single(node) then return nil end
  end
  return #list > 0 and list or nil
end

--- Whether the elements of loops lie behind each other in the order of the loops rather than in that of the passes of
-- the band around them.
local function goes_by_rows(loops, neighbours)
  local by_rows, by_columns = 0, 0
  for _, loop in ipairs(loops) do
    walk.node(loop, function(node)
      if node.kind ~= "index" then return end
      local along, across = affine.stride(node, loop.variable), affine.stride(node, neighbours.variable)
      if along == 1 and not across then by_rows = by_rows + 1 end
      if across == 1 and not along then by_columns = by_columns + 1 end
    end)
  end
  return by_rows >= by_columns
end

--- The loop of a kernel's dimension 0, if no other loop of its range is bounded by it.
local function neighbours_of(kernel)
  local found
  for _, node in ipairs(kernel.band) do
    if found and walk.is_bounded_by(node, found.variable) then return nil end
    if kernel.mapping[node].dimension == 0 then found = node end
  end
  return found
end

--- The greatest numbers of passes of some loops within a band; nil where one is not known.
local function counts_of(band, loops)
  local texts = {}
  for i, loop in ipairs(loops) do
    local nest = table.move(band, 1, #band, 1, {})
    nest[#nest + 1] = loop
    local counts = trip_counts.counts(nest)
    if not counts then return nil end
    texts[i] = counts[#counts]
  end
  return texts
end

--- How a nest is a group's.
-- @tparam table kernel of the plan, with a range of parallel loops
-- @treturn ?table a part "grouped" of the plan; nil where it cannot be
function group_passes.of(kernel)
  local band = kernel.band
  if #band > MOST_DIMENSIONS or faults.are_in { kernel.node } then return nil end
  local loops, neighbours = shared_loops(band[#band].body), neighbours_of(kernel)
  local counts = loops and neighbours and counts_of(band, loops)
  if not counts then return nil end
  local room = chains.room(loops, band)
  if room and room.turns == 0 then return nil end
  for _, loop in ipairs(loops) do
    if loop.place == "work-item" then loop.place = "group" end
  end
  return plan.part("grouped", { loops = loops, counts = counts, neighbours = neighbours, room = room,
    by_rows = goes_by_rows(loops, neighbours) })
end

-- --- kernels ----------------------------------------------------------------------------------

local add = c_statements.add

local HEAD = [[
#ifndef GROUP_ITEMS
#define GROUP_ITEMS 1 // the most work-items of a group that shares passes
#endif
#ifndef ROW_ITEMS
#define ROW_ITEMS 1 // of a group that shares one pass, with sums in Lua's order
#endif
#ifndef TEAM_ITEMS
#define TEAM_ITEMS 1 // of a group that shares a task with sums
#endif
#ifndef TASK_ITEMS
#define TASK_ITEMS 1 // of one that shares a task without sums
#endif
#ifndef ROUND_ITEMS
#define ROUND_ITEMS 1 // of one that shares a piece of a round
#endif
#define EVERYBODY if (GROUP_ITEMS > 1) barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#define HALVE_SLICES(lanes, op, n)                                              \
  if (GROUP_ITEMS > n && slices > n) {                                          \
    barrier(CLK_LOCAL_MEM_FENCE);                                               \
    if (slice < n) lanes[lane] = op(lanes[lane], lanes[lane + n * columns]);    \
  }
#define REDUCE_SLICES(lanes, op)                                                                    \
  HALVE_SLICES(lanes, op, 128) HALVE_SLICES(lanes, op, 64) HALVE_SLICES(lanes, op, 32)              \
  HALVE_SLICES(lanes, op, 16) HALVE_SLICES(lanes, op, 8) HALVE_SLICES(lanes, op, 4)                 \
  HALVE_SLICES(lanes, op, 2) HALVE_SLICES(lanes, op, 1)
]]

--- What stands before kernels whose work-items share something; none where there are none.
function group_passes.head(nests, rounds)
  for _, nest in ipairs(nests) do
    if nest.grouped or nest.is_shared or nest.scattered then return HEAD end
  end
  return #rounds > 0 and HEAD or ""
end

-- Where the pass of a dimension is: the work-items of dimension 1 are the slices of one.
local PLACE = { [0] = "get_global_id(0)", "get_group_id(1)", "get_global_id(2)" }

--- The pass of a loop of the band. Beyond the last one of dimension 0 work-items have the last one, too, so that all of
-- a group come to each barrier, but no passes of its loops, and store nothing.
local function print_place(node, dimension, output)
  local id, context, step = node.variable.id, output.context, node.step
  local pass = id .. "_pass"
  context.helpers.passes = true
  add(output, ("const long %s_count = passes(%s, %s, %d);"):format(id, c_expression.plain(node.from, context),
    c_expression.plain(node.to, context), step))
  if dimension == 0 then
    add(output, ("if ((long)get_group_id(0) * columns >= %s_count) return;"):format(id))
    add(output, ("const bool has_pass = (long)%s < %s_count, is_owner = has_pass && slice == 0;"):format(PLACE[0], id))
    add(output, ("const long %s = min((long)%s, %s_count - 1);"):format(pass, PLACE[0], id))
  else
    add(output, ("const long %s = (long)%s;"):format(pass, PLACE[dimension]))
    add(output, ("if (%s >= %s_count) return;"):format(pass, id))
  end
  add(output, ("const long %s = %s + %s * %d;"):format(id, c_expression.plain(node.from, context), pass, step), node)
end

--- Prints statements that stand at the depth of the output.
local function print_body(nodes, output)
  output.depth = output.depth - 1
  c_statements.body(nodes, output)
  output.depth = output.depth + 1
end

--- Puts together what the slices found, and gives it to x.
local function print_together(accumulator, output)
  local id, lanes = accumulator.id, accumulator.type == "int" and "int_lanes" or "real_lanes"
  output.context.helpers[accumulator.helper] = true
  add(output, ("%s[lane] = %s;"):format(lanes, id))
  add(output, ("REDUCE_SLICES(%s, %s)"):format(lanes, accumulator.helper))
  add(output, "EVERYBODY")
  add(output, ("%s = %s[column];"):format(id, lanes))
  local changes = reduction_kernels.changes(accumulator, output.context)
  local condition = ("if (%s%s) "):format(accumulator.is_local and "" or "is_owner && ", changes)
  c_statements.block(output, condition, function()
    c_statements.store(accumulator.target, accumulator.result, output, accumulator.node)
  end)
  add(output, "EVERYBODY")
end

--- Whether a statement stores in arrays that others of a pass mention: work-items wait for each other around it.
local function waits(nodes, own)
  local is_stored, found = walk.set(walk.uses({ own }).writes), false
  for _, node in ipairs(nodes) do
    if node ~= own then
      walk.node(node, function(part) found = found or part.array ~= nil and is_stored[part.array] ~= nil end)
    end
  end
  return found
end

local SLICE = { "slice", "slices", where = "has_pass" }

--- Prints a loop that is shared.
local function print_shared(loop, nodes, grouped, output)
  if waits(nodes, loop) then add(output, "EVERYBODY") end
  if chains.are_in(loop) then
    return c_statements.block(output, "", function() ordered_sums.print(loop, grouped, output) end)
  end
  local list = reduction_kernels.accumulators(loop.parallel and {} or loop.reductions, "_part")
  c_statements.block(output, "", function()
    for _, accumulator in ipairs(list) do
      add(output, ("%s %s = %s;"):format(c_statements.type(accumulator.type, output.context), accumulator.id,
        c_expression.number(accumulator.identity, output.context)))
      output.instead[accumulator.node] = accumulator.instead
    end
    group_loops.print_slice(loop, output, c_statements, SLICE)
    for _, accumulator in ipairs(list) do
      output.instead[accumulator.node] = nil
      print_together(accumulator, output)
    end
    if #list == 0 then add(output, "EVERYBODY") end
  end)
end

--- Prints a statement that is not shared: one work-item stores elements.
local function print_single(node, nodes, output)
  if not assigns(node) then return print_body({ node }, output) end
  local is_awaited = waits(nodes, node)
  if is_awaited then add(output, "EVERYBODY") end
  c_statements.block(output, "if (is_owner) ", function() print_body({ node }, output) end)
  if is_awaited then add(output, "EVERYBODY") end
end

--- The lanes that accumulators need, by type.
local function print_lanes(grouped, output)
  local is_there = {}
  for _, loop in ipairs(grouped.loops) do
    for _, reduction in ipairs(not loop.parallel and loop.reductions or {}) do
      is_there[reduction.target.type] = true
    end
  end
  for _, row in ipairs { { "int", "int_lanes" }, { "float", "real_lanes" } } do
    if is_there[row[1]] then
      add(output, ("local %s %s[GROUP_ITEMS];"):format(c_statements.type(row[1], output.context), row[2]))
    end
  end
end

--- The kernel of a nest whose passes are a group's.
function group_passes.print(nest, output)
  local body = nest.band[#nest.band].body
  output.depth, output.instead = 1, {}
  print_lanes(nest.grouped, output)
  if nest.grouped.room then ordered_sums.print_room(nest.grouped, output) end
  add(output, "const long slice = (long)get_local_id(1), slices = (long)get_local_size(1);")
  add(output, nest.grouped.by_rows and "const long column = 0, columns = 1;"
    or "const long column = (long)get_local_id(0), columns = (long)get_local_size(0);")
  add(output, "const long lane = slice * columns + column;")
  for _, node in ipairs(nest.band) do print_place(node, nest.mapping[node].dimension, output) end
  for _, node in ipairs(body) do
    if is_shared(node) then print_shared(node, body, nest.grouped, output) else print_single(node, body, output) end
  end
end

return group_passes
