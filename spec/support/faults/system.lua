-- SPDX-License-Identifier: MIT
--- Calls of the C library that fail in the core: memory, files, processes. Run with build/system_faults.so preloaded;
-- arguments: the place of a device, the stride from one call that fails to the next, the kind of scenarios.
-- Each call of a scenario fails once and from then on: here, in the worker of an isolated device, and from the
-- beginning of a process. What can be done without is made good for, else the error says what failed. No handle and no
-- file may stay open, and the scenario must run again. Prints a line `name=number ...`, then what came out wrong.

package.path = "./?.lua;" .. package.path

local scenarios = require "spec.support.faults.scenarios"
local system_faults = require "system_faults"
local trial = require "spec.support.faults.trial"

local place, stride, kind = ...
stride = math.tointeger(stride)

-- What errors may say instead of errno's words: what could not be done without.
local NO_MEMORY = { "not enough memory", "CL_OUT_OF_HOST_MEMORY", "CL_MEM_OBJECT_ALLOCATION_FAILURE" }
local OTHER_WORDS = {
  malloc = NO_MEMORY, calloc = NO_MEMORY, realloc = NO_MEMORY, mmap = NO_MEMORY, ftruncate = NO_MEMORY,
  memfd_create = NO_MEMORY, access = { "no ld in PATH" },
}
-- What they may say where a worker or a new process is hit, or one call after the other.
local ANY_WORDS = { "its worker process", "CL_[%u_]+" }
for _, name in ipairs { "not enough memory", "no ld in PATH", "Too many open files", "Input/output error",
  "No space left on device", "Permission denied", "Operation not permitted", "Cannot allocate memory",
  "Resource temporarily unavailable", "No buffer space available" } do
  ANY_WORDS[#ANY_WORDS + 1] = name
end

local function says(message, list)
  for _, words in ipairs(list) do if message:find(words) then return true end end
  return false
end

--- What is wrong with how a fault came out, or nil. `words` is what errno said where one call alone failed, here.
local function judge(scenario, call, words, ok, result)
  if ok then return not trial.same(scenario.expect, result) and "the result is wrong" or nil end
  local message = tostring(result)
  local is_said = words and (message:find(words, 1, true) or says(message, OTHER_WORDS[call] or {}))
    or not words and says(message, ANY_WORDS)
  return not is_said and message or nil
end

--- Pipes are left out: this one's own is one.
local function count_files()
  local pipe <close> = io.popen "ls -l /proc/$PPID/fd 2>/dev/null | grep -vc pipe:"
  return pipe:read "n"
end

local function read_all(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

-- Where a fault is: how it is set, how to know what it met (nil: nothing; and errno's words), how it is taken back.
-- In the one folder that a worker may write to.
local folder = require("clcompute.doctor.machine").pocl_folder() .. "/isolated"
os.execute(("mkdir -p '%s'"):format(folder))
local unique = os.tmpname()
os.remove(unique)
local log = ("%s/%s.faults"):format(folder, unique:match "[^/]+$")
local HERE = {
  set = function(nth, times) system_faults.fail(nth, times) end,
  met = function()
    local n, name, words = system_faults.hits()
    if n > 0 then return name, n == 1 and words or nil end
  end,
  clear = function() system_faults.fail(0, 0) end,
}
local IN_WORKER = {
  set = function(nth, times)
    io.open(log, "w"):close()
    system_faults.fail_worker(nth, times, log)
  end,
  met = function() return (read_all(log):match "[^\n]+") end,
  clear = function() system_faults.fail_worker(0, 0, log) end,
}

--- Lets the nth call fail there; returns its name, nil where there are not so many.
local function strike(tally, scenario, where, name, nth, times)
  trial.close(scenario, place)
  local subject = trial.subject(scenario, place)
  where.set(nth, times)
  local ok, result = pcall(scenario.run, subject)
  collectgarbage() -- finalizers bear faults too
  local call, errno = where.met()
  where.clear()
  if not call then return nil end
  tally.faults = tally.faults + 1
  local fault = ("%s%s, call %d, %s"):format(call, name, nth, times == 1 and "once" or "from then on")
  local wrong = judge(scenario, call, errno, ok, result)
  if wrong then trial.note(tally, "swallowed", scenario, place, fault, wrong) end
  trial.check(tally, scenario, place, fault)
  return fault
end

local function strike_each(tally, scenario, where, name)
  local files = count_files()
  local nth = 1 + tally.faults % stride
  while true do
    local met
    for times = 0, 1 do met = strike(tally, scenario, where, name, nth, times) or met end
    if not met then return end
    local now, patience = count_files(), 10 -- a driver's threads have files for a moment
    while now > files and patience > 0 do
      os.execute "sleep 0.1"
      now, patience = count_files(), patience - 1
    end
    if now > files then trial.note(tally, "leaked", scenario, place, met, now - files .. " open files") end
    files, nth = now, nth + stride
  end
end

--- Whole lives of processes.
local function live(tally)
  local scenario = { name = "the life of a process" }
  local command = "SYSTEM_FAULTS='%d %d %s' $CLCOMPUTE_LUA spec/support/faults/life.lua %s 2>&1; echo $?"
  local nth, met = 1, true
  while met do
    met = false
    for times = 0, 1 do
      io.open(log, "w"):close()
      local pipe <close> = io.popen(command:format(nth, times, log, place))
      local output, code = pipe:read "a":match "^(.-)(%d+)\n$"
      local call = read_all(log):match "[^\n]+"
      if call then
        met, tally.faults = true, tally.faults + 1
        if code ~= "0" and not (code == "1" and says(output, ANY_WORDS)) then
          trial.note(tally, "swallowed", scenario, place, call .. ", call " .. nth, output .. code)
        end
      end
    end
    nth = nth + stride
  end
end

local tally = trial.tally()
for _, scenario in ipairs(scenarios.of(kind)) do
  trial.begin(tally, scenario, place)
  strike_each(tally, scenario, HERE, "")
  if scenario.name:find "isolated" then strike_each(tally, scenario, IN_WORKER, " of the worker") end
end
live(tally)
os.remove(log)

local words = {}
for _, name in ipairs { "faults", "leaked", "swallowed", "broken" } do
  words[#words + 1] = ("%s=%d"):format(name, tally[name])
end
print(table.concat(words, " "))
print(table.concat(tally.texts, "\n"))
