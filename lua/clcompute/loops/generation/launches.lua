-- SPDX-License-Identifier: MIT

--- What a nest does as Lua: its copies and launches, or the nest itself where it does not run on the device.

local ast = require("clcompute.loops.tree").ast
local chunks = require "clcompute.loops.generation.chunks"
local faults = require "clcompute.loops.generation.faults"
local flat_arrays = require("clcompute.loops.tree").flat_arrays
local lua_text = require("clcompute.loops.tree").lua_text
local logged_sums = require "clcompute.loops.generation.logged_sums"
local round_kernels = require "clcompute.loops.generation.round_kernels"
local size_of = ast.size
local walk = require("clcompute.loops.tree").walk

local launches = {}

-- --- assignments ----------------------------------------------------------------------------
--
-- To elements that cannot hold every number of Lua: a value is stored as it is there.

--- The nearest float: the slow way, which also takes NaN, what is too large and what is below the normal floats.
local function rounded(value)
  return (string.unpack("f", string.pack("f", value)))
end

-- The nearest float of a double, as Veltkamp splits it: `value * (2^29 + 1)` less what that is above the value has the
-- upper 24 of its 53 bits. Of two that are as near it is the even one: the half that the first product has too many is
-- rounded to even, and nothing after it rounds otherwise. What is not within the normal floats goes the slow way.
local ROUNDING = [[do
  local value = %s
  local rounded = value * 0x20000001p0
  rounded = rounded - (rounded - value)
  if rounded >= 0x1p-126 and rounded < 0x1p128 or rounded <= -0x1p-126 and rounded > -0x1p128 or value == 0 then
    %s = rounded
  else
    %s = store_float(value)
  end
end]]

--- The integer that the low bits are.
local function wrapping(bits, is_signed)
  local mask, half = (1 << bits) - 1, 1 << (bits - 1)
  if not is_signed then return function(value) return value & mask end end
  return function(value) return ((value & mask) ~ half) - half end
end

local STORES = { float = rounded, char = wrapping(8, true), uchar = wrapping(8), short = wrapping(16, true),
  ushort = wrapping(16), int = wrapping(32, true), uint = wrapping(32) }

--- The functions that the texts call, by name.
launches.environment = {}
for dtype, store in pairs(STORES) do launches.environment["store_" .. dtype] = store end

--- Says that an element of an array is not there, and by which index, at the line of the caller.
function launches.environment.absent(element, name, array, index, ...)
  if array[index] and ... then return launches.environment.absent(element, name, array[index], ...) end
  error(("%s is stored, which is no element: index %s is outside of %s%s"):format(element, index, name,
    faults.ADVICE), 2)
end

--- Whether a value is a float of 32 bits already.
local function is_rounded(node)
  return node.kind == "index" and node.array.element == "float"
    or node.kind == "number" and math.type(node.value) == "float" and rounded(node.value) == node.value
end

local AS_WRITTEN = {}

--- The name of a variable; of a local that keeps a value of the text, that value.
function AS_WRITTEN.name(variable)
  local is_kept = variable.role == "local" and variable.definition and not variable.node.text
  return is_kept and lua_text.expression(variable.definition, AS_WRITTEN) or variable.name
end

