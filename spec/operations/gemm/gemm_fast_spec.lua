-- SPDX-License-Identifier: MIT
--- The fast kernels of gemm on every device, whatever the device would choose: with numbers so small that a few rows
-- and columns have full blocks, edges and several steps.
local helper = require "spec.helper"
local products = require "spec.support.products"
local reference = require "spec.reference"
local cl = require "clcompute"
local tuning = require "clcompute.tuning"

local GUARD = 77.5

local function panels(vector, rows, direct)
  return { kernel = "panels", vector = vector, rows = rows, mc = 2 * rows, nc = 4 * vector, kc = 20, direct = direct }
end

local MANY = 1 << 20

local function tile(bm, bn, bk, tm, tn)
  return { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, held = 2, alone = 10, full = 15 }
end

local function pipelined(...)
  local shapes = {}
  for i, shape in ipairs { ... } do
    local bm, bn, bk, tm, tn, stages, ways = table.unpack(shape)
    shapes[i] = { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, stages = stages, ways = ways, held = 2 * i, alone = 10,
      full = 30 + i }
  end
  return { kernel = "pipelined", least = 4000, shapes = shapes, blocks = { tile(16, 16, 4, 4, 4) } }
end

--- The same of a device that is so slow that more launches are worth it: in parts of k, and with A as it lies.
local function split(row)
  row.launch, row.stream = 1, MANY
  for _, list in ipairs { row.shapes or {}, row.blocks } do
    for _, shape in ipairs(list) do shape.held, shape.alone, shape.full = 4, 10, 35 end
  end
  if row.shapes then row.least, row.blocks[1].full, row.shapes[1].along = 0, 1, 100 end
  return row
end

local function doubles(bm, bn, bk, tm, tn, stages, depth)
  return { kernel = "doubles", least = 4000, is_tried = 1,
    shapes = { { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, stages = stages, depth = depth, held = 2, alone = 10,
      full = 15 } }, blocks = { { bm = 16, bn = 16, bk = 4, tm = 4, tn = 4, held = 2, alone = 10, full = 15 } } }
end

-- Numbers, and the dtypes that devices have them with (`clcompute.tuning.known`). Panels take seconds to build: a
-- processor has each with its first dtype.
local ROWS = {
  ["panels of 16, packed"] = { panels(16, 14, 0), "float" },
  ["panels of 16, as B lies"] = { panels(16, 14, 1 << 20), "float" },
  ["panels of 8"] = { panels(8, 6, 0), "float", "double" },
  ["panels of 8, rows of 14"] = { panels(8, 14, 1000), "double" },
  ["panels of 4"] = { panels(4, 6, 0), "double", "float" },
  ["blocks of 16"] = { { kernel = "blocks", blocks = { tile(16, 16, 4, 4, 4) } }, "float", "double" },
  ["blocks of 64 or 32"] = { { kernel = "blocks", blocks = { tile(64, 64, 8, 8, 4), tile(32, 64, 8, 4, 8) } },
    "float" },
  ["blocks, in parts of k"] = { split { kernel = "blocks", blocks = { tile(16, 16, 4, 4, 4) } }, "float", "double" },
  ["pipelined, in parts of k, A as it lies"] = { split(pipelined { 32, 16, 8, 4, 4, 2 }), "float", "double" },
  ["pipelined"] = { pipelined { 32, 16, 8, 4, 4, 2 }, "float", "double" },
  ["pipelined, by two warps for each element"] = { split(pipelined { 32, 16, 16, 4, 4, 2, 2 }), "float", "double" },
  ["pipelined, in more stages"] = { pipelined { 64, 64, 8, 8, 4, 4 }, "float" },
  ["doubles"] = { doubles(32, 32, 16, 4, 2, 2, 4), "double" },
  ["doubles, in larger blocks"] = { doubles(64, 32, 16, 8, 2, 2, 8), "double" },
  ["doubles, in more stages"] = { doubles(32, 32, 16, 4, 2, 3, 8), "double" },
  ["pipelined, of two shapes"] = { pipelined({ 32, 32, 8, 4, 8, 3 }, { 64, 32, 8, 8, 4, 2 }), "float" },
}

