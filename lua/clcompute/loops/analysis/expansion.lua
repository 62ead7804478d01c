-- SPDX-License-Identifier: MIT

--- Gives a local with which the first statements of a pass tell the others something a place for each pass, an element
-- of an array that the call makes for itself. All passes may do their first statements then before any does the others,
-- where isl proves that; so both parts may be parallel, each in loops of its own.
--
--     for i do local s = 0; for j do s = s + a[i][j] * x[j] end; for j do y[j] = y[j] + a[i][j] * s end end
--     for i do local s = 0; for j do s = s + a[i][j] * x[j] end; s_of[i] = s end
--     for i do for j do y[j] = y[j] + a[i][j] * s_of[i] end end
--
-- A processor does so in strips of passes: the others find in its cache what the first ones have read.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local expansion = {}

local STRIP = 32 -- passes: few enough for a cache, enough for groups to share

-- --- what may go -------------------------------------------------------------------------------

--- The first pass of a loop in steps of one whose number of passes is known before the nest runs; nil of any other.
local function first_pass(node)
  local from = affine.of(node.from)
  local is_known = node.step == 1 and from and #from.terms == 0 and not walk.find({ node.to }, function(part)
    return part.kind == "index" or part.kind == "name" and (part.variable.role == "local" or part.variable.loop)
  end)
  return is_known and from.constant or nil
end

--- Whether statements assign to a variable.
local function assign(nodes, variable)
  return walk.find(nodes, function(part) return part.kind == "assign" and part.target.variable == variable end) ~= nil
end

local is_fixed

--- Whether a value is the same wherever it is computed in a pass: no element is in it, and no local that is assigned.
function is_fixed(value)
  return not walk.find({ value }, function(part)
    local variable = part.kind == "name" and part.variable.role == "local" and part.variable
    return part.kind == "index" or variable and (variable.assigned or not is_fixed(variable.definition)) or false
  end)
end

--- Whether a local is a number that both parts may compute for themselves.
local function is_shared(node)
  return not node.variable.assigned and is_fixed(node.value)
end

--- The locals among some statements that the rest of a body reads, and the declarations that it gets a copy of; nil
-- where it changes one.
local function told(first, rest)
  local list, shared = {}, {}
  for i = #first, 1, -1 do
    local node = first[i]
    local variable = node.kind == "local" and node.variable
    local function is_it(part) return part.kind == "name" and part.variable == variable end
    if variable and (walk.find(rest, is_it) or walk.find(shared, is_it)) then
      if is_shared(node) then
        table.insert(shared, 1, node)
      elseif variable.type == "bool" or variable.is_mixed or variable.is_index or assign(rest, variable) then
        return nil
      else
        list[#list + 1] = variable
      end
    end
  end
  return list, shared
end

-- --- moving it ---------------------------------------------------------------------------------

--- An array with an element for each pass of a loop.
local function array_of(variable, loop, from, state)
  local dtype = variable.type == "int" and "long" or state.real
  return ast.node("variable", { id = state.rename(variable), name = variable.name .. " of all passes", role = "array",
    rank = 1, element = dtype, extents = { bounds.plus(loop.to, 1 - from) } })
end

--- The element of a pass.
local function element_of(array, variable, loop, from, state)
  return ast.node("index", { array = array, type = variable.type,
    subscripts = { bounds.plus(bounds.name(loop.variable), state.base - from) } }, loop)
end

--- The two loops in place of one whose first statements tell the rest the locals in a list, and the arrays for these.
local function parts_of(loop, first, rest, variables, state)
  local from, arrays, others = first_pass(loop), {}, {}
  for i, variable in ipairs(variables) do
    arrays[i] = array_of(variable, loop, from, state)
    local element = element_of(arrays[i], variable, loop, from, state)
    first[#first + 1] = ast.node("assign", { target = element,
      value = ast.node("name", { type = variable.type, variable = variable }) }, loop)
    others[variable] = element
  end
  rest = clone.statements(rest, others, state.rename) -- and then the loop, in whose names the elements are
  local behind = clone.statements({ ast.changed(loop, { body = rest }) }, {}, state.rename)[1]
  return ast.changed(loop, { body = first }), behind, arrays
end

--- A loop over strips of passes, with two loops over these in it.
local function in_strips(ahead, behind, state)
  local variable = ahead.variable
  local strip = ast.changed(variable, { id = state.rename(variable), name = variable.name .. " in strips" })
  local last = bounds.plus(bounds.name(strip), STRIP - 1)
  local to = ast.node("call", { name = "min", type = "int", arguments = { last, ahead.to } })
  local function part(loop) return ast.changed(loop, { from = bounds.name(strip), to = to }) end
  strip.loop = ast.changed(ahead, { variable = strip, step = STRIP, body = { part(ahead), part(behind) } })
  return strip.loop
end

--- Puts two loops in the place of one if the first is parallel then; returns whether it is.
local function try(list, at, first, rest, variables, state)
  local loop, tree, before = list[at], state.tree, state.tree.scratch
  local ahead, behind, arrays = parts_of(loop, first, rest, variables, state)
  if state.is_wide then
    list[at] = ahead
    table.insert(list, at + 1, behind)
  else
    list[at] = in_strips(ahead, behind, state)
    ahead = list[at].body[1]
  end
  tree.scratch = walk.union(before or {}, arrays)
  state.scop = state.analyse()
  if ahead.parallel then return true end
  list[at] = loop
  if state.is_wide then table.remove(list, at + 1) end
  tree.scratch = before
  state.scop = state.analyse()
  return false
end

--- Takes the statements of a sequential loop apart before the first of its parallel loops where that is possible.
local function expand(list, at, state)
  local loop = list[at]
  for count = 1, #loop.body - 1 do
    local first = table.move(loop.body, 1, count, 1, {})
    local rest = table.move(loop.body, count + 1, #loop.body, 1, {})
    local variables, shared
    if walk.is_parallel(rest[1]) then variables, shared = told(first, rest) end
    if variables and #variables > 0 then
      local moved = {}
      walk.nodes(rest, function(part) moved[part] = true end)
      rest = table.move(rest, 1, #rest, #shared + 1, shared)
      local may_be = pass_orders.may_go_behind(state.scop, loop, moved)
      if may_be and try(list, at, first, rest, variables, state) then return end
    end
  end
end

--- Changes the nests of a tree, to which arrays of its own are added (`scratch`).
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the dtype of floats that are computed
-- @tparam boolean is_wide whether all passes go before the others, as GPUs need many
function expansion.apply(tree, analyse, scop, real, is_wide)
  local state = { tree = tree, analyse = analyse, scop = scop, real = real, base = tree.base or 1, is_wide = is_wide,
    rename = clone.renaming(tree) }
  local at = 1
  while at <= #tree.body do
    local node = tree.body[at]
    local may_be = node.kind == "for" and not node.parallel and walk.depth(node) > 1
      and not walk.find({ node }, ast.is_uncertain) and clone.can { node } and first_pass(node)
    if may_be then expand(tree.body, at, state) end
    at = at + 1
  end
end

return expansion
