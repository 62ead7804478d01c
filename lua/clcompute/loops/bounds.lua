-- SPDX-License-Identifier: MIT

--- Tells when accesses leave their array: one check of the parameters, exact, before anything runs.
-- @module clcompute.loops.bounds

local affine_text = require "clcompute.loops.affine_text"
local condition = require "clcompute.loops.condition"
local polyhedral_text = require "clcompute.loops.polyhedral_text"

local bounds = {}

local SIDES = { { name = "below", outside = "x%d < 0" }, { name = "above", outside = "x%d >= %s" } }

--- The questions that an access raises, two for each dimension.
local function questions_of(scop, access, add)
  local array = access.variable
  for d = 1, array.rank do
    for _, side in ipairs(SIDES) do
      local outside = side.outside:format(d, affine_text.size(array, d))
      add({ map = access.map, outside = polyhedral_text.elements(scop, array, outside), dimension = d,
        greatest = side.name == "above" }, { access = access, array = array, dimension = d, side = side.name,
        certain = access.certain })
    end
  end
end

local function all_questions(scop)
  local questions, checks = {}, {}
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do
      if access.is_array then
        questions_of(scop, access, function(question, check)
          questions[#questions + 1], checks[#checks + 1] = question, check
        end)
      end
    end
  end
  return questions, checks
end

--- Drops what never happens, and what another check of the same array and dimension says too.
local function distinct(checks)
  local kept, seen = {}, {}
  for _, check in ipairs(checks) do
    local key = check.condition and table.concat({ check.array.id, check.dimension, check.side, check.condition,
      tostring(check.certain) }, "\0")
    if key and not seen[key] then kept[#kept + 1], seen[key] = check, true end
  end
  return kept
end

--- Finds all ways to leave an array.
-- @tparam table scop of `clcompute.loops.scop`
-- @tparam ?integer budget in isl's operations
-- @treturn ?{table,...} `{ access=, array=variable, dimension=, side="below"|"above", certain=, condition=, value= }`,
-- where `condition` and `value` (the 0-based subscript that is reached) are Lua expressions over parameters. An access
-- is not `certain` where data decide whether it happens. Or nil where the budget is exceeded
-- @treturn ?string the reason
function bounds.analyse(scop, budget)
  local poly = require "clcompute.poly"
  local questions, checks = all_questions(scop)
  local answers, reason = poly.extremes { context = polyhedral_text.context(scop), questions = questions,
    budget = budget }
  if not answers then return nil, reason end
  for i, answer in ipairs(answers) do
    checks[i].condition, checks[i].value = answer.condition, answer.value
  end
  return distinct(checks)
end

--- All checks as one function of a call's parameters, by their names in isl.
-- @tparam {table,...} checks
-- @treturn function that returns the first check that fails, or nil
function bounds.compile(checks)
  local texts, lines = {}, {}
  for i, check in ipairs(checks) do
    texts[i] = check.condition
    lines[i] = ("if %s then return %d end"):format(check.condition, i)
  end
  local find = condition.compile(texts, table.concat(lines, "\n"))
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
    or (" of %d"):format(values[affine_text.size(check.array, check.dimension)] + scop.base - 1)
  return ("dimension %d of '%s' reaches %d%s at line %d%s"):format(check.dimension, check.array.name, reached, limit,
    check.access.node.line, describe_parameters(scop, check, values))
end

return bounds
