-- SPDX-License-Identifier: MIT

--- Tasks that the groups of a launch share: each goes through all loops of the task, takes pieces of the parallel ones,
-- and waits before a piece until all that comes before the loop is done. What is not parallel is one piece.
--
--     for t = 1, n do                                        all groups
--       for i = 2, n - 1 do b[i] = a[i - 1] + a[i + 1] end   pieces 1 and 2, 5 and 6, ...
--       for i = 2, n - 1 do a[i] = b[i] / 2 end              pieces 3 and 4, when 1 and 2 are done, 7 and 8, ...
--     end
--
-- A group takes the pieces first that it had of the loop before, whose elements are in its cache (as in Markatos and
-- LeBlanc, Using Processor Affinity in Loop Scheduling, 1994), then what others have not taken. It goes on when all of
-- a loop are taken; so it waits only for pieces that running groups have. Where one meets what Lua raises an error for,
-- its piece is never done: the others end before what comes behind its loop, and the call sets the counters back.
--
-- On a GPU work-items share the loops: each has every so manieth pass. Of one group they meet at a barrier, and share
-- sums, too (`group_tasks`); of loops of many passes, without sums, those of all groups do (`meetings`).

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local faults = require "clcompute.loops.generation.faults"
local group_loops = require "clcompute.loops.generation.group_loops"
local group_tasks = require "clcompute.loops.generation.group_tasks"
local meetings = require "clcompute.loops.generation.meetings"
local walk = require("clcompute.loops.tree").walk

local sharing = {}

-- Of loops without and with loops in them: passes of a piece at least, and pieces for each group. What is in deep ones
-- may be more in some passes than in others.
local FLAT, DEEP = { least = 512, each = 1 }, { least = 2, each = 2 }
sharing.MOST = DEEP.each -- pieces of a loop for each group, at most

-- --- what is shared -------------------------------------------------------------------------

local is_regular = group_tasks.is_regular

local function is_shared(node) return is_regular(node) and node.parallel end

local function reads_elements(...)
  return walk.find({ ... }, function(part) return part.kind == "index" end) ~= nil
end

local function has_shared(nodes) return walk.find(nodes, is_shared) ~= nil end

--- Whether expressions are the same for all groups at any time: a group that ran ahead to a fault would end the others.
local function are_fixed(...)
  return not reads_elements(...) and not faults.are_in { ... }
end

--- Whether all groups take the same arm of an `if`.
local function has_fixed_arms(node)
  for _, arm in ipairs(node.arms) do
    if not are_fixed(arm.condition) then return false end
  end
  return has_shared { node }
end

--- Whether all groups may go through a statement, as it is the same for all of them.
local function is_common(node)
  if node.kind == "local" then return not node.variable.assigned and are_fixed(node.value) end
  if node.kind == "do" then return has_shared(node.body) end
  if node.kind == "if" then return has_fixed_arms(node) and not walk.breaks_out { node } end
  return is_regular(node) and not walk.breaks_out(node.body) and has_shared(node.body) and are_fixed(node.from, node.to)
end

--- The last statement that mentions a local.
local function last_mention(nodes, variable)
  for i = #nodes, 1, -1 do
    if walk.find({ nodes[i] }, function(part) return part.kind == "name" and part.variable == variable end) then
      return i
    end
  end
  return 0
end

--- The last of the statements that are one piece with one of them: it declares locals that they mention.
local function reach_of(nodes, first)
  local last, i = first, first
  while i <= last do
    if nodes[i].kind == "local" then last = math.max(last, last_mention(nodes, nodes[i].variable)) end
    i = i + 1
  end
  return last
end

