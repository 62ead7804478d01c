-- SPDX-License-Identifier: MIT

--- On a GPU two passes for each work-item, where a nest has many and its passes are short: it waits for the loads of
-- both together, and half as many work-items have to begin. The passes are half of the range's dimension 1 apart; where
-- a range is as large as the nest, work-items have one.

local c_expression = require "clcompute.loops.generation.c_expression"
local faults = require "clcompute.loops.generation.faults"
local group_loops = require "clcompute.loops.generation.group_loops"
local walk = require("clcompute.loops.tree").walk

local pairing = {}

local MOST_STATEMENTS = 8

--- The loop that is alone in the range's dimension 1, or nil.
local function second_of(kernel)
  for _, node in ipairs(kernel.band) do
    local place = kernel.mapping[node]
    if place.dimension == 1 and not place.shared then return node end
  end
end

--- The loop of which work-items may have two passes.
-- @tparam table kernel of the plan, with a range of parallel loops
-- @treturn ?table one of its band; nil where there is none
function pairing.of(kernel)
  local loop, band = second_of(kernel), kernel.band
  if not loop or walk.depth(kernel.node) > #band or faults.are_in { kernel.node } then return nil end
  if #band[#band].body > MOST_STATEMENTS then return nil end
  for _, node in ipairs(band) do
    if walk.is_bounded_by(node, loop.variable) then return nil end
  end
  return loop
end

--- Prints statements of the pass that a variable is called in.
local function print_pass(nodes, variable, name, output, tools)
  local context = output.context
  output.context = setmetatable({ names = setmetatable({ [variable] = name }, { __index = context.names }) },
    { __index = context })
  tools.add(output, "{")
  tools.body(nodes, output)
  tools.add(output, "}")
  output.context = context
end

--- Prints both passes of a work-item, of which the first one is there.
-- @tparam table loop of `of`
-- @tparam {table,...} nodes what a pass does
-- @tparam table output
-- @tparam table tools `add`, `block`, `body` and `store` of `clcompute.loops.generation.c_statements`
function pairing.print(loop, nodes, output, tools)
  local id, variable = loop.variable.id, loop.variable
  local other = id .. "_other"
  local is_there = ("%s %s %s"):format(other, loop.step > 0 and "<=" or ">=",
    c_expression.plain(loop.to, output.context))
  tools.add(output, ("const long %s = %s + (long)get_global_size(1) * %d;"):format(other, id, loop.step))
  if group_loops.is_store(nodes) then
    return group_loops.print_batch(nodes[1], { { names = {}, value = id .. "_value" },
      { names = { [variable] = other }, value = other .. "_value", where = is_there } }, output, tools)
  end
  tools.block(output, ("if (%s) "):format(is_there), function()
    print_pass(nodes, variable, id, output, tools)
    print_pass(nodes, variable, other, output, tools)
  end)
  tools.block(output, "else ", function() print_pass(nodes, variable, id, output, tools) end)
end

return pairing
