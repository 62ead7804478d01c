-- SPDX-License-Identifier: MIT

--- What is indexed: the array that a name stands for, or a row of one (`local row = a[i]`), elements of it and its
-- length. An array that is an argument of a function put in place of its call is the caller's.

local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local calling = require "clcompute.loops.front.calling"
local evaluating = require "clcompute.loops.front.evaluating"
local missing = require "clcompute.loops.front.missing"
local restrictions = require "clcompute.loops.front.restrictions"
local walk = require("clcompute.loops.tree").walk

local indexing = {}

--- The variable of a name that is indexed, and the subscripts that the name stands for, of a row.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam table node parsed
-- @treturn table
-- @treturn {table,...} resolved, for the caller to change
function indexing.array_of(self, node)
  local denotation = self:denote(node)
  local argument = denotation.tag == "argument" and denotation.node
  if argument and (argument.kind == "name" or argument.kind == "index") then
    return self:within(denotation, argument.kind == "name" and indexing.array_of or indexing.row_at, argument)
  elseif denotation.tag == "variable" then
    return denotation.variable, {}
  elseif denotation.tag == "row" then
    return denotation.array, ast.copies(denotation.subscripts)
  elseif denotation.tag == "missing" then
    missing.refuse(self, node, denotation)
  end
  self:fail(node, "%s", denotation.reason or ("'%s' is not an array"):format(node.name))
end

--- The array of an index, and all subscripts; both may stand for a row.
function indexing.row_at(self, node)
  local array, subscripts = indexing.array_of(self, node)
  local own = calling.list(self, node.subscripts)
  return array, table.move(own, 1, #own, #subscripts + 1, subscripts)
end

--- Whether an expression is the same in all of a block: loop variables and what a call fixes are.
local function is_steady(node)
  return not walk.find({ node }, function(part)
    return part.kind == "index" or part.kind == "call" or part.kind == "name" and part.variable.role == "local"
  end)
end

--- What `local row = a[i]` denotes where elements of that are used.
function indexing.row_of(self, parsed, into)
  local array, subscripts = indexing.array_of(self, parsed)
  for _, subscript in ipairs(parsed.subscripts) do
    local value = evaluating.value(self, subscript, into)
    subscripts[#subscripts + 1] = is_steady(value) and value or evaluating.kept(self, value, subscript, into)
  end
  return { tag = "row", array = array, subscripts = subscripts }
end

--- The resolved node of an element.
function indexing.element(self, parsed)
  local array, subscripts = indexing.array_of(self, parsed)
  restrictions.index(self.origin, array, self.site or parsed, #subscripts + #parsed.subscripts)
  local own = self:evaluating(nil, self.place, calling.list, parsed.subscripts)
  table.move(own, 1, #own, #subscripts + 1, subscripts)
  return self:node("index", parsed, { array = array, subscripts = subscripts })
end

--- The length of a dimension of an array from outside: that of its first row, as rows are equally long.
function indexing.extent(self, array, parsed, dimension)
  restrictions.length(self.origin, array, self.site or parsed, dimension)
  local ones = {}
  for d = 1, dimension - 1 do ones[d] = self:node("number", parsed, { value = 1 }) end
  return self:node("length", parsed, { array = array, dimension = dimension, subscripts = ones })
end

--- What `#a` or `#a[i]` comes to.
function indexing.length(self, parsed)
  local operand = parsed.operand
  local own = calling.list(self, operand.subscripts or {})
  local array, row = indexing.array_of(self, operand)
  local dimension = #row + #own + 1
  if array.row_length and dimension == 2 then return self:node("number", parsed, { value = array.row_length }) end
  if array.is_made then return appending.length(self, array, parsed, dimension) end
  return indexing.extent(self, array, parsed, dimension)
end

return indexing
