-- SPDX-License-Identifier: MIT

--- Loops of `clcompute.loops.analysis.recurrences` whose work-items share what is costly of `x = x + e`, and yet x is
-- Lua's to the last bit: all compute the terms e of a chunk of passes, `turns` of each work-item, and leave them in
-- local memory; one of them, slice 0, goes on with x in Lua's order. Meanwhile the others compute the terms of the next
-- chunk.
--
--     for j = 1, m do s = s + a[i][j] * x[j] end
--
--     for each chunk, beginning before the first one
--       terms[next] = a[i][j] * x[j]                              every work-item, of its passes in the next chunk
--       for each pass of the chunk do s = s + terms[pass] end     slice 0
--       barrier

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local chains = require "clcompute.loops.generation.chains"
local walk = require("clcompute.loops.tree").walk

local ordered_sums = {}

local add, block = c_statements.add, c_statements.block

--- Whether a loop has other passes in each of the columns of a group.
local function is_slanted(loop, grouped)
  if grouped.by_rows then return false end
  return walk.mentions_local { loop.from, loop.to } or walk.is_bounded_by(loop, grouped.neighbours.variable)
end

--- Declares the local memory, which must stand in the outermost scope of a kernel.
-- @tparam table grouped part of the plan
-- @tparam table output
-- @tparam ?string items for how many work-items, those of `clcompute.loops.generation.group_passes` unless given
function ordered_sums.print_room(grouped, output, items)
  local room = grouped.room
  items = items or grouped.by_rows and "ROW_ITEMS" or "GROUP_ITEMS"
  for _, type in ipairs { "int", "float" } do
    if room[type] > 0 then
      add(output, ("local %s %s_terms[2][%d][%d * %s];"):format(c_statements.type(type, output.context),
        type == "int" and "int" or "real", room[type], room.turns, items))
    end
  end
  for _, loop in ipairs(grouped.loops) do
    if chains.are_in(loop) and is_slanted(loop, grouped) then
      return add(output, "local long passes_of[32]; // columns, at most")
    end
  end
end

--- Prints how many passes a loop has, and how many the longest one of the group. All work-items come to the same
-- barriers, and those without a pass of the nest compute terms of the last one, unless that stores something.
local function print_counts(loop, grouped, output, stores)
  local id, context = loop.variable.id, output.context
  context.helpers.passes = true
  add(output, ("const long %s_from = %s;"):format(id, c_expression.plain(loop.from, context)), loop)
  local count = ("passes(%s_from, %s, %d)"):format(id, c_expression.plain(loop.to, context), loop.step)
  if not is_slanted(loop, grouped) then
    add(output, ("const long %s_most = %s, %s_count = %s;"):format(id, count, id,
      stores and ("has_pass ? %s_most : 0"):format(id) or id .. "_most"))
    return
  end
  add(output, ("const long %s_count = %s;"):format(id, stores and ("has_pass ? %s : 0"):format(count) or count))
  add(output, "if (slice == 0) passes_of[column] = " .. id .. "_count;")
  add(output, "EVERYBODY")
  add(output, ("long %s_most = 0;"):format(id))
  add(output, ("for (int other = 0; other < columns; other++) %s_most = max(%s_most, passes_of[other]);"):format(id,
    id))
end

--- Prints what a pass does but for its chains, and their terms.
local function print_pass(loop, list, output)
  local of_node = {}
  for _, chain in ipairs(list) do of_node[chain.node] = chain end
  for _, node in ipairs(loop.body) do
    local chain = of_node[node]
    for _, term in ipairs(chain and chain.terms or {}) do
      add(output, ("%s = %s;"):format(chains.place(chain.type, term.slot, "1 - side", "turn * slices * columns + lane"),
        c_expression.text(term.node, output.context, chain.type)), term.node)
    end
    if not chain then
      output.depth = output.depth - 1
      c_statements.body({ node }, output)
      output.depth = output.depth + 1
    end
  end
end

