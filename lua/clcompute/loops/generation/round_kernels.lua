-- SPDX-License-Identifier: MIT

--- Finds the loops on the host of a plan that can go in rounds of several passes, and makes a kernel for each.

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local faults = require "clcompute.loops.generation.faults"
local plans = require("clcompute.loops.tree").plan
local round_shapes = require("clcompute.loops.analysis").round_shapes
local size_of = require("clcompute.loops.tree").ast.size
local tile_kernels = require "clcompute.loops.generation.tile_kernels"
local walk = require("clcompute.loops.tree").walk

local round_kernels = {}

--- Whether a part is a nest whose passes are only loops around statements, so that any of them can be left out.
local function is_plain(part)
  local tiles = part.kind == "kernel" and not part.behind and part.tiles
  return tiles and not tiles.registers and not tiles.is_wide and #tiles.places == 0 and #part.nonzero == 0
end

local function are_plain(parts)
  for _, part in ipairs(parts) do
    if not is_plain(part) then return false end
  end
  return true
end

--- The bytes of an array's elements with one first subscript, as Lua text.
local function bytes_of(array)
  local factors = { array.element == "float" and "4" or "8" }
  for d = 2, array.rank do factors[d] = size_of(array, d) end
  return table.concat(factors, " * ")
end

--- What a round is made of, as a kernel nest with its shape.
local function new_round(part, shape, index, most)
  local used, bytes = walk.uses { part.node }, {}
  for i, array in ipairs(walk.union(used.reads, used.writes)) do bytes[i] = bytes_of(array) end
  local round = plans.part("round", { name = "round_" .. index, index = index, node = part.node, nests = part.body,
    reads = used.reads, writes = used.writes, scalars = used.scalars, places = shape.places,
    is_front = shape.is_front, slope = shape.slope, steps = shape.steps, reach = shape.reach, most = most,
    bytes = table.concat(bytes, " + ") })
  return round
end

local function mark(plan, scop, list)
  for _, part in ipairs(plan) do
    if part.kind ~= "loop" or part.node.step ~= 1 or faults.has_data(part.node) or not are_plain(part.body) then
      for _, body in ipairs(plans.bodies(part)) do mark(body, scop, list) end
    else
      local shape = round_shapes.of(scop, part.node, part.body)
      part.round = shape and new_round(part, shape, #list + 1, list.most)
      list[#list + 1] = part.round
    end
  end
end

--- Adds `round` to the loops of a plan that can go so.
-- @tparam table plan whose kernel nests have their tiles; gets `rounds`, a list of them
-- @tparam table scop
-- @tparam integer most passes of a round; 1: there are none
function round_kernels.mark(plan, scop, most)
  plan.rounds = { most = most }
  if most > 1 then mark(plan, scop, plan.rounds) end
end

local add = c_statements.add

-- --- kernels --------------------------------------------------------------------------------

--- The parameters that only rounds have: the passes, where the first piece begins, how far it is to the next one,
-- how wide they are, and whether they shrink (1) or grow (-1).
function round_kernels.parameters(round)
  local rows = {}
  for i, id in ipairs(round_kernels.names(round)) do rows[i] = plans.part("place", { id = id }) end
  return rows
end

--- Their names.
function round_kernels.names(round)
  local time = round.node.variable.id
  return { time .. "_first", time .. "_last", "edge", "stride", "width", "shrinking" }
end

--- A loop along the line, as far as it is on the piece; other loops as they are.
local function clip_to_piece(place, context)
  local offset = place.offset == 0 and "" or (" - (%d)"):format(place.offset)
  return function(loop, node)
    if node ~= place.loop then return loop end
    return tile_kernels.clipped(loop,
      tile_kernels.later(node, c_expression.plain(node.from, context), "low" .. offset, context),
      tile_kernels.earlier(node, c_expression.plain(node.to, context), "high" .. offset, context))
  end
end

--- One nest on the piece.
local function print_nest(round, position, output)
  local place, tiles, time = round.places[position], round.nests[position].tiles, round.node.variable.id
  add(output, "{")
  output.depth = output.depth + 1
  if not round.is_front then
    add(output, ("const long shrunk = shrinking * (%d * (%s - %s_first) + %d);"):format(round.slope, time, time,
      round.steps[position]))
    add(output, "const long low = piece + shrunk, high = piece + width - 1 - shrunk;")
  else
    add(output, "const long low = piece, high = piece + width - 1;")
  end
  if not place.loop then
    local at = c_expression.plain(place.node, output.context)
    add(output, ("if (low <= %s && %s <= high)"):format(at, at))
  end
  output.depth = output.depth - 1
  add(output, "  {")
  output.depth = output.depth + 1
  c_statements.body(tile_kernels.loops(tiles, 1, clip_to_piece(place, output.context)), output)
  output.depth = output.depth - 1
  add(output, "  }")
  add(output, "}")
end

--- The body of a kernel.
function round_kernels.print(round, output)
  local time = round.node.variable.id
  output.depth = 1
  add(output, "const long piece = edge + (long)get_global_id(0) * stride;")
  add(output, ("for (long %s = %s_first; %s <= %s_last; %s++) {"):format(time, time, time, time, time), round.node)
  output.depth = 2
  for position in ipairs(round.places) do print_nest(round, position, output) end
  output.depth = 1
  add(output, "}")
end

return round_kernels
