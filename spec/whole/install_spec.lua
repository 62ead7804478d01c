-- SPDX-License-Identifier: MIT
--- The package: its version, the rock, `make install`, and what either brings.

local command = require "spec.support.command"
local helper = require "spec.helper"
local json = require "dkjson"

local VERSION = require "clcompute"._VERSION:match "^clcompute (%d+%.%d+%.%d+)$"
local ROCK = ("build/dist/clcompute-%s-1.src.rock"):format(VERSION)

local function succeeds(line)
  local code, out, err = command.shell(line)
  assert.equal(0, code, out .. err)
  return out
end

--- The files of a folder, a line each.
local function files_of(folder)
  return succeeds(("cd %s && find . -type f | sort"):format(folder))
end

local SCRIPT = [[
  local cl = require "clcompute"
  local d = cl.device()
  local sum = d:buffer({ 1, 2, 3, 4 }, "int")
  d:program("#include <clcompute/work_group.h>\n"
    .. "kernel void k(global int *x) { x[get_global_id(0)] = work_group_reduce_add(x[get_global_id(0)]); }")
    .k({ global = 4, group = 4 }, sum)
  assert(sum[4] == 10)
  local c = cl.gemm(d:buffer{{1, 2}, {3, 4}}, d:buffer{{5, 6}, {7, 8}})
  print(c:get(1, 1), c:get(1, 2), c:get(2, 1), c:get(2, 2))]]

--- The paths of that tree alone: no module of Debian's is found.
local function only(tree)
  return ("LUA_PATH_5_4='%s/share/lua/5.4/?.lua;%s/share/lua/5.4/?/init.lua' LUA_CPATH_5_4='%s/lib/lua/5.4/?.so'")
    :format(tree, tree, tree)
end

local function computes(tree)
  local out = succeeds(("cd / && env %s %s -e '%s'"):format(only(tree), helper.lua, SCRIPT))
  assert.equal("19.0\t22.0\t43.0\t50.0\n", out)
end

