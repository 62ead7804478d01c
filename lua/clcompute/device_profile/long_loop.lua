-- SPDX-License-Identifier: MIT

--- One work-item of a wavefront that loops a hundred times as long as the others: they all wait for it.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local TIMES = 100
local PERIODS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
local QUICK_PERIODS = { 1, 4, 64 }
local MOST_STEPS = 1 << 20
local CHECKED = 1024

-- The wavefront waits where nearly the whole time of a hundred loops is left, though few items need it. Halfway is not
-- enough: that is what one long item in two costs where each pays for itself.
local WAITS = 0.75
local LIKE = 2 -- times that the time may differ from what items need one by one, and still be that
local BELOW = 0.9 -- of what items need one by one: more is noise

local long_loop = {}

--- The time if each work-item took what its own loops take, one in `period` a hundred times t, in t.
local function alone(period)
  return (TIMES + period - 1) / period
end

--- How rare the long item may be and still cost all of its time: the largest period up to which the time stays near
-- that of a hundred loops.
-- @tparam table rows with `loops`, the time in loops
-- @treturn ?integer nil where not even one item in four holds up the others
function long_loop.reach(rows)
  local reach
  for _, point in ipairs(curve.of(rows, "params.period", "loops")) do
    if point.y < WAITS * TIMES then break end
    reach = point.x
  end
  return reach and reach >= 4 and reach or nil
end

--- Whether some time is less than what the items need one by one, and not by noise.
local function is_below(points)
  for _, point in ipairs(points) do
    if point.y < BELOW * alone(point.x) then return true end
  end
  return false
end

--- What the curve says, in words.
function long_loop.read(rows, width)
  local points = curve.of(rows, "params.period", "loops")
  if #points < 3 then return { curve.TOO_FEW } end
  local reach, last = long_loop.reach(rows), points[#points]
  if not reach then
    local middle = points[#points // 2 + 1]
    local measured = ("With one long loop in %d the time is %.1f t, and one by one the items need %.1f t."):format(
      middle.x, middle.y, alone(middle.x))
    if middle.y > LIKE * alone(middle.x) or middle.y < alone(middle.x) / LIKE then
      return { measured, "That is neither what they need one by one nor that of waiting for the longest: nothing can "
        .. "be read off." }
    end
    return { measured, "Each pays for its own loop and nobody waits for a neighbour: no wavefront shows.",
      is_below(points) and "Some times are below that sum, for t is a hundredth of a long loop, whose steps wait for "
        .. "each other: a core may begin the next item while the steps of a short one still wait." or nil }
  end
  local sentences = { ("One item in %d that loops %d times makes all of them take %.0f t, where %.1f t is what they "
    .. "need one by one: the wavefront ends with its last item."):format(reach, TIMES, curve.at(points, reach),
    alone(reach)) }
  if width then
    sentences[2] = reach == width and ("Rarer ones leave whole wavefronts of %d without a long loop."):format(width)
      or ("That reaches over %d items, though the branches found a wavefront of %d."):format(reach, width)
  elseif reach < last.x then
    sentences[2] = ("Rarer ones leave whole wavefronts without a long loop: they have about %d items."):format(reach)
  end
  return sentences
end

local function expected(steps, period)
  local long = chain.after(chain.FACTOR, chain.SUMMAND, steps * TIMES)
  local short = chain.after(chain.FACTOR, chain.SUMMAND, steps)
  return function(i) return (i % period == 0 and long or short)(i) end
end

--- Adds the time in loops: that of one item in one that loops a hundred times is a hundred.
local function count_loops(rows)
  local all = curve.time(rows[1])
  for _, row in ipairs(rows) do
    local time = curve.time(row)
    if all and time then row.loops = TIMES * time / all end
    row.series = "measured"
  end
end

--- Points that are computed: what the items need one by one.
local function add_expectation(rows, periods)
  for _, period in ipairs(periods) do
    rows[#rows + 1] = { name = ("one in %d, each for itself"):format(period), params = { period = period },
      loops = alone(period), series = "if each paid for itself", computed = true, status = "ok" }
  end
end

local function measure(lab)
  local group = math.min(lab:choose(256, 64), lab.device.max_group_size)
  local items = lab:items(group)
  local kernel, range = lab:kernel "probe_uneven", { global = { items }, group = { group } }
  local out <close> = lab.device:empty("uint", items)
  local steps = lab:size(1, MOST_STEPS, function(n) kernel(range, n, TIMES, 1, out) end)
  local periods, list = lab:choose(PERIODS, QUICK_PERIODS), {}
  for i, period in ipairs(periods) do
    list[i] = {
      name = ("one in %d"):format(period), params = { period = period },
      launch = function() return kernel(range, steps, TIMES, period, out) end,
      check = function() return chain.check(out, math.min(CHECKED, items), expected(steps, period)) end,
    }
  end
  local rows = lab:times(list)
  count_loops(rows)
  local reading = long_loop.read(rows, lab.found.wavefront)
  add_expectation(rows, periods)
  return { curve.section {
    rows = rows, x = "params.period", xtitle = "one item in so many loops 100 times", y = "loops",
    ytitle = "time, in single loops t", format = "%.1f", series = "series", xlog = 2, ylog = 10, hollow = "computed",
    reading = reading,
    how = ("%s go through a chain of %d dependent steps each, one in so many through %d times as many; t is a "
      .. "hundredth of the median where all do. Hollow points are computed.")
      :format(curve.items_text(items, group), steps, TIMES),
  } }
end

long_loop.name = "long_loop"
long_loop.title = "One long loop in a wavefront"
long_loop.teaches = "A wavefront ends with the last of its work-items: where all loop once and one loops 100 times, it "
  .. "takes 100t (source 4, 1.3.2, example 2)."
long_loop.measure = measure

return long_loop
