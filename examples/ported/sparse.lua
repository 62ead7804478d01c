-- SPDX-License-Identifier: MIT
--- A sparse matrix times a vector, a work-item or a work-group a row. Usage: sparse.lua [ROWS]
local cl = require "clcompute"
local device = cl.device()
local program = device:program { file = arg[0]:gsub("lua$", "cl") }
local n = tonumber(arg[1]) or 2000

-- Rows of 0 to 99 elements, and a full one.
math.randomseed(1)
local first, columns, values = { 0 }, {}, {}
for row = 1, n do
  local length = row == n // 2 and n or math.random(0, math.min(n, 100) - 1)
  for k = 1, length do
    columns[#columns + 1] = length == n and k - 1 or math.random(0, n - 1)
    values[#values + 1] = math.random(-8, 8) / 8
  end
  first[row + 1] = #columns
end
local x = device:random("float", n, { seed = 1, low = -1, high = 1 })
local matrix = { device:buffer(first, "int"), device:buffer(columns, "int"), device:buffer(values) }
local by_items, by_groups, group = device:empty("float", n), device:empty("float", n), 32
program.rows_scalar({ global = n, group = 64, remainder = "pad" }, n, matrix[1], matrix[2], matrix[3], x, by_items)
program.rows_vector({ global = n * group, group = group }, n, matrix[1], matrix[2], matrix[3], x, by_groups,
  cl.scratch("float", group))

-- The oracle: the sum of a row, and the bound of its error.
local list, scalar, vector, off = x:read(), by_items:read(), by_groups:read(), 0
for row = 1, n do
  local sum, magnitude = 0, 0
  for k = first[row] + 1, first[row + 1] do
    local product = values[k] * list[columns[k] + 1]
    sum, magnitude = sum + product, magnitude + math.abs(product)
  end
  local bound = (first[row + 1] - first[row] + 1) * 2.0 ^ -24 * magnitude
  off = math.max(off, math.abs(sum - scalar[row]), math.abs(sum - vector[row]))
  assert(math.abs(sum - scalar[row]) <= bound and math.abs(sum - vector[row]) <= bound)
end
print(("%d rows, %d elements, off by %.1e"):format(n, #values, off))
