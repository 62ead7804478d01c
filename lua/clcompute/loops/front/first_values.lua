-- SPDX-License-Identifier: MIT

--- Locals of a function that loops assign: up to there they have their first value, which gets a local of its own that
-- is never assigned. So bounds that speak of it are known before a call.
--
--     local n = #a                                 local m = #a
--     for i = 1, n do t[i] = 0 end                 for i = 1, m do t[i] = 0 end
--     while n > 1 do ... n = n // 2 end            local n = m; while n > 1 do ... n = n // 2 end

local ast = require("clcompute.loops.tree").ast
local walk = require("clcompute.loops.tree").walk

local first_values = {}

local function assigns(statement, variable)
  return walk.find({ statement }, function(node)
    return node.kind == "assign" and node.target.variable == variable
  end) ~= nil
end

--- Where a local is assigned first, if loops before speak of it; else nil.
local function first_assignment(body, i, variable)
  local is_needed = false
  for j = i + 1, #body do
    if assigns(body[j], variable) then return is_needed and j or nil end
    is_needed = is_needed or body[j].kind == "for" and walk.find({ body[j] }, function(node)
      return node.kind == "name" and node.variable == variable
    end) ~= nil
  end
end

--- Whether a local counts the elements of a list.
local function is_cursor(variable, tables)
  for _, array in ipairs(tables or {}) do
    if array.cursor == variable then return true end
  end
  return false
end

--- Lets another local have the value of one up to a statement.
local function split(body, i, j, new_variable)
  local node = body[i]
  local variable, value = node.variable, node.value
  local first = new_variable(variable.name, { role = "local", node = variable.node, definition = value, loops = {},
    number = variable.number, is_argument = variable.is_argument })
  for k = i + 1, j - 1 do
    walk.nodes({ body[k] }, function(part)
      if part.kind == "name" and part.variable == variable then part.variable = first end
    end)
  end
  body[i] = ast.node("local", { variable = first, value = value }, node)
  variable.definition = ast.node("name", { variable = first }, node)
  table.insert(body, j, ast.node("local", { variable = variable, value = variable.definition }, node))
end

--- Splits the locals of a tree.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @tparam function new_variable makes one, of a name and fields
-- @treturn table the tree
function first_values.split(tree, new_variable)
  local body, i = tree.body, 1
  while i <= #body do
    local node = body[i]
    local is_local = node.kind == "local" and not node.is_blank and not is_cursor(node.variable, tree.scratch)
    local j = is_local and first_assignment(body, i, node.variable)
    if j then split(body, i, j, new_variable) end
    i = i + 1
  end
  return tree
end

return first_values
