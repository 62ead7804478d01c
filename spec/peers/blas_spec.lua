-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local blas = require "clcompute.blas"
local cl = require "clcompute"

local pack, unpack_all = helper.pack, helper.unpack

--- Numbers in [-1, 1) that both dtypes hold exactly.
local function random(n)
  local values = {}
  for i = 1, n do values[i] = math.random(-1 << 23, (1 << 23) - 1) / (1 << 23) end
  return values
end

local function array(values, dtype) return blas.array(pack(values, dtype), dtype) end
local function values_of(a) return unpack_all(a:string(), a.dtype) end

local function nest(values, rows, cols)
  local m = {}
  for i = 1, rows do m[i] = table.move(values, (i - 1) * cols + 1, i * cols, 1, {}) end
  return m
end

--- The doubles of the reference round as much as those of a library: twice the bound.
local function unit(dtype) return helper.unit[dtype] * (dtype == "double" and 2 or 1) end

local function assert_near(expected, got, bound, place)
  assert(math.abs(got - expected) <= bound, ("%s is %.17g, not %.17g"):format(place, got, expected))
end

--- A product's operands as stored and as they multiply, all flat or nested.
local function make_product(m, n, k, options)
  local a, b, c = random(m * k), random(k * n), random(m * n)
  local ta = options.transa and reference.transpose(nest(a, k, m)) or nest(a, m, k)
  local tb = options.transb and reference.transpose(nest(b, n, k)) or nest(b, k, n)
  return { a = a, b = b, c = c, ta = ta, tb = tb, m = m, n = n, k = k, options = options }
end

