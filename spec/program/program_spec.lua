-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local TWICE = [[
kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }
kernel void thrice(global float *x) { x[get_global_id(0)] *= 3; }
]]

--- Calls f(path) with a temporary file of that text, which is gone afterwards.
local function with_file(text, f)
  local path = os.tmpname()
  helper.write(path, text)
  local ok, message = pcall(f, path)
  os.remove(path)
  if not ok then error(message, 0) end
end

helper.describe_each("a program", function(d)
  --- What a kernel `k` that writes one int writes.
  local function result(source, options)
    local p = d:program(source, options)
    local out = d:zeros("int", 1)
    p.k(1, out)
    return out[1]
  end

  it("gives a kernel in two lines", function()
    local x = d:buffer { 1, 2, 3 }
    local p = d:program(TWICE)
    p.twice(#x, x)
    assert.same({ 2, 4, 6 }, x:read())
  end)

  it("lists its kernels", function()
    local names = d:program(TWICE).kernels
    table.sort(names)
    assert.same({ "thrice", "twice" }, names)
  end)

  it("gives the same kernel each time, as a field and by name", function()
    local p = d:program(TWICE)
    assert.is_true(rawequal(p.twice, p:kernel "twice"))
    assert.is_true(rawequal(p.twice, p.twice))
    assert.is_false(rawequal(p.twice, p.thrice))
    assert.equal("thrice", p.thrice.name)
  end)

  it("reaches a kernel named like a built-in function", function()
    local x = d:buffer({ 5 }, "int")
    local p = d:program "kernel void dot(global int *x) { x[0] += 1; }"
    p.dot(1, x)
    p:kernel "dot"(1, x):wait()
    assert.same({ "dot" }, p.kernels) -- whatever the driver calls it
    assert.equal("program with kernels dot", tostring(p))
    helper.raises("kernel 'dot' takes 1 argument", p.dot, 1)
    helper.raises("no kernel 'dt' in the program; there are: dot", p.kernel, p, "dt")
    assert.equal(7, x[1])
  end)

  it("reaches a kernel named like a method or field by p:kernel", function()
    local p = d:program [[
      kernel void release(global int *x) { x[0] = 7; }
      kernel void kernels(global int *x) { x[0] = 8; }
    ]]
    local x = d:zeros("int", 1)
    assert.equal("table", type(p.kernels))
    p:kernel "release"(1, x)
    assert.equal(7, x[1])
    p:kernel "kernels"(1, x)
    assert.equal(8, x[1])
  end)

  it("comes from a file", function()
    with_file(TWICE, function(path)
      local x = d:buffer { 1, 2 }
      d:program({ file = path }).thrice(2, x)
      assert.same({ 3, 6 }, x:read())
    end)
  end)

  it("says where an included file is looked for", function()
    helper.raises({ "none.h", "in the folders of option 'include'" }, d.program, d,
      '#include "none.h"\nkernel void k(global int *x) { x[0] = 1; }')
  end)

  it("says where a macro goes whose name POCL's headers define", function()
    local source, o = "kernel void f(global int *o) { o[0] = length; }", d:zeros("int", 1)
    local ok, message = pcall(d.program, d, source, { options = "-D length=7" })
    assert(ok or message:find("give it by defines", 1, true), message)
    d:program(source, { defines = { length = 7 } }).f(1, o)
    assert.equal(7, o[1])
  end)

  it("takes numbers, texts and booleans as defines", function()
    local source = [[kernel void k(global int *x) {
      #if defined(OFF)
      x[0] = -1;
      #else
      x[0] = N + TYPE + ON;
      #endif
    }]]
    assert.equal(1016 + 1, result(source, { defines = { N = 16, TYPE = "(10 * 100)", ON = true, OFF = false } }))
  end)

  it("passes options of the allow-list on", function()
    local source = "kernel void k(global int *x) { x[0] = N; }"
    assert.equal(5, result(source, { options = "-cl-mad-enable -DN=5  -w" }))
    assert.equal(6, result(source, { options = "-D N=6 -Werror" }))
  end)

  it("says which option OpenCL does not have where the driver refuses one", function()
    local source = "kernel void k(global int *x) { x[0] = 7; }"
    for _, option in ipairs { "-Wall", "-Wextra", "-O" } do
      local ok, message = pcall(result, source, { options = ("-w -I . -DN -Werror %s -cl-mad-enable"):format(option) })
      assert.equal(not (d.platform:find "Portable" or d.platform:find "NVIDIA"), ok)
      if not ok then assert.matches("\n'" .. option .. "' is no option of OpenCL: each", message, 1, true) end
    end
    local ok, message = pcall(result, "kernel void k(global int *x) { x[0] = ; }", { options = "-Wall" })
    assert.equal(not d.platform:find "Oclgrind", not ok and message:find "is no option of OpenCL" ~= nil)
    ok, message = pcall(result, source, { options = "-w -cl-nonsense" })
    if not ok then assert.is_nil(message:find "is no option of OpenCL") end
  end)

  it("takes names behind a blank in options, and a byte order mark before its text", function()
    with_file("#define FROM_HEADER 40\n", function(path)
      local folder, name = path:match "^(.*)/([^/]*)$"
      local source = ("#include \"%s\"\n#ifndef M\n#error M\n#endif\n"
        .. "kernel void k(global int *x) { x[0] = FROM_HEADER + N; }"):format(name)
      local options = ("-D N=2 -I %s  -D M"):format(folder)
      assert.equal(42, result("\xEF\xBB\xBF" .. source, { options = options }))
    end)
  end)

  it("shows arguments that are named like a built-in function as the source does", function()
    local k = d:program("kernel void k(global int *step, float dot) { *step = dot; }").k
    assert.equal("kernel k(global int* step, float dot)", tostring(k))
    helper.raises("argument 2 'dot' (float)", k, 1, d:zeros("int", 1), "x")
    local message = helper.raises("nowhere", d.program, d, "kernel void k(global int *x) { int step = nowhere(dot); }")
    assert.not_matches("_cl_", message)
  end)

  it("finds included files beside its own file", function()
    local folder = helper.folder()
    finally(function() os.execute("rm -r " .. folder) end)
    for name, text in pairs {
      ["value.h"] = "#define VALUE 42\n",
      ["k.cl"] = '#include "value.h"\nkernel void k(global int *x) { x[0] = VALUE; }',
    } do helper.write(folder .. "/" .. name, text) end
    local x = d:zeros("int", 1)
    d:program({ file = folder .. "/k.cl" }).k(1, x)
    assert.equal(42, x[1])
  end)

  it("finds included files in the given folders", function()
    with_file("#define FROM_HEADER 42\n", function(path)
      local folder, name = path:match "^(.*)/([^/]*)$"
      local source = ("#include \"%s\"\nkernel void k(global int *x) { x[0] = FROM_HEADER; }"):format(name)
      assert.equal(42, result(source, { include = { folder } }))
    end)
  end)

  it("is told in text", function()
    local p = d:program(TWICE)
    assert.truthy(tostring(p):find("twice", 1, true))
    p:release()
    assert.equal("program (released)", tostring(p))
  end)

  it("says which kernels there are when one is unknown", function()
    local p = d:program(TWICE)
    helper.raises({ "no kernel 'twyce'", "twice", "thrice" }, function() return p.twyce end)
    helper.raises({ "no kernel ''" }, p.kernel, p, "")
    helper.raises({ "string expected" }, p.kernel, p)
  end)

  it("is of no use once released, but its kernels live on", function()
    local p, x = d:program(TWICE), d:buffer { 1 }
    local twice = p.twice
    p:release()
    p:release()
    for _, use in ipairs {
      function() return p.twice end,
      function() return p.kernels end,
      function() return p:kernel "twice" end,
    } do helper.raises("program is released", use) end
    twice(1, x)
    assert.equal(2, x[1])
  end)

  it("makes a released kernel anew", function()
    local p, x = d:program(TWICE), d:buffer { 1 }
    local twice = p.twice
    twice:release()
    assert.equal("kernel (released)", tostring(twice))
    helper.raises("kernel is released", twice, 1, x)
    helper.raises("kernel is released", function() return twice.args end)
    p.twice(1, x)
    assert.equal(2, x[1])
  end)

  it("refuses what is no source", function()
    for _, case in ipairs {
      { "", "no kernel in the source" }, { " \n// nothing\n", "no kernel in the source" },
      { "int f(void) { return 1; }", 'no kernel in the source; "kernel void name(...)" declares one' },
      { "#if 0\nkernel void f(int n) { }\n#endif", "no kernel in the source" }, { TWICE .. "\0", "NUL byte" },
      { "\0" .. TWICE, "NUL byte" }, { { "a.cl", "b.cl" }, "a list of files is {files={...}}" },
      { "life.cl", 'source expected, got a file\'s name: use {file="life.cl"}' },
      { "kernels/no life.cl", 'use {file="kernels/no life.cl"}' }, { 12, "string or {file=} expected" },
      { nil, "string or {file=} expected" }, { true, "string or {file=} expected" },
      { {}, "option 'file': path expected" }, { { file = "" }, "option 'file': path expected" },
      { { binary = "" }, "option 'binary': path expected" }, { { file = 1 }, "option 'file': string expected" },
      { { file = "/nowhere/life.cl" }, "/nowhere/life.cl: No such file" }, { { file = "/" }, "/: " },
      { { file = "life.cl", name = "x" }, "no option 'name'" },
    } do helper.raises(case[2], d.program, d, case[1]) end
    assert.equal("twice", d:program(TWICE .. "// life.cl").kernels[1]) -- a source may end so
  end)

  it("refuses wrong options", function()
    for _, case in ipairs {
      { { define = {} }, { "no option 'define'", "defines" } }, { { "defines" }, "no option '1'" },
      { "-w", 'options are a table: {options="-w"}' }, { { defines = "N=1" }, "option 'defines': table expected" },
      { { defines = { ["N 1"] = 1 } }, "'N 1' is no identifier" },
      { { defines = { [1] = 1 } }, "'1' is no identifier: names are keys, as in { N = 4 }" },
      { { defines = { ["2N"] = 1 } }, "'2N' is no identifier" },
      { { defines = { N = {} } }, "expected for N, got table" }, { { defines = { N = 1 / 0 } }, "N is not finite" },
      { { defines = { N = 0 / 0 } }, "N is not finite" },
      { { defines = { N = "1\n2" } }, "the value of N must stay on one line" },
      { { defines = { N = "1\\" } }, "the value of N must stay on one line" },
      { { defines = { N = "1\0" } }, "the value of N must stay on one line" },
      { { defines = { ["N\0"] = 1 } }, "is no identifier" },
      { { options = "-w\0" }, "option 'options': the text holds a NUL byte" },
      { { include = { "/tmp\0" } }, "folder 1: a path without" },
      { { options = 1 }, "option 'options': string expected" },
      { { options = '-DX="2 + 3"' }, "values with blanks or quotes go into defines, a table" },
      { { options = "-include /etc/passwd" }, "'-include' is none of" },
      { { options = "-w -fplugin=x.so" }, "'-fplugin=x.so' is none of" },
      { { options = "-w\t-fplugin=x.so" }, "is no plain word" },
      { { options = "-Wp,-include,/etc/passwd" }, "is none of" },
      { { options = "-DN=\"x\"" }, "no plain word" }, { { options = "-I a\t-fplugin=x.so" }, "is no plain word" },
      { { options = '-D A="x' }, { [['A="x']], "values with blanks or quotes go into defines, a table" } },
      { { options = "x" }, "'x' is none of" }, { { include = "/tmp" }, "option 'include': table of folders expected" },
      { { include = { "/tmp -fplugin=x" } }, "folder 1: a path without blanks" },
      { { include = { "/tmp", 'a"b' } }, "folder 2: a path without blanks" },
      { { include = { {} } }, "folder 1: a path" }, { { name = 'a"b' }, "name holds a quote" },
      { { name = "a\nb" }, "name holds a quote" }, { { name = {} }, "option 'name': string expected" },
    } do helper.raises(case[1] and case[2], d.program, d, TWICE, case[1]) end
  end)

  it("is refused without a name for its logs, and with options that lack one", function()
    helper.raises("name is empty", d.program, d, "kernel void f() { bad }", { name = "" })
    helper.raises("must be followed by a name", d.program, d, "kernel void f() {}", { options = "-D" })
    helper.raises("must be followed by a name", d.program, d, "kernel void f() {}", { options = "-U -w" })
    helper.raises("must be followed by a name", d.program, d, "kernel void f() {}", { options = "-w -I" })
    helper.raises("folder 1", d.program, d, "kernel void f() {}", { include = { "" } })
  end)

  it("keeps its text from `debug`", function()
    local p = d:program "kernel void f() {}"
    for n = 1, 5 do debug.setuservalue(p, nil, n) end
    assert.equal("f", p:kernel("f").name)
  end)
end)

helper.describe_each("a build error", function(d)
  local BROKEN = "kernel void k(global int *x) {\n  x[0] = 1;\n  x[1] = nowhere;\n}\n"

  it("carries the code, the log and the name of the source", function()
    helper.raises({ "clBuildProgram", "CL_BUILD_PROGRAM_FAILURE (-11)", "source does not build",
      "nowhere" },
      d.program, d, BROKEN)
    helper.raises("life.cl does not build", d.program, d, BROKEN, { name = "life.cl" })
  end)

  it("is told by the error alone: the driver writes nothing itself", function()
    if d.platform:find "NVIDIA" then return pending "it counts errors and warnings there, and no option keeps it" end
    local all = helper.output(([[
      local d = require "clcompute".device(%q)
      print(pcall(d.program, d, "kernel void f() { nowhere(); }"))]]):format(d.place))
    assert.matches("nowhere", all, 1, true)
    assert.not_matches("generated", all)
  end)

  -- Oclgrind and NVIDIA count lines by themselves, whatever #line says.
  it("names the line and shows it with its number", function()
    helper.raises({ "source:3:", "source:3 |   x[1] = nowhere;" }, d.program, d, BROKEN)
    local line = "kernel void f(global int *x) { x[0] = nowhere; }"
    for before, number in pairs { ["#line 900\n"] = 900, ["\n\n#line 2\n"] = 2 } do -- no line to be shown
      local message = helper.raises("nowhere", d.program, d, before .. line)
      if not helper.is_simulator(d) and not d.platform:find "NVIDIA" then
        assert.matches("source:" .. number .. ":", message, 1, true)
        assert.is_nil(message:find("source:" .. number .. " |", 1, true))
      end
    end
    helper.raises("undeclared:1 | " .. line, d.program, d, line, { name = "undeclared" })
    helper.raises({ "life.cl:3:", "life.cl:3 |   x[1] = nowhere;" }, d.program, d, BROKEN, { name = "life.cl" })
  end)

  it("names the line of the script in which the source stands, if one is running", function()
    local source = [[
      kernel void f(global int *x) {
        x[0] = nobody; // this line
      }]]
    local message, named = helper.raises("source:2:", d.program, d, source),
      helper.raises("a.cl:2:", d.program, d, source, { name = "a.cl" })
    local line = 0
    for text in io.lines "spec/program/program_spec.lua" do
      line = line + 1
      if text:find("nobody; // this line", 1, true) then break end
    end
    assert.matches(("\nsource:2 is [^\n]*program_spec.lua:%d$"):format(line), message)
    assert.matches(("\na.cl:2 is [^\n]*program_spec.lua:%d$"):format(line), named)
    local joined = helper.raises("source:1:", d.program, d, "kernel void f(" .. "global int *x) { x[0] = nobody; }")
    assert.not_matches("source:1 is", joined)
  end)

  it("points at the column, behind tabs and letters of several bytes", function()
    for line, before in pairs { ["  x[1] = nowhere;"] = "         ", ["\tx[1] = nowhere;"] = "\t       ",
      ["  /* \u{e9} */ x[1] = nowhere;"] = "                 " } do
      local source = "kernel void f(global int *x) {\n" .. line .. "\n}"
      helper.raises("source:2 | " .. line .. "\n           " .. before .. "^", d.program, d, source)
    end
  end)

  it("keeps every digit of a number that it defines", function()
    if not d.has_double then return pending "no double precision" end
    local out = d:zeros("double", 1)
    for _, x in ipairs { math.pi, -0.1, 1 / 3, 1e300, 5e-324, 2.0 ^ 53, 1e22, -0.0 } do
      d:program("kernel void f(global double *out) { out[0] = X; }", { defines = { X = x } }).f(1, out)
      assert.equal(x, out[1])
      assert.equal(1 / x, 1 / out[1])
    end
  end)

  it("does not count defines as lines", function()
    helper.raises("source:3 |   x[1] = nowhere;", d.program, d, BROKEN, { defines = { A = 1, B = 2, C = 3 } })
  end)

  it("names the file it came from", function()
    with_file(BROKEN, function(path)
      helper.raises({ path .. ":3:", path .. ":3 |   x[1] = nowhere;" }, d.program, d, { file = path })
      helper.raises("given.cl:3 |   x[1] = nowhere;", d.program, d, { file = path }, { name = "given.cl" })
    end)
  end)

  it("takes what a text says of places for no place of its own", function()
    local message = helper.raises("source:2 | #error", d.program, d,
      "kernel void f(global int *_cl_x) {}\n#error source:x source:1 source:1:0 source:1:999\n")
    assert.matches("source:1 | kernel void f(global int *_cl_x) {}", message, 1, true)
  end)

  it("shows each line once, and the last one without a newline too", function()
    local message = helper.raises("source:2 | x[0] = a + a; }", d.program, d,
      "kernel void k(global int *x) {\nx[0] = a + a; }")
    local _, shown = message:gsub("source:2 |", "")
    assert.equal(1, shown)
  end)

  it("leaves the device usable", function()
    pcall(d.program, d, BROKEN)
    local x = d:buffer { 4 }
    d:program(TWICE).twice(1, x)
    assert.equal(8, x[1])
  end)
end)

helper.describe_each("a prebuilt kernel", function(d)
  it("is a Kernel, the same each time", function()
    local k = d:kernel "saxpy"
    assert.is_true(rawequal(k, d:kernel "saxpy"))
    assert.equal("saxpy", k.name)
    assert.truthy(tostring(k):find("global float* x", 1, true))
  end)

  it("comes for another dtype", function()
    assert.truthy(tostring(d:kernel("saxpy", { dtype = "int" })):find("global int* x", 1, true))
    if d.has_double then
      assert.truthy(tostring(d:kernel("saxpy", { dtype = "double" })):find("global double* x", 1, true))
    end
  end)

  it("takes defines", function()
    local k = d:kernel("gemm_tiled", { defines = { TS = 4 } })
    assert.is_false(rawequal(k, d:kernel "gemm_tiled"))
  end)

  it("may be released: the next use makes it anew", function()
    local x, y = d:buffer { 1, 2 }, d:buffer { 10, 20 }
    d:kernel("saxpy"):release()
    assert.same({ 12, 24 }, cl.saxpy(2, x, y):read())
  end)

  it("is refused under a wrong name or with wrong options", function()
    for _, case in ipairs {
      { "../x", nil, "small letters, digits and _" }, { "/etc/passwd", nil, "small letters, digits and _" },
      { "saxpy.cl", nil, "small letters, digits and _" }, { "SAXPY", nil, "small letters, digits and _" },
      { "", nil, 'got ""' }, { "saxpi", nil, "saxpi" }, { 1.5, nil, "small letters" }, { {}, nil, "string expected" },
      { "saxpy", { type = "float" }, "no option 'type'" }, { "saxpy", { dtype = "real" }, "no dtype 'real'" },
      { "saxpy", { dtype = 1 }, "no dtype" }, { "saxpy", { defines = 1 }, "option 'defines': table expected" },
    } do helper.raises(case[3], d.kernel, d, case[1], case[2]) end
  end)

  it("is not exchanged for a user's, which takes other arguments", function()
    local output = helper.output(([[
      local cl = require "clcompute"
      local d = cl.device "%s"
      local k = d:program("kernel void f(global float *x) {}").f
      local instead = {}
      for _, file in ipairs { "chunks 16", "vectors 4" } do instead["saxpy float map_" .. file] = k end
      for n = 1, 3 do debug.setuservalue(d, instead, n) end
      print(pcall(cl.saxpy, 1, d:zeros("float", 1), d:zeros("float", 1)))
    ]]):format(d.platform))
    assert.truthy(output:find("true\tfloat buffer 1", 1, true), output)
  end)
end)
