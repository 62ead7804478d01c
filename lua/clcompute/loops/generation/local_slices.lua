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

--- Adds the slices that a loop reads, and notes for each such index which one it is in.
local function add_slices(slices, tile, loop, is_written, size)
  local by_text, list = {}, {}
  local function visit(node)
    if node.kind ~= "index" or is_written[node.array] then return end
    local text, side, is_unit = lua_text.expression(node), side_of(tile, loop, node)
    if side and not by_text[text] then
      slices.count = slices.count + 1
      local extent = size.group * (side == tile.rows and size.rows_at_once or size.columns_at_once)
      by_text[text] = { node = node, side = side, is_unit = is_unit, extent = extent,
        pitch = is_unit and extent or extent + PADDING, id = ("%s_slice%d"):format(node.array.id, slices.count) }
      list[#list + 1] = by_text[text]
    end
    slices.of[node] = by_text[text]
  end
  for _, node in ipairs(loop.body) do walk.node(node.value, visit) end
  slices.by_loop[loop] = #list > 0 and list or nil
end

local function bytes_of(slices, depth, real)
  local elements = 0
  for _, list in pairs(slices.by_loop) do
    for _, slice in ipairs(list) do elements = elements + depth * slice.pitch end
  end
  return elements * SIZE[real]
end

--- The slices of a nest.
-- @tparam table tile of `clcompute.loops.generation.register_tile`, with `columns`
-- @tparam table size of `clcompute.loops.generation.tiling`, of the class "wide"
-- @string real the type of floats in C
-- @tparam integer memory bytes of local memory
-- @treturn ?table `depth`, the passes of a slice; `items`, work-items of a group; `by_loop`, lists by loop; `of`, the
-- slice of an index; nil where there are none, or there is no room for them
function local_slices.of(tile, size, real, memory)
  if size.depth == 1 or size.group == 1 then return nil end
  local slices = { depth = size.depth, items = size.group * size.group, by_loop = {}, of = {}, count = 0 }
  local is_written = walk.set(walk.uses(tile.body).writes)
  for _, loop in ipairs(tile.loops) do
    if not walk.is_bounded_by(loop, tile.rows.variable) then add_slices(slices, tile, loop, is_written, size) end
  end
  return slices.count > 0 and bytes_of(slices, size.depth, real) <= memory and slices or nil
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
  place(tile.rows, 1, size.group * size.rows_at_once, (" * %d"):format(size.rows_at_once))
  place(tile.columns, 0, size.group * size.columns_at_once, "")
  add(output, ("const int item = (int)get_local_id(1) * %d + (int)get_local_id(0);"):format(size.group))
  for _, loop in ipairs(tile.loops) do
    for _, slice in ipairs(slices.by_loop[loop] or {}) do
      add(output, ("local %s %s[%d] __attribute__((aligned(16)));"):format(output.context.real, slice.id,
        slices.depth * slice.pitch), slice.node)
    end
  end
end

--- What stands for an element in the macro of row r and column c, or nil.
function local_slices.element(slices, tile, node)
  local slice = slices.of[node]
  if not slice then return nil end
  return ("%s[pass * %d + %s_own + %s]"):format(slice.id, slice.pitch, slice.side.variable.id,
    slice.side == tile.rows and "r" or ("c * %d"):format(tile.distance))
end

--- The copy of a slice by the group: neighbours copy neighbours.
local function print_copy(slices, slice, loop, output)
  local inner, count = slice.is_unit and slice.extent or slices.depth, slices.depth * slice.extent
  local along, across = ("at %% %d"):format(inner), ("at / %d"):format(inner)
  local side, id = slice.side.variable.id, loop.variable.id
  block(output, ("for (int turn = 0; turn < %d; turn++) "):format(-(-count // slices.items)), function()
    add(output, ("const int at = turn * %d + item, pass = %s, place = %s;"):format(slices.items,
      slice.is_unit and across or along, slice.is_unit and along or across))
    if count % slices.items ~= 0 then add(output, ("if (at >= %d) break;"):format(count)) end
    add(output, ("const long %s = %s_slice + pass, %s = %s_group + place;"):format(id, id, side, side))
    add(output, ("%s[pass * %d + place] = %s;"):format(slice.id, slice.pitch,
      c_expression.element(slice.node, output.context)))
  end)
end

--- Prints a loop by slices.
-- @tparam table slices
-- @tparam table loop
-- @tparam table bounds `from` and `to`, texts
-- @tparam table output
-- @tparam function print_pass of whether it is one of a slice; in one `pass` is its number
function local_slices.print_loop(slices, loop, bounds, output, print_pass)
  local id, depth = loop.variable.id, slices.depth
  add(output, ("long %s_slice = %s;"):format(id, bounds.from))
  add(output, ("const long %s_last = %s;"):format(id, bounds.to))
  block(output, ("for (; %s_slice <= %s_last - %d; %s_slice += %d) "):format(id, id, depth - 1, id, depth), function()
    for _, slice in ipairs(slices.by_loop[loop]) do print_copy(slices, slice, loop, output) end
    add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
    block(output, ("for (int pass = 0; pass < %d; pass++) "):format(depth), function()
      add(output, ("const long %s = %s_slice + pass;"):format(id, id))
      print_pass(true)
    end)
    add(output, "barrier(CLK_LOCAL_MEM_FENCE);")
  end, loop)
  add(output, "// less than a slice")
  block(output, ("for (long %s = %s_slice; %s <= %s_last; %s++) "):format(id, id, id, id, id), function()
    print_pass(false)
  end)
end

return local_slices
