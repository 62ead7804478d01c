-- SPDX-License-Identifier: MIT

--- The chain that probes compute, x = a x + b modulo 2^32: each step waits for the one before, and no compiler finds
-- what comes out. Here it is found in as many squarings as n has bits, which is what the results are checked against.
-- @module clcompute.device_profile.chain

local chain = {}

local MASK = 0xffffffff

-- The factor and the summand of kernels/probe_uneven.cl and kernels/probe_barrier.cl.
chain.FACTOR, chain.SUMMAND = 1664525, 1

--- The factor and the summand of n steps at once.
-- @tparam integer a
-- @tparam integer b
-- @tparam integer n
-- @treturn integer factor
-- @treturn integer summand
function chain.power(a, b, n)
  local factor, summand = 1, 0
  while n > 0 do
    if n & 1 == 1 then factor, summand = factor * a & MASK, (summand * a + b) & MASK end
    a, b, n = a * a & MASK, (a * b + b) & MASK, n >> 1
  end
  return factor, summand
end

--- What n steps make of x.
-- @tparam integer a
-- @tparam integer b
-- @tparam integer n
-- @treturn function of x
function chain.after(a, b, n)
  local factor, summand = chain.power(a, b, n)
  return function(x) return factor * x + summand & MASK end
end

--- Whether a buffer of uint holds the results of chains.
-- @tparam Buffer buffer
-- @tparam integer count of elements that are looked at
-- @tparam function expected expected(i), i from 0, of element i + 1
-- @treturn boolean
-- @treturn ?string which is wrong
function chain.check(buffer, count, expected)
  for i, value in ipairs(buffer:read(1, count)) do
    local right = expected(i - 1)
    if value ~= right then return false, ("element %d is %d, not %d"):format(i, value, right) end
  end
  return true
end

return chain
