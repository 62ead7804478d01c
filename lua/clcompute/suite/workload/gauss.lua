-- SPDX-License-Identifier: MIT

--- Gauss elimination as a workload: n equations, by the four kernels of Baranov & Vlatskaya 2013 over a
-- "fixed" or a "shrinking" range, or with "pivoting".
-- @module clcompute.suite.workload.gauss

local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local LARGEST_RATIO = 30 -- of the backward error

local METHODS = {
  fixed = { kernel = "paper", range = "fixed" },
  shrinking = { kernel = "paper", range = "shrink" },
  pivoting = { kernel = "blocked" },
}

--- @tparam integer n equations
-- @tparam string dtype "float" or "double"
-- @treturn table the workload (`clcompute.workload`)
return function(n, dtype)
  local a, b = data.dominant(dtype, n, 5), data.random(dtype, n, 6)
  return {
    name = "gauss", size = n, dtype = dtype, flops = 2 / 3 * n ^ 3, methods = { "fixed", "shrinking", "pivoting" },
    check = function(x) return sequential.backward_error(a, b, x, n, dtype) / LARGEST_RATIO end,

    prepare = function(device) return { a = device:buffer(a, dtype, n, n), b = device:buffer(b, dtype, n) } end,
    run = function(o, method, group)
      if o.x then o.x:release() end
      local options = METHODS[method]
      o.x = cl.gauss(o.a, o.b, { kernel = options.kernel, range = options.range, group = group })
      return o.x
    end,
    result = function(o) return o.x:string() end,

    sequential = function() return sequential.gauss(a, b, n, dtype) end,

    openblas = function(library, array)
      local matrix, right, x = array(a, dtype), array(b, dtype), array(n, dtype)
      return function() return library:gesv(matrix, right, x, n), x end
    end,
  }
end
