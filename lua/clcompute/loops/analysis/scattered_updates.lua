-- SPDX-License-Identifier: MIT

--- Finds sums of integers in elements of which data say where they are: `h[k[i]] = h[k[i]] + e`. Such sums wrap, so
-- their order is no matter: a loop that is sequential for nothing else is parallel where each update is atomic.

local ast = require("clcompute.loops.tree").ast
local dependences = require "clcompute.loops.analysis.dependences"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local scattered_updates = {}

local WIDTH = { int = 4, uint = 4, long = 8, ulong = 8 } -- of the elements that devices add to in one step

--- The other side of a sum of which one side is an element; nil for other values.
local function added(value, text)
  if value.kind ~= "binary" or value.type ~= "int" then return nil end
  local is_left = lua_text.expression(value.left) == text
  if value.op == "+" and is_left then return value.right, value.left end
  if value.op == "+" and lua_text.expression(value.right) == text then return value.left, value.right end
  if value.op ~= "-" or not is_left then return nil end
  return ast.node("unary", { op = "-", operand = value.right, type = "int" }, value), value.left
end

--- What a statement adds where, or nil: the sum, and the two accesses as keys.
local function update_of(node, widest)
  local target = node.kind == "assign" and node.target
  if not target or not target.checked or (WIDTH[target.array.element] or widest + 1) > widest then return nil end
  local sum, read = added(node.value, lua_text.expression(target))
  if not sum or walk.find({ sum }, function(part) return part.array == target.array end) then return nil end
  return { node = node, sum = sum, array = target.array, own = { [target] = true, [read] = true } }
end

local function is_within(statement, loop)
  for _, around in ipairs(statement.loops) do
    if around == loop then return true end
  end
  return false
end

--- The updates in a loop, and their accesses as keys; no array that is touched by something else in it.
local function updates_in(scop, loop, widest)
  local list, own, is_shared = {}, {}, {}
  for _, statement in ipairs(scop.statements) do
    local update = is_within(statement, loop) and update_of(statement.node, widest)
    if update then
      list[#list + 1] = update
      for node in pairs(update.own) do own[node] = true end
    end
  end
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(is_within(statement, loop) and statement.accesses or {}) do
      if not own[access.node] then is_shared[access.variable] = true end
    end
  end
  for _, update in ipairs(list) do
    if is_shared[update.array] then return {}, {} end
  end
  return list, own
end

--- Calls loops parallel that are sequential for such updates alone; these get `atomic`, what is added in one step.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel`
-- @tparam integer widest bytes that the device adds to in one step
function scattered_updates.mark(scop, widest)
  for _, loop in ipairs(scop.loops) do
    if not loop.parallel and not loop.irregular then
      local list, own = updates_in(scop, loop, widest)
      if #list > 0 and not dependences.is_carried(scop, loop, own) then
        loop.parallel = true
        for _, update in ipairs(list) do update.node.atomic = update.sum end
      end
    end
  end
end

return scattered_updates
