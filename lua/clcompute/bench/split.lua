-- SPDX-License-Identifier: MIT
--- Where a call spends its time, by the rows of `cl.profile()`.
-- @module clcompute.bench.split

local clock = require "clcompute.bench.clock"

local split = {}

--- What each kind of row counts as. Copies and fills within a device are its work, as kernels are.
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

--- Calls f(...) while profiling.
-- @treturn table|nil seconds of `compile`, `upload`, `kernel`, `download`; nil where that cannot be
--  known: without OpenCL, while the script itself profiles, or when f did nothing that the profile sees
-- @return what f returned
-- @raise what f raises, or a command that failed; profiling is off again then
function split.of(f, ...)
  local cl = clock.library
  if not is_free(cl) then return nil, f(...) end
  local rows
  local function read(...)
    rows = cl.profile() -- waits, so it may raise too
    return ...
  end
  cl.profile(true)
  local results = table.pack(pcall(function(...) return read(f(...)) end, ...))
  stop(cl)
  if not results[1] then error(results[2], 0) end
  return sum_parts(rows), table.unpack(results, 2, results.n)
end

return split
