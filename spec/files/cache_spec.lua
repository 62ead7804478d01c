-- SPDX-License-Identifier: MIT
--- Compiled programs kept on disk. Every build is in a child process with a folder of its own;
--- the counting layer tells which OpenCL call made a program: of a source or of a binary.

local helper = require "spec.helper"

local device, shell = helper.device(), helper.shell

--- What each script starts with: build(source [, options]) returns "source" or "binary", what the
--- kernel `k` wrote, and the program.
local PRELUDE = ([[
  local cl, count = require "clcompute", require "clcount"
  local d = cl.device "%s"
  local SOURCE = "kernel void k(global int *x, const float4 v) { x[0] = 40 + (int)v.y; }"
  local function build(source, options)
    local p = d:program(source, options)
    local call
    for _, handle in ipairs(count.live()) do
      if handle.type == "cl_program" then call = handle.call end
    end
    local out = d:zeros("int", 1)
    p.k(1, out, {1, 2, 3, 4})
    return call:match "^clCreateProgramWith(%%a+)$":lower(), out[1], p
  end
  local function show(...)
    local made, value = build(...)
    print(made, value)
  end
  local function read(path) return assert(io.open(path, "rb")):read "a" end
  local function write(path, bytes) assert(io.open(path, "wb")):write(bytes):close() end
]]):format(device.place)

