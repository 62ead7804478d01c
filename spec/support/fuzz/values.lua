-- SPDX-License-Identifier: MIT
--- Arguments as Lua text: what a signature asks for, something near it, or something hostile.
-- Sizes are small or refused, so that no call takes long: between 100 and 2^31 there is no number.

local stage = require "spec.support.fuzz.stage"

local values = {}

local random = math.random

local function pick(list) return list[random(#list)] end

--- True in so many of 100 cases.
function values.chance(percent) return random(100) <= percent end

local chance = values.chance

-- --- slots -----------------------------------------------------------------------------------------

values.SLOTS = 24

--- What a slot holds: "Buffer", or nil.
function values.kind(i)
  local meta = debug.getmetatable(stage.slots[i])
  return type(meta) == "table" and type(meta.__name) == "string" and meta.__name:match "%w+$" or nil
end

--- The number of a slot that holds such an object, or nil.
function values.slot_of(kind)
  local start = random(values.SLOTS)
  for k = 0, values.SLOTS - 1 do
    local i = (start + k) % values.SLOTS + 1
    if values.kind(i) == kind then return i end
  end
end

local function slot() return ("v[%d]"):format(random(values.SLOTS)) end

-- --- plain values ----------------------------------------------------------------------------------

local INTEGERS = { "0", "1", "1", "2", "2", "3", "3", "4", "5", "6", "8", "9", "16", "17", "33" }
local HOSTILE_NUMBERS = {
  "-1", "-2", "0.5", "-0.0", "1e308", "-1e308", "0/0", "1/0", "-1/0", "2^31", "2^32", "2^53", "2^63", "-2^63", "2^64",
  "math.maxinteger", "math.mininteger", "1 << 31", "1 << 32", "1 << 61", "1 << 62", "3.0", "5e-324",
}
local NUMBERS = { "0", "1", "-1", "2", "0.5", "-2.25", "1e-30", "1e30", "3", "100", "1e-45" }
local DTYPES = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double" }
local STRINGS = {
  '""', '"\\0"', '"x\\0y"', '"nothing"', '"x"', '("x"):rep(300)', '("%"):rep(9)', '"%s%n%d"', '"\\255\\254"',
  '"\\n\\n"', '"12"', '"0x10"', '"`touch owned`"', '"$(touch owned)"', '"; touch owned"', '"a\'b\\"c"', '"__index"',
  '("\\0"):rep(64)',
}

-- Kernels that write element 0 at most, of every kind of argument.
values.SOURCES = {
  "kernel void k(global int *x, int n) { if (get_global_id(0) == 0) x[0] = n; }",
  "kernel void k(global float *x, float a, local float *s) { s[0] = a; if (get_global_id(0) == 0) x[0] = s[0]; } "
    .. "kernel void second(global const uchar *x, global uchar *y) { if (get_global_id(0) == 0) y[0] = x[0]; }",
  "kernel void k(float4 v, char2 w, ulong n, global double *x) { if (get_global_id(0) == 0) x[0] = v.x + w.y + n; }",
  "typedef struct { int a; float b; } pair; kernel void k(pair p, global int *x, constant float *c) "
    .. "{ if (get_global_id(0) == 0) x[0] = p.a + c[0]; } kernel void none(void) { }",
  "kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(global int *x, local int *s) "
    .. "{ s[0] = 1; barrier(CLK_LOCAL_MEM_FENCE); if (get_global_id(0) == 0) x[0] = get_group_id(0); }",
  "kernel void broken(global int *x) { x[0] = nowhere; }",
  "kernel void k(read_only image2d_t a, write_only image2d_t b, sampler_t s) "
    .. "{ if (get_global_id(0) == 0) write_imagef(b, (int2)(0, 0), read_imagef(a, s, (float2)(0.5f, 0.5f))); }",
  "#include \"missing.h\"\nkernel void k(global int *x) { x[0] = 1; }", "// no kernel",
}

local FORMATS = { "rgba unorm8", "r float", "rgba int", "r uchar", "bgra unorm8", "rgb float", "r", "rgba  half" }
local EXPRESSIONS = { "x[i]", "2*x[i]", "a*x[i] + y[i]", "x[i] > 0", "i", "y[i]", "x[", "x[i]; }", "", "x[i]//", "a" }
local OPERATIONS = { "a + b", "max(a, b)", "a * b", "a", "b", "a +", "", "a + c" }
local PATHS = {
  '"a.npy"', '"b.npy"', '"missing/c.npy"', '"/"', '"."', '""', '"/dev/null"', '"/dev/zero"', '"pipe"', '"link.npy"',
  '"/dev/full"', '"junk.npy"', '"a.npy/b"', '"a.pgm"', '"a.ppm"', '"a.png"', '"a.csv"', '"a.npz"',
}
local LOOPS = {
  "return function(x, n) for i = 1, n do x[i] = x[i] * 2 end end",
  "return function(x, y, n) for i = 1, n do for j = 1, n do x[i][j] = y[j][i] end end end",
  "return function(x, n) local s = 0.0 for i = 1, n do s = s + x[i] end x[1] = s end",
  "return function(x) x.y = 1 end", "return 1", "for", "",
}
local SETS = { "{ [i] : 0 <= i < 9 }", "[n] -> { S[i] -> A[i] : 0 <= i < n }", "{ S[i] -> A[i + 1] : 0 <= i < 9 }", "{",
  "{}", "[n] -> { : n >= 1 }" }

local function quoted(list) return ("%q"):format(pick(list)):gsub("\\\n", "\\n") .. "" end

-- What a string is for, by the name of the parameter.
local TEXTS = {
  source = function() return quoted(chance(15) and LOOPS or values.SOURCES) end,
  expression = function() return quoted(EXPRESSIONS) end,
  format = function() return quoted(FORMATS) end,
  operation = function() return quoted(OPERATIONS) end,
  path = function() return pick(PATHS) end,
  file = function() return pick { '"k.cl"', '"missing.cl"', '"."' } end,
  selector = function() return pick { '"oclgrind"', '"0:0"', '"cpu"', '"gpu"', '"9:9"', '""' } end,
  name = function() return pick { '"k"', '"second"', '"saxpy"', '"gemm_naive"', '"x"', '"kernels"', '"life.cl"' } end,
  options = function() return pick { '"-cl-mad-enable"', '"-DN=3"', '"-I."', '"-x"', '"-cl-std=CL1.2"' } end,
  elements = function() return pick { '("\\0"):rep(36)', '("\\0"):rep(4)', '("\\0"):rep(7)' } end,
}
for name, like in pairs { map = "expression", x = "elements", y = "elements", a = "elements", b = "elements",
  field = "elements", expected = "elements", bytes = "elements", from = "elements" } do TEXTS[name] = TEXTS[like] end
for _, name in ipairs { "context", "extent", "map", "schedule", "outside" } do
  TEXTS["poly:" .. name] = function() return quoted(SETS) end
end

function values.integer() return chance(90) and pick(INTEGERS) or pick(HOSTILE_NUMBERS) end

local function number() return chance(50) and pick(NUMBERS) or values.integer() end

local function object(kind)
  return function()
    local i = values.slot_of(kind)
    return i and ("v[%d]"):format(i) or slot()
  end
end

local function list(item, most)
  local parts = {}
  for i = 1, random(0, most) do parts[i] = item() end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function repeated(item, n)
  local parts = {}
  for i = 1, n do parts[i] = item() end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- A (nested) list of numbers, mostly of equal rows.
local function numbers()
  if chance(60) then return list(number, 9) end
  local n = random(0, 4)
  return list(function() return repeated(number, chance(90) and n or random(0, 5)) end, 4)
end

local function square()
  local n = random(1, 4)
  return repeated(function() return repeated(function() return pick(NUMBERS) end, n) end, n)
end

local function sizes() return list(values.integer, 4) end

local SPLITS = {
  '{global = {5, 3}, group = {2, 2}, remainder = "split"}', '{global = 7, group = 3, remainder = "split"}',
  '{global = {9, 2}, group = {4, 1}, remainder = "pad"}', '{global = 9, group = 4, offset = 3, remainder = "split"}' }

local function range()
  local kinds = random(11)
  if kinds == 11 then return pick(SPLITS) end
  if kinds <= 4 then return values.integer() end
  if kinds <= 6 then return sizes() end
  local parts = { "global = " .. (chance(50) and values.integer() or sizes()) }
  if chance(50) then parts[#parts + 1] = "group = " .. pick { values.integer(), sizes(), '"driver"', '"x"' } end
  if chance(30) then parts[#parts + 1] = "offset = " .. pick { values.integer(), sizes() } end
  if chance(50) then
    parts[#parts + 1] = "remainder = " .. pick { '"split"', '"pad"', '"error"', '"native"', '"x"', "1" }
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local NAMED = {
  integer = values.integer, number = number, string = nil,
  boolean = function() return pick { "true", "false" } end,
  table = function() return pick { "{}", numbers(), "{x = 1}" } end,
  any = function() return values.hostile() end,
  userdata = slot,
  ["function"] = function() return pick { "print", "function() return stage.boom end", "tostring" } end,
  ["nil"] = function() return "nil" end,
  ["clcompute.Dtype"] = function() return ("%q"):format(pick(DTYPES)) end,
  ["clcompute.Values"] = function() return chance(20) and square() or numbers() end,
  ["clcompute.Range"] = range,
}
for _, kind in ipairs { "Device", "Buffer", "Image", "Sampler", "Program", "Kernel", "Event", "Sequence", "Scratch",
  "Host", "Factors", "Array", "OpenBLAS", "CLBlast" } do
  NAMED["clcompute." .. kind] = object(kind)
end

-- --- hostile values --------------------------------------------------------------------------------

local HOSTILE = {
  function() return "nil" end,
  function() return pick(HOSTILE_NUMBERS) end,
  function() return pick(STRINGS) end,
  function() return slot() end,
  function() return ("stage.trap(%d, %s)"):format(random(values.SLOTS), numbers()) end,
  function() return ("stage.trap(%d)"):format(random(values.SLOTS)) end,
  function() return "stage.yielding()" end,
  function() return "stage.raising()" end,
  function() return pick { "print", "coroutine.create(print)", "io.stdout", "true", "false", "{}", "{{}}", "{{{{{}}}}}",
    "setmetatable({}, {__index = v})", "_G", "{n = 1}", "cl", "{[0] = 1}", "{1, nil, 3}", '{"x"}',
      "{{1}, {1, 2}}" } end,
}

-- The first are plain values; a report may be of these alone, since it reads tables as Lua does.
local PLAIN = 4

function values.hostile(module) return HOSTILE[math.random(module == "clcompute.report" and PLAIN or #HOSTILE)]() end

-- --- types -----------------------------------------------------------------------------------------

local types -- by name, of the stubs

function values.use(named) types = named end

--- An options table: some of the fields of a record, at times one that there is not.
local function record(type, module, depth)
  local parts = {}
  for _, field in ipairs(type.fields) do
    if chance(#type.fields > 6 and 25 or 55) then
      parts[#parts + 1] = ("%s = %s"):format(field.name == "end" and '["end"]' or field.name,
        values.of(field.type, field.name, depth + 1, module))
    end
  end
  if chance(3) then parts[#parts + 1] = pick { "nowhere = 1", "[1] = 2", "[0.5] = 1" } end
  local text = "{" .. table.concat(parts, ", ") .. "}"
  if module == "clcompute.report" or chance(96) then return text end
  return ("stage.trap(%d, %s)"):format(random(values.SLOTS), text)
end

local function text(name, module)
  local make = module == "clcompute.poly" and TEXTS["poly:" .. name] or TEXTS[name]
  return make and chance(85) and make() or pick(STRINGS)
end

--- The text of a value of a type; `name` is that of the parameter or field.
function values.of(type, name, depth, module)
  depth = depth or 0
  if depth > 4 or chance(4) then return values.hostile(module) end
  if name == "generations" then return pick(INTEGERS) end
  if name == "elements" then return chance(70) and TEXTS.elements() or pick(INTEGERS) end
  if type.kind == "union" then return values.of(pick(type.of), name, depth, module) end
  if type.kind == "text" then return ("%q"):format(type.text) end
  if type.kind == "number" then return type.text end
  if type.kind == "list" then return list(function() return values.of(type.of, name, depth + 1, module) end, 3) end
  if type.kind == "record" then return record(type, module, depth) end
  if type.kind == "table" then
    local parts = {}
    for _, key in ipairs { "x", "y", "a", "N", "TS" } do
      if chance(50) then parts[#parts + 1] = key .. " = " .. values.of(type.value, key, depth + 1, module) end
    end
    return "{" .. table.concat(parts, ", ") .. "}"
  end
  if type.name == "string" then return text(name, module) end
  if NAMED[type.name] then return NAMED[type.name]() end
  local named = types[type.name]
  if named then return values.of(named, name, depth, module) end
  error("a fuzzer knows no type " .. type.name)
end

values.pick = pick

return values
