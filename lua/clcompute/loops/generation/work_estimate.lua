-- SPDX-License-Identifier: MIT

--- How much a call has to do, before it does it: launches, work-items and statements of each nest, and what these are
-- in Lua; iterations of loops on the host.
--
-- A loop whose bounds depend on loops around it is counted with their variables in the middle of their ranges, which is
-- right for triangles. Of what an `if` within a nest holds, half is counted; of one on the host all, so that nothing
-- in it is thought to be free.

local bounds = require("clcompute.loops.tree").loop_bounds
local chunks = require "clcompute.loops.generation.chunks"
local lua_text = require("clcompute.loops.tree").lua_text
local plans = require("clcompute.loops.tree").plan
local size_of = require("clcompute.loops.tree").ast.size
local walk = require("clcompute.loops.tree").walk
local wavefronts = require("clcompute.loops.analysis").wavefronts

local work_estimate = {}

local function add(output, text, ...)
  output[#output + 1] = text:format(...)
end

local text_of

--- A name as what it is defined to be: bounds name only locals of which that is known.
local function name_of(variable)
  return variable.role == "local" and "(" .. text_of(variable.definition) .. ")" or variable.id
end

local SIZES = { name = name_of, length = function(node) return size_of(node.array, node.dimension) end }

function text_of(bound)
  return lua_text.expression(bound, SIZES)
end

local UNKNOWN = 16 -- passes of a loop where data decide how many there are

--- Adds what `print` prints as a block, at whose end its names go.
local function print_block(output, print)
  local around = output.counted
  output.counted = setmetatable({}, { __index = around })
  add(output, "do")
  print()
  add(output, "end")
  output.counted = around
end

--- What a loop's iterations and the middle of its range are, as text.
local function range_of(node)
  if not bounds.are_sums(node) then return ("%d, %d"):format(UNKNOWN, UNKNOWN // 2) end
  return ("iterations(%s, %s, %d)"):format(text_of(node.from), text_of(node.to), node.step)
end

--- Text that counts a loop's iterations and puts its variable in the middle of its range. What is in place of a nest
-- has its loops: a block around may have counted them, and Lua has room for 200 names at a time.
local function print_loop(node, output)
  local id, range, known = node.variable.id, range_of(node), output.counted
  if known[id] ~= range then
    if known[id] then output.counted = {} end -- others may be counted with it
    output.counted[id] = range
    add(output, "local %s_count, %s = %s", id, id, range)
  end
  return id .. "_count"
end

-- What nodes are for Lua, in operations of its machine, of which an access has one for each subscript. Storing in a
-- buffer is more where Lua's numbers must be made to fit (`launches`).
local OPERATIONS = { binary = 1, unary = 1, call = 14 }
local STORES = { double = 1, float = 6, long = 0, ulong = 0 }
local OTHER_STORE = 14

--- Operations of expressions.
local function operations_of(nodes)
  local count = 0
  walk.nodes(nodes, function(part)
    count = count + (part.kind == "index" and #part.subscripts or OPERATIONS[part.kind] or 0)
  end)
  return count
end

--- Operations of making a value fit where it is stored; what was in such an element does.
local function fitting_of(value, array)
  local is_plain = array and value.kind == "index" and value.array.element == array.element
  if not array or not array.is_buffer or is_plain then return 0 end
  return STORES[array.element] or OTHER_STORE
end

local count_of

-- By kind of statement, two expressions: how many statements it runs, and how many of Lua's operations they are.
local COUNTS = {
  ["for"] = function(node, output)
    local count = print_loop(node, output)
    local statements, operations = count_of(node.body, output)
    return ("%s * (%s)"):format(count, statements), ("%s * (1 + %s)"):format(count, operations)
  end,
  ["break"] = function() return "0", "0" end,
  ["local"] = function(node) return "1", ("%d"):format(math.max(operations_of { node.value }, 1)) end,
  assign = function(node)
    local operations = operations_of { node.target, node.value } + fitting_of(node.value, node.target.array)
    return "1", ("%d"):format(math.max(operations, 1))
  end,
  ["if"] = function(node, output)
    local statements, operations, tests = {}, {}, {}
    for i, arm in ipairs(node.arms) do
      statements[i], operations[i] = count_of(arm.body, output)
      tests[i] = arm.condition
    end
    if node.otherwise then statements[#tests + 1], operations[#tests + 1] = count_of(node.otherwise, output) end
    return ("1 + 0.5 * (%s)"):format(table.concat(statements, " + ")),
      ("%d + 0.5 * (%s)"):format(operations_of(tests) + 1, table.concat(operations, " + "))
  end,
}

--- Expressions that count the statements that a list runs, and their operations in Lua.
function count_of(nodes, output)
  local statements, operations = {}, {}
  for i, node in ipairs(nodes) do statements[i], operations[i] = COUNTS[node.kind](node, output) end
  if #nodes == 0 then return "0", "0" end
  return table.concat(statements, " + "), table.concat(operations, " + ")
end

--- How many launches a run of a nest has.
local function launches_of(kernel)
  if kernel.wavefront then return wavefronts.count(kernel.wavefront) end
  if kernel.logged then return "4" end
  return (kernel.has_result or kernel.scattered) and "2" or "1"
end

local items_of

--- How many elements the arrays have that a nest has copies of.
local function elements_of(kernel)
  local texts = {}
  for i, array in ipairs(kernel.scattered.arrays) do
    local sizes = {}
    for d = 1, array.pitches and 1 or array.rank do sizes[d] = size_of(array, array.pitches and 0 or d) end
    texts[i] = table.concat(sizes, " * ")
  end
  return table.concat(texts, " + ")
end

-- Of a statement, what an element of a copy takes, as many are side by side; so many copies there are on a processor
-- of two cores; and so many work-items a core has one after the other in `runtime/costs`.
local COPIED, MOST_CHUNKS, GRAIN = 0.5, 16, 64

--- The passes of chunks that have copies are work-items, as many as there are chunks: on a processor each is a grain of
-- those. Copies are work, too.
local function print_chunks(part, output)
  add(output, "local elements = %s", elements_of(part))
  add(output, "local copies = min(chunks(%s, elements, wide), wide and math.huge or %d)", part.scattered.statements,
    MOST_CHUNKS)
  add(output, "numbers.work[%d] = numbers.work[%d] + copies * elements * %g", part.index, part.index, COPIED)
  add(output, "numbers.items[%d] = copies * (wide and 1 or %d)", part.index, GRAIN)
end

-- Updates in a log are added to elements as fast as so many work-items run statements that wait for memory.
local LOGGING = 200

local MEETING = 0.2 -- of a launch, a barrier of a group: as `meeting` beside `launch` in `runtime/costs`

--- How many launches each nest of a loop has, if it goes in rounds that are as long as they may be: should they be
-- shorter, the first call tells. In groups each pass ends with a barrier.
local function in_rounds(round, count)
  local launches = (round.is_front or round.slope > 0) and 2 or 1
  local barriers = round.in_groups and launches * MEETING or 0
  return ("(-(-%s // %d) * %d / %d + %s * %g)"):format(count, round.most, launches, #round.nests, count, barriers)
end

--- How many work-items a launch has; in wavefronts those that have a pass, on the average.
function items_of(kernel)
  local front = kernel.wavefront
  if front then
    return ("%s * %s_count // max(1, %s)"):format(items_of { band = front.band }, front.follower.variable.id,
      wavefronts.count(front))
  end
  local counts = kernel.is_task and { "1" } or {}
  for i, node in ipairs(kernel.band) do counts[i] = node.variable.id .. "_count" end
  return table.concat(counts, " * ")
end

--- Which of the arrays that a nest writes it needs no values of.
local function print_unneeded(part, output)
  local fields = {}
  for _, array in ipairs(part.writes) do
    if part.needed[array] ~= true then
      output.nodes[#output.nodes + 1] = array
      fields[#fields + 1] = ("[nodes[%d]] = not (%s)"):format(#output.nodes, part.needed[array])
    end
  end
  add(output, "numbers.unneeded[%d] = { %s }", part.index, table.concat(fields, ", "))
end

local print_plan

--- What a task is in place of: how many launches that has without rounds is counted for the outermost.
local function print_instead(part, output, times, launched)
  local outer = output.task
  if not outer then
    output.task = part.index
    add(output, "numbers.passes[%d] = 0", part.index)
  end
  print_plan(part.instead, output, times, launched)
  output.task = outer
end

local CHAIN = 0.02 -- of a statement, whose loads are waited for: a term that is at hand

--- Expressions that count the statements of a shared task that one work-item of the group runs alone, and the sums that
-- all share.
local function alone_in(nodes, output)
  local counts, sums = { "0" }, { "0" }
  for _, node in ipairs(nodes) do
    if node.kind == "alone" then
      counts[#counts + 1] = (count_of(node.body, output))
    elseif node.is_sum then
      sums[#sums + 1] = "1"
      if not node.loop.reductions then
        counts[#counts + 1] = ("%g * %s * %d"):format(CHAIN, print_loop(node.loop, output), #node.loop.recurrences)
      end
    elseif node.kind == "for" then
      local passes, own, within = print_loop(node, output), alone_in(node.body, output)
      counts[#counts + 1], sums[#sums + 1] = ("%s * (%s)"):format(passes, own), ("%s * (%s)"):format(passes, within)
    elseif node.kind == "do" then
      counts[#counts + 1], sums[#sums + 1] = alone_in(node.body, output)
    elseif node.kind == "if" then
      for _, body in ipairs(walk.bodies(node)) do counts[#counts + 1], sums[#sums + 1] = alone_in(body, output) end
    end
  end
  return table.concat(counts, " + "), table.concat(sums, " + ")
end

local MOST_SPREAD = 3 << 19 -- statements between meetings of all groups: launches of more take no longer

--- What a task that groups share is in place of, mostly a task too: they wait for each other as often as that stands
-- for launches, and for each sum.
local function print_shared(part, output, times, launched)
  local task, outer = part.instead[1], output.task
  output.task = nil
  if task.is_task then
    print_plan(part.instead, output, times, launched)
  else
    task = part
    print_instead(part, output, times, launched)
  end
  output.task = outer
  add(output, "local launches = numbers.passes[%d] or 0", task.index)
  if outer then add(output, "numbers.passes[%d] = numbers.passes[%d] + launches", outer, outer) end
  add(output, "numbers.waits[%d] = launches", part.index)
  if part.in_group then
    local alone, sums = alone_in(part.body, output)
    add(output, "numbers.alone[%d] = %s * (%s)", part.index, times, alone)
    add(output, "numbers.waits[%d] = launches + %s * (%s)", part.index, times, sums)
  end
  add(output, "numbers.items[%d] = numbers.work[%d] // max(1, numbers.waits[%d])", part.index, part.index, part.index)
  if part.spread then
    add(output, "numbers.is_spread[%d] = numbers.items[%d] >= %d and numbers.items[%d] <= %d", part.index, part.index,
      part.spread, part.index, MOST_SPREAD)
  end
end

--- Whether passes of tiles are lanes of vectors.
local function has_vectors(tiles)
  return tiles ~= nil and (tiles.lane ~= nil or tiles.registers ~= nil and tiles.registers.columns ~= nil)
end

local PARTS = {
  kernel = function(part, output, times, launched)
    local work, operations = count_of(plans.statements(part), output)
    add(output, "numbers.launches[%d] = %s * %s", part.index, launched, launches_of(part))
    add(output, "numbers.work[%d] = %s * (%s)", part.index, times, work)
    add(output, "numbers.operations[%d] = %s * (%s)", part.index, times, operations)
    add(output, "numbers.is_vector[%d] = %s", part.index, part.has_lane or has_vectors(part.tiles))
    add(output, "numbers.items[%d] = %s", part.index, items_of(part))
    if part.scattered then print_chunks(part, output) end
    if part.logged then add(output, "numbers.items[%d] = min(%s, %d)", part.index, items_of(part), LOGGING) end
    if not part.instead then add(output, "numbers.total = numbers.total + numbers.work[%d]", part.index) end
    print_unneeded(part, output)
    if output.task then add(output, "numbers.passes[%d] = numbers.passes[%d] + %s", output.task, output.task, times) end
    if part.is_shared then
      print_shared(part, output, times, launched)
    elseif part.instead then
      print_instead(part, output, times, launched)
    end
  end,
  loop = function(part, output, times, launched)
    local count = print_loop(part.node, output)
    output.nodes[#output.nodes + 1] = part.node
    add(output, "numbers.counts[nodes[%d]] = %s", #output.nodes, count)
    if part.round then add(output, "numbers.has_rounds = true") end
    print_plan(part.body, output, ("%s * %s"):format(times, count),
      ("%s * %s"):format(launched, part.round and in_rounds(part.round, count) or count))
  end,
  ["if"] = function(part, output, times, launched)
    for _, arm in ipairs(part.arms) do print_plan(arm.body, output, times, launched) end
    if part.otherwise then print_plan(part.otherwise, output, times, launched) end
  end,
  either = function(part, output, times, launched)
    output.nodes[#output.nodes + 1] = part
    add(output, "local is_few = %s", part.condition)
    add(output, "numbers.is_few[nodes[%d]] = is_few", #output.nodes)
    local few, many = "%s * (is_few and 1 or 0)", "%s * (is_few and 0 or 1)"
    print_plan(part.few, output, few:format(times), few:format(launched))
    print_plan(part.many, output, many:format(times), many:format(launched))
  end,
  lua = function(part, output, times)
    local work, operations = count_of(part.nodes, output)
    output.nodes[#output.nodes + 1] = part
    add(output, "numbers.rest[nodes[%d]] = %s * (%s)", #output.nodes, times, operations)
    add(output, "numbers.total = numbers.total + %s * (%s)", times, work)
  end,
}

function print_plan(plan, output, times, launched)
  for _, part in ipairs(plan) do
    print_block(output, function() PARTS[part.kind](part, output, times, launched) end)
  end
end

--- Iterations of a loop, and the middle of its range.
local function iterations(from, to, step)
  local count = (to - from) // step + 1
  return count > 0 and count or 0, (from + to) // 2
end

--- Makes the function that estimates calls.
-- @tparam table plan of `clcompute.loops.generation.partition`
-- @tparam {string,...} names of the numbers and sizes of a call
-- @treturn ?function of a table of these numbers, and `wide`, whether the device is no processor, that returns
-- `launches`, `work`, `operations` (in Lua), `is_vector` (passes are lanes of vectors), `items` (of a launch) and
-- `unneeded` (arrays that are written as a whole) by index of the nest, `passes`, of tasks how many launches they
-- stand for, `waits`, of those that groups share how often these wait for each other, `alone`, of those of one group
-- the work of one work-item, `is_spread`, whether all groups share one, `has_rounds`: launches are at least so many;
-- `counts` by `for` node of the host, `is_few` by part of the kind "either", `rest`, the operations of parts that are
-- Lua, and `total`, the work of all statements; or nil and why it is too large for Lua
function work_estimate.compile(plan, names)
  local output = { nodes = {}, counted = {} }
  add(output, "local nodes, iterations = ...")
  add(output, "return function(v)")
  add(output, "local wide = v.wide")
  for _, name in ipairs(names) do add(output, "local %s = v.%s", name, name) end
  add(output, "local numbers = { launches = {}, work = {}, operations = {}, is_vector = {}, items = {} }")
  add(output, "numbers.unneeded, numbers.counts, numbers.is_few, numbers.rest, numbers.total = {}, {}, {}, {}, 0")
  add(output, "numbers.passes, numbers.waits, numbers.alone, numbers.is_spread = {}, {}, {}, {}")
  print_plan(plan, output, "1", "1")
  add(output, "return numbers")
  add(output, "end")
  local environment = { max = math.max, min = math.min, math = math, chunks = chunks.number }
  local chunk, message = lua_text.load(table.concat(output, "\n"), "estimate", environment)
  if not chunk then return nil, message end
  return chunk(output.nodes, iterations)
end

return work_estimate
