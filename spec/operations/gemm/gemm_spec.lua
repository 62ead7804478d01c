-- SPDX-License-Identifier: MIT
local answers = require "clcompute.answers"
local helper = require "spec.helper"
local reference = require "spec.reference"
local products = require "spec.support.products"
local cl = require "clcompute"

local assert_product, integers, random, operands =
  products.assert_product, products.integers, products.random, products.operands
local kernels = { "naive", "tiled", "fast" }
local booleans = { false, true }

-- m, n, k
local few = { { 1, 1, 1 }, { 2, 3, 5 }, { 15, 16, 17 }, { 1, 33, 2 }, { 17, 2, 16 } }
local many = {
  { 1, 1, 1 }, { 2, 2, 2 }, { 2, 3, 5 }, { 15, 16, 17 }, { 16, 16, 16 }, { 17, 15, 16 },
  { 16, 17, 15 }, { 1, 33, 2 }, { 33, 1, 31 }, { 3, 2, 33 }, { 31, 29, 1 }, { 19, 45, 35 },
}
local larger = { { 33, 65, 47 }, { 64, 64, 64 }, { 97, 31, 101 }, { 1, 257, 300 } }

helper.describe_each("gemm", function(d)
  local sizes = helper.is_simulator(d) and few or many

  -- Else the plain kernel would stand in for the fast one below too.
  it("has a fast kernel that gives the known answers", function()
    for _, dtype in ipairs { "float", "double" } do
      assert.not_equal("fault", answers.verdict(d, answers.operation_tests.rows["gemm " .. dtype]), dtype)
    end
  end)

  for _, kernel in ipairs(kernels) do
    for _, dtype in ipairs { "float", "double" } do
      local is_few = helper.is_simulator(d) and dtype == "double"

      it(("multiplies matrices of every shape, transposed or not: %s, %s"):format(kernel, dtype), function()
        for _, transa in ipairs(booleans) do
          for _, transb in ipairs(booleans) do
            for _, size in ipairs(is_few and { sizes[3] } or sizes) do
              local m, n, k = table.unpack(size)
              local options = { kernel = kernel, transa = transa, transb = transb }
              local a, b, ta, tb = operands(random, d, dtype, m, n, k, options)
              local c = cl.gemm(a, b, options)
              assert.same({ m, n }, c.shape)
              assert.equal(dtype, c.dtype)
              assert_product(c:read(), ta, tb, {}, dtype)
              if not helper.is_simulator(d) then
                a, b, ta, tb = operands(integers, d, dtype, m, n, k, options)
                assert.same(reference.gemm(ta, tb), cl.gemm(a, b, options):read())
              end
            end
          end
        end
      end)

      it(("scales by alpha and adds beta times c: %s, %s"):format(kernel, dtype), function()
        local scales = { { 2.5, -1.5 }, { 0, 2 }, { 1, 1 }, { -0.5, 0 }, { 0, 0 }, { 1, 0.1 } }
        for _, scale in ipairs(is_few and { scales[1] } or scales) do
          local options = { kernel = kernel, alpha = scale[1], beta = scale[2] }
          local a, b, ta, tb = operands(random, d, dtype, 17, 15, 18, options)
          local c = random(d, dtype, 17, 15)
          local before = c:read()
          options.c = c
          assert.equal(c, cl.gemm(a, b, options))
          assert_product(c:read(), ta, tb, { alpha = scale[1], beta = scale[2], c = before }, dtype)
        end
      end)
    end

    if not helper.is_simulator(d) then
      it("multiplies matrices that fill the last tile to each of its columns: " .. kernel, function()
        for n = 33, (kernel == "fast" or helper.long(true)) and 64 or 35 do
          for _, transb in ipairs(booleans) do
            local options = { kernel = kernel, transb = transb }
            local a, b, ta, tb = operands(integers, d, "float", 97 - n, n, 17, options)
            assert.same(reference.gemm(ta, tb), cl.gemm(a, b, options):read())
          end
        end
      end)

      it("multiplies larger matrices: " .. kernel, function()
        for i, size in ipairs(larger) do
          local m, n, k = table.unpack(size)
          local options = { kernel = kernel, transa = i % 2 == 0, transb = i % 3 == 0 }
          local a, b, ta, tb = operands(random, d, "float", m, n, k, options)
          assert_product(cl.gemm(a, b, options):read(), ta, tb, {}, "float")
        end
      end)
    end

    it("does not read c with beta 0, nor a and b with alpha 0: " .. kernel, function()
      local nans = d:zeros("float", 3, 3):fill(0 / 0)
      local a = d:buffer { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } }
      cl.gemm(a, a, { c = nans, kernel = kernel })
      assert.same({ { 30, 36, 42 }, { 66, 81, 96 }, { 102, 126, 150 } }, nans:read())
      local nan = d:zeros("float", 3, 3):fill(0 / 0)
      local c = d:buffer { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } }
      cl.gemm(nan, nan, { c = c, alpha = 0, beta = 2, kernel = kernel })
      assert.same({ { 2, 4, 6 }, { 8, 10, 12 }, { 14, 16, 18 } }, c:read())
    end)

    it("lets NaN and infinity of a and b through: " .. kernel, function()
      local a = d:buffer { { 0 / 0, 1 }, { 1 / 0, 1 }, { 1, 1 } }
      local c = cl.gemm(a, d:buffer { { 1 }, { 1 } }, { kernel = kernel }):read()
      assert.not_equal(c[1][1], c[1][1])
      assert.equal(1 / 0, c[2][1])
      assert.equal(2, c[3][1])
    end)

    it("makes zeros, or beta times c, of an empty sum: " .. kernel, function()
      local a, b = d:zeros("float", 2, 0), d:zeros("float", 0, 3)
      assert.same({ { 0, 0, 0 }, { 0, 0, 0 } }, cl.gemm(a, b, { kernel = kernel }):read())
      local c = d:buffer { { 1, 2, 3 }, { 4, 5, 6 } }
      cl.gemm(a, b, { c = c, beta = 3, kernel = kernel })
      assert.same({ { 3, 6, 9 }, { 12, 15, 18 } }, c:read())
    end)

    it("makes an empty result of empty operands: " .. kernel, function()
      for _, size in ipairs { { 0, 3, 2 }, { 3, 0, 2 }, { 0, 0, 0 }, { 0, 3, 0 } } do
        local m, n, k = table.unpack(size)
        local c = cl.gemm(d:zeros("float", m, k), d:zeros("float", k, n), { kernel = kernel })
        assert.same({ m, n }, c.shape)
      end
    end)

    it("works on parts of one-dimensional buffers and touches nothing else: " .. kernel, function()
      for _, transa in ipairs(booleans) do
        for _, transb in ipairs(booleans) do
          for _, dtype in ipairs { "float", not helper.is_simulator(d) and "double" or nil } do
            local m, n, k = 17, 5, 18
            local rows_a, cols_a = transa and k or m, transa and m or k
            local rows_b, cols_b = transb and n or k, transb and k or n
            local lda, ldb, ldc, first = cols_a + 3, cols_b + 1, n + 2, 4 -- an unaligned start
            local a = d:random(dtype, first + rows_a * lda, { seed = helper.seed, low = -1 })
            local b = d:random(dtype, first + rows_b * ldb, { seed = helper.seed + 1, low = -1 })
            local c = d:random(dtype, first + m * ldc, { seed = helper.seed + 2, low = -1 })
            local function nest(x, rows, cols, ld)
              local values, t = x:read(), {}
              for i = 1, rows do
                t[i] = table.move(values, first + (i - 1) * ld, first + (i - 1) * ld + cols - 1, 1, {})
              end
              return t
            end
            local before, guards = nest(c, m, n, ldc), c:read()
            local view_a, view_b, view_c = a:view(first, #a), b:view(first, #b), c:view(first, #c)
            assert.equal(view_c, cl.gemm(view_a, view_b, {
              c = view_c, alpha = 1.5, beta = -0.5, m = m, n = n, k = k,
              lda = lda, ldb = ldb, ldc = ldc, transa = transa, transb = transb, kernel = kernel,
            }))
            local ta, tb = nest(a, rows_a, cols_a, lda), nest(b, rows_b, cols_b, ldb)
            if transa then ta = reference.transpose(ta) end
            if transb then tb = reference.transpose(tb) end
            assert_product(nest(c, m, n, ldc), ta, tb, { alpha = 1.5, beta = -0.5, c = before }, dtype)
            for i, v in ipairs(c:read()) do
              local place = i - first
              local inside = place >= 0 and place // ldc < m and place % ldc < n
              if not inside then assert.equal(guards[i], v) end
            end
          end
        end
      end
    end)

    it("takes rows of a matrix as views: " .. kernel, function()
      local a, b = integers(d, "float", 7, 3), integers(d, "float", 6, 5)
      local c = d:zeros("float", 9, 5):fill(99)
      cl.gemm(a:view(2, 5), b:view(4, 6), { c = c:view(3, 6), kernel = kernel })
      local expected = reference.gemm(a:read(2, 5), b:read(4, 6))
      assert.same(expected, c:read(3, 6))
      for _, i in ipairs { 1, 2, 7, 8, 9 } do assert.same({ 99, 99, 99, 99, 99 }, c:read(i, i)[1]) end
    end)

    it("takes a corner of a matrix with m, n and k alone: " .. kernel, function()
      local a = d:buffer { { 1, 2, 9 }, { 3, 4, 9 }, { 9, 9, 9 } }
      local c = d:zeros("float", 3, 3)
      cl.gemm(a, a, { c = c, m = 2, n = 2, k = 2, kernel = kernel })
      assert.same({ { 7, 10, 0 }, { 15, 22, 0 }, { 0, 0, 0 } }, c:read())
    end)
  end

  it("writes the first rows or columns of a larger c where m or n alone says how many", function()
    local a, b = d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } } -- a b = { { 19, 22 }, { 43, 50 } }
    local c = d:full("float", 9, 2, 2)
    assert.same({ { 19, 22 }, { 9, 9 } }, cl.gemm(a, b, { c = c, m = 1 }):read())
    assert.same({ { 19, 22 }, { 43, 9 } }, cl.gemm(a, b, { c = c, n = 1 }):read())
  end)

  it("multiplies parts of one buffer into another part of it", function()
    local all = d:buffer { 1, 2, 3, 4, 0, 0, 0, 0 }
    local a = all:view(1, 4)
    cl.gemm(a, a, { c = all:view(5, 8), m = 2, n = 2, k = 2 })
    assert.same({ 1, 2, 3, 4, 7, 10, 15, 22 }, all:read())
  end)

  it("chooses a kernel by itself", function()
    local a, b, ta, tb = operands(integers, d, "float", 9, 8, 7, {})
    assert.same(reference.gemm(ta, tb), cl.gemm(a, b):read())
  end)

  it("leaves a and b as they were", function()
    local a, b = random(d, "float", 5, 4), random(d, "float", 4, 3)
    local a_before, b_before = a:string(), b:string()
    cl.gemm(a, b, { alpha = 3 }):read()
    assert.equal(a_before, a:string())
    assert.equal(b_before, b:string())
  end)

  it("names the argument or option that is wrong", function()
    local a, b, c = d:zeros("float", 2, 3), d:zeros("float", 3, 4), d:zeros("float", 2, 4):fill(5)
    local flat, released = d:zeros("float", 12), d:zeros("float", 2, 4)
    released:release()
    for _, case in ipairs {
      { { "#1", "buffer" }, nil, b }, { { "#1", "buffer" }, { { 1 } }, b }, { { "#1", "buffer" }, io.stdout, b },
      { { "#2", "buffer" }, a, nil }, { { "#2", "buffer" }, a, d }, { { "#1", "released" }, released, b },
      { { "#2", "released" }, a, released }, { { "#1", "float or double", "int" }, d:zeros("int", 2, 3), b },
      { { "#2", "float", "double" }, a, d:zeros("double", 3, 4) }, { { "#3", "table" }, a, b, c },
      { { "#3", "'gamma'", "alpha" }, a, b, { gamma = 1 } }, { { "inner", "2x3", "2x4" }, a, c },
      { { "inner", "2x3 transposed" }, a, b, { transa = true } },
      { { "inner", "3x4 transposed" }, a, b, { transb = true } }, { { "'c'", "2x4", "2x3" }, a, b, { c = a } },
      { { "'c'", "2x4", "4x2" }, a, b, { c = d:zeros("float", 4, 2) } },
      { { "'c'", "buffer", "number" }, a, b, { c = 1 } },
      { { "'c'", "buffer", "userdata" }, a, b, { c = io.stdout } }, { { "'c'", "released" }, a, b, { c = released } },
      { { "'c'", "float", "double" }, a, b, { c = d:zeros("double", 2, 4) } },
      { { "'c'", "overlap" }, b, d:zeros("float", 4, 4), { c = b } }, { { "beta", "'c'" }, a, b, { beta = 1 } },
      { { "beta", "'c'" }, a, b, { beta = 0 / 0 } }, { { "'alpha'", "number", "string" }, a, b, { alpha = "2" } },
      { { "'beta'", "number", "table" }, a, b, { beta = {}, c = c } },
      { { "'transa'", "boolean" }, a, b, { transa = 1 } }, { { "'transb'", "boolean" }, a, b, { transb = "yes" } },
      { { "'kernel'", "'quick'", "naive", "tiled" }, a, b, { kernel = "quick" } },
      { { "'kernel'", "string" }, a, b, { kernel = 1 } }, { { "alpha", "1e+300", "float" }, a, b, { alpha = 1e300 } },
      { { "beta", "1e+300", "float" }, a, b, { beta = 1e300, c = c } },
      { { "'m'", "integer", "-1" }, a, b, { m = -1 } }, { { "'n'", "integer", "1.5" }, a, b, { n = 1.5 } },
      { { "'k'", "integer", "nan" }, a, b, { k = 0 / 0 } }, { { "'k'", "integer", "string" }, a, b, { k = "3" } },
      { { "'lda'", "integer", "-3" }, a, b, { lda = -3 } }, { { "a", "'lda'", "2" }, a, b, { lda = 2 } },
      { { "b", "'ldb'", "3" }, a, b, { ldb = 3 } }, { { "c", "'ldc'", "0" }, a, b, { ldc = 0 } },
      { { "a:", "fit" }, a, b, { m = 3 } }, { { "a:", "fit" }, a, b, { lda = 4 } },
      { { "b:", "fit" }, a, b, { k = 3, ldb = 5 } }, { { "c:", "fit" }, a, b, { c = c, ldc = 5 } },
      { { "c:", "fit" }, a, b, { m = 2, n = 4, c = d:zeros("float", 7) } },
      { { "a:", "fit" }, a, b, { m = math.maxinteger, lda = math.maxinteger } },
      { { "a:", "'lda'" }, a, b, { k = math.maxinteger } }, { { "a", "1 dimension", "'m'", "cl.matmul" }, flat, b },
      { { "a", "1 dimension", "'k'" }, flat, b, { m = 4 } }, { { "b", "1 dimension", "'n'" }, a, flat },
    } do helper.raises(case[1], cl.gemm, case[2], case[3], case[4]) end
    assert.same({ 5, 5, 5, 5 }, c:read()[2])
  end)

  it("refuses a c of three dimensions that has not the shape of the result, also beside m and n", function()
    local a = d:random("float", 8, 8)
    for _, options in ipairs { {}, { m = 8 }, { n = 8 }, { m = 8, n = 8 }, { m = 8, n = 8, ldc = 8 } } do
      options.c = d:zeros("float", 1, 2, 2)
      helper.raises({ "option 'c'", "8x8", "1x2x2" }, cl.gemm, a, a, options)
    end
  end)

  it("sees an overlap through views", function()
    local all = d:random("float", 20)
    local a, b = all:view(1, 4), all:view(9, 12)
    helper.raises({ "'c'", "overlap" }, cl.gemm, a, b, { c = all:view(4, 7), m = 2, n = 2, k = 2 })
    helper.raises({ "'c'", "overlap" }, cl.gemm, a, b, { c = all:view(12, 15), m = 2, n = 2, k = 2 })
    local wide, two = d:zeros("float", 64), d:zeros("float", 2, 2)
    local function into(c, first, ldc) -- of rows that are 4 apart
      return cl.gemm(wide:view(first, 40), two, { m = 2, n = 2, k = 2, lda = 4, ldc = ldc, c = wide:view(c, 40) })
    end
    for _, row in ipairs { { 1, 1, 3 }, { 4, 1, 4 }, { 1, 4, 4 }, { 1, 2, 4 } } do
      helper.raises({ "'c'", "overlap" }, into, table.unpack(row))
    end
    assert.equal(0, into(1, 3, 4)[1]) -- side by side
    local batch = d:zeros("float", 2, 2, 2)
    helper.raises({ "'c'", "overlap" }, cl.gemm, batch, two, { c = batch })
    assert.has_no_error(function() cl.gemm(a, b, { c = all:view(5, 8), m = 2, n = 2, k = 2 }) end)
  end)

  for _, kernel in ipairs { "naive", "tiled" } do
    it(("is a kernel too: gemm_%s"):format(kernel), function()
      local a, b, c = d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }, d:zeros("float", 2, 2)
      d:kernel("gemm_" .. kernel)({ global = { 16, 16 }, group = { 16, 16 } }, 2, 2, 2, 1, a, 0, 2, b, 0, 2, 0, c, 0, 2)
      assert.same({ { 19, 22 }, { 43, 50 } }, c:read())
    end)
  end

  it("takes macros as a kernel", function()
    local a, b, c = d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }, d:zeros("float", 2, 2)
    d:kernel("gemm_tiled", { defines = { TS = 4, TRANSA = 1 } })({ global = { 4, 4 } },
      2, 2, 2, 1, a, 0, 2, b, 0, 2, 0, c, 0, 2)
    assert.same({ { 26, 30 }, { 38, 44 } }, c:read())
  end)
