-- SPDX-License-Identifier: MIT
--- Values as the prompt shows them.

local catalogue = require "clcompute.prompt.catalogue"
local display = require "clcompute.prompt.display"
local helper = require "spec.helper"
local width = require("clcompute.base").width

local known = catalogue.new()

local function show(value, columns)
  return display.value(value, columns or 80, known)
end

describe("the display", function()
  it("puts strings in quotes, and shows a text of several lines as it is", function()
    assert.equal([["a\tb \"c\" \\"]], show 'a\tb "c" \\')
    assert.equal([["\x00\xFFé"]], show("\0\xFFé"):gsub("\\xC3\\xA9", "é"))
    assert.equal("first\nsecond", show "first\nsecond\n")
    assert.equal([["line\n"]], show "line\n")
    assert.equal("\\x1B[31mred\n\tblue", show "\27[31mred\n\tblue")
    assert.equal(('"%s"... of 5000 bytes'):format(("x"):rep(24 * 60)), show(("x"):rep(5000), 60))
  end)

  it("runs no code of a table's, whose elements may have no end", function()
    local endless = { __index = function() return { 1 } end }
    assert.matches("1", show(setmetatable({ { 1 }, { 2 } }, endless)), 1, true)
    assert.matches("1", show { setmetatable({ 1 }, endless), { 1 } }, 1, true)
  end)

  it("shows numbers and other values as Lua does", function()
    for _, value in ipairs { 1, 1.0, 0.1, 1 / 0, true, print } do assert.equal(tostring(value), show(value)) end
    assert.equal("nil", show(nil))
  end)

  it("shows tables on a line, or on several where they are long", function()
    assert.equal("{}", show {})
    assert.equal('{ 1, "a", { b = 2 }, [-1] = 3 }', show { 1, "a", { b = 2 }, [-1] = 3 })
    assert.equal('{ ["two words"] = true, x = 1, [2.5] = 0 }', show { x = 1, ["two words"] = true, [2.5] = 0 })
    assert.equal("{\n  first = 1,\n  second = 2\n}", show({ first = 1, second = 2 }, 20))
    local cycle = {}
    cycle.self = cycle
    assert.equal("{ self = { ... } }", show(cycle))
    local deep = {}
    for _ = 1, 10 do deep = { deep } end
    assert.truthy(show(deep):find("{ ... }", 1, true))
  end)

  it("cuts long ones", function()
    local list = {}
    for i = 1, 1000 do list[i] = i end
    local text = show(list)
    assert.truthy(text:find("...", 1, true))
    assert.is_true(#text < 400)
    local wide = { 1 }
    for _ = 1, 4 do wide = { wide, wide, wide, wide, wide, wide, wide, wide } end
    assert.is_true(#show(wide) < 10000)
    for line in show({ ("x"):rep(500), { ("y"):rep(500) } }):gmatch "[^\n]+" do assert.is_true(width.of(line) <= 80) end
  end)

  it("keeps to what a table says of itself", function()
    assert.equal("itself", show(setmetatable({ 1 }, { __tostring = function() return "itself" end })))
  end)

  it("aligns matrices, and cuts them to the terminal", function()
    assert.equal("{\n    1     2\n  -10  4.25\n}", show { { 1, 2 }, { -10, 4.25 } })
    local d = helper.device()
    local text = show(d:buffer { { 1, 2 }, { -10, 4.25 } }, 200)
    assert.equal(("float buffer 2x2 on %s:\n    1     2\n  -10  4.25"):format(d.name), text)
    for _, columns in ipairs { 40, 80, 120 } do
      local longest, lines = 0, 0
      for line in show(d:random("double", 100, 100), columns):gmatch "[^\n]+" do
        longest, lines = math.max(longest, width.of(line)), lines + 1
      end
      assert.is_true(longest <= columns and longest > columns - 20, longest)
      assert.equal(14, lines)
    end
    assert.equal(("int buffer 0x3 on %s:"):format(d.name), show(d:zeros("int", 0, 3), 200))
    assert.equal(("int buffer 3x0 on %s:"):format(d.name), show(d:zeros("int", 3, 0), 200):match "^[^\n]*")
  end)

  it("shows other buffers, and released ones, as they are", function()
    local d = helper.device()
    for _, b in ipairs { d:zeros("int", 3), d:zeros("int", 2, 2, 2), d:zeros("int", 2, 2):release() } do
      assert.equal(tostring(b), show(b))
    end
  end)

  it("lists the names of a module in columns", function()
    local text = show(require "clcompute", 60)
    assert.truthy(text:find("  saxpy ", 1, true))
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 60) end
  end)

  it("has results on a line where they have room", function()
    assert.equal("1\tnil\t\"a\"", display.results({ n = 3, 1, nil, "a" }, 80, known))
    assert.equal("1\na\nb", display.results({ n = 2, 1, "a\nb" }, 80, known))
  end)
end)
