-- SPDX-License-Identifier: MIT

--- How a device hides the time of its loads: by other groups that are ready meanwhile, and by arithmetic between them.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"
local format = require("clcompute.base").format

local GPU_GROUPS, CPU_GROUPS = 64, 8 -- for each compute unit, at most
local MOST_LOOPS = 1 << 16
local STEPS = { 1, 2, 4, 8, 16, 32, 64, 128, 256 } -- multiply-adds for each load
local QUICK_STEPS = { 1, 8 }
local CPU_CHAINS = 8 -- vectors of a work-item on a processor, where no other one fills the wait for a result
local ELEMENTS, CPU_ELEMENTS, QUICK_ELEMENTS = 1 << 26, 1 << 22, 1 << 10

-- A curve has arrived where it is at nine tenths of its highest point. Groups hide each other's waits where a full
-- device does half as much again as one with a group for each compute unit: less could be a clock that changes.
local ARRIVED, HIDES = 0.9, 1.5
local FREE = 1.25 -- times that arithmetic may add to loads and still count as hidden behind them

local latency_hiding = {}

-- --- groups in flight ---------------------------------------------------------

--- The throughput at the largest number of groups that is no more than there are compute units.
local function of_units(points, units)
  local found
  for _, point in ipairs(points) do
    if point.x <= units then found = point.y end
  end
  return found
end

