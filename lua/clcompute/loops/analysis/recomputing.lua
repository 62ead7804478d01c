-- SPDX-License-Identifier: MIT

--- Computes anew what a pass reads as an earlier pass of its nest stored it, from what the array was before the nest,
-- and stores in another array: then all passes are parallel. The two arrays take turns in the loop around.
--
--     for k = 1, n do for i = 1, n do for j = 1, n do p[i][j] = math.min(p[i][j], p[i][k] + p[k][j]) end end end
--     for k = 1, n, 2 do
--       for i do for j do
--         q[i][j] = math.min(p[i][j], (k < j and math.min(p[i][k], p[i][k] + ...) or p[i][k]) + ...)
--       end end
--       if k < n then the same with k + 1 from q to p else for i do for j do p[i][j] = q[i][j] end end end
--     end

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local recomputing = {}

local MOST_COPIES = 8 -- of the value, in itself

-- --- what can be computed anew -----------------------------------------------------------------

local function has_bounds_of(node, other)
  return node.step == 1 and other.step == 1 and lua_text.expression(node.from) == lua_text.expression(other.from)
    and lua_text.expression(node.to) == lua_text.expression(other.to)
end

local function is_name(node, variable) return node.kind == "name" and node.variable == variable end

--- The loops within one, nested perfectly, all as long as it is, and the assignment in them; nil where it is not so.
local function nest_of(outer)
  local loops, node = {}, outer.body[1]
  while node and node.kind == "for" and has_bounds_of(node, outer) and not node.irregular and not node.is_broken do
    if #node.body ~= 1 then return nil end
    loops[#loops + 1], node = node, node.body[1]
  end
  return node and node.kind == "assign" and node.target.array and #loops > 0 and loops or nil, node
end

--- The loop of each dimension of what is stored: each is one of its own; else nil.
local function loops_of(target, loops)
  local by_variable, list, count = {}, {}, 0
  for _, loop in ipairs(loops) do by_variable[loop.variable] = loop end
  for d, subscript in ipairs(target.subscripts) do
    local loop = subscript.kind == "name" and by_variable[subscript.variable]
    if not loop then return nil end
    by_variable[subscript.variable], list[d], count = nil, loop, count + 1
  end
  return count == #loops and list or nil
end

--- Whether each subscript of an element is the variable of its dimension's loop or that of the loop around: then some
-- pass of the nest stores it.
local function is_stored(node, nest)
  for d, subscript in ipairs(node.subscripts) do
    if not is_name(subscript, nest.loops[d].variable) and not is_name(subscript, nest.outer.variable) then
      return false
    end
  end
  return true
end

--- A nest of which all can be computed anew: `outer`, `first` (its outermost loop), `order`, its loops, and the same by
-- dimension, `loops`; `node`, the assignment. Else nil.
local function recomputable(outer, real)
  if outer.kind ~= "for" or outer.parallel or outer.irregular or #outer.body ~= 1 then return nil end
  local order, node = nest_of(outer)
  local loops = order and loops_of(node.target, order)
  local is_exact = loops and (node.target.type == "float" and node.target.array.element == real
    or node.target.type == "int" and node.target.array.element == "long")
  if not is_exact or node.value.type ~= node.target.type or walk.find({ outer }, ast.is_uncertain) then return nil end
  local nest = { outer = outer, order = order, loops = loops, node = node, first = order[1] }
  local other = walk.find({ node.value }, function(part)
    return part.kind == "index" and part.array == node.target.array and not is_stored(part, nest)
  end)
  return not other and walk.width(nest.first) < #order and nest or nil
end

-- --- the values ----------------------------------------------------------------------------------

local function both(op, left, right, at)
  return ast.node("binary", { op = op, left = left, right = right, type = "bool" }, at)
end

--- Whether the pass that stores an element comes before this one: at the outermost loop of the nest at which they are
-- apart, the loop around is further on than that. nil: it is this one.
local function is_before(nest, places, own)
  local condition
  local at = bounds.name(nest.outer.variable)
  for i = #nest.order, 1, -1 do
    local variable = nest.order[i].variable
    if not is_name(places[variable], own[variable].variable) then
      local here = own[variable]
      local is_less = both("<", at, here)
      condition = condition and both("or", is_less, both("and", both("==", at, here), condition)) or is_less
    end
  end
  return condition
end

--- `condition and one or other`.
local function choice(condition, one, other)
  local chosen = ast.node("binary", { op = "and", left = condition, right = one, type = one.type, is_partial = true })
  return ast.node("binary", { op = "or", left = chosen, right = other, type = other.type })
end

--- What the pass at some places computes, from an array as it was before the nest; nil where that is too long.
-- @tparam table nest
-- @tparam table own by variable of a loop of the nest, the name of its place
-- @tparam table from the array
-- @tparam table budget `left` copies
local function value_at(nest, own, from, budget)
  budget.left = budget.left - 1
  if budget.left < 0 then return nil end
  return walk.replaced(nest.node.value, function(part)
    if part.kind == "name" and own[part.variable] then return own[part.variable] end
    if part.kind ~= "index" or part.array ~= nest.node.target.array then return nil end
    local places, subscripts = {}, {}
    for d, subscript in ipairs(part.subscripts) do
      subscripts[d] = own[subscript.variable] or subscript
      places[nest.loops[d].variable] = subscripts[d]
    end
    local old = ast.changed(part, { array = from, subscripts = subscripts })
    local condition = is_before(nest, places, own)
    local new = condition and value_at(nest, places, from, budget)
    return new and choice(condition, new, old) or old
  end)
end

-- --- the tree --------------------------------------------------------------------------------------

--- The nest from one array to the other one, with a value; `others` are what stands for variables.
local function nest_from(nest, value, to, others, rename)
  local body = { ast.changed(nest.node, { value = value, target = ast.changed(nest.node.target, { array = to }) }) }
  for i = #nest.order, 1, -1 do body = { ast.changed(nest.order[i], { body = body }) } end
  return clone.statements(body, others, rename)[1]
end

--- The loop in steps of two passes, from the array to a copy and back.
local function in_turns(nest, copy, rename)
  local outer, array, own = nest.outer, nest.node.target.array, {}
  for _, loop in ipairs(nest.order) do own[loop.variable] = bounds.name(loop.variable) end
  local budget = { left = 2 * MOST_COPIES }
  local there, back = value_at(nest, own, array, budget), value_at(nest, own, copy, budget)
  if budget.left < 0 then return nil end
  local name = bounds.name(outer.variable)
  local home = ast.changed(nest.node.target, { array = copy })
  local last = ast.node("if", { arms = { ast.node("arm", { condition = both("<", name, outer.to, outer),
    body = { nest_from(nest, back, array, { [outer.variable] = bounds.plus(name, 1) }, rename) } }, outer) },
    otherwise = { nest_from(nest, home, array, {}, rename) } }, outer)
  return { nest_from(nest, there, copy, {}, rename), last }
end

--- Changes a loop where all loops of its nest are parallel then; returns whether it did.
local function change(nest, state)
  local outer, tree = nest.outer, state.tree
  local array, before = nest.node.target.array, { step = outer.step, body = outer.body, scratch = tree.scratch }
  local copy = ast.node("variable", { id = state.rename { name = array.name }, name = "the new " .. array.name,
    role = "array", rank = array.rank, element = array.element, like = array.like or array })
  local body = in_turns(nest, copy, state.rename)
  if not body then return end
  outer.step, outer.body, tree.scratch = 2, body, walk.union(tree.scratch or {}, { copy })
  state.analyse()
  if walk.width(body[1]) == #nest.order then return end
  outer.step, outer.body, tree.scratch = before.step, before.body, before.scratch
  state.analyse()
end

--- Changes nests of a tree, to which arrays of its own are added (`scratch`). Elements are computed by the same steps.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then
-- @string real the dtype of floats that are computed
function recomputing.apply(tree, analyse, real)
  local state = { tree = tree, analyse = analyse, rename = clone.renaming(tree) }
  walk.nodes(tree.body, function(node)
    local nest = recomputable(node, real)
    if nest then change(nest, state) end
    return not nest
  end)
end

return recomputing
