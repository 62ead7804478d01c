-- SPDX-License-Identifier: MIT

--- How much a call has to do, before it does it: launches, work-items and statements of each nest, iterations of loops
-- on the host.
--
-- A loop whose bounds depend on loops around it is counted with their variables in the middle of their ranges, which is
-- right for triangles. Of what an `if` within a nest holds, half is counted; of one on the host all, so that nothing
-- in it is thought to be free.

local lua_text = require("clcompute.loops.tree").lua_text
local size_of = require("clcompute.loops.tree").ast.size
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

--- Text that counts a loop's iterations and puts its variable in the middle of its range.
local function print_loop(node, output)
  local id = node.variable.id
  add(output, "local %s_count, %s = iterations(%s, %s, %d)", id, id, text_of(node.from),
    text_of(node.to), node.step)
  return id .. "_count"
end

local count_of

local COUNTS = {
  ["for"] = function(node, output)
    local count = print_loop(node, output)
    return ("%s * (%s)"):format(count, count_of(node.body, output))
  end,
  ["local"] = function() return "1" end,
  assign = function() return "1" end,
  ["if"] = function(node, output)
    local texts = {}
    for i, arm in ipairs(node.arms) do texts[i] = count_of(arm.body, output) end
    if node.otherwise then texts[#texts + 1] = count_of(node.otherwise, output) end
    return ("1 + 0.5 * (%s)"):format(table.concat(texts, " + "))
  end,
}

--- An expression that counts the statements that a list runs.
function count_of(nodes, output)
  local texts = {}
  for i, node in ipairs(nodes) do texts[i] = COUNTS[node.kind](node, output) end
  return #texts > 0 and table.concat(texts, " + ") or "0"
end

--- How many launches a run of a nest has.
local function launches_of(kernel)
  return kernel.wavefront and wavefronts.count(kernel.wavefront) or kernel.has_result and "2" or "1"
end

local items_of

--- How many launches each nest of a loop has, if it goes in rounds that are as long as they may be: should they be
-- shorter, the first call tells.
local function in_rounds(round, count)
  local launches = (round.is_front or round.slope > 0) and 2 or 1
  return ("(-(-%s // %d) * %d / %d)"):format(count, round.most, launches, #round.nests)
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

local PARTS = {
  kernel = function(part, output, times, launched)
    add(output, "do")
    local work = count_of({ part.node }, output)
    add(output, "numbers.launches[%d] = %s * %s", part.index, launched, launches_of(part))
    add(output, "numbers.work[%d] = %s * (%s)", part.index, times, work)
    add(output, "numbers.items[%d] = %s", part.index, items_of(part))
    add(output, "numbers.total = numbers.total + numbers.work[%d]", part.index)
    print_unneeded(part, output)
    add(output, "end")
  end,
  loop = function(part, output, times, launched)
    add(output, "do")
    local count = print_loop(part.node, output)
    output.nodes[#output.nodes + 1] = part.node
    add(output, "numbers.counts[nodes[%d]] = %s", #output.nodes, count)
    print_plan(part.body, output, ("%s * %s"):format(times, count),
      ("%s * %s"):format(launched, part.round and in_rounds(part.round, count) or count))
    add(output, "end")
  end,
  ["if"] = function(part, output, times, launched)
    for _, arm in ipairs(part.arms) do print_plan(arm.body, output, times, launched) end
    if part.otherwise then print_plan(part.otherwise, output, times, launched) end
  end,
  either = function(part, output, times, launched)
    add(output, "do")
    output.nodes[#output.nodes + 1] = part
    add(output, "local is_few = %s", part.condition)
    add(output, "numbers.is_few[nodes[%d]] = is_few", #output.nodes)
    local few, many = "%s * (is_few and 1 or 0)", "%s * (is_few and 0 or 1)"
    print_plan(part.few, output, few:format(times), few:format(launched))
    print_plan(part.many, output, many:format(times), many:format(launched))
    add(output, "end")
  end,
  lua = function(part, output, times)
    add(output, "do")
    local work = count_of(part.nodes, output)
    add(output, "numbers.total = numbers.total + %s * (%s)", times, work)
    add(output, "end")
  end,
}

function print_plan(plan, output, times, launched)
  for _, part in ipairs(plan) do PARTS[part.kind](part, output, times, launched) end
end

--- Iterations of a loop, and the middle of its range.
local function iterations(from, to, step)
  local count = (to - from) // step + 1
  return count > 0 and count or 0, (from + to) / 2
end

--- Makes the function that estimates calls.
-- @tparam table plan of `clcompute.loops.generation.partition`
-- @tparam {string,...} names of the numbers and sizes of a call
-- @treturn ?function of a table of these numbers, and `wide`, whether the device is no processor, that returns
-- `launches`, `work`, `items` (of a launch) and `unneeded` (arrays that are written as a whole) by index of the nest,
-- `counts` by `for` node of the host, `is_few` by part of the kind "either", and `total`, the work of all statements;
-- or nil and why it is too large for Lua
function work_estimate.compile(plan, names)
  local output = { nodes = {} }
  add(output, "local nodes, iterations = ...")
  add(output, "return function(v)")
  add(output, "local wide = v.wide")
  for _, name in ipairs(names) do add(output, "local %s = v.%s", name, name) end
  add(output, "local numbers = { launches = {}, work = {}, items = {}, unneeded = {} }")
  add(output, "numbers.counts, numbers.is_few, numbers.total = {}, {}, 0")
  print_plan(plan, output, "1", "1")
  add(output, "return numbers")
  add(output, "end")
  local environment = { max = math.max, min = math.min }
  local chunk, message = lua_text.load(table.concat(output, "\n"), "estimate", environment)
  if not chunk then return nil, message end
  return chunk(output.nodes, iterations)
end

return work_estimate
