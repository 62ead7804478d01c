-- SPDX-License-Identifier: MIT

--- Booleans that a function keeps in tables it makes, or returns: devices have 1 and 0 for them. What is stored becomes
-- `value and 1 or 0`, what is read `element == 1`, which is false of an element without a value, too.

local ast = require("clcompute.loops.tree").ast
local failure = require("clcompute.loops.tree").failure
local walk = require("clcompute.loops.tree").walk

local flags = {}

local COMPARISONS = { ["=="] = true, ["~="] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

--- The values that locals get, by variable.
local function values_of(tree)
  local values = {}
  walk.nodes(tree.body, function(node)
    local variable = node.kind == "local" and not node.is_blank and node.variable
      or node.kind == "assign" and node.target.variable
    if variable then
      values[variable] = values[variable] or {}
      table.insert(values[variable], node.value)
    end
  end)
  return values
end

--- Whether a value is a boolean by how it is written; a local is one if all of its values are.
-- @tparam table node
-- @tparam table values of locals
-- @tparam ?table asked as keys, locals that are being looked at, which may be booleans
local function is_boolean(node, values, asked)
  if node.kind == "binary" and (node.op == "and" or node.op == "or") then
    return is_boolean(node.left, values, asked) and is_boolean(node.right, values, asked)
  elseif node.kind == "name" then
    local variable, own = node.variable, setmetatable({}, { __index = asked })
    if asked and asked[variable] then return true end
    own[variable] = true
    for _, value in ipairs(values[variable] or {}) do
      if not is_boolean(value, values, own) then return false end
    end
    return values[variable] ~= nil
  end
  return node.kind == "boolean" or COMPARISONS[node.op] or node.op == "not"
    or node.kind == "index" and node.array.is_flags or false
end

--- The assignments to tables that the function makes, and to what it returns.
local function stores_of(tree)
  local list, is_kept = {}, walk.set(tree.scratch or {})
  walk.nodes(tree.body, function(node)
    local array = node.kind == "assign" and node.target.array
    if array and (is_kept[array] or array.is_result) then list[#list + 1] = node end
  end)
  return list
end

--- Marks the arrays in which booleans are stored, until no further one has some of a marked one.
local function mark(stores, values)
  local is_new = false
  for _, node in ipairs(stores) do
    if not node.target.array.is_flags and is_boolean(node.value, values) then
      node.target.array.is_flags, is_new = true, true
    end
  end
  if is_new then mark(stores, values) end
end

local function number(value, at) return ast.node("number", { value = value }, at) end

local function as_number(value)
  local one = ast.node("binary", { op = "and", left = value, right = number(1, value) }, value)
  return ast.node("binary", { op = "or", left = one, right = number(0, value) }, value)
end

--- Compares the elements that are read with 1.
local function compare(tree, is_target)
  local list = {}
  walk.nodes(tree.body, function(node)
    if node.kind == "index" and node.array.is_flags and not is_target[node] then list[node] = true end
  end)
  for node in pairs(list) do
    local element = ast.node("index", { array = node.array, subscripts = node.subscripts }, node)
    ast.become(node, ast.node("binary", { op = "==", left = element, right = number(1, node) }, node))
  end
end

--- Puts numbers in place of the booleans of a tree: of arrays `is_flags`.
-- @tparam table tree of `clcompute.loops.front.resolve`, not marked yet
-- @treturn table the tree
function flags.apply(tree)
  local stores, values, is_target = stores_of(tree), values_of(tree), {}
  mark(stores, values)
  for _, node in ipairs(stores) do
    local array = node.target.array
    is_target[node.target] = true
    if array.is_flags and not is_boolean(node.value, values) then
      failure.raise(tree.origin, node.value, array.is_result
        and "every 'return' gives a boolean in this place, or every one a number"
        or ("'%s' has booleans, and this is a number"):format(array.name))
    end
  end
  compare(tree, is_target)
  for _, node in ipairs(stores) do
    if node.target.array.is_flags then node.value = as_number(node.value) end
  end
  return tree
end

return flags
