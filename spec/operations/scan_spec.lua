-- SPDX-License-Identifier: MIT
local answers = require "clcompute.answers"
local helper = require "spec.helper"
local cl = require "clcompute"
local tuning = require "clcompute.tuning"

local IS_FLOATING = { half = true, float = true, double = true }
local BITS = { char = 8, uchar = 8, short = 16, ushort = 16, int = 32, uint = 32, long = 64, ulong = 64 }

--- An integer as a dtype keeps its low bits.
local function wrap(v, dtype)
  local bits = BITS[dtype]
  if bits == 64 then return v end
  v = v & (1 << bits) - 1
  return not dtype:find "^u" and v >= 1 << bits - 1 and v - (1 << bits) or v
end

local function random(d, dtype, n, seed)
  local is_signed = not dtype:find "^u"
  return d:random(dtype, n, { seed = helper.seed + seed, low = is_signed and -100 or 0, high = 100 })
end

--- Whole numbers, whose sums a float holds.
local function whole(d, dtype, n, seed)
  local list = d:random("int", n, { seed = helper.seed + seed, low = -3, high = 3 }):read()
  return d:buffer(list, dtype)
end

local function running(list, combine, exclusive, init)
  local out, total = {}, init
  for i, v in ipairs(list) do
    local next_total = v
    if total then next_total = combine(total, v) end
    out[i] = exclusive and total or next_total
    total = next_total
  end
  return out
end

local function add(a, b) return a + b end

