-- SPDX-License-Identifier: MIT
--- The most that a device does: the fastest of several runs of kernels whose results are checked.

local Candidate = require "clcompute.bench.candidate"
local interrupt = require("clcompute.base").interrupt
local timing = require "clcompute.bench.timing"

local peak = {}

--- Seconds of each peak that is not asked for by the script itself.
peak.SECONDS = 0.2

-- --- the fastest run ------------------------------------------------------------

local RUNS = 7
local TRIALS = 3 -- of a size: one could meet a pause of the machine and seem long enough

--- Runs a candidate so often.
-- @return seconds of a call in the fastest run
-- @raise why it failed
local function best_of(candidate, runs)
  candidate.times = {}
  for _ = 1, runs do
    if candidate.status == "ok" then candidate:run() end
  end
  if candidate.status ~= "ok" then error(candidate.reason, 0) end
  return math.min(table.unpack(candidate.times))
end

--- Seconds of a call in the fastest run.
-- @tparam Device device
-- @number seconds for all runs, about
-- @tparam function fn queues the work
-- @raise when fn does
function peak.of(device, seconds, fn)
  local candidate = Candidate.new { fn = fn, device = device }
  best_of(candidate, 1) -- builds, or has the driver compile
  candidate:calibrate(seconds / RUNS)
  return best_of(candidate, RUNS)
end

--- Doubles a size from `least` until launch(size) lasts a run's share of the seconds, or `most` is reached:
-- small work would measure the launch, and a simulator could not do the large. The first launch of each size
-- is not timed: a driver may compile for it, as POCL does where the global size reaches 65536.
-- @treturn integer the size
function peak.size(device, least, most, seconds, launch)
  local size = least
  local candidate = Candidate.new { fn = function() launch(size) end, device = device }
  while size < most do
    best_of(candidate, 1)
    if best_of(candidate, TRIALS) >= seconds / RUNS then break end
    size = math.min(2 * size, most)
  end
  return size
end

-- --- bytes ----------------------------------------------------------------------
--
-- A copy, and an update in place, both of buffers larger than the cache that the device tells of, where its memory has
-- room for two. The faster one is the peak: a store that begins with a load, as a CPU's to fresh lines does, moves
-- bytes that nobody counts.

local GROUP, VECTORS = 256, 4        -- work-items of a group, vectors of each
local LEAST, MOST = 1 << 18, 1 << 26 -- floats of a buffer, unless the cache is larger
local PROBE = 1024                   -- floats at either end that are checked

--- Elements of the smallest and the largest buffer to try: the smallest exceeds the cache, and two of the
-- largest take an eighth of the memory at most.
local function sizes_of(device)
  local limit = math.min(device.global_memory // 64, device.max_allocation // 4)
  local least = LEAST
  while 4 * least <= device.cache and 2 * least <= limit do least = 2 * least end
  local most = least
  while 2 * most <= math.min(limit, MOST) do most = 2 * most end
  return least, most
end

--- The elements at both ends of the first n.
local function ends_of(buffer, n)
  local values = buffer:read(1, PROBE)
  return table.move(buffer:read(n - PROBE + 1, n), 1, PROBE, PROBE + 1, values)
end

local function check(device, from, to, n, sign)
  local expected, found = ends_of(from, n), ends_of(to, n)
  for i, value in ipairs(expected) do
    if found[i] ~= sign * value then error("peak_copy computes a wrong result on " .. device.name, 0) end
  end
end

--- The most bytes a second, each element read and written. The update comes after the copy, of which it needs the
-- values.
-- @tparam Device device
-- @number seconds that it may take, about
-- @treturn number bytes a second
-- @treturn integer bytes of a buffer that was copied
function peak.bandwidth(device, seconds)
  local defines = { WIDTH = math.max(4, device.vector_width_float), UNROLL = VECTORS,
    GROUP = math.min(GROUP, device.max_group_size), IN_PLACE = 0 }
  local copy = device:kernel("peak_copy", { defines = defines })
  defines.IN_PLACE = 1
  local update = device:kernel("peak_copy", { defines = defines })
  local share, least, most = defines.WIDTH * VECTORS, sizes_of(device)
  local from <close> = device:random("float", most, { seed = 1, low = -1 })
  local to <close> = device:zeros("float", most)

  local n = peak.size(device, least, most, seconds, function(size) copy(size // share, from, to) end)
  local copied = peak.of(device, seconds / 2, function() copy(n // share, from, to) end)
  check(device, from, to, n, 1)
  local times = 0
  local updated = peak.of(device, seconds / 2, function()
    times = times + 1
    update(n // share, to)
  end)
  check(device, from, to, n, times % 2 == 0 and 1 or -1)
  return 2 * 4 * n / math.min(copied, updated), 4 * n
end

-- --- operations -----------------------------------------------------------------

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

--- The most operations a second, by a loop of multiply-adds whose results are checked.
-- @tparam Device device
-- @string dtype "float", "double", "half" or "int"
-- @number seconds that it may take, about
-- @treturn number operations a second; a multiply-add is two
function peak.flops(device, dtype, seconds)
  if dtype == "half" and not device.has_half then error("peak_fma: this device has no half precision", 0) end
  local width = width_of(device, dtype)
  local lanes, range = width * CHAINS, range_of(device)
  local fma = device:kernel("peak_fma", { dtype = dtype,
    defines = { WIDTH = width, CHAINS = CHAINS, UNROLL = UNROLL, INTEGER = dtype == "int" and 1 or 0 } })
  local start <close> = device:buffer(counting(device, dtype, 1, lanes), dtype, lanes)
  local out <close> = device:empty(dtype, lanes * range.global)
  local function launch(steps) fma(range, steps, 1, 1, start, out) end
  local steps = peak.size(device, 1, MAX_STEPS, seconds, launch)
  local took = peak.of(device, seconds, function() launch(steps) end)
  if out:string() ~= counting(device, dtype, 1 + steps * UNROLL, lanes):rep(range.global) then
    error("peak_fma computes a wrong result on " .. device.name, 0)
  end
  return 2 * steps * UNROLL * lanes * range.global / took
end

-- --- the peak of a candidate ------------------------------------------------------

--- A source of peaks, which measures each once.
-- @tparam boolean|table setting the option `peak` of `clcompute.bench`
-- @treturn function source(candidate): the peak of its device as far as the candidate needs it, or nil; and why a part
--  of it is not known
function peak.source(setting)
  local known = {}
  local function once(device, what, measure, ...)
    local key = what .. tostring(device)
    if not known[key] then
      local ok, value = pcall(measure, device, ...)
      if not ok then interrupt.pass_on(value) end
      known[key] = ok and { value = value } or { reason = interrupt.text(value) }
    end
    return known[key].value, known[key].reason
  end
  return function(candidate)
    local device, given = timing.single(candidate.target), candidate.options
    if not setting or not device or candidate.status ~= "ok" then return nil end
    if type(setting) == "table" then return setting end
    local dtype, found, no_flops, no_bytes = given.dtype or "float", {}, nil, nil
    if given.flops then found.flops, no_flops = once(device, dtype, peak.flops, dtype, peak.SECONDS) end
    if given.bytes then
      found.bytes_per_second, no_bytes = once(device, "bytes", peak.bandwidth, peak.SECONDS)
    end
    return found, no_flops or no_bytes
  end
end

return peak
