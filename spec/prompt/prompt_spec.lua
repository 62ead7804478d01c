-- SPDX-License-Identifier: MIT
--- The prompt as a user has it: in a terminal, and behind a pipe.

local command = require "spec.support.command"
local helper = require "spec.helper"
local pages = require "spec.support.pages"
local terminal = require "spec.support.terminal"

local PLACE = helper.device().place
local folder = helper.folder()
local has_readline = pcall(require, "readline")

--- A device that can be isolated, if there is one.
local CPU
for _, d in ipairs(helper.devices()) do if d.type == "cpu" and not helper.is_simulator(d) then CPU = d.place end end

teardown(function() os.execute("rm -r " .. folder) end)

--- A prompt in a terminal. TERM decides whether lines are edited, the locale how Readline shows a line that wraps.
local function opened(options)
  local o = options or {}
  local t = terminal.open(("env LC_ALL=C.UTF-8 TERM=%s XDG_STATE_HOME=%s %srepl --device %s")
    :format(o.term or "xterm", folder, command.text, o.place or PLACE), o.columns)
  t:expect "help() tells more"
  t:expect "> "
  return t
end

--- Types Ctrl-C, so many times, while statements compute; returns what is shown until the next prompt.
local function interrupted(t, statements, times)
  t:type(("print 'started' %s\n"):format(statements))
  t:expect "\nstarted\n"
  for _ = 1, times or 1 do
    os.execute "sleep 0.3"
    t:type "\3"
  end
  return t:expect("\n> ", 20)
end

local function piped(text, environment)
  local path = helper.write(folder .. "/input", text)
  return command.shell(("%s %srepl --device %s <%s"):format(environment or "", command.text, PLACE, path))
end

