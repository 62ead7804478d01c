-- SPDX-License-Identifier: MIT

--- Results that may be the integer which a local begins with, `local s = 0; for ... s = s + x[i] end; return s`: for
-- which calls the local is given a float before, whatever the data are. And for which calls floats hold the sums of
-- integers that locals may have before.

local bounds = require("clcompute.loops.tree").loop_bounds
local isl_text = require "clcompute.loops.analysis.isl_text"
local trip_counts = require "clcompute.loops.analysis.trip_counts"
local walk = require("clcompute.loops.tree").walk

local beginnings = {}

local BUDGET = 300000 -- of isl's operations: sums stand in few loops

--- The assignment of a result that is a local, if all that the local is assigned are floats; else nil.
local function returned(tree, result)
  local count, found = 0, nil
  walk.nodes(tree.body, function(node)
    if node.kind == "assign" and node.target.array == result then count, found = count + 1, node end
  end)
  local variable = count == 1 and found.value.kind == "name" and found.value.variable
  local is_other = walk.find(tree.body, function(node)
    return node.kind == "assign" and node.target.variable == variable and not node.is_float
  end)
  return variable and not is_other and found or nil
end

--- The condition under which no float comes before an assignment, as `clcompute.poly` has it.
local function unassigned(scop, node)
  local rows, texts = {}, {}
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do
      local is_read = statement.node == node and not access.write
      if access.variable == node.value.variable and (is_read or access.must and statement.node.is_float) then
        rows[#rows + 1] = { map = access.map, write = access.write, schedule = statement.schedule }
        texts[#texts + 1] = access.map
      end
    end
  end
  return require "clcompute.poly".uncovered { accesses = rows, budget = BUDGET,
    context = isl_text.context(scop, table.concat(texts, " ")) }
end

--- Finds for which calls results are integers. Those of which that is known are in doubt no more.
-- @tparam table tree of `clcompute.loops.front.types`
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn {table,...} `{ variable=, condition= }`: under which condition, an expression of Lua over a call's numbers,
-- a local is returned as it began
function beginnings.find(tree, scop)
  local list = {}
  for _, result in ipairs(tree.results) do
    local node = result.doubt and returned(tree, result)
    local condition = node and unassigned(scop, node)
    if condition == false or type(condition) == "string" and condition ~= "true" then
      result.doubt, node.value.is_ambiguous = nil, nil
      if condition then list[#list + 1] = { variable = node.value.variable, condition = condition } end
    end
  end
  return list
end

-- --- sums --------------------------------------------------------------------------------------

--- Whether a loop's passes leave floats in locals to the next ones.
local function is_carrying(loop)
  for _, variable in ipairs(walk.uses(loop.body).assigned) do
    if variable.type == "float" then return true end
  end
  return false
end

--- How often a node in loops is computed at most from a number that an earlier pass may have left, as an expression of
-- Lua; nil where data tell.
local function passes(loops)
  local band, first = {}, 1
  for _, loop in ipairs(loops) do
    local is_sum = not loop.is_open and bounds.are_sums(loop)
    if is_sum then band[#band + 1] = loop end
    if not is_carrying(loop) then
      if not is_sum then band = {} end
      first = #band + 1
    elseif not is_sum then
      return nil
    end
  end
  local counts = trip_counts.counts(band)
  return counts and ("(%s)"):format(table.concat({ "1", table.unpack(counts, first) }, ") * ("))
end

--- Whether an expression has no names but those of a call's numbers.
local function is_of_call(text, scop)
  for name in text:gmatch "%f[%w_][%a_][%w_]*" do
    if name ~= "max" and name ~= "min" and not scop.parameters[name] then return false end
  end
  return true
end

--- Calls `visit` with all nodes, and the loops around each.
local function visit_all(nodes, loops, visit)
  walk.nodes(nodes, function(node)
    visit(node, loops)
    if node.kind ~= "for" then return end
    local inner = table.move(loops, 1, #loops, 1, {})
    inner[#inner + 1] = node
    visit_all(node.body, inner, visit)
    return false
  end)
end

--- Finds for which calls floats may not hold a sum of integers that passes add up. Such sums are ambiguous no more.
-- @tparam table tree of `clcompute.loops.front.types`
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam integer most what may be added in all
-- @treturn ?string the condition, an expression of Lua over a call's numbers; nil where there are no such sums, or data
-- tell how many passes there are
-- @treturn ?table the node of one
function beginnings.sums(tree, scop, most)
  local nodes, terms, is_known = {}, {}, true
  visit_all(tree.body, {}, function(node, loops)
    if not node.addend then return end
    local count = passes(loops)
    is_known = is_known and count ~= nil and is_of_call(count, scop)
    nodes[#nodes + 1], terms[#terms + 1] = node, ("%d * %s"):format(node.addend, count)
  end)
  if #nodes == 0 or not is_known then return nil end
  for _, node in ipairs(nodes) do node.is_ambiguous = nil end
  return ("%s > %d"):format(table.concat(terms, " + "), most), nodes[1]
end

return beginnings
