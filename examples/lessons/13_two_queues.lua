-- SPDX-License-Identifier: MIT
--- Lesson 13: two queues of one device. Commands of one queue run in order; commands of different queues may run beside
-- each other, and an event makes one queue wait for the other where it must. What the events say of when is drawn
-- as a timeline when a path is given: 13_two_queues.lua timeline.svg

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local device = cl.device(nil, { timing = true })
local other = device:queue()

local SOURCE = [[
  // Work for one work-item, so that a second one finds room beside it.
  kernel void steps(global float *x, int n) {
    float v = x[0];
    for (int i = 0; i < n; i++) v = v * 0.999f + 1.0f;
    x[0] = v;
  }
]]
local here, there = device:program(SOURCE).steps, other:program(SOURCE).steps
local a, b = device:zeros("float", 1), other:zeros("float", 1)
local n = 10000000

local function on_one() here(1, a, n) here(1, a, n) end

--- Twice on each; what the timeline needs of the four launches.
local function on_two()
  local events = {}
  for i = 1, 2 do
    events[#events + 1] = { lane = "first queue", state = "launch " .. i, event = here(1, a, n) }
    events[#events + 1] = { lane = "second queue", state = "launch " .. i, event = there(1, b, n) }
  end
  return events
end

-- In turns, so that what slows the machine for a while slows both.
local both = { device, other }
local compared = bench.compare({ { name = "one queue, two launches", device = both, fn = on_one },
  { name = "two queues, two launches each", device = both, fn = function() on_two() end } },
  { seconds = 0.3, peak = false })
for _, row in ipairs(compared) do
  if row.status ~= "ok" then error(row.reason) end
  row.ms = row.value * 1e3
end
print(report.text({ title = "Twice the work on two queues", rows = compared, columns = { { key = "name" },
  { key = "ms", title = "time, ms" }, { key = "ratio", title = "time by one queue's" } } }))

-- When each ran, by the device's clock.
local events, rows, first = on_two(), {}, math.huge
for _, one in ipairs(events) do first = math.min(first, one.event:profile().started) end
for i, one in ipairs(events) do
  local times = one.event:profile()
  rows[i] = { lane = one.lane, state = one.state, start = times.started - first, finish = times.finished - first }
end
for i = 3, 4 do assert(rows[i].start >= rows[i - 2].finish, "a queue did not keep its order") end
local section = { title = "Two launches on each of two queues", rows = rows,
  chart = { kind = "timeline", lane = "lane", start = "start", finish = "finish", state = "state", xunit = "s" } }
print(report.text(section))
if arg[1] then
  local file <close> = assert(io.open(arg[1], "w"))
  file:write((report.svg(section)))
end

-- b takes what a becomes: the copy waits for the kernel of the other queue.
a:fill(0)
here(1, a, 1000):before(other)
there(1, b:write(a), 1)
other:wait()
print(("in order: a = %.3f, b = one step further = %.3f"):format(a[1], b[1]))
assert(math.abs(b[1] - (a[1] * 0.999 + 1)) < 1e-3)
