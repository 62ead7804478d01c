-- SPDX-License-Identifier: MIT

--- Writes out sequential loops of few passes, each with the number of its pass in place of its variable, as those of a
-- window around a point are: what is left may have no loop in it, so that the loop around becomes vectors, and sums
-- stay in registers.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local unrolling = {}

local MOST_PASSES = 8
local MOST_STATEMENTS = 64

local changed = ast.changed

--- An integer that an expression always is, or nil.
local function constant(node)
  local form = affine.of(node)
  return form and #form.terms == 0 and form.constant or nil
end

--- The numbers of a loop's first and last pass, where it may be written out.
local function ends_of(node)
  if node.kind ~= "for" or node.parallel or node.irregular then return nil end
  local from, to = constant(node.from), constant(node.to)
  if not from or not to or (to - from) // node.step >= MOST_PASSES then return nil end
  return from, to
end

local function count(nodes)
  local statements = 0
  walk.nodes(nodes, function(node)
    if node.kind == "assign" or node.kind == "local" or node.kind == "if" then statements = statements + 1 end
  end)
  return statements
end

-- --- a pass -----------------------------------------------------------------------------------

--- Makes what replaces names in expressions: by variable, other nodes.
local function replacing(others)
  return function(node) return node.kind == "name" and others[node.variable] or nil end
end

local copies

local COPIES = {}

COPIES["local"] = function(node, others, suffix)
  local value = walk.replaced(node.value, replacing(others))
  local variable = changed(node.variable, { id = node.variable.id .. suffix })
  others[node.variable] = ast.node("name", { type = variable.type, variable = variable })
  return changed(node, { variable = variable, value = value })
end

function COPIES.assign(node, others)
  local replace = replacing(others)
  return changed(node, { target = walk.replaced(node.target, replace), value = walk.replaced(node.value, replace) })
end

COPIES["if"] = function(node, others, suffix)
  local arms = {}
  for i, arm in ipairs(node.arms) do
    arms[i] = changed(arm, { condition = walk.replaced(arm.condition, replacing(others)),
      body = copies(arm.body, others, suffix) })
  end
  return changed(node, { arms = arms, otherwise = node.otherwise and copies(node.otherwise, others, suffix) })
end

--- Copies of statements with other nodes in place of names, and locals of their own.
function copies(nodes, others, suffix)
  local list = {}
  for i, node in ipairs(nodes) do list[i] = COPIES[node.kind](node, others, suffix) end
  return list
end

-- --- loops ------------------------------------------------------------------------------------

--- The statements of all passes of a loop, or nil.
local function passes(node, body)
  local from, to = ends_of(node)
  if not from or walk.find(body, function(part) return not COPIES[part.kind] and part.body ~= nil end)
    or walk.breaks_out(body) or count(body) * ((to - from) // node.step + 1) > MOST_STATEMENTS then return nil end
  local list, number = {}, 0
  for pass = from, to, node.step do
    number = number + 1
    local others = { [node.variable] = ast.node("number", { value = pass, type = "int" }) }
    local statements = copies(body, others, ("_pass%d"):format(number))
    table.move(statements, 1, #statements, #list + 1, list)
  end
  return list
end

--- Statements in which the innermost loops of few passes are written out, then those that they were in.
-- @tparam {table,...} nodes
-- @treturn {table,...}
function unrolling.apply(nodes)
  local list = {}
  for _, node in ipairs(nodes) do
    local written = nil
    if node.kind == "for" and not node.parallel and not faults.are_in { node } then
      local body = unrolling.apply(node.body)
      written = passes(node, body) or { changed(node, { body = body }) }
    end
    table.move(written or { node }, 1, written and #written or 1, #list + 1, list)
  end
  return list
end

return unrolling
