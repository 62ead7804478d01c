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

local ROWS = 64 -- of a result that are checked: all of them would take longer than what is measured;
local FEW_ROWS = 16 -- where there are
local MANY = 1 << 24 -- terms of a row

--- So many rows of packed elements, evenly spread, the first and the last among them.
local function some_rows(bytes, rows, row_bytes, count)
  if rows <= count then return bytes:sub(1, rows * row_bytes) end
  local list = {}
  for i = 1, count do
    local first = (i - 1) * (rows - 1) // (count - 1) * row_bytes + 1
    list[i] = bytes:sub(first, first + row_bytes - 1)
  end
  return table.concat(list)
end

-- What rounding the operands adds to an error: to eleven bits each, or cut off after them.
local ROUNDED = { tf32 = 2.0 ^ -9 }

--- A check of the first product.
local function checker(m, n, k, dtype, precision, a, b)
  local size, rows = data.SIZE[dtype], n * k > MANY and FEW_ROWS or ROWS
  local exact = sequential.gemm(data.doubles(some_rows(a, m, k * size, rows), dtype),
    data.doubles(b:sub(1, k * n * size), dtype), math.min(m, rows), n, k, "double")
  -- Positive terms: u (k + 2), and as much of the oracle where it has no more digits.
  local bound = (dtype == "float" and 1 or 2) * (k + 2) * data.UNIT[dtype] + (ROUNDED[precision] or 0)
  return function(bytes)
    return sequential.relative_error(some_rows(bytes, m, n * size, rows), exact, dtype) / bound
  end
end

--- @tparam table shape `n` columns, `m` rows and `k` terms of a sum (`n` both unless given); `batch` products;
--  `precision` of ours and, "tf32", of cuBLAS
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function matrices.gemm(shape, dtype)
  local n, m, k, batch = shape.n, shape.m or shape.n, shape.k or shape.n, shape.batch or 1
  local a, b = data.random(dtype, batch * m * k, 3), data.random(dtype, batch * k * n, 4)
  local work = { name = "gemm", size = n, dtype = dtype, flops = 2.0 * batch * m * n * k,
    methods = { "naive", "tiled", "fast" }, check = checker(m, n, k, dtype, shape.precision, a, b), others = {} }

  function work.prepare(device)
    if shape.batch then
      return { a = device:buffer(a, dtype, batch, m, k), b = device:buffer(b, dtype, batch, k, n),
        c = device:empty(dtype, batch, m, n) }
    end
    return { a = device:buffer(a, dtype, m, k), b = device:buffer(b, dtype, k, n), c = device:empty(dtype, m, n) }
  end
  function work.run(o, method)
    return cl.gemm(o.a, o.b, { c = o.c, kernel = method, precision = shape.precision })
  end
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

  function work.others.cuBLAS(_, library)
    local left, right = library.memory(a), library.memory(b)
    local c, is_tf32 = library.memory(batch * m * n * data.SIZE[dtype]), shape.precision == "tf32"
    return { timed = true, result = function() return library.string(c) end,
      run = function() return library.gemm(left, right, c, m, n, k, batch, dtype, is_tf32) end }
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

local CHECKED = 16 -- systems of a batch

--- A check of solutions: of a batch some systems, evenly spread, the first and the last among them.
local function judge(a, b, n, dtype, batch)
  local count = batch or 1
  return function(x)
    local worst, checked = 0.0, math.min(count, CHECKED)
    for i = 1, checked do
      local at = checked > 1 and (i - 1) * (count - 1) // (checked - 1) or 0
      local matrix = data.slice(a, dtype, at * n * n, n * n)
      worst = data.worse(worst, sequential.backward_error(matrix, data.slice(b, dtype, at * n, n),
        data.slice(x, dtype, at * n, n), n, dtype))
    end
    return worst / LARGEST_RATIO
  end
end

--- A workload on given numbers.
-- @tparam table given `name`, `flops`, `methods`; `solve(a, b, method, group)`, which returns the buffer x
local function system(given, a, b, n, dtype, batch)
  local work = { name = given.name, size = n, dtype = dtype, flops = given.flops, methods = given.methods,
    others = {}, check = judge(a, b, n, dtype, batch) }
  function work.prepare(device)
    if not batch then return { a = device:buffer(a, dtype, n, n), b = device:buffer(b, dtype, n) } end
    return { a = device:buffer(a, dtype, batch, n, n), b = device:buffer(b, dtype, batch, n) }
  end
  function work.run(o, method, group)
    if o.x then o.x:release() end
    o.x = given.solve(o.a, o.b, method, group)
    return o.x
  end
  function work.result(o) return o.x:string() end

  local function on_gpu(_, library)
    local matrix, right, x = library.memory(a), library.memory(b), library.memory(#b)
    return { timed = true, run = function() return library.solve(matrix, right, x, n, dtype, batch) end,
      result = function() return library.string(x) end }
  end
  if batch then
    work.others.cuBLAS = on_gpu
    return work
  end
  work.others.cuSOLVER = on_gpu
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
-- @tparam table shape `n` equations, perhaps `batch` systems
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function matrices.lu(shape, dtype)
  local n, count = shape.n, shape.batch or 1
  local work = system({ name = "lu", flops = count * (2 * n ^ 3 / 3 + 2 * n ^ 2), methods = { "factors", "checked" },
    solve = solve }, data.random(dtype, count * n * n, 5, -1), data.random(dtype, count * n, 6, -1), n, dtype,
    shape.batch)
  work.others["cl.lu"] = function(device)
    local o = work.prepare(device)
    return { device = device, operands = o, run = function() solve_by_factors(o.a, o.b):release() end }
  end
  return work
end

return matrices
