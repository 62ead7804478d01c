-- SPDX-License-Identifier: MIT
--- Operands that are the same on every device and in every run, as packed strings.
-- @module clcompute.suite.packed

local cl = require "clcompute"

local packed = {}

--- Bytes of an element.
packed.SIZE = { float = 4, double = 8 }

--- Unit roundoff.
packed.UNIT = { float = 2.0 ^ -24, double = 2.0 ^ -53 }

local PIECE = 1 << 20 -- elements that pass through a table at once

--- n random numbers, low <= x < high (0 and 1).
-- @tparam string dtype
-- @tparam integer n
-- @tparam integer seed
-- @tparam[opt] number low
-- @treturn string
function packed.random(dtype, n, seed, low)
  local buffer <close> = cl.device():random(dtype, n, { seed = seed, low = low or 0 })
  return buffer:string()
end

--- A random matrix that needs no pivoting: its diagonal dominates.
-- @treturn string
function packed.dominant(dtype, n, seed)
  local matrix <close> = cl.device():random(dtype, n, n, { seed = seed, low = -1 })
  for i = 1, n do matrix:set(i, i, n) end
  return matrix:string()
end

--- Packed elements as packed doubles.
-- @treturn string
function packed.doubles(bytes, dtype)
  if dtype == "double" then return bytes end
  local device, size, pieces = cl.device(), packed.SIZE[dtype], {}
  for first = 1, #bytes, PIECE * size do
    local piece = bytes:sub(first, first + PIECE * size - 1)
    local narrow <close> = device:buffer(piece, dtype, #piece // size)
    local wide <close> = device:buffer(narrow:read(), "double")
    pieces[#pieces + 1] = wide:string()
  end
  return table.concat(pieces)
end

return packed