-- What a simulator tries, and a processor by `make long` alone.
local SLOW = { ["panels of 8, rows of 14"] = true, ["blocks of 64 or 32"] = true, ["pipelined, in more stages"] = true,
  ["pipelined, of two shapes"] = true, ["doubles, in larger blocks"] = true,
  ["doubles, in more stages"] = true }

-- m, n, k
local SIZES = {
  { 1, 1, 1 }, { 13, 31, 19 }, { 14, 32, 20 }, { 15, 33, 21 }, { 28, 64, 40 }, { 29, 65, 41 },
  { 3, 97, 5 }, { 97, 3, 61 }, { 61, 71, 2 },
}
local FEW = { { 1, 1, 1 }, { 15, 33, 21 }, { 29, 65, 5 } }
-- Of rows with parts of k, which are 128 deep at least; on a simulator two of the same depth, two that differ, and
-- three.
local DEEP = { { 1, 1, 300 }, { 32, 16, 512 }, { 9, 11, 515 } }
local FEW_DEEP = { { 1, 1, 257 }, { 32, 16, 256 }, { 9, 11, 387 } }

--- The names of the kernels that a call launches, and what it returns.
local function launches(f, ...)
  cl.profile(true)
  local result = f(...)
  local names = {}
  for _, row in ipairs(cl.profile()) do names[row.name] = row.kind == "kernel" or nil end
  cl.profile(false)
  return names, result
end

--- A matrix inside a larger one, with guard words around it: the buffer, and where it begins.
local function guarded(d, dtype, rows, cols, ld, values)
  local all = {}
  for i = 1, (rows + 2) * ld do all[i] = GUARD end
  for i = 1, rows do for j = 1, cols do all[i * ld + j] = values[i][j] end end
  return d:buffer(all, dtype)
end

local function block_of(flat, rows, cols, ld)
  local block = {}
  for i = 1, rows do block[i] = table.move(flat, i * ld + 1, i * ld + cols, 1, {}) end
  return block
end

--- Asserts that nothing but the block was written.
local function assert_guards(flat, rows, cols, ld)
  for i = 1, #flat do
    local row, col = (i - 1) // ld, (i - 1) % ld + 1
    if row < 1 or row > rows or col > cols then assert.equal(GUARD, flat[i]) end
  end
end

