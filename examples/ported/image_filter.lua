-- SPDX-License-Identifier: MIT
--- Blurs a picture of a disc and makes it larger. Usage: image_filter.lua [EDGE [FILE.png]]
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local n, radius, sigma = tonumber(arg[1]) or 96, 4, 1.5

local disc, weights, total = {}, {}, 0
for y = 1, n do
  disc[y] = {}
  for x = 1, n do disc[y][x] = ((x - n / 3) ^ 2 + (y - n / 2) ^ 2 < n * n / 16) and 1 or x / n / 2 end
end
for k = -radius, radius do total = total + math.exp(-k * k / (2 * sigma * sigma)) end
for k = 0, radius do weights[k + 1] = math.exp(-k * k / (2 * sigma * sigma)) / total end

local from = device:image("r float", n, n):write(disc)
local along_rows, blurred = device:image("r float", n, n), device:image("r float", n, n)
local edge, w = device:sampler { address = "clamp_to_edge" }, device:buffer(weights)
program.blur({ n, n }, from, along_rows, edge, w, radius, { 1, 0 })
program.blur({ n, n }, along_rows, blurred, edge, w, radius, { 0, 1 })
local width, height = n * 2 - 3, n + 5
local larger = device:image("r unorm8", width, height)
program.resize({ width, height }, blurred, larger, device:sampler { filter = "linear", normalized = true })

-- The oracle: both sums at once, and the four neighbours weighted.
local function pixel(rows, x, y) return rows[math.max(1, math.min(n, y))][math.max(1, math.min(n, x))] end
local function weight(k) return weights[math.abs(k) + 1] end
local got, error_of_blur, error_of_resize = blurred:read(), 0, 0
for y = 1, n do for x = 1, n do
  local sum = 0
  for i = -radius, radius do
    for j = -radius, radius do sum = sum + weight(i) * weight(j) * pixel(disc, x + i, y + j) end
  end
  error_of_blur = math.max(error_of_blur, math.abs(sum - got[y][x]))
end end
for y, row in ipairs(larger:read()) do for x, level in ipairs(row) do
  local u, v = (x - 0.5) / width * n + 0.5, (y - 0.5) / height * n + 0.5
  local i, j, a, b = u // 1 | 0, v // 1 | 0, u % 1, v % 1
  local value = (1 - b) * ((1 - a) * pixel(got, i, j) + a * pixel(got, i + 1, j))
    + b * ((1 - a) * pixel(got, i, j + 1) + a * pixel(got, i + 1, j + 1))
  error_of_resize = math.max(error_of_resize, math.abs(level - 255 * value))
end end
assert(error_of_blur < 1e-6 and error_of_resize < 2) -- GPUs interpolate in steps of 1/256
print(("%d x %d blurred, off by %.1e; %d x %d resized, off by %.2f of 255"):format(n, n, error_of_blur, width, height,
  error_of_resize))
if arg[2] then larger:save(arg[2]) end
