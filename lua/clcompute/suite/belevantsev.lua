-- SPDX-License-Identifier: MIT

--- The measurements of Belevantsev, Kravets & Monakov 2012 (GRAPHITE-OpenCL) with `clcompute.loops`: the 19 PolyKernels
-- as Lua, as C by gcc and as kernels; the refusal set; and the paper's tables 3 and 4 as they are.
-- @module clcompute.suite.belevantsev

local cl = require "clcompute"
local baseline = require "clcompute.suite.baseline"
local bench = require "clcompute.bench"
local comparison = require "clcompute.suite.comparison"
local polykernels = require "clcompute.suite.polykernels"
local refusal = require "clcompute.suite.refusal"
local tables = require "clcompute.suite.belevantsev_tables"
local workload = require "clcompute.suite.workload"

local SECONDS = { full = 1, quick = 0.05 } -- of warm runs, a candidate
local OTHERS = { "Lua", "gcc", "gcc, OpenMP" }

local belevantsev = {}

-- --- measuring --------------------------------------------------------------------

--- What became of a call's nests.
local function verdict(counts)
  return counts.launches == 0 and "in Lua" or "taken"
end

--- Adds to a row what a further call did, since the heuristics may take a nest only once its program pays. A row whose
-- call is wrong has failed.
local function add_counts(result, work, candidate, operands)
  candidate.reset()
  candidate.fn()
  local right, reason = candidate.check()
  if not right then
    result.status, result.reason, result.checked = "failed", "a later call: " .. reason, false
    return
  end
  local counts = work.counts(operands)
  result.verdict = verdict(counts)
  for name, number in pairs(counts) do result[name] = number end
end

local function measure_row(name, settings)
  local sizes = polykernels.load(name).sizes[settings.kind]
  local work = workload.new("loops", { row = name, n = sizes.n, steps = sizes.steps, oracle = "Lua" }, "double")
  local list, operands = comparison.methods(work, OTHERS, settings.devices)
  local measured = bench.compare(list, { seconds = SECONDS[settings.kind], peak = false, baseline = "Lua",
    progress = settings.progress })
  local c_seconds = measured[2].status == "ok" and measured[2].value or nil
  for i, result in ipairs(measured) do
    result.kernel_name = name
    result.params.n, result.params.steps = sizes.n, sizes.steps
    if result.status == "ok" then
      result.over_lua = result.ratio and 1 / result.ratio
      result.over_c = c_seconds and c_seconds / result.value
      if operands[list[i]] then add_counts(result, work, list[i], operands[list[i]]) end
    end
  end
  return measured
end

-- --- sections ---------------------------------------------------------------------

local function factor(value)
  return ("x" .. (value >= 99.5 and "%.0f" or value >= 9.95 and "%.1f" or value >= 0.095 and "%.2f" or "%.1g"))
    :format(value)
end

local function launches(count)
  return count == 0 and "in Lua" or ("%d"):format(count)
end

local function measured_section(all)
  return {
    title = "The PolyKernels: Lua, C and kernels",
    text = { ("C is the same loops by %s, and with OpenMP on the loops that are parallel as written; products and "
      .. "sums are not fused, so that all results are equal to Lua's to the bit."):format(baseline.COMMAND),
      "\"loops\" works on Lua's nested tables, which it copies in and out, \"forced\" likewise but without heuristics; "
      .. "\"buffers\" on what lies on the device. What does not pay stays in Lua, at quick sizes most, and buffers are "
      .. "then copied out and in. / Lua and / gcc: how many times as fast. Launches and bytes are "
      .. "those of a call after the measured ones." },
    rows = all,
    columns = { { key = "kernel_name", title = "kernel" }, { key = "params.n", title = "n" },
      { key = "params.steps", title = "steps" }, { key = "name", title = "as" },
      { key = "value", title = "median" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "over_lua", title = "/ Lua", format = factor, align = "right" },
      { key = "over_c", title = "/ gcc", format = factor, align = "right" },
      { key = "launches", format = launches, align = "right" },
      { key = "bytes_up", title = "up", unit = "B" }, { key = "bytes_down", title = "down", unit = "B" },
      { key = "checked", title = "right" } },
    chart = { kind = "heat", x = "name", y = "kernel_name", value = "over_lua", log = 10, xtitle = "method",
      ytitle = "kernel", vtitle = "times as fast as Lua" },
  }
