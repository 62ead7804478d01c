-- SPDX-License-Identifier: MIT
-- What passes read of each other, computed anew from what was before them.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 23

describe("what an earlier pass of a nest stored", function()
  local function random() return math.random() - 0.25 end
  local NEST = "function(p, q, n) for k = 1, n do for %s = 1, n do for %s = 1, n do p[i][j] = %s end end end end"

  local function compare(value, n, first, second)
    local _, wide = helper.compare_in_all_ways(NEST:format(first or "i", second or "j", value), 2, n or N, random)
    return wide
  end

  it("is computed anew where one launch does for a pass then", function()
    for n, launches in pairs { [1] = 2, [2] = 2, [22] = 22, [23] = 24 } do -- an odd one is copied back
      local wide = compare("math.min(p[i][j], p[i][k] + p[k][j])", n)
      assert.matches("reads p, writes the new p", wide:explain())
      assert.equal(launches, wide:stats().launches)
    end
  end)

  it("is what Lua has, whatever passes read and in which order they go", function()
    for _, value in ipairs { "0.5 * p[i][j] - 0.25 * p[k][j] * p[i][k]", "p[i][k] * 0.5 + q[i][k] - p[k][j] / 2",
      "(p[i][k] - p[k][j]) * p[k][k] * 0.25", "p[k][j] * q[k][j] + p[i][k] * (i / n)" } do
      for first, second in pairs { i = "j", j = "i" } do
        assert.matches("the new p", compare(value, nil, first, second):explain())
      end
    end
  end)

  it("stays where another pass may store it, or more is in the nest", function()
    for _, value in ipairs { "p[i][k] * p[j][k]", "p[i][k] * p[k][j] + p[1][1]",
      "p[i][k] * p[k][j]; q[i][j] = p[i][k]" } do
      assert.not_matches("the new p", compare(value):explain())
    end
    local text = [[function(p, n)
      for k = 1, n do for i = 2, n do for j = 1, n do p[i][j] = p[i][k] * p[k][j] end end end
    end]]
    local _, wide = helper.compare_in_all_ways(text, 1, N, random)
    assert.not_matches("the new p", wide:explain())
  end)

  it("stays where what is stored is rounded", function()
    local device = helper.device()
    local text = NEST:format("i", "j", "p[i][j] * 0.1 + p[i][k] * p[k][j]")
    local values = helper.matrix(N, N, random)
    local p, q = device:buffer(values, "float"), device:zeros("float", N, N)
    local f = assert(loops.compile(text, { device = device, force = true, tiles = helper.WIDE }))
    f(p, q, N)
    assert.not_matches("the new p", f:explain())
  end)
end)
