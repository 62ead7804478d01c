-- SPDX-License-Identifier: MIT
--- Monte Carlo over the ranks of a job: pi from random points in a square. Each rank has its part of one sequence of
-- random numbers, so that the result is the same for every number of ranks.
--
--     mpirun -n 4 lua5.4 examples/ranks_pi.lua [points]

local cl = require "clcompute"
local mpi = require "clcompute.mpi"

local world, device = mpi.world, mpi.device()

local STEP = 4 -- where in a sequence a rank may begin
local points = math.tointeger(arg[1] or 4000000) // STEP * STEP

--- The points before those of a rank.
local function before(rank)
  return points // STEP * rank // world.size * STEP
end

local first, count = before(world.rank), before(world.rank + 1) - before(world.rank)
local x = device:random("float", count, { seed = 1, first = first + 1 })
local y = device:random("float", count, { seed = 2, first = first + 1 })
local inside = cl.reduce("a + b", { x = x, y = y }, { map = "x[i] * x[i] + y[i] * y[i] < 1 ? 1 : 0", dtype = "long",
  init = 0 })

local total = world:allreduce(inside) -- numbers of all ranks, in their order
if world.rank == 0 then print(("%d of %d points: pi is about %.5f"):format(total, points, 4 * total / points)) end
