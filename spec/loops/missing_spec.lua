-- SPDX-License-Identifier: MIT
--- What Lua has nil for: arguments that a call leaves out, elements beyond the ends of a table.

local copies = require "spec.support.copies"
local front = require "spec.support.loops_front"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local lua_text = require "clcompute.loops.tree.lua_text"

local is_long = os.getenv "LONG" ~= nil

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
      "return b and a / b or a", "return a * (c or b or 2)", "return b and c and 2 or 3",
      "if c or b then return a * (b or c or 2) end return a",
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

describe("an argument of the compiled function that a call leaves out", function()
  local device = helper.device()
  local X = { 3.5, -1.25, 2.0, 4.75, 0.5 }

  for _, text in ipairs { "n = n or #x for i = 1, n do x[i] = x[i] + 1 end",
    "local m = n or 3 for i = 1, m do x[i] = m end",
    "if not n then n = #x end for i = 1, n do x[i] = n * x[i] end",
    "if n == nil then n = 2 end for i = n, #x do x[i] = s or 0 end",
    "for i = 1, #x do x[i] = (n or i) * (s or 2) end",
    "s = s or 2 n = n or s + 1 for i = 1, n do x[i] = x[i] * i end" } do
    it("has the default that the function gives it: " .. text, function()
      local in_lua = assert(load(("return function(x, n, s) %s end"):format(text)))()
      local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
      local CALLS = { { n = 0 }, { 4, n = 1 }, { nil, 3, n = 2 }, { 4, 3, n = 2 } }
      for _, call in ipairs(CALLS) do
        local expected, got = copies.of(X), copies.of(X)
        in_lua(expected, table.unpack(call, 1, call.n))
        compiled(got, table.unpack(call, 1, call.n))
        assert.same(expected, got)
      end
      assert.equal(#CALLS, compiled:stats().launches)
      compiled(copies.of(X))
      assert.matches("the latest call ran 1 nest of 1 on", compiled:explain(), 1, true)
    end)
  end

  it("is refused where the function has none for every way that leads on", function()
    local compiled <close> = assert(loops.compile(
      "function(x, n) if x[1] > 0 then n = n or 3 end for i = 1, n do x[i] = i end end", { device = device }))
    helper.raises("argument #2 'n': number expected, got nil (or let the function begin with 'n = n or 0')",
      compiled, { 1.0 })
  end)
end)

-- --- elements ------------------------------------------------------------------

local function pick(list) return list[math.random(#list)] end

--- A subscript near i, or one that data tell.
local function subscript(i)
  if math.random(6) == 1 then return ("c[%s]"):format(i) end
  local form = pick { "%s + %d", "%s - %d", "%d * %s - 2", "n - %s + %d" }
  return (form:gsub("%%([sd])", { s = i, d = math.random(0, 3) }))
end

--- An element that may be missing.
local function element() return ("%s[%s]"):format(pick { "x", "y" }, subscript "i") end

local function column() return ("a[i][%s]"):format(subscript "j") end

--- A number that has such an element in it, by a function of no arguments.
local function number(one)
  local forms = { "(# or 1.5)", "(# or # or i)", "(# and 2.0 or 0.25)", "(not # and 0.5 or 2.0)",
    "(# and # or 3.0)", "(# == nil and 0.5 or 4.0)", "(# ~= nil and # or 0.5)" }
  return (pick(forms):gsub("#", one))
end

local function statement()
  if math.random(3) == 1 then return ("if %s then z[i] = %s end"):format(element(), number(element)) end
  if math.random(3) == 1 then return ("z[i] = f(x, %s) - f(y, %s, 3.0)"):format(subscript "i", subscript "i") end
  return ("z[i] = %s + %s"):format(number(element), number(element))
end

--- A function of vectors x, y and z, subscripts c and the matrices a and b.
local function random_text()
  return ([[return function(x, y, z, c, a, b, n)
  local function f(v, k, d) return v[k] or d or 0.25 end
  for i = 1, n do %s; %s end
  for i = 1, n do for j = 1, n - 1 do b[i][j] = %s + (a[i - 1] and a[i - 1][j] or 0.5) end end
end]]):format(statement(), statement(), number(column))
end

local function vector(n, make)
  local list = {}
  for i = 1, n do list[i] = make(i) end
  return list
end

local function random_arguments(n)
  local function float() return math.random(-8, 8) / 2 end
  local function row() return vector(n - 1, float) end
  return { vector(math.random(0, n + 2), float), vector(n, float), vector(n, float),
    vector(n, function() return math.random(-1, n + 2) end), vector(n, row), vector(n, row), n }
end

helper.describe_each("an element that may be missing", function(device)
  it("is missing where Lua has nil, at random", function()
    local launches = 0
    for _ = 1, is_long and 300 or 6 do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_text()
      local in_lua = assert(load(text))()
      local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true,
        target = pick { "cpu", "gpu" } }))
      for n = 3, 9, 3 do
        local values = random_arguments(n)
        local expected, got, buffers = copies.of(values), copies.of(values), copies.in_buffers(values, device, "double")
        in_lua(table.unpack(expected))
        compiled(table.unpack(got))
        compiled(table.unpack(buffers))
        local place = ("seed %d\n%s"):format(seed, text)
        assert.is_true(copies.are_equal(expected, got), place)
        assert.is_true(copies.are_equal(expected, copies.read(buffers)), place)
      end
      launches = launches + compiled:stats().launches
    end
    assert.is_true(launches > 20, "few were parallel")
  end)

  it("ends a loop of a while, and keeps its order", function()
    local compiled = assert(loops.compile("function(x) local n = 1 while x[n] do n = n + 1 end return n - 1 end",
      { device = device }))
    assert.same({ 3, 0, 2 }, { compiled { 4, 5, 6 }, compiled {}, compiled(device:buffer { 1, 2 }) })
  end)
end)