end

--- One row a kernel: the paper's speed-ups over sequential C, and those here.
local function paper_section(by_kernel, device)
  local list = {}
  for i, name in ipairs(polykernels.NAMES) do
    local paper, here = tables.POLYKERNELS[name], { name = name, status = "ok" }
    here.cpu_seconds, here.cpu_with, here.cpu = table.unpack(paper.cpu)
    here.gpu_seconds, here.gpu_with, here.gpu = table.unpack(paper.gpu)
    for _, row in ipairs(by_kernel[name] or {}) do
      if row.name == ("%s, %s"):format(row.params.method, device.place) or row.params.method:find "^gcc" then
        here[row.params.method] = row.over_c
        if row.params.method == "loops" then here.verdict = row.verdict end
      end
    end
    list[i] = here
  end
  local function speed_up(key, title) return { key = key, title = title, format = factor, align = "right" } end
  return {
    title = ("Tables 1 and 2. Speed-up over sequential C: the paper, and here on %s"):format(device.name),
    text = "The paper: GRAPHITE-OpenCL against GRAPHITE, with heuristics, on four cores and on a GeForce GTX 260. "
      .. "Here: against gcc on one core; the tables' way into and out of buffers is part of \"loops\", as the "
      .. "transfers are of the paper's GPU column.",
    rows = list,
    columns = { { key = "name", title = "kernel" },
      { key = "cpu_seconds", title = "paper, CPU", unit = "s" },
      { key = "cpu_with", title = "with kernels", unit = "s" }, speed_up("cpu", "speed-up"),
      { key = "gpu_seconds", title = "paper, GPU", unit = "s" },
      { key = "gpu_with", title = "with kernels", unit = "s" }, speed_up("gpu", "speed-up"),
      speed_up("gcc, OpenMP", "OpenMP"), speed_up("loops", "loops"), { key = "verdict" },
      speed_up("forced", "no heuristics"), speed_up("buffers", "buffers") },
  }
end

-- --- the report -------------------------------------------------------------------

local function progress_to(show, title, done)
  return function(state)
    if show then show { name = ("%s: %s"):format(title, state.name), done = done, total = #polykernels.NAMES + 1 } end
  end
end

local function measure_all(options, settings)
  local all, by_kernel = {}, {}
  for i, name in ipairs(options.kernels or polykernels.NAMES) do
    settings.progress = progress_to(options.progress, name, i - 1)
    by_kernel[name] = measure_row(name, settings)
    table.move(by_kernel[name], 1, #by_kernel[name], #all + 1, all)
  end
  return all, by_kernel
end

--- Measures and reports.
-- @tparam table options `devices`; `quick`: small sizes; `kernels`: names, some of the 19; `progress`
-- @treturn table a document for `clcompute.report`
-- @treturn table the rows of the PolyKernels and of the refusal set, to be kept
function belevantsev.measure(options)
  local settings = { devices = options.devices, kind = options.quick and "quick" or "full" }
  local all, by_kernel = measure_all(options, settings)
  local sections = { measured_section(all) }
  for _, device in ipairs(options.devices) do sections[#sections + 1] = paper_section(by_kernel, device) end
  local refused = refusal { devices = options.devices, quick = options.quick, seconds = SECONDS[settings.kind],
    progress = progress_to(options.progress, "refusal set", #polykernels.NAMES) }
  sections[#sections + 1] = refused
  table.move(tables.sections(), 1, 2, #sections + 1, sections)
  local facts = { { "version", cl._VERSION }, { "baseline", baseline.lack() or baseline.COMMAND } }
  for _, device in ipairs(options.devices) do facts[#facts + 1] = { "device", tostring(device) } end
  local rows = table.move(all, 1, #all, 1, {})
  return {
    title = "Belevantsev, Kravets & Monakov 2012, repeated",
    subtitle = "Loop nests of an ordinary program as OpenCL kernels: the PolyKernels, as Lua functions",
    facts = facts, sections = sections,
  }, table.move(refused.rows, 1, #refused.rows, #rows + 1, rows)
end

return belevantsev
