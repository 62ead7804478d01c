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

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local walk = require("clcompute.loops.tree").walk

local ordered_sums = {}

local MOST_TERMS = 4 -- of a work-item in a chunk: doubles of 512 work-items take 32 KiB, with those of the next chunk

-- --- what a chain is ------------------------------------------------------------------------

--- Whether a loop has such statements.
function ordered_sums.are_in(loop)
  return loop.recurrences ~= nil and not loop.parallel and not loop.reductions
end

--- Whether x is in an expression.
local function has(node, x)
  return walk.find({ node }, function(part) return part == x end) ~= nil
end

--- Whether a value is a number of the source or of the call, which is at hand in all passes.
local function is_at_hand(node)
  local role = node.kind == "name" and node.variable.role
  return node.kind == "number" or role == "parameter" or role == "capture"
end

--- An expression with other nodes in place of x, and of what is without x; what is at hand stays.
local function replaced(node, x, other, term_of)
  if node == x then return other end
  if is_at_hand(node) then return node end
  if not has(node, x) then return term_of(node) end
  if node.kind == "binary" then
    return ast.changed(node, { left = replaced(node.left, x, other, term_of),
      right = replaced(node.right, x, other, term_of) })
  end
  local arguments = {}
  for i, argument in ipairs(node.arguments) do arguments[i] = replaced(argument, x, other, term_of) end
  return ast.changed(node, { arguments = arguments })
end

--- A place in local memory: `side` says whether in the chunk that is summed or in the next one, `at` which pass it is.
local function place_of(type, slot, side, at)
  return ("%s_terms[%s][%d][%s]"):format(type == "int" and "int" or "real", side, slot, at)
end

