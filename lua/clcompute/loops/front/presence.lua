-- SPDX-License-Identifier: MIT

--- Elements that may be missing, as Lua has nil beyond the ends of a table: `x[i + 1] or 0` is
-- `1 <= i + 1 and i + 1 <= #x and x[i + 1] or 0` of an array that the function is given, `if x[i] then` the comparisons
-- alone. A table that the function makes may have elements within its length without a value, so its elements are read
-- as they are written, unless a loop fills it from 1 on (`made_extents`). `x[k] = (x[k] or 0) + 1` is
-- `x[k] = x[k] + 1`: where there is no element none can be stored.

local affine = require("clcompute.loops.tree").affine
local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local evaluating = require "clcompute.loops.front.evaluating"
local indexing = require "clcompute.loops.front.indexing"
local restrictions = require "clcompute.loops.front.restrictions"

local presence = {}

local IS_ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }

--- The array of an element whose ends are known, and of one that the function makes, how far that goes; nil for other
-- expressions.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed
-- @treturn ?table
-- @treturn ?table resolved
local function asked(self, parsed)
  if parsed.kind ~= "index" or self.base ~= 1 then return nil end
  local array, row = indexing.array_of(self, parsed)
  if not array.is_made then return array end
  local last = #row + #parsed.subscripts == 1 and appending.extent(self, array, parsed)
  if last then return array, last end
end

