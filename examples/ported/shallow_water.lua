-- SPDX-License-Identifier: MIT
--- A wave in a basin of shallow water. Usage: shallow_water.lua [EDGE [STEPS]]
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local width, steps, ratio = tonumber(arg[1]) or 60, tonumber(arg[2]) or 20, 0.05 -- time step by width of a cell
local height = width - 7

local cells, mass = {}, 0
for i = 1, width * height do
  local x, y = (i - 1) % width, (i - 1) // width
  cells[i] = { 1 + math.exp(-((x - width / 3) ^ 2 + (y - height / 2) ^ 2) / 9), 0, 0, 0 }
  mass = mass + cells[i][1]
end
local now, next = device:buffer(cells), device:empty("float", width * height, 4)
local range = cl.range { global = { width, height }, group = { 8, 8 }, remainder = "pad" }
for _ = 1, steps do
  program.flow(range, { width, height }, ratio, now, next)
  now, next = next, now
end

-- The oracle: what leaves a cell p through its four sides. Of axes `a` (2: x, 3: y) and `b` the side is across `a`.
local SIDES = { { 1, 0, 2, 3 }, { -1, 0, 2, 3 }, { 0, 1, 3, 2 }, { 0, -1, 3, 2 } }
local function outflow(p, x, y)
  local sum = { 0, 0, 0 }
  for _, side in ipairs(SIDES) do
    local a, b, sign, i, j = side[3], side[4], side[1] + side[2], x + side[1], y + side[2]
    local is_wall = i < 0 or i == width or j < 0 or j == height
    local q = is_wall and { p[1], [a] = -p[a], [b] = p[b] } or cells[j * width + i + 1]
    local u, v = sign * p[a] / p[1], sign * q[a] / q[1]
    local c = math.max(math.abs(u) + (9.81 * p[1]) ^ 0.5, math.abs(v) + (9.81 * q[1]) ^ 0.5)
    for k = 1, 3 do sum[k] = sum[k] + (p[k] * u + q[k] * v - c * (q[k] - p[k])) / 2 end
    sum[a] = sum[a] + sign * 9.81 / 4 * (p[1] ^ 2 + q[1] ^ 2)
  end
  return sum
end
for _ = 1, steps do
  local after = {}
  for i, p in ipairs(cells) do
    local out = outflow(p, (i - 1) % width, (i - 1) // width)
    after[i] = { p[1] - ratio * out[1], p[2] - ratio * out[2], p[3] - ratio * out[3] }
  end
  cells = after
end
local off, mass_now = 0, 0
for i, cell in ipairs(now:read()) do
  mass_now = mass_now + cell[1]
  for k = 1, 3 do off = math.max(off, math.abs(cell[k] - cells[i][k])) end
end
assert(off < 1e-4 and math.abs(mass_now - mass) < 1e-6 * mass)
print(("%d x %d cells, %d steps, off by %.1e; mass %.3f, was %.3f"):format(width, height, steps, off, mass_now, mass))
