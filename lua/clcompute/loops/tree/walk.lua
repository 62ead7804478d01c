-- SPDX-License-Identifier: MIT

--- Goes through resolved trees in the order of their text.
-- @module clcompute.loops.tree.walk

local walk = {}

local PARTS = {
  name = function() end, number = function() end, boolean = function() end,
  index = function(node, list) list(node.subscripts) end,
  length = function(node, list) list(node.subscripts) end,
  call = function(node, list) list(node.arguments) end,
  unary = function(node, list) list { node.operand } end,
  binary = function(node, list) list { node.left, node.right } end,
  ["for"] = function(node, list) list { node.from, node.to } list(node.body) end,
  ["local"] = function(node, list) list { node.value } end,
  assign = function(node, list) list { node.target, node.value } end,
  ["if"] = function(node, list)
    for _, arm in ipairs(node.arms) do
      list { arm.condition }
      list(arm.body)
    end
    if node.otherwise then list(node.otherwise) end
  end,
}

--- Calls `visit` with a node, statement or expression, and then with all nodes in it; a visit that returns false keeps
-- the walk out of its node.
-- @tparam table node
-- @tparam function visit
function walk.node(node, visit)
  if visit(node) == false then return end
  PARTS[node.kind](node, function(nodes) walk.nodes(nodes, visit) end)
end

--- The same for a list of nodes.
function walk.nodes(nodes, visit)
  for _, node in ipairs(nodes) do walk.node(node, visit) end
end

--- How deep loops are nested in a node, which may be one itself.
function walk.depth(node)
  local deepest = 0
  local function visit(nodes, depth)
    deepest = math.max(deepest, depth)
    walk.nodes(nodes, function(part)
      if part.kind ~= "for" then return end
      visit(part.body, depth + 1)
      return false
    end)
  end
  visit({ node }, 0)
  return deepest
end

return walk
