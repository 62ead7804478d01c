-- SPDX-License-Identifier: MIT
--- Sequential loops as kernels of one work-item, where the model says that they pay.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local SWEEP = [[function(a, n)
  for i = 2, n do for j = 2, n do a[i][j] = (a[i - 1][j] + a[i][j - 1]) * 0.5 + a[i][j] end end
end]]

local function matrix(n)
  local list = {}
  for i = 1, n do
    list[i] = {}
    for j = 1, n do list[i][j] = math.random() end
  end
  return list
end

describe("a sequential nest", function()
  local device = helper.device()

  it("runs on a processor where its buffers are, with the results of Lua", function()
    if device.type ~= "cpu" then return pending "no processor is here" end
    local n = 150
    for _, dtype in ipairs { "double", "float" } do
      local values = matrix(n)
      local buffer, expected = device:buffer(values, dtype), device:buffer(values, dtype):read()
      local f = assert(load("return " .. SWEEP))()
      local compiled = assert(loops.compile(SWEEP, { device = device }))
      for _ = 1, 3 do compiled(buffer, n) end
      if dtype == "double" then
        for _ = 1, 3 do f(expected, n) end
        assert.same(expected, buffer:read())
      else
        local forced = assert(loops.compile(SWEEP, { device = device, force = false }))
        local other = device:buffer(values, "float")
        for _ = 1, 3 do forced(other, n) end
        assert.same(other:read(), buffer:read())
      end
      for _ = 1, 400 do compiled(buffer, n) end -- until building has paid
      assert.is_true(compiled:stats().launches > 0)
      assert.matches("nest_1, line 2: one work%-item", compiled:explain())
    end
  end)

  it("stays in Lua where it is told so, or assigns what outlives it", function()
    local values = matrix(5)
    for _, case in ipairs { { SWEEP, { force = true } }, { SWEEP, { heuristics = "none" } },
      { SWEEP, { heuristics = "paper" } },
      { "function(a, n) for i = 2, n do a[i][1] = a[i][1] + a[i - 1][1] end end", { target = "gpu" } },
      { "function(a, n) local s = 0.0; for i = 1, n do s = s + a[i][1] end; a[1][1] = s end", {} } } do
      case[2].device = device
      local compiled = assert(loops.compile(case[1], case[2]))
      compiled(values, 5)
      assert.equal(0, compiled:stats().launches)
      assert.matches("no kernel: no loop is parallel", compiled:source())
    end
  end)
end)
