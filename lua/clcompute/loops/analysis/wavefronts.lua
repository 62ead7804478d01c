-- SPDX-License-Identifier: MIT

--- Orders for nests of sequential loops in which many passes run side by side: passes of one wavefront, which is a sum
-- of multiples of the loops' variables, do not depend on each other, and each comes after what it depends on (Lamport
-- 1974). isl's scheduler finds the multiples.
--
--     for t do for i do for j do a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j + 1] ... end end end
--     wavefronts 2 t + i + j, in each of them all t and i side by side
-- @module clcompute.loops.analysis.wavefronts

local polyhedral_text = require "clcompute.loops.analysis.polyhedral_text"
local strides = require "clcompute.loops.tree.strides"
local walk = require "clcompute.loops.tree.walk"

local wavefronts = {}

local MOST_LOOPS = 4

--- The loops nested in each other with nothing in between, the outermost first, if all go in steps of one.
local function chain_of(node)
  local chain = {}
  while node and node.kind == "for" and math.abs(node.step) == 1 and #chain < MOST_LOOPS do
    chain[#chain + 1] = node
    node = #node.body == 1 and node.body[1]
  end
  return chain
end

--- The accesses in a node to what is written there, the loops around it being parameters: no others make passes depend
-- on each other.
local function accesses_in(scop, node)
  local list, is_written, rows = {}, {}, {}
  for _, statement in ipairs(scop.statements) do
    local outer = polyhedral_text.outer(statement, node)
    for _, access in ipairs(outer and statement.accesses or {}) do
      list[#list + 1] = { access = access, outer = outer }
      if access.write then is_written[access.variable] = true end
    end
  end
  for _, item in ipairs(list) do
    local access = item.access
    if is_written[access.variable] then
      rows[#rows + 1] = { array = access.variable.id, write = access.write,
        map = polyhedral_text.access(scop, access, item.outer) }
    end
  end
  return rows
end

--- Whether a bound of the loops behind one of a chain names its variable.
local function is_named(chain, at)
  for later = at + 1, #chain do
    if strides.is_bounded_by(chain[later], chain[at].variable) then return true end
  end
  return false
end

--- The loop whose pass the others and the wavefront tell: the innermost that can be.
local function follower_of(chain, coefficients)
  for i = #chain, 1, -1 do
    if math.abs(coefficients[i]) == 1 and not is_named(chain, i) then return i end
  end
end

--- The wavefronts of a chain, or of as many of its outer loops as have some.
local function find(scop, chain)
  local poly, rows = require "clcompute.poly", accesses_in(scop, chain[1])
  for count = #chain, 2, -1 do
    local loops, steps = table.move(chain, 1, count, 1, {}), {}
    for i, loop in ipairs(loops) do steps[i] = loop.step end
    local coefficients = poly.wavefront { accesses = rows, steps = steps }
    local follower = coefficients and follower_of(loops, coefficients)
    if follower then return { loops = loops, coefficients = coefficients, follower = follower } end
  end
end

local function has_parallel(node)
  local found = false
  walk.node(node, function(part)
    found = found or part.kind == "for" and (part.parallel or part.reductions ~= nil)
  end)
  return found
end

--- Adds `wavefront` to the outermost loops of nests that are sequential as they stand: `loops`, nested in each other;
-- `coefficients` of their variables, whose sum is the wavefront; `follower`, the place of the loop whose variable
-- follows from those of the others and the wavefront.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel` and `reductions`
function wavefronts.mark(scop)
  walk.nodes(scop.tree.body, function(node)
    if node.kind ~= "for" or has_parallel(node) then return end
    node.wavefront = find(scop, chain_of(node))
    return node.wavefront == nil
  end)
end

return wavefronts
