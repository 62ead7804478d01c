-- SPDX-License-Identifier: MIT

--- Tables that a function makes and that get longer at their end: `t[#t + 1] = e`, `table.insert(t, e)`, or
-- `n = n + 1; t[n] = e`. One that does so once in each pass of one loop has the element of that pass there; for others
-- a local, their cursor, counts the elements. What `#t` stands for is the cursor, or the passes of the loop that fills
-- a table from 1 on.

local affine = require("clcompute.loops.tree").affine
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local list_proofs = require "clcompute.loops.front.list_proofs"
local walk = require("clcompute.loops.tree").walk

local appending = {}

-- --- as it is written --------------------------------------------------------------------------

--- Whether a parsed target is `t[#t + 1]`, of a name if one is given.
function appending.is_end(target, name)
  local sum = target.kind == "index" and #target.subscripts == 1 and target.subscripts[1]
  return sum and sum.op == "+" and sum.left.kind == "length" and sum.right.value == 1
    and sum.left.operand.kind == "name" and sum.left.operand.name == target.name
    and (not name or target.name == name)
end

--- `table.insert(t, e)` as `t[#t + 1] = e`; nil for other parsed calls.
function appending.of_call(call)
  local callee, list = call.callee, call.arguments
  if callee.name ~= "table" or callee.field ~= "insert" or #list ~= 2 or list[1].kind ~= "name" then return nil end
  local function node(kind, fields) return ast.parsed(kind, fields, call) end
  local place = node("binary", { op = "+", left = node("length", { operand = list[1] }),
    right = node("number", { value = 1 }) })
  return node("assign", { target = node("index", { name = list[1].name, subscripts = { place } }), value = list[2] })
end

--- The value that a parsed statement appends to a table of a name; nil where it does not.
local function appended(node, name)
  if node.kind == "perform" then node = appending.of_call(node.call) end
  return node and node.kind == "assign" and appending.is_end(node.target, name) and node.value or nil
end

local count

--- Counts what functions do with a table that is an argument of theirs.
local function count_in_call(self, call, name, counts)
  local denotation = call.callee.kind == "name" and self:denote(call.callee) or {}
  local parsed = denotation.tag == "inlined" and denotation.parsed
  if not parsed or counts.seen[parsed] then return end
  for i, argument in ipairs(call.arguments) do
    local parameter = argument.kind == "name" and argument.name == name and denotation.parameters[i]
    if parameter then
      counts.seen[parsed] = true
      count(self, parsed.body, parameter.text, counts)
      counts.seen[parsed] = nil
    end
  end
end

--- Counts in parsed nodes what is done with a table: how often it is appended to, stored in elsewhere, and the jumps
-- out of loops.
function count(self, node, name, counts)
  local value = appended(node, name)
  if value then
    counts.appends = counts.appends + 1
    return count(self, value, name, counts)
  end
  if node.kind == "call" then count_in_call(self, node, name, counts) end
  local is_stored = node.kind == "assign" and node.target.kind == "index" and node.target.name == name
  if is_stored then counts.stores = counts.stores + 1 end
  if node.kind == "break" then counts.breaks = counts.breaks + 1 end
  for _, part in pairs(node) do
    if type(part) == "table" then count(self, part, name, counts) end
  end
  return counts
end

local function count_in(self, nodes, name)
  return count(self, nodes, name, { appends = 0, stores = 0, breaks = 0, seen = {} })
end

--- Whether a parsed loop ends where data say: at the length of a table with a cursor, or at a local that changes.
local function is_open(self, loop)
  local to = loop.kind == "each" and loop.call.arguments[1] or loop.to.kind == "length" and loop.to.operand or loop.to
  local variable = to.kind == "name" and self:denote(to).variable
  return variable and (variable.cursor ~= nil or variable.role == "local" and variable.assigned ~= nil) or false
end