--- The command of that tree runs from another folder, and knows its own.
local function runs(tree, environment)
  local run = ("cd / && env %s %s/bin/clcompute "):format(environment, tree)
  assert.equal(require "clcompute"._VERSION .. "\n", succeeds(run .. "--version"))
  assert.matches('"place":"0:0"', succeeds(run .. "info --device 0:0 --json"), 1, true)
  assert.matches("paths travel: 0:0", succeeds(
    ("echo '\"paths travel: \" .. tostring(d)' | (%s repl --device 0:0)"):format(run)), 1, true)
  assert.matches("cl.gemm(a, b [, options])", succeeds(("echo 'help \"gemm\"' | (%s repl)"):format(run)), 1, true)
  local library = json.decode(succeeds(run .. "luarc"))["workspace.library"][1]
  assert.equal(tree, library:sub(1, #tree))
  assert.matches("---@meta", helper.read(library .. "/clcompute.lua"), 1, true)
end

--- The command runs through a link to it, from another folder.
local function runs_by_link(path, folder)
  local link = folder .. "/a link's name"
  succeeds(('cd / && ln -s "%s" "%s"'):format(path, link))
  assert.equal(require "clcompute"._VERSION .. "\n",
    succeeds(('cd / && env -u LUA_PATH_5_4 -u LUA_CPATH_5_4 "%s" --version'):format(link)))
  os.remove(link)
end

--- Without Debian's modules the command names the package.
local function names_what_is_missing(tree)
  local code, out, err = command.shell(("cd / && env %s %s/bin/clcompute info"):format(only(tree), tree))
  assert.same({ 1, "" }, { code, out })
  assert.equal("clcompute: the Lua module argparse is missing: apt install lua-argparse "
    .. "(or luarocks --lua-version 5.4 install argparse)\n", err)
end

--- The modules of the tree, and the pages, lessons and examples in a folder of it.
local function has_all(tree, doc)
  for _, path in ipairs { "share/lua/5.4/clcompute/library/clcompute.lua", "share/lua/5.4/clcompute/kernels/saxpy.cl",
    doc .. "/README.md", doc .. "/docs/api.md", doc .. "/examples/solve.lua",
    doc .. "/examples/lessons/01_hello_device.lua" } do
    assert.is_true(#helper.read(tree .. "/" .. path) > 0)
  end
  assert.is_nil(files_of(tree):match "[^\n]*argparse[^\n]*")
  assert.is_nil(files_of(tree):match "[^\n]*dkjson[^\n]*")
end

describe("the version", function()
  it("is one number: of the library, of the rockspec and its name", function()
    local name = ("clcompute-%s-1.rockspec"):format(VERSION)
    assert.equal(name .. "\n", succeeds "ls *.rockspec")
    local rockspec = {}
    assert(loadfile(name, "t", rockspec))()
    assert.equal(VERSION .. "-1", rockspec.version)
    assert.matches(("clcompute-%s.tar.gz"):format(VERSION), rockspec.source.url, 1, true)
  end)
end)

describe("the library", function()
  it("refuses another Lua in words", function()
    local function load_in(name, others)
      local environment = setmetatable(others or {}, { __index = _G })
      environment._VERSION, environment._G = name, environment
      return select(2, pcall(loadfile("lua/clcompute/init.lua", "t", environment)))
    end
    for _, name in ipairs { "Lua 5.1", "Lua 5.2", "Lua 5.3" } do
      assert.equal("clcompute: Lua 5.4 or 5.5 expected, this is " .. name, load_in(name))
    end
    assert.equal("clcompute: Lua 5.4 or 5.5 expected, this is LuaJIT 2.1",
      load_in("Lua 5.1", { jit = { version = "LuaJIT 2.1" } }))
  end)

  for _, lua in ipairs { "lua5.1", "lua5.3", "luajit" } do
    it("refuses the real one: " .. lua, function()
      local code, _, err = command.shell(lua .. " -v >/dev/null && env LUA_INIT= " .. lua
        .. [[ -e 'package.path = "lua/?.lua;lua/?/init.lua" require "clcompute"']])
      if code == 127 then return pending(lua .. " is not installed") end
      assert.equal(1, code)
      assert.matches("clcompute: Lua 5.4 or 5.5 expected, this is Lua", err, 1, true)
      code, _, err = command.shell(("env LUA_INIT= %s bin/clcompute info"):format(lua))
      assert.equal(1, code)
      assert.matches("^clcompute: Lua 5.4 or 5.5 expected, this is Lua[^\n]*\n$", err)
    end)
  end
end)

describe("an installation", function()
  local folder = succeeds("mktemp -d"):gsub("%s+$", "")
  teardown(function() command.shell("rm -rf " .. folder) end)

  it("of the source rock, offline and into an empty tree, needs nothing else", function()
    local tree = folder .. "/rock"
    succeeds "make -s dist && luarocks lint *.rockspec"
    succeeds(("cp %s %s && cd %s && env http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 "
      .. "luarocks --lua-version 5.4 install --tree %s *.src.rock"):format(ROCK, folder, folder, tree))
    computes(tree)
    runs(tree, "-u LUA_PATH_5_4 -u LUA_CPATH_5_4") -- the wrapper of LuaRocks sets them
    names_what_is_missing(tree)
    has_all(tree, ("lib/luarocks/rocks-5.4/clcompute/%s-1/doc"):format(VERSION))
    local page = succeeds(("cat $(luarocks --lua-version 5.4 --tree %s show --rock-dir clcompute)/share/man/man1/"
      .. "clcompute.1"):format(tree)) -- as README.md has it
    assert.matches("^%.TH", page)
  end)

  it("by make does, and is taken away again", function()
    local tree = folder .. "/made"
    succeeds(("mkdir -p %s/bin && echo mine >%s/bin/mine"):format(tree, tree))
    succeeds("umask 077; make -s install PREFIX=" .. tree)
    assert.equal("", succeeds(("find %s ! -perm -go+r -o -type d ! -perm -go+x"):format(tree))) -- others use it, too
    computes(tree)
    runs(tree, "-u LUA_PATH_5_4 -u LUA_CPATH_5_4") -- it finds what was installed with it
    runs_by_link(tree .. "/bin/clcompute", tree)
    local older = folder .. "/older"
    for _, path in ipairs { "clcompute/init.lua", "clcompute/cli/init.lua", "clcompute/base/init.lua" } do
      succeeds(("mkdir -p %s/%s"):format(older, path:match "^(.*)/"))
      helper.write(older .. "/" .. path, "error 'an older one'")
    end
    runs(tree, ("-u LUA_CPATH_5_4 LUA_PATH_5_4='%s/?/init.lua;;'"):format(older))
    names_what_is_missing(tree)
    has_all(tree, "share/doc/clcompute")
    for _, path in ipairs { "man/man1/clcompute.1", "bash-completion/completions/clcompute",
      "zsh/site-functions/_clcompute", "fish/vendor_completions.d/clcompute.fish" } do
      assert.matches("clcompute", helper.read(tree .. "/share/" .. path))
    end
    succeeds("make -s uninstall PREFIX=" .. tree)
    assert.equal("./bin/mine\n", files_of(tree))
    assert.equal("", succeeds(("find %s -name '*clcompute*'"):format(tree)))
  end)

  it("by make takes a relative DESTDIR, and names with blanks", function()
    local name, prefix = "build/staged here", "/opt/two words"
    finally(function() command.shell(("rm -rf '%s'"):format(name)) end)
    for _, target in ipairs { "install", "uninstall" } do
      succeeds(("make -s %s DESTDIR='%s' PREFIX='%s'"):format(target, name, prefix))
      local files = files_of("'" .. name .. "'")
      for _, path in ipairs { "bin/clcompute", "share/lua/5.4/clcompute/init.lua", "lib/lua/5.4/clcompute/core.so",
        "share/bash-completion/completions/clcompute", "share/doc/clcompute/docs/api.md" } do
        assert.equal(target == "install", files:find(("./opt/two words/%s\n"):format(path), 1, true) ~= nil, path)
      end
    end
    assert.equal("", files_of("'" .. name .. "'"))
  end)
end)

describe("a checkout", function()
  it("has a command that runs through a link, and its page for man", function()
    local folder = succeeds("mktemp -d"):gsub("%s+$", "")
    finally(function() command.shell("rm -rf " .. folder) end)
    local root = succeeds("pwd"):gsub("%s+$", "")
    runs_by_link(root .. "/bin/clcompute", folder)
    for before, expected in pairs { ["unset MANPATH"] = "/build/man:", ["MANPATH=/mine:"] = "/build/man:/mine:" } do
      assert.equal(root .. expected .. "\n",
        succeeds(('sh -c \'%s; eval "$(make -s env)"; echo "$MANPATH"\''):format(before)))
    end
    assert.equal(helper.read "docs/clcompute.1", helper.read "build/man/man1/clcompute.1")
  end)
end)

describe("luarocks test", function()
  it("runs the suite, and installs nothing", function()
    local work = succeeds("mktemp -d"):gsub("%s+$", "")
    finally(function() command.shell("rm -rf " .. work) end)
    local out = succeeds(("env WORK=%s JOBS=1 luarocks --lua-version 5.4 test *.rockspec -- "
      .. "SPECS=spec/report/report_spec.lua"):format(work))
    assert.matches("\n%d+ passed, 0 failed\n", out)
    assert.is_nil(succeeds("make -n check"):find("packages.sh", 1, true))
  end)
end)
