-- SPDX-License-Identifier: MIT

--- Nests in tiles as OpenCL C: the loops that are shared out go through a block, whose place and size the launch gives.

local ast = require("clcompute.loops.tree").ast
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local local_slices = require "clcompute.loops.generation.local_slices"
local panels = require "clcompute.loops.generation.panels"
local plan = require("clcompute.loops.tree").plan
local register_tile = require "clcompute.loops.generation.register_tile"
local walk = require("clcompute.loops.tree").walk

local tile_kernels = {}

local add, bound_in, extremum = c_statements.add, register_tile.bound_in, c_expression.extremum

--- The conditions under which the loops of a tile have passes in all its rows. Where one has none, Lua may not touch
-- the elements that stay in registers; `passed_over` are loops of which that is no matter.
local function add_passes(tile, texts, context, passed_over)
  for _, loop in ipairs(#tile.accumulators > 0 and tile.loops or {}) do
    for _, row in ipairs(passed_over and passed_over[loop] and {} or { 0, tile.row_count - 1 }) do
      texts[#texts + 1] = ("%s <= %s"):format(bound_in(tile, loop.from, row, context),
        bound_in(tile, loop.to, row, context))
    end
  end
end

--- The condition under which all columns of a tile are there in all its rows.
local function columns_there(tile, context)
  local texts, columns = {}, tile.columns
  if not columns then return texts end
  local id, last = columns.variable.id, tile.last_column
  local function add_for(row)
    texts[#texts + 1] = ("%s <= %s%s"):format(bound_in(tile, columns.from, row, context), id, tile.base)
    texts[#texts + 1] = ("%s%s + %d <= %s"):format(id, tile.base, last, bound_in(tile, columns.to, row, context))
  end
  add_for(0)
  if walk.is_bounded_by(columns, tile.rows.variable) then add_for(tile.row_count - 1) end
  if not tile.is_wide then texts[#texts + 1] = ("%s_base + %d <= %s_end"):format(id, last, id) end
  return texts
end

--- Opens a loop: `suffix` is what stands behind the name of its variable.
local function open_loop(node, suffix, from, to, step, output)
  local id = node.variable.id .. suffix
  local last = suffix == "" and id .. "_last" or node.variable.id .. "_top"
  add(output, ("for (long %s = %s, %s = %s; %s <= %s; %s += %d) {"):format(id, from, last, to, id, last, id, step),
    node)
  output.depth = output.depth + 1
end

local function close(output, text)
  output.depth = output.depth - 1
  add(output, text or "}")
end

--- A whole tile where `conditions` hold, and else what `print_rest` prints.
local function print_either(tile, conditions, output, print_rest)
  add(output, ("if (%s) {"):format(table.concat(conditions, " && ")))
  output.depth = output.depth + 1
  register_tile.print(tile, output)
  close(output, "} else {")
  output.depth = output.depth + 1
  print_rest()
  close(output)
end

--- The conditions under which a tile is whole, where `row_top` is the text of the last row there is.
local function conditions_of(tile, row_top, context)
  local conditions = columns_there(tile, context)
  table.insert(conditions, 1, ("%s%s + %d <= %s"):format(tile.rows.variable.id, tile.base, tile.row_count - 1,
    row_top))
  add_passes(tile, conditions, context)
  conditions[#conditions + 1] = tile.panels and panels.condition(tile, context)
  return conditions
end

-- --- a block on a processor --------------------------------------------------------------------

--- Opens the loops around the tiles of a block: strips of columns, in which rows come one after the other, so that what
-- they share of a strip stays in the cache, or in panels. Returns how many there are.
local function open_block(tile, order, ends, output)
  local context, count = output.context, 0
  local function clipped(node)
    local from, to = ends(node)
    return extremum("max_int", c_expression.plain(node.from, context), from, context),
      extremum("min_int", c_expression.plain(node.to, context), to, context)
  end
  for _, node in ipairs(order) do
    if node ~= tile.rows and node ~= tile.columns then
      local from, to = clipped(node)
      open_loop(node, "", from, to, 1, output)
      count = count + 1
    end
  end
  if tile.columns then
    local from, to = ends(tile.columns)
    open_loop(tile.columns, "_base", from, to, tile.last_column + 1, output)
    count = count + 1
  end
  if tile.panels then count = count + panels.open(tile, output) end
  local from, to = clipped(tile.rows)
  open_loop(tile.rows, "_base", from, to, tile.row_count, output)
  return count + 1
end

--- Prints a block.
-- @tparam table tiles of `clcompute.loops.generation.tiling`
-- @tparam table output
-- @tparam function ends of a loop: where it begins and ends in the block
-- @tparam function print_passes of the tiles, the output, the first of the loops, and ends: pass by pass
local function print_block(tiles, output, ends, print_passes)
  local context, tile = output.context, register_tile.sized(tiles, output.context)
  local rows, columns = tile.rows, tile.columns
  if tile.panels then panels.declare(tile, output) end
  local loops = open_block(tile, tiles.order, ends, output)
  print_either(tile, conditions_of(tile, rows.variable.id .. "_top", context), output, function()
    local function print_rest()
      print_passes(tiles, output, #tiles.order - (columns and 1 or 0), function(node)
        local id = node.variable.id
        local last = node == rows and tile.row_count - 1 or tile.last_column
        return id .. "_base", extremum("min_int", ("%s_base + %d"):format(id, last), id .. "_top", context)
      end)
    end
    if not tile.panels then return print_rest() end
    c_statements.block(output, ("if (%s) "):format(panels.is_first(tile, context)), print_rest) -- for all slices
  end)
  for _ = 1, loops do close(output) end
end

-- --- a work-item of a GPU ----------------------------------------------------------------------

--- Where the tile of a work-item begins.
local function print_item_place(tile, order, output)
  for _, node in ipairs(order) do
    local id, context = node.variable.id, output.context
    if node == tile.rows then
      add(output, ("const long %s_base = %s_origin + (long)get_global_id(1) * %d;"):format(id, id, tile.row_count),
        node)
    elseif node == tile.columns then
      add(output, ("const long %s_base = %s_origin + (long)get_group_id(0) * %d + (long)get_local_id(0);"):format(id,
        id, tile.column_count * tile.distance), node)
    else
      add(output, ("const long %s = %s_origin + (long)get_global_id(2);"):format(id, id), node)
      add(output, ("if (%s < %s || %s > %s) return;"):format(id, c_expression.plain(node.from, context), id,
        c_expression.plain(node.to, context)))
    end
  end
end

--- The passes of a tile that is not whole.
local function print_rest(tile, body, output)
  local context, rows, columns = output.context, tile.rows, tile.columns
  local function last(node, distance)
    local there = ("%s_base + %d"):format(node.variable.id, distance)
    return extremum("min_int", c_expression.plain(node.to, context), there, context)
  end
  local id = columns.variable.id
  local from = extremum("max_int", c_expression.plain(rows.from, context), rows.variable.id .. "_base", context)
  open_loop(rows, "", from, last(rows, tile.row_count - 1), 1, output)
  open_loop(columns, "", id .. "_base", last(columns, tile.last_column), tile.distance, output)
  add(output, ("if (%s < %s) continue;"):format(id, c_expression.plain(columns.from, context)))
  output.depth = output.depth - 1
  c_statements.body(body, output)
  output.depth = output.depth + 1
  close(output)
  close(output)
end

--- The conditions under which a tile, or a group's as one, is whole.
local function conditions_of_item(tile, context)
  local rows = tile.rows
  local conditions = conditions_of(tile, c_expression.plain(rows.to, context), context)
  table.insert(conditions, 1, ("%s <= %s%s"):format(c_expression.plain(rows.from, context), rows.variable.id,
    tile.base))
  return conditions
end

--- All tiles of a group as one, whose first row and column are at `<variable>_group`.
local function group_of(tile, group)
  local columns = group * tile.column_count
  return setmetatable({ base = "_group", row_count = group * tile.row_count, last_column = columns - 1 },
    { __index = tile })
end

-- A group whose tiles are not all there takes slices, too: it computes what it has of the nearest rows and columns, and
-- stores what is there.

--- The bounds of rows and columns, whatever the row is.
local function print_limits(tile, output)
  local context, rows, columns = output.context, tile.rows, tile.columns
  local id = rows.variable.id
  add(output, ("const long %s_low = %s, %s_high = %s;"):format(id, c_expression.plain(rows.from, context), id,
    c_expression.plain(rows.to, context)))
  local function either(name, bound)
    return register_tile.extreme(name, bound, { { rows.variable, id .. "_low", id .. "_high" } }, context)
  end
  add(output, ("const long %s_low = %s, %s_high = %s;"):format(columns.variable.id, either("min_int", columns.from),
    columns.variable.id, either("max_int", columns.to)))
end

--- The conditions under which a clamped group has something to do.
local function conditions_of_clamped(tile, group, context)
  local rows, columns = tile.rows.variable.id, tile.columns.variable.id
  local all, conditions = group_of(tile, group), { ("%s_low <= %s_high"):format(rows, rows),
    ("%s_low <= %s_high"):format(columns, columns), ("%s_group <= %s_high"):format(rows, rows),
    ("%s_low <= %s_group + %d"):format(rows, rows, group * tile.row_count - 1) }
  conditions[#conditions + 1] = ("%s <= %s_group + %d"):format(
    register_tile.extreme_in(all, "min_int", tile.columns.from, context), columns, all.last_column)
  conditions[#conditions + 1] = ("%s >= %s_group"):format(
    register_tile.extreme_in(all, "max_int", tile.columns.to, context), columns)
  add_passes(tile, conditions, context, tile.slices.slanted)
  return conditions
end

--- The slanted loops that touch an accumulator's element, where nothing else does; nil where all rows touch it.
local function slanted_loops(tile, accumulator)
  local list = {}
  for _, node in ipairs(tile.body) do
    if walk.find({ node }, function(part) return part.kind == "index" and part.array == accumulator.array end) then
      if not tile.slices.slanted[node] then return nil end
      list[#list + 1] = node
    end
  end
  return list
end

--- Prints the tile of one work-item by slices, wherever its group is. Whole groups are clamped, too, which costs them
-- next to nothing: POCL 3.1 wants barriers in one place.
local function print_clamped(tile, tiles, output)
  local context, clamped = output.context, setmetatable({ is_clamped = true }, { __index = tile })
  for _, accumulator in ipairs(tile.accumulators) do accumulator.slanted = slanted_loops(tile, accumulator) end
  print_limits(tile, output)
  print_either(clamped, conditions_of_clamped(tile, tiles.size.group, context), output, function()
    print_rest(tile, tiles.body, output)
  end)
end

--- Prints the tile of one work-item: by slices in local memory where the group's tiles are all whole, or may be
-- clamped.
-- @tparam table tiles of `clcompute.loops.generation.tiling`, `is_wide`, or their `small` ones
-- @tparam table output
local function print_item(tiles, output)
  local context, tile = output.context, register_tile.sized(tiles, output.context)
  local function print_own()
    print_either(tile, conditions_of_item(tile, context), output, function() print_rest(tile, tiles.body, output) end)
  end
  print_item_place(tile, tiles.order, output)
  if not tiles.slices then return print_own() end
  local_slices.declare(tiles.slices, tile, tiles.size, output)
  local sliced = setmetatable({ slices = tiles.slices }, { __index = tile })
  if tiles.slices.may_clamp then return print_clamped(sliced, tiles, output) end
  print_either(sliced, conditions_of_item(group_of(tile, tiles.size.group), context), output, print_own)
end

--- Prints the kernel of small tiles, of the same parameters.
-- @tparam table nest whose `tiles` have `small` ones
-- @tparam table output
function tile_kernels.print_small(nest, output)
  output.depth = 1
  local small = nest.tiles.small
  print_item(setmetatable({ size = small.size, slices = small.slices }, { __index = nest.tiles }), output)
end

--- Prints the kernel of a work-item a pass, of the same parameters.
-- @tparam table nest whose `tiles` are `is_wide`
-- @tparam table output
function tile_kernels.print_single(nest, output)
  local order, context = nest.tiles.order, output.context
  output.depth = 1
  for i, node in ipairs(order) do
    local id = node.variable.id
    add(output, ("const long %s = %s_origin + (long)get_global_id(%d);"):format(id, id, #order - i), node)
    add(output, ("if (%s < %s || %s > %s) return;"):format(id, c_expression.plain(node.from, context), id,
      c_expression.plain(node.to, context)))
  end
  output.depth = 0
  c_statements.body(nest.tiles.body, output)
end

-- --- blocks ---------------------------------------------------------------------------------

local changed = ast.changed

--- The parameters that only nests in tiles have: where the frame of each loop begins, how much of it is a block.
function tile_kernels.parameters(tiles)
  local rows = {}
  for _, node in ipairs(tiles.order) do
    for _, part in ipairs(tiles.is_wide and { "origin" } or { "origin", "tile" }) do
      rows[#rows + 1] = plan.part("place", { id = ("%s_%s"):format(node.variable.id, part) })
    end
  end
  return rows
end

-- --- the block -------------------------------------------------------------------------------

--- The later of two values of a loop's variable, and the earlier one.
function tile_kernels.later(node, left, right, context)
  return c_expression.extremum(node.step > 0 and "max_int" or "min_int", left, right, context)
end

function tile_kernels.earlier(node, left, right, context)
  return c_expression.extremum(node.step > 0 and "min_int" or "max_int", left, right, context)
end

--- Where the frame of a loop begins in this block, and where it ends.
local function print_frame(node, dimension, output)
  local id, step = node.variable.id, node.step
  local times = step == 1 and "" or (" * %d"):format(step)
  add(output, ("const long %s_first = %s_origin + (long)get_global_id(%d) * %s_tile%s;"):format(id, id, dimension, id,
    times))
  add(output, ("const long %s_end = %s_first + (%s_tile - 1)%s;"):format(id, id, id, times), node)
end

local function is_fixed(node, tiles)
  for _, other in ipairs(tiles.order) do
    if walk.mentions(node.from, other.variable) then return false end
  end
  return true
end

--- A loop with other bounds, which are texts.
function tile_kernels.clipped(node, from, to)
  return changed(node, { from = ast.node("text", { text = from, type = "int" }),
    to = ast.node("text", { text = to, type = "int" }) })
end

--- A loop as far as it is in the block: `from` and `to` are texts of where that begins and ends.
local function clip_to_block(node, tiles, context, from, to)
  local first = is_fixed(node, tiles) and from
    or tile_kernels.later(node, c_expression.plain(node.from, context), from, context)
  return tile_kernels.clipped(node, first,
    tile_kernels.earlier(node, c_expression.plain(node.to, context), to, context))
end

--- The body with its lane's loops clipped.
local function clip_lanes(nodes, clip)
  return walk.replaced_statements(nodes, function(node)
    local loop = node.is_lane and clip(node)
    return loop and changed(node, { from = loop.from, to = loop.to }) or nil
  end)
end

--- The body of a block that has the innermost loop in it, behind the two variables that hold its bounds.
local function with_ends(tiles, loop)
  local list = { ast.node("local", { variable = tiles.ends[1], value = loop.from }),
    ast.node("local", { variable = tiles.ends[2], value = loop.to }) }
  return table.move(tiles.body, 1, #tiles.body, 3, list)
end

--- The loops around the body of a block, as statements.
-- @tparam table tiles
-- @tparam integer i from which of its order on
-- @tparam function clip of a loop, and of the one of the order that it stands for; returns it with other ends
function tile_kernels.loops(tiles, i, clip)
  local node = tiles.order[i]
  if not node then return tiles.body end
  if tiles.ends and i == #tiles.order then return with_ends(tiles, clip(node, node)) end
  if node == tiles.lane then return clip_lanes(tiles.body, function(loop) return clip(loop, node) end) end
  return { changed(clip(node, node), { body = tile_kernels.loops(tiles, i + 1, clip) }) }
end

--- Prints the passes of a block one after the other, by the loops of the order from one on: `ends(node)` gives the
-- texts of where each begins and ends.
local function print_passes(tiles, output, from, ends)
  local function clip(loop, node)
    return clip_to_block(loop, tiles, output.context, ends(node))
  end
  output.depth = output.depth - 1
  c_statements.body(tile_kernels.loops(tiles, from, clip), output)
  output.depth = output.depth + 1
end

--- A place for each pass of the lane, of the locals that need one.
local function print_places(tiles, output)
  local names = {}
  for _, variable in ipairs(tiles.places) do
    add(output, ("%s %s[%d];"):format(c_statements.type(variable.type, output.context), variable.id,
      tiles.size.lane.most))
    local lane = tiles.lane.variable.id
    names[variable] = tiles.lane.step > 0 and ("%s[%s - %s_first]"):format(variable.id, lane, lane)
      or ("%s[%s_first - %s]"):format(variable.id, lane, lane)
  end
  return names
end

--- The body of a kernel.
function tile_kernels.print(nest, output)
  local tiles = nest.tiles
  output.depth = 1
  if tiles.is_wide then return print_item(tiles, output) end
  for i, node in ipairs(tiles.order) do print_frame(node, #tiles.order - i, output) end -- the innermost is dimension 0
  output.context = setmetatable({ names = print_places(tiles, output) }, { __index = output.context })
  local function ends(node)
    return node.variable.id .. "_first", node.variable.id .. "_end"
  end
  if tiles.registers then
    print_block(tiles, output, ends, print_passes)
  else
    print_passes(tiles, output, 1, ends)
  end
end

return tile_kernels
