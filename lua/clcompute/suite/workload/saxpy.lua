-- SPDX-License-Identifier: MIT

--- saxpy as a workload: alpha x + y of n elements, into a third vector as in listing 1 of Borisov 2015
-- ("out"), or into y ("in place") as BLAS has it.
-- @module clcompute.suite.workload.saxpy

local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local ALPHA = 1.5

--- @tparam integer n elements
-- @tparam string dtype "float" or "double"
-- @treturn table the workload (`clcompute.workload`)
return function(n, dtype)
  local x, y = data.random(dtype, n, 1), data.random(dtype, n, 2)
  local exact = sequential.saxpy(ALPHA, data.doubles(x, dtype), data.doubles(y, dtype), "double")
  -- Positive terms: a product and a sum are off by two roundings; so is the oracle, where it has no more digits.
  local bound = (dtype == "float" and 2 or 4) * data.UNIT[dtype]
  return {
    name = "saxpy", size = n, dtype = dtype, bytes = 3 * n * data.SIZE[dtype], methods = { "out", "in place" },
    check = function(result) return sequential.relative_error(result, exact, dtype) / bound end,

    prepare = function(device)
      return { x = device:buffer(x, dtype, n), y = device:buffer(y, dtype, n), out = device:empty(dtype, n) }
    end,
    run = function(o, method) return cl.saxpy(ALPHA, o.x, o.y, { out = method == "out" and o.out or nil }) end,
    result = function(o, method) return (method == "out" and o.out or o.y):string() end,

    sequential = function() return sequential.saxpy(ALPHA, x, y, dtype) end,

    openblas = function(library, array)
      local from, to = array(x, dtype), array(y, dtype)
      return function() return library:axpy(ALPHA, from, to), to end
    end,
    clblast = function(library, o) return library:axpy(ALPHA, o.x, o.y) end,
    clblast_result = function(o) return o.y:string() end,
  }
end
