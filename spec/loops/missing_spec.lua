-- SPDX-License-Identifier: MIT
--- What Lua has nil for: arguments that a call leaves out.

local copies = require "spec.support.copies"
local front = require "spec.support.loops_front"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local lua_text = require "clcompute.loops.tree.lua_text"

--- Compares elements as numbers: an integer comes from a device as a float.
local function assert_same(expected, got, text)
  assert.equal(#expected, #got, text)
  for i, value in ipairs(expected) do assert.is_true(value == got[i], ("%s: %d"):format(text, i)) end
end

describe("an argument that a call leaves out", function()
  local device = helper.device()

  --- Calls a function f(a, b, c) in a loop, in Lua and on the device.
  local function compare(body, call)
    local text = ("return function(x, n) local function f(a, b, c) %s end for i = 1, n do x[i] = %s end end")
      :format(body, call)
    local in_lua, x = assert(load(text))(), { 1.5, 2.5, 3.5, -4.0 }
    local expected, got = copies.of { x }[1], copies.of { x }[1]
    in_lua(expected, 4)
    local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
    compiled(got, 4)
    assert.equal(1, compiled:stats().launches, text)
    assert_same(expected, got, text)
  end

  it("has the default that the function gives it, in whatever way", function()
    for _, body in ipairs { "b = b or 2 return a * b", "return a * (b or 2)", "if not b then b = 2 end return a * b",
      "if b == nil then b = 2 end b = b + 1 return a * b", "local k = b or a + 1 return a * k",
      "return b and a / b or a",
      "if nil ~= b and b > 0 then return a / b else return a end", "return a + (b == nil and 1 or b)",
      "if c ~= nil then b = c elseif not b then b = 3 end return a * b",
      "if a > 2 then local k = b or 4 return a * k end return a", "while b do a = a + b break end return a" } do
      for _, call in ipairs { "f(x[i])", "f(x[i], 3)", "f(x[i], i, i + 1)", "f(x[i], nil, 0.5)" } do
        compare(body, call)
      end
    end
  end)

  it("is left out of calls in the function, too", function()
    compare("local function g(p, q) return (p or 1) + (q or 2) end return a * g(b, c)", "f(x[i])")
    compare("local function g(p, q) return (p or 1) + (q or 2) end return a * g(b, c)", "f(x[i], nil, 4)")
    compare("local function g(p, q) p = p or 1 q = q or p return p, q end local s, t = g(b) return a * s + t",
      "f(x[i])")
  end)

  it("leaves nothing of its tests in the text", function()
    local tree = front.tree "function(x) local function f(a, b) b = b or 2 return a + b end x[1] = f(x[2]) end"
    assert.equal("local a_2 = x_1[2]\nlocal b_3 = 2\nlocal result_4 = a_2 + b_3\nx_1[1] = result_4",
      lua_text.statements(tree.body))
  end)
end)
