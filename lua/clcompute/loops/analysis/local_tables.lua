-- SPDX-License-Identifier: MIT

--- Tables that a function makes are arrays of the call's own. This finds how large they get, by where they are stored;
-- gives each pass of parallel loops around `local t = {}` one of its own; and proves that what is read was stored
-- before, as Lua has nil elsewhere.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local isl_text = require "clcompute.loops.analysis.isl_text"
local scops = require "clcompute.loops.analysis.scop"
local walk = require("clcompute.loops.tree").walk

local local_tables = {}

local BUDGET = 1000000 -- of operations of isl for a question
local MOST_DIMENSIONS = 4 -- of a buffer

local function made(tree)
  local list = {}
  for _, array in ipairs(tree.scratch or {}) do
    if array.is_made then list[#list + 1] = array end
  end
  return list
end

-- --- one for each pass -------------------------------------------------------------------------

--- Whether the passes of a loop can be counted from its first one.
local function is_countable(loop)
  local firsts = bounds.firsts(loop)
  return loop.step == 1 and not loop.irregular and firsts ~= nil and #firsts == 1
end

--- The loops around a table of which each pass may have one of its own; of a flat one that is a matrix none has.
local function loops_around(array)
  local list = {}
  for _, loop in ipairs(array.pitches and {} or array.loops) do
    if is_countable(loop) and #list + array.rank < MOST_DIMENSIONS then list[#list + 1] = loop end
  end
  return list
end

local function elements_of(tree, array)
  local list = {}
  walk.nodes(tree.body, function(node)
    if node.kind == "index" and node.array == array then list[node] = true end
  end)
  return list
end

--- Lets each pass of some loops have elements of its own.
local function expand(tree, array, loops)
  for element in pairs(elements_of(tree, array)) do
    local subscripts, checked = {}, element.checked and {}
    for d, loop in ipairs(loops) do
      local place = ast.node("binary", { op = "-", type = "int", left = bounds.name(loop.variable), right = loop.from })
      subscripts[d] = bounds.plus(place, tree.base)
    end
    for d, subscript in ipairs(element.subscripts) do
      subscripts[#loops + d] = subscript
      if checked then checked[#loops + d] = element.checked[d] end
    end
    element.subscripts, element.checked = subscripts, checked
  end
  array.rank = array.rank + #loops
end

--- Takes away the elements of passes that are not parallel in spite of them.
local function contract(tree, array, loops)
  local kept = {}
  for d, loop in ipairs(loops) do kept[d] = loop.parallel end
  for element in pairs(elements_of(tree, array)) do
    local subscripts, checked = {}, element.checked and {}
    for d, subscript in ipairs(element.subscripts) do
      if d > #loops or kept[d] then
        subscripts[#subscripts + 1] = subscript
        if checked then checked[#subscripts] = element.checked[d] end
      end
    end
    element.subscripts, element.checked = subscripts, checked
  end
  for d in ipairs(loops) do
    if not kept[d] then array.rank = array.rank - 1 end
  end
end

--- Gives passes of loops that are parallel then tables of their own.
-- @tparam table tree with types
-- @tparam function analyse finds out `parallel` of all loops of the tree as it is then
function local_tables.expand(tree, analyse)
  local around, has_any = {}, false
  for _, array in ipairs(made(tree)) do
    around[array] = loops_around(array)
    if #around[array] > 0 then
      expand(tree, array, around[array])
      has_any = true
    end
  end
  if not has_any then return end
  analyse()
  for array, loops in pairs(around) do contract(tree, array, loops) end
end

-- --- how large ---------------------------------------------------------------------------------

--- The writes of a table of which data do not say where they are; of one with a cursor all.
local function writes_of(scop, array)
  local list = {}
  for _, statement in ipairs(scop.statements) do
    for _, access in ipairs(statement.accesses) do
      local is_told = array.cursor or not access.node.checked
      if access.variable == array and access.write and is_told then list[#list + 1] = access end
    end
  end
  return list
end

--- The loops that subscripts speak of, and those that bounds of these speak of.
local function loops_of(subscripts)
  local is_meant, list = {}, {}
  local function add(part)
    local loop = part.kind == "name" and part.variable.loop
    if not loop or is_meant[loop] then return end
    is_meant[loop], list[#list + 1] = true, loop
    walk.nodes({ loop.from, loop.to }, add)
  end
  walk.nodes(subscripts, add)
  return list
end

--- The questions how large a subscript gets: of elements that are stored, and of rows that are made, which may have no
-- elements.
local function questions_of(scop, array, writes, d)
  local maps, rows = {}, {}
  for i, write in ipairs(writes) do maps[i] = isl_text.subscript(scop, write, d) end
  for _, row in ipairs(array.rows) do
    local subscript = row.subscripts[d]
    maps[#maps + 1] = subscript and isl_text.subscript_in(scop, subscript, loops_of { subscript })
  end
  for i, map in ipairs(maps) do
    rows[i] = { context = isl_text.context(scop, map), map = map, outside = "{ [x] : x >= 0 }", greatest = true }
  end
  return rows
end

--- The length of a dimension, as a text of Lua; nil where the budget is exceeded.
local function size_of(scop, array, writes, d)
  local rows, parts = questions_of(scop, array, writes, d), { "0" }
  local answers = require "clcompute.poly".extremes { questions = rows, budget = BUDGET }
  for _, answer in ipairs(answers or {}) do
    if answer.condition then
      parts[#parts + 1] = ("((%s) and (%s) + 1 or 0)"):format(answer.condition, answer.value)
    end
  end
  return answers and (#parts == 1 and "0" or ("math.max(%s)"):format(table.concat(parts, ", "))) or nil
end

--- How many passes a loop has at most whose bounds a call's numbers tell, as a text of Lua; nil for others.
local function told_passes(scop, loop, loops)
  local is_up, first, variable = loop.step > 0, loop.from, bounds.name(loop.variable)
  local left, right = is_up and variable or first, is_up and first or variable
  local passed = ast.node("binary", { op = "-", type = "int", left = left, right = right })
  if loop.word or not affine.of(passed) then return nil end
  local map = isl_text.subscript_in(scop, bounds.plus(passed, scop.base), loops)
  local answers = require "clcompute.poly".extremes { budget = BUDGET, questions = {
    { context = isl_text.context(scop, map), map = map, outside = "{ [x] : x >= 0 }", greatest = true } } }
  local answer = answers and answers[1]
  if not answer then return nil end
  return answer.condition and ("((%s) and (%s) // %d + 1.0 or 0)"):format(answer.condition, answer.value,
    math.abs(loop.step)) or "0"
end

--- The dimension in which a table gets longer: the last one, or that of its rows.
local function cursor_dimension(array)
  return array.rank - (#array.rows > 0 and 1 or 0)
end

local most_of

--- How many passes a loop has at most: one up to a table's cursor, as many as that may get.
local function passes_of(tree, scop, loop, loops)
  for _, array in ipairs(made(tree)) do
    local above = array.cursor and loop.step > 0 and bounds.offset(loop.to, array.cursor)
    local most = above and loop.from.value and loop.from.value > 0 and most_of(tree, scop, array)
    if most then return ("(%s + %d)"):format(most, math.max(above, 0)) end
  end
  return told_passes(scop, loop, loops)
end

--- How long a table gets at most that is appended to, as a text of Lua: as if each statement that does so did in each
-- pass. Nil where data decide it, or where another table has the same cursor.
function most_of(tree, scop, array)
  local sums = { ("%d"):format(array.cursor.definition.value) }
  for _, write in ipairs(writes_of(scop, array)) do
    local factors = { "1.0" }
    local is_end = bounds.offset(write.node.subscripts[cursor_dimension(array)], array.cursor) ~= nil
    for d = #array.loops + 1, is_end and #write.statement.loops or 0 do
      local passes = passes_of(tree, scop, write.statement.loops[d], write.statement.loops)
      if not passes then return nil end
      factors[#factors + 1] = passes
    end
    if is_end then sums[#sums + 1] = table.concat(factors, " * ") end
  end
  return #sums > 1 and ("(%s)"):format(table.concat(sums, " + ")) or nil
end

--- How long a table with a cursor gets at most: its own, or the one of another table that goes as far.
local function length_of(tree, scop, array)
  return most_of(tree, scop, array) or array.filled and passes_of(tree, scop, array.filled)
end

--- Finds how large tables get: `sizes`.
-- @tparam table tree
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn ?table the table whose size is not found
function local_tables.measure(tree, scop)
  for _, array in ipairs(made(tree)) do
    array.sizes = {}
    local writes = writes_of(scop, array)
    for d = 1, array.pitches and 1 or array.rank do -- of further dimensions the pitches tell
      local is_end = array.cursor and d == cursor_dimension(array)
      array.sizes[d] = is_end and length_of(tree, scop, array)
        or #writes > 0 and not is_end and size_of(scop, array, writes, d) or nil
      if not array.sizes[d] then return array end
    end
  end
end

-- --- what is read ------------------------------------------------------------------------------

--- That subscripts which are looked at as they are used are within a table.
local function inside(access)
  local formulas = {}
  for d in pairs(access.node.checked or {}) do
    formulas[#formulas + 1] = ("0 <= %s < %s"):format(access.subscripts[d], ast.size(access.variable, d))
  end
  return formulas
end

--- The condition under which an element may be read or returned that nothing was stored in, as `clcompute.poly` has it.
local function uncovered(scop, array)
  local rows, texts, outer, own = {}, {}, #array.loops, {}
  for _, access in ipairs(scops.accesses_in(scop, array.loops[outer])) do
    if access.variable == array then own[#own + 1] = access end
  end
  for _, access in ipairs(scops.sure(own, array.is_returned)) do
    local map = isl_text.access(scop, access, outer, inside(access))
    texts[#texts + 1] = map
    rows[#rows + 1] = { map = map, write = access.write, schedule = isl_text.schedule(scop, access.statement, outer) }
  end
  if #rows == 0 then return "true" end -- all are stored where data say
  local extent = array.is_returned and isl_text.extent(scop, array) or nil -- Lua's would have no such elements
  texts[#texts + 1] = extent
  return require "clcompute.poly".uncovered { accesses = rows, extent = extent, budget = BUDGET,
    context = isl_text.context(scop, table.concat(texts, " "), array.loops) }
end

--- Whether a condition speaks of a call's numbers alone.
local function is_of_call(condition, loops)
  for _, loop in ipairs(loops) do
    if tostring(condition):find("%f[%w_]" .. loop.variable.id .. "%f[^%w_]") then return false end
  end
  return type(condition) == "string"
end

--- The tables of which elements may be read, or returned, that nothing was stored in.
-- @tparam table tree
-- @tparam table scop
-- @treturn {table,...} `{ array=, condition= }`: under which condition, an expression of Lua over a call's numbers;
-- "true" where nothing is known
function local_tables.gaps(tree, scop)
  local list = {}
  for _, array in ipairs(made(tree)) do
    local condition = not array.cursor and uncovered(scop, array) -- up to its cursor one is full
    if condition ~= false then
      list[#list + 1] = { array = array, condition = is_of_call(condition, array.loops) and condition or "true" }
    end
  end
  return list
end

return local_tables
