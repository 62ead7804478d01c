-- SPDX-License-Identifier: MIT
--- What each work-item is told of its place, for a range that its work-groups do not divide, and for a picture of
-- 800 x 600 in groups of 16 x 16 (the worked example of the chapter on NDRange and work-groups).
-- Usage: ndrange.lua [FILE.svg], which also draws the split range.

local cl = require "clcompute"
local report = require "clcompute.report"

local function with(remainder, global, group)
  return { global = global, group = group, remainder = remainder }
end

local WAYS = {
  { "split", "a launch of its own for the rest: every id is right, but each part counts its own groups" },
  { "pad", "rounded up to whole groups: the kernel must check its bounds" },
  { "native", "the device's own smaller groups at the ends (OpenCL 2.0, where the device has them)" },
}

for _, way in ipairs(WAYS) do
  local remainder, meaning = way[1], way[2]
  print(("5 x 3 work-items in groups of 4 x 2, remainder = %q: %s"):format(remainder, meaning))
  local _, rows = pcall(cl.trace_range, with(remainder, { 5, 3 }, { 4, 2 }))
  print(rows) -- or why not
  print()

  local ok, groups = pcall(cl.trace_range, with(remainder, { 800, 600 }, { 16, 16 }), { each = "group" })
  if ok then
    print(("800 x 600 in groups of 16 x 16, remainder = %q: %d groups"):format(remainder, #groups))
    print(tostring(groups):match "more rows\n(.*)") -- what stands below the table
    print()
  end
end

if arg[1] then
  local rows = cl.trace_range(with("split", { 10, 7 }, { 4, 3 }))
  local picture = report.svg { title = "10 x 7 work-items in groups of 4 x 3, split", rows = rows,
    chart = { kind = "grid" } }
  local file <close> = assert(io.open(arg[1], "w"))
  file:write(picture)
  print("written: " .. arg[1])
end
