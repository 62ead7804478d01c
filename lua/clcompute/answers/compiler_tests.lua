-- SPDX-License-Identifier: MIT
--- Known-answer tests of a device's compiler, as rows of a table. In each the kernel `test` gets a
-- buffer `out` of zeros (of `dtype`, `n` elements) and then `args`; `expected` is what `out` must hold, repeated to
-- its end. Optional fields: `options` of the build; `within`, the relative error of floating-point results;
-- `needs`, a field of the device that must be true; `from`, the lowest OpenCL version (major, minor);
-- `offered`, a feature a compiler may refuse; `consequence` and `remedy` of a wrong answer; `avoided`: the library
-- works all the same, and says so where it concerns a user's kernel.

local compiler_tests = {}

local UPDATE = "update the driver, or choose another device with $CLCOMPUTE_DEVICE"

-- One item; every operator on values the compiler cannot know.
local INTEGER = [[
kernel void test(global T *out, T a, T b) {
  T r[] = {a + b, a - b, a * b, a / b, a % b, a << 1, a >> 1, a & b, a | b, a ^ b, -(-a), ~(~b)};
  for (int i = 0; i < 12; i++) out[i] = r[i];
  out[12] = (T)1 << (sizeof(T) * 8 - 2);
  out[13] = a > b ? max(a, b) : 0;
}]]

local SIGNED = [[
kernel void test(global T *out, T a, T b) {
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a / b;
  out[4] = a % b;
  out[5] = a >> 1;
  out[6] = a < b;
}]]

local FLOATING = [[
kernel void test(global S *out, S p, S q) {
  const T a = p, b = q;
  out[0] = a + b;
  out[1] = a - b;
  out[2] = a * b;
  out[3] = a / b;
  out[4] = fma(a, b, (T)1);
  out[5] = sqrt(a + 5);
  out[6] = floor(a / b);
  out[7] = fmod(a, b);
  out[8] = fabs(b - a);
  out[9] = ldexp(a, 2);
}]]

-- The sum of 128 ones in local memory by a tree whose loop is given.
local SUM = [[
kernel void test(global int *out) {
  local int s[128];
  const uint t = get_local_id(0);
  s[t] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  %s
  if (t == 0) out[get_group_id(0)] = s[0];
}]]

local DOUBLING = [[
  for (uint k = 1; k < %s; k *= 2) {
    if ((t & (2 * k - 1)) == 0) s[t] += s[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }]]

local SUM_RANGE = { global = 256, group = 128 }

--- A loop that POCL 3.1 miscompiles; a source with such a loop gets a warning on a device that fails it.
compiler_tests.local_size_loop = {
  name = "get_local_size in a loop condition",
  source = SUM:format(DOUBLING:format("get_local_size(0)")),
  range = SUM_RANGE,
  dtype = "int",
  n = 2,
  expected = { 128 },
  avoided = true,
  consequence = "a loop with a barrier whose condition calls get_local_size computes wrong results in your kernels"
    .. " (the prebuilt ones avoid it)",
  remedy = [[hoist it: `const uint n = get_local_size(0);` before the loop, n in its condition;]]
    .. [[ or build with options = "-cl-opt-disable"]],
}

-- A barrier in a branch, a branch behind it, and no barrier up to the end of the loop. Others of that kind never end,
-- or stand in no loop.
local BRANCH = [[
kernel void test(global int *out) {
  local int sum;
  const uint t = get_local_id(0), n = get_local_size(0);
  if (t == 0) sum = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint k = n / 2; k > 0; k /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k & 5) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (t == 0) sum += 1;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = sum;
}]]

local CLOSE_BRANCH = "put a barrier behind the branch, and one at the end of the loop that it stands in; or "
local DISABLE = [[build with options = "-cl-opt-disable"]]

compiler_tests.barrier_in_branch = {
  name = "a barrier in a branch within a loop",
  source = BRANCH,
  range = { global = 32, group = 16 },
  dtype = "int",
  n = 32,
  expected = { 2 },
  avoided = true,
  consequence = "a loop that holds a barrier in a branch computes wrong results, or never ends, in your kernels"
    .. " (the prebuilt ones avoid it)",
  remedy = CLOSE_BRANCH .. DISABLE,
}

--- The loops that `clc_findsuspects` finds, in its order: the test that tells whether a device gets them wrong, what a
-- warning calls them, and what was tried and is right. `careful`: most are right; a careful device alone minds them.
compiler_tests.loops = {
  { test = compiler_tests.local_size_loop,
    what = "a call, or memory behind ||, in the condition of a loop with barriers",
    remedy = compiler_tests.local_size_loop.remedy },
  { test = compiler_tests.barrier_in_branch,
    what = "a barrier in a branch, and none up to the next branch or the end of the loop",
    remedy = CLOSE_BRANCH .. DISABLE },
  { test = compiler_tests.barrier_in_branch, what = "a loop with barriers in a branch of an if and else within a loop",
    remedy = DISABLE },
  { test = compiler_tests.barrier_in_branch, careful = true,
    what = "a barrier in a branch, or in a loop that is more than a comparison", remedy = DISABLE },
}

