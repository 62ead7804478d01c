-- SPDX-License-Identifier: MIT
--- The most operations a second that a device does: a loop of multiply-adds, whose results are checked.
-- @module clcompute.bench.peak_flops

local fastest = require "clcompute.bench.fastest"

local CHAINS, UNROLL = 12, 8
local MAX_STEPS = 1 << 20 -- x counts to UNROLL times as much, which a float still does exactly
local FORMATS = { float = "f", double = "d" }

--- Packed numbers first, first + 1, ...
local function counting(dtype, first, n)
  local numbers = {}
  for i = 1, n do numbers[i] = string.pack(FORMATS[dtype], first + i - 1) end
  return table.concat(numbers)
end

--- The core of a processor runs a work-item after the other, another device thousands at once.
local function range_of(device)
  if device.type == "cpu" then return { global = 8 * device.compute_units, group = 1 } end
  return { global = 2048 * device.compute_units, group = math.min(256, device.max_group_size) }
end

--- @tparam Device device
-- @string dtype "float" or "double"
-- @number seconds that it may take, about
-- @treturn number operations a second; a multiply-add is two
return function(device, dtype, seconds)
  local width = math.max(1, device["vector_width_" .. dtype])
  local lanes, range = width * CHAINS, range_of(device)
  local fma = device:kernel("peak_fma", { dtype = dtype,
    defines = { WIDTH = width, CHAINS = CHAINS, UNROLL = UNROLL } })
  local start <close> = device:buffer(counting(dtype, 1, lanes), dtype, lanes)
  local out <close> = device:empty(dtype, lanes * range.global)
  local function launch(steps) fma(range, steps, 1, 1, start, out) end
  local steps = fastest.size(device, 1, MAX_STEPS, seconds, launch)
  local took = fastest.of(device, seconds, function() launch(steps) end)
  if out:string() ~= counting(dtype, 1 + steps * UNROLL, lanes):rep(range.global) then
    error("peak_fma computes a wrong result on " .. device.name, 0)
  end
  return 2 * steps * UNROLL * lanes * range.global / took
end