local function assert_equal_lists(expected, got)
  assert.equal(#expected, #got)
  for i = 1, #expected do
    if expected[i] ~= got[i] then error(("element %d: expected %s, got %s"):format(i, expected[i], got[i])) end
  end
end

helper.describe_kinds("scan", function(d, dtypes, is_other, is_sample)
  for _, dtype in ipairs(dtypes) do
    it("sums up, inclusive and exclusive, every size of " .. dtype, function()
      for _, n in ipairs(helper.sizes(d)) do
        if n < 70000 or dtype == "float" then
          local x = IS_FLOATING[dtype] and whole(d, dtype, dtype == "half" and math.min(n, 257) or n, n)
            or random(d, dtype, n, n)
          for _, exclusive in ipairs(dtype:find "^[chfi]" and { false, true } or { false }) do
            local expected = running(x:read(), add, exclusive, 0)
            if BITS[dtype] then
              for i = 1, #expected do expected[i] = wrap(expected[i], dtype) end
            end
            local out = cl.scan("a + b", x, { exclusive = exclusive })
            assert.equal(dtype, out.dtype)
            assert_equal_lists(expected, out:read())
          end
        end
      end
    end)
  end

  it("begins with the first element where no init is given, also after a scan that had one", function()
    local x = d:zeros("float", 40):fill(-5)
    assert.equal(-4, cl.scan("max(a, b)", x, { init = -4 })[40])
    assert.equal(-5, cl.scan("max(a, b)", x)[40])
  end)

  it("takes operations that do not commute, in order", function()
    -- 2 x 2 affine maps, packed in an integer: first a, then b
    local function compose(a, b) return (a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4 end
    local text = "(a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4"
    for _, n in ipairs { 1, 17, 300, helper.is_simulator(d) and 700 or 70001 } do
      local x = d:random("uint", n, { seed = helper.seed, low = 0, high = 255 })
      assert_equal_lists(running(x:read(), compose), cl.scan(text, x):read())
      assert_equal_lists(running(x:read(), compose, true, 1), cl.scan(text, x, { exclusive = true, init = 1 }):read())
    end
  end)

  it("knows products, least and largest, with and without an init", function()
    local has_all = helper.is_simulator(d) or helper.long(true)
    for _, dtype in ipairs(has_all and { "int", "float", "uchar" } or is_other and { "float" } or { "int" }) do
      local x = random(d, dtype, 300, 5)
      local list = x:read()
      assert_equal_lists(running(list, math.max), cl.scan("max(a, b)", x):read())
      assert_equal_lists(running(list, math.min), cl.scan("min(a, b)", x):read())
      assert_equal_lists(running(list, math.max, false, 50), cl.scan("max(a, b)", x, { init = 50 }):read())
      assert_equal_lists(running(list, math.min, true, 50),
        cl.scan("min(a, b)", x, { init = 50, exclusive = true }):read())
    end
    assert.same({ 2, 4, 8, 16 }, cl.scan("a * b", d:zeros("int", 4):fill(2)):read())
    assert.same({ 1, 2, 4, 8 }, cl.scan("a*b", d:zeros("int", 4):fill(2), { exclusive = true }):read())
    assert.same({ 11, 13, 16 }, cl.scan("b + a", d:buffer { 1, 2, 3 }, { init = 10 }):read())
  end)

  it("works in place", function()
    for _, n in ipairs { 100, helper.is_simulator(d) and 600 or 1000003 } do
      local x = whole(d, "float", n, 6)
      local expected = running(x:read(), add)
      assert.equal(x, cl.scan("a + b", x, { out = x }))
      assert_equal_lists(expected, x:read())
    end
  end)

  it("takes views of any start, and writes nothing beside them", function()
    for _, n in ipairs { 1, 33, 1000, helper.is_simulator(d) and 600 or 600001 } do
      for _, first in ipairs { 1, 2, 4, 17 } do
        local x, out = whole(d, "float", n + 20, 7), d:zeros("float", n + 40):fill(7)
        local view = x:view(21 - first, 20 - first + n)
        local place = out:view(first, first + n - 1)
        assert.equal(place, cl.scan("a + b", view, { out = place }))
        assert_equal_lists(running(view:read(), add), place:read())
        for i = 1, first - 1 do assert.equal(7, out[i]) end
        for i = first + n, n + 40 do assert.equal(7, out[i]) end
      end
    end
  end)

  if is_sample then return end

  it("computes in the dtype of the result", function()
    local x = d:zeros("uchar", 5):fill(200)
    assert.same({ 200, 144, 88, 32, 232 }, cl.scan("a + b", x):read())
    assert.same({ 200, 400, 600, 800, 1000 }, cl.scan("a + b", x, { dtype = "int" }):read())
    local out = d:zeros("float", 5)
    assert.equal(out, cl.scan("a + b", x, { out = out }))
    assert.same({ 200, 400, 600, 800, 1000 }, out:read())
    local half = d:zeros("half", 100):fill(0.5)
    assert.equal(50, cl.scan("a + b", half)[100])
    assert.equal(50, cl.scan("a + b", half, { dtype = "float" })[100])
  end)

  it("is near the running sum of doubles", function()
    local n = helper.is_simulator(d) and 700 or 1000003
    local x = d:random("float", n, { seed = helper.seed, low = -1 })
    local expected, got, magnitude = running(x:read(), add), cl.scan("a + b", x):read(), 0
    local list = x:read()
    for i = 1, n do
      magnitude = magnitude + math.abs(list[i])
      -- no element goes through more additions than a plain sum has
      if math.abs(expected[i] - got[i]) > math.max(i, 64) * helper.unit.float * magnitude or got[i] ~= got[i] then
        error(("element %d is %g, not %g"):format(i, got[i], expected[i]))
      end
    end
  end)

  it("gives the same bits each time", function()
    local x = d:random("float", helper.is_simulator(d) and 700 or 1000003, { seed = helper.seed })
    local bytes = cl.scan("a + b", x):string()
    for _ = 1, 3 do assert.is_true(bytes == cl.scan("a + b", x):string()) end
  end)

  it("keeps the shape", function()
    local out = cl.scan("a + b", d:buffer { { 1, 2 }, { 3, 4 } })
    assert.same({ { 1, 3 }, { 6, 10 } }, out:read())
    assert.same({ 0 }, cl.scan("a + b", d:zeros("float", 0)).shape)
  end)
end)

helper.describe_each("scan", function(d)
  it("says what is wrong", function()
    local x, released = d:buffer { 1, 2, 3 }, d:buffer { 1 }
    released:release()
    for _, case in ipairs {
      { "an operation combines a and b, but \"a\" has no b", "a", x },
      { "expression (a string) expected, got Buffer; write cl.scan(\"a + b\", x)", x, "a + b" },
      { "argument 2: buffer expected, got nil", "a + b" },
      { "argument 2 is released", "a + b", released },
      { "\"max(a, b)\" needs an 'init', the first result", "max(a, b)", x, { exclusive = true } },
      { "option 'exclusive': boolean expected, got integer", "a + b", x, { exclusive = 1 } },
      { "option 'out' has 1 elements, but 'x' has 3", "a + b", x, { out = d:buffer { 1 } } },
      { "the result overlaps 'x', shifted", "a + b", x:view(1, 2), { out = x:view(2, 3) } },
      { "option 'init': 1e+300 does not fit float", "a + b", x, { init = 1e300 } },
      { "unknown option 'inti'", "a + b", x, { inti = 1 } },
    } do
      helper.raises({ "scan: ", case[1] }, cl.scan, case[2], case[3], case[4])
    end
  end)
end)

helper.describe_soonest("scan in one pass", function(d)
  local GROUP, SHARE, BLOCK = 32, 3, 16
  local TILE = GROUP * SHARE
  local SIZES = { 33, TILE, TILE + 1, 500, BLOCK * TILE, BLOCK * TILE + 1, (2 * BLOCK + 3) * TILE + 5 }

  setup(function()
    tuning.use(d, "scan", "float", { kernel = "scan_groups", group = GROUP, lanes = 1, granule = 32, least = 32,
      per_unit = 8, ahead = 0, share = SHARE, block = BLOCK, one_pass = 1, may_wait = true })
  end)
  teardown(function() tuning.use(d, "scan", "float", nil) end)

  for _, dtype in ipairs(helper.dtypes(d)) do
    it("sums up " .. dtype .. ", inclusive and exclusive, call by call", function()
      for _, n in ipairs(SIZES) do
        local x = IS_FLOATING[dtype] and whole(d, dtype, n, n) or random(d, dtype, n, n)
        for _, exclusive in ipairs { false, true } do
          local expected = running(x:read(), add, exclusive, 0)
          if BITS[dtype] then
            for i = 1, n do expected[i] = wrap(expected[i], dtype) end
          end
          assert_equal_lists(expected, cl.scan("a + b", x, { exclusive = exclusive }):read())
        end
      end
    end)
  end

  it("takes operations without an identity that do not commute, with and without an init", function()
    local function compose(a, b) return (a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4 end
    local text = "(a % 16 * (b % 16) % 16) | ((a >> 4) * (b % 16) + (b >> 4)) % 16 << 4"
    for _, n in ipairs(SIZES) do
      local x = d:random("uint", n, { seed = helper.seed, low = 0, high = 255 })
      assert_equal_lists(running(x:read(), compose), cl.scan(text, x):read())
      assert_equal_lists(running(x:read(), compose, false, 33), cl.scan(text, x, { init = 33 }):read())
      assert_equal_lists(running(x:read(), compose, true, 33),
        cl.scan(text, x, { exclusive = true, init = 33 }):read())
    end
  end)

  it("is for devices whose groups go on while others wait, which a known answer tells", function()
    local test, device = answers.compiler_tests.progress, helper.device()
    if device.type == "gpu" then assert.equal("ok", (answers.run(device, test))) end -- a CPU's threads may rest
    local stuck = setmetatable({ source = test.source:gsub("1 << 17", "0") }, { __index = test })
    assert.equal("fault", (answers.run(device, stuck)))
  end)

  it("is replayed by a recording", function()
    local x, out = whole(d, "float", 900, 3), d:zeros("float", 900)
    local recording = d:record(function() cl.scan("a + b", x, { out = out }) end)
    for seed = 4, 6 do
      x:write(whole(d, "float", 900, seed))
      recording()
      assert_equal_lists(running(x:read(), add), out:read())
    end
  end)

  it("has the same bits where groups wait, and where each reads what is before its tile", function()
    for _, n in ipairs(SIZES) do
      for has_init = 0, 1 do
        local x, bytes = d:random("float", n, { seed = helper.seed + n }), {}
        for _, patience in ipairs { 0, 1 << 17 } do
          local k = d:kernel("scan_lookback",
            { defines = { GROUP = GROUP, SHARE = SHARE, BLOCK = BLOCK, PATIENCE = patience } })
          local tiles, out = -(-n // TILE), d:zeros("float", n)
          k({ global = tiles * GROUP, group = GROUP }, n, d:zeros("ulong", 4 + 2 * tiles + 2), 0, out, 0, has_init, 0.1,
            x, 0)
          bytes[#bytes + 1] = out:string()
        end
        assert.is_true(bytes[1] == bytes[2])
      end
    end
  end)
end)
