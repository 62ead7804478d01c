-- SPDX-License-Identifier: MIT
--- Workloads in comparison: the candidates that are measured together, and the section of a report that comes of them.
-- @module clcompute.suite.comparison

local bench = require "clcompute.bench"
local workload = require "clcompute.suite.workload"

local comparison = {}

-- --- candidates: every method on every device, the sequential program, libraries --

local Candidates = {}
Candidates.__index = Candidates

--- Adds a candidate with its operands, to be released with the others.
local function add(self, name, platform, method, made, operands)
  made.name, made.params = name, { platform = platform, method = method, n = self.work.size, dtype = self.work.dtype }
  self.list[#self.list + 1], self.owned[#self.owned + 1] = made, operands
end

local function add_device(self, device, options)
  local work = self.work
  for _, method in ipairs(options.methods or work.methods) do
    add(self, ("%s %s %s"):format(device.place, device.name, method), device.platform, method,
      workload.ours(work, device, method))
  end
  if options.against and work.others.CLBlast and not workload.lack(work, device) then
    add(self, "CLBlast on " .. device.place, "CLBlast", "CLBlast", workload.theirs(work, "CLBlast", device))
  end
end

--- Releases every operand. May be called twice.
function Candidates:release()
  for _, operands in ipairs(self.owned) do workload.release(operands) end
  self.owned = {}
end

Candidates.__close = Candidates.release

--- The candidates of a workload: the field `list`, whose `baseline` is the name of the sequential program. The names
-- are unique; `params` are `platform`, `method`, `n` and `dtype`.
-- @tparam table work
-- @tparam table options `devices`; `methods`, those to be measured (all of the workload); `against`: OpenBLAS and
--  CLBlast too
-- @treturn table with `list`, `baseline` and the method `release`, also called when it is closed
function comparison.candidates(work, options)
  local self = setmetatable({ work = work, list = {}, owned = {}, baseline = "sequential" }, Candidates)
  for _, device in ipairs(options.devices) do add_device(self, device, options) end
  if options.against and work.others.OpenBLAS then
    add(self, "OpenBLAS", "OpenBLAS", "OpenBLAS", workload.theirs(work, "OpenBLAS"))
  end
  local sequential = workload.theirs(work, "sequential")
  sequential.device = "sequential, one core"
  add(self, self.baseline, "-", "", sequential)
  return self
end

-- --- candidates: others, then every method on every device ------------------------

--- Candidates named after their methods, and the counts of those of this library.
-- @tparam table work with `counts`
-- @tparam table others names of `work.others`, the baseline first
-- @tparam table devices
-- @treturn table the candidates
-- @treturn table by candidate of this library, its operands
function comparison.methods(work, others, devices)
  local list, operands = {}, {}
  local function add_method(name, method, device, made)
    made.name, made.params, made.device = name, { method = method }, device
    list[#list + 1] = made
  end
  for _, name in ipairs(others) do add_method(name, name, name, (workload.theirs(work, name))) end
  for _, device in ipairs(devices) do
    for _, method in ipairs(work.methods) do
      local made, own = workload.ours(work, device, method)
      operands[made] = own
      add_method(("%s, %s"):format(method, device.place), method, device, made)
    end
  end
  return list, operands
end

-- --- a section --------------------------------------------------------------------

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

--- Measures a workload.
-- @tparam table work
-- @tparam table options those of `comparison.candidates`, and `title`, `text`; `seconds` of warm runs a candidate (1),
--  `rounds`, `peak` (false) and `progress` of `bench.compare`; `paper`: rows of others to stand beside, with
--  `paper=true`
-- @treturn table a section of a report (`clcompute.report`), with the rows
function comparison.section(work, options)
  local list <close> = comparison.candidates(work, options)
  local rows = bench.compare(list.list, { seconds = options.seconds, rounds = options.rounds,
    peak = options.peak or false, baseline = list.baseline, progress = options.progress })
  table.move(options.paper or {}, 1, #(options.paper or {}), #rows + 1, rows)
  return {
    title = options.title, text = options.text, rows = rows, columns = columns(work, options.peak),
    chart = { kind = "bar", x = "name", y = "value", low = "q1", high = "q3", ylog = 10, ytitle = "time of a run",
      hollow = "paper" },
  }
end

return comparison
