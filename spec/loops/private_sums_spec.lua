-- SPDX-License-Identifier: MIT
--- Sums in elements of which data say where they are, in copies of the array that work-items have: integers are Lua's,
--- floats within the bounds of rounding, and the same at each call.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local launchers = require "clcompute.loops.runtime.launchers"
local loops = require "clcompute.loops"
local random_reductions = require "spec.support.random_reductions"

local list_of = random_reductions.list_of

local PLACES, COLUMNS = 5, 4 -- of the arrays that sums are in
local SIZE = 1100 -- passes, which are some chunks

--- Eighths, whose sums are the same in any order.
local function eighth() return math.random(-64, 64) / 8 end

local function any() return 2 * math.random() - 1 end

--- The function that has a body.
local function text_of(body) return ("function(h, t, c, k, l, x, n) %s end"):format(body) end

local function in_loop(body) return text_of(("for i = 1, n do %s end"):format(body)) end

-- What sums in copies, with floats (or not).
local SUMS = {
  in_loop "h[k[i]] = h[k[i]] + x[i]",
  in_loop "h[k[i]] = x[i] * 0.5 + h[k[i]] - 0.125",
  in_loop "local j = k[i]; c[j] = c[j] + 1; for m = 1, 4 do t[j][m] = t[j][m] + x[i] * m end",
  in_loop "if x[i] > 0.0 then h[k[i]] = h[k[i]] + x[i] elseif x[i] < -4.0 then h[l[i]] = h[l[i]] - x[i] end",
  in_loop "t[k[i]][l[i]] = t[k[i]][l[i]] - x[i]",
  in_loop "for j = l[i], k[i] do h[j] = h[j] + x[i] end",
  text_of "for s = 1, 3 do for i = 1, n do h[k[i]] = h[k[i]] + x[i] * s end end",
  text_of "for i = 1, n // 8 do for j = i, n // 4 do h[k[j]] = h[k[j]] + x[i] end end",
  text_of "for i = n, 1, -2 do h[k[i]] = h[k[i]] + x[i]; c[l[i]] = c[l[i]] - i end",
  text_of [=[for y = 1, 20 do
    local d = y * 0.5
    for j = 1, n // 20 do h[k[j]] = h[k[j]] + d end
  end]=],
  text_of [=[for s = 1, 3 do
    for i = 1, n do h[k[i]] = h[k[i]] + x[i] end
    for i = 1, n do x[i] = x[i] * 0.5 end
  end]=],
  in_loop "for m = 1, l[i] do for j = m, 4 do h[j] = h[j] + x[i] end end",
}
local SUMS_OF_INTEGERS = {
  in_loop "c[k[i]] = c[k[i]] + 1",
  in_loop "c[k[i]] = i * i - 3 + c[k[i]]; c[l[i]] = c[l[i]] - l[i]",
  in_loop "c[(k[i] - 1) * 4 + l[i]] = c[(k[i] - 1) * 4 + l[i]] + i",
  in_loop "for j = 1, 3 do c[k[i] + j] = c[k[i] + j] + j end",
}

-- What keeps its order, although it is much the same.
local NO_SUMS = {
  in_loop "x[i] = h[k[i]]; h[k[i]] = h[k[i]] + 1.5",
  in_loop "h[k[i]] = h[k[i]] * 0.5 + x[i]",
  in_loop "h[k[i]] = x[i] - h[k[i]]",
  in_loop "h[k[i]] = h[k[i]] + h[k[i]]",
  in_loop "h[k[i]] = h[k[i]] + h[1]",
  in_loop "h[k[i]] = h[l[i]] + x[i]",
  in_loop "h[k[i]] = h[k[i]] + x[i]; h[l[i]] = 0.5",
  in_loop "c[c[i % 3 + 1] % 2 + 1] = c[c[i % 3 + 1] % 2 + 1] + 1",
  text_of "local s = 0.0; for i = 1, n do s = s + x[i]; h[k[i]] = h[k[i]] + s end",
  text_of [=[local function twice(v) return v + v end
    for i = 1, n do h[k[i]] = twice(h[k[i]]) end]=],
}

