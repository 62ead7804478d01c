-- SPDX-License-Identifier: MIT

--- What a launch costs, by the host's clock: waited for each time, or many in the queue and then one wait.
-- @module clcompute.device_profile.launch

local curve = require "clcompute.device_profile.curve"
local figure = require "clcompute.device_profile.figure"

local COUNTS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 }
local QUICK_COUNTS = { 1, 4 }

local SAVES = 1.5 -- a wait is worth saving where a launch with it takes half as long again

local launch = {}

--- What the time of a launch over the launches before a wait says, in words.
function launch.read(rows)
  local points = curve.of(rows, "params.launches", "each")
  if #points < 2 then return { figure.TOO_FEW } end
  local first, last = points[1], points[#points]
  local measured = ("A launch that is waited for takes %s; of %d in the queue each takes %s."):format(
    figure.seconds(first.y), last.x, figure.seconds(last.y))
  if first.y < SAVES * last.y then
    return { measured, "Waiting costs little here: what a launch takes is its own." }
  end
  return { measured, ("Waiting only at the end saves %.0f %%; work that takes much less than a launch should be put "
    .. "into one."):format(100 * (1 - last.y / first.y)) }
end

local function measure(lab)
  local device, kernel = lab.device, lab:kernel "probe_nothing"
  local out <close> = device:zeros("uint", 1)
  local group = math.min(64, device.max_group_size)
  local range, list = { global = { group }, group = { group } }, {}
  for i, count in ipairs(lab:choose(COUNTS, QUICK_COUNTS)) do
    list[i] = {
      name = ("%d launches, one wait"):format(count), params = { launches = count }, operations = count,
      run = function()
        for value = 1, count do kernel(range, value, out) end
        device:wait()
      end,
      check = function() return out[1] == count end,
    }
  end
  local rows = lab:walls(list)
  local points = curve.of(rows, "params.launches", "each")
  local found = #points > 1 and { launch_waited = points[1].y, launch_queued = points[#points].y } or nil
  return { figure.lines {
    rows = rows, x = "params.launches", xtitle = "launches before a wait", y = "each", ytitle = "time of a launch",
    yunit = "s", xlog = 2, ylog = 10, reading = launch.read(rows),
    how = ("A kernel of one group of %d that stores one number is launched so many times and then waited for, by the "
      .. "host's clock."):format(group),
  } }, found
end

launch.name = "launch"
launch.title = "What a launch costs"
launch.teaches = "The scheduler works off the index space of a kernel before what follows is begun: each launch has a "
  .. "beginning and an end of its own, however little it does (source 4, 1.3)."
launch.measure = measure

return launch
