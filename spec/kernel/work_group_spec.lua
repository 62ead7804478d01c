-- SPDX-License-Identifier: MIT
--- The work-group functions of <clcompute/work_group.h>. `make long` asks for every size of a group.

local cl = require "clcompute"
local helper = require "spec.helper"

local INCLUDE = "#include <clcompute/work_group.h>\n"
local GROUPS = 2 -- of a launch

--- Every function once; `out` gets the results in this order.
local FUNCTIONS = { "broadcast", "any", "all", "reduce_add", "reduce_min", "reduce_max", "scan_inclusive_add",
  "scan_inclusive_min", "scan_inclusive_max", "scan_exclusive_add", "scan_exclusive_min", "scan_exclusive_max" }
local EVERY = [[
kernel void every(global const T *in, global T *out, uint root) {
  const size_t i = get_global_id(0);
  const T x = in[i];
  out += ]] .. #FUNCTIONS .. [[ * i;
  out[0] = work_group_broadcast(x, root);
  out[1] = work_group_any(x == in[0]);
  out[2] = work_group_all(x >= in[0]);
  out[3] = work_group_reduce_add(x);
  out[4] = work_group_reduce_min(x);
  out[5] = work_group_reduce_max(x);
  out[6] = work_group_scan_inclusive_add(x);
  out[7] = work_group_scan_inclusive_min(x);
  out[8] = work_group_scan_inclusive_max(x);
  out[9] = work_group_scan_exclusive_add(x);
  out[10] = work_group_scan_exclusive_min(x);
  out[11] = work_group_scan_exclusive_max(x);
}]]

-- The smallest and the largest value: what minimum and maximum of nothing are.
local TYPES = {
  int = { -2 ^ 31 | 0, 2 ^ 31 - 1 | 0 }, uint = { 0, 2 ^ 32 - 1 | 0 }, long = { math.mininteger, math.maxinteger },
  ulong = { 0, -1 }, float = { -math.huge, math.huge }, double = { -math.huge, math.huge },
  half = { -math.huge, math.huge },
}
local SIGNED = { int = true, long = true, float = true, double = true, half = true }

