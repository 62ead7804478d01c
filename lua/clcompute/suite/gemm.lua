-- SPDX-License-Identifier: MIT
--- The matrix product as a workload: C = A B, and batches of products.
-- @module clcompute.suite.gemm

local bench = require "clcompute.bench"
local blas = require "clcompute.blas"
local cl = require "clcompute"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local gemm = {}

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
function gemm.gemm(shape, dtype)
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

return gemm
