-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local count = require "clcount"
local internal = require "clcompute.core.internal"

local SOURCE = [[
  kernel void step(global const float *from, global float *to, int n, float factor) {
    const int i = get_global_id(0);
    if (i >= n) return;
    to[i] = factor * (from[(i + n - 1) % n] + from[i] + from[(i + 1) % n]);
  }
  kernel void eliminate(global float *a, int n, int k) { // a row of a matrix of n columns each
    const int i = get_global_id(0);
    const float f = a[i * n + k] / a[k * n + k];
    for (int j = k; j < n && i > k; j++) a[i * n + j] -= f * a[k * n + j];
  }
  kernel void add(global int *x, int y) { x[get_global_id(0)] += y; }
  kernel void sum(global int *x, local int *tmp, int y) {
    tmp[get_local_id(0)] = y;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] += tmp[0];
  }
  kernel void late(global int *x, int n) { volatile int i; for (i = 0; i < n; i++); x[0] += 1; }
]]
local PIXELS = [[
  kernel void shift(read_only image2d_t from, write_only image2d_t to, sampler_t s) {
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, s, at + (int2)(1, 0)) + 1);
  }
]]

local function collect()
  collectgarbage()
  collectgarbage()
end

local function describe_sequences(device)
  local d = device
  if d.isolated then
    it("are refused where launches go to another process", function()
      helper.raises({ "record", "isolated device" }, d.record, d, print)
      assert.is_false(internal.record_unheld(d, print))
    end)
    return
  end
  local p = d:program(SOURCE)
  local N = 100

  --- Of all that is in use, behind a collection: what other cases left may be collected at any time.
  local function bytes()
    collectgarbage()
    return cl.live().bytes
  end
  local function sequences() return cl.live().sequence end

  --- A sequence that adds y to all of a buffer.
  local function adding(x, y)
    return d:record(function() p.add(#x, x, y) end)
  end

  it("of the library itself are of launches alone", function()
    local x = d:zeros("int", 4)
    assert.is_false(internal.record_unheld(d, function() x:fill(1) end))
    local s = internal.record_unheld(d, function() p.add(4, x, 1) end)
    assert.is_true(internal.replay(s))
    assert.same({ 1, 1, 1, 1 }, x:read())
    debug.sethook(function() end, "", 1 << 20)
    assert.is_false(internal.replay(s))
    debug.sethook()
  end)

  describe("that are replayed", function()
    it("compute what the loop computes: a stencil of ping and pong", function()
      local x, y = d:random("float", N, { seed = helper.seed }), d:zeros("float", N)
      local plain, other = x:copy(), y:copy()
      local before = x:string()
      local function turn(a, b)
        p.step(N, a, b, N, 0.3)
        p.step(N, b, a, N, 0.3)
      end
      local s <close> = d:record(function()
        for _ = 1, 3 do turn(x, y) end
      end)
      assert.equal(before, x:string())
      assert.equal("sequence of 6 launches", tostring(s))
      assert.equal(6, #s.launches)
      assert.equal("kernel 'step'", s.launches[6])
      assert.equal(d, s.device)
      s()
      s(4):wait()
      for _ = 1, 15 do turn(plain, other) end
      assert.equal(plain:string(), x:string())
      assert.equal(plain:string(), x:string())
      assert.equal(other:string(), y:string())
    end)

    it("compute what the loop computes: elimination step by step", function()
      local n = 20
      local a = d:random("float", n, n, { seed = helper.seed, low = 1, high = 2 })
      local again, plain = a:copy(), a:copy()
      local s <close> = d:record(function()
        again:copy_rect { to = a, size = { n, n } }
        for k = 0, n - 2 do p.eliminate(n, a, n, k) end
      end)
      for _ = 1, 3 do s() end
      for k = 0, n - 2 do p.eliminate(n, plain, n, k) end
      assert.equal(plain:string(), a:string())
      assert.equal("sequence of 19 launches and 1 fill or copy", tostring(s))
    end)

    it("have split ranges, views and local memory", function()
      local x = d:zeros("int", 4 * N)
      local view = x:view(d.align / 4 + 1, d.align / 4 + 21)
      local s <close> = d:record(function()
        p.add({ global = N + 1, group = 4, offset = 3, remainder = "split" }, x, 1)
        p.add(21, view, 10)
        p.sum({ global = 8, group = 4 }, view, cl.scratch("int", 4), 100)
        p.add(0, view, 5)
      end)
      assert.equal(3, #s.launches)
      local plain = x:copy():read()
      s(2)
      for i = 4, N + 4 do plain[i] = plain[i] + 2 end
      for i = 1, 21 do plain[d.align // 4 + i] = plain[d.align // 4 + i] + 20 end
      for i = 1, 8 do plain[d.align // 4 + i] = plain[d.align // 4 + i] + 200 end
      assert.same(plain, x:read())
    end)

    it("have fills, copies, and writes of what was there when it was recorded", function()
      local x, y, z = d:zeros("int", 8), d:zeros("int", 8), d:zeros("int", 8)
      local values = { 1, 2, 3 }
      local s <close> = d:record(function()
        x:fill(7)
        x:write(values, 2)
        x[8] = 9
        y:write(x)
        p.add(8, x, 1)
        y:write(x:view(1, 4), 5)
        x:view(2, 8):write(x:view(1, 7))
        z:write(string.pack("i4i4", 5, 6), 1)
      end)
      values[1] = 100
      assert.same({ 0, 0, 0, 0, 0, 0, 0, 0 }, x:read())
      for _ = 1, 2 do
        s()
        assert.same({ 8, 8, 2, 3, 4, 8, 8, 8 }, x:read())
        assert.same({ 7, 1, 2, 3, 8, 2, 3, 4 }, y:read())
        assert.same({ 5, 6, 0, 0, 0, 0, 0, 0 }, z:read())
        x:fill(0)
        z:fill(0)
      end
    end)

    it("have images", function()
      if not d.has_images then return pending "no images" end
      local shift = d:program(PIXELS).shift
      local sampler = d:sampler()
      local a, b = d:image("r float", 8, 4), d:image("r float", 8, 4)
      local from, to = d:random("float", 4, 8, { seed = helper.seed }), d:zeros("float", 4, 8)
      local function turn()
        b:fill(3)
        a:write(from)
        shift({ 8, 4 }, a, b, sampler)
        shift({ 8, 4 }, b, a, sampler)
        b:write(a)
        b:buffer(to)
      end
      local s = d:record(turn)
      turn()
      local expected = to:string()
      to:fill(0)
      a:fill(0)
      helper.raises("is also argument 1 'from', which is read", s.set, s, 1, "to", a)
      helper.raises("image2d expected, got number", s.set, s, 1, "to", 1)
      s:set(1, "to", b):set(2, "s", sampler)
      a:release()
      b:release()
      sampler:release()
      collect()
      s(2)
      assert.equal(expected, to:string())
      s:release()
    end)

    it("run operations that consist of launches", function()
      local n = helper.is_simulator(d) and 70 or 1000
      local x, y = d:random("float", n, { seed = helper.seed }), d:random("float", n, { seed = 2 })
      local a = d:random("float", 33, 33, { seed = 3 })
      local mapped, scanned = d:zeros("float", n), d:zeros("float", n)
      local product = not helper.is_simulator(d) and d:zeros("float", 33, 33)
      local plain = y:copy()
      local s <close> = d:record(function()
        cl.saxpy(0.5, x, y)
        cl.map("2 * x[i]", { x = y }, { out = mapped })
        cl.scan("a + b", mapped, { out = scanned })
        if product then cl.gemm(a, a, { c = product }) end
      end)
      assert.is_true(#s.launches >= 3)
      helper.raises({ "launch 1", "saxpy", "operation" }, s.set, s, 1, 1, 1)
      s(2):wait()
      cl.saxpy(0.5, x, cl.saxpy(0.5, x, plain))
      assert.equal(plain:string(), y:string())
      assert.equal(cl.scan("a + b", cl.map("2 * x[i]", { x = plain })):string(), scanned:string())
      if product then assert.equal(cl.gemm(a, a):string(), product:string()) end
    end)

    it("leave scratch that they write to no other operation to keep", function()
      local x = d:random("float", 4096, { seed = 1 })
      local s <close> = d:record(function() cl.scan("a + b", x, { out = x }) end)
      local kept = cl.sum(x)
      local held = cl.scan("a + b", x)
      s()
      assert.is_true(math.abs(kept - held[4096]) <= 4096 * helper.eps.float * kept)
    end)

    it("do nothing where nothing was recorded, or no turn is asked for", function()
      local s <close> = d:record(function() end)
      assert.equal("sequence of 0 launches", tostring(s))
      assert.equal("complete", s(3):wait().status)
      local x = d:zeros("int", 4)
      local one <close> = adding(x, 1)
      assert.equal("complete", one(0):wait().status)
      assert.same({ 0, 0, 0, 0 }, x:read())
    end)

    it("go 1000 times, and interleave", function()
      local x, y = d:zeros("int", 4), d:zeros("int", 4)
      local one <close> = adding(x, 1)
      local other <close> = d:record(function()
        y:write(x)
        p.add(4, y, 1)
        p.add(4, x, 2)
      end)
      one(1000):wait()
      assert.equal(1000, x[1])
      for _ = 1, 100 do
        one()
        other(2)
        p.add(4, x, 1)
      end
      assert.equal(1600, x[1])
      assert.equal(1598, y[1])
    end)

    it("return an event, timed from the first start to the last end", function()
      local untimed <close> = helper.untimed(d) -- luacheck: no unused
      local x = d:zeros("int", 4)
      local s <close> = d:record(function()
        x:fill(1)
        for _ = 1, 300 do p.add(4, x, 1) end
      end)
      local e = s(2)
      assert.equal("event of sequence", tostring(e))
      helper.raises("was not timed", function() return e.seconds end)
      assert.equal("complete", e:wait().status)
      d:timing(true)
      local timed = s(2)
      local times = timed:profile()
      assert.is_true(times.started <= times.finished and timed.seconds >= 0)
      d:timing(false)
      assert.equal(301, x[1])
      local q <close> = d:queue()
      s():before(q)
      assert.equal(301, x[1])
    end)

    it("return an event that has ended when their fills and copies have", function()
      local x, y = d:zeros("int", 4), d:zeros("int", 4)
      local s <close> = d:record(function()
        x:fill(7)
        y:write(x)
      end)
      local first = p.late(1, x, helper.is_simulator(d) and 1000 or 20000000)
      s():wait()
      assert.equal("complete", first.status) -- they came behind it
      assert.same({ 7, 7, 7, 7 }, y:read())
    end)

    it("are counted by cl.profile", function()
      local x, f = d:zeros("int", 64), d:zeros("float", 64)
      local s <close> = d:record(function()
        x:fill(1)
        p.add({ global = 7, group = 4, remainder = "split" }, x, 1)
        cl.saxpy(1, f, f)
      end)
      cl.profile(true)
      s(3):wait()
      local calls = {}
      for _, row in ipairs(cl.profile()) do calls[row.name] = { row.calls, row.bytes } end
      cl.profile(false)
      assert.same({ 3, 3 * 256 }, calls.fill)
      assert.same({ 3, 3 * 256 }, calls.add)
      assert.same({ 3, 3 * 3 * 256 }, calls.saxpy)
    end)
  end)

  describe("while they are recorded", function()
    local x = d:zeros("int", 4)
    local function refused(texts, f)
      local before = sequences()
      local message = helper.raises(texts, d.record, d, f)
      assert.equal(before, sequences())
      p.add(4, x, 0) -- runs again
      x:read()
      return message
    end

    it("refuse each call that blocks, naming it", function()
      local untimed <close> = helper.untimed(d) -- luacheck: no unused
      local other = d:zeros("int", 4)
      local e, path = p.add(4, other, 0), os.tmpname()
      finally(function() os.remove(path) end)
      local calls = {
        read = function() x:read() end, string = function() x:string() end, get = function() x:get(1) end,
        index = function() return x[1] end, wait = function() d:wait() end, close = function() d:close() end,
        ["cl.dot"] = function() local r = cl.dot(x, x) return r end,
        ["cl.sum"] = function() local r = cl.sum(x) return r end,
        read_rect = function() d:zeros("int", 2, 2):read_rect() end,
        seconds = function() return e.seconds end,
        save = function() x:save(path) end,
      }
      for name, call in pairs(calls) do refused(name == "seconds" and "timed" or { "record" }, call) end
      refused({ "read cannot be recorded", "waits" }, calls.read)
      refused({ "get cannot be recorded" }, calls.get)
      refused({ "wait cannot be recorded" }, calls.wait)
      refused({ "close cannot be recorded" }, calls.close)
      refused({ "cl.gauss cannot be recorded" }, function()
        local solution = cl.gauss(d:zeros("float", 2, 2), d:zeros("float", 2))
        return solution
      end)
      refused({ "sum cannot be recorded" }, calls["cl.sum"])
      refused({ "wait cannot be recorded" }, function() e:wait() end)
      refused({ "kernel 'add' was recorded, not queued" }, function() p.add(4, x, 1):wait() end)
      refused({ "kernel 'add' was recorded, not queued" }, function() p.add(4, x, 1):before(d) end)
    end)

    it("do not nest, hold no other sequence and no other queue", function()
      local s <close> = adding(x, 1)
      local q <close> = d:queue()
      local on_q = q:zeros("int", 4)
      q:wait()
      refused("does not hold another one", function() d:record(print) end)
      refused("does not hold another one", function() q:record(print) end)
      refused("cannot be recorded in another", function() s() end)
      refused({ "fill", "another queue" }, function() on_q:fill(1) end)
      refused({ "write", "another queue" }, function() on_q:write { 1, 2 } end)
      refused({ "wait", "another queue" }, function() q:wait() end)
      refused("cannot be recorded", function() q:raw() on_q:copy(d):read() end)
      assert.equal(0, x[1])
    end)

    it("let another device compute", function()
      for _, other in ipairs(helper.devices()) do
        if other ~= d then
          local y = other:zeros("int", 4)
          local seen
          local s <close> = d:record(function()
            y:fill(5)
            seen = y[1]
            x:write(y)
          end)
          assert.equal(5, seen)
          assert.equal(0, x[1])
          s()
          assert.equal(5, x[1])
          x:fill(0)
        end
      end
    end)

    it("refuse released objects, wrong arguments and check mode in the words of a launch", function()
      local gone = d:zeros("int", 4)
      gone:release()
      refused({ "kernel 'add' argument 1 'x'", "released buffer" }, function() p.add(4, gone, 1) end)
      refused({ "kernel 'add' argument 2 'y'", "got string" }, function() p.add(4, x, "1") end)
      refused("buffer is released", function() gone:fill(1) end)
      d:check(true)
      local checked = d:zeros("int", 4)
      refused("waits for commands", function() d:zeros("int", 4) end)
      d:check(false)
      refused({ "kernel 'add'", "check mode" }, function() p.add(4, checked, 1) end)
    end)

    it("pass on what the function raises, and leave nothing", function()
      local t, before = {}, bytes()
      local ok, err = pcall(d.record, d, function()
        d:zeros("int", 100):release()
        p.add(4, x, 1)
        error(t)
      end)
      assert.is_false(ok)
      assert.equal(t, err)
      assert.equal(before, bytes())
      assert.equal(0, sequences())
      helper.raises("function expected", d.record, d)
      helper.raises("at most 1 argument", d.record, d, print, 2)
    end)

    it("go on after an error that the function catches", function()
      local s <close> = d:record(function()
        p.add(4, x, 1)
        pcall(x.read, x)
        pcall(p.add, 4, x, "one")
        p.add(4, x, 2)
      end)
      assert.equal(2, #s.launches)
      s()
      assert.equal(3, x[1])
      x:fill(0)
    end)

    it("leave nothing where OpenCL has no kernel for a launch", function()
      local before = sequences()
      count.fail("clCreateKernel", -6)
      helper.raises({ "clCreateKernel", "CL_OUT_OF_HOST_MEMORY", "kernel 'add'" }, adding, x, 1)
      count.fail()
      assert.equal(before, sequences())
      p.add(4, x, 1)
      assert.equal(1, x[1])
      x:fill(0)
    end)
  end)

  describe("with other arguments", function()
    it("take numbers and buffers for those that were recorded", function()
      local x, y = d:zeros("int", 4), d:zeros("int", 4)
      local s <close> = d:record(function()
        p.add(4, x, 1)
        x:fill(2, 4)
        p.add({ global = 3, group = 2, remainder = "split" }, x, 10)
      end)
      assert.equal(s, s:set(1, "y", 5))
      s()
      assert.same({ 15, 15, 15, 2 }, x:read())
      s:set(2, 1, y):set(2, 2, 7)
      y = nil -- luacheck: ignore
      collect()
      x:fill(0)
      s(2)
      assert.same({ 10, 10, 10, 2 }, x:read())
      local view = d:zeros("int", d.align):view(d.align / 4 + 1, d.align / 4 + 4)
      s:set(2, "x", view)
      local shown = view:view(1, 4)
      view:release()
      collect()
      s()
      assert.same({ 7, 7, 7, 0 }, shown:read())
    end)

    it("are checked as at a launch", function()
      local x = d:zeros("int", 4)
      local s <close> = d:record(function()
        p.add(4, x, 1)
        p.sum({ global = 4, group = 4 }, x, cl.scratch("int", 4), 1)
      end)
      helper.raises({ "kernel 'add' argument 2 'y'", "got string" }, s.set, s, 1, "y", "1")
      helper.raises({ "kernel 'add' argument 1 'x'", "int buffer expected" }, s.set, s, 1, 1, d:zeros("float", 4))
      helper.raises("local memory", s.set, s, 2, "tmp", cl.scratch("int", 8))
      helper.raises("no argument 'z'", s.set, s, 1, "z", 1)
      helper.raises("takes 2 arguments, got 3", s.set, s, 1, 3, 1)
      helper.raises("launch 3 is outside 1 .. 2", s.set, s, 3, 1, 1)
      helper.raises("launch 0 is outside", s.set, s, 0, 1, 1)
      helper.raises("number expected", s.set, s)
      helper.raises("at most 1 argument", s, 1, 2)
      helper.raises("must not be negative", s, -1)
      s()
      assert.same({ 2, 2, 2, 2 }, x:read())
    end)

    it("hold no buffer any more that was exchanged", function()
      local x = d:zeros("int", 4)
      local s <close> = adding(x, 1)
      local before = bytes()
      for i = 1, 10 do
        local y <close> = d:zeros("int", 1000 + i)
        s:set(1, "x", y)
      end
      s:set(1, "x", x)
      assert.equal(before, bytes())
      s()
      assert.equal(1, x[1])
    end)
  end)

  describe("and what they use", function()
    it("keep memory that is released from buffers to come", function()
      d:wait():trim()
      local x, y = d:zeros("int", 3000), d:zeros("int", 3000)
      local s = d:record(function()
        p.add(3000, x, 1)
        y:write(x)
        d:zeros("int", 3000):release()
      end)
      x:release()
      collect()
      assert.is_true(cl.live().pooled < 12000)
      local z = d:buffer(("\7\0\0\0"):rep(3000), "int", 3000)
      s(2)
      assert.equal(7, cl.min(z))
      assert.equal(7, cl.max(z))
      assert.equal(2, cl.max(y))
      local held = bytes()
      s:release()
      d:wait()
      assert.is_true(bytes() <= held - 24000)
      assert.equal("sequence (released)", tostring(s))
      helper.raises("sequence is released", s)
    end)

    it("end in each order, the collector's too", function()
      d:wait()
      collect()
      local before = cl.live()
      local NAMES = { "sequence", "buffer", "view", "program", "kernel", "event", "queue" }
      for turn = 1, 20 do
        local q = d:queue()
        local program = q:program(SOURCE)
        local buffer = q:zeros("int", 512)
        local o = { queue = q, program = program, kernel = program.add, buffer = buffer, view = buffer:view(1, 64) }
        o.sequence = q:record(function()
          o.kernel(64, o.view, 1)
          o.buffer:fill(2, 100)
        end)
        o.event = o.sequence(2)
        local left = { table.unpack(NAMES) }
        q, program, buffer = nil, nil, nil -- luacheck: ignore
        while #left > 0 do
          local name = table.remove(left, (turn * 7 + #left * turn) % #left + 1)
          local object = o[name]
          o[name] = nil
          if turn % 2 == 0 then
            if name == "queue" then object:close() else object:release() end
          end
          object = nil -- luacheck: ignore
          if o.sequence and (o.queue or turn % 2 == 1) then o.sequence() end
          collect()
        end
      end
      collect()
      local after = cl.live()
      for _, kind in ipairs { "sequence", "buffer", "program", "kernel", "event", "queue", "bytes" } do
        assert.equal(before[kind], after[kind], kind)
      end
    end)

    it("refuse to change launches of a kernel that was finalized, and run them", function()
      local x, k = d:zeros("int", 4), d:program(SOURCE).add
      local s <close> = d:record(function() k(4, x, 1) end)
      debug.getmetatable(k).__gc(k)
      helper.raises("the kernel of launch 1 is gone", s.set, s, 1, "y", 2)
      s()
      assert.same({ 1, 1, 1, 1 }, x:read())
    end)

    it("run with a kernel and a program that are released", function()
      local x = d:zeros("int", 4)
      local program = d:program(SOURCE)
      local k = program.add
      local s <close> = d:record(function() k(4, x, 1) end)
      k:release()
      program:release()
      collect()
      s:set(1, "y", 3)
      s()
      assert.same({ 3, 3, 3, 3 }, x:read())
    end)

    it("end with their queue", function()
      local q = d:queue()
      local x, add = q:zeros("int", 4), q:program(SOURCE).add
      local s = q:record(function()
        add(4, x, 1)
        x:fill(1)
      end)
      s()
      q:close()
      helper.raises("sequence is released", s)
    end)

    it("end with their queue by a hook, while an expression is computed that could wait for them", function()
      local q = d:queue()
      local x, add = q:zeros("int", 4), q:program(SOURCE).add
      local s = q:record(function() add(4, x, 1) end)
      local y = d:zeros("float", 4) + 1
      debug.sethook(function()
        if debug.getinfo(2, "S").source:find("lua/clcompute/operations", 1, true) then q:close() end
      end, "", 1)
      local ok, message = pcall(s, 2)
      debug.sethook()
      assert.is_false(ok)
      assert.truthy(message:find("sequence was released meanwhile", 1, true), message)
      assert.same({ 1, 1, 1, 1 }, y:read())
    end)

    it("are released by a hook in the middle", function()
      if helper.is_simulator(d) then return end
      local x = d:zeros("int", 4)
      local s = d:record(function() for _ = 1, 300 do p.add(4, x, 1) end end)
      p.late(1, x, 1000000)
      debug.sethook(function() s:release() end, "", 1)
      local ok, message = pcall(s, 1000)
      debug.sethook()
      assert.is_false(ok)
      assert.truthy(message:find("released", 1, true), message)
      d:wait()
    end)
  end)

  it("name the first and the last kernel where one fails on the device", function()
    local untimed <close> = helper.untimed(d) -- luacheck: no unused
    local x = d:zeros("int", 4)
    local s <close> = d:record(function()
      x:fill(1)
      p.add(4, x, 1)
      p.add(4, x, 2)
      p.late(1, x, 1)
    end)
    d:wait()
    local e = s(2)
    count.fail("command", -14)
    helper.raises("kernel 'add', kernel 'late' or one between them failed on the device", e.wait, e)
    count.fail()
    d:wait()
  end)

  it("name the kernel that is refused", function()
    local x = d:zeros("int", 4)
    local s <close> = d:record(function()
      x:fill(1)
      p.add(4, x, 1)
      p.late(1, x, 1)
    end)
    count.fail("clEnqueueNDRangeKernel", -5, 2)
    helper.raises({ "clEnqueueNDRangeKernel", "kernel 'late'" }, s)
    count.fail()
    d:wait()
    s()
    assert.equal(3, x[1])
  end)
end

helper.describe_each("sequences", describe_sequences)

describe("values of two calls", function()
  local function are_same(kept, given) return internal.are_same({ kept }, { given }, 1) end

  it("are the same where nothing tells them apart", function()
    local x = helper.device():zeros("int", 1)
    for _, value in ipairs { 1, 0, -7, 1.5, math.huge, "text", true, x } do assert.is_true(are_same(value, value)) end
    for _, pair in ipairs { { 1, 1.0 }, { 1.0, 1 }, { 0.0, -0.0 }, { 0.0, 0.0 }, { 1, 2 }, { 0 / 0, 0 / 0 },
      { "1", 1 } } do
      assert.is_false(are_same(table.unpack(pair)))
    end
    assert.is_false(are_same(nil, nil))
    x:release()
    assert.is_false(are_same(x, x))
  end)
end)
