-- SPDX-License-Identifier: MIT
--- Lesson 15: one script, several devices. A group is several devices behind the interface of one; a buffer of it lies
-- in parts, one on each. The same function computes on a device and on a group, and under mpirun on all ranks of a job:
--
--     lua5.4 examples/lessons/15_groups.lua
--     mpirun -n 4 lua5.4 examples/lessons/15_groups.lua

local bench = require "clcompute.bench"
local cl = require "clcompute"

local n, BLOCK = 256, 32
local device = cl.device()
local whole = cl.group(nil, { block = BLOCK }) -- all devices of this machine; under mpirun the ranks' devices
local group = (#whole > 1 or whole.rank) and whole or cl.group({ device, device }, { block = BLOCK }) -- two in name

local is_first = (group.rank or 0) == 0
local function say(text, ...)
  if is_first then print(text:format(...)) end -- ranks run the same script: one of them speaks
end

--- What is computed, wherever: small integers, so that sums are exact in any order.
local function compute(place)
  local a = place:random("float", n, n, { seed = 1, low = -2, high = 2 })
  local digits = cl.map("rint(x[i])", { x = a })
  local product = cl.gemm(digits, digits)
  return cl.sum(product), cl.max(product), product:get(n, n)
end

say("%d devices in a grid of %d x %d; blocks of %d x %d", #group, group.grid[1], group.grid[2], BLOCK, BLOCK)

local spread <close> = group:zeros("float", n, n)
for _, part in ipairs(spread:parts()) do
  say("part %d holds %d elements: rows %d to %d of columns %d to %d first", part.rank, part.buffer.bytes // 4,
    part.rows[1][1], part.rows[1][2], part.columns[1][1], part.columns[1][2])
end

local before = group.bytes
local sum, largest, corner = compute(group)
local moved = group.bytes - before
local one_sum, one_largest, one_corner = compute(device)
assert(sum == one_sum and largest == one_largest and corner == one_corner, "a group computes what a device does")
say("sum %d, largest %d, last element %d: on the group as on one device", sum, largest, corner)

local p, q = group.grid[1], group.grid[2]
local panels = 4 * n * n * (p + q - 2) -- each device sees the rows of A and the columns of B that it lacks
say("the product moves 4 n^2 (p + q - 2) = %d bytes; %s moved in all", panels,
  group.rank and ("this rank %d"):format(moved) or tostring(moved))

--- Two devices take half of the time of one, and the time of the panels: they win where n is above 4 F / B.
local m = 1024
local a = device:random("float", m, m, { seed = 2 })
local product = device:empty("float", m, m)
local flops = bench.measure(function() cl.gemm(a, a, { c = product }) end,
  { device = device, seconds = 0.3, flops = 2 * m ^ 3 })
local copy = bench.measure(function() product:write(a:string()) end, -- through the host, as between two drivers
  { device = device, seconds = 0.2 })
local rate = 4 * m * m / copy.value
say("this device: %.0f GFLOP/s, and %.1f GB/s through the host", flops.gflops, rate / 1e9)
say("so two of them win from n = %d on", math.ceil(4 * flops.gflops * 1e9 / rate))
