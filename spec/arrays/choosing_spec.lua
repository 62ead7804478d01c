-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local reference = require "spec.reference"
local tuning = require "clcompute.tuning"

--- Small whole numbers, many of them the same.
local function random(d, dtype, n)
  local low = dtype:find "^u" and 0 or -5
  local list = {}
  for i = 1, n do list[i] = math.random(low, 9) end
  return d:buffer(list, dtype)
end

local function keep(list, holds)
  local kept = {}
  for i, v in ipairs(list) do if holds(v, i) then kept[#kept + 1] = v end end
  return kept
end

local function sizes(d)
  if helper.is_simulator(d) then return { 1, 2, 257 } end
  return { 1, 2, 255, 256, 257, 65537, helper.long(1000003) }
end

helper.describe_kinds("compact", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    local has_mask = dtype == "float" or helper.is_simulator(d) or helper.long(true)
    it("keeps elements of " .. dtype .. " in order, by a condition and by a mask", function()
      for _, n in ipairs(sizes(d)) do
        local x = random(d, dtype, n)
        local list = x:read()
        local expected = keep(list, function(v) return v > 3 end)
        local got = cl.compact("x > 3", x)
        assert.equal(dtype, got.dtype)
        assert.same(expected, got:read())
        for i, v in ipairs(list) do list[i] = v > 3 and 1 or 0 end
        if has_mask then assert.same(expected, cl.compact(x, d:buffer(list, "char")):read()) end
      end
    end)
  end

  if is_sample then return end

  it("keeps all, none, and what operands and the index ask for", function()
    local x, y = random(d, "int", 300), random(d, "float", 300)
    assert.same(x:read(), cl.compact("x > t", { x = x, t = -9 }):read())
    assert.same({ 0 }, cl.compact("x > t", { x = x, t = 9 }).shape)
    local limits = y:read()
    assert.same(keep(x:read(), function(v, i) return v > limits[i] + 2 and i > 10 end),
      cl.compact("x > y + t && i >= 10", { x = x, y = y, t = 2 }):read())
    assert.same({ 0 }, cl.compact("x > 0", d:empty("half", 0)).shape)
    assert.same({ 0 }, cl.compact(d:empty("int", 0), d:empty("int", 0)).shape)
  end)

  it("refuses the order of cl.where, which would be wrong without a word", function()
    local x = d:buffer { 1, 2, 3 }
    helper.raises('the condition goes first: cl.compact("x > 1", x)', cl.compact, x, "x > 1")
    helper.raises({ "cl.compact(x, mask) expected, got uchar elements" }, cl.compact, cl.gt(x, 1), x)
  end)

  it("keeps bits as they are, takes views of any start and matrices", function()
    local x = d:buffer({ 1, 0 / 0, -0.0, 0, 5, 0 / 0 }, "float")
    assert.is_true(x:view(2, 3):string() == cl.compact("x != x || signbit(x) != 0", x:view(2, 4)):string())
    local matrix = d:buffer({ { 3, 1, 2 }, { 0, 5, 4 } }, "int")
    assert.same({ 3, 5, 4 }, cl.compact("x > 2", matrix):read())
    assert.same({ 0, 4 }, cl.compact(matrix:view(2, 2), d:buffer({ 7, 1, 0, 1 }, "uchar"):view(2, 4)):read())
  end)
end)

helper.describe_soonest("compact in one pass", function(d)
  local GROUP, SHARE, BLOCK = 32, 3, 16
  local TILE = GROUP * SHARE
  local SIZES = { 33, TILE, TILE + 1, BLOCK * TILE + 1, (2 * BLOCK + 3) * TILE + 5 }

  setup(function()
    tuning.use(d, "scan", "float", { kernel = "scan_groups", group = GROUP, lanes = 1, granule = 32, least = 32,
      per_unit = 8, ahead = 0, share = SHARE, block = BLOCK, one_pass = 1, may_wait = true })
  end)
  teardown(function() tuning.use(d, "scan", "float", nil) end)

  for _, dtype in ipairs(helper.is_simulator(d) and helper.dtypes(d) or { "float" }) do
    it("keeps elements of " .. dtype .. " in order: all, some, few and none", function()
      for _, n in ipairs(SIZES) do
        local x = random(d, dtype, n)
        local list = x:read()
        for limit = 0, 9, 3 do
          local got = cl.compact("x >= t", { x = x, t = limit })
          assert.equal(dtype, got.dtype)
          assert.same(keep(list, function(v) return v >= limit end), got:read())
        end
        assert.same(keep(list, function(_, i) return i > n - 2 end),
          cl.compact(x, d:buffer(keep(list, function() return true end), dtype):fill(0):fill(1, n - 1, n)):read())
      end
    end)
  end

  it("takes views of any start and the index", function()
    local n = BLOCK * TILE
    local x = d:arange(1, n + 3, "int"):view(4, n + 3)
    assert.same({ n + 2, n + 3 }, cl.compact("i + 2 >= n", { x = x, n = n }):read())
    assert.same(x:read(5, n), cl.compact("i >= 4", x):read())
  end)

  it("keeps the same where groups wait, and where each counts what is before its tile", function()
    for _, n in ipairs(SIZES) do
      local x, kept = random(d, "float", n), {}
      for _, counted in ipairs { "uint", "ulong" } do
        for _, patience in ipairs { 0, 1 << 17 } do
          local k = d:kernel("compact_lookback", { defines = { GROUP = GROUP, SHARE = SHARE, BLOCK = BLOCK,
            PATIENCE = patience, VALUE = counted, EXPRESSION = "arg_x > 3", PARAMETERS = "BUFFER(float, x)",
            LOADS = "ELEMENT(float, x)" } })
          local tiles, out, total = -(-n // TILE), d:zeros("float", n), d:zeros(counted, 1)
          local state = d:zeros("ulong", 4 + 4 * tiles + 4)
          k({ global = tiles * GROUP, group = GROUP }, n, state, 0, out, 0, total, 0, x, 0)
          kept[#kept + 1] = out:read(1, total[1])
        end
      end
      local expected = keep(x:read(), function(v) return v > 3 end)
      assert.same({ expected, expected, expected, expected }, kept)
    end
  end)
end)

helper.describe_kinds("unique", function(d, dtypes, _, is_sample)
  local few = helper.is_simulator(d) and { "char", "half" } or helper.long(dtypes) or { "float" }
  for _, dtype in ipairs(few) do
    it("gives the distinct values of " .. dtype .. " in order, and how often they are there", function()
      for _, n in ipairs(sizes(d)) do
        local x = random(d, dtype, n)
        local list, values, counts = x:read(), {}, {}
        for _, i in ipairs(reference.order(list)) do
          if list[i] ~= values[#values] then values[#values + 1], counts[#counts + 1] = list[i], 0 end
          counts[#counts] = counts[#counts] + 1
        end
        local got, how_often = cl.unique(x, { counts = true })
        assert.equal(dtype, got.dtype)
        assert.same(values, got:read())
        assert.same(counts, how_often:read())
        assert.same(values, cl.unique(x):read())
        assert.equal(1, select("#", cl.unique(x)))
      end
    end)
  end

  if is_sample then return end

  it("takes -0 and 0 as equal, and all NaN", function()
    local nan = string.pack("I4", 0x7fc00001)
    local x = d:buffer(string.pack("ffff", 0, -0.0, 0 / 0, -1) .. nan, "float", 5)
    local values, counts = cl.unique(x, { counts = true })
    assert.same({ 1, 2, 2 }, counts:read())
    assert.same({ -1, 0 }, values:read(1, 2))
    assert.is_true(values[3] ~= values[3])
    local none, no_counts = cl.unique(d:empty("long", 0), { counts = true })
    assert.same({ { 0 }, { 0 } }, { none.shape, no_counts.shape })
  end)
end)

helper.describe_kinds("count, any and all", function(d, _, _, is_sample)
  it("tell how many elements a condition holds for, whether for one, and whether for all", function()
    for _, n in ipairs(sizes(d)) do
      local x = random(d, "int", n)
      local list = x:read()
      for limit = -6, 9, 5 do
        local holds = #keep(list, function(v) return v > limit end)
        assert.equal(holds, cl.count("x > t", { x = x, t = limit }))
        assert.equal(holds > 0, cl.any("x > t", { x = x, t = limit }))
        assert.equal(holds == n, cl.all("x > t", { x = x, t = limit }))
      end
      assert.equal(#keep(list, function(v) return v ~= 0 end), cl.count(x))
    end
  end)

  it("may ask for the index alone, and go along an axis", function()
    local x = d:buffer { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 1, 3, 5 }, cl.compact("i % 2 == 0", x):read())
    local columns = cl.count("x > t", { x = x, t = 2 }, { axis = 1 })
    assert.same({ "long", { 1, 1, 2 } }, { columns.dtype, columns:read() })
    local rows = cl.all(d:buffer { { 1, 0 }, { 2, 3 } }, { axis = 2, keep = true })
    assert.same({ "uchar", { { 0 }, { 1 } } }, { rows.dtype, rows:read() })
    assert.same({ 1, 1 }, cl.all(d:zeros("int", 2, 0), { axis = 2 }):read())
    helper.raises("any: option 'axis': 1 .. 2 expected", cl.any, x, { axis = 3 })
  end)

  if is_sample then return end

  it("take masks, nothing, and compute as cl.map does", function()
    local mask, none = d:buffer({ 0, 0.5, -3 }, "float"), d:empty("int", 0)
    assert.same({ 2, true, false }, { cl.count(mask), cl.any(mask), cl.all(mask) })
    assert.same({ 2, true, false }, { cl.count("x", mask), cl.any("x", mask), cl.all("x", mask) })
    assert.same({ 0.5, -3 }, cl.compact("x", mask):read())
    assert.same({ 9, 1, 1 }, cl.where("x", 1, 9, { operands = { x = mask } }):read())
    assert.same({ 0, false, true }, { cl.count(none), cl.any(none), cl.all("x > 0", none) })
    local x = d:buffer({ 0, 1, 2 }, "uint") -- 0 - 1 is the largest
    assert.equal(2, cl.count("x - 1 > 0", x))
    assert.same({ 0, 2 }, cl.compact("x - 1 > 0", x):read())
    assert.same({ 0, 9, 2 }, cl.where("x - 1 > 0", x, 9):read())
  end)
end)

helper.describe_soonest("where", function(d)
  it("chooses between elements and numbers by a condition, of the first buffer or of others", function()
    local a, b = d:buffer({ 1, -2, 3 }, "int"), d:buffer({ 0.5, 1.5, 9 }, "float")
    assert.same({ 1, 0, 3 }, cl.where("x > 0", a, 0):read())
    assert.same({ 7, 1.5, 9 }, cl.where("x < 1", 7, b):read())
    assert.same({ 1, 1.5, 9 }, cl.where("a > b", a, b):read())
    assert.equal("float", cl.where("a > b", a, b).dtype)
    assert.same({ 1, -1, -1 }, cl.where("m[i] < t", a, -1,
      { operands = { m = d:buffer({ 1, 2, 3 }, "uchar"), t = 2 } }):read())
    assert.same({ -1, 9, 9 }, cl.where("x == 4", -1, 9, { operands = { x = d:buffer({ 4, 5, 6 }, "uchar") },
      dtype = "int" }):read())
  end)

  it("takes masks, keeps shapes, writes where it is asked to", function()
    local mask = d:buffer({ { 0, 1 }, { 2, 0 } }, "char")
    local a = d:buffer { { 1, 2 }, { 3, 4 } }
    assert.same({ { -1, 2 }, { 3, -1 } }, cl.where(mask, a, -1):read())
    assert.equal(a, cl.where(mask, a, 0.5, { out = a }))
    assert.same({ { 0.5, 2 }, { 3, 0.5 } }, a:read())
    assert.same({ { 5, 1 }, { 1, 5 } }, cl.where(mask, 1, 5):read())
    assert.same({ 0 }, cl.where("x > 0", d:empty("int", 0), 1).shape)
  end)

  it("chooses by what does not count for the dtype: a mask, or what the condition alone mentions", function()
    local function shows(expected, ...)
      local made = cl.where(...)
      assert.same(expected, { made.dtype, table.unpack(made:read()) })
    end
    local a, i = d:buffer({ -5, 3 }, "char"), d:buffer({ 16777217, 3 }, "int")
    local floats, bytes = d:buffer({ 1, 0 }, "float"), d:buffer({ 1, 0 }, "uchar")
    shows({ "char", -5, 0 }, cl.lt(a, 0), a, 0)
    shows({ "char", -1, 3 }, cl.lt(a, 0), -1, a)
    shows({ "int", 16777217, 0 }, floats, i, 0)
    shows({ "int", 16777217, 0 }, floats, i, 0, { dtype = "int" })
    shows({ "int", 16777217, 0 }, floats, i, 0, { out = d:zeros("int", 2) })
    shows({ "int", 16777217, 3 }, bytes, i, a)
    shows({ "float", 0.5, 3 }, bytes, 0.5, i)
    shows({ "long", 9007199254740993, 0 }, "x > t", d:buffer({ 9007199254740993, 3 }, "long"), 0,
      { operands = { t = 5.5 } })
    shows({ "int", -1, 300 }, bytes, -1, 300)
    shows({ "float", 1, 0.5 }, bytes, 1, 0.5)
    shows({ "long", 1 << 40, 0 }, floats, 1 << 40, 0)
    shows({ "int", 1, 0 }, "m[i] > 5", 1, 0, { operands = { m = i } })
    helper.raises("operand 'a': 300 does not fit char", cl.where, bytes, 300, a)
  end)

  it("repeats what has another shape, as operators do, and refuses what does not go together", function()
    local column, row = d:buffer({ { 1 }, { 0 } }, "char"), d:buffer({ { -1, 2 } }, "short")
    assert.same({ { -1, 2 }, { 5, 5 } }, cl.where(column, row, 5):read())
    assert.same({ { 1, 2 }, { 3, 3 } }, cl.where("a > b", d:buffer { { 1 }, { 3 } }, d:buffer { 1, 2 }):read())
    for _, condition in ipairs { "a > b", d:zeros("char", 2, 3) } do
      helper.raises({ "where: shapes 2x3 of argument 2 and 3x2 of argument 3" }, cl.where, condition,
        d:zeros("int", 2, 3), d:zeros("int", 3, 2))
    end
    assert.same({ { 0, 2, 0 }, { 0, 0, 3 } }, cl.where("x > t", d:buffer { 1, 2, 3 }, 0,
      { operands = { t = 0, x = d:buffer({ { 0, 1, 0 }, { 0, 0, 1 } }, "char") } }):read())
  end)
end)

helper.describe_soonest("conditions of any shape", function(d)
  local dtypes = { "char", "int", "float" }

  --- The shape that goes with another one: an extent may be 1, the first ones may be missing.
  local function going_with(shape)
    local own = {}
    for k = math.random(#shape), #shape do own[#own + 1] = math.random(3) == 1 and 1 or shape[k] end
    return own
  end

  --- A buffer of small whole numbers with its values at each place of a shape that it goes with.
  local function operand(shape, whole)
    local n = 1
    for _, extent in ipairs(shape) do n = n * extent end
    local b = random(d, dtypes[math.random(#dtypes)], n)
    local list = b:read()
    return b:reshape(table.unpack(shape)), function(place)
      local at, step = 0, 1
      for k = #whole, 1, -1 do
        local own = shape[k - #whole + #shape] or 1
        if own > 1 then at = at + place % whole[k] * step end
        step, place = step * own, place // whole[k]
      end
      return list[at + 1]
    end
  end

  local function any_shape()
    local shape, count = {}, 1
    for k = 1, math.random(3) do
      shape[k] = math.random(7)
      count = count * shape[k]
    end
    return shape, count
  end

  it("choose as Lua does", function()
    math.randomseed(helper.seed)
    for trial = 1, helper.long(300) or 20 do
      local shape, count = any_shape()
      local a, a_at = operand(shape, shape)
      local b, b_at = operand(going_with(shape), shape)
      local mask, mask_at = operand(going_with(shape), shape)
      local is_mask, is_number, expected = trial % 2 == 0, trial % 3 == 0, {}
      if is_number then b, b_at = 3, function() return 3 end end
      local got = cl.where(is_mask and mask or "a > b", a, b)
      for i = 0, count - 1 do
        local holds = mask_at(i) ~= 0
        if not is_mask then holds = a_at(i) > b_at(i) end
        expected[i + 1] = holds and a_at(i) or b_at(i)
      end
      assert.same(shape, got.shape)
      assert.same(expected, got:reshape(count):read())
    end
  end)

  it("count as Lua does, along any axis too", function()
    math.randomseed(helper.seed + 1)
    for trial = 1, helper.long(300) or 20 do
      local shape, count = any_shape()
      local x, at = operand(shape, shape)
      local axis, holding, limit = math.random(#shape), 0, math.random(-4, 8)
      local inner, counts, alls, anys = 1, {}, {}, {}
      for k = axis + 1, #shape do inner = inner * shape[k] end
      for i = 0, count - 1 do
        local line = i // (inner * shape[axis]) * inner + i % inner + 1
        local holds = at(i) > limit and 1 or 0
        holding, counts[line] = holding + holds, (counts[line] or 0) + holds
      end
      for k, n in ipairs(counts) do alls[k], anys[k] = n == shape[axis] and 1 or 0, n > 0 and 1 or 0 end
      local given = trial % 2 == 0 and { cl.gt(x, limit) } or { "x > t", { x = x, t = limit } }
      assert.same({ holding, holding > 0, holding == count },
        { cl.count(table.unpack(given)), cl.any(table.unpack(given)), cl.all(table.unpack(given)) })
      given[#given + 1] = { axis = axis }
      for f, expected in pairs { [cl.count] = counts, [cl.any] = anys, [cl.all] = alls } do
        local got = f(table.unpack(given))
        assert.same(expected, got:reshape(got.count):read())
      end
    end
  end)
end)

helper.describe_each("a condition", function(d)
  it("is kept with few others, however many there were", function()
    local x = d:zeros("int", 0)
    local long = (" "):rep(4096)
    --- KiB in use after conditions from first to last.
    local function used(first, last)
      for i = first, last do cl.compact(("x > %d%s"):format(i, long), x) end
      collectgarbage()
      collectgarbage()
      return collectgarbage "count"
    end
    local few = used(1, 512)
    assert.is_true(used(513, 1536) - few < 1024) -- texts of 4 MiB
  end)

  it("says what is wrong", function()
    local x, y = d:buffer { 1, 2, 3 }, d:buffer { 1, 2 }
    for _, case in ipairs {
      { "count", "unknown name 'q'; there are: i, x, in \"q > 0\"", "q > 0", x },
      { "count", "operand 't' is not used", "x > 0", { x = x, t = 1 } },
      { "count", "argument 1: buffer expected, got nil" },
      { "count", "behind a mask expected, got Buffer; a condition comes first: cl.count(\"x > 0\", x)", x, x },
      { "any", "'=' assigns", "x = 1", x },
      { "all", "')' closes nothing", "x) ? (1", x },
      { "all", "buffer or table of operands by their names expected", "x > 0" },
      { "where", "a buffer expected among the operands", "a > 1", 1, 2 },
      { "where", "argument 3: buffer or number expected, got nil", "x > 1", x },
      { "where", "shapes 3 of argument 2 and 2 of argument 3 do not go together", "x > 1", x, y },
      { "where", "argument 1: buffer expected, got number", 1, x, x },
      { "where", "'a' and 'b' are the arguments", "x > 1", x, x, { operands = { a = y } } },
      { "where", "a mask has none", x, x, x, { operands = {} } },
      { "where", "operand 't' is not used", "x > 1", x, x, { operands = { t = 1 } } },
      { "compact", "'x' has 3 elements, but 'mask' has 2", x, y },
      { "compact", "argument 2: buffer expected, got nil", x },
      { "compact", "a buffer 'x' expected among the operands", "y > 0", { y = y } },
      { "compact", "does not build", "x > 1 +", x },
      { "unique", "option 'counts': boolean expected", x, { counts = 1 } },
      { "unique", "argument 1: buffer expected, got table", {} },
    } do
      helper.raises({ case[1] .. ": ", case[2] }, cl[case[1]], table.unpack(case, 3, 6))
    end
    assert.matches("^%S*choosing_spec.lua:%d+: count: ", helper.raises("count", function() return (cl.count(1)) end))
  end)
end)
