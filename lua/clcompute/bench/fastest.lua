-- SPDX-License-Identifier: MIT
--- The fastest of several runs, which is what a peak is, and the size of work that is long enough to time.
-- @module clcompute.bench.fastest

local Candidate = require "clcompute.bench.candidate"

local fastest = {}

local RUNS = 7

--- Seconds of a call in the fastest run.
-- @tparam Device device
-- @number seconds for all runs, about
-- @tparam function fn queues the work
-- @raise when fn does
function fastest.of(device, seconds, fn)
  local candidate = Candidate.new { fn = fn, device = device }
  candidate:calibrate(seconds / RUNS)
  for _ = 1, RUNS do
    if candidate.status == "ok" then candidate:run() end
  end
  if candidate.status ~= "ok" then error(candidate.reason, 0) end
  return math.min(table.unpack(candidate.times))
end

--- Doubles a size from `least` until launch(size) lasts a run's share of the seconds, or `most` is reached:
-- small work would measure the launch, and a simulator could not do the large.
-- @treturn integer the size
function fastest.size(device, least, most, seconds, launch)
  local size = least
  launch(size) -- builds, or has the driver compile
  while size < most do
    local candidate = Candidate.new { fn = function() launch(size) end, device = device }
    candidate:run()
    if candidate.status ~= "ok" then error(candidate.reason, 0) end
    if candidate.times[1] >= seconds / RUNS then break end
    size = math.min(2 * size, most)
  end
  return size
end

return fastest
