-- SPDX-License-Identifier: MIT

--- What the commands of a script took: the rows of cl.profile, and the table that shows them.
-- @module clcompute

local columns = require("clcompute.base").columns
local internal = require "clcompute.core.internal"

local Profile = {} -- metatable of the rows

local UNITS = { { "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 } }

--- Seconds in the unit that has at most three digits before the point, as they are printed.
local function time(seconds)
  if seconds == 0 then return "0 s" end
  for _, unit in ipairs(UNITS) do
    local text = ("%.2f"):format(seconds / unit[2])
    if tonumber(text) < 1000 or unit[1] == "s" then return text .. " " .. unit[1] end
  end
end

local function number(format, value)
  return value and format:format(value) or "-"
end

-- Heading, what stands below it, and on which side.
local COLUMNS = {
  { "name", function(row) return row.name end, "left" },
  { "kind", function(row) return row.kind end, "left" },
  { "device", function(row) return row.place .. " " .. row.device end, "left" },
  { "calls", function(row) return tostring(row.calls) end, "right" },
  { "total", function(row) return time(row.total) end, "right" },
  { "share", function(row) return number("%.1f %%", row.share and 100 * row.share) end, "right" },
  { "mean", function(row) return time(row.mean) end, "right" },
  { "min", function(row) return time(row.min) end, "right" },
  { "max", function(row) return time(row.max) end, "right" },
  { "MiB", function(row) return number("%.3f", row.bytes and row.bytes / 2 ^ 20) end, "right" },
}

local LONGEST = 40 -- columns of a cell

function Profile.__tostring(rows)
  if #rows == 0 then return "nothing was profiled" end
  local header, aligns, lines = {}, {}, {}
  for i, column in ipairs(COLUMNS) do header[i], aligns[i] = column[1], column[3] end
  for r, row in ipairs(rows) do
    lines[r] = {}
    for i, column in ipairs(COLUMNS) do lines[r][i] = column[2](row) end
  end
  return columns.format(header, lines, aligns, LONGEST)
end

local function longer_first(a, b)
  if a.total ~= b.total then return a.total > b.total end
  if a.name ~= b.name then return a.name < b.name end
  if a.kind ~= b.kind then return a.kind < b.kind end
  return a.place < b.place
end

--- Adds what follows from the others. Builds have no share: they are on another clock than the devices'.
local function complete(rows)
  local sum = 0
  for _, row in ipairs(rows) do
    if row.kind ~= "build" then sum = sum + row.total end
  end
  for _, row in ipairs(rows) do
    row.mean = row.total / row.calls
    if row.kind ~= "build" then row.share = sum > 0 and row.total / sum or 0.0 end
  end
  table.sort(rows, longer_first)
  return setmetatable(rows, Profile)
end

--- What the commands of this Lua state took on their devices, by kernel and kind of transfer, and how long
-- programs took to build. profile(true) clears what was counted and starts, profile(false) stops, profile()
-- returns what was counted of the commands queued in between; it waits for all queues of this state's
-- devices first. What a closed device did stays; a command that failed is not there, nor what a further
-- queue was still at when it was collected.
--
-- A row: `name` (of the kernel or program; a transfer's is its kind); `kind`: "kernel", "write", "read",
-- "copy", "fill" or "build"; `device` (its name), `place` ("0:1", as selectors have it); `calls` (a launch
-- that was split is one); `total`, `mean`, `min`, `max` of a call in seconds; `share`, 0 to 1, of the time
-- of all commands; `bytes`.
--
-- Times are the device's own, from the start of a command to its end: neither waiting in the queue nor the
-- host's part, such as the copy of data that a queued write makes. Some drivers (POCL) measure 0 for short
-- commands. "build" is wall time of compiling, or of loading what was kept; POCL compiles again at the
-- first launch, which shows nowhere. Times of two queues that ran at once are both counted, so the sum may
-- exceed the time that passed.
--
-- `bytes` of transfers are those moved. Of a kernel they are the sizes of the buffers (a view's own) passed
-- as its arguments, each once a call: what it would move if it touched each element once. It is no
-- measurement: a kernel may touch some only, or some often, or write back what it has read. A "build" has
-- neither share nor bytes.
-- @function profile
-- @tparam[opt] boolean on start or stop; absent: return what was counted
-- @treturn table|nil rows, the longest total first; tostring() of it is an aligned table; its field `on` tells
-- whether profiling goes on
-- @usage cl.profile(true)
-- local x = cl.gauss(a, b)
-- print(cl.profile())
local function profile(on)
  if on == nil then return complete(internal.read_profile()) end
  if type(on) ~= "boolean" then error("profile: true, false or nothing expected, got " .. type(on), 3) end
  internal.read_profile(on)
end

return { profile = profile }
