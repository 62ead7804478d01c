-- SPDX-License-Identifier: MIT

--- Writes comparisons that keep the smaller or larger of two numbers as math.min and math.max, so that
-- `clcompute.loops.analysis.reductions` knows them: `if e > x then x = e end`, `x = e > x and e or x`. Lua's functions
-- are defined by these comparisons, so results are the same, NaN and both zeros too. `>=` is left alone: of two zeros
-- it may keep the other one.
-- @module clcompute.loops.analysis.extremes

local lua_text = require "clcompute.loops.tree.lua_text"
local walk = require "clcompute.loops.tree.walk"

local extremes = {}

local function is_same(node, other)
  return lua_text.expression(node) == lua_text.expression(other)
end

--- The call that gives `chosen` where the condition holds, else `other`, which is one of its sides; nil where the
-- condition compares other things.
local function call_of(condition, chosen, other)
  local less, more = condition.left, condition.right
  if condition.op ~= "<" and condition.op ~= ">" then return nil end
  if condition.op == ">" then less, more = more, less end
  local kept, name = less, "max" -- other < chosen
  if is_same(other, more) then kept, name = more, "min" end
  local taken = kept == less and more or less
  if not is_same(other, kept) or not is_same(chosen, taken) or kept.type ~= taken.type then return nil end
  return { kind = "call", name = name, arguments = { kept, taken }, type = kept.type, line = condition.line,
    column = condition.column, offset = condition.offset, finish = condition.finish }
end

--- `if e > x then x = e end` as an assignment.
local function of_if(node)
  local arm, assign = node.arms[1], node.arms[1].body[1]
  if #node.arms > 1 or node.otherwise or #arm.body ~= 1 or assign.kind ~= "assign" then return nil end
  local value = call_of(arm.condition, assign.value, assign.target)
  return value and { kind = "assign", target = assign.target, value = value, line = node.line, column = node.column,
    offset = node.offset, finish = node.finish }
end

--- The value of `condition and chosen or other` as a call.
local function of_choice(value)
  local choice = value.op == "or" and value.left
  if not choice or choice.op ~= "and" then return nil end
  return call_of(choice.left, choice.right, value.right)
end

local function rewrite_block(nodes)
  for i, node in ipairs(nodes) do
    if node.kind == "if" then nodes[i] = of_if(node) or node end
    if node.kind == "assign" then node.value = of_choice(node.value) or node.value end
  end
end

--- Rewrites the statements of a tree that are such comparisons.
-- @tparam table tree of `clcompute.loops.front.types`
function extremes.rewrite(tree)
  rewrite_block(tree.body)
  walk.nodes(tree.body, function(node)
    if node.kind == "for" then rewrite_block(node.body) end
    if node.kind ~= "if" then return end
    for _, arm in ipairs(node.arms) do rewrite_block(arm.body) end
    if node.otherwise then rewrite_block(node.otherwise) end
  end)
end

return extremes
