-- SPDX-License-Identifier: MIT

--- Going through trees in the order of their text: visiting nodes, replacing some, listing what statements use.

local ast = require "clcompute.loops.tree.ast"

local walk = {}

local function in_list(nodes, go, f)
  for _, node in ipairs(nodes) do
    local found = go(node, f)
    if found then return found end
  end
end

-- The parts of a node, in the order of the text: `go(part, f)` of one after the other, until one has a result, which is
-- returned. They are many, and walked through often, so nothing is made for them.
local PARTS = {
  name = function() end, number = function() end, boolean = function() end, text = function() end,
  bound = function(node, go, f) return go(node.node, f) end,
  index = function(node, go, f) return in_list(node.subscripts, go, f) end,
  length = function(node, go, f) return in_list(node.subscripts, go, f) end,
  call = function(node, go, f) return in_list(node.arguments, go, f) end,
  unary = function(node, go, f) return go(node.operand, f) end,
  binary = function(node, go, f) return go(node.left, f) or go(node.right, f) end,
  ["for"] = function(node, go, f)
    return go(node.from, f) or go(node.to, f) or node.pace and go(node.pace, f) or in_list(node.body, go, f)
  end,
  ["break"] = function() end, meeting = function() end,
  ["do"] = function(node, go, f) return in_list(node.body, go, f) end,
  shared = function(node, go, f) return go(node.loop, f) end,
  alone = function(node, go, f) return in_list(node.body, go, f) end,
  ["local"] = function(node, go, f) return node.value and go(node.value, f) end,
  assign = function(node, go, f) return go(node.target, f) or go(node.value, f) end,
  ["if"] = function(node, go, f)
    for _, arm in ipairs(node.arms) do
      local found = go(arm.condition, f) or in_list(arm.body, go, f)
      if found then return found end
    end
    return node.otherwise and in_list(node.otherwise, go, f)
  end,
}

--- Calls `visit` with a node, statement or expression, and then with all nodes in it; a visit that returns false keeps
-- the walk out of its node.
function walk.node(node, visit)
  if visit(node) ~= false then PARTS[node.kind](node, walk.node, visit) end
end

--- The same for a list of nodes.
function walk.nodes(nodes, visit)
  for _, node in ipairs(nodes) do walk.node(node, visit) end
end

local function find_in(node, test)
  if test(node) then return node end
  return PARTS[node.kind](node, find_in, test)
end

--- The first of the nodes in a list, and of those in them, that `test` accepts; nil: none.
function walk.find(nodes, test)
  return in_list(nodes, find_in, test)
end

--- Whether a `break` among statements ends a loop around them.
function walk.breaks_out(nodes)
  local found = false
  walk.nodes(nodes, function(node)
    found = found or node.kind == "break"
    return node.kind ~= "for"
  end)
  return found
end

--- The lists of statements right within a loop or an `if`.
function walk.bodies(node)
  if node.kind == "for" then return { node.body } end
  local list = {}
  for i, arm in ipairs(node.kind == "if" and node.arms or {}) do list[i] = arm.body end
  list[#list + 1] = node.kind == "if" and node.otherwise or nil
  return list
end

--- Whether an expression speaks of a variable.
function walk.mentions(node, variable)
  return find_in(node, function(part) return part.kind == "name" and part.variable == variable end) ~= nil
end

--- Whether a loop's bounds speak of a variable.
function walk.is_bounded_by(loop, variable)
  return walk.mentions(loop.from, variable) or walk.mentions(loop.to, variable)
end

--- Whether expressions speak of a local, which may be another one in each pass.
function walk.mentions_local(nodes)
  return walk.find(nodes, function(part) return part.kind == "name" and part.variable.role == "local" end) ~= nil
end

--- Whether a node is a loop whose passes may run side by side, and are known before it runs.
function walk.is_parallel(node)
  return node.kind == "for" and node.parallel == true and not node.irregular
end

--- How many parallel loops are nested perfectly from a node on.
function walk.width(node)
  local count = 0
  while walk.is_parallel(node) do
    count, node = count + 1, #node.body == 1 and node.body[1] or {}
  end
  return count
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

-- --- replacing -----------------------------------------------------------------------------

-- The tree itself is never changed: it is Lua's too.
local changed = ast.changed

local function replaced_list(nodes, replace)
  local copies, is_other = {}, false
  for i, node in ipairs(nodes) do
    copies[i] = walk.replaced(node, replace)
    is_other = is_other or copies[i] ~= node
  end
  return is_other and copies or nil
end

--- An `if` whose lists of statements are changed.
function walk.with_arms(node, change)
  local arms = {}
  for i, arm in ipairs(node.arms) do arms[i] = changed(arm, { body = change(arm.body) }) end
  return changed(node, { arms = arms, otherwise = node.otherwise and change(node.otherwise) })
end

-- The fields of an expression that are expressions, and the one that is a list of them.
local OPERANDS = { bound = { "node" }, unary = { "operand" }, binary = { "left", "right" } }
local LIST = { call = "arguments", index = "subscripts" }

local STATEMENTS = {
  ["for"] = function(node, replace)
    return changed(node, { body = walk.replaced_statements(node.body, replace) })
  end,
  ["if"] = function(node, replace)
    return walk.with_arms(node, function(body) return walk.replaced_statements(body, replace) end)
  end,
}

--- An expression in which other nodes stand for some.
-- @tparam table node
-- @tparam function replace of a node; returns the other one, or nil to look at its parts
-- @treturn table the node itself where nothing was replaced
function walk.replaced(node, replace)
  local other = replace(node)
  if other then return other end
  local fields, list = {}, LIST[node.kind]
  for _, field in ipairs(OPERANDS[node.kind] or {}) do
    local part = walk.replaced(node[field], replace)
    if part ~= node[field] then fields[field] = part end
  end
  if list then fields[list] = replaced_list(node[list], replace) end
  return next(fields) and changed(node, fields) or node
end

--- Statements in which others stand for some loops and conditions.
-- @tparam {table,...} nodes
-- @tparam function replace of a `for` or `if`; returns the other one, or nil to look at what is in it
-- @treturn {table,...}
function walk.replaced_statements(nodes, replace)
  local result = {}
  for i, node in ipairs(nodes) do
    result[i] = STATEMENTS[node.kind] and (replace(node) or STATEMENTS[node.kind](node, replace)) or node
  end
  return result
end

-- --- uses ----------------------------------------------------------------------------------

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
function walk.uses(nodes)
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
function walk.union(one, other)
  local list, has = {}, {}
  for _, variables in ipairs { one, other } do
    for _, variable in ipairs(variables) do
      if not has[variable] then list[#list + 1], has[variable] = variable, true end
    end
  end
  return list
end

--- The variables of a list as keys.
function walk.set(list)
  local set = {}
  for _, variable in ipairs(list) do set[variable] = true end
  return set
end

return walk
