-- SPDX-License-Identifier: MIT
--- Where an extreme is, in one pass: the largest of integers that hold an element's order above its place. For elements
-- of at most four bytes, on devices whose work-items go through memory together.

local enqueue = require("clcompute.core.internal").enqueue
local operands = require "clcompute.operations.operands"
local reduce = require "clcompute.operations.reduce"

local PLACES = 1 << 32 -- that the lower half of an integer tells
local SIGN, ONES = 0x80000000, 0xffffffff

-- Unsigned integers in the order of elements: the bits of floats of one sign, in reverse for the other; -0 is 0.
local ORDER = { unsigned = "(uint)x[i]", signed = "(uint)x[i]^0x80000000u",
  float = "as_uint(x[i]+0.0f)^((uint)(as_int(x[i]+0.0f)>>31)|0x80000000u)" }

local function kind_of(dtype)
  if not operands.is_integer(dtype) then return "float" end
  return dtype:sub(1, 1) == "u" and "unsigned" or "signed"
end

--- The expression of an element's integer; NaN is before all, and the first of equal elements before the others.
local function key_of(kind, is_min)
  local order = is_min and ("~(%s)"):format(ORDER[kind]) or ORDER[kind]
  if kind == "float" then order = ("x[i]!=x[i]?UINT_MAX:%s"):format(order) end
  return ("(ulong)(%s)<<32|(uint)(UINT_MAX-i)"):format(order)
end

-- What the reductions are, by kind: of the smallest, and of the largest.
local SMALLEST, LARGEST = {}, {}
for kind in pairs(ORDER) do
  SMALLEST[kind] = { operation = "max(a, b)", map = key_of(kind, true), dtype = "ulong" }
  LARGEST[kind] = { operation = "max(a, b)", map = key_of(kind, false), dtype = "ulong" }
end

--- The element of which this is the order.
local function element_of(kind, order)
  if kind == "unsigned" then return order end
  if kind == "signed" then return (order ~ SIGN) - ((order ~ SIGN) & SIGN) * 2 end
  local bits = order & SIGN ~= 0 and order ~ SIGN or ~order & ONES
  return (string.unpack("f", string.pack("I4", bits)))
end

local keyed_place = {}

--- Whether a buffer that was described can be searched so.
function keyed_place.serves(of)
  return operands.sizes[of.dtype] <= 4 and of.count > 0 and of.count < PLACES
    and enqueue.spread(of.device, "reduce", of.count).kernel == "reduce_groups"
end

--- The place of an extreme of a buffer that was described, from 1, and the element; 0 for -0.
function keyed_place.find(where, is_min, of)
  local kind = kind_of(of.dtype)
  local found = reduce.fixed(where, (is_min and SMALLEST or LARGEST)[kind], { of }, of)
  local order, place = found >> 32, (~found & ONES) + 1
  if kind == "float" and order == ONES then return place, -(0.0 / 0.0) end
  return place, element_of(kind, is_min and ~order & ONES or order)
end

return keyed_place
