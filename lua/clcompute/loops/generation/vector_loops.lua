-- SPDX-License-Identifier: MIT

--- Loops of processors whose passes are vectors and nothing else, in parts: as many vectors at a time as are worth it,
-- then one, and a vector with a mask for what is left over. Left alone, LLVM does that one by one: 44 of 108 passes
-- took longer than the other 64. Where a pass is a few operations, that is shorter than two more loops.

local c_expression = require "clcompute.loops.generation.c_expression"

local vector_loops = {}

local FEW_OPERATIONS = 8

--- Whether a loop is one.
-- @tparam table node a `for` node that is no loop without an end and whose passes are not counted
function vector_loops.is_one(node)
  return node.is_independent and node.is_plain and node.step == 1 and not node.places
    and (node.operations or 0) >= FEW_OPERATIONS
end

--- Prints a loop.
-- @tparam table node
-- @tparam table output
-- @tparam table tools `add`, `block` and `body` of `clcompute.loops.generation.c_statements`
function vector_loops.print(node, output, tools)
  local id, context = node.variable.id, output.context
  local first, last = id .. "_vectors_from", id .. "_vectors_to" -- no names that bounds may have
  local function part(hint, from, to)
    context.helpers[hint] = true
    tools.add(output, hint)
    tools.add(output, ("for (long %s = %s; %s <= %s; %s++) {"):format(id, from, id, to, id), node)
    tools.body(node.body, output)
    tools.add(output, "}")
  end
  --- The part of whole runs of so many vectors from a pass on; returns which pass is the next one.
  local function runs(hint, vectors, from)
    local past = ("%s_past%d"):format(id, vectors)
    local size = vectors == 1 and "VECTOR" or ("(%d * VECTOR)"):format(vectors)
    tools.add(output, ("const long %s = %s + (max(%s - %s + 1, (long)0) & -%s);"):format(past, from, last, from, size))
    part(hint, from, past .. " - 1")
    return past
  end
  tools.block(output, "", function()
    tools.add(output, ("const long %s = %s, %s = %s;"):format(first, c_expression.plain(node.from, context), last,
      c_expression.plain(node.to, context)))
    local vectors = node.vectors or 1
    local from = vectors > 1 and runs(("VECTORS_%d"):format(vectors), vectors, first) or first
    part("LEFT_OVER", runs("VECTORS", 1, from), last)
  end)
end

return vector_loops
