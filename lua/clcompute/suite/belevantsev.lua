-- SPDX-License-Identifier: MIT

--- The measurements of Belevantsev, Kravets & Monakov 2012 (GRAPHITE-OpenCL) with `clcompute.loops`: the 19 PolyKernels
-- as Lua, as C by gcc and as kernels; the refusal set; and the paper's tables 3 and 4 as they are.

local cl = require "clcompute"
local baseline = require "clcompute.suite.baseline"
local bench = require "clcompute.bench"
local polykernels = require "clcompute.suite.polykernels"
local refusal = require "clcompute.suite.refusal"
local workload = require "clcompute.suite.workload"

local SECONDS = { full = 1, quick = 0.05 } -- of warm runs, a candidate
local OTHERS = { "Lua", "gcc", "gcc, OpenMP" }

-- --- what the paper measured: seconds without and with the kernels, the speed-up as printed ---

-- Tables 1 and 2, by row: { cpu = { seconds, with kernels, speed-up }, gpu = { ... } }. Four cores; a GeForce GTX 260.
local POLYKERNELS = {
  jac = { cpu = { 5.87, 5.92, 0.99 }, gpu = { 9.35, 9.34, 1.00 } },
  jac2d = { cpu = { 86.24, 86.28, 0.99 }, gpu = { 84.58, 84.73, 0.99 } },
  adi = { cpu = { 0.13, 0.13, 1.00 }, gpu = { 0.09, 0.08, 1.05 } },
  fdtd1d = { cpu = { 0.93, 0.97, 0.96 }, gpu = { 1.54, 1.52, 1.01 } },
  fdtd2d = { cpu = { 3.49, 3.5, 0.99 }, gpu = { 3.65, 3.64, 1.00 } },
  gs = { cpu = { 1.27, 1.32, 0.96 }, gpu = { 1.5, 1.5, 0.99 } },
  gemver = { cpu = { 0.28, 0.3, 0.91 }, gpu = { 1.36, 1.03, 1.32 } },
  lud = { cpu = { 1, 0.99, 1.01 }, gpu = { 1.33, 1.34, 0.99 } },
  mmm = { cpu = { 22.24, 6.41, 3.46 }, gpu = { 34.82, 0.91, 37.90 } },
  mvt = { cpu = { 1.36, 1.82, 0.74 }, gpu = { 3.51, 1.48, 2.36 } },
  sor = { cpu = { 4.43, 4.43, 1.00 }, gpu = { 1.06, 1.06, 1.00 } },
  ssymm = { cpu = { 14.55, 4.22, 3.44 }, gpu = { 31.34, 14.94, 2.09 } },
  ssyr2k = { cpu = { 17.86, 17.83, 1.00 }, gpu = { 15.62, 15.87, 0.98 } },
  ssyrk = { cpu = { 59.29, 59.72, 0.99 }, gpu = { 51.82, 49.95, 1.03 } },
  strmm = { cpu = { 59.89, 59.69, 1.00 }, gpu = { 54.14, 54.91, 0.98 } },
  strsm = { cpu = { 59.73, 59.93, 0.99 }, gpu = { 52.62, 53.05, 0.99 } },
  tmm = { cpu = { 19.06, 6.99, 2.72 }, gpu = { 35.25, 11.51, 3.06 } },
  trisolv_if = { cpu = { 0.07, 0.07, 0.99 }, gpu = { 0.1, 0.1, 0.99 } },
  trisolv = { cpu = { 25, 26.02, 0.96 }, gpu = { 42.95, 42.21, 1.01 } },
}

-- Table 3, SPEC CPU 2000 on the CPU: { program, seconds, speed-up with heuristics, and without }; the last is nil
-- where the paper prints a cross without a number.
local SPEC = {
  { "wupwise", 76.1, 0.99, 1.07 }, { "swim", 125, 1, 1.00 }, { "mgrid", 115, 0.99, 0.99 },
  { "mesa", 59.2, 1.02, 0.99 }, { "galgel", 69.2, 0.96, 0.91 }, { "art", 40.2, 1.00, 1.00 }, { "equake", 53.7, 1 },
  { "facerec", 96.5, 1, 0.99 }, { "ammp", 118, 0.98 }, { "lucas", 83.3, 1.01, 1.07 }, { "fma3d", 145, 0.99, 0.91 },
  { "sixtrack", 113, 0.99 }, { "apsi", 135, 1, 0.98 }, { "gzip", 97.3, 1.00 }, { "vpr", 74.7, 0.99, 0.99 },
  { "gcc", 52.5, 0.99 }, { "mcf", 94.7, 1.01, 1.00 }, { "parser", 130, 1, 0.47 }, { "eon", 43.9, 0.99, 0.98 },
  { "perlbmk", 67.4, 0.99 }, { "gap", 50.9, 1, 0.99 }, { "vortex", 80.7, 0.99, 0.99 }, { "bzip2", 74.6, 1.00 },
  { "twolf", 115, 1.01, 0.98 },
}

