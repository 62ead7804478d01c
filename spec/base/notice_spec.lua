-- SPDX-License-Identifier: MIT
--- The line for who waits at a terminal. POCL links each kernel by the `ld` of the path, which is slow here.

local helper = require "spec.helper"
local terminal = require "spec.support.terminal"

local device, shell = helper.device(), helper.shell

-- No shell, which would take the mask of signals that it inherits away. Ctrl-C ends it.
local SLOW_LD = ([[
#!/usr/bin/env %s
io.open(arg[0]:gsub("ld$", "linking"), "w"):close()
local start = os.clock()
repeat until os.clock() - start > 1
os.execute("PATH=${PATH#*:} exec ld '" .. table.concat(arg, "' '") .. "'")
]]):format(helper.lua)

describe("a notice", function()
  local NOTICE = terminal.NOTICE:gsub("%%s", "clcompute: %%s")
  local folder

  before_each(function()
    folder = helper.folder()
    helper.write(folder .. "/ld", SLOW_LD, true)
  end)

  after_each(function() shell("rm -rf " .. folder) end)

  --- A script in a terminal.
  local function start(script, environment)
    local path = helper.write(folder .. "/script.lua", script)
    return terminal.open(("env %s %s %s"):format(environment, helper.lua, path))
  end

  --- All that a terminal gets until the end.
  local function finish(t)
    t.add = function(self, bytes) self.bytes = self.bytes .. bytes end
    assert.equal(0, t:finish(), t.bytes)
    return t.bytes
  end

  --- All that it gets from a script.
  local function bytes_of(script, environment)
    local t <close> = start(script, environment)
    return finish(t)
  end

  --- What is to make POCL link slowly, for `env`.
  local function slowly(mode)
    local words = { "TERM=xterm", "CLCOMPUTE_SANDBOX=off" } -- the worker's links too
    for name, value in pairs { PATH = folder .. ":" .. os.getenv "PATH", CLCOMPUTE_BUILD = mode or "",
      CLCOMPUTE_CACHE = folder .. "/cache", POCL_CACHE_DIR = folder .. "/pocl" } do
      words[#words + 1] = ("%s='%s'"):format(name, value)
    end
    return table.concat(words, " ")
  end

  local BUILD = [[
    local d = require "clcompute".device("%s", { isolated = %s })
    local x = d:zeros("int", 1)
    d:wait()
    io.write "[building " io.flush()
    local p = d:program("kernel void k(global int *x) { x[0] = 42; %s }", { name = "k\27.cl" })]]

  --- What a script shows at a terminal: its steps behind each other, and what the library says between them. POCL has
  -- the program, but no binary, before it begins.
  local function show(mode, isolated, statement)
    local build = BUILD:format(device.place, isolated, statement or "")
    assert(helper.run(build, { CLCOMPUTE_BUILD = "", CLCOMPUTE_CACHE = folder .. "/cache",
      POCL_CACHE_DIR = folder .. "/pocl" }))
    return bytes_of(build .. [[
      io.write "][launching " io.flush()
      p.k(1, x):wait()
      io.write(x[1], "]")]], slowly(mode))
  end

  it("tells of many short waits as of a long one, and of none of those that lie apart", function()
    local function show_steps(step, pause)
      return bytes_of(([[
        require "clcompute"
        local notice = require("clcompute.core.internal").notice
        for step = 1, 5 do
          local line = notice("step " .. step)
          os.execute "sleep %s"
          getmetatable(line).__close(line)
          os.execute "sleep %s"
        end]]):format(step, pause), "TERM=xterm")
    end
    local shown = show_steps(0.3, 0)
    assert.not_matches("step 1", shown)
    assert.matches(NOTICE:format "step 4", shown, 1, true)
    assert.equal("", show_steps(0.1, 0.4))
  end)

  it("is not shown by a job in the background", function()
    local wait = [[
      require "clcompute"
      local line <close> = require("clcompute.core.internal").notice "long"
      os.execute "sleep 0.8"]]
    local job = ("TERM=xterm %s %s"):format(helper.lua, helper.write(folder .. "/job.lua", wait .. " print 'done'"))
    local commands = { ("sh -mc '%s & wait'"):format(job) }
    if select(2, shell "unshare -rpf true") then -- the terminal's own job stands outside, and has no number there
      commands[2] = "unshare -rpf timeout 9 env " .. job
    end
    local terminals = {} -- which wait at the same time
    for i, command in ipairs(commands) do terminals[i] = terminal.open(command) end
    assert.equal(NOTICE:format "long", bytes_of(wait, "TERM=xterm"))
    for _, t in ipairs(terminals) do assert.equal("done\r\n", finish(t)) end
  end)

  it("fills a line but for a column, 79 characters at most", function()
    local script = helper.write(folder .. "/long.lua", [[
      require "clcompute"
      local line <close> = require("clcompute.core.internal").notice(("x"):rep(200))
      os.execute "sleep 0.8"]])
    local terminals = {} -- which wait at the same time
    for _, columns in ipairs { 40, 80, 120 } do
      terminals[columns] = terminal.open(("env TERM=xterm %s %s"):format(helper.lua, script), columns)
    end
    for columns, t in pairs(terminals) do
      local length = math.min(columns - 1, 79)
      assert.equal(NOTICE:format(("x"):rep(length - #"clcompute: ")), finish(t))
    end
  end)

  it("goes at once where Enter is typed, which puts the cursor on it", function()
    local t <close> = start([[
      require "clcompute"
      do
        local line <close> = require("clcompute.core.internal").notice "long"
        os.execute "sleep 2"
      end
      print "done"]], "TERM=xterm")
    t.add = function(self, bytes) self.bytes, self.text = self.bytes .. bytes, self.bytes .. bytes end
    t:expect "long"
    t:type "1 + 1\n"
    assert.equal(0, t:finish())
    local line = terminal.NOTICE:match "^(.*%%s\0278)":format "clcompute: long"
    assert.equal(line .. "1 + 1\r\n\27[Jdone\r\n", t.bytes)
  end)

  local COMPILING = "[launching " .. NOTICE:format "compiling kernel 'k'" .. "42]"

  local on_pocl = device.platform:find "Portable" and it or pending

  on_pocl("tells of a program whose binary is kept, below the line that the script is writing", function()
    assert.equal("[building " .. NOTICE:format "building k .cl, which is kept" .. "]" .. COMPILING, show "wait")
  end)

  on_pocl("tells of a kernel that is compiled at its first launch", function()
    assert.equal("[building ]" .. COMPILING, show "")
  end)

  on_pocl("tells of one that a worker compiles", function()
    assert.equal("[building ]" .. COMPILING, show("", true))
  end)

  on_pocl("leaves what a kernel prints alone", function()
    assert.equal("[building ][launching 1\r\n2\r\n42]", show("", false, [[printf(\"1\\n2\\n\");]]))
    local shown = "[building ][launching " .. NOTICE:format "compiling kernel 'k'" .. "3\r\n4\r\n42]"
    assert.equal(shown, show("", true, [[printf(\"3\\n4\\n\");]]))
  end)

  --- Ctrl-C while the driver links what the last statement of a script needs, its words in brackets.
  local function interrupt(mode, first, last)
    local linking = folder .. "/linking"
    local t <close> = start(([[
      local d, x, p = require "clcompute".device("%s"), nil, nil
      local function build()
        p = d:program("kernel void k(global int *x) { x[0] = 42; }")
      end
      x = d:zeros("int", 1)
      d:wait()
      %s
      os.remove "%s"
      print "ready"
      print(pcall(function() %s end))
      d:wait()
      print("[" .. x[1] .. "]")]]):format(device.place, first, linking, last), slowly(mode))
    t:expect "ready"
    for _ = 1, 600 do
      if shell(("ls %s"):format(folder)):find "linking" then break end
      os.execute "sleep 0.1"
    end
    t:type "\3"
    t:expect "interrupted!"
    t:expect "["
    assert.equal(0, t:finish(), t.text)
  end

  on_pocl("and Ctrl-C end a wait, not the driver's linker, without which POCL aborts", function()
    interrupt("", "build()", "p.k(1, x) d:wait()")
    interrupt("wait", "", "build()")
    interrupt("wait", [[
      build()
      for _ = 1, 1000 do p.k({ global = 64, group = 64 }, x):wait() end -- in this thread in the end]],
      "p.k({ global = 64, group = 32 }, x) d:wait()")
  end)
end)
