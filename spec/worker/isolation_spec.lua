-- SPDX-License-Identifier: MIT
--- Isolated devices: the same results, and what crashes, hangs or ends a process is an error of its launch.

local cl = require "clcompute"
local helper = require "spec.helper"
local isolated = require "spec.support.isolated"
local KILL = require("spec.support.workers").KILL

local PLACE, OTHER, FAULTS = isolated.PLACE, isolated.OTHER, isolated.FAULTS
local NEW_WORKER = isolated.NEW_WORKER
if not PLACE then return pending "isolation needs a CPU device" end

describe("an isolated device", function()
  it("is an object of its own beside that of the same hardware", function()
    local d = isolated.device()
    assert.equal(d, isolated.device())
    assert.not_equal(d, cl.device(PLACE))
    assert.is_true(d.isolated)
    assert.is_false(cl.device(PLACE).isolated)
    assert.equal(cl.device(PLACE).name, d.name)
    assert.equal(tostring(cl.device(PLACE)) .. " isolated", tostring(d))
    assert.equal(cl.device(PLACE), cl.device(PLACE, { isolated = false }))
  end)

  it("has a limit, which can be set anew", function()
    assert.equal(60, isolated.device().limit)
    assert.equal(2.5, isolated.device(2.5).limit)
    assert.equal(2.5, isolated.device().limit)
    assert.equal(math.huge, isolated.device(math.huge).limit)
    assert.equal(60, isolated.device(60).limit)
    assert.is_nil(cl.device(PLACE).limit)
    assert.equal(60, isolated.device():info().limit)
  end)

  it("has a limit of building apart from that", function()
    local d = isolated.device()
    assert.equal(300, d.build_limit)
    assert.equal(60, cl.device(PLACE, { isolated = true, build_limit = 9 }).limit)
    assert.equal(9, d:info().build_limit)
    assert.equal(300, cl.device(PLACE, { isolated = true, build_limit = 300 }).build_limit)
    assert.is_nil(cl.device(PLACE).build_limit)
  end)

  it("refuses other limits, and a limit without isolation", function()
    for _, name in ipairs { "limit", "build_limit" } do
      for _, limit in ipairs { 0, -1, 0 / 0 } do
        helper.raises({ ("option '%s'"):format(name), "seconds above 0 expected" }, cl.device, PLACE,
          { isolated = true, [name] = limit })
      end
      helper.raises({ ("option '%s'"):format(name), "number expected" }, cl.device, PLACE,
        { isolated = true, [name] = "soon" })
      helper.raises("only isolated devices have one", cl.device, PLACE, { [name] = 5 })
    end
    helper.raises({ "option 'isolated'", "boolean expected" }, cl.device, PLACE, { isolated = 1 })
    helper.raises("patience", cl.device, PLACE, { isolated = true, patience = 5 })
  end)

  it("is a CPU", function()
    if not OTHER then return pending "there are CPUs only" end
    helper.raises({ "only CPU devices can be isolated", OTHER.place }, cl.device, OTHER.place, { isolated = true })
  end)

  it("has no parts", function()
    local d = isolated.device()
    helper.raises(('an isolated device has no parts; cl.device("%s", {isolated = false}) has'):format(d.place),
      d.partition, d, { units = 1 })
  end)

  it("reads what a source includes by a path from the current folder", function()
    local d = isolated.device()
    local x = d:zeros("float", 2)
    d:program([[
      #include "kernels/clcompute/complex.h"
      kernel void f(global float2 *z) { z[0] = (float2)(1, 2); }]]).f(1, x)
    assert.same({ 1, 2 }, x:read())
  end)

  it("reads the elements of a buffer as an image", function()
    assert.equal("6.0\n", helper.output(([[
      local d = require "clcompute".device("%s", { isolated = true })
      local k = "kernel void f(read_only image1d_buffer_t im, global float *x) { *x = read_imagef(im, 1).y; }"
      local x = d:zeros("float", 1)
      d:program(k).f(1, d:image("rgba float", d:buffer { 1, 2, 3, 4, 5, 6, 7, 8 }), x)
      print(x[1]) ]]):format(PLACE), nil, 60))
  end)

  it("opens afresh after it was closed", function()
    local d = isolated.device()
    local x = d:buffer { 1, 2 }
    d:kernel "saxpy"
    d:close()
    helper.raises("buffer is released", x.read, x)
    assert.not_equal(d, isolated.device())
    assert.same({ 2, 4 }, cl.saxpy(1, isolated.device():buffer { 1, 2 }, isolated.device():buffer { 1, 2 }):read())
  end)
end)

