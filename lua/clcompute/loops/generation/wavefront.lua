-- SPDX-License-Identifier: MIT

--- A nest that goes in wavefronts, a launch for each: the range is all of its loops but one, whose variable follows
-- from theirs and the number of the wavefront.
-- @module clcompute.loops.generation.wavefront

local c_expression = require "clcompute.loops.generation.c_expression"
local c_statements = require "clcompute.loops.generation.c_statements"
local extent = require "clcompute.loops.generation.extent"

local wavefront = {}

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
  local frames = extent.frames(mark.loops)
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
-- @treturn ?table `band`, the loops of the range, outermost first; `follower`, the other one; `terms` of the wavefront,
-- `{ node=, coefficient= }`; `first` and `last`, Lua expressions of its number; `body`. nil where a bound is no sum of
-- multiples of variables
function wavefront.of(mark)
  local first, last = range_of(mark)
  if not first then return nil end
  local result = { band = {}, terms = {}, first = first, last = last, follower = mark.loops[mark.follower],
    body = mark.loops[#mark.loops].body }
  for i, node in ipairs(mark.loops) do
    result.terms[i] = { node = node, coefficient = mark.coefficients[i] }
    if i ~= mark.follower then result.band[#result.band + 1] = node end
  end
  return result
end

--- How many launches there are, as Lua.
function wavefront.count(mark)
  return ("max(0, %s - (%s) + 1)"):format(mark.last, mark.first)
end

--- The sum whose values are the wavefronts, in the words of the function: "4 t + 2 i + j".
function wavefront.sum(mark)
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

--- Adds the variable of the loop that is not in the range; a work-item for which it is beyond its bounds has no pass.
function wavefront.print_follower(mark, output)
  local node, own, sum = mark.follower, 1, "front"
  local id, context = node.variable.id, output.context
  for _, term in ipairs(mark.terms) do
    if term.node == node then
      own = term.coefficient
    else
      sum = with(sum, -term.coefficient, term.node.variable.id)
    end
  end
  c_statements.add(output, ("const long %s = %s;"):format(id, own == 1 and sum or ("-(%s)"):format(sum)), node)
  local from, to = c_expression.plain(node.from, context), c_expression.plain(node.to, context)
  if node.step < 0 then from, to = to, from end
  c_statements.add(output, ("if (%s < %s || %s > %s) return;"):format(id, from, id, to))
end

return wavefront