--- Prints the work-item's passes of the next chunk. Where these store nothing it has the last pass again beyond the
-- end, as conditions keep compilers from waiting for several loads at once.
local function print_terms(loop, list, turns, output, stores)
  local id = loop.variable.id
  local pass = ("%s_next + turn * slices + slice"):format(id)
  block(output, ("if (%s_next < %s_count) "):format(id, id), function()
    output[#output + 1] = "#pragma unroll"
    block(output, ("for (int turn = 0; turn < %d; turn++) "):format(turns), function()
      add(output, ("const long %s_pass = %s;"):format(id, stores and pass
        or ("min(%s, %s_count - 1)"):format(pass, id)))
      add(output, ("const long %s = %s_from + %s_pass * %d;"):format(id, id, id, loop.step))
      local function print() print_pass(loop, list, output) end
      if stores then block(output, ("if (%s_pass < %s_count) "):format(id, id), print) else print() end
    end)
  end)
end

--- Prints how slice 0 goes on with each x.
local function print_chains(loop, list, output)
  local id = loop.variable.id
  block(output, ("if (slice == 0 && %s_chunk >= 0) "):format(id), function()
    add(output, ("const long end = min(%s_size, %s_count - %s_chunk);"):format(id, id, id))
    output[#output + 1] = "#pragma unroll 8" -- so that it waits for several terms at once
    block(output, "for (long term = 0; term < end; term++) ", function()
      for _, chain in ipairs(list) do
        local value = chain.is_local and c_expression.text(chain.value, output.context, chain.type)
          or c_statements.stored(chain.value, chain.target.array.element, output.context) -- rounded at each step
        add(output, ("%s = %s;"):format(c_expression.name(chain.name.variable, output.context), value), chain.node)
      end
    end)
  end)
end

--- Prints a private x for each element.
local function print_beginning(loop, list, output)
  for _, chain in ipairs(list) do
    if not chain.is_local then
      local type, id = c_statements.type(chain.type, output.context), chain.name.variable.id
      add(output, ("%s %s = 0;"):format(type, id))
      add(output, ("if (is_owner && %s_count > 0) %s = %s;"):format(loop.variable.id, id,
        c_expression.text(chain.target, output.context)))
    end
  end
end

--- Prints where each x goes: all work-items go on with a local, if they do; an element is stored where there was a
-- pass. Terms of the next loop are on side 1 first, so nothing waits for those that take a local from side 0.
local function print_end(loop, list, output, is_joined)
  local taken = {}
  for _, chain in ipairs(list) do
    if chain.is_local and not is_joined then
      local name, place = c_expression.name(chain.name.variable, output.context),
        chains.place(chain.type, chain.slot, "0", "column")
      add(output, ("if (slice == 0) %s = %s;"):format(place, name))
      taken[#taken + 1] = ("%s = %s;"):format(name, place)
    elseif not chain.is_local then
      block(output, ("if (is_owner && %s_count > 0) "):format(loop.variable.id), function()
        c_statements.store(chain.target, chain.name, output, chain.node)
      end)
    end
  end
  if not is_joined then add(output, "EVERYBODY") end
  for _, text in ipairs(taken) do add(output, text) end
end

--- Whether other statements of a loop's pass store elements.
local function stores_in(loop, list)
  local own = {}
  for _, chain in ipairs(list) do own[chain.node] = true end
  return walk.find(loop.body, function(node) return node.kind == "assign" and not own[node] and node.target.array end)
    ~= nil
end

--- Prints a loop.
-- @tparam table loop of `chains.are_in`
-- @tparam table grouped part of the plan
-- @tparam table output
-- @tparam ?boolean is_joined whether what comes behind it is slice 0's alone, and ends with a barrier
function ordered_sums.print(loop, grouped, output, is_joined)
  local id, turns, list = loop.variable.id, grouped.room.turns, chains.of(loop)
  local stores = stores_in(loop, list)
  print_counts(loop, grouped, output, stores)
  print_beginning(loop, list, output)
  add(output, ("const long %s_size = %d * slices;"):format(id, turns))
  add(output, "int side = 0;")
  block(output, ("for (long %s_chunk = -%s_size; %s_chunk < %s_most; %s_chunk += %s_size) "):format(id, id, id, id, id,
    id), function()
    add(output, ("const long %s_next = %s_chunk + %s_size;"):format(id, id, id))
    print_terms(loop, list, turns, output, stores)
    print_chains(loop, list, output)
    add(output, "EVERYBODY")
    add(output, "side = 1 - side;")
  end)
  print_end(loop, list, output, is_joined)
end

return ordered_sums
