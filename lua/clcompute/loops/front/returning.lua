-- SPDX-License-Identifier: MIT

--- What a `return` gives: the whole function's numbers go into arrays of one element, its arrays have numbers where it
-- may return one of several; those of a function put in place of its call go into locals.

local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local calling = require "clcompute.loops.front.calling"
local evaluating = require "clcompute.loops.front.evaluating"
local inlining = require "clcompute.loops.front.inlining"
local jumps = require "clcompute.loops.front.jumps"

local returning = {}

--- The number of an array among those that a `return` of the whole function may give in one place; nil where it gives a
-- number.
local function array_number(self, parsed, result)
  local array = parsed.kind == "name" and inlining.array_of(self, parsed.name)
  if not array then return nil end
  result.arrays = result.arrays or {}
  for i, known in ipairs(result.arrays) do
    if known == array then return i end
  end
  table.insert(result.arrays, array)
  return #result.arrays
end

--- Notes whether the whole function returns an array or a number in one place, as every other `return` does.
local function note_kind(self, result, kind, parsed)
  local kinds = self.results.kinds
  if kinds[result] and kinds[result] ~= kind then
    self:fail(parsed, "every 'return' gives an array in this place, or every one a number")
  end
  kinds[result] = kind
end

--- What a `return` of the whole function gives in one place: a value, or the number of an array.
local function given(self, parsed, result, into)
  local number = array_number(self, parsed, result)
  note_kind(self, result, number and "array" or "number", parsed)
  if number then appending.give(self, result.arrays[number], parsed, into) end
  return number and self:node("number", parsed, { value = number }) or evaluating.value(self, parsed, into)
end

--- Adds what a `return` gives to the arrays of one element that stand for what the whole function returns.
local function give_results(self, parsed, into)
  local results = self.results
  local values = evaluating.values(self, parsed.values, into, function(_, value, _, i)
    return given(self, value, results[i], into)
  end)
  jumps.check_count(self, parsed, #values, #results)
  for i, value in ipairs(values) do
    local written = parsed.values[math.min(i, #parsed.values)]
    if written.takes then note_kind(self, results[i], "number", written) end
    local target = ast.node("index", { array = results[i], subscripts = {
      ast.node("number", { value = self.base }, parsed) } }, parsed)
    into[#into + 1] = self:node("assign", parsed, { target = target, value = value })
  end
end

--- A number that a `return` of an inlined function gives.
local function given_number(self, parsed, into)
  if parsed.kind == "name" and inlining.array_of(self, parsed.name) then
    self:fail(parsed, "'%s' is an array, and a local function returns numbers: let it store in a table that it is "
      .. "given", parsed.name)
  end
  return evaluating.value(self, parsed, into)
end

--- Adds what a `return` gives to the locals that stand for the numbers of an inlined function.
local function give_locals(self, parsed, into)
  local results = self.results
  local values = evaluating.values(self, parsed.values, into, given_number)
  jumps.check_count(self, parsed, #values, results.count)
  for i, value in ipairs(inlining.taken(self, values, results.takes, parsed, into)) do
    if results.is_single then
      results[i] = self:add_local(into, "result", parsed, value, { is_argument = true })
    else
      local target = self:node("name", parsed, { variable = results[i] })
      into[#into + 1] = self:node("assign", parsed, { target = target, value = value })
    end
  end
end

--- Adds what a `return` gives. How many numbers the function returns has to be known.
-- @tparam table self
-- @tparam table parsed the node `give`
-- @tparam {table,...} into statements
function returning.give(self, parsed, into)
  local results, last = self.results, #parsed.values
  if not results.count then inlining.note_count(self, results, last - 1 + calling.count(self, parsed.values[last])) end
  return (results.takes and give_locals or give_results)(self, parsed, into)
end

return returning
