-- SPDX-License-Identifier: MIT

--- From the kernel nests of a plan to OpenCL C: one program for all of them, each statement marked with its line.
--
-- A work-item runs one iteration of the band: its place along each dimension is the number of its iteration of the
-- loop mapped there. Loops beyond the third share dimension 2, and are recovered from it by base and mod.

local c_expression = require "clcompute.loops.generation.c_expression"
local c_helpers = require "clcompute.loops.generation.c_helpers"
local c_statements = require "clcompute.loops.generation.c_statements"
local faults = require "clcompute.loops.generation.faults"
local group_passes = require "clcompute.loops.generation.group_passes"
local group_sums = require "clcompute.loops.generation.group_sums"
local lua_text = require("clcompute.loops.tree").lua_text
local meetings = require "clcompute.loops.generation.meetings"
local pairing = require "clcompute.loops.generation.pairing"
local pipelining = require "clcompute.loops.generation.pipelining"
local plan = require("clcompute.loops.tree").plan
local logged_sums = require "clcompute.loops.generation.logged_sums"
local private_sums = require "clcompute.loops.generation.private_sums"
local reduction_kernels = require "clcompute.loops.generation.reduction_kernels"
local register_tile = require "clcompute.loops.generation.register_tile"
local round_kernels = require "clcompute.loops.generation.round_kernels"
local sharing = require "clcompute.loops.generation.sharing"
local size_of = require("clcompute.loops.tree").ast.size
local tile_kernels = require "clcompute.loops.generation.tile_kernels"
local walk = require("clcompute.loops.tree").walk
local wavefronts = require("clcompute.loops.analysis").wavefronts

local kernel_text = {}

local add = c_statements.add

-- --- the band -----------------------------------------------------------------------------

--- How a band loop's iteration is found: its number from get_global_id, its variable from that.
local function print_place(node, mapping, output)
  local id, step, place = node.variable.id, node.step, mapping[node]
  local number = ("(long)get_global_id(%d)"):format(place.dimension)
  if place.shared then
    number = ("%s / %s_base"):format(number, id)
    if not place.outermost then number = ("%s %% %s_mod"):format(number, id) end
  end
  local from = c_expression.plain(node.from, output.context)
  if step == 1 then
    number = "+ " .. number
  elseif step == -1 then
    number = "- " .. (place.shared and "(" .. number .. ")" or number)
  else
    number = ("%s %s * %d"):format(step > 0 and "+" or "-", place.shared and "(" .. number .. ")" or number,
      math.abs(step))
  end
  add(output, ("const long %s = %s %s;"):format(id, from, number), node)
  add(output, ("if (%s %s %s) return;"):format(id, step > 0 and ">" or "<",
    c_expression.plain(node.to, output.context)))
end

-- --- parameters ---------------------------------------------------------------------------

