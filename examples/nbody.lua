-- SPDX-License-Identifier: MIT
--- Bodies that attract each other, by operators on buffers: every pair at once, a row of positions against a column.
-- Usage: nbody.lua [file.png], a picture of their paths

local cl = require "clcompute"
local device = cl.device()
local N, STEPS, DT, SOFT = 24, 300, 0.02, 0.02
local ROWS, COLUMNS, NAIVE = 48, 96, { kernel = "naive" }
local x, y = device:random("float", N, 1, { seed = 1, low = -1 }), device:random("float", N, 1, { seed = 2, low = -1 })
local u, v = -0.7 * y, 0.7 * x -- they turn about the middle
local ones, paths = device:zeros("float", N, 1):fill(1), {}
for row = 1, ROWS do paths[row] = table.move({ ("\0"):rep(COLUMNS):byte(1, -1) }, 1, COLUMNS, 1, {}) end

for _ = 1, STEPS do
  local dx, dy = x:reshape(1, N) - x, y:reshape(1, N) - y -- N x N
  local r2 = dx * dx + dy * dy + SOFT
  local pull = DT / N / (r2 * cl.sqrt(r2))
  local sum_x, sum_y = cl.gemm(pull * dx, ones, NAIVE), cl.gemm(pull * dy, ones, NAIVE) -- of each row
  u, v = (u + sum_x):eval(), (v + sum_y):eval()
  x, y = x + DT * u, y + DT * v
  local across, down = x:read(), y:read()
  for i = 1, N do
    local row, column = (down[i][1] + 1.5) / 3 * ROWS // 1 + 1, (across[i][1] + 1.5) / 3 * COLUMNS // 1 + 1
    if paths[row] and paths[row][column] then paths[row][column] = paths[row][column] + 1 end
  end
end

local picture = cl.log(device:buffer(paths) + 1)
print(cl.picture(picture))
if arg[1] then picture:save(arg[1]) end
