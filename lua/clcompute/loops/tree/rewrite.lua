-- SPDX-License-Identifier: MIT

--- Expressions and statements with some of their nodes replaced. The tree itself is never changed: it is Lua's too.
-- @module clcompute.loops.tree.rewrite

local rewrite = {}

--- A copy of a node with some fields of its own.
function rewrite.changed(node, fields)
  return setmetatable(fields, { __index = node })
end

local changed = rewrite.changed

local function list(nodes, replace)
  local copies, is_other = {}, false
  for i, node in ipairs(nodes) do
    copies[i] = rewrite.expression(node, replace)
    is_other = is_other or copies[i] ~= node
  end
  return is_other and copies or nil
end

local COPIES = {
  call = function(node, replace)
    local arguments = list(node.arguments, replace)
    return arguments and changed(node, { arguments = arguments })
  end,
  unary = function(node, replace)
    local copies = list({ node.operand }, replace)
    return copies and changed(node, { operand = copies[1] })
  end,
  binary = function(node, replace)
    local copies = list({ node.left, node.right }, replace)
    return copies and changed(node, { left = copies[1], right = copies[2] })
  end,
  index = function(node, replace)
    local subscripts = list(node.subscripts, replace)
    return subscripts and changed(node, { subscripts = subscripts })
  end,
}

local STATEMENTS = {
  ["for"] = function(node, replace)
    return changed(node, { body = rewrite.statements(node.body, replace) })
  end,
  ["if"] = function(node, replace)
    local arms = {}
    for i, arm in ipairs(node.arms) do
      arms[i] = { condition = arm.condition, body = rewrite.statements(arm.body, replace) }
    end
    return changed(node, { arms = arms, otherwise = node.otherwise and rewrite.statements(node.otherwise, replace) })
  end,
}

--- An expression in which other nodes stand for some.
-- @tparam table node
-- @tparam function replace of a node; returns the other one, or nil to look at its parts
-- @treturn table the node itself where nothing was replaced
function rewrite.expression(node, replace)
  local other = replace(node)
  if other then return other end
  local copy = COPIES[node.kind]
  return copy and copy(node, replace) or node
end

--- Statements in which others stand for some loops and conditions.
-- @tparam {table,...} nodes
-- @tparam function replace of a `for` or `if`; returns the other one, or nil to look at what is in it
-- @treturn {table,...}
function rewrite.statements(nodes, replace)
  local result = {}
  for i, node in ipairs(nodes) do
    result[i] = STATEMENTS[node.kind] and (replace(node) or STATEMENTS[node.kind](node, replace)) or node
  end
  return result
end

--- An integer that is known to be small, as bounds are: C's own arithmetic will do for it.
function rewrite.bound(node)
  return { kind = "bound", node = node, type = "int" }
end

--- A node that is printed as it is.
-- @string text in OpenCL C
function rewrite.text(text)
  return { kind = "text", text = text, type = "int" }
end

return rewrite
