-- SPDX-License-Identifier: MIT
--- The row that a measured candidate becomes: a plain table, the same for reports and files.
-- @module clcompute.bench.row

local clock = require "clcompute.bench.clock"
local statistics = require("clcompute.base").statistics

local row = {}

local QUARTERS = 4 -- runs; fewer have no quartiles

--- How many of each unit are a second.
row.UNITS = { s = 1, ms = 1e3, us = 1e6, ns = 1e9 }

--- Adds to the reason of a row, which may have one.
function row.note(result, text)
  result.reason = result.reason and result.reason .. "; " .. text or text
end

--- The share of the peak that binds: what the peaks allow at best, over what it took.
local function peak_share(options, seconds, peak)
  local best = 0
  if options.flops and peak.flops then best = math.max(best, options.flops / peak.flops) end
  if options.bytes and peak.bytes_per_second then
    best = math.max(best, options.bytes / peak.bytes_per_second)
  end
  return best > 0 and best / seconds or nil
end

local function add_times(result, candidate)
  local unit = row.UNITS[result.unit]
  local summary = statistics.summary(candidate.times)
  result.value, result.min = summary.median * unit, summary.min * unit
  if #candidate.times >= QUARTERS then result.q1, result.q3 = summary.q1 * unit, summary.q3 * unit end
  result.runs, result.batch = #candidate.times, candidate.batch
  local options = candidate.options
  if not (summary.median > 0) then
    return row.note(result, "no rates: by its own clock a call took 0 s")
  end
  result.gflops = options.flops and options.flops / summary.median / 1e9
  result.gbs = options.bytes and options.bytes / summary.median / 1e9
  if candidate.peak then result.peak_share = peak_share(options, summary.median, candidate.peak) end
  if candidate.no_peak then row.note(result, "no peak: " .. candidate.no_peak) end
end

--- The row of a candidate, however it fared.
function row.of(candidate)
  local options = candidate.options
  local result = {
    name = options.name, params = options.params or {}, device = candidate.target.name,
    driver = candidate.target.driver, date = clock.date(), unit = options.unit or "s",
    cold = candidate.cold, compile = candidate.compile, upload = candidate.upload, kernel = candidate.kernel,
    download = candidate.download, flops = options.flops, bytes = options.bytes,
    checked = candidate.checked, max_error = candidate.max_error,
    status = candidate.status, reason = candidate.reason,
  }
  if candidate.status == "ok" then add_times(result, candidate) end
  return result
end

return row
