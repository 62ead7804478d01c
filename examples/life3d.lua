-- SPDX-License-Identifier: MIT
--- The Game of Life on a cubic field, which figure 1 of Baranov & Vlatskaya 2013 measures by its edge.
-- Usage: life3d.lua [edge ...]
--
-- A cell has 26 neighbours. Rule 4555 (Bays 1987): a living cell stays with 4 or 5 living neighbours,
-- a dead one comes to life with 5. Edges wrap round.

local cl = require "clcompute"
local device = cl.device()

local GENERATIONS = 10

local program = device:program([[
  // One work-item a cell. A cell lives if it is 1, so any other number may stand for a dead one.
  kernel void life(const int n, global const uchar *from, global uchar *to) {
    const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    int neighbours = 0;
    for (int k = -1; k <= 1; k++)
      for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++) {
          const int at = (((z + k + n) % n) * n + (y + j + n) % n) * n + (x + i + n) % n;
          if (i != 0 || j != 0 || k != 0) neighbours += from[at] == 1;
        }
    const int at = (z * n + y) * n + x;
    to[at] = neighbours == 5 || (neighbours == 4 && from[at] == 1);
  }
]], { name = "life3d.cl" })

--- A random field: of the numbers 0 to 3, a quarter lives.
local function soup(n)
  return device:random("uchar", n, n, n, { seed = n, high = 3 })
end

--- Two buffers take turns; returns the one that was written last.
local function generations(n, count, from, to)
  for _ = 1, count do
    program.life({ n, n, n }, n, from, to)
    from, to = to, from
  end
  return from
end

--- The same in Lua, slow and obvious.
local function next_field(n, from)
  local to = {}
  local function alive(x, y, z)
    return from[(z - 1) % n + 1][(y - 1) % n + 1][(x - 1) % n + 1] == 1 and 1 or 0
  end
  for z = 1, n do
    to[z] = {}
    for y = 1, n do
      to[z][y] = {}
      for x = 1, n do
        local neighbours = -alive(x, y, z)
        for k = -1, 1 do
          for j = -1, 1 do
            for i = -1, 1 do neighbours = neighbours + alive(x + i, y + j, z + k) end
          end
        end
        local lives = neighbours == 5 or neighbours == 4 and alive(x, y, z) == 1
        to[z][y][x] = lives and 1 or 0
      end
    end
  end
  return to
end

local function population(field)
  local _, count = field:string():gsub("\1", "")
  return count
end

local function check(n, count)
  local from = soup(n)
  local expected = from:read()
  for _ = 1, count do expected = next_field(n, expected) end
  local got = generations(n, count, from, device:empty("uchar", n, n, n)):read()
  for z = 1, n do
    for y = 1, n do
      for x = 1, n do assert(got[z][y][x] == expected[z][y][x], "wrong cell") end
    end
  end
  print(("%d generations of edge %d are those of the program in Lua"):format(count, n))
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
