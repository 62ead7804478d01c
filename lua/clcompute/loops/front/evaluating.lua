-- SPDX-License-Identifier: MIT

--- Values of statements: each is evaluated behind the statements before it, and kept in a local where one that follows
-- may change it.

local calling = require "clcompute.loops.front.calling"
local walk = require("clcompute.loops.tree").walk

local evaluating = {}

--- Resolves by f what is evaluated each time right behind the statements of a list.
-- @tparam table self of `clcompute.loops.front.names`
-- @tparam function f
-- @tparam table parsed
-- @tparam {table,...} into statements
-- @param ... further ones of f
function evaluating.whole(self, f, parsed, into, ...)
  local around = self.whole
  self.whole = parsed
  local value = self:evaluating(into, into, f, parsed, ...)
  self.whole = around
  return value
end

--- The value of an expression there.
function evaluating.value(self, parsed, into)
  return evaluating.whole(self, self.resolver.expression, parsed, into)
end

--- A value in a local, as its name.
function evaluating.kept(self, value, at, into)
  return self:node("name", at, { variable = self:add_local(into, "value", at, value) })
end

--- Whether a value may be another one behind statements with some uses: two arrays of a call may be one.
local function may_change(node, uses)
  local assigned, stores = walk.set(uses.assigned), #uses.writes > 0
  return walk.find({ node }, function(part) return assigned[part.variable] or stores and part.array ~= nil end) ~= nil
end

--- Keeps values in locals, before statements of a list from one on that may change them.
-- @tparam table self
-- @tparam {table,...} values resolved
-- @tparam {table,...} into statements
-- @tparam integer first
-- @tparam table parsed what the statements are of
function evaluating.keep(self, values, into, first, parsed)
  local uses = walk.uses(table.move(into, first, #into, 1, {}))
  if #uses.assigned + #uses.writes == 0 then return end
  for i, value in ipairs(values) do
    if value.kind == "table" and #value.items > 0 then
      self:fail(parsed, "this call changes what may be in the table before it: write two statements")
    elseif value.kind and value.kind ~= "table" and may_change(value, uses) then
      local own = {}
      values[i] = evaluating.kept(self, value, parsed, own)
      table.insert(into, first, own[1])
      first = first + 1
    end
  end
end

--- The values of a list, one after the other, each as it is before statements that follow: those of `one`, and all that
-- a last call gives.
function evaluating.values(self, list, into, one)
  local values = {}
  for i, parsed in ipairs(list) do
    local first = #into + 1
    local own = parsed.takes and evaluating.whole(self, calling.values, parsed, into, parsed.takes)
      or { one(self, parsed, into, i) }
    evaluating.keep(self, values, into, first, parsed)
    table.move(own, 1, #own, i, values)
  end
  return values
end

return evaluating
