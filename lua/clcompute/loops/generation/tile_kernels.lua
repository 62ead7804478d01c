-- SPDX-License-Identifier: MIT

--- Nests in tiles as OpenCL C: the loops that are shared out go through a block, whose place and size the launch gives.
-- @module clcompute.loops.generation.tile_kernels

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local register_kernels = require "clcompute.loops.generation.register_kernels"
local rewrite = require "clcompute.loops.tree.rewrite"
local strides = require "clcompute.loops.tree.strides"

local tile_kernels = {}

local add, changed = c_statements.add, rewrite.changed

--- The parameters of a nest beyond those of all nests: where the frame of each loop begins, how much of it is a block.
function tile_kernels.parameters(tiles)
  local rows = {}
  for _, node in ipairs(tiles.order) do
    for _, part in ipairs(tiles.is_wide and { "origin" } or { "origin", "tile" }) do
      rows[#rows + 1] = { kind = "place", id = ("%s_%s"):format(node.variable.id, part), node = node, part = part }
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
    if strides.mentions(node.from, other.variable) then return false end
  end
  return true
end

--- A loop as far as it is in the block: `from` and `to` are texts of where that begins and ends.
local function clipped(node, tiles, context, from, to)
  local first = rewrite.text(is_fixed(node, tiles) and from
    or tile_kernels.later(node, c_expression.plain(node.from, context), from, context))
  local last = rewrite.text(tile_kernels.earlier(node, c_expression.plain(node.to, context), to, context))
  return changed(node, { from = first, to = last })
end

--- The body with its lane's loops clipped.
local function clip_lanes(nodes, clip)
  return rewrite.statements(nodes, function(node)
    local loop = node.is_lane and clip(node)
    return loop and changed(node, { from = loop.from, to = loop.to }) or nil
  end)
end

--- The loops around the body of a block, as statements.
-- @tparam table tiles
-- @tparam integer i from which of its order on
-- @tparam function clip of a loop, and of the one of the order that it stands for; returns it with other ends
function tile_kernels.loops(tiles, i, clip)
  local node = tiles.order[i]
  if not node then return tiles.body end
  if node == tiles.lane then return clip_lanes(tiles.body, function(loop) return clip(loop, node) end) end
  return { changed(clip(node, node), { body = tile_kernels.loops(tiles, i + 1, clip) }) }
end

--- Prints the passes of a block one after the other, by the loops of the order from one on: `ends(node)` gives the
-- texts of where each begins and ends.
local function print_passes(tiles, output, from, ends)
  local function clip(loop, node)
    return clipped(loop, tiles, output.context, ends(node))
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
  if tiles.is_wide then return register_kernels.print_item(tiles, output) end
  for i, node in ipairs(tiles.order) do print_frame(node, #tiles.order - i, output) end -- the innermost is dimension 0
  output.context = setmetatable({ names = print_places(tiles, output) }, { __index = output.context })
  local function ends(node)
    return node.variable.id .. "_first", node.variable.id .. "_end"
  end
  if tiles.registers then
    register_kernels.print(tiles, output, ends, print_passes)
  else
    print_passes(tiles, output, 1, ends)
  end
end

return tile_kernels
