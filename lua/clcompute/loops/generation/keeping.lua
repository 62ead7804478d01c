-- SPDX-License-Identifier: MIT

--- What passes of a sequential loop read as one of the last passes stored it: locals have it, as compilers do not know
-- that nothing else has been stored there.
--
--     for j = 2, n do a[i][j] = (a[i][j - 1] + b[j]) / 2 end
--     kept = a[i][1]; for j = 2, n do a[i][j] = (kept + b[j]) / 2; kept = a[i][j] end
--     for k = 1, n do c[i][j] = c[i][j] + a[i][k] * b[k][j] end
--     kept = c[i][j]; for k = 1, n do c[i][j] = kept + a[i][k] * b[k][j]; kept = c[i][j] end
--     for j = 3, n do f[j] = f[j - 1] + f[j - 2] end
--     one = f[2]; two = f[1]; for j = 3, n do f[j] = one + two; new = f[j]; two = one; one = new end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local choices = require "clcompute.loops.generation.choices"
local faults = require "clcompute.loops.generation.faults"
local lua_text = require("clcompute.loops.tree").lua_text
local pass_orders = require("clcompute.loops.analysis").pass_orders
local walk = require("clcompute.loops.tree").walk

local keeping = {}

local changed = ast.changed

local MOST_PASSES = 3 -- that a value is kept for

-- --- what is stored ---------------------------------------------------------------------------

--- What is another one in each pass, or in a part of it, as keys.
local function own_of(loop)
  local own = {}
  walk.nodes(loop.body, function(part)
    if part.kind == "local" or part.kind == "for" then own[part.variable] = true end
  end)
  return own
end

local function has_own(node, own)
  return walk.find(node.subscripts, function(part) return part.kind == "name" and own[part.variable] ~= nil end) ~= nil
end

--- How an element that a loop stores moves with each pass, by dimension; nil where that is not known.
local function paces_of(target, loop, own)
  if target.checked or has_own(target, own) then return nil end
  local paces = {}
  for d, subscript in ipairs(target.subscripts) do
    local multiple = affine.multiple(subscript, loop.variable)
    if not multiple then return nil end
    paces[d] = multiple * loop.step
    paces.is_moving = paces.is_moving or multiple ~= 0
  end
  return paces
end

--- Whether no pass stores an element of one target that another pass stores by the other one.
local function are_apart(one, other)
  for d, subscript in ipairs(one.target.subscripts) do
    local distance = affine.distance(other.target.subscripts[d], subscript)
    if one.paces[d] == 0 and other.paces[d] == 0 and distance and distance ~= 0 then return true end
  end
  return false
end

