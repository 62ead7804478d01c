-- SPDX-License-Identifier: MIT
--- The table of misuse: each way a script can misuse OpenCL, and the error in words it gets for it.
-- Afterwards the process lives and other data are sound. The rows run in processes of their own: what
-- killed a driver called directly `alone`, the others of a section and a device one after the other.
--
-- A row: `row`, its name; `script`; `message`, text or texts that the error holds (none: no error);
-- `may_fail`, it may be one; `on`, "pocl" or "oclgrind" alone, or "isolated", a CPU whose kernels another process
-- runs, where they would end this one or damage its data; `environment` of a process of its own; `log`, what
-- Oclgrind says of the kernel, which runs on; `unstopped`, what happens that nothing stops.
--
-- Out of reach for a script, by design:
--   flags of a buffer, read-only among them: none are taken, every buffer is read-write;
--   user events: there are none, so none stays unset or fails;
--   garbage handles, release of NULL: a script holds objects, which every call checks;
--   map and unmap: not offered, transfers are reads, writes and copies;
--   a kernel on another context's queue, sub-devices: a kernel runs on the queue of its own device;
--   a range without sizes (global NULL): sizes are always given;
--   a kernel before its program is built, a rebuild under live kernels: a program is made built;
--   profiling without a profile: every queue keeps one;
--   the driver's log beyond words: a build error carries it, with the name of the source.

local cl = require "clcompute"
local helper = require "spec.helper"

local ALONE, TOGETHER = 60, 300 -- seconds until a row is taken to hang: most take one, on a busy machine more

local PRELUDE = [[
  local cl = require "clcompute"
  local PLACE, OPTIONS = "%s", %o
  local d, keep
  local function open()
    local values = {}
    for i = 1, 64 do values[i] = i / 4 end
    d = cl.device(PLACE, OPTIONS)
    keep = d:buffer(values)
  end
  local function intact(no_builds)
    for i, value in ipairs(keep:read()) do assert(value == i / 4, "the data have changed") end
    if no_builds then return end
    local y = cl.saxpy(2, keep, d:buffer {]] .. ("1,"):rep(64) .. [[}):read()
    for i = 1, 64 do assert(y[i] == 1 + i / 2, "saxpy is wrong") end
  end
  local function build(source, options) return d:program(source, options).k end
  local LONG = [=[
    kernel void k(global int *x, int n) { volatile int i; for (i = 0; i < n; i++); x[0] = i; }]=]
  local function ints(n) return d:zeros("int", n) end
  local function case(index, script, no_builds)
    local function line(...) io.stdout:write("\nROW\t", table.concat({...}, "\t"), "\n") io.stdout:flush() end
    local ok, message = pcall(script)
    local sound, why = pcall(intact, no_builds)
    line(index, tostring(ok), tostring(sound), (tostring(ok and "" or message):gsub("\n", "\\n")),
      (tostring(sound and "" or why):gsub("\n", "\\n")))
  end
  open()
]]

local ONE = '"kernel void k(global int *x) { x[get_global_id(0)] = 1; }"'
local VALUE = '"kernel void k(global int *x, int n) { x[0] = n; }"'
local LOCAL = '"kernel void k(global int *x, local float *s) { s[get_local_id(0)] = 1; x[0] = s[0]; }"'
local UNDEFINED =
  'build "float nowhere(float); kernel void k(global float *x) { x[0] = nowhere(x[0]); }"(1, d:zeros("float", 1))'

