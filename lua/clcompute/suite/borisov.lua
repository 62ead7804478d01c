-- SPDX-License-Identifier: MIT

--- The measurements of Borisov 2015 on the devices here: saxpy, the naive and the tiled matrix product, each set
-- against the sequential program and the paper's own times; and Gauss elimination in the same form.

local cl = require "clcompute"
local workload = require "clcompute.suite.workload"

-- What the paper measured, in milliseconds; it does not tell the sizes.
local PAPER = {
  { "NVIDIA", "Quadro FX 1700", 3.2, 5169.5, 169.5 },
  { "AMD", "Intel Core2 CPU 6300", 19.1, 2279.0, 2301.1 },
  { "Intel", "Intel Core2 CPU 6300", 11.0, 920.1, 1402.7 },
  { "sequential", "Intel Core2 CPU 6300", 9.3, 1340.6, 1340.6 },
}

local TITLES = {
  "Table 1. saxpy, out = 1.5 x + y, %d floats",
  "Table 2. Matrix product, naive, %d x %d floats",
  "Table 3. Matrix product, tiles in local memory, %d x %d floats",
}

local SIZES = {
  full = { saxpy = 1 << 24, gemm = 1024, gauss = 1000 },
  quick = { saxpy = 1 << 20, gemm = 256, gauss = 200 },
}

local WEIGHTS = { 10, 26, 16, 8, 15 } -- seconds of a section on two cores

--- The rows of a table of the paper.
local function paper_rows(number)
  local rows, baseline = {}, PAPER[#PAPER][2 + number]
  for i, row in ipairs(PAPER) do
    local value = row[2 + number]
    rows[i] = {
      name = ("Borisov 2015: %s, %s"):format(row[1], row[2]), params = { platform = row[1] },
      device = ("%s, %s (Borisov 2015)"):format(row[2], row[1]),
      value = value / 1e3, ratio = value / baseline, status = "ok", paper = true,
    }
  end
  return rows
end

--- The rows of all sections, each with the title of its own.
local function rows_of(sections)
  local rows = {}
  for _, part in ipairs(sections) do
    for _, row in ipairs(part.rows) do
      local copy = { section = part.title }
      for key, value in pairs(row) do copy[key] = value end
      rows[#rows + 1] = copy
    end
  end
  return rows
end

local borisov = {}

--- Measures and reports.
-- @tparam table options `devices`; `quick`: small sizes; `sizes`, of saxpy, gemm and gauss, in their place;
--  `seconds` of warm runs a candidate (2, quick 0.2); `progress`
-- @treturn table a document for `clcompute.report`
-- @treturn table what was measured and the paper's times, to be kept
function borisov.measure(options)
  local sizes, sections = options.sizes or options.quick and SIZES.quick or SIZES.full, {}
  local function add(work, title, text, methods, number)
    local function progress(state)
      if options.progress then
        options.progress { name = ("%s: %s"):format(title, state.name), done = #sections, weights = WEIGHTS }
      end
    end
    sections[#sections + 1] = workload.section(work, { title = title, text = text, devices = options.devices,
      methods = methods, seconds = options.seconds or options.quick and 0.2 or 2, rounds = 7, progress = progress,
      paper = number and paper_rows(number) })
  end
  local function new(name) return workload.new(name, { n = sizes[name] }, "float") end
  local product = new "gemm"
  add(new "saxpy", TITLES[1]:format(sizes.saxpy),
    "Memory bounds it: 12 bytes move for two operations.", { "out" }, 1)
  add(product, TITLES[2]:format(sizes.gemm, sizes.gemm),
    "A work-item computes an element and reads a row and a column from global memory.", { "naive" }, 2)
  add(product, TITLES[3]:format(sizes.gemm, sizes.gemm),
    "A work-group keeps a tile of both factors in local memory, so that each element is read once a tile.",
    { "tiled" }, 3)
  add(product, ("Matrix product, tuned for the device, %d x %d floats"):format(sizes.gemm, sizes.gemm),
    "Not in this paper: what cl.gemm does unless told otherwise.", { "fast" })
  add(new "gauss", ("Gauss elimination, %d equations, float"):format(sizes.gauss),
    "Not in this paper: the kernels of Baranov & Vlatskaya 2013 over a fixed and a shrinking range, and with pivoting.")
  local facts = { { "version", cl._VERSION } }
  for _, device in ipairs(options.devices) do facts[#facts + 1] = { "device", tostring(device) } end
  facts[#facts + 1] = { "columns", "cold: the first call with its compile; median and quartiles of warm runs, all "
    .. "candidates in turns; speed-up: against the sequential program; error/bound: at most 1 is right" }
  facts[#facts + 1] = { "Borisov 2015", "the paper's own times; it does not tell its sizes, so only ratios compare" }
  return {
    title = "Borisov 2015, repeated",
    subtitle = "OpenCL on every platform and device, against the sequential program",
    facts = facts, sections = sections,
  }, rows_of(sections)
end

return borisov
