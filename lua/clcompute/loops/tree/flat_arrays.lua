-- SPDX-License-Identifier: MIT

--- Flat arrays that the analysis takes for matrices, whose rows have their pitches (`front.delinearising`): where their
-- elements are.

local ast = require "clcompute.loops.tree.ast"

local flat_arrays = {}

local function binary(op, left, right)
  return ast.node("binary", { op = op, type = "int", left = left, right = right })
end

local function number(value)
  return ast.node("number", { type = "int", value = value })
end

--- An expression less a number, which goes into one that it ends with.
local function less(node, value)
  local op, last = node.op, node.kind == "binary" and node.right.kind == "number" and node.right.value
  if node.kind == "number" then return number(node.value - value) end
  if last and (op == "+" or op == "-") then
    node, value = node.left, value - (op == "+" and last or -last)
  end
  if value == 0 then return node end
  return binary(value > 0 and "-" or "+", node, number(math.abs(value)))
end

--- The subscript of an element of the flat array: `(i - 1) * a_d2 + j` of a[i][j].
-- @tparam table node an index
-- @treturn table
function flat_arrays.subscript(node)
  local array, place = node.array, nil
  for d, subscript in ipairs(node.subscripts) do
    local own = d == #node.subscripts and subscript or less(subscript, array.first)
    local size = ast.made_up(ast.size(array, d), "int")
    if not place or place.value == 0 then
      place = own
    else
      place = binary("+", binary("*", place, size), own)
    end
  end
  return place
end

return flat_arrays
