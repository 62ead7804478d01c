-- SPDX-License-Identifier: MIT

--- Results that may be the integer which a local begins with, `local s = 0; for ... s = s + x[i] end; return s`: for
-- which calls the local is given a float before, whatever the data are.

local isl_text = require "clcompute.loops.analysis.isl_text"
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

return beginnings
