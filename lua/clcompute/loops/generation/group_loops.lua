-- SPDX-License-Identifier: MIT

--- Parallel loops whose passes the work-items of one group share: each has every so manieth. What their kernels are is
-- in `sharing`, `group_passes` and `round_kernels`.
--
-- A pass waits for its loads much longer than it computes, and compilers cannot know that no pass reads what another
-- one stores. So where a pass is an assignment, a work-item loads for several before it stores for any.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local group_loops = {}

local BATCH = 4 -- passes whose loads are waited for together
local NEIGHBOURS = 32 -- work-items that read at once

local SLICE = { "slice", "slices" }
-- Of the work-items of a group, in rows: as many as the loop has passes for.
local ROW, COLUMN = { "(uint)slice / columns", "rows" }, { "(uint)slice % columns", "columns" }

--- Whether a parallel loop is all that another one does.
local function is_nested(loop)
  local inner = loop.body[1]
  return #loop.body == 1 and inner.kind == "for" and inner.parallel and not inner.irregular and not inner.pace
    and not inner.word
end

--- Whether all that a pass does is an assignment to an element, which cannot fail.
-- @tparam {table,...} nodes
function group_loops.is_store(nodes)
  local node = nodes[1]
  return #nodes == 1 and node.kind == "assign" and node.target.array ~= nil and not node.atomic
    and not faults.are_in { node }
end

--- Whether the passes of a loop are such, and do not depend on each other.
local function stores(loop) return loop.parallel and group_loops.is_store(loop.body) end

--- Prints an assignment for several passes.
-- @tparam table node
-- @tparam {table,...} passes of each, what its variables are called (`names`), what its value is called, and the
-- condition under which it is there, in any case unless given (`where`)
-- @tparam table output
-- @tparam table tools `add`, `block`, `body` and `store` of `clcompute.loops.generation.c_statements`
function group_loops.print_batch(node, passes, output, tools)
  local context, is_float = output.context, node.target.type == "float"
  local type = is_float and context.real or "long"
  for i, pass in ipairs(passes) do
    pass.context = setmetatable({ names = setmetatable(pass.names, { __index = context.names }) },
      { __index = context })
    local value = c_expression.text(node.value, pass.context, is_float and "float" or nil)
    if pass.where then value = ("(%s) ? %s : 0"):format(pass.where, value) end
    tools.add(output, ("const %s %s = %s;"):format(type, pass.value, value), i == 1 and node or nil)
  end
  for _, pass in ipairs(passes) do
    output.context = pass.context
    local value = ast.node("text", { text = pass.value, type = is_float and "float" or "int" })
    local function store() tools.store(node.target, value, output) end
    if pass.where then tools.block(output, ("if (%s) "):format(pass.where), store) else store() end
  end
  output.context = context
end

--- Prints several passes of a loop of such.
local function print_passes(loop, output, tools, step)
  local id, passes = loop.variable.id, {}
  for i = 1, BATCH do
    local name, pass = ("%s_at%d"):format(id, i), ("%s_pass%d"):format(id, i)
    tools.add(output, ("const long %s = %s_pass + %d * (long)%s;"):format(pass, id, i - 1, step))
    tools.add(output, ("const long %s = %s_from + %s * %d;"):format(name, id, pass, loop.step))
    passes[i] = { names = { [loop.variable] = name }, value = ("%s_value%d"):format(id, i),
      where = ("%s < %s_count"):format(pass, id) }
  end
  group_loops.print_batch(loop.body[1], passes, output, tools)
end

--- Prints where a loop begins and how many passes it has; none unless `where`.
local function print_count(loop, where, output, tools)
  local id, context = loop.variable.id, output.context
  context.helpers.passes = true
  tools.add(output, ("const long %s_from = %s;"):format(id, c_expression.plain(loop.from, context)), loop)
  local count = ("passes(%s_from, %s, %d)"):format(id, c_expression.plain(loop.to, context), loop.step)
  tools.add(output, ("const long %s_count = %s;"):format(id, where and ("%s ? %s : 0"):format(where, count) or count))
end

--- Prints how many rows a loop has passes for, where the one in it has so many at most, a text.
local function print_rows(loop, inner, output, tools)
  output.context.helpers.rows_of = true
  tools.add(output, ("const uint rows = rows_of(slices, %s_count, %s), columns = (uint)slices / rows;"):format(
    loop.variable.id, inner))
end

--- The head of a loop over the passes that a work-item has, in steps of so many of its own.
local function head_of(loop, place, batch)
  local id, step = loop.variable.id, place[2]
  if batch then step = ("%d * %s"):format(batch, step) end
  return ("for (long %s_pass = %s; %s_pass < %s_count; %s_pass += %s) "):format(id, place[1], id, id, id, step)
end

