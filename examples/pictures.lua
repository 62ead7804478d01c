-- SPDX-License-Identifier: MIT
--- Draws pictures of the rows in results/h200, which were measured on an NVIDIA H200 by `clcompute report gauss --rows`
-- and `clcompute profile-device --rows`; vendor.jsonl has the figures of gemm-tensor-h200.txt and lu-h200.txt;
-- and of those of `mpirun -n 2 clcompute report scaling` in results/scaling-pocl.jsonl.
-- Usage: pictures.lua FOLDER

--- Ends with a sentence, not with a traceback.
local function fail(text)
  io.stderr:write("pictures.lua: ", text, "\n")
  os.exit(1)
end

local found, report = pcall(require, "clcompute.report")
if not found then
  fail(report:find("not found:", 1, true) and 'needs clcompute: make && eval "$(make -s env)"' or report)
end
local folder = arg[1] or fail "needs the folder to draw in: lua5.4 examples/pictures.lua FOLDER"

local ROWS = (arg[0]:match "^(.*/)" or "./") .. "results/h200/"

local function rows_of(name)
  local ok, rows = pcall(report.read, ROWS .. name .. ".jsonl")
  return ok and rows or fail("needs the rows that were kept: " .. rows)
end

--- The rows with a field of text made from their parameters, which tells the lines of a chart apart.
local function with_series(rows, series)
  for _, row in ipairs(rows) do row.series = series(row) end
  return rows
end

local LINE = { kind = "line", y = "value", low = "q1", high = "q3", ylog = 10, series = "series" }

local function line(title, rows, given)
  for key, value in pairs(LINE) do given[key] = given[key] or value end
  return { title = title, rows = rows, chart = given }
end

local profile, vendor = rows_of "device_profile", rows_of "vendor"

--- The rows of one of their sections.
local function section_rows(title, of)
  local rows = {}
  for _, row in ipairs(of or profile) do
    if row.section == title then rows[#rows + 1] = row end
  end
  return rows
end

local pictures = {
  wavefront = line("Two branches that alternate in blocks of work-items",
    section_rows "Branches in a wavefront: where two branches meet",
    { x = "params.block", xlog = 2, xtitle = "neighbours that branch alike", ytitle = "time of a launch" }),

  banks = line("Reads of local memory",
    section_rows "Banks of local memory: float, every stride",
    { x = "params.stride", xtitle = "stride between neighbours, floats", ytitle = "time of a launch" }),

  memory = { title = "The levels of memory", rows = section_rows "Levels of memory: reads",
    chart = { kind = "line", x = "params.bytes", xlog = 2, y = "rate", yunit = "B/s", xtitle = "working set, bytes",
      ylog = 10, ytitle = "bytes a second" } },

  roofline = { title = "Roofline", rows = section_rows "Roofline",
    chart = { kind = "line", x = "intensity", xlog = 2, y = "rate", ylog = 10, yunit = "FLOP/s", series = "series",
      hollow = "roof", xtitle = "operations for each byte that must move", ytitle = "operations a second" } },

  life = line("Game of Life on a cubic field",
    with_series(rows_of "life", function(row) return row.device end),
    { x = "params.edge", xlog = 2, xtitle = "edge", ytitle = "time of a generation" }),

  group_choice = line("The driver's choice of the group",
    with_series(rows_of "driver_choice_0.0", function(row)
      return row.params.chooser == "driver" and "the driver's group" or "a fixed group"
    end),
    { x = "params.columns", xtitle = "N + 1", ytitle = "time of a step",
      marks = { { key = "params.prime", title = "N + 1 is prime" } } }),

  group_size = line("Time over the group size",
    with_series(rows_of "group_size_3_0.0", function(row) return ("N = %d"):format(row.params.size) end),
    { x = "params.group", xlog = 2, xtitle = "group size", ytitle = "time of an elimination" }),

  products = line("Matrix products of floats, by precision, beside cuBLAS", section_rows("products", vendor),
    { x = "params.n", xlog = 2, yunit = "FLOP/s", xtitle = "n", ytitle = "operations a second" }),

  solves = line("Linear systems beside cuSOLVER", section_rows("solves", vendor),
    { x = "params.n", xlog = 2, xtitle = "n", ytitle = "time of LU and a solution" }),

  scaling = { title = "Two ranks on two processors beside one", rows = with_series(rows_of "../scaling-pocl",
    function(row) return ("%s, %s scaling"):format(row.name, row.scaling) end),
    chart = { kind = "bar", x = { "name", "params.n", "count" }, y = "efficiency", series = "scaling",
      ytitle = "efficiency" } },

  range = line("A fixed or a shrinking range",
    with_series(rows_of "shrinking", function(row)
      return row.params.method ~= "" and row.params.method or row.device
    end),
    { x = "params.n", xlog = 2, xtitle = "N", ytitle = "time of an elimination" }),
}

for name, section in pairs(pictures) do
  local path = ("%s/%s.svg"):format(folder, name)
  local file <close>, reason = io.open(path, "w")
  if not file then fail("cannot draw there: " .. reason) end
  file:write((report.svg(section)))
  print("written: " .. path)
end