--- Asserts alpha * A * B + beta * C within u((k + 2)|alpha||A||B| + 2|beta||C|).
local function assert_product(p, got, dtype)
  local alpha, beta = p.options.alpha or 1, p.options.beta or 0
  local exact, magnitude = reference.gemm(p.ta, p.tb), reference.gemm(p.ta, p.tb, true)
  assert.equal(p.m * p.n, #got)
  for i = 1, p.m do
    for j = 1, p.n do
      local c = beta * p.c[(i - 1) * p.n + j]
      local bound = (p.k + 2) * math.abs(alpha) * magnitude[i][j] + 2 * math.abs(c)
      assert_near(alpha * exact[i][j] + c, got[(i - 1) * p.n + j], unit(dtype) * bound,
        ("c[%d][%d] of %d x %d x %d"):format(i, j, p.m, p.n, p.k))
    end
  end
end

local function assert_axpy(alpha, x, y, got, dtype)
  local expected = reference.saxpy(alpha, x, y)
  for i = 1, #x do
    assert_near(expected[i], got[i], unit(dtype) * 2 * (math.abs(alpha * x[i]) + math.abs(y[i])), "y[" .. i .. "]")
  end
end

local function assert_dot(x, y, got, dtype)
  local sum, magnitude = 0.0, 0.0
  for i = 1, #x do sum, magnitude = sum + x[i] * y[i], magnitude + math.abs(x[i] * y[i]) end
  assert_near(sum, got, unit(dtype) * (#x + 1) * magnitude, "the product of " .. #x)
end

local variants = {
  {}, { transa = true }, { transb = true }, { transa = true, transb = true, alpha = -1.5, beta = 0.5 },
}
local sizes = { { 1, 1, 1 }, { 2, 3, 5 }, { 17, 31, 16 }, { 33, 1, 65 } }

describe("an array", function()
  for _, dtype in ipairs { "float", "double" } do
    it("holds zeros or packed elements, " .. dtype, function()
      local bytes = pack({ 1, -2, 0.5 }, dtype)
      local a = blas.array(bytes, dtype)
      assert.equal(3, #a)
      assert.equal(dtype, a.dtype)
      assert.equal(bytes, a:string())
      assert.equal(pack({ 0, 0, 0 }, dtype), blas.array(3, dtype):string())
      assert.equal("", blas.array(0, dtype):string())
      assert.equal(dtype .. " array of 3 elements", tostring(a))
    end)

    it("is written over, " .. dtype, function()
      local a, b = array({ 1, 2 }, dtype), array({ 3, 4 }, dtype)
      assert.equal(a, a:write(b))
      assert.same({ 3, 4 }, values_of(a:write(a)))
      assert.same({ 5, 6 }, values_of(a:write(pack({ 5, 6 }, dtype))))
      assert.same({ 3, 4 }, values_of(b))
    end)
  end

  it("is of floats unless told otherwise", function() assert.equal("float", blas.array(1).dtype) end)

  it("says what is wrong", function()
    local a = blas.array(2)
    helper.raises({ "#1", "-1 elements" }, blas.array, -1)
    helper.raises({ "#1", "memory" }, blas.array, math.maxinteger)
    helper.raises({ "#1", "integer" }, blas.array, 1.5)
    helper.raises({ "#1", "5 bytes", "float" }, blas.array, "12345")
    helper.raises({ "#2", "half" }, blas.array, 1, "half")
    helper.raises({ "8 bytes", "got 4" }, a.write, a, "1234")
    helper.raises({ "float array of 2", "float array of 3" }, a.write, a, blas.array(3))
    helper.raises({ "float array of 2", "double array of 2" }, a.write, a, blas.array(2, "double"))
    helper.raises({ "Array expected", "no value" }, a.write, a)
    helper.raises("no field 'size'", function() return a.size end)
  end)
end)

describe("a missing library", function()
  it("is nil and the reason", function()
    local output = helper.output([[
      local blas = require "clcompute.blas"
      for _, open in ipairs { blas.openblas, blas.clblast } do
        local library, reason = open()
        assert(library == nil)
        print(reason)
      end
    ]], { CLCOMPUTE_OPENBLAS = "/nowhere/a.so", CLCOMPUTE_CLBLAST = "/nowhere/b.so" })
    assert.matches("CLCOMPUTE_OPENBLAS: /nowhere/a.so", output, 1, true)
    assert.matches("CLCOMPUTE_CLBLAST: /nowhere/b.so", output, 1, true)
  end)

  it("is one that has not the functions, too", function()
    local output = helper.output([[
      print(select(2, require "clcompute.blas".openblas()))
    ]], { CLCOMPUTE_OPENBLAS = "libm.so.6" })
    assert.matches("libm.so.6 has no cblas_sgemm", output, 1, true)
  end)
end)

describe("a library", function()
  for name, file in pairs { openblas = "libopenblas.so.0", clblast = "libclblast.so.1" } do
    it("opens without a path where the dynamic linker knows it: " .. name, function()
      if not helper.shell("/sbin/ldconfig -p"):find(file, 1, true) then return pending("no " .. file) end
      assert.matches("lib" .. name, assert(blas[name]()).path, 1, true)
    end)
  end
end)

describe("OpenBLAS", function()
  local openblas, reason = blas.openblas()
  if openblas == nil then return pending(reason) end

  it("says what it is", function()
    assert.equal("OpenBLAS", openblas.name)
    assert.matches("^%d+%.%d+", openblas.version)
    assert.matches(openblas.version, openblas.config, 1, true)
    assert.matches("openblas", openblas.path, 1, true)
    assert.is_true(openblas.threads >= 1 and #openblas.core > 0)
    assert.matches(openblas.core, tostring(openblas), 1, true)
    helper.raises("no field 'cores'", function() return openblas.cores end)
  end)

  it("has as many threads as each object says", function()
    local one, two = blas.openblas { threads = 1 }, blas.openblas { threads = 2 }
    assert.equal(1, one.threads)
    assert.equal(2, two.threads)
    local x = blas.array(("<fff"):pack(1, 2, 3))
    for _, each in ipairs { one, two, one } do assert.equal(14, (each:dot(x, x))) end -- each sets what it needs
    helper.raises({ "threads", "at least 1" }, blas.openblas, { threads = 0 })
    helper.raises({ "threads", "at most 4096" }, blas.openblas, { threads = 4097 })
    helper.raises({ "no option 'thread'", "threads" }, blas.openblas, { thread = 1 })
  end)

  for _, dtype in ipairs { "float", "double" } do
    it("computes gemm, " .. dtype, function()
      for _, options in ipairs(variants) do
        for _, size in ipairs(sizes) do
          local p = make_product(size[1], size[2], size[3], options)
          local c = array(p.c, dtype)
          local seconds = openblas:gemm(array(p.a, dtype), array(p.b, dtype), c, p.m, p.n, p.k, options)
          assert_product(p, values_of(c), dtype)
          assert.is_true(seconds >= 0)
        end
      end
    end)

    it("scales c where there is nothing to multiply, " .. dtype, function()
      local none, c = blas.array(0, dtype), array({ 1, 2 }, dtype)
      openblas:gemm(none, none, c, 1, 2, 0, { beta = 3 })
      assert.same({ 3, 6 }, values_of(c))
      openblas:gemm(none, none, blas.array(0, dtype), 0, 0, 0)
    end)

    it("computes axpy and dot, " .. dtype, function()
      for _, n in ipairs { 0, 1, 7, 1001, 20011 } do
        local x, y = random(n), random(n)
        local ax, ay = array(x, dtype), array(y, dtype)
        local dot, seconds = openblas:dot(ax, ay)
        assert_dot(x, y, dot, dtype)
        assert.is_true(seconds >= 0 and openblas:axpy(0.75, ax, ay) >= 0)
        assert_axpy(0.75, x, y, values_of(ay), dtype)
        assert.same(x, values_of(ax))
        local sum = 0
        for _, v in ipairs(x) do sum = sum + math.abs(v) end
        assert.near(sum, (openblas:asum(ax)), (n + 2) * helper.eps[dtype] * sum)
      end
    end)

    it("solves systems that need row exchanges and leaves them as they are, " .. dtype, function()
      for _, size in ipairs { { 0, 1 }, { 1, 1 }, { 2, 3 }, { 37, 1 }, { 64, 5 } } do
        local n, nrhs = table.unpack(size)
        local a, b = random(n * n), random(n * nrhs)
        local aa, ab, x = array(a, dtype), array(b, dtype), blas.array(n * nrhs, dtype)
        assert.is_true(openblas:gesv(aa, ab, x, n, nrhs) >= 0)
        local columns, right = reference.transpose(nest(values_of(x), n, nrhs)), reference.transpose(nest(b, n, nrhs))
        for j, column in ipairs(columns) do
          assert.is_true(reference.ratio(nest(a, n, n), column, right[j], helper.eps[dtype]) <= 30)
        end
        assert.same({ a, b }, { values_of(aa), values_of(ab) })
      end
      local b = array({ 3, 8 }, dtype)
      openblas:gesv(array({ 0, 1, 2, 0 }, dtype), b, b, 2)
      assert.same({ 4, 3 }, values_of(b))
    end)
  end

  it("names the column of a singular matrix", function()
    local b = blas.array(2)
    helper.raises({ "singular", "column 1" }, openblas.gesv, openblas, array({ 0, 1, 0, 2 }, "float"), b, b, 2)
    helper.raises({ "singular", "column 2" }, openblas.gesv, openblas, array({ 1, 2, 2, 4 }, "float"), b, b, 2)
  end)

  it("refuses what does not fit", function()
    local two, four, other = blas.array(2), blas.array(4), blas.array(4)
    local doubles = blas.array(4, "double")
    for _, case in ipairs {
      { "gemm", { "#2", "float array of 6", "4" }, four, four, other, 2, 2, 3 },
      { "gemm", { "#3", "float array of 6", "4" }, four, four, other, 2, 3, 2 },
      { "gemm", { "#4", "float array of 4", "2" }, four, other, two, 2, 2, 2 },
      { "gemm", { "#3", "float array", "double array" }, four, doubles, other, 2, 2, 2 },
      { "gemm", { "#4", "neither" }, four, other, four, 2, 2, 2 },
      { "gemm", { "#4", "neither" }, other, four, four, 2, 2, 2 },
      { "gemm", { "#5", "outside" }, four, four, other, -2, 2, 2 },
      { "gemm", { "#6", "outside" }, four, four, other, 2, 1 << 31, 2 },
      { "gemm", { "#7", "integer" }, four, four, other, 2, 2, 2.5 },
      { "gemm", { "#8", "trans" }, four, four, other, 2, 2, 2, { trans = true } },
      { "gemm", { "#2", "Array expected" }, "1234", four, other, 2, 2, 2 },
      { "axpy", { "#4", "float array of 4", "2" }, 1, four, two },
      { "axpy", { "#4", "double array" }, 1, four, doubles }, { "axpy", { "#2", "number" }, {}, four, four },
      { "dot", { "#3", "float array of 4", "2" }, four, two },
      { "gesv", { "#2", "float array of 9", "4" }, four, two, two, 3 },
      { "gesv", { "#3", "float array of 2", "4" }, four, other, two, 2 },
      { "gesv", { "#4", "float array of 2", "4" }, four, two, other, 2 },
      { "gesv", { "#6", "outside" }, four, two, two, 2, -1 },
    } do
      helper.raises(case[2], function() return openblas[case[1]](openblas, table.unpack(case, 3)) end)
    end
  end)

  it("is the system's where the path is empty", function()
    local output = helper.output("print(require 'clcompute.blas'.openblas().path)", { CLCOMPUTE_OPENBLAS = "" })
    assert.equal(openblas.path .. "\n", output)
  end)

  it("needs no OpenCL", function()
    local output = helper.output([[
      local blas = require "clcompute.blas"
      print((blas.openblas():dot(blas.array(string.pack("f", 2)), blas.array(string.pack("f", 3)))))
      assert(not package.loaded["clcompute.core"])
    ]], { OPENCL_LAYERS = "" })
    assert.matches("^6.0", output)
  end)
end)

describe("CLBlast", function()
  local clblast, reason = blas.clblast()
  if clblast == nil then return pending(reason) end

  it("says what it is", function()
    assert.equal("CLBlast", clblast.name)
    assert.matches("libclblast.so.%d", clblast.path)
    assert.equal("CLBlast", tostring(clblast))
    helper.raises("no field 'version'", function() return clblast.version end)
  end)

  helper.describe_each("with buffers", function(d)
    if helper.is_simulator(d) then return pending("CLBlast's kernels would take minutes on " .. d.platform) end

    for _, dtype in ipairs { "float", "double" } do
      it("computes gemm, " .. dtype, function()
        -- CLBlast builds all its kernels for a product of a type: twenty seconds on a processor.
        if dtype == "double" and not helper.long(true) then return end
        if dtype == "double" and not d.has_double then return pending "no double" end
        for _, options in ipairs(dtype == "float" and variants or { variants[1] }) do
          for _, size in ipairs(sizes) do
            local p = make_product(size[1], size[2], size[3], options)
            local a, b, c = d:buffer(p.a, dtype), d:buffer(p.b, dtype), d:buffer(p.c, dtype)
            assert.equal(c, clblast:gemm(a, b, c, p.m, p.n, p.k, options))
            assert_product(p, c:read(), dtype)
          end
        end
      end)

      it("computes axpy and dot, of views and on a further queue too, " .. dtype, function()
        if dtype == "double" and not d.has_double then return pending "no double" end
        for _, n in ipairs { 1, 7, 1001 } do
          local x, y = random(n), random(n)
          local bx, by = d:buffer(x, dtype), d:queue():buffer(y, dtype)
          local out = d:zeros(dtype, 3)
          by.device:wait()
          clblast:dot(bx, by, out:view(2, 2))
          assert_dot(x, y, out[2], dtype)
          assert.equal(by, clblast:axpy(0.75, bx, by))
          assert_axpy(0.75, x, y, by:read(), dtype)
          assert.same({ 0, 0 }, { out[1], out[3] })
        end
        local x, y = random(10), random(10)
        local by = d:buffer(y, dtype)
        clblast:axpy(2, d:buffer(x, dtype):view(2, 5), by:view(4, 7))
        local expected = reference.saxpy(2, table.move(x, 2, 5, 1, {}), table.move(y, 4, 7, 1, {}))
        assert_axpy(2, table.move(x, 2, 5, 1, {}), table.move(y, 4, 7, 1, {}), by:view(4, 7):read(), dtype)
        assert.equal(4, #expected)
        assert.same({ y[3], y[8] }, { by[3], by[8] })
      end)
    end

    it("refuses what does not fit", function()
      local two, four, doubles = d:zeros("float", 2), d:zeros("float", 4), d:zeros("int", 4)
      for _, case in ipairs {
        { "gemm", { "#2", "6 elements", "4" }, four, four, four, 2, 2, 3 },
        { "gemm", { "#4", "4 elements", "2" }, four, four, two, 2, 2, 2 },
        { "gemm", { "#3", "float", "int" }, four, doubles, four, 2, 2, 2 },
        { "gemm", { "#2", "Buffer expected" }, { raw = print }, four, four, 2, 2, 2 },
        { "gemm", { "CLBlastSgemm", "size is 0", "-1017" }, d:zeros("float", 0), d:zeros("float", 0), four, 2, 2, 0 },
        { "axpy", { "#4", "4 elements", "2" }, 1, four, two },
        { "axpy", { "#4", "float buffer expected, got double" }, 1, four, d:zeros("double", 4) },
        { "axpy", { "#4", "double buffer expected, got float" }, 1, d:zeros("double", 4), four },
        { "dot", { "#4", "1 elements", "2" }, four, four, two },
        { "axpy", { "buffer is released" }, 1, four, d:zeros("float", 4):release() },
      } do
        helper.raises(case[2], function() return clblast[case[1]](clblast, table.unpack(case, 3)) end)
      end
    end)

    it("gives all back, whether released, closed or collected, also before its devices", function()
      local script = ([[
        local cl, blas = require "clcompute", require "clcompute.blas"
        local d, last = cl.device %q, blas.clblast()
        local x, y = d:buffer{1, 2}, d:buffer{3, 4}
        do local clblast <close> = blas.clblast() clblast:axpy(2, x, y) end
        local released = blas.clblast()
        assert(tostring(released:release():release()) == "CLBlast (released)")
        print(pcall(released.axpy, released, 2, x, y))
        last:axpy(2, x, y)
        setmetatable({}, { __gc = function() print(pcall(last.axpy, last, 2, x, y)) end })
        print(table.concat(y:read(), " "))
        d:close()
      ]]):format(tostring(d):match "^%S+")
      local output = helper.output(script)
      assert.matches("CLBlast is released", output, 1, true)
      assert.matches("7.0 12.0", output, 1, true)
    end)
  end)

  it("refuses a result that overlaps an operand", function()
    local d = cl.device()
    local m, v = d:zeros("float", 4, 4), d:zeros("float", 10)
    local other = d:zeros("float", 4, 4)
    for _, call in ipairs {
      function() clblast:gemm(m, other, m, 4, 4, 4) end,
      function() clblast:gemm(other, m, m, 4, 4, 4) end,
      function() clblast:axpy(2, v:view(1, 6), v:view(5, 10)) end,
      function() clblast:dot(v:view(1, 4), v:view(5, 8), v:view(8, 8)) end,
    } do helper.raises("must not overlap", call) end
    clblast:axpy(2, v:view(1, 5), v:view(6, 10)) -- beside each other
    d:wait()
  end)

  it("refuses buffers of two devices", function()
    local devices = cl.devices()
    if #devices < 2 then return pending "one device only" end
    helper.raises({ "#3", "another device" }, clblast.axpy, clblast, 1, devices[1]:zeros("float", 2),
      devices[2]:zeros("float", 2))
  end)
end)
