-- SPDX-License-Identifier: MIT
--- A stencil over the ranks of a job: heat spreads in a plate, of which each rank has some rows and a row of each of
-- its neighbours, the halo, which they exchange before each step. The result is the same for every number of ranks.
--
--     mpirun -n 4 lua5.4 examples/ranks_stencil.lua [size [steps]]

local cl = require "clcompute"
local mpi = require "clcompute.mpi"

local world, device = mpi.world, mpi.device()
local size, steps = math.tointeger(arg[1] or 256), math.tointeger(arg[2] or 100)

local kernel = device:program([[
  kernel void spread_heat(int nx, global const float *u, global float *v) {
    int x = get_global_id(0), y = get_global_id(1) + 1; // row 0 is a neighbour's
    int at = y * nx + x;
    float left = x > 0 ? u[at - 1] : 0, right = x < nx - 1 ? u[at + 1] : 0;
    v[at] = u[at] + 0.2f * (left + right + u[at - nx] + u[at + nx] - 4 * u[at]);
  }]]).spread_heat

-- --- three functions: spread, exchange, collect ---------------------------------------------------------

--- The rows of this rank, and one above and below.
local function spread(make)
  local first, last = size * world.rank // world.size + 1, size * (world.rank + 1) // world.size
  local rows = device:zeros("float", last - first + 3, size)
  rows:write(make(first, last), 2)
  return rows, last - first + 1
end

--- Sends the outermost rows of its own to the neighbours, and receives theirs. One of two neighbours sends first.
local function exchange(u, rows)
  local function meet(other, own, halo)
    if other < 0 or other >= world.size then return end
    if world.rank < other then world:send(u:view(own, own), other) end
    world:recv(u:view(halo, halo), other)
    if world.rank > other then world:send(u:view(own, own), other) end
  end
  local above = function() meet(world.rank - 1, 2, 1) end
  local below = function() meet(world.rank + 1, rows + 1, rows + 2) end
  above()
  below()
end

--- The whole plate, on rank 0.
local function collect(u, rows)
  local parts = world:gather(u:view(2, rows + 1):string())
  return parts and device:buffer(table.concat(parts), "float", size, size)
end

-- --- the plate: hot in the middle -------------------------------------------------------------------------

local function hot_rows(first, last)
  local plate = {}
  for y = first, last do
    local row = {}
    for x = 1, size do row[x] = (x - size // 2) ^ 2 + (y - size // 2) ^ 2 < size ^ 2 / 16 and 100 or 0 end
    plate[#plate + 1] = row
  end
  return plate
end

local u, rows = spread(hot_rows)
local v = device:zeros("float", rows + 2, size)
for _ = 1, steps do
  exchange(u, rows)
  kernel({ size, rows }, size, u, v)
  u, v = v, u
end

local plate = collect(u, rows)
if plate then
  print(("%d steps of %dx%d: the middle has %.4f, the corner %.6f, all %.2f"):format(steps, size, size,
    plate:get(size // 2, size // 2), plate:get(1, 1), cl.sum(plate)))
end
