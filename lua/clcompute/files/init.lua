-- SPDX-License-Identifier: MIT

--- Files that outlast a process. A reader sees a whole file, the old or the new one; a pipe, a socket or a device in
-- place of a file is an error, since to open one may never end.
-- @module clcompute.files

local internal = require "clcompute.core.internal"

local files = {}

--- The folder of compiled programs and verdicts.
-- @function cache_folder
-- @treturn ?string nil: nothing is kept
files.cache_folder = internal.cache_folder

--- Makes the folder of a path and those above it. That one cannot be made shows when it is used.
-- @function make_folders
-- @tparam string path
files.make_folders = internal.make_folders

--- Opens a plain file for reading.
-- @function open
-- @tparam string path
-- @raise the reason
files.open = internal.open_plain

--- Adds a text to a file in one write, so that processes do not mix their texts.
-- @function append
-- @tparam string path
-- @tparam string text
-- @treturn boolean whether it stands there now
files.append = internal.append_text

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

return files
