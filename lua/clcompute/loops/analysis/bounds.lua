-- SPDX-License-Identifier: MIT

--- Tells when accesses leave their array, one check of the parameters, exact, before anything runs; and whether a nest
-- needs what an array held before.

local ast = require("clcompute.loops.tree").ast
local isl_text = require "clcompute.loops.analysis.isl_text"
local lua_text = require("clcompute.loops.tree").lua_text
local scops = require "clcompute.loops.analysis.scop"

local bounds = {}

-- --- conditions ----------------------------------------------------------------------------
--
-- Lua expressions over the parameters of a call, as clcompute.poly writes them, made into functions. They compute in
-- floats: those are exact up to 2^53, and beyond they do not wrap to small numbers, as products of integers would.

local OWN = { ["and"] = true, ["or"] = true, ["true"] = true, ["false"] = true, ["not"] = true, max = true, min = true }

--- The names in expressions that the call has to fill in, sorted.
local function names_of(texts)
  local names, seen = {}, {}
  for _, text in ipairs(texts) do
    for name in text:gmatch "[%a_][%w_]*" do
      if not OWN[name] and not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

--- The body of a function over the names that it uses, as a function of a table of them.
-- @tparam {string,...} texts all expressions in the body
-- @string body
-- @treturn ?function nil where it has more names than a function of Lua may
-- @treturn ?string Lua's message then
local function compile_condition(texts, body)
  local names, fields = names_of(texts), {}
  for i, name in ipairs(names) do fields[i] = ("v.%s + 0.0"):format(name) end
  local binding = #names == 0 and "" or
    ("local %s = %s\n"):format(table.concat(names, ", "), table.concat(fields, ", "))
  local text = ("local max, min = ...\nreturn function(v)\n%s%s\nend"):format(binding, body)
  local chunk, message = lua_text.load(text, "condition", {})
  if not chunk then return nil, message end
  return chunk(math.max, math.min)
end

--- One expression, of isl or Lua, as a function of a table of parameters.
function bounds.evaluator(text)
  text = text:gsub("%f[%w_]math%.", "") -- min and max are there by these names
  return assert(compile_condition({ text }, "return " .. text))
end

-- --- bounds --------------------------------------------------------------------------------

--- Collects what has to be asked. Accesses that reach the same subscripts of the same size share a question.
local Questions = {}
Questions.__index = Questions

--- Asks whether an access leaves a dimension at one side, or, with `is_last`, the last row of a flat array.
function Questions:add(access, dimension, side, is_last)
  local scop, array = self.scop, access.variable
  local map = isl_text.subscript(scop, access, dimension, is_last and isl_text.in_last(access, dimension))
  local outside = is_last and isl_text.behind_last(scop, array, dimension)
    or isl_text.outside(scop, array, dimension, side)
  local key = ("%s %s %s %s"):format(array.id, map, outside, access.certain)
  if self.seen[key] then return end
  self.seen[key] = true
  self.rows[#self.rows + 1] = { context = isl_text.context(scop, map .. outside), map = map, outside = outside,
    greatest = side == "above" }
  self.checks[#self.checks + 1] = { access = access, array = array, dimension = dimension, side = side,
    certain = access.certain, is_last = is_last }
end

local function questions_of(scop)
  local questions = setmetatable({ scop = scop, rows = {}, checks = {}, seen = {} }, Questions)
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do
      for dimension = 1, access.is_array and not access.variable.extents and access.variable.rank or 0 do
        if not (access.node.checked and access.node.checked[dimension]) then
          questions:add(access, dimension, "below")
          questions:add(access, dimension, "above")
          local may_be_part = access.variable.pitches and not access.variable.is_made and dimension > 1
          if may_be_part then questions:add(access, dimension, "above", true) end
        end
      end
    end
  end
  return questions
end

--- Finds all ways to leave an array.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam ?integer budget in isl's operations
-- @treturn ?{table,...} `{ access=, array=variable, dimension=, side="below"|"above", is_last=, certain=, condition=,
-- value= }`, where `condition` and `value` (the 0-based subscript that is reached) are Lua expressions over parameters.
-- An access is not `certain` where data decide whether it happens; `is_last` is whether the last row of a flat array is
-- left, which may not be whole. Or nil where the budget is exceeded
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
  local find, message = compile_condition(texts, table.concat(lines, "\n"))
  if not find then return nil, message end
  return function(values) return checks[find(values)] end
end

