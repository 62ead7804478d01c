-- SPDX-License-Identifier: MIT

--- Assignments: of one value and of several, of rows, to the ends of lists, and to names, which get a new local where
-- nothing else may happen.

local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local evaluating = require "clcompute.loops.front.evaluating"
local expressions = require "clcompute.loops.front.expressions"
local indexing = require "clcompute.loops.front.indexing"
local inlining = require "clcompute.loops.front.inlining"
local lua_text = require("clcompute.loops.tree").lua_text
local made_tables = require "clcompute.loops.front.made_tables"
local missing = require "clcompute.loops.front.missing"
local presence = require "clcompute.loops.front.presence"
local restrictions = require "clcompute.loops.front.restrictions"
local walk = require("clcompute.loops.tree").walk

local assigning = {}

--- The resolved target of an assignment.
local function target_of(self, target)
  if target.kind ~= "name" then return expressions.resolve(self, target) end
  local denotation = self:denote(target)
  if denotation.tag == "missing" then missing.refuse(self, target, denotation) end
  if denotation.tag ~= "variable" then
    self:fail(target, "%s", denotation.reason or ("'%s' cannot be assigned"):format(target.name))
  end
  local variable = denotation.variable
  local is_number = variable.role == "parameter" and not inlining.is_indexed(self, self.statements, 1, target.name)
  if is_number then self.again(self.wanted.locals, variable.node.offset, true) end
  restrictions.assign(self.origin, variable, target)
  return self:node("name", target, { variable = denotation.variable })
end

--- `t[i] = { ... }`, a row of a table that the function makes.
local function make_row(self, parsed, into)
  local array, subscripts = indexing.row_at(self, parsed.target)
  if not array.is_made then
    self:fail(parsed, "'%s' is an array: all its rows are there before the call", array.name)
  end
  made_tables.make_row(self, { array = array, subscripts = subscripts }, parsed, parsed.value, into)
end

--- Whether `t[#t + 1] = row` is what made the name of a row one: `t` may be the name of another table by now.
local function is_appended(self, parsed, denotation)
  local array, row = indexing.array_of(self, parsed.target)
  return denotation.placed == parsed.value and array == denotation.array and #row == 0
end

--- Whether `t[i] = row` is what made the name of a row one.
local function is_placed(self, parsed)
  local denotation = parsed.value.kind == "name" and parsed.target.kind == "index" and self:denote(parsed.value)
  if not denotation or denotation.tag ~= "row" then return false end
  if denotation.placed then return is_appended(self, parsed, denotation) end
  local array, subscripts = indexing.row_at(self, parsed.target)
  if array ~= denotation.array or #subscripts ~= #denotation.subscripts then return false end
  for d, subscript in ipairs(subscripts) do
    if lua_text.expression(subscript) ~= lua_text.expression(denotation.subscripts[d]) then return false end
  end
  return true
end

--- The table that a target is the end of, `t[#t + 1]`, if the function makes it; and of which row of it, if of one.
local function list_at(self, target)
  if not appending.is_end(target) then return nil end
  local array, row = indexing.array_of(self, target)
  if array.is_made then return array, #row > 0 and row or nil end
end

--- The statements of `t[#t + 1] = value`, of a list or a row; `is_insert`: the value comes before the length.
local function append(self, list, row, parsed, into, is_insert)
  if row then
    return appending.append_to_row(self, list, row, parsed, evaluating.value(self, parsed.value, into), into)
  end
  if parsed.value.kind == "table" then return appending.append_row(self, list, parsed, into, made_tables.fill) end
  local first = #into + 1
  local value = evaluating.value(self, parsed.value, into)
  if not is_insert then appending.check_value(self, list, parsed, into, first) end
  appending.append(self, list, parsed, value, into)
end

local function note_store(self, target, parsed)
  local array = target.array
  if array and array.is_made then appending.note(self, array, target.subscripts, parsed) end
end

