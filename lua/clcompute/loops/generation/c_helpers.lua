-- SPDX-License-Identifier: MIT

--- The functions in OpenCL C that kernels call: Lua's operators where C's own differ, as integers wrap round, // and %
-- round down, and an integer is compared with a float by value; the same of vectors; how groups wait for each other.
-- REAL is the type of floats.

local c_helpers = {}

--- A function that stores the lanes of eight vectors, each lane's numbers side by side.
local function transposed_store(name, vector, element, needed)
  return { name, needed, (([[
// The numbers of each lane side by side: those of lane r from at + r * pitch on.
void #(VS a, VS b, VS c, VS d, VS e, VS f, VS g, VS h, global T *at, long pitch) {
#define ONE_OF_TWO(a, b) (VS)(a.s0, b.s0, a.s2, b.s2, a.s4, b.s4, a.s6, b.s6)
#define OTHER_OF_TWO(a, b) (VS)(a.s1, b.s1, a.s3, b.s3, a.s5, b.s5, a.s7, b.s7)
#define ONE_OF_FOUR(a, c) (VS)(a.s01, c.s01, a.s45, c.s45)
#define OTHER_OF_FOUR(a, c) (VS)(a.s23, c.s23, a.s67, c.s67)
  const VS ab = ONE_OF_TWO(a, b), ba = OTHER_OF_TWO(a, b), cd = ONE_OF_TWO(c, d), dc = OTHER_OF_TWO(c, d);
  const VS ef = ONE_OF_TWO(e, f), fe = OTHER_OF_TWO(e, f), gh = ONE_OF_TWO(g, h), hg = OTHER_OF_TWO(g, h);
  const VS low[4] = {ONE_OF_FOUR(ab, cd), ONE_OF_FOUR(ba, dc), OTHER_OF_FOUR(ab, cd), OTHER_OF_FOUR(ba, dc)};
  const VS high[4] = {ONE_OF_FOUR(ef, gh), ONE_OF_FOUR(fe, hg), OTHER_OF_FOUR(ef, gh), OTHER_OF_FOUR(fe, hg)};
  vstore8((VS)(low[0].lo, high[0].lo), 0, at);
  vstore8((VS)(low[1].lo, high[1].lo), 0, at + pitch);
  vstore8((VS)(low[2].lo, high[2].lo), 0, at + 2 * pitch);
  vstore8((VS)(low[3].lo, high[3].lo), 0, at + 3 * pitch);
  vstore8((VS)(low[0].hi, high[0].hi), 0, at + 4 * pitch);
  vstore8((VS)(low[1].hi, high[1].hi), 0, at + 5 * pitch);
  vstore8((VS)(low[2].hi, high[2].hi), 0, at + 6 * pitch);
  vstore8((VS)(low[3].hi, high[3].hi), 0, at + 7 * pitch);
}]]):gsub("VS", vector):gsub("%f[%w]T%f[%W]", element):gsub("#%(", name .. "(")) }
end