--- What the throughput over the groups in flight says, in words.
-- @tparam table rows
-- @tparam integer units compute units
function latency_hiding.read_groups(rows, units)
  local points = curve.of(rows, "params.groups", "per_second")
  if #points < 3 then return { curve.TOO_FEW } end
  local one, full, arrival = points[1].y, curve.highest(points).y, curve.arrival(points, ARRIVED)
  local spread = of_units(points, units) or one
  local sentences = { ("A load that must be waited for takes %s. With a group for each of the %d compute units "
    .. "the device makes %.3g times as many a second as with one group, at best %.3g times."):format(
    curve.seconds_text(1 / one), units, spread / one, full / one) }
  if full >= HIDES * spread then
    sentences[2] = ("So groups share a unit, about %d each, and go on while others wait."):format(
      math.max(1, arrival // units))
  else
    sentences[2] = "More groups than units gain little: here none goes on while another waits."
  end
  return sentences
end

local function measure_groups(lab)
  local device = lab.device
  local most = lab:choose((device.type == "cpu" and CPU_GROUPS or GPU_GROUPS) * device.compute_units, 4)
  local walks <close> = chain.groups(lab, most)
  local loops = lab:size(1, MOST_LOOPS, walks:launcher { groups = most })
  local list, groups = {}, 1
  while groups <= most do
    list[#list + 1] = walks:point { name = ("%d groups"):format(groups), params = { groups = groups }, groups = groups,
      loops = loops }
    groups = 2 * groups
  end
  local rows = lab:times(list)
  local points = curve.of(rows, "params.groups", "each")
  local loads = list[1].operations
  return curve.section {
    title = "groups in flight", rows = rows, x = "params.groups", xtitle = "groups in flight", y = "per_second",
    ytitle = "loads", yunit = "/s", how = walks:how() .. (" Each makes %d loads."):format(loads), xlog = 2, ylog = 10,
    reading = latency_hiding.read_groups(rows, device.compute_units),
  }, points[1] and points[1].y
end

-- --- arithmetic for each load ----------------------------------------------------

--- Floating-point operations for each load at which arithmetic and memory take equally long: the highest rate of
-- either, divided.
-- @treturn ?number nil where arithmetic was not seen to matter
function latency_hiding.knee(rows)
  local points = curve.of(rows, "params.flops")
  if #points < 3 then return nil end
  if points[#points].y < HIDES * points[1].y then return nil end
  local loads, operations = 0, 0 -- a second, for each element
  for _, point in ipairs(points) do
    loads, operations = math.max(loads, 1 / point.y), math.max(operations, point.x / point.y)
  end
  return operations / loads
end

--- What the time over the arithmetic for each load says, in words.
function latency_hiding.read_intensity(rows)
  local points = curve.of(rows, "params.flops")
  if #points < 3 then return { curve.TOO_FEW } end
  local first, last, free = points[1], points[#points], points[1].x
  for _, point in ipairs(points) do
    if point.y > FREE * first.y then break end
    free = point.x
  end
  local knee = latency_hiding.knee(rows)
  if not knee then
    return { ("Even %d operations for each load take only %.2f times as long as %d: memory binds all the way.")
      :format(last.x, last.y / first.y, first.x) }
  end
  return { ("Up to %d operations for each load (and store) take as long as %d, within a quarter: they are done while "
    .. "loads are on their way."):format(free, first.x),
    ("The knee is at about %.0f operations: with fewer the memory binds, with more the arithmetic."):format(knee) }
end

--- Floats of a buffer that no cache holds.
local function elements(lab)
  local device = lab.device
  if lab.quick then return QUICK_ELEMENTS end
  local n = device.type == "cpu" and CPU_ELEMENTS or ELEMENTS
  while 4 * n <= 2 * device.cache and n < ELEMENTS do n = 2 * n end
  while 4 * n > math.min(device.max_allocation, device.global_memory // 16) do n = n // 2 end
  return n
end

local function measure_intensity(lab)
  local device, n = lab.device, elements(lab)
  local width = math.max(2, device.vector_width_float)
  local chains = device.type == "cpu" and CPU_CHAINS or 1
  local kernel = lab:kernel("probe_intensity", { WIDTH = width, CHAINS = chains })
  local range = { global = { n // (width * chains) }, group = { math.min(lab:choose(256, 8), device.max_group_size) } }
  local from <close> = device:empty("float", n)
  local to <close> = device:empty("float", n)
  from:fill(1)
  local list = {}
  for i, steps in ipairs(lab:choose(STEPS, QUICK_STEPS)) do
    list[i] = {
      name = ("%d operations a load"):format(2 * steps), params = { flops = 2 * steps }, bytes = 8 * n,
      flops = 2 * steps * n,
      launch = function() return kernel(range, steps, 1, 1, from, to) end,
      check = function()
        for _, at in ipairs { 1, n // 2, n } do
          if to:get(at) ~= 1 + steps then return false, ("element %d is %g"):format(at, to:get(at)) end
        end
        return true
      end,
    }
  end
  local rows = lab:times(list)
  for _, row in ipairs(rows) do row.flops_per_second = row.gflops and 1e9 * row.gflops end
  local section = curve.section {
    title = "arithmetic for each load", rows = rows, x = "params.flops", xtitle = "operations for each load",
    how = ("%s load %d vectors of %d floats each, do so many operations on each element, a multiply-add counted as "
      .. "two, and store it; from one buffer of %s to another."):format(
      curve.items_text(range.global[1], range.group[1]), chains, width, format.size(4 * n)),
    y = "flops_per_second", ytitle = "operations a second", yunit = "FLOP/s", xlog = 2, ylog = 10,
    reading = latency_hiding.read_intensity(rows),
  }
  table.insert(section.columns, { key = "gbs", title = "GB/s" })
  return section, latency_hiding.knee(rows)
end

local function measure(lab)
  local groups, latency = measure_groups(lab)
  local intensity, knee = measure_intensity(lab)
  return { groups, intensity }, { load_latency = latency, knee = knee }
end

latency_hiding.name = "latency_hiding"
latency_hiding.title = "Hiding latency"
latency_hiding.teaches = "While work-items wait for memory the scheduler runs others that are ready; to hide the wait, "
  .. "there must be many of them, and much arithmetic for each load or store (source 4, 1.6, figures 1.9 and 1.10)."
latency_hiding.measure = measure

return latency_hiding
