-- SPDX-License-Identifier: MIT

--- The measurements of Baranov & Vlatskaya 2013 on the devices here: the Game of Life over its edge, the driver's
-- choice of the group, the time of an elimination over the group size, and the rule for it. The paper prints its
-- figures without numbers; what it says of them stands in the texts.

local bench = require "clcompute.bench"
local cl = require "clcompute"
local driver_choice = require "clcompute.suite.driver_choice"
local group_study = require "clcompute.suite.group_study"
local report = require "clcompute.report"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"
local write_file = require("clcompute.base").write_file

local baranov = {}

-- --- figure 1: the Game of Life on a cubic field --------------------------------------

local EDGES = { full = { 16, 24, 32, 48, 64, 96, 128, 192 }, quick = { 16, 32, 64 } }
local ONE_CORE = "sequential, one core"

--- A generation of a field of n x n x n cells, 0 to 3, of which the ones live, as a workload
-- (`clcompute.suite.workload`).
local function life(n)
  local cells <close> = cl.device():random("uchar", n, n, n, { seed = n, high = 3 })
  local field = cells:string()
  local work = { name = "life", size = n, others = {} }
  function work.prepare(device)
    return { kernel = device:kernel "life", from = device:buffer(field, "uchar", n, n, n),
      to = device:empty("uchar", n, n, n) }
  end
  function work.run(o)
    o.kernel({ n, n, n }, n, o.from, o.to)
    o.from, o.to = o.to, o.from
  end
  function work.result(o) return o.from:string() end
  function work.check(bytes)
    return bytes == sequential.life(field, n, 1), "a cell differs from the sequential program's"
  end

  --- The sequential program in C, which `check` compares with; its spec compares it with spec/reference.lua.
  function work.others.sequential()
    return { timed = true, run = function() return select(2, sequential.life(field, n, 1)) end }
  end
  return work
end

local function life_candidate(point)
  local work, device = life(point.edge), point.device
  local made = device == ONE_CORE and workload.theirs(work, "sequential") or workload.ours(work, device)
  made.name, made.device = ("edge %d"):format(point.edge), device
  return made
end

--- The section of the time of a generation over the edge of the field.
local function life_section(options)
  local devices = table.move(options.devices, 1, #options.devices, 1, {})
  devices[#devices + 1] = ONE_CORE
  local rows = bench.sweep {
    axes = { { "edge", options.quick and EDGES.quick or EDGES.full }, { "device", devices } },
    run = life_candidate, work = function(point) return point.edge ^ 3 end,
    seconds = options.quick and 0.2 or 0.5, peak = false,
    limit = options.limit, file = options.file "life", progress = options.progress "Figure 1",
  }
  for _, row in ipairs(rows) do row.cells = row.params.edge ^ 3 | 0 end
  return {
    title = "Figure 1. Game of Life on a cubic field",
    text = { "Time of a generation over the edge of the field, 26 neighbours a cell, rule 4555; the first generation "
      .. "of each is checked against the sequential program's.",
      "The paper's figure, from Alekseenko and Kazennov 2010, sets CUDA against OpenCL." },
    rows = rows,
    columns = { { key = "params.edge", title = "edge" }, { key = "device" }, { key = "cold", unit = "s" },
      { key = "value", title = "generation" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "cells", title = "cells" }, { key = "checked", title = "right" } },
    chart = { kind = "line", x = "params.edge", y = "value", series = "device", low = "q1", high = "q3", xlog = 2,
      ylog = 10, xtitle = "edge", ytitle = "time of a generation" },
  }
end

-- --- a fixed range, guarded in the kernels, against one that shrinks with every step; the remainder on the device or
-- the host

local SIZES = { full = { 100, 200, 400, 800, 1600 }, quick = { 100, 200 } }
local METHODS = { "fixed", "host", "shrinking", "pivoting" }

local function measure_shrinking(n, options)
  local show = options.progress "Fixed or shrinking"
  local list <close> = workload.candidates(workload.new("gauss", { n = n }, "float"),
    { devices = options.devices, methods = METHODS })
  return bench.compare(list.list, { rounds = 5, seconds = options.quick and 0.1 or 0.5, peak = false,
    baseline = list.baseline, progress = function(state) show { name = ("N = %d, %s"):format(n, state.name) } end })
end

--- The section of both ranges, with elimination with pivoting and the sequential program.
local function shrinking_section(options)
  local rows = {}
  for _, n in ipairs(options.quick and SIZES.quick or SIZES.full) do
    local more = measure_shrinking(n, options)
    table.move(more, 1, #more, #rows + 1, rows)
  end
  local file = options.file "shrinking"
  if file then write_file(file, report.jsonl(rows)) end
  for _, row in ipairs(rows) do
    row.series = #options.devices > 1 and row.name or row.params.method ~= "" and row.params.method or row.name
    row.surplus = row.status == "ok" and math.max(row.cold - row.value, 0) or nil
  end
  return {
    title = "A fixed or a shrinking range",
    text = { "Both launch the same kernels; the fixed range guards them, the shrinking one launches only what there is "
      .. "to do. What no whole group covers is a launch of its own (remainder = \"split\"): on a CPU with one fixed "
      .. "group, since a driver may compile for each local size. What the first call takes beyond the median is "
      .. "compiling, most of it.",
      "The paper's other way with what no whole group covers is a sequential program: \"host\" is the fixed range with "
      .. "remainder = \"host\", for which the columns left travel to the host and back in each step." },
    rows = rows,
    columns = { { key = "params.n", title = "N" }, { key = "series", title = "method" },
      { key = "value", title = "median" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "surplus", title = "first call, beyond it", unit = "s" }, { key = "gflops", title = "GFLOP/s" },
      { key = "max_error", title = "error/bound", format = "%.3f" } },
    chart = { kind = "line", x = "params.n", y = "value", series = "series", low = "q1", high = "q3", xlog = 2,
      ylog = 10, xtitle = "N", ytitle = "time of an elimination" },
  }
end

-- --- the report -------------------------------------------------------------------

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
function baranov.measure(options)
  local settings = {
    devices = options.devices, quick = options.quick, cores = options.cores, sizes = options.sizes,
    large_sizes = options.large_sizes, limit = options.limit, file = file_in(options.rows),
    progress = progress_to(options.progress), suffix = suffix_among(options.devices),
  }
  local sections = { life_section(settings) }
  for _, part in ipairs { driver_choice(settings), group_study(settings),
    { shrinking_section(settings) } } do
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

return baranov
