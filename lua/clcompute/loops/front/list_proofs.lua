-- SPDX-License-Identifier: MIT

--- That a list is one: what counts the elements of a table which a function appends to counts them all, and elements
-- that are read or changed are there.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local failure = require("clcompute.loops.tree").failure
local walk = require("clcompute.loops.tree").walk

local list_proofs = {}

--- Whether an expression has no element, call or local that changes in it.
local function is_steady(node)
  return not walk.find({ node }, function(part)
    return part.kind == "index" or part.kind == "call" or part.kind == "name" and part.variable.assigned
  end)
end

--- How far an expression is above the length of a table; nil where that is not known.
local function above_length(array, node)
  if array.cursor then return bounds.offset(node, array.cursor) end
  local passes = array.filled and array.filled.to
  local form = passes and affine.of(ast.node("binary", { op = "-", left = node, right = passes }))
  return form and #form.terms == 0 and form.constant or nil
end

local function assigns(nodes, variable)
  return walk.find(nodes, function(node)
    return node.kind == "assign" and node.target.variable == variable
  end) ~= nil
end

--- Whether one of some forms, to which a number is added, is 1 or more for certain.
local function is_from_first(forms, added)
  for _, form in ipairs(forms or {}) do
    if #form.terms == 0 and form.constant + added >= 1 then return true end
  end
  return false
end

--- Whether a subscript is within a table in each pass of a loop between 1 and its length.
function list_proofs.is_within(array, subscript)
  local form = affine.of(subscript)
  local term = form and #form.terms == 1 and form.terms[1]
  local loop = term and term.coefficient == 1 and term.variable and term.variable.loop
  if not loop or loop.word or loop.pace or array.cursor and assigns(loop.body, array.cursor) then return false end
  local is_up = loop.step > 0
  local above = above_length(array, is_up and loop.to or loop.from)
  return above ~= nil and above + form.constant <= 0
    and is_from_first((is_up and bounds.firsts or bounds.lasts)(loop), form.constant)
end

local STRAIGHT = { assign = true, ["local"] = true }

local function is_name(node, variable)
  return node.kind == "name" and node.variable == variable
end

local function is_step(node, cursor)
  local value = node.value
  return value.op == "+" and is_name(value.left, cursor) and value.right.value == 1
end

--- Whether a statement has the last element of a table, but for what it stores in it.
local function reads_last(node, array, cursor)
  return walk.find({ node }, function(part)
    return part.kind == "index" and part.array == array and part ~= node.target and is_name(part.subscripts[1], cursor)
  end) ~= nil
end

--- Whether each step of a counter has the element behind it, in the same block, that is stored by its number; marks
-- these as ends. Between both nothing reads it. Elsewhere the element of the counter's number is there, or the number
-- is 0, which is looked at as it is used.
local function is_stepped(nodes, array, cursor)
  local is_ahead = false -- a step without its element
  for _, node in ipairs(nodes) do
    local target = node.kind == "assign" and node.target
    if is_ahead and reads_last(node, array, cursor) then return false end
    if target and target.variable == cursor then
      if is_ahead or not is_step(node, cursor) then return false end
      is_ahead = true
    elseif is_ahead and target and target.array == array and is_name(target.subscripts[1], cursor) then
      target.is_end, is_ahead = true, false
    elseif is_ahead and not STRAIGHT[node.kind] then
      return false
    end
    for _, body in ipairs(walk.bodies(node)) do
      if not is_stepped(body, array, cursor) then return false end
    end
  end
  return not is_ahead
end

local function are_same(list, other)
  for i, item in ipairs(list) do
    if other[i] ~= item then return false end
  end
  return #list == #other
end

--- Whether a local that counts a table's elements begins at 0 where the table is made.
local function is_counter(tree, array, cursor)
  return cursor.definition.value == 0 and are_same(cursor.loops, array.loops)
    and is_stepped(tree.body, array, cursor)
end

--- The nodes of a tree in the order of the text, as numbers.
local function order_of(tree)
  local order, next_place = {}, 0
  walk.nodes(tree.body, function(node) order[node], next_place = next_place, next_place + 1 end)
  return order
end

