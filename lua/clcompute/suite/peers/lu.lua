-- SPDX-License-Identifier: MIT
--- A linear system, factored and solved for one right-hand side, against OpenBLAS (LAPACK's gesv).
-- @module clcompute.suite.peers.lu

local cl = require "clcompute"
local data = require "clcompute.suite.workload.data"
local sequential = require "clcompute.sequential"

local MAX_RATIO = 30 -- of the backward error, LAPACK's own threshold

--- Factors and solves; the factors leave their memory to the next ones.
local function solve_anew(a, b)
  local factors <close> = cl.lu(a)
  return factors:solve(b)
end

--- @tparam table line `n`
-- @tparam string dtype
-- @tparam Device device
-- @tparam[opt] function solve(a, b) that returns the buffer x
-- @treturn table as of `clcompute.peers.gemm`
return function(line, dtype, device, solve)
  local n = line.n
  solve = solve or solve_anew
  local matrix, right = data.random(dtype, n * n, 5, -1), data.random(dtype, n, 6, -1)
  local a, b, x = device:buffer(matrix, dtype, n, n), device:buffer(right, dtype, n), nil
  local work = { flops = 2 * n ^ 3 / 3 + 2 * n ^ 2, peers = {} }
  function work.ours()
    if x then x:release() end
    x = solve(a, b)
    device:wait()
  end
  function work.result() return x:string() end
  function work.check(bytes) return sequential.backward_error(matrix, right, bytes, n, dtype) / MAX_RATIO end

  function work.peers.OpenBLAS(library, array)
    local stored, given, out = array(matrix, dtype), array(right, dtype), array(n, dtype)
    return function() return library:gesv(stored, given, out, n) end, function() return out:string() end
  end

  work.peers["cl.lu"] = function()
    return function()
      solve_anew(a, b):release()
      device:wait()
    end
  end

  return work
end
