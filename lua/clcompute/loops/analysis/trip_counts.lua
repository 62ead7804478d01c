-- SPDX-License-Identifier: MIT

--- How many iterations the loops of a band have at most, as Lua expressions over what is known at a launch.
--
-- A loop's count may depend on the variables of the loops outside of it in the band (a triangle): then it is taken
-- where it is largest, each variable being at one of its ends; what is beyond in other places the kernel leaves out.

local affine = require("clcompute.loops.tree").affine
local bounds = require("clcompute.loops.tree").loop_bounds
local size_of = require("clcompute.loops.tree").ast.size

local trip_counts = {}

-- Sums: { constant=, terms = { [name] = { coefficient=, variable= } } }.

local function constant(value)
  return { constant = value, terms = {} }
end

local function add(sum, factor, other)
  local result = constant(sum.constant + factor * other.constant)
  for name, term in pairs(sum.terms) do
    result.terms[name] = { coefficient = term.coefficient, variable = term.variable }
  end
  for name, term in pairs(other.terms) do
    local before = result.terms[name] and result.terms[name].coefficient or 0
    local coefficient = before + factor * term.coefficient
    result.terms[name] = coefficient ~= 0 and { coefficient = coefficient, variable = term.variable } or nil
  end
  return result
end

local function text_of(sum)
  local names, parts = {}, {}
  for name in pairs(sum.terms) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local coefficient = sum.terms[name].coefficient
    parts[#parts + 1] = coefficient == 1 and name or ("%d * %s"):format(coefficient, name)
  end
  if sum.constant ~= 0 or #parts == 0 then parts[#parts + 1] = ("%d"):format(sum.constant) end
  return (table.concat(parts, " + "):gsub("%+ %-", "- "))
end

--- A multiple of one term as a sum.
local function single(name, variable, coefficient)
  return { constant = 0, terms = { [name] = { coefficient = coefficient, variable = variable } } }
end

local sum_of

--- Whether a term is a quotient of a variable of the band.
local function is_bent(term, ends)
  return term.quotient ~= nil and affine.has_term(term.quotient, function(inner) return ends[inner.variable] end)
end

--- What a term counts, by a name.
local function name_of(term, ends)
  if term.variable then return term.variable.id end
  if term.array then return size_of(term.array, term.dimension) end
  return ("((%s) // %d)"):format(text_of(sum_of(term.quotient, ends)), term.divisor)
end

--- A multiple of `e % c`, which a form has as `e - c * (e // c)`, as a sum without e: a variable of its own.
-- nil where it is a multiple of the quotient alone.
local function remainder_of(term, ends)
  local times = -term.coefficient // term.divisor
  local dividend = sum_of(term.quotient, ends)
  if not dividend or times * term.divisor ~= -term.coefficient then return nil end
  local name, variable = ("rest_%s_%d"):format(text_of(dividend), term.divisor), {}
  ends[variable] = { constant(0), constant(term.divisor - 1) }
  return add(single(name, variable, times), -times, dividend)
end

--- Whether a sum has a remainder and its dividend, which may be anything beside it.
local function has_loose(sum, before, dividend)
  for name in pairs(dividend.terms) do
    if sum.terms[name] and not before.terms[name] then return true end
  end
  return false
end

--- An affine form as a sum, or nil.
function sum_of(form, ends)
  local sum = constant(form.constant)
  for _, term in ipairs(form.terms) do
    if not is_bent(term, ends) then
      sum = add(sum, 1, single(name_of(term, ends), term.variable, term.coefficient))
    end
  end
  for _, term in ipairs(form.terms) do
    if is_bent(term, ends) then
      local rest = remainder_of(term, ends)
      local both = rest and add(sum, 1, rest)
      if not both or has_loose(both, sum, sum_of(term.quotient, ends)) then return nil end
      sum = both
    end
  end
  return sum
end

--- The sum with each variable of the band at the end where it is largest (`sign` 1) or smallest (-1). `ends` has, by
-- variable, the smallest and the largest value, each a sum.
local function at_end(sum, sign, ends)
  local result = constant(sum.constant)
  for name, term in pairs(sum.terms) do
    local range = term.variable and ends[term.variable]
    local value = range and range[sign * term.coefficient > 0 and 2 or 1]
      or { constant = 0, terms = { [name] = { coefficient = 1, variable = term.variable } } }
    result = add(result, term.coefficient, value)
  end
  return result
end

--- The sums among some forms; nil where none is one.
local function sums_of(forms, ends)
  local sums = {}
  for _, form in ipairs(forms or {}) do sums[#sums + 1] = sum_of(form, ends) end
  return #sums > 0 and sums or nil
end

--- The sums that are a loop's smallest value, or below it, and the largest, or above it; nil where there are none.
local function limits_of(node, ends)
  local firsts, lasts = sums_of(bounds.firsts(node), ends), sums_of(bounds.lasts(node), ends)
  if not firsts or not lasts then return nil end
  if node.step < 0 then return lasts, firsts end
  return firsts, lasts
end

--- Sums where each is smallest (`sign` -1) or largest.
local function all_at_end(sums, sign, ends)
  local limits = {}
  for i, sum in ipairs(sums) do limits[i] = at_end(sum, sign, ends) end
  return limits
end

--- The greatest or the least ("max" or "min") of texts.
local function extreme(name, texts)
  return #texts == 1 and texts[1] or ("%s(%s)"):format(name, table.concat(texts, ", "))
end

--- Of sums that all limit a loop, at their ends, those without the band's variables, put together, as they are closest.
-- Where there are none, the first one.
local function limit_at(sums, sign, ends)
  local texts, free = {}, nil
  for _, sum in ipairs(sums) do
    if text_of(at_end(sum, sign, ends)) == text_of(sum) then texts[#texts + 1], free = text_of(sum), sum end
  end
  if #texts > 1 then return single(extreme(sign > 0 and "min" or "max", texts), nil, 1) end
  return free or at_end(sums[1], sign, ends)
end

--- How far it is at most from each of some sums to each of others: the least of that counts.
local function length_of(lows, highs, step, ends)
  local texts, is_there = {}, {}
  for _, low in ipairs(lows) do
    for _, high in ipairs(highs) do
      local length = at_end(add(high, -1, low), 1, ends)
      local text = step == 1 and text_of(add(length, 1, constant(1)))
        or ("(%s) // %d + 1"):format(text_of(length), step)
      if not is_there[text] then texts[#texts + 1] = text end
      is_there[text] = true
    end
  end
  return extreme("min", texts)
end

--- The greatest or the least of sums.
local function text_of_all(sums, name)
  local texts = {}
  for i, sum in ipairs(sums) do texts[i] = text_of(sum) end
  return extreme(name, texts)
end

--- The largest count of each loop of a band.
-- @tparam table band `for` nodes, the outermost first
-- @treturn table|nil a Lua expression for each; below 1 there is no iteration. nil where a bound is no sum of multiples
-- of the band's variables
function trip_counts.counts(band)
  local ends, texts = {}, {}
  for i, node in ipairs(band) do
    local lows, highs = limits_of(node, ends)
    if not lows then return nil end
    texts[i] = length_of(lows, highs, math.abs(node.step), ends)
    ends[node.variable] = { limit_at(lows, -1, ends), limit_at(highs, 1, ends) }
  end
  return texts
end

--- A frame for each loop of a band: the first value of its variable that any pass around it gives, and how many
-- there are from there to the last one.
-- @tparam table band `for` nodes, the outermost first
-- @treturn table|nil `{ first=, count= }` for each, Lua expressions; nil where a bound is no sum, or a loop in steps
-- begins elsewhere in each pass
function trip_counts.frames(band)
  local ends, frames = {}, {}
  for i, node in ipairs(band) do
    local lows, highs = limits_of(node, ends)
    if not lows then return nil end
    local lowest, highest, step = all_at_end(lows, -1, ends), all_at_end(highs, 1, ends), math.abs(node.step)
    local first, name = lowest, "max"
    if node.step < 0 then first, name = highest, "min" end
    if step > 1 and text_of_all(first, name) ~= text_of_all(node.step > 0 and lows or highs, name) then return nil end
    frames[i] = { first = text_of_all(first, name), count = length_of(lowest, highest, step, ends) }
    ends[node.variable] = { limit_at(lows, -1, ends), limit_at(highs, 1, ends) }
  end
  return frames
end

return trip_counts