--- The statements of a loop whose x goes on in Lua's order, and how many slots of local memory they need, by type: one
-- for each term, or, when the loop has ended, one for each x that is a local.
local function chains_of(loop)
  local list, slots, locals = {}, { int = 0, float = 0 }, { int = 0, float = 0 }
  for i, recurrence in ipairs(loop.recurrences) do
    local target, type = recurrence.target, recurrence.target.type
    local is_local, terms = target.kind == "name", {}
    local name = is_local and target or ast.made_up(("%s_x%d"):format(target.array.id, i), type)
    local value = replaced(recurrence.node.value, recurrence.occurrence, name, function(node)
      terms[#terms + 1] = { node = node, slot = slots[type] }
      slots[type] = slots[type] + 1
      local text = place_of(type, terms[#terms].slot, "side", "term * columns + column")
      return ast.node("text", { type = type, text = text })
    end)
    list[i] = { node = recurrence.node, target = target, type = type, is_local = is_local, name = name, terms = terms,
      value = value, slot = locals[type] }
    if is_local then locals[type] = locals[type] + 1 end
  end
  for type, count in pairs(locals) do slots[type] = math.max(slots[type], count) end
  return list, slots
end

--- Whether an element is another one in each pass of a loop, and of the loops around it.
local function is_of_one_pass(node, loop, band)
  if node.kind ~= "index" then return false end
  local goes, is_own = false, false
  for _, subscript in ipairs(node.subscripts) do
    goes = goes or walk.mentions(subscript, loop.variable)
    for _, outer in ipairs(band) do is_own = is_own or walk.mentions(subscript, outer.variable) end
  end
  return goes and is_own
end

local IS_QUICK = { min = true, max = true }

--- Whether the terms of a loop take longer than to put them together: what all passes read is at hand soon.
local function are_costly(loop, band)
  return walk.find(loop.body, function(part)
    return part.kind == "call" and not IS_QUICK[part.name] or is_of_one_pass(part, loop, band)
  end) ~= nil
end

--- The local memory for some loops' terms.
-- @tparam {table,...} loops that are shared
-- @tparam {table,...} band the loops around them
-- @treturn ?table slots by type, "int" and "float", and `turns`, how many passes of a chunk a work-item has, 0 where
-- there is no room, or the terms of no loop are worth it; nil where no loop is such
function ordered_sums.room(loops, band)
  local room, are_worth_it = nil, false
  for _, loop in ipairs(loops) do
    if ordered_sums.are_in(loop) then
      local _, slots = chains_of(loop)
      are_worth_it = are_worth_it or are_costly(loop, band)
      room = room or { int = 0, float = 0 }
      for type, count in pairs(slots) do room[type] = math.max(room[type], count) end
    end
  end
  if room then room.turns = are_worth_it and MOST_TERMS // math.max(room.int + room.float, 1) or 0 end
  return room
end

-- --- kernels ----------------------------------------------------------------------------------

local add, block = c_statements.add, c_statements.block

--- Whether a loop has other passes in each of the columns of a group.
local function is_slanted(loop, grouped)
  if grouped.by_rows then return false end
  return walk.mentions_local { loop.from, loop.to } or walk.is_bounded_by(loop, grouped.neighbours.variable)
end

--- Declares the local memory, which must stand in the outermost scope of a kernel.
-- @tparam table grouped part of the plan
-- @tparam table output
function ordered_sums.print_room(grouped, output)
  local room, items = grouped.room, grouped.by_rows and "ROW_ITEMS" or "GROUP_ITEMS"
  for _, type in ipairs { "int", "float" } do
    if room[type] > 0 then
      add(output, ("local %s %s_terms[2][%d][%d * %s];"):format(c_statements.type(type, output.context),
        type == "int" and "int" or "real", room[type], room.turns, items))
    end
  end
  for _, loop in ipairs(grouped.loops) do
    if ordered_sums.are_in(loop) and is_slanted(loop, grouped) then
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
local function print_pass(loop, chains, output)
  local of_node = {}
  for _, chain in ipairs(chains) do of_node[chain.node] = chain end
  for _, node in ipairs(loop.body) do
    local chain = of_node[node]
    for _, term in ipairs(chain and chain.terms or {}) do
      add(output, ("%s = %s;"):format(place_of(chain.type, term.slot, "1 - side", "turn * slices * columns + lane"),
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
local function print_terms(loop, chains, turns, output, stores)
  local id = loop.variable.id
  local pass = ("%s_next + turn * slices + slice"):format(id)
  block(output, ("if (%s_next < %s_count) "):format(id, id), function()
    output[#output + 1] = "#pragma unroll"
    block(output, ("for (int turn = 0; turn < %d; turn++) "):format(turns), function()
      add(output, ("const long %s_pass = %s;"):format(id, stores and pass
        or ("min(%s, %s_count - 1)"):format(pass, id)))
      add(output, ("const long %s = %s_from + %s_pass * %d;"):format(id, id, id, loop.step))
      local function print() print_pass(loop, chains, output) end
      if stores then block(output, ("if (%s_pass < %s_count) "):format(id, id), print) else print() end
    end)
  end)
end

--- Prints how slice 0 goes on with each x.
local function print_chains(loop, chains, output)
  local id = loop.variable.id
  block(output, ("if (slice == 0 && %s_chunk >= 0) "):format(id), function()
    add(output, ("const long end = min(%s_size, %s_count - %s_chunk);"):format(id, id, id))
    output[#output + 1] = "#pragma unroll 8" -- so that it waits for several terms at once
    block(output, "for (long term = 0; term < end; term++) ", function()
      for _, chain in ipairs(chains) do
        local value = chain.is_local and c_expression.text(chain.value, output.context, chain.type)
          or c_statements.stored(chain.value, chain.target.array.element, output.context) -- rounded at each step
        add(output, ("%s = %s;"):format(c_expression.name(chain.name.variable, output.context), value), chain.node)
      end
    end)
  end)
end

--- Prints a private x for each element.
local function print_beginning(loop, chains, output)
  for _, chain in ipairs(chains) do
    if not chain.is_local then
      local type, id = c_statements.type(chain.type, output.context), chain.name.variable.id
      add(output, ("%s %s = 0;"):format(type, id))
      add(output, ("if (is_owner && %s_count > 0) %s = %s;"):format(loop.variable.id, id,
        c_expression.text(chain.target, output.context)))
    end
  end
end

--- Prints where each x goes: all work-items go on with a local; an element is stored where there was a pass. Terms of
-- the next loop are on side 1 first, so nothing waits for those that take a local from side 0.
local function print_end(loop, chains, output)
  local taken = {}
  for _, chain in ipairs(chains) do
    if chain.is_local then
      local name, place = c_expression.name(chain.name.variable, output.context),
        place_of(chain.type, chain.slot, "0", "column")
      add(output, ("if (slice == 0) %s = %s;"):format(place, name))
      taken[#taken + 1] = ("%s = %s;"):format(name, place)
    else
      block(output, ("if (is_owner && %s_count > 0) "):format(loop.variable.id), function()
        c_statements.store(chain.target, chain.name, output, chain.node)
      end)
    end
  end
  add(output, "EVERYBODY")
  for _, text in ipairs(taken) do add(output, text) end
end

--- Whether other statements of a loop's pass store elements.
local function stores_in(loop, chains)
  local own = {}
  for _, chain in ipairs(chains) do own[chain.node] = true end
  return walk.find(loop.body, function(node) return node.kind == "assign" and not own[node] and node.target.array end)
    ~= nil
end

--- Prints a loop.
-- @tparam table loop for which `are_in` holds
-- @tparam table grouped part of the plan
-- @tparam table output
function ordered_sums.print(loop, grouped, output)
  local id, turns, chains = loop.variable.id, grouped.room.turns, chains_of(loop)
  local stores = stores_in(loop, chains)
  print_counts(loop, grouped, output, stores)
  print_beginning(loop, chains, output)
  add(output, ("const long %s_size = %d * slices;"):format(id, turns))
  add(output, "int side = 0;")
  block(output, ("for (long %s_chunk = -%s_size; %s_chunk < %s_most; %s_chunk += %s_size) "):format(id, id, id, id, id,
    id), function()
    add(output, ("const long %s_next = %s_chunk + %s_size;"):format(id, id, id))
    print_terms(loop, chains, turns, output, stores)
    print_chains(loop, chains, output)
    add(output, "EVERYBODY")
    add(output, "side = 1 - side;")
  end)
  print_end(loop, chains, output)
end

return ordered_sums
