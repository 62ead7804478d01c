-- SPDX-License-Identifier: MIT
--- Whatever fails, nothing is lost and nothing hidden: OpenCL calls by the counting layer, allocations of Lua by a host of
-- their own. LONG=1 (`make faults`) tries every call with every code; else a sample.

local calls = require "spec.support.faults.calls"
local count = require "clcount"
local helper = require "spec.helper"
local scenarios = require "spec.support.faults.scenarios"

local LONG = os.getenv "LONG" ~= nil

local SHOWN = 20 -- texts of a failure

local function line(what, tally)
  print(("faults: %d of %s: %d leaked, %d swallowed, %d left something broken"):format(tally.faults, what, tally.leaked,
    tally.swallowed, tally.broken))
end

local function assert_clean(tally, least)
  local text = table.concat(tally.texts, "\n", 1, math.min(#tally.texts, SHOWN))
  assert.is_true(tally.faults >= least, tally.faults .. " faults are too few")
  assert.equal(0, tally.leaked + tally.swallowed + tally.broken, text)
end

--- Scenarios that do not take too long.
local function fitting(is_simulator)
  local list = {}
  for _, scenario in ipairs(scenarios) do
    if not (scenario.heavy and is_simulator) then list[#list + 1] = scenario end
  end
  return list
end

helper.describe_each("a fault", function(device)
  local place, platform, is_simulator = device.place, device.platform, helper.is_simulator(device)
  local chosen = fitting(is_simulator) -- the device itself is closed by cold ones

  teardown(function() count.fail() end)

  it("of any OpenCL call is told of, loses no handle, and leaves all else working", function()
    local stride = LONG and (is_simulator and 1 or 5) or (is_simulator and 29 or 61)
    local tally = calls.run(chosen, place, stride)
    line("calls on " .. platform, tally)
    assert_clean(tally, LONG and 2000 or 100)
    assert.equal(0, count.bad())
  end)

  it("of Lua's memory is told of, loses no handle, and leaves all else working", function()
    if os.getenv "SANITIZED" then return pending "the host of these faults is not built with sanitizers" end
    local stride = LONG and (is_simulator and 5 or 11) or (is_simulator and 97 or 211)
    local pipe = assert(io.popen(("build/lua-faults spec/support/faults/allocate.lua %s %d %s 2>&1"):format(place, stride,
      is_simulator and "light" or "heavy")))
    local tally, texts = {}, {}
    for text in pipe:lines() do
      if tally.faults then texts[#texts + 1] = text ~= "" and text or nil end
      for name, value in text:gmatch "(%l+)=(%d+)" do tally[name] = tally[name] or math.tointeger(value) end
      if not tally.faults then texts[#texts + 1] = text end
    end
    tally.texts = texts
    assert.is_true(pipe:close(), table.concat(texts, "\n"))
    line("allocations on " .. platform, tally)
    assert_clean(tally, LONG and 1500 or 100)
  end)
end)
