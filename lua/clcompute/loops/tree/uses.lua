-- SPDX-License-Identifier: MIT

--- What statements do to variables from outside of them.
-- @module clcompute.loops.tree.uses

local walk = require "clcompute.loops.tree.walk"

local uses = {}

local KINDS = { "reads", "writes", "scalars", "assigned" }

--- Lists in the order of the text that hold each variable once.
local function new_lists()
  local lists, has = {}, {}
  for _, kind in ipairs(KINDS) do lists[kind], has[kind] = {}, {} end
  return lists, function(kind, variable)
    if has[kind][variable] then return end
    has[kind][variable] = true
    table.insert(lists[kind], variable)
  end
end

local function without(list, inside)
  local outside = {}
  for _, variable in ipairs(list) do
    if not inside[variable] then outside[#outside + 1] = variable end
  end
  return outside
end

--- Lists the arrays that statements may read (`reads`) and write (`writes`), the numbers from outside that they read
-- (`scalars`) and the locals from outside that they assign (`assigned`).
function uses.of(nodes)
  local lists, add = new_lists()
  local inside, targets = {}, {}
  walk.nodes(nodes, function(node)
    if node.kind == "for" or node.kind == "local" then
      inside[node.variable] = true
    elseif node.kind == "assign" then
      targets[node.target] = true
      local array = node.target.array
      add(array and "writes" or "assigned", array or node.target.variable)
    elseif node.kind == "index" and not targets[node] then
      add("reads", node.array)
    elseif node.kind == "name" and not targets[node] then
      add("scalars", node.variable)
    end
  end)
  lists.scalars, lists.assigned = without(lists.scalars, inside), without(lists.assigned, inside)
  return lists
end

--- The variables of two lists, each once.
function uses.union(one, other)
  local list, has = {}, {}
  for _, variables in ipairs { one, other } do
    for _, variable in ipairs(variables) do
      if not has[variable] then list[#list + 1], has[variable] = variable, true end
    end
  end
  return list
end

--- The variables of a list as keys.
function uses.set(list)
  local set = {}
  for _, variable in ipairs(list) do set[variable] = true end
  return set
end

return uses
