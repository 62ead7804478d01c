-- SPDX-License-Identifier: MIT
--- The command, as a process: what it prints on which stream, and its exit codes.

local cl = require "clcompute"
local command = require "spec.support.command"
local command_line = require "clcompute.cli.command_line"
local helper = require "spec.helper"
local output = require "clcompute.cli.output"
local width = require("clcompute.base").width
local write_file = require("clcompute.base").write_file

local NO_OPENCL = "OCL_ICD_VENDORS=/nonexistent"
local NO_CORE = "LUA_CPATH_5_4='/nonexistent/?.so'"
--- A device that is no simulator, if there is one.
local FAST
for _, d in ipairs(cl.devices()) do
  if not FAST or d.platform ~= "Oclgrind" then FAST = d.place end
end

local COMMAND, shell, run, succeeds, fails = command.text, command.shell, command.run, command.succeeds, command.fails
local scratch = os.tmpname()

local function decode(text)
  local value, _, message = require "dkjson".decode(text)
  return assert(value, message)
end

teardown(function() os.remove(scratch) end)

describe("the command", function()
  it("tells its version without the C core", function()
    assert.same({ 0, cl._VERSION .. "\n", "" }, { run("--version", NO_CORE) })
  end)

  it("has help with examples for itself and each command, in 80 columns", function()
    local all = succeeds("--help", NO_CORE)
    for _, name in ipairs { "", "info", "doctor", "bench", "loops", "profile-device", "report", "tune",
      "warm", "repl", "run", "completion", "luarc", "help" } do
      local out = succeeds(name .. " --help", NO_CORE)
      assert.matches("^Usage: clcompute", out)
      if name ~= "" then assert.matches("\n   " .. name:gsub("%-", "%%-") .. " +%u", all) end -- described
      assert.matches("\nExamples:\n  clcompute " .. name, out, 1, true)
      for line in out:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
      for line in out:match "\nExamples:\n(.*)":gmatch "[^\n]+" do -- no comment goes on as if it were a command
        assert.truthy(line:find "clcompute" or line:find "^  # ", line)
      end
    end
    assert.matches("gemm or loops; all", succeeds("tune --help", NO_CORE), 1, true)
    assert.same(require("clcompute.tune").operations(), require("clcompute.cli.tune").operations)
  end)

  it("shows help without dashes too, of a command without the C core, and of a name of the library", function()
    assert.equal(succeeds("--help", NO_CORE), succeeds("help", NO_CORE))
    assert.equal(succeeds("bench --help", NO_CORE), succeeds("help bench", NO_CORE))
    local _, said = shell(("echo 'help \"gemm\"' | %srepl"):format(COMMAND))
    assert.equal(said, succeeds "help gemm")
    assert.matches("^cl%.gemm%(a, b %[, options%]%)\n", said)
    assert.matches("write cl.concat%(a, b%)\n", succeeds "help vstack")
    fails(1, { "'zzzz' is not in the reference; clcompute help --names lists what is\n" }, "help zzzz")
    assert.matches("\ncl%.\n  .*gemm.*\nBuffer:\n", succeeds "help --names")
    local code, out, err = run "help gem"
    assert.same({ 1, "" }, { code, out })
    assert.matches("^clcompute: 'gem' is not in the reference; clcompute help name tells of .-\n  cl%.gemm", err)
    fails(1, { "clcompute doctor" }, "help gemm", NO_CORE)
  end)

  it("ends with 2 and one line when it is used wrongly", function()
    fails(2, { "a command is required", "`clcompute --help`" }, "")
    fails(2, { "unknown command 'zork'", "`clcompute --help`" }, "zork")
    fails(2, { "unknown option '--zork'", "`clcompute info --help`" }, "info --zork")
    fails(2, { "unknown option '-3'", "`clcompute --help`" }, "-3")
    fails(2, { "option '--device' requires an argument" }, "info --device")
    fails(2, { "too many arguments", "`clcompute doctor --help`" }, "doctor now")
  end)

  it("ends with 1 and one line when a module is missing, naming the Debian package", function()
    fails(1, { "apt install lua-argparse", "luarocks --lua-version 5.4 install argparse" }, "info",
      "LUA_PATH_5_4='lua/?.lua;lua/?/init.lua'")
    local folder = scratch .. ".d" -- with argparse alone
    shell(("mkdir %s; ln -s %s %s"):format(folder, assert(package.searchpath("argparse", package.path)), folder))
    finally(function() shell("rm -r " .. folder) end)
    for _, words in ipairs { "doctor --quick --json", "bench gemm --size 9000 --json", "report gauss --json",
      ("report gauss --rows %s/rows"):format(folder), "report kept.jsonl" } do
      fails(1, { "dkjson", "apt install lua-dkjson" }, words,
        ("LUA_PATH_5_4='lua/?.lua;lua/?/init.lua;%s/?.lua'"):format(folder))
    end
  end)

  it("ends in silence when nobody reads on", function()
    for _, trap in ipairs { "true", "trap '' PIPE" } do -- the signal, or where it is ignored the failing write
      local code, out, err = shell(("%s; { sleep 0.3; %s info; echo $? >&2; } | true"):format(trap, COMMAND))
      assert.same({ 0, "", "141\n" }, { code, out, err })
    end
  end)

  it("fails when its output cannot be written", function()
    fails(1, { "standard output", "No space left on device" }, "info >/dev/full")
    fails(1, { "standard output" }, "--help >/dev/full")
  end)

  it("ends with 130 and one line on Ctrl-C, whatever it was doing", function()
    local code, _, err = shell("timeout --foreground --preserve-status -s INT 1.5 " .. COMMAND
      .. "bench saxpy --size 100000 --seconds 60 --device " .. FAST)
    assert.equal(130, code)
    assert.equal("clcompute: interrupted\n", err)
  end)
end)

