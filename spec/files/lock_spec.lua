-- SPDX-License-Identifier: MIT
--- Locks of what is missing in the cache, on file systems that have them and on those that have none.

local helper = require "spec.helper"

local shell = helper.shell

describe("a lock of the cache", function()
  local EINTR, EACCES = 4, 13 -- of Linux
  local WITHOUT = { EINVAL = 22, ENOLCK = 37, ENOSYS = 38, EOPNOTSUPP = 95 }
  local folder

  before_each(function() folder = helper.folder() end)
  after_each(function() shell("rm -rf " .. folder) end)

  --- Whether another process waits for a lock that one has taken whose calls of fcntl fail so many times.
  local function is_waited_for(errno, times)
    local second = helper.write(folder .. "/second.lua", [[
      require "clcompute"
      io.write "asks" io.flush()
      require "clcompute.core.internal".lock "key"
      io.write ", has it"]])
    local library = shell("pwd"):gsub("%s+$", "") .. "/" .. helper.compile_library "lockless"
    local output = helper.output(([[
      require "clcompute"
      local lock <close> = require "clcompute.core.internal".lock "key"
      os.execute "LD_PRELOAD= timeout 3 %s %s"]]):format(helper.lua, second),
      { LD_PRELOAD = library, LOCKLESS = errno, LOCKLESS_TIMES = times, CLCOMPUTE_CACHE = folder }, 30)
    return ({ asks = true, ["asks, has it"] = false })[output]
  end

  it("is waited for, also where the system was interrupted, or another process had it first", function()
    if os.getenv "SANITIZED" then return pending "LD_PRELOAD comes before the sanitizer" end
    for _, errno in ipairs { EINTR, EACCES } do assert.is_true(is_waited_for(errno, 1), errno) end
  end)

  it("is not waited for where this state has it, as a finalizer that builds meanwhile would", function()
    assert.equal("file\tnil\tfile\n", helper.output([[
      require "clcompute"
      local lock = require "clcompute.core.internal".lock
      local first = lock "key"
      local second = lock "key"
      first:close()
      print(io.type(first) == "closed file" and "file", second, io.type(lock "key"))]],
      { CLCOMPUTE_CACHE = folder }, 30))
  end)

  it("is not waited for where the file system has none", function()
    if os.getenv "SANITIZED" then return pending "LD_PRELOAD comes before the sanitizer" end
    for name, errno in pairs(WITHOUT) do assert.is_false(is_waited_for(errno, 1000), name) end
  end)
end)
