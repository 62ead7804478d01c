-- SPDX-License-Identifier: MIT

--- Lua's operators as functions of OpenCL C, where C's own differ: integers wrap round, // and % round down, an
-- integer is compared with a float by value. REAL is the type of floats.
-- @module clcompute.loops.generation.c_helpers

local c_helpers = {}

-- Name, the helpers it calls, text.
local HELPERS = {
  { "add_int", {}, "long add_int(long a, long b) { return (long)((ulong)a + (ulong)b); }" },
  { "sub_int", {}, "long sub_int(long a, long b) { return (long)((ulong)a - (ulong)b); }" },
  { "mul_int", {}, "long mul_int(long a, long b) { return (long)((ulong)a * (ulong)b); }" },
  { "neg_int", {}, "long neg_int(long a) { return (long)(0 - (ulong)a); }" },
  { "abs_int", {}, "long abs_int(long a) { return (long)abs(a); }" },
  { "floor_div_int", { "neg_int" }, [[
long floor_div_int(long a, long b) {
  if (b == -1) return neg_int(a);
  const long q = a / b;
  return q * b != a && (a ^ b) < 0 ? q - 1 : q;
}]] },
  { "mod_int", {}, [[
long mod_int(long a, long b) {
  if (b == -1) return 0;
  const long r = a % b;
  return r != 0 && (r ^ b) < 0 ? r + b : r;
}]] },
  { "fmod_int", {}, "long fmod_int(long a, long b) { return b == -1 ? 0 : a % b; }" },
  { "mod_real", {}, [[
REAL mod_real(REAL a, REAL b) {
  const REAL r = fmod(a, b);
  return (r > 0 ? b < 0 : r < 0 && b > 0) ? r + b : r;
}]] },
  { "pow_real", {}, "REAL pow_real(REAL a, REAL b) { return b == 2 ? a * a : pow(a, b); }" },
  { "shift_left", {}, [[
long shift_left(long a, long n) {
  if (n <= -64 || n >= 64) return 0;
  return (long)(n >= 0 ? (ulong)a << n : (ulong)a >> -n);
}]] },
  { "shift_right", { "shift_left" }, [[
long shift_right(long a, long n) { return n <= -64 || n >= 64 ? 0 : shift_left(a, -n); }]] },
  { "passes", {}, [[
long passes(long from, long to, long step) { // of a loop
  if (step > 0) return from <= to ? (to - from) / step + 1 : 0;
  return from >= to ? (from - to) / -step + 1 : 0;
}]] },
  { "INDEPENDENT", {}, [[
#if __clang_major__ >= 13 // of a loop: no pass depends on another one
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT // older ones read also what a condition in the loop guards
#endif]] },
  { "VECTORS", { "INDEPENDENT" }, [[
// One vector at a time, so that few passes are left over.
#define VECTORS INDEPENDENT _Pragma("clang loop vectorize_width(VECTOR) interleave_count(1)")]] },
  { "REORDER", {}, [[
#if LANES == 1 && __clang_major__ >= 11 // a processor's work-item may have several sums, the lanes of a vector
#define REORDER _Pragma("clang fp reassociate(on)")
#else
#define REORDER
#endif]] },
  { "add_real", { "REORDER" }, "REAL add_real(REAL a, REAL b) { REORDER return a + b; }" },
  { "sub_real", { "REORDER" }, "REAL sub_real(REAL a, REAL b) { REORDER return a - b; }" },
  { "mul_real", { "REORDER" }, "REAL mul_real(REAL a, REAL b) { REORDER return a * b; }" },
  { "max_int", {}, "long max_int(long a, long b) { return a < b ? b : a; }" },
  { "min_int", {}, "long min_int(long a, long b) { return b < a ? b : a; }" },
  { "max_real", {}, "REAL max_real(REAL a, REAL b) { return a < b ? b : a; }" },
  { "min_real", {}, "REAL min_real(REAL a, REAL b) { return b < a ? b : a; }" },
  { "eq_int_real", {}, [[
int eq_int_real(long i, REAL x) { return x == (REAL)i && x < 0x1p63f && (long)x == i; }]] },
  { "lt_int_real", {}, [[
int lt_int_real(long i, REAL x) { // i < x
  if (x >= 0x1p63f) return 1;
  return x > -0x1p63f && i < (long)ceil(x);
}]] },
  { "le_int_real", {}, [[
int le_int_real(long i, REAL x) { // i <= x
  if (x >= 0x1p63f) return 1;
  return x >= -0x1p63f && i <= (long)floor(x);
}]] },
  { "lt_real_int", {}, [[
int lt_real_int(REAL x, long i) { // x < i
  if (x >= 0x1p63f) return 0;
  return x >= -0x1p63f ? (long)floor(x) < i : x < 0;
}]] },
  { "le_real_int", {}, [[
int le_real_int(REAL x, long i) { // x <= i
  if (x >= 0x1p63f) return 0;
  return x > -0x1p63f ? (long)ceil(x) <= i : x < 0;
}]] },
}

local by_name = {}
for _, row in ipairs(HELPERS) do by_name[row[1]] = row end

local function need(name, wanted)
  wanted[name] = true
  for _, called in ipairs(by_name[name][2]) do need(called, wanted) end
end

--- The text of those helpers that are used, and of the helpers that these call.
-- @tparam table used names as keys
function c_helpers.text(used)
  local wanted, lines = {}, {}
  for name in pairs(used) do need(name, wanted) end
  for _, row in ipairs(HELPERS) do
    if wanted[row[1]] then lines[#lines + 1] = row[3] .. "\n" end
  end
  return table.concat(lines)
end

return c_helpers
