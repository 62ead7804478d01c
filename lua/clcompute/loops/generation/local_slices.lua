-- SPDX-License-Identifier: MIT

--- Slices of arrays in local memory: what the work-items of a group read of an array in some passes of a loop within
-- their tiles, and several of them read, they copy there together.
--
--     for k = 1, n do s = s + a[i][k] * b[k][j] end    -- rows i, columns j
--
-- becomes, of whole slices, of `depth` passes, what is left of them coming from the arrays themselves:
--
--     for each slice of k
--       copy a[rows of the group][slice] and b[slice][columns of the group]; barrier
--       for k in the slice do ... end; barrier
--
-- Where the loop begins or ends with the row or the column, slices are of all passes that one of the group has; of a
-- slice that not all have as a whole, each takes its own.

local affine = require("clcompute.loops.tree").affine
local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local local_slices = {}

local add, block = c_statements.add, c_statements.block

local SIZE = { float = 4, double = 8 }

-- What a pass of a slice is longer by than it has elements, where neighbours copy one element of several passes each:
-- so they meet other banks of memory, and four elements of a pass are still a vector's.
local PADDING = 4

-- --- which ones ------------------------------------------------------------------------------

--- Whether an index speaks of a variable.
local function mentions(node, variable)
  for _, subscript in ipairs(node.subscripts) do
    if walk.mentions(subscript, variable) then return true end
  end
  return false
end

--- Whether one subscript of an index speaks of both variables: then elements of a slice are the same ones.
local function is_diagonal(node, one, other)
  for _, subscript in ipairs(node.subscripts) do
    if walk.mentions(subscript, one) and walk.mentions(subscript, other) then return true end
  end
  return false
end

--- Which loop of a tile an element that is read in a loop within changes along, if the other one's passes share it, and
-- whether neighbours in memory are neighbours along it; else they are from pass to pass. nil where it is not shared or
-- has no neighbours.
local function side_of(tile, loop, node)
  local is_of_rows, is_of_columns = mentions(node, tile.rows.variable), mentions(node, tile.columns.variable)
  if is_of_rows == is_of_columns or not mentions(node, loop.variable) then return nil end
  local side = is_of_rows and tile.rows or tile.columns
  if is_diagonal(node, side.variable, loop.variable) then return nil end
  local is_unit = affine.stride(node, side.variable) == 1
  if is_unit or affine.stride(node, loop.variable) == 1 then return side, is_unit end
end

--- Adds the slices that a loop reads, and notes for each such index which one it is in. Loops come one after the other,
-- so they have the same memory.
local function add_slices(slices, tile, loop, is_written, size)
  local by_text, list = {}, {}
  local function visit(node)
    if node.kind ~= "index" or is_written[node.array] then return end
    local text, side, is_unit = lua_text.expression(node), side_of(tile, loop, node)
    if side and not by_text[text] then
      local number = #list + 1
      local extent = side == tile.rows and slices.rows or slices.columns
      by_text[text] = { node = node, side = side, is_unit = is_unit, extent = extent,
        pitch = is_unit and extent or extent + PADDING, id = ("slice%d"):format(number) }
      list[number] = by_text[text]
      slices.elements[number] = math.max(slices.elements[number] or 0, size.depth * by_text[text].pitch)
    end
    slices.of[node] = by_text[text]
  end
  for _, node in ipairs(loop.body) do walk.node(node.value, visit) end
  slices.by_loop[loop] = #list > 0 and list or nil
end

local function bytes_of(slices, real)
  local elements = 0
  for _, count in ipairs(slices.elements) do elements = elements + count end
  return elements * SIZE[real]
end

-- A loop is slanted where a bound goes with the row or the column. As no variable is in both bounds, one pass of those
-- around it has all of its passes that another one of the row or the column has.

--- Whether a loop is bounded by the rows or the columns of a tile.
local function is_bounded(tile, loop)
  return walk.is_bounded_by(loop, tile.rows.variable) or walk.is_bounded_by(loop, tile.columns.variable)
end

--- Whether a loop is slanted.
local function is_slanted(tile, loop)
  for _, side in ipairs { tile.rows, tile.columns } do
    if walk.mentions(loop.from, side.variable) and walk.mentions(loop.to, side.variable) then return false end
  end
  return is_bounded(tile, loop)
end

--- Whether a slanted loop has more passes in later rows (1), in earlier ones (-1), or does not go with them (0).
function local_slices.growth(tile, loop)
  if not walk.is_bounded_by(loop, tile.rows.variable) then return 0 end
  local growth = affine.multiple(loop.to, tile.rows.variable) - affine.multiple(loop.from, tile.rows.variable)
  return growth > 0 and 1 or growth < 0 and -1 or 0
end

--- Whether columns that go with the row let a loop do so: one row has all columns and all passes of the others.
local function grow_alike(tile, loop)
  local growth = local_slices.growth(tile, loop)
  return not walk.is_bounded_by(loop, tile.columns.variable)
    and (growth == 0 or growth == local_slices.growth(tile, tile.columns))
end

