-- SPDX-License-Identifier: MIT
--- Warns of loops that a device's compiler gets wrong: those with a barrier whose condition calls get_local_size
-- (POCL 3.1). Whether it does is found out by a known-answer test, run when the first such source is built;
-- the verdict is a line `verdict TAB device` of the file `verdicts` in the folder of compiled programs.
-- @module clcompute.loop_warning

local answers = require "clcompute.doctor.answers"
local drivers = require "clcompute.doctor.drivers"
local folders = require "clcompute.doctor.folders"
local known_answer = require "clcompute.doctor.known_answer"
local process = require "clcompute.doctor.process"

local MESSAGE = "clcompute: %s:%d: get_local_size in a loop condition: this device's compiler (%s, %s) gets such loops"
  .. " wrong; %s"

local verdicts = {} -- by device, of this state

--- What a verdict depends on.
local function key_of(device)
  local key = table.concat({ device.platform, device.name, device.driver, device.version }, " | ")
  return (key:gsub("[\t\n]", " "))
end

--- Where verdicts are kept; nil where none can be, as in a pipe: to open one would wait for ever.
local function verdicts_path(folder)
  local path = folder and folder .. "/verdicts"
  local quoted = path and process.quote(path)
  local special = path and process.tool(("[ -e %s ] && [ ! -f %s ] && echo special"):format(quoted, quoted))
  return special ~= "special" and path or nil
end

--- All of a file; "" where it cannot be read, as a folder cannot.
local function read(path)
  local file = io.open(path)
  local text = file and file:read("a") or ""
  if file then file:close() end
  return text
end

local function recall(path, key)
  local found
  for line in read(path):gmatch "[^\n]+" do
    local verdict, device = line:match "^(%l+)\t(.*)$"
    if device == key and (verdict == "ok" or verdict == "fault") then found = verdict end
  end
  return found
end

--- Adds a line; one write at the end of a file, so that processes do not mix theirs. What cannot be kept
-- is found out again.
local function keep(folder, path, key, verdict)
  process.tool("mkdir -p -m 700 -- " .. process.quote(folder) .. " 2>/dev/null")
  local file = io.open(path, "a")
  if not file then return end
  file:write("\n", verdict, "\t", key, "\n") -- a line that was cut off before must not swallow this one
  file:close()
end

--- Runs the test: "ok", "fault" or "unknown". That is also the verdict where POCL could not launch it: without a
-- linker it ends the process.
local function test(device)
  if drivers.is_pocl(device.platform) and not process.find "ld" then return "unknown" end
  device:wait() -- what failed before raises here, not in the test
  local status, _, ran = known_answer.run(device, answers.local_size_loop)
  return ran and status or "unknown"
end

local function verdict_on(device)
  local key = key_of(device)
  if verdicts[key] then return verdicts[key] end
  verdicts[key] = "unknown" -- the test's own source comes here too
  local folder = folders.cache()
  local path = verdicts_path(folder)
  local verdict = path and recall(path, key)
  if not verdict then
    local ran
    ran, verdict = pcall(test, device)
    if not ran then -- what failed before; the next program asks again
      verdicts[key] = nil
      error(verdict, 0)
    end
    if path and verdict ~= "unknown" then keep(folder, path, key, verdict) end
  end
  verdicts[key] = verdict
  return verdict
end

--- Called by d:program with the line of the first such loop.
return function(device, name, line)
  if verdict_on(device) ~= "fault" then return end
  local where = device.platform .. " " .. device.driver
  warn(MESSAGE:format(name, line, device.name, where, answers.local_size_loop.remedy))
end
