-- SPDX-License-Identifier: MIT

--- Nests of two sequential loops whose rows may overlap: a row begins before the one before it has ended, but stays
-- some passes behind it (Cytron 1986, doacross).

local pass_orders = require "clcompute.loops.analysis.pass_orders"
local trip_counts = require "clcompute.loops.analysis.trip_counts"
local walk = require("clcompute.loops.tree").walk

local pipelines = {}

local function is_sequential(node)
  return node.kind == "for" and not node.parallel and not node.reductions and not node.irregular
    and math.abs(node.step) == 1
end

--- Whether loops in statements are shared out otherwise, or data decide how far they go.
local function has_others(nodes)
  return walk.find(nodes, function(part)
    return part.kind == "for" and (part.parallel or part.reductions or part.irregular) or part.kind == "break"
  end) ~= nil
end

--- Adds `behind` to the outer ones of such loops: the rows may overlap, each so many passes behind the one before.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel` and `reductions`
function pipelines.mark(scop)
  walk.nodes(scop.tree.body, function(node)
    local inner = node.kind == "for" and #node.body == 1 and node.body[1]
    if not inner or not is_sequential(node) or not is_sequential(inner) or has_others(inner.body)
      or not trip_counts.frames { node, inner } then return end
    node.behind = pass_orders.distance(scop, node, inner, 0)
    return node.behind == nil
  end)
end

return pipelines