--- Whether a table is filled as far as another one goes, which gets no longer from then on; nothing is done with it
-- before, and where it is filled only elements that are there are read.
local function follows(tree, array, elements, is_target)
  local loop, cursor = array.filled, array.cursor
  if not loop or walk.breaks_out(loop.body) or bounds.offset(loop.to, cursor) ~= 0 then return false end
  local order, is_inside = order_of(tree), {}
  walk.node(loop, function(node) is_inside[node] = true end)
  if walk.find(tree.body, function(node)
    local target = node.kind == "assign" and node.target
    return target and (target.variable == cursor and order[node] > order[loop]
      or target.array ~= nil and target.array == array.length and order[node] < order[loop])
  end) then return false end
  for _, element in ipairs(elements) do
    local offset = bounds.offset(element.subscripts[1], loop.variable)
    if order[element] < order[loop] then return false end
    if is_inside[element] and not is_target[element] and not (offset and offset < 0) then return false end
  end
  return true
end

--- Whether an element is one of the items with which a list begins.
local function is_item(array, element)
  local value = element.subscripts[1].value
  return value ~= nil and value >= 1 and value <= array.cursor.definition.value
end

list_proofs.UNKNOWN = "how long '%s' gets is not known before a call, as data say where it is stored: fill it before, "
  .. "by 'for i = 1, most do t[i] = 0 end'"
local ROWS = "'%s' gets longer at its end, so what is appended are numbers, or rows that all have as many"
local ELEMENTS = "'%s' gets longer at its end, so its elements are those of a loop 'for i = 1, #t', or 'for i = 1, n' "
  .. "where n counts them; to take others fill it before, by 'for i = 1, most do t[i] = 0 end'"
list_proofs.LONGER = "'%s' is asked for its length, and this may make it longer: use the number that it gets"
local LATER = "the length of '%s' is asked for, and its loop ends where a local says that changes later"

--- Whether an element is the last one, or where the list may be empty, is read, which is looked at as it is used: a
-- store there would be one at 0.
local function is_last(tree, array, element)
  if not is_name(element.subscripts[1], array.cursor) then return false end
  local is_sure = array.cursor.definition.value >= 1 or array.row_length ~= nil
  return is_sure or not walk.find(tree.body, function(node)
    return node.target == element and not reads_last(node, array, array.cursor)
  end)
end

--- Refuses a table with a cursor in which something else is stored or read.
local function check_cursor(tree, array, targets, elements, fail)
  local is_target, is_own = walk.set(targets), array.cursor.node == array.node
  if array.rank ~= (array.row_length and 2 or 1) then fail(array.node, ROWS) end
  if not is_own and not is_counter(tree, array, array.cursor) and not follows(tree, array, elements, is_target) then
    fail(array.node, list_proofs.UNKNOWN)
  end
  for _, element in ipairs(elements) do
    local column = element.subscripts[2]
    local is_longer = is_target[element] and column and not (column.value and column.value <= array.row_length)
    if is_longer then fail(element, ROWS) end
    local is_there = is_own and is_target[element] and is_item(array, element)
      or element.may_miss == "guarded" or not element.is_end and is_last(tree, array, element)
    if not element.is_end and not is_there and not list_proofs.is_within(array, element.subscripts[1]) then
      fail(element, ELEMENTS)
    end
  end
end

--- Refuses a table with a cursor, or whose length is asked for, of which it is not proved that these tell its length.
-- @tparam table tree
-- @tparam table array
-- @tparam {table,...} targets elements that are assigned
-- @tparam {table,...} elements all
function list_proofs.check(tree, array, targets, elements)
  local function fail(node, message) failure.raise(tree.origin, node, message:format(array.name)) end
  if array.cursor then return check_cursor(tree, array, targets, elements, fail) end
  local loop = array.is_counted and (array.filled or array.appended and array.appended.loop)
  if loop and not is_steady(loop.to) then fail(array.node, LATER) end
  for _, target in ipairs(array.is_counted and array.filled and targets or {}) do
    if not list_proofs.is_within(array, target.subscripts[1]) then fail(target, list_proofs.LONGER) end
  end
end

return list_proofs
