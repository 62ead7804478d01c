-- SPDX-License-Identifier: MIT

--- What a barrier costs: steps of a chain with one after each, against the same without.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local GROUPS, QUICK_GROUPS = { 32, 64, 256, 1024 }, { 8, 32 }
local MOST_STEPS = 1 << 20
local CHECKED = 1024
local SERIES = { [0] = "without barriers", [1] = "a barrier after each step" }

local VISIBLE = 1.1 -- times as long as without: less is noise

local barrier = {}

local function points_of(rows, with)
  return curve.of(curve.only(rows, "params.barrier", with), "params.group", "each")
end

--- Seconds of a barrier by the group's size: a list of { x =, y = }; those that cannot be told from nothing are 0.
function barrier.costs(rows)
  local without, costs = points_of(rows, 0), {}
  for _, point in ipairs(points_of(rows, 1)) do
    local base = curve.at(without, point.x)
    if base then
      costs[#costs + 1] = { x = point.x, y = point.y >= VISIBLE * base and point.y - base or 0 }
    end
  end
  return costs
end

--- How many times as fast steps are with a barrier as without, by the group's size: a list of { x =, y = }.
function barrier.gains(rows)
  local without, gains = points_of(rows, 0), {}
  for _, point in ipairs(points_of(rows, 1)) do
    local base = curve.at(without, point.x)
    if base then gains[#gains + 1] = { x = point.x, y = base / point.y } end
  end
  return gains
end

--- What is said where no barrier costs anything: whether it even gains.
local function read_free(gains)
  local words = {}
  for _, gain in ipairs(gains) do
    if gain.y >= VISIBLE then words[#words + 1] = ("%.1f times in groups of %d"):format(gain.y, gain.x) end
  end
  if #words == 0 then return { "Steps with a barrier take no longer than those without." } end
  return { ("Steps with a barrier are even faster than those without, %s."):format(table.concat(words, ", ")),
    "So it is where a compiler, as those for processors do, makes a loop over the work-items between two barriers, "
      .. "whose chains are computed side by side; without barriers each goes to its end before the next begins." }
end

--- What the two curves say, in words.
function barrier.read(rows)
  local costs = barrier.costs(rows)
  if #costs < 2 then return { curve.TOO_FEW } end
  local last, words = costs[#costs], {}
  if curve.highest(costs).y == 0 then return read_free(barrier.gains(rows)) end
  for i, cost in ipairs(costs) do
    words[i] = ("%s in groups of %d"):format(cost.y > 0 and curve.seconds_text(cost.y) or "nothing that shows", cost.x)
  end
  return { "A barrier adds " .. table.concat(words, ", ") .. ".",
    last.y > 1.5 * costs[1].y and "The more items of a group have to come, the longer it takes."
      or "How many items of a group have to come matters little." }
end

local function sizes(lab)
  local list = {}
  for _, size in ipairs(lab:choose(GROUPS, QUICK_GROUPS)) do
    if size <= lab.device.max_group_size then list[#list + 1] = size end
  end
  return list
end

local function measure(lab)
  local device, groups = lab.device, sizes(lab)
  local units, largest = device.compute_units, groups[#groups]
  local out <close> = device:empty("uint", units * largest)
  local function launch(with, size, n)
    local kernel = lab:kernel("probe_barrier", { BARRIER = with })
    return kernel({ global = { units * size }, group = { size } }, n, out)
  end
  local steps = lab:size(4, MOST_STEPS, function(n)
    launch(0, largest, n)
    launch(1, largest, n)
  end)
  local expected, list = chain.after(chain.FACTOR, chain.SUMMAND, steps), {}
  for _, size in ipairs(groups) do
    for with = 0, 1 do
      list[#list + 1] = {
        name = ("groups of %d, %s"):format(size, SERIES[with]), params = { group = size, barrier = with },
        operations = steps, launch = function() return launch(with, size, steps) end,
        check = function() return chain.check(out, math.min(CHECKED, units * size), expected) end,
      }
    end
  end
  local rows = lab:times(list)
  for _, row in ipairs(rows) do row.series = SERIES[row.params.barrier] end
  return { curve.section {
    rows = rows, x = "params.group", xtitle = "work-items of a group, one group on each unit", y = "each",
    ytitle = "time of a step", yunit = "s", series = "series", xlog = 2, ylog = 10, reading = barrier.read(rows),
    how = ("One group for each of the %d compute units; each work-item goes through a chain of %d dependent steps, "
      .. "with a barrier after each or with none."):format(units, steps),
  } }
end

barrier.name = "barrier"
barrier.title = "What a barrier costs"
barrier.teaches = "At a barrier every work-item of a group must arrive before any goes on; groups are a grain of "
  .. "software, wavefronts one of hardware, which is why it takes time (source 4, 1.7.2)."
barrier.measure = measure

return barrier
