-- SPDX-License-Identifier: MIT
--- Values as the prompt shows them.

local cl = require "clcompute"
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
    assert.is_true(#text < 15 * 80)
    local wide = { 1 }
    for _ = 1, 4 do wide = { wide, wide, wide, wide, wide, wide, wide, wide } end
    assert.is_true(#show(wide) < 10000)
    for line in show({ ("x"):rep(500), { ("y"):rep(500) } }):gmatch "[^\n]+" do assert.is_true(width.of(line) <= 80) end
  end)

  it("shows functions of the library as they are called", function()
    local library = require "clcompute"
    assert.equal("cl.gemm(a, b [, options]): help(x) tells what it does", show(library.gemm))
    assert.matches("^Buffer:fill%(value", show(helper.device():zeros("int", 1).fill))
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

  it("shows buffers of any dimensions as matrices are, and released ones as they are", function()
    local d = helper.device()
    local function shows(expected, buffer, columns)
      local head, rest = show(buffer, columns or 200):match "^[^\n]* buffer ([%dx]+) on [^\n]*:\n?(.*)$"
      assert.equal(expected, ("%s\n%s"):format(head, rest))
    end
    shows("3\n  -1  20   3", d:buffer({ -1, 20, 3 }, "int"))
    shows("0\n", d:zeros("int", 0))
    shows("2x2x2\n  [1]\n    1  2\n    3  4\n  [2]\n    5  6\n    7  8",
      d:buffer { { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } })
    shows("1x2x1x1\n  [1][1]\n    0\n  [1][2]\n    0", d:zeros("int", 1, 2, 1, 1))
    shows("2x0x2\n", d:zeros("int", 2, 0, 2))
    shows("7x3x1\n" .. ("  [%d]\n    0\n    0\n    0\n"):rep(4):format(1, 2, 3, 4) .. "  ...", d:zeros("int", 7, 3, 1))
    local released = d:zeros("int", 2, 2):release()
    assert.equal(tostring(released), show(released))
  end)

  it("shows the time of a launch, where it was timed, or its status after a while", function()
    local d = helper.device()
    local untimed <close> = helper.untimed(d) -- luacheck: no unused
    local work = d:program([[kernel void work(global float *x, int n) {
      float v = x[0]; for (int i = 0; i < n; i++) v = 0.5f * v + 1; x[0] = v; }]]).work
    local x, text = d:zeros("float", 1), "event of kernel 'work'"
    assert.equal(text, show(work(1, x, 1):wait()))
    local recorded
    d:record(function() recorded = work(1, x, 1) end)
    assert.equal(text, show(recorded))
    d:timing(true)
    local event = work(1, x, 1)
    d:timing(false)
    assert.matches("^" .. text .. ", %d[%d.]* [num]s$", show(event))
    assert.equal("event (released)", show(event:release()))
    event = work(1, x, 500000000)
    local start = cl.clock()
    local shown = show(event)
    event:wait()
    if cl.clock() - start > 0.5 then -- a GPU may not say when it begins
      local states = { [text .. ", running"] = true, [text .. ", submitted"] = d.type ~= "cpu" or nil }
      assert.is_true(states[shown], shown)
    end
  end)

  it("shows no sign of a NaN in a buffer", function()
    local nan = 0 / 0
    assert.matches(":\n  nan  nan$", show(helper.device():buffer { nan, -nan }))
  end)

  it("wraps lists of numbers, each line behind the index of its first, and counts those it cuts", function()
    local list = {}
    for i = 1, 30 do list[i] = i end
    assert.equal("{\n  [1]    1   2   3   4   5   6   7   8\n  [9]    9  10  11  12  13  14  15  16\n"
      .. "  [17]  17  18  19  20  21  22  23  24\n  [25]  25  26  27  28  29  30\n}", show(list, 40))
    local buffer = show(helper.device():buffer(list, "int"), 40)
    assert.equal(show(list, 40), "{" .. buffer:match "\n.*$" .. "\n}")
    for i = 31, 1000 do list[i] = i end
    for _, value in ipairs { list, helper.device():buffer(list, "int") } do
      local lines = 0
      for line in show(value, 60):gmatch "[^\n]+" do
        lines = lines + 1
        assert.is_true(width.of(line) <= 60, line)
      end
      assert.matches("\n  ... 1000 elements", show(value, 60), 1, true)
      assert.is_true(lines == 14 or lines == 15, lines)
    end
    list.name = "thousand"
    assert.matches("name = ", show({ 1, 2, name = "two" }), 1, true)
    assert.is_nil(show(list):find("[9]", 1, true))
  end)

  it("lists the names of a module in columns", function()
    local text = show(require "clcompute", 60)
    assert.matches("  saxpy%f[%s]", text)
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 60) end
  end)

  it("has results on a line where they have room", function()
    assert.equal("1\tnil\t\"a\"", display.results({ n = 3, 1, nil, "a" }, 80, known))
    assert.equal("1\na\nb", display.results({ n = 2, 1, "a\nb" }, 80, known))
  end)
end)
