-- SPDX-License-Identifier: MIT

--- Nests that reduce as OpenCL C. The passes of a nest's band are shared out to work-groups, each of which has a run of
-- them in each loop; its work-items, LANES of them, take turns in the loop of dimension 0. What they find is put
-- together by halves in local memory, and each group leaves one part. A second kernel, of one group, puts the parts
-- together and gives them to elements of arrays; the host reads the parts of locals. All of that has one order,
-- whatever runs first.
--
-- With one work-item in a group, as on a processor, there is no barrier and nothing is shared.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local plan = require("clcompute.loops.tree").plan

local reduction_kernels = {}

-- --- accumulators ---------------------------------------------------------------------------

-- By operation and type. -0.0 + x is x whatever x is; 0.0 + -0.0 is not.
local IDENTITY = {
  sum = { int = 0, float = -0.0 }, product = { int = 1, float = 1.0 },
  min = { int = math.maxinteger, float = math.huge }, max = { int = math.mininteger, float = -math.huge },
}

-- The function of `c_statements` that puts two values together.
local HELPER = {
  sum = { int = "add_int", float = "add_real" }, product = { int = "mul_int", float = "mul_real" },
  min = { int = "min_int", float = "min_real" }, max = { int = "max_int", float = "max_real" },
}

local OPERATOR = { sum = "+", product = "*" }

local replaced

local function replaced_arguments(node, old, new)
  local arguments, is_there = {}, false
  for i, argument in ipairs(node.arguments) do
    local other = replaced(argument, old, new)
    arguments[i], is_there = other or argument, is_there or other ~= nil
  end
  return is_there and ast.changed(node, { arguments = arguments }) or nil
end

--- An expression with one node in it replaced, or nil where it is not there; the operators around it `is_reordered`.
function replaced(node, old, new)
  if node == old then return new end
  if node.kind == "call" then return replaced_arguments(node, old, new) end
  if node.kind ~= "binary" then return nil end
  local left, right = replaced(node.left, old, new), replaced(node.right, old, new)
  if not left and not right then return nil end
  return ast.changed(node, { left = left or node.left, right = right or node.right, is_reordered = true })
end

local function call(operation, arguments, type)
  return ast.node("call", { name = operation, arguments = arguments, type = type })
end

--- The right side of a reduction with another variable in place of x, which stands first in a function, so that NaN is
-- left out there.
local function value_of(reduction, name)
  if OPERATOR[reduction.operation] or reduction.is_first then
    return replaced(reduction.node.value, reduction.occurrence, name)
  end
  return call(reduction.operation, { name, table.unpack(reduction.others) }, name.type)
end

--- The assignment of a reduction with another variable in place of x.
local function instead_of(reduction, name)
  return ast.changed(reduction.node, { target = name, value = value_of(reduction, name) })
end

--- x and what was found, put together, as a node; in the order of the statement, which matters to NaN.
local function combined(reduction, name)
  local target, operator = reduction.target, OPERATOR[reduction.operation]
  if operator then return ast.node("binary", { op = operator, left = target, right = name, type = target.type }) end
  return call(reduction.operation, reduction.is_first and { target, name } or { name, target }, target.type)
end

--- The accumulators of a nest's reductions.
-- @tparam {table,...} reductions of `clcompute.loops.analysis.loop_reductions`, in a tree with types
-- @tparam ?string suffix of the names, where x has a name, too
-- @treturn {table,...} parts "accumulator" of the plan
function reduction_kernels.accumulators(reductions, suffix)
  local list = {}
  for i, reduction in ipairs(reductions) do
    local target, operation = reduction.target, reduction.operation
    local type, is_local = target.type, target.kind == "name"
    local id = (is_local and target.variable.id or ("%s_x%d"):format(target.array.id, i)) .. (suffix or "")
    local name = ast.made_up(id, type)
    list[i] = plan.part("accumulator", { id = id, type = type, operation = operation, target = target,
      is_local = is_local, has_order = reduction.has_order, node = reduction.node,
      instead = instead_of(reduction, name),
      identity = IDENTITY[operation][type], helper = HELPER[operation][type], result = combined(reduction, name),
      found = combined(reduction, ast.made_up("found", type)) })
  end
  return list
end

-- --- kernels --------------------------------------------------------------------------------

local add = c_statements.add

--- Whether an accumulator changes x, in C. Where no pass comes to its statement it does not, and there may be no such
-- element.
function reduction_kernels.changes(accumulator, context)
  local id, identity = accumulator.id, accumulator.identity
  if identity == 0 and accumulator.type == "float" then return ("(%s != 0 || !signbit(%s))"):format(id, id) end
  return ("%s != %s"):format(id, c_expression.number(identity, context))
end

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

--- The parameters that only nests which reduce have: the parts of each accumulator, and how many there are.
-- @tparam table nest
-- @treturn {table,...} rows of `clcompute.loops.generation.kernel_text`
function reduction_kernels.parameters(nest)
  local rows = {}
  for i, accumulator in ipairs(nest.accumulators or {}) do
    rows[i] = plan.part("parts", { id = accumulator.id .. "_parts", accumulator = accumulator, number = i })
  end
  if #rows > 0 then rows[#rows + 1] = plan.part("count", { id = "parts" }) end
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
    c_statements.block(output, ("if (%s) "):format(reduction_kernels.changes(accumulator, output.context)), function()
      c_statements.store(accumulator.target, accumulator.result, output, accumulator.node)
    end)
    output.depth = 1
  end
  add(output, "}")
end

return reduction_kernels
