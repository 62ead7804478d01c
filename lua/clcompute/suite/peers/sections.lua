-- SPDX-License-Identifier: MIT
--- What was measured against others as sections of a report.
-- @module clcompute.suite.peers.sections

local function ratio(value) return ("%.2f"):format(value) end
local function launches(count) return count == 0 and "in Lua" or ("%d"):format(count) end

-- What is shown beside the times: of operations their rates, of loop nests how many kernels they became.
local RATES = { { key = "gflops", title = "GFLOP/s" }, { key = "gbs", title = "GB/s" } }
local LAUNCHES = { { key = "launches", format = launches, align = "right" } }

local function columns(between)
  local list = { { key = "group" }, { key = "line" }, { key = "value", title = "ours" },
    { key = { "q1", "q3" }, title = "quartiles" } }
  table.move(between, 1, #between, #list + 1, list)
  local rest = { { key = "against" }, { key = "peer_value", title = "theirs", unit = "s" },
    { key = "times", title = "ratio", format = ratio, align = "right" },
    { key = "must", format = ratio, align = "right" }, { key = "goal", format = ratio, align = "right" },
    { key = "reached" }, { key = "checked", title = "right" } }
  return table.move(rest, 1, #rest, #list + 1, list)
end

local TEXT = "Medians of a call, all that a line compares measured in turns. ratio: the peer's time over ours. "
  .. "must and goal: what it is to reach"
local OF_OPERATIONS = "; of a group with a mean the mean, and no line below a floor."
local OF_LOOPS = ". gcc: the same nest in C on one core, products and sums fused in floats, not in doubles. "
  .. "Lua: where its sizes are given too, by the time of an inner iteration. launches: kernels of a call."

--- @tparam table all rows of `clcompute.peers`
-- @tparam Device device
-- @treturn table sections of a document: of operations, and of loop nests
return function(all, device)
  local of_operations, of_loops, list = {}, {}, {}
  for _, row in ipairs(all) do
    local rows = row.is_nest and of_loops or of_operations
    rows[#rows + 1] = row
  end
  local function add(title, rows, between, text)
    if #rows == 0 then return end
    list[#list + 1] = { title = ("%s on %s"):format(title, device.name), text = TEXT .. text, rows = rows,
      columns = columns(between) }
  end
  add("Ours and theirs", of_operations, RATES, OF_OPERATIONS)
  add("Loop nests on buffers", of_loops, LAUNCHES, OF_LOOPS)
  return list
end
