-- SPDX-License-Identifier: MIT
--- The sandbox of a worker against kernels that mean harm: native code that makes system calls (x86-64).

local cl = require "clcompute"
local helper = require "spec.helper"
local isolated = require "spec.support.isolated"
local KILL = require("spec.support.workers").KILL

local PLACE = isolated.PLACE
if not PLACE then return pending "isolation needs a CPU device" end
local PARTS = cl.device(PLACE, { isolated = true }).sandbox
if PARTS == "none" then return pending "this machine, or $CLCOMPUTE_SANDBOX, has no sandbox" end
if isolated.output_of "uname -m" ~= "x86_64\n" then return pending "the kernels are for x86-64" end

-- One call of the system, so many times. `place`: which argument is the address of `text`. Of n = -1 that address is
-- told. A process that is begun waits for ever.
local SOURCE = [=[
long call(long n, long a, long b, long c, long d, long e, long f) {
  long r;
  __asm__ volatile("mov %5, %%r10\n\tmov %6, %%r8\n\tmov %7, %%r9\n\tsyscall"
                   : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "g"(d), "g"(e), "g"(f)
                   : "rcx", "r8", "r9", "r10", "r11", "memory");
  return r;
}
kernel void ask(global long *out, global char *text, long n, long a, long b, long c, long d, long e, long f,
                int place, int times) {
  long r = (long)text, good = 0;
  if (place == 1) a = r;
  if (place == 2) b = r;
  for (int i = 0; i < times && n >= 0; i++) {
    r = call(n, a, b, c, d, e, f);
    while (r == 0 && n == 57) call(271, 0, 0, 0, 0, 0, 0);
    good += r >= 0;
  }
  out[0] = r;
  out[1] = good;
}]=]

local CALLS = { write = 1, open = 2, mmap = 9, mprotect = 10, ioctl = 16, mremap = 25, shmget = 29, socket = 41,
  sendto = 44, clone = 56, fork = 57, execve = 59, kill = 62, fcntl = 72, ftruncate = 77, mkdir = 83, unlink = 87,
  chmod = 90, ptrace = 101, getppid = 110, prctl = 157, mount = 165, tgkill = 234, keyctl = 250, prlimit64 = 302,
  process_vm_writev = 311, sched_setaffinity = 203, getrandom = 318, memfd_create = 319, bpf = 321,
  userfaultfd = 323, io_uring_setup = 425 }
local EPERM, EAGAIN, ENOMEM, EACCES, EFBIG, ENOSYS = -1, -11, -12, -13, -27, -38
local READ, WRITE, CREATE = 0, 1, 0x40 | 2

