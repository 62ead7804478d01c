-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

local inf, nan = math.huge, 0 / 0

local names = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double" }

local function is_there(d, dtype) return dtype ~= "double" or d.has_double end

-- --- what they are ----------------------------------------------------------------

describe("the reference", function()
  it("has the published answers of Philox 4x32-10", function()
    local all, pi = 0xffffffff, { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 }
    local rows = { { { 0, 0, 0, 0 }, { 0, 0 }, "6627e8d5 e169c58d bc57ac4c 9b00dbd8" },
      { { all, all, all, all }, { all, all }, "408f276d 41c83b0e a20bc7c6 6d5451fd" },
      { pi, { 0xa4093822, 0x299f31d0 }, "d16cfe09 94fdcceb 5001e420 24126ea1" } }
    for _, row in ipairs(rows) do
      assert.equal(row[3], ("%08x %08x %08x %08x"):format(reference.philox(row[1], row[2])))
    end
  end)
end)

--- An element of each dtype by the words of its block, in Lua.
local elements = {
  float = function(words, i) return (words[i] >> 8) * 2.0 ^ -24 end,
  double = function(words, i) return ((words[2 * i] << 32 | words[2 * i - 1]) >> 11) * 2.0 ^ -53 end,
  uint = function(words, i) return words[2 * i] end, -- all 32 bits: high = 0xffffffff
  ulong = function(words, i) return words[4 * i] << 32 | words[4 * i - 1] end, -- all 64 bits
  int = function(words, i) -- -5 .. 1000: 1006 numbers
    local low, high = words[2 * i - 1] * 1006 >> 32, words[2 * i] * 1006
    return -5 + (high + low >> 32)
  end,
}
local BOUNDS = { uint = { high = 0xffffffff }, ulong = { low = 0, high = -1 }, int = { low = -5, high = 1000 } }
local WORDS = { float = 1, double = 2, uint = 2, int = 2, ulong = 4 }

