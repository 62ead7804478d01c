-- SPDX-License-Identifier: MIT
--- Chunks whose locals live on.

local session = require "clcompute.prompt.session"

--- A session as a function that runs a text and returns its results.
local function opened()
  local s = session.new()
  return function(text) return assert(s:compile(text))() end, s
end

describe("a session", function()
  it("returns the values of an expression, of any number of lines", function()
    local run = opened()
    assert.same({ 2, nil, "x" }, { run "1 + 1, nil, 'x'" })
    assert.equal(3, run "math.max(1,\n3)")
    assert.equal(4, run "= 4")
    assert.same({}, { run "-- nothing" })
  end)

  it("returns the values of an expression behind the last ; outside of blocks, brackets and strings", function()
    local run, s = opened()
    run "local a"
    for text, expected in pairs {
      ["a = 1; a"] = { 1 }, ["a = 2; a, a + 1 -- and more; b"] = { 2, 3 }, ["a = 3\n;\na"] = { 3 },
      ["local b <const> = {1; 2}; #b"] = { 2 }, ["local c = 'x; y'; c"] = { "x; y" },
      ["local function f() a = 4; return a end; f()"] = { 4 }, ["a = 5; ('x'):rep(2)"] = { "xx" },
      ["for i = 1, 2 do a = i; a = a end"] = {}, ["a = 6;"] = {}, ["a = 7; -- nothing"] = {},
      ["8;"] = { 8 }, ["a = 9; a; -- all"] = { 9 }, ["a = 8; a = 9"] = {},
      ["a = 1; do a = 2; a = 3 end"] = {}, ["a = (function() a = 4; return a end)()"] = {},
      ["a = 5; return a"] = { 5 }, ["a = [[\n; 6]]; a"] = { "; 6" }, ["a = 7 --[[; 8]]; a"] = { 7 },
    } do
      assert.same(expected, { run(text) }, text)
    end
    assert.same({ 2, "x; y" }, { run "#b, c" }) -- declared in front of an expression
    for _, text in ipairs { "a = 1; x) (y", "return 1; a", "a = 1; a b" } do
      local chunk, _, is_incomplete = s:compile(text)
      assert.same({ nil, false }, { chunk, is_incomplete }, text)
    end
    for _, text in ipairs { "for i = 1, 2 do a = 1; a", "a = 1; f(a" } do
      assert.is_true(select(3, s:compile(text)), text)
    end
    local ok, message = pcall(assert(s:compile "a = nil\na = 1;\n(nil).x"))
    assert.same({ false, true }, { ok, message:find(":3: ", 1, true) ~= nil }, message)
  end)

  it("blames the line of an access at the end of an expression, also in front of a comment", function()
    local s = session.new()
    for _, text in ipairs { "(nil).x", "(nil).x -- why", "(nil).x --[[ why ]] --", "(nil)[1] -- a\n-- b\n" } do
      local ok, message = pcall(assert(s:compile(text)))
      assert.is_false(ok)
      assert.matches(session.label(text) .. ":1: ", message, 1, true)
    end
    assert.same({}, { assert(s:compile "-- nothing")() })
  end)

  it("keeps locals from chunk to chunk, as one variable with their closures", function()
    local run, s = opened()
    run "local x, y = 1"
    run "local function count() x = x + 1 return x end"
    assert.equal(2, run "count()")
    run "x = 10"
    assert.equal(11, run "count()")
    assert.equal(11, run "x")
    run "local x = 'another'"
    assert.same({ "another", 12 }, { run "x, count()" })
    assert.same({ "another", true }, { s:get "x" })
    assert.same({ nil, true }, { s:get "y" })
    assert.same({ nil, false }, { s:get "z" })
    local names = s:names()
    table.sort(names)
    assert.same({ "count", "x", "y" }, names)
    assert.is_nil(rawget(_G, "x"))
  end)

  it("keeps what a chunk with a return or a comment at its end declares", function()
    local run = opened()
    assert.equal(1, run "local a = 1 return a")
    run "local b = a + 1 -- b"
    run "local c = [[\nlocal d = 1]] do local e = 1 end"
    assert.same({ 1, 2, "local d = 1" }, { run "a, b, c" })
    assert.same({ nil, nil }, { run "d, e" })
  end)

  it("keeps nothing of a chunk that raises, and of a block", function()
    local run = opened()
    assert.is_false(pcall(run, "local a = 1 error 'no'"))
    run "for i = 1, 2 do local b = i end"
    assert.same({ nil, nil }, { run "a, b" })
  end)

  it("keeps a constant constant", function()
    local run, s = opened()
    run "local n <const>, m <const> = 4, {}"
    assert.equal(4, run "n")
    assert.equal("table", run "type(m)")
    local chunk, message = s:compile "n = 5"
    assert.is_nil(chunk)
    assert.matches("attempt to assign to const variable 'n'", message, 1, true)
    run "local n = 5"
    run "n = 6"
    assert.equal(6, run "n")
  end)

  it("closes what is to be closed at its own end, the last first", function()
    local run, s = opened()
    run "local order = {}"
    run "local function noting(name) return setmetatable({}, {__close = function() order[#order + 1] = name end}) end"
    run "local a <close> = noting 'a'"
    run "local b <close>, c = noting 'b', 3"
    run "local none <close> = nil"
    assert.same({ 0, 3 }, { run "#order, c" })
    local order = run "order"
    s:close()
    assert.same({ "b", "a" }, order)
    s:close()
    assert.same({ "b", "a" }, order)
    assert.has_error(function() run "local t <close> = {}" end, "variable 't' got a non-closable value")
  end)

  it("tells what needs more lines from what is wrong", function()
    local s = session.new()
    for _, text in ipairs { "for i = 1, 2 do", "f(1,", "x = ", "1 +", "return", "[[", "function f()", "t = {" } do
      local _, _, is_incomplete = s:compile(text)
      assert.equal(text ~= "return", is_incomplete == true, text)
    end
    for _, text in ipairs { "x x", ")", "local 1", "'a", "1 = 2" } do
      local chunk, message, is_incomplete = s:compile(text)
      assert.same({ nil, false }, { chunk, is_incomplete }, text)
      assert.equal(1, message:find(session.label(text) .. ":1:", 1, true), message)
    end
  end)

  it("keeps the text of functions for who asks for it", function()
    local run = opened()
    run "local k = 2"
    local f = run "function(a)\n  return a * k\nend"
    assert.equal(6, f(3))
    assert.equal("function(a)\n  return a * k\nend", debug.getinfo(f, "S").source)
    local loops = require "clcompute.loops"
    local table_of_three = { 1.0, 2.0, 3.0 }
    run("local function double(x) return x + x end")
    local twice = assert(loops.compile(run "function(A, n)\n  for i = 1, n do A[i] = double(A[i]) * k end\nend"))
    twice(table_of_three, 3)
    assert.same({ 4.0, 8.0, 12.0 }, table_of_three)
  end)

  it("takes what declares too much, a label at the end, or _ENV, without keeping it", function()
    local run = opened()
    run "goto done local a = 1 ::done::"
    run "local _ENV = { }"
    assert.equal("function", run "type(print)")
  end)
end)
