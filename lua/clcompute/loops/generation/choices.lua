-- SPDX-License-Identifier: MIT

--- Choices of numbers of which both sides are computed, as a condition that data decide is often guessed wrong, and
-- compilers make vectors of what has no branch.
--
--     if a[i] ~= b[j] then change = change + 1 end
--     holds = a[i] ~= b[j]; change = holds and change + 1 or change

local ast = require("clcompute.loops.tree").ast
local isl_text = require("clcompute.loops.analysis").isl_text
local walk = require("clcompute.loops.tree").walk

local choices = {}

local MOST_OPERATIONS = 4 -- of both sides: about as long as it takes to learn that a guess was wrong

local changed = ast.changed

-- --- values -----------------------------------------------------------------------------------

local OPERATORS, CALLS = { ["+"] = true, ["-"] = true, ["*"] = true }, { min = true, max = true }

--- Whether a node is `condition and a or b`, of numbers, where data alone decide the condition: numbers of the call may
-- keep an element out of reach.
local function is_choice(node)
  local chosen = node.op == "or" and node.left.op == "and" and node.left
  return chosen and chosen.left.type == "bool" and chosen.right.type ~= "bool"
    and isl_text.is_unknown(chosen.left)
end

--- Operations of a number that may be computed whatever a condition is; many where it may not.
local function operations(node)
  if node.kind == "number" or node.kind == "name" then return 0 end
  if node.kind == "unary" and node.op == "-" then return operations(node.operand) end
  if node.kind == "index" then return node.checked and math.huge or 0 end
  if is_choice(node) then return operations(node.left.right) + operations(node.right) end
  if node.is_mixed then return math.huge end
  if node.kind == "call" and CALLS[node.name] and #node.arguments == 2 then
    return 1 + operations(node.arguments[1]) + operations(node.arguments[2])
  end
  if node.kind == "binary" and OPERATORS[node.op] then return 1 + operations(node.left) + operations(node.right) end
  return math.huge
end

--- Whether a node is `condition and a or b` with both a and b to be computed: they cost little.
function choices.is_free(node)
  return is_choice(node) and operations(node) <= MOST_OPERATIONS
end

local NUMBERS = { ["=="] = true, ["~="] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true }

--- Operations of a condition that may be computed whatever stands before it; many where it may not.
local function conditions(node)
  if node.type ~= "bool" then return math.huge end
  if NUMBERS[node.op] then return operations(node.left) + operations(node.right) end
  if node.op == "not" then return conditions(node.operand) end
  if node.op == "and" or node.op == "or" then
    return isl_text.is_unknown(node.left) and conditions(node.left) + conditions(node.right) or math.huge
  end
  return 0
end

--- Whether both sides of `and` or `or` are to be computed: data alone decide whether the right one matters, and it
-- costs little. Compilers make branches of `&&` and `||`, and of several comparisons of one number a jump table.
function choices.has_both(node)
  return conditions(node.right) <= MOST_OPERATIONS and conditions(node.left) < math.huge
    and isl_text.is_unknown(node.left)
end

--- An expression in which other nodes stand for some that are always evaluated.
-- @tparam table node
-- @tparam function replace as for `walk.replaced`
function choices.replaced(node, replace)
  return walk.replaced(node, function(part)
    if part.op ~= "and" and part.op ~= "or" then return replace(part) end
    if not choices.is_free(part) then return part end
    local left = changed(part.left, { right = choices.replaced(part.left.right, replace) })
    return changed(part, { left = left, right = choices.replaced(part.right, replace) })
  end)
end

-- --- statements -------------------------------------------------------------------------------

--- Whether an expression may be evaluated in any case.
local function is_harmless(node)
  return not walk.find({ node }, function(part) return part.kind == "index" or part.kind == "call" end)
end

--- The statements in place of an `if` that only gives locals other numbers, or nil.
local function chosen(node, name)
  if node.kind ~= "if" or #node.arms ~= 1 or node.otherwise then return nil end
  local condition = ast.made_up(name, "bool")
  local list = { ast.node("local", { variable = condition.variable, value = node.arms[1].condition }, node) }
  for _, inner in ipairs(node.arms[1].body) do
    if inner.kind ~= "local" and inner.kind ~= "assign" or inner.target and inner.target.kind ~= "name"
      or not is_harmless(inner.value) or inner.value.is_mixed or inner.value.type == "bool" then return nil end
    local target = inner.target
    if target and target.type ~= inner.value.type then return nil end
    list[#list + 1] = target and changed(inner, { value = ast.node("binary", { op = "or", type = target.type,
      left = ast.node("binary", { op = "and", left = condition, right = inner.value, type = target.type,
        is_partial = true }), right = target }) }) or inner
  end
  return list
end

local function with_choices(nodes, id, state)
  local list = {}
  for _, node in ipairs(nodes) do
    state.number = state.number + 1
    local others = chosen(node, ("%s_holds%d"):format(id, state.number))
    if node.kind == "for" then others = { changed(node, { body = with_choices(node.body, id, state) }) } end
    table.move(others or { node }, 1, others and #others or 1, #list + 1, list)
  end
  return list
end

--- Statements with choices in place of conditions that only give locals other numbers.
-- @tparam {table,...} nodes the body of a loop
-- @string id of its variable
function choices.of(nodes, id)
  return with_choices(nodes, id, { number = 0 })
end

return choices
