-- SPDX-License-Identifier: MIT
--- What a child process of the doctor does. Each function puts records for the parent; before a step that may end the
-- process it puts { "begin", step }.

local answers = require "clcompute.answers"
local child = require "clcompute.doctor.child"

local probe = {}

local LOADER = "libOpenCL.so.1"

--- Where a library that is open comes from.
local function mapped(name)
  for line in io.lines "/proc/self/maps" do
    local path = line:match "%s(/.*)$"
    if path and path:find(name, 1, true) then return path end
  end
  return name
end

--- { "loader", "yes", path } or { "loader", "no", message }, then the same for the core.
function probe.libraries()
  child.put("begin", LOADER)
  local opened, message = package.loadlib(LOADER, "*")
  child.put("loader", opened and "yes" or "no", opened and mapped "/libOpenCL.so" or message)
  child.put("begin", "the C core")
  local loaded, core = pcall(require, "clcompute.core")
  child.put("core", loaded and "yes" or "no", loaded and mapped "/core.so" or core)
end

--- { "driver", "yes" or "no", message }: the library opens; nothing of it is called.
function probe.driver(library)
  child.put("begin", library)
  local opened, message = package.loadlib(library, "*")
  child.put("driver", opened and "yes" or "no", message)
end

--- { "platform", name, number of devices, version } each, then { "device", place, platform, name, type,
-- version, driver, has a compiler } for those that the selector means, then { "sandbox", its parts } where one of them
-- can be isolated.
function probe.devices(selector)
  local core = require "clcompute.core"
  child.put("begin", "the list of platforms")
  for _, platform in ipairs(core.platforms()) do
    child.put("platform", platform.name, #platform.devices, platform.version)
  end
  local sandbox
  for _, d in ipairs(core.devices(selector ~= "" and selector or nil)) do
    child.put("device", d.place, d.platform, d.name, d.type, d.version, d.driver, d:info().has_compiler)
    local ok, isolated = pcall(core.device, d.place, { isolated = true })
    sandbox = sandbox or (ok and isolated.sandbox)
  end
  if sandbox then child.put("sandbox", sandbox) end
end

--- { "answer", number of the test, status, detail, whether the kernel ran } for the tests from `first` on.
function probe.answers(selector, first)
  local tests = answers.compiler_tests.list
  local device = require "clcompute.core".device(selector)
  for i = tonumber(first), #tests do
    child.put("begin", i)
    local status, detail, ran = answers.run(device, tests[i])
    child.put("answer", i, status, detail or "right", ran)
  end
end

--- { "operation", key of the test, status, detail, whether the kernel ran } for the tests of the library's own kernels.
-- @tparam table cl the public table, which is above this package: the child's program hands it over
-- @string place of the device
function probe.operations(cl, place)
  local tests, device = answers.operation_tests, cl.device(place)
  for _, key in ipairs(tests.keys()) do
    child.put("begin", tests.rows[key].name)
    local status, detail, ran = answers.run(device, tests.rows[key])
    child.put("operation", key, status, detail or "right", ran)
  end
end

return probe
