-- SPDX-License-Identifier: MIT

--- What names denote while a function is resolved: its scopes, its captures, and the arguments of functions that are
-- put in place of their calls. Denotations are those of `clcompute.loops.front.captures`, `{ tag="variable",
-- variable= }` and `{ tag="argument", node=, scope=, holder=, site=, calls= }`: where an argument was written.
-- @module clcompute.loops.front.names

local captures = require "clcompute.loops.front.captures"
local failure = require "clcompute.loops.tree.failure"
local variables = require "clcompute.loops.tree.variables"

local MOST_NODES = 50000

local Names = {}
Names.__index = Names

--- A scope within another.
local function new_scope(parent)
  return { names = {}, parent = parent }
end

function Names:fail(node, message, ...)
  failure.raise(self.origin, self.site or node, message:format(...))
end

--- A node at the place of a parsed one, or of the call that an inlined function stands for.
function Names:node(kind, parsed, fields)
  self.nodes = self.nodes + 1
  if self.nodes > MOST_NODES then
    self:fail(parsed, "more than %d expressions with all calls put in place", MOST_NODES)
  end
  local at = self.site or parsed
  fields.kind, fields.line, fields.column, fields.offset, fields.finish =
    kind, at.line, at.column, at.offset, at.finish
  return fields
end

--- Runs f at another place, its `scope`, `holder`, `site` (the call that all there stands for) and `calls` (of inlined
-- functions around), then goes back.
function Names:within(place, f, ...)
  local scope, holder, site, calls = self.scope, self.holder, self.site, self.calls
  self.scope, self.holder, self.site, self.calls = place.scope, place.holder, place.site, place.calls
  local result = f(self, ...)
  self.scope, self.holder, self.site, self.calls = scope, holder, site, calls
  return result
end

--- Runs f while locals of arguments go into a list of statements; nil: while there is no place for them.
function Names:evaluating(before, f, ...)
  local around = self.before
  self.before = before
  local result = f(self, ...)
  self.before = around
  return result
end

--- Names that follow go into a scope further in; returns the one around it.
function Names:enter()
  local around = self.scope
  self.scope = new_scope(around)
  return around
end

--- Goes back to a scope.
function Names:leave(around)
  self.scope = around
end

--- Lets a name denote something from here on.
function Names:bind(name, denotation)
  self.scope.names[name] = denotation
end

--- Makes a variable within the loops around.
function Names:variable(token, role, fields)
  local variable = self.variables:new(token.text, role, token, self.loops)
  for key, value in pairs(fields or {}) do variable[key] = value end
  return variable
end

--- Makes the variable of a declaration.
function Names:declare(token, role, fields)
  local variable = self:variable(token, role, fields)
  self:bind(token.text, { tag = "variable", variable = variable })
  return variable
end

--- The variable of an upvalue: one, however many functions share it.
function Names:capture(denotation, name, node)
  local variable = self.captured[denotation.id]
  if not variable then
    variable = self.variables:new(name, "capture", self.site or node, {})
    variable.is_capture, variable.fn, variable.index = true, denotation.fn, denotation.index
    self.captured[denotation.id] = variable
    self.captures[#self.captures + 1] = variable
  end
  return { tag = "variable", variable = variable }
end

--- What a name denotes here; with `field`, what that field of it does.
function Names:denote(node)
  local denotation
  local scope = self.scope
  while scope and not denotation do
    denotation, scope = scope.names[node.name], scope.parent
  end
  denotation = denotation or captures.denote(self.holder, node.name)
  if denotation.tag == "upvalue" then denotation = self:capture(denotation, node.name, node) end
  if node.kind ~= "field" then return denotation end
  if denotation.tag == "argument" and denotation.node.kind == "name" then
    denotation = self:within(denotation, self.denote, denotation.node)
  end
  if denotation.tag == "math" then return captures.of_math(node.field) end
  if denotation.tag == "refused" then return denotation end
  self:fail(node, "field '%s' of '%s' is not accepted: only math has fields", node.field, node.name)
end

local names = { new_scope = new_scope }

--- Names of a parsed function, with none declared yet.
-- @tparam table parsed of `clcompute.loops.front.parser`
-- @treturn table also what counts: `depth` of expressions, `nodes`; `loops` are those around, `calls` the inlined ones
-- around, `before` the statements behind which an expression is evaluated, nil where it may not be
function names.new(parsed)
  return setmetatable({ origin = parsed.origin, holder = captures.holder(parsed), variables = variables.new(),
    scope = new_scope(), loops = {}, captured = {}, captures = {}, depth = 0, nodes = 0 }, Names)
end

return names
