-- SPDX-License-Identifier: MIT

--- Tables that a function makes: `local t = {}`, also of numbers (`{ 0.25, 0.5 }`), and rows of them (`t[i] = {}`, or
-- `local row = {}` that becomes one by `t[i] = row`). Each is an array of the call's own; how large it is follows from
-- where it is stored (`clcompute.loops.analysis.local_tables`).

local affine = require("clcompute.loops.tree").affine
local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local bounds = require("clcompute.loops.tree").loop_bounds
local evaluating = require "clcompute.loops.front.evaluating"
local expression_grammar = require "clcompute.loops.front.expression_grammar"
local failure = require("clcompute.loops.tree").failure
local indexing = require "clcompute.loops.front.indexing"
local list_proofs = require "clcompute.loops.front.list_proofs"
local restrictions = require "clcompute.loops.front.restrictions"
local returned_rows = require "clcompute.loops.front.returned_rows"
local walk = require("clcompute.loops.tree").walk

local made_tables = {}

-- --- making ------------------------------------------------------------------------------------

--- Whether one row may be another one: no subscript is another number.
local function may_be_same(row, other)
  if #row.subscripts ~= #other.subscripts then return false end
  for d, subscript in ipairs(row.subscripts) do
    local value, of_other = subscript.value, other.subscripts[d].value
    if value and of_other and value ~= of_other then return false end
  end
  return true
end

local SUMS = { ["+"] = true, ["-"] = true, ["*"] = true }

--- Whether a subscript is a sum that a variable is part of: another one in each pass.
local function is_sum_of(node, variable)
  if node.kind == "unary" then return is_sum_of(node.operand, variable) end
  if node.kind == "binary" then
    return SUMS[node.op] and (is_sum_of(node.left, variable) or is_sum_of(node.right, variable))
  end
  return node.variable == variable
end

--- Whether subscripts are others in each pass of a loop: one is a sum, or a quotient that its steps are multiples for,
-- or two tell together, as a quotient and its rest.
local function tell_passes(subscripts, loop)
  local count = 0
  for _, subscript in ipairs(subscripts) do
    if is_sum_of(subscript, loop.variable) then return true end
    local divisor = subscript.op == "//" and subscript.right.value or 0
    if divisor ~= 0 and loop.step % divisor == 0 and is_sum_of(subscript.left, loop.variable) then return true end
    count = count + (walk.mentions(subscript, loop.variable) and 1 or 0)
  end
  return count > 1
end

--- Whether passes of two loops have the same row, as one subscript alone speaks of both, as often of each: `i + j`.
local function meet(subscripts, loop, other)
  local count, is_same = 0, false
  for _, subscript in ipairs(subscripts) do
    local own = affine.multiple(subscript, loop.variable) or 0
    local its = affine.multiple(subscript, other.variable) or 0
    is_same = is_same or own ~= 0 and math.abs(own * loop.step) == math.abs(its * other.step)
    local tells = is_sum_of(subscript, loop.variable) or is_sum_of(subscript, other.variable)
    count = count + (tells and 1 or 0)
  end
  return is_same and count < 2
end

