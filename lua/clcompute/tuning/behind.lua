-- SPDX-License-Identifier: MIT
--- Fast kernels that are built while plain ones serve: another process builds and judges them, and this one finds the
-- verdict in the cache. A thread could not do it, as POCL compiles under the lock that every launch takes
-- (docs/performance.md, "The first minute"). The process outlives a script that ends early: the next run gains.

local base = require "clcompute.base"

local behind = {}

local LONGEST = 300 -- seconds: by then a driver hangs

-- Of those that processes start together for the same kernels the first one goes on.
local PROGRAM = [[
local cl = require 'clcompute'
local lock <close> = require 'clcompute.core.internal'.lock(%q, true)
if not lock then return end
require 'clcompute.tuning'.of(cl.device(%q, { isolated = %s, careful = %s }), %q, %q)]]

--- Whether what another process builds reaches this one; `CLCOMPUTE_BUILD=here` asks for none.
local function can_reach(device)
  return device.place:find "^%d+:%d+$" and require "clcompute.files".cache_folder()
    and os.getenv "CLCOMPUTE_BUILD" ~= "here"
end

local function start(device, operation, dtype)
  if not (can_reach(device) and base.process.interpreter()) then return false end
  local code = PROGRAM:format(("behind %s %s %s"):format(device.place, operation, dtype), device.place,
    device.isolated or nil, device.careful, operation, dtype)
  local command = base.code_process.command(code)
  return os.execute(("timeout %d %s </dev/null >/dev/null 2>&1 &"):format(LONGEST, command)) == true
end

local begun = {} -- whether there is one, by device, operation and dtype

--- Starts the process that builds an operation's fast kernels, once.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @treturn boolean whether there is one
function behind.begin(device, operation, dtype)
  local key = ("%s %s %s"):format(device.place, operation, dtype)
  if begun[key] == nil then begun[key] = start(device, operation, dtype) end
  return begun[key]
end

return behind
