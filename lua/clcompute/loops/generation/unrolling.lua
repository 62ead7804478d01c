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

--- The statements of all passes of a loop, or nil; `rename`, of a variable, gives the ids of those in a copy.
local function passes(node, body, rename)
  local from, to = ends_of(node)
  if not from or not clone.can(body) or count(body) * ((to - from) // node.step + 1) > MOST_STATEMENTS then
    return nil
  end
  local list, number = {}, 0
  for pass = from, to, node.step do
    number = number + 1
    local others = { [node.variable] = ast.node("number", { value = pass, type = "int" }) }
    local suffix = ("_pass%d"):format(number)
    local statements = clone.statements(body, others, rename or function(variable) return variable.id .. suffix end)
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

-- --- around parallel loops -------------------------------------------------------------------

--- Whether statements are parallel loops.
local function are_parallel(nodes)
  for _, node in ipairs(nodes) do
    if node.kind ~= "for" or not node.parallel or node.irregular then return false end
  end
  return true
end

local MOST_COPIES = 4 -- of the nests in a loop

--- The passes of a sequential loop that is all that another one does, written out; nil where it is not like this.
local function passes_within(node, rename)
  local inner = node.body[1]
  if node.parallel or node.irregular or #node.body ~= 1 or inner.kind ~= "for" then return nil end
  local from, to = ends_of(inner)
  if not from or (to - from) // inner.step >= MOST_COPIES or not are_parallel(inner.body) then return nil end
  return passes(inner, inner.body, rename)
end

--- Writes out sequential loops of few passes around parallel ones, where a sequential loop does nothing else: it may go
-- in rounds then (`round_shapes`). Changes a tree.
-- @tparam table tree whose loops have `parallel`
-- @treturn boolean whether it did
function unrolling.apply_to_tree(tree)
  local rename, is_changed = clone.renaming(tree), false
  walk.nodes(tree.body, function(node)
    local written = node.kind == "for" and passes_within(node, rename)
    if not written then return end
    node.body, is_changed = written, true
  end)
  return is_changed
end

return unrolling