describe("what is computed on an isolated device", function()
  local plain, d = cl.device(PLACE), isolated.device()

  --- f(device) on both; their results are equal.
  local function same(f) assert.same(f(plain), f(d)) end

  it("is the same: prebuilt operations", function()
    for _, n in ipairs { 0, 1, 17, 1009, 65537 } do
      same(function(device)
        local x, y = device:random("float", n, { seed = helper.seed }), device:random("float", n, { seed = 2 })
        return cl.saxpy(0.3, x, y):read()
      end)
    end
    same(function(device)
      local a = device:random("float", 37, 53, { seed = helper.seed })
      return cl.gemm(a, a, { transb = true }):read()
    end)
    same(function(device)
      return (cl.gauss(device:random("float", 65, 65, { seed = 5 }), device:random("float", 65, { seed = 6 }))):read()
    end)
    same(function(device)
      local x = device:random("float", 10007, { seed = helper.seed })
      return { cl.sum(x), cl.max(x), cl.scan("a + b", x):read(), cl.map("x[i] * x[i] + 1", { x = x }):read() }
    end)
  end)

  it("is the same: kernels with every kind of argument, views among them", function()
    local SOURCE = [[
      typedef struct { int a; float b; } Pair;
      kernel void k(global double *out, constant int *table, global const float *x, char c, ulong u, float4 v,
                    double z, Pair pair, local float *s) {
        int i = get_global_id(0), t = get_local_id(0), n = get_local_size(0);
        s[t] = x[i] * table[i % 3];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[i] = s[n - 1 - t] + c + u + v.s0 * v.s3 + z + pair.a * pair.b;
      }
    ]]
    local align = d.align // 4
    for _, n in ipairs { 8, 64, 1000 } do
      same(function(device)
        local k = device:program(SOURCE).k
        local out = device:zeros("double", n)
        local x = device:random("float", n + align, { seed = helper.seed, low = -8, high = 8 })
        k({ global = n, group = 8 }, out, device:buffer({ 3, -1, 2 }, "int"), x:view(align + 1, align + n), -5, 7,
          { 0.5, 1, 2, 0.25 }, 1 / 3, string.pack("i4f", 4, 0.75), cl.scratch("float", 8))
        return { out:read(), k.args, k:info() }
      end)
    end
  end)

  it("is the same: ranges of up to three dimensions, with offsets, that are split or empty", function()
    local SOURCE = [[kernel void k(global uint *out) {
      int i = get_global_id(0) + 64 * (get_global_id(1) + 16 * get_global_id(2));
      out[i] = i + 1000000 * get_local_size(0); }]]
    for _, range in ipairs { 37, { 5, 7 }, { 3, 4, 5 }, { global = { 40, 3 }, group = { 8, 1 }, offset = { 2, 5 } },
      { global = { 37, 11 }, group = { 8, 4 }, remainder = "split" }, 0 } do
      same(function(device)
        local out = device:zeros("uint", 64 * 16 * 8)
        device:program(SOURCE).k(range, out):wait()
        return out:read()
      end)
    end
  end)

  it("is the same: compiled loops", function()
    local loops = require "clcompute.loops"
    same(function(device)
      local f = loops.compile([[function(a, b, n)
        for i = 2, n - 1 do b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3 end
      end]], { device = device })
      local a, b = device:random("double", 1000, { seed = helper.seed }), device:zeros("double", 1000)
      f(a, b, 1000)
      return b:read()
    end)
  end)

  it("goes by the order of transfers and launches", function()
    local twice = d:program(FAULTS).twice
    local x = d:zeros("float", 1000)
    for i = 1, 20 do
      x:fill(i)
      twice(1000, x)
      x:write({ 7 }, 1000)
      twice(1, x:view(1, 1000))
      local y = x:copy()
      twice(1000, x)
      assert.same({ 4 * i, 2 * i, 7 }, { y[1], y[2], y[1000] })
    end
  end)

  it("can be waited for and timed", function()
    local x = d:timing(true):zeros("float", 1000)
    local e = d:program(FAULTS).twice({ global = 1000, group = 64, remainder = "split" }, x)
    assert.equal("complete", e.status)
    assert.equal(e, e:wait(0))
    local p = e:profile()
    assert.is_true(p.queued <= p.submitted and p.submitted <= p.started and p.started < p.finished)
    assert.is_true(math.abs(e.seconds - (p.finished - p.started)) < 1e-6)
    assert.equal("event of kernel 'twice'", tostring(e))
    d:timing(false)
    e:release()
    helper.raises("event is released", e.wait, e)
  end)

  it("is counted by the profile", function()
    cl.profile(true)
    d:program(FAULTS).twice({ global = 1000, group = 64, remainder = "split" }, d:zeros("float", 1000))
    local found
    for _, row in ipairs(cl.profile()) do
      if row.name == "twice" then found = row end
    end
    cl.profile(false)
    assert.equal(1, found and found.calls)
  end)

  it("can be spread over further queues", function()
    local second = d:queue()
    assert.is_true(second.isolated)
    local x, p = d:zeros("float", 64), d:program(FAULTS)
    x:fill(3)
    d:wait()
    p.twice(64, x):before(second)
    second:program(FAULTS).twice(64, x)
    assert.equal(12, x[1])
    second:close()
    assert.equal(12, x[64])
  end)

  it("may be what a kernel prints", function()
    local output = helper.output(([[
      local d = require "clcompute".device("%s", { isolated = true })
      d:program 'kernel void k(int n) { printf("n is %%d\\n", n); }'.k(1, 42):wait()
    ]]):format(PLACE))
    assert.equal("n is 42\n", output)
  end)
end)

