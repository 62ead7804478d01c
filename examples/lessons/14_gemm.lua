-- SPDX-License-Identifier: MIT
--- Lesson 14: tuning a matrix product (source 1, listings 2 and 3). The naive kernel reads a row and a column from
-- global memory for every element. The tiled one brings tiles into local memory, where a whole group reads them; how
-- large they should be is for the device to say, so they are measured. cl.gemm goes a step further: each work-item
-- keeps a block of the result in registers.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local device = cl.device()

local n = device.type == "cpu" and 256 or 1024

--- Small integers, so that sums of products are exact and results must be equal.
local function matrix(seed)
  local bytes = {}
  for i = 1, n * n do bytes[i] = string.pack("f", (i * seed + i // n) % 5 - 2) end
  return device:buffer(table.concat(bytes), "float", n, n)
end
local a, b = matrix(7), matrix(11)

--- Two rows of the product, in Lua.
local function row_of_product(i)
  local row, left, right = {}, a:read(i, i)[1], b:read()
  for j = 1, n do
    local sum = 0.0
    for k = 1, n do sum = sum + left[k] * right[k][j] end
    row[j] = sum
  end
  return row
end
local expected = { [1] = row_of_product(1), [n - 3] = row_of_product(n - 3) }

local function check(c)
  for i, row in pairs(expected) do
    for j, value in ipairs(c:read(i, i)[1]) do
      if value ~= row[j] then return false, ("element %d, %d is %g, not %g"):format(i, j, value, row[j]) end
    end
  end
  return true
end

local c = device:empty("float", n, n)
local candidates = { { name = "naive", fn = function() return cl.gemm(a, b, { c = c, kernel = "naive" }) end } }

--- The library's own tiled kernel, launched by hand with tiles of another size; its arguments stand in
-- kernels/gemm_tiled.cl.
local function tiled(size)
  local kernel = device:kernel("gemm_tiled", { defines = { TS = size } })
  return function()
    kernel({ global = { n, n }, group = { size, size } }, n, n, n, 1, a, 0, n, b, 0, n, 0, c, 0, n)
    return c
  end
end
for _, size in ipairs { 4, 8, 16, 32 } do
  if size * size <= device.max_group_size then
    candidates[#candidates + 1] = { name = ("tiles of %d x %d"):format(size, size), fn = tiled(size) }
  end
end

local OURS = "cl.gemm by itself"
candidates[#candidates + 1] = { name = OURS, fn = function() return cl.gemm(a, b, { c = c }) end }

for _, one in ipairs(candidates) do one.device, one.flops, one.check = device, 2 * n ^ 3, check end
local rows = bench.compare(candidates, { seconds = 0.2, rounds = 5, peak = false })
local best
for _, row in ipairs(rows) do
  if row.status ~= "ok" or not row.checked then error(row.reason or row.name .. " is wrong") end
  if row.name ~= OURS and (not best or row.value < best.value) then best = row end
end
print(report.text({ title = ("Product of %d x %d floats"):format(n, n), rows = rows, columns = { { key = "name" },
  { key = "value", title = "time" }, { key = "gflops", title = "GFLOP/s" },
  { key = "ratio", title = "time by naive's" } } }))
print(("the best of the plain kernels here: %s"):format(best.name))
print "cl.gemm keeps blocks of the result in registers; their sizes for each device are data: clcompute tune gemm."