--- A line that raises an error where a table has no such element: a store would make it longer.
local function guard(node, target)
  if not node.is_stored then return "" end
  local parts = { ("%q, %q, %s"):format(lua_text.expression(node, AS_WRITTEN), node.array.name, node.array.id) }
  local subscripts = node.array.pitches and { flat_arrays.subscript(node) } or node.subscripts
  for _, subscript in ipairs(subscripts) do parts[#parts + 1] = launches.expression(subscript) end
  return ("if not %s then absent(%s) end\n"):format(target, table.concat(parts, ", "))
end

--- A store of a value, as texts.
local function store(node, target, value)
  local array = node.target.array
  local element = array and array.element
  if element == "float" and not is_rounded(node.value) then return ROUNDING:format(value, target, target) end
  if STORES[element] and element ~= "float" then value = ("store_%s(%s)"):format(element, value) end
  if element == "double" and array.is_buffer then value = ("(%s) * 1.0"):format(value) end -- a table keeps integers
  return ("%s = %s"):format(target, value)
end

-- `x = math.max(x, e)` and `x = math.max(e, x)` without a call, which is slow: as those functions compare.
local CHOSEN = { max = { "%s < value", "not (value < %s)" }, min = { "%s > value", "not (value > %s)" } }

--- The least or greatest of what a target has and another value, as text; nil for other values.
local function extremum(node, target)
  local value, own = node.value, lua_text.expression(node.target)
  if value.kind ~= "call" or not CHOSEN[value.name] or #value.arguments ~= 2 then return nil end
  for i, argument in ipairs(value.arguments) do
    local other = value.arguments[3 - i]
    if lua_text.expression(argument) == own and argument.type == other.type then
      return ("do\n  local value = %s\n  if %s then %s end\nend"):format(launches.expression(other),
        CHOSEN[value.name][i]:format(target), store(ast.changed(node, { value = other }), target, "value"))
    end
  end
end

--- A line that makes a row in braces, whose items are stored in any order.
local function make_row(node)
  if not node.is_item or not node.array.has_late_rows then return "" end
  local row = ("%s[%s]"):format(node.array.id, launches.expression(node.subscripts[1]))
  return ("if not %s then %s = {} end\n"):format(row, row)
end

--- An assignment, as text of its target and its value.
local function assignment(node, target, value)
  return make_row(node.target) .. guard(node.target, target) .. (extremum(node, target) or store(node, target, value))
end

-- --- lines --------------------------------------------------------------------------------------

--- Adds a line.
function launches.add(output, text, ...)
  output[#output + 1] = output.indent .. text:format(...)
end

local add = launches.add

--- What ends the lines that a line of the source has become, for messages.
function launches.mark(line)
  return (" -- line %d"):format(line)
end

local OPTIONS = {
  mark = launches.mark,
  length = function(node) return size_of(node.array, node.dimension) end,
  assign = assignment,
}

--- An element; in Lua a flat array is one.
function OPTIONS.index(node, subscripts)
  if node.array.pitches then subscripts = { lua_text.expression(flat_arrays.subscript(node), OPTIONS) } end
  return ("%s[%s]"):format(node.array.id, table.concat(subscripts, "]["))
end

--- An expression as Lua.
function launches.expression(node)
  return lua_text.expression(node, OPTIONS)
end

--- Calls a function, which adds lines, one level further in.
function launches.indented(output, f, ...)
  local before = output.indent
  output.indent = before .. "  "
  f(...)
  output.indent = before
end

local indented = launches.indented

-- --- arrays -------------------------------------------------------------------------------

--- All arrays of a part, the written ones as keys too.
function launches.arrays_of(part)
  return walk.union(part.reads, part.writes), walk.set(part.writes)
end

--- The condition under which a part needs the values that an array has.
local function needed(part, variable)
  local condition = part.needed and part.needed[variable]
  if condition == nil then return "true" end
  return tostring(condition)
end

--- Makes a side valid where the part needs its values; `otherwise` is what to do where it does not.
function launches.validate(part, variable, method, output, otherwise)
  local condition, copy = needed(part, variable), ("%s_array:%s()"):format(variable.id, method)
  if condition == "true" then
    add(output, "%s", copy)
  elseif condition == "false" then
    add(output, "%s", otherwise)
  else
    add(output, "if %s then %s else %s end", condition, copy, otherwise)
  end
end

--- The host copies that a part works on.
function launches.arrays(part, output)
  local list, is_written = launches.arrays_of(part)
  for _, variable in ipairs(list) do
    local id = variable.id
    launches.validate(part, variable, "to_host", output, ("blank(%s_array)"):format(id))
    if is_written[variable] then add(output, "%s_array:written_on_host()", id) end
    add(output, "%s = %s_array.table", id, id)
  end
end

--- Statements on host copies, which a call that is timed adds to what the part has spent.
function launches.lua(part, nodes, output)
  local index = part.index or 0
  launches.arrays(part, output)
  add(output, "began = clock and clock()")
  add(output, "%s", (lua_text.statements(nodes, OPTIONS):gsub("\n", "\n" .. output.indent)))
  add(output, "if clock then spent[%d] = spent[%d] + clock() - began end", index, index)
end

-- --- launches -----------------------------------------------------------------------------

--- The sizes of the range, as texts, dimension 0 first; loops that share a dimension get a base and a mod.
local function print_range(kernel, output)
  local sizes = {}
  for i = #kernel.band, 1, -1 do
    local node = kernel.band[i]
    local place, id = kernel.mapping[node], node.variable.id
    local d = place.dimension + 1
    if place.shared then
      add(output, "local %s_base, %s_mod = %s, %s_count", id, id, sizes[d] or "1", id)
      sizes[d] = ("%s_base * %s_mod"):format(id, id)
    else
      sizes[d] = id .. "_count"
    end
  end
  return sizes
end

local function argument(row)
  if row.kind == "array" then return ("memory(%s_array)"):format(row.id) end
  if row.kind == "faults" then return "kernels." .. row.id end
  if row.kind == "parts" then return ("reduction.parts[%d]"):format(row.number) end
  if row.kind == "log" then return ("sums.log[%d].%s"):format(row.number, row.field) end
  if row.kind == "copies" then return ("sums.copies[%d]"):format(row.number) end
  if row.kind == "scalar" and row.variable.type == "bool" then return row.id .. " and 1 or 0" end
  return row.id
end

--- Adds the launch of a kernel: `name` and `range` are texts, `nest` has its parameters. It makes no event, which
-- takes some drivers longer than a launch.
function launches.launch(name, range, nest, output)
  local texts = { name, range }
  local may_fail = false
  for _, row in ipairs(nest.parameters) do
    texts[#texts + 1] = argument(row)
    may_fail = may_fail or row.kind == "faults"
  end
  if may_fail then add(output, "kernels.faults, kernels.before = kernels.before, kernels.faults") end
  add(output, "launch(%s)", table.concat(texts, ", "))
end

-- So many work-items of one dimension are in broad groups on a GPU: small ones take longer to begin.
local MANY = 1 << 16

--- The range of a work-item a pass.
local function print_items_range(kernel, sizes, output)
  local group = tostring(kernel.group[1])
  if #sizes == 1 then
    add(output, "local size = %s", sizes[1])
    group, sizes = ("wide and size >= %d and kernels.broad or %s"):format(MANY, group), { "size" }
  end
  return ("cover(kernels.ranges[%d], %s, %s)"):format(kernel.index, group,
    kernel.is_task and "1" or table.concat(sizes, ", "))
end

--- Makes a range half as long where each work-item has two passes.
local function print_pair(kernel, sizes, output)
  local count = ("%s_count"):format(kernel.pair.variable.id)
  add(output, "local rows = %s", count)
  add(output, "if %s >= kernels.paired then rows = (rows + 1) // 2 end", table.concat(sizes, " * "))
  sizes[2] = "rows"
end

local function print_items(kernel, sizes, output)
  if kernel.pair then print_pair(kernel, sizes, output) end
  local range, name = print_items_range(kernel, sizes, output), ("kernels[%d]"):format(kernel.index)
  if kernel.grouped then
    add(output, "local nest, groups = %s:share(max(%s), %s)", name, table.concat(kernel.grouped.counts, ", "),
      table.concat(sizes, ", "))
    name, range = "nest", "groups or " .. range
  end
  launches.launch(name, range, kernel, output)
  add(output, "counters.launches = counters.launches + 1")
end

--- The launch of a task that groups share.
local function print_shared(kernel, _, output)
  add(output, "local team = kernels[%d]", kernel.index)
  add(output, "local progress = team.progress") -- nil of one group, which does not take it
  launches.launch("team.kernel", "team.range", kernel, output)
  add(output, "counters.launches = counters.launches + 1")
end

--- The launches of a nest in wavefronts, one for each.
local function print_fronts(kernel, sizes, output)
  add(output, "for front = %s, %s do", kernel.wavefront.first, kernel.wavefront.last)
  indented(output, print_items, kernel, sizes, output)
  add(output, "end")
end

--- The launches of a nest that reduces; Lua puts together what the groups found for a local, beginning with its value.
local function print_reduction(kernel, sizes, output)
  add(output, "local reduction = kernels[%d]", kernel.index)
  add(output, "local range, parts = reduction:share({ %s })", table.concat(sizes, ", "))
  launches.launch("reduction.kernel", "range", kernel, output)
  if kernel.has_result then launches.launch("reduction.result", "reduction.single", kernel, output) end
  add(output, "counters.launches = counters.launches + %d", kernel.has_result and 2 or 1)
  for i, accumulator in ipairs(kernel.accumulators) do
    if accumulator.is_local then
      local id = accumulator.id
      add(output, "for _, found in ipairs(reduction:found(%d, parts)) do %s = %s end", i, id,
        lua_text.expression(accumulator.found))
    end
  end
end

--- What precedes the launches of a nest that sums where data say: how passes are shared out.
local function print_sums(kernel, sums, further, output)
  local names, sizes, counts = chunks.names(kernel), {}, {}
  for i, array in ipairs(sums.arrays) do sizes[i] = ("%s_array.count"):format(array.id) end
  for i, node in ipairs(kernel.band) do counts[i] = node.variable.id .. "_count" end
  add(output, "local sums = kernels[%d]", kernel.index)
  add(output, "local %s = %s", table.concat(names.counts, ", "), table.concat(sizes, ", "))
  add(output, "local ranges, chunks = sums:share({ %s }, { %s }, %s%s)", table.concat(counts, ", "),
    table.concat(names.counts, ", "), further, sums.statements)
  add(output, "local %s = unpack(sums.distances)", table.concat(names.distances, ", "))
  add(output, "local %s = unpack(sums.parts)", table.concat(names.parts, ", "))
end

--- The launches of a nest that sums where data say; where sharing out does not pay, one work-item has all passes.
local function print_steps(kernel, steps, output)
  add(output, "if ranges then")
  indented(output, function()
    for _, step in ipairs(steps) do launches.launch("sums." .. step, "ranges." .. step, kernel, output) end
  end)
  add(output, "else")
  indented(output, launches.launch, "sums.single", "sums.one", kernel, output)
  add(output, "end")
  add(output, "counters.launches = counters.launches + (ranges and %d or 1)", #steps)
end

--- Those in copies of arrays.
local function print_scattered(kernel, _, output)
  print_sums(kernel, kernel.scattered, "", output)
  print_steps(kernel, { "kernel", "result" }, output)
end

--- Those by a log.
local function print_logged(kernel, _, output)
  print_sums(kernel, kernel.logged, ("{ %s }, "):format(table.concat(logged_sums.slots(kernel), ", ")), output)
  add(output, "local %s = unpack(sums.slots)", table.concat(logged_sums.slot_names(kernel), ", "))
  print_steps(kernel, { "kernel", "places", "order", "result" }, output)
end

--- The launch of a nest in tiles, dimension 0 being that of the innermost loop.
local function print_blocks(kernel, sizes, output)
  add(output, "local blocks = kernels[%d]", kernel.index)
  add(output, "local range, tile = blocks:share(%s)", table.concat(sizes, ", "))
  for i, node in ipairs(kernel.tiles.order) do
    local id, first = node.variable.id, kernel.tiles.frames[node].first
    add(output, "local %s_tile, %s_origin = tile[%d], %s", id, id, #kernel.tiles.order + 1 - i, first)
  end
  if kernel.behind then add(output, "local tiles, progress = tile.count, blocks.progress") end
  launches.launch("blocks.kernel", "range", kernel, output)
  add(output, "counters.launches = counters.launches + 1")
end

--- The passes of each dimension of blocks, as texts.
local function block_sizes(kernel)
  local sizes, order = {}, kernel.tiles.order
  for i, node in ipairs(order) do sizes[#order + 1 - i] = kernel.tiles.frames[node].count end
  return sizes
end

local function print_launch(kernel, output)
  local sizes = kernel.tiles and block_sizes(kernel) or print_range(kernel, output)
  local list, is_written = launches.arrays_of(kernel)
  for _, variable in ipairs(list) do
    launches.validate(kernel, variable, "to_device", output, ("memory(%s_array)"):format(variable.id))
  end
  local print = kernel.accumulators and print_reduction or kernel.scattered and print_scattered
    or kernel.logged and print_logged or kernel.tiles and print_blocks or kernel.wavefront and print_fronts
    or kernel.is_shared and print_shared or print_items
  print(kernel, sizes, output)
  for _, variable in ipairs(list) do
    if is_written[variable] then add(output, "%s_array:written_on_device()", variable.id) end
  end
end

--- A nest, on the device or as `otherwise` adds it.
function launches.kernel(kernel, output, otherwise)
  local is_there, verdict = {}, { ("on_device[%d]"):format(kernel.index) }
  for i, node in ipairs(kernel.band) do
    add(output, "local %s_count = %s", node.variable.id, kernel.counts[i])
    is_there[i] = node.variable.id .. "_count > 0"
  end
  for _, variable in ipairs(kernel.nonzero) do verdict[#verdict + 1] = variable.id .. " ~= 0" end
  add(output, "if %s then", kernel.is_task and "true" or table.concat(is_there, " and "))
  indented(output, function()
    add(output, "if %s then", table.concat(verdict, " and "))
    indented(output, print_launch, kernel, output)
    add(output, "else")
    indented(output, otherwise)
    add(output, "end")
  end)
  add(output, "end")
end

-- --- loops in rounds -----------------------------------------------------------------------

--- The first and the last place of a nest on the line.
local function ends_of(place, nest)
  if not place.loop then return place.text, place.text end
  local frame = nest.frames[place.loop]
  return ("%s + %d"):format(frame.first, place.offset),
    ("%s + (%s) - 1 + %d"):format(frame.first, frame.count, place.offset)
end

--- Where the line of a loop's rounds begins and ends: at the first and the last pass, as no bound has a quotient of it.
local function print_line(part, output)
  local round, time = part.round, part.node.variable.id
  add(output, "local low, high = math.maxinteger, math.mininteger")
  add(output, "for _, %s in ipairs { %s_from, %s_to } do", time, time, time)
  for i, place in ipairs(round.places) do
    local first, last = ends_of(place, round.nests[i])
    add(output, "  low, high = min(low, %s), max(high, %s)", first, last)
  end
  add(output, "end")
end

--- The condition for rounds: all nests run on the device, none is empty in the first pass.
local function condition_of(round)
  local texts = {}
  for _, nest in ipairs(round.parts) do
    texts[#texts + 1] = ("on_device[%d]"):format(nest.index)
    for _, count in ipairs(nest.counts) do texts[#texts + 1] = ("%s > 0"):format(count) end
  end
  return table.concat(texts, " and ")
end

--- Makes arrays valid on the device for all of a loop: what its first nest for an array needs.
local function print_all_valid(round, output)
  local list = launches.arrays_of(round)
  for _, variable in ipairs(list) do
    for _, nest in ipairs(round.parts) do
      local _, writes = launches.arrays_of(nest)
      local is_used = writes[variable]
      for _, read in ipairs(nest.reads) do is_used = is_used or read == variable end
      if is_used then
        launches.validate(nest, variable, "to_device", output, ("memory(%s_array)"):format(variable.id))
        break
      end
    end
  end
end

--- Notes that all of a round's arrays are written: after both launches, as one leaves gaps.
local function print_written(round, output)
  for _, variable in ipairs(round.writes) do add(output, "  %s_array:written_on_device()", variable.id) end
end

--- The launches of a loop's rounds.
local function print_rounds(part, output)
  local round, time = part.round, part.node.variable.id
  local names = table.concat(round_kernels.names(round), ", ", 3)
  add(output, "do local %s = %s_from", time, time)
  indented(output, print_all_valid, round, output)
  add(output, "end")
  add(output, "for %s_first = %s_from, %s_to, rounds.passes do", time, time, time)
  add(output, "  local %s_last = min(%s_first + rounds.passes - 1, %s_to)", time, time, time)
  add(output, "  for number = 1, 2 do")
  add(output, "    local range, %s = rounds:pieces(number, %s_first, %s_last)", names, time, time)
  add(output, "    if range then")
  indented(output, indented, output, indented, output, launches.launch, "rounds.kernel", "range", round, output)
  add(output, "      counters.launches = counters.launches + 1")
  add(output, "    end")
  add(output, "  end")
  print_written(round, output)
  add(output, "end")
end

--- A loop that may go in rounds; `otherwise` adds the lines of how it goes where that does not pay.
function launches.rounds(part, output, otherwise)
  local node, time = part.node, part.node.variable.id
  add(output, "do%s", launches.mark(node.line))
  indented(output, function()
    add(output, "local %s_from, %s_to = %s, %s", time, time, launches.expression(node.from),
      launches.expression(node.to))
    add(output, "local rounds, %s = nil, %s_from", time, time)
    add(output, "if %s_from < %s_to and %s then", time, time, condition_of(part.round))
    indented(output, function()
      print_line(part, output)
      add(output, "rounds = kernels.rounds[%d]:over(%s_from, %s_to, low, high, %s)", part.round.index, time, time,
        part.round.bytes)
    end)
    add(output, "end")
    add(output, "if rounds then")
    indented(output, print_rounds, part, output)
    add(output, "else")
    indented(output, otherwise)
    add(output, "end")
  end)
  add(output, "end")
end

return launches