--- Whether what a loop in a tile reads is there in all rows and columns that there are: what the tile writes is touched
-- in sums alone, which are guarded; where not all rows have the same columns, all else is in slices.
local function reads_what_is_there(tile, slices, loop, is_rectangle)
  local is_written, is_sum = walk.set(walk.uses(tile.body).writes), {}
  for _, accumulator in ipairs(tile.accumulators) do is_sum[accumulator.array] = true end
  return not walk.find(loop.body, function(node)
    if node.kind ~= "index" or is_sum[node.array] then return false end
    local is_placed = mentions(node, tile.rows.variable) or mentions(node, tile.columns.variable)
      or slices.slanted[loop] and mentions(node, loop.variable)
    return is_written[node.array] or is_placed and not slices.of[node] and not is_rectangle
  end)
end

--- Whether a group may compute what it has of the nearest rows and columns where its own are not all there.
local function may_clamp(tile, slices)
  local is_rectangle = not walk.is_bounded_by(tile.columns, tile.rows.variable)
  if not is_rectangle and not is_slanted(tile, tile.columns) then return false end
  for _, loop in ipairs(tile.loops) do
    if is_bounded(tile, loop) and not (slices.slanted[loop] and slices.by_loop[loop]) then return false end
    if not is_rectangle and not grow_alike(tile, loop) then return false end
    if not reads_what_is_there(tile, slices, loop, is_rectangle) then return false end
  end
  return true
end

--- Whether groups take slices wherever they are, and whatever loops read that lies apart along the columns is in them.
local function suffice(tile, slices)
  if not slices.may_clamp then return false end
  for _, loop in ipairs(tile.loops) do
    if walk.find(loop.body, function(node)
      return node.kind == "index" and not slices.of[node] and not affine.stride(node, tile.columns.variable)
    end) then return false end
  end
  return true
end

--- The slices of a nest.
-- @tparam table tile of `clcompute.loops.generation.register_nests`, with `columns`
-- @tparam table size of `clcompute.loops.generation.tiling`, of the class "wide"
-- @string real the type of floats in C
-- @tparam integer memory bytes of local memory
-- @treturn ?table `depth`, the passes of a slice; `items`, `rows` and `columns` of a group; `by_loop`, lists by loop;
-- `of`, the slice of an index; `slanted`, the loops that are, as keys; `elements`, how many each place in memory has;
-- `may_clamp`: groups at an edge take slices, too; `suffice`: and no loop jumps through memory; nil where there are
-- none, or no room for them
function local_slices.of(tile, size, real, memory)
  if size.depth == 1 or size.group == 1 then return nil end
  local slices = { depth = size.depth, items = size.group * size.group, rows = size.group * size.rows_at_once,
    columns = size.group * size.columns_at_once, by_loop = {}, of = {}, slanted = {}, elements = {} }
  local is_written = walk.set(walk.uses(tile.body).writes)
  for _, loop in ipairs(tile.loops) do
    slices.slanted[loop] = is_slanted(tile, loop) or nil
    if slices.slanted[loop] or not is_bounded(tile, loop) then
      add_slices(slices, tile, loop, is_written, size)
    end
  end
  if #slices.elements == 0 or bytes_of(slices, real) > memory then return nil end
  slices.may_clamp = may_clamp(tile, slices)
  slices.suffice = suffice(tile, slices)
  return slices
end

