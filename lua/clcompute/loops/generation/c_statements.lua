-- SPDX-License-Identifier: MIT

--- Statements of the tree as lines of OpenCL C, each with its line in Lua.
--
-- An output is `{ depth=, context= }` to which lines are added: `context` is that of
-- clcompute.loops.generation.c_expression, with the `origin` of the text; `has_indices`: all its integers are those of
-- clcompute.loops.generation.indices.

local c_expression = require "clcompute.loops.generation.c_expression"

local c_statements = {}

-- --- helpers -------------------------------------------------------------------------------
--
-- Lua's operators as functions, where C's own differ: integers wrap round, // and % round down, an integer is compared
-- with a float by value. REAL is the type of floats.

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

local add = c_statements.add

--- Adds a block, whose head is a text and whose lines `print` adds.
function c_statements.block(output, head, print, node)
  add(output, head .. "{", node)
  output.depth = output.depth + 1
  print()
  output.depth = output.depth - 1
  add(output, "}")
end

local STATEMENTS = {}

--- Adds statements, one level further in; one that is a key of `output.instead` as the other one that is there.
function c_statements.body(nodes, output)
  output.depth = output.depth + 1
  for _, node in ipairs(nodes) do
    STATEMENTS[node.kind](output.instead and output.instead[node] or node, output)
  end
  output.depth = output.depth - 1
end

--- A value as it is stored in an element of a dtype: rounded, or its low bits.
local function stored(value, dtype, context)
  local is_float = dtype == "float" or dtype == "double"
  local text = c_expression.text(value, context, is_float and "float" or nil)
  local own = is_float and context.real or "long"
  if dtype == own then return text end
  return ("(%s)(%s)"):format(dtype, text)
end

local function print_for(node, output)
  local id, last = node.variable.id, node.variable.id .. "_last"
  local step, context = node.step, output.context
  local increment = step == 1 and id .. "++" or step == -1 and id .. "--"
    or ("%s %s %d"):format(id, step > 0 and "+=" or "-=", math.abs(step))
  if node.is_independent then
    local hint = node.is_plain and "VECTORS" or "INDEPENDENT"
    context.helpers[hint] = true
    add(output, hint)
  end
  add(output, ("for (long %s = %s, %s = %s; %s %s %s; %s) {"):format(id, c_expression.plain(node.from, context), last,
    c_expression.plain(node.to, context), id, step > 0 and "<=" or ">=", last, increment), node)
  c_statements.body(node.body, output)
  add(output, "}")
end

-- A loop. What all its passes read stands before it, and is not read where there is no pass.
STATEMENTS["for"] = function(node, output)
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
end

--- Adds the assignment of a value to a local or an element; `node` is the statement in Lua.
function c_statements.store(target, value, output, node)
  local context = output.context
  if target.kind == "index" then
    add(output, ("%s = %s;"):format(c_expression.element(target, context),
      stored(value, target.array.element, context)), node)
  else
    add(output, ("%s = %s;"):format(c_expression.name(target.variable, context),
      c_expression.text(value, context, target.variable.type)), node)
  end
end

function STATEMENTS.assign(node, output)
  c_statements.store(node.target, node.value, output, node)
end

STATEMENTS["if"] = function(node, output)
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