local SECTIONS = {
  { "kernel execution", {
    { row = "one element past the end", on = "isolated", -- silent, but other buffers are out of reach
      script = 'build "kernel void k(global int *x) { x[4] = 1; }"(1, ints(4)):wait()' },
    { row = "one element past the end", on = "oclgrind", log = "Invalid write",
      script = 'build "kernel void k(global int *x) { x[4] = 1; }"(1, ints(4)):wait()' },
    { row = "64 KB past the end", on = "isolated", may_fail = true,
      script = 'build "kernel void k(global int *x) { x[16384] = 1; }"(1, ints(4)):wait()' },
    { row = "64 KB past the end", on = "oclgrind", log = "Invalid write",
      script = 'build "kernel void k(global int *x) { x[16384] = 1; }"(1, ints(4)):wait()' },
    { row = "access far outside", on = "isolated", message = "kernel 'k': its worker process",
      script = 'build "kernel void k(global char *x, long n) { x[n] = 1; }"(1, d:zeros("char", 4), 1 << 40):wait()' },
    { row = "far outside", on = "oclgrind", log = "Invalid write",
      script = 'build "kernel void k(global char *x, long n) { x[n] = 1; }"(1, d:zeros("char", 4), 1 << 40):wait()' },
    { row = "nil for a buffer", alone = true, message = { "kernel 'k' argument 1 'x' (global int*)", "got nil" },
      script = "build(" .. ONE .. ")(4, nil)" },
    { row = "endless loop", on = "isolated", message = { "kernel 'k': not done within the limit of 2 seconds" },
      script = 'build "kernel void k(global int *x) { volatile int go = 1; while (go) x[0]++; }"(1, ints(1)):wait()' },
    { row = "long loop with a limit to the wait", on = "pocl", alone = true,
      message = { "kernel 'k'", "did not end within" },
      script = [[
        local k = build(LONG)
        k(1, ints(1), 1):wait()
        k(1, ints(1), 200000000):wait(0.001)]] },
    { row = "integer division by zero", on = "isolated", -- silent: any number
      script = 'build "kernel void k(global int *x, int n) { x[0] = 100 / n; }"(1, ints(1), 0):wait()' },
    { row = "(int)1e30f and 1 << -1", on = "isolated", -- silent: differs from device to device
      script = [[build "kernel void k(global int *x, float f, int n) { x[0] = (int)f + (1 << n); }"(1, ints(1), 1e30,
        -1)]] },
    { row = "barrier in divergent flow", on = "isolated", may_fail = true,
      script = [=[build [[kernel void k(global int *x) { if (get_local_id(0) < 4) barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = 1; }]]({global = {8}, group = {8}}, ints(8)):wait()]=] },
    { row = "barrier in divergent flow", on = "oclgrind", log = "divergence",
      script = [=[build [[kernel void k(global int *x) { if (get_local_id(0) < 4) barrier(CLK_LOCAL_MEM_FENCE);
        x[get_global_id(0)] = 1; }]]({global = {8}, group = {8}}, ints(8)):wait()]=] },
    { row = "barrier in a loop of uneven count", on = "isolated", message = "kernel 'k'",
      script = [=[build [[kernel void k(global int *x) { for (int i = 0; i < (int)get_local_id(0) * 1000; i++) {
        x[get_global_id(0)] += i; barrier(CLK_LOCAL_MEM_FENCE); } }]]({global = 64, group = 64}, ints(64)):wait()]=] },
    { row = "private array of 64 MB", on = "isolated", message = "kernel 'k': its worker process",
      script = [=[build [[kernel void k(global int *x) { volatile int a[1 << 24];
        for (int i = 0; i < 1 << 24; i++) a[i] = i;
        int first = x[0]; x[0] = a[first]; }]](1, ints(1)):wait()]=] },
    { row = "private arrays of 4 KB in a group of 4096", on = "isolated",
      message = "kernel 'k': its worker process",
      script = [=[build [[kernel void k(global int *x) { int i = get_global_id(0), a[1024];
        for (int j = 0; j < 1024; j++) a[j] = i + j;
        x[i] = a[(i * 7) % 1024]; }]]({global = 4096, group = "driver"}, ints(4096)):wait()]=] },
    { row = "private arrays of 4 KB in the group chosen", on = "pocl", alone = true,
      script = [=[
        local x = ints(4096)
        build [[kernel void k(global int *x) { int i = get_global_id(0), a[1024];
          for (int j = 0; j < 1024; j++) a[j] = i + j;
          x[i] = a[(i * 7) % 1024] - (i * 7) % 1024; }]](4096, x)
        for i, v in ipairs(x:read()) do assert(v == i - 1) end]=] },
    { row = "local array above the device's local memory", alone = true,
      message = { "kernel 'k' needs", "this device has" },
      script = [[build("kernel void k(global int *x) { local int s[N]; s[get_local_id(0)] = x[0];"
        .. "barrier(CLK_LOCAL_MEM_FENCE); x[0] = s[(x[0] + 1) % N]; }",
        {defines = {N = d.local_memory * (d.type == "cpu" and 1 or 2)}})(1, ints(1)):wait()]] },
    { row = "local argument of 1 GiB", alone = true, message = { "kernel 'k' needs", "this device has" },
      script = "build(" .. LOCAL .. ")(1, ints(1), cl.scratch('float', 1 << 28)):wait()" },
    { row = "local argument of 2^63 bytes", alone = true, message = { "#2", "do not fit in memory" },
      script = "build(" .. LOCAL .. ")(1, ints(1), cl.scratch('float', 1 << 61)):wait()" },
    { row = "local arguments whose sum wraps", alone = true, message = { "kernel 'k' needs", "this device has" },
      script = [=[local s = cl.scratch("float", (1 << 61) - 1)
        build [[kernel void k(global int *x, local float *s, local float *t, local float *u) {
          s[0] = t[0] = u[0] = 1; x[0] = s[0]; }]](1, ints(1), s, s, s):wait()]=] },
    { row = "local argument of 0 bytes", message = { "#2", "size must be at least 1" },
      script = "build(" .. LOCAL .. ")(1, ints(1), cl.scratch('float', 0)):wait()" },
    { row = "local argument too small", on = "isolated", may_fail = true, -- mostly silent
      script = "build(" .. LOCAL .. ")({global = {8}, group = {8}}, ints(1), cl.scratch('float', 2)):wait()" },
    { row = "local argument too small", on = "oclgrind", log = "Invalid write",
      script = "build(" .. LOCAL .. ")({global = {8}, group = {8}}, ints(1), cl.scratch('float', 2)):wait()" },
    { row = 'printf("%s", int)', on = "pocl", alone = true,
      script = [[build 'kernel void k(global int *x) { printf("%s\\n", x[0]); }'(1, ints(1)):wait()]] },
    { row = 'printf("%s", int) on Oclgrind', unstopped = "Oclgrind aborts" },
    { row = "gemm into its input", message = { "'c'", "must not overlap" },
      script = "local a = d:zeros('float', 4, 4) cl.gemm(a, a, {c = a})" },
    { row = "saxpy into a shifted view of its input", message = "the result overlaps 'x'",
      script = "local a = d:zeros('float', 9) cl.saxpy(1, a:view(1, 8), a:view(2, 9))" },
    { row = "data race", on = "isolated", -- silent
      script = 'build "kernel void k(global int *x) { x[0] = get_global_id(0); }"(4, ints(4)):wait()' },
    { row = "data race", on = "oclgrind", -- the line by its number, and as it is
      log = "At line 2 (column 6) of input.cl:\n\t  x[0] = get_global_id(0);",
      script = 'build "kernel void k(global int *x) {\\nx[0] = get_global_id(0);\\n}"(4, ints(4)):wait()' },
    { row = "recursion",
      script = [[local x = ints(1)
        build "int f(int n) { return n < 2 ? 1 : n * f(n - 1); } kernel void k(global int *x) { x[0] = f(5); }"(1, x)
        assert(x[1] == 120)]] },
    { row = "inline assembler", on = "pocl", alone = true,
      script = [[build 'kernel void k(global int *x) { __asm__ volatile("nop"); x[0] = 1; }'(1, ints(1)):wait()]] },
    { row = "inline assembler on Oclgrind", unstopped = "Oclgrind dies of SIGSEGV in the build" },
  } },

  { "the geometry of a launch", {
    { row = "group above the limit", alone = true, message = { "kernel 'k'", "exceeds" },
      script = "local k = build(" .. ONE .. [[)
        local n = k:info().group_size + 1
        k({global = {n}, group = {n}}, ints(n))]] },
    { row = "range no multiple of the group",
      message = { "kernel 'k'", "global size 1000 is no multiple of the group's 64 in dimension 0" },
      script = "build(" .. ONE .. ")({global = {1000}, group = {64}}, ints(1000))" },
    { row = "range 0", script = "local x = ints(1) assert(build(" .. ONE
      .. ")(0, x).status == 'complete') assert(x[1] == 0)" },
    { row = "no range", message = { "range: n, {nx, ny} or {global=} expected, got nil" },
      script = "build(" .. ONE .. ")(nil, ints(1))" },
    { row = "group 0", alone = true, message = { "option 'group': dimension 0: 0" },
      script = "build(" .. ONE .. ")({global = {8}, group = {0}}, ints(8))" },
    { row = "range of 2^63", alone = true, message = "dimension 0: integer expected",
      script = "build(" .. ONE .. ")(2.0 ^ 63, ints(1))" },
    { row = "range of 2^63 - 1", alone = true, message = "is outside",
      script = "build(" .. ONE .. ")(math.maxinteger, ints(1))" },
    { row = "range of 2^32 x 2^32", alone = true, message = "is outside",
      script = "build(" .. ONE .. ")({1 << 32, 1 << 32}, ints(1))" },
    { row = "range of 2^30 x 2^30", alone = true, message = { "kernel 'k'", "is more than 2^40 work-items" },
      script = "build(" .. ONE .. ")({1 << 30, 1 << 30}, ints(1))" },
    { row = "range of 2^40", alone = true, message = "dimension 0: 1099511627776 is outside",
      script = "build(" .. ONE .. ")(1 << 40, ints(1))" },
    { row = "range of 2^64 - 1", alone = true, message = "dimension 0: -1 is outside",
      script = "build(" .. ONE .. ")(-1, ints(1))" },
    { row = "offset and range wrap", alone = true, message = "option 'offset'",
      script = "build(" .. ONE .. ")({global = {8}, offset = {-4}}, ints(8))" },
    { row = "offset and range pass 2^31", message = "offset and global size pass 2^31 in dimension 0",
      script = "build(" .. ONE .. ")({global = {8}, offset = {(1 << 31) - 4}}, ints(8))" },
    { row = "no dimension", message = "range expected: n, {nx, ny} or {global=}",
      script = "build(" .. ONE .. ")({}, ints(1))" },
    { row = "four dimensions", message = "1 to 3 dimensions expected, got 4",
      script = "build(" .. ONE .. ")({1, 1, 1, 1}, ints(1))" },
    { row = "group other than the one required", message = "requires a group of 4x1x1, got 2",
      script = [[build "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(global int *x) { x[0] = 1; }"(
        {global = {8}, group = {2}}, ints(8))]] },
    { row = "no group where one is required",
      script = [=[local x = ints(8)
        build [[kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(global int *x) {
          x[get_global_id(0)] = get_local_size(0); }]](8, x)
        assert(x[8] == 4)]=] },
  } },

  { "arguments", {
    { row = "packed bytes for a scalar", message = { "argument 2 'n' (int)", "number expected, got string" },
      script = "build(" .. VALUE .. ")(1, ints(1), 'abcd')" },
    { row = "nil for a scalar", message = { "argument 2 'n' (int)", "number expected, got nil" },
      script = "build(" .. VALUE .. ")(1, ints(1), nil)" },
    { row = "an argument too many", message = "kernel 'k' takes 2 arguments, got 3",
      script = "build(" .. VALUE .. ")(1, ints(1), 1, 1)" },
    { row = "an argument never set", message = "kernel 'k' takes 2 arguments, got 1",
      script = "local k, x = build(" .. VALUE .. "), ints(1) k(1, x, 1) k(1, x)" },
    { row = "float for an int", message = { "kernel 'k' argument 2 'n' (int)", "0.5 has no integer value" },
      script = "build(" .. VALUE .. ")(1, ints(1), 0.5)" },
    { row = "buffer for a long", alone = true,
      message = { "kernel 'k' argument 2 'n' (long)", "number expected, got userdata" },
      script = "build 'kernel void k(global int *x, long n) { x[0] = n; }'(1, ints(1), ints(1))" },
    { row = "8-byte integer for a buffer", alone = true,
      message = { "kernel 'k' argument 1 'x' (global int*)", "int buffer expected, got number" },
      script = "build(" .. VALUE .. ")(1, 0x7fffffffffff, 1)" },
    { row = "8 packed bytes for a buffer", alone = true,
      message = { "kernel 'k' argument 1 'x' (global int*)", "int buffer expected, got string" },
      script = "build(" .. VALUE .. ")(1, '12345678', 1)" },
    { row = "int buffer for float*", message = { "argument 1 'x' (global float*)", "float buffer expected, got int" },
      script = "build 'kernel void k(global float *x) { x[0] = 1; }'(1, ints(1))" },
    { row = "NaN for an int", message = { "argument 2 'n' (int)", "has no integer value" },
      script = "build(" .. VALUE .. ")(1, ints(1), 0.0 / 0.0)" },
    { row = "infinity for an int", message = { "argument 2 'n' (int)", "no integer value" },
      script = "build(" .. VALUE .. ")(1, ints(1), -math.huge)" },
    { row = "NaN and infinity for a float",
      script = [[local x = d:zeros("float", 2)
        build "kernel void k(global float *x, float a, float b) { x[0] = a; x[1] = b; }"(1, x, 0.0 / 0.0, -math.huge)
        assert(x[1] ~= x[1] and x[2] == -math.huge)]] },
    { row = "released buffer", alone = true, message = { "argument 1 'x'", "got released buffer" },
      script = "build(" .. VALUE .. ")(1, ints(1):release(), 1)" },
    { row = "another library's object", alone = true, message = { "argument 1 'x'", "got userdata" },
      script = "build(" .. VALUE .. ")(1, io.stdout, 1)" },
    { row = "another library's object with a buffer's metatable", alone = true, message = "argument 1 'x'",
      script = "debug.setmetatable(io.stderr, debug.getmetatable(keep)) build(" .. VALUE .. ")(1, io.stderr, 1)" },
    { row = "buffer of another device", alone = true, other = true,
      message = { "argument 1 'x'", "the buffer lives on another device" },
      script = "build(" .. VALUE .. ")(1, other:zeros('int', 1), 1)" },
    { row = "saxpy with operands of two devices", alone = true, other = true, message = { "#3", "another device" },
      script = "cl.saxpy(1, keep, other:zeros('float', 64))" },
    { row = "buffer of a device that was closed", alone = true, message = { "argument 1 'x'", "got released buffer" },
      script = "local x = ints(1) d:close() open() build(" .. VALUE .. ")(1, x, 1)" },
    { row = "kernel of a device that was closed", alone = true, message = "kernel is released",
      script = "local k = build(" .. VALUE .. ") d:close() open() k(1, ints(1), 1)" },
    { row = "event of another context before a launch", other = true, alone = true,
      script = "local e = build(" .. VALUE .. ")(1, ints(1), 1) e:before(other) other:zeros('int', 1):read()" },
  } },

  { "memory", {
    { row = "buffer of 0 elements", script = "assert(#ints(0) == 0 and #ints(0):read() == 0)" },
    { row = "buffer of 0 elements in a launch", alone = true, message = { "argument 1 'x'", "has no elements" },
      script = "build(" .. ONE .. ")(1, ints(0))" },
    { row = "buffer of 2^63 bytes", alone = true, message = { "#2", "do not fit in memory" },
      script = "d:zeros('float', 1 << 61)" },
    { row = "buffer of -1 elements", alone = true, message = { "#2", "must not be negative, got -1" },
      script = "d:zeros('float', -1)" },
    { row = "buffer above the largest", alone = true, message = { "MiB exceeds the largest this device allocates" },
      script = "d:empty('char', d.global_memory + 1)" },
    { row = "rows * columns * 4 wraps in 32 bits", alone = true, message = "MiB",
      script = "for i = 1, 2 do d:empty('float', 1 << 20, 1 << 20) end" },
    { row = "rows * columns * 4 wraps in 64 bits", alone = true, message = { "#3", "do not fit in memory" },
      script = "d:empty('float', 1 << 31, 1 << 31)" },
    { row = "more memory than the device has", alone = true, message = { "does not fit", "MiB are in use" },
      script = [[local most, kept = d:info().max_allocation, {}
        local ok, message = pcall(function()
          for i = 1, 2 + d.global_memory // most do kept[i] = d:empty("char", most) end
        end)
        for _, b in ipairs(kept) do b:release() end
        if not ok then error(message, 0) end]] },
    { row = "more memory than the device has, dropped", alone = true,
      script = [[local most = d.global_memory // 4
        for _ = 1, 5 do d:empty("char", most) end]] },
    { row = "read past the end", message = { "#2", "65 is outside 1 .. 64" }, script = "keep:read(1, 65)" },
    { row = "read before the start", message = { "#1", "0 is outside 1 .. 64" }, script = "keep:read(0)" },
    { row = "read whose end wraps", alone = true, message = "is outside",
      script = "keep:read(math.maxinteger, math.mininteger)" },
    { row = "write past the end", message = { "#2", "2 rows from 64 do not fit in 1 .. 64" },
      script = "keep:write({1, 2}, 64)" },
    { row = "write whose offset wraps", alone = true, message = { "#2", "do not fit in 1 .. 64" },
      script = "keep:write({1, 2}, math.maxinteger)" },
    { row = "element past the end", message = "65 is outside 1 .. 64", script = "keep[65] = 1" },
    { row = "write of nothing", script = "keep:write({}) keep:write('', 64) ints(0):fill(1)" },
    { row = "view whose origin wraps", alone = true, message = "is outside 1 .. 6",
      script = "keep:view(math.mininteger, 2)" },
    { row = "view past the end", message = { "#2", "65 is outside" }, script = "keep:view(64, 65)" },
    { row = "misaligned view", message = { "kernel 'k' argument 1 'x'", "nearest first that is one is 1" },
      script = "build(" .. ONE .. ")(1, ints(64):view(2, 3))" },
    { row = "fill out of range", message = { "#3", "65 is outside" }, script = "keep:fill(0, 1, 65)" },
    { row = "fill whose offset wraps", alone = true, message = "is outside", script = "keep:fill(0, -1)" },
    { row = "copy out of range", message = { "#2", "do not fit in 1 .. 64" },
      script = "keep:write(d:zeros('float', 65))" },
    { row = "copy whose offset wraps", alone = true, message = "do not fit in 1 .. 64",
      script = "keep:write(d:zeros('float', 2), math.maxinteger)" },
    { row = "copy of overlapping parts",
      script = [[local x = d:buffer({1, 2, 3, 4}, "int")
        x:view(2, 4):write(x:view(1, 3))
        assert(table.concat(x:read()) == "1123")]] },
    { row = "reshape to more elements", message = "65 is 65 elements, but the buffer has 64",
      script = "keep:reshape(65)" },
    { row = "many small buffers", on = "pocl", alone = true,
      script = "local kept = {} for i = 1, 20000 do kept[i % 10000] = d:empty('int', 4) end" },
    { row = "read of a buffer never written",
      script = "for _, v in ipairs(ints(1000):read()) do assert(v == 0) end d:empty('int', 1000):read()" },
  } },

  { "lifetime", {
    { row = "double release of a buffer", alone = true, script = "local x = ints(1) x:release():release()" },
    { row = "double release of a kernel", alone = true,
      script = "local k = build(" .. ONE .. ") k:release() k:release()" },
    { row = "double release of a program", alone = true,
      script = "local p = d:program(" .. ONE .. ") p:release() p:release()" },
    { row = "double release of an event", alone = true,
      script = "local e = build(" .. ONE .. ")(1, ints(1)) e:release() e:release()" },
    { row = "double close of a device", alone = true,
      script = "local x = ints(1) d:close():close() x:release() open()" },
    { row = "double close of a queue", alone = true,
      script = "local q = d:queue() q:zeros('int', 1) q:close():close()" },
    { row = "use of a released buffer", alone = true, message = "buffer is released",
      script = "local x = ints(1) x:release() x:read()" },
    { row = "use of a view of a released buffer", alone = true,
      script = "local x = d:buffer({1, 2, 3}, 'int') local v = x:view(2, 3) x:release() assert(v[2] == 3)" },
    { row = "use of a released kernel", alone = true, message = "kernel is released",
      script = "local k = build(" .. ONE .. ") k:release() k(1, ints(1))" },
    { row = "use of a closed device", alone = true, message = "device is released",
      script = "local old = d d:close() open() old:zeros('int', 1)" },
    { row = "release of a buffer that a queued launch uses", alone = true,
      script = [[local k = build(LONG)
        local x = ints(1)
        local e = k(1, x, d.platform == "Oclgrind" and 1000 or 10000000)
        x:release() k:release() collectgarbage() e:wait()]] },
    { row = "host memory dropped under a pending write",
      script = [[local n = d.platform == "Oclgrind" and 1000 or 10000000
        local k = build(LONG)
        local x, y = ints(1000), ints(1)
        k(1, y, n)
        x:write(string.pack("i4", 7):rep(1000))
        collectgarbage() collectgarbage()
        for _, v in ipairs(x:read()) do assert(v == 7) end]] },
    { row = "profile before the end",
      script = [[local n = d.platform == "Oclgrind" and 1000 or 10000000
        local k = build(LONG)
        d:timing(true)
        local t = k(1, ints(1), n):profile()
        d:timing(false)
        assert(t.queued <= t.started and t.started <= t.finished)]] },
    { row = "OpenCL used before fork(), in the child", alone = true, fork = true,
      environment = { OPENCL_LAYERS = "", CLCOUNT_EXIT = "0" },
      script = [[local x, k = ints(4), build(]] .. ONE .. [[)
        local e, z = k(4, x):wait(), x + 1
        local ended = fork(function()
          for _, f in ipairs {
            function() x:read() end, function() k(4, x) end, function() d:zeros("int", 1) end,
            function() d:wait() end, function() d:program(]] .. ONE .. [[) end, function() keep:fill(0) end,
            function() d:queue() end, function() cl.saxpy(1, keep, keep) end, function() return x + 1 end,
            function() z:read() end,
          } do
            local ok, message = pcall(f)
            if ok or not message:find("used before fork(): start a new process instead", 1, true) then
              io.stderr:write(debug.getinfo(f, "S").linedefined, " in the child: ", tostring(message), "\n")
              os.exit(3)
            end
          end
          x:release() k:release() e:release() d:close() x, k, e = nil
          collectgarbage()
        end)
        assert(ended == 0, "the child ended with " .. ended)
        d:timing(true) -- its queue is gone, what the pool keeps is there
        assert(fork(function() os.exit(pcall(d.wait, d) and 3 or 0) end) == 0, "the child waited")
        d:timing(false)
        k(4, x)
        assert(x[4] == 1)]] },
    { row = "a child by fork() that closes its state", alone = true, plain = true, fork = true,
      environment = { OPENCL_LAYERS = "", CLCOUNT_EXIT = "0" },
      script = "local x, e = ints(4), build(" .. ONE .. ")(1, ints(1)):wait()"
        .. "assert(fork(function() os.exit(7, true) end) == 7)" },
  } },

  { "programs", {
    { row = "build error", message = { "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)", "life.cl does not build",
      "nowhere" },
      script = "d:program('kernel void k(global int *x) { x[0] = nowhere; }', {name = 'life.cl'})" },
    { row = "empty source", message = "no kernel in the source", script = "d:program ''" },
    { row = "binary junk", message = { "#1", "NUL byte" }, script = "d:program '\\0\\1\\2 kernel'" },
    { row = "undefined function", on = "pocl", message = { "source does not build", "nowhere" }, script = UNDEFINED },
    { row = "undefined function on Oclgrind", on = "oclgrind", alone = true, script = UNDEFINED,
      message = "clCreateKernel: CL_INVALID_KERNEL_NAME (-46): kernel 'k'" },
    { row = "call of the C library", message = { "source does not build", "malloc" },
      script = "d:program 'kernel void k(global int *x) { x[0] = (int)(long)malloc(4); }'" },
    { row = "20000 parentheses", alone = true, message = "source does not build",
      script = [[d:program("kernel void k(global int *x) { x[0] = " .. ("("):rep(20000) .. "1" .. (")"):rep(20000)
        .. "; }")]] },
    { row = "file that includes itself", alone = true, message = "does not build",
      script = [[local folder = os.tmpname()
        os.remove(folder)
        assert(os.execute("mkdir " .. folder))
        local file = assert(io.open(folder .. "/self.h", "w"))
        file:write '#include "self.h"\n'
        file:close()
        local ok, message = pcall(d.program, d, '#include "self.h"\nkernel void k(global int *x) { x[0] = 1; }',
          {include = {folder}})
        os.remove(folder .. "/self.h")
        os.remove(folder)
        if not ok then error(message, 0) end]] },
    { row = "source of 10 MB", on = "pocl", alone = true,
      script = [[local x = ints(1)
        build(("// nothing to see here\n"):rep(450000) .. ]] .. ONE .. [[)(1, x)
        assert(x[1] == 1)]] },
    { row = "compiler's option of another sort", alone = true,
      message = { "option 'options'", "'-fsanitize=address' is none of" },
      script = "d:program(" .. ONE .. ", {options = '-fsanitize=address'})" },
    { row = "kernel of a wrong name", message = "no kernel 'life' in the program; there are: k",
      script = "d:program(" .. ONE .. "):kernel 'life'" },
    { row = "program released under its kernel",
      script = "local p, x = d:program(" .. ONE .. "), ints(1) local k = p.k p:release() k(1, x) assert(x[1] == 1)" },
    { row = "truncated program in the cache", alone = true, cache = true,
      script = [[d:program(]] .. ONE .. [[):release()
        for path in io.popen("ls " .. os.getenv "CLCOMPUTE_CACHE" .. "/*"):lines() do
          local file = assert(io.open(path, "rb"))
          local bytes = file:read "a"
          file:close()
          file = assert(io.open(path, "wb"))
          file:write(bytes:sub(1, #bytes // 2))
          file:close()
        end
        local x = ints(1)
        build(]] .. ONE .. [[)(1, x)
        assert(x[1] == 1)]] },
  } },

  { "the environment", {
    { row = "no ld in PATH", on = "pocl", alone = true, message = "no ld in PATH: POCL would end the process",
      environment = { PATH = "build/without_ld" }, no_builds = true,
      script = "build(" .. ONE .. ")(1, ints(1)):wait()" },
    { row = "disk full", on = "pocl", alone = true, plain = true,
      message = "has less than 16 MiB left: POCL would end the process",
      environment = { LD_PRELOAD = "build/fork.so" }, no_builds = true,
      script = "build(" .. ONE .. ")(1, ints(1)):wait()" },
    { row = "a limit of 8 open files", on = "isolated", alone = true, message = "its worker process died of SIGABRT",
      environment = { CLCOMPUTE_LUA = "build/lua_with_8_files", POCL_CACHE_DIR = "build/limited_files" },
      no_builds = true, -- a new source, so that no cache has the kernel linked
      script = 'build("kernel void k(global int *x) { x[0] = " .. os.time() .. "; }")(1, ints(1)):wait()' },
    { row = "a limit of file sizes", on = "isolated", alone = true, message = "CL_BUILD_PROGRAM_FAILURE",
      environment = { CLCOMPUTE_LUA = "build/lua_with_small_files", POCL_CACHE_DIR = "build/limited_sizes" },
      no_builds = true, script = "build(" .. ONE .. ")(1, ints(1)):wait()" },
    { row = "truncated kernels in POCL's cache", on = "isolated", alone = true,
      message = "kernel 'k': its worker process died of", environment = { POCL_CACHE_DIR = "build/truncated" },
      no_builds = true, script = [[
        local k = build(]] .. ONE .. [[)
        k(1, ints(1))
        os.execute "find build/truncated -name '*.so' -exec truncate -s 100 {} +"
        d:close()
        open()
        build(]] .. ONE .. [[)(1, ints(1))]] },
    { row = "900 MB of address space", on = "pocl", alone = true, plain = true,
      environment = { ["ulimit -v 900000; X"] = "" },
      script = "local x = ints(1) build(" .. ONE .. ")(1, x) assert(x[1] == 1)" },
  } },
}

-- --- running them -------------------------------------------------------------

--- Compiles the helper in C with the Makefile's settings; makes a folder for a PATH without `ld`.
local function build_helper()
  helper.compile_library "fork"
  assert(os.execute(("mkdir -p build/without_ld && ln -sf $(command -v timeout) $(command -v %s) build/without_ld")
    :format(helper.lua)))
  for name, limit in pairs { lua_with_8_files = "-n 8", lua_with_small_files = "-f 0" } do
    helper.write("build/" .. name, ("#!/bin/sh\nulimit %s\nexec %s \"$@\"\n"):format(limit, helper.lua), true)
  end
  local folders = "limited_files limited_sizes truncated"
  assert(os.execute(("cd build && rm -rf %s && mkdir %s"):format(folders, folders)))
end

--- The text of a process that runs rows first to last, on a device.
local function compose(device, rows, first, last)
  local options = device.isolated and "{isolated = true, limit = 2}" or "nil"
  local parts = { (PRELUDE:gsub("%%s", device.place):gsub("%%o", options)) }
  for i = first, last do
    local row = rows[i]
    if row.fork then parts[#parts + 1] = "local fork = package.loadlib('build/fork.so', 'luaopen_fork')()" end
    if row.other then parts[#parts + 1] = ("local other = cl.device '%s'"):format(row.other) end
    parts[#parts + 1] = ("case(%d, function() %s\nend, %s)"):format(i, row.script, row.no_builds)
  end
  return table.concat(parts, "\n")
end

--- Runs rows first to last in one process and keeps what each told; returns how the process ended.
local function run_process(device, rows, first, last, limit, environment)
  environment = environment or {}
  -- The leak detector cannot stop the driver's threads in some of these; the counting layer looks on.
  if os.getenv "SANITIZED" then environment.ASAN_OPTIONS = "allocator_may_return_null=1:detect_leaks=0" end
  local ok, output, code = helper.run(compose(device, rows, first, last), environment, limit)
  for index, returned, sound, message, why in output:gmatch "\nROW\t(%d+)\t(%a+)\t(%a+)\t([^\n\t]*)\t([^\n]*)\n" do
    rows[tonumber(index)].result =
      { returned = returned == "true", message = message, sound = sound == "true", why = why }
  end
  return ok, ("exit code %s: %s"):format(code, output)
end

local function check(row)
  local result = row.result
  if not row.message and not row.may_fail then assert.is_true(result.returned, result.message) end
  for _, text in ipairs(type(row.message) == "table" and row.message or { row.message }) do
    assert.is_false(result.returned, "no error was raised")
    assert.truthy(result.message:find(text, 1, true), ("'%s' is not in: %s"):format(text, result.message))
  end
  assert.is_true(result.sound, "afterwards: " .. result.why)
end

--- One row in a process of its own; what Oclgrind logs is kept from the log of the whole run.
local function run_alone(device, rows, i)
  local row, log, cache = rows[i], os.tmpname(), os.tmpname()
  os.remove(cache)
  local environment = { OCLGRIND_LOG = log, OCLGRIND_DATA_RACES = 1, CLCOMPUTE_CACHE = row.cache and cache or nil }
  for name, value in pairs(row.environment or {}) do environment[name] = value end
  local ok, ended = run_process(device, rows, i, i, ALONE, environment)
  local faults = helper.read(log)
  os.remove(log)
  os.execute("rm -rf " .. cache)
  assert.is_true(ok and row.result ~= nil, ended)
  check(row)
  if row.log then return assert.truthy(faults:find(row.log, 1, true), faults) end
  assert.equal("", faults)
end

--- Runs the rows that nothing killed, one after the other; should one end the process, the next goes on.
local function run_together(device, rows)
  local first = 1
  while first <= #rows do
    local ok, ended = run_process(device, rows, first, #rows, TOGETHER)
    if ok then return end
    while first <= #rows and rows[first].result do first = first + 1 end
    if first > #rows then error("at the end: " .. ended) end
    rows[first].result = { returned = false, message = ended, sound = false, why = "the process ended: " .. ended }
    first = first + 1
  end
end

--- The rows of a section for a device, as copies, since each device has results of its own.
local function rows_for(device, rows, other)
  local name = device.platform:lower()
  local kind = device.isolated and "isolated" or name:find "portable" and "pocl" or name
  local together, alone = {}, {}
  for _, row in ipairs(rows) do
    local copy = {}
    for key, value in pairs(row) do copy[key] = value end
    copy.other = row.other and other
    local here = row.on == kind or (not row.on and kind ~= "isolated")
    local wanted = row.script and here and (not row.other or other)
    local list = (row.alone or row.log) and alone or together
    if wanted then list[#list + 1] = copy end
  end
  return together, alone
end

--- Describes it on each device, and on each CPU isolated.
local function describe_with_isolated(subject, body)
  helper.describe_each(subject, body)
  for _, device in ipairs(cl.devices()) do
    if device.type == "cpu" and not helper.is_simulator(device) then
      describe(subject .. " on an isolated device", function()
        body(cl.device(device.place, { isolated = true }))
      end)
    end
  end
end

local function title(row)
  return (row.log and "is seen: " or row.message and "is an error in words: " or "does no harm: ") .. row.row
end

--- Another device, as a selector; nil when there is one only.
local function other_than(device)
  for _, other in ipairs(helper.devices()) do if other ~= device then return other.place end end
end

build_helper()

for _, section in ipairs(SECTIONS) do
  local subject, rows = table.unpack(section)
  for _, row in ipairs(rows) do
    if row.unstopped then pending(("misuse of %s: %s: %s"):format(subject, row.row, row.unstopped)) end
  end
  describe_with_isolated("misuse of " .. subject, function(device)
    local together, alone = rows_for(device, rows, other_than(device))
    setup(function() run_together(device, together) end)
    for _, row in ipairs(together) do
      it(title(row), function() check(row) end)
    end
    for i, row in ipairs(alone) do
      local case = row.plain and os.getenv "SANITIZED" and pending or it
      case(title(row), function() run_alone(device, alone, i) end)
    end
  end)
end

describe("misuse of the environment", function()
  it("is an error in words: POCL's cache folder impossible", function()
    local output = helper.output([[
      local cl = require "clcompute"
      print(#cl.devices "portable", pcall(cl.device, "portable"))]], { POCL_CACHE_DIR = "/dev/null/pocl" }, ALONE)
    assert.matches("0\tfalse\t.*portable", output)
  end)
end)
