-- SPDX-License-Identifier: MIT

--- What may be computed with vectors of OpenCL C in place of numbers.

local vector_arithmetic = {}

local OPERATORS = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }

--- Whether an expression is arithmetic of floats, each of which a vector can hold.
-- @tparam table node
-- @string real the type of floats in memory
-- @treturn boolean
function vector_arithmetic.is_in(node, real)
  if node.kind == "number" then return true end
  if node.type ~= "float" then return false end
  if node.kind == "name" then return true end
  if node.kind == "index" then return node.array.element == real and not node.checked end
  if node.kind == "unary" then return node.op == "-" and vector_arithmetic.is_in(node.operand, real) end
  return node.kind == "binary" and OPERATORS[node.op] and not node.is_reordered
    and vector_arithmetic.is_in(node.left, real) and vector_arithmetic.is_in(node.right, real)
end

return vector_arithmetic
