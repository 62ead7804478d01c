-- SPDX-License-Identifier: MIT

--- Operations of one work-item that do not wait for each other: how many of them the compiler and the hardware put
-- side by side, on a device with little else to do and on a full one.

local chain = require "clcompute.device_profile.chain"
local curve = require "clcompute.device_profile.curve"

local CHAINS = { 1, 2, 3, 4, 5, 6, 8, 12, 16 }
local QUICK_CHAINS = { 1, 5 }
local MOST_STEPS = 1 << 22
local CHECKED = 1024 -- work-items whose results are looked at
local GROUP, SMALL_GROUP = 256, 64

local FEW, MANY = "a group a unit", "a full device"
local GAINS = 1.5 -- times as many operations a second as one chain: less could be a clock that changes
local ARRIVED = 0.9 -- of the most

local packing = {}

--- What the chains gain, in words.
-- @tparam table rows with `series` and `gain`
-- @treturn table sentences
function packing.read(rows)
  local sentences, gains = {}, {}
  for _, series in ipairs { FEW, MANY } do
    local points = curve.of(curve.only(rows, "series", series), "params.chains", "gain")
    if #points < 3 then return { curve.TOO_FEW } end
    local most, enough = curve.highest(points).y, curve.arrival(points, ARRIVED)
    gains[series] = most
    sentences[#sentences + 1] = most >= GAINS
      and ("With %s, independent operations are put side by side: %d of them do %.1f times as many a second as one.")
        :format(series, enough, curve.at(points, enough))
      or ("With %s, independent operations gain little: at most %.2f times."):format(series, most)
  end
  if gains[FEW] >= GAINS * gains[MANY] then
    sentences[#sentences + 1] = "So the wait for a result is hidden either by independent operations or by other "
      .. "work-items: code with few work-items needs independent operations."
  elseif gains[MANY] >= GAINS then
    sentences[#sentences + 1] = "Other work-items do not make up for a chain here: each work-item needs several "
      .. "operations that do not wait for each other."
  end
  return sentences
end

--- What a work-item computes, from 0.
local function expected(steps, chains)
  local after = chain.after(chain.FACTOR, chain.SUMMAND, steps)
  return function(i)
    local sum = 0
    for j = 0, chains - 1 do sum = sum + after(i * chains + j) end
    return sum & 0xffffffff
  end
end

--- Rows over the number of chains, on so many work-items.
local function sweep(lab, series, items, group)
  local range, list = { global = { items }, group = { group } }, {}
  local out <close> = lab.device:empty("uint", items)
  local first = lab:kernel("probe_packing", { CHAINS = 1 })
  local steps = lab:size(4, MOST_STEPS, function(n) first(range, n, out) end)
  for i, chains in ipairs(lab:choose(CHAINS, QUICK_CHAINS)) do
    local kernel = lab:kernel("probe_packing", { CHAINS = chains })
    list[i] = {
      name = ("%d chains, %s"):format(chains, series), params = { chains = chains },
      operations = items * steps * chains,
      launch = function() return kernel(range, steps, out) end,
      check = function() return chain.check(out, math.min(CHECKED, items), expected(steps, chains)) end,
    }
  end
  local rows = lab:times(list)
  for _, row in ipairs(rows) do
    row.series = series
    if row.each and rows[1].each then row.gain = rows[1].each / row.each end
  end
  return rows
end

local function measure(lab)
  local device = lab.device
  local group, small = math.min(GROUP, device.max_group_size), math.min(SMALL_GROUP, device.max_group_size)
  local units = lab:choose(device.compute_units, 2)
  local rows = sweep(lab, FEW, units * small, small)
  local many = sweep(lab, MANY, lab:items(group), group)
  table.move(many, 1, #many, #rows + 1, rows)
  return { curve.section {
    rows = rows, x = "params.chains", xtitle = "independent operations", y = "gain", format = "%.2f",
    ytitle = "operations a second, times those of one", series = "series", series_title = "with",
    reading = packing.read(rows),
    how = ("Each work-item goes through chains of dependent steps, x = a x + b modulo 2^32, so many side by side; with "
      .. "a group of %d for each of the %d compute units, and with %s."):format(small, units,
      curve.items_text(lab:items(group), group)),
  } }
end

packing.name = "packing"
packing.title = "Independent operations"
packing.teaches = "A stream core takes up to five scalar operations in one very long instruction word, which the "
  .. "compiler packs of those that do not wait for each other (source 4, introduction)."
packing.measure = measure

return packing
