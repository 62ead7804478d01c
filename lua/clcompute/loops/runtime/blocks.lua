-- SPDX-License-Identifier: MIT

--- A nest in tiles on one device: its kernel, and how large the block of a work-item is.
-- @module clcompute.loops.runtime.blocks

local sizes = require "clcompute.loops.generation.tile_sizes"

local blocks = {}

local Blocks = {}
Blocks.__index = Blocks

local BLOCKS_PER_UNIT = 8 -- where there is so much: cores are not equally fast, nor are blocks equally large
local SMALL = 2048        -- passes of a block that is not made smaller

--- A nest on a device.
-- @tparam table nest with `tiles`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @treturn table `kernel`
function blocks.new(nest, program, device)
  local limits, size = {}, sizes[nest.tiles.class]
  for d = 1, #nest.tiles.order do limits[d] = d == 1 and size.lane or size.rows end
  return setmetatable({ kernel = program:kernel(nest.name), limits = limits, counts = {},
    wanted = BLOCKS_PER_UNIT * device.compute_units }, Blocks)
end

local function round_up(n, multiple)
  return -(-n // multiple) * multiple
end

--- Blocks that are as large as may be, and then halved, along the outermost dimension that can be, until there are as
-- many as are wanted.
local function divide(counts, limits, wanted)
  local tile, smallest = {}, {}
  for d, count in ipairs(counts) do
    local limit = limits[d]
    smallest[d] = math.min(limit.least, round_up(count, limit.multiple))
    tile[d] = math.max(math.min(limit.most, round_up(count, limit.multiple)), 1)
  end
  local function amounts()
    local items, passes = 1, 1
    for d, count in ipairs(counts) do items, passes = items * -(-count // tile[d]), passes * tile[d] end
    return items, passes
  end
  for d = #counts, 1, -1 do
    local items, passes = amounts()
    while items < wanted and passes > SMALL and tile[d] > smallest[d] do
      tile[d] = math.max(round_up(-(-tile[d] // 2), limits[d].multiple), smallest[d])
      items, passes = amounts()
    end
  end
  return tile
end

--- How passes are shared out.
-- @tparam {integer,...} counts passes by dimension, dimension 0 first, all above 0
-- @treturn table the range of the launch
-- @treturn {integer,...} passes of a block, by dimension
function Blocks:share(counts)
  local is_same = self.tile ~= nil
  for d, count in ipairs(counts) do is_same = is_same and count == self.counts[d] end
  if is_same then return self.range, self.tile end
  local tile, global, group = divide(counts, self.limits, self.wanted), {}, {}
  for d, count in ipairs(counts) do global[d], group[d] = -(-count // tile[d]), 1 end
  self.counts, self.tile, self.range = counts, tile, { global = global, group = group }
  return self.range, tile
end

return blocks
