-- SPDX-License-Identifier: MIT
local count = require "clcount"
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"
local cl = require "clcompute"
local tuning = require "clcompute.tuning"

--- What holds of small results, by whatever they come. `busy` queues what is in flight when they are read.
local function describe_results(d, busy)
  it("are right as often as they are read, of any place", function()
    local x = d:zeros("uint", 5)
    for k = 1, 40 do -- more than are read before a kernel is built that brings them
      busy()
      x:fill(k, 2, 4)
      assert.same({ k, -(k - 1) & 0xffffffff }, x:read(4, 5))
      x:fill(-k & 0xffffffff, 5, 5)
      assert.equal(3 * k + (-k & 0xffffffff), cl.sum(x))
    end
  end)

  it("are right of bytes that are no words", function()
    local x = d:zeros("uchar", 9)
    for k = 1, 40 do
      busy()
      x:fill(k, 2, 5)
      assert.same({ k, k, k, k }, x:read(2, 5))
      assert.same({ k, 0, 0 }, x:read(5, 7))
    end
  end)

  it("are those of their queue", function()
    local q = d:queue()
    local x, y = d:zeros("ulong", 3), q:zeros("ulong", 3)
    for k = 1, 40 do
      busy()
      x:fill(k)
      y:fill(k << 40)
      assert.same({ k, k << 40 }, { x[2], y[3] })
    end
  end)
end

helper.describe_each("small results", function(d)
  it("are brought by kernels to NVIDIA's host memory alone", function()
    assert.equal(d.platform:find "NVIDIA" and 8 or 0, internal.count_told(d))
  end)

  it("come as well where there is no memory that they come to sooner", function()
    for _, call in ipairs { "clCreateBuffer", "clEnqueueMapBuffer" } do
      local q <close> = d:queue()
      local x = q:full("int", 7, 2)
      count.fail(call, -12, 1, 9)
      local ok, result = pcall(x.read, x)
      count.fail()
      assert(ok, result)
      assert.same({ 7, 7 }, result)
      assert.equal(7, x[2])
    end
  end)

  describe_results(d, function() end)
end)

describe("small results that kernels of a processor write to the host's memory", function()
  local d = helper.device()
  if d.type ~= "cpu" then return pending "only GPUs are here" end
  local told, was_timed
  before_each(function()
    was_timed = d:timing()
    d:timing(false)
    told = internal.let_tell(d, true)
  end)
  after_each(function()
    internal.let_tell(d, false)
    d:timing(was_timed)
  end)

  it("are all there", function() assert.equal(8, internal.count_told(d)) end)

  it("come from reductions of one launch", function()
    local row = { kernel = "reduce_groups", group = 16, lanes = 4, granule = 64, least = 64, per_unit = 2, ahead = 0,
      one_launch = 1 }
    finally(function() tuning.use(d, "reduce", "float", nil) end)
    tuning.use(d, "reduce", "float", row)
    for k = 1, 40 do
      local n = 64 * k + k
      local x = d:full("float", k, n)
      x:fill(1000 + k, n, n)
      assert.equal(k * (n - 1) + 1000.0 + k, cl.sum(x))
      assert.same({ 1000.0 + k, n }, { cl.max(x), (cl.argmax(x)) })
    end
    assert.is_true(internal.let_tell(d, true) >= told + 40)
  end)

  it("are seen before the driver tells of them, where they are words", function()
    local x = d:zeros("uint", 2)
    for k = 1, 40 do
      x:fill(k)
      assert.same({ k, k }, x:read())
    end
    assert.is_true(internal.let_tell(d, true) > told)
  end)

  local u, v = d:zeros("float", 1 << 20), d:zeros("float", 1 << 20)
  describe_results(d, function() cl.saxpy(2, u, v) end)
end)
