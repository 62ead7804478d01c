-- SPDX-License-Identifier: MIT
--- The most bytes a second that a device moves: a copy, and an update in place, both of more than its
-- caches hold where there is memory for it. The faster one is the peak: a store that begins with a load,
-- as a CPU's to fresh lines does, moves bytes that nobody counts.
-- @module clcompute.bench.peak_bandwidth

local fastest = require "clcompute.bench.fastest"

local GROUP, UNROLL = 256, 4
local LEAST, MOST = 1 << 18, 1 << 26 -- floats of a buffer
local PROBE = 1024                   -- floats at either end that are checked

--- Elements of the largest buffer to try: two of them take an eighth of the memory at most.
local function most_elements(device)
  local limit = math.min(device.global_memory // 64, device.max_allocation // 4, MOST)
  local n = LEAST
  while 2 * n <= limit do n = 2 * n end
  return n
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
return function(device, seconds)
  local defines = { WIDTH = math.max(4, device.vector_width_float), UNROLL = UNROLL,
    GROUP = math.min(GROUP, device.max_group_size), NEGATE = 0 }
  local copy = device:kernel("peak_copy", { defines = defines })
  defines.NEGATE = 1
  local update = device:kernel("peak_copy", { defines = defines })
  local share, most = defines.WIDTH * UNROLL, most_elements(device)
  local from <close> = device:random("float", most, { seed = 1, low = -1 })
  local to <close> = device:zeros("float", most)

  local n = fastest.size(device, LEAST, most, seconds, function(size) copy(size // share, from, to) end)
  local copied = fastest.of(device, seconds / 2, function() copy(n // share, from, to) end)
  check(device, from, to, n, 1)
  local times = 0
  local updated = fastest.of(device, seconds / 2, function()
    times = times + 1
    update(n // share, to, to)
  end)
  check(device, from, to, n, times % 2 == 0 and 1 or -1)
  return 2 * 4 * n / math.min(copied, updated)
end
