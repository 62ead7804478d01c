-- SPDX-License-Identifier: MIT

--- Items of braces with keys that are integers beside the list, `local t = { [0] = 1 }`, as the statements that store
-- them behind: `local t = {}; t[0] = 1`.

local ast = require("clcompute.loops.tree").ast

local keyed_items = {}

--- The integer that a key is as it is written; nil for others.
local function integer_of(key)
  local sign, literal = 1, key
  if key.kind == "unary" and key.op == "-" then sign, literal = -1, key.operand end
  return math.type(literal.value) == "integer" and sign * literal.value or nil
end

local STEADY = { number = true, name = true, unary = true, binary = true }

--- Whether expressions are of numbers and names alone, so that they are the same behind the braces.
local function are_steady(list)
  for _, parsed in ipairs(list) do
    local parts = { parsed.left or parsed.operand, parsed.right }
    if not STEADY[parsed.kind] or not are_steady(parts) then return false end
  end
  return true
end

--- Whether a part of an expression is called by a name.
local function mentions(parsed, name)
  if parsed.name == name then return true end
  for _, part in pairs(parsed) do
    if type(part) == "table" and mentions(part, name) then return true end
  end
  return false
end

--- Whether an expression calls a function by a name, which may change what stands beside it.
local function calls_own(parsed)
  if parsed.kind == "call" and parsed.callee.kind == "name" then return true end
  for _, part in pairs(parsed) do
    if type(part) == "table" and calls_own(part) then return true end
  end
  return false
end

local function refuse(c, place)
  c:fail("keys in braces are integers beside the list, as in 'local t = { [0] = 1, 2, 3 }' or 't[i] = { [0] = 1 }', "
    .. "each once: others come behind it, t[k] = v", place)
end

--- The statements `name[subscripts][key] = value` of braces; none where these have no keys.
local function stores(c, name, subscripts, braces, names, into)
  if braces.kind ~= "table" then return end
  local is_known = {}
  for _, item in ipairs(braces.keyed or {}) do
    local key = integer_of(item.key)
    if not key or is_known[key] or key >= 1 and key <= #braces.items then refuse(c, item.key) end
    for _, other in ipairs(names) do
      if mentions(item.value, other) then refuse(c, item.value) end
    end
    is_known[key] = true
    local own = table.move(subscripts, 1, #subscripts, 1, {})
    own[#own + 1] = item.key
    local target = ast.parsed("index", { name = name, subscripts = own }, item.key)
    into[#into + 1] = ast.parsed("assign", { target = target, value = item.value }, item.key)
    stores(c, name, own, item.value, names, into)
  end
  braces.keyed = nil
end

--- What comes behind a statement that makes tables.
-- @tparam table c a cursor of `clcompute.loops.front.lexer`
-- @tparam table node parsed
-- @treturn {table,...} parsed statements
function keyed_items.behind(c, node)
  local list, target = {}, node.target
  if node.kind == "local" then
    local names = {}
    for i, token in ipairs(node.names) do names[i] = token.text end
    for i, value in ipairs(node.values) do stores(c, names[i], {}, value, names, list) end
  elseif node.kind == "assign" and target.kind == "index" and node.value.kind == "table" and node.value.keyed then
    if not are_steady(target.subscripts) then refuse(c, node.value.keyed[1].key) end
    stores(c, target.name, target.subscripts, node.value, {}, list)
  end
  for _, value in ipairs(#list > 0 and (node.values or { node.value }) or {}) do
    if calls_own(value) then
      c:fail("a function is called in braces with keys, or beside them: call it before, in a local of its own", value)
    end
  end
  return list
end

return keyed_items
