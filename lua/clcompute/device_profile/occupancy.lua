-- SPDX-License-Identifier: MIT

--- What keeps groups from sharing a compute unit: the local memory and the registers that each of them takes. A chain
-- of loads shows it, for its throughput is that of the groups that wait at once.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local GPU_GROUPS, CPU_GROUPS = 64, 4 -- for each compute unit
local MOST_LOOPS = 1 << 14
local SHARES = { 64, 32, 16, 8, 4, 2, 1 } -- of the local memory that a group takes: a 64th, ...
local REGISTERS = { 8, 16, 32, 64, 128 }
local QUICK_SHARES, QUICK_REGISTERS = { 64, 1 }, { 8, 16 }
local KEPT_BACK = 64 -- bytes of local memory that a driver may keep for itself

local FALLS = 2 -- the throughput must fall by so much to be told from noise

local occupancy = {}

--- What a throughput over a resource says, in words.
-- @tparam table rows
-- @tparam string x the field of the resource
-- @tparam string what "%d bytes of local memory for each group"
-- @tparam string why what makes it fall
function occupancy.read(rows, x, what, why)
  local points = curve.of(rows, x, "per_second")
  if #points < 2 then return { curve.TOO_FEW } end
  local best, last = curve.highest(points), points[#points]
  if best.y < FALLS * last.y then
    return { ("No fall is visible: with " .. what .. " the throughput is %.2f of the highest. Here groups do not wait "
      .. "side by side on a unit, or there is room for all of them."):format(last.x, last.y / best.y) }
  end
  local kept = best.x
  for _, point in ipairs(points) do
    if point.y >= best.y / FALLS then kept = math.max(kept, point.x) end
  end
  return { ("With " .. what .. " the throughput is %.2f of the highest: %s."):format(last.x, last.y / best.y, why),
    ("Up to %d it stays above half."):format(kept) }
end

local function measure_local(lab, walks, groups, loops)
  local room, list = lab.device.local_memory - KEPT_BACK, {}
  for i, share in ipairs(lab:choose(SHARES, QUICK_SHARES)) do
    local elements = math.max(walks.group, room // share // 4)
    list[i] = walks:point { name = ("%d bytes"):format(4 * elements), params = { bytes = 4 * elements },
      groups = groups, loops = loops, scratch = elements }
  end
  local rows = lab:times(list)
  return curve.section {
    title = "local memory", rows = rows, x = "params.bytes", xtitle = "bytes of local memory for each group",
    y = "per_second", ytitle = "loads", yunit = "/s", xlog = 2,
    how = ("%s %d groups are launched, each with so much local memory, whether it needs it or not."):format(walks:how(),
      groups),
    reading = occupancy.read(rows, "params.bytes", "%d bytes of local memory for each group",
      "fewer groups find room on a unit, and fewer waits overlap"),
  }
end

local function measure_registers(lab, walks, groups, loops)
  local list = {}
  for i, registers in ipairs(lab:choose(REGISTERS, QUICK_REGISTERS)) do
    list[i] = walks:point { name = ("%d values"):format(registers), params = { registers = registers },
      groups = groups, loops = math.max(1, loops * REGISTERS[1] // registers), registers = registers }
  end
  local rows = lab:times(list)
  return curve.section {
    title = "registers", rows = rows, x = "params.registers", xtitle = "values that a work-item keeps",
    y = "per_second", ytitle = "loads", yunit = "/s", xlog = 2,
    how = ("The same walks of %d groups; each work-item keeps so many sums at once, which take registers, and adds "
      .. "what it loads to them in turn."):format(groups),
    reading = occupancy.read(rows, "params.registers", "%d values kept by each work-item",
      "fewer groups find room on a unit, or values that find none in registers go to memory"),
  }
end

local function measure(lab)
  local device = lab.device
  local groups = lab:choose((device.type == "cpu" and CPU_GROUPS or GPU_GROUPS) * device.compute_units, 2)
  local walks <close> = chain.groups(lab, groups)
  local loops = lab:size(1, MOST_LOOPS, walks:launcher { groups = groups })
  loops = math.max(loops, lab:choose(REGISTERS[#REGISTERS] // REGISTERS[1], 1))
  return { measure_local(lab, walks, groups, loops), measure_registers(lab, walks, groups, loops) }
end

occupancy.name = "occupancy"
occupancy.title = "Occupancy"
occupancy.teaches = "How many work-items are active at once depends on what they take: the registers in use, and the "
  .. "local memory of their group, by which the scheduler decides which groups share a unit (source 4, 1.6 and 1.7.3)."
occupancy.measure = measure

return occupancy
