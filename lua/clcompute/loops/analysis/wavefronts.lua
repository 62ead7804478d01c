-- SPDX-License-Identifier: MIT

--- Orders for nests of sequential loops in which many passes run side by side: passes of one wavefront, which is a sum
-- of multiples of the loops' variables, do not depend on each other, and each comes after what it depends on (Lamport
-- 1974). isl's scheduler finds the multiples.
--
--     for t do for i do for j do a[i][j] = a[i - 1][j] + a[i][j - 1] + a[i][j + 1] ... end end end
--     wavefronts 2 t + i + j, in each of them all t and i side by side

local isl_text = require "clcompute.loops.analysis.isl_text"
local plan = require("clcompute.loops.tree").plan
local scops = require "clcompute.loops.analysis.scop"
local trip_counts = require "clcompute.loops.analysis.trip_counts"
local walk = require("clcompute.loops.tree").walk

local wavefronts = {}

local MOST_LOOPS = 4

--- The loops nested in each other with nothing in between, the outermost first, if all go in steps of one.
local function chain_of(node)
  local chain = {}
  while node and node.kind == "for" and math.abs(node.step) == 1 and not node.irregular and #chain < MOST_LOOPS do
    chain[#chain + 1] = node
    node = #node.body == 1 and node.body[1]
  end
  return chain
end

--- The accesses in a node to what is written there, the loops around it being parameters: no others make passes depend
-- on each other.
local function accesses_in(scop, node)
  local is_written, rows, accesses, outer = {}, {}, scops.within(scop, node)
  for _, access in ipairs(accesses) do
    if access.write then is_written[access.variable] = true end
  end
  for _, access in ipairs(accesses) do
    if is_written[access.variable] then
      rows[#rows + 1] = { array = access.variable.id, write = access.write, map = isl_text.access(scop, access, outer) }
    end
  end
  return rows
end

--- Whether a bound of the loops behind one of a chain names its variable.
local function is_named(chain, at)
  for later = at + 1, #chain do
    if walk.is_bounded_by(chain[later], chain[at].variable) then return true end
  end
  return false
end

--- The loop whose pass the others and the wavefront tell: the innermost that can be.
local function follower_of(chain, coefficients)
  for i = #chain, 1, -1 do
    if math.abs(coefficients[i]) == 1 and not is_named(chain, i) then return i end
  end
end

local function has_parallel(node)
  return walk.find({ node }, function(part) return part.kind == "for" and (part.parallel or part.reductions) end) ~= nil
end

--- The wavefronts of loops nested in each other, or of as many of the outer ones as have some: `loops`; `coefficients`
-- of their variables, whose sum is the wavefront; `follower`, the place of the loop whose variable follows from those
-- of the others and the wavefront. nil where there are none, or a loop is parallel as it stands.
-- @tparam table scop of `clcompute.loops.analysis.scop`, whose loops have `parallel` and `reductions`
-- @tparam table node the outermost loop
function wavefronts.find(scop, node)
  local chain = chain_of(node)
  if #chain < 2 or has_parallel(node) then return nil end
  local poly, rows = require "clcompute.poly", accesses_in(scop, chain[1])
  for count = #chain, 2, -1 do
    local loops, steps = table.move(chain, 1, count, 1, {}), {}
    for i, loop in ipairs(loops) do steps[i] = loop.step end
    local coefficients = poly.wavefront { accesses = rows, steps = steps }
    local follower = coefficients and follower_of(loops, coefficients)
    if follower then return { loops = loops, coefficients = coefficients, follower = follower } end
  end
end

--- Adds `wavefront` to the outermost loops of such nests.
-- @tparam table scop as for `find`
function wavefronts.mark(scop)
  walk.nodes(scop.tree.body, function(node)
    if node.kind ~= "for" or has_parallel(node) then return end
    node.wavefront = wavefronts.find(scop, node)
    return node.wavefront == nil
  end)
end

-- --- launches ------------------------------------------------------------------------------
--
-- A launch for each wavefront: the range is all of its loops but one, whose variable follows from theirs and the number
-- of the wavefront.

--- The least and the greatest value of a loop's variable, from its frame, as Lua.
local function ends_of(node, frame)
  local first, length = frame.first, frame.count
  if node.step > 0 then return first, ("%s + (%s) - 1"):format(first, length) end
  return ("%s - (%s) + 1"):format(first, length), first
end

--- Adds a multiple of what a text counts.
local function with(sum, coefficient, text)
  if coefficient == 0 then return sum end
  local size, factor = math.abs(coefficient), text:find "[^%w_]" and "(" .. text .. ")" or text
  return ("%s %s %s%s"):format(sum, coefficient < 0 and "-" or "+", size == 1 and "" or size .. " * ", factor)
end

--- The numbers of the first and the last wavefront, as Lua; nil where loops have no frames.
local function range_of(mark)
  local frames = trip_counts.frames(mark.loops)
  if not frames then return nil end
  local first, last = "0", "0"
  for i, node in ipairs(mark.loops) do
    local low, high = ends_of(node, frames[i])
    local coefficient = mark.coefficients[i]
    if coefficient < 0 then low, high = high, low end
    first, last = with(first, coefficient, low), with(last, coefficient, high)
  end
  return first, last
end

--- What a kernel nest needs to go in wavefronts.
-- @tparam table mark of `clcompute.loops.analysis.wavefronts`
-- @treturn ?table a part "wavefront" of the plan; nil where a bound is no sum of multiples of variables
function wavefronts.of(mark)
  local first, last = range_of(mark)
  if not first then return nil end
  local result = plan.part("wavefront", { band = {}, terms = {}, first = first, last = last,
    follower = mark.loops[mark.follower], body = mark.loops[#mark.loops].body })
  for i, node in ipairs(mark.loops) do
    result.terms[i] = { node = node, coefficient = mark.coefficients[i] }
    if i ~= mark.follower then result.band[#result.band + 1] = node end
  end
  return result
end

--- How many launches there are, as Lua.
function wavefronts.count(mark)
  return ("max(0, %s - (%s) + 1)"):format(mark.last, mark.first)
end

--- The sum whose values are the wavefronts, in the words of the function: "4 t + 2 i + j".
function wavefronts.sum(mark)
  local text = ""
  for _, term in ipairs(mark.terms) do
    local size, sign = math.abs(term.coefficient), term.coefficient < 0 and "-" or "+"
    if size > 0 then
      local one = (size == 1 and "" or size .. " ") .. term.node.variable.name
      text = text == "" and (sign == "-" and "-" or "") .. one or ("%s %s %s"):format(text, sign, one)
    end
  end
  return text
end

--- The text in C of the variable of the loop that is not in the range.
function wavefronts.follower_text(mark)
  local node, own, sum = mark.follower, 1, "front"
  for _, term in ipairs(mark.terms) do
    if term.node == node then
      own = term.coefficient
    else
      sum = with(sum, -term.coefficient, term.node.variable.id)
    end
  end
  return own == 1 and sum or ("-(%s)"):format(sum)
end

return wavefronts