--- The numbers that a failed check depends on, as the program names them: "n=1025, m=3".
local function describe_parameters(scop, check, values)
  local parts = {}
  for _, name in ipairs(names_of { check.condition }) do
    local parameter = scop.parameters[name]
    if not parameter.dimension then parts[#parts + 1] = ("%s=%d"):format(parameter.variable.name, values[name]) end
  end
  return #parts == 0 and "" or " for " .. table.concat(parts, ", ")
end

--- An element, or the row whose length is meant, of which one subscript is known.
local function element_of(name, rank, dimension, subscript)
  return name .. ("[_]"):rep(dimension - 1) .. subscript .. (subscript == "" and "" or ("[_]"):rep(rank - dimension))
end

--- How far a flat array is left, from 0: the greatest place, or the least one, in the row that a check has found. It is
-- found when it is asked for.
local function place_of(scop, check, values)
  local array, dimension, reached = check.array, check.dimension, {}
  local formulas, place = isl_text.in_last(check.access, dimension), 0
  for d = 1, dimension - 1 do reached[d] = values[d == 1 and ast.size(array, 1) or ast.last(array, d)] - 1 end
  reached[dimension] = bounds.evaluator(check.value)(values)
  for d = dimension + 1, array.rank do
    formulas[d - 1] = ("%s = %.0f"):format(check.access.subscripts[d - 1], reached[d - 1])
    local map = isl_text.subscript(scop, check.access, d, formulas)
    local answers = assert(require "clcompute.poly".extremes { questions = { { context = isl_text.context(scop, map),
      map = map, outside = "{ [x] }", greatest = check.side == "above" } } })
    reached[d] = bounds.evaluator(answers[1].value)(values)
  end
  for d = 1, array.rank do place = (d > 1 and place * values[ast.size(array, d)] or 0) + reached[d] end
  return place
end

--- A failed check in words: "a[_][1025] is needed at line 3 for n=1025, but #a[_] is 1024".
-- @tparam table scop
-- @tparam table check
-- @tparam table values of the parameters, by their names in isl
-- @treturn string
function bounds.describe(scop, check, values)
  local array, is_flat = check.array.like or check.array, check.array.pitches ~= nil
  local rank, d = is_flat and 1 or array.rank, is_flat and 1 or check.dimension
  local place = is_flat and place_of(scop, check, values) or bounds.evaluator(check.value)(values)
  local reached, length = place + scop.base, values[ast.size(check.array, is_flat and 0 or d)]
  local row = element_of(array.name, rank, d, "")
  local limit = ("#%s is %d"):format(row, length)
  if check.side == "below" then
    local hint = reached == 0 and not array.is_made and "; functions that count from 0 are compiled with base = 0" or ""
    limit = ("%s begins at %d%s"):format(row, scop.base, hint)
  elseif scop.base ~= 1 then
    limit = ("%s ends at %d"):format(row, length + scop.base - 1)
  end
  return ("%s is needed at line %d%s, but %s"):format(element_of(array.name, rank, d, ("[%.0f]"):format(reached)),
    check.access.node.line, describe_parameters(scop, check, values), limit)
end

-- --- coverage ------------------------------------------------------------------------------
--
-- A nest needs what an array held before if it leaves an element unwritten, or reads one before it has written it.
-- Where it does neither, the array need not be copied to where the nest runs.

local BUDGET = 300000 -- a copy too many is no fault, and there are many arrays and nests to ask for

--- Whether a nest has writes to an array of which data decide if they happen: those cover nothing.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table node the nest, or a task
-- @tparam table array its variable
-- @treturn boolean
function bounds.is_undecided(scop, node, array)
  for _, access in ipairs(scops.within(scop, node)) do
    if access.variable == array and access.write and not access.must then return true end
  end
  return false
end

local function elements_of(access) return table.concat(access.subscripts, ", ") end

--- Whether the statement of a write reads the element before.
local function is_update(write)
  for _, access in ipairs(write.statement.accesses) do
    local is_certain = access.variable == write.variable and not access.write and access.certain and #access.guard == 0
    if is_certain and elements_of(access) == elements_of(write) then return true end
  end
  return false
end

--- Whether each write of an array is an update: the first of an element needs what the array held before.
local function is_updated(accesses, array)
  for _, access in ipairs(accesses) do
    if access.variable == array and access.write and not is_update(access) then return false end
  end
  return true
end

--- The condition under which a nest needs an array's values.
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @tparam table node the nest, or a task
-- @tparam table array its variable
-- @tparam ?integer budget in isl's operations
-- @treturn string|boolean a Lua expression over parameters and the variables of the loops around, for when the nest
-- runs; true or false where it always or never does. Where the budget is exceeded, true
function bounds.needed(scop, node, array, budget)
  if ast.is_scratch(array) and not array.is_made then return false end -- it held nothing
  local poly = require "clcompute.poly"
  local extent, rows, is_written, around = isl_text.extent(scop, array), {}, false, nil
  local texts = { extent }
  local accesses, outer = scops.within(scop, node)
  if is_updated(accesses, array) then return true end
  for _, access in ipairs(accesses) do
    if access.variable == array and (access.must or not access.write) then
      local map = isl_text.access(scop, access, outer)
      rows[#rows + 1] = { map = map, write = access.write, schedule = isl_text.schedule(scop, access.statement, outer) }
      texts[#texts + 1] = map
      is_written, around = is_written or access.write, table.move(access.statement.loops, 1, outer, 1, {})
    end
  end
  if not is_written then return true end
  local text = poly.uncovered { context = isl_text.context(scop, table.concat(texts, " "), around),
    extent = extent, accesses = rows, budget = budget or BUDGET }
  return text == nil or text == "true" or text
end

return bounds
