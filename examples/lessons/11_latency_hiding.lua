-- SPDX-License-Identifier: MIT
--- Lesson 11: hiding latency (source 4, 1.6, figures 1.9 and 1.10). Memory answers late. One work-item that needs each
-- answer for its next question waits all that time; a compute unit with many others at hand runs those meanwhile. So
-- what counts on a GPU is how many are in flight: occupancy.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local device = cl.device()

-- A tour through 64 MiB: from i to (A i + C) mod SIZE, which comes by every place once (A - 1 is a multiple of 4, C is
-- odd) in long leaps, so that caches are of little use.
local SIZE, A, C = 1 << 24, 1664525, 1013904223
local APART = 7919 -- places from one work-item's start to the next one's

local program = device:program([[
  kernel void lay(global uint *next) {
    const uint i = get_global_id(0);
    next[i] = (A * i + C) & (SIZE - 1);
  }

  // Each work-item begins elsewhere and makes its steps; `room` only takes up local memory.
  kernel void chase(global const uint *next, const uint start, const int steps, global uint *arrived,
                    local uint *room) {
    const size_t id = get_global_id(0);
    uint at = (start + (uint)id * APART) & (SIZE - 1);
    for (int i = 0; i < steps; i++) at = next[at];
    room[get_local_id(0)] = at;
    arrived[id] = room[get_local_id(0)];
  }
]], { defines = { A = A .. "u", C = C .. "u", SIZE = SIZE .. "u", APART = APART .. "u" } })

local GROUP, LOADS, FEWEST = 64, 1 << 17, 64 -- loads of a launch, unless an item would make too few
local MOST = device.type == "cpu" and 1 << 13 or 1 << 19
local next_of, arrived = device:empty("uint", SIZE), device:empty("uint", MOST)
program.lay(SIZE, next_of)

local function destination(first, id, steps)
  local at = first + id * APART & SIZE - 1
  for _ = 1, steps do at = A * at + C & SIZE - 1 end
  return at
end

local start = 0 -- of the latest launch; each starts elsewhere, lest it find its tour in a cache

--- A launch of so many work-items to be measured, checked at a few of them.
local function candidate(items, bytes)
  local steps = math.max(FEWEST, LOADS // items)
  return { device = device, params = { items = items, bytes = bytes, loads = items * steps }, fn = function()
    start = start + 1234577 & SIZE - 1
    program.chase({ global = items, group = math.min(items, GROUP) }, next_of, start, steps, arrived,
      cl.scratch("uint", bytes // 4))
  end, check = function()
    for id = 0, items - 1, math.max(1, items // 8) do
      if arrived[id + 1] ~= destination(start, id, steps) then return false, ("item %d went astray"):format(id) end
    end
    return true
  end }
end

--- Measures them in turns; the rows get `rate`, loads a second, `gain`, by the first's, and `mark`, a question mark
-- where the ratio of times moved when taken three times.
local function compare(candidates)
  local rows = bench.compare(candidates, { seconds = 0.1, peak = false })
  for _, row in ipairs(rows) do
    if row.status ~= "ok" or not row.checked then error(row.reason) end
    row.rate = row.params.loads / row.value
    row.gain = row.rate / rows[1].rate
    row.mark = row.agrees and "" or " ?"
  end
  return rows
end

local flights = {}
for i, items in ipairs { 1, 64, 512, 4096, MOST } do flights[i] = candidate(items, 4 * GROUP) end
print "work-items in flight    loads/s   one each"
for i, row in ipairs(compare(flights)) do
  print(("%20d %8.1f M %7.2f ns  %s"):format(row.params.items, row.rate * 1e-6, 1e9 / row.rate,
    i > 1 and ("%.1f times the rate of one%s"):format(row.gain, row.mark) or "the bare latency"))
end

-- Groups share the compute unit's local memory: the more each takes, the fewer are in flight.
local shares = {}
for i, share in ipairs { 64, 8, 2 } do
  shares[i] = candidate(MOST, math.min(device.local_memory, 1 << 16) // share // 256 * 256)
end
print "\nlocal memory of a group of 64   groups for which a unit's suffices      loads/s"
local rows = compare(shares)
for _, row in ipairs(rows) do
  local bytes = row.params.bytes
  print(("%21d bytes %32d %18.1f M%s"):format(bytes, device.local_memory // bytes, row.rate * 1e-6, row.mark))
end
print(device.type == "cpu" and [[
A CPU's core runs one group at a time, whatever room there is for others: their number in flight is that of the cores.
A rate above that comes from within the core: it looks ahead, and begins the next work-item's loads while it waits for
the last ones of this. That takes short chains, here of 64 loads.]]
  or ("From the least to the most local memory the rate changed to %.0f %%."):format(rows[3].gain * 100))
print "?: the time by the first row's, taken three times, moved by more than 10 %."
