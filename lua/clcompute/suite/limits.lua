-- SPDX-License-Identifier: MIT
--- What is set against the libraries of other vendors, and how fast it must be and is meant to be: data.
--
-- A group is a table of `title`; `workload`, its name; perhaps `method`; `dtype`; `against`, the peer; `lines`, the
-- shapes; `also`, another peer, beside which a line stands too; `must` and `goal`, for the geometric mean of the ratios
-- of times peer / ours, or (`each`) for every line; `floor`, what no line may be below in a group with a mean, a pair
-- of the same two. A line may have `against`, `must` and `goal` of its own; `label`; `rounds`; `quick`, a line in its
-- place where little time is to be spent; `share`, how many times the peer's work ours is.

-- --- operations -------------------------------------------------------------------

local function powers(first, last)
  local lines = {}
  for p = first, last do lines[#lines + 1] = { n = 1 << p } end
  return lines
end

local function orders(sizes)
  local lines = {}
  for i, n in ipairs(sizes) do lines[i] = { n = n } end
  return lines
end

local LARGE = orders { 512, 1024, 1500, 2048, 3000, 4096 }
LARGE[#LARGE + 1] = { m = 1000, k = 1001, n = 999 }
LARGE[#LARGE + 1] = { m = 4096, k = 64, n = 4096 }
LARGE[#LARGE + 1] = { m = 64, k = 4096, n = 4096 }
LARGE[#LARGE + 1] = { m = 4096, k = 4096, n = 64 }

-- --- nests ------------------------------------------------------------------------

-- As many times as fast as C in floats on two cores. No loop of gs, sor and trisolv_if is parallel in its order: they
-- run in Lua, and a few rounds are enough.
local NESTS = {
  { row = "jac", n = 1000000, steps = 100, must = 1.3, goal = 1.8 },
  { row = "jac2d", n = 1024, steps = 100, must = 1.3, goal = 1.8 },
  { row = "adi", n = 1024, steps = 10, must = 1.0, goal = 1.5 },
  { row = "fdtd1d", n = 1000000, steps = 100, must = 1.3, goal = 1.8 },
  { row = "fdtd2d", n = 1024, steps = 50, must = 1.3, goal = 1.8 },
  { row = "gs", n = 512, steps = 10, rounds = 3 },
  { row = "gemver", n = 2500, must = 1.5, goal = 3.0 },
  { row = "lud", n = 1024, must = 1.0, goal = 1.8 },
  { row = "lud", n = 2048, rounds = 5, must = 1.5, goal = 1.8 },
  { row = "mmm", n = 700, must = 10, goal = 40 },
  { row = "mvt", n = 3000, must = 1.5, goal = 3.0 },
  { row = "sor", n = 1500, rounds = 3 },
  { row = "ssymm", n = 500, must = 1.5, goal = 3.0 },
  { row = "ssyr2k", n = 1000, must = 1.2, goal = 3.0 },
  { row = "ssyrk", n = 1024, must = 1.8, goal = 3.0 },
  { row = "strmm", n = 1000, must = 1.5, goal = 2.5 },
  { row = "strsm", n = 700, must = 1.3, goal = 2.0 },
  { row = "tmm", n = 700, must = 4, goal = 15 },
  { row = "trisolv_if", n = 2000, rounds = 3 },
  { row = "trisolv", n = 700, must = 4, goal = 10 },
}

local LUA_N = 400 -- of the matrix product, for a second or two

-- Single rows against others than C in the same order. Where Lua has less to do the ratio is that of the times of an
-- inner iteration.
local NESTS_AND_OTHERS = {
  { row = "mmm", n = 1024, against = "gcc, ikj, OpenMP", rounds = 5, must = 2, goal = 2 },
  { row = "mmm", n = 1024, against = "Lua", lua = { n = LUA_N }, share = (1024 / LUA_N) ^ 3, rounds = 3, must = 800,
    goal = 800 },
  { row = "jac2d", n = 1024, steps = 100, against = "Lua", lua = { n = 1024, steps = 20 }, share = 5, rounds = 3,
    must = 80, goal = 150 },
  { row = "mmm", n = 512, against = "tiles" },
  { row = "jac2d", n = 1024, steps = 50, against = "tiles" },
}

-- Nests of whose passes or elements data decide: one core in C is what a work-item is.
local IRREGULAR = {
  { row = "spmv", n = 200000, must = 0.9, goal = 1.6 },
  { row = "mandelbrot", n = 600, must = 1.6, goal = 1.8 },
  { row = "collatz", n = 200000, must = 1.6, goal = 1.8 },
  { row = "search", n = 500000, must = 0.9, goal = 1.6 },
  { row = "histogram", n = 4000000, must = 0.6, goal = 0.9 },
  { row = "life", n = 2000, must = 0.9, goal = 1.6 },
}

local SETTLED = 15 -- rounds, of which the first four find out where a function runs best

-- Functions for which the compiler was not made, where C takes a millisecond or more. None is to be slower than C, on
-- one core or with OpenMP.
local FURTHER = {
  { row = "prefix_sum", n = 4000000 }, { row = "atax", n = 1600 }, { row = "durbin", n = 2000 },
  { row = "gramschmidt", n = 200 }, { row = "nussinov", n = 400 }, { row = "gesummv", n = 1600 },
  { row = "bicg", n = 1600 }, { row = "edit_distance", n = 1200 }, { row = "lcs", n = 1200 },
  { row = "kmeans", n = 300000 }, { row = "black_scholes", n = 200000 }, { row = "cholesky", n = 500 },
  { row = "seidel", n = 500, steps = 8 }, { row = "floyd_warshall", n = 300 }, { row = "syr2k", n = 300 },
  { row = "correlation", n = 300 }, { row = "covariance", n = 300 }, { row = "heat3d", n = 60, steps = 20 },
  { row = "doitgen", n = 80 }, { row = "ludcmp", n = 500 }, { row = "mm2", n = 250 }, { row = "mm3", n = 220 },
  { row = "trmm", n = 300 }, { row = "conv3d", n = 110 }, { row = "nbody", n = 1200 }, { row = "symm", n = 300 },
  { row = "box_blur", n = 1200 }, { row = "conv2d", n = 1200 }, { row = "deriche", n = 500 },
  { row = "sobel", n = 1000 }, { row = "matrix_chain", n = 300 }, { row = "wave2d", n = 400, steps = 40 },
  { row = "tridiagonal", n = 600 }, { row = "softmax", n = 700 }, { row = "dilate", n = 1500 },
  { row = "red_black", n = 500, steps = 20 }, { row = "knapsack", n = 12000 },
}
for _, line in ipairs(FURTHER) do line.rounds = SETTLED end

-- The same of those that data decide, which are no faster in floats.
local FURTHER_IN_DOUBLES = { { row = "histogram", n = 4000000, rounds = SETTLED },
  { row = "life", n = 1500, rounds = SETTLED }, { row = "mandelbrot", n = 400, rounds = SETTLED },
  { row = "spmv", n = 100000, rounds = SETTLED } }
table.move(FURTHER, 1, #FURTHER, #FURTHER_IN_DOUBLES + 1, FURTHER_IN_DOUBLES)

local QUICK = 3 -- n and steps of a quick line are divided by it; by more, launches are all that is measured

local function divided(sizes, divisor)
  return sizes and { n = sizes.n // divisor, steps = sizes.steps and math.max(sizes.steps // divisor, 1) }
end

local function text_of(sizes)
  return sizes.n .. (sizes.steps and " x " .. sizes.steps or "")
end

--- A line on a part of its sizes.
local function line_of(given, divisor)
  local line, lua = divided(given, divisor), divided(given.lua, divisor)
  for _, key in ipairs { "row", "rounds", "against", "share" } do line[key] = given[key] end
  line.lua = lua
  line.label = ("%s %s%s"):format(line.row, text_of(line), lua and ", Lua " .. text_of(lua) or "")
  return line
end

--- Lines with their quick ones, which have no limits.
local function lines_of(list, is_limited)
  local lines = {}
  for i, given in ipairs(list) do
    lines[i] = line_of(given, 1)
    lines[i].quick = line_of(given, QUICK)
    if is_limited then lines[i].must, lines[i].goal = given.must, given.goal end
  end
  return lines
end

-- --- arrays -----------------------------------------------------------------------

--- Lines against NumPy, on one core as it is; sorting also against a library that has all of them.
local function arrays()
  local lines = {}
  local function line(row, n, against)
    local made = { row = row, n = n, label = ("%s, n = %d"):format(row, n), against = against }
    lines[#lines + 1] = made
    made.quick = { row = row, n = n // 2, label = ("%s, n = %d"):format(row, n // 2), against = against }
    return made
  end
  for _, row in ipairs { "operators", "sort", "unique", "histogram", "random" } do line(row, 1 << 22) end
  for _, row in ipairs { "sum, axis 1", "sum, axis 2", "transpose" } do line(row, 2048) end
  local sort = line("sort", 1 << 22, "std::sort")
  sort.must, sort.goal = 1.0, 5.0
  return lines
end

-- --- the groups -------------------------------------------------------------------

local limits = {}

local function add(group) limits[#limits + 1] = group end

for _, dtype in ipairs { "float", "double" } do
  local gemm, gesv = dtype == "float" and "sgemm" or "dgemm", dtype == "float" and "sgesv" or "dgesv"
  add { title = gemm, workload = "gemm", dtype = dtype, against = "OpenBLAS", lines = LARGE, must = 0.9, goal = 1.05,
    floor = { 0.75, 0.9 } }
  add { title = gemm .. ", n = 256", workload = "gemm", dtype = dtype, against = "OpenBLAS", lines = orders { 256 },
    each = true, must = 0.8, goal = 1.0 }
  add { title = gemm .. ", n = 128", workload = "gemm", dtype = dtype, against = "OpenBLAS", lines = orders { 128 },
    each = true, must = 0.6, goal = 0.9 }
  add { title = gemm .. ", 64 of n = 32", workload = "gemm", dtype = dtype, against = "OpenBLAS",
    lines = { { n = 32, batch = 64 } }, each = true, must = 0.6, goal = 1.0 }
  add { title = gemm .. ", 64 of n = 64", workload = "gemm", dtype = dtype, against = "OpenBLAS",
    lines = { { n = 64, batch = 64 } }, each = true, must = 0.9, goal = 1.3 }
  local times = dtype == "float" and 15 or 8
  add { title = gemm .. " and CLBlast", workload = "gemm", dtype = dtype, against = "CLBlast",
    lines = orders { 256, 512, 1024, 2048 }, each = true, must = times, goal = times }
  add { title = gemm .. ", share of the peak", workload = "gemm", dtype = dtype, against = "peak",
    lines = orders { 2048, 4096 }, each = true, must = 0.6, goal = 0.75 }
  add { title = gesv, workload = "lu", dtype = dtype, against = "OpenBLAS",
    lines = orders { 512, 1024, 2048, 4096 }, must = 0.9, goal = 1.2, floor = { 0.7, 1.0 } }
  add { title = gesv .. ", n = 256", workload = "lu", dtype = dtype, against = "OpenBLAS", lines = orders { 256 } }
  add { title = "gauss with its checks, " .. dtype, workload = "lu", method = "checked", dtype = dtype,
    against = "cl.lu", lines = orders { 1024, 2048, 4096 }, each = true, must = 1 / 1.1, goal = 1 / 1.1 }
end
add { title = "saxpy", workload = "saxpy", dtype = "float", against = "OpenBLAS", lines = powers(20, 25), each = true,
  must = 0.95, goal = 1.1 }
add { title = "sum", workload = "sum", dtype = "float", against = "OpenBLAS", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.8 }
add { title = "dot", workload = "dot", dtype = "float", against = "OpenBLAS", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.8 }
add { title = "scan", workload = "scan", dtype = "float", against = "C", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.9 }
add { title = "arrays", workload = "arrays", dtype = "float", against = "NumPy", lines = arrays() }
for _, dtype in ipairs { "float", "double" } do
  add { title = ("loops in %ss"):format(dtype), workload = "loops", dtype = dtype, against = "gcc",
    lines = lines_of(NESTS, dtype == "float") }
end
add { title = "further loops in floats", workload = "loops", dtype = "float", against = "gcc", also = "gcc, OpenMP",
  lines = lines_of(FURTHER), must = 2.5, goal = 4, floor = { 0.9, 0.9 } }
add { title = "further loops in doubles", workload = "loops", dtype = "double", against = "gcc", also = "gcc, OpenMP",
  lines = lines_of(FURTHER_IN_DOUBLES), must = 2.5, goal = 4, floor = { 0.9, 0.9 } }
add { title = "loops that data decide", workload = "loops", dtype = "double", against = "gcc",
  lines = lines_of(IRREGULAR, true) }
add { title = "loops and others", workload = "loops", dtype = "float", against = "gcc",
  lines = lines_of(NESTS_AND_OTHERS, true) }

return limits
