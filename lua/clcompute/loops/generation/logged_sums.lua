-- SPDX-License-Identifier: MIT

--- Sums in elements of which data say where they are, `h[k[i]] = h[k[i]] + e`, in Lua's order, for GPUs. The passes go
-- in chunks (`chunks`). A work-item writes down what the passes of its chunk would add, in a log, and counts
-- how often that is for each element. Then what was written down is put in the order of elements, and each element gets
-- its list, in the order of the passes.
--
--     for i = 1, n do                                         places[i], values[i] = k[i], e
--       h[k[i]] = h[k[i]] + e                                 counts[chunk][k[i]] = counts[chunk][k[i]] + 1
--     end
--
-- Counting, then placing, is the stable counting sort (Knuth, The Art of Computer Programming 3, 5.2, algorithm D),
-- whose digits are elements. Where a pass fails, nothing is added. Where a log does not pay, one work-item has all
-- passes.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local chunks = require "clcompute.loops.generation.chunks"
local plan = require("clcompute.loops.tree").plan
local trip_counts = require("clcompute.loops.analysis").trip_counts

local logged_sums = {}

local add, block = c_statements.add, c_statements.block
local count_of, each_of = chunks.count_of, chunks.each_of

--- How the loops of a nest are shared out, if it is for such sums alone that it is sequential.
-- @tparam table node its outermost loop, with `logged`
-- @treturn table a part "logged" of the plan
function logged_sums.of(node)
  local updates = {}
  for i, entry in ipairs(node.logged) do updates[i] = entry.node end
  return chunks.part("logged", node, updates)
end

