-- SPDX-License-Identifier: MIT
--- Operations on vectors as workloads: saxpy, sums, dot products, scans.

local blas = require "clcompute.blas"
local cl = require "clcompute"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local vectors = {}

local ALPHA = 1.5

--- alpha x + y, into a third vector as in listing 1 of Borisov 2015 ("out"), or into y ("in place") as BLAS has it.
-- @tparam table shape `n`
-- @string dtype
-- @treturn table a workload (`clcompute.suite.workload`)
function vectors.saxpy(shape, dtype)
  local n = shape.n
  local left, right = data.random(dtype, n, 1), data.random(dtype, n, 2)
  local exact = sequential.saxpy(ALPHA, data.doubles(left, dtype), data.doubles(right, dtype), "double")
  -- Positive terms: a product and a sum are off by two roundings; so is the oracle, where it has no more digits.
  local bound = (dtype == "float" and 2 or 4) * data.UNIT[dtype]
  local work = { name = "saxpy", size = n, dtype = dtype, bytes = 3 * n * data.SIZE[dtype],
    methods = { "out", "in place" }, others = {} }
  function work.prepare(device)
    return { x = device:buffer(left, dtype, n), y = device:buffer(right, dtype, n), out = device:empty(dtype, n) }
  end
  function work.run(o, method) return cl.saxpy(ALPHA, o.x, o.y, { out = method == "out" and o.out or nil }) end
  function work.result(o, method) return (method == "out" and o.out or o.y):string() end
  function work.check(bytes) return sequential.relative_error(bytes, exact, dtype) / bound end

  function work.others.sequential() return workload.in_c(sequential.saxpy, ALPHA, left, right, dtype) end
  function work.others.OpenBLAS(_, library)
    local x, y = blas.array(left, dtype), blas.array(right, dtype)
    return { timed = true, run = function() return library:axpy(ALPHA, x, y) end,
      result = function() return y:string() end }
  end
  function work.others.CLBlast(device, library)
    local o = work.prepare(device)
    return { device = device, operands = o, run = function() library:axpy(ALPHA, o.x, o.y) end,
      result = function() return o.y:string() end }
  end
  return work
end

--- A check of a number: within a bound for sums of n positive terms by blocks, far below that of one after the other.
local function near(expected, dtype)
  local bound = 64 * data.UNIT[dtype] * expected
  return function(got) return math.abs(got - expected) / bound end
end

--- The sum of all elements.
function vectors.sum(shape, dtype)
  local n = shape.n
  local bytes = data.random(dtype, n, 9)
  local running = sequential.scan(data.doubles(bytes, dtype), "double")
  local work = { name = "sum", size = n, dtype = dtype, bytes = n * data.SIZE[dtype], methods = {}, others = {},
    check = near((string.unpack("<d", running, #running - 7)), dtype) }
  function work.prepare(device) return { x = device:buffer(bytes, dtype, n) } end
  function work.run(o) o.found = cl.sum(o.x) end
  function work.result(o) return o.found end

  function work.others.OpenBLAS(_, library) -- of |x|, which is x
    local x = blas.array(bytes, dtype)
    return { timed = true, run = function() return select(2, library:asum(x)) end }
  end
  return work
end

local PIECE = 1 << 22 -- elements whose products are added at once, exactly enough: in doubles

--- The sum of products of packed doubles.
local function sum_of_products(x, y)
  local sum = 0.0
  for first = 1, #x, 8 * PIECE do
    local left, right = x:sub(first, first + 8 * PIECE - 1), y:sub(first, first + 8 * PIECE - 1)
    sum = sum + string.unpack("<d", (sequential.gemm(left, right, 1, 1, #left // 8, "double")))
  end
  return sum
end

--- The sum of products.
function vectors.dot(shape, dtype)
  local n = shape.n
  local left, right = data.random(dtype, n, 10), data.random(dtype, n, 11)
  local work = { name = "dot", size = n, dtype = dtype, bytes = 2 * n * data.SIZE[dtype], methods = {}, others = {},
    check = near(sum_of_products(data.doubles(left, dtype), data.doubles(right, dtype)), dtype) }
  function work.prepare(device) return { x = device:buffer(left, dtype, n), y = device:buffer(right, dtype, n) } end
  function work.run(o) o.found = cl.dot(o.x, o.y) end
  function work.result(o) return o.found end

  function work.others.OpenBLAS(_, library)
    local x, y = blas.array(left, dtype), blas.array(right, dtype)
    return { timed = true, run = function() return select(2, library:dot(x, y)) end }
  end
  return work
end

--- Running sums.
function vectors.scan(shape, dtype)
  local n = shape.n
  local bytes = data.random(dtype, n, 12)
  local exact = sequential.scan(data.doubles(bytes, dtype), "double")
  local work = { name = "scan", size = n, dtype = dtype, bytes = 2 * n * data.SIZE[dtype], methods = {}, others = {} }
  function work.prepare(device) return { x = device:buffer(bytes, dtype, n), out = device:empty(dtype, n) } end
  function work.run(o) return cl.scan("a + b", o.x, { out = o.out }) end
  function work.result(o) return o.out:string() end
  function work.check(got) return sequential.relative_error(got, exact, dtype) / (1024 * data.UNIT[dtype]) end

  function work.others.C() -- which adds one after the other, so that its error is beyond the bound
    return { timed = true, run = function() return select(2, sequential.scan(bytes, dtype)) end }
  end
  return work
end

return vectors
