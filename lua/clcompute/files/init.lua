-- SPDX-License-Identifier: MIT

--- Files that outlast a process. A reader sees a whole file, the old or the new one; a pipe, a socket or a device in
-- place of a file is an error, since to open one may never end.

local arity = require("clcompute.base").arity
local internal = require "clcompute.core.internal"

local files = {
  cache_folder = internal.cache_folder, -- () --> the folder of compiled programs and verdicts; nil: nothing is kept
  make_folders = internal.make_folders, -- (path): the folder of the path and those above it
  open = internal.open_plain, -- (path) --> a plain file, open for reading; raises the reason
  append = internal.append_text, -- (path, text) --> whether the text stands at the end of a plain file, by one write
}

local function check(ok, reason)
  if not ok then error(reason, 0) end
end

--- Puts a new file in the place of a path. The file is written beside it and renamed when it is whole: its owner and
-- mode stay, and a symbolic link names it still.
-- @tparam string path
-- @tparam function write called with the open file; returns nil and the reason where it fails
-- @raise the reason; the old file stays
function files.replace(path, write)
  local made, file, name, target = pcall(internal.new_file, path)
  check(made, file)
  local ok, reason = pcall(function()
    check(write(file))
    check(file:close())
    check(os.rename(name, target))
  end)
  if ok then return end
  if io.type(file) == "file" then file:close() end
  os.remove(name)
  error(reason, 0)
end

--- The type of what came in place of a path: an explicit nil is "nil", no argument "none".
local function type_given(...)
  return select("#", ...) == 0 and "none" or type((...))
end

--- A method of that name whose one argument is a path: f(object, path). What f raises begins with the path and stands
-- at the line of the script: level 1 is the method, 2 the core's check of the object, 3 the script.
function files.method(name, f)
  return function(object, ...)
    local path = ...
    arity.check(name, 1, 3, ...)
    if type(path) ~= "string" then
      error(("bad argument #1 to '%s' (path expected, got %s)"):format(name, type_given(...)), 3)
    end
    if path:find("\0", 1, true) then error(("bad argument #1 to '%s' (the path holds a NUL byte)"):format(name), 3) end
    local ok, result = pcall(f, object, path)
    if ok then return result end
    if type(result) ~= "string" then error(result, 0) end -- of a debug hook: not ours
    -- The core's own messages start with the line of the library's file that called it.
    error(("%s: %s"):format(path, (result:gsub("^[^\n]-clcompute/%l+/%l+%.lua:%d+: ", ""))), 3)
  end
end

return files
