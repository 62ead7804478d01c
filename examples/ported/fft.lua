-- SPDX-License-Identifier: MIT
--- The Fourier transform of random numbers. Usage: fft.lua [LENGTH], a power of two
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local n = tonumber(arg[1]) or 512
assert(n & (n - 1) == 0, "a power of two expected")

local x = device:random("float", n, 2, { seed = 1, low = -1, high = 1 })
local from, to, p = x:copy(), device:empty("float", n, 2), 1
while p < n do
  local radix = n // p >= 4 and 4 or 2
  program["radix" .. radix](n // radix, p, from, to)
  from, to, p = to, from, p * radix
end

-- The oracle: the sum that defines it.
local cos, sin, off, largest = {}, {}, 0, 0
for k = 0, n - 1 do cos[k], sin[k] = math.cos(2 * math.pi * k / n), -math.sin(2 * math.pi * k / n) end
local numbers, got = x:read(), from:read()
for k = 0, n - 1 do
  local re, im = 0, 0
  for j, z in ipairs(numbers) do
    local c, s = cos[(j - 1) * k % n], sin[(j - 1) * k % n]
    re, im = re + c * z[1] - s * z[2], im + c * z[2] + s * z[1]
  end
  off = math.max(off, math.abs(re - got[k + 1][1]), math.abs(im - got[k + 1][2]))
  largest = math.max(largest, math.abs(re), math.abs(im))
end
assert(off <= largest * 1e-6 * math.log(2 * n, 2))
print(("%d numbers, off by %.1e of %.1f"):format(n, off, largest))
