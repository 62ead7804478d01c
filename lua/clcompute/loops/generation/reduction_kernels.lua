-- SPDX-License-Identifier: MIT

--- Nests that reduce as OpenCL C. The passes of a nest's band are shared out to work-groups, each of which has a run of
-- them in each loop; its work-items, LANES of them, take turns in the loop of dimension 0. What they find is put
-- together by halves in local memory, and each group leaves one part. A second kernel, of one group, puts the parts
-- together and gives them to elements of arrays; those of locals the host reads. All of that has one order, whatever
-- runs first.
--
-- With one work-item in a group, as on a processor, there is no barrier and nothing is shared.
-- @module clcompute.loops.generation.reduction_kernels

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"

local reduction_kernels = {}

local add = c_statements.add

-- POCL 3.1 miscompiles barriers in loops, so these are in none.
local HEAD = [[
#ifndef LANES
#define LANES 1 // work-items of a group that reduces: a power of 2, at most 256
#endif
#define HALVE(lanes, op, n)                                          \
  if (LANES > n) {                                                   \
    barrier(CLK_LOCAL_MEM_FENCE);                                    \
    if (lane < n) lanes[lane] = op(lanes[lane], lanes[lane + n]);    \
  }
#define REDUCE(lanes, op)                                                                            \
  HALVE(lanes, op, 128) HALVE(lanes, op, 64) HALVE(lanes, op, 32) HALVE(lanes, op, 16)               \
  HALVE(lanes, op, 8) HALVE(lanes, op, 4) HALVE(lanes, op, 2) HALVE(lanes, op, 1)
]]

--- What stands before kernels that reduce; none where no nest does.
function reduction_kernels.head(nests)
  for _, nest in ipairs(nests) do
    if nest.accumulators then return HEAD end
  end
  return ""
end

--- The parameters of a nest beyond those of all nests: the parts of each accumulator, and how many there are.
-- @tparam table nest
-- @treturn {table,...} rows of `clcompute.loops.generation.kernels`
function reduction_kernels.parameters(nest)
  local rows = {}
  for i, accumulator in ipairs(nest.accumulators or {}) do
    rows[i] = { kind = "parts", id = accumulator.id .. "_parts", accumulator = accumulator, number = i }
  end
  if #rows > 0 then rows[#rows + 1] = { kind = "count", id = "parts" } end
  return rows
end

--- Declares local memory, which must stand in the outermost scope of a kernel, and the accumulators.
local function print_accumulators(list, output)
  add(output, "const uint lane = (uint)get_local_id(0);")
  for _, accumulator in ipairs(list) do
    local type = c_statements.type(accumulator.type, output.context)
    add(output, ("local %s %s_lanes[LANES];"):format(type, accumulator.id))
    add(output, ("%s %s = %s;"):format(type, accumulator.id, c_expression.number(accumulator.identity, output.context)))
  end
end

--- Puts together what the work-items of a group have.
local function print_halves(list, output)
  for _, accumulator in ipairs(list) do
    output.context.helpers[accumulator.helper] = true
    add(output, ("%s_lanes[lane] = %s;"):format(accumulator.id, accumulator.id))
    add(output, ("REDUCE(%s_lanes, %s)"):format(accumulator.id, accumulator.helper))
  end
end

--- The loop over a group's run of passes of a band loop; groups beyond the last pass have none.
local function print_share(node, dimension, output)
  local id, step, context = node.variable.id, node.step, output.context
  context.helpers.passes = true
  add(output, ("const long %s_count = passes(%s, %s, %d);"):format(id, c_expression.plain(node.from, context),
    c_expression.plain(node.to, context), step))
  add(output, ("const long %s_share = (%s_count + (long)get_num_groups(%d) - 1) / (long)get_num_groups(%d);"):format(id,
    id, dimension, dimension))
  add(output, ("const long %s_first = (long)get_group_id(%d) * %s_share;"):format(id, dimension, id))
  add(output, ("const long %s_end = min(%s_first + %s_share, %s_count);"):format(id, id, id, id))
  add(output, ("for (long %s_pass = %s_first%s; %s_pass < %s_end; %s_pass += %s) {"):format(id, id,
    dimension == 0 and " + lane" or "", id, id, id, dimension == 0 and "LANES" or "1"), node)
  output.depth = output.depth + 1
  local number = math.abs(step) == 1 and id .. "_pass" or ("%s_pass * %d"):format(id, math.abs(step))
  add(output, ("const long %s = %s %s %s;"):format(id, c_expression.plain(node.from, context), step > 0 and "+" or "-",
    number))
end

--- The kernel in which each group leaves its part.
function reduction_kernels.print(nest, output)
  output.depth, output.instead = 1, {}
  for _, accumulator in ipairs(nest.accumulators) do output.instead[accumulator.node] = accumulator.instead end
  print_accumulators(nest.accumulators, output)
  for _, node in ipairs(nest.band) do print_share(node, nest.mapping[node].dimension, output) end
  output.depth = output.depth - 1
  c_statements.body(nest.band[#nest.band].body, output)
  for _ = 1, #nest.band do
    add(output, "}")
    output.depth = output.depth - 1
  end
  output.depth = 1
  print_halves(nest.accumulators, output)
  add(output, "const size_t part = get_group_id(0) + get_num_groups(0) * (get_group_id(1)")
  add(output, "  + get_num_groups(1) * get_group_id(2));")
  add(output, "if (lane == 0) {")
  for _, accumulator in ipairs(nest.accumulators) do
    add(output, ("  %s_parts[part] = %s_lanes[0];"):format(accumulator.id, accumulator.id))
  end
  add(output, "}")
end

--- The kernel that gives elements of arrays what the groups found.
function reduction_kernels.print_result(nest, output)
  local list = {}
  for _, accumulator in ipairs(nest.accumulators) do
    if not accumulator.is_local then list[#list + 1] = accumulator end
  end
  output.depth = 1
  print_accumulators(list, output)
  add(output, "for (long part = lane; part < parts; part += LANES) {")
  for _, accumulator in ipairs(list) do
    output.context.helpers[accumulator.helper] = true
    add(output, ("  %s = %s(%s, %s_parts[part]);"):format(accumulator.id, accumulator.helper, accumulator.id,
      accumulator.id))
  end
  add(output, "}")
  print_halves(list, output)
  add(output, "if (lane == 0) {")
  for _, accumulator in ipairs(list) do
    add(output, ("  %s = %s_lanes[0];"):format(accumulator.id, accumulator.id))
    output.depth = 2
    c_statements.store(accumulator.target, accumulator.result, output, accumulator.node)
    output.depth = 1
  end
  add(output, "}")
end

return reduction_kernels
