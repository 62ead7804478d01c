-- SPDX-License-Identifier: MIT

--- Finds the loops on the host of a plan that can go in rounds of several passes, and makes a kernel for each.
-- @module clcompute.loops.generation.rounds

local shapes = require "clcompute.loops.analysis.rounds"
local kernels = require "clcompute.loops.generation.kernels"
local size_of = require "clcompute.loops.tree.variables".size
local uses = require "clcompute.loops.tree.uses"

local rounds = {}

--- Whether a part is a nest whose passes are only loops around statements, so that any of them can be left out.
local function is_plain(part)
  local tiles = part.kind == "kernel" and part.tiles
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
  local used, bytes = uses.of { part.node }, {}
  local round = { is_round = true, name = "round_" .. index, index = index, node = part.node, nests = part.body,
    reads = used.reads, writes = used.writes, scalars = used.scalars, places = shape.places,
    is_front = shape.is_front, slope = shape.slope, steps = shape.steps, reach = shape.reach, most = most }
  for i, array in ipairs(uses.union(round.reads, round.writes)) do bytes[i] = bytes_of(array) end
  round.bytes = table.concat(bytes, " + ")
  round.parameters = kernels.parameters(round)
  return round
end

local mark

local PARTS = {
  kernel = function() end,
  lua = function() end,
  loop = function(part, scop, list)
    if part.node.step ~= 1 or not are_plain(part.body) then return mark(part.body, scop, list) end
    local shape = shapes.of(scop, part.node, part.body)
    if not shape then return end
    part.round = new_round(part, shape, #list + 1, list.most)
    list[#list + 1] = part.round
  end,
  ["if"] = function(part, scop, list)
    for _, arm in ipairs(part.arms) do mark(arm.body, scop, list) end
    if part.otherwise then mark(part.otherwise, scop, list) end
  end,
  either = function(part, scop, list)
    mark(part.few, scop, list)
    mark(part.many, scop, list)
  end,
}

function mark(plan, scop, list)
  for _, part in ipairs(plan) do PARTS[part.kind](part, scop, list) end
end

--- Adds `round` to the loops of a plan that can go so: a kernel nest with `is_front`, `slope`, `steps`, `reach` and
-- `places` of `clcompute.loops.analysis.rounds`, its `nests`, and `bytes`, Lua text of what the arrays take for each
-- place of the line; `most`.
-- @tparam table plan whose kernel nests have their tiles; gets `rounds`, a list of them
-- @tparam table scop
-- @tparam integer most passes of a round; 1: there are none
function rounds.mark(plan, scop, most)
  plan.rounds = { most = most }
  if most > 1 then mark(plan, scop, plan.rounds) end
end

return rounds