helper.describe_each("gemm fast", function(d)
  local is_brief = helper.is_simulator(d) and not helper.long(true)
  local sizes = helper.is_simulator(d) and FEW or SIZES
  local is_full = helper.long(true) or d.type == "gpu" -- elsewhere blocks take seconds to build
  local dtypes = d.has_double and { "float", "double" } or { "float" }

  after_each(function()
    for _, dtype in ipairs(dtypes) do tuning.use(d, "gemm", dtype, nil) end
  end)

  for name, given in pairs(ROWS) do
    local row, dtype = given[1], given[2]
    local is_slow = not is_full and SLOW[name]
    local shapes = row.launch and (is_brief and FEW_DEEP or DEEP) or sizes
    local case = (dtype == "float" or d.has_double) and not is_slow and it or pending

    local function use()
      for _, each in ipairs(dtypes) do tuning.use(d, "gemm", each, row) end
    end

    case("multiplies matrices of every shape, transposed or not: " .. name, function()
      use()
      for i = 2, d.has_double and is_full and #given or 2 do
        -- A simulator has all pairs of the first dtype: the second one indexes alike.
        local has_all = row.kernel == "panels" or is_full and #given == 3 and not (is_brief and i == 3)
        for _, pair in ipairs(products.transposes(has_all)) do
          for _, size in ipairs(shapes) do
            local m, n, k = table.unpack(size)
            local options = { kernel = "fast", transa = pair.a, transb = pair.b }
            local a, b, ta, tb = products.operands(products.random, d, given[i], m, n, k, options)
            products.assert_product(cl.gemm(a, b, options):read(), ta, tb, {}, given[i])
          end
        end
      end
    end)

    case("adds to a part of a buffer and writes nothing beside it: " .. name, function()
      use()
      for _, size in ipairs { shapes[2], shapes[3] } do
        local m, n, k = table.unpack(size)
        local a, b, ta, tb = products.operands(products.integers, d, dtype, m, n, k, {})
        local c = products.integers(d, dtype, m, n):read()
        for _, extra in ipairs { 1, 4 } do
          local lda, ldb, ldc = k + extra, n + extra, n + extra
          local ga, gb, gc = guarded(d, dtype, m, k, lda, ta), guarded(d, dtype, k, n, ldb, tb),
            guarded(d, dtype, m, n, ldc, c)
          cl.gemm(ga:view(lda + 1, #ga), gb:view(ldb + 1, #gb), { c = gc:view(ldc + 1, #gc), m = m, n = n, k = k,
            lda = lda, ldb = ldb, ldc = ldc, alpha = 2, beta = -3 })
          local flat = gc:read()
          assert_guards(flat, m, n, ldc)
          products.assert_product(block_of(flat, m, n, ldc), ta, tb, { alpha = 2, beta = -3, c = c }, dtype)
        end
        a:release() b:release()
      end
    end)

    case("multiplies a batch in one go: " .. name, function()
      use()
      for _, size in ipairs(helper.is_simulator(d) and { shapes[2] } or shapes) do
        local m, n, k = table.unpack(size)
        local a = d:random(dtype, 3, m, k, { seed = 1, low = -1 })
        local b = d:random(dtype, 3, k, n, { seed = 2, low = -1 })
        local c = cl.gemm(a, b)
        assert.same({ 3, m, n }, c.shape)
        local ta, tb, tc = a:read(), b:read(), c:read()
        for i = 1, 3 do products.assert_product(tc[i], ta[i], tb[i], {}, dtype) end
        local shared = cl.gemm(a, b[1], { c = c, alpha = 2, beta = 1 }):read()
        for i = 1, 3 do products.assert_product(shared[i], ta[i], tb[1], { alpha = 2, beta = 1, c = tc[i] }, dtype) end
      end
    end)

    case("takes no element of C that beta 0 covers: " .. name, function()
      use()
      local a, b, ta, tb = products.operands(products.integers, d, dtype, 17, 35, 9, {})
      local c = d:zeros(dtype, 17, 35):fill(0 / 0)
      assert.same(reference.gemm(ta, tb), cl.gemm(a, b, { c = c }):read())
    end)
  end

  it("makes the same bits of parts of k at every call", function()
    local k = is_brief and 260 or 700
    local a = d:random("float", 15, k, { seed = 1, low = -1 })
    local b = d:random("float", k, 16, { seed = 2, low = -1 })
    for _, name in ipairs { "blocks, in parts of k", "pipelined, in parts of k, A as it lies" } do
      tuning.use(d, "gemm", "float", ROWS[name][1])
      local names, product = launches(cl.gemm, a, b)
      assert.is_true(names.gemm_sum)
      local first = product:string()
      for _ = 1, 3 do assert.equal(first, cl.gemm(a, b):string()) end
    end
  end)

  it("takes as many parts of k as a shape asks for, and one where k is short", function()
    local row = split { kernel = "blocks", blocks = { tile(16, 16, 4, 4, 4) } }
    row.blocks[1].parts, row.launch = 3, MANY -- which the model would never pay
    tuning.use(d, "gemm", "float", row)
    for k, is_split in pairs { [256] = true, [100] = false } do
      local a, b, ta, tb = products.operands(products.integers, d, "float", 17, 19, k, {})
      local names, product = launches(cl.gemm, a, b)
      assert.equal(is_split, names.gemm_sum or false)
      assert.same(reference.gemm(ta, tb), product:read())
    end
  end)

  -- other GPUs have no fence for it
  local with_fence = (d.type == "cpu" or d.vendor:find "NVIDIA") and it or pending

  with_fence("adds up parts of k in one launch, the same bits at every call, in sequences too", function()
    for _, shape in ipairs { { 32, 16, 8, 4, 4, 2 }, { 32, 16, 16, 4, 4, 2, 2 } } do
      local row = split(pipelined(shape))
      row.part = 1
      tuning.use(d, "gemm", "float", row)
      for _, size in ipairs { { 15, 16, 700 }, { 32, 16, 512 }, { 100, 36, 388 }, { 33, 17, 301 } } do
        local m, n, k = table.unpack(size)
        local a, b, ta, tb = products.operands(products.random, d, "float", m, n, k, {})
        local c = d:zeros("float", m, n)
        local sequence <close> = d:record(function() cl.gemm(a, b, { c = c, beta = 1 }) end)
        local names = launches(cl.gemm, a, b)
        assert.is_true(names.gemm_pipelined)
        assert.is_nil(names.gemm_sum)
        local product = cl.gemm(a, b)
        local first = product:string()
        products.assert_product(product:read(), ta, tb, {}, "float")
        for _ = 1, 3 do assert.equal(first, cl.gemm(a, b):string()) end
        sequence()
        assert.equal(first, c:string())
        sequence()
        products.assert_product(c:read(), ta, tb, { alpha = 2 }, "float")
        assert.equal(first, cl.gemm(a, b):string())
      end
    end
  end)

  it("takes zeros for what is outside of operands that it reads where they lie", function()
    local row = split(pipelined { 32, 16, 8, 4, 4, 2 })
    row.launch, row.stream = 1000, 1 -- packing is dear
    tuning.use(d, "gemm", "float", row)
    for _, size in ipairs { { 31, 20, 44 }, { 5, 4, 12 }, { 33, 36, 7 }, { 66, 60, 3 } } do
      for transa = 0, 1 do
        local m, n, k = table.unpack(size)
        local pad = -(transa == 1 and m or k) % 4
        local a = d:random("float", transa == 1 and k or m, (transa == 1 and m or k) + pad, { seed = 1, low = -1 })
        local b = d:random("float", k, n, { seed = 2, low = -1 })
        local o = { transa = transa == 1, m = m, n = n, k = k, lda = a.shape[2] }
        local names, product = launches(cl.gemm, a:reshape(a.shape[1] * a.shape[2]), b, o)
        assert.is_true(names.gemm_pipelined)
        assert.is_nil(names.gemm_pack)
        local got = product:read()
        local rows = a:read()
        for _, line in ipairs(rows) do for _ = 1, pad do table.remove(line) end end
        products.assert_product(got, transa == 1 and reference.transpose(rows) or rows, b:read(), {}, "float")
      end
    end
  end)

  it("copies operands whose rows do not begin on quads where they lie", function()
    local row = split(pipelined { 32, 16, 8, 4, 4, 2 })
    row.launch, row.stream = 1000, 1 -- packing is dear
    --- A random matrix that begins behind `offset` elements of a vector, with `pad` elements behind each row.
    local function matrix(rows, cols, pad, offset, seed)
      local all = d:random("float", offset + rows * (cols + pad), { seed = seed, low = -1 })
      local x = all:view(offset + 1, #all)
      return x, x:reshape(rows, cols + pad):slice({ 1, rows }, { 1, cols }):read()
    end
    -- blocks of C at edges, and beside a simulator also those in the middle
    local many = is_brief and { 34, 18, 60 } or { 66, 34, 124 }
    for pad = 1, 2 do -- single elements, or pairs
      for transa = 0, 1 do
        for _, size in ipairs { { 32, 16, 48 }, { 33, 20, 50 }, { 6, 18, 10 }, many } do
          local m, n, k = size[1], size[2], size[3]
          local is_odd = (transa == 1 and m or k) % 2 == 1
          tuning.use(d, "gemm", "float", row)
          local a, ta = matrix(transa == 1 and k or m, transa == 1 and m or k, pad + (is_odd and 1 or 0), pad, 1)
          local b, tb = matrix(k, n, pad, pad, 2)
          local o = { transa = transa == 1, m = m, n = n, k = k, alpha = 1.5, ldb = n + pad,
            lda = (transa == 1 and m or k) + pad + (is_odd and 1 or 0) }
          local names, product = launches(cl.gemm, a, b, o)
          assert.is_true(names.gemm_pipelined)
          assert.is_nil(names.gemm_pack)
          local rows = transa == 1 and reference.transpose(ta) or ta
          products.assert_product(product:read(), rows, tb, { alpha = 1.5 }, "float")
        end
      end
    end
    local large = split(pipelined { 32, 16, 8, 4, 4, 2 })
    large.shapes[1].along = nil -- as blocks that have no registers for it
    tuning.use(d, "gemm", "float", large)
    for _, size in ipairs { { 33, 17, 45 }, { 15, 17, 260 } } do -- the latter in parts of k, which are added up behind
      local m, n, k = table.unpack(size)
      local a, b, ta, tb = products.operands(products.random, d, "float", m, n, k, { transa = true })
      local names, product = launches(cl.gemm, a, b, { transa = true })
      assert.same({ true, k > 256 }, { names.gemm_pack or false, names.gemm_sum or false })
      products.assert_product(product:read(), ta, tb, { transa = true }, "float")
    end
  end)

  it("reads A as it lies where its rows are whole", function()
    local row = ROWS["pipelined, in parts of k, A as it lies"][1]
    tuning.use(d, "gemm", "float", row)
    local a, b, ta, tb = products.operands(products.integers, d, "float", 64, 32, 256, {})
    local names, product = launches(cl.gemm, a, b)
    assert.is_true(names.gemm_pipelined)
    assert.is_nil(names.gemm_pack)
    assert.same(reference.gemm(ta, tb), product:read())
  end)

  it("says what does not go with a batch", function()
    local a, b = d:zeros("float", 2, 3, 4), d:zeros("float", 2, 4, 5)
    helper.raises({ "'m'", "batch" }, cl.gemm, a, b, { m = 3 })
    helper.raises({ "'ldc'", "batch" }, cl.gemm, a, b, { ldc = 8 })
    helper.raises({ "batches differ", "2x3x4", "3x4x5" }, cl.gemm, a, d:zeros("float", 3, 4, 5))
    helper.raises({ "inner", "2x3x4", "2x5x4" }, cl.gemm, a, d:zeros("float", 2, 5, 4))
    helper.raises({ "'c'", "2x3x5" }, cl.gemm, a, b, { c = d:zeros("float", 3, 5) })
  end)

  it("launches no more matrices or rows at once than every GPU takes", function()
    if helper.is_simulator(d) then return pending "a simulator takes minutes" end
    --- Calls of the kernels of a product of numbers that are all 2 and 3.
    local function calls_of(options, rows, ...)
      local a, b = d:empty("float", rows, ...):fill(2), d:empty("float", ...):fill(3)
      cl.profile(true)
      local c = cl.gemm(a, #b.shape == 2 and b or b:reshape(1, 1), options)
      local calls = 0
      for _, row in ipairs(cl.profile()) do calls = calls + (row.kind == "kernel" and row.calls or 0) end
      cl.profile(false)
      assert.equal(6, cl.min(c))
      assert.equal(6, cl.max(c))
      return calls
    end
    calls_of({}, 1, 1, 1) -- what the device is asked for with its first product
    assert.is_true(calls_of({}, 65535, 1, 1) < calls_of({}, 65536, 1, 1))
    for _, kernel in ipairs { "fast", "tiled", "naive" } do
      local options = { kernel = kernel }
      assert.is_true(calls_of(options, helper.long(524032) or 1024, 1) < calls_of(options, 524033, 1))
    end
  end)

  it("multiplies right while finalizers multiply too", function()
    if helper.is_simulator(d) then return pending "a simulator has nothing to find there" end
    local row = pipelined { 32, 16, 8, 4, 4, 2 }
    row.least = 0
    tuning.use(d, "gemm", "float", row)
    local a, b = d:random("float", 50, 40, { low = -1 }), d:random("float", 40, 30, { low = -1 })
    local expected = cl.gemm(a, b, { kernel = "naive" }):read()
    local c, e = d:random("float", 45, 50), d:random("float", 50, 35)
    local count, is_on, most = 0, true, 60
    local function arm()
      if is_on then setmetatable({}, { __gc = function()
        count = count + 1
        if count <= most then cl.gemm(c, e) end
        arm()
      end }) end
    end
    local pause = collectgarbage("setpause", 1)
    arm()
    for _ = 1, 20 do
      local product <close> = cl.gemm(a, b)
      local got = product:read()
      for i = 1, 50 do for j = 1, 30 do assert.near(expected[i][j], got[i][j], 1e-4) end end
    end
    is_on = false
    collectgarbage("setpause", pause)
  end)
end)