describe("the prompt in a terminal", function()
  it("survives whoever replaces what Lua came with, which is put back", function()
    local t <close> = opened { term = "dumb" }
    t:converse "kept = 42"
    for _, line in ipairs { "table = { 1, 2, 3 }", "type = 'float'", "select = 2", "tostring = nil", "pcall = 5",
      "string.format = nil", "table.concat = nil", "io = 3" } do
      t:converse(line)
      t:converse "1 + 1"
      assert.equal("42\t2", t:converse "kept, 1 + 1", line)
    end
    t:converse "load = 5"
    assert.matches("put back, as the prompt calls it too: load", t:converse "1 + 1", 1, true)
  end)

  it("runs a hook within chunks alone, until one fails", function()
    local t <close> = opened { term = "dumb" }
    t:converse "n = 0; debug.sethook(function() n = n + 1 end, '', 1)"
    assert.equal("true", t:converse "n > 0")
    t:converse "debug.sethook(); n = 0"
    assert.equal("0", t:converse "n")
    for _, events in ipairs { '"", 1', '"crl"' } do
      local text = t:converse(('debug.sethook(function() error "raised" end, %s)'):format(events))
      assert.matches("raised.*the hook of debug.sethook is taken away", text .. t:converse "1 + 1")
      assert.equal("2", t:converse "1 + 1", events)
    end
  end)

  it("says how to end what cannot be interrupted, such as a hook", function()
    local t <close> = opened { term = "dumb" }
    t:type "debug.sethook(function() print 'begun' while true do end end, '', 1)\n"
    t:expect "'', 1)"
    t:expect "begun"
    local is_said
    for _ = 1, 9 do -- signals that come at once are one
      t:type "\3"
      is_said = is_said or pcall(t.expect, t, "Ctrl-\\ ends the process", 1)
    end
    assert.is_true(is_said)
  end)

  for name, term in pairs { ["with lua-readline"] = "xterm", ["with plain lines"] = "dumb" } do
    it("shows results, keeps locals, and takes several lines, " .. name, function()
      if term == "xterm" and not has_readline then return pending "lua-readline is not installed" end
      local t <close> = opened { term = term }
      assert.equal("2", t:converse "1 + 1")
      assert.equal("", t:converse "local x = 20")
      assert.equal("21", t:converse "x + 1")
      t:converse("for i = 1, 2 do", "\n>> ")
      t:converse("print(i)", "\n>> ")
      assert.equal("1\n2", t:converse "end")
      assert.equal("stdin:1: attempt to call a number value (local 'x')",
        (t:converse "x()":gsub("upvalue", "local")))
      assert.equal("2", t:converse "1 + 1")
      t:type "\4"
      assert.equal(0, t:finish())
    end)

    it("clears the line at Ctrl-C, also of several, " .. name, function()
      if term == "xterm" and not has_readline then return pending "lua-readline is not installed" end
      local t <close> = opened { term = term }
      t:type "garbage("
      t:expect "garbage("
      t:type "\3"
      t:expect "\n> "
      assert.equal("2", t:converse "1 + 1")
      t:converse("while true do", "\n>> ")
      t:type "\3"
      t:expect "\n> "
      assert.equal("3", t:converse "1 + 2")
    end)
  end

  it("opens nothing anew for a line that Ctrl-C clears", function()
    if not has_readline then return pending "lua-readline is not installed" end
    local t <close> = opened()
    t:converse "function descriptors() local p = io.popen 'ls /proc/$PPID/fd' return #p:read 'a', p:close() end"
    local function clear(times)
      for i = 1, times do
        t:type(i % 2 == 0 and "\3" or "x\18a\3") -- an empty line, and a search
        t:expect "^C"
        t:expect "\n> "
      end
      local least = math.huge -- what is open for a moment only is not meant
      for _ = 1, 5 do least = math.min(least, tonumber(t:converse "(descriptors())")) end
      return least
    end
    local before, after = clear(2), clear(20) -- what stays open was opened by the first two
    assert.is_true(after <= before, after .. " after " .. before)
  end)

  it("has no line to clear where readline is not loaded", function()
    local internal = require "clcompute.core.internal"
    for _, path in ipairs { "/nowhere.so", package.searchpath("clcompute.core", package.cpath) } do
      assert.has_no.errors(function() internal.give_up_line(path) internal.resize_line(path) end)
    end
  end)

  it("edits lines as wide as the terminal has become", function()
    if not has_readline then return pending "lua-readline is not installed" end
    local t <close> = opened()
    t.raw:resize(30)
    t:type(("x"):rep(40) .. "\1y")
    t:expect "yx"
    assert.matches("\27[A", t.bytes, 1, true) -- Ctrl-A goes a line up
    t:type "\3"
    t:expect "\n> "
    t:type "\4"
    assert.equal(0, t:finish())
  end)

  it("names the package where lua-readline is missing", function()
    local t <close> = terminal.open(("env LUA_CPATH_5_4='%s/build/?.so' %srepl --device %s")
      :format(assert(os.getenv "PWD"), command.text, PLACE))
    t:expect "apt install lua-readline"
    t:expect "\n> "
    assert.equal("2", t:converse "1 + 1")
  end)

  it("names no package where the terminal is what cannot edit lines", function()
    if not has_readline then return pending "lua-readline is not installed" end
    local t <close> = terminal.open(("env TERM=dumb %srepl --device %s"):format(command.text, PLACE))
    t:expect "help() tells more"
    assert.not_matches("readline", t:expect "\n> ")
  end)

  it("ends Lua code at Ctrl-C, in coroutines and where errors are caught, and goes on", function()
    local t <close> = opened()
    assert.matches("interrupted!", interrupted(t, "while true do end"))
    assert.matches("interrupted!", interrupted(t, "coroutine.wrap(function() while true do end end)()"))
    assert.matches("interrupted!", interrupted(t, "c = coroutine.create(function() while true do end end) "
      .. "print(coroutine.resume(c))"))
    assert.matches("interrupted!", interrupted(t, "while true do coroutine.wrap(function() end)() end"))
    assert.matches("interrupted!", interrupted(t, "io.read()"))
    assert.matches("interrupted!", interrupted(t, "while true do pcall(function() while true do end end) end", 2))
    assert.matches("interrupted!", interrupted(t, "c = coroutine.create(function() local x <close> = "
      .. "setmetatable({}, { __close = function() while true do end end }) coroutine.yield() end) "
      .. "coroutine.resume(c) coroutine.close(c)"))
    assert.matches("an error whose text cannot be made", interrupted(t,
      "error(setmetatable({}, { __tostring = function() while true do end end }))"))
    assert.matches("stack overflow", t:converse "function f() return 1 + f() end f()")
    assert.matches("not enough memory", t:converse "error 'not enough memory'")
    assert.equal("true", t:converse "coroutine.wrap(function(...) return ... end)(true)")
    assert.equal('false\t"x"', t:converse "coroutine.resume(coroutine.create(function() error('x', 0) end))")
    assert.equal("2", t:converse "1 + 1")
    t:type "\4"
    assert.equal(0, t:finish())
  end)

  it("has coroutines that nest as deep as Lua's, and fail as they do", function()
    local t <close> = opened()
    t:converse "function wrapped(n) deepest = n return coroutine.wrap(function() return wrapped(n + 1) end)() end"
    t:converse "function resumed(n) deepest = n return coroutine.resume(coroutine.create(resumed), n + 1) end"
    for _, name in ipairs { "wrapped", "resumed" } do
      assert.is_true(tonumber((t:converse(("pcall(%s, 1) and deepest or deepest"):format(name)))) > 180)
    end
    t:converse "c = coroutine.create(function() end) coroutine.resume(c)"
    assert.equal('false\t"cannot resume dead coroutine"', t:converse "coroutine.resume(c)")
    assert.equal("1\t2\t3", t:converse "coroutine.wrap(function(...) coroutine.yield(...) end)(1, 2, 3)")
    assert.matches("^stdin:1: stdin:1: no", t:converse "coroutine.wrap(function() error 'no' end)()")
    assert.matches("closed\nstdin:1: stdin:1: no", t:converse("coroutine.wrap(function() local x <close> = "
      .. "setmetatable({}, { __close = function() print 'closed' end }) error 'no' end)()"))
    assert.equal("{ 1 }", t:converse "coroutine.wrap(function() error { 1 } end)()")
    assert.matches("thread expected", t:converse "coroutine.resume(3)")
    assert.matches("function expected, got number", t:converse "coroutine.wrap(3)")
    assert.matches("thread expected", t:converse "coroutine.close(3)")
    assert.matches("cannot close a running coroutine", t:converse "coroutine.close(coroutine.running())")
    t:converse "w = coroutine.wrap(function() end) w()"
    assert.matches("cannot resume dead coroutine", t:converse "w()")
    t:converse "many = table.move({}, 1, 700000, 1) function hold(...) coroutine.yield() return ... end"
    t:converse "c = coroutine.create(hold) coroutine.resume(c, table.unpack(many, 1, 400000))"
    assert.equal('false\t"too many arguments to resume"',
      t:converse "coroutine.resume(c, table.unpack(many, 1, 700000))")
    t:converse "function resume_below(...) return coroutine.resume(c) end"
    assert.equal('false\t"too many results to resume"',
      t:converse "resume_below(table.unpack(many, 1, 700000))")
    t:converse "w = coroutine.wrap(hold) w(table.unpack(many, 1, 400000))"
    assert.matches("too many arguments to resume", t:converse "w(table.unpack(many, 1, 700000))")
    t:type "\4"
    assert.equal(0, t:finish())
  end)

  it("ends a kernel of an isolated CPU at Ctrl-C with its worker", function()
    if not CPU then return pending "no CPU that can be isolated" end
    local t <close> = opened { place = CPU }
    t:converse 'p = d:program "kernel void f(global float *x) { volatile int go = 1; while (go) x[0] += 1; }"'
    t:converse "x = d:buffer { 1, 2 }"
    local start = os.time()
    assert.matches("kernel 'f': interrupted!", interrupted(t, "p.f(1, x)"), 1, true)
    assert.is_true(os.time() - start < 10)
    assert.equal("2.0", t:converse "x[2]")
    assert.equal("3.0", t:converse "cl.sum(d:buffer { 1, 2 })")
  end)

  it("leaves a kernel that cannot be ended, and says so; later calls wait for it", function()
    if not CPU then return pending "no device that computes at speed" end
    local t <close> = opened { place = CPU }
    t:converse "q = cl.device(d.place, { isolated = false, check = false })"
    t:converse('slow = q:program "kernel void slow(global float *x, long n) { volatile long i; '
      .. 'for (i = 0; i < n; i++); x[0] = 9; }".slow')
    t:converse "y = q:buffer { 1 }"
    t:converse "e = slow(1, y, 100000000)"
    t:converse "e:wait()"
    t:converse "e = slow(1, y, 12 / e.seconds * 1e8 // 1 | 0)" -- twelve seconds
    for _, statement in ipairs { "print(y)", "q:wait()", "cl.sum(y)" } do
      assert.matches("interrupted!\nkernel 'slow' still runs on", interrupted(t, statement))
    end
    assert.equal("2", t:converse "1 + 1")
    assert.equal("9.0", t:converse "y[1]")
    assert.equal("true", t:converse "e.seconds >= 0")
    t:type "\4"
    assert.equal(0, t:finish())
  end)

  it("completes, and keeps history from session to session", function()
    if not has_readline then return pending "lua-readline is not installed" end
    do
      local t <close> = opened()
      t:type "cl._VERS\t"
      t:expect "cl._VERSION"
      t:type "\n"
      t:expect('"' .. require "clcompute"._VERSION .. '"')
      t:expect "\n> "
      t:converse "'the line to be found'"
      t:type "\4"
      assert.equal(0, t:finish())
    end
    assert.matches("'the line to be found'\n", helper.read(folder .. "/clcompute/history"), 1, true)
    local t <close> = opened()
    t:type "\16" -- Ctrl-P: the line before
    t:expect "'the line to be found'"
    t:type "\n"
    t:expect '"the line to be found"'
  end)

  it("takes a text that is pasted as a whole, line by line", function()
    if not has_readline then return pending "lua-readline is not installed" end
    local t <close> = opened()
    t:type "\27[200~local a = 4\na + 1\nfor i = 1, 2 do\n  a = a + i\nend\na\27[201~\n"
    t:expect "\n5\n7\n> "
  end)

  for _, page in ipairs { "README.md", "docs/command.md" } do
    it("shows what is printed in " .. page, function()
      local session = pages.read(page):match "\n```\n%$ clcompute repl\n[^\n]*\n(> .-)\n```\n"
      local t <close> = opened { term = "dumb", columns = 200 }
      for line, shown in (session .. "\n> "):gmatch "> ([^\n]*)\n(.-)%f[>\0]" do
        local pattern = shown:gsub("\n$", ""):gsub("%p", "%%%0"):gsub(" *%%%.%%%.%%%.", ".-")
        assert.matches("^" .. pattern .. (shown:find "%.%.%.\n$" and "" or "$"), t:converse(line))
      end
    end)
  end

  it("cuts matrices to the terminal", function()
    local t <close> = opened { columns = 50 }
    for line in t:converse "d:random('float', 100, 100)":gmatch "[^\n]+" do
      assert.is_true(require("clcompute.base").width.of(line) <= 50, line)
    end
  end)

  it("keeps a chunk of several lines as one entry of the history, which comes back whole", function()
    if not has_readline then return pending "lua-readline is not installed" end
    do
      local t <close> = opened()
      t:converse("for i = 1, 2 do", "\n>> ")
      t:converse("  print('again', i) -- \\n", "\n>> ")
      t:converse "end"
      t:type "\16\n" -- Ctrl-P: the chunk before
      t:expect "again\t1\nagain\t2\n> "
      t:type "\4"
      assert.equal(0, t:finish())
    end
    local t <close> = opened()
    t:type "\16\n"
    t:expect "again\t1\nagain\t2\n> "
  end)

  it("puts no blank behind what Tab completes", function()
    if not has_readline then return pending "lua-readline is not installed" end
    local t <close> = opened()
    t:type "math.hug\t== 1/0\n"
    t:expect "math.huge== 1/0\ntrue\n> "
    t:type "cl.vers\t7\n"
    t:expect "cl.vers7\n"
  end)

  it("shows the fields of a table that is raised", function()
    local t <close> = opened()
    assert.equal('{ 1, code = 7 }', t:converse "error { 1, code = 7 }")
    assert.equal("itself", t:converse "error(setmetatable({}, { __tostring = function() return 'itself' end }))")
  end)

  it("ends as os.exit says, and closes what is to be closed at its end", function()
    local t <close> = opened()
    t:type "os.exit(7)\n"
    assert.equal(7, t:finish())
    local other <close> = opened()
    other:converse "local x <close> = setmetatable({}, { __close = function() print 'closed' end })"
    other:type "\4"
    assert.equal(0, other:finish())
    assert.matches("\nclosed\n", other.text)
  end)

  it("shows where an error came from, without the calls of the prompt", function()
    local t <close> = opened()
    assert.equal("stdin:1: boom", t:converse "error 'boom'")
    t:converse "local function inner() error 'deep' end"
    local shown = t:converse "print(inner())"
    assert.matches('^%[string "local function inner%(%) error .deep. end"%]:1: deep\n', shown)
    assert.matches("stdin:1: in ", shown)
    assert.falsy(shown:find("clcompute/prompt", 1, true), shown)
  end)
end)

