-- SPDX-License-Identifier: MIT
--- Nests that routines of cuBLAS compute.
--
-- A matrix of the rows, row-major, is its transpose to cuBLAS: a product has its operands exchanged, A x is "T", and
-- what is the upper triangle of a row's matrix is "L".

local nest_in_cublas = {}

-- By the name of the row: a function of `routines`, and of the row's arrays in memory of CUDA's and its numbers, by
-- name. It queues the calls.
local calls = {}
nest_in_cublas.calls = calls

local SIZE = { float = 4, double = 8 }
local FORMAT = { float = "<f", double = "<d" }

--- The routines on n x n matrices and n elements of a dtype; n; and `vector`, memory for n elements.
-- @tparam table library the functions of tools/cuda.cu
-- @string dtype
-- @tparam integer n
-- @treturn table
function nest_in_cublas.routines(library, dtype, n)
  local routines = { n = n, vector = library.memory(n * SIZE[dtype]) }
  for _, name in ipairs { "gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "gemv", "ger", "add", "scale" } do
    local queue = library["queue_" .. name]
    routines[name] = function(...) queue(dtype, n, ...) end
  end
  function routines.copy(from, to) library.queue_copy(from, to) end
  --- The last element of a matrix, read by the first call, which is not measured.
  function routines.last(a)
    routines.known = routines.known or string.unpack(FORMAT[dtype], library.string(a), -SIZE[dtype])
    return routines.known
  end
  return routines
end

-- --- products of matrices ---------------------------------------------------------

function calls.mmm(r, m) r.gemm("N", "N", 1, m.B, m.A, 0, m.C) end

function calls.mm2(r, m, v)
  r.gemm("N", "N", v.alpha, m.b, m.a, 0, m.e)
  r.gemm("N", "N", 1, m.c, m.e, v.beta, m.d)
end

function calls.mm3(r, m)
  r.gemm("N", "N", 1, m.b, m.a, 0, m.e)
  r.gemm("N", "N", 1, m.d, m.c, 0, m.f)
  r.gemm("N", "N", 1, m.f, m.e, 0, m.g)
end

function calls.ssyrk(r, m) r.syrk("L", "N", 1, m.a, 1, m.c) end
function calls.ssyr2k(r, m) r.syr2k("L", "N", 1, m.a, m.b, 1, m.c) end
function calls.syr2k(r, m, v) r.syr2k("U", "T", v.alpha, m.a, m.b, v.beta, m.c) end
function calls.symm(r, m, v) r.symm("R", "U", v.alpha, m.a, m.b, v.beta, m.c) end
function calls.trmm(r, m, v) r.trmm("R", "U", "T", "U", v.alpha, m.a, m.b) end
function calls.strmm(r, m) r.trmm("L", "U", "N", "U", 1, m.a, m.b) end

--- The row leaves its last column undivided.
function calls.strsm(r, m)
  local last = r.last(m.a)
  r.trsm("L", "L", "N", "N", 1, m.a, m.b)
  r.scale(last, m.b, r.n - 1, r.n)
end

-- --- products with vectors --------------------------------------------------------

function calls.gesummv(r, m, v)
  r.gemv("T", v.alpha, m.a, m.x, 0, m.y)
  r.gemv("T", v.beta, m.b, m.x, 1, m.y)
end

function calls.mvt(r, m)
  r.gemv("T", 1, m.a, m.y1, 1, m.x1)
  r.gemv("N", 1, m.a, m.y2, 1, m.x2)
end

function calls.atax(r, m)
  r.gemv("T", 1, m.a, m.x, 0, r.vector)
  r.gemv("N", 1, m.a, r.vector, 0, m.y)
end

function calls.bicg(r, m)
  r.gemv("N", 1, m.a, m.r, 0, m.s)
  r.gemv("T", 1, m.a, m.p, 0, m.q)
end

function calls.gemver(r, m, v)
  r.copy(m.A, m.B)
  r.ger(1, m.v1, m.u1, m.B)
  r.ger(1, m.v2, m.u2, m.B)
  r.gemv("N", v.beta, m.B, m.y, 1, m.x)
  r.add(1, m.z, m.x)
  r.gemv("T", v.alpha, m.B, m.x, 1, m.w)
end

return nest_in_cublas
