-- SPDX-License-Identifier: MIT

--- The matrix product as a workload: C = A B, n x n.
-- @module clcompute.suite.workload.gemm

local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local ROWS = 64 -- of the result that are checked: all of them would take longer than what is measured

--- Up to ROWS rows of packed elements, evenly spread, the first and the last among them.
local function some_rows(bytes, n, size)
  if n <= ROWS then return bytes end
  local rows = {}
  for i = 1, ROWS do
    local first = (i - 1) * (n - 1) // (ROWS - 1) * n * size + 1
    rows[i] = bytes:sub(first, first + n * size - 1)
  end
  return table.concat(rows)
end

--- @tparam integer n rows and columns
-- @tparam string dtype "float" or "double"
-- @treturn table the workload (`clcompute.workload`)
return function(n, dtype)
  local size = data.SIZE[dtype]
  local a, b = data.random(dtype, n * n, 3), data.random(dtype, n * n, 4)
  local exact = sequential.gemm(data.doubles(some_rows(a, n, size), dtype), data.doubles(b, dtype), math.min(n, ROWS),
    n, n, "double")
  -- Positive terms: u (k + 2), and as much of the oracle where it has no more digits.
  local bound = (dtype == "float" and 1 or 2) * (n + 2) * data.UNIT[dtype]
  return {
    name = "gemm", size = n, dtype = dtype, flops = 2 * n ^ 3, methods = { "naive", "tiled", "fast" },
    check = function(result) return sequential.relative_error(some_rows(result, n, size), exact, dtype) / bound end,

    prepare = function(device)
      return { a = device:buffer(a, dtype, n, n), b = device:buffer(b, dtype, n, n), c = device:empty(dtype, n, n) }
    end,
    run = function(o, method) return cl.gemm(o.a, o.b, { c = o.c, kernel = method }) end,
    result = function(o) return o.c:string() end,

    sequential = function() return sequential.gemm(a, b, n, n, n, dtype) end,

    openblas = function(library, array)
      local left, right, product = array(a, dtype), array(b, dtype), array(n * n, dtype)
      return function() return library:gemm(left, right, product, n, n, n), product end
    end,
    clblast = function(library, o) return library:gemm(o.a, o.b, o.c, n, n, n) end,
    clblast_result = function(o) return o.c:string() end,
  }
end