--- Keeps where a target is before the statements of its value, from one on. Of a local that is a subscript, the Lua
-- function that it is one of says whether it is read before these or behind.
local function keep_place(self, target, into, first, parsed)
  local subscripts = target.subscripts or {}
  local written = table.move(subscripts, 1, #subscripts, 1, {})
  evaluating.keep(self, subscripts, into, first, parsed)
  for d, subscript in ipairs(written) do
    if subscript.kind == "name" and subscripts[d] ~= subscript then
      self:fail(parsed, "'%s' says where to store, and this call changes it: give the value to a local before",
        subscript.variable.name)
    end
  end
end

--- Whether an assignment gives a name a value from here on, in whatever way the function goes; but for the steps of a
-- counter.
local function is_straight(self, target, value)
  local denotation = target.kind == "name" and self:denote(target)
  if denotation and denotation.tag == "missing" then return missing.is_settled(self, denotation) end
  if target.kind ~= "name" or #self.loops > 0 or self.branches > 0 or self.calls then return false end
  local variable = denotation.variable
  local is_step = value.op == "+" and value.left.name == target.name and value.right.value == 1
  return variable ~= nil and not is_step and not inlining.array_of(self, target.name)
    and (variable.role == "local" or variable.role == "parameter")
end

--- Such an assignment makes a new local of the name, so that both values are known.
local function renew(self, target, value, parsed, into)
  local variable = self:variable(target.name, { role = "local", node = target, definition = value })
  into[#into + 1] = self:node("local", parsed, { variable = variable, value = value })
  self:names_with(target.name)[target.name] = { tag = "variable", variable = variable }
end

--- Refuses an array as an element, and a table as the value of a name that has one.
local function check_value(self, parsed)
  local target, value = parsed.target, parsed.value
  if target.kind == "name" and value.kind == "table" and inlining.array_of(self, target.name) then
    self:fail(parsed, "'%s' is an array already: a table is made with a name of its own, 'local t = {}'", target.name)
  elseif target.kind == "index" and value.kind == "name" and inlining.array_of(self, value.name) then
    self:fail(value, "'%s' is an array, and what is stored is a number: copy its elements, or write a row in braces, "
      .. "{ x, y }", value.name)
  end
end

--- The statements of `target = value`.
function assigning.one(self, parsed, into)
  if is_straight(self, parsed.target, parsed.value) then
    return renew(self, parsed.target, evaluating.value(self, parsed.value, into), parsed, into)
  end
  check_value(self, parsed)
  if is_placed(self, parsed) then return end
  local list, row = list_at(self, parsed.target)
  if list then return append(self, list, row, parsed, into) end
  if parsed.value.kind == "table" and parsed.target.kind == "index" then return make_row(self, parsed, into) end
  local target = self:evaluating(nil, into, target_of, parsed.target)
  note_store(self, target, parsed)
  local first = #into + 1
  local stored = presence.stored(self, parsed.target, parsed.value)
  if stored ~= parsed.value then target.has_default = true end
  local around = self.filling
  self.filling = target.array
  local value = evaluating.value(self, stored, into)
  self.filling = around
  keep_place(self, target, into, first, parsed)
  into[#into + 1] = self:node("assign", parsed, { target = target, value = value })
end

--- Whether a subscript may be another one once targets are assigned: it speaks of a local, or of an element, which may
-- be one of theirs under another name.
local function is_assigned(subscript, targets)
  if walk.find({ subscript }, function(part) return part.kind == "index" end) then return true end
  for _, target in ipairs(targets) do
    if target.variable and walk.mentions(subscript, target.variable) then return true end
  end
  return false
end

--- Whether the value of one of several targets may be another one once those behind it are assigned, or an error comes
-- too late: of names there is nothing that is seen then.
local function is_late(targets, i, value)
  for j, target in ipairs(targets) do
    if target.kind ~= "name" then return true end
    if j > i and target.variable and walk.mentions(value, target.variable) then return true end
  end
  return false
end

--- The targets of an assignment of several values: resolved, the list that one is the end of, or a name as it is
-- written that gets a new local.
local function targets_of(self, parsed, into)
  local targets, is_grown = {}, {}
  for i, target in ipairs(parsed.targets) do
    local list, row = list_at(self, target)
    if row then self:fail(target, appending.ROW, target.name, list.name, target.name) end
    if list and is_grown[list] then self:fail(target, "'%s' is appended to twice at once", list.name) end
    local is_new = is_straight(self, target, parsed.values[i] or parsed.values[#parsed.values])
    targets[i] = list or is_new and target or self:evaluating(nil, into, target_of, target)
    is_grown[list or targets[i]] = true
  end
  return targets
end

local are_plain

--- Whether an expression is the same whatever is stored in elements, and nothing is done for it.
local function is_plain(parsed)
  if parsed.kind == "index" or parsed.kind == "call" or parsed.kind == "length" then return false end
  return are_plain(parsed.items or { parsed.left or parsed.operand, parsed.right })
end

function are_plain(list)
  for _, parsed in ipairs(list) do
    if not is_plain(parsed) then return false end
  end
  return true
end

--- `t[i], u[i] = {}, { 0, x }` as one assignment after the other; false where that is not the same.
local function rows_alone(self, parsed, into)
  local has_braces, is_grown = false, {}
  for i, target in ipairs(parsed.targets) do
    local value = parsed.values[i]
    if target.kind ~= "index" or not value or not is_plain(value) then return false end
    local list = list_at(self, target)
    if list and is_grown[list] or not list and not are_plain(target.subscripts) then return false end
    has_braces, is_grown[list or target] = has_braces or value.kind == "table", true
  end
  for i = has_braces and #parsed.targets or 0, 1, -1 do
    local one = { target = parsed.targets[i], value = parsed.values[i] }
    assigning.one(self, ast.parsed("assign", one, parsed), into)
  end
  return has_braces
end

--- Several at once: all values, and where they go, are known before the first is assigned.
function assigning.several(self, parsed, into)
  if rows_alone(self, parsed, into) then return end
  local targets, values = targets_of(self, parsed, into), {}
  local first = #into + 1
  for i, node in ipairs(evaluating.values(self, parsed.values, into, evaluating.value)) do
    local is_kept = node.kind ~= "number" and is_late(targets, i, node)
    values[i] = is_kept and evaluating.kept(self, node, parsed, into) or node
  end
  for _, target in ipairs(targets) do
    if target.is_made then appending.check_value(self, target, parsed, into, first) end
    keep_place(self, target, into, first, parsed)
  end
  for _, target in ipairs(targets) do
    for d, subscript in ipairs(target.subscripts or {}) do
      local may_change = is_assigned(subscript, targets)
      target.subscripts[d] = may_change and evaluating.kept(self, subscript, parsed, into) or subscript
    end
  end
  for i = #targets, 1, -1 do -- as Lua does: where two are one element, the first stays
    local target = targets[i]
    if target.is_made then
      appending.append(self, target, parsed, values[i], into)
    elseif target == parsed.targets[i] then
      renew(self, target, values[i], parsed, into)
    else
      note_store(self, target, parsed)
      into[#into + 1] = self:node("assign", parsed, { target = target, value = values[i] })
    end
  end
end

--- The statements of `table.insert(t, value)`, as an assignment.
function assigning.insert(self, parsed, into)
  if is_placed(self, parsed) then return end
  local list, row = list_at(self, parsed.target)
  if list then return append(self, list, row, parsed, into, true) end
  assigning.one(self, parsed, into)
end

return assigning
