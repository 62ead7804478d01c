-- SPDX-License-Identifier: MIT
--- Lesson 10: divergence (source 4, 1.3.2). The work-items of a wavefront share one instruction stream. Where they
-- branch apart, the wavefront runs both paths, and those whose path it is not wait: two paths of time t take 2t. The
-- last one to leave a loop keeps the others.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local report = require "clcompute.report"
local device = cl.device()

local program = device:program [[
  // Source 4: only one work-item of 64 takes the branch; on a wavefront of 64 the other 63 wait for it.
  kernel void test(global int *pOrg) {
    size_t id = get_global_id(0);
    if ((id & 63) == 0) {
      if (pOrg[id] < 0) pOrg[id]++;
    }
    pOrg[id] *= 2;
  }

  // Two paths of equal length: upper or lower, by a bit of the work-item's number.
  kernel void paths(global float *x, const uint bit, const int turns) {
    const size_t id = get_global_id(0);
    float v = 1.0f;
    if (id & bit) {
      for (int i = 0; i < turns; i++) v = v * 0.5f + 1.0f;
    } else {
      for (int i = 0; i < turns; i++) v = 1.0f - v * 0.5f;
    }
    x[id] = v;
  }

  // One work-item of each 64 goes round `many` times, the others `few` times.
  kernel void laggard(global float *x, const int many, const int few) {
    const size_t id = get_global_id(0);
    const int turns = (id & 63) == 0 ? many : few;
    float v = 1.0f;
    for (int i = 0; i < turns; i++) v = v * 0.5f + 1.0f;
    x[id] = v;
  }
]]

-- The kernel of the source: right, whatever it costs.
local numbers = {}
for i = 1, 256 do numbers[i] = i % 3 - 2 end
local org = device:buffer(numbers, "int")
program.test({ global = 256, group = 64 }, org)
for i, value in ipairs(org:read()) do
  local before = numbers[i]
  assert(value == 2 * ((i - 1) % 64 == 0 and before < 0 and before + 1 or before), "wrong element")
end
print "the divergence kernel of source 4: 256 elements are right"

local n = 1 << 14
local TURNS = device.type == "cpu" and 2000 or 50000 -- so that a launch lasts long against its own cost
local x = device:empty("float", n)

--- A launch to be measured; `right(value, id)` judges each result.
local function candidate(name, right, launch)
  return { name = name, device = device, fn = launch, check = function()
    for i, value in ipairs(x:read()) do
      if not right(value, i - 1) then return false, ("element %d is %g"):format(i, value) end
    end
    return true
  end }
end

--- Measures them in turns. A question mark stands at a ratio that moved when taken three times: run it again then.
local function compare(title, first, candidates)
  local rows = bench.compare(candidates, { seconds = 0.2, peak = false })
  for _, row in ipairs(rows) do
    if row.status ~= "ok" or not row.checked then error(row.reason) end
    row.ms = row.value * 1e3
  end
  print(report.text({ title = title, rows = rows, columns = { { key = "name" }, { key = "ms", title = "time, ms" },
    { key = "ratio", title = "time by " .. first } } }))
end

local RANGE = { global = n, group = 64 }
local UPPER, LOWER = 2, 2 / 3 -- where v = v / 2 + 1 and v = 1 - v / 2 come to rest

local function near(value, wanted) return math.abs(value - wanted) < 1e-6 end

local function paths(name, bit)
  return candidate(name, function(value, id) return near(value, id & bit ~= 0 and UPPER or LOWER) end,
    function() program.paths(RANGE, x, bit, TURNS) end)
end

print()
compare("A branch of two equal paths", "one path's", {
  paths("all take the same", n), -- a bit that none has
  paths("along: every 64 together (id & 64)", 64),
  paths("across: every other (id & 1)", 1),
})

local function laggard(name, many, few)
  return candidate(name, function(value) return near(value, UPPER) end,
    function() program.laggard(RANGE, x, many, few) end)
end

compare("A loop of 100 or 10000 turns", "100 turns'", {
  laggard("all 100", 100, 100),
  laggard("one of each 64 goes 10000", 10000, 100),
  laggard("all 10000", 10000, 10000),
})
print(device.type == "cpu"
  and [[
On a CPU the driver may run the work-items one after the other: then each pays for its own path only, and one laggard
of 64 for its own loop. All 10000 may cost more than 100 times all 100: a core runs the short loops of neighbours
side by side (it looks ahead some hundred instructions), the long ones one after the other.]]
  or [[
On a GPU the branch across costs twice the branch along, and one laggard of 64 about as much as if all were.]])
