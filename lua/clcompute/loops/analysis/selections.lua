-- SPDX-License-Identifier: MIT

--- Writes conditions that only choose what an element gets as one assignment, which stores in any case: so it covers
-- its elements, and compilers make vectors of it.
--
--     if a then x[i] = b elseif c then x[i] = d else x[i] = e end     x[i] = a and b or c and d or e

local ast = require("clcompute.loops.tree").ast
local lua_text = require("clcompute.loops.tree").lua_text

local selections = {}

--- The assignment that is all of a body: a number of one type, to an element that no check goes with; else nil.
local function assignment_of(body)
  local node = #body == 1 and body[1]
  if not node or node.kind ~= "assign" or node.target.kind ~= "index" or node.target.checked then return nil end
  return not node.value.is_mixed and node.value.type ~= "bool" and node or nil
end

--- What all ways through an `if` give the same element; nil where they do something else.
local function values_of(node)
  local values, first = {}, nil
  for _, body in ipairs { node.otherwise, table.unpack(node.arms) } do
    local assign = assignment_of(body.body or body)
    if not assign then return nil end
    first = first or assign
    if lua_text.expression(assign.target) ~= lua_text.expression(first.target)
      or assign.value.type ~= first.value.type then return nil end
    values[#values + 1] = assign.value
  end
  return values, first.target
end

--- `condition and one or other`, of numbers of one type.
local function choice(condition, one, other)
  local chosen = ast.node("binary", { op = "and", left = condition, right = one, type = one.type, is_partial = true },
    condition)
  return ast.node("binary", { op = "or", left = chosen, right = other, type = one.type }, condition)
end

local function assigned(node)
  if not node.otherwise then return nil end
  local values, target = values_of(node)
  if not values then return nil end
  local value = values[1]
  for i = #node.arms, 1, -1 do value = choice(node.arms[i].condition, values[i + 1], value) end
  return ast.node("assign", { target = target, value = value }, node)
end

local rewrite

local BODIES = {
  ["for"] = function(node) rewrite(node.body) end,
  ["if"] = function(node)
    for _, arm in ipairs(node.arms) do rewrite(arm.body) end
    if node.otherwise then rewrite(node.otherwise) end
  end,
}

function rewrite(nodes)
  for i, node in ipairs(nodes) do
    if BODIES[node.kind] then BODIES[node.kind](node) end
    if node.kind == "if" then nodes[i] = assigned(node) or node end
  end
end

local function rewrite_loops(nodes)
  for _, node in ipairs(nodes) do
    if node.kind == "for" then rewrite(node.body) end
    for _, arm in ipairs(node.arms or {}) do rewrite_loops(arm.body) end
    rewrite_loops(node.otherwise or {})
  end
end

--- Rewrites the loops of a tree; conditions around them stay.
-- @tparam table tree of `clcompute.loops.front.types`
function selections.rewrite(tree) rewrite_loops(tree.body) end

return selections
