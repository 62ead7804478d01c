-- SPDX-License-Identifier: MIT
--- Calls of OpenCL that fail: each call of a scenario fails with each of its codes, once and from then on. After each
-- fault no handle may be left over, the error must say which call failed and how, and the scenario must run again.

local cl = require "clcompute"
local codes = require "spec.support.faults.codes"
local count = require "clcount"
local trial = require "spec.support.faults.trial"

local calls = {}

local FOR_EVER = 1 << 40

--- Whether a message says what failed and how. Where it goes on failing, one call may be made good for and the next is
-- told of; a command is named where it is found out that it failed.
local function says(message, hit, code, is_optional)
  local call, words = hit.call, codes.names[code]
  if message:find(call .. ": " .. words, 1, true) then return true end
  local is_of_state = call == "command" or codes.of_state[call]
  if hit.failed > 1 and (is_of_state or is_optional or codes.may_be_mended(call, code)) then call = "cl%u%l+%u" end
  local is_command = message:find("failed on the device: " .. words, 1, true) and (is_of_state or hit.failed > 1)
  return is_command or message:find(call) ~= nil and message:find(words, 1, true) ~= nil
end

local OF_LANDING = { clEnqueueMapBuffer = true, clEnqueueUnmapMemObject = true }

--- The nth call of a scenario.
local function call_at(scenario, place, nth)
  trial.close(scenario, place)
  count.fail("any", codes.of()[1], nth, 1)
  pcall(scenario.run, trial.subject(scenario, place))
  local hit = count.hits()
  count.fail()
  return hit.call
end

--- Whether a device does as well without the nth call: what it opens with is a landing for small reads, memory that is
-- mapped at once (csrc/buffer/landing.c).
local function is_of_landing(scenario, place, call, nth)
  if not scenario.cold or cl.device(place):info().unified_memory then return false end
  return OF_LANDING[call] or call == "clCreateBuffer" and call_at(scenario, place, nth + 1) == "clEnqueueMapBuffer"
end

--- What is wrong with how a fault of the nth call came out, or nil.
local function judge(scenario, place, hit, nth, code, ok, result)
  if ok and not trial.same(scenario.expect, result) then return "the result is wrong" end
  local is_borne = codes.may_be_mended(hit.call, code) or scenario.bears == hit.call
  if ok and is_borne or not ok and says(tostring(result), hit, code) then return nil end
  local is_optional = is_of_landing(scenario, place, hit.call, nth)
  if is_optional and (ok or says(tostring(result), hit, code, true)) then return nil end
  return ok and "no error was raised" or tostring(result)
end

--- Lets the nth call fail; returns its name, nil where there are not so many calls.
local function strike(tally, scenario, place, kind, nth, code, times)
  trial.close(scenario, place)
  local subject = trial.subject(scenario, place)
  count.fail(kind, code, nth, times)
  local ok, result = pcall(scenario.run, subject)
  subject = nil -- luacheck: ignore 311
  collectgarbage() -- finalizers bear faults too
  local hit = count.hits()
  count.fail()
  if hit.failed == 0 then return nil end
  tally.faults = tally.faults + 1
  local fault = ("%s, call %d, %s %s"):format(hit.call, nth, codes.names[code], times == 1 and "once" or "from then on")
  local wrong = judge(scenario, place, hit, nth, code, ok, result)
  if wrong then trial.note(tally, "swallowed", scenario, place, fault, wrong) end
  trial.check(tally, scenario, place, fault)
  return hit.call
end

--- The nth call of a scenario with its codes, as far as the stride meets them. Returns whether there is such a call.
local function strike_each(tally, scenario, place, kind, nth, stride)
  local own = kind == "command" and codes.of_commands or codes.of()
  local call = strike(tally, scenario, place, kind, nth, own[1], 1)
  local list = call and kind ~= "command" and codes.of(call) or own
  for i = 1, call and #list or 0 do
    for _, times in ipairs { 1, FOR_EVER } do
      tally.turn = tally.turn + 1
      local is_done = i == 1 and times == 1
      if tally.turn % stride == 0 and not is_done then strike(tally, scenario, place, kind, nth, list[i], times) end
    end
  end
  return call ~= nil
end

--- Runs scenarios on a device.
-- @tparam table scenarios rows {name=, run=function(device), expect=, cold=}
-- @string place of the device: "0:0"
-- @tparam[opt=1] integer stride of so many faults about one is tried, but one at least of each scenario
-- @treturn table {faults=, leaked=, swallowed=, broken=, texts={}}
function calls.run(scenarios, place, stride)
  local tally = trial.tally()
  stride = stride or 1
  for _, scenario in ipairs(scenarios) do
    count.fail()
    trial.begin(tally, scenario, place)
    for _, kind in ipairs { "any", "command" } do
      local nth = 1 + tally.turn % stride // 4
      while strike_each(tally, scenario, place, kind, nth, stride) do nth = nth + 1 + (stride - 1) // 4 end
    end
  end
  return tally
end

return calls
