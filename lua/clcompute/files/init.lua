-- SPDX-License-Identifier: MIT

--- Files that outlast a process. A reader sees a whole file, the old or the new one; a pipe, a socket or a device in
-- place of a file is an error, since to open one may never end.

local arity = require("clcompute.base").arity
local internal = require "clcompute.core.internal"
local options = require("clcompute.base").options

local files = {
  cache_folder = internal.cache_folder, -- () --> the folder of compiled programs and verdicts; nil: nothing is kept
  cache_folders = internal.cache_folders, -- () --> those to read from: that one, and the folder of all users
  make_folders = internal.make_folders, -- (path): the folder of the path and those above it
  open = internal.open_plain, -- (path) --> a plain file, open for reading; raises the reason
  read_own = internal.read_own, -- (path) --> what a file of the cache holds; "" where others may write it
  append_own = internal.append_own, -- (path, text) --> whether the text stands at the end of such a file, by one write
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

--- Raises at a level unless the first argument of that function is a path.
local function check_path(name, level, ...)
  local path = ...
  if type(path) ~= "string" then
    error(("bad argument #1 to '%s' (path expected, got %s)"):format(name, type_given(...)), level + 1)
  end
  if path == "" then error(("bad argument #1 to '%s' (path expected, got an empty text)"):format(name), level + 1) end
  if path:find("\0", 1, true) then
    error(("bad argument #1 to '%s' (the path holds a NUL byte)"):format(name), level + 1)
  end
end

--- Calls f; what it raises begins with the name and the path and stands at a level.
local function call(name, path, level, f, ...)
  local ok, result = pcall(f, ...)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end -- of a debug hook: not ours
  -- The core's own messages start with the line of the library's file that called it.
  error(("%s: %s: %s"):format(name, path, (result:gsub("^[^\n]-clcompute/%l+/%l+%.lua:%d+: ", ""))), level + 1)
end

--- A method of that name whose argument is a path, behind which may stand options: f(object, path, options). What f
-- raises stands at the line of the script: level 1 is the method, 2 the core's check of the object, 3 the script.
-- @tparam string name
-- @tparam function f
-- @tparam[opt] table known options, as `options.check` has them; none are taken unless given
function files.method(name, f, known)
  return function(object, ...)
    local path, given = ...
    arity.check(name, known and 2 or 1, 3, ...)
    check_path(name, 3, ...)
    local is_right, o = pcall(options.check, name, given == nil and {} or given, known or {})
    if not is_right then error(o, 3) end
    return (call(name, path, 3, f, object, path, o))
  end
end

--- A function of that name, f(path, value).
function files.writer(name, f)
  return function(...)
    local path = ...
    arity.check(name, 2, 2, ...)
    check_path(name, 2, ...)
    return (call(name, path, 2, f, ...))
  end
end

return files
