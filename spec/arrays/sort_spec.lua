-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local reference = require "spec.reference"
local tuning = require "clcompute.tuning"

local BYTES = { char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2, float = 4,
  double = 8 }
local SPECIAL = { 0.0, -0.0, 1 / 0, -1 / 0, 0 / 0, 1.0, -1.0, 0.0, -0.0, 0 / 0 }

--- Elements of random bytes, of floats with what they have besides numbers.
local function random(d, dtype, n)
  local bytes = {}
  for i = 1, n * BYTES[dtype] do bytes[i] = string.char(math.random(0, 255)) end
  local x = d:buffer(table.concat(bytes), dtype, n)
  if math.type(d:zeros(dtype, 1)[1]) == "float" then
    for k = 1, math.min(n // 2, #SPECIAL) do x[math.random(n)] = SPECIAL[k] end
  end
  return x
end

local function order(x, descending)
  return reference.order(x:read(), descending, x.dtype == "ulong" and math.ult)
end

--- The bytes of elements in an order.
local function pick(x, places)
  local bytes, size, parts = x:string(), BYTES[x.dtype], {}
  for k, i in ipairs(places) do parts[k] = bytes:sub((i - 1) * size + 1, i * size) end
  return table.concat(parts)
end

--- Asserts that a buffer has the elements of another one in an order, bit by bit.
local function assert_order(x, places, got)
  assert.equal(x.dtype, got.dtype)
  assert.is_true(pick(x, places) == got:string(), ("%s, %d elements"):format(x.dtype, #places))
end

local function sizes(d, dtype)
  if helper.is_simulator(d) then return dtype == "char" and { 1, 2, 255, 257 } or { 257 } end
  return { 1, 2, 255, 256, 257, 20011, helper.long(1000003) }
end

helper.describe_kinds("sort", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    if helper.is_simulator(d) and dtype == "ulong" then goto continue end -- takes it half of this spec's time
    it("orders every size of " .. dtype .. ", NaN last, and tells where elements were", function()
      for _, n in ipairs(sizes(d, dtype)) do
        local x = random(d, dtype, n)
        local places = order(x)
        assert_order(x, places, cl.sort(x))
        assert.same(places, cl.argsort(x):read())
      end
      assert.same({ 0 }, cl.sort(d:empty(dtype, 0)).shape)
      assert.same({ 0 }, cl.argsort(d:empty(dtype, 0)).shape)
    end)
    ::continue::
  end

  if is_sample then return end

  it("keeps the order of equal elements, also descending, -0 and 0 among them", function()
    for dtype, values in pairs { float = { 0, -0.0, 0 / 0, 1, -1, 1 / 0 }, int = { 3, -1, 3 << 20, -5 << 16 } } do
      local list = {}
      for i = 1, helper.is_simulator(d) and 300 or 20011 do list[i] = values[math.random(#values)] end
      local x = d:buffer(list, dtype)
      for _, descending in ipairs { false, true } do
        local places = order(x, descending)
        assert_order(x, places, cl.sort(x, { descending = descending }))
        assert.same(places, cl.argsort(x, { descending = descending }):read())
      end
    end
  end)

  it("takes what is in order, against it, or all the same", function()
    local n = helper.is_simulator(d) and 300 or 40000
    local up, down = {}, {}
    for i = 1, n do up[i], down[i] = i, n + 1 - i end
    assert.same(up, cl.sort(d:buffer(up, "int")):read())
    assert.same(up, cl.sort(d:buffer(down, "int")):read())
    assert.same(up, cl.argsort(d:zeros("int", n)):read())
    assert.is_true(d:zeros("int", n):fill(-7):string() == cl.sort(d:zeros("int", n):fill(-7)):string())
  end)

  it("works in place, however many digits differ, and moves a buffer along", function()
    for bytes = 0, 4 do -- that differ
      local n, list = helper.is_simulator(d) and 257 or 20011, {}
      for i = 1, n do list[i] = math.random(0, (1 << 8 * bytes) - 1) - (bytes == 4 and 1 << 31 or 0) end
      local x, values = d:buffer(list, "int"), random(d, "ushort", n)
      local before, places = x:copy(), order(x)
      local got, moved = cl.sort(x, { out = x, with = values })
      assert.equal(x, got)
      assert_order(before, places, x)
      assert_order(values, places, moved)
    end
  end)

  it("moves several buffers along", function()
    local x = random(d, "uchar", 300)
    local values = { random(d, "double", 300), random(d, "char", 300), x }
    local sorted, moved = cl.sort(x, { with = values })
    local places = order(x)
    assert_order(x, places, sorted)
    for k = 1, 3 do assert_order(values[k], places, moved[k]) end
    assert.equal(3, #moved)
    assert.same({}, (select(2, cl.sort(x, { with = {} }))))
    local _, none = cl.sort(d:empty("int", 0), { with = d:empty("float", 0) })
    assert.same({ 0 }, none.shape)
  end)

  it("takes views of any start, writes nothing beside them, and keeps shapes", function()
    local x, out = random(d, "int", 1100), d:zeros("int", 1100):fill(7)
    local view, place = x:view(4, 1003), out:view(6, 1005)
    assert.equal(place, cl.sort(view, { out = place }))
    assert_order(view, order(view), place)
    assert.same({ 7, 7, 7, 7, 7 }, out:read(1, 5))
    assert.equal(7, out[1006])
    local before = x:string()
    local places = order(view)
    local expected = pick(view, places)
    cl.sort(view, { out = view })
    assert.is_true(before:sub(1, 12) .. expected .. before:sub(4013) == x:string())
    local matrix = d:buffer({ { 3, 1, 2 }, { 0, 5, 4 } }, "int")
    assert.same({ { 0, 1, 2 }, { 3, 4, 5 } }, cl.sort(matrix):read())
    assert.same({ { 4, 2, 3 }, { 1, 6, 5 } }, cl.argsort(matrix):read())
  end)
end)

helper.describe_each("sort", function(d)
  it("writes past the caches, where that is worth it", function()
    local row = tuning.of(d, "sort", "float")
    if not row.stream then return pending "this device's sort has no such way" end
    row.stream = 1
    tuning.use(d, "sort", "float", row)
    for _, n in ipairs { 1, 63, 20011 } do
      local x, values = random(d, "uint", n + 5), random(d, "uchar", n)
      local view, out = x:view(6, n + 5), d:zeros("uint", n + 3)
      local sorted, moved = cl.sort(view, { out = out:view(4, n + 3), with = values })
      assert_order(view, order(view), sorted)
      assert_order(values, order(view), moved)
      assert.same({ 0, 0, 0 }, out:read(1, 3))
    end
    tuning.use(d, "sort", "float", nil)
  end)

  it("ranks by warps, where the device's compiler can tell what a warp has in common", function()
    local row = { kernel = "sort_move_warps", group = 32, lanes = 1, granule = 512, least = 512, per_unit = 4,
      ahead = 0, bits = 4, share = 5 }
    tuning.use(d, "sort", "float", row)
    for _, dtype in ipairs { "uchar", "int", "half", "long" } do
      for _, n in ipairs(helper.is_simulator(d) and { 1, 577 } or { 1, 31, 160, 161, 20011 }) do
        local x, values = random(d, dtype, n + 1):view(2, n + 1), random(d, "ushort", n)
        local places = order(x)
        local sorted, moved = cl.sort(x, { with = values })
        assert_order(x, places, sorted)
        assert_order(values, places, moved)
        assert.same(order(x, true), cl.argsort(x, { descending = true }):read())
      end
    end
    tuning.use(d, "sort", "float", nil)
  end)

  it("says what is wrong", function()
    local x, y, released = d:buffer { 1, 2, 3 }, d:buffer { 3, 2, 1 }, d:buffer { 1 }
    released:release()
    for _, case in ipairs {
      { "argument 1: buffer expected, got nil" },
      { "argument 1 is released", released },
      { "option 'descending': boolean expected, got integer", x, { descending = 1 } },
      { "unknown option 'axis'", x, { axis = 1 } },
      { "option 'out' has 1 elements, but 'x' has 3", x, { out = d:buffer { 1 } } },
      { "option 'out' has int elements, but 'x' has float", x, { out = d:zeros("int", 3) } },
      { "the result overlaps 'x', shifted", x:view(1, 2), { out = x:view(2, 3) } },
      { "option 'with' has 2 elements, but 'x' has 3", x, { with = y:view(1, 2) } },
      { "option 'with[2]': buffer expected, got number", x, { with = { y, 1 } } },
      { "option 'out' is 'with', which moves along", x, { with = y, out = y } },
      { "the result overlaps 'with', shifted", x:view(1, 2), { with = y:view(1, 2), out = y:view(2, 3) } },
    } do
      helper.raises({ "sort: ", case[1] }, cl.sort, case[2], case[3])
    end
    helper.raises("argsort: argument 1: buffer expected, got table", cl.argsort, {})
    helper.raises("argsort: unknown option 'out'", cl.argsort, x, { out = x })
    assert.matches("^%S*sort_spec.lua:%d+: sort: ", helper.raises("sort", function() return (cl.sort(1)) end))
  end)
end)
