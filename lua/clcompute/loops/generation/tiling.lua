-- SPDX-License-Identifier: MIT

--- From a kernel nest to tiles: each work-item goes through a block of the band's passes. On a processor, where a
-- work-item is a task of its own, that is what makes it fast: the loop that goes through memory element by element is
-- innermost and becomes vectors, and sums stay in registers.
-- @module clcompute.loops.generation.tiling

local extent = require "clcompute.loops.generation.extent"
local hoisting = require "clcompute.loops.generation.hoisting"
local local_slices = require "clcompute.loops.generation.local_slices"
local register_tile = require "clcompute.loops.generation.register_tile"
local rewrite = require "clcompute.loops.tree.rewrite"
local sinking = require "clcompute.loops.generation.sinking"
local strides = require "clcompute.loops.tree.strides"
local tile_sizes = require "clcompute.loops.generation.tile_sizes"
local walk = require "clcompute.loops.tree.walk"

local tiling = {}

local MOST_DIMENSIONS = 3

-- --- loops in a body -------------------------------------------------------------------------

local function has_control(nodes)
  local found = false
  walk.nodes(nodes, function(part)
    if part.kind == "for" or part.kind == "if" then found = true end
    return not found
  end)
  return found
end

local function has_loop(nodes)
  local found = false
  walk.nodes(nodes, function(part)
    if part.kind == "for" then found = true end
    return not found
  end)
  return found
end

--- An innermost loop as vectors, if its passes do not depend on each other and go through memory element by element.
local function vectorised(node)
  local units = node.parallel and strides.units(node.body, node.variable)
  if not units or units == 0 then return node end
  local body, common, is_plain = node.body, {}, not has_control(node.body)
  if is_plain then body, common = hoisting.apply(body, node.variable) end
  return rewrite.changed(node, { body = body, common = common, is_independent = true, is_plain = is_plain })
end

--- Statements whose innermost loops are vectors where they can be.
local function finish(nodes)
  return rewrite.statements(nodes, function(node)
    return node.kind == "for" and not has_loop(node.body) and vectorised(node) or nil
  end)
end

-- --- the band --------------------------------------------------------------------------------

--- Whether the bounds of the loops of a band from one on speak of its variable.
local function bounds_others(band, i)
  for later = i + 1, #band do
    if strides.is_bounded_by(band[later], band[i].variable) then return true end
  end
  return false
end

--- The loop that is to be innermost: the one with most accesses element by element, none that jump; of equals the
-- innermost. nil where there is none.
local function lane_of(band)
  local best, most = nil, 0
  for i = #band, 1, -1 do
    local units = math.abs(band[i].step) == 1 and strides.units(band[#band].body, band[i].variable)
    if units and units > most and not bounds_others(band, i) then best, most = i, units end
  end
  return best
end

--- The band with that loop last.
local function ordered(band, lane)
  local order = {}
  for i, node in ipairs(band) do
    if i ~= lane then order[#order + 1] = node end
  end
  order[#order + 1] = band[lane]
  return order
end

--- Whether frames are no larger than the most passes that loops have: those of a skewed loop would be mostly empty.
local function are_tight(frames, counts)
  for i, frame in ipairs(frames) do
    if frame.count ~= counts[i] then return false end
  end
  return true
end

--- The loops that are shared out: as many as have frames, three at most.
local function framed(band)
  for count = math.min(#band, MOST_DIMENSIONS), 1, -1 do
    local some = table.move(band, 1, count, 1, {})
    local frames = extent.frames(some)
    if frames and are_tight(frames, extent.counts(some)) then return some, frames end
  end
end

--- A tile of registers for the innermost loops of an order, or nil.
local function registers_of(order, lane, body, real)
  for _, node in ipairs(order) do
    if node.step ~= 1 then return nil end
  end
  local rows = order[#order - (lane and 1 or 0)]
  return rows and register_tile.of(rows, lane, body, real)
end

--- A block whose lane is innermost, or nil.
local function with_lane(band, body, real)
  local lane = lane_of(band)
  if not lane then return nil end
  local tiles = { order = ordered(band, lane), lane = band[lane] }
  local sunk, places = sinking.sink(tiles.lane, body)
  if not sunk then return nil end
  tiles.registers = registers_of(tiles.order, tiles.lane, body, real)
  tiles.class = tiles.registers and "registers" or has_loop(body) and "sunk" or "flat"
  tiles.body, tiles.places = finish(sunk), places
  return tiles
end

--- A block in the order of the source.
local function without_lane(band, body, real)
  local registers, last = registers_of(band, nil, body, real), band[#band]
  if registers then return { order = band, registers = registers, class = "rows", body = finish(body), places = {} } end
  local sunk = sinking.sink_around(last, body)
  return { order = band, class = "loops", body = finish(sunk or body), places = {}, lane = sunk and last }
end

--- The tiles of a kernel nest.
-- @tparam {table,...} band its parallel loops that are nested perfectly, the outermost first
-- @string real the type of floats in C
-- @tparam table target of `clcompute.loops.runtime.target`; if it is wide, there are tiles only in registers, each of a
-- work-item, and the lane's loop is not in `body`
-- @treturn ?table `order` (the loops shared out, the innermost last), `frames` by loop, `lane` (the loop that becomes
-- vectors, or nil), `body` (which has the lane's loops in it), `places` (locals that need a place for each pass of the
-- lane), `registers` (of `clcompute.loops.generation.register_tile`, or nil), `slices` (of
-- `clcompute.loops.generation.local_slices`, or nil), `class` and `size` (of `clcompute.loops.generation.tile_sizes`);
-- nil where a bound has no frame
function tiling.of(band, real, target)
  local some, frames = framed(band)
  if not some then return nil end
  local body = some[#some].body
  local tiles = with_lane(some, body, real) or without_lane(some, body, real)
  if target.is_wide then
    if tiles.class ~= "registers" then return nil end
    tiles.class, tiles.is_wide, tiles.body, tiles.places = "wide", true, body, {}
  end
  tiles.frames, tiles.size = {}, tile_sizes.of(tiles.class, target[real])
  for i, node in ipairs(some) do tiles.frames[node] = frames[i] end
  if tiles.is_wide then
    tiles.slices = local_slices.of(tiles.registers, tiles.size, real, target[real].local_memory)
  end
  return tiles
end

return tiling
