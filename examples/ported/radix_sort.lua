-- SPDX-License-Identifier: MIT
--- Sorts random numbers of 32 bits. Usage: radix_sort.lua [NUMBERS]
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local n, group, digits = tonumber(arg[1]) or 20000, 64, 16

local list = {}
math.randomseed(1)
for i = 1, n do list[i] = math.random(0, 0xffffffff) >> math.random(0, 31) end
local numbers, sorted = device:buffer(list, "uint"), device:empty("uint", n)
local blocks = (n + group - 1) // group
local counts = device:empty("uint", digits * blocks)
local range = cl.range { global = n, group = group, remainder = "pad" }
for shift = 0, 28, 4 do
  program.count_digits(range, n, shift, numbers, counts)
  program.scan_counts(64, #counts, counts)
  program.scatter(range, n, shift, numbers, counts, sorted, cl.scratch("uchar", group))
  numbers, sorted = sorted, numbers
end

-- The oracle: Lua's own sort.
table.sort(list)
for i, number in ipairs(numbers:read()) do assert(number == list[i], i) end
print(("%d numbers sorted, from %d to %d"):format(n, list[1], list[n]))
