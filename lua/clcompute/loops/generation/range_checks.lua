-- SPDX-License-Identifier: MIT

--- Finds subscripts that a loop may look at once, at its first and its last pass, in place of each pass: sums of its
-- variable, of elements that every pass reads or writes.

local affine = require("clcompute.loops.tree").affine

local range_checks = {}

local visit

local VISITED = {
  index = function(node, list)
    list[#list + 1] = node
    for _, subscript in ipairs(node.subscripts) do visit(subscript, list) end
  end,
  unary = function(node, list) visit(node.operand, list) end,
  binary = function(node, list) -- behind `and` and `or` not every pass comes
    visit(node.left, list)
    if node.op ~= "and" and node.op ~= "or" then visit(node.right, list) end
  end,
  call = function(node, list)
    for _, argument in ipairs(node.arguments) do visit(argument, list) end
  end,
}

--- Adds the elements that an expression reads in any case.
function visit(node, list)
  if VISITED[node.kind] then VISITED[node.kind](node, list) end
end

--- The subscripts of a loop that need no further look.
-- @tparam table loop a `for` node
-- @treturn {table,...} `{ node=, dimension= }`, of elements
function range_checks.of(loop)
  local elements, list, changes = {}, {}, affine.changes(loop.body)
  if loop.is_broken then return list end
  for _, node in ipairs(loop.body) do
    if node.kind == "assign" then visit(node.target, elements) end
    if node.kind == "assign" or node.kind == "local" then visit(node.value, elements) end
  end
  for _, node in ipairs(elements) do
    for dimension, subscript in ipairs(node.subscripts) do
      local is_checked = node.checked and node.checked[dimension]
      if is_checked and affine.slope(subscript, loop.variable, changes) then
        list[#list + 1] = { node = node, dimension = dimension }
      end
    end
  end
  return list
end

return range_checks
