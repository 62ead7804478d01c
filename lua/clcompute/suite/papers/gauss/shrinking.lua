-- SPDX-License-Identifier: MIT

--- A fixed range with a guard in the kernels against one that shrinks with every step (Baranov & Vlatskaya 2013),
-- beside elimination with pivoting and the sequential program.
-- @module clcompute.suite.papers.gauss.shrinking

local bench = require "clcompute.bench"
local candidates = require "clcompute.suite.workload.candidates"
local keep = require "clcompute.suite.papers.keep"
local workload = require "clcompute.suite.workload.gauss"

local SIZES = { full = { 100, 200, 400, 800, 1600 }, quick = { 100, 200, 400 } }

local function measure(n, options)
  local show = options.progress "Fixed or shrinking"
  local list <close> = candidates(workload(n, "float"), { devices = options.devices })
  return bench.compare(list.list, { rounds = 5, seconds = 0.5, peak = false, baseline = list.baseline,
    progress = function(state) show { name = ("N = %d, %s"):format(n, state.name) } end })
end

--- @tparam table options of `clcompute.papers.gauss`
-- @treturn table section
return function(options)
  local rows = {}
  for _, n in ipairs(options.quick and SIZES.quick or SIZES.full) do
    local more = measure(n, options)
    table.move(more, 1, #more, #rows + 1, rows)
  end
  local file = options.file "shrinking"
  if file then keep(file, rows) end
  for _, row in ipairs(rows) do
    row.series = #options.devices > 1 and row.name or row.params.method ~= "" and row.params.method or row.name
    row.surplus = row.status == "ok" and math.max(row.cold - row.value, 0) or nil
  end
  return {
    title = "A fixed or a shrinking range",
    text = "Both launch the same kernels; the fixed range guards them, the shrinking one launches only what there is "
      .. "to do. What no whole group covers is launched by itself: on a CPU with one fixed group, since a driver may "
      .. "compile for each local size. What the first call takes beyond the median is compiling, most of it.",
    rows = rows,
    columns = { { key = "params.n", title = "N" }, { key = "series", title = "method" },
      { key = "value", title = "median" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "surplus", title = "first call, beyond it", unit = "s" }, { key = "gflops", title = "GFLOP/s" },
      { key = "max_error", title = "error/bound", format = "%.3f" } },
    chart = { kind = "line", x = "params.n", y = "value", series = "series", low = "q1", high = "q3", xlog = 2,
      ylog = 10, xtitle = "N", ytitle = "time of an elimination" },
  }
end
