-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local answers = require "clcompute.answers"
local cl = require "clcompute"
local internal = require "clcompute.core.internal"

local fast = helper.device()

--- A kernel of groups of 16: B is a barrier, W a tree's step in local memory, C a store of one work-item.
local function kernel(body)
  local words = { B = "barrier(CLK_LOCAL_MEM_FENCE);", W = "if (t < k) s[t] += s[t + k];",
    C = "if (t == 0) r[0] += s[0];", S = "r[t] += s[t];", L = "for (uint k = n / 2; k > 0; k /= 2)" }
  return ([[
    int one(void) { return get_work_dim(); }
    kernel void f(global int *out, global const int *in) {
      local int s[32], r[32];
      const struct p { uint n; } four = { 4 }, *o = &four;
      const uint t = get_local_id(0), n = get_local_size(0); uint k0 = 0; s[t] = in[t];
      barrier(CLK_LOCAL_MEM_FENCE);
      %s
      out[t] = s[t] + r[t];
    }]]):format((body:gsub("%f[%w]%u%f[%W]", words)))
end

--- The lines of loops in a kernel that are handed to Lua: of those that are wrong, as a text, "" for none, and of one
-- that a careful device alone minds.
local function suspects(body)
  local judge, found, unproven = internal.judge_loops, "", "0"
  internal.judge_loops = function(_, _, ...)
    local lines = {}
    for i, place in ipairs { ... } do lines[i] = place and place:match "^source:(%d+)$" or "0" end
    unproven = table.remove(lines)
    found = table.concat(lines, " "):gsub("^0 0 0$", "")
    return false
  end
  local ok, message = pcall(fast.program, fast, kernel(body))
  internal.judge_loops = judge
  assert(ok, message)
  return found, unproven
end

