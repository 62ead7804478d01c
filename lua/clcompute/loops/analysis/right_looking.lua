-- SPDX-License-Identifier: MIT

--- Lets each pass of an elimination take part in the sums of all later ones, in place of those that it has left to do
-- itself (right-looking in place of left-looking), where isl proves that no sum has another order then: the updates of
-- a pass are parallel, sums are not.
--
--     for j do for k = 1, j - 1 do b[j] = b[j] - l[j][k] * b[k] end; b[j] = b[j] / l[j][j] end
--     for j do b[j] = b[j] / l[j][j]; for m = j + 1, n do b[m] = b[m] - l[m][j] * b[j] end end
--
-- A parallel loop around goes inside, so that its passes and the updates are one launch.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local lua_text = require("clcompute.loops.tree").lua_text
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local right_looking = {}

-- A launch for each pass pays where there are so many, and not work-items enough without.
local LEAST_PASSES, MOST_ITEMS = 192, 1 << 14

-- --- sums ----------------------------------------------------------------------------------------

local function is_plain(node) return node.kind == "assign" and node.target.array ~= nil end

local function are_plain(nodes)
  for _, node in ipairs(nodes) do
    if not is_plain(node) then return false end
  end
  return true
end

--- Whether a node is a loop over all passes of another one before the present one.
local function is_sum(node, outer)
  return node.kind == "for" and not node.parallel and not node.irregular and node.step == 1
    and affine.distance(node.from, outer.from) == 0
    and affine.distance(node.to, bounds.name(outer.variable)) == -1 and are_plain(node.body)
end

