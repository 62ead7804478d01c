-- SPDX-License-Identifier: MIT

--- Gives each pass of loops an array of its own in place of one that passes fill anew before they read it, so that they
-- need not wait for each other; what the last pass has left goes to the array behind them. It is done on GPUs where
-- loops are parallel then.
--
--     for r do for q do
--       for p do sum[p] = 0; for s do sum[p] = sum[p] + a[r][q][s] * c[s][p] end end
--       for p do a[r][q][p] = sum[p] end
--     end end
--     for r do for q do
--       for p do own[r][q][p] = 0; for s do own[r][q][p] = own[r][q][p] + a[r][q][s] * c[s][p] end end
--       for p do a[r][q][p] = own[r][q][p] end
--     end end
--     for p do sum[p] = own[the last r][the last q][p] end

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local isl_text = require "clcompute.loops.analysis.isl_text"
local lua_text = require("clcompute.loops.tree").lua_text
local scops = require "clcompute.loops.analysis.scop"
local walk = require("clcompute.loops.tree").walk

local privatising = {}

local BUDGET = 300000 -- of operations of isl for a question

-- --- which arrays ------------------------------------------------------------------------------

--- Whether it is known before a nest which passes a loop of it has, in steps of one.
local function is_known(loop)
  local function is_unknown(part)
    local variable = part.kind == "name" and part.variable
    return part.kind == "index" or variable and (variable.role == "local" or variable.loop) or false
  end
  return loop.step == 1 and not loop.irregular and bounds.are_sums(loop)
    and not walk.find({ loop.from, loop.to }, is_unknown)
end

