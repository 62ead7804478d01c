-- SPDX-License-Identifier: MIT

--- Nests of two sequential loops whose rows may overlap: a row begins before the one before it has ended, but stays
-- some passes behind it (Cytron 1986, doacross). isl proves that no pass of a row needs, or overwrites what is read by,
-- a later one of a row before it than those that are over by then.

local isl_text = require "clcompute.loops.analysis.isl_text"
local scops = require "clcompute.loops.analysis.scop"
local trip_counts = require "clcompute.loops.analysis.trip_counts"
local walk = require("clcompute.loops.tree").walk

local pipelines = {}

local FARTHEST = 2 -- passes that a row is behind the one before
local BUDGET = 1000000 -- of operations of isl for a distance

-- --- whether it is right ----------------------------------------------------------------------

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

--- How many passes a loop is further on than in the earlier pass, in isl's words.
local function ahead(loop)
  local id = loop.variable.id
  if loop.step > 0 then return ("(%s - %s_before)"):format(id, id) end
  return ("(%s_before - %s)"):format(id, id)
end

--- Whether each row may be so many passes behind the one before it.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table outer a `for` node in steps of 1 or -1, whose passes are the rows
-- @tparam table inner the only one in it, too
-- @tparam integer behind
-- @tparam ?integer rows that overlap; nil: any number
function pipelines.may_overlap(scop, outer, inner, behind, rows)
  local distance = ahead(outer)
  local order = { rows and ("1 <= %s < %d"):format(distance, rows) or ("1 <= %s"):format(distance),
    ("%s + %d * %s < 0"):format(ahead(inner), behind, distance) }
  local names = { outer.variable.id .. "_before", inner.variable.id .. "_before" }
  local list, accesses = {}, accesses_in(scop, inner)
  for _, from in ipairs(accesses) do
    for _, to in ipairs(accesses) do
      if from.variable == to.variable and (from.write or to.write) then
        list[#list + 1] = { one = earlier(scop, from.access, outer),
          other = isl_text.access(scop, to.access, #to.access.statement.loops, order, names) }
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
function pipelines.distance(scop, outer, inner, least, rows)
  for behind = least, FARTHEST do
    if pipelines.may_overlap(scop, outer, inner, behind, rows) then return behind end
  end
end

-- --- whether there is something to gain -------------------------------------------------------

local function is_sequential(node)
  return node.kind == "for" and not node.parallel and not node.reductions and not node.irregular
    and math.abs(node.step) == 1
end

--- Whether loops in statements are shared out otherwise, or data decide how far they go.
local function has_others(nodes)
  return walk.find(nodes, function(part)
    return part.kind == "for" and (part.parallel or part.reductions or part.irregular) or part.kind == "break"
  end) ~= nil
end

--- Adds `behind` to the outer ones of such loops: the rows may overlap, each so many passes behind the one before.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel` and `reductions`
function pipelines.mark(scop)
  walk.nodes(scop.tree.body, function(node)
    local inner = node.kind == "for" and #node.body == 1 and node.body[1]
    if not inner or not is_sequential(node) or not is_sequential(inner) or has_others(inner.body)
      or not trip_counts.frames { node, inner } then return end
    node.behind = pipelines.distance(scop, node, inner, 0)
    return node.behind == nil
  end)
end

return pipelines
