-- SPDX-License-Identifier: MIT

--- Programs that are kept behind. To tell a program's binary POCL compiles each of its kernels once more, for groups of
-- any size, which takes as long as the build. So a process that builds from source only notes what is to be kept, and
-- its end starts another process, of the lowest priority, which builds it again (out of POCL's own cache) and keeps it.

local internal = require "clcompute.core.internal"
local process = require("clcompute.base").process

local program = {}

-- What the other process runs: this process's paths, then a line for each program.
local HEAD = [[
package.path, package.cpath = %q, %q
local device, keep = require 'clcompute'.device, require 'clcompute.core.internal'.keep
]]
local LINE = "pcall(function() keep(device %q, %q, %q, %q, %q) end)\n"

-- One such process works at a time on a cache, for five minutes at most, and without a word.
local COMMAND = [[PATH="$PATH:/usr/bin:/bin"; umask 077; mkdir -p %s
{ flock %s timeout 300 nice -n 19 env -u LUA_INIT -u LUA_INIT_5_4 CLCOMPUTE_BUILD=wait %s %s
rm -f %s; } </dev/null >/dev/null 2>&1 &]]

local MOST = 64 -- programs of a process; one that builds more makes them up as it goes

local lines, interpreter = {}, nil

local function keep_all()
  if #lines == 0 or internal.is_forked() then return end
  local work, folder = os.tmpname(), process.quote(internal.cache_folder())
  local file = assert(io.open(work, "wb"))
  assert(file:write(HEAD:format(package.path, package.cpath), table.concat(lines)))
  assert(file:close())
  work = process.quote(work)
  os.execute(COMMAND:format(folder, folder, process.quote(interpreter), work, work))
end

-- Collected when the Lua state is closed. What fails there is built from source again, and noted again.
local at_end = setmetatable({}, { __gc = function() pcall(keep_all) end })

--- Notes a program that is to be kept when the process ends. Asked by the core; the arguments are those of
-- `internal.keep`, with the place of the device, and the interpreter of the other process.
-- @treturn boolean false: it is to be kept at once, as CLCOMPUTE_BUILD=wait says
function program.keep_later(lua, ...)
  if os.getenv "CLCOMPUTE_BUILD" == "wait" then return false end
  interpreter = lua
  at_end[1] = true -- which keeps it alive as long as this function
  if #lines < MOST then lines[#lines + 1] = LINE:format(...) end
  return true
end

return program
