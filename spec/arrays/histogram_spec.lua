-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

--- Counts by the edges, one element after the other.
local function count(list, edges)
  local counts, bins = {}, #edges - 1
  for k = 1, bins do counts[k] = 0 end
  for _, v in ipairs(list) do
    for k = 1, bins do
      if edges[k] <= v and (v < edges[k + 1] or k == bins and v == edges[k + 1]) then counts[k] = counts[k] + 1 end
    end
  end
  return counts
end

helper.describe_kinds("histogram", function(d, dtypes, _, is_sample)
  for _, dtype in ipairs(dtypes) do
    it("counts elements of " .. dtype .. " between edges, of its own choice or given", function()
      local is_signed = not dtype:find "^u"
      for _, n in ipairs(helper.is_simulator(d) and { 1, 257 } or { 1, 2, 255, 256, 257, 20011 }) do
        local x = d:random(dtype, n, { seed = helper.seed + n, low = is_signed and -50 or 0, high = 50 })
        local list = x:read()
        for _, o in ipairs { {}, { bins = 7, low = 3, high = 41.5 }, { bins = 1, high = 60 }, { bins = 100, low = 0.5,
          high = 7 } } do
          local counts, edges = cl.histogram(x, o)
          assert.equal((o.bins or 10) + 1, #edges)
          assert.same({ #edges - 1 }, counts.shape)
          assert.same(count(list, edges), counts:read())
        end
      end
    end)
  end

  if is_sample then return end

  it("has equal widths from the least element to the greatest, or about what is all the same", function()
    local counts, edges = cl.histogram(d:buffer({ 5, 1, 3, 3 }, "int"), { bins = 4 })
    assert.same({ { 1, 2, 3, 4, 5 }, { 1, 0, 2, 1 } }, { edges, counts:read() })
    counts, edges = cl.histogram(d:zeros("float", 3):fill(4), { bins = 2 })
    assert.same({ { 3.5, 4, 4.5 }, { 0, 3 } }, { edges, counts:read() })
    counts, edges = cl.histogram(d:empty("float", 0), { bins = 2 })
    assert.same({ { 0, 0.5, 1 }, { 0, 0 } }, { edges, counts:read() })
  end)

  it("leaves out NaN and what lies outside, and takes the largest numbers", function()
    local x = d:buffer { 0, 1, 0 / 0, 1 / 0, -1 / 0, -0.1, 1.1, 0.5 }
    assert.same({ 1, 2 }, cl.histogram(x, { bins = 2, low = 0, high = 1 }):read())
    assert.same({ 1, 1, 1 }, cl.histogram(d:buffer { -3e38, 0, 3e38 }, { bins = 3 }):read())
    assert.same({ 1, 1 }, cl.histogram(d:buffer { 0, 2 ^ -126 }, { bins = 2 }):read())
    assert.equal(2, cl.sum((cl.histogram(d:buffer { 0, 1e-39 })))) -- too small for many a device
    assert.same({ 1, 2 }, cl.histogram(d:buffer({ math.mininteger, 0, math.maxinteger }, "long"), { bins = 2 }):read())
    assert.same({ 2, 1 }, cl.histogram(d:buffer({ -1, 0, 5 }, "ulong"), { bins = 2 }):read()) -- -1 is the largest
    assert.same({ 0, 1 }, cl.histogram(d:buffer({ -1, -2, 5 }, "ulong"), { bins = 2, low = 3, high = 7 }):read())
  end)

  it("looks up what is close to an edge, or between edges that rounding has moved", function()
    for _, case in ipairs { { 0, 1, 10 }, { 0, 1, 256 }, { -1, 2, 77 }, { 1000, 1001, 100 }, { 1e6, 1e6 + 1, 30 } } do
      local low, high, bins = table.unpack(case)
      local _, edges = cl.histogram(d:empty("float", 0), { bins = bins, low = low, high = high })
      local list = {}
      for _, e in ipairs(edges) do
        local bits = string.unpack("i4", string.pack("f", e))
        for step = -2, 2 do list[#list + 1] = string.unpack("f", string.pack("i4", bits + step)) end
      end
      local x = d:buffer(list, "float")
      assert.same(count(x:read(), edges), cl.histogram(x, { bins = bins, low = low, high = high }):read())
    end
  end)

  it("has the edges of each call, whatever the last one had", function()
    local x = d:buffer { 1, 2, 3, 4 }
    for _, case in ipairs { { 2, 0, 4, { 1, 3 } }, { 2, 0, 6, { 2, 2 } }, { 2, 0, 4, { 1, 3 } },
      { 4, 0, 4, { 0, 1, 1, 2 } }, { 2, 0, 4, { 1, 3 } } } do
      local counts, edges = cl.histogram(x, { bins = case[1], low = case[2], high = case[3] })
      assert.same(case[4], counts:read())
      assert.equal(case[3], edges[case[1] + 1])
      edges[1] = 99 -- a script's own
    end
  end)

  it("has more bins than local memory has room for, and takes views", function()
    local n = helper.is_simulator(d) and 300 or 20011
    local x = d:random("ushort", n + 3, { seed = helper.seed, low = 0, high = 5999 })
    local counts, expected = cl.histogram(x:view(4, n + 3), { bins = 6000, low = 0, high = 6000 }), {}
    for k = 1, 6000 do expected[k] = 0 end
    for _, v in ipairs(x:read(4, n + 3)) do expected[v + 1] = expected[v + 1] + 1 end
    assert.same(expected, counts:read())
  end)
end)

helper.describe_each("histogram", function(d)
  it("says what is wrong", function()
    local x = d:buffer { 1, 2, 3 }
    for _, case in ipairs {
      { "argument 1: buffer expected, got nil" },
      { "option 'bins': integer expected, got number", x, { bins = 2.5 } },
      { "option 'bins': 1 to 16777216 expected, got 0", x, { bins = 0 } },
      { "'low' is 5, 'high' is 3.0, which must be above", x, { low = 5 } },
      { "'low' is 2, 'high' is 2, which must be above", x, { low = 2, high = 2 } },
      { "the range is infinite or NaN", d:buffer { 1, 1 / 0 } },
      { "the range is infinite or NaN", d:buffer { 1, 0 / 0 } },
      { "option 'high': a finite number within the range of float expected", x, { high = 1e300 } },
      { "option 'high': a finite number within the range of long expected", d:zeros("int", 1), { high = 1e300 } },
      { "unknown option 'range'", x, { range = 1 } },
    } do
      helper.raises({ "histogram: ", case[1] }, cl.histogram, case[2], case[3])
    end
  end)
end)