describe("a fault on an isolated device", function()
  local d, p, keep, x
  local values = {}
  for i = 1, 1000 do values[i] = i / 4 end

  setup(function()
    d = isolated.device(1)
    p = d:program(FAULTS)
    keep, x = d:buffer(values), d:buffer { 1, 2, 3, 4 }
    p.twice(1000, keep) -- the worker has it mapped
    keep:write(values)
  end)

  teardown(function() isolated.device(60) end)

  --- Asserts that all else is sound, and how soon.
  local function assert_sound()
    local start = cl.clock()
    x:write { 1, 2, 3, 4 }
    p.twice(4, x)
    local seconds = cl.clock() - start
    assert.same({ 2, 4, 6, 8 }, x:read())
    assert.same(values, keep:read())
    assert.is_true(seconds < NEW_WORKER, ("%g seconds to a new worker"):format(seconds))
    assert.equal(1, #isolated.workers())
  end

  local SEGV = "its worker process died of SIGSEGV"

  it("that is an access far outside is an error of its launch", function()
    local message = helper.raises({ "kernel 'far'", SEGV }, p.far, 4, x)
    assert.matches("^spec/worker/isolation_spec.lua:%d+: ", select(2, pcall(function() p.far(4, x) end)), message)
    assert_sound()
  end)

  it("tells nothing of what the compiler said of an earlier source", function()
    assert.is_false(pcall(d.program, d, "kernel void f(global float *x) { x[0] = unknown; }"))
    local _, message = pcall(p.far, 4, x)
    assert.not_matches("generated", message)
    assert_sound()
  end)

  it("that is an endless loop is ended at its limit", function()
    local start = cl.clock()
    helper.raises({ "kernel 'endless'", "not done within the limit of 1 seconds, and ended "
      .. "(a loop that does not end, or a barrier that not all work-items reach; option 'limit')" }, p.endless, 1, x)
    local seconds = cl.clock() - start
    assert.is_true(seconds >= 1 and seconds < 6, seconds)
    assert_sound()
  end)

  it("is not what takes longer than the limit to compile", function()
    isolated.device(0.05)
    finally(function() isolated.device(1) end)
    local y = d:zeros("double", 1)
    d:program(helper.unseen "kernel void f(global double *y) { y[0] = %s; }").f(1, y)
    assert.not_equal(0.0, y[1])
  end)

  it("that stops its process is ended", function()
    local output = helper.output(([[
      local d = require "clcompute".device("%s", { isolated = true })
      local p, x = d:program [=[%s]=], d:buffer { 1, 2 }
      p.twice(2, x)
      os.execute("(sleep 0.3; kill -STOP $(ps -o pid=,args= --ppid $PPID | grep clcompute_worker | cut -c1-8)) &")
      print(select(2, pcall(p.endless, 1, x)))
      p.twice(2, x)
      print(x[2]) ]]):format(PLACE, FAULTS), nil, 60)
    assert.matches("its worker process was stopped, and was ended\n8.0\n$", output)
  end)

  it("that is a compiler without end is ended at the limit of building", function()
    local source = helper.unseen "kernel void f(global double *y) { y[0] = %s; }"
    local k, y = d:program(source).f, d:zeros("double", 1)
    local function allow(seconds) cl.device(PLACE, { isolated = true, build_limit = seconds }) end
    finally(function() allow(300) end)
    allow(0.001)
    local message = helper.raises({ "kernel 'f'", "not ready within the limit of 0.001 seconds" }, k, 1, y)
    assert.not_matches("barrier", message)
    helper.raises({ "building source", "not ready within the limit", "option 'build_limit'" },
      d.program, d, source .. "/* again */")
    allow(300)
    assert_sound()
  end)

  it("that is a private array of 64 MB is an error of its launch", function()
    helper.raises({ "kernel 'large'", SEGV }, p.large, 1, x)
    assert_sound()
  end)

  it("that is a barrier in a loop of uneven count is an error of its launch", function()
    helper.raises("kernel 'divergent'", p.divergent, { global = 64, group = 64 }, d:zeros("float", 64))
    assert_sound()
  end)

  it("that is an abort of the driver is an error of its launch", function()
    local lua = os.tmpname() -- one that has no ld in its PATH, so that POCL gives up
    helper.write(lua, "#!/bin/sh\nlua=$(command -v " .. helper.lua .. ")\nPATH=/nonexistent exec $lua \"$@\"\n", true)
    finally(function() os.remove(lua) end)
    local output = helper.output(([[
      local d = require "clcompute".device("%s", { isolated = true })
      local keep, x = d:buffer { 5, 6, 7 }, d:buffer { 1, 2 }
      local p = d:program "kernel void fresh(global float *x) { x[get_global_id(0)] *= %s; }"
      for _ = 1, 2 do print(pcall(p.fresh, 2, x)) end
      print(table.concat(keep:read(), " "))
    ]]):format(PLACE, helper.unseen "%s"), { CLCOMPUTE_LUA = lua })
    for _ = 1, 2 do
      local line, rest = output:match "^([^\n]*)\n(.*)$"
      assert.matches("false\tkernel 'fresh': its worker process died of SIGABRT", line, 1, true)
      output = rest
    end
    assert.matches("^5.0 6.0 7.0", output)
  end)

  it("that is a function which POCL declares and lacks is told by the function's name", function()
    local k = isolated.device():program([[
      float3 __attribute__((overloadable)) shuffle(float3, uint3);
      kernel void lacking(global float *x) { vstore3(shuffle(vload3(0, x), (uint3)(2, 1, 0)), 0, x); }
    ]]).lacking
    helper.raises({ "kernel 'lacking': its worker process died of SIGABRT", "undefined symbol: ", "shuffle" }, k, 1,
      isolated.device():zeros("float", 3))
  end)

  it("leaves alone what the kernel was not given, also where it was given that before", function()
    local twin = d:program [[
      kernel void tell(global ulong *where, global float *y) { where[0] = (ulong)y; }
      kernel void stray(global ulong *where) { *(global float *)where[0] = -1; }
    ]]
    local where = d:zeros("ulong", 1)
    twin.tell(1, where, keep)
    helper.raises("kernel 'stray'", twin.stray, 1, where)
    assert_sound()
  end)

  it("leaves no process, no file and no memory of a worker behind, fifty times", function()
    assert_sound()
    local files = isolated.count_files()
    for _ = 1, 50 do assert.is_false(pcall(p.far, 4, x)) end
    assert_sound()
    assert.equal(files, isolated.count_files())
    assert.equal(1, #isolated.workers())
  end)

  it("in a split launch, with local memory and values, is followed by a right one", function()
    local q = d:program [[kernel void k(global int *x, local int *s, int n, int bad) {
      int i = get_global_id(0), t = get_local_id(0);
      s[t] = i + n;
      barrier(CLK_LOCAL_MEM_FENCE);
      x[i + (bad ? 1L << 40 : 0)] = s[t];
    }]]
    local range, out = { global = 37, group = 8, remainder = "split" }, d:zeros("int", 37)
    helper.raises("kernel 'k'", q.k, range, out, cl.scratch("int", 8), 10, 1)
    q.k(range, out, cl.scratch("int", 8), 10, 0)
    for i, v in ipairs(out:read()) do assert.equal(i + 9, v) end
    assert_sound()
  end)

  it("is none where a worker died idle: a new one takes over", function()
    assert_sound()
    os.execute(KILL)
    assert_sound()
  end)
end)

describe("a build on an isolated device", function()
  local d = isolated.device()

  it("tells what is wrong with the source as ever", function()
    helper.raises({ "CL_BUILD_PROGRAM_FAILURE", "source:2 |   x[0] = nowhere;" }, d.program, d,
      "kernel void k(global int *x) {\n  x[0] = nowhere;\n}")
  end)

  it("that ends the compiler's process is an error that names the source", function()
    local source = ("kernel void k(global int *x) { x[0] = %s x[1]; }"):format(("- "):rep(100000))
    helper.raises({ "building deep.cl: its worker process" }, d.program, d, source, { name = "deep.cl" })
    assert.same({ 2, 4 }, cl.saxpy(1, d:buffer { 1, 2 }, d:buffer { 1, 2 }):read())
  end)

  it("takes sources that are larger than what a socket holds", function()
    local p = d:program("kernel void k(global int *x) { x[0] = 7; }" .. ("/" .. ("/"):rep(99) .. "\n"):rep(20000))
    local x = d:zeros("int", 1)
    p.k(1, x)
    assert.equal(7, x[1])
  end)

  it("is done again for a new worker", function()
    local x = d:zeros("double", 1)
    local k = d:program(helper.unseen "kernel void k(global double *x) { x[0] = %s; }").k
    k(1, x)
    local once = x[1]
    os.execute(KILL)
    x:fill(0)
    k(1, x)
    assert.equal(once, x[1])
  end)

  it("is let go of with its program", function()
    local x = d:zeros("float", 1)
    for i = 1, 20 do
      local p = d:program(("kernel void k(global float *x) { x[0] = %d; }"):format(i))
      local k = p.k
      p:release()
      k(1, x)
      assert.equal(i, x[1])
      k:release()
    end
  end)
end)
