-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

local function shell(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local output = pipe:read("a")
  local ok = pipe:close()
  return ok or false, output
end

local function succeeds(command)
  local ok, output = shell(command)
  assert.is_true(ok, output)
  return output
end

describe("an installation", function()
  local folder = succeeds("mktemp -d"):gsub("%s+$", "")
  teardown(function() shell("rm -rf " .. folder) end)

  local script = [[
    local cl = require "clcompute"
    local d = cl.device()
    local sum = d:buffer({ 1, 2, 3, 4 }, "int")
    d:program("#include <clcompute/work_group.h>\n"
      .. "kernel void k(global int *x) { x[get_global_id(0)] = work_group_reduce_add(x[get_global_id(0)]); }")
      .k({ global = 4, group = 4 }, sum)
    assert(sum[4] == 10)
    local c = cl.gemm(d:buffer{{1, 2}, {3, 4}}, d:buffer{{5, 6}, {7, 8}})
    print(c:get(1, 1), c:get(1, 2), c:get(2, 1), c:get(2, 2))]]

  --- Runs the script from another folder with only that tree on the paths.
  local function run_in(tree)
    return succeeds(([[cd / && env LUA_PATH_5_4='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' ]]
      .. [[LUA_CPATH_5_4='%s/lib/lua/5.4/?.so' %s -e '%s']]):format(tree, tree, tree, helper.lua, script))
  end

  --- Runs the command of that tree from another folder.
  local function run_command(tree, environment)
    local command = ("cd / && %s %s/bin/clcompute "):format(environment, tree)
    assert.equal(require "clcompute"._VERSION .. "\n", succeeds(command .. "--version"))
    assert.matches('"place":"0:0"', succeeds(command .. "info --device 0:0 --json"), 1, true)
    assert.matches("paths travel: 0:0", succeeds(
      ("echo '\"paths travel: \" .. tostring(d)' | (%s repl --device 0:0)"):format(command)), 1, true)
    assert.matches("cl.gemm(a, b [, options])", succeeds(("echo 'help \"gemm\"' | (%s repl)"):format(command)), 1, true)
  end

  it("by LuaRocks computes a gemm with only its tree", function()
    local tree = folder .. "/rock"
    succeeds(("cp -r Makefile bin csrc examples kernels library lua tools *.rockspec %s"):format(folder))
    succeeds(("cd %s && luarocks --lua-version 5.4 --tree %s make"):format(folder, tree))
    assert.equal("19.0\t22.0\t43.0\t50.0\n", run_in(tree))
    run_command(tree, "env -u LUA_PATH_5_4 -u LUA_CPATH_5_4") -- the wrapper of LuaRocks sets them
  end)

  it("by make install does so too", function()
    local tree = folder .. "/made"
    succeeds("make -s install PREFIX=" .. tree)
    assert.equal("19.0\t22.0\t43.0\t50.0\n", run_in(tree))
    run_command(tree, ("env LUA_PATH_5_4='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua;;' "
      .. "LUA_CPATH_5_4='%s/lib/lua/5.4/?.so'"):format(tree, tree, tree))
  end)
end)
