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
function list_proofs.is_steady(node)
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

--- Whether a subscript is within a table in each pass of a loop that goes from 1 on up to its length.
local function is_within(array, subscript)
  local form = affine.of(subscript)
  local term = form and #form.terms == 1 and form.terms[1]
  local loop = term and term.coefficient == 1 and term.variable and term.variable.loop
  local firsts = loop and not loop.word and loop.step > 0 and bounds.firsts(loop)
  if not firsts or array.cursor and assigns(loop.body, array.cursor) then return false end
  local above = above_length(array, loop.to)
  if not above or above + form.constant > 0 then return false end
  for _, first in ipairs(firsts) do
    if #first.terms == 0 and first.constant + form.constant >= 1 then return true end
  end
  return false
end

local STRAIGHT = { assign = true, ["local"] = true }

--- Whether each step of a counter has one element behind it, in the same block.
local function is_stepped(nodes, array, cursor)
  local is_ahead = false -- a step without its element
  for _, node in ipairs(nodes) do
    local is_step = node.kind == "assign" and node.target.variable == cursor
    if is_step then
      if is_ahead or bounds.offset(node.value, cursor) ~= 1 then return false end
      is_ahead = true
    elseif node.kind == "assign" and node.target.array == array then
      if is_ahead and bounds.offset(node.target.subscripts[1], cursor) == 0 then is_ahead = false end
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
local function follows(tree, array, cursor, elements, is_target)
  local loop = array.filled
  if not loop or walk.breaks_out(loop.body) or bounds.offset(loop.to, cursor) ~= 0 then return false end
  local order, is_inside = order_of(tree), {}
  walk.node(loop, function(node) is_inside[node] = true end)
  if walk.find(tree.body, function(node)
    return node.kind == "assign" and node.target.variable == cursor and order[node] > order[loop]
  end) then return false end
  for _, element in ipairs(elements) do
    local form = affine.of(element.subscripts[1])
    if order[element] < order[loop] or not form then return false end
    if is_inside[element] and not is_target[element] and form.constant >= 0 then return false end
  end
  return true
end

--- Whether an element is the one that the cursor is at, or behind which it goes on.
local function is_at_cursor(array, element)
  local offset = bounds.offset(element.subscripts[1], array.cursor)
  return offset == 0 or offset == 1
end

--- Refuses a table with a cursor, or whose length is asked for, in which something else is stored or read.
-- @tparam table tree
-- @tparam table array
-- @tparam {table,...} targets elements that are assigned
-- @tparam {table,...} elements all, if those that are read must be there
function list_proofs.check(tree, array, targets, elements)
  local function fail(node, message) failure.raise(tree.origin, node, message:format(array.name)) end
  if array.cursor and array.rank ~= (#array.rows > 0 and 2 or 1) then
    fail(array.node, "'%s' gets longer as data say, so what is appended are numbers, or rows of numbers")
  end
  local loop = array.filled or array.appended and array.appended.loop
  if array.is_counted and not list_proofs.is_steady(loop.to) then
    fail(array.node, "the length of '%s' is asked for, and its loop ends where a local says that changes later")
  end
  if array.appended then return end -- the table is stored nowhere else
  local is_target, is_hidden = walk.set(targets), array.cursor and array.cursor.node == array.node
  local is_told = not array.cursor or is_hidden or is_counter(tree, array, array.cursor)
    or follows(tree, array, array.cursor, elements, is_target)
  if not is_told then
    fail(array.node, "how long '%s' gets is not known before a call, as data say where it is stored: pass it as an "
      .. "argument")
  end
  for _, element in ipairs(array.cursor and elements or targets) do
    local is_there = is_within(array, element.subscripts[1]) or element.subscripts[1].kind == "number"
      and is_target[element] and array.cursor and element.subscripts[1].value <= array.cursor.definition.value
    if not is_there and not (array.cursor and is_target[element] and is_at_cursor(array, element)) then
      fail(element, array.cursor and "'%s' gets longer as data say, so its elements are those of a loop "
        .. "'for i = 1, #t', or 'for i = 1, n' where n counts them" or "'%s' is asked for its length, and this may "
        .. "make it longer: use the number that it gets")
    end
  end
end

return list_proofs
