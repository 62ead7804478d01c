-- SPDX-License-Identifier: MIT
--- The most bytes a second that a device moves: a copy, and an update in place, both of buffers larger than
-- the cache that it tells of, where its memory has room for two. The faster one is the peak: a store that
-- begins with a load, as a CPU's to fresh lines does, moves bytes that nobody counts.
-- @module clcompute.bench.peak_bandwidth

local fastest = require "clcompute.bench.fastest"

local GROUP, UNROLL = 256, 4
local LEAST, MOST = 1 << 18, 1 << 26 -- floats of a buffer, unless the cache is larger
local PROBE = 1024                   -- floats at either end that are checked

--- Elements of the smallest and the largest buffer to try: the smallest exceeds the cache, and two of the
-- largest take an eighth of the memory at most.
local function range_of(device)
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

--- Bytes a second, each element read and written. The update comes after the copy, of which it needs the
-- values.
-- @tparam Device device
-- @number seconds that it may take, about
-- @treturn number bytes a second
-- @treturn integer bytes of a buffer that was copied
return function(device, seconds)
  local defines = { WIDTH = math.max(4, device.vector_width_float), UNROLL = UNROLL,
    GROUP = math.min(GROUP, device.max_group_size), NEGATE = 0 }
  local copy = device:kernel("peak_copy", { defines = defines })
  defines.NEGATE = 1
  local update = device:kernel("peak_copy", { defines = defines })
  local share, least, most = defines.WIDTH * UNROLL, range_of(device)
  local from <close> = device:random("float", most, { seed = 1, low = -1 })
  local to <close> = device:zeros("float", most)

  local n = fastest.size(device, least, most, seconds, function(size) copy(size // share, from, to) end)
  local copied = fastest.of(device, seconds / 2, function() copy(n // share, from, to) end)
  check(device, from, to, n, 1)
  local times = 0
  local updated = fastest.of(device, seconds / 2, function()
    times = times + 1
    update(n // share, to, to)
  end)
  check(device, from, to, n, times % 2 == 0 and 1 or -1)
  return 2 * 4 * n / math.min(copied, updated), 4 * n
end
