-- SPDX-License-Identifier: MIT
--- Linear systems as workloads: n equations, one right-hand side.
-- @module clcompute.suite.systems

local blas = require "clcompute.blas"
local cl = require "clcompute"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local systems = {}

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
  shrinking = { kernel = "paper", range = "shrink" },
  pivoting = { kernel = "blocked" },
}

local function eliminate(a, b, method, group)
  local options = ELIMINATION[method] or {}
  return (cl.gauss(a, b, { kernel = options.kernel, range = options.range, group = group }))
end

--- Gauss elimination of a matrix whose diagonal dominates, by the four kernels of Baranov & Vlatskaya 2013 over a
-- "fixed" or a "shrinking" range, or with "pivoting"; its `run` takes the group size too.
-- @tparam table shape `n` equations
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function systems.gauss(shape, dtype)
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
function systems.lu(shape, dtype)
  local n = shape.n
  local work = system({ name = "lu", flops = 2 * n ^ 3 / 3 + 2 * n ^ 2, methods = { "factors", "checked" },
    solve = solve }, data.random(dtype, n * n, 5, -1), data.random(dtype, n, 6, -1), n, dtype)
  work.others["cl.lu"] = function(device)
    local o = work.prepare(device)
    return { device = device, operands = o, run = function() solve_by_factors(o.a, o.b):release() end }
  end
  return work
end

return systems
