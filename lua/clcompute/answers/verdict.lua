-- SPDX-License-Identifier: MIT
--- What known-answer tests said of devices: each is run once a device and driver, when it is first asked for. A
-- verdict is a line `verdict TAB test TAB device` of the file `verdicts` in the folder of compiled programs.
-- @module clcompute.answers.verdict

local files = require "clcompute.files"
local interrupt = require("clcompute.base").interrupt
local known_answer = require "clcompute.answers.known_answer"

local VERDICTS = { ok = true, fault = true }

local verdicts = {} -- by test and device, of this state

--- What a verdict depends on.
local function key_of(device, test)
  local facts = table.concat({ device.platform, device.name, device.driver, device.version }, " | ")
  return test.name .. "\t" .. facts:gsub("[\t\n]", " ")
end

--- All of a file; "" where it cannot be read.
local function read(path)
  local opened, file = pcall(files.open, path)
  if not opened then interrupt.pass_on(file) end
  local text = opened and file:read("a") or ""
  if opened then file:close() end
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

--- Adds a line. What cannot be kept is found out again.
local function keep(path, key, verdict)
  files.make_folders(path)
  files.append(path, ("\n%s\t%s\n"):format(verdict, key)) -- a line that was cut off before must not swallow this one
end

--- Runs the test: "ok", "fault" or "unknown". That is also the verdict where a kernel cannot be built, as by POCL where
-- there is no linker.
local function judge(device, test)
  device:wait() -- what failed before raises here, not in the test
  local status, _, ran = known_answer.run(device, test)
  return ran and status or "unknown"
end

--- Found in the file, or out.
local function find(device, test, key)
  local folder = files.cache_folder()
  local path = folder and folder .. "/verdicts"
  local verdict = path and recall(path, key)
  if verdict then return verdict end
  verdict = judge(device, test)
  if path and VERDICTS[verdict] then keep(path, key, verdict) end
  return verdict
end

--- What a device makes of a test; `clcompute.answers` says what it takes and returns.
return function(device, test)
  local key = key_of(device, test)
  if verdicts[key] then return verdicts[key] end
  verdicts[key] = "unknown" -- the test's own source may come here too
  local found, verdict = pcall(find, device, test, key)
  verdicts[key] = found and verdict or nil -- the next one asks again
  if not found then error(verdict, 0) end
  return verdict
end
