-- SPDX-License-Identifier: MIT

--- Lists: tables that a function makes and that get longer at their end, by `t[#t + 1] = e`, `table.insert(t, e)`, or
-- `n = n + 1; t[n] = e`. A table that is appended to once in each pass of one loop, and stored nowhere else, needs no
-- counter: the pass says which element is stored, so the loop may be parallel. Of other lists a local counts the
-- elements, the list's cursor: `n`, or one that is made here.
--
-- Which lists need a cursor is seen as statements are resolved, when the table is made already. Then all is resolved
-- once more, with a cursor from the beginning (`need_cursor`). `list_proofs` looks at what comes out.

local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local list_proofs = require "clcompute.loops.front.list_proofs"
local lua_text = require("clcompute.loops.tree").lua_text
local made_extents = require "clcompute.loops.front.made_extents"
local restrictions = require "clcompute.loops.front.restrictions"
local walk = require("clcompute.loops.tree").walk

local appending = {}

-- --- as it is written --------------------------------------------------------------------------

--- Whether a parsed target is `t[#t + 1]`.
function appending.is_end(target)
  local sum = target.kind == "index" and #target.subscripts == 1 and target.subscripts[1]
  return sum and sum.op == "+" and sum.left.kind == "length" and sum.right.value == 1
    and sum.left.operand.kind == "name" and sum.left.operand.name == target.name
end

--- Whether a parsed call is `table.insert(t, e)`.
function appending.is_insert(call)
  local callee, list = call.callee, call.arguments
  return callee.name == "table" and callee.field == "insert" and #list == 2 and list[1].kind == "name"
end

--- `table.insert(t, e)` as `t[#t + 1] = e`.
function appending.of_insert(call)
  local function node(kind, fields) return ast.parsed(kind, fields, call) end
  local name = call.arguments[1]
  local place = node("binary", { op = "+", left = node("length", { operand = name }),
    right = node("number", { value = 1 }) })
  return node("assign", { target = node("index", { name = name.name, subscripts = { place } }),
    value = call.arguments[2] })
end

-- --- cursors -----------------------------------------------------------------------------------

--- Declares the cursor of a table, if it turned out that it needs one; its first value is how many items are there.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table array
-- @tparam {table,...} into statements
function appending.declare_cursor(self, array, into)
  local token = array.node
  if not self.wanted.cursors[token.offset] then return end
  local value = self:node("number", token, { value = array.item_count })
  array.cursor = self:add_local(into, "length of " .. token.text, token, value, { assigned = token, number = token })
end

--- Resolves all once more, with a cursor for a table.
local function need_cursor(self, array, parsed)
  if self.base ~= 1 then
    self:fail(parsed, "'%s' gets longer: that is taken from functions that count from 1", array.name)
  end
  self.again(self.wanted.cursors, array.node.offset, true)
end

--- Whether something in parsed statements is appended to a table of a name.
local function has_append(parsed, name)
  local is_end = parsed.kind == "index" and parsed.name == name and appending.is_end(parsed)
  local is_insert = parsed.kind == "call" and appending.is_insert(parsed) and parsed.arguments[1].name == name
  if is_end or is_insert then return true end
  for _, part in next, parsed do
    if type(part) == "table" and has_append(part, name) then return true end
  end
  return false
end

--- Refuses what needs to know how long a table is, unless something is appended to it further on: then it has a cursor.
local function refuse_length(self, array, parsed, message)
  if not array.cursor and self.base == 1 and has_append(self.statements, array.name) then
    need_cursor(self, array, parsed)
  end
  self:fail(parsed, message, array.name)
end

--- Takes what counts the elements of tables for their cursors where they have none; a table that is filled as far as
-- another one goes has that one's.
local function find_cursors(self)
  local is_cursor, is_new = {}, true
  while is_new do
    is_new = false
    for _, array in ipairs(self.base == 1 and self.made or {}) do
      local notes, loop = self.stores[array], array.filled
      local last = loop and loop.to.kind == "name" and loop.to.variable
      local counter = notes and notes.counter
      array.cursor = array.cursor or counter and counter.assigned and counter or is_cursor[last] and last or nil
      if array.cursor and not is_cursor[array.cursor] then is_cursor[array.cursor], is_new = true, true end
    end
  end
end

-- --- appending ---------------------------------------------------------------------------------

--- Whether an expression has no element, and no local that is assigned before here.
local function is_steady(node)
  return not walk.find({ node }, function(part)
    return part.kind == "index" or part.kind == "name" and part.variable.assigned ~= nil
  end)