local HALVING = [[
  for (uint k = get_local_size(0) / 2; k > 0; k /= 2) {
    if (t < k) s[t] += s[t + k];
    barrier(CLK_LOCAL_MEM_FENCE);
  }]]

local BARRIER = [[
kernel void test(global int *out) {
  local int s[64];
  const int t = get_local_id(0);
  s[t] = get_group_id(0) * 100 + t;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = s[63 - t] + t - (int)get_group_id(0) * 100;
}]]

local BRANCHES = [[
kernel void test(global int *out, int limit) {
  const int i = get_global_id(0);
  int sum = 0;
  for (int k = 0; k < limit; k++) {
    if (k == i) continue;
    if (k > i + 8) break;
    sum += k % 2 == 0 ? k : -k;
  }
  out[i] = sum;
}]]

local ATOMICS = [[
kernel void test(global int *out) {
  local int count;
  if (get_local_id(0) == 0) count = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&count, 2);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_inc(&out[0]);
  atomic_max(&out[1], (int)get_global_id(0));
  atomic_or(&out[2], 1 << (get_global_id(0) % 16));
  if (get_local_id(0) == 0) atomic_add(&out[3], count);
}]]

local VECTORS = [[
kernel void test(global int *out, int4 a, float4 f) {
  const int4 b = a.wzyx * 2 + (int4)(1, 2, 3, 4);
  vstore4(b, 0, out);
  out[4] = (int)dot(f, (float4)(1, 10, 100, 1000));
  vstore3(convert_int3(f.yzw) + a.xyz, 0, out + 5);
  const int4 picked = select(a, b, a > (int4)2);
  out[8] = picked.x + picked.y * 10 + picked.z * 100 + picked.w * 1000;
  out[9] = any(a == (int4)3) + 2 * all(a > (int4)0);
}]]

local STRUCT = [[
typedef struct { int a; float b; short c; uchar d[2]; } Item;
kernel void test(global int *out, Item item) {
  out[0] = item.a;
  out[1] = (int)(item.b * 4);
  out[2] = item.c;
  out[3] = item.d[0] * 256 + item.d[1];
}]]