describe("a terminal", function()
  --- What the command shows on a terminal of so many columns.
  local function shown(columns, arguments, environment)
    local line = ("stty cols %d; %s %s%s"):format(columns, environment or "", COMMAND, arguments)
    local _, out = shell(('env -u COLUMNS -u NO_COLOR TERM=xterm script -qec "%s" /dev/null'):format(line))
    return (out:gsub("\r\n", "\n"))
  end

  it("shows progress before a command has loaded the core", function()
    local path = helper.write(os.tmpname(), [[
      local progress = require "clcompute.cli.output".progress()
      progress { name = "first", done = 0, total = 2 }
      progress:close()
      print "closed"]])
    local _, out = shell(('env TERM=xterm script -qec "%s %s" /dev/null'):format(helper.lua, path))
    os.remove(path)
    assert.matches("closed\r\n$", out)
  end)

  it("has tables as wide as it is", function()
    for _, columns in ipairs { 80, 100 } do
      local out = shown(columns, "info --device 0:0") .. shown(columns, "info")
        .. shown(columns, "bench saxpy --size 100 --seconds 0.01 --device " .. FAST)
      assert.matches("saxpy, 100 elements", out, 1, true)
      for line in out:gmatch "[^\n]+" do
        line = line:gsub(".*\27%[K", "") -- behind the progress
        assert.is_true(width.of(line) <= columns, line)
      end
    end
    assert.matches("no room for: ", shown(80, "info"), 1, true)
    assert.is_nil(shown(200, "info"):find("no room for: ", 1, true))
  end)

  it("has help and the doctor's rows as wide as it is", function()
    for _, words in ipairs { "report --help", "doctor --quick" } do
      local lines = {}
      for _, columns in ipairs { 60, 95 } do
        lines[columns] = 0
        for line in shown(columns, words):gsub("\27%[[%d]*m", ""):gmatch "[^\n]+" do
          lines[columns] = lines[columns] + 1
          assert.is_true(width.of(line) <= columns or not line:find "%S %S", line) -- but for a word that is longer
        end
      end
      assert.is_true(lines[60] > lines[95], words)
    end
  end)

  it("has colours for verdicts, unless NO_COLOR is set or it is dumb", function()
    assert.matches("\n  \27%[32mok\27%[m +C core", shown(80, "doctor --quick"))
    assert.matches("  \27%[31mfault\27%[m +driver ", shown(80, "doctor --quick", NO_OPENCL))
    for _, environment in ipairs { "NO_COLOR=1", "TERM=dumb" } do
      assert.matches("\n  ok +C core", shown(80, "doctor --quick", environment))
    end
    assert.is_nil(succeeds("--help"):find "\27")
    assert.is_nil(select(2, run "doctor --quick"):find "\27")
  end)
end)

