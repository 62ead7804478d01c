-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local sequential = require "clcompute.sequential"

local pack, unpack_all = helper.pack, helper.unpack

--- Small integers: every product and sum of a few is exact.
local function integers(n)
  local values = {}
  for i = 1, n do values[i] = math.random(-8, 8) end
  return values
end

local function nest(values, rows, cols)
  local m = {}
  for i = 1, rows do m[i] = table.move(values, (i - 1) * cols + 1, i * cols, 1, {}) end
  return m
end

local function flatten(m)
  local values = {}
  for _, row in ipairs(m) do table.move(row, 1, #row, #values + 1, values) end
  return values
end

describe("sequential", function()
  for _, dtype in ipairs { "float", "double" } do
    it("computes saxpy, " .. dtype, function()
      for _, n in ipairs { 0, 1, 7, 64, 101 } do
        local x, y = integers(n), integers(n)
        local out, seconds = sequential.saxpy(3, pack(x, dtype), pack(y, dtype), dtype)
        assert.same(reference.saxpy(3, x, y), unpack_all(out, dtype))
        assert.is_true(seconds >= 0)
      end
    end)

    it("computes running sums, " .. dtype, function()
      for _, n in ipairs { 0, 1, 7, 64, 101 } do
        local x, expected, sum = integers(n), {}, 0
        for i, v in ipairs(x) do
          sum = sum + v
          expected[i] = sum
        end
        local out, seconds = sequential.scan(pack(x, dtype), dtype)
        assert.same(expected, unpack_all(out, dtype))
        assert.is_true(seconds >= 0)
      end
    end)

    it("computes gemm, " .. dtype, function()
      local sizes = { { 0, 0, 0 }, { 2, 3, 0 }, { 0, 3, 2 }, { 1, 1, 1 }, { 2, 3, 5 }, { 17, 16, 15 } }
      for _, size in ipairs(sizes) do
        local m, n, k = table.unpack(size)
        local a, b = integers(m * k), integers(k * n)
        local c, seconds = sequential.gemm(pack(a, dtype), pack(b, dtype), m, n, k, dtype)
        local expected = {}
        for i = 1, m * n do expected[i] = 0 end
        if k > 0 then expected = flatten(reference.gemm(nest(a, m, k), nest(b, k, n))) end
        assert.same(expected, unpack_all(c, dtype))
        assert.is_true(seconds >= 0)
      end
    end)

    it("solves systems with one and several right-hand sides, " .. dtype, function()
      for _, size in ipairs { { 0, 0 }, { 1, 1 }, { 2, 3 }, { 17, 1 }, { 33, 5 } } do
        local n, columns = table.unpack(size)
        local a, b = integers(n * n), integers(n * columns)
        for i = 1, n do a[(i - 1) * n + i] = 200 + i end -- diagonally dominant
        local x, seconds = sequential.gauss(pack(a, dtype), pack(b, dtype), n, dtype)
        assert.is_true(seconds >= 0)
        local xs, bs, as = nest(unpack_all(x, dtype), n, columns), nest(b, n, columns), nest(a, n, n)
        local xt, bt = reference.transpose(xs), reference.transpose(bs)
        assert.equal(n * columns, #flatten(xs))
        for j = 1, columns do assert.is_true(reference.ratio(as, xt[j], bt[j], helper.eps[dtype]) <= 30) end
      end
    end)

    it("exchanges rows where it must, " .. dtype, function()
      local x = sequential.gauss(pack({ 0, 1, 2, 0 }, dtype), pack({ 3, 8 }, dtype), 2, dtype)
      assert.same({ 4, 3 }, unpack_all(x, dtype))
    end)
  end

  it("computes in float unless told otherwise", function()
    local x, y = pack({ 1, 2 }, "float"), pack({ 3, 4 }, "float")
    assert.same({ 5, 8 }, unpack_all(sequential.saxpy(2, x, y), "float"))
  end)

  it("says which column of a singular matrix has no pivot", function()
    local b = pack({ 1, 1 }, "float")
    helper.raises({ "singular", "column 1" }, sequential.gauss, pack({ 0, 1, 0, 2 }, "float"), b, 2)
    helper.raises({ "singular", "column 2" }, sequential.gauss, pack({ 1, 2, 2, 4 }, "float"), b, 2)
  end)

  it("names the argument that is wrong", function()
    local two, four = pack({ 1, 2 }, "float"), pack({ 1, 2, 3, 4 }, "float")
    for _, case in ipairs {
      { "saxpy", { "#1", "number" }, "x", two, two }, { "saxpy", { "#2", "string" }, 1, {}, two },
      { "saxpy", { "#3", "string" }, 1, two }, { "saxpy", { "#3", "8 bytes", "16" }, 1, two, four },
      { "saxpy", { "#2", "bytes", "5" }, 1, "12345", "12345" }, { "saxpy", { "#4", "half" }, 1, two, two, "half" },
      { "gemm", { "#1", "16 bytes", "8" }, two, four, 2, 2, 2 },
      { "gemm", { "#2", "16 bytes", "8" }, four, two, 2, 2, 2 }, { "gemm", { "#3", "range" }, four, four, -1, 2, 2 },
      { "gemm", { "#4", "integer" }, four, four, 2, 1.5, 2 },
      { "gemm", { "#5", "range" }, four, four, 2, 2, math.maxinteger },
      { "gauss", { "#1", "16 bytes", "8" }, two, two, 2 }, { "gauss", { "#2", "bytes" }, four, "12345", 2 },
      { "gauss", { "#3", "range" }, four, two, -2 }, { "gauss", { "#4", "half" }, four, two, 2, "half" },
    } do
      helper.raises(case[2], sequential[case[1]], table.unpack(case, 3, 7))
    end
  end)

  it("needs no OpenCL", function()
    local empty = helper.folder()
    local ok, output = helper.run([[
      local sequential = require "clcompute.sequential"
      print(string.unpack("f", (sequential.saxpy(2, string.pack("f", 1), string.pack("f", 3)))))
      assert(not package.loaded["clcompute.core"])
    ]], { OCL_ICD_VENDORS = empty })
    os.remove(empty)
    assert.is_true(ok, output)
    assert.equal("5.0", output:match("^[%d.]+"))
  end)

  it("plays the Game of Life on a cube", function()
    for n = 1, 6 do
      local cells = {}
      for i = 1, n ^ 3 do cells[i] = math.random(0, 3) end
      local field, expected = string.char(table.unpack(cells)), cells
      for generation = 1, 3 do
        expected = reference.life(expected, n)
        local got, seconds = sequential.life(field, n, generation)
        assert.same(expected, { got:byte(1, -1) })
        assert.is_true(seconds >= 0)
      end
      assert.equal(field, (sequential.life(field, n, 0)))
    end
    assert.equal("", (sequential.life("", 0, 3)))
    helper.raises("8 bytes expected, got 7", sequential.life, "1234567", 2, 1)
    helper.raises("must not be negative", sequential.life, "1", 1, -1)
    helper.raises("out of range", sequential.life, "1", -1, 1)
  end)

  it("refuses bytes that are no whole elements", function()
    helper.raises("a multiple of 4 bytes expected, got 3", sequential.saxpy, 2, "abc", "abcd")
    helper.raises("a multiple of 8 bytes expected, got 12", sequential.relative_error, "123456789012", "", "double")
  end)

  for _, dtype in ipairs { "float", "double" } do
    it("finds the largest relative error, " .. dtype, function()
      local expected = pack({ 1, -2, 4, 0 }, "double")
      assert.equal(0, sequential.relative_error(pack({ 1, -2, 4, 0 }, dtype), expected, dtype))
      assert.equal(0.25, sequential.relative_error(pack({ 1.125, -2.5, 3.5, 0 }, dtype), expected, dtype))
      assert.equal(math.huge, sequential.relative_error(pack({ 1, -2, 4, 1 }, dtype), expected, dtype))
      for i = 1, 4 do
        local x = { 1, -2, 4, 0 }
        x[i] = 0 / 0
        local error = sequential.relative_error(pack(x, dtype), expected, dtype)
        assert.is_true(error ~= error)
      end
      assert.equal(0, sequential.relative_error("", "", dtype))
      helper.raises("16 bytes expected, got 8", sequential.relative_error, pack({ 1, 2 }, dtype), "12345678", dtype)
    end)

    it("finds the largest error, " .. dtype, function()
      local expected = pack({ 1, -2, 4, 0 }, "double")
      assert.equal(0, sequential.absolute_error(pack({ 1, -2, 4, 0 }, dtype), expected, dtype))
      assert.equal(0.5, sequential.absolute_error(pack({ 1.125, -2.5, 4, 0.25 }, dtype), expected, dtype))
      for i = 1, 4 do
        local x = { 1, -2, 4, 0 }
        x[i] = 0 / 0
        local error = sequential.absolute_error(pack(x, dtype), expected, dtype)
        assert.is_true(error ~= error)
      end
      assert.equal(0, sequential.absolute_error("", "", dtype))
      helper.raises("16 bytes expected, got 8", sequential.absolute_error, pack({ 1, 2 }, dtype), "12345678", dtype)
    end)

    it("finds the backward error of a solution, " .. dtype, function()
      -- A x - b = (1, -1), the column sums of |A| are 4 and 6, ||x|| = 3
      local a, b, x = pack({ 1, -2, 3, 4 }, dtype), pack({ -6, 6 }, dtype), pack({ -1, 2 }, dtype)
      local eps = dtype == "float" and 2.0 ^ -23 or 2.0 ^ -52
      assert.near(2 / (6 * 3 * eps), sequential.backward_error(a, b, x, 2, dtype), 1 / eps * 1e-12)
      assert.equal(0, sequential.backward_error(a, pack({ -5, 5 }, dtype), x, 2, dtype))
      local error = sequential.backward_error(a, b, pack({ 0 / 0, 1 }, dtype), 2, dtype)
      assert.is_true(error ~= error)
    end)
  end
end)
