-- SPDX-License-Identifier: MIT
--- The layer that counts handles finds what it is for; else a clean suite would mean nothing.

local helper = require "spec.helper"

local function selftest(mode)
  local pipe = assert(io.popen("CLCOUNT_QUIET= CLCOUNT_EXIT=9 build/layer-selftest " .. mode .. " 2>&1"))
  local output = pipe:read("a")
  local _, _, code = pipe:close()
  return code, output
end

describe("the counting layer", function()
  for does, case in pairs {
    ["passes a program that releases all it makes"] = { "clean", 0, " 0 leaked, 0 bad releases" },
    ["names the call that made a leaked handle"] = { "leak", 9, "leaked cl_mem 0x%x+ made by clCreateBuffer" },
    ["sees a handle that is released twice"] = { "twice", 9, "bad clReleaseEvent" },
  } do
    it(does, function()
      local code, output = selftest(case[1])
      assert.equal(case[2], code, output)
      assert.matches(case[3], output)
    end)
  end

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

  helper.on_cpu("counts the handles of this process", function()
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