describe("the cache of programs", function()
  local folder

  before_each(function() folder = helper.folder() end)
  after_each(function() shell("rm -rf " .. folder) end)

  --- What a child prints that runs the script with the folder as its cache; it must end well.
  local function run(script, environment)
    environment = environment or {}
    environment.POCL_DEVICES = "pthread" -- for the serial device a program is built of its binary at once
    environment.CLCOMPUTE_CACHE = environment.CLCOMPUTE_CACHE or folder .. "/cache"
    local ok, output, code = helper.run(PRELUDE .. script, environment)
    assert.is_true(ok, ("exit code %s: %s"):format(code, output))
    return output
  end

  local function files() return (shell(("ls %s/cache"):format(folder))) end

  --- Path of the one file that is kept.
  local function kept() return folder .. "/cache/" .. files():match "^(%x+%.bin)\n$" end

  it("builds from source once, then from the binary in each process", function()
    assert.equal("source\t42\n", run "show(SOURCE)")
    assert.equal("binary\t42\n", run "show(SOURCE)")
    assert.equal("binary\t42\nbinary\t42\n", run "show(SOURCE) show(SOURCE)")
    assert.matches("^" .. ("%x"):rep(16) .. "%.bin\n$", files())
  end)

  local sentence = "builds from source without a word of the driver's, a wrong text with all functions declared"
  helper.on_cpu(sentence, function()
    local output = run [[
      count.fail("clBuildProgram", -11, 100) -- the hundredth
      local ok, message = pcall(d.program, d, "kernel void k(global int *x) { x[0] = nowhere; }")
      print(ok, message:match "nowhere", count.hits().seen)]]
    assert.equal("false\tnowhere\t2\n", output) -- first with those that it names alone
  end)

  it("has programs that can be saved as those built from source can", function()
    local path = folder .. "/saved"
    for _, made in ipairs { "source", "binary" } do
      assert.equal(made .. "\nbinary\t42\n", run(([[
        local made <const>, _, p = build(SOURCE)
        print(made)
        p:save "%s"
        show { binary = "%s" }]]):format(path, path)))
    end
  end)

  it("builds a program with structs by value once, where the text tells their size", function()
    local output = run [[
      count.fail("clBuildProgram", -11, 100)
      local p = d:program [=[typedef struct { char c; float3 v; short s[3]; } S;
        kernel void k(global int *x, S s) { x[0] = s.c; }]=]
      print(pcall(p.k, 1, d:zeros("int", 1), "x"))
      print(count.hits().seen)]]
    assert.matches("packed string of 48 bytes expected, [^\n]* got 1 bytes\n1\n$", output)
  end)

  it("says whether it holds what would be built, and builds nothing then", function()
    local ask = [[print(d:is_built(SOURCE), d:is_built(SOURCE, { options = "-w" }))]]
    local function answer(environment) return (run(ask, environment):gsub("\n", "")) end
    assert.equal("false\tfalse", answer())
    assert.matches("No such file", files())
    run "show(SOURCE)"
    assert.equal("true\tfalse", answer())
    assert.equal("false\tfalse", answer({ CLCOMPUTE_CACHE = "off" }))
    assert.matches("device is released", run "d:close() print(pcall(d.is_built, d, SOURCE))")
  end)

  it("serves prebuilt kernels", function()
    local script = [[
      local x = d:buffer {1, 2}
      print(cl.saxpy(2, x, d:buffer {3, 4}):read()[2])
      for _, h in ipairs(count.live()) do if h.type == "cl_program" then print(h.call) end end]]
    assert.equal("8.0\nclCreateProgramWithSource\n", run(script))
    assert.equal("8.0\nclCreateProgramWithBinary\n", run(script))
  end)

  it("makes folders and files for the user alone", function()
    run "show(SOURCE)"
    assert.equal("700 600\n", (shell(("echo $(stat -c %%a %s/cache %s)"):format(folder, kept()))))
  end)

  it("may be in a folder relative to the current one", function()
    local up = shell("pwd"):gsub("%s+$", ""):gsub("/[^/]+", "/.."):sub(2) -- from here to the root
    local relative = { CLCOMPUTE_CACHE = up .. folder .. "/relative/below" }
    assert.equal("source\t42\nbinary\t42\n", run("show(SOURCE) show(SOURCE)", relative))
    assert.matches("^%x+%.bin\n$", (shell(("ls %s/relative/below"):format(folder))))
  end)

  it("is in $XDG_CACHE_HOME or ~/.cache where $CLCOMPUTE_CACHE is empty", function()
    run("show(SOURCE)", { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = folder .. "/xdg" })
    assert.matches("^%x+%.bin\n$", (shell(("ls %s/xdg/clcompute"):format(folder))))
    run("show(SOURCE)",
      { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = "xdg", HOME = folder, POCL_CACHE_DIR = folder .. "/kcache" })
    assert.matches("^%x+%.bin\n$", (shell(("ls %s/.cache/clcompute"):format(folder))))
  end)

  it("is switched off by CLCOMPUTE_CACHE=off", function()
    local off = { CLCOMPUTE_CACHE = "off", XDG_CACHE_HOME = folder .. "/xdg" }
    assert.equal("source\t42\nsource\t42\n", run("show(SOURCE) show(SOURCE)", off))
    -- POCL keeps its own files there
    assert.matches("No such file", (shell(("ls %s/xdg/clcompute"):format(folder))))
  end)

  it("is no fault where its folder cannot be made", function()
    shell(("touch %s/file"):format(folder))
    for _, path in ipairs { folder .. "/file", folder .. "/file/below", "/proc/clcompute", "/dev/null" } do
      assert.equal("source\t42\nsource\t42\n", run("show(SOURCE) show(SOURCE)", { CLCOMPUTE_CACHE = path }))
    end
  end)

  it("finds a program again whatever the order of its defines", function()
    for _ = 1, 6 do -- each process has an order of its own
      run [[d:program("kernel void f(global int *x) { x[0] = A + B + C + D; }",
        { defines = { A = 1, B = 2, C = 3, D = 4 } }).f(1, d:zeros("int", 1))]]
    end
    assert.equal(1, tonumber((shell("ls " .. folder .. "/cache/*.bin | wc -l"))))
  end)

  it("tells programs apart by all that decides the outcome", function()
    local output = run [[
      local function both(...) show(...) show(...) end
      both(SOURCE)
      both(SOURCE .. " ")
      local other = "kernel void k(global int *x, const float4 v) { x[0] = N; }"
      both(other, {defines = {N = 1}})
      both(other, {defines = {N = 2}})
      both(other, {options = "-DN=2"})
      both(other, {options = "-DN=3"})
      both(other, {options = "-DN=3 -cl-opt-disable"})
      both(SOURCE, {name = "other.cl"})]]
    local expected = {}
    for _, value in ipairs { 42, 42, 1, 2, 2, 3, 3, 42 } do
      expected[#expected + 1] = ("source\t%d\nbinary\t%d\n"):format(value, value)
    end
    assert.equal(table.concat(expected), output)
  end)

  it("tells devices apart", function()
    run "show(SOURCE)"
    local text = assert(io.open(kept(), "rb")):read "a"
    for _, fact in ipairs { device.name, device.vendor, device.driver, device.platform } do
      assert.truthy(text:find("\n" .. fact .. "\n", 1, true), fact)
    end
  end)

  it("sees a change in an included file, in one that that one includes, and in which is found", function()
    local output = run(([[
      local dir = "%s"
      os.execute("mkdir " .. dir .. "/a " .. dir .. "/b")
      local source = "/* x */ # /* y */ inc\\\nlude <one.h>\n"
        .. "kernel void k(global int *x, const float4 v) { x[0] = ONE; }"
      local function both() for _ = 1, 2 do show(source, {include = {dir .. "/a", dir .. "/b"}}) end end
      write(dir .. "/b/one.h", "#define ONE 1\n")
      both()
      write(dir .. "/b/one.h", "#define ONE 2\n")
      both()
      write(dir .. "/b/one.h", "#include \"two.h\"\n#define ONE TWO\n")
      write(dir .. "/b/two.h", "#define TWO 3\n")
      both()
      write(dir .. "/b/two.h", "#define TWO 4\n")
      both()
      write(dir .. "/a/one.h", "#define ONE 5\n")
      both()
      os.remove(dir .. "/a/one.h")
      show(source, {include = {dir .. "/a", dir .. "/b"}})]]):format(folder))
    local expected = {}
    for value = 1, 5 do expected[value] = ("source\t%d\nbinary\t%d\n"):format(value, value) end
    assert.equal(table.concat(expected) .. "binary\t4\n", output)
  end)

  it("keeps nothing whose includes it cannot tell, or that asks for the time", function()
    run(([[
      local dir = "%s"
      write(dir .. "/one.h", "#define ONE 1\n")
      for _, head in ipairs {
        "#define HEADER <one.h>\n#include HEADER\n",
        "#if __has_include(<one.h>)\n#define ONE 1\n#endif\n",
        "constant char t[] = __TIME__;\n#define ONE 1\n",
        "%%:include <one.h>\n",
        "#include <one.h>\n#if 0\n#include_next <one.h>\n#endif\n",
        "#include <one.h>\n#if 0\n#import <one.h>\n#endif\n",
        "#include <one.h>\n#if 0\n#embed <one.h>\n#endif\n",
        "#include <one.h>\n#if 0\n#include <one.h\n#endif\n",
      } do
        local source = head .. "kernel void k(global int *x, const float4 v) { x[0] = ONE; }"
        for _ = 1, 2 do
          local made, value = build(source, {include = {dir}})
          assert(made == "source" and value == 1, head)
        end
      end]]):format(folder))
    assert.matches("No such file", files())
  end)

  it("refuses to wait for a pipe that is included or is the source", function()
    local output = helper.output(([[
      local d = require "clcompute".device "%s"
      os.execute "mkfifo %s/pipe"
      print(pcall(d.program, d, "#include <pipe>\nkernel void k(global int *x) { x[0] = 1; }", {include = {"%s"}}))
      print(pcall(d.program, d, {file = "%s/pipe"}))]])
      :format(device.place, folder, folder, folder), nil, 10)
    local message = ("false\t%s/pipe: a plain file expected, not a pipe, socket or device\n"):format(folder)
    assert.equal(message:rep(2), output)
  end)

  it("lets the scanner of split launches see what is included", function()
    run(([[
      local dir = "%s"
      write(dir .. "/helper.h", "int where(void) { return get_group_id(0); }\n")
      local p = d:program("#include \"helper.h\"\nkernel void k(global int *x) { x[0] = where(); }",
        {include = {dir}})
      local range = {global = 10, group = 4, remainder = "split"}
      local ok, message = pcall(p.k, range, d:zeros("int", 10))
      assert(not ok and message:find("get_group_id", 1, true), message)
      write(dir .. "/helper.h", "int where(void) { return get_global_id(0); }\n")
      p = d:program("#include \"helper.h\"\nkernel void k(global int *x) { x[where()] = where(); }",
        {include = {dir}})
      local x = d:zeros("int", 10)
      p.k(range, x)
      assert(x[10] == 9)]]):format(folder))
  end)

  it("gives kernels the same signature, limits and complaints", function()
    local script = [[
      local p = d:program("typedef float real; typedef struct { int a; } pair;\n"
        .. "kernel __attribute__((reqd_work_group_size(4, 2, 1)))\n"
        .. "void all(global const real *x, constant int2 *a_name_longer_than_the_room_there_is_for_names,\n"
        .. "  local uchar *s, const real r, pair q, const uint3 u) { if (s) s[0] = x[0]; }\n"
        .. "kernel void last(global int *release) { release[0] = 1; }")
      print(p.all, p.last)
      local i = p.all:info()
      print(i.group_size, i.local_memory, table.concat(i.required_group, " "))
      local x, s = d:zeros("float", 8), cl.scratch("uchar", 4)
      local c = d:zeros("int", 8)
      for _, case in ipairs {
        {x}, {c, c, s, 1, "1234", {1, 2, 3}}, {x, x, s, 1, "1234", {1, 2, 3}}, {x, c, 1, 1, "1234", {1, 2, 3}},
        {x, c, s, "1", "1234", {1, 2, 3}}, {x, c, s, 1, 1, {1, 2, 3}}, {x, c, s, 1, "1234", {1, 2}},
        {x, c, s, 1, "1234", {1, 2, -3}},
      } do
        print(select(2, pcall(p.all, {4, 2}, table.unpack(case))))
      end
      print(pcall(p.kernel, p, "nowhere"))
      for _, h in ipairs(count.live()) do if h.type == "cl_program" then io.stderr:write(h.call) end end]]
    local first, second = run(script), run(script)
    assert.truthy(first:find("clCreateProgramWithSource", 1, true))
    assert.is_nil(first:find("clCreateProgramWithBinary", 1, true))
    assert.is_nil(second:find("clCreateProgramWithSource", 1, true))
    assert.equal(first, (second:gsub("clCreateProgramWithBinary", "clCreateProgramWithSource")))
  end)

  it("gives the same build error each time, and keeps nothing of it", function()
    local script = [[
      local broken = "kernel void k(global int *x) {\n  x[0] = nowhere;\n}"
      print(select(2, pcall(d.program, d, broken)))
      print(select(2, pcall(d.program, d, "int f(void) { return 1; }")))]]
    assert.equal(run(script), run(script))
    assert.equal("", files())
  end)

  describe("that was damaged", function()
    --- `damage` is Lua text: a list of {name, bytes} made from the sound file's `bytes`. Each is built
    --- from source, and puts a sound file in its place.
    local function survives(damage)
      run "show(SOURCE)"
      run(([[
        local path = "%s"
        local bytes = read(path)
        local function flip(i) return bytes:sub(1, i - 1) .. string.char(bytes:byte(i) ~ 1) .. bytes:sub(i + 1) end
        for _, case in ipairs((function() %s end)()) do
          write(path, case[2])
          local made, value = build(SOURCE)
          assert(made == "source" and value == 42, case[1])
          made, value = build(SOURCE)
          assert(made == "binary" and value == 42, case[1] .. ", again")
          collectgarbage()
        end]]):format(kept(), damage))
    end

    it("at every byte of its header is not used", function()
      survives [[
        local cases = {}
        for i = 1, 48 do cases[i] = {"header byte " .. i, flip(i)} end
        return cases]]
    end)

    it("anywhere behind it is not used", function()
      survives [[
        local cases = {}
        for i = 0, 31 do
          local at = 49 + (#bytes - 49) * i // 31
          cases[#cases + 1] = {"byte " .. at, flip(at)}
        end
        return cases]]
    end)

    it("by truncation or by what was appended is not used", function()
      survives [[
        local cases = {{"longer", bytes .. "\0"}, {"twice", bytes .. bytes}}
        for i = 0, 7 do cases[#cases + 1] = {"length of " .. i .. "/8", bytes:sub(1, #bytes * i // 8)} end
        cases[#cases + 1] = {"the header", bytes:sub(1, 48)}
        cases[#cases + 1] = {"one byte less", bytes:sub(1, -2)}
        return cases]]
    end)

    -- Of a file's bytes: other contents, sound for the checks under a checksum that is right.
    local FORGE = [[
      local lengths = {string.unpack("<I8I8I8", bytes, 25)}
      local start = 49 + lengths[1] + lengths[2]
      local function forge(declarations, binary)
        local rest = string.pack("<I8I8I8", lengths[1], #declarations, #binary)
          .. bytes:sub(49, 48 + lengths[1]) .. declarations .. binary
        local sum = 0xcbf29ce484222325
        for i = 1, #rest do sum = (sum ~ rest:byte(i)) * 0x100000001b3 end
        return bytes:sub(1, 16) .. string.pack("<I8", sum) .. rest
      end
      local declarations, binary = bytes:sub(49 + lengths[1], start - 1), bytes:sub(start)
      assert(forge(declarations, binary) == bytes)
    ]]

    it("so that the driver refuses the binary is not used", function()
      survives(FORGE .. [[
        return {{"no program", forge(declarations, "this is no program")},
          {"of no length", forge(declarations, "")},
          {"other kernels", forge(declarations:gsub("kernel k", "kernel j"), binary)},
          {"no declarations", forge("", binary)}}]])
    end)

    it("of its declarations makes the driver tell the arguments", function()
      run "show(SOURCE)"
      run(([[
        local path = "%s"
        local bytes = read(path)
        %s
        local function try(text)
          write(path, forge(text, binary))
          local _, value, p = build(SOURCE)
          local arguments = tostring(p.k):gsub("%%s", ""):match "%%b()"
          assert(value == 42 and arguments == "(globalint*x,float4v)", ("%%q: %%s"):format(text, arguments))
        end
        for n = 1, #declarations - 1 do try(declarations:sub(1, n)) end
        for _, count in ipairs { 0, 1, 3, 99 } do try((declarations:gsub("kernel k 2", "kernel k " .. count))) end
        try((declarations:gsub("kernel k 2", "kernel k two")))
        try((declarations:gsub("v", ("v"):rep(1000)))) -- a name as long as none is
        try(declarations .. declarations:gsub("kernel k", "kernel j")) -- one that the binary has not
      ]]):format(kept(), FORGE))
    end)

    it("by one that holds another key is not used", function()
      run "show(SOURCE)"
      local first = kept()
      run [[show(SOURCE .. "\n")]]
      for name in files():gmatch "%S+" do
        local path = folder .. "/cache/" .. name
        if path ~= first then shell(("cp %s %s"):format(path, first)) end
      end
      assert.equal("source\t42\nbinary\t42\n", run "show(SOURCE) show(SOURCE)")
    end)

    it("by a folder, a pipe or a link in its place is not used", function()
      run "show(SOURCE)"
      local path = kept()
      for _, command in ipairs { "mkdir %s", "mkfifo %s", "ln -s /dev/zero %s", "mkdir %s; touch %s/file" } do
        shell(("rm -rf %s; "):format(path) .. command:gsub("%%s", path))
        assert.matches("^source\t42\n", run "show(SOURCE)")
      end
      assert.equal(path:match "[^/]*$" .. "\n", files())
    end)

    it("by a file that others may write is not used", function()
      run "show(SOURCE)"
      shell("chmod 666 " .. kept())
      assert.equal("source\t42\nbinary\t42\n", run "show(SOURCE) show(SOURCE)")
    end)

    it("by another user is not used", function()
      run "show(SOURCE)"
      if select(2, shell("chown 65534 " .. kept())) == nil then return pending "only root gives files away" end
      assert.equal("source\t42\nbinary\t42\n", run "show(SOURCE) show(SOURCE)")
    end)

    it("leaves no descriptor open", function()
      run "show(SOURCE)"
      local path = kept()
      for _, command in ipairs { "chmod 666 %s", "rm %s; mkfifo %s", "rm %s; mkdir %s", "rm -r %s; : > %s" } do
        shell((command:gsub("%%s", path)))
        assert.matches("^(%d+)\n%1\n$", run [[
          local function count() os.execute "ls /proc/$PPID/fd | wc -l" end
          d:is_built(SOURCE)
          count()
          for i = 1, 9 do d:is_built(SOURCE) end
          count()]])
      end
    end)
  end)

  it("is shared by processes that build at once", function()
    local script = PRELUDE .. [[
      for i = 1, 20 do
        local made, value = build("constant int n = " .. i .. ";" .. SOURCE)
        assert(value == 42)
      end]]
    local path = folder .. "/script.lua"
    helper.write(path, script)
    local command = ("CLCOMPUTE_CACHE=%s/cache %s %s"):format(folder, helper.lua, path)
    local output, ok = shell(("%s & %s & p=$!; wait %%1 && wait $p"):format(command, command))
    assert.is_true(ok, output)
    assert.equal(20, select(2, files():gsub("%x+%.bin\n", "")))
    run [[for i = 1, 20 do assert(build("constant int n = " .. i .. ";" .. SOURCE) == "binary") end]]
  end)

  it("drops the oldest files when all are too large together, and old remains", function()
    run "show(SOURCE)"
    local first = kept():match "[^/]*$"
    shell(([[cd %s/cache && for i in 1 2 3 4 5; do truncate -s 60M 000000000000000$i.bin;
      touch -d "$((10 - i)) days ago" 000000000000000$i.bin; done
      mkdir 0000000000000008.bin; touch 0000000000000009.txt
      touch 0000000000000006.bin.abcdef; touch -d '2 days ago' 0000000000000007.bin.abcdef; touch other]])
      :format(folder))
    run [[show(SOURCE .. "\n")]]
    local left = files()
    assert.truthy(left:find(first, 1, true))
    for name, stays in pairs { ["0000000000000001.bin\n"] = false, ["0000000000000002.bin\n"] = false,
      ["0000000000000003.bin\n"] = true, ["0000000000000004.bin\n"] = true, ["0000000000000005.bin\n"] = true,
      ["0000000000000006.bin.abcdef"] = true, ["0000000000000007.bin.abcdef"] = false,
      ["0000000000000008.bin"] = true, ["0000000000000009.txt"] = true, other = true } do
      assert.equal(stays, left:find(name, 1, true) ~= nil, name .. " in\n" .. left)
    end
  end)

  it("is kept small within one process too", function()
    run(([[
      show(SOURCE)
      os.execute("cd %s/cache && for i in 1 2 3 4 5; do truncate -s 60M 000000000000000$i.bin;"
        .. " touch -d yesterday 000000000000000$i.bin; done")
      for i = 1, 4 do build(SOURCE .. "/* " .. i .. (" "):rep(9 << 20) .. "*/") end]]):format(folder))
    local size = tonumber(shell(("du -b -s %s/cache"):format(folder)):match "%d+")
    assert.is_true(size <= 256 << 20, size .. " bytes")
    local left, old = select(2, files():gsub("%.bin\n", "")), select(2, files():gsub("000000000000000%d", ""))
    assert.equal(5, left - old) -- those that the process stored
  end)

  it("drops the oldest files, but for those in use, when there are too many", function()
    local function age(first, last, names)
      shell(([[cd %s/cache && for i in $(seq %d %d); do printf '%%016x.bin ' $i; done | xargs touch -d "9 days ago" &&
        touch -d "10 days ago" %s]]):format(folder, first, last, names))
    end
    local function count() return select(2, files():gsub("%.bin\n", "")) end
    local fresh = { CLCOMPUTE_BUILD = "" } -- POCL keeps what it built: a mark of no bytes tells of it
    run("show(SOURCE)", fresh)
    local used = kept():match "[^/]*$"
    age(1, 4095, used)
    run("show(SOURCE)", fresh) -- the last of 4096 files, and no more the oldest
    assert.equal(4096, count())
    run([[show(SOURCE .. "\n")]], fresh)
    assert.equal(3072, count())
    assert.truthy(files():find(used, 1, true))
  end)

  describe("that all users read", function()
    local common

    --- What a build is made of; the own folder is empty before it.
    local function use(script, environment)
      environment = environment or {}
      environment.CLCOMPUTE_SYSTEM_CACHE = environment.CLCOMPUTE_SYSTEM_CACHE or common
      shell(("rm -rf %s/cache"):format(folder))
      return (run(script or "show(SOURCE)", environment):gsub("\t42\n", ""))
    end

    --- Fills it as `clcompute warm --system` does, by a process that keeps new files for itself.
    before_each(function()
      common = folder .. "/system/below"
      local path = helper.write(folder .. "/fill.lua", PRELUDE .. [[
        require "clcompute.core.internal".fills_for_all = true
        local verdicts = require "clcompute.files".cache_folder() .. "/verdicts"
        require "clcompute.files".make_folders(verdicts)
        require "clcompute.files".append_own(verdicts, "none")
        show(SOURCE)]])
      local output = shell(("umask 077; POCL_DEVICES=pthread CLCOMPUTE_CACHE=%s/cache CLCOMPUTE_SYSTEM_CACHE=%s %s %s")
        :format(folder, common, helper.lua, path))
      assert.equal("source\t42\n", output)
    end)

    it("is filled alone, and others read its files", function()
      assert.equal("755 755 644 644\n", (shell(("cd %s && echo $(stat -c %%a .. . *.bin verdicts)"):format(common))))
      assert.matches("No such file", files())
    end)

    it("serves who has no programs, or no folder for them", function()
      local ask = [[print(d:is_built(SOURCE), #require "clcompute.files".cache_folders()) show(SOURCE)]]
      assert.equal("true\t2\nbinary", use(ask))
      assert.matches("No such file", files())
      assert.equal("true\t1\nbinary", use(ask, { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = "", HOME = "",
        POCL_CACHE_DIR = folder .. "/pocl" }))
      shell(("rm -r %s"):format(common))
      assert.equal("false\t1\nsource", use(ask))
    end)

    it("serves nobody who wants none", function()
      assert.equal("source", use(nil, { CLCOMPUTE_CACHE = "off" }))
      assert.equal("source", use(nil, { CLCOMPUTE_SYSTEM_CACHE = "off" }))
    end)

    it("is not used where somebody else may write to it", function()
      for _, name in ipairs { "", "/*.bin" } do
        shell(("chmod go+w %s%s"):format(common, name))
        assert.equal("source", use())
        shell(("chmod go-w %s%s"):format(common, name))
        assert.equal("binary", use())
      end
    end)

    it("is used by others where it is root's, and not where it is another user's", function()
      if shell "id -u" ~= "0\n" or not shell "command -v setpriv":find "setpriv" then
        return pending "only root becomes another user"
      end
      local readable = ("setpriv --reuid 65534 --clear-groups test -r '%s'"):format(package.searchpath("clcompute",
        package.path))
      if not os.execute(readable) then return pending "other users cannot read this checkout" end
      local script = helper.write(folder .. "/use.lua", PRELUDE .. "show(SOURCE)")
      shell(("chmod 755 %s && chmod 644 %s && mkdir -m 777 %s/home"):format(folder, script, folder))
      local command = ("POCL_DEVICES=pthread HOME=%s/home CLCOMPUTE_CACHE= XDG_CACHE_HOME= CLCOMPUTE_SYSTEM_CACHE=%s "
        .. "POCL_CACHE_DIR=%s/home/pocl GCOV_PREFIX=%s/home setpriv --reuid 65534 --clear-groups %s %s")
        :format(folder, common, folder, folder, helper.lua, script) -- its counts of coverage go there too
      assert.equal("binary\t42\n", (shell(command)))
      for _, name in ipairs { "", "/*.bin" } do
        shell(("chown 1 %s%s"):format(common, name))
        assert.equal("source\t42\n", (shell(command)))
        shell(("chown 0 %s%s; rm -r %s/home/.cache/clcompute"):format(common, name, folder))
      end
    end)

    it("is not asked for what a driver keeps for each user", function()
      local name = shell(("cd %s && echo *.bin"):format(common)):gsub("\n", "")
      shell((": >%s/%s"):format(common, name))
      assert.equal("false\n", use "print(d:is_built(SOURCE))")
    end)
  end)

  helper.on_pocl("never fails a build where the driver does not tell the kernels", function()
    if os.getenv "SANITIZED" then return pending "LD_PRELOAD comes before the sanitizer" end
    local library = shell("pwd"):gsub("%s+$", "") .. "/" .. helper.compile_library "nameless"
    local function failing(question) return { LD_PRELOAD = library, NAMELESS = question } end
    assert.equal("source\t42\n", run("show(SOURCE)", failing(3))) -- when it is stored
    assert.equal("", files())
    run "show(SOURCE)"
    assert.equal("binary\t42\n", run("show(SOURCE)", failing(1))) -- when it is loaded, which is tried once more
  end)

  local simulated = pcall(function() return require "clcompute".device "oclgrind" end) and it or pending

  simulated("leaves Oclgrind alone, which shows lines of the source", function()
    run [[d = cl.device "oclgrind" show(SOURCE) show(SOURCE)]]
    assert.matches("No such file", files())
  end)
end)
