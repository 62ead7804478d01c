-- SPDX-License-Identifier: MIT
--- Isolated devices: the same results, and what crashes, hangs or ends a process is an error of its launch.

local cl = require "clcompute"
local command = require "spec.support.command"
local helper = require "spec.helper"
local KILL = require("spec.support.workers").KILL

local PLACE, OTHER -- a CPU at speed; a device that is no CPU
for _, device in ipairs(cl.devices()) do
  if device.type ~= "cpu" then
    OTHER = OTHER or device
  elseif not helper.is_simulator(device) then
    PLACE = PLACE or device.place
  end
end
if not PLACE then return pending "isolation needs a CPU device" end

local SANITIZED = os.getenv "SANITIZED" -- its runtime takes the signals, and exits
local NEW_WORKER = SANITIZED and 20 or 5 -- seconds at most to a new worker; a quarter is usual, on a machine at rest

local function isolated(limit)
  return cl.device(PLACE, { isolated = true, limit = limit })
end

--- What a line of the shell prints.
local function output_of(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "a"
  pipe:close()
  return text
end

local SELF = output_of("echo $PPID"):match "%d+" -- the shell's parent

--- The numbers of the worker processes of this one, dead ones included.
local function workers()
  local list = {}
  for line in output_of("ps -o pid=,args= --ppid " .. SELF):gmatch "[^\n]+" do
    if line:find("clcompute_worker", 1, true) or line:find("defunct", 1, true) then
      list[#list + 1] = line:match "%d+"
    end
  end
  return list
end

--- How many files this process has open, but the pipes of the shell that counts them.
local function count_files()
  return tonumber(output_of(("ls -l /proc/%s/fd | grep -vc pipe:"):format(SELF)))
end

--- Kills a worker, and waits until it is no more.
local function kill(pid)
  local gone = "grep -qs '^State:.Z' /proc/%s/status && [ $(ls /proc/%s/task | wc -l) = 1 ]"
  os.execute(("kill -9 %s; until %s; do :; done"):format(pid, gone:format(pid, pid)))
end

local function is_running(pid)
  return os.execute(("kill -0 %s 2>/dev/null"):format(pid)) == true
end

--- Whether f() comes true within some seconds.
local function soon(f)
  local start = cl.clock()
  while not f() do
    if cl.clock() - start > 10 then return false end
    os.execute "sleep 0.02"
  end
  return true
end

local FAULTS = [=[
  kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }
  kernel void far(global float *x) { x[get_global_id(0) + (1L << 40)] = 2; }
  kernel void endless(global float *x) { volatile int go = 1; while (go) x[0] += 1; }
  kernel void large(global float *x) {
    volatile float a[1 << 24];
    for (int i = 0; i < 1 << 24; i++) a[i] = i;
    x[0] = a[(int)x[0]];
  }
  kernel void divergent(global float *x) {
    for (int i = 0; i < (int)get_local_id(0) * 1000; i++) {
      x[get_global_id(0)] += i;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
]=]

describe("an isolated device", function()
  it("is an object of its own beside that of the same hardware", function()
    local d = isolated()
    assert.equal(d, isolated())
    assert.not_equal(d, cl.device(PLACE))
    assert.is_true(d.isolated)
    assert.is_false(cl.device(PLACE).isolated)
    assert.equal(cl.device(PLACE).name, d.name)
    assert.equal(tostring(cl.device(PLACE)) .. " isolated", tostring(d))
    assert.equal(cl.device(PLACE), cl.device(PLACE, { isolated = false }))
  end)

  it("has a limit, which can be set anew", function()
    assert.equal(60, isolated().limit)
    assert.equal(2.5, isolated(2.5).limit)
    assert.equal(2.5, isolated().limit)
    assert.equal(math.huge, isolated(math.huge).limit)
    assert.equal(60, isolated(60).limit)
    assert.is_nil(cl.device(PLACE).limit)
    assert.equal(60, isolated():info().limit)
  end)

  it("refuses other limits, and a limit without isolation", function()
    for _, limit in ipairs { 0, -1, 0 / 0 } do
      helper.raises({ "option 'limit'", "seconds above 0 expected" }, isolated, limit)
    end
    helper.raises({ "option 'limit'", "number expected" }, isolated, "soon")
    helper.raises("only isolated devices have one", cl.device, PLACE, { limit = 5 })
    helper.raises({ "option 'isolated'", "boolean expected" }, cl.device, PLACE, { isolated = 1 })
    helper.raises("patience", cl.device, PLACE, { isolated = true, patience = 5 })
  end)

  it("is a CPU", function()
    if not OTHER then return pending "there are CPUs only" end
    helper.raises({ "only CPU devices can be isolated", OTHER.place }, cl.device, OTHER.place, { isolated = true })
  end)

  it("opens afresh after it was closed", function()
    local d = isolated()
    local x = d:buffer { 1, 2 }
    d:kernel "saxpy"
    d:close()
    helper.raises("buffer is released", x.read, x)
    assert.not_equal(d, isolated())
    assert.same({ 2, 4 }, cl.saxpy(1, isolated():buffer { 1, 2 }, isolated():buffer { 1, 2 }):read())
  end)
end)

describe("what is computed on an isolated device", function()
  local plain, d = cl.device(PLACE), isolated()

  --- f(device) on both; their results are equal.
  local function same(f)
    assert.same(f(plain), f(d))
  end

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
    local x = d:zeros("float", 1000)
    local e = d:program(FAULTS).twice({ global = 1000, group = 64, remainder = "split" }, x)
    assert.equal("complete", e.status)
    assert.equal(e, e:wait(0))
    local p = e:profile()
    assert.is_true(p.queued <= p.submitted and p.submitted <= p.started and p.started < p.finished)
    assert.is_true(math.abs(e.seconds - (p.finished - p.started)) < 1e-6)
    assert.equal("event of kernel 'twice'", tostring(e))
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
    local ok, output = helper.run(([[
      local d = require "clcompute".device("%s", { isolated = true })
      d:program 'kernel void k(int n) { printf("n is %%d\\n", n); }'.k(1, 42):wait()
    ]]):format(PLACE))
    assert.is_true(ok, output)
    assert.equal("n is 42\n", output)
  end)
end)

describe("a fault on an isolated device", function()
  local d, p, keep, x
  local values = {}
  for i = 1, 1000 do values[i] = i / 4 end

  setup(function()
    d = isolated(1)
    p = d:program(FAULTS)
    keep, x = d:buffer(values), d:buffer { 1, 2, 3, 4 }
    p.twice(1000, keep) -- the worker has it mapped
    keep:write(values)
  end)

  teardown(function() isolated(60) end)

  --- Asserts that all else is sound, and how soon.
  local function assert_sound()
    local start = cl.clock()
    x:write { 1, 2, 3, 4 }
    p.twice(4, x)
    local seconds = cl.clock() - start
    assert.same({ 2, 4, 6, 8 }, x:read())
    assert.same(values, keep:read())
    assert.is_true(seconds < NEW_WORKER, ("%g seconds to a new worker"):format(seconds))
    assert.equal(1, #workers())
  end

  local SEGV = SANITIZED and "its worker process" or "its worker process died of SIGSEGV"

  it("that is an access far outside is an error of its launch", function()
    local message = helper.raises({ "kernel 'far'", SEGV }, p.far, 4, x)
    assert.matches("^spec/isolation_spec.lua:%d+: ", select(2, pcall(function() p.far(4, x) end)), message)
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
    helper.raises({ "kernel 'endless'", "not done within the limit of 1 seconds" }, p.endless, 1, x)
    local seconds = cl.clock() - start
    assert.is_true(seconds >= 1 and seconds < 6, seconds)
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
    local file = assert(io.open(lua, "w"))
    file:write(("#!/bin/sh\nlua=$(command -v %s)\nPATH=/nonexistent exec $lua \"$@\"\n"):format(helper.lua))
    file:close()
    os.execute("chmod +x " .. lua)
    finally(function() os.remove(lua) end)
    local ok, output = helper.run(([[
      local d = require "clcompute".device("%s", { isolated = true })
      local keep, x = d:buffer { 5, 6, 7 }, d:buffer { 1, 2 }
      local p = d:program "kernel void fresh(global float *x) { x[get_global_id(0)] *= %s; }"
      for _ = 1, 2 do print(pcall(p.fresh, 2, x)) end
      print(table.concat(keep:read(), " "))
    ]]):format(PLACE, helper.unseen "%s"), { CLCOMPUTE_LUA = lua })
    assert.is_true(ok, output)
    for _ = 1, 2 do
      local line, rest = output:match "^([^\n]*)\n(.*)$"
      assert.matches("false\tkernel 'fresh': its worker process died of SIGABRT", line, 1, true)
      output = rest
    end
    assert.matches("^5.0 6.0 7.0", output)
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
    local files = count_files()
    for _ = 1, 50 do assert.is_false(pcall(p.far, 4, x)) end
    assert_sound()
    assert.equal(files, count_files())
    assert.equal(1, #workers())
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
    kill(workers()[1])
    assert_sound()
  end)
end)

describe("a build on an isolated device", function()
  local d = isolated()

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
    kill(workers()[1])
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

describe("memory of an isolated device", function()
  local d = isolated()

  --- Blocks of 512 bytes that the arenas of this process hold.
  local function blocks()
    local sum = 0
    for n in output_of(("stat -L -c '%%b %%F' /proc/%s/fd/* 2>/dev/null"):format(SELF))
      :gmatch "(%d+) regular file" do
      sum = sum + tonumber(n)
    end
    return sum
  end

  it("is given back when a buffer is released", function()
    local p, x = d:program(FAULTS), d:zeros("float", 1 << 20)
    p.twice(1 << 20, x)
    local full = blocks()
    assert.is_true(full >= 8192) -- 4 MiB
    x:release()
    assert.is_true(soon(function() return blocks() <= full - 8192 end))
  end)

  it("beyond the limit of files is an error", function()
    local ok, output = helper.run(([[
      os.execute "prlimit --pid $PPID --fsize=1000000"
      local d = require "clcompute".device("%s", { isolated = true })
      print(pcall(d.zeros, d, "char", 2000000))
      print(d:buffer({ 1, 2 }, "int")[2]) ]]):format(PLACE), nil, 60)
    assert.is_true(ok, output)
    assert.matches("^false\t[^\n]*CL_MEM_OBJECT_ALLOCATION_FAILURE[^\n]*\n2\n$", output)
  end)

  it("that there is none of is an error, and the device goes on", function()
    if SANITIZED then return pending "the sanitizers take more addresses than that" end
    local lua = helper.lua
    helper.lua = ("prlimit --as=%d %s"):format(3 << 30, lua)
    local ok, output = helper.run(([[
      local cl = require "clcompute"
      local d = cl.device("%s", { isolated = true })
      local list = {}
      print(select(2, pcall(function() for i = 1, 100 do list[i] = d:empty("char", 1 << 29) end end)))
      list = nil
      print(d:buffer({ 1, 2 }, "int")[2]) ]]):format(PLACE), nil, 60)
    helper.lua = lua
    assert.is_true(ok, output)
    assert.matches("clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE %(%-4%): 512 MiB[^\n]*\n2\n$", output)
  end)

  it("that OpenCL will not watch is given back, and the call is named", function()
    local count = require "clcount"
    finally(function() count.fail() end)
    collectgarbage()
    collectgarbage()
    local before = #assert(count.live())
    count.fail("clSetMemObjectDestructorCallback", -6, 1, 2) -- the second time garbage was collected
    helper.raises("clSetMemObjectDestructorCallback: CL_OUT_OF_HOST_MEMORY (-6)", d.zeros, d, "int", 4)
    count.fail()
    assert.is_true(#count.live() <= before)
    count.fail("clSetMemObjectDestructorCallback", -6)
    assert.equal(0, d:zeros("int", 4)[4])
  end)

  it("comes and goes for more buffers than a worker keeps mapped", function()
    local p, list = d:program(FAULTS), {}
    for i = 1, 600 do list[i] = d:buffer { i } end
    for _ = 1, 2 do
      for i = 1, 600 do p.twice(1, list[i]) end
    end
    for i = 1, 600 do assert.equal(4 * i, list[i][1]) end
  end)
end)

describe("the worker of an isolated device", function()
  --- A script with an isolated device d, a program p and a buffer x; what helper.run returns.
  local function run(script, environment, limit)
    return helper.run(([[
      local cl = require "clcompute"
      local d = cl.device("%s", { isolated = true })
      local p, x = d:program [==[%s]==], d:buffer { 1, 2, 3, 4 }
      p.twice(4, x)
      local function worker()
        local pipe = io.popen "ps -o pid=,args= --ppid $PPID"
        local pid = pipe:read "a":match "(%%d+) [^\n]*clcompute_worker"
        pipe:close()
        return pid
      end
      io.stdout:setvbuf "no"
      %s
    ]]):format(PLACE, FAULTS, script), environment, limit or 60)
  end

  it("ends with its device", function()
    local d = isolated()
    d:kernel "saxpy"
    cl.saxpy(1, d:zeros("float", 1), d:zeros("float", 1))
    local files, pid = count_files(), assert(workers()[1])
    d:close()
    assert.same({}, workers())
    assert.is_false(is_running(pid))
    assert.is_true(count_files() < files)
  end)

  it("ends with its process, however that ends", function()
    for _, last in ipairs { "", "os.exit(0)", "os.exit(0, true)", "error 'no'",
      "os.execute 'kill -9 $PPID'", "os.execute 'kill -TERM $PPID'" } do
      local _, output = run("print('worker', worker()) " .. last)
      local pid = assert(output:match "worker\t(%d+)", output)
      assert.is_true(soon(function() return not is_running(pid) end), last)
    end
  end)

  it("ends with its process also while it computes", function()
    local _, output = run "print('worker', worker()) os.execute '(sleep 0.3; kill -9 $PPID) &' p.endless(1, x)"
    local pid = assert(output:match "worker\t(%d+)", output)
    assert.is_true(soon(function() return not is_running(pid) end))
  end)

  it("releases all that it made in OpenCL", function()
    local lua, log = os.tmpname(), os.tmpname()
    local file = assert(io.open(lua, "w"))
    file:write(("#!/bin/sh\n%s \"$@\"\necho \"exit code $?\" >>%s\n"):format(helper.lua, log))
    file:close()
    os.execute("chmod +x " .. lua)
    finally(function()
      os.remove(lua)
      os.remove(log)
    end)
    local ok, output = run([[
      p.twice(2, x:view(1, 2))
      d:program "kernel void k(local int *s, int n) { s[0] = n; }".k(1, cl.scratch("int", 4), 3)
      assert(not pcall(p.twice, 4, d:zeros("int", 4)))
      d:close() ]], { CLCOMPUTE_LUA = lua })
    assert.is_true(ok, output)
    file = assert(io.open(log))
    assert.equal("exit code 0\n", file:read "a")
    file:close()
  end)

  it("has no files of its process", function()
    local ok, output = run([[
      local open = assert(io.open("/etc/passwd")) -- no CLOEXEC
      os.execute("kill -9 " .. worker() .. "; sleep 0.5")
      p.twice(4, x)
      os.execute("ls -l /proc/" .. worker() .. "/fd") ]])
    assert.is_true(ok, output)
    assert.is_nil(output:find("passwd", 1, true), output)
    assert.truthy(output:find(" 4 %-> /memfd:clcompute"), output)
  end)

  it("is not told of launches that came to nothing, and none pile up", function()
    local ok, output = run [[
      local function kib() return tonumber(io.open "/proc/self/status":read "a":match "VmRSS:%s*(%d+)") end
      local long = d:program [=[typedef struct { char a[1000]; } S;
        kernel void k(global float *x, S s) { x[0] = s.a[9]; }]=].k
      local bytes = ("x"):rep(1000)
      long(1, x, bytes)
      local before = kib()
      for _ = 1, 50000 do
        long(0, x, bytes)
        pcall(long, 1, x, bytes, 1)
      end
      collectgarbage()
      p.twice(4, x)
      print(kib() - before < 32768, x[2]) ]]
    assert.is_true(ok, output)
    assert.equal("true\t8.0\n", output)
  end)

  it("shares no memory with what is printed where the standard files are closed", function()
    local lua, out = helper.lua, os.tmpname()
    helper.lua = ("sh -c 'exec %s \"$@\" >&- 2>&-' sh"):format(lua)
    local ok = run(([[
      for _ = 1, 2000 do print "nothing" io.stderr:write "nothing" end
      p.twice(4, x)
      io.open("%s", "w"):write(table.concat(x:read(), " ")):close() ]]):format(out))
    helper.lua = lua
    local file <close> = assert(io.open(out))
    os.remove(out)
    assert.is_true(ok)
    assert.equal("4.0 8.0 12.0 16.0", file:read "a")
  end)

  it("is run by $CLCOMPUTE_LUA", function()
    local lua, log = os.tmpname(), os.tmpname()
    local file = assert(io.open(lua, "w"))
    file:write(("#!/bin/sh\necho used >%s\nexec %s \"$@\"\n"):format(log, helper.lua))
    file:close()
    os.execute("chmod +x " .. lua)
    finally(function()
      os.remove(lua)
      os.remove(log)
    end)
    local ok, output = run("print(x[1])", { CLCOMPUTE_LUA = lua })
    assert.is_true(ok, output)
    assert.equal("2.0\n", output)
    file = assert(io.open(log))
    assert.equal("used\n", file:read "a")
    file:close()
  end)

  it("that cannot be run is an error that says what to set", function()
    for lua, text in pairs { ["/nonexistent/lua"] = "No such file", ["/bin/false"] = "exit code 1" } do
      local ok, output = run("", { CLCOMPUTE_LUA = lua })
      assert.is_false(ok)
      for _, part in ipairs { lua, text, "CLCOMPUTE_LUA names another Lua interpreter" } do
        assert.truthy(output:find(part, 1, true), output)
      end
    end
  end)

  it("that has too few file descriptors to start with is an error that leaves none open", function()
    local ok, output = run([[
      local pid, files = worker(), {}
      os.execute(("prlimit --pid $PPID --nofile=64; kill -9 %s; sleep 0.5"):format(pid))
      for i = 1, 64 do files[i] = io.open "/dev/null" end
      for free = 0, 64 do
        local good, message = pcall(p.twice, 4, x)
        if good then return print(free, x[4]) end
        assert(message:find("cannot start a worker by [^\n]*: Too many open files"), message)
        assert(table.remove(files), "it asks for more than there can be"):close()
      end ]], nil, 20)
    assert.is_true(ok, output)
    local free, fourth = output:match "^(%d+)%s+(%S+)\n$"
    assert.is_true(tonumber(free) > 0, output)
    assert.equal(16, tonumber(fourth))
  end)

  it("is run by lua5.4 of the path where the script's own interpreter has another name", function()
    if SANITIZED then return pending "that one knows no sanitizers" end
    local path = os.tmpname()
    os.execute(("cp $(readlink -f $(command -v lua5.4)) %s && chmod +x %s"):format(path, path))
    local lua = helper.lua
    helper.lua = path
    local ok, output = run("print(x[1])", { CLCOMPUTE_LUA = "" })
    helper.lua = lua
    os.remove(path)
    assert.is_true(ok, output)
    assert.equal("2.0\n", output)
  end)

  it("may end by a signal without a name here, or be reaped by others", function()
    local ok, output = run [[
      os.execute("(sleep 0.3; kill -USR2 " .. worker() .. ") &")
      print(select(2, pcall(p.endless, 1, x)))
      p.twice(4, x)
      print(x[2]) ]]
    assert.is_true(ok, output)
    assert.matches("its worker process died of signal 12\n8.0\n$", output)
    local lua = helper.lua
    helper.lua = "env --ignore-signal=CHLD " .. lua
    ok, output = run([[
      print(select(2, pcall(p.far, 1, x)))
      p.twice(4, x)
      cl.device(d.place, { isolated = true, limit = 0.5 })
      print(select(2, pcall(p.endless, 1, d:zeros("float", 1))))
      p.twice(4, x) ]], { CLCOMPUTE_LUA = lua })
    helper.lua = lua
    assert.is_true(ok, output)
    assert.matches("its worker process ended[^\n]*\n.*not done within the limit of 0.5 seconds, and ended\n$", output)
  end)

  it("minds no code of the user's environment", function()
    local ok, output = run("print(x[2])", { LUA_INIT = "if arg[1] == [[-e]] then error() end" })
    assert.is_true(ok, output)
    assert.equal("4.0\n", output)
  end)

  it("alone runs the linker that a driver needs", function()
    local folder = os.tmpname() -- with one that fails, for all but the worker
    os.remove(folder)
    os.execute("mkdir " .. folder)
    finally(function() os.execute("rm -r " .. folder) end)
    local lua = ("PATH='%s' exec %s \"$@\""):format(os.getenv "PATH", helper.lua)
    for name, line in pairs { ld = "exit 1", lua = lua } do
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write("#!/bin/sh\n", line, "\n")
      file:close()
    end
    os.execute(("chmod +x %s/*"):format(folder))
    local ok, output = run(([[
      d:program "kernel void k(global float *x) { x[0] = %s; }".k(1, x)
      print(x[1] >= 1)
      print(pcall(p.far, 1, x))
      print(cl.sum(x) > 1) ]]):format(helper.unseen "%s"),
      { PATH = folder .. ":" .. os.getenv "PATH", CLCOMPUTE_LUA = folder .. "/lua" })
    assert.is_true(ok, output)
    assert.matches("^true\nfalse\t[^\n]*\ntrue\n", output)
  end)

  it("outlives a fork, whose child cannot use the device and ends at once", function()
    local fork = helper.compile_library "fork"
    local ok, output = run(([[
      local fork = assert(package.loadlib("%s", "luaopen_fork"))()
      print(fork(function() print(pcall(p.twice, 4, x)) end))
      print(fork(function() os.exit(3, true) end))
      p.twice(4, x)
      print(x[1]) ]]):format(fork), SANITIZED and { ASAN_OPTIONS = "detect_leaks=0" }) -- the child lets go of nothing
    assert.is_true(ok, output)
    assert.matches("^false\t[^\n]*fork[^\n]*\n0\n3\n4.0\n$", output)
  end)

  it("is ended by Ctrl-C with its kernel, and replaced", function()
    local path, out = os.tmpname(), os.tmpname()
    local file = assert(io.open(path, "w"))
    file:write(([[
      local cl = require "clcompute"
      local d = cl.device("%s", { isolated = true })
      local p, x = d:program [==[%s]==], d:buffer { 1, 2, 3, 4 }
      p.twice(4, x)
      io.stdout:setvbuf "no"
      local start = cl.clock()
      print "waiting"
      print(pcall(p.endless, 1, x))
      print(cl.clock() - start < 10)
      x:write { 1, 2, 3, 4 }
      print(pcall(coroutine.wrap(function() p.twice(4, x) return x[4] end)))
    ]]):format(PLACE, FAULTS))
    file:close()
    -- to the whole group, as a terminal does
    os.execute(([[setsid sh -c 'env --default-signal=INT %s %s >%s 2>&1' & child=$!
      for i in $(seq 200); do grep -q waiting %s && break; sleep 0.05; done
      sleep 0.3; kill -INT -$child; wait $child]]):format(helper.lua, path, out, out))
    file = assert(io.open(out))
    local output = file:read "a"
    file:close()
    os.remove(path)
    os.remove(out)
    assert.matches("^waiting\nfalse\t[^\n]*interrupted!\ntrue\ntrue\t8.0\n", output)
  end)

  it("cannot be asked by a hook while it computes", function()
    local ok, output = run [[
      local long = d:program "kernel void k(global float *x) { volatile int i; for (i = 0; i < 100000000; i++); }".k
      local calls, message = 0, nil
      local function hook()
        calls = calls + 1
        if calls < 5 or message then return end
        message = "?"
        message = select(2, pcall(p.twice, 4, x))
      end
      debug.sethook(hook, "c")
      long(1, x)
      debug.sethook()
      print(message, x[1])
    ]]
    assert.is_true(ok, output)
    assert.truthy(output:find("a hook cannot use it now\t2.0", 1, true), output)
  end)

  it("outlives the thread that started it", function()
    local ok, output = run(([[
      os.execute("kill -9 " .. worker() .. "; sleep 0.5")
      assert(package.loadlib("%s", "luaopen_in_thread"))()(function() p.twice(4, x) end)
      local pid = worker()
      p.twice(4, x)
      print(x[1], worker() == pid) ]]):format(helper.compile_library "in_thread"))
    assert.is_true(ok, output)
    assert.equal("8.0\ttrue\n", output)
  end)

  --- A script that does something in the nth call of a function within a launch.
  local HOOKED = [[
    local d = cl.device("%s", { isolated = true })
    local p = d:program [=[kernel void long_f(global int *x, int n) {
      volatile int s = 0;
      for (int i = 0; i < 10000000; i++) s += i;
      x[get_global_id(0)] = n;
    }]=]
    local other, x = d:program "kernel void g(global int *x) { x[0] = 1; }", d:zeros("int", 5)
    local f = p.long_f
    f({ global = 5, group = 2, remainder = "split" }, x, 7):wait()
    %s
    local n = 0
    debug.sethook(function()
      n = n + 1
      if n == %d then
        debug.sethook()
        %s
      end
    end, "c")
    local ok, message = pcall(f, { global = 5, group = 2, remainder = "split" }, x, 9)
    n = math.huge -- the next line is a call, too
    debug.sethook()
    if ok then d:wait() end
    print(ok, ok and table.concat(x:read(), " ") or message) ]]

  --- What launches came to in which a hook did something at one time or another.
  local function outcomes(action, new_worker)
    local seen, kill_all = {}, ("os.execute %q"):format(KILL)
    for _, nth in ipairs { 2, 3, 5, 8, 12, 20, 30 } do
      local ok, output = helper.run("local cl = require 'clcompute'\n"
        .. HOOKED:format(PLACE, new_worker and kill_all or "", nth, action), nil, 60)
      assert.is_true(ok, output)
      seen[#seen + 1] = output
    end
    return seen
  end

  it("computes every part of a launch, whatever a hook lets go of meanwhile", function()
    for _, output in ipairs(outcomes "other:release()") do assert.equal("true\t9 9 9 9 9\n", output) end
  end)

  it("computes all of a launch, or tells of it, whose kernel or device a hook lets go of", function()
    local reopen = ("d:close() d = nil d = cl.device('%s', { isolated = true }) collectgarbage()"):format(PLACE)
    for _, action in ipairs { "f:release() p:release()", reopen } do
      for _, new_worker in ipairs { false, true } do
        for _, output in ipairs(outcomes(action, new_worker)) do
          assert.truthy(output == "true\t9 9 9 9 9\n" or output:find "^false\t[^\n]*released"
            or output:find "^false\t[^\n]*closed" or output:find "^false\t[^\n]*CL_INVALID_KERNEL", output)
        end
      end
    end
  end)

  it("may be closed by a hook while it computes: then its launch is an error", function()
    for count, message in pairs { [2] = "kernel is released", [3] = "device is released",
      [4] = "the device was closed meanwhile", [30] = "the device was closed meanwhile" } do
      local ok, output = run(([[
        local calls = 0
        local function hook()
          calls = calls + 1
          if calls == %d then
            debug.sethook()
            d:close()
          end
        end
        local function launch()
          debug.sethook(hook, "c")
          p.endless(1, x)
        end
        print(pcall(launch))
      ]]):format(count))
      assert.is_true(ok, output)
      assert.matches(message, output, 1, true)
    end
  end)
end)

describe("clcompute repl", function()
  it("isolates a CPU, so that no kernel ends it", function()
    local output = output_of(([[printf '%%s\n' \
      'k = d:program "kernel void far(global int *x) { x[1L << 40] = 1; }".far' \
      'print(d.isolated, pcall(k, 1, d:zeros("int", 1)))' \
      'print(cl.device(d.place) == d, cl.device(d.place, { limit = 7 }).limit)' \
      'print(cl.device(d.place, { isolated = false }).isolated)' \
      'print "alive"' | %srepl --device %s 2>&1]])
      :format(command.text, PLACE))
    assert.truthy(output:find("true\tfalse\t.*kernel 'far'"), output)
    assert.truthy(output:find("true\t7.0\n.*false\n"), output)
    assert.truthy(output:find("alive", 1, true), output)
  end)
end)
