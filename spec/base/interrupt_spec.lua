-- SPDX-License-Identifier: MIT
local interrupt = require "clcompute.base.interrupt"

describe("an interrupt", function()
  it("is known by the standard interpreter's words", function()
    for _, reason in ipairs { "interrupted!", "script.lua:3: interrupted!" } do
      assert.is_true(interrupt.is(reason))
      local ok, message = pcall(interrupt.pass_on, reason)
      assert.same({ false, reason }, { ok, message })
    end
  end)

  it("is passed on, and so is want of memory", function()
    for _, reason in ipairs { "interrupted!", "not enough memory", "file.lua:1: not enough memory" } do
      assert.same({ false, reason }, { pcall(interrupt.pass_on, reason) })
    end
    interrupt.pass_on "not enough memory for two"
  end)

  it("is no other error", function()
    for _, reason in ipairs { "", "interrupted! not", {}, 7 } do
      assert.is_false(interrupt.is(reason))
      interrupt.pass_on(reason)
    end
    assert.is_false(interrupt.is(nil))
  end)
end)