--- Prints the passes of a loop that a work-item of a group has: the first one, and then every so manieth.
-- @tparam table loop
-- @tparam table output
-- @tparam table tools as for `print_batch`
-- @tparam ?table place names of what says which work-item it is, and of how many: "slice" and "slices" unless given;
-- and `where` it has passes at all, always unless given
function group_loops.print_slice(loop, output, tools, place)
  place = place or SLICE
  print_count(loop, place.where, output, tools)
  if stores(loop) then
    return tools.block(output, head_of(loop, place, BATCH), function()
      print_passes(loop, output, tools, place[2])
    end)
  end
  if place == ROW then
    print_rows(loop, NEIGHBOURS, output, tools)
  else
    output[#output + 1] = "#pragma unroll 4" -- so that it waits for several loads at once
  end
  tools.block(output, head_of(loop, place), function()
    local id = loop.variable.id
    tools.add(output, ("const long %s = %s_from + %s_pass * %d;"):format(id, id, id, loop.step))
    if place == ROW then return group_loops.print_slice(loop.body[1], output, tools, COLUMN) end
    output.depth = output.depth - 1
    tools.body(loop.body, output)
    output.depth = output.depth + 1
  end)
end

--- Whether there are three loops, each all that the one around it does, of which the first two do not depend on each
-- other.
local function is_deep(loop)
  return is_nested(loop) and is_nested(loop.body[1]) and not walk.is_bounded_by(loop.body[1], loop.variable)
end

--- Prints the passes of three such loops: rows of work-items have those of the first two together.
local function print_deep(loop, output, tools)
  local middle = loop.body[1]
  local id, other = loop.variable.id, middle.variable.id
  print_count(loop, nil, output, tools)
  print_count(middle, nil, output, tools)
  tools.add(output, ("const long %s_passes = %s_count * %s_count;"):format(id, id, other))
  output.context.helpers.rows_of = true
  tools.add(output, ("const uint rows = rows_of(slices, %s_passes, %d), columns = (uint)slices / rows;"):format(id,
    NEIGHBOURS))
  tools.block(output, ("for (long %s_pass = %s; %s_pass < %s_passes; %s_pass += %s) "):format(id, ROW[1], id, id, id,
    ROW[2]), function()
    tools.add(output, ("const long %s = %s_from + %s_pass / %s_count * %d;"):format(id, id, id, other, loop.step))
    tools.add(output, ("const long %s = %s_from + %s_pass %% %s_count * %d;"):format(other, other, id, other,
      middle.step))
    group_loops.print_slice(middle.body[1], output, tools, COLUMN)
  end)
end

--- Prints several passes of a loop, and of each the one of the loop in it that is the work-item's.
local function print_narrow_passes(loop, output, tools)
  local inner, context, passes = loop.body[1], output.context, {}
  local id, inner_id = loop.variable.id, inner.variable.id
  for i = 1, BATCH do
    local name, pass, own = ("%s_at%d"):format(id, i), ("%s_pass%d"):format(id, i), ("%s_at%d"):format(inner_id, i)
    --- A bound of the inner loop, which may be a text already.
    local function bound(node)
      return (c_expression.plain(node, context):gsub("%f[%w_]" .. id .. "%f[^%w_]", name))
    end
    tools.add(output, ("const long %s = %s_pass + %d * (long)rows;"):format(pass, id, i - 1))
    tools.add(output, ("const long %s = %s_from + %s * %d;"):format(name, id, pass, loop.step))
    tools.add(output, ("const long %s = %s + %s_pass;"):format(own, bound(inner.from), inner_id))
    passes[i] = { names = { [loop.variable] = name, [inner.variable] = own }, value = ("%s_value%d"):format(id, i),
      where = ("%s < %s_count && %s <= %s"):format(pass, id, own, bound(inner.to)) }
  end
  group_loops.print_batch(inner.body[1], passes, output, tools)
end

--- Prints the passes of two loops, of which the inner one, in steps of one, has at most so many, a text, which are few.
local function print_narrow(loop, inner, output, tools)
  local id = loop.body[1].variable.id
  print_count(loop, nil, output, tools)
  print_rows(loop, inner, output, tools)
  tools.block(output, ("for (long %s_pass = (uint)slice %% columns; %s_pass < %s; %s_pass += columns) "):format(id, id,
    inner, id), function()
    tools.block(output, head_of(loop, ROW, BATCH), function() print_narrow_passes(loop, output, tools) end)
  end)
end

--- Prints which work-item of how many of a group it is.
function group_loops.print_place(output, tools)
  tools.add(output, "const long slice = (long)get_local_id(0), slices = (long)get_local_size(0);")
end

--- Prints the passes of a loop, and of one that is all that it does.
-- @tparam table loop
-- @tparam table output
-- @tparam table tools as for `print_batch`
-- @tparam[opt] string inner the most passes of the one within, if these are few
function group_loops.print(loop, output, tools, inner)
  tools.block(output, "", function()
    if not is_nested(loop) then return group_loops.print_slice(loop, output, tools) end
    if inner and stores(loop.body[1]) then return print_narrow(loop, inner, output, tools) end
    if is_deep(loop) then return print_deep(loop, output, tools) end
    group_loops.print_slice(loop, output, tools, ROW)
  end)
end

return group_loops
