-- SPDX-License-Identifier: MIT
--- The fastest of several runs, which is what a peak is, and the size of work that is long enough to time.
-- @module clcompute.bench.fastest

local Candidate = require "clcompute.bench.candidate"

local fastest = {}

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
function fastest.of(device, seconds, fn)
  local candidate = Candidate.new { fn = fn, device = device }
  best_of(candidate, 1) -- builds, or has the driver compile
  candidate:calibrate(seconds / RUNS)
  return best_of(candidate, RUNS)
end

--- Doubles a size from `least` until launch(size) lasts a run's share of the seconds, or `most` is reached:
-- small work would measure the launch, and a simulator could not do the large. The first launch of each size
-- is not timed: a driver may compile for it, as POCL does where the global size reaches 65536.
-- @treturn integer the size
function fastest.size(device, least, most, seconds, launch)
  local size = least
  local candidate = Candidate.new { fn = function() launch(size) end, device = device }
  while size < most do
    best_of(candidate, 1)
    if best_of(candidate, TRIALS) >= seconds / RUNS then break end
    size = math.min(2 * size, most)
  end
  return size
end

return fastest
