-- SPDX-License-Identifier: MIT

--- What the commands of a script took: the rows of cl.profile, and the table that shows them.

local arity = require("clcompute.base").arity
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

local function profile(on)
  if on == nil then return complete(internal.read_profile()) end
  if type(on) ~= "boolean" then error("profile: true, false or nothing expected, got " .. type(on), 2) end
  internal.read_profile(on)
end

return arity.functions { profile = profile }
