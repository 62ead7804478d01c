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

local_tables.UNSET = "elements of '%s', which each pass makes anew, may be read before anything is stored in them: "
  .. "fill it first, as by 'for k = 1, most do t[k] = 0 end', or make it before the loop"

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

--- The elements of a table, as keys, and its rows where they are made.
local function elements_of(tree, array)
  local list = walk.set(array.rows)
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

--- The writes of a table of which data do not say where they are; of a list all.
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

--- Whether a call's numbers tell the bounds of all loops that subscripts speak of, as far as they go; whatever the
-- step is, if it is known where to.
local function are_told(subscripts)
  for _, loop in ipairs(loops_of(subscripts)) do
    local is_open = loop.pace and loop.is_open
    if loop.word or is_open or not bounds.firsts(loop) or not bounds.lasts(loop) then return false end
  end
  return true
end

--- The greatest values of subscripts, from 0, as texts of Lua, each with the condition that there is one; nil where the
-- budget is exceeded.
-- @tparam {string,...} maps
local function greatest(scop, maps)
  local rows, list = {}, {}
  for i, map in ipairs(maps) do
    rows[i] = { context = isl_text.context(scop, map), map = map, outside = "{ [x] : x >= 0 }", greatest = true }
  end
  local answers = require "clcompute.poly".extremes { questions = rows, budget = BUDGET }
  for _, answer in ipairs(answers or {}) do
    if answer.condition then list[#list + 1] = answer end
  end
  return answers and list
end

--- The length of a dimension, as a text of Lua: of elements that are stored, and of rows that are made, which may have
-- no elements; nil where it is not found.
local function size_of(scop, array, writes, d)
  local maps, parts = {}, { "0" }
  for _, write in ipairs(writes) do
    if not are_told { write.node.subscripts[d] } then return nil end
    maps[#maps + 1] = isl_text.subscript(scop, write, d)
  end
  for _, row in ipairs(array.rows) do
    local subscript = row.subscripts[d]
    if subscript and not are_told { subscript } then return nil end
    maps[#maps + 1] = subscript and isl_text.subscript_in(scop, subscript, loops_of { subscript })
  end
  local answers = greatest(scop, maps)
  for _, answer in ipairs(answers or {}) do
    parts[#parts + 1] = ("((%s) and (%s) + 1 or 0)"):format(answer.condition, answer.value)
  end
  return answers and (#parts == 1 and "0" or ("math.max(%s)"):format(table.concat(parts, ", "))) or nil
end

-- --- how long lists may get ----------------------------------------------------------------------
--
-- A list has room for as many elements as if each statement that appends did so in each pass of the loops around.

--- How many passes a loop has at most whose bounds a call's numbers tell, as a text of Lua; nil for others.
local function told_passes(scop, loop)
  local is_up, first, variable = loop.step > 0, loop.from, bounds.name(loop.variable)
  local left, right = is_up and variable or first, is_up and first or variable
  local passed = ast.node("binary", { op = "-", type = "int", left = left, right = right })
  if loop.pace or not affine.of(passed) or not are_told { passed } then return nil end
  local map = isl_text.subscript_in(scop, bounds.plus(passed, scop.base), loops_of { passed })
  local answers = greatest(scop, { map })
  if not answers or #answers == 0 then return answers and "0" end
  return ("((%s) and (%s) // %d + 1.0 or 0)"):format(answers[1].condition, answers[1].value, math.abs(loop.step))
end

local Lengths = {}
Lengths.__index = Lengths

--- How many passes a loop has at most: one up to the length of a list, as many as that may get.
function Lengths:passes(loop)
  local low, high, above, owner = loop.from, loop.to, nil, nil
  if loop.step < 0 then low, high = high, low end
  for _, array in ipairs(made(self.tree)) do
    local offset = array.cursor and bounds.offset(high, array.cursor)
    if offset and self:has_ends(array) then above, owner = offset, array end
  end
  if not owner then return told_passes(self.scop, loop) end
  local most = low.value and low.value > 0 and self:most(owner)
  return most and ("(%s + %d)"):format(most, math.max(above, 0)) or nil
end

--- The writes by which a list gets longer; of a row, by which its first element is stored.
function Lengths:ends(array)
  local list = {}
  for _, write in ipairs(writes_of(self.scop, array)) do
    local subscripts = write.node.subscripts
    local is_first = not array.row_length or subscripts[#subscripts].value == self.tree.base
    if write.node.is_end and is_first then list[#list + 1] = write end
  end
  return list
end

function Lengths:has_ends(array) return #self:ends(array) > 0 end

--- How long a list gets at most that is appended to, as a text of Lua; nil where data decide it, or where it depends on
-- itself.
function Lengths:most(array)
  if self.is_asked[array] then return nil end
  self.is_asked[array] = true
  local sums = { ("%d"):format(array.cursor.definition.value) }
  for _, write in ipairs(self:ends(array)) do
    local factors = { "1.0" }
    for d = #array.loops + 1, #write.statement.loops do
      local passes = self:passes(write.statement.loops[d])
      if not passes then return nil end
      factors[#factors + 1] = passes
    end
    sums[#sums + 1] = table.concat(factors, " * ")
  end
  self.is_asked[array] = nil
  return ("(%s)"):format(table.concat(sums, " + "))
end

--- How long a table with a cursor gets at most: its own, or that of the list that it follows.
function Lengths:of(array)
  if self:has_ends(array) then return self:most(array) end
  return array.filled and self:passes(array.filled) or nil
end

--- The dimension in which a list gets longer: the last one, or that of its rows.
local function list_dimension(array)
  return array.rank - (array.row_length and 1 or 0)
end

--- Finds how large tables get: `sizes`.
-- @tparam table tree
-- @tparam table scop of `clcompute.loops.analysis.scop`
-- @treturn ?table the table whose size is not found
function local_tables.measure(tree, scop)
  local lengths = setmetatable({ tree = tree, scop = scop, is_asked = {} }, Lengths)
  for _, array in ipairs(made(tree)) do
    array.sizes = {}
    local writes = writes_of(scop, array)
    for d = 1, array.pitches and 1 or array.rank do -- of further dimensions the pitches tell
      if array.cursor and d == list_dimension(array) then
        array.sizes[d] = lengths:of(array)
      elseif #writes > 0 then
        array.sizes[d] = size_of(scop, array, writes, d)
      end
      if not array.sizes[d] then return array end
    end
  end
end

-- --- what is read ------------------------------------------------------------------------------

--- That subscripts which are looked at as they are used are within a table. Where a condition asks whether a number is
-- there, or a default follows, those beyond it are no error.
local function inside(access)
  local formulas, may_miss = {}, access.node.may_miss
  if may_miss == "default" or may_miss == "condition" and not access.variable.is_flags then return formulas end
  for d in pairs(access.node.checked or {}) do
    formulas[#formulas + 1] = ("0 <= %s < %s"):format(access.subscripts[d], ast.size(access.variable, d))
  end
  return formulas
end

--- An access of a table whose elements of each pass of the loops around it are others.
local function in_passes(access, loops)
  local subscripts = {}
  for d, loop in ipairs(loops) do subscripts[d] = loop.variable.id end
  table.move(access.subscripts, 1, #access.subscripts, #loops + 1, subscripts)
  return setmetatable({ subscripts = subscripts }, { __index = access })
end

--- The condition under which an element may be read or returned that nothing was stored in, as `clcompute.poly` has it.
-- @tparam table scop
-- @tparam table array
-- @tparam {table,...} loops around the table whose variables the condition may speak of: all, or none
local function uncovered(scop, array, loops)
  local rows, texts, outer, own = {}, {}, #loops, {}
  for _, access in ipairs(scops.accesses_in(scop, array.loops[#array.loops])) do
    if access.variable == array then own[#own + 1] = access end
  end
  for _, access in ipairs(scops.sure(own, array.is_returned)) do
    local map = isl_text.access(scop, outer > 0 and access or in_passes(access, array.loops), outer, inside(access))
    texts[#texts + 1] = map
    rows[#rows + 1] = { map = map, write = access.write, schedule = isl_text.schedule(scop, access.statement, outer) }
  end
  if #rows == 0 then return "true" end -- all are stored where data say
  local extent = array.is_returned and isl_text.extent(scop, array) or nil -- Lua's would have no such elements
  texts[#texts + 1] = extent
  return require "clcompute.poly".uncovered { accesses = rows, extent = extent, budget = BUDGET,
    context = isl_text.context(scop, table.concat(texts, " "), loops) }
end

--- Whether a condition speaks of a call's numbers alone.
local function is_of_call(condition, loops)
  for _, loop in ipairs(loops) do
    if tostring(condition):find("%f[%w_]" .. loop.variable.id .. "%f[^%w_]") then return false end
  end
  return type(condition) == "string"
end

--- The same, over a call's numbers: where it speaks of passes, that there is such a pass, which takes longer to find.
local function uncovered_in_call(scop, array)
  local condition = uncovered(scop, array, array.loops)
  if not condition or is_of_call(condition, array.loops) then return condition end
  return uncovered(scop, array, {})
end

--- Whether a condition asks for numbers of a list, of which there may be none.
local function is_asked(tree, array)
  return array.cursor and not array.is_flags and walk.find(tree.body, function(node)
    return node.array == array and node.may_miss == "condition"
  end) ~= nil
end

--- The tables of which elements may be read, or returned, that nothing was stored in.
-- @tparam table tree
-- @tparam table scop
-- @tparam ?boolean is_of_pass whether only tables count that passes make anew
-- @treturn {table,...} `{ array=, condition= }`: under which condition, an expression of Lua over a call's numbers;
-- "true" where nothing is known
function local_tables.gaps(tree, scop, is_of_pass)
  local list = {}
  for _, array in ipairs(made(tree)) do
    local is_left = is_of_pass and #array.loops == 0
    local condition = (array.has_doubtful_rows or is_asked(tree, array)) and "true"
      or not array.cursor and not is_left and uncovered_in_call(scop, array) -- up to its cursor one is full
    if not is_left and condition ~= false then list[#list + 1] = { array = array, condition = condition or "true" } end
  end
  return list
end

return local_tables
