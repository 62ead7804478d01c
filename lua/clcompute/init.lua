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
  if ok then return (getmetatable(core) or {}).core or core end
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
  local module, f = "clcompute." .. package_name, nil
  return function(...)
    f = f or require(module)[name]
    return f(...)
  end
end

--- Whether a value is, or holds among its fields, a table that says with which operations it goes: a spread buffer.
local function is_spread(value)
  local meta = getmetatable(value)
  if meta then return type(meta) == "table" and meta.clcompute ~= nil end
  for _, inner in next, value do
    meta = type(inner) == "table" and getmetatable(inner)
    if type(meta) == "table" and meta.clcompute then return true end
  end
  return false
end

--- An operation of a package, which is loaded with the first call; of spread buffers that of groups.
local function operation(package_name, name)
  local f = late(package_name, name)
  local call_spread = late("groups", "call")
  return function(...)
    local x, y = ...
    if type(x) == "table" and is_spread(x) or type(y) == "table" and is_spread(y) then return call_spread(name, ...) end
    return f(...)
  end
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
  internal.kernels_tell = late("answers", "kernels_tell")
  internal.find_origin = late("program", "find_origin")
  internal.evaluate = late("operations", "evaluate")
  internal.tuning_of = late("tuning", "of")
  internal.builds_all = os.getenv "CLCOMPUTE_BUILD" == "wait" -- at once what could wait
  internal.call_spread = late("groups", "call")
  internal.add_methods("Device", { load = late("formats", "load"), linspace = late("operations", "linspace"),
    arange = late("operations", "arange"), eye = late("operations", "eye") })
  internal.add_methods("Buffer", { save = late("formats", "save_buffer"), T = late("operations", "turn"),
    dot = late("operations", "product"), astype = late("operations", "astype") })
  internal.add_methods("Image", { save = late("formats", "save_image") })
  internal.add_methods("Program", { save = late("program", "save") })
  core.save_npz = late("formats", "save_npz")
  core.ready = late("warm", "ready")
  core.plot = late("report", "plot")
  core.picture = late("report", "picture")
  core.profile = late("device", "profile")
  core.trace_range = late("kernel", "trace_range")
  core.struct = late("language", "struct")
  core.group = late("groups", "new")
  for package_name, names in pairs {
    operations = "map reduce scan matmul sum asum dot min max argmin argmax norm2 mean var std transpose",
    arrays = "sort argsort unique compact count any all where histogram gather scatter concat",
  } do
    for name in names:gmatch "%w+" do core[name] = operation(package_name, name) end
  end
  local base = require "clcompute.base"
  function internal.suggestion(word, object, methods, fields)
    return base.spelling.member(word, object, methods, fields, core)
  end
  -- Lua names a function that `pcall` calls by the modules that have it: there is to be "clcompute.gemm" alone.
  package.loaded["clcompute.core"] = setmetatable({}, { __index = core, __newindex = core, core = core })
  core.internal, core._VERSION = nil, base.version -- last: what failed before is tried again
end

local cl = load_core()
if not cl._VERSION then complete(cl) end -- the core is the same when required again

cl.doctor = late("doctor", "examine")

return cl
