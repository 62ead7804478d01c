-- SPDX-License-Identifier: MIT

--- How large a buffer must be for its reads to come from memory, not from a cache, and may be.
-- @module clcompute.device_profile.large

local TIMES = 4 -- the cache
local LEAST = { cpu = 1 << 26, gpu = 1 << 31 } -- the caches of a GPU hold more than its driver tells
local SHARE = 16 -- of the memory

--- Bytes, a power of two.
-- @tparam table device or its facts: `type`, `cache`, `max_allocation`, `global_memory`
-- @treturn integer
return function(device)
  local wanted = math.max(TIMES * device.cache, LEAST[device.type] or LEAST.gpu)
  local most = math.min(device.max_allocation // 2, device.global_memory // SHARE)
  local bytes = 4096
  while bytes < wanted and 2 * bytes <= most do bytes = 2 * bytes end
  return bytes
end