helper.describe_kinds("random numbers", function(d, _, _, is_sample)
  it("are those of Philox in Lua, whatever is left over of vectors", function()
    for _, n in ipairs { 1, 31, 33, 130, helper.is_simulator(d) and 300 or 20011 } do
      for dtype, element in pairs(elements) do
        if is_there(d, dtype) then
          local seed, options = math.random(0), {}
          for key, value in pairs(BOUNDS[dtype] or {}) do options[key] = value end
          options.seed = seed
          local words, list = reference.random_words(seed, n * WORDS[dtype]), d:random(dtype, n, options):read()
          for i = 1, n do
            local expected = element(words, i)
            if list[i] ~= expected then assert.equal(expected, list[i], ("%s %d"):format(dtype, i)) end
          end
        end
      end
    end
  end)

  if is_sample then return end

  it("of a matrix are those of its elements in a line, in check mode too", function()
    d:check(true)
    local checked = d:random("float", 7, 9, { seed = 3 })
    d:check(false)
    assert.equal(d:random("float", 63, { seed = 3 }):string(), checked:string())
    assert.same({ 0, 4 }, d:random("float", 0, 4).shape)
  end)

  it("takes a new seed each time unless it is given one, counted up from that of cl.seed", function()
    local x, y = d:random("uint", 9), d:random("uint", 9)
    assert.not_equal(x:string(), y:string())
    cl.seed(-1)
    assert.equal(d:random("uint", 9, { seed = -1 }):string(), d:random("uint", 9):string())
    assert.equal(d:random("uint", 9, { seed = 0 }):string(), d:random("uint", 9):string())
    assert.equal(d:permutation(9, { seed = 1 }):string(), d:permutation(9):string())
  end)

  it("of a range beyond the largest number are finite", function()
    for dtype, most in pairs { float = (2 - 2.0 ^ -23) * 2.0 ^ 127, double = (2 - 2.0 ^ -52) * 2.0 ^ 1023 } do
      if is_there(d, dtype) then
        local below = 0
        for _, v in ipairs(d:random(dtype, 200, { low = -most, high = most }):read()) do
          assert.is_true(v >= -most and v < most)
          if v < 0 then below = below + 1 end
        end
        assert.is_true(below > 50 and below < 150)
      end
    end
  end)

  it("are permutations of 1 .. n", function()
    for _, n in ipairs { 0, 1, 2, 3, 16, 17, 31, 1000, helper.is_simulator(d) and 1 or 70001 } do
      local list = d:permutation(n, { seed = helper.seed + n }):read()
      table.sort(list)
      assert.equal(n, #list)
      for i = 1, n do if list[i] ~= i then assert.equal(i, list[i]) end end
    end
  end)
end)

describe("random numbers", function()
  it("are the same on every device, and depend on the seed", function()
    for _, dtype in ipairs(names) do
      local first
      for _, d in ipairs(helper.devices()) do
        local b = d:random(dtype, 7, 11, { seed = 5 })
        first = first or b:string()
        assert.equal(first, b:string())
        assert.are_not.equal(first, d:random(dtype, 7, 11, { seed = 6 }):string())
      end
    end
  end)

  it("of a longer buffer begin with those of a shorter one", function()
    local d = helper.device()
    assert.equal(d:random("int", 10, { seed = 3 }):string(), d:random("int", 70001, { seed = 3 }):string():sub(1, 40))
  end)

  it("have finite bounds, in their order", function()
    local d = helper.device()
    for _, bounds in ipairs { { low = 1, high = 0 }, { low = -math.huge }, { high = math.huge }, { low = 0 / 0 } } do
      helper.raises("option 'low' must not exceed 'high'; both must be finite", d.random, d, "float", 3, bounds)
    end
    for _, law in ipairs { { mean = math.huge }, { sd = math.huge }, { sd = -1 }, { sd = 0 / 0 } } do
      law.distribution = "normal"
      helper.raises("options 'mean' and 'sd' must be finite", d.random, d, "float", 3, law)
    end
  end)

  it("of a floating type lie in low <= x < high, spread evenly", function()
    local d, n = helper.device(), 70000
    local cases = { { 0, 1 }, { -1, 1 }, { 1000, 1001 }, { 0.5, 0.75 }, { 3, 3 } }
    for dtype, digits in pairs { half = 10, float = 23, double = 52 } do
      for _, v in ipairs(d:random(dtype, 50, { low = 1, high = 1 + 2.0 ^ -digits }):read()) do assert.equal(1, v) end
      for _, case in ipairs(cases) do
        local low, high = table.unpack(case)
        local least, most, sum = inf, -inf, 0
        for _, v in ipairs(d:random(dtype, n, { seed = helper.seed, low = low, high = high }):read()) do
          least, most, sum = math.min(least, v), math.max(most, v), sum + v
        end
        assert.is_true(least >= low)
        assert.is_true(low == high and most == high or most < high, ("%s: %g"):format(dtype, most))
        -- six standard deviations of the mean, and half the spacing of halves
        local slack = (high - low) * 6 / math.sqrt(12 * n) + (dtype == "half" and high * 2 ^ -11 or 0)
        assert.near((low + high) / 2, sum / n, slack)
      end
    end
    assert.is_true(d:random("float", 1):get(1) < 1) -- 0 and 1 unless given
  end)

  it("of an integer type reach both bounds and nothing else", function()
    local d = helper.device()
    for _, dtype in ipairs { "char", "int", "long" } do
      local seen = {}
      for _, v in ipairs(d:random(dtype, 1000, { low = -2, high = 2, seed = helper.seed }):read()) do seen[v] = true end
      assert.same({ [-2] = true, [-1] = true, [0] = true, true, true }, seen)
    end
    local all = d:random("long", 1000, { low = math.mininteger, high = math.maxinteger }):read()
    assert.is_true(math.max(table.unpack(all)) > 2 ^ 62 and math.min(table.unpack(all)) < -2 ^ 62)
    assert.same({ 7, 7 }, d:random("uchar", 2, { low = 7, high = 7 }):read())
  end)

  it("refuse bounds that are none, naming the option", function()
    local cases = {
      { "no option 'sed'; there are seed, low, high, distribution, mean, sd", "float", { sed = 1 } },
      { "'low' must not exceed 'high'", "float", { low = 2, high = 1 } },
      { "'low' must not exceed 'high'", "int", { low = 2, high = 1 } },
      { "'low' must not exceed 'high'; both must be finite", "float", { low = nan } },
      { "both must be finite", "double", { high = inf } },
      { "option 'low': 1.5 has no integer value", "int", { low = 1.5 } },
      { "option 'high': 1000 does not fit char", "char", { high = 1000 } },
      { "option 'low': -1 does not fit uint", "uint", { low = -1 } },
      { "option 'high': 1e+39 does not fit float", "float", { high = 1e39 } },
      { "option 'low': number expected, got table", "float", { low = {} } },
      { "option 'seed': integer expected, got string", "float", { seed = "x" } },
      { "option 'seed': integer", "float", { seed = 0.5 } },
    }
    local d = helper.device()
    for _, case in ipairs(cases) do helper.raises({ "#4", case[1] }, d.random, d, case[2], 3, case[3]) end
    helper.raises({ "#3", "size expected" }, d.random, d, "float", { seed = 1 })
    helper.raises({ "#3", "number expected" }, d.random, d, "float", {}, 3)
  end)
end)

describe("normal numbers", function()
  it("are the same on every device to the last digits", function()
    for dtype, digits in pairs { half = 2.0 ^ -10, float = 2.0 ^ -20, double = 2.0 ^ -49 } do
      local first
      for _, d in ipairs(helper.devices()) do
        if is_there(d, dtype) then
          local list = d:random(dtype, 203, { seed = helper.seed, distribution = "normal" }):read()
          first = first or list
          for i, v in ipairs(list) do assert.near(first[i], v, digits * math.max(1, math.abs(v))) end
        end
      end
    end
  end)

  it("are those of Box and Muller in Lua", function()
    local d = helper.device()
    local list = d:random("float", 4000, { seed = 9, distribution = "normal" }):read()
    local words = reference.random_words(9, 4000)
    for i = 1, 4000, 2 do
      local square = -2 * math.log((words[i] + 0.5) * 2.0 ^ -32)
      assert.near(square, list[i] ^ 2 + list[i + 1] ^ 2, 2.0 ^ -20 * math.max(1, square))
    end
  end)

  it("have the mean and the deviation that were asked for", function()
    local d = helper.device()
    local one = d:random("float", 1000, { seed = 1, distribution = "normal" }):read()
    local other = d:random("float", 1000, { seed = 1, distribution = "normal", mean = -3, sd = 0.5 }):read()
    for i, v in ipairs(one) do assert.near(-3 + v / 2, other[i], 2.0 ^ -20) end
    local same = { seed = 1, distribution = "normal", mean = 7, sd = 0 }
    assert.same({ 7, 7, 7 }, d:random("double", 3, same):read())
  end)

  it("refuse options that are none", function()
    local d = helper.device()
    local cases = { { "normal numbers are half, float or double, not int", "int", {} },
      { "'low': it goes with distribution = \"uniform\"", "float", { low = 1 } },
      { "'high': it goes with distribution = \"uniform\"", "float", { high = 1 } },
      { "'sd' not below 0", "float", { sd = -1 } }, { "must be finite", "float", { mean = nan } },
      { "option 'sd': 1e+39 does not fit float", "float", { sd = 1e39 } } }
    for _, case in ipairs(cases) do
      case[3].distribution = "normal"
      helper.raises({ "#4", case[1] }, d.random, d, case[2], 3, case[3])
    end
    helper.raises({ "'mean'", "distribution = \"normal\"" }, d.random, d, "float", 3, { mean = 1 })
    helper.raises({ "'distribution'", "uniform" }, d.random, d, "float", 3, { distribution = "gauss" })
  end)
end)

-- --- statistics: with fixed seeds, so that they hold or not once and for all ------------------

--- Pearson's sum for counts that are to be alike, as standard deviations from its mean.
local function chi_square(counts, cells, n)
  local expected, sum = n / cells, 0
  for cell = 1, cells do sum = sum + ((counts[cell] or 0) - expected) ^ 2 / expected end
  return (sum - (cells - 1)) / math.sqrt(2 * (cells - 1))
end

--- Kolmogorov and Smirnov's distance from a distribution function, times sqrt(n).
local function distance(list, probability)
  table.sort(list)
  local most, n = 0, #list
  for i, v in ipairs(list) do
    local p = probability(v)
    most = math.max(most, i / n - p, p - (i - 1) / n)
  end
  return most * math.sqrt(n)
end

--- The normal distribution function, by its series and far out by its continued fraction.
local function normal(x)
  local density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
  if math.abs(x) > 5 then
    local t = math.abs(x)
    local tail = density / (t + 1 / (t + 2 / (t + 3 / (t + 4 / (t + 5 / t)))))
    return x < 0 and tail or 1 - tail
  end
  local term, sum, k = x, x, 1
  repeat
    k = k + 2
    term = term * x * x / k
    sum = sum + term
  until math.abs(term) < 1e-17
  return 0.5 + sum * density
end

local LIMIT = 1.95 -- of the distance: one in a thousand is beyond

describe("statistics of", function()
  local d, n = helper.device(), helper.long(1 << 24) or 1 << 16

  it("uniform numbers are those of the distribution", function()
    for seed, dtype in ipairs { "float", is_there(d, "double") and "double" or nil } do
      local list, cells, pairs_of = d:random(dtype, n, { seed = seed }):read(), {}, {}
      for i, v in ipairs(list) do
        local cell = v * 256 // 1 | 0
        cells[cell + 1] = (cells[cell + 1] or 0) + 1
        if i % 2 == 0 then
          local both = (list[i - 1] * 16 // 1 | 0) * 16 + (v * 16 // 1 | 0) + 1
          pairs_of[both] = (pairs_of[both] or 0) + 1
        end
      end
      assert.is_true(math.abs(chi_square(cells, 256, n)) < 4, dtype)
      assert.is_true(math.abs(chi_square(pairs_of, 256, n // 2)) < 4, dtype)
      assert.is_true(distance(list, function(v) return v end) < LIMIT, dtype)
    end
  end)

  it("integers are as likely each", function()
    for seed, dtype in ipairs { "uchar", "int", "long" } do
      local counts = {}
      for _, v in ipairs(d:random(dtype, n, { seed = seed, low = 1, high = 100 }):read()) do
        counts[v] = (counts[v] or 0) + 1
      end
      assert.is_true(math.abs(chi_square(counts, 100, n)) < 4, dtype)
    end
  end)

  it("normal numbers are those of the distribution", function()
    for seed, dtype in ipairs { "float", is_there(d, "double") and "double" or nil } do
      local list = d:random(dtype, n, { seed = seed, distribution = "normal" }):read()
      local sum, squares, products = 0, 0, 0
      for i, v in ipairs(list) do
        sum, squares, products = sum + v, squares + v * v, products + v * (list[i + 1] or 0)
      end
      local root = math.sqrt(n)
      assert.is_true(math.abs(sum / root) < 4 and math.abs(products / root) < 4, dtype)
      assert.is_true(math.abs(squares - n) / math.sqrt(2 * n) < 4, dtype)
      assert.is_true(distance(list, normal) < LIMIT, dtype)
    end
  end)

  it("permutations are as likely each", function()
    for count, cells in pairs { [3] = 6, [4] = 24, [5] = 120 } do
      local counts, seen, m = {}, {}, helper.long(100000) or 3000
      for seed = 1, m do
        local key = table.concat(d:permutation(count, { seed = seed }):read(), " ")
        if not seen[key] then
          counts[#counts + 1] = 0
          seen[key] = #counts
        end
        counts[seen[key]] = counts[seen[key]] + 1
      end
      assert.equal(cells, #counts)
      assert.is_true(math.abs(chi_square(counts, cells, m)) < 4, tostring(count))
    end
  end)

  it("large permutations are those of no order", function()
    local count, sums, fixed, rising = helper.long(1 << 22) or 1 << 17, {}, 0, 0
    local list = d:permutation(count, { seed = 1 }):read()
    for i, v in ipairs(list) do
      local cell = ((i - 1) * 16 // count) * 16 + (v - 1) * 16 // count + 1
      sums[cell] = (sums[cell] or 0) + 1
      if v == i then fixed = fixed + 1 end
      if i > 1 and v > list[i - 1] then rising = rising + 1 end
    end
    assert.is_true(math.abs(chi_square(sums, 256, count)) < 4)
    assert.is_true(fixed < 8)
    assert.is_true(math.abs(rising - count / 2) < 4 * math.sqrt(count / 12))
  end)
end)

-- --- where they are made ------------------------------------------------------------

describe("random numbers of a recording", function()
  it("are the same at each run", function()
    local d = cl.device(helper.device().place, { isolated = false, check = false })
    local x
    local s = d:record(function() x = d:random("float", 100, { seed = 4 }) end)
    s():wait()
    local first = x:string()
    x:fill(0)
    s(3):wait()
    assert.equal(first, x:string())
    assert.equal(d:random("float", 100, { seed = 4 }):string(), first)
  end)
end)

describe("random numbers of an isolated device", function()
  it("are those of others", function()
    if #cl.devices "cpu" == 0 then return pending "only processors can be isolated" end
    local d <close> = cl.device("cpu", { isolated = true })
    local expected = helper.device():random("double", 1000, { seed = 2, distribution = "normal" }):string()
    assert.equal(expected, d:random("double", 1000, { seed = 2, distribution = "normal" }):string())
  end)
end)

-- --- progressions -------------------------------------------------------------------

helper.describe_kinds("a progression", function(d, dtypes)
  it("from a to b has these at its ends, and n numbers", function()
    for _, dtype in ipairs(dtypes) do
      if dtype == "half" or dtype == "float" or dtype == "double" then
        for _, n in ipairs { 1, 2, 3, 7, 64, 331 } do
          local a, b = 0.25, -3.5
          local list = d:linspace(a, b, n, dtype):read()
          assert.equal(n, #list)
          assert.equal(a, list[1])
          if n > 1 then assert.equal(b, list[n]) end
          local unit = ({ half = 2.0 ^ -11, float = 2.0 ^ -22, double = 2.0 ^ -50 })[dtype]
          for i, v in ipairs(list) do assert.near(a + (b - a) * (i - 1) / math.max(n - 1, 1), v, 4 * unit) end
        end
      end
    end
    if d.has_double then assert.equal(0.1, d:linspace(0, 0.1, 7, "double")[7]) end
    assert.same({ 0 }, d:linspace(0, 1, 0).shape)
  end)

  it("has what Lua's for has", function()
    local cases = { { 1, 10 }, { 10, 1, -3 }, { 1, 0 }, { -3, 3, 2 }, { 5, 5 }, { 0, 100, 7 } }
    for _, dtype in ipairs(dtypes) do
      for _, case in ipairs(cases) do
        local expected, fits = {}, true
        for v = case[1], case[2], case[3] or 1 do
          expected[#expected + 1], fits = v, fits and (v >= 0 or not dtype:find "^u")
        end
        if fits then assert.same(expected, d:arange(case[1], case[2], case[3] or 1, dtype):read()) end
      end
    end
    assert.same({ 0.0, 0.25, 0.5, 0.75, 1.0 }, d:arange(0, 1, 0.25):read())
    assert.same({ 1.0, 2.0, 3.0 }, d:arange(3):read())
    assert.same({ 1, 2, 3 }, d:arange(3, "int"):read())
    assert.equal(0, #d:arange(0))
    assert.same({ 250, 251, 252, 253, 254, 255 }, d:arange(250, 255, "uchar"):read())
    assert.same({ 4, 2, 0 }, d:arange(4, 0, -2, "uchar"):read())
    assert.same({ math.maxinteger - 1, math.maxinteger }, d:arange(math.maxinteger - 1, math.maxinteger, "long"):read())
  end)
end)

describe("a matrix with ones along its diagonal", function()
  it("has any shape and dtype", function()
    for _, d in ipairs(helper.devices()) do
      assert.same({ { 1, 0, 0 }, { 0, 1, 0 } }, d:eye(2, 3, "char"):read())
      assert.same({ { 1.0, 0.0 }, { 0.0, 1.0 }, { 0.0, 0.0 } }, d:eye(3, 2):read())
      assert.same({ { 1 } }, d:eye(1, "ulong"):read())
      assert.same({ 0, 0 }, d:eye(0).shape)
    end
  end)
end)

describe("a buffer of one value", function()
  it("has it everywhere", function()
    for _, d in ipairs(helper.devices()) do
      assert.same({ { 7, 7 }, { 7, 7 } }, d:full("short", 7, 2, 2):read())
      assert.same({ 0.5, 0.5 }, d:full("half", 0.5, 2):read())
      assert.same({ 0 }, d:full("float", 1, 0).shape)
      helper.raises({ "#2", "300 does not fit char" }, function() d:full("char", 300, 2) end)
    end
  end)
end)

describe("what makes progressions", function()
  local d = helper.device()

  it("refuses numbers that make none", function()
    local cases = {
      { "linspace: 'b': number expected, got string", "linspace", 0, "x", 2 },
      { "linspace: 'a' must be finite, got inf", "linspace", inf, 0, 2 },
      { "linspace: 'n': integer from 0 on expected, got 1.5", "linspace", 0, 1, 1.5 },
      { "linspace: 'n': integer from 0 on expected, got nil", "linspace", 0, 1 },
      { "linspace: half, float or double expected, got int", "linspace", 0, 1, 3, "int" },
      { "linspace: 1e+39 does not fit float", "linspace", 0, 1e39, 3 },
      { "linspace: b - a must be finite", "linspace", -1.5e308, 1.5e308, 3, "double" },
      { "linspace: at most 4 arguments expected, got 5", "linspace", 0, 1, 3, "float", 5 },
      { "arange: 'last': number expected, got nil", "arange" },
      { "arange: 'step' must not be 0", "arange", 1, 2, 0 },
      { "arange: 'last' must be finite, got inf", "arange", 1, inf },
      { "arange: 1000 does not fit char", "arange", 1, 1000, "char" },
      { "arange: 0.5 has no integer value", "arange", 0, 1, 0.5, "int" },
      { "are too many elements", "arange", math.mininteger, math.maxinteger, "long" },
      { "arange: no dtype 'foo'", "arange", 1, 2, "foo" },
      { "eye: 'n': integer from 0 on expected, got -1", "eye", -1 },
      { "eye: 'm': integer from 0 on expected, got 0.5", "eye", 2, 0.5 },
      { "eye: 1099511627776 x 8192 are too many elements", "eye", 1 << 40, 1 << 13 },
      { "linspace: 4611686018427387904 are too many elements", "linspace", 0, 1, 1 << 62 },
      { "eye: no dtype 'foo'", "eye", 2, "foo" },
      { "no option 'sed'; there are seed", "permutation", 3, { sed = 1 } },
    }
    for _, case in ipairs(cases) do helper.raises(case[1], d[case[2]], d, table.unpack(case, 3)) end
  end)
end)
