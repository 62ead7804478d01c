-- SPDX-License-Identifier: MIT
--- Finds out why OpenCL does not work here, or computes wrong results, and what to do about it.
-- Needs neither the C core nor OpenCL; what a driver could end runs in processes of its own.

local arity = require("clcompute.base").arity
local child = require "clcompute.doctor.child"
local compilers = require "clcompute.doctor.compilers"
local drivers = require "clcompute.doctor.drivers"
local interrupt = require("clcompute.base").interrupt
local launcher = require "clcompute.doctor.launcher"
local machine = require "clcompute.doctor.machine"

local doctor = {}

local OPTIONS = { device = "string", answers = "boolean", limit = "number", progress = "function" }

-- --- the report ---------------------------------------------------------------

local Report = {}
Report.__index = Report
Report.__name = "clcompute.Report"

local AUTHORS = "report this text to the authors of clcompute"

--- Adds a row.
function Report.add(report, check, status, detail, remedy)
  report.rows[#report.rows + 1] = { check = check, status = status, detail = detail, remedy = remedy }
  if status == "fault" then report.faults = report.faults + 1 end
  if status == "warning" then report.warnings = report.warnings + 1 end
end

--- Adds the row of a check that raised; Ctrl-C is no fault, it ends the examination.
local function add_failure(report, name, message)
  interrupt.pass_on(message)
  report:add(name, "fault", "the check failed: " .. tostring(message), AUTHORS)
end

--- Adds the row of a check that returns status, detail and remedy; one that raises is a fault itself.
function Report.check(report, name, check, ...)
  local ok, status, detail, remedy = pcall(check, ...)
  if ok then return report:add(name, status, detail, remedy) end
  add_failure(report, name, status)
end

--- Calls f(report, ...), which adds rows itself; returns its result. That it raises is a fault.
function Report.guard(report, name, f, ...)
  local ok, result = pcall(f, report, ...)
  if ok then return result end
  add_failure(report, name, result)
end

local function indent(text)
  return (text:gsub("\n", "\n           "))
end

local function count(n, noun) return ("%d %s%s"):format(n, noun, n == 1 and "" or "s") end

--- The report as text: a line for each row, below it the remedy.
function Report.__tostring(report)
  local lines = { ("clcompute doctor: %s, %s in %s"):format(count(report.faults, "fault"),
    count(report.warnings, "warning"), count(#report.rows, "check")) }
  for _, row in ipairs(report.rows) do
    lines[#lines + 1] = ("  %-7s  %s%s"):format(row.status, row.check, row.detail and ": " .. indent(row.detail) or "")
    if row.remedy then lines[#lines + 1] = "           remedy: " .. indent(row.remedy) end
  end
  return table.concat(lines, "\n")
end

local function new_report()
  return setmetatable({ rows = {}, faults = 0, warnings = 0, icds = {}, platforms = {}, devices = {} }, Report)
end

-- --- loader and drivers -------------------------------------------------------

local LOADER = "libOpenCL.so.1"
local INSTALL_LOADER = "apt install --reinstall ocl-icd-libopencl1"

local function loader_remedy(message)
  local missing = drivers.missing(message, LOADER)
  return missing and drivers.to_install_library(missing, LOADER) or INSTALL_LOADER
end

local function core_remedy(message)
  if message:find("libOpenCL", 1, true) then return INSTALL_LOADER end
  local missing = drivers.missing(message)
  if missing then return drivers.to_install_library(missing, "the C core") end
  if message:find("not found:", 1, true) then
    return [[in a checkout: make && eval "$(make -s env)"; else: luarocks --lua-version 5.4 make]]
  end
  return "build it for this Lua and this system: make clean all"
end

--- Loader and core. True when OpenCL can be asked for devices.
local function examine_libraries(report, limit)
  local records, ended = child.call(limit, "probe.libraries()")
  local names = { loader = "OpenCL loader", core = "C core" }
  local works = not ended
  for _, record in ipairs(records) do
    local kind, opens, text = table.unpack(record)
    if names[kind] and opens == "yes" then
      report:add(names[kind], "ok", text)
      report[kind] = text
    elseif names[kind] then
      works = false
      report:add(names[kind], "fault", text, (kind == "core" and core_remedy or loader_remedy)(text))
    end
  end
  if ended then
    report:add(child.last_begun(records) or "OpenCL loader", "fault", ended, INSTALL_LOADER .. " lua5.4")
  end
  return works
end

local function examine_driver(driver, limit)
  if not driver.library or driver.library == "" then
    return "fault", "names no library", drivers.remedy(driver)
  end
  local records, ended = child.call(limit, "probe.driver(...)", driver.library)
  local found = records[#records] or {}
  driver.opens = not ended and found[2] == "yes"
  if driver.opens then return "ok", driver.library .. " opens" end
  local detail = ended or found[3]
  if detail:find(driver.library, 1, true) ~= 1 then detail = driver.library .. ": " .. detail end
  return "fault", detail, drivers.remedy(driver, detail)
end

local function examine_drivers(report, limit)
  local where, list = drivers.list()
  report.icds = list
  if #list == 0 then
    local redirected = drivers.redirected()
    return report:add("drivers", "fault", "no .icd file in " .. where,
      redirected and ("unset %s; or %s"):format(redirected, drivers.to_install()) or drivers.to_install())
  end
  for _, driver in ipairs(list) do
    report:check("driver " .. (driver.file or "$OCL_ICD_VENDORS"), examine_driver, driver, limit)
  end
  local remedy = drivers.unlisted_gpu(list)
  if remedy then report:add("driver of the NVIDIA GPU", "fault", "no .icd file in " .. where .. " names it", remedy) end
end

-- --- devices ------------------------------------------------------------------

local OUR_KINDS = "pthread basic" -- the library's own choice of POCL's devices (csrc/base/serial.c)

local function add_platform(report, record)
  local _, name, devices, version = table.unpack(record)
  report.platforms[#report.platforms + 1] = { name = name, version = version, devices = tonumber(devices) }
  if devices ~= "0" then return report:add("platform " .. name, "ok", version) end
  local kinds = drivers.is_pocl(name) and os.getenv "POCL_DEVICES"
  report:add("platform " .. name, "fault", "has no device", kinds and kinds ~= OUR_KINDS
    and ("unset POCL_DEVICES (it is '%s')"):format(kinds)
    or "check with `clinfo` that its hardware is seen, and that this user may open it (groups video and render)")
end

local function add_device(report, record)
  local _, place, platform, name, kind, version, driver, has_compiler = table.unpack(record)
  local device = { place = place, platform = platform, name = name, type = kind, version = version,
    driver = driver, has_compiler = has_compiler == "true" }
  report.devices[#report.devices + 1] = device
  local detail = ("%s/%s (%s, %s, driver %s)"):format(platform, name, kind, version, driver)
  if device.has_compiler then return report:add("device " .. place, "ok", detail) end
  report:add("device " .. place, "fault", detail .. " has no compiler for OpenCL C",
    "choose another device with CLCOMPUTE_DEVICE, or install the full driver of this one")
end

local PARTS = { -- of the sandbox of isolated devices, and what brings them
  { "files", "Linux 5.19 or later with Landlock (/sys/kernel/security/lsm names it)" },
  { "system calls", "Linux with seccomp, on x86-64 or aarch64" },
  { "tasks", "Linux 5.9 or later with seccomp" },
}

--- A part that is missing is no fault: isolation works, against kernels that mean no harm.
local function add_sandbox(report, parts)
  local missing, remedies = {}, {}
  for _, part in ipairs(PARTS) do
    if not parts:find(part[1], 1, true) then
      missing[#missing + 1], remedies[#remedies + 1] = part[1], part[2]
    end
  end
  if #missing == 0 then return report:add("sandbox of isolated devices", "ok", parts) end
  report:add("sandbox of isolated devices", "warning", ("without %s"):format(table.concat(missing, ", ")),
    os.getenv "CLCOMPUTE_SANDBOX" == "off" and "unset CLCOMPUTE_SANDBOX (it is off)" or table.concat(remedies, "; "))
end

local function examine_devices(report, options)
  local records, ended = child.call(options.limit, "probe.devices(...)", options.device or "")
  for _, record in ipairs(records) do
    if record[1] == "platform" then add_platform(report, record) end
    if record[1] == "device" then add_device(report, record) end
    if record[1] == "sandbox" then add_sandbox(report, record[2]) end
  end
  if ended then
    report:add("devices", "fault", ended, os.getenv "POCL_CACHE_DIR" == "" and "unset POCL_CACHE_DIR (it is empty)"
      or "remove the driver that causes it: OCL_ICD_VENDORS=/etc/OpenCL/vendors/one.icd tries one at a time")
  elseif #report.platforms == 0 then
    report:add("devices", "fault", "no platform", drivers.to_install())
  elseif #report.devices == 0 and options.device then
    report:add("devices", "fault", ("none matches '%s'"):format(options.device), "`clcompute info` lists what there is")
  end
end

-- --- examine ------------------------------------------------------------------

local function check_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then error("doctor.examine: table of options expected, got " .. type(options), 3) end
  for key, value in pairs(options) do
    local expected = OPTIONS[key]
    if not expected then error(("doctor.examine: unknown option '%s'"):format(tostring(key)), 3) end
    if type(value) ~= expected then
      error(("doctor.examine: option '%s': %s expected, got %s"):format(key, expected, type(value)), 3)
    end
  end
  if options.limit and not (options.limit > 0) then error("doctor.examine: option 'limit': must be above 0", 3) end
  return options
end

function doctor.examine(options)
  local given = check_options(options)
  local settings = { device = given.device, limit = given.limit or 120 }
  local report = new_report()
  local works = report:guard("OpenCL loader", examine_libraries, settings.limit)
  report:guard("drivers", examine_drivers, settings.limit)
  if works then report:guard("devices", examine_devices, settings) end
  report:check("memory", machine.memory)
  report:check("open files", machine.open_files)
  report:check("cache folder", machine.cache)
  local kind = launcher.find()
  if kind then report:check("launcher", launcher.examine, kind) end
  local pocl = false
  for _, platform in ipairs(report.platforms) do pocl = pocl or drivers.is_pocl(platform.name) end
  if pocl then
    report:check("POCL's cache folder", machine.pocl_cache)
    report:check("POCL's linker", machine.linker)
  end
  if given.answers ~= false then
    report:guard("known answers", compilers.examine, settings.limit, given.progress or function() end)
  end
  return report
end

return arity.functions(doctor)
