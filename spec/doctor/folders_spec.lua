-- SPDX-License-Identifier: MIT
local cl = require "clcompute"
local helper = require "spec.helper"

local scratch = helper.folder()

local function shell(command) assert(os.execute(command)) end

local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  pipe:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  return path
end

before_each(function() shell("mkdir -p " .. scratch) end)
after_each(function() shell(("chmod -R u+rwX %s && rm -r %s"):format(scratch, scratch)) end)

describe("doctor and core mean the same folder", function()
  local on_pocl = #cl.devices "Portable" > 0 and it or pending
  local BUILD = [[
    local device = require "clcompute".device "Portable"
    local ok, message = pcall(device.program, device, "kernel void f(global int *x) { x[0] = 1; }")
    print(ok and "built" or message)
    print(require "clcompute.doctor.machine".%s())]]

  --- Builds a program in the scratch folder where only these variables lead to one; returns what that said and the
  -- folder `which` ("cache_folder" or "pocl_folder") that the doctor examines.
  local function build(which, variables)
    local words = { "cd", scratch, "&& env -u CLCOMPUTE_CACHE -u XDG_CACHE_HOME -u POCL_CACHE_DIR -u HOME" }
    for name, value in pairs(variables) do words[#words + 1] = ("%s='%s'"):format(name, value) end
    words[#words + 1] = ("%s %s 2>&1"):format(helper.lua, write(scratch .. "/build.lua", BUILD:format(which)))
    return output(table.concat(words, " ")):match "^(.*)\n(.-)\n$"
  end

  on_pocl("for programs", function()
    for _, variables in ipairs {
      { CLCOMPUTE_CACHE = "own", HOME = scratch }, { CLCOMPUTE_CACHE = scratch .. "/own" },
      { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = scratch .. "/all", HOME = scratch },
      { XDG_CACHE_HOME = "all", HOME = scratch .. "/home" }, { XDG_CACHE_HOME = "", HOME = scratch },
      { HOME = "home" }, { HOME = "", POCL_CACHE_DIR = "pocl" }, { POCL_CACHE_DIR = "pocl" },
      { CLCOMPUTE_CACHE = "off", HOME = scratch },
    } do
      local said, folder = build("cache_folder", variables)
      assert.equal("built", said)
      local stored = output(("find %s -name '*.bin'"):format(scratch)):match "^(.*)/%x+%.bin\n$" or "nil"
      assert.equal(stored, folder == "own" and scratch .. "/own" or folder)
      shell(("rm -r %s/* && rm -rf %s/.cache"):format(scratch, scratch))
    end
  end)

  on_pocl("for what POCL compiles", function()
    for _, place in ipairs { "own", "all/pocl/kcache", "home/.cache/pocl/kcache" } do -- /proc has no room left
      shell(("cd %s && mkdir -p $(dirname %s) && ln -s /proc %s"):format(scratch, place, place))
    end
    for _, variables in ipairs {
      { POCL_CACHE_DIR = scratch .. "/own", HOME = scratch }, { POCL_CACHE_DIR = "own", XDG_CACHE_HOME = "all" },
      { XDG_CACHE_HOME = "all", HOME = scratch }, { XDG_CACHE_HOME = scratch .. "/all" },
      { XDG_CACHE_HOME = "", HOME = scratch .. "/home" }, { HOME = "home" },
    } do
      variables.CLCOMPUTE_CACHE = "off"
      local said, folder = build("pocl_folder", variables)
      assert.equal(folder .. " has less than 16 MiB left", said:match "^.* left" or said)
    end
  end)
end)

describe("what the doctor advises about a folder that is not writable", function()
  --- Fault and remedy of a folder as one without rights sees it.
  local function fault(folder)
    local nobody = output "id -u" == "0\n" and "setpriv --reuid 65534 --clear-groups " or ""
    local script = write(scratch .. "/fault.lua", ([[
      package.path = "%s/?.lua;%s/?/init.lua"
      print(require "clcompute.doctor.machine".folder_fault(%q))]]):format(scratch, scratch, folder))
    return output(("%s%s %s 2>&1"):format(nobody, helper.lua, script)):match "^(.-)\t(.-)\n$"
  end

  before_each(function()
    local lua = assert(package.searchpath("clcompute.base", package.path)):match "^(.*)/base/init.lua$"
    shell(("mkdir %s/clcompute && cp -r %s/base %s/doctor %s/clcompute && chmod -R a+rX %s"):format(scratch, lua, lua,
      scratch, scratch))
  end)

  it("leaves alone what is above it, or another user's", function()
    assert.same({ "/ is not writable", "nil" }, { fault(("/none-%d/cache"):format(os.time())) })
    assert.same({ "/usr is not writable", "nil" }, { fault "/usr" })
    assert.same({ "/dev/null is no folder", "nil" }, { fault "/dev/null" })
  end)

  it("is to make the user's own writable", function()
    local own = scratch .. "/own"
    shell(("mkdir %s && (chown 65534 %s || true) 2>/dev/null && chmod 500 %s"):format(own, own, own))
    assert.same({ own .. " is not writable", ("chmod u+rwx '%s'"):format(own) }, { fault(own) })
    assert.same({ own .. " is not writable", "nil" }, { fault(own .. "/below") })
  end)
end)
