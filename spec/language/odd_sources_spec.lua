-- SPDX-License-Identifier: MIT
--- Sources that end in the midst of something, or are written in odd ways: what the library reads of them
-- (csrc/language, csrc/kernel/struct_layout.c) must not stand in the way of what the compiler says.

local helper = require "spec.helper"

local KERNEL = "kernel void k(global int *x) { x[0] = 42; }\n"

-- Cut off behind each token.
local WORDS = { "#define A(x) x ## x", "#include <a.h>", "#if defined(A) && 0", "#pragma pack(1)",
  "typedef struct s { int a[2], b; } s_t;", "struct s { int a[2][3]; } v;",
  "kernel void f(global const int *restrict x, struct s y)", "void f(void) { barrier(1); }",
  "void f(int n) { for (int i = 0; i < n; i++) if (i) barrier(CLK_LOCAL_MEM_FENCE); }",
  "__attribute__((reqd_work_group_size(1, 1, 1)))", "/* text */ // text", "constant char t[] = \"te\\\"xt\";",
  "typedef int count; typedef count many;" }

--- The beginnings of a text, each a token longer than the one before.
local function beginnings(text)
  local list, at = {}, 1
  while at <= #text do
    local _, stop = text:find("^%s*[%w_]+", at)
    at = (stop or text:find("%S", at) or #text) + 1
    list[#list + 1] = text:sub(1, at - 1)
  end
  return list
end

describe("a source that is cut off", function()
  it("is built, or refused in the compiler's words", function()
    local d, built, refused = helper.device(), 0, 0
    local x = d:zeros("int", 1)
    for _, words in ipairs(WORDS) do
      for _, text in ipairs(beginnings(words)) do
        local ok, p = pcall(d.program, d, KERNEL .. text)
        if ok then
          built = built + 1
          p.k(1, x:fill(0))
          assert.equal(42, x[1], text)
        else
          refused = refused + 1
          assert.truthy(p:find "clBuildProgram" or p:find "^program: " or p:find "include", text .. "\n" .. p)
        end
      end
    end
    assert(built > 20 and refused > 50, built .. " " .. refused)
  end)
end)

helper.describe_each("a source", function(d)
  it("has structs whose size is known however they are written", function()
    local out = d:zeros("ulong", 1)
    for body, size in pairs { ["int a[2];"] = 8, ["char a[3], b;"] = 4, ["int a[0x2];"] = 8, ["int a[2][3];"] = 24,
      ["int a[1 + 1];"] = 8, ["struct { int q; } u;"] = 4, ["int a[N];"] = 16, ["long a, b; char c;"] = 24,
      ["T a; char b;"] = 8, ["char a; float3 b[2], c;"] = 64, ["const int a; volatile char b;"] = 8,
      ["char a[010];"] = 8,
      ["int a, (b);"] = 8, ["int a, MORE;"] = 8, ["char a[2], b[3][N];"] = 14 } do
      local p = d:program(([[
        #define N 4
        #define MORE more
        typedef int T;
        struct s { %s };
        kernel void f(struct s v, global ulong *out) { out[0] = sizeof(v); }]]):format(body))
      helper.raises("bytes", p.f, 1, ("\0"):rep(size - 1), out)
      p.f(1, ("\0"):rep(size), out)
      assert.equal(size, out[1], body)
    end
  end)

  -- `deepest`: structs in more structs than are followed; the others end where a struct may be read on.
  it("has structs whose size is the compiler's where the text does not tell it", function()
    local deepest, x = "struct s0 { int a; };\n", d:zeros("int", 1)
    for i = 1, 10 do deepest = deepest .. ("struct s%d { struct s%d a; };\n"):format(i, i - 1) end
    deepest = deepest .. "typedef struct s10 pair;"
    local plain = "typedef struct { int a; } pair;"
    for _, case in ipairs { { deepest }, { plain, "struct" }, { plain, "struct tag" }, { plain, "struct {}" },
      { plain, "struct {} name" }, { "#pragma pack(4)\n" .. plain } } do
      local p = d:program(case[1] .. [[
        kernel void k(pair v, global int *x) { x[0] = *(private int *)&v; }
        ]] .. (case[2] and "#define LAST " .. case[2] or ""))
      p.k(1, ("i4"):pack(42), x:fill(0))
      assert.equal(42, x[1], table.concat(case, " ... "))
    end
  end)

  it("may make unions of its structs", function()
    local out = d:zeros("ulong", 1)
    local p = d:program [[
      #define struct union
      typedef struct { int a; float b; } pair;
      kernel void f(pair v, global ulong *out) { out[0] = sizeof(v) + v.a; }]]
    helper.raises("4 bytes expected", p.f, 1, ("i4i4"):pack(1, 2), out)
    p.f(1, ("i4"):pack(38), out)
    assert.equal(42, out[1])
  end)

  it("has types whose meaning is found, and else the compiler's word for them", function()
    local chain, x = "typedef int t0;\n", d:zeros("int", 1)
    for i = 1, 10 do chain = chain .. ("typedef t%d t%d;\n"):format(i - 1, i) end
    for text, is_found in pairs { ["typedef int count;\n#if 0\ntypedef ;\ntypedef other;\n#endif"] = true,
      ["#define WORD unsigned int \t\ntypedef WORD count;"] = true, [chain .. "typedef t10 count;"] = false,
      ["#define WORD __attribute__((aligned(4))) int\ntypedef WORD count;"] = false,
      ["#define NONE\ntypedef NONE int count;"] = false } do
      local p = d:program(text .. "\nkernel void k(count v, global int *x) { x[0] = v; }\n#define CUT typedef int")
      p.k(1, is_found and 42 or ("i4"):pack(42), x:fill(0))
      assert.equal(42, x[1], text)
    end
  end)

  it("may paste words that are no name, and a macro may be a # alone or have a kernel's name", function()
    local x = d:zeros("int", 1)
    local p = d:program [[
      #define PASTE(a, b) a ## b
      #define HASH #
      #define TEXT(a) #a
      #define k k
      kernel void k(global int *x) {
        int barriers_seen = 40;
        x[0] = PASTE(barriers, _seen) + sizeof(TEXT(HASH)) - 3;
      }]]
    p.k(1, x)
    assert.equal(42, x[1])
  end)
end)
