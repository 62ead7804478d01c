-- SPDX-License-Identifier: MIT
--- Groups of devices: pretended ones in a process of their own, against one device; and what groups refuse.

local helper = require "spec.helper"
local cl = require "clcompute"

describe("a group of pretended devices", function()
  for _, what in ipairs { "vectors", "matrices", "axes", "products", "systems" } do
    it("computes as one device does: " .. what, function()
      if #cl.devices "portable" == 0 then return pending "no POCL" end
      assert.equal("done\n", helper.output(("arg = { '%s' } dofile 'spec/support/groups_on_grids.lua'"):format(what),
        { POCL_DEVICES = "pthread pthread pthread pthread" }))
    end)
  end
end)

describe("a group", function()
  local d = helper.device()
  local g = cl.group({ d, d }, { block = 2 })

  it("is of all devices of a kind, or of a list", function()
    assert.equal(2, #g)
    assert.equal(d, g.devices[2])
    assert.same({ 1, 2 }, g.grid)
    assert.equal(1, #cl.group { d })
    assert.is_true(#cl.group(d.place) >= 1)
    assert.matches("group of 2 devices, grid 1x2, blocks of 2", tostring(g))
    assert.equal(g, g:wait())
    local closed = cl.group { d }
    do local _ <close> = closed end
    helper.raises("group is closed", closed.zeros, closed, "int", 1)
  end)

  it("takes the time of the device where it has one alone, and its every operation", function()
    local one = cl.group { d }
    local a = one:buffer { 3, 1, 2 }
    assert.same({ 1.0, 2.0, 3.0 }, cl.sort(a):read())
    assert.same({ 3.0, 2.0, 2.0 }, cl.maximum(a, 2):read())
    assert.equal(a, cl.saxpy(1, a, a))
    assert.equal(6.0, a[1])
    local x = cl.gauss(one:buffer { { 2, 0 }, { 0, 4 } }, one:buffer { 2, 4 })
    assert.same({ 1.0, 1.0 }, x:read())
    local m <close> = one:buffer { { 2, 1 }, { 0, 4 } }
    local f <close> = cl.lu(m)
    assert.same({ 8.0, 2, one, "float" }, { f:det(), f.n, f.device, f.dtype })
    assert.same({ { 1.0 }, { 0.5 } }, f:solve(one:buffer { { 2.5 }, { 2 } }):read())
    assert.is_true(f:rcond() > 0.1)
    assert.matches("^LU factors of a float matrix 2x2 spread over 1 device$", tostring(f))
    helper.raises("of the same group", f.solve, f, g:zeros("float", 2))
    helper.raises("square", cl.lu, one:zeros("float", 2, 3))
  end)

  it("has buffers that are shown, indexed and released as those of a device", function()
    local a = g:buffer({ 1, 2, 3, 4, 5, 6, 7 }, "int")
    assert.matches("int buffer 7 spread over 2 devices: 1, 2, 3, 4, 5, 6", tostring(a))
    assert.equal(7, #a)
    a[7] = 9
    assert.equal(9, a[7])
    assert.is_nil(a[8])
    assert.same({ 7 }, a.shape)
    assert.equal(28, a.bytes)
    assert.equal(7, a.count)
    assert.equal(g, a.device)
    a:release()
    assert.matches("released", tostring(a))
    helper.raises("is released", cl.sum, a)
  end)

  it("refuses in words what it has not", function()
    local a, m = g:zeros("float", 4), g:zeros("float", 2, 2)
    helper.raises({ "sort: works on one device", "a:parts()" }, cl.sort, a)
    helper.raises({ "T: a spread buffer has none", "a:copy(device)" }, function() return a:T() end)
    helper.raises("copy: device or group expected, got table", a.copy, a, {})
    helper.raises("save: path (a string) expected, got number", a.save, a, 5)
    helper.raises("write: table, string or buffer expected, got Device", a.write, a, cl.device())
    helper.raises({ "program: a group has none", "g.devices" }, function() return g:program "" end)
    helper.raises("operand 'y' is on one device; g:buffer(b)", cl.map, "x[i] + y[i]",
      { x = a, y = d:zeros("float", 4) })
    helper.raises("is of another group", cl.dot, a, cl.group({ d, d }):zeros("float", 4))
    helper.raises("sum: option 'axis': 1 .. 2 expected", cl.sum, m, { axis = 3 })
    helper.raises("max: no elements along axis 1", cl.max, g:zeros("float", 0, 2), { axis = 1 })
    helper.raises("std: option 'ddof': 0 .. 3", cl.std, a, { ddof = 4 })
    helper.raises("count: no second argument behind a mask", cl.count, a, a)
    helper.raises("inner dimensions differ", cl.gemm, m, g:zeros("float", 3, 2))
    helper.raises("square spread matrix expected, got 4", cl.lu, a)
    helper.raises("gauss: b: float with 2 rows", cl.gauss, m, a)
    helper.raises("solve: b: float with 2 rows", cl.solve, m, a)
    helper.raises("unknown option 'kernel'", cl.gauss, m, g:zeros("float", 2), { kernel = "paper" })
    helper.raises("'c' is an operand too", cl.gemm, m, m, { c = m })
    helper.raises("a:view(1, 1) is the row", function() return m[1] end)
    helper.raises("outside 1 .. 4", a.get, a, 5)
    helper.raises("reach beyond the last, 4", a.write, a, { 1, 2 }, 4)
    helper.raises("no field 'foo'", function() return a.foo end)
    helper.raises("1 more than a multiple of 4 expected, got 3", d.random, d, "float", 4, { first = 3 })
    helper.raises("option 'first' is for one device", g.random, g, "float", 4, { first = 5 })
    helper.raises("product of 2", cl.group, { d, d }, { grid = { 2, 2 } })
    helper.raises("unknown option 'gird'", cl.group, { d }, { gird = { 1, 1 } })
    helper.raises("saxpy", cl.saxpy, 1, d:zeros("float", 1), a)
  end)

  it("refuses in words wherever a buffer, a list or options belong", function()
    local m, b = g:zeros("float", 4, 4), d:zeros("float", 4, 4)
    local k = d:program("kernel void k(global float *x) { x[0] = 1; }").k
    local way_out = "got spread buffer; a:parts() gives the buffers of each, a:copy(device) gathers"
    for _, f in ipairs {
      function() return k(16, m) end, function() return k(16, { x = m }) end, function() return d:buffer(m) end,
      function() return d:buffer { m, m } end, function() return b:write(m) end, function() return cl.gemm(b, m) end,
      function() return cl.gemm(b, b, { c = m }) end, function() return cl.gemm(b, b, m) end,
      function() return cl.norm2(m, m) end, function() return b + m end, function() return cl.plot(m) end,
      function() return cl.picture(m) end, function() return cl.save_npz("x.npz", { m = m }) end,
    } do helper.raises(way_out, f) end
    helper.raises("device expected, got group; g.devices lists its devices", b.copy, b, g)
    helper.raises("operand 'b' is on one device; g:buffer(b) spreads it", function() return m + b end)
    helper.raises("cl.lt(a, b) compares the elements, cl.gt(a, b) for a > b", function() return m < m end)
    helper.raises("'..' is for texts", function() return m .. m end)
    helper.raises({ "reshape: a spread buffer has none", "gathers" }, m.reshape, m, 16)
    assert.equal("abs: at most 1 argument expected, got 2", select(2, pcall(cl.abs, m, m)))
    helper.raises("did you mean 'shape'", function() return m.shpe end)
    helper.raises("write cl.sum(...)", function() return m.sum end)
    helper.raises("did you mean 'devices'", function() return g.devicse end)
  end)

  it("has its first device factor what that is quicker with, unless a block is given", function()
    local whole, n = cl.group { d, d }, 300
    local x, y = d:random("float", n, n, { seed = 1, low = -1 }), d:random("float", n, 2, { seed = 2 })
    local a, b = whole:buffer(x), whole:buffer(y)
    local solution, info = cl.gauss(a, b)
    local one, known = cl.gauss(x, y)
    assert.is_true(solution:string() == one:string())
    assert.same(known, info)
    local f, own = cl.lu(a), cl.lu(x)
    assert.is_true(f:solve(b):string() == own:solve(y):string())
    assert.same({ own:det(), own:rcond(), n, "float", whole }, { f:det(), f:rcond(), f.n, f.dtype, f.device })
    assert.equal("LU factors of a float matrix 300x300 spread over 2 devices", tostring(f))
    assert.equal(x:string(), a:string())
    helper.raises("of the same group", f.solve, f, g:zeros("float", n))
    helper.raises("no field 'pivot'", function() return f.pivot end)
    f:release()
    helper.raises("factors are released", f.det, f)
    helper.raises("factors are released", f.solve, f, b)
    helper.raises("lu: matrix is singular: column 1 has no pivot", cl.lu, whole:zeros("float", 3, 3))
    local before = g.bytes
    cl.lu(g:random("float", 5, 5)):release()
    assert.is_true(g.bytes > before) -- its panels moved
  end)

  it("has small matrices alone with one device, and multiplies them there", function()
    local whole = cl.group { d, d }
    local x, y = d:random("float", 300, 200, { seed = 1, low = -1 }), d:random("float", 200, 100, { seed = 2 })
    local a, b = whole:buffer(x), whole:buffer(y)
    assert.same({ 300 * 200, 0 }, { a:parts()[1].buffer.count, a:parts()[2].buffer.count })
    local before = whole.bytes
    assert.is_true(cl.gemm(a, b):string() == cl.gemm(x, y):string())
    local c, z = whole:full("float", 2, 300, 100), d:full("float", 2, 300, 100)
    cl.gemm(a:view(11, 30), b, { c = c:view(5, 24), alpha = 3, beta = 1 })
    cl.gemm(x:view(11, 30), y, { c = z:view(5, 24), alpha = 3, beta = 1 })
    assert.is_true(c:string() == z:string())
    cl.lu(whole:random("float", 100, 100)):release()
    assert.equal(before, whole.bytes) -- nothing moved
    local n = d.type == "cpu" and 512 or 4352
    local large <close> = whole:zeros("int", n, n)
    assert.equal(n * 256 * (n // 512), large:parts()[2].buffer.count) -- larger ones are divided
  end)

  it("shares by whole numbers, or by the speed of devices", function()
    local shared = cl.group({ d, d }, { share = { 3, 1 }, block = 4 })
    local x = shared:random("float", 1000, { seed = 1 })
    assert.same({ 750, 250 }, { #x:parts()[1].buffer, #x:parts()[2].buffer })
    assert.same({ { 1, 12 }, { 17, 28 }, { 33, 40 } }, shared:zeros("float", 8, 40):parts()[1].columns)
    assert.same({ vectors = { 3, 1 }, rows = { 1 }, columns = { 3, 1 } }, shared.shares)
    assert.matches("blocks of 4, shares of vectors 3:1, of rows 1, of columns 3:1\n", tostring(shared))
    assert.is_nil(g.shares)
    local measured = cl.group({ d, d, d }, { share = "speed" }) -- one device thrice is as fast as itself
    assert.same({ vectors = { 1, 1, 1 }, rows = { 1 }, columns = { 1, 1, 1 } }, measured.shares)
    assert.same({ 1, 3 }, measured.grid)
    for _, share in ipairs { "size", { 1 }, { 0, 0 }, { 1, 0.5 }, { 1, -1 }, { 1001, 1 } } do
      helper.raises("group: option 'share': \"speed\", or whole shares of 2 devices", cl.group, { d, d },
        { share = share })
    end
  end)

  it("deals shares by speeds: few, and none to a device that adds little", function()
    local layout = require "clcompute.groups.layout"
    for _, one in ipairs { { { 1, 1.05 }, { 1, 1 } }, { { 2, 1 }, { 2, 1 } }, { { 1, 1, 2, 5 }, { 1, 1, 2, 5 } },
      { { 10, 1 }, { 10, 1 } }, { { 1, 40 }, { 0, 1 } } } do
      assert.same(one[2], layout.shares_of(one[1]))
    end
    local of = layout.by_speeds({ 2, 2 }, 8, { vectors = { 1, 1, 1, 3 }, matrices = { 4, 2, 2, 1 } })
    assert.same({ { 1, 1, 1, 3 }, { 2, 1 }, { 2, 1 }, 1 }, { of.shares, of.row_line:shares(8), of.column_line:shares(8),
      of.home })
  end)

  it("scans short and long integers, whose sums wrap from device to device as on one", function()
    local soonest = d
    for _, device in ipairs(cl.devices()) do soonest = helper.is_simulator(device) and device or soonest end
    local three = cl.group { soonest, soonest, soonest }
    for dtype, most in pairs { char = 127, uchar = 255, int = (1 << 31) - 1 } do
      local x = soonest:full(dtype, most, 9)
      assert.same(cl.scan("a + b", x):read(), cl.scan("a + b", three:buffer(x)):read())
    end
  end)

  it("factors and multiplies what moves in pieces as one device does", function()
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    assert.equal("right\n", helper.output([[
      local cl = require "clcompute"
      local devices = cl.devices "portable"
      local d, n = devices[1], 1700
      local x, y = d:random("float", n, n, { seed = 1, low = -1 }), d:random("float", n, { seed = 2 })
      local integers = d:random("int", n, n, { seed = 3, low = -9, high = 9 })
      local k = cl.map("(float)x[i]", { x = integers }, { dtype = "float" })
      local known, product = select(2, cl.gauss(x, y)), cl.gemm(k, k):string()
      for _, grid in ipairs { { 1, 2 }, { 2, 1 } } do
        local g = cl.group(devices, { grid = grid, block = 256 })
        local _, info = cl.gauss(g:buffer(x), g:buffer(y))
        assert(info.backward_error <= 30, info.backward_error)
        assert(table.concat(info.pivots, " ") == table.concat(known.pivots, " "))
        local spread = g:buffer(k)
        assert(cl.gemm(spread, spread):string() == product)
      end
      print "right"
    ]], { POCL_DEVICES = "pthread pthread" }))
  end)

  it("spans platforms", function()
    local other
    for _, device in ipairs(cl.devices()) do other = helper.is_simulator(device) and device or other end
    if not other then return pending "no Oclgrind" end
    local both = cl.group { d, other }
    local a = both:buffer({ 1, 2, 3, 4, 5 }, "int")
    assert.equal(55, cl.dot(a, a))
    assert.same({ 2, 4, 6, 8, 10 }, cl.map("2 * x[i]", { x = a }):read())
  end)
end)
