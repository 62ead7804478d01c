-- SPDX-License-Identifier: MIT
--- What the precisions of cl.gemm cost and give: GFLOP/s, and Frobenius errors against a product of doubles.
-- Usage: precision.lua [n], 512 unless given.

local cl = require "clcompute"
local device = cl.device()
local n = tonumber(arg[1]) or 512

local PRECISIONS = { "float", "float-tensor", "tf32" }
local DATA = {
  { name = "in (-1, 1)", low = -1 },
  { name = "in (0, 1)", low = 0 },
  { name = "times 2^-30 ... 2^30", low = -1, scale = "x[i] * exp2(floor(61 * y[i]) - 30)" },
}

local function matrix(data, seed)
  local x = device:random("float", n, n, { seed = seed, low = data.low })
  local y = device:random("float", n, n, { seed = seed + 100 })
  return data.scale and cl.map(data.scale, { x = x, y = y }) or x
end

local function double(x) return cl.map("x[i]", { x = x }, { dtype = "double" }) end

local function took(repeats, a, b, options)
  device:wait()
  local start = cl.clock()
  for _ = 1, repeats do cl.gemm(a, b, options) end
  device:wait()
  return (cl.clock() - start) / repeats
end

--- The median of five, of about a fiftieth of a second each.
local function seconds(a, b, options)
  local times, repeats = {}, math.max(1, math.floor(0.02 / took(1, a, b, options)))
  for i = 1, 5 do times[i] = took(repeats, a, b, options) end
  table.sort(times)
  return times[3]
end

print(device)
for _, data in ipairs(DATA) do
  local a, b = matrix(data, 1), matrix(data, 2)
  local exact = device.has_double and cl.gemm(double(a), double(b))
  for _, precision in ipairs(PRECISIONS) do
    local c <close> = cl.gemm(a, b, { precision = precision })
    local rate = 2 * n ^ 3 / seconds(a, b, { c = c, precision = precision }) / 1e9
    local off = exact and cl.norm2(cl.map("x[i] - y[i]", { x = c, y = exact })) / cl.norm2(exact)
    print(("%-21s %-13s %9.1f GFLOP/s   error %s"):format(data.name, precision, rate,
      off and ("%.1e"):format(off) or "unknown: no doubles here"))
  end
end