--- Calls f, and returns the warnings that came meanwhile.
local function warnings_of(f)
  local own, list = warn, {}
  _G.warn = function(...) list[#list + 1] = table.concat { ... } end
  local ok, message = pcall(f)
  _G.warn = own
  assert(ok, message)
  return list
end

--- The place of a loop with a call in its condition that is handed to Lua, of a whole source.
local function suspect_of(text, options)
  local judge, found = internal.judge_loops, nil
  internal.judge_loops = function(_, _, place)
    found = place
    return false
  end
  local ok, message = pcall(fast.program, fast, text, options)
  internal.judge_loops = judge
  assert(ok, message)
  return found
end

local W2 = "if (t < 4) s[t]++;"

describe("a loop with barriers is told by its text:", function()
  for what, row in pairs {
    ["a call in its condition"] = { "7 0 0", "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { W B }" },
    ["a call in a function that its condition calls"] = { "7 0 0", "for (uint k = n / 2; k >= one(); k /= 2) { W B }" },
    ["a call in the `if` that leaves it"] = { "7 0 0",
      "for (uint k = n / 2;; k /= 2) { if (k < get_work_dim()) break; W B }" },
    ["a call, and a variable that is named like the kernel"] = { "7 0 0",
      "for (uint f = n / 2; f >= get_work_dim(); f /= 2) { if (t < f) s[t] += s[t + f]; B }" },
    ["a call behind && without memory"] = { "7 0 0",
      "for (uint k = n / 2; k >= get_work_dim() && n > 1; k /= 2) { W B }" },
    ["a call, and a step that is no constant"] = { "7 0 0",
      "for (uint k = n - 1; k >= get_work_dim() && k < n; k -= n / 8) { W B }" },
    ["a call, and a constant in parentheses"] = { "7 0 0",
      "for (uint k = n / 2; k >= get_work_dim(); k -= (1)) { W B }" },
    ["memory behind ||"] = { "7 0 0", "for (uint k = n / 2; k > 0 || in[0] == 77; k /= 2) { W B }" },
    ["a `while`"] = { "7 0 0", "uint k = n / 2; while (k >= get_work_dim()) { W B k /= 2; }" },
    ["a barrier in a branch with a branch behind it"] = { "0 7 0", "L { B if (k & 5) { B C } }" },
    ["the same in an else"] = { "0 7 0", "L { B if (k & 5) { S } else { B C } }" },
    ["the same behind a continue"] = { "0 7 0", "L { if (k & 5) continue; W B C }" },
    ["a barrier in a branch that ends with a branch, and another branch before the next barrier"] = { "0 7 0",
      "if (n > 8) { B W2 } C" },
    ["the same in the branch of a branch"] = { "0 7 0", "if (n > 8) { if (n > 7) { B W2 } } C" },
    ["the same in the branch of an else"] = { "0 7 0", "if (n > 8) { S } else { if (n > 7) { B W2 } } C" },
    ["the same in an else, in a loop with a barrier at its end"] = { "0 7 0",
      "L { if (k & 5) { S } else { B W } C B }" },
    ["the same before a break"] = { "0 7 0", "L { if (k & 5) { B W } if (in[1] > k) break; B }" },
    ["loops in the else alone"] = { "0 0 7",
      "L { if (k & 5) { C } else { for (int j = 0; j < 2; j++) { W B } C } B }" },
    ["loops in both branches"] = { "0 0 7",
      "L { if (k & 5) { for (int j = 0; j < 2; j++) { W B } C } else { for (int j = 0; j < 3; j++) { W B } C } B }" },
    ["loops in a branch of an if and else"] = { "0 0 7",
      "L { if (k & 5) { for (int j = 0; j < 2; j++) { W B } C } else { C } B }" },
  } do
    it(what, function() assert.equal(row[1], (suspects((row[2]:gsub("W2", W2))))) end)
  end

  it("none within more statements than are looked at", function()
    for _, n in ipairs { 90, 110 } do
      local loop = "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { W B }"
      local wrong = suspects(("{"):rep(n) .. loop .. ("}"):rep(n))
      assert.equal(n < 100 and "7 0 0" or "", wrong)
    end
  end)

  it("one that a careful device alone minds", function()
    for _, body in ipairs {
      "if (n > 8) { B S }", "if (n > 8) { S } else { B S }", "do { S B k0++; } while (k0 < 4);",
      "while (in[0] > k0) { S B k0++; }", "while (k0 < 4 && n > 1) { S B k0++; }",
      "for (;;) { B if (++k0 > 4) break; }", "while (k0++, k0 < 4) { S B }", "while (k0 < 4 ? n : 0) { S B k0++; }",
      "L { S if (in[1] > 7) continue; B }",
      "while (k0 < one()) { S B k0++; }", "while (o->n > k0) { S B k0++; }", "L { B if (k & 5) continue; C }",
      "for (uint k = ({ uint m = n; m; }); k > 0 && n > 1; k /= 2) { W B }",
      "while (k0 < 4) { S B if (n > 99) return; k0++; }",
      "while (k0 < 4) { S B if (n > 99) goto end; k0++; } end: ;",
    } do
      local wrong, unproven = suspects(body)
      assert.equal("", wrong, body)
      assert.equal("7", unproven, body)
    end
    for _, body in ipairs { "L { W B }", "for (uint k = n / 2; (k) > 0; k /= 2) { W B }",
      "for (uint k = n / 2; k > 0; k -= 1) { W B }", "while (k0 < (n + 1) / 2) { S B k0++; }",
      "L { W B for (int j = 0; j < 2; j++) { S B } }", "B if (n > 8) { S }", "L { if (k & 5) { S } else { W } B }" } do
      local wrong, unproven = suspects(body)
      assert.equal("", wrong, body)
      assert.equal("0", unproven, body)
    end
  end)

  it("wherever it stands", function()
    local tree = "for (uint k = 1; k < get_local_size(0); k *= 2) { if (t % (2 * k) == 0) s[t] += s[t + k]; BARRIER }"
    tree = tree:gsub("BARRIER", "barrier(CLK_LOCAL_MEM_FENCE);")
    local folder = helper.folder()
    local d = cl.device(fast.place, { careful = true })
    local x = d:zeros("int", 1)
    helper.write(folder .. "/tree.h", "#define NOTHING\nvoid tree(local int *s, uint t) {\n" .. tree .. "\n}\n")
    for what, row in pairs {
      ["a function"] = { "source:1", "static inline void tree(local int *s, uint t) { " .. tree .. " }",
        "tree(s, t);" },
      ["a macro"] = { "source:1", "#define TREE " .. tree, "TREE" },
      ["a macro with parameters"] = { "source:1", "#define TREE(s, t) do { " .. tree .. " } while (0)",
        "TREE(s, t);" },
      ["the head of a loop in a macro"] = { "source:1", "#define EACH for (uint k = 1; k < get_local_size(0); k *= 2)",
        "EACH { if (t % (2 * k) == 0) s[t] += s[t + k]; BARRIER }" },
      ["an included file"] = { folder .. "/tree.h:3", '#include "tree.h"', "tree(s, t);" },
      ["a goto"] = { "source:3", "", "uint k = 1; again: if (k < get_local_size(0)) {" ..
        " if (t % (2 * k) == 0) s[t] += s[t + k]; BARRIER k *= 2; goto again; }" },
    } do
      local text = row[2] .. "\nkernel void f(global int *o) {" ..
        " local int s[256]; uint t = get_local_id(0); s[t] = 1; BARRIER\n" .. row[3] .. "\nif (t == 0) o[0] = s[0]; }"
      text = text:gsub("BARRIER", "barrier(CLK_LOCAL_MEM_FENCE);")
      assert.equal(row[1], suspect_of(text, { include = { folder } }), what)
      warnings_of(function() d:program(text, { include = { folder } }).f({ global = 256, group = 256 }, x) end)
      assert.equal(256, x[1], what)
    end
    cl.device(fast.place, { careful = false })
    assert(os.execute("rm -r " .. folder))
  end)

  it("one of several files, and of the options, by where it stands", function()
    local folder, loop = helper.folder(), "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { W B }"
    local one, two = helper.write(folder .. "/one.cl", "kernel void g(int n) { }\n"), folder .. "/two.cl"
    helper.write(two, kernel(loop))
    assert.equal(two .. ":7", suspect_of { files = { one, two } })
    os.execute("rm -r " .. folder)
    local text = kernel "LOOP"
    assert.equal("a macro of the options",
      suspect_of(text, { defines = { LOOP = kernel(loop):match "for [^\n]*" } }))
  end)

  it("none that is right", function()
    for _, body in ipairs {
      "if (n > 8) { B W2 } B C", "if (n > 8) { B W2 B } C", "if (n > 8) { B S } C", "if (n > 8) { B W2 } S",
      "if (n > 8) { B if (t > 3) k0++; } C", "if (n > 8) { B W2 } if (t > 3) k0++;",
      "L { W B } L { W B }", -- halving form
      "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { B W }", -- a product of matrix and vector reduces so
      "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { W B C }",
      "for (uint k = n / 2; k >= get_work_dim() && in[0] != 77; k /= 2) { W B }",
      "for (uint k = n / 2; k > 0 || k - t > 77; k /= 2) { W B }", -- no memory
      "for (uint k = n / 2; k >= 1 + get_local_id(0) - t; k /= 2) { W B }", -- each work-item's own
      "uint k = 0; while (k < 3 * get_work_dim()) { W B k++; }", -- adds
      "for (uint k = n / 2; k >= get_work_dim(); k /= 2) { s[t] += k; if (in[0] == 77) break; B }",
      "uint k = n / 2; do { W B k /= 2; } while (k >= get_work_dim());",
      "for (uint k = t; k < 32; k += get_local_size(0)) r[k] = in[k]; B",
      "for (uint k = 0; k < get_work_dim(); k++) { W B }",
      "uint k = 9; while (k > 3 * get_work_dim()) { W B k -= 1; }",
      "L { if (k & 5) { for (int j = 0; j < 2; j++) { W B } C } else { for (int j = 0; j < 3; j++) { W B } } B }",
      "L { if (k & 5) { for (int j = 0; j < 2; j++) { W B } } else { for (int j = 0; j < 3; j++) { W B } C } B }",
      "uint k = n / 2;\n#define TEST (k > 0)\nwhile TEST { W B k /= 2; }",
      "\n#define HEAD uint k = n / 2; k > 0; k /= 2\nfor (HEAD) { W B }",
      "L { B if (k & 5) { W B S } }", "L { B if (k & 5) { W B C } B }", "if (n > 8) { W2 B C }",
    } do
      local source = body:gsub("W2", W2)
      assert.equal("", (suspects(source)), body)
    end
  end)
end)

--- POCL 3.1 adds to all elements, as if there were no `t < 32`.
local WITHOUT_LOOP = { dtype = "int", n = 64, range = { global = 64, group = 64 }, expected = {}, source = [[
  kernel void test(global int *out) {
    local int s[64];
    const int t = get_local_id(0);
    s[t] = 10;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_size(0) > 32) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (t < 32) s[t] += t;
    }
    if (t == 0) s[t] = 5;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[t] = s[t];
  }]] }