describe("the handler of Ctrl-C", function()
  it("is taken away before a state is freed", function()
    local path = helper.write(folder .. "/exit.lua", [[
      older = setmetatable({}, { __gc = function() -- than the handler: finalized after it
        print((io.open "/proc/self/status":read "a":match "SigCgt:%s*%x*(%x)\n"))
      end })
      require "clcompute"
      require "clcompute.core.internal".catch_interrupts(true)
      os.exit(true, true)
    ]])
    local _, out = command.shell(helper.lua .. " " .. path)
    assert.equal(0, math.tointeger(tonumber(out, 16)) & 2) -- SIGINT is signal 2
  end)
end)

describe("the prompt behind a pipe", function()
  it("prints results alone", function()
    assert.same({ 0, '3\n"a"\nfalse\tnil\n', "" },
      { piped "local x = 1\nx + 2\n\n-- nothing\n'a'\nprint(false, nil)\n" })
    assert.same({ 0, "6\n", "" }, { piped "local x = 1\nlocal s = 0 for i = 1, 3 do\ns = s + i * x\nend\ns" })
    assert.same({ 0, "", "" }, { piped "" })
  end)

  it("ends with 1 at the first error", function()
    assert.same({ 1, "1\n", "stdin:2: boom\n" }, { piped "1\nerror 'boom'\n2\n" })
    local code, out, err = piped "1\nx x\n2"
    assert.same({ 1, "1\n" }, { code, out })
    assert.matches("^stdin:2: [^\n]*\n$", err)
    code, out, err = piped "for i = 1, 2 do"
    assert.same({ 1, "" }, { code, out })
    assert.matches("<eof>", err, 1, true)
  end)

  it("counts the lines of the input in messages", function()
    local _, _, err = piped "local function f()\n  error 'deep'\nend\n\n= 1\nlocal x =\n  2\nprint(f())\n"
    assert.equal("stdin:2: deep\n\t[C]: in function 'error'\n\tstdin:2: in upvalue 'f'\n\tstdin:8: in main chunk\n",
      err)
    assert.same({ 1, "", "stdin:4: syntax error near 'x'\n" }, { piped "\n\ny = 1\nx x" })
    assert.same({ 1, "", "stdin:2: boom\n" }, { piped "\n= error 'boom'" })
    assert.same({ 1, "", "stdin:2: attempt to index a nil value (global 'none')\n" }, { piped "\nnone.field\n" })
  end)

  it("blames the line that was typed for what the library raises, without calls of the library", function()
    for text, message in pairs { ["cl.sum(3)"] = "sum: argument 1: buffer expected, got number",
      ['d:load "/nowhere/x.npy"'] = "load: /nowhere/x.npy: No such file or directory" } do
      local code, _, err = piped(text .. "\n")
      assert.equal(1, code)
      assert.equal("stdin:1: " .. message .. "\n", err)
    end
  end)

  it("escapes in messages what a terminal would obey", function()
    for text, message in pairs { ["error '\27[31mred\\tblue'"] = "stdin:1: \\x1B[31mred\tblue",
      ["cl['\27]0;']()"] = "stdin:1: clcompute has no '\\x1B]0;'",
      ["= '\27[31m"] = "stdin:1: unfinished string near ''\\x1B[31m'",
      ["cl.device(nil):program('kernel void f(', { name = '\27[2J' })"] = "\\x1B[2J does not build" } do
      local code, _, err = piped(text .. "\n")
      assert.equal(1, code)
      assert.matches(message, err, 1, true)
      assert.is_nil(err:find "\27")
    end
  end)

  it("refuses names that the library does not have, and says what may be meant", function()
    for text, message in pairs {
      ["cl.gem(1)"] = "clcompute has no 'gem'; did you mean 'gemm'?",
      ["cl.pow(2, 3)"] = "clcompute has no 'pow'; write x ^ y",
      ["cl.guass"] = "clcompute has no 'guass'; did you mean 'gauss'?",
      ["cl.nothing_like_it"] = "clcompute has no 'nothing_like_it'",
      ["cl.bench"] = 'clcompute has no \'bench\'; it is a module: require "clcompute.bench"',
      ["cl.zeros('int', 3)"] = "clcompute has no 'zeros'; a device has it: d:zeros(dtype, n, ...)",
      ["cl[1]"] = "clcompute has no '1'",
    } do
      assert.same({ 1, "", "stdin:1: " .. message .. "\n" }, { piped(text .. "\n") })
    end
    assert.same({ 0, "nil\n", "" }, { piped "rawget(cl, 'gem')\n" })
    for text, message in pairs { ["bench.mesure(print)"] = "bench has no 'mesure'; did you mean 'measure'?",
      ["poly.nothing_like_it"] = "poly has no 'nothing_like_it'" } do
      local module = text:match "^%w+"
      assert.same({ 1, "", ("stdin:2: clcompute.%s\n"):format(message) },
        { piped(('%s = require "clcompute.%s"\n%s\n'):format(module, module, text)) })
    end
    assert.matches("^stdin:1: module 'clcompute.nothing' not found:", select(3, piped 'require "clcompute.nothing"\n'))
  end)

  it("shows why loops.compile refuses what a line gives a name, where nobody took the reason", function()
    local text = 'loops = require "clcompute.loops"\n%sloops.compile "function(x) x.y = 1 end"\n'
    local _, out, err = piped(text:format "f = ")
    assert.equal("", out)
    assert.matches("^loops.compile: %(text%):1:13: [^\n]*\nfunction%(x%) x.y = 1 end\n +%^\n$", err)
    assert.matches("^loops.compile: ", select(3, piped(text:format "local f = ")))
    for _, kept in ipairs { "f, why = ", "local f, why = ", "", "print(why) ; return " } do
      assert.equal("", select(3, piped(text:format(kept))))
    end
  end)

  it("isolates the CPUs of cl.devices too", function()
    local code, out = piped 'for _, each in ipairs(cl.devices()) do print(each.isolated == (each.type == "cpu")) end'
    assert.equal(0, code)
    assert.is_nil(out:find "false")
    assert.matches("true", out, 1, true)
  end)

  it("says what leaves it where exit or quit stands alone, and leaves where it is called", function()
    assert.same({ 3, "exit() or Ctrl-D leaves\nquit() or Ctrl-D leaves\n", "" }, { piped "exit\nquit\nquit(3)\n1" })
    assert.same({ 0, "", "" }, { piped "exit()\n1" })
    local _, out = piped "help"
    assert.matches('help "gemm"', out, 1, true)
  end)

  it("is isolated and in check mode, and times launches", function()
    local text = [[
      p = d:program("kernel void f(global float *y) { y[get_global_id(0)] = 1; }" ..
        "kernel void g(global float *y) { *y = NAN; }")
      y = d:empty("float", 7)
      p.f(7, y).seconds >= 0
      d.isolated
      select(2, pcall(p.f, 8, y)):match "element 8 was written"
      d:check(false)
      p.g(1, cl.device(d.place):empty("float", 7)) == nil -- which check mode would refuse
    ]]
    local code, out, err = piped(text)
    assert.equal(0, code, err)
    assert.matches(('^true\n%s\n"element 8 was written"\n.*\nfalse\n$'):format(CPU == PLACE), out)
  end)
end)

