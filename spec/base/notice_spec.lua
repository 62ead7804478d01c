-- SPDX-License-Identifier: MIT
--- The line for who waits at a terminal. POCL links each kernel by the `ld` of the path, which is slow here.

local helper = require "spec.helper"
local terminal = require "spec.support.terminal"

local device, shell = helper.device(), helper.shell

describe("a notice", function()
  -- On the line below the cursor, which goes back to where it was; then all from there on is cleared.
  local NOTICE = "\27D\27[A\0277\27[B\rclcompute: %s\0278\27[J"
  local folder

  before_each(function()
    folder = helper.folder()
    helper.write(folder .. "/ld", "#!/bin/sh\nsleep 1\nPATH=${PATH#*:} exec ld \"$@\"\n", true)
  end)

  after_each(function() shell("rm -rf " .. folder) end)

  --- All that a terminal gets from a script.
  local function bytes_of(script, environment)
    local path = helper.write(folder .. "/script.lua", script)
    local t <close> = terminal.open(("env %s %s %s"):format(environment, helper.lua, path))
    t.add = function(self, bytes) self.bytes = self.bytes .. bytes end
    assert.equal(0, t:finish(), t.bytes)
    return t.bytes
  end

  --- What a script shows at a terminal: its steps behind each other, and what the library says between them. POCL has
  -- the program, but no binary, before it begins.
  local function show(mode, isolated)
    local build = ([[
      local d = require "clcompute".device("%s", { isolated = %s })
      local x = d:zeros("int", 1)
      d:wait()
      io.write "[building " io.flush()
      local p = d:program("kernel void k(global int *x) { x[0] = 42; }", { name = "k\27.cl" })]])
      :format(device.place, isolated)
    local environment = { TERM = "xterm", PATH = folder .. ":" .. os.getenv "PATH",
      CLCOMPUTE_SANDBOX = "off", -- the worker's links too
      CLCOMPUTE_BUILD = "", CLCOMPUTE_CACHE = folder .. "/cache", POCL_CACHE_DIR = folder .. "/pocl" }
    helper.output(build, environment)
    environment.CLCOMPUTE_BUILD = mode
    local words = {}
    for name, value in pairs(environment) do words[#words + 1] = ("%s='%s'"):format(name, value) end
    return bytes_of(build .. [[
      io.write "][launching " io.flush()
      p.k(1, x):wait()
      io.write(x[1], "]")]], table.concat(words, " "))
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
end)
