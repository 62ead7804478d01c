-- SPDX-License-Identifier: MIT

--- How nests are launched on one device: how large the block of a work-item is, how many groups reduce, how many passes
-- a round has.

local sharing = require("clcompute.loops.generation").sharing
local walk = require("clcompute.loops.tree").walk

local launchers = {}

function launchers.round_up(n, multiple)
  return -(-n // multiple) * multiple
end

--- The greatest power of 2 that is not above a number.
function launchers.power_of_2(n)
  local power = 1
  while 2 * power <= n do power = 2 * power end
  return power
end

local round_up, power_of_2 = launchers.round_up, launchers.power_of_2

-- --- nests in tiles ------------------------------------------------------------------------

local Blocks = {}
Blocks.__index = Blocks

local Groups = {}
Groups.__index = Groups

local TRIANGLE = 6 -- times as many passes are few where some tiles have less to do than others, or are not whole
local ACROSS, DOWN = 64, 4 -- work-items of a group, if each has a pass

--- Whether passes of a nest in tiles, or how many terms their sums have, depend on each other's places.
local function is_triangle(tiles)
  for _, loops in ipairs { tiles.order, tiles.registers.loops } do
    for _, node in ipairs(loops) do
      for _, other in ipairs(tiles.order) do
        if walk.is_bounded_by(node, other.variable) then return true end
      end
    end
  end
  return false
end

local function range_of(across, down, dimensions)
  return { global = {}, group = { across, down, dimensions == 3 and 1 or nil } }
end

--- Groups of tiles of one size: how many passes they have across and down.
local function tiles_of(kernel, size, dimensions)
  return { kernel = kernel, columns = size.group * size.columns_at_once, rows = size.group * size.rows_at_once,
    range = range_of(size.group, size.group, dimensions) }
end

--- Groups of work-items that have a pass each.
local function singles_of(kernel, device, dimensions)
  local down = math.max(math.min(DOWN, device.max_group_size // ACROSS), 1)
  return { kernel = kernel, columns = ACROSS, rows = down, range = range_of(ACROSS, down, dimensions) }
end

--- A nest on a GPU: the work-items of a group are side by side. Where there are few passes, or few rows or columns,
-- there are other groups.
local function groups_of(nest, program, device)
  local size, small, dimensions = nest.tiles.size, nest.tiles.small, #nest.tiles.order
  local few = size.few * (is_triangle(nest.tiles) and TRIANGLE or 1)
  return setmetatable({ tile = {}, few = few, large = tiles_of(program:kernel(nest.name), size, dimensions),
    small = small and tiles_of(program:kernel(nest.name .. "_small"), small.size, dimensions),
    single = few > 0 and singles_of(program:kernel(nest.name .. "_single"), device, dimensions) }, Groups)
end

--- Whether the tiles of a group have passes in half of their rows and columns.
local function are_filled(groups, x, y)
  return groups and 2 * x >= groups.columns and 2 * y >= groups.rows
end

function Groups:share(x, y, z)
  local is_large = x * y * (z or 1) >= self.few and (are_filled(self.large, x, y) or not self.single)
  local groups = is_large and self.large or are_filled(self.small, x, y) and self.small or self.single
  local global, group = groups.range.global, groups.range.group
  self.kernel = groups.kernel
  global[1], global[2], global[3] = -(-x // groups.columns) * group[1], -(-y // groups.rows) * group[2], z
  return groups.range, self.tile
end

local Pipeline = {}
Pipeline.__index = Pipeline

local MOST_BLOCKS = 1000
local LINE = 16 -- as in the text of the kernel

--- A nest whose rows overlap: `progress` is what its groups tell each other, all 0 between launches.
local function pipeline_of(nest, program, device)
  return setmetatable({ kernel = program:kernel(nest.name), size = nest.tiles.size, units = device.compute_units,
    behind = nest.behind, tile = {}, range = { global = {}, group = { 1 } },
    progress = device:zeros("int", (MOST_BLOCKS + 1) * LINE) }, Pipeline)
end

local MOST_IN_TASK, MOST_IN_ROUND = 1024, 512

--- How many work-items of a group share loops: a power of 2, as they stand in rows and columns. Kernels are built for
-- so many, as NVIDIA's driver does not tell that registers would not be enough.
local function members(device, row, most)
  return device.type == "cpu" and 1 or power_of_2(math.min(row.together or 1, device.max_group_size, most))
end

--- The same where they share sums, as `clcompute.loops.generation.group_tasks` has them.
local function members_of_team(device, row)
  return members(device, row, device.local_memory < 48 * 1024 and 128 or 512)
end

local SPREAD = 1024 -- work-items of each compute unit where all share a task
local MEETINGS = 4 * LINE -- what groups tell each other there

--- How many groups a device runs at once; in Oclgrind, which takes what one tells another for a race, it is one.
local function groups_at_once(device, items)
  if device.platform == "Oclgrind" then return 1 end
  return device.compute_units * (device.type == "cpu" and 1 or math.max(SPREAD // items, 1))
end

--- A task that one group shares, or all that a device runs at once.
local function spread_of(kernel, single, device)
  local items = single.group[1]
  local groups = groups_at_once(device, items)
  return { kernel = kernel, range = single, single = single, progress = device:zeros("int", MEETINGS),
    all = { global = { groups * items }, group = { items } } }
end

--- Chooses by how many groups tasks are shared in the next call.
-- @tparam table kernels of a program
-- @tparam table is_spread of a verdict
function launchers.spread(kernels, is_spread)
  for index, team in ipairs(kernels) do
    if type(team) == "table" and team.all then team.range = is_spread[index] and team.all or team.single end
  end
end

--- A task that groups share, one on each unit: `progress` is as in a pipeline. On a GPU the work-items of one group do.
-- @tparam table nest with `is_shared`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @tparam table row numbers of `clcompute.tuning.known`
-- @treturn table `kernel`, `range`, and `progress` of several groups; where all may share it, the ranges `single` and
-- `all`
function launchers.team(nest, program, device, row)
  if row.kernel == "items" then
    local kernel = program:kernel(nest.name)
    local items = nest.team and members_of_team(device, row) or members(device, row, MOST_IN_TASK)
    local single = { global = { items }, group = { items } }
    return nest.spread and spread_of(kernel, single, device) or { kernel = kernel, range = single }
  end
  return { kernel = program:kernel(nest.name), range = { global = { device.compute_units }, group = { 1 } },
    progress = device:zeros("int", (2 + sharing.MOST * device.compute_units) * LINE) }
end

--- A nest on a device.
-- @tparam table nest with `tiles`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @treturn table `kernel`
function launchers.blocks(nest, program, device)
  if nest.tiles.is_wide then return groups_of(nest, program, device) end
  if nest.behind then return pipeline_of(nest, program, device) end
  local limits, size = {}, nest.tiles.size
  for d = 1, #nest.tiles.order do limits[d] = d == 1 and size.lane or size.rows end
  return setmetatable({ kernel = program:kernel(nest.name), limits = limits, small = size.small,
    range = { global = {}, group = {} }, wanted = size.blocks * device.compute_units }, Blocks)
end

local MOST_TIMES = 3 -- as many blocks as are wanted

local function between(limit, wanted)
  return round_up(math.max(math.min(wanted, limit.most), limit.least), limit.multiple)
end

--- Tiles so long that each unit has two of a row, and so high that there are some blocks for each; one block where that
-- would be small. A row leans by at most a tile in a block.
function Pipeline:share(columns, rows)
  local size, units, tile = self.size, self.units, self.tile
  local across = between(size.lane, columns // (2 * units))
  local down = math.max(between(size.rows, rows // (4 * units)), round_up(-(-rows // MOST_BLOCKS), size.rows.multiple))
  if rows * columns <= size.small then down = rows end
  across = math.max(across, self.behind * down)
  self.range.global[1] = -(-rows // down)
  tile[1], tile[2], tile.count = across, down, -(-(columns + self.behind * (down - 1)) // across)
  return self.range, tile
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

-- --- nests of which a pass may be a group's ------------------------------------------------

local Grouped = {}
Grouped.__index = Grouped

local COLUMNS, MOST_ACROSS = 32, 16 -- passes that are side by side, as many as a GPU reads at once; slices of these
local LEAST_OF_ROW = 32 -- slices of one pass: fewer work-items than a GPU starts at once make no group
local RESIDENT = 2 * 2048 -- work-items that a compute unit has enough with

-- With sums in Lua's order: slices of one pass, so few that many groups are there at once, as one of them sums; slices
-- of passes side by side, at least, for what barriers take; and a work-item has a pass where an eighth as many would be
-- enough for the device.
local ROW_IN_ORDER, LEAST_ACROSS_IN_ORDER, TIMES_IN_ORDER = 64, 8, 8

--- The most slices of passes that are side by side: terms of sums take 32 KiB where these are 16, as
-- `clcompute.loops.generation.ordered_sums` has them.
local function across_of(device)
  return device.local_memory < 48 * 1024 and MOST_ACROSS // 2 or MOST_ACROSS
end

--- The options of the build of nests whose passes may be a group's, which has one work-item on a processor: for how
-- many work-items there is local memory, and for how many where they share one pass with sums in order; how many a
-- group has that shares a task with sums, one without, or rounds.
function launchers.group_options(device, row)
  if device.type == "cpu" then return " -DGROUP_ITEMS=1 -DROW_ITEMS=1 -DTEAM_ITEMS=1 -DTASK_ITEMS=1 -DROUND_ITEMS=1" end
  local slices = row.slices or 1
  return (" -DGROUP_ITEMS=%d -DROW_ITEMS=%d -DTEAM_ITEMS=%d -DTASK_ITEMS=%d -DROUND_ITEMS=%d"):format(
    math.max(slices, COLUMNS * across_of(device)), math.min(slices, ROW_IN_ORDER), members_of_team(device, row),
    members(device, row, MOST_IN_TASK), members(device, row, MOST_IN_ROUND))
end

--- A nest on a device. Where elements lie one behind the other, a group has one pass, else some side by side.
-- @tparam table nest with `grouped`
-- @tparam Program program with its kernels
-- @tparam Device device
-- @tparam table row numbers of `clcompute.tuning.known`
-- @treturn table with the method `share`
function launchers.grouped(nest, program, device, row)
  local columns, groups = nest.grouped.by_rows and 1 or COLUMNS, program:kernel(nest.name .. "_group")
  local items = device.type == "cpu" and 1 or groups:info().group_size // columns
  local is_ordered = nest.grouped.room ~= nil
  local widest = columns > 1 and across_of(device) or is_ordered and ROW_IN_ORDER or row.slices
  local most = power_of_2(math.min(row.slices, widest, items))
  local least = columns == 1 and math.max(math.min(LEAST_OF_ROW, row.slices), 2)
    or is_ordered and math.max(math.min(LEAST_ACROSS_IN_ORDER, most), 2) or 2
  return setmetatable({ items = program:kernel(nest.name), groups = groups, columns = columns, most = most,
    least = least, terms = row.terms or 1, enough = RESIDENT * device.compute_units, is_ordered = is_ordered,
    range = { global = {}, group = {} } }, Grouped)
end

--- How passes are shared out: as many work-items share one as there are, fewer where the device has enough to do. It
-- depends on numbers of passes and the device alone, so results are the same at every call.
-- @tparam integer longest passes of the longest loop that is shared
-- @tparam integer x passes of dimension 0, above 0
-- @tparam ?integer y of dimension 1
-- @tparam ?integer z of dimension 2
-- @treturn Kernel
-- @treturn ?table the range of the launch, good until the next call; nil: a work-item has a pass
function Grouped:share(longest, x, y, z)
  local slices, passes = self.most, round_up(x, self.columns) * (y or 1) * (z or 1)
  while slices >= self.least and (slices * self.terms > longest or slices > self.least
    and passes * slices > self.enough) do slices = slices // 2 end
  if slices < self.least or self.columns > 1 and passes * slices > self.enough
    or self.is_ordered and passes * TIMES_IN_ORDER > self.enough then return self.items end
  local global, group = self.range.global, self.range.group
  group[1], group[2], group[3] = self.columns, slices, z and 1
  global[1], global[2], global[3] = round_up(x, self.columns), slices * (y or 1), z
  return self.groups, self.range
end

-- --- nests that reduce ---------------------------------------------------------------------
--
-- A nest's kernels and the memory for the parts that its groups leave. How many groups there are depends on the device
-- and the passes of the loops alone, so results are the same at every call.

local Reduction = {}
Reduction.__index = Reduction

local GROUPS_PER_UNIT = 4 -- more than units, as a triangle's groups have more and less to do
local MOST_LANES = 256

--- How a device reduces: one work-item in a group on a processor, where each barrier costs a loop over the group.
-- @tparam Device device
-- @tparam integer accumulators the most that a nest has: each needs local memory
-- @treturn table `lanes`, the work-items of a group, and `groups`, the most of these
function launchers.reduction_shape(device, accumulators)
  local groups = GROUPS_PER_UNIT * device.compute_units
  if device.type == "cpu" then return { lanes = 1, groups = groups } end
  local lanes = MOST_LANES
  while lanes > 1 and (lanes > device.max_group_size or 8 * lanes * accumulators > device.local_memory // 2) do
    lanes = lanes // 2
  end
  return { lanes = lanes, groups = groups }
end

--- The options of the build that go with a shape.
function launchers.reduction_options(shape)
  return (" -DLANES=%d"):format(shape.lanes)
end

--- A nest on a device.
-- @tparam table nest with `accumulators` and `has_result`
-- @tparam Program program with its kernels
-- @tparam Device device
-- @tparam table shape
-- @string real the dtype of floats, "float" or "double"
-- @treturn table `kernel`; `result`, the second one, or nil, and `single`, its range; `parts`, a buffer for each
-- accumulator
function launchers.reduction(nest, program, device, shape, real)
  local parts = {}
  for i, accumulator in ipairs(nest.accumulators) do
    parts[i] = device:empty(accumulator.type == "int" and "long" or real, shape.groups)
  end
  return setmetatable({ kernel = program:kernel(nest.name), parts = parts, shape = shape,
    result = nest.has_result and program:kernel(nest.name .. "_result") or nil,
    single = { global = { shape.lanes }, group = { shape.lanes } } }, Reduction)
end

--- Shares passes out to groups: a group for each pass of the outer dimensions as long as there are groups, and what is
-- left of them in dimension 0.
-- @tparam {integer,...} counts passes by dimension, dimension 0 first, all above 0
-- @treturn table the range of the launch
-- @treturn integer how many groups there are
function Reduction:share(counts)
  local lanes, left = self.shape.lanes, self.shape.groups
  local global, group, parts = {}, {}, 1
  for d = #counts, 1, -1 do
    local most = d == 1 and -(-counts[d] // lanes) or counts[d]
    local groups = math.min(most, left)
    left, parts, group[d] = left // groups, parts * groups, d == 1 and lanes or 1
    global[d] = groups * group[d]
  end
  return { global = global, group = group }, parts
end

--- What the groups found, in their order.
-- @tparam integer number of the accumulator
-- @tparam integer count of groups
-- @treturn {number,...}
function Reduction:found(number, count)
  return self.parts[number]:view(1, count):read()
end

-- --- loops in rounds -----------------------------------------------------------------------

local Rounds = {}
Rounds.__index = Rounds

local PIECES = 2 -- for each compute unit
local LEAST_IN_GROUPS = 4 -- passes of a round, as a group does fewer at once than a launch
local BROAD = 8 -- columns of a piece, as many as a GPU reads at once

--- A loop on a device.
-- @tparam table round of `clcompute.loops.generation.round_kernels`
-- @tparam Program program with its kernel
-- @tparam Device device
-- @tparam table row numbers of `clcompute.tuning.known`: pieces of up to `cache` bytes; at most `passes` of a round
-- @treturn table `kernel`
function launchers.rounds(round, program, device, row)
  local kernel = program:kernel(round.name)
  local self = setmetatable({ kernel = kernel, is_front = round.is_front, slope = round.slope,
    reach = round.reach, cache = row.cache, most = row.passes, in_groups = round.in_groups,
    items = round.in_groups and members(device, row, MOST_IN_ROUND) or 1,
    least = round.in_groups and LEAST_IN_GROUPS or 2, broad = round.at > 1 and BROAD or 1,
    wanted = math.min(row.blocks, PIECES) * device.compute_units, units = device.compute_units }, Rounds)
  self.of_call = { __index = self }
  return self
end

--- Begins with a loop.
-- @tparam integer from its first pass
-- @tparam integer to its last pass
-- @tparam integer low where the line begins
-- @tparam integer high where it ends
-- @tparam integer bytes of one place of the line
-- @treturn ?table `passes` of a round, `kernel`, and the method `pieces`; nil where rounds of one pass would be as good
function Rounds:over(from, to, low, high, bytes)
  local shrinking = 4 * self.slope -- of a piece in a pass, with the gaps at its ends, so that they get half of it
  local most = math.max(self.cache // math.max(bytes, 1), 2 * shrinking, 1)
  local width = math.min(most, -(-(high - low + 1) // self.wanted))
  if width < 2 * shrinking then width = math.min(most, -(-(high - low + 1) // self.units)) end -- a few large ones
  local passes = math.min(to - from + 1, self.most)
  if self.is_front and not self.in_groups then -- the first launch is one item
    passes = math.min(passes, (high - low + 1) // self.wanted)
  end
  if shrinking > 0 then passes = math.min(passes, width // shrinking) end
  if passes < math.min(self.least, self.most) or width < 1 then return nil end
  return setmetatable({ passes = passes, width = width, low = low, high = high, from = from,
    range = { global = { 1 }, group = { self.items } } }, self.of_call) -- a finalizer may call the function meanwhile
end

local function trapezoids(self, number)
  local global, width = self.range.global, self.width
  local count = -(-(self.high - self.low + 1) // width)
  if number == 1 then
    global[1] = count * self.items
    return self.range, self.low, width, width, 1
  end
  if self.slope == 0 then return nil end
  global[1] = (count + 1) * self.items
  return self.range, self.low, width, 0, -1
end

local function front(self, number, first, last)
  local global, edge = self.range.global, last + self.reach
  if number == 1 then
    local low = self.low + first - self.from -- all nests leave what is before their pass alone
    global[1] = self.items
    return self.range, low, 0, edge - low + 1, 1
  end
  local length = self.high - edge
  if length < 1 then return nil end
  local width = math.max(math.min(self.width, -(-length // self.wanted)), self.broad)
  global[1] = -(-length // width) * self.items
  return self.range, edge + 1, width, width, 1
end

--- One of the two launches of a round.
-- @tparam integer number 1 or 2
-- @tparam integer first
-- @tparam integer last
-- @treturn ?table range; nil: nothing is to do
-- @treturn integer where the first piece begins
-- @treturn integer how far it is to the next one
-- @treturn integer how wide they are
-- @treturn integer 1: they shrink from nest to nest; -1: they grow
function Rounds:pieces(number, first, last)
  local pieces = self.is_front and front or trapezoids
  return pieces(self, number, first, last)
end

return launchers
