-- SPDX-License-Identifier: MIT

--- The roofline: what peak arithmetic and memory allow over the operations for each byte, and where saxpy, matrix
-- products and linear systems stand beneath it.

local format = require("clcompute.base").format
local suite = require "clcompute.suite"

local GPU_SIZES = { saxpy = 1 << 24, gemm = 2048, lu = 2048 }
local CPU_SIZES = { saxpy = 1 << 22, gemm = 512, lu = 512 }
local QUICK_SIZES = { saxpy = 256, gemm = 16, lu = 8 }
local RUNS = 3
local FASTER = 1.5 -- times the copy: a level with a roof of its own
local LEAST, MOST = 1 / 64, 4096 -- operations for each byte, from where to where the roof is drawn
local ENDS = { "left end", "ridge", "right end" }
local FAR = 0.5 -- of what a roof allows: below it something else binds

local function product_bytes(n) return 12 * n ^ 2 end
local function system_bytes(n) return 8 * n ^ 2 end

-- Bytes that must move at least: each operand read once and each result written once, of 4 bytes. Without a method the
-- library chooses.
local WORKS = {
  { name = "saxpy", operation = "saxpy", method = "out", bytes = function(n) return 12 * n end,
    flops = function(n) return 2 * n end },
  { name = "cl.gemm", operation = "gemm", bytes = product_bytes },
  { name = "gemm, tiled kernel", operation = "gemm", method = "tiled", bytes = product_bytes },
  { name = "gemm, naive kernel", operation = "gemm", method = "naive", bytes = product_bytes },
  { name = "cl.lu and solve", operation = "lu", method = "factors", bytes = system_bytes },
  { name = "cl.gauss", operation = "lu", method = "checked", bytes = system_bytes },
}

local BELOW = "Far below a roof neither peak binds, but what roofs leave out: a launch, or hundreds of them, that "
  .. "are part of the time by the host's clock; lines that are fetched before they are written to, where the peak "
  .. "updates in place; operands that are read again and again; and in the naive and the tiled kernel sums whose "
  .. "additions wait for each other, where the kernels of cl.gemm have a block of sums in each work-item."

local roofline = {}

--- The rate that a roof allows.
-- @tparam number intensity operations for each byte
-- @tparam number flops peak, a second
-- @tparam number bytes_per_second
function roofline.limit(intensity, flops, bytes_per_second)
  return math.min(flops, intensity * bytes_per_second)
end

--- The rows of a roof: its ends and its ridge.
local function roof_rows(name, flops, bytes_per_second)
  local rows = {}
  for i, intensity in ipairs { LEAST, flops / bytes_per_second, math.max(MOST, 2 * flops / bytes_per_second) } do
    rows[i] = { name = ("%s, %s"):format(name, ENDS[i]), series = name, intensity = intensity, status = "ok",
      roof = true, rate = roofline.limit(intensity, flops, bytes_per_second) }
  end
  return rows
end

--- The roofs: of memory, by the copy, and of every level that was found to be faster.
-- @tparam table found the facts of a profile
function roofline.roofs(found)
  local memory, rows = found.peak.bytes_per_second, {}
  local function add(level, bytes_per_second)
    local name = ("roof: %s"):format(level)
    table.move(roof_rows(name, found.peak.flops, bytes_per_second), 1, 3, #rows + 1, rows)
  end
  for _, level in ipairs(found.bandwidth or {}) do
    if level.bytes_per_second > FASTER * memory then add(level.level, level.bytes_per_second) end
  end
  add("memory", memory)
  return rows
end

--- What the points say, in words.
-- @tparam table rows of the works, with `intensity` and `rate`
-- @tparam table peak as `bench.peak` returns it
function roofline.read(rows, peak)
  local sentences, is_far = {}, false
  for _, row in ipairs(rows) do
    if row.status == "ok" and row.rate then
      local limit = roofline.limit(row.intensity, peak.flops, peak.bytes_per_second)
      sentences[#sentences + 1] = ("%s reaches %s, %.3g %% of what %s allows at %.3g operations for each byte."):format(
        row.name, format.engineering(row.rate, "FLOP/s"), 100 * row.rate / limit,
        limit < peak.flops and "the memory" or "the arithmetic", row.intensity)
      is_far = is_far or row.rate < FAR * limit
    end
  end
  if #sentences == 0 then return { "None could be measured." } end
  if is_far then sentences[#sentences + 1] = BELOW end
  return sentences
end

--- Measures one; it is run by its method, or by the library's own choice.
local function measure_work(lab, work, sizes)
  local n = sizes[work.operation]
  local made = suite.workload(work.operation, { n = n }, "float")
  local operands = made.prepare(lab.device)
  local row = lab:walls({ {
    name = work.name, params = { n = n }, flops = made.flops or work.flops(n), bytes = math.floor(work.bytes(n)),
    run = function() return made.run(operands, work.method) end,
    check = function() return made.check(made.result(operands, work.method)) end,
  } }, RUNS)[1]
  for _, operand in pairs(operands) do operand:release() end
  row.series, row.intensity = row.name, row.flops and row.flops / row.bytes
  row.rate = row.gflops and 1e9 * row.gflops
  return row
end

--- An intensity of a table: three digits, and all of those before the point.
local function intensity_text(value)
  return format.significant(value >= 1000 and math.floor(value + 0.5) or value)
end

local function measure(lab)
  local peak, rows, points = lab.found.peak, {}, {}
  local sizes = lab:choose(lab.device.type == "cpu" and CPU_SIZES or GPU_SIZES, QUICK_SIZES)
  if peak then rows = roofline.roofs(lab.found) end
  for i, work in ipairs(WORKS) do
    points[i] = lab:try({ name = work.name }, measure_work, lab, work, sizes)
    rows[#rows + 1] = points[i]
  end
  return { {
    how = ("saxpy of %d elements into a third vector, products of matrices %d x %d, linear systems of %d x %d, "
      .. "checked, by the host's clock, their operands already in the device's memory. The bytes are each operand read "
      .. "once and each result written once. The roof of memory is that of the peaks."):format(sizes.saxpy, sizes.gemm,
      sizes.gemm, sizes.lu, sizes.lu),
    rows = rows, reading = peak and roofline.read(points, peak)
      or { "There is no roof without peaks: they belong to the experiment 'peaks'." },
    columns = { { key = "name" }, { key = "params.n", title = "n" },
      { key = "intensity", title = "operations for each byte", format = intensity_text },
      { key = "rate", title = "operations a second", unit = "FLOP/s" }, { key = "value", title = "median" },
      { key = "max_error", title = "error/bound", format = "%.3f" } },
    chart = { kind = "line", x = "intensity", y = "rate", series = "series", xlog = 2, ylog = 10, yunit = "FLOP/s",
      xtitle = "operations for each byte that must move", ytitle = "operations a second", hollow = "roof" },
  } }
end

roofline.name = "roofline"
roofline.title = "Roofline"
roofline.teaches = "To hide the memory, each load or store needs a large number of operations (source 4, 1.6): beneath "
  .. "the sloped part of a roof the memory binds, beneath the flat part the arithmetic."
roofline.measure = measure

return roofline
