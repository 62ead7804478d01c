-- SPDX-License-Identifier: MIT
--- What is set against the libraries of other vendors, and how fast it must be and is meant to be: data.
--
-- A group is a table of `title`; `operation`, a file of this folder; `dtype`; `against`, the peer; `lines`, the
-- sizes; `must` and `goal`, for the geometric mean of the ratios of times peer / ours, or (`each`) for every line;
-- `floor`, what no line may be below in a group with a mean, a pair of the same two. A line may have `against`, `must`
-- and `goal` of its own; `label`; `rounds`; `quick`, a line in its place where little time is to be spent; `share`, how
-- many times the peer's work ours is.
-- @module clcompute.suite.peers.limits

local nests = require "clcompute.suite.peers.nests"

local function squares(sizes)
  local lines = {}
  for i, n in ipairs(sizes) do lines[i] = { m = n, n = n, k = n } end
  return lines
end

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

local LARGE = squares { 512, 1024, 1500, 2048, 3000, 4096 }
LARGE[#LARGE + 1] = { m = 1000, k = 1001, n = 999 }
LARGE[#LARGE + 1] = { m = 4096, k = 64, n = 4096 }
LARGE[#LARGE + 1] = { m = 64, k = 4096, n = 4096 }
LARGE[#LARGE + 1] = { m = 4096, k = 4096, n = 64 }

local limits = {}

local function add(group) limits[#limits + 1] = group end

for _, dtype in ipairs { "float", "double" } do
  local gemm, gesv = dtype == "float" and "sgemm" or "dgemm", dtype == "float" and "sgesv" or "dgesv"
  add { title = gemm, operation = "gemm", dtype = dtype, against = "OpenBLAS", lines = LARGE, must = 0.9, goal = 1.05,
    floor = { 0.75, 0.9 } }
  add { title = gemm .. ", n = 256", operation = "gemm", dtype = dtype, against = "OpenBLAS", lines = squares { 256 },
    each = true, must = 0.8, goal = 1.0 }
  add { title = gemm .. ", n = 128", operation = "gemm", dtype = dtype, against = "OpenBLAS", lines = squares { 128 },
    each = true, must = 0.6, goal = 0.9 }
  add { title = gemm .. ", 64 of n = 32", operation = "gemm", dtype = dtype, against = "OpenBLAS",
    lines = { { m = 32, n = 32, k = 32, batch = 64 } }, each = true, must = 0.6, goal = 1.0 }
  add { title = gemm .. ", 64 of n = 64", operation = "gemm", dtype = dtype, against = "OpenBLAS",
    lines = { { m = 64, n = 64, k = 64, batch = 64 } }, each = true, must = 0.9, goal = 1.3 }
  local times = dtype == "float" and 15 or 8
  add { title = gemm .. " and CLBlast", operation = "gemm", dtype = dtype, against = "CLBlast",
    lines = squares { 256, 512, 1024, 2048 }, each = true, must = times, goal = times }
  add { title = gemm .. ", share of the peak", operation = "gemm", dtype = dtype, against = "peak",
    lines = squares { 2048, 4096 }, each = true, must = 0.6, goal = 0.75 }
  add { title = gesv, operation = "lu", dtype = dtype, against = "OpenBLAS",
    lines = orders { 512, 1024, 2048, 4096 }, must = 0.9, goal = 1.2, floor = { 0.7, 1.0 } }
  add { title = gesv .. ", n = 256", operation = "lu", dtype = dtype, against = "OpenBLAS", lines = orders { 256 } }
  add { title = "gauss with its checks, " .. dtype, operation = "gauss", dtype = dtype, against = "cl.lu",
    lines = orders { 1024, 2048, 4096 }, each = true, must = 1 / 1.1, goal = 1 / 1.1 }
end
add { title = "saxpy", operation = "saxpy", dtype = "float", against = "OpenBLAS", lines = powers(20, 25), each = true,
  must = 0.95, goal = 1.1 }
add { title = "sum", operation = "sum", dtype = "float", against = "OpenBLAS", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.8 }
add { title = "dot", operation = "dot", dtype = "float", against = "OpenBLAS", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.8 }
add { title = "scan", operation = "scan", dtype = "float", against = "C", lines = powers(22, 25), each = true,
  must = 1.5, goal = 1.9 }
for _, dtype in ipairs { "float", "double" } do
  add { title = ("loops in %ss"):format(dtype), operation = "loops", dtype = dtype, against = "gcc",
    lines = nests.lines(dtype) }
end
add { title = "loops and others", operation = "loops", dtype = "float", against = "gcc", lines = nests.OTHERS }

return limits
