-- SPDX-License-Identifier: MIT

--- cl.reduce, and the reductions that have names.

local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local OPTIONS = { init = "number|table", map = "string", dtype = "string|table", preamble = "string" }

local SUM = "a + b"
local MIN = { float = reduce.NAN_MIN, integer = "min(a, b)" }
local MAX = { float = reduce.NAN_MAX, integer = "max(a, b)" }

local reductions = {}

function reductions.reduce(operation, x, o)
  return reduce.all("reduce", operation, x, o and options.check("reduce", o, OPTIONS))
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

function reductions.sum(x)
  local zero = for_dtype("sum", x, ZERO)
  return reduce.all("sum", SUM, x) or zero
end

local MAGNITUDE = { float = "fabs(x[i])", integer = "abs(x[i])" }

function reductions.asum(x)
  local magnitude, zero = for_dtype("asum", x, MAGNITUDE), for_dtype("asum", x, ZERO)
  return reduce.all("asum", SUM, x, { map = magnitude }) or zero
end

function reductions.dot(x, y)
  local list = { check_one("dot", x), operands.describe("dot", "argument 2", y) }
  return reduce.all("dot", SUM, { x = x, y = y }, { map = "x[i]*y[i]" })
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
    index = reduce.all(where, "min(a, b)", x, { map = "x[i] != x[i] ? i : LONG_MAX", dtype = "long" })
  else
    local map = { map = "x[i] == m ? i : LONG_MAX", dtype = "long" }
    index = reduce.all(where, "min(a, b)", { x = x, m = value }, map)
  end
  return index + 1, value
end

function reductions.min(x)
  return extreme("min", MIN, x)
end

function reductions.max(x)
  return extreme("max", MAX, x)
end

function reductions.argmin(x)
  return place("argmin", MIN, x)
end

function reductions.argmax(x)
  return place("argmax", MAX, x)
end

-- Within these no square that counts is lost: those below the smallest number are less than a rounding of the sum.
local SAFE = { float = { 2.0 ^ -60, 2.0 ^ 127 }, double = { 2.0 ^ -900, 2.0 ^ 1023 } }

-- The largest power of two to scale by.
local LARGEST_SCALE = { float = 120, double = 1000 }

--- The norm of elements whose squares are too large or too small for the dtype: scaled by a power of two.
local function scaled_norm(x, dtype)
  local largest = reduce.all("norm2", MAX.float, x, { map = ("fabs((%s)x[i])"):format(dtype), dtype = dtype })
  if largest == 0 or largest ~= largest or largest == math.huge then return largest end
  local most = LARGEST_SCALE[dtype]
  local scale = 2.0 ^ math.max(-most, math.min(most, -(math.log(largest, 2) // 1)))
  local element = ("(%s)x[i]*s*((%s)x[i]*s)"):format(dtype, dtype)
  return math.sqrt(reduce.all("norm2", SUM, { x = x, s = scale }, { map = element, dtype = dtype })) / scale
end

function reductions.norm2(x)
  local described = check_one("norm2", x)
  local dtype = described.device.has_double and "double" or "float"
  local square = ("(%s)x[i]*(%s)x[i]"):format(dtype, dtype)
  local squares = reduce.all("norm2", SUM, x, { map = square, dtype = dtype })
  if not squares then return 0.0 end
  local safe = SAFE[dtype]
  if squares >= safe[1] and squares <= safe[2] then return math.sqrt(squares) end
  return scaled_norm(x, dtype)
end

return reductions
