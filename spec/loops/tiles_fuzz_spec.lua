-- SPDX-License-Identifier: MIT
--- Random nests that become tiles, and random loops that go in rounds, do on a device what they do in Lua: every bit of
-- every array in exact mode, within a bound of the error in fast mode. LONG=1 runs twenty times as many.

local copies = require "spec.support.copies"
local decision = require("clcompute.loops.runtime").decision
local helper = require "spec.helper"
local loops = require "clcompute.loops"
local random_rounds = require "spec.support.random_rounds"
local random_tiles = require "spec.support.random_tiles"
local running_error = require "spec.support.running_error"
local shapes = require "spec.support.loop_shapes"

local is_long = os.getenv "LONG" ~= nil

--- A shape of those that there are, or of numbers by chance.
local function random_shape()
  if math.random(3) > 1 then return shapes[math.random(#shapes)] end
  local function most(n) return math.random(n) end
  return { target = math.random(3) == 1 and "gpu" or "cpu", tiles = { vector = 1 << most(4) - 1, rows = most(4),
    columns = most(3), lane = most(9), block = most(9), least = most(9), small = most(40), blocks = most(20),
    passes = most(9), cache = 1 << most(12), jam = most(5), group = most(5), depth = most(4) } }
end

--- Numbers with which a few rows make several pieces, and a few passes several rounds.
local function random_rounds_shape()
  return { target = "cpu", tiles = { vector = 1 << math.random(4) - 1, passes = math.random(2, 6),
    cache = 1 << math.random(12), blocks = 1 } }
end

local TILES = { random = random_tiles, shape = random_shape, least = 0 }
local ROUNDS = { random = random_rounds, shape = random_rounds_shape, least = 4 }

--- A list whose numbers become floats as they are stored, rounded by `round`, as in a buffer.
local function storing(round)
  return function(list)
    if math.type(list[1]) == "integer" then return list end
    return setmetatable({}, { __index = list, __newindex = function(_, i, value) list[i] = round(value * 1.0) end })
  end
end

local function single(value)
  return math.type(value) == "float" and string.unpack("f", string.pack("f", value)) or value
end

local function with_error(value)
  return math.type(value) == "float" and running_error.number(value) or value
end

--- Arguments whose numbers know their error: those by themselves too, which a device takes as floats.
local function all_with_error(values)
  local list = copies.of(values, with_error)
  for i, value in ipairs(list) do
    if math.type(value) == "float" then list[i] = running_error.number(value) + 0.0 end
  end
  return list
end

--- What is tried in turn: how Lua's arguments are made of values, and the device's.
local WAYS = {
  { name = "tables", mode = "exact", expected = function(values) return copies.of(values) end,
    got = function(values) return copies.of(values) end },
  { name = "buffers of doubles", mode = "exact",
    expected = function(values) return copies.of(values, nil, storing(function(value) return value end)) end,
    got = function(values, device) return copies.in_buffers(values, device, "double") end },
  { name = "buffers of floats", mode = "exact",
    expected = function(values) return copies.of(values, single, storing(single)) end,
    got = function(values, device) return copies.in_buffers(values, device, "float") end },
  { name = "fast mode", mode = "fast", expected = all_with_error,
    got = function(values, device) return copies.in_buffers(values, device, "float") end,
    same = running_error.allows },
}

--- Oclgrind 21 does not know what its own compiler makes of some loops.
local function is_unknown(message, device)
  return helper.is_simulator(device) and tostring(message):find("CL_INVALID_KERNEL_NAME", 1, true)
end

local function goes_in_rounds(compiled) return compiled:source():find("kernel void round_", 1, true) ~= nil end

--- Tries a function; returns how many launches there were, and whether some were of rounds. Loops that do not go in
-- rounds run by `make long` alone: other specs have such loops.
local function try(kind, way, device, n, known)
  local seed = known or math.random(1 << 30)
  math.randomseed(seed)
  local text, shape = kind.random.text(way.mode == "fast"), kind.shape()
  local compiled = assert(loops.compile(text, { device = device, force = true, mode = way.mode, target = shape.target,
    tiles = shape.tiles }))
  if kind == ROUNDS and not is_long and not goes_in_rounds(compiled) then return 0, false end
  for _ = 1, 2 do -- sizes of blocks are kept from one call to the next
    local values = kind.random.arguments(math.random(kind.least, n))
    local expected, got = way.expected(values), way.got(values, device)
    assert(load(text))()(table.unpack(expected))
    local ok, message = pcall(compiled, table.unpack(got))
    if not ok and is_unknown(message, device) then return 0, false end
    for i, value in ipairs(ok and copies.read(got) or {}) do
      if ok and not copies.are_equal(expected[i], value, way.same) then
        ok, message = false, ("argument %d is another one"):format(i)
      end
    end
    assert(ok, ("seed %d, n = %d, %s, %s\n%s"):format(seed, values[#values], way.name, message, text))
  end
  return compiled:stats().launches, goes_in_rounds(compiled)
end

helper.describe_each("a random nest in tiles", function(device)
  local count, n = 1, 20
  if helper.is_simulator(device) then count, n = 3, 7 end
  if is_long then count = 40 * count end

  for _, way in ipairs(WAYS) do
    it("does in " .. way.name .. " what it does in Lua", function()
      local tries, launches = 0, 0
      while tries < count or launches == 0 and tries < 20 * count do
        tries, launches = tries + 1, launches + try(TILES, way, device, n)
      end
      assert.is_true(launches > 0, "none were parallel")
    end)
  end

  it("is right where Oclgrind had vectors wrong", function()
    try(TILES, WAYS[1], device, 7, 879510817)
    try(TILES, WAYS[4], device, 7, 799999371)
  end)
end)

--- Runs a function with each task that its plan has.
local function in_tasks(f, ...)
  local make = decision.make
  decision.make = function(_, spec)
    local on_device = {}
    for i in ipairs(spec.plan.kernels) do on_device[i] = true end
    return { on_device = on_device, reasons = {}, is_spread = on_device }
  end
  local ok, message = pcall(f, ...)
  decision.make = make
  return ok, message
end

describe("a random function as one work-item", function()
  local device = helper.device()

  for _, way in ipairs { WAYS[1], WAYS[2], WAYS[3] } do
    it("does in " .. way.name .. " what it does in Lua", function()
      if device.type ~= "cpu" then return pending "no processor is here" end
      for _ = 1, is_long and 80 or 3 do
        local seed = math.random(1 << 30)
        math.randomseed(seed)
        local text = random_tiles.text(false, true)
        local compiled <close> = assert(loops.compile(text, { device = device, mode = way.mode }))
        local values = random_tiles.arguments(math.random(3, 20))
        local expected, got = way.expected(values), way.got(values, device)
        assert(load(text))()(table.unpack(expected))
        local ok, message = in_tasks(compiled, table.unpack(got))
        for i, value in ipairs(ok and copies.read(got) or {}) do
          if not copies.are_equal(expected[i], value, way.same) then
            ok, message = false, ("argument %d is another one"):format(i)
          end
        end
        assert(ok, ("seed %d, n = %d, %s, %s\n%s"):format(seed, values[#values], way.name, message, text))
      end
    end)
  end
end)

helper.describe_each("a random loop in rounds", function(device)
  local count, n = 1, 60
  if helper.is_simulator(device) then count, n = 2, 24 end
  if is_long then count = 40 * count end

  for _, way in ipairs(WAYS) do
    it("does in " .. way.name .. " what it does in Lua", function()
      local tries, in_rounds = 0, 0
      while in_rounds < count and tries < 20 * count do -- one in two can go in rounds
        local _, is_in_rounds = try(ROUNDS, way, device, n)
        tries, in_rounds = tries + 1, in_rounds + (is_in_rounds and 1 or 0)
      end
      assert.equal(count, in_rounds)
    end)
  end
end)
