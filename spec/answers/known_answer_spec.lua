-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"
local known_answer = require "clcompute.answers.known_answer"
local cl = require "clcompute"

describe("a known answer", function()
  local d = helper.device()

  --- pcall(f, ...) with a hook that raises at the nth line of the module, but where that puts back what it changed;
  -- whether there is such a line.
  local function at_line(n, f, ...)
    local lines = 0
    debug.sethook(function()
      local at = debug.getinfo(2, "Sn")
      if not at.source:find("known_answer.lua", 1, true) or at.namewhat == "metamethod" then return end
      lines = lines + 1
      if lines < n then return end
      debug.sethook()
      error("watchdog", 0)
    end, "l")
    pcall(f, ...)
    debug.sethook()
    return lines == n
  end

  it("leaves nothing behind where a debug hook raises at any of its lines", function()
    local n = 0
    repeat
      n = n + 1
      local test = { name = helper.unseen("hook %s"), is_apart = true, expected = { 2 },
        operation = function() return { 1 } end }
      local has_raised = at_line(n, known_answer.verdict, d, test)
      assert.is_false(known_answer.is_running())
      assert.equal("fault", known_answer.verdict(d, test))
    until not has_raised
    assert.is_true(n > 20)
  end)

  it("is asked for from the version of OpenCL on that it needs", function()
    local major, minor = d.version:match "^OpenCL (%d+)%.(%d+)"
    local function run(...)
      return known_answer.run(d, { name = "version", is_apart = true, from = { ... }, expected = { 2 },
        operation = function() return { 2 } end })
    end
    assert.equal("ok", run(math.tointeger(major), math.tointeger(minor)))
    assert.equal("ok", run(major - 1, 9))
    assert.same({ "skipped", "needs OpenCL 99.0", false }, { run(99, 0) })
  end)

  it("of the library's own kernels stands for their text, with what that includes", function()
    local folder, own = helper.folder(), internal.kernel_folder
    finally(function()
      internal.kernel_folder = own
      os.execute("rm -r " .. folder)
    end)
    os.execute("mkdir " .. folder .. "/clcompute")
    internal.kernel_folder = folder
    local function key_of(kernels, files)
      for name, text in pairs(files) do helper.write(folder .. "/" .. name, text) end
      return known_answer.key(d, { name = "own", kernels = kernels })
    end
    local text = '#include "clcompute/header.h"\n'
    local first = key_of("one", { ["one.cl"] = text, ["clcompute/header.h"] = "int x;" })
    assert.equal(first, key_of("same", { ["same.cl"] = text }))
    assert.not_equal(first, key_of("other", { ["other.cl"] = text .. "// changed" }))
    assert.not_equal(first, key_of("including", { ["including.cl"] = text, ["clcompute/header.h"] = "long x;" }))
  end)

  it("is asked for beside a recording, which goes on whatever happens", function()
    local x = d:zeros("float", 4)
    for _, f in ipairs { function() cl.saxpy(1, x, x) end, function() error("watchdog", 0) end } do
      local values
      local sequence <close> = d:record(function()
        x:fill(3)
        values = { internal.call_unrecorded(d, function(...)
          f()
          return ...
        end, 1, nil) }
        x:fill(5)
      end)
      assert.same(values[1] and { true, 1, nil } or { false, "watchdog" }, values)
      assert.equal(0, x[1])
      sequence()
      assert.equal(5, x[1])
      x:fill(0)
    end
  end)
end)
