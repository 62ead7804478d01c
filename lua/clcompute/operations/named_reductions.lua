-- SPDX-License-Identifier: MIT

--- cl.reduce, and the reductions that have names.
-- @module clcompute

local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local OPTIONS = { init = "number", map = "string", dtype = "string" }
local NONE = {}

local SUM = "a + b"
local MIN = { float = reduce.NAN_MIN, integer = "min(a, b)" }
local MAX = { float = reduce.NAN_MAX, integer = "max(a, b)" }

local reductions = {}

--- All elements combined: operation(a, b) of two results, until one is left. Blocks.
--
-- The operation must be associative and commute, since the order in which elements are combined is the library's
-- choice; it is the same each time on one device. Integers are computed in 64 bits (those of ulong in ulong) and wrap
-- around there; half in float. A sum of floats goes through some hundred additions, not through n: its error is within
-- a few hundred roundings of the sum of the absolute values.
-- @function reduce
-- @string operation expression of OpenCL C in a and b: "max(a, b)"
-- @param x Buffer, or table of operands for the expression `map`: Buffers and numbers, as `map` takes them
-- @tparam[opt] table options `init`: combined with the result, which it is where there are no elements; `map`: the
-- expression of an element, "x[i]" unless given; `dtype` of the result, else that of the operands
-- @treturn number an integer where the type is one
-- @raise what is wrong with an expression or an operand, and where there are neither elements nor `init`
-- @usage local largest = cl.reduce("max(a, b)", x, { map = "fabs(x[i])" })
-- local dot = cl.reduce("a + b", { x = x, y = y }, { map = "x[i]*y[i]" })
function reductions.reduce(operation, x, o)
  o = o and options.check("reduce", o, OPTIONS) or NONE
  return reduce.all("reduce", operation, x, o.map, o.dtype, o.init)
    or error("reduce: no elements, and no option 'init'", 0)
end

--- One buffer, which is described.
local function check_one(where, x)
  return operands.describe(where, "argument 1", x)
end

--- What stands for integers, or for floats, by the dtype of one buffer.
local function for_dtype(where, x, choices)
  return choices[operands.is_integer(check_one(where, x).dtype) and "integer" or "float"]
end

local ZERO = { float = 0.0, integer = 0 }

--- The sum of all elements; 0 where there are none. Blocks.
-- Integers are summed in 64 bits and wrap around there; the error of a sum of floats is within a few hundred roundings
-- of the sum of the absolute values, whatever n is.
-- @function sum
-- @tparam Buffer x
-- @treturn number an integer for integers
function reductions.sum(x)
  local zero = for_dtype("sum", x, ZERO)
  return reduce.all("sum", SUM, x) or zero
end

local MAGNITUDE = { float = "fabs(x[i])", integer = "abs(x[i])" }

--- The sum of the magnitudes of all elements, asum of BLAS; 0 where there are none. Blocks. Integers and errors as in
-- `sum`.
-- @function asum
-- @tparam Buffer x
-- @treturn number an integer for integers
function reductions.asum(x)
  local magnitude, zero = for_dtype("asum", x, MAGNITUDE), for_dtype("asum", x, ZERO)
  return reduce.all("asum", SUM, x, magnitude) or zero
end

--- The sum of x[i] * y[i]; 0 where there are no elements. Blocks. Integers as in `sum`.
-- @function dot
-- @tparam Buffer x
-- @tparam Buffer y with as many elements
-- @treturn number an integer for integers
function reductions.dot(x, y)
  local list = { check_one("dot", x), operands.describe("dot", "argument 2", y) }
  return reduce.all("dot", SUM, { x = x, y = y }, "x[i]*y[i]")
    or (operands.is_integer(operands.result_dtype(list)) and 0 or 0.0)
end

local function extreme(where, operation, x)
  return reduce.all(where, for_dtype(where, x, operation), x) or error(where .. ": no elements", 0)
end

--- Where an extreme is, from 1, and the element.
local function place(where, operation, x)
  local value = extreme(where, operation, x)
  local index
  if value ~= value then
    index = reduce.all(where, "min(a, b)", x, "x[i] != x[i] ? i : LONG_MAX", "long")
  else
    index = reduce.all(where, "min(a, b)", { x = x, m = value }, "x[i] == m ? i : LONG_MAX", "long")
  end
  return index + 1, value
end

--- The smallest element; NaN where one is NaN. Blocks.
-- @function min
-- @tparam Buffer x
-- @treturn number
-- @raise where there are no elements
function reductions.min(x)
  return extreme("min", MIN, x)
end

--- The largest element; NaN where one is NaN. Blocks.
-- @function max
-- @tparam Buffer x
-- @treturn number
-- @raise where there are no elements
function reductions.max(x)
  return extreme("max", MAX, x)
end

--- Where the smallest element is, or the first NaN where one is. Blocks.
-- @function argmin
-- @tparam Buffer x
-- @treturn integer index from 1, of the first of equals, in row-major order
-- @treturn number the element
-- @raise where there are no elements
function reductions.argmin(x)
  return place("argmin", MIN, x)
end

--- Where the largest element is, or the first NaN where one is. Blocks.
-- @function argmax
-- @tparam Buffer x
-- @treturn integer index from 1, of the first of equals, in row-major order
-- @treturn number the element
-- @raise where there are no elements
function reductions.argmax(x)
  return place("argmax", MAX, x)
end

-- Within these no square that counts is lost: those below the smallest number are less than a rounding of the sum.
local SAFE = { float = { 2.0 ^ -60, 2.0 ^ 127 }, double = { 2.0 ^ -900, 2.0 ^ 1023 } }

-- The largest power of two to scale by.
local LARGEST_SCALE = { float = 120, double = 1000 }

--- The norm of elements whose squares are too large or too small for the dtype: scaled by a power of two.
local function scaled_norm(x, dtype)
  local largest = reduce.all("norm2", MAX.float, x, ("fabs((%s)x[i])"):format(dtype), dtype)
  if largest == 0 or largest ~= largest or largest == math.huge then return largest end
  local most = LARGEST_SCALE[dtype]
  local scale = 2.0 ^ math.max(-most, math.min(most, -(math.log(largest, 2) // 1)))
  local element = ("(%s)x[i]*s*((%s)x[i]*s)"):format(dtype, dtype)
  return math.sqrt(reduce.all("norm2", SUM, { x = x, s = scale }, element, dtype)) / scale
end

--- The Euclidean norm, the root of the sum of squares; 0 where there are no elements. Blocks.
-- It is right where the squares themselves would overflow or vanish. Computed in double where the device has it.
-- @function norm2
-- @tparam Buffer x
-- @treturn number a float
function reductions.norm2(x)
  local described = check_one("norm2", x)
  local dtype = described.device.has_double and "double" or "float"
  local squares = reduce.all("norm2", SUM, x, ("(%s)x[i]*(%s)x[i]"):format(dtype, dtype), dtype)
  if not squares then return 0.0 end
  local safe = SAFE[dtype]
  if squares >= safe[1] and squares <= safe[2] then return math.sqrt(squares) end
  return scaled_norm(x, dtype)
end

return reductions
