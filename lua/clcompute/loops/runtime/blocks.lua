-- SPDX-License-Identifier: MIT

--- A nest in tiles on one device: its kernel, and how large the block of a work-item is.
-- @module clcompute.loops.runtime.blocks

local blocks = {}

local Blocks = {}
Blocks.__index = Blocks

local Groups = {}
Groups.__index = Groups

--- A nest on a GPU: the work-items of a group are side by side.
local function groups_of(nest, program)
  local size = nest.tiles.size
  local group = size.group
  return setmetatable({ kernel = program:kernel(nest.name), group = group, tile = {},
    columns = group * size.columns_at_once, rows = group * size.rows_at_once,
    range = { global = {}, group = { group, group, #nest.tiles.order == 3 and 1 or nil } } }, Groups)
end

function Groups:share(x, y, z)
  local global, group = self.range.global, self.group
  global[1], global[2], global[3] = -(-x // self.columns) * group, -(-y // self.rows) * group, z
  return self.range, self.tile
end

--- A nest on a device.
-- @tparam table nest with `tiles`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @treturn table `kernel`
function blocks.new(nest, program, device)
  if nest.tiles.is_wide then return groups_of(nest, program) end
  local limits, size = {}, nest.tiles.size
  for d = 1, #nest.tiles.order do limits[d] = d == 1 and size.lane or size.rows end
  return setmetatable({ kernel = program:kernel(nest.name), limits = limits, small = size.small,
    range = { global = {}, group = {} }, wanted = size.blocks * device.compute_units }, Blocks)
end

local MOST_TIMES = 3 -- as many blocks as are wanted

local function round_up(n, multiple)
  return -(-n // multiple) * multiple
end

--- Blocks that are as large as may be, and then halved, along the outermost dimension that can be, until there are as
-- many as are wanted.
local function divide(counts, limits, wanted, small)
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
    while items < wanted and passes > small and tile[d] > smallest[d] do
      tile[d] = math.max(round_up(-(-tile[d] // 2), limits[d].multiple), smallest[d])
      items, passes = amounts()
    end
  end
  return tile
end

--- Makes the range for blocks of the size there is; returns how many there are.
local function cover(self, x, y, z)
  local tile, global = self.tile, self.range.global
  local across, down, deep = -(-x // tile[1]), y and -(-y // tile[2]) or 1, z and -(-z // tile[3]) or 1
  global[1], global[2], global[3] = across, y and down, z and deep
  return across * down * deep
end

--- How passes are shared out. The loops around a nest may change their number a little each time: the size of blocks
-- stays as long as there are about as many as are wanted.
-- @tparam integer x passes of dimension 0, above 0
-- @tparam ?integer y of dimension 1
-- @tparam ?integer z of dimension 2
-- @treturn table the range of the launch, good until the next call
-- @treturn {integer,...} passes of a block, by dimension
function Blocks:share(x, y, z)
  local is_same = x == self.x and y == self.y and z == self.z
  if self.tile then
    local items = cover(self, x, y, z)
    if is_same or items >= self.wanted and items <= MOST_TIMES * self.wanted then return self.range, self.tile end
  end
  self.x, self.y, self.z = x, y, z
  self.tile = divide({ x, y, z }, self.limits, self.wanted, self.small)
  cover(self, x, y, z)
  for d = 1, #self.tile do self.range.group[d] = 1 end
  return self.range, self.tile
end

return blocks
