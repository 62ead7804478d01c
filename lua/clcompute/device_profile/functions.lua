-- SPDX-License-Identifier: MIT

--- Sine and logarithm: what they cost beside multiply-adds, and whether they have a unit of their own, next to which
-- multiply-adds go on.

local curve = require "clcompute.device_profile.curve"

local ADDS = { 0, 1, 2, 4, 8, 16 } -- multiply-adds of a step
local QUICK_ADDS = { 0, 1 }
local MOST_TURNS = 1 << 20
local GROUP = 256
local STARTS = 8 -- x begins at 0, 1/8, ... 7/8
local FACTOR, SUMMAND = 0.5, 1 -- of the multiply-adds, which end at 2
local SETTLED = 200 -- steps after which nothing changes
local BOUND = 0.01 -- of a result: the native functions are as exact as the device likes

-- x = F(x + c) ends at a number that attracts it, whatever the function's last digits are.
local FUNCTIONS = {
  { name = "none", number = 0, c = 0, of = function(x) return x end },
  { name = "sine", number = 1, c = 1, of = math.sin },
  { name = "logarithm", number = 2, c = 3, of = math.log },
}

local UNROLL = 4 -- steps of a turn of the kernel's loop
local VISIBLE = 0.25 -- of the time of a function: multiply-adds that take less do not show beside it
local OWN, PART = 0.5, 0.2 -- hidden of the shorter time, where all or part of a function has a unit of its own

local functions = {}

--- The time of a multiply-add at best, or nil.
local function time_of_add(rows)
  local best
  for _, point in ipairs(curve.of(curve.only(rows, "series", "none"), "params.adds", "each")) do
    best = math.min(best or math.huge, point.y / point.x)
  end
  return best
end

--- The share of a time that is hidden where a function and multiply-adds go on beside each other: at best, of the
-- shorter one; and the number of multiply-adds. Nil where they are too short to show beside it.
local function hidden(points, adds, alone)
  local share, number
  for _, point in ipairs(points) do
    local own = point.x > 0 and curve.at(adds, point.x)
    if own and own >= VISIBLE * alone then
      local here = (alone + own - point.y) / math.min(alone, own)
      if not share or here > share then share, number = here, point.x end
    end
  end
  return share and math.max(0, share), number
end

--- What a function costs and what goes on beside it, in words.
local function sentence(rows, name, add)
  local points = curve.of(curve.only(rows, "series", name), "params.adds", "each")
  local alone = curve.at(points, 0)
  if not alone then return ("The %s could not be measured."):format(name) end
  local cost = ("A %s takes as long as %.1f multiply-adds"):format(name, alone / add)
  local share, number = hidden(points, curve.of(curve.only(rows, "series", "none"), "params.adds", "each"), alone)
  if not share then return cost .. "." end
  return ("%s. With %d beside it, %.0f %% of the shorter time is hidden: %s."):format(cost, number, 100 * share,
    share >= OWN and "it has a unit of its own" or share >= PART and "part of it has a unit of its own"
      or "both take the same units, in turns")
end

--- What the curves say, in words.
-- @tparam table rows with `series`, `params.adds` and `each`
-- @treturn table sentences
function functions.read(rows)
  local add = time_of_add(rows)
  if not add then return { curve.TOO_FEW } end
  return { sentence(rows, "sine", add), sentence(rows, "logarithm", add) }
end

--- What a work-item computes, from 0.
local function expected(item, f, adds, steps)
  local x, sum = item % STARTS / STARTS, 0
  for _ = 1, math.min(steps, SETTLED) do x = f.of(x + f.c) end
  for j = 0, adds - 1 do
    local y = j
    for _ = 1, math.min(steps, SETTLED) do y = FACTOR * y + SUMMAND end
    sum = sum + y
  end
  return x + sum
end

local function check(out, f, adds, steps)
  for i, value in ipairs(out:read(1, STARTS)) do
    local right = expected(i - 1, f, adds, steps)
    if not (math.abs(value - right) <= BOUND) then
      return false, ("element %d is %g, not %g"):format(i, value, right)
    end
  end
  return true
end

--- What the lab's `times` takes, of each function with each number of multiply-adds.
local function points_of(lab, range, out)
  local items, list = range.global[1], {}
  local function kernel_of(f, adds)
    return lab:kernel("probe_functions", { FUNCTION = f.number, ADDS = adds, UNROLL = UNROLL })
  end
  local function launch(kernel, f, n) return kernel(range, n, FACTOR, SUMMAND, f.c, out) end
  for _, f in ipairs(FUNCTIONS) do
    local first = kernel_of(f, 1)
    local turns = lab:size(4, MOST_TURNS, function(n) launch(first, f, n) end)
    local steps = turns * UNROLL
    for _, adds in ipairs(lab:choose(ADDS, QUICK_ADDS)) do
      if f.number > 0 or adds > 0 then
        local kernel = kernel_of(f, adds)
        list[#list + 1] = {
          name = ("%s, %d multiply-adds"):format(f.name, adds), params = { function_name = f.name, adds = adds },
          operations = items * steps,
          launch = function() return launch(kernel, f, turns) end,
          check = function() return check(out, f, adds, steps) end,
        }
      end
    end
  end
  return list
end

local function measure(lab)
  local group = math.min(GROUP, lab.device.max_group_size)
  local items = lab:items(group)
  local out <close> = lab.device:empty("float", items)
  local rows = lab:times(points_of(lab, { global = { items }, group = { group } }, out))
  for _, row in ipairs(rows) do row.series = row.params.function_name end
  return { curve.section {
    rows = rows, x = "params.adds", xtitle = "multiply-adds of a step", y = "each", ytitle = "time of a step",
    yunit = "s", series = "series", series_title = "function", reading = functions.read(rows),
    how = ("%s go through steps: in each a native_sin, a native_log or neither, and so many multiply-adds of floats "
      .. "that do not wait for it. The time is that of a step, of all work-items together."):format(
      curve.items_text(items, group)),
  } }
end

functions.name = "functions"
functions.title = "Sine and logarithm"
functions.teaches = "Of the five elements of a stream core one alone computes sines, cosines and logarithms; the other "
  .. "four go on beside it (source 4, introduction)."
functions.measure = measure

return functions
