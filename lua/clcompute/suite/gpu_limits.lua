-- SPDX-License-Identifier: MIT
--- What is set against NVIDIA's libraries and CUDA on a GPU of NVIDIA's, and how fast it must be and is meant to be:
-- data, of the form that `clcompute.suite.limits` tells. A line that is `quick = false` is left out where little time
-- is to be spent.

local data = require "clcompute.suite.data"

local limits = {}

-- --- lines -----------------------------------------------------------------------------

--- Lines of these sizes; larger ones than `most` are no quick lines.
-- @tparam table sizes
-- @tparam integer most
-- @tparam[opt] table more fields of each
local function orders(sizes, most, more)
  local lines = {}
  for i, n in ipairs(sizes) do
    lines[i] = { n = n }
    for key, value in pairs(more or {}) do lines[i][key] = value end
    if n > most then lines[i].quick = false end
  end
  return lines
end

local function powers(...)
  local sizes = { ... }
  for i, p in ipairs(sizes) do sizes[i] = 1 << p end
  return orders(sizes, 1 << 26)
end

local RANDOM = 20 -- shapes,
local FEW = 5 -- of them quick lines

local function random_shapes(seed)
  local lines = data.random_shapes(RANDOM, seed)
  for i = FEW + 1, RANDOM do lines[i].quick = false end
  return lines
end

-- --- nests ---------------------------------------------------------------------------

-- Large enough for a GPU, and for C on one core, whose results are the right ones, a second or two.
local NESTS = {
  { row = "jac", n = 4000000, steps = 50 }, { row = "jac2d", n = 2000, steps = 20 },
  { row = "adi", n = 2000, steps = 5 }, { row = "fdtd1d", n = 4000000, steps = 50 },
  { row = "fdtd2d", n = 2000, steps = 20 }, { row = "gemver", n = 2500 },
  { row = "lud", n = 1000 }, { row = "mmm", n = 1500 }, { row = "mvt", n = 3000 }, { row = "ssymm", n = 1000 },
  { row = "ssyr2k", n = 1000 }, { row = "ssyrk", n = 1000 }, { row = "strmm", n = 1000 }, { row = "strsm", n = 1000 },
  { row = "tmm", n = 1000 }, { row = "trisolv", n = 1000 }, { row = "atax", n = 3000 },
  { row = "gramschmidt", n = 600 }, { row = "gesummv", n = 2500 }, { row = "bicg", n = 3000 },
  { row = "kmeans", n = 300000 }, { row = "black_scholes", n = 2000000 }, { row = "cholesky", n = 1000 },
  { row = "floyd_warshall", n = 1000 }, { row = "syr2k", n = 1000 }, { row = "correlation", n = 1000 },
  { row = "covariance", n = 1000 }, { row = "heat3d", n = 128, steps = 20 }, { row = "doitgen", n = 128 },
  { row = "ludcmp", n = 1000 }, { row = "mm2", n = 1000 }, { row = "mm3", n = 1000 }, { row = "trmm", n = 1000 },
  { row = "conv3d", n = 160 }, { row = "nbody", n = 16000 }, { row = "symm", n = 1000 }, { row = "box_blur", n = 2000 },
  { row = "conv2d", n = 2000 }, { row = "deriche", n = 2000 }, { row = "sobel", n = 2000 },
  { row = "matrix_chain", n = 1000 }, { row = "wave2d", n = 2000, steps = 20 }, { row = "tridiagonal", n = 2000 },
  { row = "softmax", n = 2000 }, { row = "dilate", n = 2000 }, { row = "red_black", n = 2000, steps = 20 },
  { row = "knapsack", n = 40000 }, { row = "spmv", n = 500000 },
}

-- Those of integers are the same in floats; of mandelbrot's passes floats decide otherwise than doubles.
local NESTS_IN_DOUBLES = { { row = "mandelbrot", n = 2000 }, { row = "collatz", n = 2000000 },
  { row = "search", n = 2000000 }, { row = "life", n = 2000 } }
