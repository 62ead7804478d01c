-- SPDX-License-Identifier: MIT

--- Copies of statements with other nodes in place of names, and variables of their own.

local ast = require "clcompute.loops.tree.ast"
local walk = require "clcompute.loops.tree.walk"

local clone = {}

local changed = ast.changed

local COPIES = {}

--- An expression with the nodes that stand for its names, each at the place of the name.
local function replaced(node, job)
  return walk.replaced(node, function(part)
    local other = part.kind == "name" and job.others[part.variable]
    return other and changed(other, { line = part.line, offset = part.offset, finish = part.finish }) or nil
  end)
end

--- The loops around a copy: copies, loops whose variables stand for others, and those that have not changed.
local function loops_of(loops, job)
  local list = {}
  for _, loop in ipairs(loops or {}) do
    local other = job.others[loop.variable]
    list[#list + 1] = job.loops[loop] or not other and loop or other.kind == "name" and other.variable.loop or nil
  end
  return list
end

--- A variable of a copy, which stands for the other one from here on; `definition` is its first value, of a local.
local function renamed(variable, job, definition)
  local own = changed(variable, { id = job.rename(variable), definition = definition,
    loops = loops_of(variable.loops, job) })
  job.others[variable] = ast.node("name", { type = own.type, variable = own })
  return own
end

local function list_of(nodes, job)
  local list = {}
  for i, node in ipairs(nodes) do list[i] = COPIES[node.kind](node, job) end
  return list
end

COPIES["local"] = function(node, job)
  local value = replaced(node.value, job)
  return changed(node, { variable = renamed(node.variable, job, value), value = value })
end

function COPIES.assign(node, job)
  return changed(node, { target = replaced(node.target, job), value = replaced(node.value, job) })
end

COPIES["if"] = function(node, job)
  local arms = {}
  for i, arm in ipairs(node.arms) do
    arms[i] = changed(arm, { condition = replaced(arm.condition, job), body = list_of(arm.body, job) })
  end
  return changed(node, { arms = arms, otherwise = node.otherwise and list_of(node.otherwise, job) })
end

COPIES["for"] = function(node, job)
  local from, to = replaced(node.from, job), replaced(node.to, job)
  local variable = renamed(node.variable, job)
  local loop = ast.apart(node, { variable = variable, from = from, to = to })
  job.loops[node], variable.loop = loop, loop
  loop.body = list_of(node.body, job)
  return loop
end

--- Whether statements are of kinds that can be copied.
function clone.can(nodes)
  return not walk.find(nodes, function(node)
    return node.kind == "break" or node.kind == "do" or node.kind == "for" and node.pace ~= nil
  end)
end

--- Copies of statements.
-- @tparam {table,...} nodes
-- @tparam table others by variable, the nodes that stand for its name
-- @tparam function rename the id of a variable of a copy
-- @treturn {table,...}
function clone.statements(nodes, others, rename)
  return list_of(nodes, { others = others, rename = rename, loops = {} })
end

--- What makes ids that no variable of a tree has.
-- @tparam table tree
-- @treturn function of a variable
function clone.renaming(tree)
  local number = 0
  local function see(variable) number = math.max(number, math.tointeger(variable.id:match "_(%d+)$") or 0) end
  for _, list in ipairs { tree.parameters, tree.captures, tree.scratch } do
    for _, variable in ipairs(list) do see(variable) end
  end
  walk.nodes(tree.body, function(node)
    if node.variable then see(node.variable) end
  end)
  return function(variable)
    number = number + 1
    return ast.id(variable.name or "i", number)
  end
end

return clone