-- Functions of a vector and a number that ask for elements of a table which they make.
local MADE = {
  behind = function(x, n)
    local t = {}
    for i = 1, n do t[i] = x[i] * 2 end
    for i = 1, n do x[i] = (t[i - 1] or 0.25) + (t[i + 1] or 0.5) end
  end,
  appended = function(x, n)
    local t = {}
    for i = 2, n do t[#t + 1] = x[i] * 2 end
    for i = 1, n do x[i] = (t[i - 1] or 0.25) + (t[i + 1] or 0.5) end
  end,
  braces = function(x, n)
    local w = { 0.25, 0.5 }
    for i = 1, n do x[i] = x[i] * (w[i] or 2) end
  end,
  rows = function(x, n)
    local g = {}
    for i = 1, n do g[i] = { x[i], 2 * x[i] } end
    for i = 1, n do x[i] = g[i + 1] and g[i + 1][2] or 0.5 end
  end,
  booleans = function(x, n)
    local t, count = {}, 0
    for i = 1, n do t[i] = x[i] > 0 end
    for i = -1, n + 2 do
      if t[i] then count = count + 1 end
      if t[i] == nil then count = count + 10 end
    end
    return count
  end,
  of_each_pass = function(x, n)
    for p = 1, n do
      local t = {}
      for i = 1, p do t[i] = (t[i - 1] or 0) + i end
      x[p] = x[p] + (t[3] or 0.5)
    end
  end,
  updated = function(x, n)
    local t = {}
    for i = 1, n do t[i] = x[i] end
    for i = 1, n do t[i] = t[i] + (t[i + 1] or 9) + (t[i - 1] or 7) end
    return t
  end,
  within = function(x, n)
    local t = {}
    for i = 1, n do
      local before = t[i - 1] or 0.0
      t[i] = before + x[i]
      x[i] = t[i] + (t[i - 2] or 1) + (t[i + 1] or 7)
    end
    return t
  end,
  flags_within = function(x, n)
    local t = {}
    for i = 1, n do t[i] = x[i] > 0 and not t[i - 1] end
    return t
  end,
  zero_too = function(x, n)
    local t = {}
    for i = 1, n do t[i] = (t[i - 1] or 0) + x[i] end
    t[0] = 5.0
    for i = 1, n do x[i] = t[i - 1] or 3 end
  end,
  longer = function(x, n)
    local t = {}
    for i = 1, n do t[i] = x[i] end
    for i = 1, n do x[i] = t[i + 1] or 3 end
    t[n + 1] = 5.0
    for i = 1, n do x[i] = x[i] + (t[i + 1] or 3) end
  end,
  with_holes = function(x, n)
    local t, sum = {}, 0.0
    for i = 1, n do
      local before = t[i - 1] or 0
      if x[i] > 0 then t[i] = before + x[i] end
    end
    for i = 1, n do sum = sum + (t[i] or 100) end
    return sum
  end,
  in_both_ways = function(x, n)
    local t = {}
    for i = 1, n do
      if x[i] > 0 then t[i] = (t[i - 1] or 1) + x[i] else t[i] = t[i - 1] or 2 end
    end
    return t
  end,
  told_by_data = function(x, n)
    local t = {}
    for i = 1, n do t[i] = x[i] end
    t[1] = 1.0
    for i = 1, n do x[i] = t[math.floor(x[i])] and 2.0 or 0.25 end
  end,
}
local PARALLEL = { behind = true, appended = true, braces = true, rows = true, booleans = true }

helper.describe_each("an element of a table that the function makes", function(device)
  for name, f in pairs(MADE) do
    it("may be missing: " .. name, function()
      for _, force in ipairs { true, false } do
        local compiled <close> = assert(loops.compile(f, { device = device, force = force }))
        for n = 0, 5 do
          local expected = { 3.5, -1.25, 2.0, 4.75, 0.5 }
          local got = copies.of(expected)
          assert.same({ f(expected, n) }, { compiled(got, n) })
          assert.same(expected, got)
        end
        if PARALLEL[name] and force then assert.is_true(compiled:stats().launches > 0) end
      end
    end)
  end
end)

helper.describe_each("a row that may be missing", function(device)
  local SOURCE = { { 1.0, 2.5, 1.0 }, { 3.0, 4.0, 2.0 }, { 5.0, 6.0, 3.0 } }
  local ROWS = { { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } }

  for _, body in ipairs { "local row = a[y + d] if row then for x = 1, #row do b[y][x] = row[x] end end",
    "local row = a[y + d] for x = 1, 3 do b[y][x] = (row and row[x - 1] or 9) + (row and row[x + 1] or 7) end",
    "local row = a[y + d] if not row then b[y][1] = 5 else b[y][1] = row[1] end",
    "local row = a[y + d] if row ~= nil and row[2] > 3 then b[y][1] = 5 end if row == nil then b[y][2] = 3 end",
    "local row = a[k[y]] if row then b[y][1] = row[2] end",
    "local up, down = a[y - 1], a[y + d] for x = 1, 3 do b[y][x] = (up and up[x] or 0) + (down and down[x] or 0) end",
    "for x = 1, 3 do b[y][x] = at(a[y - 1], x) + at(a[y + d], x - 1) + or_two(k[y + d]) end" } do
    it("is one by its name: " .. body, function()
      local in_lua = assert(load(([[
        local function at(row, x) return row and row[x] or 0.5 end
        local function or_two(v) return v or 2 end
        return function(a, b, k, d) for y = 1, #a do %s end end, at, or_two]]):format(body)))()
      local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
      for d = -1, 1 do
        local expected, got = copies.of(ROWS), copies.of(ROWS)
        in_lua(SOURCE, expected, { 3, 4, 0 }, d)
        compiled(SOURCE, got, { 3, 4, 0 }, d)
        assert.same(expected, got)
      end
      assert.equal(3, compiled:stats().launches)
    end)
  end
end)

helper.describe_each("math.tointeger of a number that may be none of Lua's integers", function(device)
  local FLOATS = { 2.0, 2.5, -0.0, math.huge, 0 / 0, -1e300, 0x1p63, -0x1p63, 1e15 }
  local INTEGERS = { 1, 2, math.maxinteger, math.mininteger }

  for _, value in ipairs { "math.tointeger(v[i]) or 5", "(math.tointeger(v[i] * 2 + i) or -1) + i",
    "i > 3 and (math.tointeger(v[i] / 2) or 7) or 9", "math.tointeger(v[i]) and 1 or 2",
    "not math.tointeger(v[i]) and 1 or 2", "math.tointeger(v[i]) == nil and 1 or 2",
    "math.tointeger(v[i]) ~= nil and i or 0" } do
    it("has a default: " .. value, function()
      local in_lua = assert(load(("return function(v, y) for i = 1, #v do y[i] = %s end end"):format(value)))()
      local compiled <close> = assert(loops.compile(in_lua, { device = device, force = true }))
      for _, given in ipairs { FLOATS, INTEGERS } do
        local expected, got = vector(#given, function() return 0 end), vector(#given, function() return 0 end)
        in_lua(given, expected)
        compiled(given, got)
        assert.same(expected, got)
      end
      assert.equal(2, compiled:stats().launches)
    end)
  end
end)

describe("a table that is asked for missing elements", function()
  local compiled = assert(loops.compile("function(x, y, n) for i = 1, n do y[i] = x[i - 1] or 0.5 end end",
    { device = helper.device(), force = true }))

  it("has none below its first one", function()
    local _, raised = pcall(compiled, { [0] = 7.0, 1.0, 2.0 }, { 0.0, 0.0 }, 2)
    assert.matches("'x': x has an element 0, and the function asks for elements beyond its ends", raised)
    assert.is_true(pcall(compiled, { 1.0, 2.0 }, { 0.0, 0.0 }, 2))
  end)

  it("has numbers alone, floats or integers", function()
    local text = "function(x) local n = 0 for i = 1, #x do if x[i] then n = n + 1 end end return n end"
    for _, options in ipairs { {}, { force = true }, { force = false } } do
      local function first_call(list) return assert(loops.compile(text, options))(list) end
      assert.same({ 3, 2 }, { first_call { 1.5, 2, 0.5 }, first_call { 1, 2 } })
      for _, list in ipairs { { 1.5, false, 2.5 }, { 1.5, nil, 2.5 }, { 1, false, 2.5 }, { 1.5, 2.5, "3" } } do
        helper.raises("is no number but a", first_call, list)
      end
    end
  end)

  it("has those that stand behind a condition of their own", function()
    local f = assert(loops.compile("function(x, y, n) for i = 1, n do y[i] = i < n and x[i + 1] or 0.5 end end",
      { force = true, device = helper.device() }))
    local y = { 2.0, 2.0, 2.0 }
    f({ 5.0, 6.0, 7.0 }, y, 3)
    assert.same({ 6.0, 7.0, 0.5 }, y)
    assert.matches("x%[5%] is needed", select(2, pcall(f, { 5.0, 6.0, 7.0 }, { 1.0, 1.0, 1.0, 1.0, 1.0 }, 5)))
  end)

  it("has a row where one of its elements is asked for", function()
    local f = assert(loops.compile "function(a, n) return a[n][2] or 0.5 end")
    assert.same({ 0.5, 4.0 }, { f({ { 1.0 } }, 1), f({ { 1.0, 4.0 } }, 1) })
    assert.matches("a%[2%]", select(2, pcall(f, { { 1.0, 4.0 } }, 2)))
  end)

  it("has an element that is stored: a default that it is given counts for others alone", function()
    local device = helper.device()
    for value, expected in pairs { ["(h[k[i]] or 0) + 1"] = 3.0, ["1 + 2 * (h[k[i]] or i)"] = 5.0,
      ["(h[k[i] + 1] or 4) - 1 + (h[k[i]] or 0)"] = 5.0, ["(x[k[i]] or 4.0) + h[k[i]]"] = 6.0 } do
      local f = assert(loops.compile(("function(h, k, x) for i = 1, #k do h[k[i]] = %s end end"):format(value),
        { device = device, force = true }))
      local h, y = { 1.0, 2.0 }, device:buffer({ 1.0, 2.0 }, "double")
      f(h, { 2 }, { 0.5 })
      f(y, device:buffer({ 2 }, "int"), device:buffer({ 0.5 }, "double"))
      assert.same({ 1.0, expected }, h, value)
      assert.same(h, y:read(), value)
      local words = value:find "^%(x" and "arithmetic on a nil value" or "is stored, which is no element: index 3"
      helper.raises(words, f, h, { 3 }, { 1.0 })
    end
    local some = assert(loops.compile [=[function(h, x)
      for i = 1, #x do if x[i] > 0 then h[i] = (h[i] or 0) + 1 end end
    end]=])
    local h = { 1.0, 2.0 }
    some(h, { 1, 1, 0 })
    assert.same({ 2.0, 3.0 }, h)
    local swap <close> = assert(loops.compile(
      "function(a, b) for i = 1, #b do a[b[i]], b[i] = b[i], a[b[i]] end end", { device = device, force = false }))
    helper.raises("a[b[i]] is stored, which is no element: index 5 is outside of a", swap, { 1, 2 }, { 5, 1 })
    helper.raises("h[i] is stored, which is no element: index 3 is outside of h; arrays do not get longer", some, h,
      { 0, 1, 1 })
  end)
end)
