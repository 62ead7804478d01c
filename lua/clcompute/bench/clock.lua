-- SPDX-License-Identifier: MIT
--- The clock of a bench. Where OpenCL's loader is missing, functions of the host are still measured: by the
-- processor time of this process.
-- @module clcompute.bench.clock

local ok, cl = pcall(require, "clcompute")

local clock = {}

--- Seconds from an arbitrary start.
clock.now = ok and cl.clock or os.clock

--- The library, or nil where it does not load.
clock.library = ok and cl or nil

--- The current date and time, ISO 8601, UTC.
function clock.date()
  return os.date "!%Y-%m-%dT%H:%M:%SZ"
end

return clock
