-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

helper.describe_each("saxpy", function(d)
  for _, dtype in ipairs { "float", "double" } do
    it("adds alpha times x to y, for " .. dtype .. " of every size", function()
      for _, n in ipairs { 0, 1, 2, 255, 256, 257, 1009 } do
        local x = d:random(dtype, n, { seed = helper.seed, low = -1 })
        local y = d:random(dtype, n, { seed = helper.seed + 1, low = -1 })
        local expected = reference.saxpy(1.5, x:read(), y:read())
        assert.equal(y, cl.saxpy(1.5, x, y))
        local got = y:read()
        assert.equal(n, #got)
        for i = 1, n do
          -- one rounding for the product, one for the sum
          assert.near(expected[i], got[i], 2 * helper.unit[dtype] * (1.5 + 2.5))
        end
      end
    end)
  end
end)
