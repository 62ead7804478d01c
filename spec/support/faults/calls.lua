-- SPDX-License-Identifier: MIT
--- Calls of OpenCL that fail: each call of a scenario fails with each of its codes, once and from then on. After each
-- fault no handle may be left over, the error must say which call failed and how, and the scenario must run again.

local cl = require "clcompute"
local codes = require "spec.support.faults.codes"
local count = require "clcount"

local calls = {}

local FOR_EVER = 1 << 40

local function collect()
  collectgarbage()
  collectgarbage()
end

local function live()
  collect()
  return #count.live()
end

--- Devices that a scenario opened itself are closed behind it.
local function close(scenario, place)
  if scenario.cold then cl.device(place):close() end
end

--- What a scenario gets: a device that is open, or the place of one that is not.
local function subject(scenario, place) return scenario.cold and place or cl.device(place) end

--- Two values are the same; numbers within what rounding may do.
local function same(a, b)
  if type(a) == "number" and type(b) == "number" then
    return a == b or math.abs(a - b) <= 1e-5 * math.max(math.abs(a), math.abs(b))
  end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not same(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

--- The number of handles that live after a clean run, which must give what is expected.
local function baseline(scenario, place)
  for _ = 1, 2 do
    close(scenario, place)
    local result = scenario.run(subject(scenario, place))
    if not same(scenario.expect, result) then error(scenario.name .. ": wrong without a fault", 0) end
  end
  close(scenario, place)
  return live()
end

--- Whether a message says what failed and how. Where it goes on failing, one call may be made good for and the next is
-- told of; a command is named where it is found out that it failed.
local function says(message, hit, code)
  local call, words = hit.call, codes.names[code]
  local is_of_state = call == "command" or codes.of_state[call]
  if hit.failed > 1 and (is_of_state or codes.may_be_mended(call, code)) then call = "cl%u%l+%u" end
  local is_command = message:find("failed on the device: " .. words, 1, true) and (is_of_state or hit.failed > 1)
  return is_command or message:find(call) ~= nil and message:find(words, 1, true) ~= nil
end

--- What is wrong with how the fault came out, or nil.
local function judge(scenario, hit, code, ok, result)
  if ok and not same(scenario.expect, result) then return "swallowed", "the result is wrong" end
  if ok and codes.may_be_mended(hit.call, code) then return nil end
  if ok then return "swallowed", "no error was raised" end
  if not says(tostring(result), hit, code) then return "swallowed", tostring(result) end
end

local function recover(scenario, place)
  local what = subject(scenario, place)
  local ok, result = pcall(scenario.run, what)
  if not ok then return "broken", "afterwards: " .. tostring(result) end
  if not same(scenario.expect, result) then return "broken", "afterwards the result is wrong" end
end

local function note(tally, kind, scenario, place, hit, code, times, message)
  tally[kind] = tally[kind] + 1
  tally.faults_found[#tally.faults_found + 1] = ("%s on %s: %s, call %d, %s %s: %s: %s"):format(scenario.name,
    place, hit.call, hit.nth, codes.names[code], times == 1 and "once" or "from then on", kind, message)
end

--- Lets the nth call fail; returns what was hit, nil where there are not so many calls.
local function strike(tally, scenario, place, kind, nth, code, times)
  close(scenario, place)
  local what = subject(scenario, place)
  count.fail(kind, code, nth, times)
  local ok, result = pcall(scenario.run, what)
  collect() -- finalizers bear faults too
  local hit = count.hits()
  count.fail()
  if hit.failed == 0 then return nil end
  hit.nth = nth
  tally.faults = tally.faults + 1
  local wrong, message = judge(scenario, hit, code, ok, result)
  if wrong then note(tally, wrong, scenario, place, hit, code, times, message) end
  pcall(cl.device(place).wait, cl.device(place)) -- what a command left to report
  close(scenario, place)
  wrong, message = recover(scenario, place)
  if wrong then note(tally, wrong, scenario, place, hit, code, times, message) end
  close(scenario, place)
  local left = live()
  if left > tally.live then
    note(tally, "leaked", scenario, place, hit, code, times, left - tally.live .. " handles")
    tally.live = left
  end
  return hit
end

--- All faults of a scenario whose number, counted over all scenarios, is a multiple of the stride.
local function sweep(tally, scenario, place, kind, stride)
  local nth, hit = 1, nil
  repeat
    local list = kind == "command" and codes.of_commands or nil
    hit = strike(tally, scenario, place, kind, nth, list and list[1] or -6, 1)
    list = list or hit and codes.of(hit.call)
    for i = 1, hit and #list or 0 do
      for _, times in ipairs { 1, FOR_EVER } do
        tally.turn = tally.turn + 1
        if tally.turn % stride == 0 and not (i == 1 and times == 1) then
          strike(tally, scenario, place, kind, nth, list[i], times)
        end
      end
    end
    nth = nth + (stride > 1 and 1 + tally.turn % stride or 1)
  until not hit
end

--- Runs scenarios on a device.
-- @tparam table scenarios rows {name=, run=function(device), expect=, cold=}
-- @string place of the device: "0:0"
-- @tparam[opt=1] integer stride so many faults from one that is tried to the next
-- @treturn table {faults=, leaked=, swallowed=, broken=, bad=, faults_found={texts}}
function calls.run(scenarios, place, stride)
  local tally = { faults = 0, leaked = 0, swallowed = 0, broken = 0, turn = 0, faults_found = {} }
  for _, scenario in ipairs(scenarios) do
    count.fail()
    tally.live = baseline(scenario, place)
    for _, kind in ipairs { "any", "command" } do sweep(tally, scenario, place, kind, stride or 1) end
  end
  tally.bad = count.bad()
  return tally
end

return calls
