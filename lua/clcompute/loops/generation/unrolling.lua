-- SPDX-License-Identifier: MIT

--- Writes out sequential loops of few passes, each with the value of its variable written in, as those of a window
-- around a point are: what is left may have no loop in it, so that the loop around becomes vectors, and sums
-- stay in registers.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local clone = require("clcompute.loops.tree").clone
local faults = require "clcompute.loops.generation.faults"
local walk = require("clcompute.loops.tree").walk

local unrolling = {}

local MOST_PASSES = 16
local MOST_STATEMENTS = 256 -- as of the distances to 16 centres in four dimensions

local changed = ast.changed

--- How many passes a loop has, where it may be written out.
local function length_of(node)
  if node.kind ~= "for" or node.parallel or node.irregular then return nil end
  local distance = affine.distance(node.to, node.from)
  local length = distance and math.max(distance // node.step + 1, 0)
  return length and length <= MOST_PASSES and length or nil
end

--- The value of a loop's variable in a pass, from 0 on: a number where that is known.
local function value_in(node, pass)
  local form = affine.of(node.from)
  if #form.terms > 0 then return bounds.plus(node.from, pass * node.step) end
  return ast.node("number", { value = form.constant + pass * node.step, type = "int" })
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
  local length = length_of(node)
  if not length or not clone.can(body) or count(body) * length > MOST_STATEMENTS then return nil end
  local list = {}
  for pass = 1, length do
    local suffix = ("_pass%d"):format(pass)
    local statements = clone.statements(body, { [node.variable] = value_in(node, pass - 1) },
      rename or function(variable) return variable.id .. suffix end)
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
    if not walk.is_parallel(node) then return false end
  end
  return true
end

local MOST_COPIES = 4 -- of the nests in a loop

--- The passes of a sequential loop that is all that another one does, written out; nil where it is not like this.
local function passes_within(node, rename)
  local inner = node.body[1]
  if node.parallel or node.irregular or #node.body ~= 1 or inner.kind ~= "for" then return nil end
  local length = length_of(inner)
  if not length or length > MOST_COPIES or not are_parallel(inner.body) then return nil end
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
