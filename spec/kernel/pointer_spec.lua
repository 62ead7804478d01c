-- SPDX-License-Identifier: MIT
--- What a pointer takes besides a buffer of its own dtype: the signed or unsigned kin, all as bytes, cl.null.

local cl = require "clcompute"
local helper = require "spec.helper"
local isolated = require "spec.support.isolated"

local SOURCE = [[
  kernel void signs(global uint *x, global int2 *y) { x[0] = 0xffffffff; y[0] = (int2)(-2, -3); }
  kernel void bytes(global uchar *x, global const char *y, global void *z) { x[0] = y[1]; }
  kernel void has(global int *found, global const float *x, constant int *y) {
    found[0] = (x != 0) + 2 * (y != 0);
  }
  kernel void local_bytes(global int *out, local uchar *s, local uint *t) { s[3] = 7; t[0] = s[3]; out[0] = t[0]; }
  kernel void nan(global uchar *x, int at) { x[at] = 0xff; x[at + 1] = 0x7f; }
  kernel void put(global uchar *x, int at) { x[at] = 0xee; }
  kernel void vector(global uchar4 *x) { x[0] = 1; }
  kernel void three(global float3 *x) { const int i = get_global_id(0); x[i] = (float3)(i, i + 1, i + 2); }]]

--- Checks one device, whose kernels run in this process or in a worker.
local function check(d)
  local p = d:program(SOURCE)

  it("takes the signed or unsigned kin of its dtype", function()
    local x, y = d:zeros("int", 1), d:zeros("uint", 2)
    p.signs(1, x, y)
    assert.same({ { -1 }, { 2 ^ 32 - 2, 2 ^ 32 - 3 } }, { x:read(), y:read() })
    helper.raises("argument 1 'x' (global uint*): uint buffer expected, got float buffer", p.signs, 1,
      d:zeros("float", 1), y)
    helper.raises("uint buffer expected, got ulong buffer", p.signs, 1, d:zeros("ulong", 1), y)
  end)

  it("to bytes takes every dtype", function()
    for _, dtype in ipairs { "double", "half", "ulong", "char" } do
      local x = d:zeros(dtype, 1)
      p.bytes(1, x, d:buffer({ 0x1234 }, "int"), d:zeros("short", 1))
      assert.equal(0x12, x:string():byte(1))
    end
    helper.raises("uchar buffer expected, got float buffer", p.vector, 1, d:zeros("float", 4))
    p.vector(1, d:zeros("float", 4):as "uchar")
  end)

  it("to vectors of 3 takes rows of 4, as each of them has the room of 4", function()
    local x = d:zeros("float", 2, 4)
    p.three(2, x)
    assert.same({ { 0, 1, 2 }, { 1, 2, 3 } }, { x[1]:read(1, 3), x[2]:read(1, 3) })
    p.three(2, x:reshape(8))
    for _, shape in ipairs { { 2, 3 }, { 4, 3 }, { 6 }, { 1 } } do
      local packed = d:zeros("float", table.unpack(shape))
      helper.raises({ "argument 1 'x' (global float3*)", "a vector of 3 takes the room of 4 elements", "call vload3" },
        p.three, 1, packed)
    end
  end)

  it("to local memory takes both too", function()
    local out = d:zeros("int", 1)
    p.local_bytes({ global = 1, group = 1 }, out, cl.scratch("float", 1), cl.scratch("int", 1))
    assert.equal(7, out[1])
  end)

  it("takes cl.null", function()
    local found, x, y = d:zeros("int", 1), d:zeros("float", 1), d:zeros("int", 1)
    for i, given in ipairs { { x, y }, { cl.null, y }, { x, cl.null }, { cl.null, cl.null }, { x, y } } do
      p.has(1, found, given[1], given[2])
      assert.equal(({ 3, 2, 1, 0, 3 })[i], found[1])
    end
    helper.raises({ "argument 2 's'", "scratch (cl.scratch) expected, got cl.null" }, p.local_bytes, 1, found, cl.null,
      cl.null)
    helper.raises({ "argument 2 'at' (int)", "number expected, got cl.null" }, p.put, 1, x, cl.null)
  end)

  it("is watched in check mode, whatever the dtype", function()
    d:check(true)
    local x, null = d:buffer { 1, 2, 3 }, cl.null
    local found = d:zeros("int", 1)
    d:check(false)
    p.has(1, found, null, null)
    p.nan(1, x, 6) -- of bytes no number is expected
    assert.is_true(x[2] ~= x[2])
    p.put(1, x:as "uint", 11)
    helper.raises("argument 1 'x' (global uchar*): element 4 was written, 1 after the last of 3", p.put, 1, x, 12)
    helper.raises("element 13 was written, 1 after the last of 12", p.put, 1, x:as "char", 12)
    helper.raises("element 0 was written, 1 before the first of 3", p.put, 1, x:as "uint", -4)
  end)
end

helper.describe_each("a pointer", check)

if isolated.PLACE and not os.getenv "ISOLATED" then
  describe("a pointer on an isolated device", function() check(isolated.device()) end)
end
