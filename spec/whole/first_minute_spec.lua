-- SPDX-License-Identifier: MIT
--- The first calls on a machine that has never seen the library: in processes of their own, with empty caches, as users
-- have them. Bounds are generous, in seconds of processor time where that is known.

local helper = require "spec.helper"
local terminal = require "spec.support.terminal"

local device, shell = helper.device(), helper.shell

describe("the first minute", function()
  local folder, environment

  before_each(function()
    folder = helper.folder()
    shell(("mkdir %s/pocl"):format(folder))
    environment = { CLCOMPUTE_CACHE = folder .. "/cache", POCL_CACHE_DIR = folder .. "/pocl", CLCOMPUTE_BUILD = "",
      CLCOMPUTE_DEVICE = device.place }
  end)

  after_each(function() shell("rm -rf " .. folder) end)

  local function run(script, more)
    local all = setmetatable(more or {}, { __index = environment })
    for name, value in pairs(environment) do all[name] = rawget(all, name) or value end
    return helper.output("local cl = require 'clcompute' local d = cl.device()\n" .. script, all)
  end

  local function command_of(path)
    local variables = {}
    for name, value in pairs(environment) do variables[#variables + 1] = ("%s='%s'"):format(name, value) end
    return ("%s %s %s"):format(table.concat(variables, " "), helper.lua, path)
  end

  local function files() return (shell(("ls %s/cache"):format(folder))) end

  it("knows what was built before, of which the driver keeps the binary", function()
    local source = "kernel void k(global int *x) { x[0] = 42; }"
    local script = ([[
      local x, was_built = d:zeros("int", 1), d:is_built "%s"
      local costs = require "clcompute.core.internal".note_costs()
      d:program("%s").k(1, x)
      print(x[1], was_built, costs[2] == nil or not d.platform:find "Portable")]]):format(source, source)
    assert.equal("42\tfalse\ttrue\n", run(script))
    assert.equal("42\ttrue\ttrue\n", run(script))
  end)

  it("has isolated devices begin with the binaries that are kept: their worker compiles nothing", function()
    if not device.platform:find "Portable" then return pending "needs POCL" end
    helper.write(folder .. "/ld", ("#!/bin/sh\ntouch %s/linked\nPATH=${PATH#*:} exec ld \"$@\"\n"):format(folder), true)
    local linking = { CLCOMPUTE_SANDBOX = "off", PATH = folder .. ":" .. os.getenv "PATH" }
    local launch = [[
      local x = d:zeros("int", 3)
      d:program("kernel void k(global int *x) { x[get_global_id(0)] = 42; }").k(3, x)
      print(x[3])]]
    local keep = [[
      local internal = require "clcompute.core.internal"
      internal.store_later()
      internal.builds_all = true
      %s
      internal.store_launched()]] -- as `clcompute warm` does
    assert.equal("42\n", run(keep:format(launch), linking))
    assert.is_true(os.execute(("rm -r %s/linked %s/pocl/*"):format(folder, folder)))
    assert.equal("42\n", run("d = cl.device(nil, { isolated = true })" .. launch, linking))
    assert.equal("", (shell(("ls %s | grep linked"):format(folder))))
  end)

  it("serves a small product by the plain kernel alone, exactly where that can be", function()
    local output = run [[
      local a = d:buffer { { 1, 2 }, { 3, 4 } }
      local c = cl.gemm(a, a)
      print(c[1][2], c[2][1], require "clcompute.core.internal".processor_time() < 8)]]
    assert.equal("10.0\t15.0\ttrue\n", output)
    assert.is_nil(files():find "verdicts")
  end)

  it("names a folder that POCL cannot write to, and makes one that is missing", function()
    if not device.platform:find "Portable" then return pending "needs POCL" end
    local script = [[print(pcall(d.program, d, "kernel void k(global int *x) { x[0] = 42; }"))]]
    shell(("touch %s/file"):format(folder))
    assert.matches("false\t.*POCL cannot write to .*/file %(.*%); set POCL_CACHE_DIR to another folder",
      run(script, { POCL_CACHE_DIR = folder .. "/file" }))
    local removed = ([[os.execute "rm -rf %s/pocl" ]]):format(folder)
    assert.matches("true\t", run(removed .. script))
  end)

  it("judges an isolated device apart, whose worker builds anew", function()
    if device.type ~= "cpu" then return pending "only processors can be isolated" end
    assert.equal("true\tfalse\n", run [[
      local answers, tests = require "clcompute.answers", require "clcompute.answers.operation_tests"
      cl.ready(d)
      local isolated <close> = cl.device(d.place, { isolated = true })
      local test = tests.rows["gemm float"]
      print(answers.kept_verdict(d, test) ~= nil, answers.kept_verdict(isolated, test) ~= nil)]])
  end)

  it("judges a test in one of two processes that ask for it at the same time", function()
    local path = helper.write(folder .. "/judge.lua", ([[
      local cl, answers = require "clcompute", require "clcompute.answers"
      local test = { name = "slow", expected = { 1 }, operation = function()
        os.execute "echo judged >>%s/judged; sleep 1"
        return { 1 }
      end }
      print(answers.verdict(cl.device(), test))]]):format(folder))
    local command = command_of(path)
    assert.equal("ok\nok\n", (shell(("%s & %s; wait"):format(command, command))))
    assert.equal("judged\n", helper.read(folder .. "/judged"))
  end)

  it("keeps it at once where CLCOMPUTE_BUILD asks for it", function()
    local script = [[
      local source = "kernel void k(global int *x) { x[0] = 42; }"
      d:program(source)
      print(d:is_built(source))]]
    assert.equal("true\n", run(script, { CLCOMPUTE_BUILD = "wait" }))
  end)

  it("tells at a terminal alone why it takes long, in a line that goes away", function()
    local code = [[require 'clcompute'
      do local n <close> = require 'clcompute.core.internal'.notice 'building'
        os.execute 'sleep 0.8' end]]
    local path = helper.write(folder .. "/wait.lua", code)
    local command = ("%s %s"):format(helper.lua, path)
    assert.equal("", (shell(command)))
    if not shell "command -v script":find "script" then return pending "needs the command script" end
    local line = terminal.NOTICE
    for prefix, shown in pairs { ["env TERM=xterm "] = line:format "clcompute: building", ["env TERM=dumb "] = "",
      ["stty cols 12 && env TERM=xterm "] = line:format "clcompute: " } do
      assert.equal(shown, (shell(("script -qec %q /dev/null </dev/null"):format(prefix .. command))))
    end
  end)

  it("builds for the first calls no more than they launch, within seconds of processor time", function()
    if not helper.long(true) then return pending "it takes long here" end
    -- kernels, and seconds that a quiet machine must keep to, of which others that compute leave a quarter
    -- Tiles of AVX-512 have 14 rows of 32 floats, others 6 of 16: on one machine they took LLVM 2.5 to 3.3 times as
    -- long.
    local fast = device.vector_width_float == 16 and 8 or 4
    local expected = { saxpy = { 1, 0.5 }, gemm = { 1, 0.8 }, gauss = { 3, 1 }, sum = { 1, 0.5 }, map = { 1, 0.5 },
      scan = { 1, 0.5 }, ["gemm, fast"] = { device.has_double and 2 or 1, fast } }
    for _, row in ipairs(require "clcompute.warm".cold(device.place)) do
      local builds, kernels, seconds = 0, table.unpack(expected[row.name])
      assert.is_nil(row.fault, row.fault)
      for _, kernel in ipairs(row.kernels) do builds = builds + kernel.builds end
      assert.equal(kernels, builds, row.name)
      assert(row.all < 4 * seconds, ("%s: %.2f s"):format(row.name, row.all))
      if row.name ~= "gemm, fast" then assert.equal(0, row.binary) end
    end
  end)

  it("serves products by plain kernels, and then by the fast one, within the bounds", function()
    if not helper.long(true) then return pending "it takes long here" end
    local output = run([[
      local n = 160
      local rows = {}
      for i = 1, n do
        rows[i] = {}
        for j = 1, n do rows[i][j] = (i * 7 + j * 3) % 9 - 4 end
      end
      local a = d:buffer(rows)
      local first = cl.gemm(a, a):string()
      cl.ready(d)
      print(first == cl.gemm(a, a):string())]])
    assert.equal("true\n", output)
    assert.matches("ok\tcl.gemm of float, fast", helper.read(folder .. "/cache/verdicts"), 1, true)
  end)

  it("is shared by processes that start together: none fails, and one builds", function()
    local count = helper.long(8) or 2
    local path = helper.write(folder .. "/gemm.lua", [[
      local cl = require "clcompute"
      local d = cl.device()
      local a = d:buffer { { 1, 2 }, { 3, 4 } }
      print(cl.gemm(a, a)[1][2], require "clcompute.core.internal".processor_time())]])
    environment.POCL_DEBUG = "llvm" -- tells what POCL compiles
    local output = shell(("{ for i in $(seq %d); do %s & done; wait; }"):format(count, command_of(path)))
    local ended, sum = 0, 0
    for seconds in output:gmatch "\n?10.0\t([%d.]+)" do ended, sum = ended + 1, sum + seconds end
    assert.equal(count, ended, output)
    if not device.platform:find "Portable" then return end
    assert.equal(1, select(2, output:gsub("Writing program.bc to", "")))
    if not helper.long(true) then return end
    environment.POCL_CACHE_DIR, environment.CLCOMPUTE_CACHE = folder .. "/other", folder .. "/others"
    local alone = tonumber(shell(command_of(path)):match "\n?10.0\t([%d.]+)")
    assert(sum < 4 * alone, ("%.2f s of processor time, one takes %.2f"):format(sum, alone))
  end)

  --- What a command of the shell prints where `until_there` waits for a file, a minute at most.
  local function orchestrate(text)
    local wait = "until_there() { for i in $(seq 600); do [ -e $1 ] && break; sleep 0.1; done; }\n"
    return (shell("sh " .. helper.write(folder .. "/run.sh", ("cd %s\n"):format(folder) .. wait .. text)))
  end

  --- Writes a script that tells the verdict of a test whose operation runs the Lua code `judge`.
  local function write_judge(name, judge)
    return command_of(helper.write(("%s/%s.lua"):format(folder, name), ([[
      local cl, answers = require "clcompute", require "clcompute.answers"
      local function make(path) assert(io.open(path, "w")):close() end
      local function exists(path) return io.open(path) ~= nil end
      print(answers.verdict(cl.device(), { name = "slow", expected = { 1 }, operation = function()
        %s
        return { 1 }
      end }))]]):format(judge)))
  end

  it("goes on when the process that others wait for is killed", function()
    local stuck = write_judge("stuck", [[make "stuck" os.execute "for i in $(seq 600); do sleep 0.1; done"]])
    local second = write_judge("second", [[make "judged"]])
    assert.equal("ok\n0\n", orchestrate(([[
      %s >said 2>&1 & first=$!
      until_there stuck
      timeout 60 %s & second=$!
      sleep 0.5
      [ -e judged ] && echo "did not wait"
      kill -9 $first
      wait $second
      echo $?]]):format(stuck, second:gsub("^", "env "))))
    assert.matches("^\nok\tslow\t[^\n]+\n$", helper.read(folder .. "/cache/verdicts"))
  end)

  it("computes right after processes that built were killed at any moment", function()
    local path = helper.write(folder .. "/gemm.lua", [[
      local cl = require "clcompute"
      local a = cl.device():buffer { { 1, 2 }, { 3, 4 } }
      print(cl.gemm(a, a)[1][2])]])
    local command = command_of(path)
    local killed = "timeout -s KILL %s env " .. command .. " >said 2>&1\n"
    local moments = ("0.1 0.3 0.5 0.7 0.9"):gsub("%S+ ?", function(moment) return killed:format(moment) end)
    assert.equal("10.0\n", orchestrate(("{ %s } 2>/dev/null\n%s"):format(moments, command)))
  end)

  it("lets processes compute, fork and end while another one builds", function()
    if os.getenv "SANITIZED" then -- the leak detector of a forked child tells of the parent's threads
      environment.ASAN_OPTIONS = (os.getenv "ASAN_OPTIONS" or "") .. ":detect_leaks=0"
    end
    local slow = write_judge("slow", [[make "slow" repeat os.execute "sleep 0.1" until exists "go"]])
    local other = command_of(helper.write(folder .. "/other.lua", ([[
      local cl = require "clcompute"
      local d = cl.device()
      local fork = assert(package.loadlib("%s/%s", "luaopen_fork"))()
      local a = d:buffer { { 1, 2 }, { 3, 4 } }
      print(fork(function() os.exit(4, true) end))
      print(cl.gemm(a, a)[1][2])
      print(fork(function()
        print(pcall(cl.gemm, a, a))
        io.stdout:flush()
      end))
      print(cl.gemm(a, a)[2][2])
      os.exit(3, true)]]):format(shell("pwd"):gsub("%s+$", ""), helper.compile_library "fork")))
    local output = orchestrate(([[
      %s >said 2>&1 & first=$!
      until_there slow
      timeout 60 env %s
      echo $?
      touch go
      wait $first
      cat said]]):format(slow, other))
    assert.matches("^4\n10.0\nfalse\t[^\n]*fork[^\n]*\n0\n22.0\n3\nok\n$", output)
  end)

  -- Products that take plain kernels an eighth of a second, after which another process builds the fast one.
  local MANY = [[
    local tuning, a = require "clcompute.tuning", d:random("float", 128, 128)
    local function multiply() return cl.gemm(a, a):string() end
    local function is_plain() return tuning.of(d, "gemm", "float", 1).is_for_now ~= nil end
    local first = multiply()
    for _ = 1, 35 * d.compute_units do multiply() end
  ]]

  --- Has the building process, which runs no script, build by the Lua code `build`.
  local function replace_build(build)
    shell(("mkdir -p %s/path/clcompute"):format(folder))
    helper.write(folder .. "/path/clcompute/tuning.lua", ([[
      local path = package.path
      package.path = path:gsub("^[^;]*;", "")
      local tuning = require "clcompute.tuning"
      package.path = path
      if arg[0]:find "%%.lua$" then return tuning end
      function tuning.of(device, operation, dtype)
        local function append(path, text)
          local file <close> = assert(io.open("%s/" .. path, "a"))
          file:write(text, "\n")
        end
        append("began", table.concat({ device.place, operation, dtype, os.getenv "CLCOMPUTE_BUILD" }, " "))
        %s
      end
      return tuning]]):format(folder, build))
    environment.LUA_PATH_5_4 = ("%s/path/?.lua;%s"):format(folder, package.path)
  end

  local HELD = [[
    os.execute "cd %s; for i in $(seq 600); do [ -e go ] && break; sleep 0.1; done"
    append("ended", "ended")]]

  --- A command that runs this code, and MANY between.
  local function many(name, before, behind)
    return command_of(helper.write(("%s/%s.lua"):format(folder, name),
      table.concat({ "local cl = require 'clcompute' local d = cl.device()", before, MANY, behind }, "\n")))
  end

  it("has fast kernels built by one process more, which outlives the script, when plain ones served a while", function()
    if device.type ~= "cpu" then return pending "it takes more products there" end
    replace_build(HELD:format(folder))
    local told = "print(is_plain(), first == multiply())"
    local both = ("%s & %s; wait"):format(many("first", "", told), many("second", "", told))
    assert.equal("true\ttrue\ntrue\ttrue\n", orchestrate(both .. "; until_there began; [ -e ended ] && echo late"))
    assert.equal(device.place .. " gemm float here\n", helper.read(folder .. "/began"))
    orchestrate "touch go; until_there ended"
    assert.equal("ended\n", helper.read(folder .. "/ended"))
  end)

  it("leaves that process none of the script's files, so that nobody waits for its end", function()
    if device.type ~= "cpu" then return pending "it takes more products there" end
    replace_build(HELD:format(folder))
    local script = many("piped", [[local pipe = io.popen("cat >/dev/null", "w")]], "print(pipe:close())")
    assert.equal("true\texit\t0\n", (orchestrate(script .. "\n[ -e ended ] && echo late\ntouch go; until_there ended")))
  end)

  it("builds itself where that process fails", function()
    if device.type ~= "cpu" then return pending "it takes more products there" end
    replace_build [[append("failed", "it fails") error "it fails"]]
    local output = orchestrate(many("failing", "", [[
      local answers, asked = require "clcompute.answers", 0
      function answers.verdict()
        asked = asked + 1
        return "unknown"
      end
      os.execute "for i in $(seq 600); do [ -e failed ] && break; sleep 0.1; done"
      for _ = 1, 4 do tuning.of(d, "gemm", "float", d.compute_units << 28) end
      print(asked > 0, first == multiply())]]))
    assert.equal("true\ttrue\n", output)
    assert.equal("it fails\n", helper.read(folder .. "/failed"))
  end)

  it("starts no other process where CLCOMPUTE_BUILD or the cache say so", function()
    local script = [[print(require "clcompute.tuning.behind".builds(d, "gemm", "float", "a key"))]]
    replace_build ""
    assert.equal("true\n", run(script))
    for name, value in pairs { CLCOMPUTE_BUILD = "here", CLCOMPUTE_CACHE = "off" } do
      assert.equal("false\n", run(script, { [name] = value }))
    end
  end)

  it("is no parent of the process that builds, and knows another script's by its lock", function()
    environment.LUA_INIT_5_4 = ('io.open("%s/started", "a"):write(".")'):format(folder)
    replace_build(HELD:format(folder))
    local script = [[
      local internal, builds = require "clcompute.core.internal", require "clcompute.tuning.behind".builds
      local lock = internal.lock "behind another's"
      print(builds(d, "gemm", "float", "mine"), builds(d, "gemm", "float", "another's"))
      os.execute "for i in $(seq 600); do [ -e began ] && break; sleep 0.1; done; sleep 0.1"
      print(builds(d, "gemm", "float", "mine"), builds(d, "gemm", "float", "another's"))
      io.stdout:flush()
      os.execute "set -- $(cat /proc/$PPID/task/$PPID/children); echo $#; touch go; sleep 0.5"
      lock:close()
      print(builds(d, "gemm", "float", "mine"), builds(d, "gemm", "float", "another's"))]]
    local command = command_of(helper.write(folder .. "/script.lua", "local d = require'clcompute'.device()" .. script))
    assert.equal("true\ttrue\ntrue\ttrue\n1\nfalse\tfalse\n", (orchestrate(command)))
    assert.equal(".", helper.read(folder .. "/started")) -- by the script alone
    assert.equal(device.place .. " gemm float here\n", helper.read(folder .. "/began"))
  end)

  helper.on_cpu("counts a batch by its launches, and products of few columns by whole groups", function()
    assert.equal("true\n", run [[
      local behind, is_asked = require "clcompute.tuning.behind", false
      function behind.builds()
        is_asked = true
        return true
      end
      local a = d:random("float", 4096 * d.compute_units, 4, 4)
      for _ = 1, 2 do cl.gemm(a, a) end
      print(is_asked)]])
  end)

  it("multiplies tall matrices by plain kernels", function()
    assert.equal("2.0\tnaive\n", run [[
      local a, b = d:full("float", 1, 70001, 2), d:full("float", 1, 2, 40)
      local c = cl.gemm(a, b)
      print(cl.min(c), require "clcompute.tuning".of(d, "gemm", "float", 1).kernel)]])
  end)

  it("computes by the fast kernel that another process has built meanwhile", function()
    if not helper.long(true) or device.type ~= "cpu" then return pending "it takes long here" end
    assert.equal("true\n", run(MANY .. [[
      local start = cl.clock()
      while is_plain() and cl.clock() - start < 60 do os.execute "sleep 0.1" end
      print(not is_plain() and first == multiply())]]))
  end)

  it("falsifies no product, and loses none, where the build of the fast kernel fails", function()
    if device.type ~= "cpu" then return pending "plain products serve longer there" end
    for call, expected in pairs { clBuildProgram = "true", clCreateKernel = "true",
      clEnqueueNDRangeKernel = "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES" } do -- which plain ones need too
      local output = run(([[
        local tuning, clcount, work = require "clcompute.tuning", require "clcount", math.huge
        local a = d:buffer { { 1, 2 }, { 3, 4 } }
        local plain, queued = cl.gemm(a, a):string(), cl.gemm(a, a)
        clcount.fail("%s", -5, 1, 1000)
        pcall(tuning.of, d, "gemm", "float", work)
        local ok, c = pcall(cl.gemm, a, a)
        print(clcount.hits().failed > 0, ok and c:string() == plain or c:match "^[^ ]+ [^ ]+")
        clcount.fail()
        print(queued:string() == plain, cl.gemm(a, a):string() == plain)]]):format(call))
      assert.equal(("true\t%s\ntrue\ttrue\n"):format(expected), output)
      assert.is_nil(files():find "verdicts")
    end
  end)
end)
