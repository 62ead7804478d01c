-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local function sizes(d)
  if helper.is_simulator(d) then return { 1, 257 } end
  return { 1, 2, 255, 256, 257, 65537, helper.long(1000003) }
end

helper.describe_kinds("gather and scatter", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    it("move elements of " .. dtype .. " from and to indices", function()
      for _, n in ipairs(sizes(d)) do
        local x = d:random(dtype, n, { seed = helper.seed + n, low = 0, high = 100 })
        local list, indices = x:read(), {}
        for i = 1, n // 2 + 1 do indices[i] = math.random(n) end
        local at, expected = d:buffer(indices, n < 256 and "uchar" or "int"), {}
        for i, k in ipairs(indices) do expected[i] = list[k] end
        local gathered = cl.gather(x, at)
        assert.equal(dtype, gathered.dtype)
        assert.same(expected, gathered:read())
        local out = x:copy()
        for i, k in ipairs(indices) do list[k] = expected[#indices + 1 - i] end -- the last one stays
        local values = {}
        for i = 1, #indices do values[i] = expected[#indices + 1 - i] end
        assert.equal(out, cl.scatter(d:buffer(values, dtype), at, out))
        assert.same(list, out:read())
      end
    end)
  end

  if is_sample then return end

  it("take indices of every integer dtype, no indices, views of any start, and keep shapes", function()
    local x = d:buffer({ { 10, 20, 30 }, { 40, 50, 60 } }, "int")
    for _, dtype in ipairs(helper.is_simulator(d) and { "char", "ushort", "int", "ulong" } or { "int", "ulong" }) do
      assert.same({ { 60, 10 }, { 20, 20 } }, cl.gather(x, d:buffer({ { 6, 1 }, { 2, 2 } }, dtype)):read())
    end
    assert.same({ 0 }, cl.gather(x, d:empty("int", 0)).shape)
    local line, indices = x:reshape(6), d:buffer({ 9, 2, 1, 2 }, "uint")
    assert.same({ 30, 20, 30 }, cl.gather(line:view(2, 5), indices:view(2, 4)):read())
    cl.scatter(line:view(4, 6), indices:view(2, 4), line:view(2, 3))
    assert.same({ { 10, 50, 60 }, { 40, 50, 60 } }, x:read())
    assert.same({ { 10, 50, 60 }, { 40, 50, 60 } }, cl.scatter(d:empty("int", 0), d:empty("int", 0), x):read())
  end)

  it("refuse indices that are out of bounds, name the first one, and write nothing then", function()
    local n = helper.is_simulator(d) and 300 or 70000
    local x, indices = d:zeros("float", n), d:zeros("int", n):fill(1)
    local values = d:zeros("float", n):fill(5)
    for _, wrong in ipairs { 0, -1, n + 1 } do
      indices:fill(1):set(n, wrong)
      indices:set(n - 1, wrong)
      local words = ("index number %d is %d, expected 1 to %d"):format(n - 1, wrong, n)
      helper.raises("gather: " .. words, cl.gather, x, indices)
      helper.raises("scatter: " .. words, cl.scatter, values, indices, x)
    end
    assert.equal(0, cl.max(x))
    helper.raises("index number 2 is 18446744073709551615, expected 1 to", cl.gather, x, d:buffer({ 1, -1 }, "ulong"))
    helper.raises("index number 1 is 1, expected 1 to 0", cl.gather, d:empty("int", 0), d:buffer({ 1 }, "int"))
  end)
end)

helper.describe_each("concat", function(d)
  it("take buffers of other queues of the device, and none of another device", function()
    local x, y = d:buffer({ 3, 1, 2 }, "int"), d:queue():buffer({ 2, 3, 1 }, "int")
    y.device:wait()
    assert.same({ 1, 2, 3 }, cl.gather(x, y):read())
    assert.same({ 3, 1, 2, 2, 3, 1 }, cl.concat(x, y):read())
    local _, moved = cl.sort(x, { with = y })
    assert.same({ 3, 1, 2 }, moved:read())
    local other
    for _, device in ipairs(helper.devices()) do other = device ~= d and device or other end
    if not other then return end
    local message = "the buffer lives on another device; b:copy(device) moves it"
    helper.raises({ "gather: argument 2", message }, cl.gather, x, other:buffer({ 1 }, "int"))
    helper.raises({ "sort: option 'with'", message }, cl.sort, x, { with = other:buffer({ 1, 2, 3 }, "int") })
    helper.raises({ "scatter: argument 2", message }, cl.scatter, x, other:buffer({ 1, 2, 3 }, "int"), y)
    helper.raises({ "scatter: argument 3", message }, cl.scatter, x, x, other:zeros("int", 3))
  end)

  it("puts buffers behind one another", function()
    local a, b = d:buffer({ 1, 2 }, "short"), d:buffer({ 9, 3, 4 }, "short")
    assert.same({ 1, 2, 3, 4, 1, 2 }, cl.concat(a, b:view(2, 3), d:empty("short", 0), a):read())
    assert.equal("short", cl.concat(a).dtype)
    assert.same({ 0 }, cl.concat(a:view(1, 0), a:view(1, 0)).shape)
    local m = d:buffer { { { 1, 2 } }, { { 3, 4 } } }
    assert.same({ { { 1, 2 } }, { { 3, 4 } }, { { 3, 4 } } }, cl.concat(m, m:view(2, 2)):read())
  end)
end)

helper.describe_each("concat", function(d)
  --- Elements of a buffer as a list, and extents multiplied.
  local function product(shape, first, last)
    local n = 1
    for k = first, last do n = n * shape[k] end
    return n
  end
  local function flat(b) return b.count > 0 and b:reshape(b.count):read() or {} end

  --- The lists of buffers behind one another along an axis.
  local function joined(parts, shapes, axis)
    local out, rank = {}, #shapes[1]
    for outer = 0, product(shapes[1], 1, axis - 1) - 1 do
      for k, list in ipairs(parts) do
        local run = product(shapes[k], axis, rank)
        table.move(list, outer * run + 1, (outer + 1) * run, #out + 1, out)
      end
    end
    return out
  end

  it("has the elements of any buffers in order, views and slices too, along any axis", function()
    math.randomseed(helper.seed)
    local dtypes = helper.dtypes(d)
    for trial = 1, helper.long(300) or 16 do
      local shape, parts, shapes, lists, extent = {}, {}, {}, {}, 0
      for k = 1, math.random(4) do shape[k] = math.random(6) end
      local axis, dtype = math.random(#shape), dtypes[math.random(#dtypes)]
      for k = 1, math.random(4) do
        local own = table.move(shape, 1, #shape, 1, {})
        own[axis] = math.random(0, 5)
        local wider = table.move(own, 1, #own, 1, {})
        wider[axis], extent = own[axis] + 2, extent + own[axis]
        wider[#wider + 1] = { seed = helper.seed + trial * 10 + k, low = 0, high = 100 }
        local all, cuts = d:random(dtype, table.unpack(wider)), {}
        cuts[axis] = { 2, own[axis] + 1 }
        parts[k] = axis == 1 and k % 2 == 0 and all:view(2, own[1] + 1) or all:slice(table.unpack(cuts, 1, #shape))
        shapes[k], lists[k] = own, flat(parts[k])
      end
      shape[axis] = extent
      if axis > 1 or trial % 2 == 0 then parts[#parts + 1] = { axis = axis } end
      local got = cl.concat(table.unpack(parts))
      assert.same({ dtype, shape }, { got.dtype, got.shape })
      assert.same(joined(lists, shapes, axis), flat(got))
    end
  end)
end)

helper.describe_each("moving elements", function(d)
  it("says what is wrong", function()
    local x, i, released = d:buffer { 1, 2, 3 }, d:buffer({ 1, 2, 3 }, "int"), d:buffer { 1 }
    released:release()
    for _, case in ipairs {
      { "gather", "argument 1: buffer expected, got nil" },
      { "gather", "argument 1 is released", released, i },
      { "gather", "argument 2: buffer expected, got table", x, {} },
      { "gather", "argument 2: indices of an integer dtype expected, got float", x, x },
      { "scatter", "argument 3: buffer expected, got nil", x, i },
      { "scatter", "argument 3 has int elements, but argument 1 has float", x, i, i },
      { "scatter", "argument 1 has 2 elements, but argument 2 has 3", x:view(1, 2), i, d:zeros("float", 3) },
      { "scatter", "argument 3 is 'values'", x, i, x },
      { "scatter", "argument 3 is 'indices'", i:copy(), i, i },
      { "scatter", "the result overlaps 'values', shifted", x:view(1, 2), i:view(1, 2), x:view(2, 3) },
      { "concat", "argument 1: buffer expected, got nil" },
      { "concat", "argument 2: buffer expected, got nil", x, nil, x },
      { "concat", "argument 2 has int elements, but argument 1 has float", x, i },
      { "concat", "argument 2 has shape 1 x 3, but argument 1 has 3", x, x:reshape(1, 3) },
      { "concat", "argument 2 has shape 3 x 1, but argument 1 has 1 x 3; extents beyond that of", x:reshape(1, 3),
        x:reshape(3, 1) },
      { "concat", "extents beyond that of axis 2 must be", x:reshape(1, 3), x:reshape(3, 1), { axis = 2 } },
      { "concat", "option 'axis': 1 .. 1 expected", x, x, { axis = 2 } },
      { "concat", "unknown option 'dim'; there are: axis", x, { dim = 2 } },
      { "concat", "argument 1: buffer expected, got table", { x, x } },
    } do
      helper.raises({ case[1] .. ": ", case[2] }, cl[case[1]], table.unpack(case, 3))
    end
  end)
end)
