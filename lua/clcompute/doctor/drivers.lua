-- SPDX-License-Identifier: MIT
--- The drivers that the OpenCL loader will look for, as ocl-icd does (libOpenCL(7)).

local process = require("clcompute.base").process

local drivers = {}

local STANDARD = "/etc/OpenCL/vendors"

--- The Debian package of a driver's library, by a part of its name.
local PACKAGES = {
  { "pocl", "pocl-opencl-icd" },
  { "nvidia", "nvidia-opencl-icd" },
  { "oclgrind", "oclgrind" },
  { "Mesa", "mesa-opencl-icd" },
  { "Rusticl", "mesa-opencl-icd" },
  { "igdrcl", "intel-opencl-icd" },
  { "amdocl", "rocm-opencl-icd" },
}

local function variable(name)
  local value = os.getenv(name)
  return value ~= "" and value or nil
end

local function is_folder(path)
  return process.output("test -d " .. process.quote(path) .. " && echo yes") == "yes"
end

--- What an .icd file names on its first line, to a NUL as in C; nil when it cannot be read.
local function library_of(file)
  local handle = io.open(file)
  local line = handle and handle:read("l")
  if handle then handle:close() end
  return line and line:match "^%s*([^\0]-)%s*%f[\0]"
end

local function files_in(folder)
  local list = {}
  local names = process.tool("ls -1 -- " .. process.quote(folder) .. " 2>/dev/null") or ""
  for name in names:gmatch "[^\n]+" do
    if name:find "%.icd$" then list[#list + 1] = folder .. "/" .. name end
  end
  return list
end

--- The one .icd file that $OCL_ICD_VENDORS names: beside the others if it is there.
local function single(name, folder)
  local beside = not name:find("/", 1, true) and folder .. "/" .. name
  return beside and library_of(beside) and beside or name
end

--- Where the loader looks, in words, and what it finds.
-- @treturn string folder, file or library
-- @treturn table list of { file=, library= }; `file` is nil for a library that $OCL_ICD_VENDORS itself names
function drivers.list()
  local folder = variable "OPENCL_VENDOR_PATH" or STANDARD
  local given = variable "OCL_ICD_VENDORS"
  local files
  if not given then
    files = files_in(folder)
  elseif is_folder(given) then
    folder, files = given, files_in(given)
  elseif given:find "%.icd$" then
    files = { single(given, folder) }
    folder = given
  else
    return given, { { library = given } }
  end
  local list = {}
  for i, file in ipairs(files) do list[i] = { file = file, library = library_of(file) } end
  return folder, list
end

--- How to remove what names a driver. A folder is moved: its owner alone knows what is in it.
local function removal(file)
  return is_folder(file) and "move the folder " .. process.quote(file) .. " elsewhere" or "rm " .. process.quote(file)
end

-- --- libraries that a driver needs ------------------------------------------------

--- The Debian package of a library, "libhwloc15" of libhwloc.so.15, where apt knows it; else nil.
local function package_of(library)
  local name, version = library:match "([^/]+)%.so%.([%w.]+)$"
  if not name then return nil end
  local llvm = name:match "^libLLVM%-(%d+)$"
  local package = llvm and "libllvm" .. llvm
    or ("%s%s%s"):format(name, name:find "%d$" and "-" or "", version):lower():gsub("_", "-")
  local known = process.output(("apt-cache show -- %s >/dev/null 2>&1 && echo yes"):format(process.quote(package)))
  return known == "yes" and package or nil
end

--- The library that was not found when another one was opened that needs it, or nil.
-- @string message of the system
-- @string[opt] library the one that was opened
function drivers.missing(message, library)
  local name = message:match "([^%s:]+): cannot open shared object file"
  return name ~= library and name or nil
end

--- How to install a library that another one, named, needs.
function drivers.to_install_library(missing, by)
  local package = package_of(missing)
  if package then return ("apt install --reinstall %s (for %s, which %s needs)"):format(package, missing, by) end
  return ("install %s, which %s needs; `apt-file search %s` names its package"):format(missing, by, missing)
end

--- What to do about a driver whose library does not open.
-- @tparam table driver of `drivers.list`
-- @string[opt] message of the system
function drivers.remedy(driver, message)
  local missing = message and drivers.missing(message, driver.library)
  if missing then
    local install = drivers.to_install_library(missing, driver.library)
    return driver.file and ("%s; or, if the driver is not wanted, %s"):format(install, removal(driver.file)) or install
  end
  local name = (driver.library or "") .. (driver.file or "")
  for _, row in ipairs(PACKAGES) do
    if name:lower():find(row[1]:lower(), 1, true) then
      local install = "apt install --reinstall " .. row[2]
      if not driver.file then return install end
      return ("%s; or, if it is not wanted, %s"):format(install, removal(driver.file))
    end
  end
  if not driver.file then return "unset OCL_ICD_VENDORS" end
  return "install the driver that " .. driver.file .. " belongs to, or " .. removal(driver.file)
end

--- Whether Linux drives an NVIDIA GPU here.
local function has_nvidia()
  local file = io.open "/proc/driver/nvidia/version"
  if file then file:close() end
  return file ~= nil
end

--- What to install where there is no driver: the GPU's own if one is seen, and the CPU's.
function drivers.to_install()
  local cpu = "apt install pocl-opencl-icd"
  if has_nvidia() then return "apt install nvidia-opencl-icd (for the NVIDIA GPU), " .. cpu .. " (for the CPU)" end
  return cpu .. " (for the CPU), or the driver of your GPU"
end

--- What to do about an NVIDIA GPU that no file of the list is for, as in containers that were given the
-- driver's libraries alone; nil where there is none.
function drivers.unlisted_gpu(list)
  if not has_nvidia() or drivers.redirected() then return nil end
  for _, driver in ipairs(list) do
    if (driver.library or ""):find("nvidia", 1, true) then return nil end
  end
  return ("apt install nvidia-opencl-icd; or, where libnvidia-opencl.so.1 is there:"
    .. " mkdir -p %s && echo libnvidia-opencl.so.1 > %s/nvidia.icd"):format(STANDARD, STANDARD)
end

--- Whether a platform's name is POCL's.
function drivers.is_pocl(platform)
  return platform == "Portable Computing Language"
end

--- The environment variable that leads the loader elsewhere than usual, or nil.
function drivers.redirected()
  for _, name in ipairs { "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH" } do
    if variable(name) then return name end
  end
end

return drivers