--- Adds statements that one group does to what it does before.
local function add_alone(nodes, list)
  local before = list[#list]
  if not before or before.kind ~= "alone" then
    before = ast.node("alone", { body = {} }, nodes[1])
    list[#list + 1] = before
  end
  table.move(nodes, 1, #nodes, #before.body + 1, before.body)
end

--- The statements of a task as those of each group, or of each work-item of the only one.
-- @tparam {table,...} nodes
-- @tparam ?boolean in_group whether work-items share
-- @tparam ?function change what becomes of the statements that a work-item goes through without others
-- @treturn {table,...} with "shared" in place of what is shared, and "alone" in place of what one group does
function sharing.apply(nodes, in_group, change)
  local list, first = {}, 1
  while first <= #nodes do
    local node, last = nodes[first], first
    if is_shared(node) then
      list[#list + 1] = ast.node("shared", { loop = group_tasks.changed(node, change) }, node)
    elseif node.kind == "local" and is_common(node) then
      list[#list + 1] = node
    elseif node.kind == "if" and is_common(node) then
      local function of_arm(body) return sharing.apply(body, in_group, change) end
      list[#list + 1] = walk.with_arms(node, of_arm)
    elseif is_common(node) then
      list[#list + 1] = ast.changed(node, { body = sharing.apply(node.body, in_group, change),
        is_common = node.kind == "for" or nil })
    else
      last = reach_of(nodes, first)
      local run = table.move(nodes, first, last, 1, {})
      local steps = in_group and group_tasks.apply(run, change)
      if not steps then add_alone(change and change(run) or run, list) end
      table.move(steps or {}, 1, #(steps or {}), #list + 1, list)
    end
    first = last + 1
  end
  return list
end

local function is_shared_sum(node) return node.is_sum end

--- Whether a task has a loop in a sequential one that groups, or work-items, can share, or a sum that work-items can.
-- @tparam {table,...} nodes
-- @tparam ?boolean in_group
function sharing.pays(nodes, in_group)
  local list = sharing.apply(nodes, in_group)
  return walk.find(list, is_shared_sum) ~= nil or walk.find(list, function(node)
    return node.kind == "for" and walk.find(node.body, function(part) return part.kind == "shared" end) ~= nil
  end) ~= nil
end

--- Whether work-items of a group share sums in statements.
function sharing.has_sums(nodes)
  return walk.find(sharing.apply(nodes, true), is_shared_sum) ~= nil
end

--- Whether the work-items of a group share all loops of statements that reduce.
-- @tparam {table,...} nodes
function sharing.has_all_sums(nodes)
  local has_other = false
  walk.nodes(sharing.apply(nodes, true), function(node)
    has_other = has_other or node.kind == "for" and node.reductions ~= nil
    return not node.is_sum
  end)
  return not has_other
end

-- --- in C -----------------------------------------------------------------------------------

--- Goes through the pieces of a statement: `print` prints one.
local function print_pieces(count, output, tools, print)
  tools.block(output, ("for (int piece; (piece = take_piece(progress, %s, base)) >= 0;) "):format(count),
    function()
      tools.add(output, output.has_faults and "if (will_never(progress, base, faults)) return;"
        or "await_pieces(progress, base);")
      print()
      tools.add(output, "end_piece(progress);")
    end)
  tools.add(output, ("base += %s;"):format(count))
end

--- Prints what one group does, or one work-item of the only one.
-- @tparam table node
-- @tparam table output
-- @tparam table tools `add`, `block` and `body` of `clcompute.loops.generation.c_statements`
function sharing.print_alone(node, output, tools)
  local function print()
    output.depth = output.depth - 1
    tools.body(node.body, output)
    output.depth = output.depth + 1
  end
  if not output.in_group then return print_pieces("1", output, tools, print) end
  output.print_shared(node.body, function() tools.block(output, "if (slice == 0) ", print) end)
end

--- Prints a loop of which groups take pieces; the last ones may have a pass less than the others.
local function print_in_pieces(node, output, tools)
  local loop, context = node.loop, output.context
  local id, step = loop.variable.id, loop.step
  local size = walk.find(loop.body, function(part) return part.kind == "for" end) and DEEP or FLAT
  local function text(format, ...) return ast.node("text", { text = format:format(...), type = "int" }) end
  context.helpers.passes = true
  tools.block(output, "", function()
    tools.add(output, ("const long %s_from = %s;"):format(id, c_expression.plain(loop.from, context)), loop)
    tools.add(output, ("const long %s_passes = passes(%s_from, %s, %d);"):format(id, id, c_expression.plain(loop.to,
      context), step))
    tools.add(output, ("const int pieces = pieces_of(%s_passes, %d, %d);"):format(id, size.least, size.each))
    print_pieces("pieces", output, tools, function()
      tools.add(output, ("const long %s_begin = %s_passes * piece / pieces;"):format(id, id))
      tools.add(output, ("const long %s_stop = %s_passes * (piece + 1) / pieces - 1;"):format(id, id))
      output.depth = output.depth - 1
      tools.body({ ast.changed(loop, { from = text("%s_from + %s_begin * %d", id, id, step),
        to = text("%s_from + %s_stop * %d", id, id, step) }) }, output)
      output.depth = output.depth + 1
    end)
  end)
end

--- Prints a loop that is shared.
-- @tparam table node
-- @tparam table output with `print_sum` where sums are shared
-- @tparam table tools as for `print_alone`
function sharing.print_loop(node, output, tools)
  if not output.in_group then return print_in_pieces(node, output, tools) end
  if node.is_sum then return output.print_sum(node, output) end
  output.print_shared({ node.loop }, function() group_loops.print(node.loop, output, tools) end)
end

--- Prints the statements of a task that the work-items of a group share.
local function print_in_group(nodes, output, tools)
  output.in_group, output.depth = true, 1
  function output.print_meeting() tools.add(output, "EVERYBODY") end
  function output.print_shared(_, print)
    print()
    output.print_meeting()
  end
  group_loops.print_place(output, tools)
  output.depth = 0
  tools.body(nodes, output)
end

--- Prints the statements of a task that the work-items of all groups share.
local function print_spread(nodes, output, tools)
  output.in_group, output.depth = true, 1
  function output.print_meeting() meetings.print_meeting(output, tools) end
  function output.print_shared(shared, print) meetings.print(shared, output, tools, print) end
  meetings.print_place(output, tools)
  output.depth = 0
  tools.body(nodes, output)
  output.depth = 1
  meetings.print_end(output, tools)
  output.depth = 0
end

--- Prints the statements of a task that is shared.
-- @tparam {table,...} nodes of `apply`
-- @tparam table output
-- @tparam table tools as for `print_alone`
-- @tparam ?boolean is_spread whether all groups of a GPU share it, not one
function sharing.print(nodes, output, tools, is_spread)
  if is_spread then return print_spread(nodes, output, tools) end
  if output.context.is_wide then return print_in_group(nodes, output, tools) end
  output.context.helpers.take_piece = true
  output.depth = 1
  tools.add(output, "uint base = 0;")
  output.depth = 0
  tools.body(nodes, output)
  output.depth = 1
  tools.add(output, ("end_pieces(progress, %d);"):format(sharing.MOST))
  output.depth = 0
end

return sharing
