-- SPDX-License-Identifier: MIT

--- Writes out sequential loops of few passes, each with the number of its pass in place of its variable, as those of a
-- window around a point are: what is left may have no loop in it, so that the loop around becomes vectors, and sums
-- stay in registers.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local clone = require("clcompute.loops.tree").clone
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

--- The statements of all passes of a loop, or nil.
local function passes(node, body)
  local from, to = ends_of(node)
  if not from or not clone.can(body) or count(body) * ((to - from) // node.step + 1) > MOST_STATEMENTS then
    return nil
  end
  local list, number = {}, 0
  for pass = from, to, node.step do
    number = number + 1
    local others = { [node.variable] = ast.node("number", { value = pass, type = "int" }) }
    local suffix = ("_pass%d"):format(number)
    local statements = clone.statements(body, others, function(variable) return variable.id .. suffix end)
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