--- The assignments of a loop's body to elements that no other one of its assignments stores; `is_strict`: those to
-- arrays in which no other one stores.
local function stores_of(loop, own, is_strict)
  local all, list = {}, {}
  walk.nodes(loop.body, function(part)
    if part.kind ~= "assign" or not part.target.array then return end
    all[#all + 1] = { node = part, target = part.target, paces = paces_of(part.target, loop, own) }
  end)
  local function is_alone(store)
    if not store.paces then return false end
    for _, other in ipairs(all) do
      if other ~= store and other.target.array == store.target.array
        and (is_strict or not (other.paces and are_apart(store, other))) then return false end
    end
    return true
  end
  local place_of = {}
  for i, node in ipairs(loop.body) do place_of[node] = i end
  for _, store in ipairs(all) do
    store.place = place_of[store.node]
    if store.place and is_alone(store) then list[#list + 1] = store end
  end
  return list
end

-- --- what is read -----------------------------------------------------------------------------

--- So many passes ago an element was stored; nil where it was not, or longer ago.
local function passes_since(node, store)
  if node.kind ~= "index" or node.array ~= store.target.array then return nil end
  local function is_from(passes)
    for d, subscript in ipairs(store.target.subscripts) do
      if affine.distance(node.subscripts[d], subscript) ~= -store.paces[d] * passes then return false end
    end
    return true
  end
  for passes = 1, store.paces.is_moving and MOST_PASSES or 1 do
    if is_from(passes) then return passes end
  end
end

local function is_plain(node) return node.kind == "assign" or node.kind == "local" end

--- Goes through the reads of what a store stored, which no condition keeps from being read: `replace` gets the element
-- and how many passes ago that was, and returns what stands for it, or nil. What stays where it is and is read behind
-- the store in the same pass is another value.
local function each_read(body, store, own, replace)
  local list = {}
  for i, node in ipairs(body) do
    list[i] = node
    if is_plain(node) and (i <= store.place or store.paces.is_moving) then
      local value = choices.replaced(node.value, function(part)
        local passes = passes_since(part, store)
        return passes and not has_own(part, own) and replace(part, passes) or nil
      end)
      if value ~= node.value then list[i] = changed(node, { value = value }) end
    end
  end
  return list
end

--- An element of each number of passes ago, from 1 on without a gap, as it is read.
local function reads_of(body, store, own)
  local reads = {}
  each_read(body, store, own, function(node, passes) reads[passes] = reads[passes] or node end)
  return reads
end

-- --- the locals -------------------------------------------------------------------------------

--- The statements that follow a store: its value is the latest one at the end of the pass.
local function add_shift(body, store, names)
  local first = names[1]
  local new = ast.made_up(first.variable.id .. "_new", first.type)
  table.insert(body, store.place + 1, ast.node("local", { variable = new.variable, value = store.target }))
  for passes = #names, 2, -1 do
    body[#body + 1] = ast.node("assign", { target = names[passes], value = names[passes - 1] })
  end
  body[#body + 1] = ast.node("assign", { target = first, value = new })
end

--- The body of a loop with locals in place of such elements, and the statements that declare these.
-- @tparam table loop a `for` node
-- @tparam ?boolean is_strict whether sequential loops around have copies of the body go side by side: what the locals
-- are at first is read before the other copies have had their first pass. Of a loop of two passes or more isl has
-- proved that none of these stores there
-- @treturn {table,...} the body
-- @treturn {table,...} before the loop, if it has a pass
function keeping.of(loop, is_strict)
  if is_strict and affine.distance(loop.to, loop.from) == 0 then return loop.body, {} end
  local own = own_of(loop)
  local body, locals, stores = loop.body, {}, stores_of(loop, own, is_strict)
  for i = #stores, 1, -1 do -- what is added stands behind the places of those that are left
    local store, names = stores[i], {}
    for passes, read in ipairs(reads_of(body, store, own)) do
      names[passes] = ast.made_up(("%s_kept%d"):format(loop.variable.id, #locals + 1), store.target.type)
      locals[#locals + 1] = ast.node("local", { variable = names[passes].variable,
        value = walk.replaced(read, function(part)
          return part.kind == "name" and part.variable == loop.variable and loop.from or nil
        end) })
    end
    if #names > 0 then
      body = each_read(body, store, own, function(_, passes) return names[passes] end)
      add_shift(body, store, names)
    end
  end
  return body, locals
end

--- A loop behind such statements and before others, where it has a pass.
function keeping.behind(locals, loop, behind)
  if #locals == 0 then return loop end
  local body = table.move(locals, 1, #locals, 1, {})
  body[#body + 1] = loop
  for _, node in ipairs(behind or {}) do body[#body + 1] = node end
  return ast.node("if", { arms = { ast.node("arm", { body = body,
    condition = bounds.is_reached(loop.from, loop.to, loop.step) }) } })
end

local function may_keep(loop)
  return loop.kind == "for" and not loop.parallel and not loop.irregular and walk.depth(loop) == 1
    and not faults.are_in { loop } and not walk.breaks_out(loop.body)
end

--- An innermost loop with such locals, or the loop.
function keeping.apply(loop)
  if not may_keep(loop) then return loop end
  local body, locals = keeping.of(loop)
  return #locals == 0 and loop or keeping.behind(locals, ast.changed(loop, { body = body }))
end

-- --- in registers alone -----------------------------------------------------------------------

--- Statements in which a variable stands for an element.
local function with_variable(nodes, target, name)
  local text = lua_text.expression(target)
  local function is_it(part)
    return part.kind == "index" and part.array == target.array and lua_text.expression(part) == text and name or nil
  end
  local list = {}
  for i, node in ipairs(nodes) do
    list[i] = changed(node, { value = walk.replaced(node.value, is_it),
      target = node.kind == "assign" and walk.replaced(node.target, is_it) or nil })
  end
  return list
end

--- The element that all passes of a loop of plain statements store, where nothing else in it touches that and a
-- variable holds just what the element does; nil where there is none.
local function single_of(loop, scop, real)
  for _, node in ipairs(loop.body) do
    if not is_plain(node) then return nil end
  end
  for _, store in ipairs(stores_of(loop, own_of(loop), true)) do
    local target = store.target
    local is_exact = target.type == "float" and target.array.element == real
      or target.type == "int" and target.array.element == "long"
    if is_exact and not store.paces.is_moving and pass_orders.is_alone(scop, loop, target) then return target end
  end
end

--- A loop that has an element in a register and stores it behind its last pass; nil where it has none.
local function with_register(loop, scop, real)
  local target = may_keep(loop) and single_of(loop, scop, real)
  if not target then return nil end
  local name = ast.made_up(loop.variable.id .. "_sum", target.type)
  return keeping.behind({ ast.node("local", { variable = name.variable, value = target }) },
    changed(loop, { body = with_variable(loop.body, target, name) }),
    { ast.node("assign", { target = target, value = name }) })
end

--- Statements whose innermost loops have such an element in a register where there is one.
-- @tparam {table,...} nodes
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @string real the dtype of floats that are computed
-- @treturn {table,...}
function keeping.in_registers(nodes, scop, real)
  return walk.replaced_statements(nodes, function(node) return with_register(node, scop, real) end)
end

--- An innermost loop with what its passes store in locals: one element in a register, or the last ones; else the loop.
function keeping.with_locals(loop, scop, real)
  return with_register(loop, scop, real) or keeping.apply(loop)
end

--- Statements whose innermost loops are like this.
function keeping.all_with_locals(nodes, scop, real)
  return walk.replaced_statements(nodes, function(node)
    local kept = keeping.with_locals(node, scop, real)
    return kept ~= node and kept or nil
  end)
end

return keeping