table.move(NESTS, 1, #NESTS, #NESTS_IN_DOUBLES + 1, NESTS_IN_DOUBLES)

-- Those that cuBLAS has a routine of.
local IN_CUBLAS = { mmm = true, mm2 = true, mm3 = true, ssyrk = true, ssyr2k = true, syr2k = true, symm = true,
  trmm = true, strmm = true, strsm = true, gesummv = true, mvt = true, atax = true, bicg = true, gemver = true }

local QUICK = 2 -- n and steps of a quick line are divided by it
local SETTLED = 15 -- rounds, of which the first four find out where a function runs best

local function nest_line(row, n, steps)
  local label = ("%s %d%s"):format(row, n, steps and " x " .. steps or "")
  return { row = row, n = n, steps = steps, rounds = SETTLED, label = label }
end

--- Lines with their quick ones; all, or those of the names.
local function nest_lines(list, names)
  local lines = {}
  for _, given in ipairs(list) do
    if not names or names[given.row] then
      local line = nest_line(given.row, given.n, given.steps)
      line.quick = nest_line(given.row, given.n // QUICK, given.steps and given.steps // QUICK)
      lines[#lines + 1] = line
    end
  end
  return lines
end

-- --- groups ----------------------------------------------------------------------------

--- Adds a group, of which each line must reach the same.
local function add(title, workload, against, must, goal, lines, more)
  local group = { title = title, workload = workload, dtype = "float", against = against, each = true, must = must,
    goal = goal, lines = lines }
  for key, value in pairs(more or {}) do group[key] = value end
  limits[#limits + 1] = group
end

local MOST = 4096
local SYSTEMS = { 512, 1024, 2048, 4096, 8192, 16384 }
local IN_DOUBLES = { dtype = "double" }
local CHECKED = { method = "checked" }
local SEED = tonumber(os.getenv "SEED") or os.time() % 100000

add("sgemm", "gemm", "cuBLAS", 0.95, 1.1, orders({ 256, 768, 1024, 1536, 2048, 4096, 8192 }, MOST))
add("dgemm", "gemm", "cuBLAS", 0.85, 1.0, orders({ 1024, 4096, 8192 }, MOST), IN_DOUBLES)
add("tf32", "gemm", "cuBLAS", 0.8, 1.0, orders({ 768, 1024, 1536, 2048, 4096, 8192 }, MOST, { precision = "tf32" }))
add("float-tensor", "gemm", "cuBLAS", nil, nil, orders({ 2048, 8192 }, MOST, { precision = "float-tensor" }))
add("sgemm, 64 rows", "gemm", "cuBLAS", 0.95, 1.1, { { m = 64, k = 8192, n = 8192 } })
add("sgemm, long k", "gemm", "cuBLAS", 0.9, 1.1, { { m = 128, k = 65536, n = 128 } })
add("sgemm, one row", "gemm", "cuBLAS", 1.0, 1.1, { { m = 1, k = 8192, n = 8192 } })
add("sgemm, batches", "gemm", "cuBLAS", 0.9, 1.2, { { n = 32, batch = 2000 }, { n = 256, batch = 500 } })
add(("sgemm, random shapes of seed %d"):format(SEED), "gemm", "cuBLAS", nil, nil, random_shapes(SEED))
add("lu and solve", "lu", "cuSOLVER", 1.1, 1.6, orders(SYSTEMS, MOST))
add("lu and solve, doubles", "lu", "cuSOLVER", 0.9, 1.3, orders({ 1024, 4096 }, MOST), IN_DOUBLES)
add("gauss with its checks", "lu", "cuSOLVER", 1.0, 1.4, orders(SYSTEMS, MOST), CHECKED)
add("batches of systems", "lu", "cuBLAS", 1.0, 2.0, orders({ 16, 32, 64, 128, 256 }, 128, { batch = 2000 }))
add("scan", "scan", "CUB", 0.8, 1.0, powers(20, 24, 28))
for _, name in ipairs { "sum", "dot", "argmax" } do
  add(name, name, name == "dot" and "cuBLAS" or "CUB", 0.95, 1.05, powers(20, 24, 26, 28))
end
add("sort", "sort", "CUB", 0.5, 0.9, powers(24))
add("sort of pairs", "pairs", "CUB", 0.5, 0.9, powers(24))
for _, name in ipairs { "unique", "compact", "histogram" } do add(name, name, "CUB", 0.5, 0.5, powers(24)) end
add("saxpy", "saxpy", "cuBLAS", nil, nil, powers(24, 28), { method = "in place" })
add("nests in floats", "loops", "CUDA", 2, 4, nest_lines(NESTS))
add("nests in doubles", "loops", "CUDA", 2, 4, nest_lines(NESTS_IN_DOUBLES), IN_DOUBLES)
add("nests and cuBLAS in floats", "loops", "cuBLAS", 0.6, 1, nest_lines(NESTS, IN_CUBLAS))
add("nests and cuBLAS in doubles", "loops", "cuBLAS", 0.6, 1, nest_lines(NESTS, IN_CUBLAS), IN_DOUBLES)

return limits
