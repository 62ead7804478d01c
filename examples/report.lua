-- SPDX-License-Identifier: MIT
--- Measures the sequential saxpy over sizes and shows the rows as text, and as a page with a chart.
-- Usage: report.lua [FILE.html]

local report = require "clcompute.report"
local sequential = require "clcompute.sequential"

local RUNS = 9

--- n floats 0, 1, 2, ... packed.
local function floats(n)
  local values = {}
  for i = 1, n do values[i] = string.pack("f", i - 1) end
  return table.concat(values)
end

--- A row: median and quartiles of the seconds that the loop took, the first run apart.
local function measure(n)
  local x = floats(n)
  local result, cold = sequential.saxpy(2, x, x)
  local seconds = {}
  for i = 1, RUNS do seconds[i] = select(2, sequential.saxpy(2, x, x)) end
  table.sort(seconds)
  local function quantile(share) return seconds[math.floor((RUNS - 1) * share + 0.5) + 1] end
  return {
    name = "saxpy", params = { n = n }, device = "sequential, one core", runs = RUNS, cold = cold,
    value = quantile(0.5), q1 = quantile(0.25), q3 = quantile(0.75), gbs = 12 * n / quantile(0.5) / 1e9,
    checked = string.unpack("f", result, 4 * n - 3) == 3.0 * (n - 1), status = "ok",
  }
end

local rows = {}
for power = 10, 20 do rows[#rows + 1] = measure(1 << power) end

local document = {
  title = "saxpy on one core",
  facts = { { "program", "clcompute.sequential" }, { "runs", RUNS } },
  sections = { {
    title = "Time over size", rows = rows, caption = "Median, and quartiles as a band; both axes are logarithmic.",
    chart = { kind = "line", x = "params.n", y = "value", low = "q1", high = "q3", xlog = 2, ylog = 10,
      xtitle = "elements", ytitle = "time" },
  } },
}

print(report.text(document))
if arg[1] then
  local file <close> = assert(io.open(arg[1], "w"))
  file:write(report.html(document))
  print("written: " .. arg[1])
end
