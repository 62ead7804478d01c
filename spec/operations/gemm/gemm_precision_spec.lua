-- SPDX-License-Identifier: MIT
--- The precisions of gemm: what each promises on every device, the kernels of tensor cores whatever the device would
-- choose (elsewhere than on NVIDIA they compute the same sums without), and the way from one kernel to the next.
local helper = require "spec.helper"
local products = require "spec.support.products"
local reference = require "spec.reference"
local cl = require "clcompute"
local tuning = require "clcompute.tuning"

local GUARD = 77.5
local CLASSES = { "float-tensor", "tf32" }

local function row_of(kernel, shape)
  return { kernel = kernel, least = 0, depth = 0, is_tried = 1, shapes = { shape } }
end

local function tensor(bm, bn, bk, tm, tn, stages)
  return row_of("tensor", { bm = bm, bn = bn, bk = bk, tm = tm, tn = tn, stages = stages, held = 1, alone = 1,
    full = 1 })
end

local function warpgroups(count, bn, stages, band)
  return row_of("warpgroups", { warpgroups = count, bn = bn, stages = stages, band = band, tile = 1 })
end

--- Whether to try all there is: on a device made for these kernels. Elsewhere each takes seconds to build.
local function is_full(d) return helper.long(true) or d.type == "gpu" end

--- The rows of a class by name; a simulator needs ten seconds for a tile of a warpgroup.
local function rows_of(class, d)
  local rows = {
    ["mma"] = tensor(32, 32, 8, 4, 8, 2), ["mma, in larger blocks"] = tensor(64, 64, 16, 8, 8, 3),
    ["wgmma"] = warpgroups(1, 128, 2, 2), ["wgmma, two warpgroups"] = warpgroups(2, 128, 3, 1),
  }
  if helper.is_simulator(d) then return { ["mma"] = rows["mma"] } end
  if not is_full(d) then
    return { ["mma"] = rows["mma"], ["wgmma"] = class == "float-tensor" and rows["wgmma"] or nil }
  end
  if class == "tf32" then rows["wgmma, wide"] = warpgroups(1, 256, 2, 8) end
  return rows
end

--- What an element may be off, in units of float's, of the sum of magnitudes: rounding each operand to 11 bits, or
-- splitting it, and the additions.
local function bound_of(class, k) return helper.unit.float * (k + (class == "tf32" and 2 ^ 14 or 10)) end

