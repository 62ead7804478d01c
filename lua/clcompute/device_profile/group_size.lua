-- SPDX-License-Identifier: MIT

--- The size of a work-group: over saxpy, which the memory binds, and over chains that wait for themselves.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local CPU_STEP, GPU_STEP = 4, 2 -- from a size to the next: each is compiled by POCL anew
local ELEMENTS, CPU_ELEMENTS, QUICK_ELEMENTS = 1 << 25, 1 << 22, 1 << 11
local MOST_STEPS = 1 << 20
local ITEMS, CPU_ITEMS = 1 << 14, 1 << 12 -- of a chain, for each compute unit
local CHECKED = 1024
local ALPHA = 2

local NEAR = 1.1 -- a size whose time is within a tenth of the best is as good

local group_size = {}

--- The time up to which a size is as good as the best: a tenth more, or what the best itself took at times.
local function good_enough(points)
  local best = points[1]
  for _, point in ipairs(points) do
    if point.y < best.y then best = point end
  end
  return math.max(NEAR * best.y, best.row.q3 or 0)
end

--- The smallest group that is as good as the best.
-- @treturn ?integer
function group_size.best(rows)
  local points = curve.of(rows, "params.group")
  for _, point in ipairs(points) do
    if point.y <= good_enough(points) then return point.x end
  end
end

--- What a curve over the group size says, in words.
-- @tparam table rows
-- @tparam ?integer wavefront its width, where one was found
function group_size.read(rows, wavefront)
  local points, best = curve.of(rows, "params.group"), group_size.best(rows)
  if #points < 3 then return { curve.TOO_FEW } end
  local at_best, last = curve.at(points, best), points[#points]
  local sentences = {}
  if best > points[1].x then
    sentences[1] = ("Groups from %d on are as good as the best; those of %d take %.1f times as long: %s."):format(best,
      points[1].x, points[1].y / at_best, wavefront and "most lanes of their wavefronts are idle"
      or "there are so many of them to be handed out")
  else
    sentences[1] = ("Already groups of %d are as good as the best: here a group costs nothing worth speaking of.")
      :format(best)
  end
  if last.y > good_enough(points) then
    sentences[2] = ("The largest, of %d, take %.2f times as long."):format(last.x, last.y / at_best)
  end
  return sentences
end

--- 1, and on by a factor, up to what the device can run.
local function sizes(lab)
  local device, list, size = lab.device, {}, 1
  local step = device.type == "cpu" and CPU_STEP or GPU_STEP
  local most = lab:choose(device.max_group_size, math.min(64, device.max_group_size))
  while size <= most do
    list[#list + 1] = size
    size = size * lab:choose(step, 8)
  end
  return list
end

local function section(lab, title, how, rows, y, ytitle, yunit)
  return curve.section { title = title, how = how, rows = rows, x = "params.group", xtitle = "work-items of a group",
    y = y, ytitle = ytitle, yunit = yunit, xlog = 2, reading = group_size.read(rows, lab.found.wavefront) }
end

local function measure_saxpy(lab)
  local device = lab.device
  local n = lab:choose(device.type == "cpu" and CPU_ELEMENTS or ELEMENTS, QUICK_ELEMENTS)
  local x <close> = device:empty("float", n)
  local y <close> = device:empty("float", n)
  local out <close> = device:empty("float", n)
  x:fill(3)
  y:fill(1)
  local kernel, list = device:kernel "saxpy", {}
  for i, size in ipairs(sizes(lab)) do
    list[i] = {
      name = ("saxpy, groups of %d"):format(size), params = { group = size }, bytes = 12 * n, flops = 2 * n,
      launch = function()
        return kernel({ global = { n }, group = { size } }, n, ALPHA, x, 0, y, 0, out, 0)
      end,
      check = function()
        for _, at in ipairs { 1, n // 2, n } do
          if out:get(at) ~= 3 * ALPHA + 1 then return false, ("element %d is %g"):format(at, out:get(at)) end
        end
        return true
      end,
    }
  end
  local rows = lab:times(list)
  for _, row in ipairs(rows) do row.rate = row.gbs and 1e9 * row.gbs end
  local how = ("saxpy of %d floats into a third vector, a work-item for each: 12 bytes are moved and two "
    .. "operations done."):format(n)
  return section(lab, "saxpy", how, rows, "rate", "bytes", "B/s"), group_size.best(rows)
end

local function measure_chain(lab)
  local device = lab.device
  local items = lab:choose((device.type == "cpu" and CPU_ITEMS or ITEMS) * device.compute_units, 64)
  local out <close> = device:empty("uint", items)
  local kernel = lab:kernel "probe_uneven"
  local function launch(size, n) return kernel({ global = { items }, group = { size } }, n, 1, 1, out) end
  local usual = math.min(64, device.max_group_size)
  local steps = lab:size(4, MOST_STEPS, function(n) launch(usual, n) end)
  local expected, list = chain.after(chain.FACTOR, chain.SUMMAND, steps), {}
  for i, size in ipairs(sizes(lab)) do
    list[i] = {
      name = ("chain, groups of %d"):format(size), params = { group = size }, operations = items * steps,
      launch = function() return launch(size, steps) end,
      check = function() return chain.check(out, math.min(CHECKED, items), expected) end,
    }
  end
  local how = ("%d work-items go through a chain of %d dependent steps each, without memory."):format(items, steps)
  return section(lab, "a chain of dependent steps", how, lab:times(list), "per_second", "steps", "/s")
end

local function measure(lab)
  local saxpy, best = measure_saxpy(lab)
  return { saxpy, measure_chain(lab) }, { group = best }
end

group_size.name = "group_size"
group_size.title = "The size of a group"
group_size.teaches = "A group is the grain of what the scheduler hands to a compute unit, and consists of wavefronts: "
  .. "it performs best when its size is a whole number of them (source 4, 1.7.2)."
group_size.measure = measure

return group_size
