-- SPDX-License-Identifier: MIT
-- Notes which functions of lua/clcompute a process calls, as lines `path first last` of the file REACHED. Read by every
-- interpreter that starts where LUA_INIT_5_4 names this file (tools/mutate/reach.sh).

local noted = {} -- by source, by line

local function note()
  local f = debug.getinfo(2, "S")
  local lines = noted[f.source] or {}
  noted[f.source] = lines
  if lines[f.linedefined] then return end
  lines[f.linedefined] = true
  local path = f.source:match "^@.*(lua/clcompute/.*)"
  if not path then return end
  local file <close> = io.open(os.getenv "REACHED", "ab")
  if file then file:write(("%s %d %d\n"):format(path, f.linedefined, f.lastlinedefined)) end
end

-- A coroutine has a hook of its own.
local create, wrap = coroutine.create, coroutine.wrap
function coroutine.create(f)
  local thread = create(f)
  debug.sethook(thread, note, "c")
  return thread
end

function coroutine.wrap(f)
  return wrap(function(...)
    debug.sethook(note, "c")
    return f(...)
  end)
end

debug.sethook(note, "c")
