-- SPDX-License-Identifier: MIT

--- Finds sums in elements of which data say where they are: `h[k[i]] = h[k[i]] + e`. A loop that is sequential for
-- nothing else can be shared out. Where the order of its sums does not matter (integers wrap, and floats may be put
-- together in any order if the caller says so) each update is atomic, or each work-item has a copy of the array
-- (`clcompute.loops.generation.private_sums`). Where it does, passes write updates down, and what each element gets is
-- added in order (`clcompute.loops.generation.logged_sums`).

local ast = require("clcompute.loops.tree").ast
local dependences = require "clcompute.loops.analysis.dependences"
local lua_text = require("clcompute.loops.tree").lua_text
local trip_counts = require "clcompute.loops.analysis.trip_counts"
local walk = require("clcompute.loops.tree").walk

local scattered_updates = {}

-- --- updates ----------------------------------------------------------------------------------

--- The node in a sum that is an element, by its text, and has no minus before it; nil where there is none.
local function occurrence_in(value, text, type)
  if value.type ~= type then return nil end
  if lua_text.expression(value) == text then return value end
  if value.kind ~= "binary" or value.op ~= "+" and value.op ~= "-" then return nil end
  local found = occurrence_in(value.left, text, type)
  return found or value.op == "+" and occurrence_in(value.right, text, type) or nil
end

--- How often an expression mentions an array; a node that stands in it twice counts twice.
local function mentions_of(array, expression)
  local count = 0
  walk.node(expression, function(part)
    if part.array == array then count = count + 1 end
  end)
  return count
end

--- What a statement in some loops adds to, or nil: its array, and the two accesses as keys.
local function update_of(node, loops)
  local target = node.kind == "assign" and node.target
  if not target or not target.checked then return nil end
  local read = occurrence_in(node.value, lua_text.expression(target), target.type)
  if not read or mentions_of(target.array, node.value) > 1 then return nil end
  return { node = node, array = target.array, own = { [target] = true, [read] = true }, loops = loops }
end

local function is_within(statement, loop)
  for _, around in ipairs(statement.loops) do
    if around == loop then return true end
  end
  return false
end

--- The updates in a loop, and their accesses as keys; no array that is touched by something else in it.
local function updates_in(scop, loop)
  local list, own, is_shared = {}, {}, {}
  for _, statement in ipairs(scop.statements) do
    local update = is_within(statement, loop) and update_of(statement.node, statement.loops)
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

-- --- how ----------------------------------------------------------------------------------------

local WIDTH = { int = 4, uint = 4, long = 8, ulong = 8 } -- of the elements that devices add to in one step

--- What a sum adds to an element that is one of its sides; nil for other values.
local function added(value, text)
  if value.kind ~= "binary" then return nil end
  local is_left = lua_text.expression(value.left) == text
  if value.op == "+" and is_left then return value.right end
  if value.op == "+" and lua_text.expression(value.right) == text then return value.left end
  if not is_left then return nil end
  if value.type == "int" then return ast.node("unary", { op = "-", operand = value.right, type = "int" }, value) end
  local nothing = ast.node("number", { value = -0.0, type = "float" }, value)
  return ast.node("binary", { op = "-", left = nothing, right = value.right, type = "float" }, value)
end

--- What updates add, by statement; nil where a device does not add one of them in one step.
local function atomics_of(list, widest)
  local sums = {}
  for _, update in ipairs(list) do
    local node, width = update.node, WIDTH[update.array.element]
    local is_narrow = node.target.type == "int" and width and width <= widest
    local sum = is_narrow and added(node.value, lua_text.expression(node.target))
    if not sum then return nil end
    sums[node] = sum
  end
  return sums
end

--- The statements of updates, or nil where one of them must keep its order.
local function statements_of(list, takes_floats)
  local nodes = {}
  for i, update in ipairs(list) do
    if update.node.target.type ~= "int" and not takes_floats then return nil end
    nodes[i] = update.node
  end
  return nodes
end

--- The updates of a loop with what they add; nil where one does not add to what was there, or data decide how many
-- there are in a pass.
local function logged_of(loop, list)
  local entries = {}
  for i, update in ipairs(list) do
    local node, within, is_in = update.node, {}, false
    for _, around in ipairs(update.loops) do
      is_in = is_in or around == loop
      if is_in then within[#within + 1] = around end
      if is_in and around.irregular then return nil end
    end
    local term = added(node.value, lua_text.expression(node.target))
    if not term or not trip_counts.counts(within) then return nil end
    entries[i] = { node = node, term = term, loops = within }
  end
  return entries
end

--- Whether a loop is in one whose work-items have copies.
local function is_in_scattered(loop)
  for _, around in ipairs(loop.variable.loops) do
    if around.scattered then return true end
  end
  return false
end

local function mark_loop(scop, loop, how)
  local list, own = updates_in(scop, loop)
  if #list == 0 then return end
  local sums = how.widest and not is_in_scattered(loop) and atomics_of(list, how.widest)
  local nodes = not sums and how.has_copies and statements_of(list, how.takes_floats)
  local logged = not sums and not nodes and how.has_logs and logged_of(loop, list)
  if not (sums or nodes or logged) or dependences.is_carried(scop, loop, own) then return end
  loop.scattered, loop.logged = nodes or nil, logged or nil
  if not sums then return end
  loop.parallel = true
  for node, sum in pairs(sums) do node.atomic = sum end
end

--- Looks at loops that are sequential for such updates alone. They are called parallel where the device adds in one
-- step: the updates get `atomic`, what is added. Others get `scattered`, their updates, or `logged`.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel` and `reductions`
-- @tparam table how `widest`: bytes that the device adds to in one step, if that is to be; `has_copies`: whether
-- work-items may have copies; `takes_floats`: whether copies may be of floats; `has_logs`: whether others may be
-- written down
function scattered_updates.mark(scop, how)
  for _, loop in ipairs(scop.loops) do
    if not loop.parallel and not loop.reductions and not loop.irregular then mark_loop(scop, loop, how) end
  end
end

return scattered_updates
