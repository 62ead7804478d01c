-- SPDX-License-Identifier: MIT

--- Constant memory, and global memory behind its caches, beside local memory: where reads that meet one bank of local
-- memory do better.

local TableReads = require "clcompute.device_profile.table_reads"
local curve = require "clcompute.device_profile.curve"

local STRIDES = { 0, 1, 2, 4, 8, 16, 32, 33, 64 }
local QUICK_STRIDES = { 0, 1, 32 }
local SHARE = 1 / 8 -- of the time of a point: conflicts make some take many times as long

local PLACES = { -- local memory first
  { name = "local memory", space = "local" },
  { name = "constant memory", space = "constant" },
  { name = "global memory, cached", space = "global" },
}

local SAME = 1.25 -- times: below that two places are taken to be as fast as each other

local constant_memory = {}

--- How many times as fast, in words.
local function times_text(gain)
  if gain >= SAME then return ("%.1f times as fast"):format(gain) end
  if gain <= 1 / SAME then return ("%.1f times slower"):format(1 / gain) end
  return "as fast"
end

--- What reads cost in each place, in words.
-- @tparam table rows over `params.stride`, with `series`
-- @treturn table sentences
function constant_memory.read(rows)
  local points = {}
  for i, place in ipairs(PLACES) do
    points[i] = curve.of(curve.only(rows, "series", place.name), "params.stride", "each")
  end
  if #points[1] < 3 then return { curve.TOO_FEW } end
  local worst, sentences = curve.highest(points[1]), {}
  for i = 2, #PLACES do
    local one, next_to, there = curve.at(points[i], 0), curve.at(points[i], 1), curve.at(points[i], worst.x)
    if one and next_to and there then
      sentences[#sentences + 1] = ("In %s reads of neighbouring addresses take %.1f times as long as those of one "
        .. "address. At stride %d, the slowest of local memory, it is %s."):format(PLACES[i].name, next_to / one,
        worst.x, times_text(worst.y / there))
    end
  end
  return sentences[1] and sentences or { "No other place could be measured." }
end

--- Adds the rows of a place.
local function add_place(lab, place, rows)
  local failed = lab:try({ name = place.name, params = { space = place.space } }, function()
    local reads <close> = TableReads.new(lab, "float", place.space)
    reads:fit_size()
    for _, stride in ipairs(lab:choose(STRIDES, QUICK_STRIDES)) do
      local row = reads:row(("%s, stride %d"):format(place.name, stride), { space = place.space, stride = stride },
        stride)
      row.series, rows[#rows + 1] = place.name, row
    end
  end)
  rows[#rows + 1] = failed
end

local function measure(whole_lab)
  local lab, rows = whole_lab:brief(SHARE), {}
  for _, place in ipairs(PLACES) do add_place(lab, place, rows) end
  return { curve.section {
    how = TableReads.how(lab) .. " The table is in each place in turn. Work-item i of a group begins at entry i times "
      .. "the stride; with stride 0 all read the same. Images are not measured.",
    rows = rows, x = "params.stride", xtitle = "stride between neighbours, floats", y = "each",
    ytitle = "time of a read", yunit = "s", series = "series", series_title = "place",
    reading = constant_memory.read(rows),
  } }
end

constant_memory.name = "constant_memory"
constant_memory.title = "Constant memory against bank conflicts"
constant_memory.teaches = "A program with many conflicts between banks of local memory may gain by constant or image "
  .. "memory (source 4, 4.7)."
constant_memory.measure = measure

return constant_memory
