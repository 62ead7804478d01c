-- SPDX-License-Identifier: MIT

--- Gives every name its variable, so that names are unique and scopes are gone; puts functions in place of their calls
-- (`inlining`); splits `local a, b` and `a, b = b, a`; dissolves `do`. The result is a new tree with nodes of its own
-- (`tree.ast`), so one parsed function can be resolved again for another specialisation; ids are the same each time.
-- This file has the function as a whole; its parts are in `statements`, `declaring`, `assigning`, `returning`,
-- `evaluating`, `expressions`, `indexing` and `calling`, names in `names`.

local appending = require "clcompute.loops.front.appending"
local ast = require("clcompute.loops.tree").ast
local calling = require "clcompute.loops.front.calling"
local expressions = require "clcompute.loops.front.expressions"
local first_values = require "clcompute.loops.front.first_values"
local flags = require "clcompute.loops.front.flags"
local irregular = require "clcompute.loops.front.irregular"
local jumps = require "clcompute.loops.front.jumps"
local missing = require "clcompute.loops.front.missing"
local names = require "clcompute.loops.front.names"
local restrictions = require "clcompute.loops.front.restrictions"
local statements = require "clcompute.loops.front.statements"

local resolve = {}

-- Functions that files call which those that have them require: an argument is an expression, and a call is one.
local RESOLVER = { expression = expressions.resolve, list = calling.list, block = statements.block }

--- What the function returns, as far as it is known: an array of one element for each number, and the `kinds` of those
-- that a `return` has given, "array" or "number".
local function results_of(self, parsed, count)
  local list = { holder = self.holder, parsed = parsed, count = count, kinds = {} }
  for i = 1, count or 0 do
    list[i] = self:variable(count == 1 and "result" or "result " .. i, { role = "array", node = parsed, loops = {},
      rank = 1, use = parsed, indexed = parsed, is_capture = true, is_result = true })
  end
  return list
end

--- Statements without those that store in an array.
local function without_stores(nodes, array)
  local list = {}
  for _, node in ipairs(nodes) do
    for _, arm in ipairs(node.arms or {}) do arm.body = without_stores(arm.body, array) end
    if node.otherwise then node.otherwise = without_stores(node.otherwise, array) end
    if node.body then node.body = without_stores(node.body, array) end
    if not node.target or node.target.array ~= array then list[#list + 1] = node end
  end
  return list
end

--- What a function returns, and its statements: a result that is one array in any case needs no number.
local function settle_results(self, body)
  local list = {}
  for i, result in ipairs(self.results) do
    local is_one = result.arrays and #result.arrays == 1
    if is_one then body = without_stores(body, result) else table.insert(self.captures, result) end
    list[i] = is_one and result.arrays[1] or result
  end
  return list, body
end

--- Declares the parameters. One that is assigned is a local, whose first value is the call's; one that calls leave out
-- is missing.
local function declare_parameters(self, parsed, into, left_out)
  local parameters = {}
  for i, token in ipairs(parsed.parameters) do
    parameters[i] = self:declare(token, { role = "parameter", is_parameter = true })
    if left_out[i] then
      self:bind(token.text, missing.denotation(self, token, parsed))
    elseif self.wanted.locals[token.offset] then
      local value = self:node("name", token, { variable = parameters[i] })
      restrictions.number(self.origin, parameters[i], token)
      local variable = self:add_local(into, token.text, token, value, { assigned = token })
      self:bind(token.text, { tag = "variable", variable = variable })
    end
  end
  return parameters
end

--- The tree of a parsed function, if nothing turns out that had to be known from the beginning.
local function resolve_once(parsed, base, wanted, is_cautious, left_out)
  local self = names.new(parsed, wanted)
  self.resolver, self.base, self.ends = RESOLVER, base, true
  local body = {}
  local parameters = declare_parameters(self, parsed, body, left_out)
  local count, results
  self.statements, count = jumps.structured(parsed.origin, parsed)
  self.results = results_of(self, parsed, count or self:counts(parsed.origin)[parsed.offset])
  local resolved = statements.block(self, self.statements)
  table.move(resolved, 1, #resolved, #body + 1, body)
  for _, needless in ipairs(appending.settle(self)) do body = without_stores(body, needless) end
  results, body = settle_results(self, body)
  local tree = ast.node("function", { name = parsed.name, parameters = parameters, captures = self.captures,
    body = body, origin = parsed.origin, base = self.base, results = results,
    scratch = #self.made > 0 and self.made or nil }, parsed)
  local function new_variable(name, fields) return self:variable(name, fields) end
  return irregular.mark(first_values.split(flags.apply(tree), new_variable), new_variable, is_cautious)
end

--- The tree of a parsed function with variables in place of names.
-- @tparam table parsed of `clcompute.loops.front.grammar`
-- @tparam ?integer base of the arrays: 0 or, unless given, 1
-- @tparam ?boolean is_cautious of `clcompute.loops.front.irregular`
-- @tparam ?table left_out the places of parameters that calls leave out, as keys
-- @treturn table `{ kind="function", name=, parameters={variables}, captures={variables}, body=, origin= }`
function resolve.run(parsed, base, is_cautious, left_out)
  local wanted = { cursors = {}, locals = {}, counts = {}, plain = {} }
  while true do
    local ok, result = pcall(resolve_once, parsed, base or 1, wanted, is_cautious, left_out or {})
    if ok then return result end
    if result ~= names.AGAIN then error(result, 0) end
  end
end

return resolve
