-- SPDX-License-Identifier: MIT
--- What known-answer tests said of devices: each is run once a device and driver, when it is first asked for. A
-- verdict is a line `verdict TAB test TAB device` of the file `verdicts` in the folder of compiled programs.
-- @module clcompute.answers.verdict

local drivers = require "clcompute.answers.drivers"
local folders = require("clcompute.base").folders
local known_answer = require "clcompute.answers.known_answer"
local process = require("clcompute.base").process

local VERDICTS = { ok = true, fault = true }

local verdicts = {} -- by test and device, of this state

--- What a verdict depends on.
local function key_of(device, test)
  local facts = table.concat({ device.platform, device.name, device.driver, device.version }, " | ")
  return test.name .. "\t" .. facts:gsub("[\t\n]", " ")
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
    local verdict, about = line:match "^(%l+)\t(.*)$"
    if about == key and VERDICTS[verdict] then found = verdict end
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
local function judge(device, test)
  if drivers.is_pocl(device.platform) and not process.find "ld" then return "unknown" end
  device:wait() -- what failed before raises here, not in the test
  local status, _, ran = known_answer.run(device, test)
  return ran and status or "unknown"
end

--- Found in the file, or out.
local function find(device, test, key)
  local folder = folders.cache()
  local path = verdicts_path(folder)
  local verdict = path and recall(path, key)
  if verdict then return verdict end
  verdict = judge(device, test)
  if path and VERDICTS[verdict] then keep(folder, path, key, verdict) end
  return verdict
end

--- What a device makes of a test.
-- @param device
-- @tparam table test a row of `clcompute.doctor.answers`
-- @treturn string "ok", "fault" or "unknown": it could not be run
-- @raise what failed on the device before
return function(device, test)
  local key = key_of(device, test)
  if verdicts[key] then return verdicts[key] end
  verdicts[key] = "unknown" -- the test's own source may come here too
  local found, verdict = pcall(find, device, test, key)
  verdicts[key] = found and verdict or nil -- the next one asks again
  if not found then error(verdict, 0) end
  return verdict
end
