-- SPDX-License-Identifier: MIT

--- How many iterations the loops of a band have at most, as Lua expressions over what is known at a launch.
--
-- A loop's count may depend on the variables of the loops outside of it in the band (a triangle): then it is taken
-- where it is largest, each variable being at one of its ends; what is beyond in other places the kernel leaves out.

local affine = require("clcompute.loops.tree").affine
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

local function bounds_of(node, ends)
  local from, to = affine.of(node.from), affine.of(node.to)
  from, to = from and sum_of(from, ends), to and sum_of(to, ends)
  if not from or not to then return nil end
  if node.step < 0 then return to, from end
  return from, to
end

--- The largest count of each loop of a band.
-- @tparam table band `for` nodes, the outermost first
-- @treturn table|nil a Lua expression for each; below 1 there is no iteration. nil where a bound is no sum of multiples
-- of the band's variables
function trip_counts.counts(band)
  local ends, texts = {}, {}
  for i, node in ipairs(band) do
    local first, last = bounds_of(node, ends)
    if not first then return nil end
    local length, step = at_end(add(last, -1, first), 1, ends), math.abs(node.step)
    if step == 1 then
      texts[i] = text_of(add(length, 1, constant(1)))
    else
      texts[i] = ("(%s) // %d + 1"):format(text_of(length), step)
    end
    ends[node.variable] = { at_end(first, -1, ends), at_end(last, 1, ends) }
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
    local low, high = bounds_of(node, ends)
    if not low then return nil end
    local lowest, highest, step = at_end(low, -1, ends), at_end(high, 1, ends), math.abs(node.step)
    if step > 1 and text_of(node.step > 0 and low or high) ~= text_of(node.step > 0 and lowest or highest) then
      return nil
    end
    local length = add(highest, -1, lowest)
    frames[i] = { first = text_of(node.step > 0 and lowest or highest),
      count = step == 1 and text_of(add(length, 1, constant(1))) or ("(%s) // %d + 1"):format(text_of(length), step) }
    ends[node.variable] = { lowest, highest }
  end
  return frames
end

return trip_counts
