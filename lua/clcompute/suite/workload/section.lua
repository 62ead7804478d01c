-- SPDX-License-Identifier: MIT

--- Measures a workload and says what came of it: a section of a report (`clcompute.report`).
-- @module clcompute.suite.workload.section

local bench = require "clcompute.bench"
local candidates = require "clcompute.suite.workload.candidates"

local RATE = {
  flops = { key = "gflops", title = "GFLOP/s" },
  bytes = { key = "gbs", title = "GB/s" },
}

--- How many times as fast as the baseline.
local function speed_up(ratio)
  local times = 1 / ratio
  return (times >= 99.5 and "%.0f" or times >= 9.95 and "%.1f" or "%.2f"):format(times)
end

local function columns(work, has_peak)
  local list = {
    { key = "device" },
    { key = "params.method", title = "method" },
    { key = "cold", title = "cold", unit = "s" },
    { key = "value", title = "median" },
    { key = { "q1", "q3" }, title = "quartiles" },
    RATE[work.flops and "flops" or "bytes"],
    { key = "ratio", title = "speed-up", format = speed_up, align = "right" },
    { key = "max_error", title = "error/bound", format = "%.3f" },
  }
  if has_peak then table.insert(list, 7, { key = "peak_share", title = "of peak", format = "percent" }) end
  return list
end

--- @tparam table work the workload
-- @tparam table options those of `clcompute.workload.candidates`, and `title`, `text`; `seconds` of warm runs a
--  candidate (1), `rounds`, `peak` (false) and `progress` of `bench.compare`; `paper`: rows of others to stand
--  beside, with `paper=true`
-- @treturn table the section, with the rows
return function(work, options)
  local list <close> = candidates(work, options)
  local rows = bench.compare(list.list, { seconds = options.seconds, rounds = options.rounds,
    peak = options.peak or false, baseline = list.baseline, progress = options.progress })
  table.move(options.paper or {}, 1, #(options.paper or {}), #rows + 1, rows)
  return {
    title = options.title, text = options.text, rows = rows, columns = columns(work, options.peak),
    chart = { kind = "bar", x = "name", y = "value", low = "q1", high = "q3", ylog = 10, ytitle = "time of a run",
      hollow = "paper" },
  }
end
