-- SPDX-License-Identifier: MIT

--- Sums in elements of which data say where they are, `h[k[i]] = h[k[i]] + e`, in private copies of h. The passes are
-- shared out in chunks of passes that follow each other; a work-item has a chunk, and adds to a copy of its own, which
-- begins with what changes nothing. Then a second kernel adds the copies to the array. All of that has one order,
-- whatever runs first: results depend on sizes and the device alone.
--
--     for i = 1, n do                                         each work-item, some passes
--       h[k[i]] = h[k[i]] + e                                 in its copy
--     end
--
-- Where a pass fails, the second kernel adds nothing. Where copies do not pay, a third one keeps Lua's order.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local chunks = require "clcompute.loops.generation.chunks"
local plan = require("clcompute.loops.tree").plan

local private_sums = {}

local count_of, each_of, parts_of = chunks.count_of, chunks.each_of, chunks.parts_of

--- How the loops of a nest are shared out, if it is for such sums alone that it is sequential.
-- @tparam table node its outermost loop, with `scattered`
-- @treturn table a part "scattered" of the plan
function private_sums.of(node)
  return chunks.part("scattered", node, node.scattered)
end

--- Whether the order of a loop's sums matters: a function whose results are the same at each call has one.
-- @tparam table node with `scattered`
function private_sums.have_order(node)
  for _, update in ipairs(node.scattered) do
    if update.target.type == "float" then return true end
  end
  return false
end

-- --- parameters ---------------------------------------------------------------------------------

local function copies_of(array) return array.id .. "_copies" end
--- The parameters that only such nests have, in order: the copies of each array, its elements and those from one copy
-- to the next one, in how many parts each loop goes, and how many chunks there are.
-- @tparam table nest
-- @treturn {table,...} rows of `clcompute.loops.generation.kernel_text`
function private_sums.parameters(nest)
  local rows = {}
  local function add_place(id) rows[#rows + 1] = plan.part("place", { id = id }) end
  for i, array in ipairs(nest.scattered and nest.scattered.arrays or {}) do
    rows[#rows + 1] = plan.part("copies", { id = copies_of(array), variable = array, number = i })
    add_place(count_of(array))
    add_place(each_of(array))
  end
  for _, loop in ipairs(nest.scattered and nest.band or {}) do add_place(parts_of(loop)) end
  if nest.scattered then add_place "chunks" end
  return rows
end

-- --- as OpenCL C --------------------------------------------------------------------------------

local add = c_statements.add

--- The types of sums by that of elements, with what changes none: -0.0 + x is x whatever x is.
local function kind_of(array, context)
  if not ast.is_float(array.element) then
    return { type = "long", helper = "add_int", zero = "0", lanes = "int_lanes" }
  end
  return { type = context.real, helper = "add_real", zero = c_expression.number(-0.0, context), lanes = "real_lanes" }
end

--- Prints the sum of two elements, as text, that is stored in the first.
local function print_sum(array, place, other, output)
  local kind, context = kind_of(array, output.context), output.context
  context.helpers[kind.helper] = true
  add(output, ("%s = (%s)%s((%s)%s, (%s)%s);"):format(place, array.element, kind.helper, kind.type, place, kind.type,
    other))
end

--- Prints a copy, which has the name of its array from here on.
local function print_copy(array, output)
  add(output, ("global %s *const %s = %s + chunk * %s;"):format(array.element, array.id, copies_of(array),
    each_of(array)))
  add(output, ("for (long place = 0; place < %s; place++) %s[place] = %s;"):format(count_of(array), array.id,
    kind_of(array, output.context).zero))
end

--- The kernel of which each work-item adds to copies of its own.
local function print_copies(nest, output)
  chunks.print_passes(nest, output, function()
    for _, array in ipairs(nest.scattered.arrays) do print_copy(array, output) end
  end)
end

--- Adds the copies to elements that lie one behind the other: vectors.
local function print_run(array, output)
  local copies, each = copies_of(array), each_of(array)
  add(output, ("const long first = %s * run / runs, end = %s * (run + 1) / runs;"):format(count_of(array),
    count_of(array)))
  c_statements.block(output, "for (long chunk = 0; chunk < chunks; chunk++) ", function()
    add(output, ("global const %s *const copy = %s + chunk * %s;"):format(array.element, copies, each))
    c_statements.block(output, "for (long place = first; place < end; place++) ", function()
      print_sum(array, array.id .. "[place]", "copy[place]", output)
    end)
  end)
end

--- The kernel that adds the copies to arrays, of a processor's work-items.
local function print_runs(nest, output)
  add(output, "const long run = (long)get_global_id(0), runs = (long)get_global_size(0);")
  for _, array in ipairs(nest.scattered.arrays) do
    c_statements.block(output, "", function() print_run(array, output) end)
  end
end

--- Puts together by halves what the slices of a group found for an element, and adds that to it.
local function print_halves(array, output)
  local kind, copies, each = kind_of(array, output.context), copies_of(array), each_of(array)
  local is_there = ("place < %s"):format(count_of(array))
  output.context.helpers[kind.helper] = true
  add(output, ("%s sum = %s;"):format(kind.type, kind.zero))
  add(output, ("for (long chunk = %s ? slice : chunks; chunk < chunks; chunk += slices)"):format(is_there))
  add(output, ("  sum = %s(sum, (%s)%s[chunk * %s + place]);"):format(kind.helper, kind.type, copies, each))
  add(output, ("%s[lane] = sum;"):format(kind.lanes))
  add(output, ("REDUCE_SLICES(%s, %s)"):format(kind.lanes, kind.helper))
  c_statements.block(output, ("if (slice == 0 && %s) "):format(is_there), function()
    print_sum(array, array.id .. "[place]", kind.lanes .. "[column]", output)
  end)
  add(output, "EVERYBODY")
end

--- The same, of a GPU: the work-items of a group are columns, an element each, and slices, which share the copies.
local function print_groups(nest, output)
  local is_there = {}
  for _, array in ipairs(nest.scattered.arrays) do
    local kind = kind_of(array, output.context)
    if not is_there[kind.lanes] then add(output, ("local %s %s[GROUP_ITEMS];"):format(kind.type, kind.lanes)) end
    is_there[kind.lanes] = true
  end
  add(output, "const long column = (long)get_local_id(0), columns = (long)get_local_size(0);")
  add(output, "const long slice = (long)get_local_id(1), slices = (long)get_local_size(1);")
  add(output, "const long lane = slice * columns + column, place = (long)get_global_id(0);")
  for _, array in ipairs(nest.scattered.arrays) do
    c_statements.block(output, "", function() print_halves(array, output) end)
  end
end

--- The kernel that adds the copies to arrays, in the order of the chunks or by halves.
local function print_result(nest, output)
  output.depth = 1
  local print = output.context.is_wide and print_groups or print_runs
  print(nest, output)
end

--- The kernels of a nest: what the name of each ends with, and what prints it.
private_sums.KERNELS = { { "", print_copies }, { "_result", print_result }, { "_single", chunks.print_single } }

return private_sums
