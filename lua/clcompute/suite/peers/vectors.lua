-- SPDX-License-Identifier: MIT
--- Operations on vectors against OpenBLAS and plain C loops: saxpy, sums, dot products, scans.
-- @module clcompute.suite.peers.vectors

local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local vectors = {}

local ALPHA = 1e-3 -- so that what is updated often stays finite

--- A check of a number: within a bound for sums of n positive terms by blocks, far below that of one after the other.
local function near(expected, dtype)
  local bound = 64 * data.UNIT[dtype] * expected
  return function(got) return math.abs(got - expected) / bound end
end

--- y <- alpha x + y.
function vectors.saxpy(line, dtype, device)
  local n = line.n
  local left, right = data.random(dtype, n, 7), data.random(dtype, n, 8)
  local x, y = device:buffer(left, dtype, n), device:buffer(right, dtype, n)
  local exact = sequential.saxpy(ALPHA, data.doubles(left, dtype), data.doubles(right, dtype), "double")
  local first -- what the first call made of y
  local work = { bytes = 3 * n * data.SIZE[dtype], peers = {} }
  function work.ours()
    cl.saxpy(ALPHA, x, y)
    device:wait()
    first = first or y:string()
  end
  function work.result() return first end
  function work.check(bytes) return sequential.relative_error(bytes, exact, dtype) / (2 * data.UNIT[dtype]) end

  function work.peers.OpenBLAS(library, array)
    local a, b = array(left, dtype), array(right, dtype)
    return function() return library:axpy(ALPHA, a, b) end
  end
  return work
end

--- The sum of all elements.
function vectors.sum(line, dtype, device)
  local n = line.n
  local bytes = data.random(dtype, n, 9)
  local x, found = device:buffer(bytes, dtype, n), nil
  local work = { bytes = n * data.SIZE[dtype], peers = {} }
  function work.ours() found = cl.sum(x) end
  function work.result() return found end
  local running = sequential.scan(data.doubles(bytes, dtype), "double")
  work.check = near((string.unpack("<d", running, #running - 7)), dtype)

  function work.peers.OpenBLAS(library, array) -- of |x|, which is x
    local a = array(bytes, dtype)
    return function() return select(2, library:asum(a)) end
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
function vectors.dot(line, dtype, device)
  local n = line.n
  local left, right = data.random(dtype, n, 10), data.random(dtype, n, 11)
  local x, y, found = device:buffer(left, dtype, n), device:buffer(right, dtype, n), nil
  local work = { bytes = 2 * n * data.SIZE[dtype], peers = {} }
  function work.ours() found = cl.dot(x, y) end
  function work.result() return found end
  work.check = near(sum_of_products(data.doubles(left, dtype), data.doubles(right, dtype)), dtype)

  function work.peers.OpenBLAS(library, array)
    local a, b = array(left, dtype), array(right, dtype)
    return function() return select(2, library:dot(a, b)) end
  end
  return work
end

--- Running sums.
function vectors.scan(line, dtype, device)
  local n = line.n
  local bytes = data.random(dtype, n, 12)
  local x, out = device:buffer(bytes, dtype, n), device:empty(dtype, n)
  local exact = sequential.scan(data.doubles(bytes, dtype), "double")
  local work = { bytes = 2 * n * data.SIZE[dtype], peers = {} }
  function work.ours()
    cl.scan("a + b", x, { out = out })
    device:wait()
  end
  function work.result() return out:string() end
  function work.check(got) return sequential.relative_error(got, exact, dtype) / (1024 * data.UNIT[dtype]) end

  function work.peers.C()
    return function() return select(2, sequential.scan(bytes, dtype)) end
  end
  return work
end

return vectors