-- Table 4, Polyhedron 2005 on the CPU: { program, seconds, with kernels, speed-up }.
local POLYHEDRON = {
  { "ac", 10.91, 10.96, 0.99 }, { "aermod", 35.02, 34.9, 1.00 }, { "air", 0.24, 0.23, 1.04 },
  { "capacita", 41.24, 46.89, 0.87 }, { "channel", 2.56, 3.13, 0.81 }, { "doduc", 43.71, 43.09, 1.01 },
  { "fatigue", 9.45, 9.49, 0.99 }, { "gas_dyn", 7.93, 7.81, 1.01 }, { "induct", 48.31, 48.62, 0.99 },
  { "linpk", 22.52, 22.5, 1.00 }, { "mdbx", 12.92, 12.99, 0.99 }, { "nf", 21.93, 21.81, 1.00 },
  { "protein", 37.12, 37.75, 0.98 }, { "rnflow", 38.02, 38.09, 0.99 }, { "test_fpu", 10.81, 12.1, 0.89 },
  { "tfft", 2.5, 2.63, 0.95 },
}

local PRINTED = "x%.2f" -- a speed-up
local SAME = 0.05 -- of a time: what changes it by less has not changed it

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
  local list, operands = workload.methods(work, OTHERS, settings.devices)
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

--- What the paper's times say of a kernel.
local function paper_verdict(speed_up)
  return speed_up > 1 + SAME and "faster" or speed_up < 1 - SAME and "slower" or "same"
end

--- One row a kernel: the paper's speed-ups over sequential C, and those here.
local function paper_section(by_kernel, device)
  local list = {}
  for i, name in ipairs(polykernels.NAMES) do
    local paper, here = POLYKERNELS[name], { name = name, status = "ok" }
    here.cpu_seconds, here.cpu_with, here.cpu = table.unpack(paper.cpu)
    here.gpu_seconds, here.gpu_with, here.gpu = table.unpack(paper.gpu)
    here.paper_verdict = ("%s, %s"):format(paper_verdict(here.cpu), paper_verdict(here.gpu))
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
      .. "transfers are of the paper's GPU column. The paper does not say which nests it took: its verdict is what its "
      .. "times say, CPU and GPU, where 5 % are no difference; the verdict here is whether the nest became a kernel.",
    rows = list,
    columns = { { key = "name", title = "kernel" },
      { key = "cpu_seconds", title = "paper, CPU", unit = "s" },
      { key = "cpu_with", title = "with kernels", unit = "s" }, speed_up("cpu", "speed-up"),
      { key = "gpu_seconds", title = "paper, GPU", unit = "s" },
      { key = "gpu_with", title = "with kernels", unit = "s" }, speed_up("gpu", "speed-up"),
      { key = "paper_verdict", title = "paper's verdict" },
      speed_up("gcc, OpenMP", "OpenMP"), speed_up("loops", "loops"), { key = "verdict", title = "verdict here" },
      speed_up("forced", "no heuristics"), speed_up("buffers", "buffers") },
  }
end

--- Sections of tables 3 and 4, as they are printed.
local function printed_sections()
  local spec, polyhedron = {}, {}
  for i, row in ipairs(SPEC) do
    spec[i] = { name = row[1], value = row[2], with = row[3], without = row[4], paper = true }
  end
  for i, row in ipairs(POLYHEDRON) do
    polyhedron[i] = { name = row[1], value = row[2], with = row[3], speed_up = row[4], paper = true }
  end
  return {
    {
      title = "Table 3. SPEC CPU 2000 on a CPU, as the paper has it",
      text = "Not rerun: SPEC's programs are under a licence that has to be bought, and many are Fortran. What they "
        .. "show, that small loops called often must be left alone, is repeated above by a set of our own. Where a "
        .. "cell is empty the paper has no number.",
      rows = spec,
      columns = { { key = "name", title = "program" }, { key = "value", title = "time", unit = "s" },
        { key = "with", title = "with heuristics", format = PRINTED, align = "right" },
        { key = "without", title = "without", format = PRINTED, align = "right" } },
    },
    {
      title = "Table 4. Polyhedron 2005 on a CPU, as the paper has it",
      text = "Not rerun: the programs are Fortran, and under licences of their own.",
      rows = polyhedron,
      columns = { { key = "name", title = "program" }, { key = "value", title = "GRAPHITE", unit = "s" },
        { key = "with", title = "GRAPHITE-OpenCL", unit = "s" },
        { key = "speed_up", title = "speed-up", format = PRINTED, align = "right" } },
    },
  }
end

-- --- the report -------------------------------------------------------------------

-- Seconds that some nests take, about, of small sizes on two cores, the others, and the refusal set.
local WEIGHTS, FEW, REFUSED = { jac = 4, jac2d = 6, adi = 4, fdtd1d = 4, fdtd2d = 11, lud = 7, ssymm = 6 }, 2, 13

--- A function that makes the callback for a part's progress: (title, parts that are done).
local function progress_to(show, names)
  local weights = {}
  for i, name in ipairs(names) do weights[i] = WEIGHTS[name] or FEW end
  weights[#weights + 1] = REFUSED
  return function(title, done)
    return function(state)
      if show then show { name = ("%s: %s"):format(title, state.name), done = done, weights = weights } end
    end
  end
end

local function measure_all(names, settings, progress)
  local all, by_kernel = {}, {}
  for i, name in ipairs(names) do
    settings.progress = progress(name, i - 1)
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
  local names = options.kernels or polykernels.NAMES
  local progress = progress_to(options.progress, names)
  local all, by_kernel = measure_all(names, settings, progress)
  local sections = { measured_section(all) }
  for _, device in ipairs(options.devices) do sections[#sections + 1] = paper_section(by_kernel, device) end
  local refused = refusal { devices = options.devices, quick = options.quick, seconds = SECONDS[settings.kind],
    progress = progress("refusal set", #names) }
  sections[#sections + 1] = refused
  table.move(printed_sections(), 1, 2, #sections + 1, sections)
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
