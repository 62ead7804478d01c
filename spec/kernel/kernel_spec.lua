-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local inf, nan = math.huge, 0.0 / 0.0

--- For each dtype: values it takes, and values it refuses, each with how the message ends.
local EDGES = {
  char = { { -128, 127, 0, 3.0 }, { [-129] = "does not fit char", [128] = "does not fit char" } },
  uchar = { { 0, 255 }, { [-1] = "does not fit uchar", [256] = "does not fit uchar" } },
  short = { { -32768, 32767 }, { [-32769] = "does not fit short", [32768] = "does not fit short" } },
  ushort = { { 0, 65535 }, { [-1] = "does not fit ushort", [65536] = "does not fit ushort" } },
  int = {
    { -2 ^ 31, 2 ^ 31 - 1, 0 },
    {
      [-2 ^ 31 - 1] = "does not fit int", [2 ^ 31] = "does not fit int", [0.5] = "0.5 has no integer value",
      [inf] = "no integer value",
    },
  },
  uint = { { 0, 2 ^ 32 - 1 }, { [-1] = "does not fit uint", [2 ^ 32] = "does not fit uint" } },
  long = { { math.mininteger, math.maxinteger }, { [2.0 ^ 63] = "does not fit long", [1e300] = "does not fit long" } },
  ulong = { { 0, math.maxinteger, -1 },
    { [2.0 ^ 64] = "does not fit ulong", [2.0 ^ 63] = "does not fit ulong; write 0x8000000000000000" } },
  float = {
    { 0.5, -0.0, 2.0 ^ -149, (2 - 2.0 ^ -23) * 2.0 ^ 127, inf, -inf },
    { [1e39] = "does not fit float", [-1e39] = "does not fit float" },
  },
  double = { { 0.1, 2.0 ^ -1074, 1.7976931348623157e308, inf, -inf }, {} },
  half = { { 0.5, 65504, inf }, { [65536] = "does not fit half" } },
}