--- Random integers, small enough for exact sums of a group in any type, with their oracle.
local function expected_of(values, from, to, root, dtype)
  local lowest, highest = TYPES[dtype][1], TYPES[dtype][2]
  local all = { sum = 0, least = highest, most = lowest }
  local rows = {}
  local any, every = 0, 1
  for i = from, to do
    local before = { all.sum, all.least, all.most }
    local x = values[i]
    all.sum = all.sum + x
    if i == from or x < all.least then all.least = x end
    if i == from or x > all.most then all.most = x end
    if x == values[1] then any = 1 end
    if x < values[1] then every = 0 end
    rows[#rows + 1] = { 0, 0, 0, 0, 0, 0, all.sum, all.least, all.most, table.unpack(before) }
  end
  for _, row in ipairs(rows) do
    table.move({ values[from + root], any, every, all.sum, all.least, all.most }, 1, 6, 1, row)
  end
  return rows
end

--- Values of a kind, from a seed that is told when they fail.
local function values_of(n, dtype, seed)
  math.randomseed(seed)
  local values = {}
  for i = 1, n do values[i] = math.random(SIGNED[dtype] and -3 or 0, dtype == "half" and 3 or 1000) end
  return values
end

--- Asserts that all functions are right in groups of a size.
local function check(d, program, dtype, size)
  local n, seed = GROUPS * size, math.random(1 << 30)
  local values, root = values_of(n, dtype, seed), seed % size
  local x <close> = d:buffer(values, dtype)
  local out <close> = d:empty(dtype, n, #FUNCTIONS)
  program.every({ global = n, group = size }, x, out, root)
  local got, row = out:read(), 0
  for group = 0, GROUPS - 1 do
    for _, expected in ipairs(expected_of(values, group * size + 1, (group + 1) * size, root, dtype)) do
      row = row + 1
      for f, name in ipairs(FUNCTIONS) do
        if got[row][f] ~= expected[f] then
          assert.equal(expected[f], got[row][f], ("%s of %s in a group of %d, work-item %d, seed %d"):format(name,
            dtype, size, row - 1, seed))
        end
      end
    end
  end
end

--- Those that a device can run.
local function fitting(sizes, most)
  local list = {}
  for _, size in ipairs(sizes) do if size <= most then list[#list + 1] = size end end
  return list
end

--- Whether each size of a group is another compile, of half a second.
local function compiles_sizes(d) return d.type == "cpu" and not helper.is_simulator(d) and not helper.long(true) end

-- What a device tries that compiles for each size: the first type all numbers of steps, the others a size or two.
local FEW = { int = { 1, 2, 3, 33, 100, 257 }, float = { 3, 64 }, uint = { 5 }, long = { 31 }, ulong = { 1 },
  double = { 33 }, half = { 65 } }

--- The sizes of a group: a dozen, or all of the first 257 and the largest.
local function sizes_for(d, kernel, dtype)
  local most, sizes = kernel:info().group_size, {}
  if helper.is_simulator(d) then most = 65 end
  if helper.long(true) then
    for size = 1, 257 do sizes[size] = size end
    sizes[#sizes + 1] = most
  elseif compiles_sizes(d) then
    sizes = FEW[dtype]
    if dtype == "float" then sizes = { most, table.unpack(sizes) } end
  else
    sizes = { 1, 2, 3, 5, 31, 32, 33, 64, 65, 100, 257, most }
  end
  return fitting(sizes, most)
end

helper.describe_each("a work-group function", function(d)
  for dtype in pairs(TYPES) do
    it("of " .. dtype .. " is right in groups of any size", function()
      if dtype == "double" and not d.has_double then return pending "no double precision" end
      if dtype == "half" and not d.has_half then return pending "no half precision" end
      local head = dtype == "half" and "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" or ""
      local program = d:program(head .. INCLUDE .. EVERY, { defines = { T = dtype } })
      for _, size in ipairs(sizes_for(d, program.every, dtype)) do check(d, program, dtype, size) end
    end)
  end

  it("is right where several work-items share the serial part, as on a GPU", function()
    local few = { [4] = { 3, 65 }, [32] = { 33, 100 } }
    for lanes, dtype in pairs { [4] = "int", [32] = "float" } do
      local program = d:program(helper.with_lanes(lanes, EVERY), { defines = { T = dtype } })
      local sizes = compiles_sizes(d) and few[lanes] or { 1, 3, 31, 32, 33, 65, 100, 257 }
      for _, size in ipairs(fitting(sizes, helper.is_simulator(d) and 65 or program.every:info().group_size)) do
        check(d, program, dtype, size)
      end
    end
  end)

  it("is right in a later version of the language, where the device may have its own", function()
    local version = d:info().c_version:match "^OpenCL C ([2-9])"
    if not version then return pending "the compiler has OpenCL C 1.2 alone" end
    for _, dtype in ipairs { "int", "float" } do
      local options = ("-cl-std=CL%s.0"):format(version)
      local program = d:program(INCLUDE .. EVERY, { defines = { T = dtype }, options = options })
      for _, size in ipairs { 1, 24, 100 } do check(d, program, dtype, size) end
    end
  end)

  it("takes groups of two and three dimensions, in the order of get_local_linear_id", function()
    local p = d:program(INCLUDE .. [[
      kernel void scans(global int *rank, global int *from_two, global int *from_three) {
        const size_t i = get_global_linear_id();
        rank[i] = work_group_scan_exclusive_add(1) - (int)get_local_linear_id();
        from_two[i] = work_group_broadcast((int)get_local_linear_id(), 2, 1);
        from_three[i] = work_group_broadcast((int)get_local_linear_id(), 1, 0, 1);
      }]])
    local n = 6 * 4 * 4
    local rank, two, three = d:empty("int", n), d:empty("int", n), d:empty("int", n)
    p.scans({ global = { 6, 4, 4 }, group = { 3, 2, 2 } }, rank, two, three)
    for i = 1, n do assert.same({ 0, 5, 7 }, { rank[i], two[i], three[i] }) end
  end)

  it("is right in the groups that a split leaves over", function()
    local p = d:program(INCLUDE .. [[
      kernel void sums(global int *out) { out[get_global_id(0)] = work_group_reduce_add(1); }]])
    local out = d:buffer(("\0"):rep(4 * 21), "int", 21)
    p.sums({ global = 21, group = 8, remainder = "split" }, out)
    for i = 1, 21 do assert.equal(i <= 16 and 8 or 5, out[i]) end
  end)

  it("adds floating-point numbers within the bound of any order", function()
    local p = d:program(INCLUDE .. [[
      kernel void sums(global const float *x, global float *sum, global float *scan) {
        const size_t i = get_global_id(0);
        sum[i] = work_group_reduce_add(x[i]);
        scan[i] = work_group_scan_inclusive_add(x[i]);
      }]])
    local size = math.min(200, p.sums:info().group_size)
    local x = d:random("float", size, { seed = 5, low = -1, high = 1 })
    local sum, scan = d:empty("float", size), d:empty("float", size)
    p.sums({ global = size, group = size }, x, sum, scan)
    local exact, magnitude = 0, 0
    for i, value in ipairs(x:read()) do
      exact, magnitude = exact + value, magnitude + math.abs(value)
      assert.is_true(math.abs(scan[i] - exact) <= size * helper.unit.float * magnitude, "scan " .. i)
    end
    assert.is_true(math.abs(sum[1] - exact) <= size * helper.unit.float * magnitude)
    assert.equal(sum[1], sum[size]) -- all work-items learn the same
  end)

  it("can be called again and again, in loops and for several types", function()
    local p = d:program(INCLUDE .. [[
      kernel void rounds(global int *out, int n) {
        const int i = get_local_id(0);
        int total = 0;
        for (int k = 0; k < n; k++) {
          const float f = work_group_reduce_max((float)(i * k));
          const long l = work_group_scan_exclusive_add((long)k);
          total += (int)f + (int)l + work_group_broadcast(k, (size_t)k % get_local_size(0));
        }
        out[get_global_id(0)] = total;
      }]])
    local size, n = 24, 7
    local out = d:empty("int", 2 * size)
    p.rounds({ global = 2 * size, group = size }, out, n)
    for g = 0, 1 do
      for i = 0, size - 1 do
        local total = 0
        for k = 0, n - 1 do total = total + (size - 1) * k + i * k + k end
        assert.equal(total, out[g * size + i + 1])
      end
    end
  end)

  it("takes what promotes to its types, and any expression", function()
    local p = d:program(INCLUDE .. [[
      typedef struct { int a, b; } Pair;
      kernel void mixed(global int *out, global const short *x) {
        const int i = get_global_id(0);
        out[i] = work_group_reduce_add(x[i]) + work_group_reduce_max(max(i, 3)) + work_group_all(i < 4 ? 1 : 0)
          + work_group_any((i & 1) && i > 2) + work_group_reduce_min((Pair){ 7, 8 }.b);
      }]])
    local out = d:empty("int", 4)
    p.mixed({ global = 4, group = 4 }, out, d:buffer({ 1, 2, 3, 4 }, "short"))
    assert.same({ 23, 23, 23, 23 }, out:read())
  end)

  it("comes with the barrier and the ids of OpenCL 2.0", function()
    local p = d:program(INCLUDE .. [[
      kernel void ids(global int *out, local int *s) {
        const size_t l = get_local_linear_id(), n = get_enqueued_local_size(0) * get_enqueued_local_size(1);
        s[l] = (int)get_global_linear_id();
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        const int other = s[n - 1 - l];
        work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
        out[get_global_linear_id()] = other;
      }]])
    local out = d:empty("int", 24)
    p.ids({ global = { 4, 6 }, group = { 2, 3 } }, out, cl.scratch("int", 6))
    for y = 0, 5 do
      for x = 0, 3 do
        local other = (2 * (y // 3) * 3 + 2 - y) * 4 + (2 * (x // 2) * 2 + 1 - x)
        assert.equal(other, out[y * 4 + x + 1])
      end
    end
  end)

  it("counts global ids from the offset of the range, as the standard has it", function()
    local p = d:program(INCLUDE .. [[
      kernel void ids(global int *out) { out[get_global_id(0)] = (int)get_global_linear_id(); }]])
    local out = d:buffer({ -1, -1, -1, -1 }, "int")
    p.ids({ global = 3, group = 1, offset = { 1 } }, out)
    assert.same({ -1, 0, 1, 2 }, out:read())
  end)

  it("keeps the lines of the source in a build log", function()
    helper.raises({ "life.cl:5", "unknown_name" }, d.program, d, INCLUDE .. [[
      // a kernel { of a comment
      kernel void
      k(global int *x) { x[0] = work_group_reduce_add(x[0]);
        x[1] = unknown_name; }]], { name = "life.cl" })
  end)

  it("called in a function that is no kernel, says why not", function()
    helper.raises({ "source:2", "in the body of a kernel alone" }, d.program, d, INCLUDE .. [[
      int helper(int x) { return work_group_reduce_add(x); }
      kernel void k(global int *x) { x[0] = helper(x[0]); }]])
  end)

  it("refuses types that the standard does not have", function()
    for _, name in ipairs { "reduce_add", "scan_inclusive_max" } do
      helper.raises({ "source:2", "work-group functions take int" }, d.program, d, INCLUDE .. ([[
        kernel void k(global float *x) { x[0] = work_group_%s((float4)(x[0])).x; }]]):format(name))
    end
    helper.raises({ "source:2", "one to three local ids: int" }, d.program, d, INCLUDE .. [[
      kernel void k(global float *x) { x[0] = work_group_broadcast((float4)(x[0]), 0).x; }]])
  end)

  it("that does not exist, or whose header is missing, leads to the header", function()
    -- not `add`: NVIDIA's compiler takes that without being asked, and gets it wrong
    local source = "kernel void k(global int *x) { x[0] = work_group_reduce_mul(x[0]); }"
    for _, text in ipairs { source, INCLUDE .. source } do
      local message = helper.raises("#include <clcompute/work_group.h> has work_group_any", d.program, d, text)
      assert.is_nil(message:find("Spelling", 1, true))
    end
  end)

  it("finds kernels behind macros, attributes and declarations", function()
    local p = d:program(INCLUDE .. [[
      #define SUM(T) kernel void sum_##T(global T *x) { \
        x[get_global_id(0)] = work_group_reduce_add(x[get_global_id(0)]); }
      SUM(int)
      SUM(float)
      #define ENTRY __kernel __attribute__((reqd_work_group_size(4, 1, 1)))
      ENTRY void fixed(global int *x);
      ENTRY void fixed(global int *x) {
        if (true) { x[get_global_id(0)] = work_group_reduce_max(x[get_global_id(0)]); }
      }
      kernel void other(
        global int *x /* { */
      #ifdef UNDEFINED
        , global int *y
      #endif
        )
      { x[get_global_id(0)] = work_group_reduce_min(x[get_global_id(0)]); }]])
    local range = { global = 4, group = 4 }
    local function run(name, dtype)
      local x = d:buffer({ 1, 2, 3, 4 }, dtype)
      p:kernel(name)(range, x)
      return x:read()
    end
    assert.same({ 10, 10, 10, 10 }, run("sum_int", "int"))
    assert.same({ 10, 10, 10, 10 }, run("sum_float", "float"))
    assert.same({ 4, 4, 4, 4 }, run("fixed", "int"))
    assert.same({ 1, 1, 1, 1 }, run("other", "int"))
  end)

  it("finds kernels behind macros of macros, of options, of defines", function()
    local p = d:program(INCLUDE .. [[
      #define ENTRY KERNEL void
      #define KERNEL kernel
      #define DECLARED kernel void declared(global int *x);
      DECLARED
      int twice(int i) { return 2 * i; }
      ENTRY of_macros(global int *x) { x[get_global_id(0)] = work_group_reduce_add(twice(1)); }
      OPTION void of_options(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }
      DEFINE void of_defines(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }
      kernel void declared(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }]],
      { options = "-DOPTION=kernel", defines = { DEFINE = "__kernel" } })
    for _, name in ipairs { "of_macros", "of_options", "of_defines", "declared" } do
      local x = d:empty("int", 3)
      p:kernel(name)({ global = 3, group = 3 }, x)
      assert.same({ 6, 6, 6 }, x:read())
    end
  end)

  it("finds kernels in branches of branches, behind macros that are many and in no order", function()
    local words, branches, ends = "", "", ""
    for i = 9, 1, -1 do words = words .. ("#define W%d %s\n"):format(i, i > 1 and "W" .. i - 1 or "kernel") end
    for _ = 1, 70 do branches, ends = branches .. "#ifndef NONE\n", ends .. "#else\n#endif\n" end
    local p = d:program(INCLUDE .. words .. branches .. [[
      W3 void few(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }
      ]] .. ends .. "kernel void k(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }\n")
    for _, name in ipairs { "few", "k" } do
      local x = d:empty("int", 3)
      p:kernel(name)({ global = 3, group = 3 }, x)
      assert.same({ 6, 6, 6 }, x:read())
    end
    helper.raises("does not build", d.program, d, INCLUDE .. "kernel void k(global int *x) {}\n#define")
  end)

  it("finds kernels whose heads end in branches of an #if", function()
    local source = INCLUDE .. [[
      int helper(int a
      #ifdef LONG
        , int b) {
      #else
        ) {
      #endif
        return a;
      }
      kernel void first(global int *x
      #ifdef LONG
        , int b) {
      #elif defined SHORT
        ) { /* never */
      #else
        ) {
      #endif
        x[get_global_id(0)] = work_group_reduce_add(1);
      }
      kernel void second(global int *x) { x[get_global_id(0)] = work_group_reduce_add(2); }]]
    for _, options in ipairs { { "" }, { "-DLONG", 1 } } do
      local p, x = d:program(source, { options = options[1] }), d:empty("int", 3)
      if options[2] then p.first({ global = 3, group = 3 }, x, 1) else p.first({ global = 3, group = 3 }, x) end
      assert.same({ 3, 3, 3 }, x:read())
      p.second({ global = 3, group = 3 }, x)
      assert.same({ 6, 6, 6 }, x:read())
    end
  end)

  it("is there in OpenCL C 1.1, which has no static functions", function()
    local built, p = pcall(d.program, d, INCLUDE .. [[
      kernel void k(global int *x) { x[get_global_id(0)] = work_group_scan_inclusive_add(1); }]],
      { options = "-cl-std=CL1.1" })
    if not built and p:find("variadic macros not supported", 1, true) then
      return pending "this compiler refuses variadic macros in OpenCL C 1.1"
    end
    assert.is_true(built, p)
    local x = d:empty("int", 3)
    p.k({ global = 3, group = 3 }, x)
    assert.same({ 1, 2, 3 }, x:read())
  end)

  --- Asserts that four work-items, each of which adds a term to the group's sum, find it.
  local function assert_sum(sum, text, options)
    local out = d:empty("int", 4)
    d:program(INCLUDE .. text, options).k({ global = 4, group = 4 }, out)
    assert.same({ sum, sum, sum, sum }, out:read())
  end

  it("does not mind what options define", function()
    assert_sum(32, [[
      #if defined GONE || D != 1
      #error the options are lost
      #endif
      kernel void k(global int *out) { out[get_global_id(0)] = work_group_reduce_add(SUM(n, s)); }]],
      { options = "-Dn=3 -Ds=5 -Dme=1 -Dx -DGONE -UGONE -DSUM(a,b)=(a+b) -DD" })
  end)

  it("does not mind what a script defines", function()
    assert_sum(12, "kernel void k(global int *out) { out[get_global_id(0)] = work_group_reduce_add(n); }",
      { defines = { n = 3, T = "int", me = 1, s = 5, x = 2, lanes = "bad" } })
  end)

  it("sits beside structs, whose sizes are asked of the compiler", function()
    local p = d:program(INCLUDE .. [[
      typedef struct { int a; float b; } Pair;
      kernel void k(global int *out, Pair pair) { out[get_global_id(0)] = work_group_reduce_add(pair.a); }]])
    local out = d:empty("int", 4)
    p.k({ global = 4, group = 4 }, out, string.pack("if", 5, 1))
    assert.equal(20, out[1])
    helper.raises("bytes", p.k, { global = 4, group = 4 }, out, string.pack("i", 5))
  end)

  it("limits a group to what local memory holds, and says so", function()
    local p = d:program(INCLUDE .. "kernel void k(global int *x) { x[0] = work_group_reduce_add(1); }")
    local info = p.k:info()
    assert.is_true(info.group_size <= d.max_group_size)
    assert.is_true(info.local_memory <= d.local_memory)
    helper.raises("exceeds", p.k, { global = 2 * info.group_size, group = 2 * info.group_size }, d:zeros("int", 1))
  end)
end)

describe("the header of work-group functions", function()
  local d, folder = helper.device(), helper.folder()
  teardown(function() os.execute("rm -r " .. folder) end)

  local function put(name, text) helper.write(folder .. "/" .. name, text) end

  it("can be included by a file of the user's", function()
    put("mine.h", INCLUDE .. "#define TOTAL(x) work_group_reduce_add(x)\n")
    local p = d:program([[
      #include "mine.h"
      kernel void k(global int *x) { x[get_global_id(0)] = TOTAL(x[get_global_id(0)]); }]], { include = { folder } })
    local x = d:buffer({ 1, 2, 3, 4 }, "int")
    p.k({ global = 4, group = 4 }, x)
    assert.same({ 10, 10, 10, 10 }, x:read())
  end)

  it("errors with the line of the file it happened in", function()
    put("wrong.h", "int fine;\nint wrong = unknown_name;\n")
    helper.raises({ "wrong.h:2", "unknown_name" }, d.program, d, INCLUDE .. [[
      #include "wrong.h"
      kernel void k(global int *x) { x[0] = 1; }]], { include = { folder } })
  end)

  it("is part of what a kept program depends on: a changed file is compiled anew", function()
    local source = INCLUDE .. [[
      #include "value.h"
      kernel void k(global int *x) { x[get_global_id(0)] = work_group_reduce_add(VALUE); }]]
    local x = d:empty("int", 4)
    for _, value in ipairs { 2, 7 } do
      put("value.h", "#define VALUE " .. value)
      d:program(source, { include = { folder } }).k({ global = 4, group = 4 }, x)
      assert.equal(4 * value, x[1])
    end
  end)

  it("says so when a file is missing or includes itself for ever", function()
    helper.raises("nowhere.h", d.program, d, INCLUDE .. [[
      #include "nowhere.h"
      kernel void k(global int *x) { x[0] = 1; }]])
    put("self.h", '#include "self.h"\n')
    helper.raises("self.h", d.program, d, INCLUDE .. [[
      #include "self.h"
      kernel void k(global int *x) { x[0] = 1; }]], { include = { folder } })
  end)
end)

describe("a device's own work-group functions", function()
  it("are not even tested below OpenCL 2.0, which has none", function()
    local script = [[
      local asked = 0
      package.loaded["clcompute.answers.known_answer"] = { verdict = function() asked = asked + 1 return "ok" end }
      local cl = require "clcompute"
      for _, d in ipairs(cl.devices()) do
        asked = 0
        d:program(%q .. "kernel void k(global int *x) { x[0] = work_group_reduce_add(1); }")
        print(d.version:match "^OpenCL ([%%d.]+)", asked)
      end]]
    local output = helper.output(script:format(INCLUDE))
    local devices = 0
    for version, asked in output:gmatch "([%d.]+)\t(%d+)" do
      devices = devices + 1
      if tonumber(version) < 2 then assert.equal("0", asked) end
    end
    assert.equal(#helper.devices(), devices)
  end)
end)
