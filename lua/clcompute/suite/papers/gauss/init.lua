-- SPDX-License-Identifier: MIT

--- The measurements of Baranov & Vlatskaya 2013 on the devices here: the Game of Life over its edge, the driver's
-- choice of the group, the time of an elimination over the group size, and the rule for it. The paper prints its
-- figures without numbers; what it says of them stands in the texts.
-- @module clcompute.suite.papers.gauss

local cl = require "clcompute"
local driver_choice = require "clcompute.suite.papers.gauss.driver_choice"
local group_size = require "clcompute.suite.papers.gauss.group_size"
local life = require "clcompute.suite.papers.gauss.life"
local shrinking = require "clcompute.suite.papers.gauss.shrinking"

local gauss = {}

--- The file that keeps the rows of a figure, or nil.
local function file_in(folder)
  return function(figure, device)
    if not folder then return nil end
    return ("%s/%s%s.jsonl"):format(folder, figure, device and "_" .. device.place:gsub(":", ".") or "")
  end
end

--- What tells a device's sections from those of others.
local function suffix_among(devices)
  return function(device)
    return #devices > 1 and (": %s %s"):format(device.place, device.name) or ""
  end
end

--- A callback for a figure's progress.
local function progress_to(show)
  return function(figure, device)
    local title = device and ("%s on %s"):format(figure, device.place) or figure
    return function(state)
      if show then
        show { name = state.name and ("%s: %s"):format(title, state.name) or title, done = state.done,
          total = state.total, seconds_left = state.remaining }
      end
    end
  end
end

--- Measures and reports.
-- @tparam table options `devices`; `quick`; `cores` of a compute unit; `sizes` of figures 3 and 4, `large_sizes` of
--  5 and 6; `limit`, seconds a figure; `rows`, a folder that keeps what was measured, so that a report that was cut
--  off goes on; `progress`
-- @treturn table a document for `clcompute.report`
function gauss.measure(options)
  local settings = {
    devices = options.devices, quick = options.quick, cores = options.cores, sizes = options.sizes,
    large_sizes = options.large_sizes, limit = options.limit, file = file_in(options.rows),
    progress = progress_to(options.progress), suffix = suffix_among(options.devices),
  }
  local sections = { life(settings) }
  for _, part in ipairs { driver_choice(settings), group_size(settings), { shrinking(settings) } } do
    table.move(part, 1, #part, #sections + 1, sections)
  end
  local facts = { { "version", cl._VERSION } }
  for _, device in ipairs(options.devices) do facts[#facts + 1] = { "device", tostring(device) } end
  return {
    title = "Baranov & Vlatskaya 2013, repeated",
    subtitle = "Gauss elimination in four kernels: the effect and the choice of the work-group size",
    facts = facts, sections = sections,
  }
end

return gauss
