-- SPDX-License-Identifier: MIT
--- Workers of isolated devices: their memory and files, when they start, and how they end.

local cl = require "clcompute"
local command = require "spec.support.command"
local helper = require "spec.helper"
local isolated = require "spec.support.isolated"
local KILL = require("spec.support.workers").KILL

local PLACE, SANITIZED, FAULTS, SELF = isolated.PLACE, isolated.SANITIZED, isolated.FAULTS, isolated.SELF
if not PLACE then return pending "isolation needs a CPU device" end

describe("memory of an isolated device", function()
  local d = isolated.device()

  --- Blocks of 512 bytes that the arenas of this process hold.
  local function blocks()
    local sum = 0
    for n in isolated.output_of(("stat -L -c '%%b %%F' /proc/%s/fd/* 2>/dev/null"):format(SELF))
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
    assert.is_true(isolated.soon(function() return blocks() <= full - 8192 end))
  end)

  it("beyond the limit of files is an error", function()
    local output = helper.output(([[
      os.execute "prlimit --pid $PPID --fsize=1000000"
      local d = require "clcompute".device("%s", { isolated = true })
      print(pcall(d.zeros, d, "char", 2000000))
      print(d:buffer({ 1, 2 }, "int")[2]) ]]):format(PLACE), nil, 60)
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
    for _ = 1, 2 do for i = 1, 600 do p.twice(1, list[i]) end end
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

  --- What one prints that must end well.
  local function output_of(...)
    local ok, output = run(...)
    assert.is_true(ok, output)
    return output
  end

  --- A program to set $CLCOMPUTE_LUA to, of a line of the shell with places for the interpreter and a file; and that
  -- file. Both are removed when the test has ended.
  local function interpreter(line)
    local path, log = os.tmpname(), os.tmpname()
    local settings = "" -- a worker's environment is clean, and a sanitizer has to know what to leave alone
    for _, name in ipairs { "ASAN_OPTIONS", "LSAN_OPTIONS" } do
      if os.getenv(name) then settings = ("%sexport %s='%s'\n"):format(settings, name, os.getenv(name)) end
    end
    helper.write(path, "#!/bin/sh\n" .. settings .. line:format(helper.lua, log) .. "\n", true)
    finally(function()
      os.remove(path)
      os.remove(log)
    end)
    return path, log
  end

  it("ends with its device", function()
    local d = isolated.device()
    d:kernel "saxpy"
    cl.saxpy(1, d:zeros("float", 1), d:zeros("float", 1))
    local files, pid = isolated.count_files(), assert(isolated.workers()[1])
    d:close()
    assert.same({}, isolated.workers())
    assert.is_false(isolated.is_running(pid))
    assert.is_true(isolated.count_files() < files)
  end)

  it("ends with its process, however that ends", function()
    for _, last in ipairs { "", "os.exit(0)", "os.exit(0, true)", "error 'no'",
      "os.execute 'kill -9 $PPID'", "os.execute 'kill -TERM $PPID'" } do
      local _, output = run("print('worker', worker()) " .. last)
      local pid = assert(output:match "worker\t(%d+)", output)
      assert.is_true(isolated.soon(function() return not isolated.is_running(pid) end), last)
    end
  end)

  it("ends with its process also while it computes", function()
    local _, output = run "print('worker', worker()) os.execute '(sleep 0.3; kill -9 $PPID) &' p.endless(1, x)"
    local pid = assert(output:match "worker\t(%d+)", output)
    assert.is_true(isolated.soon(function() return not isolated.is_running(pid) end))
  end)

  it("releases all that it made in OpenCL", function()
    local lua, log = interpreter 'CLCOUNT_EXIT=9 %s "$@"; echo "exit code $?" >>%s'
    output_of([[
      p.twice(2, x:view(1, 2))
      d:program "kernel void k(local int *s, int n) { s[0] = n; }".k(1, cl.scratch("int", 4), 3)
      assert(not pcall(p.twice, 4, d:zeros("int", 4)))
      d:close() ]], { CLCOMPUTE_LUA = lua })
    assert.equal("exit code 0\n", isolated.output_of("cat " .. log))
  end)

  it("has no files of its process", function()
    local output = output_of([[
      local open = assert(io.open("/etc/passwd")) -- no CLOEXEC
      os.execute("kill -9 " .. worker() .. "; sleep 0.5")
      p.twice(4, x)
      os.execute("ls -l /proc/" .. worker() .. "/fd") ]])
    assert.is_nil(output:find("passwd", 1, true), output)
    assert.is_nil(output:find "memfd:clcompute %(", output) -- the arena's
    assert.truthy(output:find(" 3 %-> socket"), output)
  end)

  it("is not told of launches that came to nothing, and none pile up", function()
    local output = output_of [[
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
      print(kib() - before, x[2]) ]]
    local kib, second = output:match "^(%-?%d+)\t(%S+)"
    local kept = SANITIZED and 64 << 10 or 0 -- what is freed, lest it be used (quarantine_size_mb in the Makefile)
    assert.is_true(tonumber(kib) < kept + (32 << 10), output)
    assert.equal("8.0", second)
  end)

  it("is told of programs that are let go of behind a launch that came to nothing", function()
    local output = output_of [[
      local status = "/proc/" .. worker() .. "/status"
      local function kib() return tonumber(io.open(status):read "a":match "VmRSS:%s*(%d+)") end
      local comment = "/*" .. ("x"):rep(1 << 23) .. "*/"
      local function use(i)
        local other = d:program(comment .. ("kernel void k(global float *x) { x[0] = %d; }"):format(i))
        other.k(1, x)
        other:release()
        other = nil
        p.twice(0, x)
        collectgarbage()
        p.twice(4, x)
      end
      use(0)
      local before = kib()
      for i = 1, 6 do use(i) end
      print(kib() - before, x[1]) ]]
    local kib, first = output:match "^(%-?%d+)\t(%S+)"
    assert.equal("12.0", first)
    if not SANITIZED then assert.is_true(tonumber(kib) < 32 << 10, output) end -- it keeps what is freed
  end)

  it("shares no memory with what is printed where the standard files are closed", function()
    local lua, out = helper.lua, os.tmpname()
    helper.lua = ("sh -c 'exec %s \"$@\" >&- 2>&-' sh"):format(lua)
    local ok = run(([[
      for _ = 1, 2000 do print "nothing" io.stderr:write "nothing" end
      p.twice(4, x)
      io.open("%s", "w"):write(table.concat(x:read(), " ")):close() ]]):format(out))
    helper.lua = lua
    assert.is_true(ok)
    assert.equal("4.0 8.0 12.0 16.0", helper.read(out))
    os.remove(out)
  end)

  it("is run by $CLCOMPUTE_LUA", function()
    local lua, log = interpreter '%s "$@"; echo used >>%s'
    local output = output_of("print(x[1])", { CLCOMPUTE_LUA = lua })
    assert.equal("2.0\n", output)
    assert.equal("used\n", isolated.output_of("cat " .. log))
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

  it("that cannot write to its folder is an error that names the folder", function()
    if not cl.device(isolated.PLACE, { isolated = true }).sandbox:find "files" then
      return pending "this machine has no sandbox of files"
    end
    local folder = helper.folder()
    helper.write(folder .. "/isolated", "")
    local ok, output = run("", { POCL_CACHE_DIR = folder })
    os.execute("rm -r " .. folder)
    assert.is_false(ok)
    assert.truthy(output:find(folder .. "/isolated: Not a directory; set POCL_CACHE_DIR", 1, true), output)
  end)

  it("that has too few file descriptors to start with is an error that leaves none open", function()
    local output = output_of([[
      local pid, files = worker(), {}
      os.execute(("prlimit --pid $PPID --nofile=64; kill -9 %s; sleep 0.5"):format(pid))
      for i = 1, 64 do files[i] = io.open "/dev/null" end
      for free = 0, 64 do
        local good, message = pcall(p.twice, 4, x)
        if good then return print(free, x[4]) end
        assert(message:find("cannot start a worker by [^\n]*: Too many open files"), message)
        assert(table.remove(files), "it asks for more than there can be"):close()
      end ]], nil, 20)
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

  it("is run by the script's own interpreter where that is called lua, lua5.4 or lua-something", function()
    if SANITIZED then return pending "that one knows no sanitizers" end
    local folder, lua = helper.folder(), helper.lua
    for _, name in ipairs { "lua", "lua5.4", "lua-own" } do
      helper.lua = folder .. "/" .. name
      os.execute("cp $(readlink -f $(command -v lua5.4)) " .. helper.lua)
      local _, output = run([[os.execute("readlink /proc/" .. worker() .. "/exe")]], { CLCOMPUTE_LUA = "" })
      assert.equal(helper.lua .. "\n", output)
    end
    helper.lua = lua
    os.execute("rm -r " .. folder)
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
    assert.matches("its worker process ended[^\n]*\n.*not done within the limit of 0.5 seconds, and ended [^\n]*\n$",
      output)
  end)

  it("minds no code of the user's environment", function()
    local output = output_of("print(x[2])", { LUA_INIT = "if arg[1] == [[-e]] then error() end" })
    assert.equal("4.0\n", output)
  end)

  it("alone runs the linker that a driver needs", function()
    local folder = helper.folder() -- with one that fails, for all but the worker
    finally(function() os.execute("rm -r " .. folder) end)
    local lua = ("PATH='%s' exec %s \"$@\""):format(os.getenv "PATH", helper.lua)
    for name, line in pairs { ld = "exit 1", lua = lua } do
      helper.write(folder .. "/" .. name, "#!/bin/sh\n" .. line .. "\n", true)
    end
    local output = output_of(([[
      d:program "kernel void k(global float *x) { x[0] = %s; }".k(1, x)
      print(x[1] >= 1)
      print(pcall(p.far, 1, x))
      print(cl.sum(x) > 1) ]]):format(helper.unseen "%s"),
      { PATH = folder .. ":" .. os.getenv "PATH", CLCOMPUTE_LUA = folder .. "/lua" })
    assert.matches("^true\nfalse\t[^\n]*\ntrue\n", output)
  end)

  it("outlives a fork, whose child cannot use the device and ends at once", function()
    local fork = helper.compile_library "fork"
    local output = output_of(([[
      local fork = assert(package.loadlib("%s", "luaopen_fork"))()
      print(fork(function() print(pcall(p.twice, 4, x)) end))
      print(fork(function() os.exit(3, true) end))
      p.twice(4, x)
      print(x[1]) ]]):format(fork), SANITIZED and { ASAN_OPTIONS = "detect_leaks=0" }) -- the child lets go of nothing
    assert.matches("^false\t[^\n]*fork[^\n]*\n0\n3\n4.0\n$", output)
  end)

  it("is ended by Ctrl-C with its kernel, and replaced", function()
    local path, out = os.tmpname(), os.tmpname()
    helper.write(path, ([[
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
    -- to the whole group, as a terminal does
    os.execute(([[setsid sh -c 'env --default-signal=INT %s %s >%s 2>&1' & child=$!
      for i in $(seq 200); do grep -q waiting %s && break; sleep 0.05; done
      sleep 0.3; kill -INT -$child; wait $child]]):format(helper.lua, path, out, out))
    local output = helper.read(out)
    os.remove(path)
    os.remove(out)
    assert.matches("^waiting\nfalse\t[^\n]*interrupted!\ntrue\ntrue\t8.0\n", output)
  end)

  it("cannot be asked by a hook while it computes", function()
    local output = output_of [[
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
    assert.truthy(output:find("a hook cannot use it now\t2.0", 1, true), output)
  end)

  it("outlives the thread that started it", function()
    local output = output_of(([[
      os.execute("kill -9 " .. worker() .. "; sleep 0.5")
      assert(package.loadlib("%s", "luaopen_in_thread"))()(function() p.twice(4, x) end)
      local pid = worker()
      p.twice(4, x)
      print(x[1], worker() == pid) ]]):format(helper.compile_library "in_thread"))
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
    local sample = new_worker and { 3, 8, 20 } or { 2, 5, 12, 30 }
    for _, nth in ipairs(helper.long { 2, 3, 5, 8, 12, 20, 30 } or sample) do
      local output = helper.output("local cl = require 'clcompute'\n"
        .. HOOKED:format(PLACE, new_worker and kill_all or "", nth, action), nil, 60)
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
      local output = output_of(([[
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
      assert.matches(message, output, 1, true)
    end
  end)
end)

describe("clcompute repl", function()
  it("isolates a CPU, so that no kernel ends it", function()
    local output = isolated.output_of(([[printf '%%s\n' \
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
