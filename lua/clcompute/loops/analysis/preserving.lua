-- SPDX-License-Identifier: MIT

--- Copies an array before a nest that overwrites what later passes are to read as it was before: these read the copy
-- then, and need not come first. It is done on GPUs where more loops are parallel with the copy.
--
--     for i do for j do for k > i do b[i][j] = b[i][j] + a[k][i] * b[k][j] end end end
--     for i do for j do old[i][j] = b[i][j] end end
--     for i do for j do for k > i do b[i][j] = b[i][j] + a[k][i] * old[k][j] end end end

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local lua_text = require("clcompute.loops.tree").lua_text
local pass_orders = require "clcompute.loops.analysis.pass_orders"
local walk = require("clcompute.loops.tree").walk

local preserving = {}

--- The reads of arrays that a nest writes, other than those of the element that is written, by array; and the arrays.
local function reads_of(node)
  local is_written, lists, arrays = {}, {}, {}
  walk.node(node, function(part)
    if part.kind == "assign" and part.target.array then is_written[part.target.array] = true end
  end)
  walk.node(node, function(part)
    if part.kind ~= "assign" then return end
    local target = lua_text.expression(part.target)
    walk.node(part.value, function(read)
      if read.kind ~= "index" or not is_written[read.array] or lua_text.expression(read) == target then return end
      if not lists[read.array] then lists[read.array], arrays[#arrays + 1] = {}, read.array end
      table.insert(lists[read.array], read)
    end)
  end)
  return lists, arrays
end

--- A loop over a dimension of an array.
local function loop_over(array, d, body, at, state)
  local size = ast.node("length", { array = array, dimension = d, subscripts = {}, type = "int" })
  local variable = state.variables[d]
  variable.loop = ast.node("for", { variable = variable, step = 1, body = body,
    from = ast.node("number", { value = state.base, type = "int" }), to = bounds.plus(size, state.base - 1) }, at)
  return variable.loop
end

--- Loops that copy an array, of elements of a type, to another one.
local function copy_of(array, copy, type, at, state)
  state.variables = {}
  for d = 1, array.rank do
    state.variables[d] = ast.node("variable", { id = state.rename { name = "i" }, name = "i", role = "loop",
      type = "int" })
  end
  local function element(of)
    local subscripts = {}
    for d, variable in ipairs(state.variables) do subscripts[d] = bounds.name(variable) end
    return ast.node("index", { array = of, subscripts = subscripts, type = type }, at)
  end
  local node = ast.node("assign", { target = element(copy), value = element(array) }, at)
  for d = array.rank, 1, -1 do node = loop_over(array, d, { node }, at, state) end
  local around = {}
  for d, variable in ipairs(state.variables) do
    variable.loops = table.move(around, 1, #around, 1, {})
    around[d] = variable.loop
  end
  return node
end

--- Whether reads name elements by the loop's variable that a loop within it goes through as it stores: they kept it
-- from going inside.
local function are_stored_by_others(node, array, reads)
  local function is_inner(part)
    return part.kind == "name" and part.variable.loop and part.variable ~= node.variable
  end
  return walk.find({ node }, function(part)
    local target = part.kind == "assign" and part.target.array == array and part.target
    for _, read in ipairs(target and reads or {}) do
      for d, subscript in ipairs(read.subscripts) do
        local is_named = walk.mentions(subscript, node.variable)
        if is_named and walk.find({ target.subscripts[d] }, is_inner) then return true end
      end
    end
    return false
  end) ~= nil
end

--- Whether a loop adds to the same elements of an array in all passes: then it may go inside of the parallel ones that
-- it is around (`interchange`).
local function is_sum(node, array)
  if #node.body ~= 1 or not walk.is_parallel(node.body[1]) then return false end
  return not walk.find({ node }, function(part)
    return part.kind == "index" and part.array == array and walk.find(part.subscripts, function(inner)
      return inner.kind == "name" and inner.variable == node.variable
    end)
  end)
end

--- Lets reads of an array be those of a copy if more loops are parallel then; returns whether they are.
local function try(list, at, array, reads, state)
  local node, tree = list[at], state.tree
  local copy = ast.node("variable", { id = state.rename { name = array.name }, name = "the old " .. array.name,
    role = "array", rank = array.rank, element = array.element, like = array })
  local before, width = tree.scratch, walk.width(node)
  for _, read in ipairs(reads) do read.array = copy end
  table.insert(list, at, copy_of(array, copy, reads[1].type, node, state))
  tree.scratch = walk.union(before or {}, { copy })
  state.scop = state.analyse()
  local is_moved = is_sum(node, array) and are_stored_by_others(node, array, reads)
  if walk.width(node) > width or is_moved then return true end
  for _, read in ipairs(reads) do read.array = array end
  table.remove(list, at)
  tree.scratch = before
  state.scop = state.analyse()
  return false
end

--- Copies the arrays of a nest that may be copied; returns how many were.
local function preserve(list, at, state)
  local lists, arrays = reads_of(list[at])
  local count, is_own = 0, walk.set(state.tree.scratch or {})
  for _, array in ipairs(arrays) do
    local reads, node = {}, list[at + count]
    local has_sizes = not is_own[array] or array.is_made -- which a loop that copies it asks for
    for _, read in ipairs(has_sizes and lists[array] or {}) do
      if pass_orders.reads_old(state.scop, node, read) then reads[#reads + 1] = read end
    end
    if #reads > 0 and try(list, at + count, array, reads, state) then count = count + 1 end
  end
  return count
end

--- Changes the nests of a tree, to which arrays of its own are added (`scratch`).
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
function preserving.apply(tree, analyse, scop)
  local state = { tree = tree, analyse = analyse, scop = scop, base = tree.base or 1, rename = clone.renaming(tree) }
  local at = 1
  while at <= #tree.body do
    local node = tree.body[at]
    local may_be = node.kind == "for" and walk.depth(node) > 1 and walk.width(node) < 2
      and not walk.find({ node }, ast.is_uncertain)
    at = at + 1 + (may_be and preserve(tree.body, at, state) or 0)
  end
end

return preserving
