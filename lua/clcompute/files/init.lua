-- SPDX-License-Identifier: MIT

--- Files that outlast a process. A reader sees a whole file, the old or the new one; a pipe, a socket or a device in
-- place of a file is an error, since to open one may never end.

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

return files