--- How many updates of each array a pass of a nest has at most, as Lua.
-- @tparam table nest with `logged`
-- @treturn {string,...}
function logged_sums.slots(nest)
  local slots = {}
  for i, array in ipairs(nest.logged.arrays) do
    local texts = {}
    for _, entry in ipairs(nest.node.logged) do
      local counts, factors = trip_counts.counts(entry.loops), { "1" }
      for k = #nest.band + 1, #counts do factors[#factors + 1] = ("max(%s, 0)"):format(counts[k]) end
      if entry.node.target.array == array then texts[#texts + 1] = table.concat(factors, " * ") end
    end
    slots[i] = table.concat(texts, " + ")
  end
  return slots
end

-- --- parameters ---------------------------------------------------------------------------------

--- The names in C of what belongs to an array.
local function names_of(array)
  local names = {}
  for _, name in ipairs { "counts", "places", "values", "sorted", "lists", "slots", "own", "next" } do
    names[name] = ("%s_%s"):format(array.id, name)
  end
  return names
end

-- What there is for each array, in the order of parameters: by chunk how many updates an element has, then where these
-- go; of each update the place of its element and the number; the numbers in the order of elements; by element where
-- its list begins and ends, and behind all how long the lists are.
local LOG = { "counts", "places", "values", "sorted", "lists" }

--- The parameters that only such nests have, in order.
-- @tparam table nest
-- @treturn {table,...} rows of `clcompute.loops.generation.kernel_text`
function logged_sums.parameters(nest)
  local rows = {}
  local function add_place(id) rows[#rows + 1] = plan.part("place", { id = id }) end
  for i, array in ipairs(nest.logged and nest.logged.arrays or {}) do
    local names, type = names_of(array), ast.is_float(array.element) and "float" or "int"
    for _, field in ipairs(LOG) do
      local is_value = field == "values" or field == "sorted"
      rows[#rows + 1] = plan.part("log", { id = names[field], field = field, number = i,
        type = is_value and type or nil })
    end
    add_place(count_of(array))
    add_place(each_of(array))
    add_place(names.slots)
  end
  for _, loop in ipairs(nest.logged and nest.band or {}) do add_place(chunks.parts_of(loop)) end
  if nest.logged then add_place "chunks" end
  return rows
end

--- The names of the slots that a chunk has for updates of each array.
function logged_sums.slot_names(nest)
  local list = {}
  for i, array in ipairs(nest.logged.arrays) do list[i] = names_of(array).slots end
  return list
end

-- --- the kernels --------------------------------------------------------------------------------

local function type_of(array, context) return ast.is_float(array.element) and context.real or "long" end

--- Prints an update as what is written down.
local function print_update(entry, output)
  local target, context = entry.node.target, output.context
  local array, names = target.array, names_of(target.array)
  local type = type_of(array, context)
  block(output, "", function()
    add(output, ("const int place = (int)(&%s - %s);"):format(c_expression.element(target, context), array.id))
    add(output, ("const %s value = %s;"):format(type, c_statements.stored(entry.term, type, context)))
    c_statements.stop(output, target, entry.term)
    add(output, ("%s[%s] = place;"):format(names.places, names.next))
    add(output, ("%s[%s++] = value;"):format(names.values, names.next))
    add(output, ("%s[place]++;"):format(names.own))
  end, entry.node)
end

--- Prints what a chunk has of an array's counts.
local function print_own(array, output)
  local names = names_of(array)
  add(output, ("global int *const %s = %s + chunk * %s;"):format(names.own, names.counts, each_of(array)))
end

--- The kernel that writes down what chunks add; counts are 0 before. A slot behind a chunk's last update has no place.
local function print_log(nest, output)
  output.printers = {}
  for _, entry in ipairs(nest.node.logged) do
    output.printers[entry.node] = function() print_update(entry, output) end
  end
  chunks.print_passes(nest, output, function()
    for _, array in ipairs(nest.logged.arrays) do
      local names, count = names_of(array), count_of(array)
      print_own(array, output)
      add(output, ("long %s = chunk * %s;"):format(names.next, names.slots))
      add(output, ("if (chunk == 0) %s[2 * %s] = 0;"):format(names.lists, count))
    end
  end, function()
    for _, array in ipairs(nest.logged.arrays) do
      local names = names_of(array)
      add(output, ("if (%s < (chunk + 1) * %s) %s[%s] = -1;"):format(names.next, names.slots, names.places, names.next))
    end
  end)
end

--- Prints a block for each array, which has the work-items of a place of dimension 2.
local function print_arrays(nest, output, print)
  for i, array in ipairs(nest.logged.arrays) do
    block(output, ("if (get_group_id(2) == %d) "):format(i - 1), function() print(array, names_of(array), output) end)
  end
end

--- Prints how the lists of a group's elements get places, one behind the other, in which no other one has a part.
local function print_lists(array, names, output)
  add(output, ("for (long chunk = from; chunk < to && place < %s; chunk++) sum += %s[chunk * %s + place];"):format(
    count_of(array), names.counts, each_of(array)))
  add(output, "sums[lane] = sum;")
  add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
  block(output, ("if (slice == 0 && place < %s) "):format(count_of(array)), function()
    add(output, "int all = 0;")
    add(output, "for (int i = column; i < items; i += columns) sum = sums[i], sums[i] = all, all += sum;")
    add(output, ("begins[column] = atomic_add(&%s[2 * %s], all);"):format(names.lists, count_of(array)))
    add(output, ("%s[2 * place] = begins[column];"):format(names.lists))
    add(output, ("%s[2 * place + 1] = begins[column] + all;"):format(names.lists))
  end)
  add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
  add(output, "int at = begins[column] + sums[lane];")
  block(output, ("for (long chunk = from; chunk < to && place < %s; chunk++) "):format(count_of(array)), function()
    add(output, ("global int *const own = &%s[chunk * %s + place];"):format(names.counts, each_of(array)))
    add(output, "const int count = *own;")
    add(output, "*own = at;")
    add(output, "at += count;")
  end)
end

logged_sums.MOST_ITEMS, logged_sums.COLUMNS = 256, 32 -- work-items of a group of the next kernel, and its elements

--- The kernel that finds out where the updates of each element go, and of each chunk among these. The work-items of a
-- group are columns, an element each, and slices, which share the chunks.
local function print_places(nest, output)
  output.depth = 1
  add(output, ("local int sums[%d], begins[%d];"):format(logged_sums.MOST_ITEMS, logged_sums.COLUMNS))
  add(output, "const int column = (int)get_local_id(0), columns = (int)get_local_size(0);")
  add(output, "const int slice = (int)get_local_id(1), slices = (int)get_local_size(1);")
  add(output, "const int lane = slice * columns + column, items = columns * slices;")
  add(output, "const long place = (long)get_global_id(0);")
  add(output, "const long from = chunks * slice / slices, to = chunks * (slice + 1) / slices;")
  add(output, "int sum = 0;")
  print_arrays(nest, output, print_lists)
end

--- The kernel that puts what chunks have written down in the order of elements.
local function print_order(nest, output)
  output.depth = 1
  add(output, "const long chunk = (long)get_global_id(0);")
  add(output, "if (chunk >= chunks) return;")
  print_arrays(nest, output, function(array, names)
    print_own(array, output)
    add(output, ("for (long i = chunk * %s; i < (chunk + 1) * %s && %s[i] >= 0; i++)"):format(names.slots, names.slots,
      names.places))
    add(output, ("  %s[%s[%s[i]]++] = %s[i];"):format(names.sorted, names.own, names.places, names.values))
  end)
end

--- The sum of two numbers, as text: integers wrap.
local function print_sum(array, left, right, context)
  if ast.is_float(array.element) then return ("(%s + %s)"):format(left, right) end
  context.helpers.add_int = true
  return ("add_int(%s, %s)"):format(left, right)
end

local AHEAD = 16 -- numbers that a work-item reads before it adds them

--- Prints how numbers of a list are read; what is behind its end changes no sum: -0.0 + x is x whatever x is.
local function print_reading(array, names, at, output)
  add(output, ("for (int i = 0; i < %d; i++)"):format(AHEAD))
  add(output, ("  next[i] = %s + i < end ? %s[%s + i] : %s;"):format(at, names.sorted, at,
    ast.is_float(array.element) and c_expression.number(-0.0, output.context) or "0"))
end

--- The kernel of which a work-item adds the list of an element.
local function print_result(nest, output)
  output.depth = 1
  add(output, "const long place = (long)get_global_id(0);")
  print_arrays(nest, output, function(array, names)
    local type = type_of(array, output.context)
    add(output, ("if (place >= %s) return;"):format(count_of(array)))
    add(output, ("const long end = %s[2 * place + 1];"):format(names.lists))
    add(output, ("long at = %s[2 * place];"):format(names.lists))
    add(output, ("%s sum = %s[place];"):format(array.element, array.id))
    add(output, ("%s next[%d], own[%d];"):format(type, AHEAD, AHEAD))
    print_reading(array, names, "at", output)
    block(output, ("for (; at < end; at += %d) "):format(AHEAD), function()
      add(output, ("for (int i = 0; i < %d; i++) own[i] = next[i];"):format(AHEAD))
      print_reading(array, names, ("at + %d"):format(AHEAD), output)
      add(output, ("for (int i = 0; i < %d; i++) sum = (%s)%s;"):format(AHEAD, array.element,
        print_sum(array, ("(%s)sum"):format(type), "own[i]", output.context)))
    end)
    add(output, ("%s[place] = sum;"):format(array.id))
  end)
end

--- The kernels of a nest: what the name of each ends with, and what prints it.
logged_sums.KERNELS = { { "", print_log }, { "_places", print_places }, { "_order", print_order },
  { "_result", print_result }, { "_single", chunks.print_single } }

return logged_sums
