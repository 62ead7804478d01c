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
-- Where a pass fails, the second kernel adds nothing. Where copies do not pay, a third one keeps Lua's order. The
-- chunks, their parameters and the third kernel are those of `logged_sums`, too.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local plan = require("clcompute.loops.tree").plan
local trip_counts = require("clcompute.loops.analysis").trip_counts

local private_sums = {}

local UNKNOWN = 16 -- passes of a loop where data decide how many there are, as in `work_estimate`

--- Whether a text of Lua has one of some names.
local function has_any(text, names)
  for name in text:gmatch "[%a_][%w_]*" do
    if names[name] then return true end
  end
  return false
end

--- How often loops come to a statement in them, as Lua. Loops of which data decide, or the pass of such a loop, are
-- counted alone as some.
local function count_text(around)
  local known, is_lost, factors = {}, {}, {}
  for _, loop in ipairs(around) do
    known[#known + 1] = loop
    local counts = not loop.irregular and trip_counts.counts(known)
    local count = counts and not has_any(counts[#counts], is_lost) and counts[#counts]
    if not count then known[#known], is_lost[loop.variable.id] = nil, true end
    factors[#factors + 1] = count and ("max(%s, 0)"):format(count) or tostring(UNKNOWN)
  end
  return table.concat(factors, " * ")
end

--- Adds how often statements run that compute a number, as Lua, to a list.
local function add_counts(nodes, around, texts)
  for _, node in ipairs(nodes) do
    if node.value then texts[#texts + 1] = count_text(around) end
    for _, arm in ipairs(node.arms or {}) do add_counts(arm.body, around, texts) end
    add_counts(node.otherwise or {}, around, texts)
    if node.kind == "for" then
      around[#around + 1] = node
      add_counts(node.body, around, texts)
      around[#around] = nil
    end
  end
end

--- How many statements a loop runs, as Lua.
local function statements_of(node)
  local texts = {}
  add_counts({ node }, {}, texts)
  return table.concat(texts, " + ")
end

--- A part of the plan for a loop whose updates go to some arrays.
function private_sums.part(kind, node, updates)
  local arrays, has = {}, {}
  for _, update in ipairs(updates) do
    local array = update.target.array
    if not has[array] then arrays[#arrays + 1] = array end
    has[array] = true
  end
  return plan.part(kind, { arrays = arrays, statements = statements_of(node) })
end

--- How the loops of a nest are shared out, if it is for such sums alone that it is sequential.
-- @tparam table node its outermost loop, with `scattered`
-- @treturn table a part "scattered" of the plan
function private_sums.of(node)
  return private_sums.part("scattered", node, node.scattered)
end

--- Whether the order of a loop's sums matters: a function whose results are the same at each call has one.
-- @tparam table node with `scattered`
function private_sums.have_order(node)
  for _, update in ipairs(node.scattered) do
    if update.target.type == "float" then return true end
  end
  return false
end

-- --- how many chunks ----------------------------------------------------------------------------

local LEAST = 256 -- statements of a chunk on a processor
local TIMES = 4 -- as many statements as elements: then copies take little beside them
local LEAST_WIDE = 16 -- statements of a chunk on a GPU

-- On a GPU a statement waits for memory as long as copying this many elements, squared, takes where all work-items do:
-- so many chunks, times the root of statements for each element, take the shortest time.
local WAIT_WIDE = 256

--- The most chunks that pay on a device with units enough; 1 where the loop had better keep its order.
-- @tparam integer statements that a nest runs
-- @tparam integer elements of its arrays
-- @tparam boolean is_wide whether for a GPU
-- @treturn integer
function private_sums.chunks(statements, elements, is_wide)
  elements = math.max(elements, 1)
  if not is_wide then return math.max(math.min(statements // LEAST, statements // (TIMES * elements)), 1) end
  local most = WAIT_WIDE * (statements / elements) ^ 0.5 // 1 | 0
  return math.max(math.min(statements // LEAST_WIDE, most), 1)
end

-- --- parameters ---------------------------------------------------------------------------------

local function copies_of(array) return array.id .. "_copies" end
function private_sums.count_of(array) return array.id .. "_count" end -- elements
function private_sums.each_of(array) return array.id .. "_each" end -- elements from one copy to the next one
function private_sums.parts_of(loop) return loop.variable.id .. "_parts" end

local count_of, each_of, parts_of = private_sums.count_of, private_sums.each_of, private_sums.parts_of

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

--- The names of those parameters that are numbers, as the host computes them: of arrays, of loops.
-- @treturn table `counts` and `distances` by number of the array, `parts` by that of the loop
function private_sums.names(nest)
  local counts, distances, parts = {}, {}, {}
  for i, array in ipairs((nest.scattered or nest.logged).arrays) do
    counts[i], distances[i] = count_of(array), each_of(array)
  end
  for i, loop in ipairs(nest.band) do parts[i] = parts_of(loop) end
  return { counts = counts, distances = distances, parts = parts }
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

--- Prints which part of each loop a chunk has.
local function print_parts(band, output)
  local rest = "chunk"
  for i = #band, 1, -1 do
    local id, parts = band[i].variable.id, parts_of(band[i])
    add(output, ("const long %s_part = %s;"):format(id, i > 1 and ("%s %% %s"):format(rest, parts) or rest))
    rest = ("%s / %s"):format(rest, parts)
  end
end

--- Prints a copy, which has the name of its array from here on.
local function print_copy(array, output)
  add(output, ("global %s *const %s = %s + chunk * %s;"):format(array.element, array.id, copies_of(array),
    each_of(array)))
  add(output, ("for (long place = 0; place < %s; place++) %s[place] = %s;"):format(count_of(array), array.id,
    kind_of(array, output.context).zero))
end

--- Prints the beginning of a loop over a part of its passes; parts differ by a pass at most.
local function print_part(node, output)
  local id, parts, context = node.variable.id, parts_of(node), output.context
  context.helpers.passes = true
  add(output, ("const long %s_passes = passes(%s, %s, %d), %s_more = %s_passes %% %s;"):format(id,
    c_expression.plain(node.from, context), c_expression.plain(node.to, context), node.step, id, id, parts))
  add(output, ("const long %s_first = %s_part * (%s_passes / %s) + min(%s_part, %s_more);"):format(id, id, id, parts,
    id, id))
  add(output, ("const long %s_end = %s_first + %s_passes / %s + (%s_part < %s_more ? 1 : 0);"):format(id, id, id, parts,
    id, id))
  add(output, ("for (long %s_pass = %s_first; %s_pass < %s_end; %s_pass++) {"):format(id, id, id, id, id), node)
  output.depth = output.depth + 1
  add(output, ("const long %s = %s + %s_pass * %d;"):format(id, c_expression.plain(node.from, context), id, node.step))
end

--- Prints how a work-item goes through the passes of its chunk, between what two functions add.
function private_sums.print_chunk(nest, output, print_begin, print_end)
  output.depth = 1
  add(output, "const long chunk = (long)get_global_id(0);")
  add(output, "if (chunk >= chunks) return;")
  print_parts(nest.band, output)
  c_statements.block(output, "", function()
    print_begin()
    for _, node in ipairs(nest.band) do print_part(node, output) end
    output.depth = output.depth - 1
    c_statements.body(nest.body or nest.band[#nest.band].body, output)
    for _ = 1, #nest.band do
      add(output, "}")
      output.depth = output.depth - 1
    end
    output.depth = output.depth + 1
    if print_end then print_end() end
  end)
end

--- The kernel of which each work-item adds to copies of its own.
local function print_copies(nest, output)
  private_sums.print_chunk(nest, output, function()
    for _, array in ipairs(nest.scattered.arrays) do print_copy(array, output) end
  end)
end

--- The kernel of one work-item, which has all passes.
function private_sums.print_single(nest, output)
  local body = nest.body or nest.band[#nest.band].body
  for i = #nest.band, 1, -1 do body = { ast.changed(nest.band[i], { body = body }) } end
  output.depth = 0
  c_statements.body(body, output)
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
private_sums.KERNELS = { { "", print_copies }, { "_result", print_result }, { "_single", private_sums.print_single } }

return private_sums
