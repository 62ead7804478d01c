-- SPDX-License-Identifier: MIT
-- Faults that kernels have noted while the host goes on.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

describe("faults of kernels", function()
  local device = helper.device()

  it("are raised before what Lua comes to behind the kernel, and leave nothing of it to the next call", function()
    local compiled = assert(loops.compile([[function(x, y, k, n)
      for i = 1, n do x[i] = 10 // y[i] end
      k[1] = 1 % k[2]
    end]], { device = device, force = true }))
    local function call(divisor, other)
      local y, k = device:full("long", 2, 9), device:full("long", 2, 3)
      y:set(4, divisor)
      k:set(2, other)
      return select(2, pcall(compiled, device:zeros("long", 9), y, k, 9))
    end
    assert.matches("line 2: attempt to divide by zero", call(0, 0))
    assert.is_nil(call(2, 2))
    assert.matches("n%%+0", call(2, 0))
    assert.matches("line 2: attempt to divide by zero", call(0, 2))
    assert.is_nil(call(2, 2))
  end)

  it("end a loop of the host whose end a kernel that met one no longer reaches", function()
    local compiled = assert(loops.compile([[function(x, y, n)
      while x[1] > 0 do for i = 1, n do x[i] = x[i] - 10 // y[i] end end
    end]], { device = device, force = true }))
    local y = device:full("long", 2, 50)
    y:set(50, 0)
    assert.matches("line 2: attempt to divide by zero", select(2, pcall(compiled, device:full("long", 40, 50), y, 50)))
    y:set(50, 2)
    assert.is_true(pcall(compiled, device:full("long", 40, 50), y, 50))
  end)

  it("are found in steps that data tell on GPUs, too", function()
    local compiled = assert(loops.compile([[function(x, y, n, s)
      for i = 1, n do local t = 0.0; for j = 1, n, s do t = t + x[j] end; y[i] = t end
    end]], { device = device, force = true, target = "gpu" }))
    local x, y = device:full("float", 1, 20), device:zeros("float", 20)
    compiled(x, y, 20, 2)
    assert.equal(10, y[20])
    assert.matches("step", select(2, pcall(compiled, x, y, 20, 0)))
  end)
end)

describe("a bound that cannot be computed before a call", function()
  local device = helper.device()

  --- Calls a function of an array and two integers in Lua and compiled, on tables and on buffers.
  local function compare(body)
    local in_lua = assert(load("return function(x, n, z) " .. body .. " end"))()
    local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
    for _, z in ipairs { 2, 0, 1 } do
      local expected, got, buffer = { 1.0, 2.0, 3.0 }, { 1.0, 2.0, 3.0 }, device:buffer { 1, 2, 3 }
      local ok, result = pcall(in_lua, expected, 3, z)
      for _, array in ipairs { got, buffer } do
        local is_right, found = pcall(compiled, array, 3, z)
        assert.equal(ok, is_right, body)
        assert.equal(tostring(result):match "attempt.*$" or result, tostring(found):match "attempt.*$" or found, body)
      end
      assert.same(expected, got, body)
      assert.same(expected, buffer:read(), body)
    end
  end

  it("does no harm where Lua does not come to it", function()
    compare("if z > 0 then for i = 1, n // z do x[i] = 7.0 end end")
    compare("for i = 1, n do x[i] = x[i] + 1.0 end if z == 0 then return 5 end "
      .. "local k = n // z for i = 1, k do x[i] = k * 0.5 end return k")
    compare("for i = 1, n do if z ~= 0 then for j = 1, (n * n) % z do x[j] = x[j] + 1.0 end end end")
  end)

  it("is an error where Lua raises one, behind what was stored before", function()
    compare("for i = 1, n do x[i] = 5.0 end for i = 1, n // z do x[i] = 3.0 end x[1] = 9.0")
    compare("for i = 1, n // z do x[i] = 3.0 end")
  end)

  it("is told with its name where it says how long a table gets", function()
    local compiled = assert(loops.compile([[function(n, z)
      local t = {} for i = 1, n // z do t[i] = i end return t
    end]], { device = device }))
    assert.same({ 1, 2 }, compiled(4, 2))
    assert.matches("'n // z': it cannot be computed", select(2, pcall(compiled, 4, 0)))
    assert.matches("#1 'n': number expected, got nil", select(2, pcall(compiled, nil, 0)))
  end)
end)
