-- SPDX-License-Identifier: MIT
--- Preambles of maps and reductions, and reductions whose results are structs.
local helper = require "spec.helper"
local reference = require "spec.reference"
local cl = require "clcompute"

local Extent = cl.struct("extent", "float low, high; int count;")
local WIDEN = "(extent){ min(a.low, b.low), max(a.high, b.high), a.count + b.count }"
local POINT = "(extent){ x[i], x[i], 1 }"

local Place = cl.struct("place", "float value; long index;")
local LEAST = "a.value < b.value || (a.value == b.value && a.index < b.index) ? a : b"

--- Mean and squares of the deviations in one pass: Chan, Golub & LeVeque 1983, equations 2.1.
local Moments = cl.struct("moments", "float count, mean, squares;")
local MERGE = [[
  moments merge(const moments a, const moments b) {
    const float count = a.count + b.count, delta = b.mean - a.mean;
    return (moments){ count, a.mean + delta * b.count / count,
                      a.squares + b.squares + delta * delta * a.count * b.count / count };
  }]]

local function extent_of(list)
  local e = { low = math.huge, high = -math.huge, count = #list }
  for _, v in ipairs(list) do e.low, e.high = math.min(e.low, v), math.max(e.high, v) end
  return e
end

helper.describe_kinds("a reduction to a struct", function(d, _, _, is_sample)
  it("combines every element once, for every size", function()
    for _, n in ipairs { 0, 1, 16, 17, 257, helper.is_simulator(d) and 1000 or 65537 } do
      local x = d:random("float", n, { seed = helper.seed, low = -5, high = 5 })
      if n > 0 then
        assert.same(extent_of(x:read()), cl.reduce(WIDEN, x, { dtype = Extent, map = POINT }))
      else
        helper.raises("reduce: no elements, and no option 'init'", cl.reduce, WIDEN, x, { dtype = Extent, map = POINT })
      end
    end
  end)

  it("takes an init, which is the result of no elements", function()
    local options = { dtype = Extent, map = POINT, init = { low = -9, high = -9, count = 5 } }
    assert.same(options.init, cl.reduce(WIDEN, d:zeros("float", 0), options))
    assert.same({ low = -9, high = 2, count = 8 }, cl.reduce(WIDEN, d:buffer { 1, 2, 0 }, options))
    options.init = {} -- fields that are not there are zero
    assert.same({ low = 0, high = 0, count = 0 }, cl.reduce(WIDEN, d:zeros("float", 0), options))
    local n = helper.is_simulator(d) and 1000 or 300000
    options.init = { low = 0.5, high = 7, count = 1 }
    assert.same({ low = 0, high = 7, count = n + 1 }, cl.reduce(WIDEN, d:zeros("float", n), options))
  end)

  it("takes views of any start, and further operands", function()
    local all = d:random("float", 1000, { seed = helper.seed })
    for _, first in ipairs { 1, 2, 5, 17 } do
      local view = all:view(first, 900)
      assert.same(extent_of(view:read()), cl.reduce(WIDEN, view, { dtype = Extent, map = POINT }))
    end
    local got = cl.reduce(WIDEN, { x = d:buffer { 1, 2 }, y = d:buffer({ 10, 20 }, "int"), s = 0.5 },
      { dtype = Extent, map = "(extent){ s*x[i], x[i] + y[i], 1 }" })
    assert.same({ low = 0.5, high = 22, count = 2 }, got)
  end)

  if is_sample then return end

  it("is another one for another struct, though the expressions are the same", function()
    local A, B = cl.struct("ab", "float x; int y;"), cl.struct("ba", "int y; float x;")
    local x = d:buffer { 1, 2, 3 }
    local function add(S, name)
      return cl.reduce("add(a, b)", x, { dtype = S, map = "one(x[i])", preamble = ([[
        NAME add(const NAME a, const NAME b) { NAME r; r.x = a.x + b.x; r.y = a.y + b.y; return r; }
        NAME one(const float v) { NAME r; r.x = v; r.y = 1; return r; }]]):gsub("NAME", name) })
    end
    assert.same({ x = 6.0, y = 3 }, add(A, "ab"))
    assert.same({ x = 6.0, y = 3 }, add(B, "ba"))
  end)

  it("finds the least with its index", function()
    for _, n in ipairs { 1, 17, 257, helper.is_simulator(d) and 1000 or 70003 } do
      local x = d:random("int", n, { seed = helper.seed, low = 0, high = n // 2 + 1 })
      local at, value = reference.argmin(x:read())
      assert.same({ value = value, index = at - 1 },
        cl.reduce(LEAST, x, { dtype = Place, map = "(place){ x[i], i }" }))
    end
  end)

  it("finds mean and variance in one pass, with a function of the preamble", function()
    for _, n in ipairs { 1, 2, 63, helper.is_simulator(d) and 1000 or 70003 } do
      local x = d:random("float", n, { seed = helper.seed, low = 1000, high = 1001 })
      local mean, squares = 0, 0
      for _, v in ipairs(x:read()) do mean = mean + v / n end
      for _, v in ipairs(x:read()) do squares = squares + (v - mean) ^ 2 end
      local got = cl.reduce("merge(a, b)", x, { dtype = Moments, map = "(moments){ 1, x[i], 0 }", preamble = MERGE })
      assert.equal(n, got.count)
      assert.near(mean, got.mean, 40 * helper.unit.float * 1001)
      assert.near(squares / n, got.squares / n, 1e-3)
    end
  end)

  it("takes structs within structs, and large ones", function()
    local Cell = cl.struct("cell", "extent of; float4 sums;", { structs = { Extent } })
    local add = "(cell){ { min(a.of.low, b.of.low), max(a.of.high, b.of.high), a.of.count + b.of.count }, "
      .. "a.sums + b.sums }"
    local cell = cl.reduce(add, d:buffer { 3, 1, 2 },
      { dtype = Cell, map = "(cell){ { x[i], x[i], 1 }, (float4)(x[i], 1, i, 0) }" })
    assert.same({ of = { low = 1, high = 3, count = 3 }, sums = { 6, 3, 3, 0 } }, cell)
    local Histogram = cl.struct("histogram", "int bins[300];")
    local x, expected = d:random("int", 5000, { seed = helper.seed, low = 0, high = 299 }), {}
    for bin = 1, 300 do expected[bin] = 0 end
    if helper.is_simulator(d) then x = x:view(1, 300) end
    for _, bin in ipairs(x:read()) do expected[bin + 1] = expected[bin + 1] + 1 end
    local got = cl.reduce("add(a, b)", x, { dtype = Histogram, map = "one(x[i])", preamble = [[
      histogram add(histogram a, const histogram b) {
        for (int k = 0; k < 300; k++) a.bins[k] += b.bins[k];
        return a;
      }
      histogram one(const int bin) {
        histogram h;
        for (int k = 0; k < 300; k++) h.bins[k] = k == bin;
        return h;
      }]] })
    assert.same(expected, got.bins)
  end)
end)

helper.describe_each("a preamble", function(d)
  local x = d:buffer { 1, 2, 3 }

  it("has functions, types, macros and constants for expressions", function()
    local preamble = [[
      #define TWICE(v) ((v) + (v))
      typedef struct { float re, im; } pair;
      constant float weights[2] = { 10, 20 };
      float weight(long k) { return weights[k % 2]; }
      static pair both(float v) { pair p = { v, -v }; return p; }]]
    assert.same({ 12, 24, 16 }, cl.map("weight(i) + TWICE(x[i])", { x = x }, { preamble = preamble }):read())
    assert.same({ -1, -2, -3 }, cl.map("both(x[i]).im", { x = x }, { preamble = preamble }):read())
    assert.same({ 1, 2, 3 }, cl.map("((pair){ x[i], 0 }).re", { x = x }, { preamble = preamble }):read())
    assert.equal(60, cl.reduce("a + times(b, 1)", x, { map = "times(x[i], 10)", preamble =
      "float times(float v, float by) { return v * by; }" }))
  end)

  it("has operands in their own types, as expressions have", function()
    local n, y = d:buffer({ 2 ^ 24 + 1, 2 }, "int"), d:buffer { 0.5, 0.5 } -- the first is no float
    assert.same({ 1.5, 0.5 }, cl.map("odd(n[i]) + y[i]", { n = n, y = y },
      { preamble = "int odd(int v) { return v & 1; }" }):read())
  end)

  it("includes the header of complex numbers, and files by their paths", function()
    local got = cl.map("cabs((float2)(x[i], y))", { x = d:buffer { 3, 5 }, y = 4 },
      { preamble = "#include <clcompute/complex.h>" }):read()
    assert.near(5, got[1], 4 * helper.eps.float)
    assert.near(math.sqrt(41), got[2], 8 * helper.eps.float)
    local path = helper.write(os.tmpname(), "float quarter(float v) { return v / 4; }\n")
    local options = { preamble = ('#include "%s"'):format(path) }
    assert.same({ 0.25, 0.5, 0.75 }, cl.map("quarter(x[i])", { x = x }, options):read())
    os.remove(path)
  end)

  it("may use names that kernels have for themselves", function()
    local names = "n chunk out at lane total sum part combine found me begin end row LANES GROUP RESULT VALUE REAL"
    local functions, calls = {}, {}
    for name in names:gmatch "%S+" do
      functions[#functions + 1] = ("float %s(float v) { return v + 1; }"):format(name)
      calls[#calls + 1] = name .. "(x[i])"
    end
    local options = { preamble = table.concat(functions, "\n") }
    assert.same({ 2, 3, 4 }, cl.map("total(x[i])", { x = x }, options):read())
    local all = cl.map(table.concat(calls, " + "), { x = x }, options)
    assert.equal(#calls * 4, all[3])
    local map = { preamble = options.preamble, map = table.concat(calls, " + ") }
    assert.equal(#calls * 9, cl.reduce("combine(a) + sum(b) - 2", x, map))
    assert.same({ 11, 12, 13 }, cl.map("x[i] + n", { x = x, n = 10 }, options):read()) -- the operand comes first
  end)

  it("is what a kernel is built of: another one is another kernel", function()
    for factor = 2, 3 do
      local preamble = ("float f(float v) { return %d * v; }"):format(factor)
      assert.equal(3 * factor, cl.map("f(x[i])", { x = x }, { preamble = preamble })[3])
    end
    for dtype, sum in pairs { float = 3, int = 2 } do
      local S = cl.struct("same", dtype .. " v;")
      assert.same({ v = sum }, cl.reduce("(same){ a.v + b.v }", x, { dtype = S, map = "(same){ x[i] / 2 }" }))
    end
  end)

  it("may declare structs that are called like what is in kernels", function()
    for _, name in ipairs { "n", "sum", "total", "part", "found", "out", "begin" } do
      local S = cl.struct(name, "float v;")
      local add, one = ("(%s){ a.v + b.v }"):format(name), ("(%s){ x[i] }"):format(name)
      assert.same({ v = 6 }, cl.reduce(add, x, { dtype = S, map = one }))
    end
  end)

  it("does not depend on what a script writes into a struct", function()
    local S = cl.struct("changed", "float v, w;")
    S.size, S.name, S.source = 1, "?", ""
    local sum = cl.reduce("(changed){ a.v + b.v, 0 }", x, { dtype = S, map = "(changed){ x[i], 0 }" })
    assert.same({ v = 6, w = 0 }, sum)
  end)

  it("may repeat the declaration of a struct", function()
    assert.equal(3, cl.reduce(WIDEN, x, { dtype = Extent, map = POINT, preamble = Extent.source }).high)
  end)

  it("shows what is wrong, and where", function()
    local f = { preamble = "\nfloat f(float v) {\n  return v * unknown; }" }
    helper.raises({ 'map: "f(x[i])" does not build', "identifier 'unknown'" }, cl.map, "f(x[i])", { x = x }, f)
    helper.raises({ "map: unknown name 'g'; there are: i, x" }, cl.map, "g(x[i])", { x = x }, f)
    helper.raises({ 'map: "x[i] + g(1)" does not build', "'g'" }, cl.map, "x[i] + g(1)", { x = x },
      { preamble = "#include <clcompute/complex.h>" })
    for text, complaint in pairs { ["/* "] = "a comment has no end", ["f\0"] = "the text holds a NUL byte" } do
      helper.raises({ 'map: "x[i]" does not build: ', "option 'preamble': " .. complaint }, cl.map, "x[i]", { x = x },
        { preamble = text })
    end
    assert.same({ 1, 2, 3 }, cl.map("x[i]", { x = x }, { preamble = "// at its end \\" }):read())
    helper.raises("map: option 'preamble': string expected, got number", cl.map, "x[i]", { x = x }, { preamble = 1 })
    helper.raises({ "map: '{' has no place in an expression" }, cl.map, "(float){ x[i] }", { x = x })
    helper.raises({ "map: '}' is missing" }, cl.map, "(float){ x[i]", { x = x }, f)
    helper.raises({ "map: unknown name 'while'" }, cl.map, "while(x[i])", { x = x }, { preamble = "// while" })
    local wrong = { dtype = Extent, map = POINT, preamble = "\nint f() { return unknown; }" }
    local message = helper.raises("'unknown'", cl.reduce, WIDEN, x, wrong)
    if d.type == "cpu" and not helper.is_simulator(d) then assert.matches("preamble:2:", message, 1, true) end
    local function reduce_fails(words, operation, options)
      options.dtype = options.dtype or Extent
      helper.raises("reduce: " .. words, cl.reduce, operation, x, options)
    end
    reduce_fails("option 'dtype': a dtype or a struct of cl.struct expected, got table", "a + b", { dtype = {} })
    reduce_fails("option 'init': table expected, got number", WIDEN, { map = POINT, init = 1 })
    reduce_fails("option 'init': number expected, got table", "a + b", { dtype = "float", init = {} })
    reduce_fails("option 'init': extent: no field 'middle'; there are low, high, count", WIDEN,
      { map = POINT, init = { middle = 1 } })
    reduce_fails("\"a.low + b.low\" does not build", "a.low + b.low", { map = POINT })
    reduce_fails("\"x[i]\" does not build", WIDEN, {})
    reduce_fails("unknown name 'extend'", "(extend){ a.low, b.low }", { map = POINT })
    reduce_fails("an operation combines a and b, but \"(extent){ a.low }\" has no b", "(extent){ a.low }", {})
    reduce_fails("a struct of at most 16384 bytes expected, 'vast' has 16388", "a + b",
      { dtype = cl.struct("vast", "float x[4097];") })
  end)

  it("serves in check mode, and on an isolated device", function()
    local function try(device)
      local y = device:buffer { 4, 1, 3 }
      assert.same({ low = 1, high = 4, count = 3 }, cl.reduce(WIDEN, y, { dtype = Extent, map = POINT }))
      local least = cl.reduce(LEAST, y:view(2, 3), { dtype = Place, map = "(place){ x[i], i }" })
      assert.same({ value = 1, index = 0 }, least)
      assert.same({ 6, 3, 5 }, cl.map("creal(plus(x[i]))", { x = y },
        { preamble = "#include <clcompute/complex.h>\nfloat2 plus(float v) { return v + 2; }" }):read())
    end
    d:check(true)
    try(d)
    d:check(false)
    if d.type == "cpu" and not helper.is_simulator(d) then try(cl.device(d.place, { isolated = true })) end
  end)
end)
