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

--- Calls f(...) while profiling.
-- @treturn table|nil seconds of `compile`, `upload`, `kernel`, `download`; nil where that cannot be
--  known: without OpenCL, or while the script itself profiles
-- @return what f returned
function split.of(f, ...)
  local cl = clock.library
  if not is_free(cl) then return nil, f(...) end
  cl.profile(true)
  local results = table.pack(pcall(f, ...))
  local rows = cl.profile()
  cl.profile(true) -- leaves no rows of ours behind
  cl.profile(false)
  if not results[1] then error(results[2], 0) end
  local seconds = { compile = 0, upload = 0, kernel = 0, download = 0 }
  for _, row in ipairs(rows) do
    local part = PARTS[row.kind]
    if part then seconds[part] = seconds[part] + row.total end
  end
  return seconds, table.unpack(results, 2, results.n)
end

return split
