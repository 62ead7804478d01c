-- SPDX-License-Identifier: MIT
--- The most operations a second that a device does: a loop of multiply-adds, whose results are checked.
-- @module clcompute.bench.peak_flops

local fastest = require "clcompute.bench.fastest"

local CHAINS, UNROLL = 12, 8
local MAX_STEPS = 1 << 20 -- x counts to UNROLL times as much, which a float still counts exactly
-- Up to where an element counts by ones; it stays there, for what is halfway is rounded to the even number.
local LIMITS = { half = 2048 }

--- Packed numbers first, first + 1, ..., each at most what its type counts to.
local function counting(device, dtype, first, n)
  local numbers, limit = {}, LIMITS[dtype] or math.huge
  for i = 1, n do numbers[i] = math.min(first + i - 1, limit) end
  local buffer <close> = device:buffer(numbers, dtype)
  return buffer:string()
end

--- Elements of the vectors that suit the device; a device does not tell them of each dtype.
local function width_of(device, dtype)
  if dtype == "half" then return math.min(16, 2 * width_of(device, "float")) end
  return math.max(1, dtype == "double" and device.vector_width_double or device.vector_width_float)
end

--- The core of a processor runs a work-item after the other, another device thousands at once.
local function range_of(device)
  if device.type == "cpu" then return { global = 8 * device.compute_units, group = 1 } end
  return { global = 2048 * device.compute_units, group = math.min(256, device.max_group_size) }
end

--- @tparam Device device
-- @string dtype "float", "double", "half" or "int"
-- @number seconds that it may take, about
-- @treturn number operations a second; a multiply-add is two
return function(device, dtype, seconds)
  if dtype == "half" and not device.has_half then error("peak_fma: this device has no half precision", 0) end
  local width = width_of(device, dtype)
  local lanes, range = width * CHAINS, range_of(device)
  local fma = device:kernel("peak_fma", { dtype = dtype,
    defines = { WIDTH = width, CHAINS = CHAINS, UNROLL = UNROLL, INTEGER = dtype == "int" and 1 or 0 } })
  local start <close> = device:buffer(counting(device, dtype, 1, lanes), dtype, lanes)
  local out <close> = device:empty(dtype, lanes * range.global)
  local function launch(steps) fma(range, steps, 1, 1, start, out) end
  local steps = fastest.size(device, 1, MAX_STEPS, seconds, launch)
  local took = fastest.of(device, seconds, function() launch(steps) end)
  if out:string() ~= counting(device, dtype, 1 + steps * UNROLL, lanes):rep(range.global) then
    error("peak_fma computes a wrong result on " .. device.name, 0)
  end
  return 2 * steps * UNROLL * lanes * range.global / took
end
