-- SPDX-License-Identifier: MIT

--- Writes conditions that only choose what an element gets as one assignment, which stores in any case: so it covers
-- its elements, and compilers make vectors of it.
--
--     if a then x[i] = b elseif c then x[i] = d else x[i] = e end     x[i] = a and b or c and d or e
--
-- Where a way does more, and the table is made by the function, the element is stored behind: so it has a value
-- whatever data are.
--
--     if a then t[i] = b else ... t[i] = d end           local s; if a then s = b else ... s = d end; t[i] = s

local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local selections = {}

--- The assignment that ends a body: a number of one type, to an element that no check goes with; else nil.
local function assignment_of(body)
  local node = body[#body]
  if not node or node.kind ~= "assign" or node.target.kind ~= "index" or node.target.checked then return nil end
  return not node.value.is_mixed and node.value.type ~= "bool" and node or nil
end

--- What all ways through an `if` give the same element at last; nil where they do something else. Whether one does
-- something before.
local function values_of(node)
  local values, first, does_more = {}, nil, false
  for _, body in ipairs { node.otherwise, table.unpack(node.arms) } do
    local assign = assignment_of(body.body or body)
    if not assign then return nil end
    does_more = does_more or #(body.body or body) > 1
    first = first or assign
    if lua_text.expression(assign.target) ~= lua_text.expression(first.target)
      or assign.value.type ~= first.value.type then return nil end
    values[#values + 1] = assign.value
  end
  return values, first.target, does_more
end

--- `condition and one or other`, of numbers of one type.
local function choice(condition, one, other)
  local chosen = ast.node("binary", { op = "and", left = condition, right = one, type = one.type, is_partial = true },
    condition)
  return ast.node("binary", { op = "or", left = chosen, right = other, type = one.type }, condition)
end

--- Whether an element is the same wherever it stands in a pass: its subscripts are of what is not assigned.
local function is_steady(target)
  return not walk.find(target.subscripts, function(part)
    return part.kind == "index" or part.kind == "name" and part.variable.assigned ~= nil
  end)
end

--- A body that gives a local what it gives an element at last.
local function given(body, name)
  local own, last = table.move(body, 1, #body, 1, {}), body[#body]
  own[#own] = ast.node("assign", { target = name, value = last.value }, last)
  return own
end

--- An `if` all of whose ways store in an element at last, as one that gives a local its value, and the store behind it.
local function stored_behind(node, target, type_of, job)
  local variable = ast.node("variable", { id = job.new_id { name = "stored" }, name = "stored", role = "local",
    type = type_of, assigned = target, loops = table.move(job.loops, 1, #job.loops, 1, {}) })
  local function name() return ast.node("name", { variable = variable, type = type_of }, target) end
  local blank = ast.node("number", { value = 0, type = type_of }, node)
  variable.definition = blank
  return {
    ast.node("local", { variable = variable, value = blank, is_blank = true }, node),
    walk.with_arms(node, function(body) return given(body, name()) end),
    ast.node("assign", { target = target, value = name() }, target),
  }
end

--- The statements that stand for an `if`; nil where it stays.
local function assigned(node, job)
  if not node.otherwise then return nil end
  local values, target, does_more = values_of(node)
  if not values then return nil end
  if does_more then
    local is_behind = target.array.is_made and is_steady(target)
    return is_behind and stored_behind(node, target, values[1].type, job) or nil
  end
  local value = values[1]
  for i = #node.arms, 1, -1 do value = choice(node.arms[i].condition, values[i + 1], value) end
  return { ast.node("assign", { target = target, value = value }, node) }
end

local rewrite

local BODIES = {
  ["for"] = function(node, job)
    table.insert(job.loops, node)
    rewrite(node.body, job)
    table.remove(job.loops)
  end,
  ["if"] = function(node, job)
    for _, arm in ipairs(node.arms) do rewrite(arm.body, job) end
    if node.otherwise then rewrite(node.otherwise, job) end
  end,
}

function rewrite(nodes, job)
  for i = #nodes, 1, -1 do
    local node = nodes[i]
    if BODIES[node.kind] then BODIES[node.kind](node, job) end
    local others = node.kind == "if" and assigned(node, job)
    if others then
      table.move(nodes, i + 1, #nodes, i + #others)
      table.move(others, 1, #others, i, nodes)
    end
  end
end

local function rewrite_loops(nodes, job)
  for _, node in ipairs(nodes) do
    if node.kind == "for" then BODIES["for"](node, job) end
    for _, arm in ipairs(node.arms or {}) do rewrite_loops(arm.body, job) end
    rewrite_loops(node.otherwise or {}, job)
  end
end

--- Rewrites the loops of a tree; conditions around them stay.
-- @tparam table tree of `clcompute.loops.front.types`
function selections.rewrite(tree) rewrite_loops(tree.body, { new_id = clone.renaming(tree), loops = {} }) end

return selections
