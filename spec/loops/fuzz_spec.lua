-- SPDX-License-Identifier: MIT
--- Random functions do on a device, and with some nests there and some in Lua, what they do in Lua: every bit of every
-- array.

local copies = require "spec.support.copies"
local decision = require("clcompute.loops.runtime").decision
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local profitability = require "clcompute.loops.runtime.profitability"
local random_nests = require "spec.support.random_nests"
local shapes = require "spec.support.loop_shapes"

local is_long = os.getenv "LONG" ~= nil

--- A copy in which integers become floats where floats are, as in a buffer of doubles. (The smallest integer is its own
-- absolute value, the float is not.)
local function doubles(value)
  if type(value) ~= "table" or math.type(value[1]) == "integer" then return copies.of({ value })[1] end
  local inner = {}
  for i, item in ipairs(value) do inner[i] = doubles(item) end
  if type(value[1]) == "table" then return inner end
  return setmetatable({}, { __index = inner, __newindex = function(_, i, item) inner[i] = item * 1.0 end })
end

local function copies_in_doubles(values)
  local list = {}
  for i, value in ipairs(values) do list[i] = doubles(value) end
  return list
end

--- Runs f while `choose` tells of each nest whether it runs on the device.
local function chosen(choose, f, ...)
  local decide, make = profitability.decide, decision.make
  profitability.decide = function(plan)
    local verdict = { on_device = {}, reasons = {} }
    for i in ipairs(plan.kernels) do verdict.on_device[i], verdict.reasons[i] = choose(), "by chance" end
    verdict.is_spread = verdict.on_device
    return verdict
  end
  decision.make = function(state, ...)
    local heuristics = state.options.heuristics
    state.options.heuristics = "none" -- so that no build is waited for
    local verdict = make(state, ...)
    state.options.heuristics = heuristics
    return verdict
  end
  local ok, message = pcall(f, ...)
  profitability.decide, decision.make = decide, make
  assert(ok, message)
end

local function at_random(...) chosen(function() return math.random(2) == 1 end, ...) end
local function everywhere(...) chosen(function() return true end, ...) end

local function compare(expected, got, seed, text)
  for i, value in ipairs(got) do
    assert(copies.are_equal(expected[i], value), ("seed %d, argument %d\n%s"):format(seed, i, text))
  end
end

helper.describe_each("a random function", function(device)
  local count, n = 5, 6
  if helper.is_simulator(device) then count, n = 40, 3 end
  if is_long then count = 50 * count end

  it("does what it does in Lua", function()
    local launches = 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_nests.text()
      local values = random_nests.arguments(n, text)
      local in_lua = assert(load(text))()
      local shape = shapes[math.random(#shapes)]
      -- Without `force` what is not parallel may be a task of one work-item.
      local compiled = assert(loops.compile(in_lua, { device = device, force = math.random(2) == 1 or nil,
        target = shape.target, tiles = shape.tiles }))
      local expected, got = copies.of(values), copies.of(values)
      if pcall(in_lua, table.unpack(expected)) then -- integers without a float's fraction may be asked for bits
        everywhere(compiled, table.unpack(got))
        compare(expected, got, seed, text)
      end
      expected = copies_in_doubles(values)
      if pcall(in_lua, table.unpack(expected)) then
        got = copies.in_buffers(values, device, "double")
        at_random(compiled, table.unpack(got))
        compare(expected, copies.read(got), seed, text)
      end
      launches = launches + compiled:stats().launches
    end
    assert.is_true(launches > count // 2, "few were parallel")
  end)
end)