--- Whether a local from outside of the loop here, or one that is assigned, says which row it is.
local function is_counted(self, subscripts)
  return walk.find(subscripts, function(part)
    local variable = part.kind == "name" and part.variable.role == "local" and part.variable
    return variable and (variable.assigned ~= nil or #variable.loops < #self.loops)
  end) ~= nil
end

local THERE = "a row of '%s' is made here that may be there already: make all rows in one loop before, "
  .. "'for i = 1, n do t[i] = {} end', and store in their elements"
local COUNTED = "which row of '%s' is made here is told by a local that changes: append it, t[#t + 1] = { x, y }, or "
  .. "let a loop's variable tell"

--- Notes where a row is made. Refuses one that may take the place of another one: in each pass of a loop that its
-- subscripts do not speak of, or by a second statement; and one that is made only if a condition holds.
local function note_row(self, array, subscripts, parsed)
  local row = ast.node("index", { array = array, subscripts = ast.copies(subscripts) }, parsed)
  self.rows[row] = { depth = #self.loops, loop = self.loops[#self.loops], branches = self.branches }
  local is_anew = false
  for depth = #array.loops + 1, #self.loops do
    is_anew = is_anew or not tell_passes(subscripts, self.loops[depth])
    for inner = depth + 1, #self.loops do
      is_anew = is_anew or meet(subscripts, self.loops[depth], self.loops[inner])
    end
  end
  for _, other in ipairs(array.rows) do is_anew = is_anew or may_be_same(row, other) end
  if is_anew then
    self:fail(parsed, is_counted(self, subscripts) and COUNTED or THERE, array.name)
  elseif self.branches > self.branches_at[array] then
    self:fail(parsed, "a row of '%s' is made only if a condition holds: make all rows", array.name)
  end
  table.insert(array.rows, row)
end

--- Stores the items of braces in elements of an array.
-- @tparam table self
-- @tparam table array
-- @tparam {table,...} subscripts resolved, of the row that the braces are
-- @tparam table parsed the braces
-- @tparam {table,...} into statements
function made_tables.fill(self, array, subscripts, parsed, into)
  if parsed.keyed then self:fail(parsed, expression_grammar.KEYS) end
  local is_row = #subscripts > 0
  if is_row and #parsed.items > 0 then array.rows[#array.rows].is_item = true end
  for i, item in ipairs(parsed.items) do
    local own = ast.copies(subscripts)
    own[#own + 1] = self:node("number", item, { value = i }) -- whatever the base is
    if item.kind == "table" then
      note_row(self, array, own, item)
      made_tables.fill(self, array, own, item, into)
    else
      restrictions.index(self.origin, array, self.site or item, #own)
      local value = evaluating.value(self, item, into)
      into[#into + 1] = self:node("assign", item, { value = value,
        target = self:node("index", item, { array = array, subscripts = own, is_item = is_row or nil }) })
    end
  end
end

--- Makes a row of a table that the function makes: `t[i] = { ... }`.
-- @tparam table self
-- @tparam table row of `indexing.row_of`
-- @tparam table at parsed, what makes it one
-- @tparam table parsed the braces
-- @tparam {table,...} into statements
function made_tables.make_row(self, row, at, parsed, into)
  appending.note(self, row.array, row.subscripts, at)
  note_row(self, row.array, row.subscripts, at)
  made_tables.fill(self, row.array, row.subscripts, parsed, into)
end

--- Where a table becomes a row of another one that is made: `t[i] = row`, or `t[#t + 1] = row`, in the rest of a block.
-- @tparam table self
-- @tparam {table,...} block parsed statements
-- @tparam integer first where its rest begins
-- @string name
-- @treturn ?table parsed, the assignment
function made_tables.place_of(self, block, first, name)
  for i = first, #block do
    local node = block[i]
    if node.kind == "perform" and appending.is_insert(node.call) then node = appending.of_insert(node.call) end
    local is_stored = node.kind == "assign" and node.value.kind == "name" and node.value.name == name
    if is_stored and node.target.kind == "index" then
      local denotation = self:denote(node.target)
      local array = denotation.variable or denotation.array
      return array and array.is_made and node or nil
    end
  end
end

--- The row that a table becomes by `t[i] = row`, or by `t[#t + 1] = row` in each pass of a loop.
local function row_at(self, place, into)
  if not appending.is_end(place.target) then return indexing.row_of(self, place.target, into) end
  local array = indexing.array_of(self, place.target)
  return { tag = "row", array = array, placed = place.value,
    subscripts = { appending.place_of_row(self, array, place) } }
end

--- Makes `local t = { ... }`: a table, or a row of one that it becomes in the rest of a block.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table token
-- @tparam table parsed the braces
-- @tparam ?table place of `made_tables.place_of`
-- @tparam table scope whose names the items see: not those that the statement declares
-- @tparam {table,...} into statements
function made_tables.make(self, token, parsed, place, scope, into)
  local outside = { scope = scope, holder = self.holder, site = self.site, calls = self.calls }
  if place then
    local row = row_at(self, place, into)
    self:bind(token.text, row)
    return self:within(outside, made_tables.make_row, row, place.target, parsed, into)
  end
  local array = self:declare(token, { role = "array", use = token, is_made = true, rows = {},
    item_count = #parsed.items })
  self.branches_at[array] = self.branches
  self.made[#self.made + 1] = array
  self:within(outside, made_tables.fill, array, {}, parsed, into)
  appending.declare_cursor(self, array, into)
end

-- --- what they need ----------------------------------------------------------------------------

--- The least value of a loop's variable, if that is a number.
local function least_of_loop(loop)
  local forms = loop.step > 0 and bounds.firsts(loop) or bounds.lasts(loop)
  local least
  for _, form in ipairs(not loop.pace and forms or {}) do -- the greatest of them
    if #form.terms == 0 then least = math.max(least or form.constant, form.constant) end
  end
  return least
end

--- The least value of a subscript, if that is a number.
local function least_of(form)
  local sum = form.constant
  for _, term in ipairs(form.terms) do
    local loop = term.variable and term.variable.loop
    local least = loop and term.coefficient > 0 and least_of_loop(loop)
    if not least then return nil end
    sum = sum + term.coefficient * least
  end
  return sum
end

--- The elements of tables that a function makes, by table: all, those that are assigned, and of these those that are
-- stored wherever data do not say.
local function elements_of(tree)
  local lists, is_seen = {}, {}
  for _, array in ipairs(tree.scratch) do lists[array] = { all = {}, assigned = {}, stored = {} } end
  walk.nodes(tree.body, function(node)
    local list = node.kind == "index" and not is_seen[node] and lists[node.array]
    if list then
      is_seen[node] = true
      table.insert(list.all, node)
    end
    list = node.kind == "assign" and node.target.array and lists[node.target.array]
    if list then table.insert(list.assigned, node.target) end
    if list and (node.target.in_rows or not node.target.checked) then table.insert(list.stored, node.target) end
  end)
  return lists
end

--- Lets subscripts begin at the base that all arrays have, where they begin at a lower number: `t[0]`.
local function shift(tree, array, elements, d)
  local least = tree.base
  for _, element in ipairs(elements.stored) do
    least = math.min(least, least_of(affine.of(element.subscripts[d])) or least)
  end
  if least == tree.base then return end
  array.is_shifted = true
  for _, list in ipairs { elements.all, array.rows } do
    for _, element in ipairs(list) do
      element.subscripts[d] = element.subscripts[d] and bounds.plus(element.subscripts[d], tree.base - least)
    end
  end
end

--- Whether data may end a loop in which a row is made.
local function is_cut(array, row)
  local is_around = walk.set(array.loops)
  return walk.find(row.subscripts, function(part)
    local loop = part.kind == "name" and part.variable.loop
    return loop and loop.irregular and not is_around[loop]
  end)
end

--- Whether all rows of a matrix are made in braces with numbers: then a row is there where these are stored.
local function has_full_braces(array)
  if array.rank ~= 2 or #array.loops > 0 then return false end
  for _, row in ipairs(array.rows) do
    if row.is_end or not row.is_item then return false end
  end
  return #array.rows > 0
end

--- Refuses a table that is returned, unless it has all rows up to the last one.
local function check_returned(tree, array)
  local is_whole, row = returned_rows.are_whole(array.rows, tree.base)
  if is_whole then return end
  failure.raise(tree.origin, row, ("'%s' is returned, so its rows have to be made one by one from %d on%s")
    :format(array.name, tree.base, array.rank > 2 and ", in each row as many" or ""))
end

--- Lets Lua make rows where the function does, if it can tell; refuses others that passes may leave out.
local function settle_rows(tree, array)
  array.has_late_rows = has_full_braces(array) or nil
  for _, row in ipairs(array.rows) do
    local is_doubtful = not row.is_end and is_cut(array, row) and (#array.loops == 0 or array.is_returned)
    if is_doubtful and not array.has_late_rows then
      failure.raise(tree.origin, row, ("a row of '%s' is made in a loop that data may end: make all rows in one "
        .. "before, or write what is in them, t[i] = { x, y }"):format(array.name))
    end
    array.has_doubtful_rows = array.has_doubtful_rows or is_doubtful and true or nil
  end
  local has_ends = #array.rows > 0 and array.rows[1].is_end
  if array.is_returned and not has_ends and not array.has_late_rows then check_returned(tree, array) end
end

local function check(tree, array, elements)
  local function fail(message) failure.raise(tree.origin, array.node, message:format(array.name)) end
  if not array.rank then fail "nothing is stored in '%s'" end
  if array.rank > 1 and #array.rows == 0 then fail "'%s' has no rows: make them by t[i] = {}" end
  list_proofs.check(tree, array, elements.assigned, elements.all)
  if #elements.stored == 0 and not array.cursor then
    fail(list_proofs.UNKNOWN)
  end
  if array.appended and array.appended.loop.irregular then
    failure.raise(tree.origin, array.appended.at, ("how long '%s' gets is not known before a call, as data say how "
      .. "often this loop goes round: fill it before, and count"):format(array.name))
  end
  for d = 1, array.pitches and 0 or array.rank do shift(tree, array, elements, d) end
  for _, result in ipairs(tree.results) do
    for _, returned in ipairs(result.arrays or { result }) do
      array.is_returned = array.is_returned or returned == array or nil
    end
  end
  settle_rows(tree, array)
  if array.is_returned and array.is_shifted then fail "'%s' is returned, so it has to begin at 1" end
end

--- Checks the tables that a function makes, and moves those that begin below the base.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @treturn table the tree
function made_tables.settle(tree)
  if not tree.scratch then return tree end
  local lists = elements_of(tree)
  for _, array in ipairs(tree.scratch) do check(tree, array, lists[array]) end
  return tree
end

return made_tables
