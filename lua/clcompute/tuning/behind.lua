-- SPDX-License-Identifier: MIT
--- Fast kernels that are built while plain ones serve: another process builds and judges them, and this one finds the
-- verdict in the cache. A thread could not do it, as POCL compiles under the lock that every launch takes
-- (docs/performance.md, "The first minute"). The process outlives a script that ends early: the next run gains.

local files = require "clcompute.files"
local internal = require "clcompute.core.internal"

local behind = {}

local LONGEST = 300 -- seconds: by then a driver hangs

-- Of the processes that are started for the same kernels the first one goes on; those for a device take turns.
local PROGRAM = [[
package.path, package.cpath = %q, %q
local cl = require 'clcompute'
local internal = require 'clcompute.core.internal'
internal.stand_alone(%d)
local lock <close> = internal.lock(%q, true)
if not lock then return end
local turn <close> = internal.lock(%q)
require 'clcompute.tuning'.of(cl.device(%q, { isolated = %s, careful = %s }), %q, %q)]]

--- Whether what another process builds reaches this one; `CLCOMPUTE_BUILD=here` asks for none.
local function can_reach(device)
  return device.place:find "^%d+:%d+$" and files.cache_folder() and os.getenv "CLCOMPUTE_BUILD" ~= "here"
end

local function start(device, operation, dtype, key)
  if not can_reach(device) then return nil end
  return internal.start_behind(PROGRAM:format(package.path, package.cpath, LONGEST, "behind " .. key,
    "behind " .. device.name, device.place, device.isolated, device.careful, operation, dtype))
end

local processes = {} -- their numbers, by what they build; false: it has ended, or there can be none

--- Whether another process builds an operation's fast kernels. The first question starts it.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @string key a name for what is built
-- @treturn boolean
function behind.builds(device, operation, dtype, key)
  local process = processes[key]
  if process == nil then process = start(device, operation, dtype, key) or false end
  if process and internal.has_ended(process) then process = false end
  processes[key] = process
  return process ~= false
end

return behind
