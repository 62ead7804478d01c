-- SPDX-License-Identifier: MIT
--- Random functions do on a device, and with some nests there and some in Lua, what they do in Lua: every bit of every
-- array.

local helper = require "spec.helper"
local loops = require "clcompute.loops"
local profitability = require "clcompute.loops.runtime.profitability"
local random_nests = require "spec.support.random_nests"
local shapes = require "spec.support.loop_shapes"

local is_long = os.getenv "LONG" ~= nil

local function copy(value)
  if type(value) ~= "table" then return value end
  local list = {}
  for i, item in ipairs(value) do list[i] = copy(item) end
  return list
end

local function copies(values)
  local list = {}
  for i, value in ipairs(values) do list[i] = copy(value) end
  return list
end

--- A copy in which integers become floats where floats are, as in a buffer of doubles. (The smallest integer is its own
-- absolute value, the float is not.)
local function doubles(value)
  if type(value) ~= "table" or math.type(value[1]) == "integer" then return copy(value) end
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

--- Whether two numbers are the same as numbers of the second one's type: NaN is NaN, -0.0 is not 0.0.
local function same(expected, got)
  if math.type(got) == "float" then expected = expected * 1.0 end
  if expected ~= expected then return got ~= got end
  return expected == got and (expected ~= 0 or 1 / expected == 1 / got)
end

--- Arrays on a device, as their elements are; numbers as they are.
local function buffers(values, device)
  local list = {}
  for i, value in ipairs(values) do
    if type(value) == "table" then
      local first = type(value[1]) == "table" and value[1][1] or value[1]
      list[i] = device:buffer(value, math.type(first) == "integer" and "long" or "double")
    else
      list[i] = value
    end
  end
  return list
end

--- Runs f while each nest is told at random where to run.
local function at_random(f, ...)
  local decide = profitability.decide
  profitability.decide = function(plan)
    local verdict = { on_device = {}, reasons = {} }
    for i in ipairs(plan.kernels) do verdict.on_device[i], verdict.reasons[i] = math.random(2) == 1, "by chance" end
    return verdict
  end
  local ok, message = pcall(f, ...)
  profitability.decide = decide
  assert(ok, message)
end

local function is_equal(expected, got)
  if type(got) ~= "table" then return same(expected, got) end
  for i, item in ipairs(got) do
    if not is_equal(expected[i], item) then return false end
  end
  return true
end

local function compare(expected, got, seed, text)
  for i, value in ipairs(got) do
    assert(is_equal(expected[i], value), ("seed %d, argument %d\n%s"):format(seed, i, text))
  end
end

helper.describe_each("a random function", function(device)
  local count, n = 20, 6
  if helper.is_simulator(device) then count, n = 200, 3 end
  if is_long then count = 10 * count end

  it("does what it does in Lua", function()
    local launches = 0
    for _ = 1, count do
      local seed = math.random(1 << 30)
      math.randomseed(seed)
      local text = random_nests.text()
      local values = random_nests.arguments(n)
      local in_lua = assert(load(text))()
      local shape = shapes[math.random(#shapes)]
      local compiled = assert(loops.compile(in_lua, { device = device, force = true, target = shape.target,
        tiles = shape.tiles }))
      local expected, got = copies(values), copies(values)
      if pcall(in_lua, table.unpack(expected)) then -- integers without a float's fraction may be asked for bits
        compiled(table.unpack(got))
        compare(expected, got, seed, text)
      end
      expected = copies_in_doubles(values)
      if pcall(in_lua, table.unpack(expected)) then
        got = buffers(values, device)
        at_random(compiled, table.unpack(got))
        for i, value in ipairs(got) do got[i] = type(value) == "userdata" and value:read() or value end
        compare(expected, got, seed, text)
      end
      launches = launches + compiled:stats().launches
    end
    assert.is_true(launches > count, "few were parallel")
  end)
end)
