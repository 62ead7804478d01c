-- SPDX-License-Identifier: MIT

--- Groups that are no multiple of the wavefront: the last wavefront of a group costs as much as a full one.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local MOST_STEPS = 1 << 22
local CHECKED = 1024
local GROUPS = 512 -- for each compute unit: a full device, whatever a group costs
local MULTIPLES = { 2, 4, 8, 12, 16 } -- of a quarter of the wavefront, and the sizes around one and two wavefronts

-- One item more than a wavefront costs a second one where its time is that of two, but for a tenth, and well above that
-- of one; where each item pays for itself it costs a little more than one.
local LIKE_TWO, ABOVE_ONE = 0.85, 1.4

local whole_wavefronts = {}

--- Whether one item more than `width` costs as much as twice `width`.
-- @treturn ?boolean nil where a point is missing
function whole_wavefronts.is_rounded_up(rows, width)
  local points = curve.of(rows, "params.group")
  local one, more, two = curve.at(points, width), curve.at(points, width + 1), curve.at(points, 2 * width)
  if not (one and more and two) then return nil end
  return more >= LIKE_TWO * two and more >= ABOVE_ONE * one
end

--- What the curve says, in words.
function whole_wavefronts.read(rows, width)
  local rounded = whole_wavefronts.is_rounded_up(rows, width)
  if rounded == nil then return { curve.TOO_FEW } end
  local points = curve.of(rows, "params.group")
  local one, more, two = curve.at(points, width), curve.at(points, width + 1), curve.at(points, 2 * width)
  local measured = ("A group of %d takes %.2f times as long as one of %d, and one of %d %.2f times."):format(width + 1,
    more / one, width, 2 * width, two / one)
  if rounded then
    return { measured, ("So %d work-items cost as much as %d: groups should be multiples of %d."):format(width + 1,
      2 * width, width) }
  end
  if two < ABOVE_ONE * one then
    return { measured, "Twice the work-items take hardly longer: something else binds, and nothing can be read off." }
  end
  return { measured, ("Time grows with the work-items, not in steps of %d: nothing is rounded up to whole wavefronts.")
    :format(width) }
end

--- Sizes around the multiples of a width that the device can run.
local function sizes(width, most)
  local list, seen = {}, {}
  local function add(size)
    if size >= 1 and size <= most and not seen[size] then list[#list + 1], seen[size] = size, true end
  end
  for _, n in ipairs(MULTIPLES) do add(n * width // 4) end
  for _, near in ipairs { width - 1, width + 1, 2 * width - 1, 2 * width + 1 } do add(near) end
  table.sort(list)
  return list
end

--- Why groups of a width cannot be compared with those of twice as many, or nil.
local function obstacle_of(width, most)
  if width < 2 then return "No wavefront was found, and the driver prefers no multiple: nothing can be compared." end
  if 2 * width > most then
    return ("The largest group, of %d, has less than twice %d work-items: nothing can be compared."):format(most,
      width)
  end
end

local function measure(lab)
  local device = lab.device
  local width = lab.found.wavefront or device.group_multiple
  local obstacle = obstacle_of(width, device.max_group_size)
  if obstacle then
    return { { rows = {}, reading = { obstacle },
      how = "Groups around the multiples of a wavefront would be set against each other." } }
  end
  local groups = lab:choose(GROUPS * device.compute_units, 2)
  local kernel = lab:kernel "probe_uneven"
  local out <close> = device:empty("uint", groups * 4 * width)
  local function launch(size, n)
    return kernel({ global = { groups * size }, group = { size } }, n, 1, 1, out)
  end
  local steps = lab:size(4, MOST_STEPS, function(n) launch(width, n) end)
  local expected, list = chain.after(chain.FACTOR, chain.SUMMAND, steps), {}
  for i, size in ipairs(sizes(width, math.min(4 * width, device.max_group_size))) do
    list[i] = {
      name = ("groups of %d"):format(size), params = { group = size },
      launch = function() return launch(size, steps) end,
      check = function() return chain.check(out, math.min(CHECKED, groups * size), expected) end,
      operations = groups * size * steps,
    }
  end
  local rows = lab:times(list)
  return { curve.section {
    rows = rows, x = "params.group", xtitle = "work-items of a group", ytitle = "time of as many groups",
    reading = whole_wavefronts.read(rows, width),
    how = ("%d groups of each size; each work-item goes through a chain of %d dependent steps, so that larger groups "
      .. "are more work."):format(groups, steps),
  } }
end

whole_wavefronts.name = "whole_wavefronts"
whole_wavefronts.title = "Groups and whole wavefronts"
whole_wavefronts.teaches = "A group is run as whole wavefronts, the last one with idle lanes: where a wavefront has 64 "
  .. "work-items, groups of 65 to 128 are two, so their size should be a multiple (source 4, 1.3.2 and 1.7.2)."
whole_wavefronts.measure = measure

return whole_wavefronts