--- The known loops of a nest that have nothing but each other in them, outermost first.
local function known_loops(node)
  local loops = {}
  while node and node.kind == "for" and is_known(node) do
    loops[#loops + 1] = node
    node = #node.body == 1 and node.body[1]
  end
  return loops
end

--- The elements of arrays in a nest, by array; and the arrays that it writes.
local function elements_of(node)
  local lists, written, is_written, is_seen = {}, {}, {}, {}
  walk.node(node, function(part)
    if part.kind == "index" and not is_seen[part] then
      is_seen[part] = true
      lists[part.array] = lists[part.array] or {}
      table.insert(lists[part.array], part)
    end
    local array = part.kind == "assign" and part.target.array
    if array and not is_written[array] then
      is_written[array] = true
      written[#written + 1] = array
    end
  end)
  return lists, written
end

local MOST_DIMENSIONS = 4 -- of a buffer

--- The outermost of some loops whose variables no subscript of these elements of an array speaks of.
local function passes_of(loops, array, elements)
  local passes = {}
  for depth, loop in ipairs(loops) do
    for _, element in ipairs(elements) do
      for _, subscript in ipairs(element.subscripts) do
        if walk.mentions(subscript, loop.variable) then return passes end
      end
    end
    if depth + array.rank > MOST_DIMENSIONS then return {} end
    passes[#passes + 1] = loop
  end
  return passes
end

--- Whether each pass of loops writes what it reads of an array before it reads that.
local function is_filled(scop, array, passes)
  local rows, texts = {}, {}
  for _, access in ipairs(scops.accesses_in(scop, passes[1])) do
    if access.variable == array and (access.must or not access.write) then
      local map = isl_text.access(scop, access, #passes)
      texts[#texts + 1] = map
      rows[#rows + 1] = { map = map, write = access.write,
        schedule = isl_text.schedule(scop, access.statement, #passes) }
    end
  end
  return #rows > 0 and require "clcompute.poly".uncovered { accesses = rows, budget = BUDGET,
    context = isl_text.context(scop, table.concat(texts, " "), passes) } == false
end

-- --- what passes leave -------------------------------------------------------------------------

--- The loops within a pass that a write's subscripts speak of; nil where these speak of others as well, or the loops do
-- not have the same passes in all of them.
local function loops_around(access, passes)
  local inner, is_inner = {}, {}
  for depth = #passes + 1, #access.statement.loops do
    local loop = access.statement.loops[depth]
    for _, subscript in ipairs(access.node.subscripts) do
      if not is_inner[loop] and walk.mentions(subscript, loop.variable) then
        if not is_known(loop) then return nil end
        is_inner[loop], inner[#inner + 1] = true, loop
      end
    end
  end
  return not walk.mentions_local(access.node.subscripts) and inner or nil
end

--- What tells writes apart that may write other elements.
local function key_of(write)
  local text = lua_text.expression(write.node)
  for _, loop in ipairs(write.loops) do text = text .. " " .. loop.variable.id end
  return text
end

--- The writes of an array in a nest, one of those that write the same: `{ node=, loops= }`; nil where data or other
-- conditions decide what a pass writes, as further loops do, which may have no pass.
local function writes_of(scop, array, passes)
  local list, is_plain, others = {}, {}, {}
  for _, access in ipairs(scops.accesses_in(scop, passes[1])) do
    if access.variable == array and access.write then
      local statement = access.statement
      local is_always = access.must and #statement.constraints == #statement.loops
      local write = { node = access.node, loops = is_always and loops_around(access, passes) }
      if not write.loops then return nil end
      local key = key_of(write)
      if #statement.loops > #passes + #write.loops then
        others[#others + 1] = key
      elseif not is_plain[key] then
        is_plain[key], list[#list + 1] = true, write
      end
    end
  end
  for _, key in ipairs(others) do
    if not is_plain[key] then return nil end
  end
  return list
end

--- The array of a nest's passes, one of each.
local function array_of(array, passes, state)
  local extents = {}
  for d, loop in ipairs(passes) do
    extents[d] = ast.node("binary", { op = "+", type = "int", right = ast.node("number", { type = "int", value = 1 }),
      left = ast.node("binary", { op = "-", type = "int", left = loop.to, right = loop.from }) })
  end
  for d = 1, array.rank do
    extents[#passes + d] = ast.node("length", { array = array, dimension = d, subscripts = {}, type = "int" })
  end
  return ast.node("variable", { id = state.rename(array), name = array.name .. " of each pass", role = "array",
    rank = #extents, element = array.element, extents = extents })
end

--- The subscripts of a pass's own element.
local function own_subscripts(element, passes, state)
  local subscripts = {}
  for d, loop in ipairs(passes) do
    local place = ast.node("binary", { op = "-", type = "int", left = bounds.name(loop.variable), right = loop.from })
    subscripts[d] = bounds.plus(place, state.base)
  end
  return table.move(element.subscripts, 1, #element.subscripts, #subscripts + 1, subscripts)
end

--- Loops that store in an array what the last pass has left, if there was one.
local function leaving(write, own, passes, state)
  local element = write.node
  local function index(array, subscripts)
    return ast.node("index", { array = array, subscripts = subscripts, type = element.type }, element)
  end
  local node = ast.node("assign", { target = index(element.array, element.subscripts),
    value = index(own, own_subscripts(element, passes, state)) }, element)
  for i = #write.loops, 1, -1 do node = ast.changed(write.loops[i], { body = { node } }) end
  for d = #passes, 1, -1 do
    local loop = passes[d]
    local last = ast.node("call", { name = "max", type = "int", arguments = { loop.to, loop.from } })
    node = ast.changed(loop, { from = last, body = { node } })
  end
  return clone.statements({ node }, {}, state.rename)[1]
end

-- --- the nests ---------------------------------------------------------------------------------

--- Gives passes an array of their own if that makes them parallel; returns how many loops it adds behind them, or nil.
local function try(list, at, array, elements, passes, writes, state)
  local tree, node, before, kept = state.tree, list[at], state.tree.scratch, {}
  local own = array_of(array, passes, state)
  for i, write in ipairs(writes) do table.insert(list, at + i, leaving(write, own, passes, state)) end
  for i, element in ipairs(elements) do
    kept[i] = element.subscripts
    element.array, element.subscripts = own, own_subscripts(element, passes, state)
  end
  tree.scratch = walk.union(before or {}, { own })
  state.scop = state.analyse()
  if node.parallel then return #writes end
  for i, element in ipairs(elements) do element.array, element.subscripts = array, kept[i] end
  for _ = 1, #writes do table.remove(list, at + 1) end
  tree.scratch = before
  state.scop = state.analyse()
end

--- Looks at the arrays of a nest; returns how many loops are behind it then.
local function privatise(list, at, state)
  local node = list[at]
  local lists, written = elements_of(node)
  for _, array in ipairs(written) do
    local passes = passes_of(known_loops(node), array, lists[array])
    local writes = #passes > 0 and not ast.is_scratch(array) and is_filled(state.scop, array, passes)
      and writes_of(state.scop, array, passes)
    local added = writes and try(list, at, array, lists[array], passes, writes, state)
    if added then return added end
  end
  return 0
end

--- Changes the nests of a tree, to which arrays of its own are added (`scratch`).
-- @tparam table tree whose loops have `parallel`
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then; returns the scop
-- @tparam table scop of `clcompute.loops.analysis.scop`
function privatising.apply(tree, analyse, scop)
  local state = { tree = tree, analyse = analyse, scop = scop, base = tree.base or 1, rename = clone.renaming(tree) }
  local at = 1
  while at <= #tree.body do
    local node = tree.body[at]
    local may_be = node.kind == "for" and not node.parallel and walk.depth(node) > 1 and clone.can { node }
      and not walk.find({ node }, ast.is_uncertain)
    at = at + 1 + (may_be and privatise(tree.body, at, state) or 0)
  end
end

return privatising