--- The dimensions of arrays that a nest's text needs: those after the first of what it indexes, those it asks for.
local function sizes_of(nest)
  local sizes, has = {}, {}
  local function need(variable, dimension)
    local id = size_of(variable, dimension)
    if not has[id] then
      has[id] = true
      sizes[#sizes + 1] = plan.part("size", { variable = variable, dimension = dimension, id = id })
    end
  end
  walk.node(nest.node, function(node)
    if node.kind == "index" then
      for dimension = 1, #node.subscripts do
        if dimension > 1 or node.checked and node.checked[1] then need(node.array, dimension) end
      end
    elseif node.kind == "length" then
      need(node.array, node.dimension)
    end
  end)
  return sizes
end

--- What a kernel is given at each launch, in order: rows of `kind` ("array", "size", "scalar", "place"; of nests that
-- reduce also "parts" and "count", of those that sum where data say "copies" or "log", of those in wavefronts "front",
-- whose groups wait "progress", that may fail "faults"), `id` and what the kind needs.
function kernel_text.parameters(nest)
  local rows, is_written = reduction_kernels.parameters(nest), walk.set(nest.writes)
  for _, row in ipairs(private_sums.parameters(nest)) do rows[#rows + 1] = row end
  for _, row in ipairs(logged_sums.parameters(nest)) do rows[#rows + 1] = row end
  for _, variable in ipairs(walk.union(nest.writes, nest.reads)) do
    rows[#rows + 1] = plan.part("array", { variable = variable, id = variable.id, is_written = is_written[variable] })
  end
  for _, size in ipairs(sizes_of(nest)) do rows[#rows + 1] = size end
  if faults.are_in { nest.node } then
    rows[#rows + 1] = plan.part("faults", { id = "faults" })
    rows[#rows + 1] = plan.part("faults", { id = "before" })
  end
  for _, variable in ipairs(nest.scalars) do
    rows[#rows + 1] = plan.part("scalar", { variable = variable, id = variable.id })
  end
  if nest.tiles or nest.kind == "round" then
    local further = nest.tiles and tile_kernels.parameters(nest.tiles) or round_kernels.parameters(nest)
    table.move(further, 1, #further, #rows + 1, rows)
    if nest.behind then rows[#rows + 1], rows[#rows + 2] = pipelining.parameters() end
    return rows
  end
  local has_groups = nest.is_shared and (nest.spread or not nest.in_group)
  if has_groups then rows[#rows + 1] = plan.part("progress", { id = "progress" }) end
  if nest.wavefront then rows[#rows + 1] = plan.part("front", { id = "front" }) end
  for _, node in ipairs((nest.scattered or nest.logged) and {} or nest.band) do
    local place = nest.mapping[node]
    if place.shared then
      rows[#rows + 1] = plan.part("place", { id = node.variable.id .. "_base" })
      if not place.outermost then
        rows[#rows + 1] = plan.part("place", { id = node.variable.id .. "_mod" })
      end
    end
  end
  return rows
end

--- The declaration of a parameter. What a work-item stores others of its group may read behind a barrier, where
-- `has_meetings`: then a compiler must not think that it alone changes an array.
local function declaration(row, context, has_meetings)
  if row.kind == "array" then
    return ("global %s%s *%s%s"):format(row.is_written and "" or "const ", row.variable.element,
      row.is_written and has_meetings and "" or "restrict ", row.id)
  end
  if row.kind == "faults" then
    return ("global %slong *restrict %s"):format(row.id == "before" and "const " or "", row.id)
  end
  if row.kind == "log" then
    return ("global %s *restrict %s"):format(row.type and c_statements.type(row.type, context) or "int", row.id)
  end
  if row.kind == "copies" then return ("global %s *restrict %s"):format(row.variable.element, row.id) end
  if row.kind == "progress" then return "volatile global int *restrict progress" end
  if row.kind == "parts" then
    return ("global %s *restrict %s"):format(c_statements.type(row.accumulator.type, context), row.id)
  end
  local type = row.kind == "scalar" and c_statements.type(row.variable.type, context) or "long"
  return ("const %s %s"):format(type, row.id)
end

--- Declarations as lines of at most 110 columns.
local function wrapped(declarations, indent)
  local lines, line = {}, ""
  for i, text in ipairs(declarations) do
    local piece = text .. (i < #declarations and ", " or "")
    if #line + #piece > 100 then
      lines[#lines + 1], line = line, ""
    end
    line = line .. piece
  end
  lines[#lines + 1] = line
  return (table.concat(lines, "\n" .. (" "):rep(indent)):gsub(" \n", "\n"))
end

--- The variable of a wavefront's loop that is not in the range; a work-item for which it is beyond its bounds has no
-- pass.
local function print_follower(front, output)
  local node, context = front.follower, output.context
  local id = node.variable.id
  add(output, ("const long %s = %s;"):format(id, wavefronts.follower_text(front)), node)
  local from, to = c_expression.plain(node.from, context), c_expression.plain(node.to, context)
  if node.step < 0 then from, to = to, from end
  add(output, ("if (%s < %s || %s > %s) return;"):format(id, from, id, to))
end

--- A pass of the band for each work-item.
local function print_items(nest, output)
  if nest.team then group_sums.print_room(nest.team, output) end
  if nest.is_shared then return sharing.print(nest.body, output, c_statements, nest.spread) end
  output.depth = 1
  for _, node in ipairs(nest.band) do print_place(node, nest.mapping, output) end
  if nest.wavefront then print_follower(nest.wavefront, output) end
  if nest.pair then return pairing.print(nest.pair, nest.body, output, c_statements) end
  output.depth = 0
  c_statements.body(nest.body or nest.wavefront and nest.wavefront.body or nest.band[#nest.band].body, output)
end

--- Whether a statement computes a place from what was in it, so that passes wait for each other.
local function has_chain(nodes)
  return walk.find(nodes, function(node)
    if node.kind ~= "assign" then return false end
    local target = lua_text.expression(node.target)
    return walk.find({ node.value }, function(part)
      return part.kind == node.target.kind and lua_text.expression(part) == target
    end) ~= nil
  end) ~= nil
end

--- How many work-items a group has that shares a task or rounds: registers must be enough for them.
local function size_of_group(nest)
  if not nest.in_group and not nest.in_groups then return "" end
  local name = nest.in_groups and "ROUND_ITEMS" or nest.team and "TEAM_ITEMS" or "TASK_ITEMS"
  return ("__attribute__((reqd_work_group_size(%s, 1, 1)))\n"):format(name)
end

--- A kernel with a nest's parameters, whose body `print` adds; `has_meetings`, whether work-items of a group share it.
local function kernel_of(nest, name, context, print, has_meetings)
  local output, declarations = { depth = 0, context = context, has_indices = nest.largest ~= nil }, {}
  context.known, context.counted = {}, {}
  for i, row in ipairs(nest.parameters) do declarations[i] = declaration(row, context, has_meetings) end
  local head = ("kernel void %s("):format(name)
  add(output, ("%s%s%s) {"):format(size_of_group(nest), head, wrapped(declarations, #head)))
  local class = nest.tiles and nest.tiles.class
  local is_waiting = nest.is_task or nest.behind or class == "rows" or class == "steps"
  if is_waiting and context.may_fuse and has_chain { nest.node } then -- adding is shorter than a fused step
    add(output, "  #pragma OPENCL FP_CONTRACT OFF")
  end
  output.has_barriers, output.has_faults = nest.accumulators ~= nil, faults.are_in { nest.node }
  context.ends_at_once = not context.is_wide and not output.has_barriers and not nest.is_shared
  if output.has_faults then
    output.depth = 1
    faults.open(add, output, not output.has_barriers)
    output.depth = 0
  end
  print(nest, output)
  if output.has_faults and output.has_barriers then
    output.depth = 1
    add(output, "if (fault.site) report(&fault, faults);")
  end
  output.depth = 0
  add(output, "}")
  return table.concat(output, "\n") .. "\n"
end

local function print_kernels(nest, context, texts)
  local sums = nest.scattered and private_sums or nest.logged and logged_sums
  if sums then
    for _, kernel in ipairs(sums.KERNELS) do
      texts[#texts + 1] = kernel_of(nest, nest.name .. kernel[1], context, kernel[2])
    end
    return
  end
  if not nest.accumulators then
    local print = nest.behind and pipelining.print or nest.tiles and tile_kernels.print or print_items
    texts[#texts + 1] = kernel_of(nest, nest.name, context, print, nest.in_group)
    if nest.tiles and nest.tiles.small then
      texts[#texts + 1] = kernel_of(nest, nest.name .. "_small", context, tile_kernels.print_small)
    end
    if nest.tiles and nest.tiles.is_wide and nest.tiles.size.few > 0 then
      texts[#texts + 1] = kernel_of(nest, nest.name .. "_single", context, tile_kernels.print_single)
    end
    if nest.grouped then
      texts[#texts + 1] = kernel_of(nest, nest.name .. "_group", context, group_passes.print, true)
    end
    return
  end
  texts[#texts + 1] = kernel_of(nest, nest.name, context, reduction_kernels.print)
  if nest.has_result then
    texts[#texts + 1] = kernel_of(nest, nest.name .. "_result", context, reduction_kernels.print_result)
  end
end

-- --- the program --------------------------------------------------------------------------

local function uses_double(nests)
  for _, nest in ipairs(nests) do
    for _, array in ipairs(walk.union(nest.reads, nest.writes)) do
      if array.element == "double" then return true end
    end
  end
  return false
end

--- Whether nests need doubles: exact arithmetic does, fast only for arrays of them.
function kernel_text.need_double(nests, mode)
  return mode == "exact" or uses_double(nests)
end

--- What the integers of nests are that may do with 32 bits, unless an option of the build says otherwise.
local function head_of_indices(nests)
  for _, nest in ipairs(nests) do
    if nest.largest then return "#ifndef INDEX\n#define INDEX long // or int, where it holds all indices\n#endif\n" end
  end
end

--- One program with all kernels of a plan.
-- @tparam table nests kernel nests, each with its `mapping` and `parameters`; with `largest` of
-- `clcompute.loops.generation.indices` if they may do with 32 bits
-- @tparam table rounds of `clcompute.loops.generation.round_kernels`
-- @tparam table options `mode`, `base`, `origin`, `vector`; `is_wide`, whether the device is no processor
-- @treturn string OpenCL C
-- @treturn {table,...} what may fail, by the number of its site, as `clcompute.loops.generation.faults` describes it
function kernel_text.text(nests, rounds, options)
  local is_double = kernel_text.need_double(nests, options.mode)
  local context = { real = is_double and "double" or "float", base = options.base, origin = options.origin,
    helpers = {}, program = {}, sites = {}, may_fuse = options.mode ~= "exact",
    is_wide = options.is_wide }
  local texts = {}
  for _, nest in ipairs(nests) do print_kernels(nest, context, texts) end
  for _, round in ipairs(rounds) do
    texts[#texts + 1] = kernel_of(round, round.name, context, round_kernels.print, round.in_groups)
  end
  local head = {}
  if is_double then head[#head + 1] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" end
  if options.mode == "exact" then
    head[#head + 1] = "#pragma OPENCL FP_CONTRACT OFF // a product is rounded before it is added, as in Lua\n"
  end
  head[#head + 1] = reduction_kernels.head(nests)
  if options.is_wide then head[#head + 1] = group_passes.head(nests, rounds) .. meetings.head(nests) end
  head[#head + 1] = head_of_indices(nests)
  head[#head + 1] = register_tile.head(nests)
  if context.helpers.VECTORS or context.helpers.MANY_VECTORS then
    head[#head + 1] = ("#define VECTOR %d // elements\n"):format(options.vector)
  end
  if #context.sites > 0 then head[#head + 1] = ("#define BASE %d // the index of the first element\n"):format(
    options.base) end
  local helpers = c_helpers.text(context.helpers)
  if helpers ~= "" then head[#head + 1] = ("#define REAL %s\n\n%s"):format(context.real, helpers) end
  return table.concat(head) .. "\n" .. table.concat(texts, "\n"), context.sites
end

return kernel_text
