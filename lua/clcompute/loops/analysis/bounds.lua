-- SPDX-License-Identifier: MIT

--- Tells when accesses leave their array: one check of the parameters, exact, before anything runs.
-- @module clcompute.loops.analysis.bounds

local condition = require "clcompute.loops.analysis.condition"
local polyhedral_text = require "clcompute.loops.analysis.polyhedral_text"
local size_of = require "clcompute.loops.tree.variables".size

local bounds = {}

--- Collects what has to be asked. Accesses that reach the same subscripts of the same size share a question.
local Questions = {}
Questions.__index = Questions

function Questions:add(access, dimension, side)
  local scop, array = self.scop, access.variable
  local map = polyhedral_text.subscript(scop, access, dimension)
  local outside = polyhedral_text.outside(scop, array, dimension, side)
  local key = ("%s %s %s %s"):format(array.id, map, outside, access.certain)
  if self.seen[key] then return end
  self.seen[key] = true
  self.rows[#self.rows + 1] = { context = polyhedral_text.context(scop, map .. outside), map = map, outside = outside,
    greatest = side == "above" }
  self.checks[#self.checks + 1] = { access = access, array = array, dimension = dimension, side = side,
    certain = access.certain }
end

local function questions_of(scop)
  local questions = setmetatable({ scop = scop, rows = {}, checks = {}, seen = {} }, Questions)
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do
      for dimension = 1, access.is_array and access.variable.rank or 0 do
        questions:add(access, dimension, "below")
        questions:add(access, dimension, "above")
      end
    end
  end
  return questions
end

--- Finds all ways to leave an array.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam ?integer budget in isl's operations
-- @treturn ?{table,...} `{ access=, array=variable, dimension=, side="below"|"above", certain=, condition=, value= }`,
-- where `condition` and `value` (the 0-based subscript that is reached) are Lua expressions over parameters. An access
-- is not `certain` where data decide whether it happens. Or nil where the budget is exceeded
-- @treturn ?string the reason
function bounds.analyse(scop, budget)
  local poly = require "clcompute.poly"
  local questions = questions_of(scop)
  local answers, reason = poly.extremes { questions = questions.rows, budget = budget }
  if not answers then return nil, reason end
  local checks = {}
  for i, answer in ipairs(answers) do
    if answer.condition then
      local check = questions.checks[i]
      check.condition, check.value = answer.condition, answer.value
      checks[#checks + 1] = check
    end
  end
  return checks
end

--- All checks as one function of a call's parameters, by their names in isl.
-- @tparam {table,...} checks
-- @treturn ?function that returns the first check that fails, or nil; nil and a message where it is too large for Lua
function bounds.compile(checks)
  local texts, lines = {}, {}
  for i, check in ipairs(checks) do
    texts[i] = check.condition
    lines[i] = ("if %s then return %d end"):format(check.condition, i)
  end
  local find, message = condition.compile(texts, table.concat(lines, "\n"))
  if not find then return nil, message end
  return function(values) return checks[find(values)] end
end

--- The numbers that a failed check depends on, as the program names them: "n=1025, m=3".
local function describe_parameters(scop, check, values)
  local parts = {}
  for _, name in ipairs(condition.names { check.condition }) do
    local parameter = scop.parameters[name]
    if not parameter.dimension then parts[#parts + 1] = ("%s=%d"):format(parameter.variable.name, values[name]) end
  end
  return #parts == 0 and "" or " for " .. table.concat(parts, ", ")
end

--- A failed check in words: "dimension 2 of 'a' reaches 1025 of 1024 at line 3 for n=1025".
-- @tparam table scop
-- @tparam table check
-- @tparam table values of the parameters, by their names in isl
-- @treturn string
function bounds.describe(scop, check, values)
  local reached = condition.evaluator(check.value)(values) + scop.base
  local limit = check.side == "below" and (", below %d,"):format(scop.base)
    or (" of %d"):format(values[size_of(check.array, check.dimension)] + scop.base - 1)
  return ("dimension %d of '%s' reaches %.0f%s at line %d%s"):format(check.dimension, check.array.name, reached, limit,
    check.access.node.line, describe_parameters(scop, check, values))
end

return bounds
