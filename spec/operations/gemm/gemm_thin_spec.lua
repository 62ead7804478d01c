-- SPDX-License-Identifier: MIT
--- Products of a matrix and few vectors, by their own kernels on every device: with numbers so small that a few rows
-- have several teams, groups and parts of k.
local helper = require "spec.helper"
local products = require "spec.support.products"
local reference = require "spec.reference"
local cl = require "clcompute"
local tuning = require "clcompute.tuning"

local function numbers(with, part)
  local thin = { along = 8, beside = 9, worth = 0, group = 32, team = 16, rows = 3, across = 8, ahead = 2, held = 2,
    least = 8 }
  for name, value in pairs(with or {}) do thin[name] = value end
  return { kernel = "tiled", thin = thin, part = part }
end

local ROWS = { ["in parts of k"] = numbers { held = 16 },
  ["in parts of k that the last group adds up"] = numbers({ held = 16 }, 1),
  ["in one part"] = numbers { least = 1 << 20, rows = 1, across = 32, ahead = 4 } }

--- To a simulator what one group writes for another is a race.
local function rows_of(d)
  local rows = {}
  for name, row in pairs(ROWS) do rows[name] = not (row.part and helper.is_simulator(d)) and row or nil end
  return rows
end

-- m, n, k
local SIZES = { { 1, 1, 1 }, { 1, 37, 33 }, { 37, 1, 33 }, { 3, 36, 40 }, { 36, 3, 40 }, { 8, 70, 64 }, { 70, 8, 65 },
  { 1, 1, 100 }, { 2, 4, 16 }, { 5, 7, 1 }, { 9, 8, 128 }, { 9, 20, 30 } }
local FEW = { { 1, 37, 33 }, { 36, 3, 40 }, { 70, 8, 65 }, { 1, 1, 100 } }

helper.describe_each("gemm of few rows or columns", function(d)
  local sizes = helper.is_simulator(d) and FEW or SIZES
  local dtypes = d.has_double and { "float", "double" } or { "float" }

  local function use(row)
    for _, dtype in ipairs(dtypes) do tuning.use(d, "gemm", dtype, row) end
  end

  after_each(function() use(nil) end)

  for name, row in pairs(rows_of(d)) do
    it("multiplies by vectors of either side, transposed or not: " .. name, function()
      use(row)
      for _, dtype in ipairs(dtypes) do
        for _, pair in ipairs(products.transposes(true)) do
          for _, size in ipairs(sizes) do
            local m, n, k = table.unpack(size)
            local options = { transa = pair.a, transb = pair.b, alpha = 2, beta = -3 }
            local a, b, ta, tb = products.operands(products.random, d, dtype, m, n, k, options)
            options.c = products.random(d, dtype, m, n)
            local before = options.c:read()
            local got = cl.gemm(a, b, options):read()
            products.assert_product(got, ta, tb, { alpha = 2, beta = -3, c = before }, dtype)
            a, b, ta, tb = products.operands(products.integers, d, dtype, m, n, k, options)
            options = { transa = pair.a, transb = pair.b, c = d:zeros(dtype, m, n):fill(0 / 0) }
            assert.same(reference.gemm(ta, tb), cl.gemm(a, b, options):read())
          end
        end
      end
    end)

    it("multiplies batches, views and parts of buffers: " .. name, function()
      use(row)
      for _, size in ipairs { { 2, 13, 41 }, { 12, 1, 40 } } do
        local m, n, k = table.unpack(size)
        local a = d:random("float", 3, m, k, { seed = 1, low = -1 })
        local b = d:random("float", 3, k, n, { seed = 2, low = -1 })
        local c, ta, tb = cl.gemm(a, b):read(), a:read(), b:read()
        for i = 1, 3 do products.assert_product(c[i], ta[i], tb[i], {}, "float") end
        local shared = cl.gemm(a[2], b):read()
        for i = 1, 3 do products.assert_product(shared[i], ta[2], tb[i], {}, "float") end
      end
      local flat = products.integers(d, "float", 1, 300):reshape(300)
      local c = d:zeros("float", 60):fill(9)
      local values = flat:read()
      local options = { m = 12, n = 2, k = 11, lda = 12, ldb = 3, c = c:view(2, 59), ldc = 4 }
      cl.gemm(flat:view(2, 299), flat:view(7, 290), options)
      local got = c:read()
      for i = 0, 11 do for j = 0, 3 do
        local sum = 0
        for l = 0, 10 do sum = sum + values[2 + 12 * i + l] * values[7 + 3 * l + j] end
        assert.equal(j < 2 and sum or 9, got[2 + 4 * i + j])
      end end
      assert.equal(9, got[1])
    end)
  end

  it("serves cl.matmul of a matrix and a vector, and lets what is not a number through", function()
    use(numbers())
    local a, v = d:random("float", 50, 60, { seed = 3, low = -1 }), d:random("float", 60, { seed = 4, low = -1 })
    cl.profile(true)
    local product = cl.matmul(a, v)
    local names = {}
    for _, each in ipairs(cl.profile()) do names[each.name] = true end
    cl.profile(false)
    assert.is_true(names.gemm_thin_rows)
    local column = {}
    for i, value in ipairs(v:read()) do column[i] = { value } end
    products.assert_product(product:reshape(50, 1):read(), a:read(), column, {}, "float")
    v[7] = 0 / 0
    for _, value in ipairs(cl.matmul(a, v):read()) do assert.not_equal(value, value) end
    v[7] = 1 / 0
    for _, value in ipairs(cl.matmul(a, v):read()) do assert.equal(1 / 0, math.abs(value)) end
  end)

  it("makes the same bits at every call", function()
    use(numbers())
    local a, b = d:random("float", 3, 500, { seed = 5, low = -1 }), d:random("float", 500, 40, { seed = 6, low = -1 })
    local first = cl.gemm(a, b):string()
    for _ = 1, 3 do assert.equal(first, cl.gemm(a, b):string()) end
  end)

  it("leaves products of more vectors to others", function()
    use(numbers { along = 2, beside = 2 })
    local a, b = d:random("float", 3, 50), d:random("float", 50, 40)
    cl.profile(true)
    cl.gemm(a, b)
    for _, each in ipairs(cl.profile()) do assert.is_nil(each.name:match "thin") end
    cl.profile(false)
  end)
end)