-- Name, the helpers it calls, text.
local HELPERS = {
  { "ROUNDING", {}, [[
#if defined(__has_builtin) && defined(__SSE4_1__) // an instruction, where POCL's functions have twenty
#if __has_builtin(__builtin_elementwise_trunc)
#define floor __builtin_elementwise_floor
#define ceil __builtin_elementwise_ceil
#define trunc __builtin_elementwise_trunc
#endif
#endif]] },
  { "Fault", {}, [[
typedef struct { long site, value; } Fault; // where Lua raises an error; site 0: nowhere
void report(const Fault *fault, volatile global long *faults) { // the first one stays
  if (atomic_cmpxchg((volatile global int *)faults, 0, (int)fault->site) == 0) faults[1] = fault->value;
}
#define STOP if (fault.site) { report(&fault, faults); return; }]] },
  { "int64", {}, "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable" },
  { "note", { "Fault" }, [[
void note(long site, long value, Fault *fault) {
  if (!fault->site) fault->site = site, fault->value = value;
}]] },
  { "inside", { "note" }, [[
long inside(long i, long size, long site, Fault *fault) { // the place of an index from 0, if it is in an array
  const ulong place = (ulong)i - BASE;
  if (place < (ulong)size) return (long)place;
  note(site, i, fault);
  return 0;
}]] },
  { "INSIDE", { "note" }, [[
#define INSIDE(i, size, site) ({ /* the same; where it is in none the work-item ends at once, which costs less */ \
  const long index_ = (i); \
  const ulong place_ = (ulong)index_ - BASE; \
  if (place_ >= (ulong)(size)) { note(site, index_, &fault); report(&fault, faults); return; } \
  (long)place_; })]] },
  { "nonzero", { "note" }, [[
long nonzero(long a, long site, Fault *fault) {
  if (a != 0) return a;
  note(site, 0, fault);
  return 1;
}]] },
  { "whole", { "note", "ROUNDING" }, [[
long whole(REAL a, long site, Fault *fault) { // the integer that a float is
  if (a >= -0x1p63f && a < 0x1p63f && floor(a) == a) return (long)a;
  note(site, 0, fault);
  return 0;
}]] },
  { "nearest_int", {}, [[
long nearest_int(REAL a) { // of a whole float, as convert_long_sat: 0 of NaN, the nearest beyond 64 bits
  if (a >= -0x1p63f && a < 0x1p63f) return (long)a;
  return a != a ? 0 : a < 0 ? LONG_MIN : LONG_MAX;
}]] },
  { "pass_count", {}, [[
long pass_count(long from, long to, long step) { // of a loop that may go through all integers
  if (step > 0) return from <= to ? (long)(((ulong)to - (ulong)from) / (ulong)step + 1) : 0;
  return from >= to ? (long)(((ulong)from - (ulong)to) / (0 - (ulong)step) + 1) : 0;
}]] },
  { "last_pass", { "pass_count" }, [[
long last_pass(long from, long to, long step) { // of a loop that has one
  return (long)((ulong)from + ((ulong)pass_count(from, to, step) - 1) * (ulong)step);
}]] },
  { "add_int", {}, "long add_int(long a, long b) { return (long)((ulong)a + (ulong)b); }" },
  { "sub_int", {}, "long sub_int(long a, long b) { return (long)((ulong)a - (ulong)b); }" },
  { "mul_int", {}, "long mul_int(long a, long b) { return (long)((ulong)a * (ulong)b); }" },
  { "neg_int", {}, "long neg_int(long a) { return (long)(0 - (ulong)a); }" },
  { "abs_int", {}, [[
long abs_int(long a) { // C's own has no result for the least integer, which stays itself
  const ulong sign = a < 0 ? ~(ulong)0 : 0;
  return (long)(((ulong)a ^ sign) - sign);
}]] },
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
  -- By literals above 0: compilers make vectors of these, and slow ones of the remainder of a signed division.
  { "floor_div_by", {}, [[
long floor_div_by(long a, long b) {
  const ulong sign = a < 0 ? ~(ulong)0 : 0;
  return (long)((((ulong)a ^ sign) / (ulong)b) ^ sign);
}]] },
  { "mod_by", { "floor_div_by" },
    "long mod_by(long a, long b) { return (long)((ulong)a - (ulong)floor_div_by(a, b) * (ulong)b); }" },
  { "fmod_int", {}, "long fmod_int(long a, long b) { return b == -1 ? 0 : a % b; }" },
  { "rest_of", { "ROUNDING" }, [[
REAL rest_of(REAL a, REAL b) { // fmod: the quotient is right or one too large, so what is left is exact
  const REAL quotient = trunc(a / b), left = fma(-quotient, b, a), more = left + copysign(b, a);
  if (!(fabs(quotient) < 0x1p22f & fabs(b) < INFINITY)) return fmod(a, b);
  return copysign((left != 0) & ((left < 0) != (a < 0)) ? more : left, a);
}]] },
  { "mod_real", { "rest_of" }, [[
REAL mod_real(REAL a, REAL b) {
  const REAL r = rest_of(a, b);
  return ((r > 0) & (b < 0)) | ((r < 0) & (b > 0)) ? r + b : r;
}]] },
  { "pow_real", {}, "REAL pow_real(REAL a, REAL b) { return b == 2 ? a * a : pow(a, b); }" },
  { "log_of", {}, "REAL log_of(REAL a, REAL b) { return b == 2 ? log2(a) : b == 10 ? log10(a) : log(a) / log(b); }" },
  -- Without branches: Oclgrind gets vectors of nested ones wrong.
  { "shift_left", {}, [[
long shift_left(long a, long n) {
  const ulong bits = n <= -64 || n >= 64 ? 0 : (ulong)a, back = 0 - (ulong)n;
  return (long)(n >= 0 ? bits << n : bits >> back);
}]] },
  { "shift_right", {}, [[
long shift_right(long a, long n) {
  const ulong bits = n <= -64 || n >= 64 ? 0 : (ulong)a, back = 0 - (ulong)n;
  return (long)(n >= 0 ? bits >> n : bits << back);
}]] },
  { "LINE", {}, "#define LINE 16 // ints: groups write cache lines of their own" },
  { "take_piece", { "LINE" }, [[
// Groups of one work-item. progress: how many pieces are done, how many groups have ended, and where each piece of a
// loop was taken last: the number behind the loop's first piece. Counts may go round, as they are never far apart.
int is_before(int done, uint base) { return (int)((uint)done - base) < 0; }
int take_piece(volatile global int *progress, int pieces, uint base) { // -1: all of the loop are taken
  const int own = (int)(get_group_id(0) * (size_t)pieces / get_num_groups(0)); // what it had before, in its cache
  for (int i = 0; i < pieces; i++) {
    const int piece = own + i < pieces ? own + i : own + i - pieces;
    volatile global int *const taken = progress + (2 + piece) * LINE;
    const int before = *taken; // of an earlier loop if this one is not done now
    const int is_free = before != (int)(base + 1) && is_before(*progress, base + (uint)pieces);
    if (is_free && atomic_cmpxchg(taken, before, (int)(base + 1)) == before) return piece;
  }
  return -1;
}
void await_pieces(volatile global int *progress, uint base) { // until all pieces before this one are done
  while (is_before(*progress, base)) {}
  atomic_or(progress, 0); // what they have stored is read after this
}
int will_never(volatile global int *progress, uint base, volatile global long *faults) { // after a fault
  while (is_before(*progress, base)) // a fault in this loop is no reason
    if (*faults != 0 && is_before(atomic_or(progress, 0), base)) return 1;
  atomic_or(progress, 0);
  return 0;
}
void end_piece(volatile global int *progress) { atomic_inc(progress); }
void end_pieces(volatile global int *progress, int most) { // the last one prepares the next launch
  if (atomic_inc(progress + LINE) < (int)get_num_groups(0) - 1) return;
  for (int i = 0; i < 2 + most * (int)get_num_groups(0); i++) progress[i * LINE] = 0;
}
int pieces_of(long passes, int least, int each) { // of a loop: so many for each group, but none that is small
  const long most = passes / least, wanted = (long)get_num_groups(0) * each;
  return most > 1 && wanted > 1 ? (int)min(most, wanted) : passes > 0;
}]] },
  { "begin_block", { "LINE" }, [[
// Groups of one work-item. progress: how many blocks were begun, and have ended; of each, how many tiles are done.
int begin_block(volatile global int *progress) { return atomic_inc(progress); }
void await_block(volatile global int *progress, int block, int tile) { // until the block before has done so many tiles
  volatile global int *const before = progress + block * LINE;
  if (block == 0) return;
  while (*before < tile) {}
  atomic_or(before, 0); // what that block has stored is read after this
}
void end_tile(volatile global int *progress, int block) { atomic_inc(progress + (block + 1) * LINE); }
void end_block(volatile global int *progress) { // the last one prepares the next launch
  const int count = (int)get_num_groups(0);
  if (atomic_inc(progress + 1) < count - 1) return;
  for (int block = 0; block <= count; block++) progress[block * LINE] = 0;
  progress[1] = 0;
}]] },
  { "passes", {}, [[
long passes(long from, long to, long step) { // of a loop
  if (step > 0) return from <= to ? (to - from) / step + 1 : 0;
  return from >= to ? (from - to) / -step + 1 : 0;
}]] },
  { "rows_of", {}, [[
// Work-items in rows: how many for so many passes, each of which has at most so many itself.
uint rows_of(long slices, long passes, long inner) {
  uint columns = 32;
  while (columns > 1 && columns / 2 >= inner) columns /= 2;
  uint rows = max((uint)slices / columns, 1u);
  while (rows > 1 && rows / 2 >= passes) rows /= 2;
  while ((uint)slices % rows != 0) rows--; // of some groups, which may be any number
  return rows;
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
  { "MANY_VECTORS", { "VECTORS" }, [[
// Two times one vector, as jumps take as long as a short pass.
#define MANY_VECTORS VECTORS _Pragma("clang loop unroll_count(2)")]] },
  { "VECTORS_2", { "VECTORS" }, [[
#define VECTORS_2 INDEPENDENT _Pragma("clang loop vectorize_width(VECTOR) interleave_count(2)")]] },
  { "VECTORS_4", { "VECTORS" }, [[
#define VECTORS_4 INDEPENDENT _Pragma("clang loop vectorize_width(VECTOR) interleave_count(4)")]] },
  { "LEFT_OVER", { "VECTORS" }, [[
#ifdef __AVX512F__ // one vector, with a mask
#define LEFT_OVER INDEPENDENT _Pragma("clang loop vectorize_width(VECTOR) vectorize_predicate(enable)")
#else
#define LEFT_OVER VECTORS
#endif]] },
  { "REPEATED", {}, [[
// LLVM does so unasked where a pass may not end the work-item.
#define REPEATED _Pragma("clang loop unroll_count(4)")]] },
  { "EVERY_OTHER", {}, [[
#ifdef ONE_BY_ONE // of a simulator, which tells that others write what lies between
#define EVERY_OTHER(p) ((p)[0], (p)[2], (p)[4], (p)[6], (p)[8], (p)[10], (p)[12], (p)[14])
#else
#define EVERY_OTHER(p) (vload8(0, p).even, vload8(0, (p) + 7).odd)
#endif
#define STORE_EVERY_OTHER(v, p) (p)[0] = v.s0, (p)[2] = v.s1, (p)[4] = v.s2, (p)[6] = v.s3, \
  (p)[8] = v.s4, (p)[10] = v.s5, (p)[12] = v.s6, (p)[14] = v.s7]] },
  { "REORDER", {}, [[
#if LANES == 1 && __clang_major__ >= 11 // a processor's work-item may have several sums, the lanes of a vector
#define REORDER _Pragma("clang fp reassociate(on)")
#else
#define REORDER
#endif]] },
  { "add_real", { "REORDER" }, "REAL add_real(REAL a, REAL b) { REORDER return a + b; }" },
  { "sub_real", { "REORDER" }, "REAL sub_real(REAL a, REAL b) { REORDER return a - b; }" },
  { "mul_real", { "REORDER" }, "REAL mul_real(REAL a, REAL b) { REORDER return a * b; }" },
  { "shift_down", {}, "long shift_down(long a, int bits) { return a >> bits; } // by a power of two" },
  { "low_bits", {}, "long low_bits(long a, long mask) { return a & mask; }" },
  { "choose_int", {}, "long choose_int(int holds, long a, long b) { return holds ? a : b; } // both are computed" },
  { "choose_real", {}, "REAL choose_real(int holds, REAL a, REAL b) { return holds ? a : b; } // both are computed" },
  { "max_int", {}, "long max_int(long a, long b) { return a < b ? b : a; }" },
  { "min_int", {}, "long min_int(long a, long b) { return b < a ? b : a; }" },
  { "max_real", {}, "REAL max_real(REAL a, REAL b) { return a < b ? b : a; }" },
  { "min_real", {}, "REAL min_real(REAL a, REAL b) { return b < a ? b : a; }" },
  { "REALS", {}, [[
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define REALS JOIN(REAL, 8)]] },
  { "add_ints", {}, "long8 add_ints(long8 a, long8 b) { return as_long8(as_ulong8(a) + as_ulong8(b)); }" },
  { "sub_ints", {}, "long8 sub_ints(long8 a, long8 b) { return as_long8(as_ulong8(a) - as_ulong8(b)); }" },
  { "neg_ints", {}, "long8 neg_ints(long8 a) { return as_long8((ulong8)0 - as_ulong8(a)); }" },
  { "mul_ints", {}, "long8 mul_ints(long8 a, long8 b) { return as_long8(as_ulong8(a) * as_ulong8(b)); }" },
  { "choose_ints", {}, "#define choose_ints(holds, a, b) (convert_long8(holds) ? (long8)(a) : (long8)(b))" },
  { "choose_reals", { "REALS" }, [[
#define mask_for_double convert_long8
#define mask_for_float convert_int8
#define choose_reals(holds, a, b) (JOIN(mask_for_, REAL)(holds) ? (REALS)(a) : (REALS)(b))]] },
  { "max_ints", {}, "long8 max_ints(long8 a, long8 b) { return max(a, b); }" },
  { "min_ints", {}, "long8 min_ints(long8 a, long8 b) { return min(a, b); }" },
  { "max_reals", { "REALS" }, "REALS max_reals(REALS a, REALS b) { return a < b ? b : a; }" },
  { "min_reals", { "REALS" }, "REALS min_reals(REALS a, REALS b) { return b < a ? b : a; }" },
  transposed_store("store_ints", "long8", "long", {}), transposed_store("store_reals", "REALS", "REAL", { "REALS" }),
  -- e^x and the natural logarithm without branches, so that passes may be lanes of vectors: e^x is 2^n times a Taylor
  -- series of what is left of x; the logarithm of m 2^n, m around 1, is a series in (m - 1) / (m + 1).
  { "exp_double", {}, [[
double exp_double(double x) {
#pragma OPENCL FP_CONTRACT ON // its last digits are none of Lua's in any case
  x = x < -746 ? -746 : x > 710 ? 710 : x;
  const double shifted = x * 1.4426950408889634 + 0x1.8p52, n = shifted - 0x1.8p52;
  const double r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10;
  double p = 1.6059043836821613e-10; p = p * r + 2.08767569878681e-09; p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07; p = p * r + 2.7557319223985893e-06; p = p * r + 2.48015873015873e-05;
  p = p * r + 0.0001984126984126984; p = p * r + 0.001388888888888889; p = p * r + 0.008333333333333333;
  p = p * r + 0.041666666666666664; p = p * r + 0.16666666666666666; p = p * r + 0.5;
  p = 1 + (r + r * r * p);
  const long whole = as_long(shifted) - as_long(0x1.8p52), part = whole >> 1;
  return p * as_double((part + 1023) << 52) * as_double((whole - part + 1023) << 52);
}]] },
  { "exp_float", {}, [[
float exp_float(float x) {
  x = x < -105 ? -105 : x > 89 ? 89 : x;
  const float shifted = x * 1.44269504f + 0x1.8p23f, n = shifted - 0x1.8p23f;
  const float r = (x - n * 0.693145752f) - n * 1.42860682e-06f;
  float p = 0.000198412698f; p = p * r + 0.00138888889f; p = p * r + 0.00833333333f; p = p * r + 0.0416666667f;
  p = p * r + 0.166666667f; p = p * r + 0.5f;
  p = 1 + (r + r * r * p);
  const int whole = as_int(shifted) - as_int(0x1.8p23f), part = whole >> 1;
  return p * as_float((part + 127) << 23) * as_float((whole - part + 127) << 23);
}]] },
  { "log_double", {}, [[
double log_double(double x) {
#pragma OPENCL FP_CONTRACT ON // its last digits are none of Lua's in any case
  const int is_small = x < 0x1p-1022;
  const double scaled = is_small ? x * 0x1p54 : x;
  const long bits = as_long(scaled), n = (bits - as_long(0x1.6a09e667f3bcdp-1)) >> 52;
  const double m = as_double(bits - (n << 52)), f = m - 1, s = f / (2 + f), z = s * s;
  double p = 0.047619047619047616; p = p * z + 0.05263157894736842; p = p * z + 0.058823529411764705;
  p = p * z + 0.06666666666666667; p = p * z + 0.07692307692307693; p = p * z + 0.09090909090909091;
  p = p * z + 0.1111111111111111; p = p * z + 0.14285714285714285; p = p * z + 0.2;
  p = p * z + 0.3333333333333333;
  const double e = (double)(is_small ? n - 54 : n);
  const double log = e * 0.6931471803691238 + (2 * s + (2 * s * (z * p) + e * 1.9082149292705877e-10));
  return x > 0 ? x < INFINITY ? log : x : x == 0 ? -INFINITY : NAN;
}]] },
  { "log_float", {}, [[
float log_float(float x) {
  const int is_small = x < 0x1p-126f;
  const float scaled = is_small ? x * 0x1p24f : x;
  const int bits = as_int(scaled), n = (bits - as_int(0x1.6a09e6p-1f)) >> 23;
  const float m = as_float(bits - (n << 23)), f = m - 1, s = f / (2 + f), z = s * s;
  float p = 0.111111111f; p = p * z + 0.142857143f; p = p * z + 0.2f; p = p * z + 0.333333333f;
  const float e = (float)(is_small ? n - 24 : n);
  const float log = e * 0.693145752f + (2 * s + (2 * s * (z * p) + e * 1.42860682e-06f));
  return x > 0 ? x < INFINITY ? log : x : x == 0 ? -INFINITY : NAN;
}]] },
  { "eq_int_real", {}, [[
int eq_int_real(long i, REAL x) { return x == (REAL)i && x < 0x1p63f && (long)x == i; }]] },
  { "lt_int_real", { "ROUNDING" }, [[
int lt_int_real(long i, REAL x) { // i < x
  if (x >= 0x1p63f) return 1;
  return x > -0x1p63f && i < (long)ceil(x);
}]] },
  { "le_int_real", { "ROUNDING" }, [[
int le_int_real(long i, REAL x) { // i <= x
  if (x >= 0x1p63f) return 1;
  return x >= -0x1p63f && i <= (long)floor(x);
}]] },
  { "lt_real_int", { "ROUNDING" }, [[
int lt_real_int(REAL x, long i) { // x < i
  if (x >= 0x1p63f) return 0;
  return x >= -0x1p63f ? (long)floor(x) < i : x < 0;
}]] },
  { "le_real_int", { "ROUNDING" }, [[
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