local function assert_near(got, a, b, class, addend)
  local exact, magnitude = reference.gemm(a, b), reference.gemm(a, b, true)
  for i = 1, #a do
    for j = 1, #b[1] do
      local expected = exact[i][j] + (addend and addend[i][j] or 0)
      local bound = bound_of(class, #b + 2) * (magnitude[i][j] + math.abs(addend and addend[i][j] or 0))
      assert(math.abs(got[i][j] - expected) <= bound,
        ("c[%d][%d] of %d x %d x %d is %.9g, not %.9g"):format(i, j, #a, #b[1], #b, got[i][j], expected))
    end
  end
end

-- m, n, k: around tiles of 32, 64 and 128
local SIZES = { { 1, 1, 1 }, { 33, 127, 31 }, { 65, 129, 33 }, { 64, 128, 64 }, { 7, 260, 3 }, { 131, 5, 40 } }
local FEW = { { 1, 1, 1 }, { 33, 35, 9 } }

helper.describe_each("gemm of a precision", function(d)
  local sizes = helper.is_simulator(d) and FEW or is_full(d) and SIZES or table.move(SIZES, 1, 3, 1, {})

  it("keeps what it promises, whatever serves it", function()
    local m, n, k = 70, 67, 300
    if helper.is_simulator(d) then m, n, k = 34, 33, 20 end
    for _, low in ipairs { -1, 0 } do
      local a = d:random("float", m, k, { seed = 5, low = low })
      local b = d:random("float", k, n, { seed = 6, low = low })
      local ta, tb = a:read(), b:read()
      for _, class in ipairs { "float", "float-tensor", "tf32" } do
        assert_near(cl.gemm(a, b, { precision = class }):read(), ta, tb, class)
      end
    end
  end)

  it("is that of doubles for doubles", function()
    if not d.has_double then return pending "no double precision" end
    local a, b = d:random("double", 33, 40, { seed = 1 }), d:random("double", 40, 35, { seed = 2 })
    local plain = cl.gemm(a, b):string()
    for _, class in ipairs(CLASSES) do assert.equal(plain, cl.gemm(a, b, { precision = class }):string()) end
  end)

  it("goes with the plain kernels, which are exact enough", function()
    local a, b = d:random("float", 9, 8, { seed = 1 }), d:random("float", 8, 7, { seed = 2 })
    for _, kernel in ipairs { "naive", "tiled" } do
      local plain = cl.gemm(a, b, { kernel = kernel }):string()
      assert.equal(plain, cl.gemm(a, b, { kernel = kernel, precision = "tf32" }):string())
    end
  end)

  it("says which there are", function()
    local a = d:buffer { { 1 } }
    helper.raises({ "'precision'", "'half'", "float, float-tensor, tf32" }, cl.gemm, a, a, { precision = "half" })
    helper.raises({ "'precision'" }, cl.gemm, a, a, { precision = 3 })
  end)

  if helper.is_simulator(d) then
    it("has no race in the kernel of warpgroups", function()
      tuning.use(d, "gemm float-tensor", "float", warpgroups(1, 128, 2, 2))
      local a, b, ta, tb = products.operands(products.random, d, "float", 33, 35, 3, { transb = true })
      assert_near(cl.gemm(a, b, { transb = true, precision = "float-tensor" }):read(), ta, tb, "float-tensor")
      tuning.use(d, "gemm float-tensor", "float", nil)
    end)
  end

  for _, class in ipairs(CLASSES) do
    for name, row in pairs(rows_of(class, d)) do
      describe(("%s, by %s"):format(class, name), function()
        before_each(function() tuning.use(d, "gemm " .. class, "float", row) end)
        after_each(function() tuning.use(d, "gemm " .. class, "float", nil) end)

        it("multiplies matrices of every shape, transposed or not", function()
          local is_split = class == "float-tensor"
          for _, pair in ipairs(products.transposes(name == "mma" and is_split or name == "wgmma" and is_full(d))) do
            for _, size in ipairs(sizes) do
              local m, n, k = table.unpack(size)
              local options = { precision = class, transa = pair.a, transb = pair.b }
              local a, b, ta, tb = products.operands(products.random, d, "float", m, n, k, options)
              assert_near(cl.gemm(a, b, options):read(), ta, tb, class)
            end
          end
        end)

        it("is exact on small integers, also in part of a buffer, and writes nothing beside it", function()
          local m, n, k = 37, 45, 35
          local a, b, ta, tb = products.operands(products.integers, d, "float", m, n, k, {})
          for _, extra in ipairs { 1, 3 } do
            local ldc = n + extra
            local c = d:zeros("float", (m + 2) * ldc):fill(GUARD)
            cl.gemm(a, b, { c = c:view(ldc + 1, (m + 2) * ldc), m = m, n = n, k = k, ldc = ldc, alpha = 2, beta = -3,
              precision = class })
            local flat, exact = c:read(), reference.gemm(ta, tb)
            for i = 1, #flat do
              local row_, column = (i - 1) // ldc, (i - 1) % ldc + 1
              local is_inside = row_ >= 1 and row_ <= m and column <= n
              assert.equal(is_inside and 2 * exact[row_][column] - 3 * GUARD or GUARD, flat[i])
            end
          end
        end)

        it("multiplies a batch, and shares an operand", function()
          local a = d:random("float", 3, 33, 40, { seed = 1, low = -1 })
          local b = d:random("float", 3, 40, 35, { seed = 2, low = -1 })
          local c = cl.gemm(a, b, { precision = class })
          local ta, tb, tc = a:read(), b:read(), c:read()
          for i = 1, 3 do assert_near(tc[i], ta[i], tb[i], class) end
          local sum = cl.gemm(a, b[1], { c = c, beta = 1, precision = class }):read()
          for i = 1, 3 do assert_near(sum[i], ta[i], tb[1], class, tc[i]) end
        end)

        it("takes no element of C that beta 0 covers", function()
          local a, b, ta, tb = products.operands(products.integers, d, "float", 17, 35, 9, {})
          local c = d:zeros("float", 17, 35):fill(0 / 0)
          assert.same(reference.gemm(ta, tb), cl.gemm(a, b, { c = c, precision = class }):read())
        end)

        it("has infinities and NaN where floats have them, and the largest number", function()
          local inf, nan, most = 1 / 0, 0 / 0, 0x1.fffffep127
          local a = d:buffer { { inf, 1 }, { -inf, 1 }, { nan, 1 }, { inf, -inf }, { most, 0 }, { 0, -most }, { 1, 2 } }
          local b = d:buffer { { 0x1.555556p-2, 1, 0 }, { 0x1.555556p-2, 1, 1 } }
          local expected, got = cl.gemm(a, b, { kernel = "naive" }):read(), cl.gemm(a, b, { precision = class }):read()
          for i, row_ in ipairs(expected) do
            for j, value in ipairs(row_) do
              local is_near = math.abs(got[i][j] - value) <= 2.0 ^ -9 * math.abs(value)
              local is_same = got[i][j] == value or value ~= value and got[i][j] ~= got[i][j]
              local place = ("c[%d][%d] is %g, not %g"):format(i, j, got[i][j], value)
              assert(is_same or is_near and math.abs(value) < inf, place)
            end
          end
        end)

        it("is the same from run to run", function()
          local m, n, k = 70, 150, 90
          if helper.is_simulator(d) then m, n, k = 33, 65, 20 end
          local a = d:random("float", m, k, { seed = 3, low = -1 })
          local b = d:random("float", k, n, { seed = 4, low = -1 })
          local first = cl.gemm(a, b, { precision = class }):string()
          for _ = 1, 3 do assert.equal(first, cl.gemm(a, b, { precision = class }):string()) end
        end)
      end)
    end
  end

  it("leaves sums of few products, and small products, to floats", function()
    local row = rows_of("float-tensor", d).mma
    row.depth = 41
    tuning.use(d, "gemm float-tensor", "float", row)
    local a, b = d:random("float", 50, 40, { seed = 1 }), d:random("float", 40, 30, { seed = 2 })
    assert.equal(cl.gemm(a, b):string(), cl.gemm(a, b, { precision = "float-tensor" }):string())
    row.depth, row.least = 0, 60001
    tuning.use(d, "gemm float-tensor", "float", row)
    assert.equal(cl.gemm(a, b):string(), cl.gemm(a, b, { precision = "float-tensor" }):string())
    tuning.use(d, "gemm float-tensor", "float", nil)
  end)
end)

describe("the way from kernel to kernel of a precision", function()
  -- Rows that any device meets; of the kernels of `BAD`, of all classes or of one, the answer is wrong, or an error.
  local SCRIPT = [[
    local cl = require "clcompute"
    local known = require "clcompute.tuning.known"
    local rows = require "clcompute.answers".operation_tests.rows
    local tuning = require "clcompute.tuning"
    local d = cl.device(nil, { isolated = ISOLATED })
    for _, class in ipairs(CLASSES) do
      local name, bad = "gemm " .. class, BAD[class] or BAD
      known[name] = {
        { where = {}, is_tried = 1, kernel = "warpgroups", least = 0, depth = 0,
          shapes = { { warpgroups = 1, bn = 128, stages = 2, band = 8, tile = 1 } } },
        { where = {}, is_tried = 1, kernel = "tensor", least = 0, depth = 0,
          shapes = { { bm = 32, bn = 32, bk = 8, tm = 4, tn = 8, stages = 2, held = 1, alone = 1, full = 1 } } },
        { where = {}, kernel = "float" } }
      local test = rows[name .. " float"]
      local compute = test.operation
      test.operation = function(device)
        local kernel = tuning.of(device, name, "float").kernel
        if bad[kernel] == "error" then error "the driver refuses" end
        local values = compute(device)
        if bad[kernel] == "wrong" then values[#values - 20] = values[#values - 20] * (1 + 2.0 ^ -8) end
        return values
      end
      local a, b = d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }
      print(class, tuning.of(d, name, "float").kernel, cl.gemm(a, b, { precision = class }):read()[2][2])
    end]]

  local function run(bad, folder, is_isolated, classes)
    local head = ("BAD, ISOLATED, CLASSES = %s, %s, %s\n"):format(bad, is_isolated or false,
      classes or "{ 'float-tensor', 'tf32' }")
    local environment = { CLCOMPUTE_CACHE = folder, CLCOMPUTE_DEVICE = helper.device().place }
    local output = helper.output(head .. SCRIPT, environment)
    return output
  end

  -- Faults of a class, and the kernel that it then takes; both classes in one process.
  for _, case in ipairs {
    { { "{ warpgroups = 'error' }", "tensor" }, { "{}", "warpgroups" } },
    { { "{ warpgroups = 'error', tensor = 'wrong' }", "float" },
      { "{ warpgroups = 'wrong', tensor = 'error' }", "float" } },
  } do
    local split, tf32 = table.unpack(case)
    local cases = ("%s where faults are %s, and %s where they are %s"):format(split[2], split[1], tf32[2], tf32[1])
    it("takes " .. cases, function()
      assert.equal(("float-tensor\t%s\t50.0\ntf32\t%s\t50.0\n"):format(split[2], tf32[2]),
        run(("{ ['float-tensor'] = %s, tf32 = %s }"):format(split[1], tf32[1]), "off"))
    end)
  end

  it("keeps what it found, by kernel and shape", function()
    local folder = os.tmpname()
    os.remove(folder)
    for _, bad in ipairs { "{ warpgroups = 'wrong' }", "{}" } do
      assert.equal("tf32\ttensor\t50.0\n", run(bad, folder, false, "{ 'tf32' }"))
    end
    os.execute("rm -r " .. folder)
  end)

  it("is the same on an isolated device", function()
    if helper.device().type ~= "cpu" then return pending "only processors can be isolated" end
    assert.equal("float-tensor\twarpgroups\t50.0\ntf32\ttensor\t50.0\n",
      run("{ tf32 = { warpgroups = 'wrong' } }", "off", true))
  end)
end)
