-- SPDX-License-Identifier: MIT

--- cl.matmul: products of vectors, matrices and stacks of them, which are one product of matrices by another name.

local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"

local MOST = 3

--- The core, which is not there yet when this is loaded.
local function core() return require "clcompute.core" end

--- The shape of an operand; `what` is what messages call it.
local function check(where, what, value)
  operands.describe(where, what, value)
  local shape = value.shape
  if #shape > MOST then
    error(("%s: %s: at most 3 dimensions expected, got %s"):format(where, what, table.concat(shape, "x")), 0)
  end
  return shape
end

--- Raises unless products of matrices take elements of this dtype.
local function check_dtype(where, what, dtype)
  if dtype == "float" or dtype == "double" then return end
  error(("%s: %s: matrices of float or double expected, got %s"):format(where, what, dtype), 0)
end

--- Both as double where one of them is.
local function with_common_dtype(where, a, b)
  if a.dtype == b.dtype then return a, b end
  local function widen(x)
    return x.dtype == "double" and x or map.all(where, "x[i]", { x = x }, { dtype = "double" })
  end
  return widen(a), widen(b)
end

--- Whether the extents that are summed over are the same, and those of stacks.
local function go_together(a, b)
  if #b == 3 and (#a ~= 3 or a[1] ~= b[1]) then return false end
  return a[#a] == b[math.max(#b - 1, 1)]
end

--- The extents of the result: those of a but its last one, and those of b but the one that is summed over.
local function result_shape(a, b)
  local shape = table.move(a, 1, #a - 1, 1, {})
  if #b > 1 then shape[#shape + 1] = b[#b] end
  return shape
end

--- One product of all rows of a, or one for each matrix of both stacks.
local function multiply(a, b, of_a, of_b)
  local depth = of_a[#of_a]
  if #of_b == 3 then return core().gemm(a, b) end
  local rows = 1
  for dimension = 1, #of_a - 1 do rows = rows * of_a[dimension] end
  return core().gemm(a:reshape(rows, depth), b:reshape(depth, of_b[2] or 1))
end

--- The product under the name that scripts call it by.
-- @string where
-- @string first what messages call a
-- @string second what they call b
return function(where, first, second)
  return function(a, b)
    local of_a, of_b = check(where, first, a), check(where, second, b)
    if not go_together(of_a, of_b) then
      error(("%s: shapes %s and %s do not go together"):format(where, table.concat(of_a, "x"),
        table.concat(of_b, "x")), 0)
    end
    if #of_a == 1 and #of_b == 1 then return core().dot(a, b) end
    check_dtype(where, first, a.dtype)
    check_dtype(where, second, b.dtype)
    a, b = with_common_dtype(where, a, b)
    return multiply(a, b, of_a, of_b):reshape(table.unpack(result_shape(of_a, of_b)))
  end
end
