-- SPDX-License-Identifier: MIT

--- How accesses go through memory as a loop goes on.
-- @module clcompute.loops.tree.strides

local affine = require "clcompute.loops.tree.affine"
local walk = require "clcompute.loops.tree.walk"

local strides = {}

--- The multiple of a variable in a form: 0 where it is not there, nil in a quotient.
local function coefficient_of(form, variable)
  local found = 0
  for _, term in ipairs(form.terms) do
    if term.variable == variable then found = term.coefficient end
    if term.quotient then
      local inner = coefficient_of(term.quotient, variable)
      if inner ~= 0 then return nil end
    end
  end
  return found
end

--- Which multiple of a variable an expression is, beside what does not depend on it; nil where that is not so.
function strides.multiple(node, variable)
  local form = affine.of(node)
  return form and coefficient_of(form, variable)
end

--- How an index changes when a variable grows by 1: 0, not at all; 1, by one element of the last dimension; nil, by
-- anything else.
-- @tparam table node an index
-- @tparam table variable of a loop
-- @treturn ?integer
function strides.of(node, variable)
  local last = #node.subscripts
  for d, subscript in ipairs(node.subscripts) do
    local coefficient = strides.multiple(subscript, variable)
    if not coefficient or d < last and coefficient ~= 0 then return nil end
    if d == last then return (coefficient == 0 or coefficient == 1) and coefficient or nil end
  end
end

--- Whether an expression speaks of a variable.
function strides.mentions(node, variable)
  local found = false
  walk.node(node, function(part)
    if part.kind == "name" and part.variable == variable then found = true end
  end)
  return found
end

--- Whether a loop's bounds speak of a variable.
function strides.is_bounded_by(loop, variable)
  return strides.mentions(loop.from, variable) or strides.mentions(loop.to, variable)
end

--- The number of accesses of a nest that go through memory element by element as a loop goes on; nil where one jumps.
-- @tparam {table,...} nodes
-- @tparam table variable of the loop
-- @treturn ?integer
function strides.units(nodes, variable)
  local units, is_regular = 0, true
  walk.nodes(nodes, function(part)
    if part.kind ~= "index" then return end
    local stride = strides.of(part, variable)
    if stride then units = units + stride else is_regular = false end
  end)
  return is_regular and units or nil
end

return strides
