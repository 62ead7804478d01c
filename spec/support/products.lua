-- SPDX-License-Identifier: MIT
--- Operands for gemm, and how exact its results must be.
local helper = require "spec.helper"
local reference = require "spec.reference"

local products = {}

--- Asserts alpha * A * B + beta * C within u((k + 2)|alpha||A||B| + 2|beta||C|), for nested tables.
-- The doubles of the reference round as much as those of the device: twice the bound.
function products.assert_product(got, a, b, options, dtype)
  local alpha, beta, c = options.alpha or 1, options.beta or 0, options.c
  local k, u = #b, helper.unit[dtype] * (dtype == "double" and 2 or 1)
  local exact, magnitude = reference.gemm(a, b), reference.gemm(a, b, true)
  for i = 1, #a do
    for j = 1, b[1] and #b[1] or 0 do
      local expected, bound = alpha * exact[i][j], (k + 2) * math.abs(alpha) * magnitude[i][j]
      if beta ~= 0 then
        expected = expected + beta * c[i][j]
        bound = bound + 2 * math.abs(beta * c[i][j])
      end
      local near = math.abs(got[i][j] - expected) <= u * bound -- not so for NaN
      local place = ("c[%d][%d] of %d x %d x %d"):format(i, j, #a, #b[1], k)
      assert(near, ("%s is %.17g, not %.17g"):format(place, got[i][j], expected))
    end
  end
end

--- Random numbers with few bits: all products and sums of a test's sizes are exact.
function products.integers(d, dtype, rows, cols)
  local m = {}
  for i = 1, rows do
    m[i] = {}
    for j = 1, cols do m[i][j] = math.random(-8, 8) end
  end
  return d:buffer(m, dtype)
end

function products.random(d, dtype, rows, cols)
  return d:random(dtype, rows, cols, { seed = math.random(1 << 30), low = -1 })
end

--- Which operands are transposed: all pairs, or those that transpose each operand once. A pair is a build, which takes
-- seconds where blocks are large.
function products.transposes(all)
  local few = { { a = false, b = false }, { a = true, b = true } }
  return all and { few[1], few[2], { a = false, b = true }, { a = true, b = false } } or few
end

--- Operands as stored for the transposes of `options`, and as they multiply.
function products.operands(make, d, dtype, m, n, k, options)
  local a = options.transa and make(d, dtype, k, m) or make(d, dtype, m, k)
  local b = options.transb and make(d, dtype, n, k) or make(d, dtype, k, n)
  local ta = options.transa and reference.transpose(a:read()) or a:read()
  local tb = options.transb and reference.transpose(b:read()) or b:read()
  return a, b, ta, tb
end

return products
