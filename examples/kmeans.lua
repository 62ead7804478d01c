-- SPDX-License-Identifier: MIT
--- Points in clusters, found by k-means: distances of a column of points to a row of centres, sums along an axis.
-- Usage: kmeans.lua [file.png]

local cl = require "clcompute"
local device = cl.device()
local N, K, STEPS, ROWS, COLUMNS = 3000, 4, 20, 64, 96
local NEAR = { distribution = "normal", sd = 0.06 }

-- Points around four places.
local place = device:random("uint", N, 1, { seed = 1, low = 0, high = 3 })
NEAR.seed = 2
local x = place % 2 * 0.5 + 0.25 + device:random("float", N, 1, NEAR)
NEAR.seed = 3
local y = place // 2 * 0.5 + 0.25 + device:random("float", N, 1, NEAR)

local nearest
local across, down = x:slice({ 1, K }, 1):eval(), y:slice({ 1, K }, 1):eval() -- the first points, as centres
for _ = 1, STEPS do
  nearest = cl.argmin((x - across) ^ 2 + (y - down) ^ 2, { axis = 2 }) -- of N x K distances
  local belongs = cl.eq(nearest:reshape(N, 1), device:arange(1, K, "long")) * 1.0
  local count = cl.maximum(cl.sum(belongs, { axis = 1 }), 1)
  across, down = cl.sum(belongs * x, { axis = 1 }) / count, cl.sum(belongs * y, { axis = 1 }) / count
end
for k = 1, K do print(("cluster %d around %.2f, %.2f"):format(k, across[k], down[k])) end
local at = cl.map("(int)clamp(y[i] * R, 0.f, R - 1) * (int)C + (int)clamp(x[i] * C, 0.f, C - 1) + 1",
  { x = x, y = y, R = ROWS + 0.0, C = COLUMNS + 0.0 }, { out = device:empty("int", N) })
local picture = cl.scatter(nearest, at, device:zeros("long", ROWS * COLUMNS)):reshape(ROWS, COLUMNS)
print(cl.picture(picture))
if arg[1] then picture:save(arg[1]) end
