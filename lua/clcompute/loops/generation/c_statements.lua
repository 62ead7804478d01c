-- SPDX-License-Identifier: MIT

--- Statements of the tree as lines of OpenCL C, each with its line in Lua.
--
-- An output is `{ depth=, context= }` to which lines are added: `context` is that of
-- clcompute.loops.generation.c_expression, with the `origin` of the text; `has_indices`: all its integers are those of
-- clcompute.loops.generation.indices.

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local c_expression = require "clcompute.loops.generation.c_expression"
local extrema = require "clcompute.loops.generation.extrema"
local faults = require "clcompute.loops.generation.faults"
local lua_text = require("clcompute.loops.tree").lua_text
local range_checks = require "clcompute.loops.generation.range_checks"
local sharing = require "clcompute.loops.generation.sharing"
local strided_loops = require "clcompute.loops.generation.strided_loops"
local vector_loops = require "clcompute.loops.generation.vector_loops"
local walk = require("clcompute.loops.tree").walk

local c_statements = {}

-- --- helpers -------------------------------------------------------------------------------
--
-- Lua's operators as functions, where C's own differ: integers wrap round, // and % round down, an integer is compared
-- with a float by value. REAL is the type of floats.

-- Name, the helpers it calls, text.
local HELPERS = {
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
  { "nonzero", { "note" }, [[
long nonzero(long a, long site, Fault *fault) {
  if (a != 0) return a;
  note(site, 0, fault);
  return 1;
}]] },
  { "whole", { "note" }, [[
long whole(REAL a, long site, Fault *fault) { // the integer that a float is
  if (a >= -0x1p63f && a < 0x1p63f && floor(a) == a) return (long)a;
  note(site, 0, fault);
  return 0;
}]] },
  { "pass_count", {}, [[
long pass_count(long from, long to, long step) { // of a loop that may go through all integers
  if (step > 0) return from <= to ? (long)(((ulong)to - (ulong)from) / (ulong)step + 1) : 0;
  return from >= to ? (long)(((ulong)from - (ulong)to) / (0 - (ulong)step) + 1) : 0;
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
  { "rest_of", {}, [[
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
function c_statements.helpers(used)
  local wanted, lines = {}, {}
  for name in pairs(used) do need(name, wanted) end
  for _, row in ipairs(HELPERS) do
    if wanted[row[1]] then lines[#lines + 1] = row[3] .. "\n" end
  end
  return table.concat(lines)
end

local COMMENT_COLUMN = 60

local C_TYPE = { int = "long", bool = "int" }

--- The C type of what is "int", "float" or "bool".
function c_statements.type(type, context)
  return C_TYPE[type] or context.real
end

-- --- lines --------------------------------------------------------------------------------

--- The source text of a node in one line; of a loop or an `if` its head.
local function source_of(node, origin)
  local text = origin.text:sub(node.offset, node.finish)
  if node.word == "repeat" then text = "repeat" end
  if node.kind == "for" then text = text:match "^(.-%f[%w]do)%f[^%w]" or text end
  if node.kind == "if" then text = text:match "^(.-%f[%w]then)%f[^%w]" or text end
  return (text:gsub("%-%-[^\n]*", ""):gsub("%s+", " "):gsub("[\\?]+", " "))
end

--- Adds a line; what it was in Lua, if it was there, stands beside it where there is room, else above.
function c_statements.add(output, text, node)
  if output.has_indices then text = text:gsub("%f[%w_]long%f[^%w_]", "INDEX") end
  local indent = ("  "):rep(output.depth)
  local line = indent .. text
  local comment = node and node.line and ("// %d: %s"):format(node.line, source_of(node, output.context.origin))
  if comment and #line < COMMENT_COLUMN then
    line = line .. (" "):rep(COMMENT_COLUMN - #line) .. comment
  elseif comment then
    output[#output + 1] = indent .. comment
  end
  output[#output + 1] = line
end

-- --- statements ---------------------------------------------------------------------------

local add, changed = c_statements.add, ast.changed

--- Adds a block, whose head is a text and whose lines `print` adds.
function c_statements.block(output, head, print, node)
  add(output, head .. "{", node)
  output.depth = output.depth + 1
  print()
  output.depth = output.depth - 1
  add(output, "}")
end

local STATEMENTS = {}
local TOOLS = { add = add, block = c_statements.block } -- and `body`, `store`

--- Adds statements, one level further in; one that is a key of `output.instead` as the other one that is there.
function c_statements.body(nodes, output)
  output.depth = output.depth + 1
  for _, node in ipairs(nodes) do
    STATEMENTS[node.kind](output.instead and output.instead[node] or node, output)
  end
  output.depth = output.depth - 1
end

TOOLS.body = c_statements.body

--- A value as it is stored in an element of a dtype: rounded, or its low bits.
function c_statements.stored(value, dtype, context)
  local is_float = ast.is_float(dtype)
  local text = c_expression.text(value, context, is_float and "float" or nil)
  local own = is_float and context.real or "long"
  if dtype == own then return text end
  return ("(%s)(%s)"):format(dtype, text)
end

--- Adds what ends a work-item that met a fault; where others wait for it, it goes on.
function c_statements.stop(output, ...)
  local may_fail = faults.are_in({ ... }, output.context.known)
  if may_fail and not output.has_barriers then add(output, output.stop or "STOP") end
end

local stop = c_statements.stop

--- A loop that only a `break` ends.
local function print_endless(node, output)
  c_statements.block(output, "for (;;) ", function()
    if output.has_barriers and output.has_faults then add(output, "if (fault.site) break;") end
    output.depth = output.depth - 1
    c_statements.body(node.body, output)
    output.depth = output.depth + 1
  end, node)
end

--- A loop whose bounds and step may be any integers; its passes are counted.
local function print_counted(node, output)
  local id, context, step = node.variable.id, output.context, ("%d"):format(node.step)
  if node.pace then
    step = ("nonzero(%s, %d, &fault)"):format(c_expression.text(node.pace, context),
      faults.number(context, { what = "step", node = node }))
    context.helpers.nonzero = true
  end
  context.helpers.pass_count = true
  add(output, ("for (long %s = %s, %s_step = %s, %s_left = pass_count(%s, %s, %s_step); %s_left != 0; %s_left--, "
    .. "%s += %s_step) {"):format(id, c_expression.plain(node.from, context), id, step, id, id,
    c_expression.plain(node.to, context), id, id, id, id, id), node)
  if node.pace then
    output.depth = output.depth + 1
    stop(output, node)
    output.depth = output.depth - 1
  end
  c_statements.body(node.body, output)
  add(output, "}")
  if node.pace then stop(output, node) end
end

--- Whether the bounds of a loop are no sums of a call's numbers, which are small.
local function is_counted(node)
  return node.irregular ~= nil and not bounds.are_sums(node)
end

--- Looks at the subscripts of a loop's first and last pass. Where work-items wait for each other they all go on, and
-- each pass looks at its own.
local function print_range_checks(node, output)
  local list, context = range_checks.of(node), output.context
  for _, check in ipairs(list) do
    context.known[check.node] = context.known[check.node] or {}
    context.known[check.node][check.dimension] = nil -- beside this loop it may have been
  end
  if #list == 0 or output.has_barriers then return end
  local from, to = c_expression.plain(node.from, context), c_expression.plain(node.to, context)
  c_statements.block(output, ("if (%s %s %s) "):format(from, node.step > 0 and "<=" or ">=", to), function()
    for _, pass in ipairs { from, to } do
      c_statements.block(output, "", function()
        add(output, ("const long %s = %s;"):format(node.variable.id, pass))
        for _, check in ipairs(list) do
          add(output, c_expression.inside(check.node, check.dimension, context) .. ";")
        end
      end)
    end
    add(output, output.stop or "STOP")
  end)
  for _, check in ipairs(list) do context.known[check.node][check.dimension] = true end
end

--- A strip of a lane, with the places of its locals.
local function print_strip(node, output)
  local context, strip, names = output.context, node.variable.id, {}
  output.depth = output.depth + 1
  for _, variable in ipairs(node.places) do
    add(output, ("%s %s[%d];"):format(c_statements.type(variable.type, context), variable.id, node.step))
    names[variable] = ("%s[%s - %s]"):format(variable.id, strip:gsub("_strip$", ""), strip)
  end
  output.depth = output.depth - 1
  output.context = setmetatable({ names = setmetatable(names, { __index = context.names }) }, { __index = context })
  c_statements.body(node.body, output)
  output.context = context
end

local FEW = 32 -- passes, as written

--- Whether a loop has so few passes that LLVM had better unroll it: vectors of a width that it is given leave most of
-- them over, and take up to three times as long.
local function has_few_passes(node)
  local from, to = node.from, node.to
  return from.kind == "number" and to.kind == "number" and (to.value - from.value) // node.step < FEW - 1
end

local function print_for(node, output)
  if not node.is_common then print_range_checks(node, output) end
  if node.word then return print_endless(node, output) end
  local id, last = node.variable.id, node.variable.id .. "_last"
  local step, context = node.step, output.context
  local increment = step == 1 and id .. "++" or step == -1 and id .. "--"
    or ("%s %s %d"):format(id, step > 0 and "+=" or "-=", math.abs(step))
  if not is_counted(node) and vector_loops.is_one(node) then return vector_loops.print(node, output, TOOLS) end
  if node.is_independent then
    local hint = node.is_plain and not has_few_passes(node) and "VECTORS" or "INDEPENDENT"
    context.helpers[hint] = true
    add(output, hint)
  end
  if is_counted(node) then return print_counted(node, output) end
  add(output, ("for (long %s = %s, %s = %s; %s %s %s; %s) {"):format(id, c_expression.plain(node.from, context), last,
    c_expression.plain(node.to, context), id, step > 0 and "<=" or ">=", last, increment), node)
  if node.places then print_strip(node, output) else c_statements.body(node.body, output) end
  add(output, "}")
end

--- The last pass of a loop before the condition changes at which it is cut, as text; `low` and `high` are its first
-- and last pass. The limit is made as small as these before anything is added to it.
local function last_before(node, low, high, context)
  local cut, plus, minus = node.cut, "", ""
  if cut.lead.kind ~= "name" then
    local names = setmetatable({ [node.variable] = "0" }, { __index = context.names })
    local rest = c_expression.plain(cut.lead, setmetatable({ names = names }, { __index = context }))
    plus, minus = (" + (%s)"):format(rest), (" - (%s)"):format(rest)
  end
  local function clipped(least, most)
    local limit = c_expression.extremum("max_int", c_expression.text(cut.limit, context), least .. plus, context)
    return c_expression.extremum("min_int", limit, most .. plus, context) .. minus
  end
  if cut.op == ">" or cut.op == "<=" then return clipped(low .. " - 1", high) end
  return clipped(low, high .. " + 1") .. " - 1"
end

--- A loop with other bounds, which are texts.
local function between(loop, from, to)
  return changed(loop, { from = ast.node("text", { text = from, type = "int" }),
    to = ast.node("text", { text = to, type = "int" }) })
end

--- A loop in two parts, as `clcompute.loops.generation.cutting` has found them.
local function print_cut(node, output)
  local id, cut, context = node.variable.id, node.cut, output.context
  local from, to = c_expression.plain(node.from, context), c_expression.plain(node.to, context)
  local low, high, last = id .. "_low", id .. "_high", id .. "_before"
  c_statements.block(output, ("if (%s <= %s) "):format(from, to), function()
    add(output, ("const long %s = %s, %s = %s;"):format(low, from, high, to), node)
    add(output, ("const long %s = %s;"):format(last, last_before(node, low, high, context)), cut.condition)
    for _, part in ipairs { { cut.before, low, last }, { cut.from, last .. " + 1", high } } do
      local loop, first, final = table.unpack(part)
      STATEMENTS["for"](between(loop, first, final), output)
    end
  end)
end

-- A loop. What all its passes read stands before it, and is not read where there is no pass.
STATEMENTS["for"] = function(node, output)
  if node.cut then return print_cut(node, output) end
  local found = not output.context.is_wide and extrema.of(node, output.context.real)
  local tools = { add = add, block = c_statements.block,
    passes = function(from, to) print_for(between(node, from, to), output) end }
  if found then return extrema.print(node, found, output, tools) end
  if node.is_strided and strided_loops.print(node, output, tools) then return end
  if not node.common or #node.common == 0 then return print_for(node, output) end
  local context = output.context
  c_statements.block(output, ("if (%s %s %s) "):format(c_expression.plain(node.from, context),
    node.step > 0 and "<=" or ">=", c_expression.plain(node.to, context)), function()
    for _, common in ipairs(node.common) do
      local type = common.variable.type
      add(output, ("const %s %s = %s;"):format(c_statements.type(type, context), common.variable.id,
        c_expression.text(common.value, context, type)))
    end
    print_for(node, output)
  end)
end

-- A local; one that has a place elsewhere is given its value there.
STATEMENTS["local"] = function(node, output)
  local type, context = node.variable.type, output.context
  local place = c_expression.name(node.variable, context)
  local declared = place == node.variable.id and c_statements.type(type, context) .. " " or ""
  add(output, ("%s%s = %s;"):format(declared, place, c_expression.text(node.value, context, type)), node)
  stop(output, node.value)
end

function STATEMENTS.shared(node, output) sharing.print_loop(node, output, TOOLS) end

function STATEMENTS.alone(node, output) sharing.print_alone(node, output, TOOLS) end

function STATEMENTS.meeting(_, output) output.print_meeting() end

STATEMENTS["break"] = function(_, output) add(output, "break;") end

--- What reads a target's element from its place, which is looked at once; nil where the value does not read it, or may
-- fail otherwise: what fails first is what Lua comes to first.
local function at_place(target, value, context)
  local element, text = target.array.element, lua_text.expression(target)
  local own = target.type == "int" and "long" or context.real
  local function is_it(node) return node.array == target.array and lua_text.expression(node) == text end
  local reads, may_fail = false, false
  walk.node(value, function(node)
    if is_it(node) then
      reads = true
      return false
    end
    may_fail = may_fail or faults.is_one(node, context.known)
  end)
  if not reads or may_fail then return nil end
  return setmetatable({ access = function(node)
    if is_it(node) then return element == own and "(*place)" or ("((%s)*place)"):format(own) end
    return context.access and context.access(node)
  end }, { __index = context })
end

--- Adds an assignment to an element where it, or the value, may fail: nothing is stored then.
local function store_checked(target, value, output, node)
  local context, element = output.context, target.array.element
  local function add_place()
    add(output, ("global %s *const place = &%s;"):format(element, c_expression.element(target, context)))
  end
  local function add_value(own)
    add(output, ("const %s value = %s;"):format(element, c_statements.stored(value, element, own)))
  end
  c_statements.block(output, "", function()
    local own = at_place(target, value, context)
    if own then add_place() end
    add_value(own or context)
    if not own then add_place() end
    stop(output, target, value)
    add(output, output.has_barriers and "if (!fault.site) *place = value;" or "*place = value;")
  end, node)
end

--- Adds the assignment of a value to a local or an element; `node` is the statement in Lua.
function c_statements.store(target, value, output, node)
  local context = output.context
  if target.kind == "index" and faults.are_in({ target, value }, context.known) then
    store_checked(target, value, output, node)
  elseif target.kind == "index" then
    add(output, ("%s = %s;"):format(c_expression.element(target, context),
      c_statements.stored(value, target.array.element, context)), node)
  else
    add(output, ("%s = %s;"):format(c_expression.name(target.variable, context),
      c_expression.text(value, context, target.variable.type)), node)
    stop(output, value)
  end
end

TOOLS.store = c_statements.store

--- Adds a sum to an element in one step.
local function add_atomically(node, output)
  local context, target, element = output.context, node.target, node.target.array.element
  c_statements.block(output, "", function()
    add(output, ("const %s value = %s;"):format(element, c_statements.stored(node.atomic, element, context)))
    add(output, ("volatile global %s *const place = &%s;"):format(element, c_expression.element(target, context)))
    stop(output, target, node.atomic)
    local is_long = element == "long" or element == "ulong"
    context.helpers.int64 = context.helpers.int64 or is_long or nil
    add(output, is_long and "atom_add(place, value);" or "atomic_add(place, value);")
  end, node)
end

--- An assignment, or what a kernel has in its place.
function STATEMENTS.assign(node, output)
  local print = output.printers and output.printers[node]
  if print then return print() end
  if node.atomic then return add_atomically(node, output) end
  c_statements.store(node.target, node.value, output, node)
end

--- An `if` whose conditions may fail: each is evaluated before it is asked.
local function print_checked_if(node, output, first)
  local arm = node.arms[first]
  c_statements.block(output, "", function()
    add(output, ("const int holds = %s;"):format(c_expression.condition(arm.condition, output.context)))
    stop(output, arm.condition)
    add(output, "if (holds) {")
    c_statements.body(arm.body, output)
    if node.arms[first + 1] or node.otherwise then
      add(output, "} else {")
      if node.arms[first + 1] then
        output.depth = output.depth + 1
        print_checked_if(node, output, first + 1)
        output.depth = output.depth - 1
      else
        c_statements.body(node.otherwise, output)
      end
    end
    add(output, "}")
  end, first == 1 and node or nil)
end

local function may_fail(node)
  for _, arm in ipairs(node.arms) do
    if faults.are_in { arm.condition } then return true end
  end
  return false
end

STATEMENTS["do"] = function(node, output)
  add(output, "{")
  c_statements.body(node.body, output)
  add(output, "}")
end

STATEMENTS["if"] = function(node, output)
  if may_fail(node) then return print_checked_if(node, output, 1) end
  for i, arm in ipairs(node.arms) do
    local condition = c_expression.condition(arm.condition, output.context)
    add(output, ("%sif (%s) {"):format(i > 1 and "} else " or "", condition), i == 1 and node or nil)
    c_statements.body(arm.body, output)
  end
  if node.otherwise then
    add(output, "} else {")
    c_statements.body(node.otherwise, output)
  end
  add(output, "}")
end

return c_statements
