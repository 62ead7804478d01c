-- SPDX-License-Identifier: MIT
--- Fast kernels that are built while plain ones serve: another process builds and judges them, and this one finds the
-- verdict in the cache. A thread could not do it, as POCL compiles under the lock that every launch takes
-- (docs/performance.md, "The first minute"). The process outlives a script that ends early: the next run gains.

local clock = require("clcompute.core").clock
local files = require "clcompute.files"
local internal = require "clcompute.core.internal"

local behind = {}

local LONGEST = 300 -- seconds: by then a driver hangs
local NAP = 0.02 -- seconds between two looks

-- Of the processes that are started for the same kernels the first one goes on; those for a device take turns.
local PROGRAM = [[
package.path, package.cpath = %q, %q
local cl = require 'clcompute'
local internal = require 'clcompute.core.internal'
internal.close_inherited()
local lock <close> = internal.lock(%q, true)
if not lock then return end
internal.detach(%d)
local turn <close> = internal.lock(%q)
require 'clcompute.tuning'.of(cl.device(%q, { isolated = %s, careful = %s }), %q, %q)]]

--- Whether what another process builds reaches this one; `CLCOMPUTE_BUILD=here` asks for none.
local function can_reach(device)
  local folder = device.place:find "^%d+:%d+$" and os.getenv "CLCOMPUTE_BUILD" ~= "here" and files.cache_folder()
  if not folder then return false end
  local path = folder .. "/verdicts"
  files.make_folders(path)
  return files.append_own(path, "\n") -- an empty line, which a full disk does not take
end

local function lock_of(key)
  return "behind " .. key
end

local function start(device, operation, dtype, key)
  if not can_reach(device) then return nil end
  return internal.start_behind(PROGRAM:format(package.path, package.cpath, lock_of(key), LONGEST,
    "behind " .. device.name, device.place, device.isolated, device.careful, operation, dtype))
end

-- By what they build: {process= the number of the one that is to begin, looked= when}; false: it has ended, or there
-- can be none.
local builds = {}

--- Whether another process builds an operation's fast kernels. The first question starts it.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @string key a name for what is built
-- @treturn boolean
function behind.builds(device, operation, dtype, key)
  local build = builds[key]
  if build == nil then
    local process = start(device, operation, dtype, key)
    build = process and { process = process, looked = clock() } or false
    builds[key] = build
  end
  if not build or clock() - build.looked < NAP then return build ~= false end
  build.looked = clock()
  if build.process and internal.has_ended(build.process) then build.process = nil end
  if not build.process and not internal.is_locked(lock_of(key)) then builds[key] = false end
  return builds[key] ~= false
end

--- Notes that a verdict is known: nobody asks again.
function behind.forget(key)
  local process = builds[key] and builds[key].process
  if process then internal.has_ended(process) end
  builds[key] = false
end

return behind
