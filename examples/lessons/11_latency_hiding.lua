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

local GROUP, LOADS, FEWEST = 64, 1 << 18, 64 -- loads of a launch, unless an item would make too few
local MOST = device.type == "cpu" and 1 << 14 or 1 << 19
local next_of, arrived = device:empty("uint", SIZE), device:empty("uint", MOST)
program.lay(SIZE, next_of)

local function destination(first, id, steps)
  local at = first + id * APART & SIZE - 1
  for _ = 1, steps do at = A * at + C & SIZE - 1 end
  return at
end

local start = 0 -- of the latest launch; each starts elsewhere, lest it find its tour in a cache

--- Loads a second of a launch of so many work-items, checked at a few of them.
local function chase(items, bytes)
  local steps = math.max(FEWEST, LOADS // items)
  local row = bench.measure(function()
    start = start + 1234577 & SIZE - 1
    program.chase({ global = items, group = math.min(items, GROUP) }, next_of, start, steps, arrived,
      cl.scratch("uint", bytes // 4))
  end, { device = device, seconds = 0.1, peak = false, check = function()
    for id = 0, items - 1, math.max(1, items // 8) do
      if arrived[id + 1] ~= destination(start, id, steps) then return false, ("item %d went astray"):format(id) end
    end
    return true
  end })
  if row.status ~= "ok" or not row.checked then error(row.reason) end
  return items * steps / row.value
end

print "work-items in flight    loads/s   one each"
local one
for _, items in ipairs { 1, 64, 512, 4096, MOST } do
  local rate = chase(items, 4 * GROUP)
  one = one or rate
  print(("%20d %8.1f M %7.2f ns  %s"):format(items, rate * 1e-6, 1e9 / rate,
    items > 1 and ("%.1f times the rate of one"):format(rate / one) or "the bare latency"))
end

-- Groups share the compute unit's local memory: the more each takes, the fewer are in flight.
print "\nlocal memory of a group of 64   groups that it lets onto a unit      loads/s"
local rates = {}
for _, share in ipairs { 64, 8, 2 } do
  local bytes = math.min(device.local_memory, 1 << 16) // share // 256 * 256
  rates[#rates + 1] = chase(MOST, bytes)
  print(("%21d bytes %26d %18.1f M"):format(bytes, device.local_memory // bytes, rates[#rates] * 1e-6))
end
print(device.type == "cpu"
  and "A CPU core runs one group at a time, so the room that others would need is no matter; its own out-of-order "
    .. "engine and its caches hide what they can."
  or ("From the least to the most local memory the rate changed to %.0f %%."):format(rates[3] / rates[1] * 100))
