-- SPDX-License-Identifier: MIT
local affine = require "clcompute.loops.tree.affine"
local failure = require "clcompute.loops.tree.failure"
local front = require "spec.support.loops_front"
local helper = require "spec.helper"
local lexer = require "clcompute.loops.front.lexer"
local loops = require "clcompute.loops"
local lua_text = require "clcompute.loops.tree.lua_text"
local nests = require "spec.support.loops_nests"
local types = require "clcompute.loops.front.types"

local function temporary(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

describe("tokens", function()
  --- A text of the same tokens, each in its line, with blanks between them.
  local function rebuild(tokens)
    local parts, line = {}, 1
    for _, token in ipairs(tokens) do
      parts[#parts + 1] = ("\n"):rep(token.line - line) .. token.text
      local _, breaks = token.text:gsub("\n", "")
      line = token.line + breaks
    end
    return table.concat(parts, " ")
  end

  it("are those that Lua sees, in every file of this project", function()
    local pipe = assert(io.popen "find lua spec tools examples bin -name '*.lua' -o -path bin/clcompute")
    local count = 0
    for path in pipe:lines() do
      local file = assert(io.open(path, "rb"))
      local text = file:read "a"
      file:close()
      local tokens = lexer.read { text = text, file = path }
      local original = assert(load((text:gsub("^#[^\n]*", "")), "=x"))
      assert.equal(string.dump(original, true), string.dump(assert(load(rebuild(tokens), "=x")), true), path)
      for _, token in ipairs(tokens) do assert.equal(token.text, text:sub(token.offset, token.finish)) end
      count = count + 1
    end
    pipe:close()
    assert.is_true(count > 100)
  end)

  it("know all of Lua's ways to write a number, a string, a comment", function()
    local text = "0x.8p-1 0xA 3. .5e+2 7e1 9223372036854775808 0xffffffffffffffff " ..
      "'\\z \n \\x41\\065\\u{7FFFFFFF}\\\r\n' [==[\n]]\n]==] --[=[ \n ]=] --x\r\n\"\\\"\\'\" " ..
      "a//b<<c>>d..e...f::~= -- end"
    local expected = { 0.25, 10, 3.0, 50.0, 70.0, 2.0 ^ 63, -1, false, false, false, "a", "//", "b", "<<", "c", ">>",
      "d", "..", "e", "...", "f", "::", "~=", "" }
    local tokens = lexer.read { text = text, file = "x" }
    assert.equal(#expected, #tokens)
    for i, token in ipairs(tokens) do
      if expected[i] then assert.equal(expected[i], token.value or token.text) end
      assert.equal(math.type(expected[i]), math.type(token.value))
    end
    assert.same({ 7, 1 }, { tokens[10].line, tokens[10].column })
  end)
end)

-- --- random data --------------------------------------------------------------

local SIZE = 9

local MAKE = {
  v = function()
    local x = {}
    for i = 1, SIZE do x[i] = math.random() end
    return x
  end,
  w = function()
    local x = {}
    for i = 1, SIZE do x[i] = math.random(-100, 100) end
    return x
  end,
  n = function() return SIZE end,
}
function MAKE.m()
  local rows = {}
  for i = 1, SIZE do rows[i] = MAKE.v() end
  return rows
end

local function make_arguments(letters)
  local arguments = {}
  for letter in letters:gmatch "." do arguments[#arguments + 1] = MAKE[letter]() end
  return arguments
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local new = {}
  for i, inner in ipairs(value) do new[i] = copy(inner) end
  return new
end

local function run(fn, arguments, captured)
  local own = copy(arguments)
  local all = table.move(captured or {}, 1, #(captured or {}), #own + 1, table.move(own, 1, #own, 1, {}))
  fn(table.unpack(all))
  return own
end

local function captured_values(tree)
  local values = {}
  for i, variable in ipairs(tree.captures) do
    values[i] = select(2, debug.getupvalue(variable.fn, variable.index))
  end
  return values
end

local function printed(tree, options)
  return assert(load("return " .. lua_text.whole(tree, options)))()
end

--- Kinds of arguments as the letters say, all tables; captures are numbers.
local function table_kinds(tree, letters)
  local kinds = {}
  for i, variable in ipairs(tree.parameters) do
    local letter = letters:sub(i, i)
    kinds[variable] = letter == "n" and { kind = "number", type = "int" }
      or { kind = "table", element = letter == "w" and "int" or "float", rank = letter == "m" and 2 or 1 }
  end
  for _, variable in ipairs(tree.captures) do kinds[variable] = { kind = "number", type = "float" } end
  return kinds
end

describe("a nest", function()
  for _, nest in ipairs(nests) do
    it("computes the same once it is printed again: " .. nest.name, function()
      local tree = front.tree(nest.fn)
      local arguments = make_arguments(nest.letters)
      local expected = run(nest.fn, arguments)
      assert.not_same(arguments, expected)
      assert.same(expected, run(printed(tree), arguments, captured_values(tree)))
      types.infer(tree, table_kinds(tree, nest.letters))
      local again = front.tree(lua_text.whole(tree))
      assert.same(expected, run(printed(again), arguments, captured_values(tree)))
    end)
  end

  it("is printed with the parentheses that it needs, and no others", function()
    local OPERATORS = {}
    for operator in ("+ - * / // % ^ == ~= < <= > >= and or & | ~ << >>"):gmatch "%S+" do
      OPERATORS[#OPERATORS + 1] = operator
    end
    local function random_expression(depth)
      local choice = math.random(depth == 0 and 2 or 6)
      if choice == 1 then return tostring(math.random(9)) end
      if choice == 2 then return ({ "x", "y", "0.5", "math.mininteger", "math.huge", "1e300" })[math.random(6)] end
      local operand = random_expression(depth - 1)
      if choice == 3 then return ("(%s %s)"):format(({ "-", "not", "~" })[math.random(3)], operand) end
      return ("(%s %s %s)"):format(operand, OPERATORS[math.random(#OPERATORS)], random_expression(depth - 1))
    end
    local compared = 0
    for _ = 1, 3000 do
      local source = ("function(x, y) local v = %s end"):format(random_expression(4))
      local tree = front.tree(source)
      local text = lua_text.whole(tree)
      local function value_of(expression)
        return pcall(assert(load("local x, y = 3, -2 local x_1, y_2 = x, y return " .. expression)))
      end
      local ok, expected = value_of(source:match "= (.*) end")
      local found_ok, found = value_of(text:match "= (.*)\nend")
      assert.equal(ok, found_ok, text)
      if ok then
        compared = compared + 1
        assert.is_true(found == expected or found ~= found and expected ~= expected, text)
        assert.equal(math.type(expected), math.type(found))
      end
      assert.equal(text, (lua_text.whole(front.tree(text)):gsub("_%d_(%d)", "_%1")))
    end
    assert.is_true(compared > 1000)
    assert.equal("function(x_1)\n  x_1[1] = (x_1[1] - 1) * 2 ^ -x_1[2] - (x_1[3] - 1)\nend",
      lua_text.whole(front.tree "function(x) x[1] = (((x[1] - 1)) * (2 ^ (-x[2]))) - (x[3] - (1)) end"))
  end)

  it("is printed with accesses and names as told", function()
    local tree = front.tree "function(a, n) for i = 1, n, 2 do a[i][i + 1] = #a[1] * -2 end end"
    assert.equal([[
function(A, N)
  for I = 1, N, 2 do
    get(A, I, I + 1) = size(A, 2) * -2
  end
end]], lua_text.whole(tree, {
      name = function(variable) return variable.name:upper() end,
      index = function(node, subscripts)
        return ("get(%s, %s)"):format(node.array.name:upper(), table.concat(subscripts, ", "))
      end,
      length = function(node) return ("size(%s, %d)"):format(node.array.name:upper(), node.dimension) end,
    }))
    assert.equal("    a_1[1] = 0", lua_text.statements(front.tree("function(a) a[1] = 0 end").body, { level = 2 }))
  end)

  it("has variables with ids of their own, the same each time", function()
    local source = "function(M_PI, _, i, a) for i = i, 2 do for i = i, 2 do a[i] = M_PI + _ end end end"
    local tree, ids = front.tree(source), {}
    for i, variable in ipairs(tree.parameters) do ids[i] = variable.id end
    local outer = tree.body[1]
    local inner = outer.body[1]
    ids[5], ids[6] = outer.variable.id, inner.variable.id
    assert.same({ "vM_PI_1", "v__2", "i_3", "a_4", "i_5", "i_6" }, ids)
    assert.equal(0, #inner.from.variable.loops)
    assert.equal(outer, inner.variable.loops[1])
    assert.equal(outer, inner.from.variable.loop)
    assert.equal(inner.variable, inner.body[1].target.subscripts[1].variable)
    assert.equal(lua_text.whole(tree), lua_text.whole(front.tree(source)))
    assert.equal("array", tree.parameters[4].role)
    assert.is_true(tree.parameters[3].is_index)
    assert.is_nil(tree.parameters[1].is_index)
  end)

  it("shares an upvalue with the functions put in place in it", function()
    local k = 3
    local function scaled(x) return k * x end
    local tree = front.tree(function(a) a[1] = scaled(a[1]) + k end)
    assert.equal(1, #tree.captures)
    assert.equal("k", tree.captures[1].name)
    k = 4 -- its value is that at the call
    assert.same({ k }, captured_values(tree))
  end)
end)

describe("a function of one expression", function()
  --- The statements of a function with two arrays and two numbers, into which calls are put.
  local function inlined(body, before)
    local tree = front.tree(("local function pair(x, y) return x * x + y end %s\nlocal function f(a, b, n, t) %s end")
      :format(before or "", body), { name = "f" })
    return (lua_text.statements(tree.body, { name = function(variable) return variable.name end }))
  end

  it("has each argument evaluated once, in a local where it is named several times or never", function()
    assert.equal("local x = a[1] + 0.5\na[1] = x * x + b[1] * t", inlined "a[1] = pair(a[1] + 0.5, b[1] * t)")
    assert.equal("local s = t * n\nlocal x = s * 2.5\nlocal s = x * x + s",
      inlined "local s = t * n s = pair(s * 2.5, s)")
    assert.equal("local x = math.exp(t)\nlocal x = x * x + a[1]\na[1] = x * x + 1",
      inlined "a[1] = pair(pair(math.exp(t), a[1]), 1)")
    assert.equal("local x = a[1] * t\nif x * x + 1 > t then\n  a[1] = 1\nend",
      inlined "if pair(a[1] * t, 1) > t then a[1] = 1 end")
    assert.equal("local x = a[1] * t\na[1] = x * x + 0 + 1", inlined("a[1] = more(a[1] * t)",
      "local more = function(z) return pair(z, 0) + 1 end"))
    assert.equal("local x = a[1] * t\na[1] = 7", inlined("a[1] = one(a[1] * t)", "local function one(x) return 7 end"))
    assert.equal("local x = a[1] > t\na[1] = x and 1 or not x and 2 or 3",
      inlined("a[1] = choose(a[1] > t)", "local function choose(x) return x and 1 or not x and 2 or 3 end"))
  end)

  it("has plain arguments where its parameters stand: names, literals, elements and what is affine", function()
    assert.equal("a[1] = t * t + 2", inlined "a[1] = pair(t, 2)")
    assert.equal("a[1] = (n + 2 * n) * (n + 2 * n) + (-0.5 * -0.5 + 1)",
      inlined "a[1] = pair(n + 2 * n, pair(-0.5, 1))")
    assert.equal("a[1] = a[n] * a[n] + #a", inlined "a[1] = pair(a[n], #a)")
    assert.equal("a[1] = b[2] + b[2]", inlined("a[1] = second(b)", "local function second(v) return v[2] + v[2] end"))
  end)

  it("has its arguments in place where they are not evaluated each time, or must be affine", function()
    assert.equal("a[1] = t > 0 and t * t * (t * t) + 1 or 2", inlined "a[1] = t > 0 and pair(t * t, 1) or 2")
    assert.equal("if t > 0 then\n  a[1] = 1\nelseif t * t * (t * t) + 1 > 2 then\n  a[2] = 1\nend",
      inlined "if t > 0 then a[1] = 1 elseif pair(t * t, 1) > 2 then a[2] = 1 end")
    assert.equal("a[b[1] * n * (b[1] * n) + 1] = 0", inlined "a[pair(b[1] * n, 1)] = 0")
    assert.equal("a[1] = t > 0 and t and 1 or not (t > 0 and t) and 2 or 3", inlined("a[1] = choose(t > 0 and t)",
      "local function choose(x) return x and 1 or not x and 2 or 3 end"))
  end)

  it("is called as often as there is room for, and arguments within arguments", function()
    local calls = {}
    for i = 1, 300 do calls[i] = "a[1] = pair(a[1] * t, 1)" end
    assert.truthy(inlined(table.concat(calls, " ")))
    assert.equal("a[1] = n" .. (" + 1"):rep(30), inlined("a[1] = " .. ("next("):rep(30) .. "n" .. (")"):rep(30),
      "local function next(x) return x + 1 end"))
  end)

  it("sees what is around where it stands: not what follows, not itself where it is a value", function()
    local tree = front.tree "function(a, n) local function g() return n + 1 end local n = 2 a[1] = g() end"
    assert.equal(tree.parameters[2], tree.body[2].value.left.variable)
    assert.equal("a[1] = math.sqrt(t) * 2",
      inlined("a[1] = g(t)", "local g = math.sqrt local g = function(x) return g(x) * 2 end"))
    assert.equal("a[1] = math.sqrt(t) * 2",
      inlined "local g = math.sqrt local g = function(x) return g(x) * 2 end a[1] = g(t)")
  end)

  it("lets an interrupt through, as it is, that comes while its source is read", function()
    local function half(x) return x / 2 end
    local readings = 0
    debug.sethook(function()
      if debug.getinfo(2, "f").func ~= lexer.read then return end
      readings = readings + 1
      if readings == 2 then error("interrupted!", 0) end -- after that of the function around
    end, "c")
    local _, raised = pcall(front.tree, function(a) a[1] = half(a[1]) end)
    debug.sethook()
    assert.same({ 2, "interrupted!" }, { readings, raised })
  end)

  it("has numbers around as they are at the call, and types of each place", function()
    local k = 2
    local function scaled(x) return k * x + x * x end
    local tree = front.tree(function(a, w) a[1] = scaled(a[1] + 0.5) w[1] = scaled(w[1] // 2) end)
    types.infer(tree, { [tree.parameters[1]] = { kind = "table", element = "float", rank = 1 },
      [tree.parameters[2]] = { kind = "table", element = "int", rank = 1 },
      [tree.captures[1]] = { kind = "number", type = "int" } })
    assert.same({ "float", "float", "int", "int" }, { tree.body[1].variable.type, tree.body[2].value.type,
      tree.body[3].variable.type, tree.body[4].value.type })
    k = 3
    assert.same({ k }, captured_values(tree))
  end)
end)

describe("a local without a value", function()
  local device = helper.devices()[1]

  it("is that of the way that was taken", function()
    local texts = { -- each stores into x of n elements
      "local s if x[i] > 2 then s = 1 else s = 2 end x[i] = s",
      "local s, is_even if i % 2 == 0 then s, is_even = 1.5, true else is_even = false s = 0.5 end "
        .. "if is_even then x[i] = s else x[i] = s * 4 end",
      "local s while true do if x[i] > 2 then s = x[i] break end if i > 1 then s = 3 break end x[i] = 7 end "
        .. "x[i] = s + 1",
      "local s if x[i] < 2 then goto continue end if x[i] < 3 then s = 5 else s = 6 end x[i] = s ::continue::",
      "local s, unused local t = 2 s = t x[i] = s",
      "local s repeat s = x[i] x[i] = s + 1 until s > 3",
    }
    for _, text in ipairs(texts) do
      local source = ("return function(x, n) for i = 1, n do %s end end"):format(text)
      local in_lua, expected, got = assert(load(source))(), { 1, 2, 3, 4 }, { 1, 2, 3, 4 }
      in_lua(expected, 4)
      local compiled = assert(loops.compile(in_lua, { device = device, force = true }))
      compiled(got, 4)
      assert.same(expected, got, text)
      assert.equal(1, compiled:stats().launches, text)
    end
  end)
end)

describe("the origin", function()
  local sqrt = math.sqrt
  local text = "none"

  local function refused(expected, ...)
    local ok, raised = pcall(front.tree, ...)
    assert.is_false(ok)
    assert.is_true(failure.is(raised), tostring(raised))
    assert.equal(expected, raised[1])
  end

  it("of functions in one line is told by parameters and upvalues", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local f, g, h = function(a) a[1] = 1 end, function(b) b[1] = 2 end, function(a) a[1] = sqrt(9) end
    assert.equal("b", front.tree(g).parameters[1].name)
    assert.equal(9, front.tree(h).body[1].value.arguments[1].value)
    refused(("spec/loops/front_spec.lua:%d:73: 2 functions of this line have the same parameters: "):format(line)
      .. "which one is meant is ambiguous, pass the source as a text", f)
  end)

  it("of a function across lines is found where Lua counts from", function()
    local functions = assert(load("local f = function\n(a) a[1] = 1 end\nlocal function g\n(a)\nend\n" ..
      "local t = {} function t\n.h(a) a[2] = 1 end return { f, g, t.h }"))()
    assert.equal(1, #front.tree(functions[1]).body)
    assert.equal(0, #front.tree(functions[2]).body)
    assert.equal("t.h", front.tree(functions[3]).name)
  end)

  it("is a text, a file, or one function of several by its name", function()
    for _, source in ipairs { "function(a) a[1] = 7 end", "local function f(a) a[1] = 7 end",
      "return function(a) a[1] = 7 end", "local M = {} function M.f(a) a[1] = 7 end",
      "local M = { f = function(a) a[1] = 7 end } return M" } do
      assert.equal(7, front.tree(source).body[1].value.value)
    end
    local path = temporary("#!/usr/bin/lua\nlocal M = {}\nM.x = function(a) a[1] = 1 end\nfunction M.y(a) a[1] = 2 end")
    finally(function() os.remove(path) end)
    assert.equal(1, front.tree({ file = path }, { name = "x" }).body[1].value.value)
    assert.equal(2, front.tree({ file = path }, { name = "M.y" }).body[1].value.value)
    refused(path .. ":2:1: no function 'z'; there are: M.x, M.y", { file = path }, { name = "z" })
    refused("/none.lua: cannot be read: No such file or directory",
      { file = "/none.lua" })
    refused("spec: cannot be read: Is a directory", { file = "spec" })
    helper.raises("function, text or { file = path } expected, got number", front.tree, 1)
  end)

  it("of a text knows what stands before the function", function()
    local tree = front.tree([[
local sqrt, other = math.sqrt, 1
local root = math.sqrt
local m <const>, N <const> = math, 5
local K <const> = 0x10
local function twice(x) return 2 * x end
do local K <const> = 3 end
local function f(a) a[1] = root(K) + twice(a[1]) end
local function g(a) a[1] = sqrt(K) end
local function h(a) local K = 1 local root = 2 for twice = 1, K do a[twice] = root end end
V, M.root = 3, { root = root, K = K }]], { name = "f" })
    assert.equal(2, front.tree("local math = math local function f(a) a[1] = math.sqrt(2) end")
      .body[1].value.arguments[1].value)
    assert.equal("a_1[1] = math.sqrt(16) + 2 * a_1[1]", lua_text.statements(tree.body))
    refused("(text):1:40: local 'x' is assigned after its declaration",
      "local x = 1 local function f(a) a[1] = x end x = 2")
    assert.equal("a_1[1] = -0.25", lua_text.statements(front.tree(
      "local x <const> = -(1 / 4) local function f(a) a[1] = x end").body))
    assert.equal("a_1[1] = a_1[1] + 1", lua_text.statements(front.tree([[
local next = function(x) return x + 1 end
local function f(a) a[1] = next(a[1]) end]], { name = "f" }).body))
    for _, declaration in ipairs { "local x = 1", "local x <const>, y = 1, 2", "local y, x <const> = 2, 1", "local x",
      "local x <const> = y", "local x <close> = nil", "local x <const> = 1 + {}", "local x = math.sqrt(2)",
      "local x = math.pi * 2", "local math = {} local x = math.sqrt", "local x <const> = {}" } do
      refused(("(text):1:%d: the source is a text, so local 'x' has no value here: pass it as a parameter")
        :format(#declaration + 29), declaration .. " local function f(a) a[1] = x end")
    end
  end)

  it("of a function value has the constants around, which are no upvalues", function()
    local fns = assert(load [[
local EPS <const>, other = 1e-9, 1 -- a name of several
local N <const> = 3
local LEAST <const> = -1 / (2 + 6)
local is_on <const> = true
local BACK <const> = -1
local fns = {}
do local N <const> = 4 end
for k = 1, 2 do
  if k > other then
    local LEAST <const> = 5
    fns.five = function(a) a[1] = LEAST end
  else
    fns.least = function(a) a[1] = LEAST end
  end
end
local function low(v) return v < LEAST and N or v end
fns.low = function(a) a[1] = low(a[1]) end
fns.three = function(a) a[1] = N end
fns.upvalue = function(a) a[1] = EPS end
fns.boolean = function(a) a[1] = is_on end
fns.back = function(a) for i = 2, #a do a[i] = a[i + BACK] + a[-BACK] * BACK end end
repeat local N <const> = 6 until (function() fns.six = function(a) a[1] = N end return true end)()
return fns]])()
    for name, value in pairs { five = "5", least = "-0.125", low = "a_1[1] < -0.125 and 3 or a_1[1]", three = "3" } do
      assert.equal("a_1[1] = " .. value, lua_text.statements(front.tree(fns[name]).body))
    end
    for name, constant in pairs { six = "N", boolean = "is_on" } do
      local _, raised = pcall(front.tree, fns[name])
      assert.equal(("Lua keeps no value of the constant '%s': leave out <const>, or pass it as a parameter")
        :format(constant), raised.reason)
    end
    assert.equal("capture", front.tree(fns.upvalue).body[1].value.variable.role)
    local a, expected = { 1, 2, 3, 4 }, { 1, 2, 3, 4 }
    fns.back(expected)
    assert(loops.compile(fns.back, { force = true, device = helper.device() }))(a)
    assert.same(expected, a)
  end)

  it("puts functions in place whose names have dots, and no methods", function()
    local M = { fields = {} }
    function M.half(x) return x / 2 end
    function M.fields
      .sum(a, n)
      local s = 0.0
      for i = 1, n do s = s + a[i] end
      return s
    end
    M.twice = function(x) return 2 * x end
    function M:scaled(x) return x * self end
    local half, sum, twice, scaled = M.half, M.fields.sum, M.twice, M.scaled
    local compiled = assert(loops.compile(function(a, n) for i = 1, n do a[i] = half(twice(i)) + sum(a, n) end end))
    local values = { 1.0, 2.0 }
    compiled(values, 2)
    assert.same({ 4.0, 8.0 }, values)
    local _, raised = pcall(front.tree, function(a) a[1] = scaled(a[1], 1) end)
    assert.matches("'scaled' cannot be put in place of its call: [^\n]*a method is not accepted: it has the hidden "
      .. "parameter 'self'", raised.reason)
  end)

  it("notices what has become of the source", function()
    local path = temporary "local k = 1 return function(a) a[1] = k end"
    finally(function() os.remove(path) end)
    local fn = assert(loadfile(path))()
    assert.equal(1, #front.tree(fn).body)
    for _, changed in ipairs { "\nlocal k = 1 return function(a) a[1] = k end",
      "local k = 1 return function(b) b[1] = k end",
      "local k = 1 return function(a) a[1] = 1 end", "local k = 1 return function(a) a[1] = k\nend", "" } do
      local file = assert(io.open(path, "wb"))
      file:write(changed)
      file:close()
      refused(path .. ": the function of line 1 is not there: the source has changed since it was loaded; "
        .. "load it again, or pass the source as a text", fn)
    end
    local file = assert(io.open(path, "wb"))
    file:write "local k = 1 return function(a) a[1] = k + math.pi end"
    file:close()
    refused(path .. ":1:43: 'math' is not of the function that was loaded: its source has changed", fn)
    os.remove(path)
    refused(("%s: cannot be read: No such file or directory; pass the source as a text"):format(path), fn)
  end)

  it("must have a text", function()
    refused("C function: it has no Lua source", math.sin)
    local fn = function(a) a[1] = 1 end
    refused("function: it was stripped of its source; pass the source as a text", load(string.dump(fn, true)))
    refused("stdin: the text of the function is not kept; pass the source as a text",
      load("return function(a) a[1] = 1 end", "=stdin")())
    refused("(text): this is a whole chunk; pass the function", load "a[1] = 1")
  end)

  it("takes only numbers and arrays from upvalues, and math from the environment", function()
    local _, raised = pcall(front.tree, function(a) a[1] = text end)
    assert.equal("upvalue 'text' is a string: only numbers and arrays are accepted", raised.reason)
    local fn = load("return function(a) a[1] = math.sqrt(2) end", "x", "t", { math = {} })()
    _, raised = pcall(front.tree, fn)
    assert.is_true(failure.is(raised))
    fn = load("local math = ... return function(a) a[1] = math.sqrt(2) end")
    assert.equal("call", front.tree(fn(math)).body[1].value.kind)
    _, raised = pcall(front.tree, fn { sqrt = print })
    assert.matches("^field 'sqrt' of 'math' is not accepted: make it a local or a parameter", raised.reason)
    _, raised = pcall(front.tree, function(a) a[1] = tonumber(2) end)
    assert.equal("unknown call 'tonumber': 'tonumber' stays in Lua, before or behind the compiled function",
      raised.reason)
  end)
end)

describe("an affine form", function()
  local NAMES = { "i", "j", "n", "k" }
  local DEPTH = 4

  --- A random affine expression of loop variables, a parameter, a local and a length.
  local function random_affine(depth, divisions)
    local choice = math.random(depth == 0 and 2 or 11)
    local function inner(less) return random_affine(depth - 1, divisions - (less or 0)) end
    if choice == 1 then return tostring(math.random(0, 9)) end
    if choice == 2 then return math.random(5) == 1 and "#a" or NAMES[math.random(#NAMES)] end
    if choice <= 4 then return ("(%s + %s)"):format(inner(), inner()) end
    if choice <= 6 then return ("(%s - %s)"):format(inner(), inner()) end
    if choice == 7 then return ("- %s"):format(inner()) end
    if choice == 8 then return ("(~%s)"):format(inner()) end
    if choice == 9 or divisions < 1 then
      return ("(%s * %s)"):format(inner(), math.random(2) == 1 and "3" or "(2 - 7)")
    end
    if choice == 10 and divisions > 1 then -- a mask of one run of ones, at the end or not
      local mask = (1 << math.random(3)) - 1 << math.random(0, 2)
      return ("(%s %s %d)"):format(inner(2), ({ "&", "|", "~" })[math.random(3)], math.random(2) == 1 and mask or ~mask)
    end
    return ("(%s %s %d)"):format(inner(1), math.random(2) == 1 and "//" or "%", math.random(5))
  end

  local function evaluate(form, values)
    local sum = form.constant
    for _, term in ipairs(form.terms) do
      local value = term.quotient and evaluate(term.quotient, values) // term.divisor
        or term.array and values["#" .. term.array.name] or values[term.variable.name]
      sum = sum + term.coefficient * value
    end
    return sum
  end

  local function random_values()
    local i, j, n = math.random(-20, 20), math.random(-20, 20), math.random(-20, 20)
    return { i = i, j = j, n = n, k = i - 2 * j + n % 3, a = ("x"):rep(13), ["#a"] = 13, math = math }
  end

  it("has the value of its expression", function()
    for _ = 1, 300 do
      local text = random_affine(DEPTH, 2)
      local tree = front.tree(([[function(a, n)
        for i = 1, n do for j = i, n do
          local k = i - 2 * j + n %% 3
          a[1] = a[%s]
        end end
      end]]):format(text))
      local form = assert(affine.of(tree.body[1].body[1].body[2].value.subscripts[1]))
      for _, term in ipairs(form.terms) do assert.not_equal(0, term.coefficient) end
      for _ = 1, 5 do
        local values = random_values()
        assert.equal(load("return " .. text, "=x", "t", values)(), evaluate(form, values), text)
      end
    end
  end)

  it("is one of those that a sum with math.min or math.max is the least or the greatest of", function()
    for _ = 1, 60 do
      local name, other = math.random(2) == 1 and "min" or "max", random_affine(1, 1)
      local least = ("math.%s(%s, %s)"):format(name, random_affine(1, 1), random_affine(1, 1))
      local text = ({ least .. " + " .. other, least .. " - " .. other, other .. " + " .. least })[math.random(3)]
      local tree = front.tree(([[function(a, n)
        for i = 1, n do for j = i, n do
          local k = i - 2 * j + n %% 3
          for l = %s do a[l] = 0 end
        end end
      end]]):format(name == "min" and "1, " .. text or text .. ", n"))
      local loop = tree.body[1].body[1].body[2]
      local forms = assert(affine.forms(name == "min" and loop.to or loop.from, name), text)
      for _ = 1, 5 do
        local values, list = random_values(), {}
        for f, form in ipairs(forms) do list[f] = evaluate(form, values) end
        assert.equal(load("return " .. text, "=x", "t", values)(), math[name](table.unpack(list)), text)
      end
    end
  end)

  it("has one term for each unknown", function()
    local tree = front.tree "function(a, n) for i = 1, n do a[2 * i + n - i + 3 - n] = 0 end end"
    local form = affine.of(tree.body[1].body[1].target.subscripts[1])
    assert.equal(3, form.constant)
    assert.equal(1, #form.terms)
    assert.equal(1, form.terms[1].coefficient)
    assert.equal(tree.body[1].variable, form.terms[1].variable)
  end)

  it("lists the terms of divisions too", function()
    local tree = front.tree "function(a, n) for i = 1, n // 2 do a[i % 4] = 0 end end"
    local seen = {}
    affine.each_term(affine.of(tree.body[1].body[1].target.subscripts[1]), function(term)
      seen[#seen + 1] = term.quotient and "//" .. term.divisor or term.variable.name
    end)
    assert.same({ "i", "//4", "i" }, seen)
    assert.is_true(tree.parameters[2].is_index)
  end)
end)

describe("types", function()
  local KINDS = {
    b = { kind = "buffer", dtype = "float", rank = 1 }, c = { kind = "buffer", dtype = "uchar", rank = 1 },
    t = { kind = "table", element = "float", rank = 1 }, u = { kind = "table", element = "int", rank = 1 },
    i = { kind = "number", type = "int" }, x = { kind = "number", type = "float" },
  }

  local function infer(source)
    local tree, kinds = front.tree(source), {}
    for _, variable in ipairs(tree.parameters) do kinds[variable] = KINDS[variable.name] end
    return types.infer(tree, kinds)
  end

  local function type_of(expression)
    return infer(("function(b, c, t, u, i, x) local v = %s end"):format(expression)).body[1].value.type
  end

  it("of expressions are those of Lua", function()
    for expression, expected in pairs {
      ["1"] = "int", ["1.0"] = "float", ["1e3"] = "float", ["i + 1"] = "int", ["i + x"] = "float",
      ["i * 2.0"] = "float", ["i / 1"] = "float", ["i ^ 2"] = "float", ["i // 2"] = "int", ["x // 2"] = "float",
      ["i % 2"] = "int", ["i % 2.0"] = "float", ["-i"] = "int", ["-x"] = "float", ["~i"] = "int",
      ["i & 3 | 4 ~ 5"] = "int", ["i << 2"] = "int", ["i < x"] = "bool", ["i == 1"] = "bool", ["not i"] = "bool",
      ["true"] = "bool", ["true == (i < 2)"] = "bool", ["i > 1 and i < 3"] = "bool", ["i > 1 and 2 or 3"] = "int",
      ["i > 1 and 2 or 3.0"] = "float", ["i > 1 and 1 or i > 2 and 2 or 3"] = "int",
      ["i > 1 and i < 5 and 1.0 or 2"] = "float", ["i and x"] = "float", ["i or x"] = "int",
      ["not (i > 1 and 2)"] = "bool", ["(i > 1 and 2) and i > 3"] = "bool", ["math.sqrt(4)"] = "float",
      ["math.floor(x)"] = "int", ["math.ceil(x)"] = "int", ["math.abs(i)"] = "int", ["math.abs(x)"] = "float",
      ["math.max(i, 1, 2)"] = "int", ["math.min(i, x)"] = "float", ["math.fmod(i, 2)"] = "int",
      ["math.fmod(i, 2.0)"] = "float", ["math.pi"] = "float", ["math.maxinteger"] = "int", ["math.huge"] = "float",
      ["#b"] = "int", ["b[1]"] = "float", ["c[1]"] = "int", ["t[1]"] = "float", ["u[1]"] = "int",
    } do
      assert.equal(expected, type_of(expression), expression)
    end
  end)

  it("of locals and tables fit all that they are given", function()
    local tree = infer [[function(u, t, b, c, i)
      local s, n = 0, 1
      for j = 1, 3 do
        n = n + s
        s = s + j / 2
        u[j] = n
      end
      t[1] = c[i]
      b[1] = i
      c[2] = i
    end]]
    local u, t, b, c = table.unpack(tree.parameters)
    assert.same({ "float", "float", "int" },
      { tree.body[1].variable.type, tree.body[2].variable.type, tree.body[3].variable.type })
    assert.same({ "double", "double", "float", "uchar" }, { u.element, t.element, b.element, c.element })
    assert.same({ false, false, true, true }, { u.is_buffer, t.is_buffer, b.is_buffer, c.is_buffer })
    assert.equal("long", infer("function(u) u[1] = u[2] end").parameters[1].element)
  end)

  it("that do not go together are refused", function()
    for marked, reason in pairs {
      ["function(c, x) c[1] = §x end"] = "a float cannot be stored in 'c', a buffer of uchar: use math.floor or '//'",
      ["function(b) b[1] = §true end"] = "an array takes numbers, this is a boolean",
      ["function(b) local at = 0.0 for i = 1, 3 do at = i end b[§at] = 1 end"] = "a subscript takes integers, and 'at' "
        .. "is a float, which it is given in line 1: give it integers alone, or write math.floor(at)",
      ["function(b, i) b[1] = §1.5 & i end"] = "'&' takes integers, this is a float: math.floor makes one of it",
      ["function(b) b[1] = ~§0.5 end"] = "'~' takes integers, this is a float: math.floor makes one of it",
      ["function(b, i) b[1] = 1 + (§i > 1) end"] = "'+' takes numbers, this is a boolean",
      ["function(b, i) b[1] = math.sqrt(§i > 1) end"] = "math.sqrt takes numbers, this is a boolean",
      ["function(b, i) local v = 1 if i > 2 then v = §i > 1 end end"] = "'v' is an integer, and this is a boolean",
      ["function(b, i) local v = i > 1 if v then v = §2.5 end end"] = "'v' is a boolean, and this is a float",
      ["function(b, i) local v = §i > 1 == 1 end"] = "a boolean is never equal to a number",
      ["function(b, i) local v = (§i > 1) < true end"] = "'<' takes numbers, this is a boolean",
      ["function(b, i) b[1] = §i > 1 and 2 end"] = "this is false or a number: 'or' and another number must follow",
      ["function(b, i) b[1] = §i > 1 or 2 end"] = "this may be a boolean or a number",
      ["function(b, x) for j = 1, §x do b[j] = 0 end end"] =
        "'x' is used in a bound or a subscript and must be an integer",
      ["function(b) §b[1][1] = 0 end"] = "'b' has 2 subscripts here, but 1 dimension",
      ["function(i) §i[1] = 0 end"] = "'i' is an array here, but a number was given",
      ["function(b, t) b[1] = §t end"] = "'t' is a number here, but an array was given",
      ["function(b, t) t[1] = §#b[1] end"] = "'b' has only 1 dimension",
    } do
      local offset = marked:find("§", 1, true)
      local ok, raised = pcall(infer, (marked:gsub("§", "")))
      assert.is_false(ok, marked)
      assert.is_true(failure.is(raised), tostring(raised))
      assert.equal(("(text):1:%d: %s"):format(offset, reason), raised[1])
    end
  end)
end)

-- --- mutations ----------------------------------------------------------------

describe("a mutated source", function()
  local COUNT = os.getenv "LONG" and 200000 or 20000
  local SLOWEST = 2 -- seconds of the processor, for one
  local PIECES = {}
  for piece in ([[for while end do if then else elseif local function return goto break repeat until nil true not and or
    in :: ... .. <const> math. # -- --[ [=[ ]=] ' " \ ( ) [ ] { } = == ~= , ; : . + - * / // % ^ & | ~ << >> 0x 1e 1.5 0
    9223372036854775807 1e999 a n x[1] f(x) ]].. "]] [[ \0 \x7F \xC3 \xFF"):gmatch "%S+" do
    PIECES[#PIECES + 1] = piece
  end
  for _, blank in ipairs { "\r", "\n", "\t" } do PIECES[#PIECES + 1] = blank end

  local function random_byte()
    return string.char(math.random(0, 255))
  end

  local MUTATIONS = {
    function(text, at) return text:sub(1, at - 1) .. text:sub(at + 1) end,
    function(text, at) return text:sub(1, at - 1) .. random_byte() .. text:sub(at + 1) end,
    function(text, at) return text:sub(1, at - 1) .. PIECES[math.random(#PIECES)] .. text:sub(at) end,
    function(text, at) return text:sub(1, at) .. " " .. PIECES[math.random(#PIECES)] .. " " .. text:sub(at + 1) end,
    function(text, at) return text:sub(1, at - 1) .. text:sub(at + math.random(20)) end,
    function(text, at) return text:sub(1, at) .. text:sub(math.max(1, at - math.random(40))) end,
    function(text, at) return text:sub(1, at) end,
    function(text) -- a word becomes another one of the text
      local words = {}
      for from, word, to in text:gmatch "()([%w_]+)()" do words[#words + 1] = { from, word, to } end
      if #words == 0 then return "" end
      local one, other = words[math.random(#words)], words[math.random(#words)]
      return text:sub(1, one[1] - 1) .. other[2] .. text:sub(one[3])
    end,
  }

  local function mutate(text)
    for _ = 1, math.random(4) do
      if text == "" then return text end
      text = MUTATIONS[math.random(#MUTATIONS)](text, math.random(#text))
    end
    return text
  end

  local function is_lua(text)
    return load(text, "=x", "t") or text:find "^%s*function%s*%(" and load("return " .. text, "=x", "t")
  end

  --- Whether a reason says that the text is no Lua at all.
  local function denies_lua(reason)
    return reason:find " expected" or reason:find "^malformed" or reason:find "^unexpected" or reason:find "has no end"
      or reason:find "^not Lua"
  end

  it("gives a tree that is Lua, or a failure with its place, which calls nothing wrong that Lua takes", function()
    local sources, accepted = {}, 0
    for i, nest in ipairs(nests) do sources[i] = lua_text.whole(front.tree(nest.fn)) end
    for count = 1, COUNT do
      local text = mutate(sources[count % #sources + 1])
      local start = os.clock()
      local ok, result = pcall(front.tree, text)
      assert.is_true(os.clock() - start < SLOWEST, text)
      if ok then
        accepted = accepted + 1
        assert.is_truthy(load(text) or load("return " .. text), text)
        assert.is_truthy(load("return " .. lua_text.whole(result)), text)
      else
        assert.is_true(failure.is(result), ("%s: %s"):format(result, text))
        assert.is_true(result.line >= 1 and result.column >= 1 and #tostring(result) < 1000, text)
        if denies_lua(result.reason) then assert.is_falsy(is_lua(text), result[1] .. ": " .. text) end
      end
    end
    assert.is_true(accepted > COUNT // 50, accepted)
  end)
end)
