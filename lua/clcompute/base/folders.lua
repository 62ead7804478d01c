-- SPDX-License-Identifier: MIT
--- The folders that compiled programs are kept in, ours and POCL's, and what is wrong with a folder.
-- @module clcompute.base.folders

local process = require "clcompute.base.process"

local folders = {}

local ENOUGH = 16 * 1024 -- KiB; POCL exits the process when it cannot write what it compiled

--- An environment variable that is an absolute path, or nil.
function folders.absolute(name)
  local value = os.getenv(name)
  return value and value:sub(1, 1) == "/" and value or nil
end

--- Where compiled programs and verdicts are kept, as clc_pushcachefolder (csrc/files/folder.c) has it; nil when switched off
-- or without a home. The path that $CLCOMPUTE_CACHE gives may be relative to the current folder.
function folders.cache()
  local own, all, home = os.getenv "CLCOMPUTE_CACHE", folders.absolute "XDG_CACHE_HOME",
    folders.absolute "HOME"
  if own == "off" then return nil end
  if own and own ~= "" then return own end
  if all then return all .. "/clcompute" end
  return home and home .. "/.cache/clcompute"
end

--- Where POCL keeps compiled kernels. Its rules are looser: paths may be relative, and an empty $POCL_CACHE_DIR is
-- taken as it is, with which POCL ends the process.
function folders.pocl()
  local own, all, home = os.getenv "POCL_CACHE_DIR", os.getenv "XDG_CACHE_HOME", os.getenv "HOME"
  if own then return own end
  if all and all ~= "" then return all .. "/pocl/kcache" end
  return home and home .. "/.cache/pocl/kcache" or "/tmp/pocl/kcache"
end

-- Prints the nearest of folder and parents that exists, what is wrong with it or "ok", and what df says.
local EXAMINE = [[
p=%s
while [ ! -e "$p" ] && [ ! -L "$p" ] && [ "$p" != / ] && [ "$p" != . ]; do
  case $p in */*) p=${p%%/*} p=${p:-/} ;; *) p=. ;; esac
done
printf '%%s\n' "$p"
if [ ! -d "$p" ]; then echo file
elif [ -w "$p" ] && [ -x "$p" ]; then echo ok
elif [ -O "$p" ]; then echo own
else echo foreign
fi
df -Pk -- "$p" 2>/dev/null]]

--- What keeps programs from being written to a folder. The remedy, if there is one besides another folder, destroys
-- nothing and changes only the folder itself: what is above it, or another user's, is not to be touched for a cache.
-- @treturn string|nil detail of the fault; nil when there is none
-- @treturn string|nil remedy, or without a fault the space left
function folders.fault(folder)
  local text = process.tool(EXAMINE:format(process.quote(folder)))
  local nearest, state, rest = (text or ""):match "^(.-)\n(%l+)\n?(.*)$"
  if not nearest then return nil, "not examined: no shell" end
  if state == "file" then return nearest .. " is no folder", nil end
  if state ~= "ok" then
    local may_change = state == "own" and nearest == folder
    return nearest .. " is not writable", may_change and "chmod u+rwx " .. process.quote(folder) or nil
  end
  local free, mount = rest:match "%s(%d+)%s+%d+%%%s+(/[^\n]*)$"
  if not free then return nil, "free space unknown" end
  if tonumber(free) < ENOUGH then
    return ("only %d KiB are free on %s"):format(free, mount), "make room on " .. mount
  end
  return nil, ("%d MiB free"):format(free // 1024)
end

return folders
