-- SPDX-License-Identifier: MIT
--- Known-answer tests of this library's fast kernels: rows as of `clcompute.doctor.answers`, whose `operation` computes
-- in place of a source. A device that fails one takes the plain kernel instead (`clcompute.tuning`).
-- @module clcompute.doctor.operations

local M, K, N = 45, 70, 67 -- of a product: full tiles, edges, and an odd one left
local WHOLE, DEEP = 128, 32 -- of one that is whole tiles only, and read where it lies

--- Small integers, so that products and sums are exact in any order.
local function element(i, j)
  return (7 * i + 3 * j + i * j % 5) % 9 - 4
end

local function matrix(rows, columns)
  local made = {}
  for i = 1, rows do
    made[i] = {}
    for j = 1, columns do made[i][j] = element(i, j) end
  end
  return made
end

local function transposed(i, j) return element(j, i) end

--- The elements of the products below, A B, A B' and C' D, one behind the other.
local function expected_products()
  local list = {}
  local function add(rows, columns, depth, first, second)
    for i = 1, rows do
      for j = 1, columns do
        local sum = 0
        for l = 1, depth do sum = sum + first(i, l) * second(l, j) end
        list[#list + 1] = sum
      end
    end
  end
  add(M, N, K, element, element)
  add(M, M, K, element, transposed)
  add(WHOLE, WHOLE, DEEP, transposed, element)
  return list
end

local function flatten(list, rows)
  for _, row in ipairs(rows) do table.move(row, 1, #row, #list + 1, list) end
  return list
end

local function multiply(dtype)
  return function(device)
    local gemm = require "clcompute.core".gemm
    local a <close> = device:buffer(matrix(M, K), dtype)
    local b <close> = device:buffer(matrix(K, N), dtype)
    local first <close> = gemm(a, b, { kernel = "fast" })
    local second <close> = gemm(a, a, { kernel = "fast", transb = true })
    local d <close> = device:buffer(matrix(DEEP, WHOLE), dtype)
    local third <close> = gemm(d, d, { kernel = "fast", transa = true })
    return flatten(flatten(flatten({}, first:read()), second:read()), third:read())
  end
end

local operations = {}

--- A test whose answer is made when it is asked for: most processes read the verdict that was kept.
local function lazily(test)
  return setmetatable(test, { __index = function(self, key)
    if key ~= "expected" then return nil end
    self.expected = expected_products()
    return self.expected
  end })
end

--- The tests by operation and dtype, as `clcompute.tuning` asks for them.
operations.rows = {
  ["gemm float"] = lazily { name = "cl.gemm of float, fast", operation = multiply "float",
    consequence = "cl.gemm takes a plain kernel on this device", remedy = "update the driver" },
  ["gemm double"] = lazily { name = "cl.gemm of double, fast", operation = multiply "double", needs = "has_double",
    consequence = "cl.gemm takes a plain kernel on this device", remedy = "update the driver" },
}

--- Their keys, in order.
function operations.keys()
  local keys = {}
  for key in pairs(operations.rows) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

return operations
