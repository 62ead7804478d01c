-- SPDX-License-Identifier: MIT
--- Functions of math whose last digits may differ: how far they are from Lua's.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local MOST = 16 -- units in the last place, as OpenCL allows for a power

local SPECIAL = { 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 10.0, 8.0, -3.0, 1e300, math.huge, -math.huge, 0 / 0 }

--- Two lists with all pairs of special numbers, and others at random.
local function numbers()
  local x, y = {}, {}
  for _, one in ipairs(SPECIAL) do
    for _, other in ipairs(SPECIAL) do x[#x + 1], y[#y + 1] = one, other end
  end
  for _ = 1, 100 do
    x[#x + 1], y[#y + 1] = 2 * math.random() - 1, (math.random() - 0.3) * 10.0 ^ math.random(-9, 9)
  end
  return x, y
end

--- Whether two numbers are the same, or so near.
local function is_near(expected, got, epsilon)
  if copies.same(expected, got) then return true end
  return expected ~= 0 and math.abs(got - expected) <= MOST * epsilon * math.abs(expected)
end

helper.describe_each("a function of math", function(device)
  for _, value in ipairs { "math.asin(x[i])", "math.acos(x[i])", "math.atan(x[i])", "math.atan(x[i], y[i])",
    "math.atan(-0.0, x[i])", "math.atan(x[i], 2)", "math.log(x[i], 2)", "math.log(x[i], 10.0)", "math.log(x[i], y[i])",
    "math.log(x[i], 3)", "math.log(i, b)", "math.tan(y[i])" } do
    it("is Lua's but for its last digits: " .. value, function()
      local in_lua = assert(load(("return function(x, y, z, n, b) for i = 1, n do z[i] = %s end end"):format(value)))()
      local x, y = numbers()
      local expected, got = {}, {}
      for i = 1, #x do expected[i], got[i] = 0.0, 0.0 end
      local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
      in_lua(x, y, expected, #x, 2.0)
      compiled(x, y, got, #x, 2.0)
      assert.equal(1, compiled:stats().launches)
      for i, item in ipairs(expected) do
        assert.is_true(is_near(item, got[i], 2.0 ^ -52), ("%s with %s, %s: %s is %s"):format(value, x[i], y[i], got[i],
          item))
      end
      assert.matches("except " .. value:match "math.%a+", tostring(compiled:explain()))
    end)
  end

  it("is one of floats in buffers of floats where that is fast", function()
    local compiled <close> = assert(loops.compile([[function(x, z, n)
      for i = 1, n do z[i] = math.atan(x[i], 2) + math.log(x[i] + 2, n) + math.acos(x[i]) end
    end]], { device = device, force = true, mode = "fast" }))
    local x, z = device:random("float", 100, { low = -1, high = 1, seed = 3 }), device:zeros("float", 100)
    compiled(x, z, 100)
    for i = 1, 100 do
      local v = x[i]
      assert.near(math.atan(v, 2) + math.log(v + 2, 100) + math.acos(v), z[i], 1e-4)
    end
    assert.falsy(compiled:source():find("double", 1, true))
  end)
end)
