-- SPDX-License-Identifier: MIT
--- Check mode: each fault that a kernel of a user can have and that can be seen, planted and found.

local cl = require "clcompute"
local helper = require "spec.helper"
local loops = require "clcompute.loops"

local SOURCE = [[
  kernel void plus(global const float *x, global float *y) {
    const int i = get_global_id(0);
    y[i] = x[i] + 1;
  }
  kernel void poke(global float *y, long at, float value) { y[at + (long)get_global_id(0)] = value; }
  kernel void bury(global int *y, global int *z, long at) { y[at] = 1; z[0] = 1; }
  kernel void add(global const float *x, global float *y) {
    const int i = get_global_id(0);
    y[i] += x[i];
  }
  kernel void invert(global const float *x, global float *y) {
    const int i = get_global_id(0);
    y[i] = 1 / x[i];
  }
  kernel void next(global const float *x, global float *y) {
    const int i = get_global_id(0);
    y[i] = x[i + 1];
  }
  kernel void copy(global const float *x, global float *y) { y[get_global_id(0)] = x[get_global_id(0)]; }
  kernel void scale(global float *x, float by) { x[get_global_id(0)] *= by; }
  kernel void lookup(constant float *table, global float *y) { y[get_global_id(0)] = table[0]; }
  struct pair { int whole; float part; };
  kernel void bits(global struct pair *p, int whole) { p[get_global_id(0)].whole = whole; }]]

--- A kernel that writes one element of any type anywhere.
local function poke_source(dtype)
  local store = dtype == "half" and "vstore_half(1.0f, at, x)" or "x[at] = 1"
  return ("%skernel void poke(global %s *x, long at) { %s; }"):format(
    dtype == "double" and "#pragma OPENCL EXTENSION cl_khr_fp64: enable\n" or "", dtype, store)
end

