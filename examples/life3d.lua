-- SPDX-License-Identifier: MIT
--- The Game of Life on a cubic field, which figure 1 of Baranov & Vlatskaya 2013 measures by its edge.
-- Usage: life3d.lua [edge ...]
--
-- A cell has 26 neighbours. Rule 4555 (Bays 1987): a living cell stays with 4 or 5 living neighbours,
-- a dead one comes to life with 5. Edges wrap round.

local cl = require "clcompute"
local sequential = require "clcompute.sequential"
local device = cl.device()

local GENERATIONS = 10

local life = device:kernel "life"

--- A random field: of the numbers 0 to 3, a quarter lives.
local function soup(n)
  return device:random("uchar", n, n, n, { seed = n, high = 3 })
end

--- Two buffers take turns; returns the one that was written last.
local function generations(n, count, from, to)
  for _ = 1, count do
    life({ n, n, n }, n, from, to)
    from, to = to, from
  end
  return from
end

local function population(field)
  local _, count = field:string():gsub("\1", "")
  return count
end

local function check(n, count)
  local from = soup(n)
  local expected = sequential.life(from:string(), n, count)
  local last = generations(n, count, from, device:empty("uchar", n, n, n))
  assert(last:string() == expected, "wrong cell")
  print(("%d generations of edge %d are those of the sequential program"):format(count, n))
end

local function watch(n)
  local from, to, counts = soup(n), device:empty("uchar", n, n, n), {}
  for g = 1, 6 do
    counts[g] = population(from)
    from, to = generations(n, 1, from, to), from
  end
  print(("population of edge %d: %s"):format(n, table.concat(counts, ", ")))
end

local function measure(n)
  local from, to = soup(n), device:empty("uchar", n, n, n)
  from = generations(n, 2, from, to) -- the driver compiles for a size when it first meets it
  device:wait()
  local start = cl.clock()
  generations(n, GENERATIONS, from, to)
  device:wait()
  local seconds = (cl.clock() - start) / GENERATIONS
  print(("%6d %12.3f %14.1f"):format(n, seconds * 1e3, n ^ 3 / seconds * 1e-6))
end

print(device)
check(7, 4)
check(12, 3)
watch(24)
print("  edge  ms/generation  million cells/s")
for _, edge in ipairs(#arg > 0 and arg or { 16, 32, 64, 100, 128 }) do measure(math.tointeger(tonumber(edge))) end