--- The last subscript once more. Where nothing can be put before, the text is resolved anew.
local function again(self, parsed)
  local subscripts = self:evaluating(nil, nil, function() return (select(2, indexing.row_at(self, parsed))) end)
  return subscripts[#subscripts]
end

local function binary(self, parsed, op, left, right)
  return self:node("binary", parsed, { op = op, left = left, right = right })
end

--- The array of an element, its subscripts, and the condition that it is there; `extent`: of a table that the function
-- makes, how far it goes.
local function looked_up(self, parsed, extent)
  local array, subscripts = indexing.row_at(self, parsed)
  local d, kept = #subscripts, nil
  if subscripts[d].kind ~= "name" and not affine.of(subscripts[d]) and self.before then
    subscripts[d] = evaluating.kept(self, subscripts[d], parsed, self.before)
    kept = subscripts[d].variable
  end
  local function last()
    return kept and self:node("name", parsed, { variable = kept }) or again(self, parsed)
  end
  array.asked = array.asked or {}
  array.asked[d] = true
  local is_above = binary(self, parsed, "<=", self:node("number", parsed, { value = 1 }), last())
  local is_below = binary(self, parsed, "<=", last(), extent or indexing.extent(self, array, parsed, d))
  return array, subscripts, binary(self, parsed, "and", is_above, is_below)
end

--- An element whose array and subscripts are known.
local function element(self, array, subscripts, parsed)
  restrictions.index(self.origin, array, self.site or parsed, #subscripts)
  return self:node("index", parsed, { array = array, subscripts = subscripts })
end

--- Behind the condition that an element or a row is there: that what it stands in is there, too, as reading it sees to.
-- Of a row the first element is read.
local function read(self, array, subscripts, is_there, parsed)
  for d = #subscripts + 1, array.rank or 0 do subscripts[d] = self:node("number", parsed, { value = 1 }) end
  local zero, holds = self:node("number", parsed, { value = 0 }), self:node("boolean", parsed, { value = true })
  local is_read = binary(self, parsed, "<", element(self, array, subscripts, parsed), zero)
  return binary(self, parsed, "and", is_there, binary(self, parsed, "or", is_read, holds))
end

--- The condition that there is the row of an array which a name stands for, `local row = a[i + 1]`, or which is an
-- argument; nil for other names.
local function of_name(self, parsed)
  local denotation = self:denote(parsed)
  if denotation.tag == "argument" then return self:within(denotation, presence.condition, denotation.node) end
  if self.base ~= 1 or denotation.tag ~= "row" then return nil end
  local array, d = denotation.array, #denotation.subscripts
  if array.is_made and d > 1 then return nil end
  local extent = not array.is_made and indexing.extent(self, array, parsed, d) or appending.extent(self, array, parsed)
  if not extent then return nil end
  array.asked = array.asked or {}
  array.asked[d] = true
  local function place() return ast.copies(denotation.subscripts)[d] end
  local is_there = binary(self, parsed, "and", binary(self, parsed, "<=", self:node("number", parsed, { value = 1 }),
    place()), binary(self, parsed, "<=", place(), extent))
  if d == 1 then return is_there end
  local subscripts = ast.copies(denotation.subscripts)
  subscripts[d + 1] = self:node("number", parsed, { value = 1 })
  return read(self, array, subscripts, is_there, parsed)
end

--- The condition that an element is there, or a row of a matrix, whatever it is; nil for other expressions. Of an
-- element in a row its row has to be there, which reading it sees to.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?table
function presence.condition(self, parsed)
  if parsed.kind == "name" then return of_name(self, parsed) end
  local is_known, extent = asked(self, parsed)
  if not is_known then return nil end
  local array, subscripts, is_there = looked_up(self, parsed, extent)
  return #subscripts == 1 and is_there or read(self, array, subscripts, is_there, parsed)
end

--- What counts of an element in a condition: whether it is there, and of a table that the function makes, whether it is
-- true; nil for other expressions.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?table
function presence.truth(self, parsed)
  if parsed.kind ~= "index" then return presence.condition(self, parsed) end
  local array, row = indexing.array_of(self, parsed)
  local is_row = #row + #parsed.subscripts < (array.rank or array.is_made and #array.rows > 0 and 2 or 1)
  return (array.is_made and not is_row and presence.value or presence.condition)(self, parsed)
end

--- An element, or false where there is none; nil for other expressions.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?table
function presence.value(self, parsed)
  local denotation = parsed.kind == "name" and self:denote(parsed)
  if denotation and denotation.tag == "argument" then
    return self:within(denotation, presence.value, denotation.node)
  end
  local is_known, extent = asked(self, parsed)
  if not is_known then return nil end
  local array, subscripts, is_there = looked_up(self, parsed, extent)
  local node = element(self, array, subscripts, parsed)
  if array.cursor then node.may_miss = "guarded" end
  return binary(self, parsed, "and", is_there, node)
end

local are_same

local function are_all_same(list, others)
  for i, one in ipairs(list) do
    if not others[i] or not are_same(one, others[i]) then return false end
  end
  return #list == #others
end

--- Whether two expressions of names, numbers, elements and operators are written alike.
function are_same(one, other)
  local is_alike = one.kind == other.kind and one.name == other.name and one.op == other.op
  if not is_alike then return false end
  if one.kind == "name" then return true end
  if one.kind == "number" then return one.value == other.value and math.type(one.value) == math.type(other.value) end
  if one.kind == "index" then return are_all_same(one.subscripts, other.subscripts) end
  if one.kind == "unary" then return are_same(one.operand, other.operand) end
  return one.kind == "binary" and are_same(one.left, other.left) and are_same(one.right, other.right)
end

--- An operand, in which an element that has a default is the element; the same where none has.
local function operand_of(parsed, target)
  if parsed.op == "or" then return are_same(parsed.left, target) and parsed.left or parsed end
  if parsed.kind ~= "binary" or not IS_ARITHMETIC[parsed.op] then return parsed end
  local left, right = operand_of(parsed.left, target), operand_of(parsed.right, target)
  if left == parsed.left and right == parsed.right then return parsed end
  return ast.changed(parsed, { left = left, right = right })
end

--- What is stored in an element, without a default that the element has among operands of arithmetic.
-- @tparam table self
-- @tparam table target parsed
-- @tparam table value parsed
-- @treturn table parsed
function presence.stored(self, target, value)
  if value.op == "or" or target.kind ~= "index" or self.base ~= 1 then return value end
  return indexing.array_of(self, target).is_made and value or operand_of(value, target)
end

return presence
