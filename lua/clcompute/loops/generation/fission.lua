-- SPDX-License-Identifier: MIT

--- Gives functions that are dear a loop of their own, whose passes do not depend on each other, where they stand in a
-- loop that is sequential for what comes behind them.
--
--     for j do y[j] = math.exp(x[j]); s = s + y[j] end
--     for j do y[j] = math.exp(x[j]) end; for j do s = s + y[j] end

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local faults = require "clcompute.loops.generation.faults"
local lua_text = require("clcompute.loops.tree").lua_text
local walk = require("clcompute.loops.tree").walk

local fission = {}

local DEAR = { exp = true, log = true }

local function is_dear(node) return node.kind == "call" and DEAR[node.name] end

--- The elements that statements assign, as text by array; nil where they do anything but that, or two of an array.
local function targets_of(nodes, variable)
  local text_of = {}
  for _, node in ipairs(nodes) do
    local target = node.kind == "assign" and node.target
    if not target or not target.array or affine.stride(target, variable) ~= 1 then return nil end
    local text = lua_text.expression(target)
    if text_of[target.array] and text_of[target.array] ~= text then return nil end
    text_of[target.array] = text
  end
  return text_of
end

--- Whether all accesses to some arrays are to those elements.
local function are_alone(nodes, text_of)
  return not walk.find(nodes, function(part)
    return part.kind == "index" and text_of[part.array] and lua_text.expression(part) ~= text_of[part.array]
  end)
end

--- Whether some statements leave alone what others read.
local function leave_alone(nodes, others)
  local is_assigned = {}
  walk.nodes(nodes, function(part)
    if part.kind == "assign" then is_assigned[part.target.array or part.target.variable] = true end
    if part.kind == "local" then is_assigned[part.variable] = true end
  end)
  return not walk.find(others, function(part)
    return part.kind == "name" and is_assigned[part.variable] or part.kind == "index" and is_assigned[part.array]
  end)
end

local function is_apart(first, rest, variable)
  local text_of = targets_of(first, variable)
  return text_of and walk.find(first, is_dear) and affine.units(first, variable) and are_alone(first, text_of)
    and are_alone(rest, text_of) and leave_alone(rest, first)
end

--- The two loops of an innermost one, or nil.
-- @tparam table node a `for`, sequential
-- @treturn ?table the first, whose passes may have any order
-- @treturn ?table the other one
function fission.of(node)
  if node.kind ~= "for" or node.irregular or math.abs(node.step) ~= 1 or faults.are_in { node } then return nil end
  for count = #node.body - 1, 1, -1 do
    local first = table.move(node.body, 1, count, 1, {})
    local rest = table.move(node.body, count + 1, #node.body, 1, {})
    if is_apart(first, rest, node.variable) then
      return ast.changed(node, { body = first, parallel = true }), ast.changed(node, { body = rest })
    end
  end
end

return fission