local function pick(list) return list[math.random(#list)] end

--- A place of an array for `i` and `m`, which its extent holds.
local function place(around)
  local keys = { "k[i]", "l[i] + 1", "(k[i] + l[i]) % 5 + 1", "i % 5 + 1", "k[n + 1 - i]" }
  local array = pick { "h", "c", "t" }
  if array ~= "t" then return ("%s[%s]"):format(array, pick(keys)) end
  return ("t[%s][%s]"):format(pick(keys), pick { "l[i]", "l[i]", around[2] or "l[i] // 2 + 1" })
end

local function update(around)
  local x = place(around)
  local e = x:find "^c" and pick { "1", "i", "k[i] * l[i]", "(i - 3)" } or pick { "x[i]", "0.5", "x[i] * 0.25", "x[1]" }
  return pick({ "%s = %s + %s", "%s = %s - %s", "%s = %s + %s - 1" }):format(x, x, e)
end

local function block(around, depth)
  local parts = {}
  for i = 1, math.random(2) do
    local way = depth > 0 and math.random(6) or 6
    if way == 1 then
      parts[i] = ("if x[i] > 0.0 then %s else %s end"):format(block(around, 0), block(around, 0))
    elseif way == 2 then
      parts[i] = ("for m = 1, %s do %s end"):format(pick { "4", "l[i]", "1" }, block({ "i", "m" }, 0))
    else
      parts[i] = update(around)
    end
  end
  return table.concat(parts, "; ")
end

--- A random loop of such sums.
local function random_loop()
  local inner = ("for i = %s do %s end"):format(pick { "1, n", "1, n", "n, 1, -1", "2, n, 3" }, block({ "i" }, 2))
  return text_of(math.random(4) > 1 and inner or ("for s = 1, 2 do %s end"):format(inner))
end

local function values_of(n, element)
  return { list_of(PLACES, element), helper.matrix(PLACES, COLUMNS, element),
    list_of(PLACES * COLUMNS, function() return math.random(-9, 9) end),
    list_of(n, function() return math.random(PLACES) end), list_of(n, function() return math.random(COLUMNS) end),
    list_of(n, element), n }
end

helper.describe_each("a sum where data say", function(device)
  local own, own_options = launchers.scattered, launchers.group_options
  local is_slow = not helper.is_simulator(device) -- to build
  local gpu = { type = "gpu", compute_units = 8, local_memory = device.local_memory,
    global_memory = device.global_memory, empty = function(_, ...) return device:empty(...) end }
  local chunks, columns, slices

  setup(function() -- groups add copies up where shapes are those of GPUs; POCL does not end building these
    launchers.group_options = function(_, row) return own_options(is_slow and device or gpu, row) end
    launchers.scattered = function(nest, program, _, row)
      local sums = own(nest, program, row.kernel == "items" and not is_slow and gpu or device, row)
      local share = sums.share
      function sums.share(...)
        local range, result, count = share(...)
        chunks = math.max(chunks, count)
        if result then columns, slices = result.group[1], math.max(slices, result.group[2] or 1) end
        return range, result, count
      end
      return sums
    end
  end)

  teardown(function() launchers.scattered, launchers.group_options = own, own_options end)

  before_each(function() chunks, slices = 0, 0 end)

  local function compile(f, options)
    local all = { device = device, force = true, reduce = "tree" }
    for name, value in pairs(options or {}) do all[name] = value end
    return assert(loops.compile(f, all))
  end

  --- Runs a function in Lua and compiled, and compares all numbers.
  local function check(compiled, text, values)
    local expected, got = copies.of(values), copies.of(values)
    load("return " .. text)()(table.unpack(expected))
    compiled(table.unpack(got))
    for i in ipairs(values) do
      assert(copies.are_equal(expected[i], got[i]), ("argument %d, n = %d\n%s"):format(i, values[7], text))
    end
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
    for _, text in ipairs(NO_SUMS) do
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
    for n, w in pairs { [2] = 130, [3] = 7 } do
      local values = { list_of(4, eighth), list_of(w, eighth), { 4, 1, 4 }, n, w }
      local got = copies.of(values)
      load("return " .. text)()(table.unpack(values))
      compiled(table.unpack(got))
      assert(copies.are_equal(values, got))
    end
    assert.matches("sums in copies of h.-or, where on a GPU j has 64 times as many passes as i:.-reduces, work%-items",
      compiled:explain())
    assert.not_matches("64 times", compile(text, { target = "cpu" }):explain())
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
      local text, values = random_loop(), values_of(math.random(0, SIZE), eighth)
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
