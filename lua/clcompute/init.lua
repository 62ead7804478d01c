-- SPDX-License-Identifier: MIT

--- OpenCL compute for Lua: devices, buffers, programs, kernels and prebuilt operations. The C core has most of it. Here
-- stands what the core leaves to Lua, and in which package it is found.

-- Nothing here is beyond the syntax of Lua 5.1, whose users are to read this and no fault of a parser.
if _VERSION ~= "Lua 5.4" and _VERSION ~= "Lua 5.5" then
  local jit = rawget(_G, "jit")
  error("clcompute: Lua 5.4 or 5.5 expected, this is " .. (jit and jit.version or _VERSION), 0)
end

local here = select(2, ...) or "lua/clcompute/init.lua"

--- Loads the C core, or raises what to do about a missing OpenCL loader.
local function load_core()
  local ok, core = pcall(require, "clcompute.core")
  if ok then return core end
  if tostring(core):find("libOpenCL", 1, true) then
    error("clcompute: the OpenCL loader libOpenCL.so.1 is not installed; on Debian and Ubuntu: "
      .. "apt install ocl-icd-libopencl1 (and for the CPU pocl-opencl-icd)", 0)
  end
  error(core, 0)
end

--- The folder of the .cl files: beside this file when installed, at the top of a checkout.
local function kernel_folder()
  local folder = here:match("^(.*)init%.lua$")
  for _, candidate in ipairs { folder .. "kernels", folder .. "../../kernels" } do
    local file = io.open(candidate .. "/saxpy.cl")
    if file then
      file:close()
      return candidate
    end
  end
  error("clcompute: the folder of kernels (.cl files) is missing beside " .. here, 0)
end

--- A function of a package, which is loaded with the first call.
local function late(package_name, name)
  local module = "clcompute." .. package_name
  return function(...) return require(module)[name](...) end
end

--- Adds what Lua has to the core's table, and hands the core what it asks Lua for. What the core has for the library
-- alone is taken away; packages find it as "clcompute.core.internal".
local function complete(core)
  local internal = core.internal
  package.preload["clcompute.core.internal"] = function() return internal end
  internal.kernel_folder = kernel_folder()
  internal.judge_loops = late("answers", "judge_loops")
  internal.has_collectives = late("answers", "has_collectives")
  internal.misreads_halves = late("answers", "misreads_halves")
  internal.grants_large_arrays = late("answers", "grants_large_arrays")
  internal.tuning_of = late("tuning", "of")
  internal.add_methods("Device", { load = late("formats", "load") })
  internal.add_methods("Buffer", { save = late("formats", "save_buffer") })
  internal.add_methods("Image", { save = late("formats", "save_image") })
  internal.add_methods("Program", { save = late("program", "save") })
  core.profile = late("device", "profile")
  core.trace_range = late("kernel", "trace_range")
  core.struct = late("language", "struct")
  for name in ("map reduce scan sum asum dot min max argmin argmax norm2"):gmatch "%w+" do
    core[name] = late("operations", name)
  end
  local base = require "clcompute.base"
  internal.suggestion = base.spelling.suggestion
  core.internal, core._VERSION = nil, base.version -- last: what failed before is tried again
end

local cl = load_core()
if not cl._VERSION then complete(cl) end -- the core is the same when required again

cl.doctor = late("doctor", "examine")

return cl