--- What a statement of a pass is: `sum`, the loop of that, and `loop`, the parallel one around it, if it stands in one;
-- or neither.
local function part_of(node, outer)
  if is_sum(node, outer) then return { node = node, sum = node } end
  local inner = walk.is_parallel(node) and node.body[1]
  if not inner or not is_sum(inner, outer) then return { node = node } end
  local rest = table.move(node.body, 2, #node.body, 1, {})
  return are_plain(rest) and { node = node, sum = inner, loop = node, rest = rest } or { node = node }
end

--- The statements of a pass, and the loops of sums in it as keys; nil where it has none or something else.
local function parts_of(outer)
  local may_be = outer.kind == "for" and not outer.parallel and not outer.irregular and outer.step == 1
    and clone.can(outer.body) and not walk.find({ outer }, ast.is_uncertain)
  if not may_be then return nil end
  local parts, sums = {}, {}
  for i, node in ipairs(outer.body) do
    parts[i] = part_of(node, outer)
    if node.kind ~= "for" and not is_plain(node) then return nil end
    if parts[i].sum then sums[parts[i].sum] = true end
  end
  return next(sums) and parts or nil, sums
end

-- --- sums in locals ------------------------------------------------------------------------------

--- The statements of a pass that sums up in a local, beginning with the element that it stores the sum in, with that
-- element in place of the local; nil where they are others, or the element would be rounded.
local function in_element(body, real)
  local first, loop, last = table.unpack(body)
  if #body ~= 3 or first.kind ~= "local" or loop.kind ~= "for" or not is_plain(last) then return nil end
  local target, text = last.target, lua_text.expression(last.target)
  local function is_local(node) return node.kind == "name" and node.variable == first.variable end
  local function is_target(node) return node.kind == "index" and lua_text.expression(node) == text end
  if first.is_blank or not is_target(first.value) or walk.find({ last.value, loop }, is_target)
    or target.type ~= "float" or target.array.element ~= real then return nil end
  local function element(node) return is_local(node) and ast.changed(target, { line = node.line }) or nil end
  local steps = {}
  for i, node in ipairs(loop.body) do
    if node.kind ~= "assign" or not is_local(node.target) then return nil end
    steps[i] = ast.changed(node, { target = element(node.target), value = walk.replaced(node.value, element) })
  end
  local rest = not is_local(last.value) and ast.changed(last, { value = walk.replaced(last.value, element) }) or nil
  return { ast.changed(loop, { body = steps }), rest }, target
end

--- Puts elements in place of the locals that parallel loops in a loop sum up in; returns what undoes that.
local function without_locals(outer, state)
  local before = {}
  local function undo()
    for node, body in pairs(before) do node.body = body end
    if next(before) then state.scop = state.analyse() end
  end
  local targets = {}
  for _, node in ipairs(outer.kind == "for" and not outer.parallel and outer.body or {}) do
    local body, target = nil, nil
    if walk.is_parallel(node) then body, target = in_element(node.body, state.real) end
    if body then before[node], targets[node], node.body = node.body, target, body end
  end
  if not next(before) then return undo end
  state.scop = state.analyse()
  for node, target in pairs(targets) do
    if not node.parallel or not pass_orders.is_alone(state.scop, node, target, true) then
      undo()
      return function() end
    end
  end
  return undo
end

-- --- updates -------------------------------------------------------------------------------------

local function text_of(nodes)
  local lines = {}
  for i, node in ipairs(nodes) do
    lines[i] = lua_text.expression(node.target) .. " = " .. lua_text.expression(node.value)
  end
  return table.concat(lines, "\n")
end

--- Lets a loop do what stands before it where that is its pass before the first one: the diagonal of a triangle.
local function with_diagonal(nodes, row)
  local loop, before = nodes[#nodes], table.move(nodes, 1, #nodes - 1, 1, {})
  if #before == 0 or not are_plain(before) or loop.kind ~= "for" or loop.step ~= 1 then return nodes end
  if affine.distance(loop.from, bounds.name(row.variable)) ~= 1 or affine.distance(loop.to, row.to) ~= 0
    or not are_plain(loop.body) then return nodes end
  local pass = clone.statements(loop.body, { [loop.variable] = bounds.name(row.variable) })
  return text_of(pass) == text_of(before) and { ast.changed(loop, { from = bounds.plus(loop.from, -1) }) } or nodes
end

--- The loop over columns of a triangle around the one over its rows the other way round where columns are neighbours
-- in memory: so are work-items then.
local function by_rows(loop)
  local inner = loop.body[1]
  local is_nest = #loop.body == 1 and inner.kind == "for" and inner.step == 1
  local distance = is_nest and affine.distance(inner.from, bounds.name(loop.variable))
  if not distance or affine.distance(inner.to, loop.to) ~= 0 or not are_plain(inner.body) then return loop end
  for _, node in ipairs(inner.body) do
    if walk.mentions(node.target.subscripts[#node.target.subscripts], inner.variable) then return loop end
  end
  inner.from, loop.to = bounds.plus(loop.from, distance), bounds.plus(bounds.name(inner.variable), -distance)
  loop.body, inner.body = inner.body, { loop }
  return inner
end

--- The loop over all later passes, which does what this one adds to their sums.
local function updates_of(parts, outer, rename)
  local nodes, now = {}, bounds.name(outer.variable)
  local row = ast.changed(outer.variable, { id = rename(outer.variable) })
  row.loop = ast.apart(outer, { variable = row, from = bounds.plus(now, 1), body = {} })
  local others = { [outer.variable] = bounds.name(row) }
  for _, part in ipairs(parts) do
    if part.sum then
      others[part.sum.variable] = now
      local steps = part.loop and { ast.changed(part.loop, { body = part.sum.body }) } or part.sum.body
      table.move(steps, 1, #steps, #nodes + 1, nodes)
    end
  end
  row.loop.body = with_diagonal(clone.statements(nodes, others, rename), row.loop)
  return row.loop
end

-- --- the tree ------------------------------------------------------------------------------------

--- Turns an elimination; returns what undoes that, and the loop of its updates.
local function turn(outer, parts, rename)
  local body, updates = outer.body, updates_of(parts, outer, rename)
  outer.body = {}
  for _, part in ipairs(parts) do
    if part.rest then part.loop.body = part.rest end
    if not part.sum or part.rest and #part.rest > 0 then table.insert(outer.body, part.node) end
  end
  table.insert(outer.body, updates)
  return function()
    outer.body = body
    for _, part in ipairs(parts) do
      if part.rest then part.loop.body = table.move(part.rest, 1, #part.rest, 2, { part.sum }) end
    end
  end, updates
end

local function binary(op, left, right, at)
  return ast.node("binary", { op = op, left = left, right = right, type = "bool" }, at)
end

--- Whether a loop of launches pays, as a condition of the call's numbers.
local function pays(outer, items)
  local is_long = binary("<=", bounds.plus(outer.from, LEAST_PASSES - 1), outer.to, outer)
  return binary("and", is_long, binary("<", items.to, bounds.plus(items.from, MOST_ITEMS), items), items)
end

--- Moves a parallel loop into the one that is all that it does: a loop for each statement there.
local function move_in(items, outer, rename)
  for i, node in ipairs(outer.body) do
    outer.body[i] = clone.statements({ ast.changed(items, { body = { node } }) }, {}, rename)[1]
  end
end

--- Gives each loop in the updates, which are parallel, a nest of its own.
local function in_nests(outer, updates, rename)
  local run = {}
  local function flush(nodes)
    if #nodes == 0 then return end
    local nest = clone.statements({ ast.changed(updates, { body = nodes }) }, {}, rename)[1]
    table.insert(outer.body, by_rows(nest))
  end
  table.remove(outer.body)
  for _, node in ipairs(updates.body) do
    if node.kind == "for" then
      flush(run)
      flush { node }
      run = {}
    else
      run[#run + 1] = node
    end
  end
  flush(run)
end

--- Turns an elimination where its updates are parallel then; returns whether it did.
local function try(outer, state)
  local restore = without_locals(outer, state)
  local parts, sums = parts_of(outer)
  if parts and pass_orders.may_look_right(state.scop, outer, sums) then
    local undo, updates = turn(outer, parts, state.rename)
    state.scop = state.analyse()
    if walk.is_parallel(updates) then
      in_nests(outer, updates, state.rename)
      state.scop = state.analyse()
      return true
    end
    undo()
    state.scop = state.analyse()
  end
  restore()
  return false
end

local visit

--- The same for one in a parallel loop, which goes into it, where that pays.
local function try_inside(list, at, state)
  local items = list[at]
  local outer = #items.body == 1 and items.body[1]
  if not outer or not parts_of(outer) or walk.is_bounded_by(outer, items.variable) then return end
  local original = clone.statements({ items }, {}, state.rename)
  if not try(outer, state) then return end
  move_in(items, outer, state.rename)
  list[at] = ast.node("if", { is_choice = true, arms = { ast.node("arm", { condition = pays(outer, items),
    body = { outer } }, items) }, otherwise = original }, items)
  state.scop = state.analyse()
end

function visit(nodes, state)
  for i, node in ipairs(nodes) do
    if walk.is_parallel(node) then
      try_inside(nodes, i, state)
    elseif node.kind ~= "for" or not try(node, state) then
      for _, body in ipairs(walk.bodies(node)) do visit(body, state) end
    end
  end
end

--- Changes a tree. Elements are computed as before, each from the same numbers in the same order.
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the dtype of floats that are computed
function right_looking.apply(tree, analyse, scop, real)
  visit(tree.body, { rename = clone.renaming(tree), analyse = analyse, scop = scop, real = real })
end

return right_looking
