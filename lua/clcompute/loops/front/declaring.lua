-- SPDX-License-Identifier: MIT

--- Declarations: locals with and without a value, other names of what is no number (`local sqrt = math.sqrt`, an array,
-- a row), tables, and functions.

local evaluating = require "clcompute.loops.front.evaluating"
local indexing = require "clcompute.loops.front.indexing"
local inlining = require "clcompute.loops.front.inlining"
local made_tables = require "clcompute.loops.front.made_tables"

local declaring = {}

local ALIASED = { math = true, ["function"] = true, inlined = true, row = true }

--- What `local sqrt = math.sqrt`, `local m = math` and `local b = a` of an array denote; nil for values.
-- @tparam table self
-- @tparam table parsed the value
-- @string name that it gets
-- @tparam {table,...} block parsed statements
-- @tparam integer behind where those begin that know the name
local function alias(self, parsed, name, block, behind)
  if parsed.kind ~= "name" and parsed.kind ~= "field" then return nil end
  local denotation = self:denote(parsed)
  if ALIASED[denotation.tag] then return denotation end
  local is_number = parsed.kind == "field" or denotation.variable and denotation.variable.number
  local is_array = not is_number and (denotation.tag == "variable" or denotation.tag == "argument")
    and (inlining.array_of(self, parsed.name) or inlining.is_indexed(self, block, behind, name))
  return is_array and denotation or nil
end

--- A local that gets its value later; `unassigned` checks that it does before it is read.
local function declare_blank(self, token, into)
  local zero = self:node("number", token, { value = 0 })
  local variable = self:declare(token, { role = "local", definition = zero, is_bare = true })
  into[#into + 1] = self:node("local", token, { variable = variable, value = zero, is_blank = true,
    is_bare = true })
end

--- `local a, b = e, f`: each name denotes a local, a table, or what its value does.
function declaring.locals(self, parsed, into)
  local block, behind = self.block, self.behind
  if #parsed.values == 0 then
    for _, token in ipairs(parsed.names) do declare_blank(self, token, into) end
    return
  end
  local values = evaluating.values(self, parsed.values, into, function(_, value, _, i)
    local is_row = value.kind == "index" and inlining.is_indexed(self, block, behind, parsed.names[i].text)
    return value.kind == "table" and value or is_row and indexing.row_of(self, value, into)
      or alias(self, value, parsed.names[i].text, block, behind) or evaluating.value(self, value, into)
  end)
  local around = self:enter()
  for i, token in ipairs(parsed.names) do
    local value = values[i]
    if value.kind == "table" then
      made_tables.make(self, token, value, made_tables.place_of(self, block, behind, token.text), around, into)
    elseif value.tag then
      self:bind(token.text, value)
    else
      local variable = self:declare(token, { role = "local", definition = value })
      local first = i == 1 and parsed or token
      into[#into + 1] = self:node("local", first, { variable = variable, value = value })
    end
  end
end

--- A local function. It sees itself, if `local function` defined it, but no names that follow: those get a scope
-- further in.
function declaring.lua_function(self, parsed)
  local denotation = { tag = "inlined", name = parsed.name, parameters = parsed.parameters, parsed = parsed,
    scope = self.scope, holder = self.holder, key = parsed }
  self:enter()
  self:bind(parsed.name, denotation)
  if parsed.sees_itself then denotation.scope = self.scope end
  self:enter()
end

return declaring
