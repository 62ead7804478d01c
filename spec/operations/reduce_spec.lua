-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

local IS_FLOATING = { half = true, float = true, double = true }

--- Roundings on the longest way of an element into a sum: rows of a block, blocks of a chunk, lanes, then the same for
-- the chunks' sums.
local STEPS = 32 + 64 + 6 + 32 + 8 + 6

local function random(d, dtype, n, seed)
  local is_signed = not dtype:find "^u"
  local options = { seed = helper.seed + seed, low = is_signed and -100 or 0, high = 100 }
  if IS_FLOATING[dtype] then options.low, options.high = -1, 1 end
  return d:random(dtype, n, options)
end

local function unit(dtype)
  return helper.unit[dtype] or helper.unit.float -- half is summed in float
end

helper.describe_kinds("a reduction", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    it("sums, finds the least, the largest and where it is, for every size of " .. dtype, function()
      for _, n in ipairs(helper.sizes(d)) do
        if n < 70000 or dtype == "float" then
          local x = random(d, dtype, n, n)
          local list = x:read()
          local sum, magnitude = reference.sum(list)
          local got = cl.sum(x)
          if IS_FLOATING[dtype] then
            assert.equal("float", math.type(got))
            assert.near(sum, got, STEPS * unit(dtype) * magnitude)
          else
            assert.equal(sum, got)
            assert.equal("integer", math.type(got))
          end
          assert.near(magnitude, cl.asum(x), IS_FLOATING[dtype] and STEPS * unit(dtype) * magnitude or 0)
          assert.equal(math.type(got), math.type(cl.asum(x)))
          if n > 0 then
            local least, largest = { reference.argmin(list) }, { reference.argmax(list) }
            assert.equal(least[2], cl.min(x))
            assert.equal(largest[2], cl.max(x))
            assert.same(least, { cl.argmin(x) })
            assert.same(largest, { cl.argmax(x) })
          end
        end
      end
    end)
  end

  it("multiplies vectors, within the bound of a sum and exactly for integers", function()
    for _, dtype in ipairs { "float", "half", "int" } do
      for _, n in ipairs(helper.sizes(d)) do
        if n < 70000 or dtype == "float" then
          local x, y = random(d, dtype, n, 1), random(d, dtype, n, 2)
          local products, of_y = x:read(), y:read()
          for i = 1, n do products[i] = products[i] * of_y[i] end
          local dot, magnitude = reference.sum(products)
          assert.near(dot, cl.dot(x, y), dtype == "int" and 0 or (STEPS + 1) * unit(dtype) * magnitude)
        end
      end
    end
  end)

  it("finds a norm, also where squares overflow or vanish", function()
    for _, dtype in ipairs(dtypes) do
      local x = random(d, dtype, 1000, 3)
      local sum = 0
      for _, v in ipairs(x:read()) do sum = sum + v * v end
      assert.near(math.sqrt(sum), cl.norm2(x), (STEPS + 2) * helper.unit.float * math.sqrt(sum))
    end
    local scales = { float = { 1e-44, 1e-30, 1e30, 6e37 }, double = { 1e-320, 1e-200, 1e200, 2e307 } }
    for dtype, list in pairs(scales) do
      if dtype == "float" or d.has_double then
        for _, scale in ipairs(list) do
          local x = d:buffer({ 3 * scale, 4 * scale }, dtype)
          local a, b = x[1], x[2] -- what is left of few digits
          local expected = math.sqrt((a / b) ^ 2 + 1) * b
          assert.near(expected, cl.norm2(x), expected * 8 * helper.unit[dtype], dtype .. scale)
        end
      end
    end
    assert.equal(0, cl.norm2(d:zeros("float", 5)))
    assert.equal(math.huge, cl.norm2(d:buffer { 1, -1 / 0 }))
    local nan = cl.norm2(d:buffer { 1 / 0, 0 / 0 })
    assert.not_equal(nan, nan)
  end)

  it("lets NaN win, and finds the first one", function()
    for _, n in ipairs { 1, 17, 300, helper.is_simulator(d) and 513 or 200000 } do
      for _, place in ipairs { 1, n // 2 + 1, n } do
        local x = random(d, "float", n, 4)
        x[place] = 0 / 0
        x[n] = 0 / 0
        for _, v in ipairs { cl.min(x), cl.max(x), cl.sum(x), cl.asum(x) } do assert.not_equal(v, v) end
        for _, find in ipairs { cl.argmin, cl.argmax } do
          local index, value = find(x)
          assert.equal(place, index)
          assert.not_equal(value, value)
        end
      end
    end
  end)

  it("finds the first of equals", function()
    local n = helper.is_simulator(d) and 600 or 300000
    local high, low = d:zeros("int", n), d:zeros("int", n)
    for _, place in ipairs { n, n // 2, 3 } do
      high[place], low[place] = 5, -5
      assert.same({ place, 5 }, { cl.argmax(high) })
      assert.same({ place, -5 }, { cl.argmin(low) })
    end
    for _, find in ipairs { cl.argmin, cl.argmax } do
      assert.same({ 1, -7 }, { find(d:zeros("short", 40):fill(-7)) })
    end
  end)

  if is_sample then return end

  it("keeps 64 bits of sums of integers, and wraps around there", function()
    local n = 1000
    assert.equal(n * 0x7fffffff, cl.sum(d:zeros("int", n):fill(0x7fffffff)))
    assert.equal(n * 0x7fffffff * 0x7fffffff, cl.dot(d:zeros("int", n):fill(0x7fffffff),
      d:zeros("int", n):fill(0x7fffffff)))
    assert.equal(math.mininteger, cl.sum(d:buffer({ math.maxinteger, 1 }, "long")))
    assert.equal(-2, cl.sum(d:buffer({ -1, -1 }, "ulong"))) -- 2^65 - 2
    assert.equal(-2, cl.asum(d:buffer({ -1, -1 }, "ulong")))
    assert.equal(n << 31, cl.asum(d:zeros("int", n):fill(-1 << 31)))
    assert.equal(math.mininteger, cl.asum(d:buffer({ math.mininteger }, "long")))
    assert.same({ 1, 5 }, { cl.argmin(d:buffer({ 5, -1 }, "ulong")) })
    assert.equal(-1, cl.max(d:buffer({ 5, -1 }, "ulong"))) -- 2^64 - 1
  end)

  it("takes any operation, a map with further operands, and an init", function()
    local x, y = d:buffer { 1, -5, 3 }, d:buffer { 2, 2, 2 }
    assert.equal(-15, cl.reduce("a * b", x))
    assert.equal(30, cl.reduce("a * b", x, { init = -2 }))
    assert.equal(5, cl.reduce("max(a, b)", x, { map = "fabs(x[i])" }))
    assert.equal(-2, cl.reduce("a + b", { x = x, y = y }, { map = "x[i]*y[i]" }))
    assert.equal(-11.5, cl.reduce("a + b", { x = x, s = 2.5 }, { map = "s*x[i] - (i == 1 ? 9 : 0)" }))
    assert.equal(2, cl.reduce("a + b", x, { map = "x[i] > 0", dtype = "int" }))
    assert.equal(7, cl.reduce("a | b", d:buffer({ 1, 2, 4 }, "uchar")))
  end)

  it("gives init where there are no elements", function()
    local x = d:zeros("float", 0)
    assert.equal(3, cl.reduce("a + b", x, { init = 3 }))
    assert.equal(0, cl.dot(x, x))
    assert.equal(0, cl.norm2(x))
    for _, sum in ipairs { cl.sum, cl.asum } do
      assert.equal(0, sum(x))
      assert.equal("integer", math.type(sum(d:zeros("int", 0))))
    end
    helper.raises({ "reduce: no elements, and no option 'init'" }, cl.reduce, "a + b", x)
    for _, name in ipairs { "min", "max", "argmin", "argmax" } do
      helper.raises({ name .. ": no elements" }, cl[name], x)
    end
  end)

  it("takes views of any start, and matrices", function()
    local all = d:random("float", 1000, { seed = helper.seed })
    for _, first in ipairs { 1, 2, 5, 17 } do
      local sum, magnitude = reference.sum(all:view(first, 900):read())
      assert.near(sum, cl.sum(all:view(first, 900)), STEPS * helper.unit.float * magnitude)
      assert.near(magnitude, cl.asum(all:view(first, 900)), STEPS * helper.unit.float * magnitude)
      assert.same({ reference.argmin(all:view(first, 900):read()) }, { cl.argmin(all:view(first, 900)) })
    end
    assert.equal(21, cl.sum(d:buffer({ { 1, 2, 3 }, { 4, 5, 6 } }, "int")))
    local matrix = d:buffer({ { 1, 2, -3 }, { 4, 5, 9 } }, "int")
    assert.same({ 6, 9 }, { cl.argmax(matrix) })
    assert.same({ 3, -3 }, { cl.argmin(matrix) })
    assert.equal(24, cl.asum(matrix))
  end)

  it("gives the same bits each time", function()
    for _, n in ipairs { 1000, helper.is_simulator(d) and 3000 or 1000003 } do
      local x = d:random("float", n, { seed = helper.seed })
      local sum, norm = cl.sum(x), cl.norm2(x)
      for _ = 1, 5 do
        assert.equal(sum, cl.sum(x))
        assert.equal(norm, cl.norm2(x))
      end
    end
  end)

  it("stays near the sum where plain addition drifts", function()
    if helper.is_simulator(d) then return pending "too large for a simulator" end
    local n = 1 << 24
    local x = d:zeros("float", n):fill(0.1)
    local exact = n * string.unpack("f", string.pack("f", 0.1))
    assert.near(exact, cl.sum(x), STEPS * helper.unit.float * exact)
  end)
end)

helper.describe_each("a reduction", function(d)
  local x = d:buffer { 1, 2 }

  it("says what is wrong", function()
    for _, case in ipairs {
      { "an operation combines a and b, but \"a + 1\" has no b", "a + 1", x },
      { "unknown name 'c'; there are: a, b, in \"a + c\"", "a + c", x },
      { "'a' is a number, not a buffer", "a[i] + b", x },
      { "\"a b\" does not build", "a b", x },
      { "expression (a string) expected, got nil", nil, x },
      { "buffer or table of operands by their names expected, as { x = x, y = y }, got nil", "a + b", nil },
      { "operand 'y' is not used in \"x[i]\"", "a + b", { x = x, y = x } },
      { "unknown name 'y'", "a + b", x, { map = "y[i]" } },
      { "\"sqrt(x[i], 1)\" does not build", "a + b", x, { map = "sqrt(x[i], 1)" } },
      { "unknown option 'inti'", "a + b", x, { inti = 1 } },
      { "option 'init': number or table expected, got string", "a + b", x, { init = "0" } },
      { "option 'init': 0.5 has no integer value", "a + b", d:zeros("int", 1), { init = 0.5 } },
      { "no dtype 'real'", "a + b", x, { dtype = "real" } },
    } do
      helper.raises({ "reduce: ", case[1] }, cl.reduce, case[2], case[3], case[4])
    end
    helper.raises("sum: argument 1: buffer expected, got number", cl.sum, 1)
    helper.raises("dot: argument 2: buffer expected, got nil", cl.dot, x)
    helper.raises("dot: 'x' has 2 elements, but 'y' has 1", cl.dot, x, d:buffer { 1 })
    local released = d:buffer { 1 }
    released:release()
    helper.raises("norm2: argument 1 is released", cl.norm2, released)
  end)

  it("may run in a finalizer of another", function()
    local expected, ran = cl.sum(x), 0
    for _ = 1, 200 do
      setmetatable({}, { __gc = function()
        assert.equal(expected, cl.sum(x))
        ran = ran + 1
      end })
      assert.equal(expected, cl.sum(x))
    end
    collectgarbage()
    assert.is_true(ran > 0)
  end)
end)
