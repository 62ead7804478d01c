-- SPDX-License-Identifier: MIT
--- The folders that compiled programs are kept in, ours and POCL's, and what is wrong with a folder.
-- @module clcompute.doctor.folders

local process = require "clcompute.doctor.process"

local folders = {}

local ENOUGH = 16 * 1024 -- KiB; POCL exits the process when it cannot write what it compiled

local function variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local function absolute(name)
  local value = variable(name)
  return value and value:sub(1, 1) == "/" and value or nil
end

--- The folder for `name` where programs keep what they can compute again; nil without a home.
local function user_cache(name)
  local base = absolute "XDG_CACHE_HOME"
  if base then return base .. "/" .. name end
  local home = variable "HOME"
  return home and home .. "/.cache/" .. name
end

--- Where compiled programs and verdicts are kept; nil when switched off or without a home. The path that
-- $CLCOMPUTE_CACHE gives may be relative to the current folder.
function folders.cache()
  if os.getenv "CLCOMPUTE_CACHE" == "off" then return nil end
  return variable "CLCOMPUTE_CACHE" or user_cache "clcompute"
end

--- Where POCL keeps compiled kernels.
function folders.pocl()
  return variable "POCL_CACHE_DIR" or user_cache "pocl/kcache" or "/tmp/pocl/kcache"
end

-- Prints the nearest of folder and parents that exists, what is wrong with it or "ok", and what df says.
local EXAMINE = [[
p=%s
while [ ! -e "$p" ] && [ "$p" != / ] && [ "$p" != . ]; do
  case $p in */*) p=${p%%/*} p=${p:-/} ;; *) p=. ;; esac
done
printf '%%s\n' "$p"
if [ ! -d "$p" ]; then echo file; elif [ ! -w "$p" ] || [ ! -x "$p" ]; then echo closed; else echo ok; fi
df -Pk -- "$p" 2>/dev/null]]

--- What keeps programs from being written to a folder.
-- @treturn string|nil detail of the fault; nil when there is none
-- @treturn string remedy, or without a fault the space left
function folders.fault(folder)
  local text = process.tool(EXAMINE:format(process.quote(folder)))
  local nearest, state, rest = (text or ""):match "^(.-)\n(%l+)\n?(.*)$"
  if not nearest then return nil, "not examined: no shell" end
  if state == "file" then return nearest .. " is no folder", "rm " .. process.quote(nearest) end
  if state == "closed" then
    return nearest .. " is not writable", ("chown -R \"$USER\" %s && chmod -R u+rwX %s")
      :format(process.quote(nearest), process.quote(nearest))
  end
  local free, mount = rest:match "%s(%d+)%s+%d+%%%s+(/[^\n]*)$"
  if not free then return nil, "free space unknown" end
  if tonumber(free) < ENOUGH then
    return ("only %d KiB are free on %s"):format(free, mount), "make room on " .. mount
  end
  return nil, ("%d MiB free"):format(free // 1024)
end

return folders