local EXTENSION = { half = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n" }

--- Puts its argument into the first element of a buffer: k(out, value).
local function build_store(d, dtype)
  return d:program((EXTENSION[dtype] or "") .. "kernel void k(global T *out, T value) { out[0] = value; }",
    { defines = { T = dtype } }).k
end

helper.describe_each("a kernel's scalar argument", function(d)
  for dtype, edges in pairs(EDGES) do
    local has = (dtype ~= "half" or d.has_half) and (dtype ~= "double" or d.has_double)
    local case = has and it or pending

    case("takes every value of " .. dtype .. " and no other", function()
      local k, out = build_store(d, dtype), d:zeros(dtype, 1)
      for _, value in ipairs(edges[1]) do
        k(1, out, value)
        assert.equal(value, out[1])
      end
      for value, message in pairs(edges[2]) do
        local complaint = helper.raises("kernel 'k' argument 2 'value' (" .. dtype .. ")", k, 1, out, value)
        assert.equal(message, complaint:sub(-#message))
      end
    end)
  end

  it("takes NaN for a floating type alone", function()
    local out = d:zeros("float", 1)
    build_store(d, "float")(1, out, nan)
    assert.is_true(out[1] ~= out[1])
    helper.raises("has no integer value", build_store(d, "int"), 1, d:zeros("int", 1), nan)
  end)

  it("is rounded to nearest for float", function()
    local out = d:zeros("float", 1)
    build_store(d, "float")(1, out, 0.1)
    assert.equal(string.unpack("f", string.pack("f", 0.1)), out[1])
  end)

  it("takes nothing but numbers", function()
    local k, out = build_store(d, "int"), d:zeros("int", 1)
    for _, value in ipairs { "abcd", "1234", "7", "", true, {}, print, out, d, io.stdout, cl.scratch("int", 1),
      coroutine.create(print) } do
      helper.raises({ "argument 2 'value' (int)", "number expected, got " }, k, 1, out, value)
    end
    helper.raises("number expected, got nil", k, 1, out, nil)
  end)
end)

helper.describe_each("a kernel's vector argument", function(d)
  for _, width in ipairs { 2, 3, 4, 8, 16 } do
    it("takes a table of " .. width .. " numbers", function()
      local source = "kernel void k(global int *o, int%d i, global float *p, float%d f,"
        .. "global uchar *q, uchar%d u)"
        .. "{ vstore%d(i, 0, o); vstore%d(f, 0, p); vstore%d(u, 0, q); }"
      local k = d:program((source:gsub("%%d", width))).k
      local o, p, q = d:zeros("int", width), d:zeros("float", width), d:zeros("uchar", width)
      local i, f, u = {}, {}, {}
      for n = 1, width do i[n], f[n], u[n] = -n, n / 2, 255 - n end
      k(1, o, i, p, f, q, u)
      assert.same(i, o:read())
      assert.same(f, p:read())
      assert.same(u, q:read())
    end)
  end

  local function build() return d:program("kernel void k(global int *o, int3 v) { vstore3(v, 0, o); }").k end

  it("takes a packed string, three elements in the room of four", function()
    local k, o = build(), d:zeros("int", 3)
    k(1, o, string.pack("i4i4i4i4", 7, 8, 9, 0))
    assert.same({ 7, 8, 9 }, o:read())
    for _, length in ipairs { 0, 12, 17 } do
      helper.raises({ "argument 2 'v' (int3)", "packed string of 16 bytes expected, got " .. length }, k, 1, o,
        ("x"):rep(length))
    end
    k(1, o, "123 123 123 123 ") -- bytes that read as numbers are bytes
    assert.same({ string.unpack("i4i4i4", "123 123 123 ") }, { o[1], o[2], o[3], 13 })
  end)

  it("refuses tables that do not fit", function()
    local k, o = build(), d:zeros("int", 3)
    for _, case in ipairs {
      { {}, "table of 3 numbers expected" }, { { 1, 2 }, "table of 3 numbers expected" },
      { { 1, 2, 3, 4 }, "table of 3 numbers expected" }, { 1, "table of 3 numbers expected, got number" },
      { o, "table of 3 numbers expected, got int buffer" }, { { 1, 2, 0.5 }, "[3]: 0.5 has no integer value" },
      { { 1, 2 ^ 40, 3 }, "[2]:" }, { { {}, 2, 3 }, "[1]: number expected, got table" },
    } do helper.raises({ "kernel 'k' argument 2 'v' (int3)", case[2] }, k, 1, o, case[1]) end
  end)
end)

helper.describe_each("a kernel's enum argument", function(d)
  local p = d:program [[
    typedef enum { A, B } E;
    typedef enum tag { C, D = -7 } F;
    typedef F G;
    enum plain { H = 5 };
    kernel void k(E e, F f, G g, enum plain h, global int *x) { x[0] = e; x[1] = f; x[2] = g; x[3] = h; }
    kernel void points(global E *e) { e[0] = B; }]]
  local x = d:zeros("int", 4)

  it("takes an integer", function()
    p.k(1, 1, -7, -2, 5, x)
    assert.same({ 1, -7, -2, 5 }, x:read())
    helper.raises("0.5 has no integer value", p.k, 1, 0.5, 0, 0, 0, x)
    helper.raises("(E): ", p.k, 1, 2 ^ 31, 0, 0, 0, x)
    helper.raises("number expected, got string", p.k, 1, string.pack("i4", 1), 0, 0, 0, x)
    helper.raises("argument 3 'g' (G)", p.k, 1, 0, 0, {}, 0, x)
  end)

  -- Each begins with a kind of text that does not tell by itself that 32 bits will do.
  it("has as many bits as the compiler gives it", function()
    for text, most in pairs {
      ["enum e { A = 0x100000000L };"] = 1 << 40, ["typedef enum { A = -1, B = 0x80000000 } e_t;"] = -1 << 40,
      ["#define BIG 0x100000000L\nenum e { A = BIG };"] = 1 << 40, ["enum e { A = 1 << 3, B = 'x' };"] = (1 << 31) - 1,
      ["#define E enum\nE e { A = 1L << 40 };"] = 1 << 40, ["enum e { A = 0x7fffffff };"] = (1 << 31) - 1,
    } do
      local name, o = text:find "e_t" and "e_t" or "enum e", d:zeros("long", 1)
      local q = d:program(("%s\nkernel void k(%s v, global long *o) { o[0] = v; }"):format(text, name))
      q.k(1, most, o)
      assert.equal(most, o[1], text)
      helper.raises("no integer value", q.k, 1, 0.5, o)
    end
  end)

  it("that has bytes of its own number is packed", function()
    local o = d:zeros("int", 1)
    local q = d:program [[
      typedef enum __attribute__((packed)) { A, B } byte_enum;
      kernel void k(byte_enum v, global int *o) { o[0] = sizeof(v) == 1 ? v : 7; }]]
    helper.raises("packed string of 1 bytes expected", q.k, 1, 7, o)
    q.k(1, "\7", o)
    assert.equal(7, o[1])
  end)

  it("that is a pointer takes a buffer of any dtype", function()
    for _, dtype in ipairs { "int", "uint" } do
      local e = d:zeros(dtype, 1)
      p.points(1, e)
      assert.equal(1, e[1])
    end
  end)
end)

helper.describe_each("a kernel's struct argument", function(d)
  it("has the size that the compiler gives it, whether the text tells that or not", function()
    local source = { [[
#define N 3
typedef uchar tag;
struct plain { tag t; long unsigned int l; };
typedef struct { struct plain p[2]; char c; } nested;
typedef struct { char a, b[2][3]; float3 v; short s; } arrays;
typedef struct { char c; int d[N]; } macro;
#define OTHER e
typedef struct { char c, OTHER; } list;
#define BYTE char
typedef struct { BYTE c; int i; } named;
typedef struct { char c[1 + 2]; int i; } sum;
typedef struct { char c[2u]; int i; } suffix;
typedef struct { char c[011]; int i; } octal;
typedef struct { char c[sizeof(int)]; int i; } measured;
typedef struct { char c, (d); } parentheses;
typedef struct { struct { char c; int i; } inner; char c; } inner;
typedef struct { enum { A, B } e; char c; } choice;
typedef struct { const int i; char volatile c; } qualified;
typedef struct { long long_one; char c, d[2], e; } words;
typedef struct { char c; long long d; } reserved;
typedef struct { char c; int d; } __attribute__((packed)) attribute;
#define PACKED __attribute__((packed))
typedef struct PACKED { char c; int d; } defined;
struct behind { char c; int d; } PACKED;
#ifdef NOWHERE
typedef struct { char c; } branches;
#else
typedef struct { char c; int i; } branches;
#endif
]] }
    local types = { "struct plain", "nested", "arrays", "macro", "list", "named", "sum", "suffix", "octal", "measured",
      "parentheses", "inner", "choice", "qualified", "words", "reserved", "attribute",
      "defined", "struct behind", "branches" }
    for i, type in ipairs(types) do
      source[#source + 1] = ("kernel void k%d(global int *x, const %s s) { x[0] = sizeof(s); }"):format(i, type)
    end
    local p, x = d:program(table.concat(source, "\n")), d:zeros("int", 1)
    for i, type in ipairs(types) do
      local k = p:kernel("k" .. i)
      local bytes = helper.raises("packed string of ", k, 1, x, ""):match "of (%d+) bytes"
      k(1, x, ("x"):rep(math.tointeger(bytes)))
      assert.equal(x[1], tonumber(bytes), type)
    end
  end)

  it("has the size of the compiler where _Pragma packs it", function()
    local k = d:program([[
      _Pragma("pack(1)") typedef struct { char c; int d; } tight;
      kernel void k(global int *x, const tight s) { x[0] = sizeof(s); }
    ]]).k
    helper.raises("packed string of 5 bytes expected", k, 1, d:zeros("int", 1), ("x"):rep(8))
  end)

  helper.on_pocl("that an attribute aligns to more than 16 bytes is refused, of which POCL dies", function()
    local device = helper.device()
    for declaration, expected in pairs {
      ["typedef struct { char a; __attribute__((aligned(32))) int b; } T;"] = false,
      ["typedef struct __attribute__((aligned(64))) { char a; int b; } T;"] = false,
      ["typedef struct { char a; __attribute__((aligned(16))) int b; } T;"] = true,
      ["typedef struct { char a; double16 b; } T;"] = true,
    } do
      local p = device:program(declaration .. [[
        kernel void size(global int *x) { x[0] = sizeof(T); }
        kernel void by(global int *x, T s) { x[0] = s.a; }
        kernel void at(global int *x, constant T *s) { x[0] = s->a; }]])
      local x = device:zeros("int", 1)
      p.size(1, x)
      local value = "\7" .. ("\0"):rep(x[1] - 1)
      p.at(1, x, device:buffer(value, "uchar"))
      assert.equal(7, x[1])
      if expected then
        p.by(1, x, value)
      else
        helper.raises("argument 2 's' (T): POCL dies of a value that an attribute aligns to more than 16 bytes; take a "
          .. "pointer to one, constant T *", p.by, 1, x, value)
      end
      assert.equal(7, x[1])
    end
  end)

  helper.on_pocl("of a type without a name is refused, as POCL takes any size", function()
    local p = helper.device():program "kernel void k(struct { int a; } s) {} kernel void tag(struct t { int a; } s) {}"
    for _, name in ipairs(p.kernels) do
      helper.raises("its size is not known; give its type a name, before the kernel", p:kernel(name), 1, "1234")
    end
  end)

  it("is a packed string", function()
    local k = d:program([[
      typedef struct { int count; float weight; uchar tag; } Item;
      kernel void k(global float *o, Item item) { o[0] = item.count * item.weight + item.tag; }
    ]]).k
    local o = d:zeros("float", 1)
    k(1, o, string.pack("!4 i4 f B !4 Xi4", 3, 0.5, 200))
    assert.equal(201.5, o[1])
    local expected = "packed string of 12 bytes expected, as S:pack of a cl.struct gives it, got "
    helper.raises(expected .. "table", k, 1, o, { 3, 0.5, 200 })
    helper.raises(expected .. "number", k, 1, o, 3)
    for _, length in ipairs { 0, 1, 11, 13, 1000 } do -- POCL takes any, and aborts on none
      helper.raises(expected .. length, k, 1, o, ("x"):rep(length))
    end
  end)

  it("reaches the device through a buffer of any dtype too", function()
    local k = d:program([[
      struct a_structure_whose_name_is_longer_than_forty_seven_characters { int a, b; };
      kernel void k(global struct a_structure_whose_name_is_longer_than_forty_seven_characters *s) {
        s[1].b = 5;
      }
    ]]).k
    local bytes = d:zeros("uchar", 16)
    k(1, bytes)
    assert.equal(5, (string.unpack("i4", bytes:string(), 13)))
  end)
end)

helper.describe_each("a kernel's argument of a typedef", function(d)
  it("is what simple typedefs make of it", function()
    local k = d:program([[
      typedef float real; typedef real number;
      typedef unsigned  int  word;
      typedef BASE chosen;
      typedef float4 quad;
      kernel void k(global number *o, number f, word w, chosen c, quad q) { o[0] = f + w + c + q.w; }
    ]], { defines = { BASE = "int" } }).k
    local o = d:zeros("float", 1)
    k(1, o, 0.5, 1, 2, { 0, 0, 0, 4 })
    assert.equal(7.5, o[1])
    helper.raises({ "argument 1 'o'", "float buffer expected, got int buffer" }, k, 1, d:zeros("int", 1), 0, 0, 0,
      { 0, 0, 0, 0 })
    helper.raises("-1 does not fit uint", k, 1, o, 0, -1, 0, { 0, 0, 0, 0 })
    helper.raises("0.5 has no integer value", k, 1, o, 0, 0, 0.5, { 0, 0, 0, 0 })
    helper.raises("table of 4 numbers expected", k, 1, o, 0, 0, 0, 1)
  end)

  it("stays a packed string where the text has two of the name", function()
    local k = d:program([[
      #ifdef WIDE
      typedef long real;
      #else
      typedef float real;
      #endif
      kernel void k(global float *o, real f) { o[0] = f; }
    ]]).k
    local o = d:zeros("float", 1)
    k(1, o, string.pack("f", 2.5))
    assert.equal(2.5, o[1])
    helper.raises({ "packed string", " expected" }, k, 1, o, 2.5)
  end)
end)

helper.describe_each("a kernel's pointer argument", function(d)
  local COPY = "kernel void copy(global T *o, S const T *x) { int i = get_global_id(0); o[i] = x[i]; }"

  for _, space in ipairs { "global", "constant" } do
    it("takes a buffer in " .. space .. " memory", function()
      local k = d:program(COPY, { defines = { T = "int", S = space } }).copy
      local o, x = d:zeros("int", 3), d:buffer({ 4, 5, 6 }, "int")
      k(3, o, x)
      assert.same({ 4, 5, 6 }, o:read())
    end)
  end

  it("takes a buffer of the scalars for a pointer to vectors", function()
    local k = d:program(COPY, { defines = { T = "float4", S = "global" } }).copy
    local o, x = d:zeros("float", 8), d:buffer { 1, 2, 3, 4, 5, 6, 7, 8 }
    k(2, o, x)
    assert.same(x:read(), o:read())
    helper.raises("float buffer expected, got int buffer", k, 2, o, d:zeros("int", 8))
  end)

  it("takes one buffer twice", function()
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    local x = d:buffer({ 4, 5, 6 }, "int")
    k(3, x, x)
    assert.same({ 4, 5, 6 }, x:read())
  end)

  it("refuses everything else", function()
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    local o, released = d:zeros("int", 4), d:zeros("int", 4)
    released:release()
    for _, case in ipairs {
      { 1, "got number" }, { "text", "got string" }, { { 1, 2 }, "got table" }, { true, "got boolean" },
      { print, "got function" }, { io.stdout, "got userdata" }, { d, "got userdata" }, { k, "got userdata" },
      { cl.scratch("int", 4), "got userdata" }, { released, "got released buffer" },
      { d:zeros("float", 4), "got float buffer" }, { d:zeros("long", 4), "got long buffer" },
    } do
      helper.raises({ "kernel 'copy' argument 2 'x' (global int*)", "int buffer expected", case[2] }, k, 4, o, case[1])
    end
    helper.raises({ "argument 1 'o' (global int*)", "got nil" }, k, 4, nil, o)
  end)

  it("refuses a buffer of another device", function()
    local other
    for _, device in ipairs(helper.devices()) do other = device ~= d and device or other end
    if not other then return pending("there is one device only") end
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    helper.raises({ "argument 2 'x'", "the buffer lives on another device" }, k, 1, d:zeros("int", 1),
      other:zeros("int", 1))
  end)

  it("refuses a buffer without elements, unless nothing is launched", function()
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    local o, some = d:zeros("int", 1), d:zeros("int", 256)
    for _, empty in ipairs { d:zeros("int", 0), some:view(1, 0), some:view(2, 1), some:view(129, 128) } do
      helper.raises({ "argument 2 'x'", "the buffer has no elements" }, k, 1, o, empty)
      assert.equal("complete", k(0, o, empty).status)
    end
    helper.raises("int buffer expected, got float buffer", k, 0, o, d:zeros("float", 0))
  end)

  it("starts at a view's first element where the device allows it", function()
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    local n = d.align // 4
    local x, o = d:zeros("int", 2 * n + 3), d:zeros("int", 3)
    for i = 1, 3 do x[n + i] = 10 * i end
    k(3, o, x:view(n + 1, n + 3))
    assert.same({ 10, 20, 30 }, o:read())
    k(3, x:view(n + n + 1, n + n + 3), o)
    assert.same({ 10, 20, 30 }, x:read(n + n + 1, n + n + 3))
    k(3, o, x:view(1, 3):view(1, 3))
    assert.same({ 0, 0, 0 }, o:read())
  end)

  it("names the nearest first that a view may have", function()
    local k = d:program(COPY, { defines = { T = "int", S = "global" } }).copy
    local o = d:zeros("int", 3)
    local rows = 3 * d.align
    -- rows of 1, 3 and 8 elements; asked for the view that starts at `first`
    for _, columns in ipairs { 1, 3, 8 } do
      local whole = d:zeros("int", rows, columns)
      for _, first in ipairs { 2, rows // 2, rows - 1 } do
        local view = whole:view(first, rows)
        local ok, message = pcall(k, 1, o, view)
        if ok then
          assert.equal(0, (first - 1) * columns * 4 % d.align)
        else
          local named = tonumber(message:match "nearest first that is one is (%d+)")
          assert.is_number(named, message)
          whole:set(named, 1, first)
          k(1, o, whole:view(named, rows))
          assert.equal(first, o[1])
          -- nothing nearer would have done
          local away = math.abs(named - first)
          for nearer = math.max(1, first - away + 1), math.min(rows, first + away - 1) do
            assert.is_false((pcall(k, 1, o, whole:view(nearer, rows))))
          end
        end
      end
    end
  end)
end)

helper.describe_each("a kernel's local argument", function(d)
  local REVERSE = [[
    kernel void reverse(global int *x, local int *s) {
      int l = get_local_id(0), n = get_local_size(0);
      s[l] = x[get_global_id(0)];
      barrier(CLK_LOCAL_MEM_FENCE);
      x[get_global_id(0)] = s[n - 1 - l];
    }
    kernel void both(global int *x, local int *a, local float *b) {
      a[0] = 1; b[0] = 2;
      x[0] = a[0] + (int)b[0];
    }
    kernel void own(global int *x, local int *a) {
      local int own[WORDS];
      int l = get_local_id(0);
      own[l] = 1; a[l] = 2;
      barrier(CLK_LOCAL_MEM_FENCE);
      x[l] = own[(l + x[l]) % WORDS] + a[l];
    }
  ]]
  local words = d.local_memory // 4
  local function build() return d:program(REVERSE, { defines = { WORDS = words // 2 } }) end

  it("is scratch for each work-group", function()
    local x = d:buffer({ 1, 2, 3, 4, 5, 6, 7, 8 }, "int")
    build().reverse({ global = { 8 }, group = { 4 } }, x, cl.scratch("int", 4))
    assert.same({ 4, 3, 2, 1, 8, 7, 6, 5 }, x:read())
  end)

  it("may differ from launch to launch", function()
    local k, x = build().both, d:zeros("int", 1)
    for _, n in ipairs { 1, 64, 2 } do
      k(1, x, cl.scratch("int", n), cl.scratch("float", n))
      assert.equal(3, x[1])
    end
  end)

  it("refuses what is no scratch of its dtype", function()
    local k, x = build().reverse, d:zeros("int", 4)
    for _, case in ipairs {
      { 4, "got number" }, { x, "got int buffer" }, { "abcd", "got string" }, { io.stdout, "got userdata" },
      { { 1 }, "got table" }, { cl.scratch("float", 4), "int scratch expected, got float scratch" },
    } do helper.raises({ "kernel 'reverse' argument 2 's' (local int*)", case[2] }, k, 4, x, case[1]) end
    helper.raises("got nil", k, 4, x, nil)
  end)

  it("is within the device's local memory, together with the kernel's own", function()
    local p, x = build(), d:zeros("int", 1)
    helper.raises({ "kernel 'both' needs ", "this device has " }, p.both, 1, x, cl.scratch("int", words + 1),
      cl.scratch("float", 1))
    -- a driver may keep some bytes for itself
    helper.raises({ "kernel 'both' needs ", "this device has " .. d.local_memory },
      p.both, 1, x,
      cl.scratch("int", words // 2), cl.scratch("float", words - words // 2 + 1))
    helper.raises("kernel 'own' needs ", p.own, 1, x, cl.scratch("int", words - words // 2 + 2))
    p.own(1, x, cl.scratch("int", 16))
    assert.equal(3, x[1])
  end)

  it("is too large in all also where the sum of its bytes is beyond all integers", function()
    local k = d:program("kernel void k(local char *a, local char *b, local char *c, local char *e) {}").k
    local half, quarter = cl.scratch("char", math.maxinteger), cl.scratch("char", 1 << 62)
    for _, sizes in ipairs { { quarter, quarter, quarter, quarter }, { half, half, half, half } } do
      assert.matches("needs %d+ bytes of local memory", helper.raises("kernel 'k' ", k, 1, table.unpack(sizes)))
    end
  end)

  it("is refused where the kernel's own arrays are too large already, unless the device grants such", function()
    local y = d:buffer({ 7 }, "int")
    local ok, message = pcall(function()
      local k = d:program([[kernel void large(global int *x) {
        local int own[WORDS];
        int l = get_local_id(0);
        own[WORDS - 1 - l] = x[l] + 1;
        barrier(CLK_LOCAL_MEM_FENCE);
        x[l] = own[WORDS - 1 - l];
      }]], { defines = { WORDS = words + 1 } }).large
      k(1, y):wait()
    end)
    if ok and d.type == "gpu" then return assert.equal(8, y[1]) end -- NVIDIA's driver
    assert.is_false(ok)
    assert.truthy(message:find("local", 1, true), message)
  end)

  it("is described by its tostring", function() assert.equal("float scratch 16", tostring(cl.scratch("float", 16))) end)
end)

describe("scratch", function()
  it("refuses wrong dtypes and sizes", function()
    for _, case in ipairs {
      { { "real", 1 }, "no dtype 'real'" }, { { nil, 1 }, "string expected" }, { { "float", 0 }, "at least 1" },
      { { "float", -1 }, "#2" }, { { "float", 0.5 }, "#2" }, { { "float", nan }, "#2" },
      { { "float", math.maxinteger }, "#2" }, { { "float" }, "#2" }, { { "float", {} }, "#2" },
    } do helper.raises(case[2], cl.scratch, case[1][1], case[1][2]) end
  end)

  it("is told from a userdata that `debug` gave its metatable", function()
    local meta = debug.getmetatable(cl.scratch("float", 1))
    local forged = debug.setmetatable(helper.device():zeros("float", 1), meta)
    helper.raises("scratch expected", tostring, forged)
  end)
end)

helper.describe_each("a kernel", function(d)
  local SOURCE = [[
    kernel void work(global const float *x, constant int *table, local uint *s, int n, float4 v,
      global uchar *u) {
      if (n == 1) u[0] = (uchar)(x[0] + table[0] + s[0] + v.x);
    }
    kernel __attribute__((reqd_work_group_size(8, 2, 1))) void fixed(global int *x) { x[0] = 1; }
  ]]
  local function build() return d:program(SOURCE) end

  -- in a program of its own: see program.c on NVIDIA
  local function build_none() return d:program("kernel void none(void) {}").none end

  it("tells its arguments", function()
    local p = build()
    assert.same({
      { name = "x", type = "float*", space = "global" }, { name = "table", type = "int*", space = "constant" },
      { name = "s", type = "uint*", space = "local" }, { name = "n", type = "int", space = "private" },
      { name = "v", type = "float4", space = "private" }, { name = "u", type = "uchar*", space = "global" },
    }, p.work.args)
    assert.same({}, build_none().args)
  end)

  it("tells its limits", function()
    local p = build()
    local info = p.work:info()
    assert.is_true(info.group_size >= 1 and info.group_size <= d.max_group_size)
    assert.is_true(info.group_multiple >= 1)
    assert.is_true(info.local_memory >= 0 and info.private_memory >= 0)
    assert.is_nil(info.required_group)
    assert.same({ 8, 2, 1 }, p.fixed:info().required_group)
  end)

  it("counts its own local arrays in its limits", function()
    local k = d:program([[kernel void k(global int *x) {
      local int own[64];
      int l = get_local_id(0);
      own[l] = x[l];
      barrier(CLK_LOCAL_MEM_FENCE);
      x[l] = own[63 - l];
    }]]).k
    assert.is_true(k:info().local_memory >= 256) -- NVIDIA adds 4 bytes of its own
  end)

  it("is its signature in text", function()
    local p = build()
    assert.equal("kernel work(global float* x, constant int* table, local uint* s, int n, float4 v, "
      .. "global uchar* u)", tostring(p.work))
    assert.equal("kernel none()", tostring(build_none()))
    assert.equal(d, p.work.device)
  end)

  it("counts its arguments", function()
    local p, x = build(), d:zeros("int", 1)
    helper.raises("kernel 'fixed' takes 1 argument, got 0", p.fixed, { 8, 2 })
    helper.raises("kernel 'fixed' has no argument 'y'", p.fixed, { 8, 2 }, { y = x })
    helper.raises("kernel 'fixed' takes 1 argument, got 2", p.fixed, { 8, 2 }, x, x)
    helper.raises("kernel 'none' takes 0 arguments, got 1", build_none(), 1, nil)
    build_none()(1):wait()
  end)

  it("has no other fields", function()
    local k = build_none()
    helper.raises("nothing", function() return k.nothing end)
    helper.raises("", function() k.name = "x" end)
    helper.raises("", function() return k[1] end)
  end)

  it("works on after a refused argument", function()
    local k, o = build_store(d, "int"), d:zeros("int", 1)
    k(1, o, 3)
    helper.raises("float buffer", k, 1, d:zeros("float", 1), 4)
    assert.equal(3, o[1])
    k(1, o, 5)
    assert.equal(5, o[1])
  end)

  it("does not change when its arguments are collected while it waits in the queue", function()
    local k, o = d:program("kernel void k(global int *o, global int *x) { o[0] += x[0]; }").k,
      d:zeros("int", 1)
    for i = 1, 20 do
      k(1, o, d:buffer({ i }, "int"))
      collectgarbage()
    end
    assert.equal(210, o[1])
  end)

  it("refuses long long, which has 16 bytes to some compilers and 8 to others", function()
    local p = d:program [[
      typedef unsigned long long int u64;
      kernel void value(long long x) {}
      kernel void unsigned_value(u64 x) {}
      kernel void memory(global unsigned long long *x) {}
      kernel void group(local u64 *x) {}
      kernel void fits(long int x, unsigned long y) {}
    ]]
    local values = { value = 1, unsigned_value = "12345678", memory = d:zeros("ulong", 4),
      group = cl.scratch("ulong", 4) }
    for name, value in pairs(values) do
      helper.raises({ name, "'x'", "OpenCL C reserves 'long long'", "write 'long'" }, p[name], 1, value)
    end
    p.fits(1, -1, -1)
  end)

  it("refuses queues and events, of whose bytes a driver dies", function()
    local text = "kernel void k(%s x) {} typedef struct { int a; } image_size; kernel void fits(image_size s) {}"
    for _, name in ipairs { "queue_t", "clk_event_t", "reserve_id_t" } do
      local ok, p = pcall(d.program, d, text:format(name), { options = "-cl-std=CL2.0" })
      if not ok then return pending("this device builds no " .. name) end
      helper.raises({ name, "device-side queues are not supported; launches come from Lua" }, p.k, 1, ("\1"):rep(8))
      p.fits(1, string.pack("i4", 1))
    end
  end)

  it("refuses images with depth", function()
    local ok, p = pcall(d.program, d, "kernel void k(read_only image2d_depth_t im) {}")
    if not ok then return pending "this device builds no image2d_depth_t" end
    helper.raises({ "'im'", "image2d_depth_t", "images of this kind are not supported" }, p.k, 1, cl.null)
  end)

  it("refuses pipes", function()
    local ok, p = pcall(d.program, d, "kernel void k(read_only pipe int p, global int *x) { *x = 1; }",
      { options = "-cl-std=CL2.0" })
    if not ok then return helper.raises("pipe", error, p) end
    for _, value in ipairs { 1, "12345678", d:zeros("int", 1), cl.null } do
      helper.raises({ "'p'", "pipes are not supported" }, p.k, 1, value, d:zeros("int", 1))
    end
  end)

  it("is of no use on a closed device", function()
    -- a state of its own: other specs hold the device
    local output = helper.output(([[
      local cl = require "clcompute"
      local d = cl.device "%s"
      local k, x = d:kernel "saxpy", d:zeros("float", 1)
      d:close()
      print(pcall(k, 1, x), tostring(k))
    ]]):format(d.platform))
    assert.truthy(output:find("released", 1, true), output)
  end)

  it("sees the arguments of its own launch, whatever a finalizer does meanwhile", function()
    helper.output(([[
      local cl = require "clcompute"
      local d = cl.device "%s"
      local k = d:program "kernel void put(global int *x, int v) { x[get_global_id(0)] = v; }".put
      local function amid_launch(finalizer, ...)
        collectgarbage "stop"
        setmetatable({}, { __gc = finalizer })
        collectgarbage "restart"
        collectgarbage("setpause", 0)
        collectgarbage("setstepmul", 1000)
        pcall(k, ...)
        collectgarbage "stop"
      end
      for _ = 1, 20 do
        local x, y = d:zeros("int", 8), d:zeros("int", 8)
        amid_launch(function() k(8, y, 7) end, 8, x, 1)
        assert(x[1] == 1, x[1])
        amid_launch(function() x:release() end, 8, x, 1)
        d:wait()
      end
    ]]):format(d.platform))
  end)

  it("keeps a long name whole", function()
    local name = ("k"):rep(200)
    local k = d:program("kernel void " .. name .. "(global int *x) { x[0] = 1; }"):kernel(name)
    assert.equal(name, k.name)
    assert.truthy(tostring(k):find(name, 1, true))
  end)

  it("takes a user's int8_t for what it is, not for a vector of 8", function()
    local p = d:program [[
      typedef struct { char c; } int8_t;
      kernel void f(global int8_t *x, int8_t v) { x[get_global_id(0)] = v; }
    ]]
    local x = d:zeros("char", 2)
    p.f(2, x, "\5")
    assert.same({ 5, 5 }, x:read())
    helper.raises("packed string of 1 bytes expected", p.f, 2, x, { 1, 2, 3, 4, 5, 6, 7, 8 })
    helper.raises("got 0 bytes", p.f, 2, x, "")
  end)
end)

helper.describe_each("a view of a view", function(d)
  it("is told the nearest first of the buffer it was taken from", function()
    local k = d:program("kernel void k(global float *x) { x[0] = 1; }").k
    local row = d.align // 4 // 4 -- four rows lie between aligned ones
    local m = d:zeros("float", 100, row)
    local inner = m:view(9, 90)
    k(1, inner)
    local message = helper.raises("nearest first that is one is 5,", k, 1, inner:view(4, 20))
    assert.matches("d.align", message, 1, true)
    k(1, inner:view(5, 20))
  end)
end)

describe("a finalizer that releases what is at hand", function()
  it("is no crash while arguments are set", function()
    helper.output([[
      local cl = require "clcompute"
      local d = cl.device()
      collectgarbage("incremental", 1, 1000)
      local p = d:program "kernel void k(global float *x) { x[get_global_id(0)] += 1; }"
      local refused = 0
      local function try(f, ...)
        local ok, message = pcall(f, ...)
        if not ok then
          refused = refused + 1
          assert(message:find("release", 1, true), message)
        end
      end
      for round = 1, 300 do
        local function victim(n, m)
          local b = d:zeros("float", n, m)
          setmetatable({}, { __gc = function() b:release() end })
          return b
        end
        try(p.k, 16, victim(4, 4))
        local square = d:zeros("float", 4, 4)
        try(cl.saxpy, 1, square, victim(4, 4))
        try(cl.gemm, square, victim(4, 4))
        try(cl.gemm, square, square, { c = victim(4, 4) })
      end
      d:wait()
      print(refused)]])
  end)
end)

helper.describe_each("what a table of facts prints", function(d)
  local p = d:program "kernel void add(global float *x, const int n) { x[0] += n; }"

  it("is a line for each, in order", function()
    local lines = {}
    for line in tostring(d:info()):gmatch "[^\n]+" do lines[#lines + 1] = line end
    local sorted = table.move(lines, 1, #lines, 1, {})
    table.sort(sorted)
    assert.same(sorted, lines)
    local count = 0
    for name in pairs(d:info()) do
      count = count + 1
      assert.truthy(("\n" .. tostring(d:info())):find("\n" .. name .. " = ", 1, true), name)
    end
    assert.equal(count, #lines)
    assert.truthy(tostring(d:info()):find("name = " .. d.name, 1, true))
  end)

  it("is what a program and a kernel hold", function()
    assert.equal("add", tostring(p.kernels))
    assert.equal("name = x, type = float*, space = global\nname = n, type = int, space = private", tostring(p.add.args))
    assert.matches("group_size = %d+", tostring(p.add:info()))
  end)
end)

helper.describe_each("arguments by their names", function(d)
  local p = d:program [[
    kernel void f(global float *out, const float a, const int2 v, local float *s) {
      s[0] = a;
      out[get_global_id(0)] = s[0] + v.x - v.y;
    }
    kernel void g(const int2 v, global int *out) { out[0] = v.x * v.y; }
    kernel void h(const int2 v) {}]]
  local out = d:zeros("float", 2)

  it("come in any order, with every kind among them", function()
    p.f({ global = 2, group = 1 }, { v = { 7, 2 }, s = cl.scratch("float", 1), a = 0.5, out = out })
    assert.same({ 5.5, 5.5 }, out:read())
    local whole = d:zeros("int", 1)
    p.g(1, { out = whole, v = { 3, 4 } })
    assert.equal(12, whole[1])
    p.h(1, { 3, 4 }) -- a vector
    p.h(1, { v = { 3, 4 } })
  end)

  it("are all there, and of the kernel", function()
    local all = { v = { 7, 2 }, s = cl.scratch("float", 1), a = 0.5, out = out }
    all.b = 1
    helper.raises("kernel 'f' has no argument 'b'", p.f, 1, all)
    for _, key in ipairs { "global", "group", "offset", "remainder" } do
      local hint = ("; %s belongs to the range: k({global = n, group = m}, ...)"):format(key)
      helper.raises(("has no argument '%s'%s"):format(key, hint), p.f, 7, { [key] = 2 })
      helper.raises("takes 4 arguments, got 2" .. hint, p.f, 7, out, { [key] = 2 })
      helper.raises("number expected, got table" .. hint, p.f, 7, out, { [key] = 2 }, { 7, 2 }, cl.scratch("float", 1))
    end
    all.b, all.a = nil, nil
    helper.raises("kernel 'f': argument 2 'a' is missing", p.f, 1, all)
    all.a = "1"
    helper.raises("kernel 'f' argument 2 'a' (float): number expected, got string", p.f, 1, all)
    all.a, all[1] = 1, 2
    helper.raises("kernel 'f' has no argument '1'", p.f, 1, all)
    helper.raises("takes 4 arguments, got 1", p.f, 1, {})
    helper.raises("takes 4 arguments, got 2", p.f, 1, { a = 1 }, 2)
  end)
end)