local LONG_LOOP = [[
kernel void test(global uint *out, uint n) {
  uint x = 1;
  for (uint i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
  out[0] = x;
}]]

local COLLECTIVES = [[
kernel void test(global int *out) {
  const int t = get_local_id(0);
  out += 7 * get_global_id(0);
  out[0] = work_group_reduce_add(t);
  out[1] = work_group_reduce_min(t + 5);
  out[2] = work_group_reduce_max(t);
  out[3] = work_group_all(t >= 0) != 0;
  out[4] = work_group_any(t == 99) != 0;
  out[5] = work_group_broadcast(3 * t, 7);
  out[6] = work_group_scan_inclusive_add(1) - t;
}]]

--- The device's own work-group functions: `#include <clcompute/work_group.h>` uses them where they are right.
compiler_tests.collectives = {
  name = "work-group collectives",
  source = COLLECTIVES,
  range = { global = 200, group = 100 },
  dtype = "int",
  n = 1400,
  from = { 2, 0 },
  offered = "work-group collectives",
  expected = { 4950, 5, 99, 1, 1, 21, 1 },
  avoided = true,
  consequence = "work_group_reduce_... and their like are wrong in groups that are not whole warps (here 100)",
  remedy = "#include <clcompute/work_group.h>: what it has instead is right",
}

local LARGE_ARRAY = [[
kernel void test(global int *out) {
  local int s[15000];
  const int t = get_local_id(0);
  for (int i = t; i < 15000; i += 64) s[i] = i + get_group_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = s[14999 - 64 * t] - s[63 - t] + t;
}]]

--- Arrays of 60,000 bytes in local memory, for devices that say they have less: some grant it.
compiler_tests.large_arrays = {
  name = "arrays larger than the local memory",
  source = LARGE_ARRAY,
  range = { global = 128, group = 64 },
  dtype = "int",
  n = 128,
  args = {},
  expected = (function()
    local list = {}
    for t = 0, 63 do list[t + 1] = 14999 - 64 * t - (63 - t) + t end
    return list
  end)(),
}

--- Words that a kernel has written to pinned memory of the host, in a context of the test's own.
compiler_tests.telling = {
  name = "memory of the host by its address",
  is_apart = true, -- by no kernel of the library
  operation = function(device)
    local told = require "clcompute.core.internal".count_told(device)
    if not told then return nil, "there is no room for a context of its own" end
    return { told }
  end,
  expected = { 8 },
}

-- Each group waits, for so long and no longer, for what the one that began before it publishes.
local PROGRESS = [[
kernel void test(volatile global ulong *out) {
  local int is_seen;
  if (get_local_id(0) == 0) {
    const uint k = atomic_inc((volatile global uint *)out);
    is_seen = k == 0;
    for (int tries = 0; tries < 1 << 17 && !is_seen; tries++) is_seen = out[k] == ((ulong)k << 32 | k);
    if (is_seen) out[k + 1] = (ulong)(k + 1) << 32 | (k + 1);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!is_seen) out[0] = 0;
}]]

local GROUPS = 1 << 14 -- more than a device has under way at a time

--- Groups that wait for those that began before them: OpenCL does not promise that these go on.
compiler_tests.progress = {
  name = "progress of groups that have begun",
  source = PROGRESS,
  range = { global = GROUPS * 64, group = 64 },
  dtype = "ulong",
  n = GROUPS + 1,
  args = {},
  expected = (function()
    local list = { GROUPS }
    for k = 1, GROUPS do list[k + 1] = k << 32 | k end
    return list
  end)(),
}

local list = {}

local function add(row) list[#list + 1] = row end

for _, row in ipairs {
  { "char", 64 }, { "uchar", 64 }, { "short", 1 << 14 }, { "ushort", 1 << 14 },
  { "int", 1 << 30 }, { "uint", 1 << 30 }, { "long", 1 << 62 }, { "ulong", 1 << 62 },
} do
  local dtype, high = row[1], row[2]
  add { name = "arithmetic of " .. dtype, source = "#define T " .. dtype .. "\n" .. INTEGER, range = 1,
    dtype = dtype, n = 14, args = { 11, 3 }, expected = { 14, 8, 33, 3, 2, 22, 5, 3, 11, 8, 11, 3, high, 11 } }
end

for _, dtype in ipairs { "char", "short", "int", "long" } do
  add { name = "negative numbers of " .. dtype, source = "#define T " .. dtype .. "\n" .. SIGNED, range = 1,
    dtype = dtype, n = 7, args = { -11, 3 }, expected = { -8, -14, -33, -3, -2, -6, 1 } }
end

-- S is what arguments and results are in: a half is computed with, not passed.
for _, row in ipairs {
  { "float", "float", within = 2 ^ -21, head = "" },
  { "double", "double", within = 2 ^ -50, needs = "has_double",
    head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" },
  { "half", "float", within = 2 ^ -8, needs = "has_half",
    head = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" },
} do
  add { name = "arithmetic of " .. row[1], range = 1, dtype = row[2], n = 10, args = { 11, 4 },
    source = ("%s#define T %s\n#define S %s\n%s"):format(row.head, row[1], row[2], FLOATING),
    within = row.within, needs = row.needs, expected = { 15, 7, 44, 2.75, 45, 4, 2, 3, 7, 44 } }
end

for _, row in ipairs {
  { name = "barrier and local memory", source = BARRIER, range = { global = 256, group = 64 }, dtype = "int",
    n = 256, expected = { 63 } },
  compiler_tests.local_size_loop,
  { name = "the same loop with the size hoisted", dtype = "int", n = 2, expected = { 128 }, range = SUM_RANGE,
    source = SUM:format("const uint n = get_local_size(0);" .. DOUBLING:format("n")) },
  { name = "the same loop under -cl-opt-disable", source = compiler_tests.local_size_loop.source, dtype = "int", n = 2,
    expected = { 128 }, range = SUM_RANGE, options = "-cl-opt-disable" },
  { name = "the same sum in halving form", source = SUM:format(HALVING), range = SUM_RANGE, dtype = "int", n = 2,
    expected = { 128 } },
  compiler_tests.barrier_in_branch,
  { name = "a barrier in a branch under -cl-opt-disable", source = BRANCH, range = { global = 32, group = 16 },
    dtype = "int", n = 32, expected = { 2 }, options = "-cl-opt-disable" },
  { name = "branches in a loop", source = BRANCHES, range = 8, dtype = "int", n = 8, args = { 8 },
    expected = { -4, -3, -6, -1, -8, 1, -10, 3 } },
  { name = "atomics", source = ATOMICS, range = { global = 128, group = 64 }, dtype = "int", n = 4,
    expected = { 128, 127, 65535, 256 } },
  { name = "vectors", source = VECTORS, range = 1, dtype = "int", n = 10,
    args = { { 1, 2, 3, 4 }, { 4, 3, 2, 1 } }, expected = { 9, 8, 7, 6, 1234, 4, 4, 4, 6721, 3 } },
  { name = "a struct argument", source = STRUCT, range = 1, dtype = "int", n = 4,
    args = { string.pack("i4fi2BB", 123456, 2.75, -321, 7, 9) }, expected = { 123456, 11, -321, 1801 } },
  { name = "a long loop", source = LONG_LOOP, range = 1, dtype = "uint", n = 1, args = { 100000 },
    expected = { 694140833 } },
  compiler_tests.collectives,
} do
  add(row)
end

for _, row in ipairs(list) do
  row.args = row.args or {}
  row.consequence = row.consequence or "this device computes wrong results in your kernels"
  row.remedy = row.remedy or UPDATE
end

--- The tests, in the order in which they run.
compiler_tests.list = list

return compiler_tests
