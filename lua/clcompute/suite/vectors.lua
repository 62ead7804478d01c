-- SPDX-License-Identifier: MIT
--- Operations on vectors as workloads: saxpy, sums, dot products, scans. Of large ones some elements are checked.

local blas = require "clcompute.blas"
local cl = require "clcompute"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local vectors = {}

local ALPHA = 1.5

-- --- references ---------------------------------------------------------------------------

--- Some of packed elements, as doubles.
local function doubles(bytes, dtype, first, count)
  return data.doubles(data.slice(bytes, dtype, first, count), dtype)
end

--- A check of elements: of each part those that were computed exactly.
-- @tparam table parts `first`, from 0, and `exact`, packed doubles
local function comparison(parts, dtype, bound)
  return function(bytes)
    local worst = 0.0
    for _, part in ipairs(parts) do
      local found = data.slice(bytes, dtype, part.first, #part.exact // 8)
      worst = data.worse(worst, sequential.relative_error(found, part.exact, dtype) / bound)
    end
    return worst
  end
end

--- Running sums in doubles, of each part where they are compared; and the sum of all.
local function running_sums(bytes, dtype, n)
  local parts, sum = {}, 0.0
  for first, count, kept in data.parts(n) do
    local part = doubles(bytes, dtype, first, count)
    local sums = sequential.scan(string.pack("<d", sum + string.unpack("<d", part)) .. part:sub(9), "double")
    parts[#parts + 1] = { first = first, exact = sums:sub(1, 8 * kept) }
    sum = string.unpack("<d", sums, #sums - 7)
  end
  return parts, sum
end

-- --- operations ---------------------------------------------------------------------------

--- alpha x + y, into a third vector as in listing 1 of Borisov 2015 ("out"), or into y ("in place") as BLAS has it.
-- @tparam table shape `n`
-- @string dtype
-- @treturn table a workload (`clcompute.suite.workload`)
function vectors.saxpy(shape, dtype)
  local n = shape.n
  local left, right = data.random(dtype, n, 1), data.random(dtype, n, 2)
  local parts = {}
  for first, _, kept in data.parts(n) do
    local x, y = doubles(left, dtype, first, kept), doubles(right, dtype, first, kept)
    parts[#parts + 1] = { first = first, exact = (sequential.saxpy(ALPHA, x, y, "double")) }
  end
  -- Positive terms: a product and a sum are off by two roundings; so is the oracle, where it has no more digits.
  local bound = (dtype == "float" and 2 or 4) * data.UNIT[dtype]
  local work = { name = "saxpy", size = n, dtype = dtype, bytes = 3 * n * data.SIZE[dtype],
    methods = { "out", "in place" }, others = {}, check = comparison(parts, dtype, bound) }
  function work.prepare(device)
    return { x = device:buffer(left, dtype, n), y = device:buffer(right, dtype, n), out = device:empty(dtype, n) }
  end
  function work.run(o, method) return cl.saxpy(ALPHA, o.x, o.y, { out = method == "out" and o.out or nil }) end
  function work.result(o, method) return (method == "out" and o.out or o.y):string() end

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
  function work.others.cuBLAS(_, library)
    local x, y = library.memory(left), library.memory(right)
    return { timed = true, run = function() return library.axpy(ALPHA, x, y, n) end,
      result = function() return library.string(y) end }
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
  local _, sum = running_sums(bytes, dtype, n)
  local work = { name = "sum", size = n, dtype = dtype, bytes = n * data.SIZE[dtype], methods = {}, others = {},
    check = near(sum, dtype) }
  function work.prepare(device) return { x = device:buffer(bytes, dtype, n) } end
  function work.run(o) o.found = cl.sum(o.x) end
  function work.result(o) return o.found end

  function work.others.OpenBLAS(_, library) -- of |x|, which is x
    local x = blas.array(bytes, dtype)
    return { timed = true, run = function() return select(2, library:asum(x)) end }
  end
  function work.others.CUB(_, library)
    local x, found = library.memory(bytes), nil
    return { timed = true, result = function() return string.unpack("<f", found) end, run = function()
      local seconds
      seconds, found = library.cub("sum", n, x)
      return seconds
    end }
  end
  return work
end

--- The sum of products in doubles.
local function sum_of_products(x, y, dtype, n)
  local sum = 0.0
  for first, count in data.parts(n) do
    local left, right = doubles(x, dtype, first, count), doubles(y, dtype, first, count)
    sum = sum + string.unpack("<d", (sequential.gemm(left, right, 1, 1, count, "double")))
  end
  return sum
end

--- The sum of products.
function vectors.dot(shape, dtype)
  local n = shape.n
  local left, right = data.random(dtype, n, 10), data.random(dtype, n, 11)
  local work = { name = "dot", size = n, dtype = dtype, bytes = 2 * n * data.SIZE[dtype], methods = {}, others = {},
    check = near(sum_of_products(left, right, dtype, n), dtype) }
  function work.prepare(device) return { x = device:buffer(left, dtype, n), y = device:buffer(right, dtype, n) } end
  function work.run(o) o.found = cl.dot(o.x, o.y) end
  function work.result(o) return o.found end

  function work.others.OpenBLAS(_, library)
    local x, y = blas.array(left, dtype), blas.array(right, dtype)
    return { timed = true, run = function() return select(2, library:dot(x, y)) end }
  end
  function work.others.cuBLAS(_, library)
    local x, y, found = library.memory(left), library.memory(right), nil
    return { timed = true, result = function() return found end, run = function()
      local seconds
      seconds, found = library.dot(x, y, n)
      return seconds
    end }
  end
  return work
end

--- Running sums.
function vectors.scan(shape, dtype)
  local n = shape.n
  local bytes = data.random(dtype, n, 12)
  local work = { name = "scan", size = n, dtype = dtype, bytes = 2 * n * data.SIZE[dtype], methods = {}, others = {},
    check = comparison(running_sums(bytes, dtype, n), dtype, 1024 * data.UNIT[dtype]) }
  function work.prepare(device) return { x = device:buffer(bytes, dtype, n), out = device:empty(dtype, n) } end
  function work.run(o) return cl.scan("a + b", o.x, { out = o.out }) end
  function work.result(o) return o.out:string() end

  function work.others.C() -- which adds one after the other, so that its error is beyond the bound
    return { timed = true, run = function() return select(2, sequential.scan(bytes, dtype)) end }
  end
  function work.others.CUB(_, library)
    local x, out = library.memory(bytes), library.memory(#bytes)
    return { timed = true, run = function() return (library.cub("scan", n, x, out)) end,
      result = function() return library.string(out) end }
  end
  return work
end

return vectors
