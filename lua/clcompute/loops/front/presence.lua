-- SPDX-License-Identifier: MIT

--- Elements that may be missing, as Lua has nil beyond the ends of a table: `x[i + 1] or 0` is
-- `1 <= i + 1 and i + 1 <= #x and x[i + 1] or 0` of an array that the function is given, `if x[i] then` the comparisons
-- alone. A table that the function makes may have elements within its length without a value, so its elements are read
-- as they are written.

local affine = require("clcompute.loops.tree").affine
local evaluating = require "clcompute.loops.front.evaluating"
local indexing = require "clcompute.loops.front.indexing"
local restrictions = require "clcompute.loops.front.restrictions"

local presence = {}

--- Whether an expression is an element of an array of which the ends are known.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table parsed
-- @treturn boolean
local function is_asked(self, parsed)
  if parsed.kind ~= "index" or self.base ~= 1 then return false end
  return not indexing.array_of(self, parsed).is_made
end

--- The last subscript once more. Where nothing can be put before, the text is resolved anew.
local function again(self, parsed)
  local subscripts = self:evaluating(nil, nil, function() return (select(2, indexing.row_at(self, parsed))) end)
  return subscripts[#subscripts]
end

local function binary(self, parsed, op, left, right)
  return self:node("binary", parsed, { op = op, left = left, right = right })
end

--- The array of an element, its subscripts, and the condition that it is there.
local function looked_up(self, parsed)
  local array, subscripts = indexing.row_at(self, parsed)
  local d, kept = #subscripts, nil
  if not affine.of(subscripts[d]) and self.before then
    subscripts[d] = evaluating.kept(self, subscripts[d], parsed, self.before)
    kept = subscripts[d].variable
  end
  local function last()
    return kept and self:node("name", parsed, { variable = kept }) or again(self, parsed)
  end
  array.asked = array.asked or {}
  array.asked[d] = true
  local is_above = binary(self, parsed, "<=", self:node("number", parsed, { value = 1 }), last())
  local is_below = binary(self, parsed, "<=", last(), indexing.extent(self, array, parsed, d))
  return array, subscripts, binary(self, parsed, "and", is_above, is_below)
end

--- An element whose array and subscripts are known.
local function element(self, array, subscripts, parsed)
  restrictions.index(self.origin, array, self.site or parsed, #subscripts)
  return self:node("index", parsed, { array = array, subscripts = subscripts })
end

--- The condition that an element is there, or a row of a matrix; nil for other expressions. Of an element in a row its
-- row has to be there, which reading it sees to.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?table
function presence.condition(self, parsed)
  if not is_asked(self, parsed) then return nil end
  local array, subscripts, is_there = looked_up(self, parsed)
  if #subscripts == 1 then return is_there end
  local zero, holds = self:node("number", parsed, { value = 0 }), self:node("boolean", parsed, { value = true })
  local is_read = binary(self, parsed, "<", element(self, array, subscripts, parsed), zero)
  return binary(self, parsed, "and", is_there, binary(self, parsed, "or", is_read, holds))
end

--- An element, or false where there is none; nil for other expressions.
-- @tparam table self
-- @tparam table parsed
-- @treturn ?table
function presence.value(self, parsed)
  if not is_asked(self, parsed) then return nil end
  local array, subscripts, is_there = looked_up(self, parsed)
  return binary(self, parsed, "and", is_there, element(self, array, subscripts, parsed))
end

return presence
