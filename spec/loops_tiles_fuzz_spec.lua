-- SPDX-License-Identifier: MIT
--- Random nests that become tiles do on a device what they do in Lua: every bit of every array in exact mode, within a
-- bound of the error in fast mode. LONG=1 runs ten times as many.

local copies = require "spec.support.copies"
local helper = require "spec.helper"
local loops = require "clcompute.loops"
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
    group = most(5) } }
end

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
  { name = "fast mode", mode = "fast", expected = function(values) return copies.of(values, with_error) end,
    got = function(values, device) return copies.in_buffers(values, device, "float") end,
    same = running_error.allows },
}

--- Oclgrind 21 does not know what its own compiler makes of some loops.
local function is_unknown(message, device)
  return helper.is_simulator(device) and tostring(message):find("CL_INVALID_KERNEL_NAME", 1, true)
end

--- Tries a function; returns how many launches there were.
local function try(way, device, n)
  local seed = math.random(1 << 30)
  math.randomseed(seed)
  local text, shape = random_tiles.text(way.mode == "fast"), random_shape()
  local compiled = assert(loops.compile(text, { device = device, force = true, mode = way.mode, target = shape.target,
    tiles = shape.tiles }))
  for _ = 1, 2 do -- sizes of blocks are kept from one call to the next
    local values = random_tiles.arguments(math.random(0, n))
    local expected, got = way.expected(values), way.got(values, device)
    assert(load(text))()(table.unpack(expected))
    local ok, message = pcall(compiled, table.unpack(got))
    if not ok and is_unknown(message, device) then return 0 end
    for i, value in ipairs(ok and copies.read(got) or {}) do
      if ok and not copies.are_equal(expected[i], value, way.same) then
        ok, message = false, ("argument %d is another one"):format(i)
      end
    end
    assert(ok, ("seed %d, n = %d, %s, %s\n%s"):format(seed, values[#values], way.name, message, text))
  end
  return compiled:stats().launches
end

helper.describe_each("a random nest in tiles", function(device)
  local count, n = 2, 20
  if helper.is_simulator(device) then count, n = 20, 7 end
  if is_long then count = 10 * count end

  for _, way in ipairs(WAYS) do
    it("does in " .. way.name .. " what it does in Lua", function()
      local launches = 0
      for _ = 1, count do launches = launches + try(way, device, n) end
      assert.is_true(launches > 0, "none were parallel")
    end)
  end
end)