for t = 0, 63 do WITHOUT_LOOP.expected[t + 1] = t == 0 and 5 or t < 32 and 10 + t or 10 end

local fails = fast.platform:find "Portable" and fast.driver:find "^3%.1"

describe("a device whose compiler gets such loops wrong", function()
  local on_pocl = fails and it or pending
  local tests = answers.compiler_tests

  on_pocl("warns of each kind once, with the remedy that helps", function()
    for i, loop in ipairs(tests.loops) do
      local places = { false, false, false, false }
      places[i] = "sum.cl:5"
      local d = cl.device(fast.place, { careful = loop.careful or false })
      local list = warnings_of(function()
        assert.equal(d.careful, answers.judge_loops(d, false, table.unpack(places)))
      end)
      cl.device(fast.place, { careful = false })
      assert.equal(1, #list)
      for _, part in ipairs { "sum.cl:5: ", loop.what, "-cl-opt-disable" } do assert.matches(part, list[1], 1, true) end
    end
  end)

  on_pocl("is right when it is careful, isolated and in check mode too, and says so once", function()
    for _, options in ipairs { { careful = true }, { careful = true, isolated = true, check = true } } do
      local d = cl.device(fast.place, options)
      assert.is_true(d.careful)
      local was = d.isolated
      assert.equal(options.isolated or false, was)
      for _, test in ipairs { tests.local_size_loop, tests.barrier_in_branch, WITHOUT_LOOP } do
        local out
        local list = warnings_of(function()
          out = d:zeros(test.dtype, test.n)
          local p = d:program(test.source)
          for _ = 1, 2 do p.test(test.range, out) end
        end)
        assert.equal(1, #list)
        assert.matches("the program is built with -cl-opt-disable", list[1], 1, true)
        for i, value in ipairs(test.expected) do assert.equal(value, out[i]) end
      end
      cl.device(fast.place, { careful = false, isolated = was, check = false })
      assert.is_false(d.careful)
    end
  end)

  on_pocl("minds saved programs: it warns, and when it is careful it takes none with such a loop", function()
    local path, test = os.tmpname(), tests.barrier_in_branch
    local function load_on(options)
      local d = cl.device(fast.place, options)
      local list = warnings_of(function() assert.is_truthy(d:program { binary = path }.test) end)
      return #list, table.concat(list)
    end
    local list = warnings_of(function() fast:program(test.source, { name = "tree.cl" }):save(path) end)
    assert.equal(1, #list)
    for _ = 1, 2 do
      local count, text = load_on {}
      assert.equal(1, count)
      assert.equal(list[1], text)
      for _, options in ipairs { { careful = true }, { careful = true, isolated = true } } do
        local place = list[1]:match "tree%.cl:%d+"
        helper.raises({ "'binary'", "careful device's compiler may get wrong (" .. place .. ")" }, load_on, options)
        cl.device(fast.place, { careful = false, isolated = options.isolated })
      end
      warnings_of(function() fast:program({ binary = path }):save(path) end) -- saved again, it is as suspect
    end
    for _, d in ipairs { fast, cl.device(fast.place, { careful = true }) } do
      warnings_of(function()
        d:program(test.source, d.careful and {} or { options = "-cl-opt-disable" }):save(path)
      end)
      assert.equal(0, (load_on { careful = true }))
    end
    cl.device(fast.place, { careful = false })
    os.remove(path)
  end)

  on_pocl("keeps the verdict that its careful builds do not change", function()
    assert.equal("fault", answers.run(cl.device(fast.place, { careful = true }), tests.barrier_in_branch))
    cl.device(fast.place, { careful = false })
  end)
end)

describe("careful", function()
  it("takes a boolean", function()
    helper.raises("option 'careful': boolean expected, got number", cl.device, fast.place, { careful = 1 })
  end)

  it("is off, unless $CLCOMPUTE_CAREFUL says so or the prompt guards the library", function()
    local script = "print(require 'clcompute'.device().careful)"
    assert.equal("false\n", helper.output(script, { CLCOMPUTE_CAREFUL = "0" }))
    assert.equal("true\n", helper.output(script, { CLCOMPUTE_CAREFUL = "1" }))
    assert.equal("true\tfalse\n", helper.output([[
      local cl = require "clcompute"
      require "clcompute.prompt".guard(cl)
      local careful = cl.device().careful
      print(careful, cl.device(nil, { careful = false }).careful)]], { CLCOMPUTE_CAREFUL = "" }))
  end)
end)

describe("the name of a kernel", function()
  local function source(length)
    return ("kernel void %s(global int *x) { x[0] = 7; }"):format(("k"):rep(length))
  end

  it("is refused where a driver would end the process for it, isolated or not", function()
    for _, d in ipairs(helper.devices()) do
      helper.raises("name 'kkkkkkkkkkkkkkkkkkkk...' of 256 characters: drivers crash on more than 255", d.program, d,
        source(256))
      local most = 255
      if d.platform:find "Portable" then
        most = 252
        helper.raises("kernel 'kkkkkkkkkkkkkkkkkkkk...' has a name of 253 characters: POCL names files after a kernel",
          d.program, d, source(253))
        local isolated = cl.device(d.place, { isolated = true })
        helper.raises("of 1000 characters", isolated.program, isolated, source(1000))
      end
      local x <close> = d:zeros("int", 1)
      d:program(source(most))[("k"):rep(most)](1, x)
      assert.equal(7, x[1])
    end
  end)

  it("has the room that POCL's folder leaves", function()
    if not fast.platform:find "Portable" then return pending "no POCL" end
    local folder = os.tmpname()
    os.remove(folder)
    local long = folder .. "/" .. ("d"):rep(200) .. "/" .. ("e"):rep(200) .. "/" .. ("f"):rep(200)
    assert(os.execute("mkdir -p " .. long))
    local output = helper.output(([[
      local d = require "clcompute".device "pocl"
      for _, length in ipairs { 100, 200 } do
        local name = ("k"):rep(length)
        local built, p = pcall(d.program, d, ("kernel void %%s(global int *x) { x[0] = 7; }"):format(name))
        local x = d:zeros("int", 1)
        if built then p:kernel(name)(1, x) end
        print(built and x[1] or p)
      end]]):format(), { POCL_CACHE_DIR = long })
    os.execute("rm -r " .. folder)
    assert.matches("^7\n", output)
    assert.matches("takes at most %d+ in its folder .*shorten it, or set POCL_CACHE_DIR to a shorter path", output)
  end)
end)
