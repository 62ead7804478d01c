-- SPDX-License-Identifier: MIT
--- What several processes build of one program: in processes of their own, with empty caches.

local helper = require "spec.helper"

local device, shell = helper.device(), helper.shell

describe("a program of several processes", function()
  local EAGAIN = 11 -- of Linux
  local folder, environment

  before_each(function()
    folder = helper.folder()
    environment = { CLCOMPUTE_CACHE = folder .. "/cache", POCL_CACHE_DIR = folder .. "/pocl", CLCOMPUTE_BUILD = "" }
  end)

  after_each(function() shell("rm -rf " .. folder) end)

  -- Shows each phase of the build; half a second of it in POCL's compiler.
  local BUILD = ([[
    local d = require "clcompute".device "%s"
    local costs = require "clcompute.core.internal".note_costs()
    d:program "kernel void k(global float8 *x) { x[0] = sin(x[0]) + pow(x[0], cos(x[0])); }"
    for _, cost in ipairs(costs) do io.write(cost.phase, "\n") end]]):format(device.place)

  it("is built by one, which makes the binary too where that is kept", function()
    environment.CLCOMPUTE_BUILD = "wait"
    local words = { helper.lua, helper.write(folder .. "/build.lua", BUILD) }
    for name, value in pairs(environment) do table.insert(words, 1, ("%s='%s'"):format(name, value)) end
    local command = table.concat(words, " ")
    assert.equal("source\nbinary\n", (shell(("%s & %s & %s & wait"):format(command, command, command))))
  end)

  it("brings what POCL compiled for its launches where its binary is stored behind them", function()
    if not device.platform:find "Portable" then return pending "needs POCL" end
    local script = [[
      local d = require "clcompute".device "%s"
      local internal = require "clcompute.core.internal"
      internal.builds_all = true
      internal.store_later()
      local p = d:program "kernel void k(global int *x) { x[0] = 42; }"
      local x = d:zeros("int", 1)
      %s
      internal.store_launched()]]
    helper.output(script:format(device.place, "p.k(256, x):wait()"), environment)
    environment.POCL_CACHE_DIR = folder .. "/other"
    helper.output(script:format(device.place, ""), environment)
    assert.matches("/k/256%-1%-1", (shell(("find %s/other -name 'k.so'"):format(folder))))
  end)

  it("waits for no lock where it was built before", function()
    if os.getenv "SANITIZED" then return pending "LD_PRELOAD comes before the sanitizer" end
    helper.output(BUILD, environment)
    environment.LD_PRELOAD = shell("pwd"):gsub("%s+$", "") .. "/" .. helper.compile_library "lockless"
    environment.LOCKLESS = EAGAIN -- another process has each lock
    helper.output(BUILD, environment, 60)
    environment.CLCOMPUTE_CACHE = folder .. "/other"
    assert.is_false((helper.run(BUILD, environment, 5))) -- but where it was not
  end)
end)
