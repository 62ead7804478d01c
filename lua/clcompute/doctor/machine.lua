-- SPDX-License-Identifier: MIT
--- What a machine must have besides OpenCL: room, memory, open files and, for POCL, a linker.
-- A check returns status, detail and remedy.

local process = require("clcompute.base").process

local machine = {}

local ENOUGH_MEMORY = 1 << 20 -- KiB of address space: below it compilers fail
local ENOUGH_AVAILABLE = 256 << 10 -- KiB
local ENOUGH_FILES = 64 -- POCL aborts the process when it runs out of them
local ENOUGH_ROOM = 16 * 1024 -- KiB; POCL exits the process when it cannot write what it compiled

-- --- folders of compiled programs -----------------------------------------------

--- An environment variable that is an absolute path, or nil.
local function absolute(name)
  local value = os.getenv(name)
  return value and value:sub(1, 1) == "/" and value or nil
end

--- The folder of compiled programs and verdicts, by the rule of clc_pushcachefolder in C; nil where it is switched off,
-- or there is no home. $CLCOMPUTE_CACHE may be relative to the current folder.
function machine.cache_folder()
  local own, all, home = os.getenv "CLCOMPUTE_CACHE", absolute "XDG_CACHE_HOME", absolute "HOME"
  if own == "off" then return nil end
  if own and own ~= "" then return own end
  if all then return all .. "/clcompute" end
  return home and home .. "/.cache/clcompute"
end

--- POCL's folder of compiled kernels. POCL takes relative paths too, and an empty $POCL_CACHE_DIR, with which it ends
-- the process.
function machine.pocl_folder()
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
function machine.folder_fault(folder)
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
  if tonumber(free) < ENOUGH_ROOM then
    return ("only %d KiB are free on %s"):format(free, mount), "make room on " .. mount
  end
  return nil, ("%d MiB free"):format(free // 1024)
end

--- A remark on a relative path.
local function relative(folder)
  return folder:sub(1, 1) == "/" and "" or " (relative to the current folder)"
end

local function examine_folder(folder, variable)
  local fault, rest = machine.folder_fault(folder)
  if not fault then return "ok", folder .. relative(folder) .. ", " .. rest end
  local elsewhere = ("set %s to another folder"):format(variable)
  return "fault", ("%s: %s"):format(folder, fault), rest and rest .. "; or " .. elsewhere or elsewhere
end

--- The folder of compiled programs.
function machine.cache()
  if os.getenv "CLCOMPUTE_CACHE" == "off" then return "skipped", "switched off by CLCOMPUTE_CACHE=off" end
  local folder = machine.cache_folder()
  if not folder then
    return "fault", "no folder: HOME is not set to an absolute path", "export HOME, or set CLCOMPUTE_CACHE to a folder"
  end
  return examine_folder(folder, "CLCOMPUTE_CACHE")
end

--- POCL's folder; it ends the process when it cannot write there.
function machine.pocl_cache()
  return examine_folder(machine.pocl_folder(), "POCL_CACHE_DIR")
end

-- --- linker, memory, open files --------------------------------------------------

--- POCL links each kernel with `ld` and aborts the process when there is none.
function machine.linker()
  local path = process.find "ld"
  if path then return "ok", path end
  return "fault", "no ld in PATH: POCL aborts the process at the first launch of a kernel",
    "apt install binutils, or add its folder (/usr/bin) to PATH"
end

--- KiB of memory that Linux can still give, or nil.
local function available()
  local file = io.open "/proc/meminfo"
  local text = file and file:read("a") or ""
  if file then file:close() end
  return tonumber(text:match "MemAvailable:%s*(%d+)")
end

--- Address space and memory.
function machine.memory()
  local limit = tonumber(process.output "ulimit -v" or "")
  if limit and limit < ENOUGH_MEMORY then
    return "fault", ("the address space is limited to %d MiB"):format(limit // 1024), "ulimit -v unlimited"
  end
  local free = available()
  if free and free < ENOUGH_AVAILABLE then
    return "fault", ("only %d MiB of memory are available"):format(free // 1024), "end other programs"
  end
  return "ok", ("%s available, address space %s"):format(
    free and free // 1024 .. " MiB" or "unknown", limit and limit // 1024 .. " MiB" or "unlimited")
end

--- Files a process may have open.
function machine.open_files()
  local limit = tonumber(process.output "ulimit -n" or "")
  if limit and limit < ENOUGH_FILES then
    return "fault", ("a process may open only %d files"):format(limit), "ulimit -n 1024"
  end
  return "ok", limit and "up to " .. limit or "no limit known"
end

return machine
