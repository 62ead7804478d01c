-- SPDX-License-Identifier: MIT
--- The clocks of a bench: the host's, and the library's profile, which tells where a call spends its time. Where
-- OpenCL's loader is missing, functions of the host are still measured: by the processor time of this process.
-- @module clcompute.bench.clock

local found, library = pcall(require, "clcompute")

local clock = {}

--- Seconds from an arbitrary start.
clock.now = found and library.clock or os.clock

--- The library, or nil where it does not load.
clock.library = found and library or nil

--- The current date and time, ISO 8601, UTC.
function clock.date()
  return os.date "!%Y-%m-%dT%H:%M:%SZ"
end

-- --- the parts of a call --------------------------------------------------------

-- What each kind of row of `cl.profile()` counts as. Copies and fills within a device are its work, as kernels are.
local PARTS = { build = "compile", write = "upload", kernel = "kernel", copy = "kernel", fill = "kernel",
  read = "download" }

--- Whether this library profiles, and its user does not: his rows must not be cleared.
local function is_free(cl)
  local rows = cl and cl.profile and cl.profile()
  return rows ~= nil and #rows == 0 and not rows.on
end

--- Stops profiling and leaves no rows of ours behind.
local function stop(cl)
  cl.profile(false)
  cl.profile(true) -- clears
  cl.profile(false)
end

local function sum_parts(rows)
  if #rows == 0 then return nil end
  local seconds = { compile = 0, upload = 0, kernel = 0, download = 0 }
  for _, row in ipairs(rows) do
    local part = PARTS[row.kind]
    if part then seconds[part] = seconds[part] + row.total end
  end
  return seconds
end

--- Ends a profile once: as its scope ends, as a coroutine that f yielded from is closed, or else as it is collected.
local Guard = {}

function Guard.__close(self)
  local cl = self.cl
  self.cl = nil
  if cl then stop(cl) end
end
Guard.__gc = Guard.__close

--- Calls f(...) while profiling.
-- @treturn table|nil seconds of `compile`, `upload`, `kernel`, `download`; nil where that cannot be
--  known: without OpenCL, while the script itself profiles, or when f did nothing that the profile sees
-- @return what f returned
-- @raise what f raises, or a command that failed; profiling is off again then. After f yielded in a coroutine that
--  nobody resumes it is off when that is closed or collected
function clock.split(f, ...)
  local cl = clock.library
  if not is_free(cl) then return nil, f(...) end
  local guard <close> = setmetatable({ cl = cl }, Guard) -- luacheck: ignore 211
  cl.profile(true)
  local results = table.pack(f(...))
  local rows = cl.profile() -- waits, so it may raise too
  return sum_parts(rows), table.unpack(results, 1, results.n)
end

return clock