--- Runs the command and interrupts it when it has printed "ready"; returns its exit code and what it printed.
local function interrupted_command(words)
  local out = folder .. "/out"
  local code = helper.shell(("rm -f %s; setsid sh -c 'exec env --default-signal=INT %s%s >%s 2>&1' & child=$!; "
    .. "for i in $(seq 200); do grep -q ready %s 2>/dev/null && break; sleep 0.05; done; kill -INT $child; "
    .. "wait $child; echo $?"):format(out, command.text, words, out, out))
  return math.tointeger(tonumber(code)), helper.read(out)
end

describe("clcompute run", function()
  local function run(text, arguments)
    helper.write(folder .. "/script.lua", text)
    return command.shell(("CLCOMPUTE_DEVICE=%s %srun %s/script.lua %s")
      :format(PLACE, command.text, folder, arguments or ""))
  end

  it("runs a script on isolated CPUs, in check mode", function()
    local code, out, err = run [[
      local cl = require "clcompute"
      local d = cl.device()
      print(d.type ~= "cpu" or d.isolated)
      local p = d:program "kernel void f(global float *y) { y[get_global_id(0)] = 1; }"
      p.f(8, d:empty("float", 7))
    ]]
    assert.same({ 1, "true\n" }, { code, out })
    assert.matches("^clcompute: [^\n]*script.lua:5: [^\n]*element 8 was written[^\n]*\nstack traceback:\n", err)
    assert.matches("in main chunk\n$", err)
    assert.falsy(err:find("cli/", 1, true), err)
  end)

  it("hands over arguments as they are, and ends as the script says", function()
    local code, out = run([[print(arg[0]:match "[^/]*$", #arg, ...) os.exit(5)]], "--size -3 --help 'a b'")
    assert.same({ 5, "script.lua\t4\t--size\t-3\t--help\ta b\n" }, { code, out })
  end)

  it("ends at Ctrl-C, as a prompt behind a pipe does", function()
    local path = helper.write(folder .. "/endless.lua", "io.stdout:setvbuf 'no' print 'ready' while true do end")
    for _, words in ipairs { "run " .. path, "repl <" .. path } do
      assert.same({ 130, "ready\nclcompute: interrupted\n" }, { interrupted_command(words) })
    end
  end)

  it("names the kernel that Ctrl-C ends", function()
    if not CPU then return pending "no CPU that can be isolated" end
    local path = helper.write(folder .. "/endless.lua", [[
      local d = require "clcompute".device "]] .. CPU .. [["
      local f = d:program("kernel void f(global float *x) { volatile int go = 1; while (go) x[0] += 1; }").f
      io.stdout:setvbuf "no"
      print "ready"
      f(1, d:zeros("float", 1))
      d:wait()
    ]])
    assert.same({ 130, "ready\nclcompute: interrupted in kernel 'f'\n" }, { interrupted_command("run " .. path) })
  end)

  it("shows the script's calls that led to an error, none of the library, and fields of what has no text", function()
    local raised = "\nstack traceback:\n\t[C]: in function 'error'\n"
    local at = folder .. "/script.lua:"
    for text, expected in pairs {
      ["error {}"] = "{}" .. raised .. "\t" .. at .. "1: in main chunk\n",
      ["error { code = 3 }"] = "{ code = 3 }" .. raised .. "\t" .. at .. "1: in main chunk\n",
      ["local cl = require 'clcompute'\nlocal function f() cl.map('x +', { x = cl.device():zeros('int', 1) }) end\nf()"]
        = at .. "2: map: 'x' is a buffer: x[i] is its element, in \"x +\"" .. raised .. "\t(...tail calls...)\n\t" .. at
        .. "2: in local 'f'\n\t" .. at .. "3: in main chunk\n",
      ["require 'clcompute'.device 'none of it'"] = at .. "1: no OpenCL device matches 'none of it'; there are:\n",
    } do
      local code, _, err = run(text)
      assert.equal(1, code)
      assert.equal("clcompute: " .. expected, err:sub(1, #expected + 11))
      assert.is_nil(err:find "lua/clcompute/", err)
    end
  end)

  it("takes a script from standard input, and tells of its arguments", function()
    local code, out = command.shell(("echo 'print(arg[0], ...)' | %srun - 4 --x"):format(command.text))
    assert.same({ 0, "-\t4\t--x\n" }, { code, out })
    assert.matches("Usage: clcompute run [-h] <file> [<argument>] ...", command.succeeds "run --help", 1, true)
  end)

  it("says what is wrong with a script that cannot be read", function()
    assert.equal(1, (run "x x"))
    command.fails(1, { "nothing.lua" }, "run nothing.lua")
    command.fails(2, { "missing argument 'file'" }, "run")
  end)
end)
