-- SPDX-License-Identifier: MIT
--- Products of matrices and linear systems as workloads.

local bench = require "clcompute.bench"
local blas = require "clcompute.blas"
local cl = require "clcompute"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local matrices = {}

-- --- products: C = A B, and batches of them -----------------------------------------------

local ROWS = 64 -- of a result that are checked: all of them would take longer than what is measured

--- Up to ROWS rows of packed elements, evenly spread, the first and the last among them.
local function some_rows(bytes, rows, row_bytes)
  if rows <= ROWS then return bytes:sub(1, rows * row_bytes) end
  local list = {}
  for i = 1, ROWS do
    local first = (i - 1) * (rows - 1) // (ROWS - 1) * row_bytes + 1
    list[i] = bytes:sub(first, first + row_bytes - 1)
  end
  return table.concat(list)
end

--- A check of the first product.
local function checker(m, n, k, dtype, a, b)
  local size = data.SIZE[dtype]
  local exact = sequential.gemm(data.doubles(some_rows(a, m, k * size), dtype),
    data.doubles(b:sub(1, k * n * size), dtype), math.min(m, ROWS), n, k, "double")
  -- Positive terms: u (k + 2), and as much of the oracle where it has no more digits.
  local bound = (dtype == "float" and 1 or 2) * (k + 2) * data.UNIT[dtype]
  return function(bytes) return sequential.relative_error(some_rows(bytes, m, n * size), exact, dtype) / bound end
end

--- @tparam table shape `n` columns, `m` rows and `k` terms of a sum (`n` both unless given); `batch` products
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function matrices.gemm(shape, dtype)
  local n, m, k, batch = shape.n, shape.m or shape.n, shape.k or shape.n, shape.batch or 1
  local a, b = data.random(dtype, batch * m * k, 3), data.random(dtype, batch * k * n, 4)
  local work = { name = "gemm", size = n, dtype = dtype, flops = 2.0 * batch * m * n * k,
    methods = { "naive", "tiled", "fast" }, check = checker(m, n, k, dtype, a, b), others = {} }

  function work.prepare(device)
    if shape.batch then
      return { a = device:buffer(a, dtype, batch, m, k), b = device:buffer(b, dtype, batch, k, n),
        c = device:empty(dtype, batch, m, n) }
    end
    return { a = device:buffer(a, dtype, m, k), b = device:buffer(b, dtype, k, n), c = device:empty(dtype, m, n) }
  end
  function work.run(o, method) return cl.gemm(o.a, o.b, { c = o.c, kernel = method }) end
  function work.result(o) return o.c:string() end

  function work.others.sequential() return workload.in_c(sequential.gemm, a, b, m, n, k, dtype) end

  function work.others.OpenBLAS(_, library)
    local size, products = data.SIZE[dtype], {}
    local function piece(bytes, elements, i)
      return blas.array(bytes:sub((i - 1) * elements * size + 1, i * elements * size), dtype)
    end
    for i = 1, batch do products[i] = { piece(a, m * k, i), piece(b, k * n, i), blas.array(m * n, dtype) } end
    return { timed = true, result = function() return products[1][3]:string() end, run = function()
      local seconds = 0.0
      for _, p in ipairs(products) do seconds = seconds + library:gemm(p[1], p[2], p[3], m, n, k) end
      return seconds
    end }
  end

  function work.others.CLBlast(device, library)
    local o = work.prepare(device)
    return { device = device, operands = o, run = function() library:gemm(o.a, o.b, o.c, m, n, k) end,
      result = function() return o.c:string() end }
  end

  --- The seconds of so many operations at the device's peak, measured now.
  function work.others.peak(device)
    local peak = bench.peak(device, { dtype = dtype }).flops
    return { timed = true, run = function() return work.flops / peak end }
  end
  return work
end

-- --- systems: n equations, one right-hand side --------------------------------------------

local LARGEST_RATIO = 30 -- of the backward error, LAPACK's own threshold

--- A workload on given numbers.
-- @tparam table given `name`, `flops`, `methods`; `solve(a, b, method, group)`, which returns the buffer x
local function system(given, a, b, n, dtype)
  local work = { name = given.name, size = n, dtype = dtype, flops = given.flops, methods = given.methods,
    others = {} }
  function work.prepare(device) return { a = device:buffer(a, dtype, n, n), b = device:buffer(b, dtype, n) } end
  function work.run(o, method, group)
    if o.x then o.x:release() end
    o.x = given.solve(o.a, o.b, method, group)
    return o.x
  end
  function work.result(o) return o.x:string() end
  function work.check(x) return sequential.backward_error(a, b, x, n, dtype) / LARGEST_RATIO end

  function work.others.sequential() return workload.in_c(sequential.gauss, a, b, n, dtype) end
  function work.others.OpenBLAS(_, library)
    local matrix, right, x = blas.array(a, dtype), blas.array(b, dtype), blas.array(n, dtype)
    return { timed = true, run = function() return library:gesv(matrix, right, x, n) end,
      result = function() return x:string() end }
  end
  return work
end

local ELIMINATION = {
  fixed = { kernel = "paper", range = "fixed" },
  host = { kernel = "paper", range = "fixed", remainder = "host" },
  shrinking = { kernel = "paper", range = "shrink" },
  pivoting = { kernel = "blocked" },
}

local function eliminate(a, b, method, group)
  local options = ELIMINATION[method] or {}
  return (cl.gauss(a, b, { kernel = options.kernel, range = options.range, remainder = options.remainder,
    group = group }))
end

--- Gauss elimination of a matrix whose diagonal dominates, by the four kernels of Baranov & Vlatskaya 2013 over a
-- "fixed" or a "shrinking" range, or with "pivoting"; its `run` takes the group size too, and the method "host", a
-- fixed range whose remainder the host computes.
-- @tparam table shape `n` equations
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function matrices.gauss(shape, dtype)
  local n = shape.n
  return system({ name = "gauss", flops = 2 / 3 * n ^ 3, methods = { "fixed", "shrinking", "pivoting" },
    solve = eliminate }, data.dominant(dtype, n, 5), data.random(dtype, n, 6), n, dtype)
end

--- Factors and solves; the factors leave their memory to the next ones.
local function solve_by_factors(a, b)
  local factors <close> = cl.lu(a)
  return factors:solve(b)
end

local function solve(a, b, method)
  if method ~= "checked" then return solve_by_factors(a, b) end
  return (cl.gauss(a, b))
end

--- A random system by factors, as LAPACK's gesv solves it ("factors"), or by cl.gauss with its checks ("checked").
-- @tparam table shape `n` equations
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function matrices.lu(shape, dtype)
  local n = shape.n
  local work = system({ name = "lu", flops = 2 * n ^ 3 / 3 + 2 * n ^ 2, methods = { "factors", "checked" },
    solve = solve }, data.random(dtype, n * n, 5, -1), data.random(dtype, n, 6, -1), n, dtype)
  work.others["cl.lu"] = function(device)
    local o = work.prepare(device)
    return { device = device, operands = o, run = function() solve_by_factors(o.a, o.b):release() end }
  end
  return work
end

return matrices
