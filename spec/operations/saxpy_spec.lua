-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

local function random(d, dtype, n, seed)
  return d:random(dtype, n, { seed = helper.seed + seed, low = -1 })
end

--- One rounding for the product and one for the sum of numbers below 1.
local function assert_near(expected, got, alpha, dtype)
  assert.equal(#expected, #got)
  local bound = 2 * helper.unit[dtype] * (2 * math.abs(alpha) + 1)
  for i = 1, #expected do assert.near(expected[i], got[i], bound) end
end

helper.describe_each("saxpy", function(d)
  local sizes = helper.is_simulator(d) and { 0, 1, 2, 31, 33 } or { 0, 1, 2, 255, 256, 257, 1009 }

  for _, dtype in ipairs { "float", "double" } do
    it("adds alpha times x to y, for " .. dtype .. " of every size", function()
      for _, n in ipairs(sizes) do
        local x, y = random(d, dtype, n, 0), random(d, dtype, n, 1)
        local x_before, expected = x:string(), reference.saxpy(1.5, x:read(), y:read())
        assert.equal(y, cl.saxpy(1.5, x, y))
        assert_near(expected, y:read(), 1.5, dtype)
        assert.equal(x_before, x:string())
      end
    end)

    it("writes to out and leaves x and y alone, for " .. dtype, function()
      for _, n in ipairs(sizes) do
        local x, y, out = random(d, dtype, n, 2), random(d, dtype, n, 3), d:zeros(dtype, n)
        local x_before, y_before = x:string(), y:string()
        assert.equal(out, cl.saxpy(-0.25, x, y, { out = out }))
        assert_near(reference.saxpy(-0.25, x:read(), y:read()), out:read(), 0.25, dtype)
        assert.equal(x_before, x:string())
        assert.equal(y_before, y:string())
      end
    end)

    it("takes views of any start and writes nothing beside them, for " .. dtype, function()
      for _, first in ipairs { 1, 2, 3, 8, 13 } do
        local x, y, out = random(d, dtype, 33, 4), random(d, dtype, 33, 5), d:zeros(dtype, 33):fill(7)
        local n = 17
        local xv, ov = x:view(first, first + n - 1), out:view(2, n + 1)
        local yv = y:view(14 - first, 13 - first + n)
        cl.saxpy(2, xv, yv, { out = ov })
        assert_near(reference.saxpy(2, xv:read(), yv:read()), out:read(2, n + 1), 2, dtype)
        for i = 1, 33 do
          if i < 2 or i > n + 1 then assert.equal(7, out[i]) end
        end
      end
    end)
  end

  it("works in place on x, on y, and with x, y and out the same", function()
    local x, y = d:buffer { 1, 2, 3 }, d:buffer { 10, 20, 30 }
    assert.equal(x, cl.saxpy(2, x, y, { out = x }))
    assert.same({ 12, 24, 36 }, x:read())
    assert.equal(y, cl.saxpy(1, x, y, { out = y }))
    assert.same({ 22, 44, 66 }, y:read())
    cl.saxpy(1, x, x)
    assert.same({ 24, 48, 72 }, x:read())
    local all = d:buffer { 1, 2, 3, 4 }
    cl.saxpy(1, all:view(2, 3), all:view(2, 3))
    assert.same({ 1, 4, 6, 4 }, all:read())
  end)

  it("computes what a thousand of them in a row do, none of which is waited for", function()
    local x, y = d:zeros("float", 5):fill(1), d:zeros("float", 5)
    for _ = 1, 1000 do cl.saxpy(1, x, y) end
    assert.same({ 1000, 1000, 1000, 1000, 1000 }, y:read())
  end)

  it("takes x and y that overlap when the result is elsewhere", function()
    local all, out = d:buffer { 1, 2, 3, 4 }, d:zeros("float", 3)
    cl.saxpy(10, all:view(1, 3), all:view(2, 4), { out = out })
    assert.same({ 12, 23, 34 }, out:read())
  end)

  it("takes a matrix", function()
    local y = cl.saxpy(2, d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 10, 20 }, { 30, 40 } })
    assert.same({ { 12, 24 }, { 36, 48 } }, y:read())
  end)

  it("computes with NaN and infinity as the device does", function()
    local x, y = d:buffer { 1, 0 / 0, 1 }, d:buffer { 1, 1, 1 / 0 }
    local got = cl.saxpy(1, x, y, { out = d:zeros("float", 3) }):read()
    assert.equal(2, got[1])
    assert.not_equal(got[2], got[2])
    assert.equal(1 / 0, got[3])
    got = cl.saxpy(0 / 0, x, y):read()
    for i = 1, 3 do assert.not_equal(got[i], got[i]) end
  end)

  it("refuses a result that overlaps an operand, shifted", function()
    local all, other = d:buffer { 1, 2, 3, 4 }, d:buffer { 1, 1, 1 }
    local low, high = all:view(1, 3), all:view(2, 4)
    helper.raises({ "overlap", "x" }, cl.saxpy, 1, low, high)
    helper.raises({ "overlap", "x" }, cl.saxpy, 1, low, other, { out = high })
    helper.raises({ "overlap", "y" }, cl.saxpy, 1, other, low, { out = high })
    assert.same({ 1, 2, 3, 4 }, all:read())
  end)

  it("names the argument that is wrong", function()
    local x, y = d:buffer { 1, 2 }, d:buffer { 3, 4 }
    local released = d:buffer { 1, 2 }
    released:release()
    for _, case in ipairs {
      { { "#1", "number" }, nil, x, y },
      { { "#1", "number" }, "one", x, y },
      { { "#2", "buffer" }, 1, nil, y },
      { { "#2", "buffer" }, 1, { 1, 2 }, y },
      { { "#2", "buffer" }, 1, io.stdout, y },
      { { "#3", "buffer" }, 1, x, d },
      { { "#2", "released" }, 1, released, y },
      { { "#3", "released" }, 1, x, released },
      { { "#2", "float or double", "int" }, 1, d:buffer({ 1, 2 }, "int"), y },
      { { "#3", "float", "double" }, 1, x, d:buffer({ 1, 2 }, "double") },
      { { "#3", "shape 2", "3" }, 1, x, d:buffer { 1, 2, 3 } },
      { { "#3", "shape 2", "2x1" }, 1, x, d:buffer { { 1 }, { 2 } } },
      { { "#4", "table" }, 1, x, y, y },
      { { "#4", "'uot'", "out" }, 1, x, y, { uot = y } },
      { { "#4", "'1'" }, 1, x, y, { y } },
      { { "'out'", "buffer", "number" }, 1, x, y, { out = 1 } },
      { { "'out'", "buffer", "userdata" }, 1, x, y, { out = io.stdout } },
      { { "'out'", "released" }, 1, x, y, { out = released } },
      { { "'out'", "float", "double" }, 1, x, y, { out = d:zeros("double", 2) } },
      { { "'out'", "shape 2", "3" }, 1, x, y, { out = d:zeros("float", 3) } },
      { { "#1", "1e+300 does not fit float" }, 1e300, x, y },
    } do
      helper.raises(case[1], cl.saxpy, case[2], case[3], case[4], case[5])
    end
    assert.same({ 3, 4 }, y:read())
  end)

  it("is a kernel too, whose offsets count from 0", function()
    for _, dtype in ipairs { "float", "double" } do
      local x, y = d:buffer({ 1, 2, 3, 4 }, dtype), d:buffer({ 10, 20, 30, 40 }, dtype)
      local out = d:zeros(dtype, 4)
      d:kernel("saxpy", { dtype = dtype })(8, 2, 3, x, 1, y, 2, out, 1)
      assert.same({ 0, 36, 49, 0 }, out:read())
    end
  end)
end)

describe("saxpy", function()
  it("refuses buffers of two devices", function()
    local devices = helper.devices()
    if #devices < 2 then return pending "one device alone" end
    local x, y = devices[1]:buffer { 1 }, devices[2]:buffer { 1 }
    helper.raises({ "#3", "another device" }, cl.saxpy, 1, x, y)
    helper.raises({ "'out'", "another device" }, cl.saxpy, 1, x, x, { out = y })
  end)
end)
