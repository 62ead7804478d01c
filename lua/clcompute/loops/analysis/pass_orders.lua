-- SPDX-License-Identifier: MIT

--- Whether passes of loops may come in another order. isl proves that no pass comes before one that it needs, or whose
-- reads it overwrites.

local isl_text = require "clcompute.loops.analysis.isl_text"
local lua_text = require("clcompute.loops.tree").lua_text
local scops = require "clcompute.loops.analysis.scop"

local pass_orders = {}

local FARTHEST = 2 -- passes that a row is behind the one before
local BUDGET = 1000000 -- of operations of isl for a question

-- --- accesses ------------------------------------------------------------------------------

--- The accesses in a loop, one for all that touch the same elements in the same passes: if one of them writes, it does.
local function accesses_in(scop, loop)
  local list, known = {}, {}
  for _, access in ipairs(scops.accesses_in(scop, loop)) do
    local statement = access.statement
    local key = isl_text.access(scop, access, #statement.loops):gsub("%f[%w_]" .. statement.name .. "%f[^%w_]", "")
    if not known[key] then
      known[key] = { access = access, variable = access.variable }
      list[#list + 1] = known[key]
    end
    known[key].write = known[key].write or access.write
  end
  return list
end

--- An access in an earlier pass of a loop: its variable and those of the loops in it get other names.
local function earlier(scop, access, outer)
  local loops, ids = access.statement.loops, {}
  for _, loop in ipairs(loops) do
    if #ids > 0 or loop.variable == outer.variable then ids[#ids + 1] = loop.variable.id end
  end
  return isl_text.renamed(isl_text.access(scop, access, #loops), ids, "_before")
end

--- How many passes a loop is further on than in the earlier pass, in isl's words; `id` and `before` are what its
-- variable is in both.
local function ahead(loop, id, before)
  if loop.step > 0 then return ("(%s - %s_before)"):format(id, before) end
  return ("(%s_before - %s)"):format(before, id)
end

--- Which of the loops around an access has that variable: passes make copies of loops. nil: none has.
local function depth_of(access, loop)
  for depth, around in ipairs(access.statement.loops) do
    if around.variable == loop.variable then return depth end
  end
end

--- What stands for the variable of the inner loop in an access: beside that loop the outer one's.
local function column_of(access, outer, inner)
  return (depth_of(access, inner) and inner or outer).variable.id
end

--- Whether each row may be so many passes behind the one before it.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer a `for` node in steps of 1 or -1, whose passes are the rows
-- @tparam table inner one in it, too; what is in the outer one alone counts as its pass on the diagonal
-- @tparam integer behind
-- @tparam ?integer rows that overlap; nil: any number
function pass_orders.may_overlap(scop, outer, inner, behind, rows)
  local row, column = outer.variable.id, inner.variable.id
  local distance, list, accesses = ahead(outer, row, row), {}, accesses_in(scop, outer)
  local is_later = rows and ("1 <= %s < %d"):format(distance, rows) or ("1 <= %s"):format(distance)
  for _, from in ipairs(accesses) do
    for _, to in ipairs(accesses) do
      if from.variable == to.variable and (from.write or to.write) then
        local passes = ahead(inner, column_of(to.access, outer, inner), column_of(from.access, outer, inner))
        list[#list + 1] = { one = earlier(scop, from.access, outer), other = isl_text.access(scop, to.access,
          #to.access.statement.loops, { is_later, ("%s + %d * %s < 0"):format(passes, behind, distance) },
          { row .. "_before", column .. "_before" }) }
      end
    end
  end
  return #list > 0 and require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false
end

--- The least number of passes that each row may be behind the one before it, or nil.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer as for `may_overlap`
-- @tparam table inner as for `may_overlap`
-- @tparam integer least
-- @tparam ?integer rows
function pass_orders.distance(scop, outer, inner, least, rows)
  for behind = least, FARTHEST do
    if pass_orders.may_overlap(scop, outer, inner, behind, rows) then return behind end
  end
end

--- Which stage of a row an access is in: 1, 3, ... are the loops that rows go through together, 0, 2, ... what stands
-- between these. Also that loop.
local function stage_of(access, outer, loops)
  local stage, place = 0, access.statement.places[depth_of(access, outer) + 1]
  for _, loop in ipairs(loops) do
    if depth_of(access, loop.node) then return stage + 1, loop.node end
    if loop.place < place then stage = stage + 2 end
  end
  return stage
end

--- Whether rows may go side by side: through some of the loops in them together, and through what is between those one
-- after the other.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer a `for` node whose passes are the rows
-- @tparam {table,...} inner loops in it, in their order
-- @tparam integer rows
function pass_orders.may_go_together(scop, outer, inner, rows)
  local accesses, loops, list = scops.accesses_in(scop, outer), {}, {}
  for i, node in ipairs(inner) do
    for _, access in ipairs(accesses) do
      local depth = depth_of(access, node)
      if depth then loops[i] = { node = node, place = access.statement.places[depth] } end
    end
    if not loops[i] then return false end
  end
  local row = outer.variable.id
  for _, from in ipairs(accesses) do
    local earlier_stage = stage_of(from, outer, loops)
    for _, to in ipairs(accesses) do
      local stage, loop = stage_of(to, outer, loops)
      local formulas, names = { ("1 <= %s < %d"):format(ahead(outer, row, row), rows) }, { row .. "_before" }
      if loop and stage == earlier_stage then
        local column = loop.variable.id
        formulas[2], names[2] = ahead(loop, column, column) .. " < 0", column .. "_before"
      end
      if from.variable == to.variable and (from.write or to.write) and (earlier_stage > stage or #formulas > 1) then
        list[#list + 1] = { one = earlier(scop, from, outer),
          other = isl_text.access(scop, to, #to.statement.loops, formulas, names) }
      end
    end
  end
  return #list == 0 or require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false
end

--- Whether an element that all passes of a loop store is touched there by nothing else: what is read or stored under
-- other subscripts is never it, with all loops around that in one pass.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table loop
-- @tparam table target an index that speaks of nothing in the loop
-- @tparam ?boolean in_pass whether it may speak of the loop: then nothing else touches it in the same pass
function pass_orders.is_alone(scop, loop, target, in_pass)
  local text, own, list = lua_text.expression(target), nil, {}
  for _, access in ipairs(scops.accesses_in(scop, loop)) do
    local outer = depth_of(access, loop) - (in_pass and 0 or 1)
    if access.variable == target.array and lua_text.expression(access.node) == text then
      own = own or isl_text.access(scop, access, outer)
    elseif access.variable == target.array then
      list[#list + 1] = { other = isl_text.access(scop, access, outer) }
    end
  end
  for _, pair in ipairs(list) do pair.one = own end
  return own ~= nil and (#list == 0 or require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false)
end

--- The conditions of a pass in loops that it shares with another one to come behind that, by the loop in which they
-- differ first; the last one, in which they do not differ, where the pass is behind in the text.
local function later_passes(from, to, outer)
  local list, equal, one, other = {}, {}, from.statement, to.statement
  local depth = depth_of(from, outer)
  while one.loops[depth] and one.loops[depth] == other.loops[depth] do
    local loop = one.loops[depth]
    local id = loop.variable.id
    local formulas = table.move(equal, 1, #equal, 1, {})
    formulas[#formulas + 1] = ("1 <= %s"):format(ahead(loop, id, id))
    list[#list + 1] = formulas
    equal[#equal + 1] = ("%s = %s_before"):format(id, id)
    depth = depth + 1
  end
  if one.places[depth] < other.places[depth] then list[#list + 1] = equal end
  return list
end

--- Whether none of some accesses touches in a later pass what others have touched before, one of both writing.
local function are_apart(scop, outer, before, behind)
  local list = {}
  for _, from in ipairs(before) do
    local one, names = earlier(scop, from, outer), {}
    for depth = depth_of(from, outer), #from.statement.loops do
      names[#names + 1] = from.statement.loops[depth].variable.id .. "_before"
    end
    for _, to in ipairs(behind) do
      for _, formulas in ipairs(from.variable == to.variable and (from.write or to.write)
        and later_passes(from, to, outer) or {}) do
        list[#list + 1] = { one = one, other = isl_text.access(scop, to, #to.statement.loops, formulas, names) }
      end
    end
  end
  return #list == 0 or require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false
end

--- Whether all passes of some statements may come behind all others of the loops around them.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer the outermost of these loops
-- @tparam table nodes the statements as keys
function pass_orders.may_go_behind(scop, outer, nodes)
  local moved, others = {}, {}
  for _, access in ipairs(scops.accesses_in(scop, outer)) do
    table.insert(nodes[access.statement.node] and moved or others, access)
  end
  return #moved > 0 and are_apart(scop, outer, moved, others)
end

--- The one of some loops that is around an access, or nil.
local function loop_around(access, is_one)
  for _, loop in ipairs(access.statement.loops) do
    if is_one[loop] then return loop end
  end
end

--- Whether passes of some loops may come as early as the pass of a loop around them that they are the number of: behind
-- what that does beside such loops, for all later passes of it. Passes of other loops in it are parallel.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer in steps of 1
-- @tparam table sums the loops in it as keys, each up to the pass before that of `outer`
function pass_orders.may_look_right(scop, outer, sums)
  local accesses, id, list = scops.accesses_in(scop, outer), outer.variable.id, {}
  local function place_of(access) return access.statement.places[depth_of(access, outer) + 1] end
  for _, from in ipairs(accesses) do
    local sum = loop_around(from, sums)
    local time, names = (sum and sum.variable.id or id) .. "_before", { id .. "_before" }
    names[2] = sum and time or nil
    local one = earlier(scop, from, outer)
    for _, to in ipairs(accesses) do
      local later = from.variable == to.variable and (from.write or to.write) and loop_around(to, sums)
      if later then
        local order = place_of(from) < place_of(to) and "<=" or "<"
        list[#list + 1] = { one = one, other = isl_text.access(scop, to, #to.statement.loops,
          { ("%s_before %s %s"):format(id, order, id), ("%s > %s"):format(time, later.variable.id) }, names) }
      end
    end
  end
  return #list == 0 or require "clcompute.poly".overlap { pairs = list, budget = BUDGET } == false
end

--- Whether an element that is read in a nest is never one that the nest has stored before.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer the outermost loop of the nest
-- @tparam table node the index that reads
function pass_orders.reads_old(scop, outer, node)
  local reads, writes = {}, {}
  for _, access in ipairs(scops.accesses_in(scop, outer)) do
    if access.variable == node.array and access.write then writes[#writes + 1] = access end
    if access.node == node and not access.write then reads[#reads + 1] = access end
  end
  return #reads > 0 and are_apart(scop, outer, writes, reads)
end

return pass_orders