end

local SUMS, BY_LITERALS = { ["+"] = true, ["-"] = true }, { ["*"] = true, ["//"] = true, ["%"] = true }

--- Whether an expression is an integer in every call: a sum, as bounds of loops are, whose numbers have to be integers.
local function is_integer(node)
  if node.kind == "number" then return math.type(node.value) == "integer" end
  if node.kind == "name" then
    return node.variable.role ~= "local" or not node.variable.assigned and is_integer(node.variable.definition)
  elseif node.kind == "unary" then
    return node.op == "-" and is_integer(node.operand)
  end
  local is_sum = SUMS[node.op] or BY_LITERALS[node.op] and node.right.kind == "number"
  return node.kind == "length" or is_sum and is_integer(node.left) and is_integer(node.right) or false
end

--- Whether a statement here is one of each pass of the first loop behind where a table is made.
local function is_in_each_pass(self, array)
  local loop = self.loops[#array.loops + 1]
  return #self.loops == #array.loops + 1 and self.branches == self.branches_at[array]
    and loop.step == 1 and not loop.pace and not loop.word
end

--- Refuses appends in a `while`: how much room they take is not known.
local function check_loops(self, array, parsed)
  for d = #array.loops + 1, #self.loops do
    if self.loops[d].word then
      self:fail(parsed, "how long '%s' gets is not known before a call, as data say how often this '%s' goes round: "
        .. "fill it before, by 'for i = 1, most do t[i] = 0 end', and count", array.name, self.loops[d].word)
    end
  end
end

--- Which pass of a loop it is, from 1 on.
local function pass_of(loop, parsed)
  if loop.from.value == 1 then return bounds.name(loop.variable) end
  local before = bounds.plus(ast.copies { loop.from }[1], -1)
  return ast.node("binary", { op = "-", type = "int", left = bounds.name(loop.variable), right = before }, parsed)
end

--- Whether passes of a loop are counted by its variable, from and to numbers that are the same in all of it.
local function counts_passes(loop)
  return loop.step == 1 and not loop.pace and not loop.word and is_integer(loop.from) and is_steady(loop.to)
end

--- Whether the statements here are all that store in a table, one in each pass of a loop.
local function stores_all(self, array)
  local loop = self.loops[#self.loops]
  local is_only = not array.appended and not self.stores[array] and array.item_count == 0 and not array.is_counted
  return is_only and #self.loops > #array.loops and is_in_each_pass(self, array) and counts_passes(loop)
end

--- The subscript of a row that becomes one by `t[#t + 1] = row`.
function appending.place_of_row(self, array, parsed)
  if array.cursor or not stores_all(self, array) then
    self:fail(parsed, "a row is appended in each pass of one loop in steps of 1, or in braces, t[#t + 1] = { x, y }; "
      .. "elsewhere let a loop's variable say which one it is: t[r] = row")
  end
  return pass_of(self.loops[#self.loops], parsed)
end

--- The subscript of the element that is appended: behind the cursor, or by the number of the pass.
local function place_of(self, array, parsed)
  if array.cursor then
    check_loops(self, array, parsed)
    return self:node("binary", parsed, { op = "+", left = self:node("name", parsed, { variable = array.cursor }),
      right = self:node("number", parsed, { value = 1 }) })
  end
  local loop = self.loops[#self.loops]
  if not stores_all(self, array) then need_cursor(self, array, parsed) end
  array.appended = { loop = loop, at = parsed }
  return pass_of(loop, parsed)
end

--- Lets the cursor go on.
local function step(self, array, parsed, into)
  if not array.cursor then return end
  into[#into + 1] = self:node("assign", parsed, { target = self:node("name", parsed, { variable = array.cursor }),
    value = place_of(self, array, parsed) })
end

--- Adds the statements of `t[#t + 1] = value`.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed
-- @tparam table value resolved
-- @tparam {table,...} into
function appending.append(self, array, parsed, value, into)
  restrictions.index(self.origin, array, self.site or parsed, 1)
  local target = self:node("index", parsed, { array = array, subscripts = { place_of(self, array, parsed) },
    is_end = true })
  into[#into + 1] = self:node("assign", parsed, { value = value, target = target })
  step(self, array, parsed, into)
end

--- Refuses `t[#t + 1] = value` where the value appends to the table itself: Lua takes the length before.
-- @tparam {table,...} list statements, from `first` on those of the value
function appending.check_value(self, array, parsed, list, first)
  for i = first, array.cursor and #list or 0 do
    if walk.find({ list[i] }, function(node) return node.target and node.target.variable == array.cursor end) then
      self:fail(parsed, "what is appended to '%s' appends to it, too: give it to a local before", array.name)
    end
  end
end

--- Adds the statements of `t[#t + 1] = { ... }`.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed the assignment
-- @tparam {table,...} into
-- @tparam function fill of `clcompute.loops.front.made_tables`
function appending.append_row(self, array, parsed, into, fill)
  local items = parsed.value.items
  array.row_length = array.row_length or #items
  if array.row_length ~= #items or #array.rows > 0 and not array.rows[1].is_end then
    self:fail(parsed, "all rows of '%s' are appended here, each with as many numbers", array.name)
  end
  local place = place_of(self, array, parsed)
  table.insert(array.rows, ast.node("index", { array = array, subscripts = { place }, is_end = true }, parsed))
  local first = #into + 1
  fill(self, array, { place }, parsed.value, into)
  for i = first, #into do
    if into[i].target and into[i].target.array == array then into[i].target.is_end = true end
  end
  appending.check_value(self, array, parsed, into, first)
  step(self, array, parsed, into)
end

appending.ROW = "'%s' is a row of '%s': append to it once in each pass of one loop right behind its '{}', or store in "
  .. "its elements, %s[x] = v"

--- Where the row of a table was made that goes by some subscripts, if in the loops around here, as `{}`.
local function row_here(self, array, subscripts)
  for _, row in ipairs(array.rows) do
    local made = self.rows[row]
    local is_it = made and not row.is_item and #row.subscripts == #subscripts and made.loop == self.loops[made.depth]
    for d, subscript in ipairs(is_it and subscripts or {}) do
      is_it = is_it and lua_text.expression(subscript) == lua_text.expression(row.subscripts[d])
    end
    if is_it then return made end
  end
end

--- Whether a statement here is one of each pass of the first loop behind where a row is made, and stores all of it.
local function fills_row(self, array, made)
  local loop = self.loops[made.depth + 1]
  return loop and #self.loops == made.depth + 1 and self.branches == made.branches and not made.appended
    and counts_passes(loop) and not self.element_stores[array]
end

--- Adds the statements of `row[#row + 1] = value`, of a row that the function makes: the pass says which element it is.
-- @tparam table self
-- @tparam table array
-- @tparam {table,...} subscripts resolved, of the row
-- @tparam table parsed the assignment
-- @tparam table value resolved
-- @tparam {table,...} into
function appending.append_to_row(self, array, subscripts, parsed, value, into)
  local made = row_here(self, array, subscripts)
  if not made or not fills_row(self, array, made) then
    self:fail(parsed, appending.ROW, parsed.target.name, array.name, parsed.target.name)
  end
  made.appended = { loop = self.loops[#self.loops], at = parsed }
  subscripts[#subscripts + 1] = pass_of(made.appended.loop, parsed)
  restrictions.index(self.origin, array, self.site or parsed, #subscripts)
  into[#into + 1] = self:node("assign", parsed, { value = value,
    target = self:node("index", parsed, { array = array, subscripts = subscripts }) })
end

--- Refuses rows that were appended to where something else may say how long they are.
local function check_rows(self, array)
  for _, row in ipairs(array.rows) do
    local appended = self.rows[row] and self.rows[row].appended
    if appended and (self.element_stores[array] or walk.breaks_out(appended.loop.body)) then
      self:fail(appended.at, appending.ROW, appended.at.target.name, array.name, appended.at.target.name)
    end
  end
end

--- Notes where else a table is stored: what may count its elements, and which loop fills it from 1 on.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam {table,...} subscripts resolved
-- @tparam table parsed
function appending.note(self, array, subscripts, parsed)
  local first = subscripts[1]
  if #subscripts > 1 and array.rank == #subscripts then self.element_stores[array] = true end
  if array.appended then need_cursor(self, array, parsed) end
  local notes = self.stores[array] or {}
  local variable = #subscripts == 1 and first.kind == "name" and first.variable or nil
  local counter = variable and variable.role == "local" and variable or nil
  if not self.stores[array] then notes.counter = counter end
  if counter and counter.assigned and notes.counter ~= counter then notes.counter = nil end
  self.stores[array] = notes
  local loop = first.kind == "name" and first.variable.loop
  local is_filling = loop and not array.filled and is_in_each_pass(self, array) and loop == self.loops[#self.loops]
    and loop.from.value == 1
  made_extents.note(self, array, first, is_filling)
  if array.is_counted and not array.filled and not (first.value and first.value <= array.item_count) then
    refuse_length(self, array, parsed, list_proofs.LONGER)
  end
  if is_filling then array.filled = loop end
end

-- --- lengths -----------------------------------------------------------------------------------

--- Whether a place is in the loop that stores all elements of a table.
local function is_in_loop(self, array, loop)
  return self.loops[#array.loops + 1] == loop
end

--- How many passes the loop has that fills a table, or appends to it; nil where that is not known.
local function passes_of(self, array)
  local loop = array.filled or array.appended and array.appended.loop
  if not loop or is_in_loop(self, array, loop) or walk.breaks_out(loop.body) then return nil end
  local to = bounds.without_zero(loop.to)
  if not is_integer(to) then return nil end
  local last = ast.copies { to }[1]
  if array.filled then return last end
  local before = bounds.plus(ast.copies { loop.from }[1], -1)
  return ast.node("binary", { op = "-", type = "int", left = last, right = before }, last)
end

--- The cursor of a table where it counts the elements that are there: one that fills the table up to another one's
-- does so behind the loop alone.
local function cursor_of(self, array)
  find_cursors(self)
  local is_own = array.cursor and array.cursor.node == array.node
  return (is_own or array.filled and not is_in_loop(self, array, array.filled)) and array.cursor or nil
end

local UNKNOWN = "the length of '%s', which is made here, is another one at each place: use the number that it gets"

--- How far a table goes at this place, as an expression; nil where that is not known.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed
-- @treturn ?table resolved
function appending.extent(self, array, parsed)
  return made_extents.at(self, array, parsed, passes_of)
end

--- What `#t` stands for.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed
-- @tparam integer dimension 1, or more of rows, which may differ
-- @treturn table resolved
function appending.length(self, array, parsed, dimension)
  if dimension > 1 then self:fail(parsed, UNKNOWN, array.name) end
  local cursor = cursor_of(self, array)
  if cursor then return self:node("name", parsed, { variable = cursor }) end
  if array.appended and is_in_loop(self, array, array.appended.loop) then need_cursor(self, array, parsed) end
  array.is_counted = true
  if not array.appended and not self.stores[array] then
    return self:node("number", parsed, { value = array.item_count })
  end
  local passes = self.base == 1 and passes_of(self, array)
  if not passes then refuse_length(self, array, parsed, UNKNOWN) end
  return self:node("call", parsed, { name = "max", arguments = { passes, self:node("number", parsed, { value = 0 }) } })
end

--- Adds what tells the length of a table that the function returns; `settle` says what that is.
-- @tparam table self
-- @tparam table array
-- @tparam table parsed
-- @tparam {table,...} into
function appending.give(self, array, parsed, into)
  if not array.is_made then return end
  array.length = array.length or self:variable("length of " .. array.name, { role = "array", node = parsed, loops = {},
    rank = 1, use = parsed, indexed = parsed, is_capture = true, is_result = true })
  local assign = self:node("assign", parsed, { value = self:node("number", parsed, { value = 0 }),
    target = self:node("index", parsed, { array = array.length, subscripts = {
      self:node("number", parsed, { value = self.base }) } }) })
  self.given[#self.given + 1] = { array = array, assign = assign, count = self.count }
  into[#into + 1] = assign
end

--- Gives tables their cursors once all is resolved, and what is returned their lengths: 0 where the cursor is not
-- declared yet.
-- @tparam table self
-- @treturn {table,...} arrays for lengths that nothing needs
function appending.settle(self)
  find_cursors(self)
  local needless = {}
  for _, array in ipairs(self.made) do
    check_rows(self, array)
    made_extents.settle(self, array)
    local appended = array.appended
    if appended and walk.breaks_out(appended.loop.body) then need_cursor(self, array, appended.at) end
    if array.length then table.insert(array.cursor and self.captures or needless, array.length) end
  end
  for _, given in ipairs(self.given) do
    local cursor = given.array.cursor
    if cursor and self.born[cursor] <= given.count then
      given.assign.value = self:node("name", given.assign, { variable = cursor })
    end
  end
  for _, array in ipairs(self.made) do array.length = array.cursor and array.length or nil end
  return needless
end

return appending
