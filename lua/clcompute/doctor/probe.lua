-- SPDX-License-Identifier: MIT
--- What the doctor does in a process of its own, because a driver may end it. Each function puts
-- records for the parent; before each dangerous step it puts { "begin", step }.
-- @module clcompute.doctor.probe

local answers = require "clcompute.answers.answers"
local known_answer = require "clcompute.answers.known_answer"
local process = require("clcompute.base").process

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
  process.put("begin", LOADER)
  local opened, message = package.loadlib(LOADER, "*")
  process.put("loader", opened and "yes" or "no", opened and mapped "/libOpenCL.so" or message)
  process.put("begin", "the C core")
  local loaded, core = pcall(require, "clcompute.core")
  process.put("core", loaded and "yes" or "no", loaded and mapped "/core.so" or core)
end

--- { "driver", "yes" or "no", message }: the library opens; nothing of it is called.
function probe.driver(library)
  process.put("begin", library)
  local opened, message = package.loadlib(library, "*")
  process.put("driver", opened and "yes" or "no", message)
end

--- { "platform", name, number of devices, version } each, then { "device", place, platform, name, type,
-- version, driver, has a compiler } for those that the selector means.
function probe.devices(selector)
  local core = require "clcompute.core"
  process.put("begin", "the list of platforms")
  for _, platform in ipairs(core.platforms()) do
    process.put("platform", platform.name, #platform.devices, platform.version)
  end
  for _, d in ipairs(core.devices(selector ~= "" and selector or nil)) do
    process.put("device", d.place, d.platform, d.name, d.type, d.version, d.driver, d:info().has_compiler)
  end
end

--- { "answer", number of the test, status, detail } for the tests from `first` on.
function probe.answers(selector, first)
  local core = require "clcompute.core"
  local device = core.device(selector)
  for i = tonumber(first), #answers.tests do
    process.put("begin", i)
    local status, detail = known_answer.run(device, answers.tests[i])
    process.put("answer", i, status, detail or "right")
  end
end

return probe