describe("clcompute completion", function()
  it("completes commands and options in bash", function()
    local function completed(...)
      local words = table.concat({ "clcompute", ... }, " ")
      local _, out = shell(([[bash -c 'eval "$(%scompletion bash)"; COMP_WORDS=(%s); COMP_CWORD=%d; _clcompute; ]]
        .. [[echo "${COMPREPLY[@]}"']]):format(COMMAND, words, select("#", ...)))
      return out
    end
    assert.equal("info\n", completed "inf")
    assert.equal("--markdown\n", completed("bench", "--mar"))
    assert.equal("gemm gauss\n", completed("bench", "g"))
    assert.equal("float\n", completed("bench", "--dtype", "fl"))
    assert.equal("bash\n", completed("completion", "b"))
    assert.equal("--html --help\n", completed("bench", "--h"))
    assert.equal("doctor\n", completed("help", "do"))
    assert.equal("gemm loops\n", completed("tune", "''"))
    assert.equal("polykernels peers\n", completed("report", "p"))
    assert.equal("long_loop local_memory\n", completed("profile-device", "--only", "lo"))
    assert.equal("gpu cpu\n", completed("tune", "--device", "''"))
    local folder = helper.folder()
    for _, name in ipairs { "gaps.jsonl", "gaps.lua" } do helper.write(folder .. "/" .. name, "") end
    assert.equal(folder .. "/gaps.jsonl\n", completed("report", folder .. "/ga"))
    shell("rm -r " .. folder)
  end)

  for _, name in ipairs { "bash", "zsh", "fish" } do
    it("prints what it can read: " .. name, function()
      local code, _, err = shell(("%scompletion %s | { command -v %s >/dev/null && %s -n; }")
        :format(COMMAND, name, name, name))
      if code == 127 then return pending(name .. " is not installed") end
      assert.same({ 0, "" }, { code, err })
    end)
  end

  it("refuses other shells", function()
    fails(2, { "'bash', 'zsh', 'fish'" }, "completion tcsh")
  end)
end)

describe("clcompute luarc", function()
  it("names the folder of the stubs", function()
    local settings = decode(succeeds "luarc")
    assert.equal("Lua 5.4", settings["runtime.version"])
    local folder = settings["workspace.library"][1]
    assert.matches("^/", folder)
    assert.matches("---@meta", helper.read(folder .. "/clcompute.lua"), 1, true)
    local own = decode(helper.read ".luarc.json") -- of the checkout
    assert.equal(helper.read(folder .. "/clcompute.lua"), helper.read(own["workspace.library"][1] .. "/clcompute.lua"))
  end)
end)

describe("clcompute info", function()
  it("shows every platform and device", function()
    local out = succeeds "info"
    for _, platform in ipairs(cl.platforms()) do assert.truthy(out:find(platform.name, 1, true), out) end
    for _, device in ipairs(helper.devices()) do
      local place = tostring(device):match "^%S+"
      local line = assert(out:match("\n(" .. place .. " [^\n]*)"), out)
      assert.truthy(line:find(device.name, 1, true) and line:find((" %d "):format(device.max_group_size)), line)
    end
  end)

  it("gives the same as JSON", function()
    local out = succeeds "info --json"
    local expected, found = {}, decode(out)
    for p, platform in ipairs(cl.platforms()) do
      expected[p] = { name = platform.name, vendor = platform.vendor, version = platform.version, devices = {} }
      for i, device in ipairs(platform.devices) do
        expected[p].devices[i] = device:info()
        expected[p].devices[i].place = ("%d:%d"):format(p - 1, i - 1)
        assert.same(expected[p].devices[i], found[p].devices[i])
      end
    end
    assert.same(expected, found)
    assert.same({ 0, out, "" }, { run "info --json" }) -- byte for byte: the keys are in order
  end)

  it("shows all properties of the device that a selector means", function()
    local facts = cl.device "0:0":info()
    local out = succeeds "info --device 0:0"
    for name, value in pairs(facts) do
      local shown = type(value) == "table" and table.concat(value, " x ") or tostring(value)
      assert.truthy((out .. "\n"):find(("\n%s +"):format(name)), name)
      assert.truthy(out:find(shown, 1, true), name)
    end
    facts.place = "0:0"
    assert.same(facts, decode(select(2, run "info --device 0:0 --json")))
  end)

  it("fails where nothing matches, or is there", function()
    fails(1, { "no OpenCL device matches 'zork'; there are: 0:0 " }, "info --device zork")
    assert.equal("", fails(1, { "no OpenCL platform", "clcompute doctor" }, "info", NO_OPENCL))
    assert.equal("[]\n", fails(1, { "no OpenCL platform" }, "info --json", NO_OPENCL))
    fails(1, { "'clcompute.core' not found", "clcompute doctor" }, "info", NO_CORE)
  end)
end)

describe("clcompute doctor", function()
  it("prints the doctor's report, and ends with 0 only when all is well", function()
    local report = require "clcompute.doctor".examine { answers = false }
    local code, out, err = run "doctor --quick --json"
    assert.equal(report.faults == 0 and 0 or 1, code, err)
    local got = decode(out)
    assert.equal(report.faults, got.faults)
    assert.equal(#report.rows, #got.rows)
    for i, row in ipairs(report.rows) do assert.equal(row.check, got.rows[i].check) end
    local text = select(2, run "doctor --quick")
    assert.equal(("clcompute doctor: %d"):format(report.faults), text:match "^clcompute doctor: %d+")
  end)

  it("ends with 0 where the library avoids what a driver gets wrong, which is a warning", function()
    local pocl = require("clcompute").devices "pocl"[1]
    if not (pocl and pocl.driver:find "^3%.1") then return pending "needs POCL 3.1" end
    local code, out = run "doctor --device pocl"
    assert.equal(0, code, out)
    local count = os.getenv "CLCOMPUTE_SANDBOX" == "off" and 4 or 3 -- that is one too
    assert.matches(("^clcompute doctor: 0 faults, %d warnings in %%d+ checks\n"):format(count), out)
    assert.matches("\n  warning  %S+ get_local_size in a loop condition: ", out)
    assert.matches("\n  warning  %S+ a barrier in a branch within a loop: ", out)
    assert.matches("\n  warning  %S+ images of single halves: ", out)
  end)

  it("ends with 1 and names the remedy where there is no driver, and no C core", function()
    for environment, text in pairs { [NO_OPENCL] = "remedy: unset OCL_ICD_VENDORS", [NO_CORE] = "fault    C core" } do
      local code, out, err = run("doctor", environment)
      assert.same({ 1, "" }, { code, err })
      assert.matches(text, out, 1, true)
    end
  end)

  it("examines the device that a selector means", function()
    local got = decode(select(2, run "doctor --quick --json --device 0:0"))
    assert.equal(1, #got.devices)
    assert.equal("0:0", got.devices[1].place)
  end)
end)

describe("clcompute warm", function()
  it("builds nothing where nothing can be kept", function()
    write_file(scratch, "")
    fails(1, { "nothing is kept: ", "/below/verdicts: ", "; set CLCOMPUTE_CACHE to another folder" }, "warm",
      ("CLCOMPUTE_CACHE=%s/below"):format(scratch))
    fails(1, { "nothing is kept here: CLCOMPUTE_CACHE is off" }, "warm", "CLCOMPUTE_CACHE=off")
    fails(1, { "nothing is kept: ", "/below/verdicts: ", "; set CLCOMPUTE_SYSTEM_CACHE to another folder" },
      "warm --system", ("CLCOMPUTE_SYSTEM_CACHE=%s/below"):format(scratch))
    fails(1, { "nothing is kept here: CLCOMPUTE_SYSTEM_CACHE is off" }, "warm --system", "CLCOMPUTE_SYSTEM_CACHE=off")
    os.execute(("rm %s && mkdir -m 777 %s"):format(scratch, scratch))
    fails(1, { "nobody would read " .. scratch .. ", as others may write to it; chown root, chmod go-w" },
      "warm --system", "CLCOMPUTE_SYSTEM_CACHE=" .. scratch)
    os.execute("rm -r " .. scratch)
  end)

  it("measures first calls on a device that there is", function()
    fails(1, { "no OpenCL device matches 'nope'" }, "doctor --cold --device nope")
  end)
end)

describe("clcompute repl", function()
  --- What the prompt prints of a line of Lua.
  local function converse(line, arguments, environment)
    return shell(("echo '%s' | %s %srepl %s"):format(line, environment or "", COMMAND, arguments or ""))
  end

  it("has cl and d", function()
    local code, out, err = converse([[tostring(d), cl.saxpy ~= nil]], "--device 0:0")
    assert.equal(0, code, err)
    local d = tostring(cl.device "0:0")
    assert.truthy(out:find(('^"%s[^"]*"\ttrue\n$'):format(d:gsub("%p", "%%%0"))), out)
  end)

  it("has cl, and says what is missing, where there is no device", function()
    local where = { ["on this machine: install"] = { "", NO_OPENCL }, ["matches 'zork'"] = { "--device zork" } }
    for text, words in pairs(where) do
      local code, out, err = converse("type(cl), d", table.unpack(words))
      assert.same({ 0, '"table"\tnil\n' }, { code, out })
      assert.matches("^clcompute: d is nil: no OpenCL device " .. text, err)
    end
  end)

  it("ends with 1 where the library does not load", function()
    for _, words in ipairs { "repl", "run bin/clcompute" } do
      fails(1, { "module 'clcompute.core' not found; `clcompute doctor` says what to do" }, words, NO_CORE)
    end
  end)

  it("ends as os.exit says", function()
    assert.equal(7, (converse "os.exit(7)"))
  end)
end)

describe("the parser", function()
  it("adds a command from its name, description, examples and options", function()
    local added = { name = "square", description = "Square.", examples = { "clcompute square 3" },
      configure = function(p) p:argument("n"):convert(tonumber) end }
    local request = command_line.parse({ added }, { "square", "3" })
    assert.equal(added, request.command)
    assert.equal(3, request.options.n)
    assert.matches("Square.*Examples:\n  clcompute square 3", command_line.parse({ added }, { "square", "-h" }).text)
    assert.matches("malformed", command_line.parse({ added }, { "square", "x" }).misuse)
    added.misuse = function(options) return options.n > 3 and "too large" or nil end
    assert.equal("too large; see `clcompute square --help`", command_line.parse({ added }, { "square", "4" }).misuse)
    assert.equal(3, command_line.parse({ added }, { "square", "3" }).options.n)
    added.passes_on = true
    request = command_line.parse({ added }, { "square", "3", "--size", "-1", "--help" })
    assert.same({ 3, { "--size", "-1", "--help" } }, { request.options.n, request.options.passed_on })
  end)
end)

describe("the converters", function()
  it("take numbers above 0 and say what they expected", function()
    assert.equal(64, command_line.positive_integer "64")
    assert.equal("integer", math.type(command_line.positive_integer "64.0"))
    assert.same({ 1, 20 }, command_line.positive_integers "1,20")
    assert.equal(0.5, command_line.seconds "0.5")
    for name, words in pairs { positive_integer = { "0", "-1", "1.5", "x", "", "1e99" },
      positive_integers = { "", ",", "1,,2", "1,", "1,0", "1.5" },
      seconds = { "0", "-1", "inf", "nan", "1e999", "x" } } do
      for _, word in ipairs(words) do
        local value, message = command_line[name](word)
        assert.is_nil(value, name .. " " .. word)
        assert.truthy(message:find(("expected, got '%s'"):format(word), 1, true), message)
      end
    end
  end)
end)

describe("the progress", function()
  --- A display on a table of what was written, with a clock to set.
  local function display(options)
    local shown = { written = {}, now = 100 }
    options.stream = {
      write = function(_, ...) shown.written[#shown.written + 1] = table.concat { ... } end,
      flush = function() end,
    }
    options.clock = function() return shown.now end
    shown.show = output.progress(options)
    return shown
  end

  it("is a bar on a terminal, with the time left as it is told", function()
    local on = display { terminal = true, columns = 80 }
    on.show { name = "gemm", done = 0, total = 4 }
    on.show { name = "gemm", done = 2, total = 4, seconds_left = 7200 }
    on.show { name = "gemm", done = 4, total = 4 }
    on.show "writing\nthe page"
    on.show:close()
    on.show:close()
    assert.same({
      "\rgemm [........................]   0 %\27[K",
      "\rgemm [############............]  50 %, 2 h 00 min left\27[K",
      "\rgemm [########################] 100 %\27[K",
      "\rwriting the page\27[K",
      "\r\27[K",
    }, on.written)
  end)

  --- What is left after each event, as it is shown: "1 min 30 s", or false.
  local function left_after(events)
    local on, left = display { terminal = true, columns = 80 }, {}
    for i, event in ipairs(events) do
      on.now, event.name = event.at, ""
      on.show(event)
      left[i] = on.written[#on.written]:match ", (.*) left" or false
    end
    return left
  end

  it("estimates from the time of the parts that are done, of which there must be two", function()
    assert.same({ false, false, "1 min 00 s", "50 s", false }, left_after {
      { at = 100, done = 0, total = 4 }, { at = 130, done = 1, total = 4 }, { at = 160, done = 2, total = 4 },
      { at = 170, done = 2, total = 4 }, { at = 230, done = 2, total = 4 } }) -- the last part takes longer than that
  end)

  it("weighs parts by the seconds that they take", function()
    local weights = { 10, 20, 60, 10 }
    assert.same({ false, false, "2 min 20 s", "20 s" }, left_after {
      { at = 100, done = 0, weights = weights }, { at = 120, done = 1, weights = weights },
      { at = 160, done = 2, weights = weights }, { at = 280, done = 3, weights = weights } })
    local on = display { terminal = true, columns = 80 }
    on.show { name = "gemm", done = 2, weights = weights }
    assert.matches(" 30 %", on.written[1], 1, true)
    on.show { name = "gemm", done = 2.5, weights = weights }
    assert.matches(" 60 %", on.written[2], 1, true)
  end)

  it("stays in a line of any width, whatever the name", function()
    for columns_there = 20, 100, 7 do
      for _, name in ipairs { "g", "gemm, tiled, 1024 x 1024, float", ("行列の積"):rep(9) } do
        local on = display { terminal = true, columns = columns_there }
        on.show { name = name, done = 3, total = 7 }
        local line = on.written[1]:match "^\r(.*)\27%[K$"
        assert.is_true(width.of(line) < columns_there, line)
        assert.matches("42 %", line, 1, true)
      end
    end
  end)

  it("is a plain line every few seconds elsewhere", function()
    local on = display { terminal = false }
    for i = 0, 10 do
      on.now = 100 + i
      on.show { name = "gemm", done = i, total = 10 }
    end
    on.show:close()
    assert.same({ "gemm  50 %, 5 s left\n", "gemm 100 %\n" }, on.written)
  end)

  it("knows that a pipe is no terminal", function()
    local code, out, err = shell(helper.lua .. [[ -e '
      local now = 0
      local function clock() now = now + 10 return now end
      require "clcompute.cli.output".progress { clock = clock } "measuring"']])
    assert.same({ 0, "", "measuring\n" }, { code, out, err })
  end)
end)

describe("clcompute bench", function()
  it("measures and checks on every device", function()
    -- with an eye on races a simulator takes most of a minute for its peak
    local out = succeeds("bench saxpy --size 40 --seconds 0.01 --json", "OCLGRIND_DATA_RACES=")
    local rows = decode(out).sections[1].rows
    assert.equal(2 * #cl.devices() + 1, #rows)
    for _, row in ipairs(rows) do
      assert.equal("ok", row.status)
      assert.is_true(row.checked and row.max_error <= 1 and row.gbs > 0)
      assert.equal(40, row.params.n)
    end
  end)

  it("measures every operation", function()
    local out = succeeds("bench --size 40 --seconds 0.01 --dtype double --device " .. FAST)
    for _, title in ipairs { "saxpy, 40 elements, double", "Matrix product, 40", "Gauss elimination, 40" } do
      assert.matches(title, out, 1, true)
    end
  end)

  it("sets the libraries beside them, which may be missing", function()
    local out = succeeds("bench saxpy --size 100 --seconds 0.01 --against --csv --device " .. FAST,
      "CLCOMPUTE_OPENBLAS=/none")
    assert.matches("\nOpenBLAS,[^\n]*unsupported", out)
    assert.matches("\nsequential,[^\n]*ok", out)
  end)

  it("writes a page", function()
    local page = os.tmpname()
    local out = succeeds(
      ("bench saxpy --size 100 --seconds 0.01 --markdown --device %s --html %s"):format(FAST, page))
    assert.matches("| sequential, one core |", out, 1, true)
    local file <close> = assert(io.open(page))
    local text = file:read "a"
    os.remove(page)
    assert.matches("^<!doctype html>", text:lower())
    assert.matches("<svg", text, 1, true)
  end)

  it("finds a page that cannot be written before it measures, and touches none", function()
    for _, page in ipairs { "/none/x.html", "/dev/null/x.html", "/tmp", "''" } do
      local start = cl.clock()
      fails(1, { "--html: cannot write" }, "bench gemm --size 3000 --seconds 60 --html " .. page)
      assert.is_true(cl.clock() - start < 10)
    end
    local page = os.tmpname()
    os.remove(page)
    fails(1, { "device matches 'none'" }, ("bench --device none --html %s"):format(page))
    assert.is_nil(io.open(page))
  end)

  it("refuses what it cannot measure", function()
    fails(2, { "'saxpy', 'gemm', 'gauss'" }, "bench dot")
    fails(2, { "positive integer expected, got '0'" }, "bench gemm --size 0")
    fails(2, { "seconds above 0 expected" }, "bench gemm --seconds x")
    fails(1, { "device matches 'none'" }, "bench --device none")
    fails(1, { "clcompute doctor" }, "bench", NO_OPENCL)
  end)
end)

describe("clcompute profile-device", function()
  it("measures what was asked for, prints it, keeps its rows and writes a page", function()
    local folder = scratch .. ".p"
    finally(function() shell(('rm -rf "%s"'):format(folder)) end)
    shell(('mkdir "%s"'):format(folder))
    local words = ('--only launch --json --rows "%s" --html "%s/page.html" --device %s'):format(folder, folder, FAST)
    local document = decode(succeeds("profile-device " .. words))
    assert.same({ "Summary", "What a launch costs" }, { document.sections[1].title, document.sections[2].title })
    assert.matches("256 launches, one wait", succeeds(('report "%s/device_profile.jsonl"'):format(folder)), 1, true)
    local file <close> = assert(io.open(folder .. "/page.html"))
    assert.matches("<svg", file:read "a", 1, true)
  end)

  it("refuses what it does not know before it measures", function()
    fails(1, { "no experiment 'zork'; there are: ", "divergence" }, "profile-device --only launch,zork")
    fails(2, { "names with commas expected" }, "profile-device --only ,")
    fails(1, { "no OpenCL device matches 'zork'" }, "profile-device --device zork")
    fails(1, { "--html: cannot write '/dev/null/page.html'" }, "profile-device --html /dev/null/page.html")
  end)
end)

describe("clcompute report", function()
  it("repeats a paper", function()
    if cl.device(FAST).platform == "Oclgrind" then return pending "Oclgrind is too slow" end
    local folder = scratch .. ".a'b" -- made, with its quote
    finally(function() shell(('rm -rf "%s"'):format(folder)) end)
    local out = succeeds(('report gauss --quick --sizes 30 --large-sizes 40 --json --rows "%s/kept" --device %s')
      :format(folder, FAST))
    local document = decode(out)
    assert.equal("Baranov & Vlatskaya 2013, repeated", document.title)
    assert.equal(9, #document.sections)
    local kept = document.sections[3]
    assert.equal("Figure 3. Time over the group size, small matrices", kept.title)
    assert.matches(("%d rows"):format(#kept.rows),
      succeeds(('report "%s/kept/group_size_3_"*.jsonl'):format(folder)), 1, true)
  end)

  it("shows rows that were kept", function()
    local path = scratch .. ".jsonl"
    finally(function() os.remove(path) end)
    write_file(path, '{"name":"a","params":{"n":8},"device":"d","value":0.25,"unit":"s","status":"ok"}\n')
    local out = succeeds("report " .. path)
    assert.matches("1 rows", out, 1, true)
    assert.matches("250", out, 1, true)
    write_file(path, '{"name":"a"}\n{"a":1}\n')
    fails(1, { path .. ": row 2 is no measurement: it has no name, value or status" }, "report " .. path)
  end)

  it("names what there is", function()
    fails(1, { "no report 'nope'; there are borisov, gauss, polykernels, peers and scaling" }, "report nope")
    local _, _, err = run "report /none.jsonl"
    assert.matches("^clcompute: read: /none.jsonl: [^\n]*\n$", err)
    assert.is_nil(err:find ".lua:")
    fails(2, { "positive integers with commas expected" }, "report gauss --sizes 1,x")
    fails(2, { "positive integers with commas expected" }, "report gauss --sizes ,")
    fails(2, { "--size: at most 536870912 expected for gemm, got 9223372036854775807" },
      "bench gemm --size 9223372036854775807")
    fails(2, { "--size: at most" }, "bench --size 9223372036854775807")
    fails(2, { "positive integer expected, got '1.5'" }, "report gauss --cores 1.5")
    fails(2, {}, "report")
  end)

  it("refuses an option that the report does not take", function()
    for _, option in ipairs { "--sizes 10", "--large-sizes 10", "--limit 1", "--cores 8" } do
      fails(2, { "report borisov does not take " .. option:match "^%S+", "`clcompute report --help`" },
        "report borisov --quick " .. option)
    end
    for _, option in ipairs { "--quick", "--rows x", "--cores 8", "--device cpu" } do
      fails(2, { "a file of rows does not take " .. option:match "^%S+" }, "report x.jsonl " .. option)
    end
  end)

  it("finds a folder that cannot be written before it measures", function()
    fails(1, { "--rows: cannot write in folder '/dev/null/kept'" }, "report gauss --rows /dev/null/kept")
    fails(1, { "--rows: cannot write in folder '/dev/null'" }, "report borisov --rows /dev/null")
  end)
end)
