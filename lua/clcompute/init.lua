-- SPDX-License-Identifier: MIT

--- OpenCL compute for Lua: devices, buffers, programs, kernels and prebuilt operations.
-- @module clcompute

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

local cl = load_core()
cl._VERSION = require("clcompute.base").version

--- What the core leaves to Lua; its modules load with the first call that needs them.
local function complete(core)
  local new_file, open_plain = core.new_file, core.open_plain
  local folder = kernel_folder()
  core.set_kernel_folder(folder)
  core.add_methods("Device", { load = function(...) return require("clcompute.buffer.npy").load(open_plain, ...) end })
  core.add_methods("Buffer", { save = function(...) return require("clcompute.buffer.npy").save(new_file, ...) end })
  core.set_tuning(function(...) return require("clcompute.tuning").of(...) end)
  core.set_loop_check(function(...) require "clcompute.answers.loop_warning"(...) end)
  core.set_native_check(function(device) -- whether its own work-group functions are right
    return require "clcompute.answers.verdict"(device, require "clcompute.answers.answers".collectives) == "ok"
  end)
  core.set_local_check(function(device) -- whether arrays in kernels may exceed what it says of its local memory
    return require "clcompute.answers.verdict"(device, require "clcompute.answers.answers".large_arrays) ~= "fault"
  end)
  local read_profile = core.read_profile
  core.profile = function(...) return require("clcompute.device.profile")(read_profile, ...) end
  local plan_range = core.plan_range
  core.trace_range = function(range, options)
    return require "clcompute.kernel.trace_range"(plan_range, core.device, folder, range, options)
  end
  local mapped = core.mapped
  local forget_tuning = core.forget_tuning
  package.preload["clcompute.tuning.forget"] = function() return forget_tuning end
  package.preload["clcompute.mapped"] = function() return mapped end -- for a measurement, not for scripts
  local enqueue = core.enqueue
  package.preload["clcompute.enqueue"] = function() return enqueue end -- for the library, not for scripts
  for name in ("map reduce scan sum asum dot min max argmin argmax norm2"):gmatch "%w+" do
    core[name] = function(...) return require("clcompute.operations")[name](...) end
  end
  for _, name in ipairs { "mapped", "enqueue", "new_file", "open_plain", "read_profile", "plan_range",
    "set_kernel_folder", "add_methods", "set_loop_check", "set_native_check", "set_local_check", "set_tuning",
    "forget_tuning" } do
    core[name] = nil
  end
end

if cl.set_kernel_folder then complete(cl) end -- the core is the same when required again

--- Finds out what is wrong with OpenCL on this machine; `clcompute.doctor` does so where this module
-- does not load.
-- @function doctor
-- @tparam[opt] table options those of `clcompute.doctor.examine`
-- @treturn table whose tostring() is the report
function cl.doctor(options)
  return require "clcompute.doctor".examine(options)
end

return cl