--- The slices as words: "16 passes of k of a, b".
function local_slices.describe(slices, tile)
  local parts = {}
  for _, loop in ipairs(tile.loops) do
    local names, is_there = {}, {}
    for _, slice in ipairs(slices.by_loop[loop] or {}) do
      local name = slice.node.array.name
      if not is_there[name] then names[#names + 1], is_there[name] = name, true end
    end
    if #names > 0 then
      parts[#parts + 1] = ("%d passes of %s of %s"):format(slices.depth, loop.variable.name, table.concat(names, ", "))
    end
  end
  return table.concat(parts, ", ")
end

-- --- as OpenCL C -----------------------------------------------------------------------------

--- Prints the slices' memory, where the group begins (`<variable>_group`), and how far from there the work-item's own
-- tile does (`<variable>_own`).
function local_slices.declare(slices, tile, size, output)
  local function place(node, dimension, group_extent, own)
    local id = node.variable.id
    add(output, ("const long %s_group = %s_origin + (long)get_group_id(%d) * %d;"):format(id, id, dimension,
      group_extent))
    add(output, ("const int %s_own = (int)get_local_id(%d)%s;"):format(id, dimension, own))
  end
  place(tile.rows, 1, slices.rows, (" * %d"):format(size.rows_at_once))
  place(tile.columns, 0, slices.columns, "")
  add(output, ("const int item = (int)get_local_id(1) * %d + (int)get_local_id(0);"):format(size.group))
  for i, count in ipairs(slices.elements) do
    add(output, ("local %s slice%d[%d] __attribute__((aligned(16)));"):format(output.context.real, i, count))
  end
end

--- What stands for an element in the macro of row r and column c, or nil.
function local_slices.element(slices, tile, node)
  local slice = slices.of[node]
  if not slice then return nil end
  return ("%s[pass * %d + %s_own + %s]"):format(slice.id, slice.pitch, slice.side.variable.id,
    slice.side == tile.rows and "r" or ("c * %d"):format(tile.distance))
end

--- The condition that a pass of a loop is one of the row at hand.
function local_slices.is_pass(loop, context)
  local id = loop.variable.id
  return ("%s <= %s && %s <= %s"):format(c_expression.plain(loop.from, context), id, id,
    c_expression.plain(loop.to, context))
end

--- The element that a slice has at a pass and a place; what no pass of the group reads is not read.
local function copied(slice, bounds, context)
  local element, conditions = c_expression.element(slice.node, context), bounds.conditions(slice.side)
  return #conditions == 0 and element or ("%s ? %s : 0"):format(table.concat(conditions, " && "), element)
end

--- The copy of a slice by the group: neighbours copy neighbours.
local function print_copy(slices, slice, loop, bounds, output)
  local inner, count = slice.is_unit and slice.extent or slices.depth, slices.depth * slice.extent
  local along, across = ("at %% %d"):format(inner), ("at / %d"):format(inner)
  local side, id = slice.side.variable.id, loop.variable.id
  block(output, ("for (int turn = 0; turn < %d; turn++) "):format(-(-count // slices.items)), function()
    add(output, ("const int at = turn * %d + item, pass = %s, place = %s;"):format(slices.items,
      slice.is_unit and across or along, slice.is_unit and along or across))
    if count % slices.items ~= 0 then add(output, ("if (at >= %d) break;"):format(count)) end
    local place = side .. "_group + place"
    add(output, ("const long %s = %s_slice + pass, %s = %s;"):format(id, id, side,
      bounds.clamped and bounds.clamped(slice.side, place) or place))
    add(output, ("%s[pass * %d + place] = %s;"):format(slice.id, slice.pitch,
      copied(slice, bounds, output.context)))
  end)
end

--- Prints the copies of all slices of a loop, and what is done with them between the barriers.
local function print_slice(slices, loop, bounds, output, print_passes)
  for _, slice in ipairs(slices.by_loop[loop]) do print_copy(slices, slice, loop, bounds, output) end
  add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
  print_passes()
  add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
end

--- Prints the passes of a slice.
local function print_passes_of(slices, loop, output, print_pass, is_guarded)
  local id = loop.variable.id
  block(output, ("for (int pass = 0; pass < %d; pass++) "):format(slices.depth), function()
    add(output, ("const long %s = %s_slice + pass;"):format(id, id))
    print_pass(true, is_guarded)
  end)
end

--- Prints where the slices of a loop begin, and where its passes end.
local function print_ends(loop, bounds, output)
  add(output, ("long %s_slice = %s;"):format(loop.variable.id, bounds.from))
  add(output, ("const long %s_last = %s;"):format(loop.variable.id, bounds.to))
end

--- Prints a loop by slices, of which the last one may have fewer passes.
local function print_slanted(slices, loop, bounds, output, print_pass)
  local id, depth = loop.variable.id, slices.depth
  print_ends(loop, bounds, output)
  block(output, ("for (; %s_slice <= %s_last; %s_slice += %d) "):format(id, id, id, depth), function()
    print_slice(slices, loop, bounds, output, function()
      local is_whole = ("%s <= %s_slice && %s_slice + %d <= %s"):format(bounds.all_from, id, id, depth - 1,
        bounds.all_to)
      block(output, ("if (%s) "):format(is_whole), function()
        print_passes_of(slices, loop, output, print_pass, false)
      end)
      block(output, "else ", function() print_passes_of(slices, loop, output, print_pass, true) end)
    end)
  end, loop)
end

--- Prints a loop by slices.
-- @tparam table slices
-- @tparam table loop
-- @tparam table bounds `from` and `to`, texts; of a slanted loop those of all passes that a row or column of the group
-- has, and `all_from` and `all_to`, of those that all have; where the group may leave the tile's loops `clamped`, which
-- makes the text of a place in a loop one that is there; `conditions(side)`, texts, under which an element of rows or
-- columns is read
-- @tparam table output
-- @tparam function print_pass of whether it is one of a slice, and of whether rows may be without it; in a slice `pass`
-- is its number
function local_slices.print_loop(slices, loop, bounds, output, print_pass)
  local id, depth = loop.variable.id, slices.depth
  if slices.slanted[loop] then return print_slanted(slices, loop, bounds, output, print_pass) end
  print_ends(loop, bounds, output)
  block(output, ("for (; %s_slice <= %s_last - %d; %s_slice += %d) "):format(id, id, depth - 1, id, depth), function()
    print_slice(slices, loop, bounds, output, function()
      print_passes_of(slices, loop, output, print_pass, false)
    end)
  end, loop)
  add(output, "// less than a slice")
  block(output, ("for (long %s = %s_slice; %s <= %s_last; %s++) "):format(id, id, id, id, id), function()
    print_pass(false, false)
  end)
end

return local_slices
