-- SPDX-License-Identifier: MIT
--- Sums in elements of which data say where they are, in copies of the array that work-items have: integers are Lua's,
--- floats within the bounds of rounding, and the same at each call.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local launchers = require "clcompute.loops.runtime.launchers"
local loops = require "clcompute.loops"
local random_reductions = require "spec.support.random_reductions"
local scattered = require "clcompute.loops.runtime.scattered"
local scattered_sums = require "spec.support.scattered_sums"

local list_of = random_reductions.list_of
local PLACES, SUMS, SUMS_OF_INTEGERS = scattered_sums.PLACES, scattered_sums.SUMS, scattered_sums.SUMS_OF_INTEGERS
local any, eighth, pick, values_of = scattered_sums.any, scattered_sums.eighth, scattered_sums.pick,
  scattered_sums.values_of
local in_loop, text_of = scattered_sums.in_loop, scattered_sums.text_of

local SIZE = 1100 -- passes, which are some chunks

helper.describe_each("a sum where data say", function(device)
  local own, own_options = scattered.copies, launchers.group_options
  local is_slow = not helper.is_simulator(device) -- to build
  local gpu = { type = "gpu", compute_units = 8, local_memory = device.local_memory,
    max_group_size = device.max_group_size, global_memory = device.global_memory,
    empty = function(_, ...) return device:empty(...) end }
  local chunks, columns, slices

  setup(function() -- groups add copies up where shapes are those of GPUs; POCL does not end building these
    launchers.group_options = function(_, row) return own_options(is_slow and device or gpu, row) end
    scattered.copies = function(nest, program, _, row)
      local sums = own(nest, program, row.kernel == "items" and not is_slow and gpu or device, row)
      local share = sums.share
      function sums.share(...)
        local ranges, count = share(...)
        chunks = math.max(chunks, count)
        if ranges then columns, slices = ranges.result.group[1], math.max(slices, ranges.result.group[2] or 1) end
        return ranges, count
      end
      return sums
    end
  end)

  teardown(function() scattered.copies, launchers.group_options = own, own_options end)

  before_each(function() chunks, slices = 0, 0 end)

  local function compile(f, options)
    local all = { device = device, force = true, reduce = "tree" }
    for name, value in pairs(options or {}) do all[name] = value end
    return assert(loops.compile(f, all))
  end

  local function check(compiled, text, values)
    copies.check(compiled, text, values, ("n = %d"):format(values[7]))
  end

  for target, words in pairs { cpu = "chunks of a processor", gpu = "chunks of a GPU" } do
    it("is Lua's in " .. words, function()
      local is_few = is_slow and target == "gpu"
      for i, text in ipairs(SUMS) do
        if not is_few or i == 3 or i == 7 then
          local compiled = compile(text, { target = target })
          chunks = 0
          local sizes = is_few and { SIZE } or { 0, 1, 33, SIZE }
          for _, n in ipairs(sizes) do check(compiled, text, values_of(n, eighth)) end
          assert(chunks > 1, text)
        end
      end
      assert.is_true(is_slow or target == "cpu" or slices > 1)
    end)

    it("is the same at each call in " .. words, function()
      for _, dtype in ipairs { "float", not is_slow and "double" or nil } do
        local compiled, values = compile(SUMS[3], { target = target }), values_of(SIZE, any)
        local first = copies.in_buffers(values, device, dtype)
        local second = copies.in_buffers(values, device, dtype)
        local expected = copies.of(copies.read(first))
        load("return " .. SUMS[3])()(table.unpack(expected))
        compiled(table.unpack(first))
        compiled(table.unpack(second))
        local found, bound = copies.read(first), 8 * SIZE * SIZE * (dtype == "float" and 2.0 ^ -24 or 2.0 ^ -53)
        assert(copies.are_equal(found, copies.read(second)))
        for i, row in ipairs(expected[2]) do
          for j, value in ipairs(row) do assert.near(value, found[2][i][j], bound) end
        end
        assert.same(expected[3], found[3])
      end
      assert.is_true(chunks > 1)
    end)

    it("raises what Lua does, and adds nothing then, in " .. words, function()
      local compiled = compile(SUMS[1], { target = target })
      for _, fault in ipairs { 0, PLACES + 1, math.mininteger } do
        local values = values_of(SIZE, eighth)
        values[4][SIZE - 7] = fault
        local before = copies.of(values)
        helper.raises(("(h[k[i]]): index %d is outside of 1 .. %d"):format(fault, PLACES),
          compiled, table.unpack(values))
        assert(copies.are_equal(before, values))
      end
      check(compiled, SUMS[1], values_of(SIZE, eighth))
    end)
  end

  it("of integers is Lua's without `reduce`, on a processor", function()
    for _, text in ipairs(SUMS_OF_INTEGERS) do
      local compiled = compile(text, { target = "cpu", reduce = "sequential" })
      chunks = 0
      for _, n in ipairs { 0, 1, 33, SIZE } do check(compiled, text, values_of(n, eighth)) end
      assert(chunks > 1, text)
    end
  end)

  it("of elements that have few bits wraps in copies, too", function()
    for _, dtype in ipairs(is_slow and { "uchar" } or { "char", "uchar", "short", "ushort", "int", "uint" }) do
      local bits = dtype:find "char" and 1 or dtype:find "short" and 2 or 4
      local values = values_of(SIZE, eighth)
      local got = copies.in_buffers(values, device, "double")
      for i in ipairs(values[3]) do values[3][i] = values[3][i] % 10 end
      got[3] = device:buffer(values[3], dtype)
      local text = in_loop "c[k[i]] = c[k[i]] + i * 12345 - 7"
      load("return " .. text)()(table.unpack(values))
      compile(text, { target = "cpu", reduce = "sequential" })(table.unpack(got))
      local format = (dtype:find "^u" and "<I" or "<i") .. bits
      for i, value in ipairs(got[3]:read()) do
        assert.equal(string.unpack(format, string.pack("<i8", values[3][i])), value, dtype)
      end
    end
    assert.is_true(chunks > 1)
  end)

  it("keeps its order where elements are more than sums of them", function()
    for _, text in ipairs(scattered_sums.NO_SUMS) do
      local compiled = compile(text)
      check(compiled, text, values_of(33, eighth))
      assert.not_matches("sums in copies", compiled:explain(), text)
    end
    for _, target in ipairs { "cpu", "gpu" } do
      for _, options in ipairs { { reduce = "sequential" }, { heuristics = "paper" } } do
        options.target = target
        assert.not_matches("sums in copies", compile(SUMS[1], options):explain())
      end
    end
  end)

  it("is one chunk's where copies take longer than passes", function()
    local compiled, values = compile(SUMS[1], { target = "cpu" }), values_of(SIZE, eighth)
    check(compiled, SUMS[1], values)
    assert.equal(SIZE // 256, chunks)
    local in_rows = text_of "for y = 1, 3 do local d = y * 0.5; for j = 1, n do h[k[j]] = h[k[j]] + d end end"
    chunks = 0
    check(compile(in_rows, { target = "cpu" }), in_rows, values)
    assert.equal(3, chunks) -- a row is more than a pass
    values[1], chunks = list_of(SIZE, eighth), 0
    check(compiled, SUMS[1], values)
    assert.equal(1, chunks)
  end)

  it("stays on the host on a GPU where a loop in a pass is far longer", function()
    local text = "function(h, x, k, n, w) for i = 1, n do local s = 0.0 for j = 1, w do s = s + x[j] * i end "
      .. "h[k[i]] = h[k[i]] + s end end"
    local compiled = compile(text, { target = "gpu" })
    for n, w in pairs { [2] = 2060, [3] = 7 } do
      local values = { list_of(4, eighth), list_of(w, eighth), { 4, 1, 4 }, n, w }
      local got = copies.of(values)
      load("return " .. text)()(table.unpack(values))
      compiled(table.unpack(got))
      assert(copies.are_equal(values, got))
    end
    assert.matches("sums in copies of h.-or, where on a GPU j has 1024 times as many passes as i:.-reduces, work",
      compiled:explain())
    assert.not_matches("1024 times", compile(text, { target = "cpu" }):explain())
  end)

  it("leaves elements alone that no pass adds to: -0.0, NaN, infinity", function()
    local values = values_of(SIZE, eighth)
    values[1] = { -0.0, 0 / 0, math.huge, -0.0, 1.5, -math.huge }
    for i = 1, SIZE do values[4][i] = 5 end
    for _, target in ipairs(is_slow and { "cpu" } or { "cpu", "gpu" }) do
      check(compile(SUMS[1], { target = target }), SUMS[1], values)
    end
    assert.is_true(chunks > 1)
  end)

  it("of floats has one order, that of its size", function()
    local explained = assert(loops.compile(SUMS[3], { device = device, target = "cpu", reduce = "tree" })):explain()
    assert.not_matches("one work%-item", explained)
    assert.matches("%-> shared out to work%-items\n", explained)
    assert.matches("sums in copies of arrays are put together in another order than Lua's", explained)
    for _, target in ipairs { "cpu", "gpu" } do
      local compiled = compile(SUMS[3], { target = target })
      check(compiled, SUMS[3], values_of(3, any)) -- too few passes for copies
      assert.equal(1, compiled:stats().launches)
    end
  end)

  it("is put together by neighbours where elements are many", function()
    local compiled, values = compile(SUMS[1], { target = "gpu" }), values_of(SIZE, eighth)
    values[1], values[4] = list_of(100, eighth), list_of(SIZE, function() return math.random(100) end)
    check(compiled, SUMS[1], values)
    assert.equal(is_slow and 1 or 32, columns)
    assert.is_true(chunks > 1)
  end)

  it("of integers may be one work-item's, or in copies, as each call decides", function()
    local text = SUMS_OF_INTEGERS[1]
    local compiled = assert(loops.compile(text, { device = device, target = "cpu" }))
    compiled(table.unpack(values_of(3, eighth)))
    local explained = compiled:explain()
    assert.matches("one work%-item; reads .-\n *or, instead of it:\n *nest_1, .- sums in copies of c", explained)
    assert.matches("sums where data say: c%[k%[i%]%] %-> a loop of one work%-item, or shared out", explained)
    assert.not_matches("in another order than Lua's", explained)
    for _, on_device in ipairs { { true, false }, { false, true }, { true, true } } do
      local values = values_of(SIZE, eighth)
      local got = copies.of(values)
      chunks = 0
      load("return " .. text)()(table.unpack(values))
      assert(helper.call_with(on_device, compiled, table.unpack(got)))
      assert(copies.are_equal(values, got))
      assert.equal(on_device[2] and 0 or SIZE // 256, chunks)
    end
  end)

  it("is Lua's in random loops", function()
    local count, launched = helper.long(300) or is_slow and 3 or 16, 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text, values = scattered_sums.random_loop(), values_of(math.random(0, SIZE), eighth)
      local compiled = compile(text, { target = is_slow and "cpu" or pick { "cpu", "gpu" } })
      local place_of = ("seed %d\n%s"):format(seed, text)
      chunks = 0
      local expected, got = copies.of(values), copies.of(values)
      load("return " .. text)()(table.unpack(expected))
      compiled(table.unpack(got))
      assert(copies.are_equal(expected, got), place_of)
      launched = launched + (chunks > 1 and 1 or 0)
    end
    assert.is_true(launched >= count // 4, "few had copies: " .. launched)
  end)
end)
