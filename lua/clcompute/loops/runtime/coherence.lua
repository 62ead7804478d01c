-- SPDX-License-Identifier: MIT

--- Where the values of an array are right during a call: on the host, on the device, or on both.
--
-- Copies happen when a side that is not valid is about to be used, and make it valid; a write makes the other side
-- invalid. So a copy between launches in a loop happens once, and what is never used is never copied.
-- @module clcompute.loops.runtime.coherence

local coherence = {}

local Array = {}
Array.__index = Array

--- Counters of what calls did: `launches`, `uploads`, `downloads`, `bytes_up`, `bytes_down`.
function coherence.counters()
  return { launches = 0, uploads = 0, downloads = 0, bytes_up = 0, bytes_down = 0 }
end

--- An array of one call.
-- @tparam table array `bytes`; `host`, `device`: which sides are valid at the start, at least one; `upload` and
-- `download`: functions that copy; `counters`. `is_changed` tells whether it was written
function coherence.new(array)
  assert(array.host or array.device, "an array that is valid nowhere")
  return setmetatable(array, Array)
end

--- Before a kernel uses the array: its values are there.
function Array:to_device()
  if self.device then return end
  assert(self.host)
  self:upload()
  self.device = true
  self.counters.uploads = self.counters.uploads + 1
  self.counters.bytes_up = self.counters.bytes_up + self.bytes
end

--- Before Lua uses the array.
function Array:to_host()
  if self.host then return end
  assert(self.device)
  self:download()
  self.host = true
  self.counters.downloads = self.counters.downloads + 1
  self.counters.bytes_down = self.counters.bytes_down + self.bytes
end

--- After a kernel that writes part or all of it was queued.
function Array:written_on_device()
  self.device, self.host, self.is_changed = true, false, true
end

--- When Lua writes part or all of it.
function Array:written_on_host()
  self.host, self.device, self.is_changed = true, false, true
end

return coherence
