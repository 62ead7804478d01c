-- SPDX-License-Identifier: MIT

--- Finds the loops on the host of a plan that can go in rounds of several passes, and makes a kernel for each. On a
-- processor a work-item has a piece, on a GPU a group, whose work-items share the passes of each nest.

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local faults = require "clcompute.loops.generation.faults"
local group_loops = require "clcompute.loops.generation.group_loops"
local plans = require("clcompute.loops.tree").plan
local round_shapes = require("clcompute.loops.analysis").round_shapes
local size_of = require("clcompute.loops.tree").ast.size
local tile_kernels = require "clcompute.loops.generation.tile_kernels"
local trip_counts = require("clcompute.loops.analysis").trip_counts
local walk = require("clcompute.loops.tree").walk

local round_kernels = {}

-- --- nests --------------------------------------------------------------------------------------

--- The passes of a nest as a processor's work-item goes through them: nil where it is more than loops around
-- statements, any of which can be left out.
local function tiles_of(part)
  local tiles = not part.behind and part.tiles
  if not tiles or tiles.registers or #tiles.places > 0 then return nil end
  return { node = part.node, band = part.band, order = tiles.order, frames = tiles.frames, tiles = tiles }
end

--- The loops of a band with that of neighbours last, which it is in the range, if they may change places.
local function order_of(part)
  local outer, inner = part.band[1], part.band[2]
  if not inner or part.band[3] or part.mapping[outer].dimension > 0 or walk.is_bounded_by(inner, outer.variable) then
    return part.band
  end
  return { inner, outer }
end

--- The passes of a nest as the work-items of a group share them; nil where it is more than assignments in them.
local function passes_of(part)
  local is_more = part.accumulators or part.wavefront or part.tiles or part.instead or faults.are_in { part.node }
  if is_more or walk.depth(part.node) > #part.band then return nil end
  local body, frames = part.is_task and plans.statements(part) or part.band[#part.band].body, {}
  for _, node in ipairs(part.is_task and body or {}) do
    if node.kind ~= "assign" then return nil end
  end
  local list = trip_counts.frames(part.band)
  for i, frame in ipairs(list or {}) do frames[part.band[i]] = frame end
  local order = order_of(part)
  return list and { node = part.node, band = part.band, order = order, frames = frames,
    tiles = { order = order, body = body } }
end

--- The nests of a loop as rounds need them; nil where one is none, or has more in its passes.
local function nests_of(parts, is_wide)
  local nests = {}
  for i, part in ipairs(parts) do
    local is_one = part.kind == "kernel" and #part.nonzero == 0
    nests[i] = is_one and (is_wide and passes_of or tiles_of)(part) or nil
    if not nests[i] then return nil end
  end
  return nests
end

--- The bytes of an array's elements at one place of the line, as Lua text.
local function bytes_of(array, at)
  local factors = { array.element == "float" and "4" or "8" }
  for d = 1, array.rank do
    if d ~= at then factors[#factors + 1] = size_of(array, d) end
  end
  return table.concat(factors, " * ")
end

--- What a round is made of, as a kernel nest with its shape.
local function new_round(part, nests, shape, list)
  local used, bytes, index = walk.uses { part.node }, {}, #list + 1
  for i, array in ipairs(walk.union(used.reads, used.writes)) do bytes[i] = bytes_of(array, shape.at) end
  return plans.part("round", { name = "round_" .. index, index = index, node = part.node, parts = part.body,
    nests = nests, reads = used.reads, writes = used.writes, scalars = used.scalars, places = shape.places,
    at = shape.at, is_front = shape.is_front, slope = shape.slope, steps = shape.steps, reach = shape.reach,
    most = list.most, bytes = table.concat(bytes, " + "), in_groups = list.is_wide })
end

--- The shape of a loop's rounds: on a GPU, where panels of columns are as good as those of rows, of either.
local function shape_of(scop, node, nests, is_wide)
  return round_shapes.of(scop, node, nests, 1) or is_wide and round_shapes.of(scop, node, nests, 2) or nil
end

local function mark(plan, scop, list)
  for _, part in ipairs(plan) do
    local is_one = part.kind == "loop" and part.node.step == 1 and not faults.has_data(part.node)
    local nests = is_one and nests_of(part.body, list.is_wide)
    if not nests then
      for _, body in ipairs(plans.bodies(part)) do mark(body, scop, list) end
    else
      local shape = shape_of(scop, part.node, nests, list.is_wide)
      part.round = shape and new_round(part, nests, shape, list)
      list[#list + 1] = part.round
    end
  end
end

--- Adds `round` to the loops of a plan that can go so.
-- @tparam table plan whose kernel nests have their tiles; gets `rounds`, a list of them
-- @tparam table scop
-- @tparam integer most passes of a round; 1: there are none
-- @tparam boolean is_wide whether the device is no processor
function round_kernels.mark(plan, scop, most, is_wide)
  plan.rounds = { most = most, is_wide = is_wide }
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

--- The passes of a nest, shared by the work-items of a group; where the line is along the loop within, that has no
-- more than the piece is wide.
local function print_shared(nodes, place, order, output)
  local inner = place.loop and place.loop == order[2] and "high - low + 1" or nil
  if #nodes == 1 and nodes[1].kind == "for" then return group_loops.print(nodes[1], output, c_statements, inner) end
  c_statements.block(output, "if (slice == 0) ", function()
    output.depth = output.depth - 1
    c_statements.body(nodes, output)
    output.depth = output.depth + 1
  end)
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
  local nodes = tile_kernels.loops(tiles, 1, clip_to_piece(place, output.context))
  if round.in_groups then
    print_shared(nodes, place, tiles.order, output)
    add(output, "EVERYBODY")
  else
    c_statements.body(nodes, output)
  end
  output.depth = output.depth - 1
  add(output, "  }")
  add(output, "}")
end

--- The body of a kernel.
function round_kernels.print(round, output)
  local time = round.node.variable.id
  output.depth = 1
  local number = round.in_groups and "group" or "global"
  add(output, ("const long piece = edge + (long)get_%s_id(0) * stride;"):format(number))
  if round.in_groups then group_loops.print_place(output, c_statements) end
  add(output, ("for (long %s = %s_first; %s <= %s_last; %s++) {"):format(time, time, time, time, time), round.node)
  output.depth = 2
  for position in ipairs(round.places) do print_nest(round, position, output) end
  output.depth = 1
  add(output, "}")
end

return round_kernels
