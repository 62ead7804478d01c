-- SPDX-License-Identifier: MIT

--- The passes of loops that sum in elements of which data say where they are, in chunks that follow each other. Each is
-- a work-item's: what it sums goes to copies of arrays (`clcompute.loops.generation.private_sums`) or to a log
-- (`clcompute.loops.generation.logged_sums`). How many chunks there are depends on sizes and the device alone.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local plan = require("clcompute.loops.tree").plan
local trip_counts = require("clcompute.loops.analysis").trip_counts

local chunks = {}

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
function chunks.part(kind, node, updates)
  local arrays, has = {}, {}
  for _, update in ipairs(updates) do
    local array = update.target.array
    if not has[array] then arrays[#arrays + 1] = array end
    has[array] = true
  end
  return plan.part(kind, { arrays = arrays, statements = statements_of(node) })
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
function chunks.number(statements, elements, is_wide)
  elements = math.max(elements, 1)
  if not is_wide then return math.max(math.min(statements // LEAST, statements // (TIMES * elements)), 1) end
  local most = WAIT_WIDE * (statements / elements) ^ 0.5 // 1 | 0
  return math.max(math.min(statements // LEAST_WIDE, most), 1)
end

-- --- parameters ---------------------------------------------------------------------------------

function chunks.count_of(array) return array.id .. "_count" end -- elements
function chunks.each_of(array) return array.id .. "_each" end -- elements from one copy to the next one
function chunks.parts_of(loop) return loop.variable.id .. "_parts" end

local count_of, each_of, parts_of = chunks.count_of, chunks.each_of, chunks.parts_of

--- The names of those parameters that are numbers, as the host computes them: of arrays, of loops.
-- @treturn table `counts` and `distances` by number of the array, `parts` by that of the loop
function chunks.names(nest)
  local counts, distances, parts = {}, {}, {}
  for i, array in ipairs((nest.scattered or nest.logged).arrays) do
    counts[i], distances[i] = count_of(array), each_of(array)
  end
  for i, loop in ipairs(nest.band) do parts[i] = parts_of(loop) end
  return { counts = counts, distances = distances, parts = parts }
end

-- --- as OpenCL C --------------------------------------------------------------------------------

local add = c_statements.add

--- Prints which part of each loop a chunk has.
local function print_parts(band, output)
  local rest = "chunk"
  for i = #band, 1, -1 do
    local id, parts = band[i].variable.id, parts_of(band[i])
    add(output, ("const long %s_part = %s;"):format(id, i > 1 and ("%s %% %s"):format(rest, parts) or rest))
    rest = ("%s / %s"):format(rest, parts)
  end
end

--- Prints the beginning of a loop over a part of its passes; parts differ by a pass at most. The innermost one has its
-- body here.
local function print_part(node, output, body)
  local id, parts, context = node.variable.id, parts_of(node), output.context
  context.helpers.passes = true
  add(output, ("const long %s_passes = passes(%s, %s, %d), %s_more = %s_passes %% %s;"):format(id,
    c_expression.plain(node.from, context), c_expression.plain(node.to, context), node.step, id, id, parts))
  add(output, ("const long %s_first = %s_part * (%s_passes / %s) + min(%s_part, %s_more);"):format(id, id, id, parts,
    id, id))
  add(output, ("const long %s_end = %s_first + %s_passes / %s + (%s_part < %s_more ? 1 : 0);"):format(id, id, id, parts,
    id, id))
  if body then c_statements.hint_at_checks(body, output) end
  add(output, ("for (long %s_pass = %s_first; %s_pass < %s_end; %s_pass++) {"):format(id, id, id, id, id), node)
  output.depth = output.depth + 1
  add(output, ("const long %s = %s + %s_pass * %d;"):format(id, c_expression.plain(node.from, context), id, node.step))
end

--- Prints how a work-item goes through the passes of its chunk, between what two functions add.
function chunks.print_passes(nest, output, print_begin, print_end)
  local band, body = nest.band, nest.body or nest.band[#nest.band].body
  output.depth = 1
  add(output, "const long chunk = (long)get_global_id(0);")
  add(output, "if (chunk >= chunks) return;")
  print_parts(band, output)
  c_statements.block(output, "", function()
    print_begin()
    for i, node in ipairs(band) do print_part(node, output, i == #band and body or nil) end
    output.depth = output.depth - 1
    c_statements.body(body, output)
    for _ = 1, #band do
      add(output, "}")
      output.depth = output.depth - 1
    end
    output.depth = output.depth + 1
    if print_end then print_end() end
  end)
end

--- The kernel of one work-item, which has all passes.
function chunks.print_single(nest, output)
  local body = nest.body or nest.band[#nest.band].body
  for i = #nest.band, 1, -1 do body = { ast.changed(nest.band[i], { body = body }) } end
  output.depth = 0
  c_statements.body(body, output)
end

return chunks