--- Whether a loop of a block appends once in each of its passes, which are known before a call.
local function has_one_each(self, block, first, name)
  for i = first, #block do
    local loop = block[i]
    if (loop.kind == "for" or loop.kind == "each") and (loop.step or 1) == 1 and not loop.pace
      and not is_open(self, loop) then
      for _, node in ipairs(loop.body) do
        if appended(node, name) then return count_in(self, loop.body, name).breaks == 0 end
      end
    end
  end
  return false
end

--- Whether a table needs a cursor from where it is made, as it is appended to otherwise than once in each pass; whether
-- it stays as it is.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam {table,...} block parsed statements
-- @tparam integer first where those behind `local t = { ... }` begin
-- @string name
-- @tparam integer items in the braces
-- @treturn boolean
-- @treturn boolean
function appending.uses(self, block, first, name, items)
  local counts = count_in(self, table.move(block, first, #block, 1, {}), name)
  local is_plain = counts.appends == 1 and counts.stores == 0 and items == 0 and has_one_each(self, block, first, name)
  return counts.appends > 0 and not is_plain, counts.appends == 0 and counts.stores == 0
end

-- --- as it is resolved -------------------------------------------------------------------------

--- Declares the cursor of a table, which has so many elements there.
-- @tparam table self of `clcompute.loops.front.denotations`
-- @tparam table array
-- @tparam table token of its name
-- @tparam integer items
-- @tparam {table,...} into statements
function appending.declare_cursor(self, array, token, items, into)
  local value = self:node("number", token, { value = items })
  local variable = self:variable("length of " .. token.text, { role = "local", node = token, definition = value,
    assigned = token, number = token })
  array.cursor = variable
  into[#into + 1] = self:node("local", token, { variable = variable, value = value })
end

--- The number of a pass of the loop in whose passes alone a table is appended to: its element has that.
local function pass_number(self, array, parsed)
  local loop = self.loops[#self.loops]
  local is_only = self.base == 1 and not array.appended and #self.loops == #array.loops + 1
  if not is_only or loop.step ~= 1 or loop.pace or not affine.of(loop.from) then
    self:fail(parsed, "'%s' gets longer by 't[#t + 1] = e' where it is made, not in a function that is called: store "
      .. "by a number of your own", array.name)
  end
  local place = ast.node("binary", { op = "-", type = "int", left = bounds.name(loop.variable),
    right = self.resolver.copied { loop.from }[1] }, parsed)
  array.appended = { loop = loop, at = parsed }
  return bounds.plus(place, 1)
end

--- Adds the statements of `t[#t + 1] = value`, or of a row in braces.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed the assignment
-- @tparam {table,...} into
function appending.append(self, array, parsed, into)
  local cursor, is_row = array.cursor, parsed.value.kind == "table"
  local value = not is_row and self.resolver.value(self, parsed.value, into)
  local function name() return self:node("name", parsed, { variable = cursor }) end
  local function after()
    return self:node("binary", parsed, { op = "+", left = name(), right = self:node("number", parsed, { value = 1 }) })
  end
  local place = cursor and after() or pass_number(self, array, parsed)
  if is_row then
    local row = array.rows[#array.rows]
    array.row_length = array.row_length or #parsed.value.items
    if array.row_length ~= #parsed.value.items or row and not bounds.offset(row.subscripts[1], cursor or row) then
      self:fail(parsed, "all rows of '%s' are appended here, each with as many numbers", array.name)
    end
    table.insert(array.rows, ast.node("index", { array = array, subscripts = { place } }, parsed))
    self.resolver.fill(self, array, { place }, parsed.value, into)
  else
    self.resolver.indexed(self, array, parsed, 1)
    into[#into + 1] = self:node("assign", parsed, { value = value,
      target = self:node("index", parsed, { array = array, subscripts = { place } }) })
  end
  if cursor then into[#into + 1] = self:node("assign", parsed, { value = after(), target = name() }) end
end

--- Notes where a table is stored: what may count its elements, and which loop fills it from 1 on.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam {table,...} subscripts resolved
function appending.note(self, array, subscripts)
  local notes = self.stores[array] or { is_first = true }
  local variable = #subscripts == 1 and subscripts[1].kind == "name" and subscripts[1].variable or nil
  local is_counter = variable and variable.role == "local" and variable.assigned
  if notes.is_first then notes.counter = is_counter and variable or nil end
  if is_counter and notes.counter ~= variable then notes.counter = nil end
  notes.is_first, self.stores[array] = false, notes
  local loop = subscripts[1].kind == "name" and subscripts[1].variable.loop
  if not loop or array.filled or #self.loops ~= #array.loops + 1 or loop ~= self.loops[#self.loops] then return end
  local is_from_first = loop.from.kind == "number" and loop.from.value == 1 and loop.step == 1 and not loop.pace
  if is_from_first and self.branches == self.branches_at[array] then array.filled = loop end
end

--- Takes what counts the elements of tables for their cursors where they have none; a table that is filled as far as
-- another one goes has that one's.
function appending.settle(self)
  local is_cursor = {}
  for _, array in ipairs(self.base == 1 and self.made or {}) do
    local notes, loop = self.stores[array], array.filled
    local last = loop and loop.to.kind == "name" and loop.to.variable
    array.cursor = array.cursor or notes and notes.counter or is_cursor[last] and last or nil
    if array.cursor then is_cursor[array.cursor] = true end
  end
end

--- Whether a loop is the one that a statement stands in first behind where a table is made.
local function is_within_loop(self, array, loop)
  return self.loops[#array.loops + 1] == loop
end

--- How many passes the loop has that fills a table, if it ended before; nil where that is not known.
local function passes_of(self, array)
  local loop = array.filled or array.appended and array.appended.loop
  if not loop or is_within_loop(self, array, loop) or walk.breaks_out(loop.body) then return nil end
  local to = bounds.without_zero(loop.to)
  if not list_proofs.is_steady(to) or not list_proofs.is_steady(loop.from) then return nil end
  local last = self.resolver.copied { to }[1]
  if array.filled then return last end
  local before = bounds.plus(self.resolver.copied { loop.from }[1], -1)
  return ast.node("binary", { op = "-", type = "int", left = last, right = before }, last)
end

--- The cursor of a table where it has its value: of one that goes as far as another one, behind the loop that fills it.
local function cursor_of(self, array)
  appending.settle(self)
  local is_own = array.cursor and array.cursor.node == array.node
  return (is_own or array.filled and not is_within_loop(self, array, array.filled)) and array.cursor or nil
end

--- What `#t` stands for.
-- @tparam table self
-- @tparam table array that the function makes
-- @tparam table parsed
-- @treturn table resolved
function appending.length(self, array, parsed)
  local cursor = cursor_of(self, array)
  if cursor then return self:node("name", parsed, { variable = cursor }) end
  if array.item_count then return self:node("number", parsed, { value = array.item_count }) end
  local passes = self.base == 1 and passes_of(self, array)
  if not passes then
    self:fail(parsed, "the length of '%s', which is made here, is another one at each place: use the number that it "
      .. "gets", array.name)
  end
  array.is_counted = true
  return self:node("call", parsed, { name = "max", arguments = { passes, self:node("number", parsed, { value = 0 }) } })
end

--- Adds what tells the length of a table that the function returns, if it has a cursor.
-- @tparam table self
-- @tparam table array
-- @tparam table parsed
-- @tparam {table,...} into
function appending.give(self, array, parsed, into)
  appending.settle(self)
  if not array.cursor then return end
  local result = array.length
  if not result then
    result = self:variable("length of " .. array.name, { role = "array", node = parsed, loops = {}, rank = 1,
      use = parsed, indexed = parsed, is_capture = true, is_result = true })
    array.length = result
    table.insert(self.captures, result)
  end
  local first = self:node("number", parsed, { value = self.base })
  into[#into + 1] = self:node("assign", parsed, { value = self:node("name", parsed, { variable = array.cursor }),
    target = self:node("index", parsed, { array = result, subscripts = { first } }) })
end

return appending
