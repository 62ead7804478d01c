-- SPDX-License-Identifier: MIT

--- Atomic additions to one address or to many, in global and in local memory.

local cl = require "clcompute"
local curve = require "clcompute.device_profile.curve"

local GROUP, QUICK_GROUP = 256, 8
local GLOBAL, LOCAL, QUICK = { 1, 4, 16, 64, 256, 1024, 4096 }, { 1, 4, 16, 64, 256 }, { 1, 8 }
local APART = 32 -- elements between counters: no two share a line of a cache
local MOST_ADDITIONS = 1 << 16
local MASK = 0xffffffff -- counters are uints

local HURTS = 1.5 -- many addresses must be so much faster than one to be told from noise

local atomics = {}

local function points_of(rows, memory)
  return curve.of(curve.only(rows, "series", memory), "params.addresses", "per_second")
end

--- What one memory's throughput over the number of addresses says, in words.
local function read_one(points, memory)
  if #points < 2 then return ("In %s memory too few points could be measured to say anything."):format(memory) end
  local one, best = points[1], curve.highest(points)
  local measured = ("In %s memory the device makes an addition to one address every %s"):format(memory,
    curve.seconds_text(1 / one.y))
  if best.y < HURTS * one.y then
    return measured .. ("; spread over %d it is no faster."):format(points[#points].x)
  end
  return measured .. (", spread over %d addresses one every %s: those to the same place wait for each other."):format(
    best.x, curve.seconds_text(1 / best.y))
end

--- What the curves say, in words.
function atomics.read(rows)
  return { read_one(points_of(rows, "global"), "global"), read_one(points_of(rows, "local"), "local") }
end

--- How many of `items` that are numbered from 0 go to an address.
local function share(items, addresses, address)
  return (items - 1 - address) // addresses + 1
end

--- Checks the first and the last counter; they are `apart` from each other in the buffer.
local function check(counters, addresses, apart, items, additions)
  for _, address in ipairs { 0, addresses - 1 } do
    local count = counters:get(address * apart + 1)
    local right = additions * share(items, addresses, address) & MASK
    if count ~= right then return false, ("counter %d is %d, not %d"):format(address, count, right) end
  end
  return true
end

local function global_points(lab, range, additions, counters)
  local items, kernel, list = range.global[1], lab:kernel "probe_atomic_global", {}
  for i, addresses in ipairs(lab:choose(GLOBAL, QUICK)) do
    list[i] = {
      name = ("global, %d addresses"):format(addresses), params = { addresses = addresses },
      operations = items * additions,
      launch = function()
        counters:fill(0)
        return kernel(range, additions, addresses, APART, counters)
      end,
      check = function() return check(counters, addresses, APART, items, additions) end,
    }
  end
  return list
end

local function local_points(lab, range, additions, out)
  local group, kernel, list = range.group[1], lab:kernel "probe_atomic_local", {}
  local scratch = cl.scratch("uint", group)
  for _, addresses in ipairs(lab:choose(LOCAL, QUICK)) do
    if addresses <= group then
      list[#list + 1] = {
        name = ("local, %d addresses"):format(addresses), params = { addresses = addresses },
        operations = range.global[1] * additions,
        launch = function() return kernel(range, additions, addresses, out, scratch) end,
        check = function() return check(out, addresses, 1, group, additions) end,
      }
    end
  end
  return list
end

local function measure(lab)
  local device = lab.device
  local group = math.min(lab:choose(GROUP, QUICK_GROUP), device.max_group_size)
  local items = lab:items(group)
  local range = { global = { items }, group = { group } }
  local counters <close> = device:zeros("uint", APART * GLOBAL[#GLOBAL])
  local out <close> = device:empty("uint", items)
  local kernel = lab:kernel "probe_atomic_global"
  local additions = lab:size(1, MOST_ADDITIONS, function(n) kernel(range, n, 1, APART, counters) end)
  local rows = {}
  local function add(series, list)
    for _, row in ipairs(lab:times(list)) do
      row.series = series
      rows[#rows + 1] = row
    end
  end
  add("global", global_points(lab, range, additions, counters))
  add("local", local_points(lab, range, additions, out))
  return { curve.section {
    rows = rows, x = "params.addresses", xtitle = "addresses", y = "per_second", ytitle = "additions", yunit = "/s",
    how = ("%s add 1 to one of the counters, %d times each; neighbours to different ones, as far as there are several. "
      .. "Counters of global memory are of all items and lie %d bytes apart, those of local memory are of the group.")
      :format(curve.items_text(items, group), additions, 4 * APART),
    series = "series", series_title = "memory", xlog = 2, ylog = 10, reading = atomics.read(rows),
  } }
end

atomics.name = "atomics"
atomics.title = "Atomic additions"
atomics.teaches = "Local memory has fast atomic operations, shared by the items of a group; requests to the same place "
  .. "are served one after the other, in successive cycles (source 4, 4.7)."
atomics.measure = measure

return atomics
