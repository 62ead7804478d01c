-- SPDX-License-Identifier: MIT
--- Reductions and scans along axes, against plain Lua.

local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

local IS_FLOATING = { half = true, float = true, double = true }

--- Roundings on the longest way of an element into a sum.
local STEPS = 600

local function unit(dtype)
  return helper.unit[dtype] or dtype == "half" and 2.0 ^ -11 or helper.unit.float
end

local function product(list, first, last)
  local n = 1
  for k = first, last do n = n * list[k] end
  return n
end

--- Elements whose sums have few rest: whole numbers for integers, reals for the others.
local function random(d, dtype, shape, seed)
  local options = { seed = helper.seed + seed, low = dtype:find "^u" and 0 or -100, high = 100 }
  if IS_FLOATING[dtype] then options.low, options.high = -1, 1 end
  local n = product(shape, 1, #shape)
  return d:random(dtype, n, options):reshape(table.unpack(shape))
end

--- The elements along an axis, a list for each result in row-major order.
local function lists(x, axis)
  local shape, all = x.shape, {}
  local flat = product(shape, 1, #shape) > 0 and x:reshape(product(shape, 1, #shape)):read() or {}
  local outer, n, inner = product(shape, 1, axis - 1), shape[axis], product(shape, axis + 1, #shape)
  for o = 0, outer - 1 do
    for c = 0, inner - 1 do
      local list = {}
      for k = 0, n - 1 do list[k + 1] = flat[(o * n + k) * inner + c + 1] end
      all[#all + 1] = list
    end
  end
  return all
end

local function flat(x)
  local count = product(x.shape, 1, #x.shape)
  return count > 0 and x:reshape(count):read() or {}
end

local function shape_without(shape, axis, keep)
  local out = table.move(shape, 1, #shape, 1, {})
  if keep or #shape == 1 then out[axis] = 1 else table.remove(out, axis) end
  return out
end

local function assert_near(expected, got, bound, what, ...)
  if not (math.abs(expected - got) <= bound) then
    error(("%s: expected %s, got %s"):format(what:format(...), expected, got), 2)
  end
end

--- Checks sums along an axis, and unless these are to do magnitudes, extremes and their places.
local function check(x, axis, sums_alone)
  local dtype, all = x.dtype, lists(x, axis)
  local what = ("%s %s axis %d"):format(dtype, table.concat(x.shape, "x"), axis)
  local sum = cl.sum(x, { axis = axis })
  local magnitude = sums_alone and sum or cl.asum(x, { axis = axis, keep = true })
  assert.same(shape_without(x.shape, axis), sum.shape)
  assert.same(shape_without(x.shape, axis, not sums_alone), magnitude.shape)
  local is_floating = IS_FLOATING[dtype]
  local expected = is_floating and dtype or dtype == "ulong" and dtype or "long"
  assert.equal(expected, sum.dtype)
  local sums, magnitudes = flat(sum), flat(magnitude)
  assert.equal(#all, #sums)
  local has_elements = x.shape[axis] > 0 and not sums_alone
  local least, largest, places_least, places_largest, least_too, largest_too = {}, {}, {}, {}, {}, {}
  if has_elements then
    least, largest = cl.min(x, { axis = axis }), cl.max(x, { axis = axis })
    assert.equal(dtype, least.dtype)
    places_least, least_too = cl.argmin(x, { axis = axis })
    places_largest, largest_too = cl.argmax(x, { axis = axis })
    assert.equal("long", places_least.dtype)
    assert.equal(dtype, least_too.dtype)
    assert.same(sum.shape, places_largest.shape)
    least, largest, places_least, places_largest = flat(least), flat(largest), flat(places_least), flat(places_largest)
    least_too, largest_too = flat(least_too), flat(largest_too)
  end
  for k, list in ipairs(all) do
    local exact, size = reference.sum(list)
    local steps = STEPS * helper.unit[dtype == "double" and dtype or "float"]
    local bound = is_floating and (steps + unit(dtype)) * size or 0
    assert_near(exact, sums[k], bound, what .. " sum")
    if not sums_alone then assert_near(size, magnitudes[k], bound, what .. " asum") end
    if has_elements then
      local place, value = reference.argmin(list)
      assert_near(value, least[k], 0, what .. " min")
      assert_near(place, places_least[k], 0, what .. " argmin")
      assert_near(value, least_too[k], 0, what .. " argmin's element")
      place, value = reference.argmax(list)
      assert_near(value, largest[k], 0, what .. " max")
      assert_near(place, places_largest[k], 0, what .. " argmax")
      assert_near(value, largest_too[k], 0, what .. " argmax's element")
    end
  end
end

--- Shapes around those of vectors, teams, strips and parts. Each length of a row up to 16 is a kernel to build.
local SHAPES = { { 1 }, { 5 }, { 1, 1 }, { 3, 5 }, { 17, 33 }, { 33, 16 }, { 2, 15 }, { 7, 1, 15 }, { 3, 4, 19 },
  { 9, 17, 5 }, { 2, 3, 7, 5 }, { 1, 8, 3, 1 } }
local SHORT, OTHER = 7, 9 -- by a simulator, the latter for all dtypes
-- Where parts of 2048 elements are worth a worker.
local LARGE = { { 1, 20001 }, { 20001, 1 }, { 3, 5000 }, { 5000, 3 }, { 5, 2100 }, { 31, 513 }, { 3, 1500, 3 },
  { 300, 2, 30 }, { 5001, 4 } }

--- Runs f with more and smaller parts than are quickest.
local function with_small_parts(d, f)
  local tuning, rows = require "clcompute.tuning", {}
  for _, operation in ipairs { "reduce", "scan" } do
    rows[operation] = tuning.of(d, operation, "float")
    local row = tuning.of(d, operation, "float")
    row.least = helper.is_simulator(d) and 256 or 2048
    tuning.use(d, operation, "float", row)
  end
  local ok, message = pcall(f)
  for operation, row in pairs(rows) do tuning.use(d, operation, "float", row) end
  if not ok then error(message, 0) end
end

helper.describe_kinds("a reduction along an axis", function(d, dtypes, _, is_sample)
  it("is right for every axis, shape and dtype", function()
    for _, dtype in ipairs(dtypes) do
      for k, shape in ipairs(SHAPES) do
        local x = random(d, dtype, shape, k)
        for axis = 1, #shape do
          local is_long, is_simulator = helper.long(true), helper.is_simulator(d)
          -- A simulator builds soonest, and tries all dtypes; how elements are spread is seen by sums of floats.
          local is_tried = dtype == "float" and (k == SHORT or not is_simulator)
            or k == OTHER and (is_simulator or axis == 3)
          local has_all = is_simulator or k == OTHER and dtype == "float" and not is_sample
          if is_tried or is_long then check(x, axis, not has_all and not is_long) end
        end
      end
    end
  end)

  it("is right for many and few, long and short rows and columns", function()
    with_small_parts(d, function()
      if helper.is_simulator(d) then
        check(random(d, "float", { 2, 1100 }, 3), 2)
        return check(random(d, "float", { 1100, 2 }, 3), 1, true)
      end
      for k, shape in ipairs(LARGE) do
        local x = random(d, k == 3 and "int" or "float", shape, k)
        for axis = 1, #shape do check(x, axis, k > 1 or axis == 1 or is_sample) end
      end
    end)
  end)

  if is_sample then return end

  it("takes views of any start", function()
    local all = random(d, "float", { 40, 3, 17 }, 1)
    for _, first in ipairs { 2, 5 } do
      for axis = 1, 3 do check(all:view(first, 37), axis, axis < 3) end
    end
  end)

  it("gives what a reduction of nothing is", function()
    for _, shape in ipairs { { 0 }, { 0, 3 }, { 3, 0 }, { 2, 0, 3 } } do
      local x = d:zeros("float", table.unpack(shape))
      for axis = 1, #shape do
        check(x, axis)
        local count = product(shape_without(shape, axis), 1, #shape == 1 and 1 or #shape - 1)
        if shape[axis] > 0 then
          assert.equal(0, #flat(cl.min(x, { axis = axis })))
          assert.equal(0, #flat((cl.argmax(x, { axis = axis }))))
          assert.equal(0, #flat(cl.var(x, { axis = axis })))
        else
          for _, name in ipairs { "min", "max", "argmin", "argmax", "mean", "var", "std" } do
            helper.raises(("%s: no elements along axis %d"):format(name, axis), cl[name], x, { axis = axis })
          end
          helper.raises("reduce: no elements along axis", cl.reduce, "a * b", x, { axis = axis })
          assert.equal(count, cl.sum(cl.reduce("a * b", x, { axis = axis, init = 1 })))
          assert.equal(0, cl.sum(cl.norm2(x, { axis = axis })))
        end
      end
    end
  end)

  it("lets NaN win, and finds the first one", function()
    for axis = 1, 2 do
      local x = random(d, "float", { 21, 18 }, 2)
      x:set(3, 4, 0 / 0)
      x:set(9, 4, 0 / 0)
      x:set(3, 11, 0 / 0)
      local own, place = axis == 1 and 4 or 3, axis == 1 and 3 or 4
      for _, name in ipairs { "sum", "asum", "min", "max", "norm2", "mean", "var", "std" } do
        local values = cl[name](x, { axis = axis }):read()
        for k, v in ipairs(values) do
          local is_nan = k == own or axis == 1 and k == 11 or axis == 2 and k == 9
          assert.equal(is_nan, v ~= v, name)
        end
      end
      for _, name in ipairs { "argmin", "argmax" } do
        local at, value = cl[name](x, { axis = axis })
        assert.equal(place, at[own])
        assert.not_equal(value[own], value[own])
      end
    end
  end)

  it("takes any operation, further operands, an init and a preamble", function()
    local x, y = random(d, "int", { 6, 35 }, 3), random(d, "int", { 6, 35 }, 4)
    local all_x, all_y = lists(x, 1), lists(y, 1)
    local got = cl.reduce("a | b", { x = x, y = y, s = 3 }, { map = "x[i] & y[i] & ~s", axis = 1, init = 4 }):read()
    local least = cl.reduce("least(a, b)", { x = x, y = y }, { map = "x[i] - y[i]", axis = 1, dtype = "int",
      preamble = "long least(long a, long b) { return a < b ? a : b; }" })
    assert.equal("int", least.dtype)
    for c = 1, 35 do
      local bits, low = 4, math.huge
      for k = 1, 6 do
        bits = bits | all_x[c][k] & all_y[c][k] & ~3
        low = math.min(low, all_x[c][k] - all_y[c][k])
      end
      assert.equal(bits, got[c])
      assert.equal(low, least[c])
    end
    assert.same({ 0, 1, 2 }, cl.reduce("a + b", d:zeros("float", 3, 2), { map = "i % 2 == 0 ? i / 2 : x[i]", axis = 2,
      dtype = "long" }):read())
  end)

  it("takes expressions", function()
    local a, b = random(d, "float", { 9, 20 }, 5), random(d, "float", { 9, 20 }, 6)
    local sum, of_a, of_b = cl.sum(a * b, { axis = 1 }), lists(a, 1), lists(b, 1)
    for c = 1, 20 do
      local exact = 0
      for k = 1, 9 do exact = exact + of_a[c][k] * of_b[c][k] end
      assert_near(exact, sum[c], 12 * 9 * helper.unit.float, "sum of products")
    end
  end)

  it("keeps 64 bits of sums of integers, and wraps around there", function()
    local x = d:zeros("int", 1000, 3):fill(0x7fffffff)
    assert.same({ 1000 * 0x7fffffff, 1000 * 0x7fffffff, 1000 * 0x7fffffff }, cl.sum(x, { axis = 1 }):read())
    assert.same({ -2 }, cl.sum(d:buffer({ { -1, -1 } }, "ulong"), { axis = 2 }):read())
  end)

  it("has norms where squares overflow or vanish", function()
    for _, dtype in ipairs(d.has_double and { "float", "double" } or { "float" }) do
      local list = dtype == "float" and { 1e-44, 1e-30, 1, 1e30, 6e37 } or { 1e-320, 1e-200, 1, 1e200, 2e307 }
      local rows, expected = {}, {}
      for k, scale in ipairs(list) do
        local row = d:buffer({ 3 * scale, 4 * scale }, dtype):read()
        rows[k], expected[k] = row, math.sqrt((row[1] / row[2]) ^ 2 + 1) * row[2]
      end
      local norms = cl.norm2(d:buffer(rows, dtype), { axis = 2 })
      assert.equal(dtype, norms.dtype)
      for k = 1, #list do
        local smallest = 2.0 ^ (dtype == "float" and -149 or -1074)
        assert_near(expected[k], norms[k], expected[k] * 8 * helper.unit[dtype] + smallest, "norm")
      end
      assert.same({ 0, math.huge }, cl.norm2(d:buffer({ { 0, 0 }, { 1, -1 / 0 } }, dtype), { axis = 2 }):read())
    end
  end)
end)

-- --- means and variances ----------------------------------------------------------

--- Mean and sum of squared differences, by two passes of doubles.
local function moments(list)
  local mean = reference.sum(list) / #list
  local squares = {}
  for k, v in ipairs(list) do squares[k] = (v - mean) ^ 2 end
  return mean, (reference.sum(squares))
end

local function check_moments(x)
  local shape, dtype = x.shape, x.dtype
  local out = IS_FLOATING[dtype] and dtype or "float"
  local mean, squares = moments(flat(x))
  local count = product(shape, 1, #shape)
  local bound = STEPS * helper.unit.float
  local size = math.abs(mean) + math.sqrt(squares / count)
  assert_near(mean, cl.mean(x), bound * size, dtype .. " mean")
  assert_near(squares / count, cl.var(x), bound * squares / count, dtype .. " var")
  assert_near(math.sqrt(squares / (count - 1)), cl.std(x, { ddof = 1 }), bound * math.sqrt(squares), dtype .. " std")
  for axis = 1, #shape do
    local means, variances = cl.mean(x, { axis = axis }), cl.var(x, { axis = axis, ddof = 1, keep = true })
    local deviations = cl.std(x, { axis = axis })
    assert.same({ out, out, out }, { means.dtype, variances.dtype, deviations.dtype })
    assert.same(shape_without(shape, axis), deviations.shape)
    assert.same(shape_without(shape, axis, true), variances.shape)
    means, variances, deviations = flat(means), flat(variances), flat(deviations)
    for k, list in ipairs(lists(x, axis)) do
      mean, squares = moments(list)
      bound = STEPS * helper.unit.float + unit(out)
      assert_near(mean, means[k], bound * (math.abs(mean) + math.sqrt(squares)), dtype .. " mean")
      assert_near(squares / (#list - 1), variances[k], bound * squares, dtype .. " var")
      assert_near(math.sqrt(squares / #list), deviations[k], bound * math.sqrt(squares), dtype .. " std")
    end
  end
end

helper.describe_kinds("means and variances", function(d, dtypes, is_other, is_sample)
  if is_sample then return end
  local operands = require "clcompute.operations.operands"
  local widest_real = operands.widest_real
  after_each(function() operands.widest_real = widest_real end)

  --- A simulator builds soonest, and tries all dtypes; with float the others are of few.
  local function dtypes_of(real)
    if helper.is_simulator(d) or helper.long(true) then return real == "float" and { "int", "float" } or dtypes end
    return { "float" }
  end

  for _, real in ipairs { "the most digits there are", not is_other and "float" or nil } do
    it("are right, computed with " .. real, function()
      if real == "float" then operands.widest_real = function() return real end end
      for k, dtype in ipairs(dtypes_of(real)) do
        check_moments(random(d, dtype, { 7, helper.is_simulator(d) and 5 or 33 }, k))
        local is_tried = helper.long(true) or helper.is_simulator(d) and not is_other
        if dtype == "float" and is_tried then check_moments(random(d, dtype, { 5, 4, 3 }, 1)) end
      end
      local base = d:random("float", 50, 17, { seed = helper.seed, low = -1000, high = 1000 })
      check_moments(cl.map("x[i] + 1e8f", { x = base }))
      if real ~= "float" and d.has_double and (helper.is_simulator(d) or helper.long(true)) then
        base = d:random("double", 50, 17, { seed = helper.seed, low = -1, high = 1 })
        check_moments(cl.map("x[i] + 1e8", { x = base }))
      end
    end)
  end

  it("are finished once, in one launch or behind the parts of long rows and columns", function()
    with_small_parts(d, function()
      for _, shape in ipairs { { 2, 20 }, { 20, 2 }, { 2, 3000 }, { 3000, 2 } } do
        local x = random(d, d.has_double and "double" or "float", shape, 1)
        for axis = 1, 2 do
          local means, norms = flat(cl.mean(x, { axis = axis })), flat(cl.norm2(x, { axis = axis }))
          for k, list in ipairs(lists(x, axis)) do
            local mean, squares = moments(list)
            assert_near(mean, means[k], 1e-5 * math.sqrt(squares), "mean")
            assert_near(math.sqrt(squares + #list * mean ^ 2), norms[k], 1e-5 * norms[k], "norm2")
          end
        end
      end
    end)
  end)
end)

-- --- scans ------------------------------------------------------------------------

--- Whole numbers, whose sums a half holds too.
local function whole(d, dtype, shape, seed)
  local n = product(shape, 1, #shape)
  local low = dtype:find "^u" and 0 or -1
  return d:buffer(d:random("int", n, { seed = helper.seed + seed, low = low, high = 1 }):read(), dtype)
    :reshape(table.unpack(shape))
end

local function check_scan(x, axis, operation, combine, o)
  local out = cl.scan(operation, x, { axis = axis, init = o.init, exclusive = o.exclusive, out = o.out })
  assert.same(x.shape, out.shape)
  local got = lists(out, axis)
  for k, list in ipairs(o.was or lists(x, axis)) do
    local total = o.init
    for i, v in ipairs(list) do
      local following = total and combine(total, v) or v
      assert_near(o.exclusive and total or following, got[k][i], 0,
        "%s, axis %d, %s, element %d", x.dtype, axis, operation, i)
      total = following
    end
  end
end

local function add(a, b) return a + b end

-- 2 x 2 affine maps, packed in an integer: first a, then b
local function compose(a, b) return (a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4 end
local COMPOSE = "(a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4"

helper.describe_kinds("a scan along an axis", function(d, dtypes, _, is_sample)
  local is_simulator = helper.is_simulator(d)

  it("is right for every axis, shape and dtype", function()
    for _, dtype in ipairs(dtypes) do
      for k, shape in ipairs(SHAPES) do
        for axis = 1, #shape do
          local is_tried = k == OTHER and (is_simulator or axis == 3) or dtype == "float" and not is_simulator
          if is_tried or helper.long(true) then
            check_scan(whole(d, dtype, shape, k), axis, "a + b", add, {})
          end
        end
      end
    end
    for axis = 1, is_sample and 0 or 2 do
      local x = whole(d, "float", { 40, 21 }, 1)
      check_scan(x, axis, "max(a, b)", math.max, {})
      check_scan(x, axis, "a + b", add, { exclusive = true, init = 5 })
      check_scan(x, axis, "a + b", add, { out = x, was = lists(x, axis) })
      check_scan(x:view(2, 9), axis, "a + b", add, {})
      local maps = d:random("uint", 40 * 21, { seed = helper.seed, high = 255 }):reshape(40, 21)
      check_scan(maps, axis, COMPOSE, compose, {})
    end
  end)

  it("is right for many and few, long and short rows and columns", function()
    with_small_parts(d, function()
      for k, shape in ipairs(is_simulator and { { 2, 1100 } } or LARGE) do
        local x = whole(d, "float", shape, k)
        for axis = is_simulator and 2 or 1, #shape do check_scan(x, axis, "a + b", add, {}) end
      end
      if is_sample then return end
      local n = is_simulator and 700 or 5000
      local x = d:random("uint", 3 * n, { seed = helper.seed, high = 255 })
      check_scan(x:reshape(3, n), 2, COMPOSE, compose, {})
      check_scan(x:reshape(n, 3), 1, COMPOSE, compose, {})
      x = whole(d, "float", { is_simulator and 700 or 7000, 3 }, 1)
      check_scan(x, 1, "a + b", add, { out = x, was = lists(x, 1) })
      if not is_simulator then check_scan(x:reshape(3, 7000), 2, "a + b", add, { exclusive = true, init = 1 }) end
    end)
  end)

  it("of nothing is nothing", function()
    for axis = 1, 2 do assert.same({ 0, 3 }, cl.scan("a + b", d:zeros("float", 0, 3), { axis = axis }).shape) end
  end)
end)

-- --- what is wrong ----------------------------------------------------------------

helper.describe_each("an axis", function(d)
  local x = d:zeros("float", 4, 6)

  it("that there is not is refused", function()
    for _, name in ipairs { "sum", "asum", "min", "max", "argmin", "argmax", "norm2", "mean", "var", "std" } do
      for _, axis in ipairs { 0, -1, 3 } do
        helper.raises(("%s: option 'axis': 1 .. 2 expected, the dimensions of the buffer, got %d"):format(name, axis),
          cl[name], x, { axis = axis })
      end
      helper.raises(name .. ": option 'axis': integer expected, got number", cl[name], x, { axis = 1.5 })
      helper.raises(name .. ": option 'keep' is for option 'axis', which is missing", cl[name], x, { keep = true })
      helper.raises(name .. ": unknown option 'dim'", cl[name], x, { dim = 1 })
      helper.raises(name .. ": table of options expected, got number", cl[name], x, 1)
    end
    helper.raises("max: table of options expected, got Buffer; write cl.maximum(a, b) for elements", cl.max, x, x)
    helper.raises("scan: option 'axis': 1 .. 2 expected", cl.scan, "a + b", x, { axis = 3 })
    helper.raises("reduce: option 'axis': 1 .. 2 expected", cl.reduce, "a + b", x, { axis = 3 })
  end)

  it("has numbers as results, of an operation and a map that build", function()
    local Range = cl.struct("range", "float low, high;")
    helper.raises("reduce: option 'dtype': with 'axis' a dtype expected, got table", cl.reduce, "a + b", x,
      { axis = 1, dtype = Range })
    helper.raises("reduce: option 'init': with 'axis' number expected, got table", cl.reduce, "a + b", x,
      { axis = 1, init = {} })
    helper.raises("reduce: \"a b\" does not build", cl.reduce, "a b", x, { axis = 1 })
    helper.raises("reduce: \"sqrt(x[i], 1)\" does not build", cl.reduce, "a + b", x,
      { axis = 1, map = "sqrt(x[i], 1)" })
    helper.raises("reduce: operand 'y' is not used", cl.reduce, "a + b", { x = x, y = x }, { axis = 1 })
    helper.raises("var: option 'ddof': 0 .. 3 expected, less than there are elements, got 4", cl.var, x,
      { axis = 1, ddof = 4 })
    helper.raises("std: option 'ddof': 0 .. 23 expected", cl.std, x, { ddof = -1 })
    helper.raises("mean: no elements", cl.mean, d:zeros("float", 0))
  end)

  it("stops at Ctrl-C while a kernel is built, and builds no other", function()
    local reduce, built = require "clcompute.operations.reduce", 0
    local build_elements, build_rest = reduce.build_elements, reduce.build_rest
    finally(function() reduce.build_elements, reduce.build_rest = build_elements, build_rest end)
    function reduce.build_elements() error("interrupted!", 0) end
    function reduce.build_rest() built = built + 1 end
    helper.raises("interrupted!", cl.sum, d:zeros("float", 3, 4), { axis = 1 })
    assert.equal(0, built)
  end)
end)
