-- SPDX-License-Identifier: MIT

--- Finds loops that are sequential only for statements `x = f(x, e, ...)`, where x is the same element or local in all
-- passes, is touched by nothing else there, and f is made of + - * / math.min and math.max. What such a pass costs is
-- mostly e, which no other pass needs: work-items may share that, while one of them goes on with x in Lua's order.

local dependences = require "clcompute.loops.analysis.dependences"
local loop_reductions = require "clcompute.loops.analysis.loop_reductions"
local lua_text = require("clcompute.loops.tree").lua_text
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local recurrences = {}

local OPERATORS = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }
local FUNCTIONS = { min = true, max = true }

--- The nodes of an expression that are like another one.
local function all_like(node, expression)
  local list, text = {}, lua_text.expression(node)
  walk.node(expression, function(part)
    if part.kind == node.kind and lua_text.expression(part) == text then list[#list + 1] = part end
  end)
  return list
end

--- Whether a node comes to x by operators and functions of its type alone.
local function leads_to(node, x)
  if node == x then return true end
  if node.type ~= x.type then return false end
  if node.kind == "binary" and OPERATORS[node.op] then return leads_to(node.left, x) or leads_to(node.right, x) end
  if node.kind ~= "call" or not FUNCTIONS[node.name] then return false end
  for _, argument in ipairs(node.arguments) do
    if leads_to(argument, x) then return true end
  end
  return false
end

--- The statement as `mark` gives it to a loop, or nil where it is no such one.
local function recurrence_of(statement)
  local node = statement.node
  if node.kind ~= "assign" or node.atomic or node.target.checked then return nil end
  local list = all_like(node.target, node.value)
  if #list ~= 1 or list[1] == node.value or list[1].type ~= node.target.type then return nil end
  if not leads_to(node.value, list[1]) then return nil end
  return { node = node, target = node.target, occurrence = list[1] }
end

--- Whether a loop's body is without loops, and has all of some statements in itself, not in conditions.
local function is_flat(loop, list)
  if walk.find(loop.body, function(node) return node.kind == "for" or node.kind == "break" end) then return false end
  local own = walk.set(loop.body)
  for _, recurrence in ipairs(list) do
    if not own[recurrence.node] then return false end
  end
  return true
end

--- The loops that are in others, as keys.
local function inner_loops(scop)
  local set = {}
  for _, statement in ipairs(scop.statements) do
    for i, loop in ipairs(statement.loops) do set[loop] = i > 1 or nil end
  end
  return set
end

--- Gives `recurrences` to each loop within another one that would be parallel without them: a list of `{ node=,
-- target=, occurrence= }`, where `node` is the assignment, `target` its x, and `occurrence` the x of its right side.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel`, and `reductions` by now
function recurrences.mark(scop)
  local is_inner = inner_loops(scop)
  for _, loop in ipairs(scop.loops) do
    if is_inner[loop] and not (loop.parallel or loop.reductions or loop.irregular) then
      local list, own = loop_reductions.candidates(scop, loop, recurrence_of, pass_orders.is_alone)
      if #list > 0 and is_flat(loop, list) and not dependences.is_carried(scop, loop, own) then
        loop.recurrences = list
      end
    end
  end
end

return recurrences
