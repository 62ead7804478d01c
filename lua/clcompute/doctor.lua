-- SPDX-License-Identifier: MIT
--- Finds out why OpenCL does not work here, or computes wrong results, and what to do about it.
-- Needs neither the C core nor OpenCL; what a driver could end runs in processes of its own.
-- @module clcompute.doctor
-- @usage print(require "clcompute.doctor".examine())

local answers = require "clcompute.doctor.answers"
local drivers = require "clcompute.doctor.drivers"
local machine = require "clcompute.doctor.machine"
local process = require "clcompute.doctor.process"

local doctor = {}

local OPTIONS = { device = "string", answers = "boolean", limit = "number" }
local DEATHS = 2 -- of a driver, after which the rest of its tests is skipped

-- --- the report ---------------------------------------------------------------

local Report = {}
Report.__index = Report
Report.__name = "clcompute.Report"

local function add(report, check, status, detail, remedy)
  report.rows[#report.rows + 1] = { check = check, status = status, detail = detail, remedy = remedy }
  if status == "fault" then report.faults = report.faults + 1 end
end

--- Adds the row of a check that returns status, detail and remedy; one that raises is a fault itself.
local function run_check(report, name, check, ...)
  local ok, status, detail, remedy = pcall(check, ...)
  if ok then return add(report, name, status, detail, remedy) end
  add(report, name, "fault", "the check failed: " .. tostring(status), "report this text to the authors of clcompute")
end

--- The last of the steps that a child began.
local function last_begun(records)
  for i = #records, 1, -1 do
    if records[i][1] == "begin" then return records[i][2] end
  end
end

local function with_output(ended, last)
  return last and ("%s (%s)"):format(ended, last) or ended
end

local function indent(text)
  return (text:gsub("\n", "\n           "))
end

--- The report as text: a line for each row, below it the remedy.
function Report.__tostring(report)
  local lines = { ("clcompute doctor: %d %s in %d checks"):format(
    report.faults, report.faults == 1 and "fault" or "faults", #report.rows) }
  for _, row in ipairs(report.rows) do
    lines[#lines + 1] = ("  %-7s  %s%s"):format(row.status, row.check, row.detail and ": " .. indent(row.detail) or "")
    if row.remedy then lines[#lines + 1] = "           remedy: " .. indent(row.remedy) end
  end
  return table.concat(lines, "\n")
end

-- --- loader and drivers -------------------------------------------------------

local function core_remedy(message)
  if message:find("libOpenCL", 1, true) then return "apt install --reinstall ocl-icd-libopencl1" end
  if message:find("not found:", 1, true) then
    return [[in a checkout: make && eval "$(make -s env)"; else: luarocks --lua-version 5.4 make]]
  end
  return "build it for this Lua and this system: make clean all"
end

--- Loader and core. True when OpenCL can be asked for devices.
local function examine_libraries(report, limit)
  local records, ended, last = process.call(limit, "clcompute.doctor.probe", "libraries")
  local names = { loader = "OpenCL loader", core = "C core" }
  local works = not ended
  for _, record in ipairs(records) do
    local kind, opens, text = table.unpack(record)
    if names[kind] and opens == "yes" then
      add(report, names[kind], "ok", text)
      report[kind] = text
    elseif names[kind] then
      works = false
      add(report, names[kind], "fault", text, kind == "core" and core_remedy(text)
        or "apt install --reinstall ocl-icd-libopencl1")
    end
  end
  if ended then
    add(report, last_begun(records) or "OpenCL loader", "fault", with_output(ended, last),
      "apt install --reinstall ocl-icd-libopencl1 lua5.4")
  end
  return works
end

local function examine_driver(driver, limit)
  if not driver.library or driver.library == "" then
    return "fault", "names no library", drivers.remedy(driver)
  end
  local records, ended, last = process.call(limit, "clcompute.doctor.probe", "driver", driver.library)
  local found = records[#records] or {}
  driver.opens = not ended and found[2] == "yes"
  if driver.opens then return "ok", driver.library .. " opens" end
  return "fault", ("%s: %s"):format(driver.library, ended and with_output(ended, last) or found[3]),
    drivers.remedy(driver)
end

local function examine_drivers(report, limit)
  local where, list = drivers.list()
  report.icds = list
  if #list == 0 then
    local redirected = drivers.redirected()
    return add(report, "drivers", "fault", "no .icd file in " .. where,
      redirected and ("unset %s; or %s"):format(redirected, drivers.to_install()) or drivers.to_install())
  end
  for _, driver in ipairs(list) do
    run_check(report, "driver " .. (driver.file or "$OCL_ICD_VENDORS"), examine_driver, driver, limit)
  end
end

-- --- devices ------------------------------------------------------------------

local function is_pocl(platform)
  return platform:find("Portable Computing", 1, true) ~= nil
end

local function add_platform(report, record)
  local _, name, devices, version = table.unpack(record)
  report.platforms[#report.platforms + 1] = { name = name, version = version, devices = tonumber(devices) }
  if devices ~= "0" then return add(report, "platform " .. name, "ok", version) end
  local restricted = is_pocl(name) and os.getenv "POCL_DEVICES"
  add(report, "platform " .. name, "fault", "has no device", restricted
    and ("unset POCL_DEVICES (it is '%s')"):format(restricted)
    or "check with `clinfo` that its hardware is seen, and that this user may open it (groups video and render)")
end

local function add_device(report, record)
  local _, place, platform, name, kind, version, driver, has_compiler = table.unpack(record)
  local device = { place = place, platform = platform, name = name, type = kind, version = version,
    driver = driver, has_compiler = has_compiler == "true" }
  report.devices[#report.devices + 1] = device
  local detail = ("%s/%s (%s, %s, driver %s)"):format(platform, name, kind, version, driver)
  if device.has_compiler then return add(report, "device " .. place, "ok", detail) end
  add(report, "device " .. place, "fault", detail .. " has no compiler for OpenCL C",
    "choose another device with CLCOMPUTE_DEVICE, or install the full driver of this one")
end

local function examine_devices(report, options)
  local records, ended, last = process.call(options.limit, "clcompute.doctor.probe", "devices", options.device or "")
  for _, record in ipairs(records) do
    if record[1] == "platform" then add_platform(report, record) end
    if record[1] == "device" then add_device(report, record) end
  end
  if ended then
    add(report, "devices", "fault", with_output(ended, last), "remove the driver that causes it: "
      .. "OCL_ICD_VENDORS=/etc/OpenCL/vendors/one.icd tries one at a time")
  elseif #report.platforms == 0 then
    add(report, "devices", "fault", "no platform", drivers.to_install())
  elseif #report.devices == 0 and options.device then
    add(report, "devices", "fault", ("none matches '%s'"):format(options.device), "`clinfo -l` lists what there is")
  end
end

-- --- known answers ------------------------------------------------------------

local function add_answer(report, device, i, status, detail)
  local test = answers.tests[i]
  local check = ("%s %s"):format(device.place, test.name)
  if status ~= "fault" then return add(report, check, status, detail) end
  add(report, check, status, ("%s: %s"):format(detail, test.consequence), test.remedy)
end

--- Runs the tests from `first` on in one child; returns the number of the one that ended it, if any.
local function run_answers(report, device, first, limit)
  local records, ended, last = process.call(limit, "clcompute.doctor.probe", "answers", device.place, tostring(first))
  for _, record in ipairs(records) do
    if record[1] == "answer" then
      add_answer(report, device, tonumber(record[2]), record[3], record[4])
    end
  end
  if not ended then return nil end
  local guilty = tonumber(last_begun(records)) or first
  add_answer(report, device, guilty, "fault", with_output(ended, last))
  return guilty
end

local function examine_answers(report, device, limit)
  local first, deaths = 1, 0
  while first <= #answers.tests do
    local guilty = run_answers(report, device, first, limit)
    if not guilty then return end
    first, deaths = guilty + 1, deaths + 1
    if deaths == DEATHS and first <= #answers.tests then
      return add(report, ("%s further tests"):format(device.place), "skipped", ("the process died %d times"):format(deaths))
    end
  end
end

--- A reason to leave a device's tests out, or nil.
local function untestable(device, has_linker)
  if not device.has_compiler then return "no compiler" end
  if is_pocl(device.platform) and not has_linker then return "no ld: the driver would abort the process" end
end

local function examine_compilers(report, options)
  local has_linker = process.find "ld" ~= nil
  for _, device in ipairs(report.devices) do
    local reason = untestable(device, has_linker)
    if reason then
      add(report, device.place .. " known answers", "skipped", reason)
    else
      examine_answers(report, device, options.limit)
    end
  end
end

-- --- examine ------------------------------------------------------------------

local function check_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then error("examine: table of options expected, got " .. type(options), 3) end
  for key, value in pairs(options) do
    local expected = OPTIONS[key]
    if not expected then error(("examine: unknown option '%s'"):format(tostring(key)), 3) end
    if type(value) ~= expected then
      error(("examine: option '%s': %s expected, got %s"):format(key, expected, type(value)), 3)
    end
  end
  return options
end

--- Examines loader, drivers, devices, the folders of compiled programs, and each device's compiler
-- with known-answer tests. Whatever is broken becomes a row; only wrong options raise.
-- @tparam[opt] table options `device`: a selector (default: every device); `answers=false`: without the
--  known-answer tests; `limit`: seconds that each process of its own may take (default 120)
-- @treturn table report: `rows`, a list of { check=, status="ok"|"fault"|"skipped", detail=, remedy= }; `faults`,
--  their number; `loader` and `core`, paths; `icds`, a list of { file=, library=, opens= }; `platforms`; `devices`, a list of
--  { place=, platform=, name=, type=, version=, driver=, has_compiler= }; tostring() of it is the report
function doctor.examine(options)
  local given = check_options(options)
  local settings = { device = given.device, limit = given.limit or 120 }
  local report = setmetatable({ rows = {}, faults = 0, icds = {}, platforms = {}, devices = {} }, Report)
  local works = examine_libraries(report, settings.limit)
  examine_drivers(report, settings.limit)
  if works then examine_devices(report, settings) end
  run_check(report, "memory", machine.memory)
  run_check(report, "open files", machine.open_files)
  run_check(report, "cache folder", machine.cache)
  local pocl = false
  for _, platform in ipairs(report.platforms) do pocl = pocl or is_pocl(platform.name) end
  if pocl then
    run_check(report, "POCL's cache folder", machine.pocl_cache)
    run_check(report, "POCL's linker", machine.linker)
  end
  if given.answers ~= false then examine_compilers(report, settings) end
  return report
end

return doctor
