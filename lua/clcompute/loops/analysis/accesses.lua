-- SPDX-License-Identifier: MIT

--- What an expression reads: elements of arrays, and locals, which are arrays over the loops that they are declared
-- in. Each read has the condition under which it happens, because `and` and `or` do not always get to their right side.
-- @module clcompute.loops.analysis.accesses

local affine_text = require "clcompute.loops.analysis.affine_text"
local formula = require "clcompute.loops.analysis.formula"

local accesses = {}

--- The elements that a name stands for: of a local, the one of this iteration.
local function local_subscripts(variable)
  local subscripts = {}
  for i, loop in ipairs(variable.loops) do subscripts[i] = loop.variable.id end
  return subscripts
end

--- The 0-based subscripts of an array, as isl's text.
local function array_subscripts(node, base)
  local subscripts = {}
  for i, subscript in ipairs(node.subscripts) do subscripts[i] = affine_text.of(subscript, -base) end
  return subscripts
end

--- The access to an array's element or a local, or nil where a name is a constant of the call.
-- @tparam table node an index or a name
-- @tparam integer base of the arrays
-- @tparam table when `guard` (list of formulas), `certain` (boolean: it happens wherever they hold)
-- @treturn ?table `{ variable=, node=, subscripts={text}, guard=, certain=, write=false }`
function accesses.of(node, base, when)
  local variable = node.kind == "index" and node.array or node.variable
  local is_array = node.kind == "index"
  if not is_array and variable.role ~= "local" then return nil end
  return { variable = variable, node = node, is_array = is_array, write = false,
    subscripts = is_array and array_subscripts(node, base) or local_subscripts(variable),
    guard = when.guard, certain = when.certain }
end

local function extended(list, item)
  local copy = table.move(list, 1, #list, 1, {})
  copy[#copy + 1] = item
  return copy
end

local collect

--- The right side of `and` comes to its turn when the left one holds, that of `or` when it does not.
local function collect_right(node, base, when, found)
  local reached = node.op == "and" and formula.necessary(node.left) or formula.necessary_not(node.left)
  collect(node.right, base, { guard = extended(when.guard, reached),
    certain = when.certain and formula.is_exact(node.left) }, found)
end

function collect(node, base, when, found)
  if node.kind == "name" or node.kind == "index" then
    found[#found + 1] = accesses.of(node, base, when)
  elseif node.kind == "binary" then
    collect(node.left, base, when, found)
    if node.op == "and" or node.op == "or" then
      collect_right(node, base, when, found)
    else
      collect(node.right, base, when, found)
    end
  elseif node.kind == "unary" then
    collect(node.operand, base, when, found)
  elseif node.kind == "call" then
    for _, argument in ipairs(node.arguments) do collect(argument, base, when, found) end
  end
end

--- All reads of an expression, in the order of its evaluation.
-- @tparam table node
-- @tparam integer base of the arrays
-- @tparam table when as for `of`
-- @treturn {table,...}
function accesses.reads(node, base, when)
  local found = {}
  collect(node, base, when, found)
  return found
end

return accesses