helper.describe_each("check mode", function(shared)
  local d, p

  setup(function()
    d = cl.device(shared.place, { check = true })
    p = d:program(SOURCE)
  end)

  teardown(function() d:check(false) end)

  it("lets correct kernels pass, with their results", function()
    for _, n in ipairs { 1, 2, 17, 255, 257, 1000 } do
      local x, y = d:random("float", n, { seed = n }), d:empty("float", n)
      p.plus(n, x, y)
      p.scale(n, y, 2)
      local expected = x:read()
      for i, v in ipairs(y:read()) do assert.near(2 * (expected[i] + 1), v, 8 * helper.eps.float) end
    end
  end)

  it("finds one element written before or after a buffer of any dtype and size", function()
    for _, dtype in ipairs(helper.dtypes(d)) do
      local poke = d:program(poke_source(dtype)).poke
      for _, n in ipairs { 1, 3, 16, 33, 257 } do
        local x = d:zeros(dtype, n)
        poke(1, x, 0)
        poke(1, x, n - 1)
        assert.equal(1, x[n])
        local argument = "kernel 'poke' argument 1 'x' (global " .. dtype .. "*): "
        helper.raises(argument .. ("element %d was written, 1 after the last of %d"):format(n + 1, n), poke, 1, x, n)
        helper.raises(argument .. ("element 0 was written, 1 before the first of %d"):format(n), poke, 1, x, -1)
        helper.raises(("element -2 was written, 3 before the first of %d"):format(n), poke, 1, x, -3)
        assert.equal(1, x[n])
      end
    end
  end)

  it("counts structs where a kernel has packed bytes for them", function()
    local S = cl.struct("Body", "float4 at; float mass;")
    local k = d:program(S.source .. "kernel void k(global Body *all, long i) { all[i].mass = 1; }").k
    local all = S:buffer(d, { {}, {}, {} })
    helper.raises("argument 1 'all' (global Body*): struct 4 was written, 1 after the last of 3", k, 1, all, 3)
    helper.raises("struct 0 was written, 1 before the first of 3", k, 1, all, -1)
    helper.raises("struct 3 was written, 2 after the last of 1", k, 1, all:view(1, 1):copy(), 2)
  end)

  it("finds the same fault again at the next launch", function()
    local y = d:zeros("float", 5)
    for _ = 1, 2 do
      helper.raises("element 7 was written, 2 after the last of 5", p.poke, 1, y, 6, 1)
      helper.raises("element 0 was written, 1 before the first of 5", p.poke, 1, y, -1, 1)
    end
    p.poke(5, y, 0, 3)
    assert.same({ 3, 3, 3, 3, 3 }, y:read())
  end)

  it("finds what is written round a view, where it is no part of another output", function()
    local m = d:zeros("int", 24, 256)
    local first, second = m:view(9, 12), m:view(13, 16)
    p.bury(1, first, second, 0)
    p.bury(1, first, second, 1024) -- the first element of the second
    helper.raises("kernel 'bury' argument 1 'y' (global int*): element 0 was written, 1 before the first of 1024",
      p.bury, 1, first, second, -1)
    helper.raises("kernel 'bury' argument 1 'y' (global int*): element 1030 was written, 6 after the last of 1024",
      p.bury, 1, first, m:view(20, 24), 1029)
    helper.raises("element 2049 was written, 1 after the last of 2048", p.bury, 1, m:view(17, 24), first, 2048)
    assert.equal(1, m:get(13, 6)) -- a neighbour stays as the kernel left it
  end)

  it("says when a view begins at the start of its buffer or ends at its end", function()
    local m = d:zeros("float", 8, 128)
    helper.raises("element 0 was written, 1 before the first of 256", p.poke, 1, m:view(1, 2), -1, 1)
    helper.raises("element 257 was written, 1 after the last of 256", p.poke, 1, m:view(7, 8), 256, 1)
    helper.raises("element 257 was written, 1 after the last of 256", p.poke, 1, m:view(1, 2), 256, 1)
  end)

  it("counts where a view starts without the red zone", function()
    helper.raises("argument 1 'y' (global float*): the view starts 16 bytes into its memory", p.poke, 1,
      d:zeros("float", 8, 4):view(2, 3), 0, 1)
    helper.raises("the view starts 4 bytes into its memory, no multiple of the 8 bytes of a ulong", function()
      d:zeros("float", 8):view(2, 3):as "ulong"
    end)
  end)

  it("does not see a write farther away, nor one of what is there already", function()
    local m = d:zeros("float", 64, 256)
    p.poke(1, m:view(1, 2), 60 * 256, 1)
    p.poke(1, m:view(1, 2), 2 * 256, 0)
    assert.equal(1, m:get(61, 1))
  end)

  it("finds the first NaN or infinity that a kernel made", function()
    local x = d:buffer { 4, 2, 0, 1, 0, 5 }
    helper.raises("kernel 'invert' argument 2 'y' (global float*): element 3 became inf, the first of 2 that are not "
      .. "finite", p.invert, 6, x, d:empty("float", 6))
    helper.raises("; check mode looks for it: where it is meant, make the buffer under d:check(false)", p.invert, 6, x,
      d:empty("float", 6))
    helper.raises("kernel 'scale' argument 1 'x' (global float*): element [2, 3] became -inf", p.scale, 6,
      d:buffer { { 1, 2, 3 }, { 4, 5, -6e30 } }, 1e10)
    helper.raises("element [2, 1, 2] became nan, the first of 3", p.copy, 8,
      d:buffer { 1, 2, 3, 4, 5, 0 / 0, math.huge, -math.huge }, d:empty("float", 2, 2, 2))
  end)

  it("finds them in half and double", function()
    for dtype, store in pairs { double = "y[i] = v", half = "vstore_half(v, i, y)" } do
      if dtype == "half" or d.has_double then
        local source = "kernel void f(global %s *y, float v) { for (int i = 0; i < 9; i++) %s; }"
        local y, f = d:empty(dtype, 9), d:program(source:format(dtype, store)).f
        f(1, y, 1)
        helper.raises("kernel 'f' argument 1 'y' (global " .. dtype .. "*): element 1 became nan", f, 1, y, 0 / 0)
        y:fill(0)
        helper.raises("element 1 became -inf, the first of 9", f, 1, y, -math.huge)
      end
    end
  end)

  it("finds them beyond the elements that are looked at together", function()
    local n = helper.is_simulator(d) and 262200 or 600000
    local y = d:zeros("float", n)
    helper.raises(("element %d became inf"):format(n), p.poke, 1, y, n - 1, math.huge)
    helper.raises("element 262145 became inf", p.poke, 1, y, 262144, math.huge)
  end)

  it("does not report a place that held one before, nor elements that are not written", function()
    local x, y = d:buffer { 1, 0, 1, 0 }, d:buffer { 1, math.huge, 0 / 0, 0 }
    helper.raises("element 4 became inf", p.invert, 4, x, y)
    p.copy(3, x, d:empty("float", 4))
    p.copy(4, d:buffer { 1, 2, 3, math.huge }:view(1, 3), d:empty("float", 4):fill(0 / 0))
  end)

  it("does not take the fields of a struct for numbers", function()
    local y = d:zeros("float", 4)
    p.bits(2, y, 0x7fc00001)
    assert.not_equal(y[1], y[1])
  end)

  it("refuses an output that overlaps an input, before anything is written", function()
    local x = d:zeros("float", 8, 256)
    local said = "argument 2 'y' (global float*): is written, and shares elements with argument 1 '%s', which is const"
    helper.raises(said:format "x", p.plus, 2048, x, x)
    helper.raises(said:format "x", p.plus, 512, x:view(1, 4), x:view(3, 6))
    helper.raises(said:format "x", p.plus, 512, x:view(3, 4), x)
    helper.raises(said:format "table", p.lookup, 4, x, x)
    assert.equal(0, cl.sum(x))
    p.plus(512, x:view(1, 2), x:view(3, 4))
    assert.equal(512, cl.sum(x))
  end)

  it("marks what was never written, and what lies outside", function()
    local x, y = d:empty("float", 3), d:zeros("float", 3)
    for _, v in ipairs(x:read()) do assert.not_equal(v, v) end
    assert.same({ -1515870811, 0xa5 }, { d:empty("int", 2)[2], d:empty("uchar", 1)[1] })
    local became = "argument 2 'y' (global float*): element %d became nan"
    helper.raises(became:format(1), p.plus, 3, x, y)
    helper.raises(became:format(1), p.add, 3, d:zeros("float", 3), d:empty("float", 3))
    helper.raises(became:format(3), p.next, 3, d:zeros("float", 3), d:zeros("float", 3))
  end)

  it("says where they came from, on a device that keeps the digits of a NaN", function()
    if d.platform:find "NVIDIA" then return pending "it has one NaN" end
    helper.raises("element 2 became nan, the first of 2 that are not finite, made of an element of argument 1 'x' that "
      .. "was never written", p.plus, 3, d:empty("float", 3):fill(1, 1, 1), d:zeros("float", 3))
    helper.raises("made of an element of argument 2 'y' that was never written", p.add, 1, d:zeros("float", 1),
      d:empty("float", 1))
    helper.raises("element 1 became nan, made of what lies outside of argument 1 'x'", p.next, 1, d:zeros("float", 1),
      d:zeros("float", 1))
    local between = d:zeros("float", 1)
    pcall(p.copy, 1, d:empty("float", 1), between)
    helper.raises("element 1 became nan, made of an element of a buffer that was never written", p.plus, 1, between,
      d:zeros("float", 1))
  end)

  it("does not see what integers are made of", function()
    local copy = d:program("kernel void copy(global const int *x, global int *y) { y[0] = x[3]; }").copy
    local y = d:zeros("int", 1)
    copy(1, d:zeros("int", 3), y)
    assert.equal(0x5a5a5a5a, y[1])
  end)

  it("is of the buffers: what was made without it is left alone", function()
    d:check(false)
    local x, y = d:zeros("float", 4), d:empty("float", 4)
    d:check(true)
    p.invert(4, x, y)
    p.plus(4, y, y)
    assert.equal(math.huge, y[4])
    helper.raises("became inf", p.invert, 4, x, d:empty("float", 4))
    assert.same({ 0, 0, 0 }, d:buffer({ 0, 0, 0 }):copy():read())
    helper.raises("was written, 1 after the last of 4", p.poke, 1, x:copy(), 4, 1)
  end)

  it("checks launches on further queues, and results of operations", function()
    local q <close> = d:queue()
    local y = q:empty("float", 4)
    helper.raises("element 5 was written", p.poke, 1, y, 4, 1)
    helper.raises("element 1 became inf", q:program(SOURCE).invert, 4, q:zeros("float", 4), y)
    local c = cl.gemm(d:random("float", 3, 3), d:random("float", 3, 3))
    helper.raises("element 10 was written, 1 after the last of 9", p.poke, 1, c, 9, 1)
  end)

  it("keeps operations right, views and parts of matrices included", function()
    local a = d:random("float", 8, 12, { seed = 1 })
    local all, host = a:reshape(96), a:read()
    cl.gemm(all, all, { c = a:view(5, 8):reshape(48), m = 3, n = 3, k = 4, lda = 12, ldb = 12, ldc = 12 })
    for i = 1, 3 do
      for j = 1, 3 do
        local sum = 0
        for k = 1, 4 do sum = sum + host[i][k] * host[k][j] end
        assert.near(sum, a:get(4 + i, j), 1e-5)
      end
    end
    local right = { c = all:view(65, 96), m = 2, n = 4, k = 4, lda = 12, ldb = 12, ldc = 12 } -- beside what is read
    cl.gemm(all:view(61, 96), all, right)
    helper.raises("must not overlap", cl.gemm, all:view(65, 96), all, right)
    assert.near(10, cl.sum(d:zeros("float", 10):fill(1)), 1e-6)
    local x, info = cl.gauss(d:buffer { { 2, 1 }, { 1, 3 } }, d:buffer { 3, 4 })
    assert.near(1, x[2], 1e-6)
    assert.is_true(info.backward_error <= 30)
  end)

  it("takes infinities of compiled loops as Lua does, on the device and off it", function()
    local x, n = d:buffer { 1, 0 }, 2
    for _, force in ipairs { true, false } do
      local compiled = assert(loops.compile("function(x, y, n) for i = 1, n do y[i] = 1 / x[i] end end",
        { device = d, force = force }))
      local y, list = d:empty("float", n), { 0.0, 0.0 }
      compiled(x, y, n)
      compiled({ 1, 0 }, list, n)
      assert.same({ math.huge, math.huge }, { y[2], list[2] })
    end
  end)

  it("takes memory for the red zones, which live tells", function()
    collectgarbage() -- or what it collects on the way is counted too
    local before = cl.live().bytes
    local y <close> = d:empty("float", 3)
    local zone = math.max(1024, d.align)
    assert.equal(2 * zone + 12, cl.live().bytes - before)
    assert.equal(12, y.bytes)
    assert.equal(0, #d:empty("float", 0))
  end)

  it("takes a boolean", function()
    helper.raises("boolean expected, got number", d.check, d, 1)
    helper.raises("option 'check'", cl.device, d.place, { check = 1 })
    assert.equal(d, d:check(true))
  end)
end)

describe("CLCOMPUTE_CHECK", function()
  local script = [[
    local d = require "clcompute".device()
    local y = d:empty("int", 2)
    d:program("kernel void f(global int *y) { y[2] = 1; }").f(1, y) ]]

  it("switches check mode on from the start", function()
    local ok, output = helper.run(script, { CLCOMPUTE_CHECK = 1 })
    assert.is_false(ok)
    assert.matches("element 3 was written, 1 after the last of 2", output, 1, true)
  end)

  it("does nothing when it is empty, 0, off, no or false", function()
    for _, value in ipairs { "", "0", "off", "no", "false" } do
      helper.output("local d = require 'clcompute'.device() print(d:zeros('int', 1))", { CLCOMPUTE_CHECK = value })
      assert.equal(4, tonumber((select(2, helper.run(
        "local cl = require 'clcompute' local b = cl.device():zeros('int', 1) print(cl.live().bytes)",
        { CLCOMPUTE_CHECK = value })))))
    end
  end)
end)
