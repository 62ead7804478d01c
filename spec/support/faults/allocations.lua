-- SPDX-License-Identifier: MIT
--- Allocations of Lua that fail, in the host `lua-faults` (tools/faults_host.c): each of a scenario, alone, with the
-- second try that Lua makes, and with all that follow. After each no handle may be left over, the error must be Lua's
-- own, and the scenario must run again.

local cl = require "clcompute"
local count = require "clcount"
local trial = require "spec.support.faults.trial"

local memory = _G.memory

local allocations = {}

local MODES = { [0] = "from then on", [1] = "once", [2] = "twice" }

local function judge(scenario, ok, result)
  if ok then return not trial.same(scenario.expect, result) and "the result is wrong" or nil end
  local message = tostring(result) -- Lua itself calls it so where the stack cannot grow
  local is_told = message:find("not enough memory", 1, true) or message:find("stack overflow (", 1, true)
  return not is_told and message or nil
end

--- Lets the nth request for memory fail; returns whether there are so many.
local function strike(tally, scenario, place, nth, times)
  trial.close(scenario, place)
  local subject = trial.subject(scenario, place)
  local hits, ok, result = memory.try(nth, times, scenario.run, subject)
  if hits == 0 then return false end
  tally.faults = tally.faults + 1
  local fault, wrong = ("allocation %d, %s"):format(nth, MODES[times]), judge(scenario, ok, result)
  if wrong then trial.note(tally, "swallowed", scenario, place, fault, wrong) end
  trial.check(tally, scenario, place, fault)
  return true
end

--- Runs scenarios on a device.
-- @tparam table scenarios rows {name=, run=function(device), expect=, cold=}
-- @string place of the device: "0:0"
-- @tparam integer stride from one request that fails to the next
-- @treturn table {faults=, leaked=, swallowed=, broken=, texts={}}
function allocations.run(scenarios, place, stride)
  local tally = trial.tally()
  for _, scenario in ipairs(scenarios) do
    trial.begin(tally, scenario, place)
    local nth = 1 + tally.faults % stride
    while true do
      local met = false
      for times = 0, 2 do met = strike(tally, scenario, place, nth, times) or met end
      if not met then break end
      nth = nth + stride
    end
  end
  return tally
end

local LIFE = "spec/support/faults/life.lua"

--- Runs whole lives of states, from the loading of the library to the end.
-- @string place
-- @tparam integer stride
-- @treturn table as of `run`
function allocations.live(place, stride)
  local tally, scenario = trial.tally(), { name = "the life of a state" }
  cl.device(place):close()
  assert(select(2, memory.state(0, 0, LIFE, place)))
  local before, nth, met = #count.live(), 1, true
  while met do
    met = false
    for times = 0, 2 do
      local hits, ok, message, blocks = memory.state(nth, times, LIFE, place)
      if hits > 0 then
        met = true
        tally.faults = tally.faults + 1
        local fault = ("allocation %d, %s"):format(nth, MODES[times])
        if not ok and not message:find("not enough memory", 1, true) then
          trial.note(tally, "swallowed", scenario, place, fault, message)
        end
        if #count.live() > before or blocks ~= 0 then
          trial.note(tally, "leaked", scenario, place, fault, ("%d handles, %d blocks"):format(#count.live() - before,
            blocks))
          before = #count.live()
        end
      end
    end
    nth = nth + stride
  end
  return tally
end

return allocations
