-- SPDX-License-Identifier: MIT

--- The place of a function that is being resolved: what names denote there, in scopes; it makes nodes and variables.
-- Denotations are those of free names (`denotations`) and `{ tag="variable", variable= }`; `{ tag="argument", node=,
-- scope=, holder=, site=, calls= }`: where the argument of a function was written that is put in place of its call;
-- `{ tag="missing", ... }` (`missing`); and `{ tag="row", array=, subscripts= }`, what `local row = a[i]` names.

local ast = require("clcompute.loops.tree").ast
local denotations = require "clcompute.loops.front.denotations"
local failure = require("clcompute.loops.tree").failure

local names = {}

local MOST_NODES = 50000
local DEEPEST = 200 -- of an expression

local Names = {}
Names.__index = Names

--- A scope within another.
function names.scope(parent)
  return { names = {}, parent = parent }
end

function Names:fail(node, message, ...)
  failure.raise(self.origin, self.site or node, message:format(...))
end

names.AGAIN = {} -- what is raised where all is to be resolved once more

--- Resolves all once more, with something known of what stands at an offset of a text: in a table of `wanted`.
function Names.again(known, offset, value)
  assert(not known[offset], "known already")
  known[offset] = value
  error(names.AGAIN, 0)
end

--- How many numbers functions of an origin return, by their offsets, where calls say so in them.
function Names:counts(from)
  local key, all = from.fn or from.text, self.wanted.counts
  all[key] = all[key] or {}
  return all[key]
end

--- A node at the place of a parsed one, or of the call that an inlined function stands for.
function Names:node(kind, parsed, fields)
  self.nodes = self.nodes + 1
  if self.nodes > MOST_NODES then
    self:fail(parsed, "more than %d expressions with all calls put in place", MOST_NODES)
  end
  local node = ast.node(kind, fields, self.site or parsed)
  if self.site then
    local file = self.holder.origin.file
    node.inside = (file == self.origin.file and "line %d" or file:gsub("%%", "%%%%") .. ":%d"):format(parsed.line)
  end
  return node
end

--- Runs f at another place, its `scope`, `holder`, `site` (the call that all there stands for) and `calls` (of inlined
-- functions around), then goes back.
function Names:within(place, f, ...)
  local scope, holder, site, calls = self.scope, self.holder, self.site, self.calls
  self.scope, self.holder, self.site, self.calls = place.scope, place.holder, place.site, place.calls
  local result, other = f(self, ...)
  self.scope, self.holder, self.site, self.calls = scope, holder, site, calls
  return result, other
end

--- Runs f while locals of arguments go into a list of statements, and statements of functions into another one, or the
-- same; nil: while there is no place for them.
function Names:evaluating(before, place, f, ...)
  local around, around_place = self.before, self.place
  self.before, self.place = before, place
  local result = f(self, ...)
  self.before, self.place = around, around_place
  return result
end

--- Resolves an expression by f, one level further in.
function Names:deeper(parsed, f)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then self:fail(parsed, "an expression of more than %d levels", DEEPEST) end
  local result = f(self, parsed)
  self.depth = self.depth - 1
  return result
end

--- Names that follow go into a scope further in; returns the one around it.
function Names:enter()
  local around = self.scope
  self.scope = names.scope(around)
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

--- What the names of a scope denote in which a name is declared; nil for those from around the function.
function Names:names_with(name)
  local scope = self.scope
  while scope and not scope.names[name] do scope = scope.parent end
  return scope and scope.names
end

--- Makes a variable within the loops around.
function Names:variable(name, fields)
  self.count = self.count + 1
  fields.id, fields.name = ast.id(name, self.count), name
  fields.loops = fields.loops or self.loops
  local variable = ast.node("variable", fields)
  self.born[variable] = self.count
  return variable
end

--- Adds a local with a value to statements; `fields` are further ones of its variable, which is returned.
function Names:add_local(into, name, at, value, fields)
  fields = fields or {}
  fields.role, fields.node, fields.definition = "local", at, value
  local variable = self:variable(name, fields)
  into[#into + 1] = self:node("local", at, { variable = variable, value = value })
  return variable
end

--- Makes the variable of a declaration.
function Names:declare(token, fields)
  fields.node = token
  local variable = self:variable(token.text, fields)
  self:bind(token.text, { tag = "variable", variable = variable })
  return variable
end

--- The variable of an upvalue: one, however many functions share it.
function Names:capture(denotation, name, node)
  local variable = self.captured[denotation.id]
  if not variable then
    variable = self:variable(name, { role = "capture", node = self.site or node, loops = {}, is_capture = true,
      fn = denotation.fn, index = denotation.index })
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
  denotation = denotation or denotations.denote(self.holder, node.name)
  if denotation.tag == "upvalue" then denotation = self:capture(denotation, node.name, node) end
  if node.kind ~= "field" then return denotation end
  if denotation.tag == "argument" and denotation.node.kind == "name" then
    denotation = self:within(denotation, self.denote, denotation.node)
  end
  if denotation.tag == "math" then return denotations.of_math(node.field) end
  if denotation.tag == "refused" then return denotation end
  if denotation.tag == "table" then
    self:fail(node, "table.%s stays in Lua, before or behind the compiled function: table.insert(t, e) of a "
      .. "name t alone is accepted", node.field)
  end
  self:fail(node, "field '%s' of '%s' is not accepted: make it a local or a parameter; records are arrays, one for "
    .. "each field", node.field, node.name)
end

--- Names of a parsed function, with none declared yet.
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @tparam table wanted what is known of declarations, by the offsets of their names: `cursors`, tables that get one,
-- `locals`, parameters that are assigned, `plain`, tables whose elements are read as they are written; and `counts`, of
-- functions
-- @treturn table also `made`, the tables that it makes, `branches_at`, in how many branches each is made, `stores`,
-- what is known of where each is stored, `rows`, where each of their rows is made, `element_stores`, those with stores
-- of elements of rows, `given`, where lengths are returned, `born`, which number variables have,
-- `asked`, the bodies of functions that are being looked at, and what counts: `depth` of expressions, `nodes`, the
-- function being one, `count` of variables, `branches` around, `exchanges`: loops before in which arrays change places;
-- `loops` are those around, `calls` the inlined ones around, `before` the statements behind which an expression is
-- evaluated, nil where it may not be, `place` those to which a function's may be added, `whole` the expression that is
-- all of a value, `filling` the array that gets it, `block` the statements of which one is resolved, `behind` where
-- those behind it begin in them, `ends` whether nothing follows them
function names.new(parsed, wanted)
  return setmetatable({ origin = parsed.origin, holder = denotations.holder(parsed), wanted = wanted, count = 0,
    scope = names.scope(), loops = {}, captured = {}, captures = {}, made = {}, branches = 0, branches_at = {},
    stores = {}, rows = {}, element_stores = {}, given = {}, born = {}, asked = {}, exchanges = 0, depth = 0,
    nodes = 1 }, Names)
end

return names