describe("a kernel on an isolated device that makes system calls", function()
  local d = isolated.device()
  local p = d:program(SOURCE)
  local out = d:zeros("long", 2)

  local function ask_with(text, place, times, name, ...)
    local args = { ... }
    for i = 1, 6 do args[i] = args[i] or 0 end
    p.ask(1, out, text, name and CALLS[name] or -1, args[1], args[2], args[3], args[4], args[5], args[6], place, times)
    return out[1], out[2]
  end

  local nothing = d:zeros("char", 64)
  local function ask(...) return (ask_with(nothing, 0, 1, ...)) end
  local function ask_path(path, ...)
    return (ask_with(d:buffer(path .. "\0", "char", #path + 1), 1, 1, ...))
  end

  --- Skips where the machine's kernel lacks a part.
  local function needs(part)
    if PARTS:find(part, 1, true) then return false end
    pending("this machine has no sandbox of " .. part)
    return true
  end

  local folder = helper.folder()
  teardown(function()
    os.execute("rm -r " .. folder)
    d:close()
  end)

  it("opens no file of the user's, and none of another process", function()
    if needs "files" then return end
    helper.write(folder .. "/secret", "secret")
    for _, path in ipairs { "/etc/passwd", folder .. "/secret", ("/proc/%s/environ"):format(isolated.SELF),
      ("/proc/%s/mem"):format(isolated.SELF), "/proc/self/root/etc/passwd" } do
      local code = ask_path(path, "open", 0, READ)
      assert.is_true(code == EACCES or code == EPERM, ("%s: %d"):format(path, code))
    end
    for number in isolated.output_of(("ls /proc/%s/fd"):format(isolated.SELF)):gmatch "%d+" do
      assert.is_true(ask_path(("/proc/%s/fd/%s"):format(isolated.SELF, number), "open", 0, READ) < 0)
    end
  end)

  it("writes, makes and removes no file but in the cache of workers", function()
    if needs "files" then return end
    local path = folder .. "/kept"
    helper.write(path, "kept")
    assert.equal(EACCES, ask_path(path, "open", 0, WRITE))
    assert.equal(EACCES, ask_path(folder .. "/new", "open", 0, CREATE, 384))
    assert.equal(EACCES, ask_path(folder .. "/new", "mkdir", 0, 448))
    assert.equal(EACCES, ask_path(path, "unlink"))
    assert.equal("kept", helper.read(path))
    assert.equal("kept\n", isolated.output_of("ls " .. folder .. " | grep -v secret"))
  end)

  it("changes no rights of a file", function()
    if needs "system calls" then return end
    local path = folder .. "/rights"
    helper.write(path, "")
    os.execute("chmod 640 " .. path)
    ask_path(path, "chmod", 0, 511)
    assert.equal("640\n", isolated.output_of("stat -c %a " .. path))
  end)

  it("begins no task with namespaces of its own, and no child of the script's process", function()
    if needs "system calls" then return end
    local NEWUSER, NEWNET, PARENT, SIGCHLD = 0x10000000, 0x40000000, 0x8000, 17
    for _, flag in ipairs { NEWUSER, NEWNET, PARENT } do assert.equal(EPERM, ask("clone", flag | SIGCHLD)) end
  end)

  it("runs no program but those of the system, and those as confined as itself", function()
    if needs "files" then return end
    helper.write(folder .. "/program", "#!/bin/sh\ntouch " .. folder .. "/ran\n", true)
    assert.equal(EACCES, ask_path(folder .. "/program", "execve"))
    helper.raises("its worker process", ask_path, "/bin/false", "execve")
    assert.equal(EACCES, ask_path(folder .. "/new", "open", 0, CREATE, 384))
  end)

  it("finds no call that a driver does not need", function()
    if needs "system calls" then return end
    for _, call in ipairs { "socket", "ptrace", "mount", "keyctl", "bpf", "io_uring_setup", "userfaultfd",
      "memfd_create", "process_vm_writev", "shmget" } do
      assert.equal(ENOSYS, ask(call, 2, 1), call)
    end
    assert.equal(ENOSYS, ask("ioctl", 1, 0x5412)) -- TIOCSTI types for the user
    assert.equal(ENOSYS, ask("fcntl", 1, 8, ask "getppid")) -- F_SETOWN sends signals
    assert.is_true(ask("fcntl", 1, 3) >= 0) -- F_GETFL: drivers look at their descriptors, and lock files
    assert.equal(ENOSYS, ask("sendto", 1))
    assert.equal(ENOSYS, ask("prctl", 1, 0)) -- it ends with its process
  end)

  it("sends no signal to others, and changes no limit or place of theirs", function()
    if needs "system calls" then return end
    local parent = ask "getppid"
    assert.equal(isolated.SELF, tostring(parent))
    for _, pid in ipairs { parent, -1, 0, 1 } do assert.equal(ENOSYS, ask("kill", pid, 9)) end
    assert.equal(ENOSYS, ask("tgkill", parent, parent, 9))
    assert.equal(ENOSYS, ask("prlimit64", parent, 7, 1))
    if PARTS:find "tasks" then assert.equal(EAGAIN, ask("sched_setaffinity", parent, 8, 1)) end
  end)

  it("takes no more memory and no larger file than the limits", function()
    if needs "system calls" then return end
    local at_will, shared = 0x4022, 0x21 -- MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, MAP_SHARED | MAP_ANONYMOUS
    assert.equal(ENOMEM, ask("mmap", 0, 1 << 42, 3, at_will, -1))
    assert.equal(ENOSYS, ask("mmap", 0, 4096, 3, shared, -1))
    local lives, code = pcall(ask, "ftruncate", 2, 1 << 40)
    assert.is_true(not lives or code == EFBIG, code) -- it may die of SIGXFSZ
  end)

  it("begins a bounded number of processes, which end with the worker", function()
    if needs "tasks" then return end
    local _, good = ask_with(nothing, 0, 200, "fork")
    local worker = assert(isolated.workers()[1])
    local list = ("pgrep -g %s | wc -l"):format(worker)
    local processors = tonumber(isolated.output_of "getconf _NPROCESSORS_CONF")
    assert.is_true(good > 0 and good <= 2 * processors + 16, good)
    assert.equal(good + 1, tonumber(isolated.output_of(list)))
    os.execute(KILL)
    assert.equal(EAGAIN, (ask_with(nothing, 0, 200, "fork"))) -- the next one starts where the first did
    assert.is_true(isolated.soon(function() return tonumber(isolated.output_of(list)) == 0 end))
  end)

  it("changes nothing in a buffer that its launch was not given, also where the launch before was", function()
    if needs "system calls" or needs "files" then return end
    local keep = d:buffer(("x"):rep(64), "char", 64)
    local address = ask_with(keep, 0, 1) -- it is mapped there
    assert.not_equal(0, address)
    assert.is_true(ask("getrandom", address, 64) < 0) -- not any more
    ask("mprotect", address, 4096, 3)
    ask("getrandom", address, 64)
    for fd = 0, 63 do
      for page = 0, 8 do -- the arena, if one of them is
        if ask("mmap", address, 4096, 3, 0x11, fd, page * 4096) == address then ask("getrandom", address, 64) end
      end
    end
    assert.equal(ENOSYS, ask("mremap", address, 4096, 1 << 20, 1))
    assert.equal(("x"):rep(64), keep:string())
    ask_with(keep, 0, 1) -- and it can be given again
    assert.equal(("x"):rep(64), keep:string())
  end)

  it("cannot take away memory that the script looks at, when it gets hold of the file meanwhile", function()
    if needs "system calls" then return end
    local output = helper.output(([==[
      local d = require "clcompute".device("%s", { isolated = true, limit = 10 })
      local x, taken = d:zeros("float", 1 << 16), d:zeros("long", 2)
      local p = d:program [=[%s
        kernel void use(global float *x) { x[get_global_id(0)] += 1; }
        kernel void lurk(global long *taken, long size) { // beside its worker, with the worker's descriptors
          const long child = call(56, 0x400 | 17, 0, 0, 0, 0, 0);
          while (child == 0) for (int fd = 4; fd < 16; fd++) call(77, fd, size, 0, 0, 0, 0);
          taken[0] = child;
        }]=]
      p.use(64, x)
      for _, size in ipairs { 0, 1 << 29 } do
        p.lurk(1, taken, size)
        assert(taken[1] > 0)
        for i = 1, 300 do
          p.use(64, x)
          x:fill(i)
          d:zeros("float", 1 << 16):release()
        end
        os.execute(%q)
        p.use(64, x)
      end
      print("lives", x[1])
    ]==]):format(PLACE, SOURCE, KILL))
    assert.equal("lives\t301.0\n", output)
  end)

  it("is ended soon where it stops its process, or answers in place of it", function()
    ask "getppid"
    local start = cl.clock()
    helper.raises("its worker process was stopped, and was ended", ask, "kill",
      math.tointeger(isolated.workers()[1]), 19)
    ask "getppid"
    helper.raises("its worker process sent what is no answer, and was ended", ask_with,
      d:buffer(("\1"):rep(8), "char", 8), 2, 1, "write", 3, 0, 8)
    helper.raises("its worker process sent what is no answer, and was ended", ask_with,
      d:buffer(("\1"):rep(80), "char", 80), 2, 1, "write", 3, 0, 80) -- as long as an answer
    assert.is_true(cl.clock() - start < 20)
    ask "getppid"
  end)

  it("is told nothing of the environment but what drivers look for", function()
    ask "getppid"
    local environment = "\0" .. helper.read(("/proc/%s/environ"):format(isolated.workers()[1]))
    assert.truthy(environment:find("\0PATH=", 1, true))
    assert.is_nil(environment:find("\0HOME=", 1, true))
    assert.truthy(os.getenv "HOME")
  end)
end)

describe("CLCOMPUTE_SANDBOX=off", function()
  it("leaves the sandbox out", function()
    local output = helper.output(([[
      local d = require "clcompute".device("%s", { isolated = true })
      local out, path = d:zeros("long", 2), d:buffer("/etc/passwd\0", "char", 12)
      d:program [==[%s]==].ask(1, out, path, 2, 0, 0, 0, 0, 0, 0, 1, 1)
      print(d.sandbox, out[1] > 0)
    ]]):format(PLACE, SOURCE), { CLCOMPUTE_SANDBOX = "off" })
    assert.equal("none\ttrue\n", output)
  end)
end)

describe("what a source of an isolated device includes", function()
  local d = isolated.device()
  local folder = helper.folder()
  helper.write(folder .. "/value.h", "#define VALUE 7\n")
  local closed = helper.folder()
  helper.write(closed .. "/value.h", "#error seen\n")
  teardown(function() os.execute(("rm -r %s %s"):format(folder, closed)) end)

  it("lies in a folder of the option include", function()
    if not PARTS:find "files" then return pending "this machine has no sandbox of files" end
    local text = ('#include "%s/value.h"\nkernel void f(global int *x) { x[0] = VALUE; }'):format(folder)
    helper.raises({ "CL_BUILD_PROGRAM_FAILURE", "value.h", "those of option 'include'" }, d.program, d, text)
    assert.same({ "f" }, d:program(text, { include = { folder } }).kernels)
  end)

  it("is the same for the compiler of the script's process, whatever a source asks it for", function()
    if not PARTS:find "files" then return pending "this machine has no sandbox of files" end
    local path = closed .. "/value.h"
    for _, line in ipairs { '#if __has_include("%s")\n#error seen\n#endif', '#define FILE "%s"\n#include FILE',
      '#import "%s"', '%%:include "%s"', '#pragma GCC dependency "%s"', '_Pragma("GCC dependency \\"%s\\"")' } do
      local message = helper.raises({ "CL_BUILD_PROGRAM_FAILURE", path .. "': Permission denied" }, d.program, d,
        line:format(path) .. "\nkernel void f(global int *x) { x[0] = 7; }")
      assert.is_nil(message:find("seen", 1, true), message)
    end
    helper.raises("'/proc/self/oom_score_adj': Permission denied", d.program, d, -- which tells the processes apart
      'enum { N =\n#include "/proc/self/oom_score_adj"\n};\nkernel void f(global int *x) { x[0] = N; }')
  end)
end)
