-- SPDX-License-Identifier: MIT

--- Several passes of a sequential loop as OpenCL C: a work-item goes through them on its piece of the line, nest after
-- nest; from one to the next the piece gets narrower or wider at both ends (`clcompute.loops.analysis.rounds`).
-- @module clcompute.loops.generation.round_kernels

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local rewrite = require "clcompute.loops.tree.rewrite"
local tile_kernels = require "clcompute.loops.generation.tile_kernels"

local round_kernels = {}

local add = c_statements.add

--- The parameters beyond those of all nests: the passes, where the first piece begins, how far it is to the next one,
-- how wide they are, and whether they shrink (1) or grow (-1).
function round_kernels.parameters(round)
  local rows = {}
  for i, id in ipairs(round_kernels.names(round)) do rows[i] = { kind = "place", id = id } end
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
    return rewrite.changed(loop, {
      from = rewrite.text(tile_kernels.later(node, c_expression.plain(node.from, context), "low" .. offset, context)),
      to = rewrite.text(tile_kernels.earlier(node, c_expression.plain(node.to, context), "high" .. offset, context)) })
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
