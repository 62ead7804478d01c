-- SPDX-License-Identifier: MIT
--- What trials of scenarios have in common, whatever fails in them: a clean run before and after each fault, the count
-- of handles, and the tally.

local cl = require "clcompute"
local count = require "clcount"

local trial = {}

--- Devices that a scenario opens itself are closed before and after.
function trial.close(scenario, place) if scenario.cold then cl.device(place):close() end end

--- What a scenario gets: a device that is open, or the place of one that is not.
function trial.subject(scenario, place) return scenario.cold and place or cl.device(place) end

--- Whether two results are the same; numbers within what rounding may do.
function trial.same(a, b)
  if type(a) == "number" and type(b) == "number" then
    return a == b or math.abs(a - b) <= 1e-5 * math.max(math.abs(a), math.abs(b))
  end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do if not trial.same(value, b[key]) then return false end end
  for key in pairs(b) do if a[key] == nil then return false end end
  return true
end

--- Lets go of the events of commands that have ended, of which a queue that nobody waits for knows nothing, and reports
-- what they left to report.
local function settle(place)
  local device = cl.device(place)
  pcall(device.wait, device)
end

local function live()
  collectgarbage()
  collectgarbage()
  return #count.live()
end

--- A tally of nothing so far.
function trial.tally() return { faults = 0, leaked = 0, swallowed = 0, broken = 0, turn = 0, texts = {} } end

--- Notes a fault that came out wrong: "leaked", "swallowed" or "broken".
function trial.note(tally, kind, scenario, place, fault, message)
  tally[kind] = tally[kind] + 1
  tally.texts[#tally.texts + 1] = ("%s on %s: %s: %s: %s"):format(scenario.name, place, fault, kind, message)
end

--- Runs a scenario, which must give what is expected, until it leaves as many handles as before; keeps their number.
function trial.begin(tally, scenario, place)
  for _ = 1, 2 do
    trial.close(scenario, place)
    local result = scenario.run(trial.subject(scenario, place))
    if not trial.same(scenario.expect, result) then error(scenario.name .. ": wrong without a fault", 0) end
  end
  settle(place)
  trial.close(scenario, place)
  tally.live = live()
end

--- After a fault: the scenario must run as if nothing had been, and leave no more handles than before.
function trial.check(tally, scenario, place, fault)
  settle(place)
  trial.close(scenario, place)
  local ok, result = pcall(scenario.run, trial.subject(scenario, place))
  if not ok or not trial.same(scenario.expect, result) then
    trial.note(tally, "broken", scenario, place, fault, ok and "afterwards the result is wrong" or tostring(result))
  end
  settle(place)
  trial.close(scenario, place)
  local left = live()
  if left > tally.live then
    trial.note(tally, "leaked", scenario, place, fault, left - tally.live .. " handles")
    tally.live = left
  end
end

return trial