end)

describe("gemm", function()
  it("refuses buffers of two devices", function()
    local devices = helper.devices()
    if #devices < 2 then return pending "one device alone" end
    local a, b = devices[1]:zeros("float", 2, 2), devices[2]:zeros("float", 2, 2)
    helper.raises({ "#2", "another device" }, cl.gemm, a, b)
    helper.raises({ "'c'", "another device" }, cl.gemm, a, a, { c = b })
  end)

  it("raises when a finalizer releases an operand meanwhile", function()
    helper.output([[
      local cl = require "clcompute"
      local d = cl.device()
      local function after(collections, finalizer)
        setmetatable({}, { __gc = function()
          if collections == 0 then finalizer() else after(collections - 1, finalizer) end
        end })
      end
      local function amid(finalizer, collections, ...)
        collectgarbage "stop"
        after(collections, finalizer)
        collectgarbage "restart"
        collectgarbage("setpause", 0)
        collectgarbage("setstepmul", 1000)
        pcall(...)
        collectgarbage "stop"
        d:wait()
      end
      for i = 1, 60 do
        local x, y, z = d:random("float", 8, 8), d:random("float", 8, 8), d:random("float", 8, 8)
        amid(function() x:release() end, i % 30, cl.gemm, x, y)
        amid(function() y:release() end, i % 30, cl.gauss, y, z)
        local view
        amid(function() z:release() end, 0, function() view = z:view(1, 8) end)
        if view then pcall(cl.saxpy, 1, view, view) end
        d:wait()
      end
    ]], { CLCOMPUTE_DEVICE = helper.device().place })
  end)
end)
