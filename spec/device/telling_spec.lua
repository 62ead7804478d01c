-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"
local cl = require "clcompute"

helper.describe_each("small results", function(d)
  it("are brought by kernels to NVIDIA's host memory alone", function()
    assert.equal(d.platform:find "NVIDIA" and 8 or 0, internal.count_told(d))
  end)

  it("are right as often as they are read, of any place", function()
    local x = d:zeros("uint", 5)
    for k = 1, 40 do -- more than are read before a kernel is built that brings them
      x:fill(k, 2, 4)
      assert.same({ k, -(k - 1) & 0xffffffff }, x:read(4, 5))
      x:fill(-k & 0xffffffff, 5, 5)
      assert.equal(3 * k + (-k & 0xffffffff), cl.sum(x))
    end
  end)

  it("are right of bytes that are no words", function()
    local x = d:zeros("uchar", 9)
    for k = 1, 40 do
      x:fill(k, 2, 5)
      assert.same({ k, k, k, k }, x:read(2, 5))
      assert.same({ k, 0, 0 }, x:read(5, 7))
    end
  end)

  it("are those of their queue", function()
    local q = d:queue()
    local x, y = d:zeros("ulong", 3), q:zeros("ulong", 3)
    for k = 1, 40 do
      x:fill(k)
      y:fill(k << 40)
      assert.same({ k, k << 40 }, { x[2], y[3] })
    end
  end)
end)
