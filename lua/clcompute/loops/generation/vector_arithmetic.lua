-- SPDX-License-Identifier: MIT

--- What may be computed with vectors of OpenCL C in place of numbers.

local vector_arithmetic = {}

local OPERATORS = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }

--- Whether an expression is arithmetic of integers that are the same in all passes, and becomes one float.
local function is_common(node)
  if node.type ~= "int" then return false end
  if node.kind == "name" then return node.variable.role == "parameter" or node.variable.role == "capture" end
  if node.kind == "unary" then return node.op == "-" and is_common(node.operand) end
  return node.kind == "number" or node.kind == "length" or node.kind == "binary" and OPERATORS[node.op]
    and is_common(node.left) and is_common(node.right)
end

--- Whether an expression is arithmetic of floats, each of which a vector can hold, or one that all have.
-- @tparam table node
-- @string real the type of floats in memory
-- @treturn boolean
function vector_arithmetic.is_in(node, real)
  if node.kind == "number" then return true end
  if node.type ~= "float" then return is_common(node) end
  if node.kind == "name" then return true end
  if node.kind == "index" then return node.array.element == real and not node.checked end
  if node.kind == "unary" then return node.op == "-" and vector_arithmetic.is_in(node.operand, real) end
  return node.kind == "binary" and OPERATORS[node.op] and not node.is_reordered
    and vector_arithmetic.is_in(node.left, real) and vector_arithmetic.is_in(node.right, real)
end

return vector_arithmetic
