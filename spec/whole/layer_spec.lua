-- SPDX-License-Identifier: MIT
--- The layer that counts handles finds what it is for; else a clean suite would mean nothing.

local function selftest(mode)
  local pipe = assert(io.popen("CLCOUNT_QUIET= CLCOUNT_EXIT=9 build/layer-selftest " .. mode .. " 2>&1"))
  local output = pipe:read("a")
  local _, _, code = pipe:close()
  return code, output
end

describe("the counting layer", function()
  it("passes a program that releases all it makes", function()
    local code, output = selftest("clean")
    assert.equal(0, code, output)
    assert.matches(" 0 leaked, 0 bad releases", output, 1, true)
  end)

  it("names the call that made a leaked handle", function()
    local code, output = selftest("leak")
    assert.equal(9, code, output)
    assert.matches("leaked cl_mem 0x%x+ made by clCreateBuffer", output)
  end)

  it("sees a handle that is released twice", function()
    local code, output = selftest("twice")
    assert.equal(9, code, output)
    assert.matches("bad clReleaseEvent", output, 1, true)
  end)

  it("lets the nth of all calls fail and tells which it was", function()
    local count = require "clcount"
    local cl = require "clcompute"
    finally(function() count.fail() end)
    cl.platforms()
    count.fail("any", -6, 2, 3)
    assert.is_false((pcall(cl.platforms)))
    assert.same({ seen = 2, failed = 1, call = "clGetPlatformIDs" }, count.hits())
    count.fail("any", -6, 1 << 40)
    cl.platforms()
    assert.equal(0, count.hits().failed)
    assert.is_true(count.hits().seen > 2)
  end)

  it("counts the handles of this process", function()
    local count = require "clcount"
    local cl = require "clcompute"
    local d = cl.device()
    d:empty("float", 1):release() -- opens its context and queue
    local before = #assert(count.live())
    local b = d:empty("float", 10)
    assert.equal(before + 1, #count.live())
    b:release()
    assert.equal(before, #count.live())
    assert.equal(0, count.bad())
  end)
end)
