-- SPDX-License-Identifier: MIT
--- What a machine must have besides OpenCL: room, memory, open files and, for POCL, a linker.
-- Each function returns status, detail and remedy.
-- @module clcompute.doctor.machine

local folders = require("clcompute.base").folders
local process = require("clcompute.base").process

local machine = {}

local ENOUGH_MEMORY = 1 << 20 -- KiB of address space: below it compilers fail
local ENOUGH_AVAILABLE = 256 << 10 -- KiB
local ENOUGH_FILES = 64 -- POCL aborts the process when it runs out of them

--- What a path that does not begin at the root depends on.
local function relative(folder)
  return folder:sub(1, 1) == "/" and "" or " (relative to the current folder)"
end

local function examine_folder(folder, variable)
  local fault, rest = folders.fault(folder)
  if not fault then return "ok", folder .. relative(folder) .. ", " .. rest end
  local elsewhere = ("set %s to another folder"):format(variable)
  return "fault", ("%s: %s"):format(folder, fault), rest and rest .. "; or " .. elsewhere or elsewhere
end

--- The folder of compiled programs.
function machine.cache()
  if os.getenv "CLCOMPUTE_CACHE" == "off" then return "skipped", "switched off by CLCOMPUTE_CACHE=off" end
  local folder = folders.cache()
  if not folder then
    return "fault", "no folder: HOME is not set to an absolute path", "export HOME, or set CLCOMPUTE_CACHE to a folder"
  end
  return examine_folder(folder, "CLCOMPUTE_CACHE")
end

--- POCL's folder; it ends the process when it cannot write there.
function machine.pocl_cache()
  return examine_folder(folders.pocl(), "POCL_CACHE_DIR")
end

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
