-- SPDX-License-Identifier: MIT

--- Parses expressions: numbers, booleans, names with subscripts, calls, operators, tables. What Lua has and this subset
-- has not is a failure that names it.

local ast = require("clcompute.loops.tree").ast
local lua_text = require("clcompute.loops.tree").lua_text

local expression_grammar = {}

expression_grammar.RECORDS = "records are arrays, one for each field" -- in messages

local SIGNS = { ["-"] = true, ["not"] = true, ["~"] = true }

local NO_TEXTS = "'..' is not accepted: values are numbers and booleans; texts are made before or behind the compiled "
  .. "function"

-- What is no expression here.
local OUTSIDE = {
  ["..."] = "'...' is not accepted: every parameter has a name",
  ["function"] = "a function is not accepted here: only 'local f = function(x) ... end' is",
}

local subexpression

--- An expression.
-- @tparam table c a cursor of `clcompute.loops.front.lexer`
-- @treturn table of `ast.parsed`
function expression_grammar.parse(c)
  return c:nested(subexpression, 0)
end

--- Notes that an expression is the last one of a list: a call that is not in parentheses gives all its numbers.
local function end_list(last, place)
  if last.kind == "call" and place.text ~= "(" then last.takes = math.huge end
end

--- Expressions with commas between them.
-- @treturn {table,...}
function expression_grammar.values(c)
  local values, place = {}, c:peek()
  values[1] = expression_grammar.parse(c)
  while c:accept "," do
    place = c:peek()
    values[#values + 1] = expression_grammar.parse(c)
  end
  end_list(values[#values], place)
  return values
end

local function parse_arguments(c)
  local opener = c:expect "("
  if c:accept ")" then return {} end
  local arguments = expression_grammar.values(c)
  c:expect(")", opener)
  return arguments
end

local function parse_subscript(c, base)
  if base.kind == "field" then
    c:fail(("'%s.%s' is not accepted: make it a parameter, or a local around the function; %s"):format(base.name,
      base.field, expression_grammar.RECORDS), base)
  end
  if base.kind ~= "name" and base.kind ~= "index" then c:fail "only a name can be indexed" end
  local opener = c:expect "["
  if c:peek().kind == "string" then c:fail("a key that is a string is not accepted: " .. expression_grammar.RECORDS) end
  local subscripts = base.subscripts or {}
  subscripts[#subscripts + 1] = expression_grammar.parse(c)
  c:expect("]", opener)
  return c:node("index", base, { name = base.name, subscripts = subscripts })
end

local function parse_field(c, base)
  if base.kind ~= "name" then c:fail("a field of this is not accepted: " .. expression_grammar.RECORDS) end
  c:expect "."
  return c:node("field", base, { name = base.name, field = c:expect_name().text })
end

local function parse_call(c, base)
  if base.kind ~= "name" and base.kind ~= "field" then c:fail "only a name can be called" end
  return c:node("call", base, { callee = base, arguments = parse_arguments(c) })
end

local BEHIND_NAMES = { ["["] = parse_subscript, ["."] = parse_field, ["("] = parse_call }

--- A name with what follows it, or an expression in parentheses.
function expression_grammar.primary(c)
  local opener = c:accept "("
  if opener then
    local inner = expression_grammar.parse(c)
    c:expect(")", opener)
    if BEHIND_NAMES[c:peek().text] then c:fail "only a name can be indexed or called" end
    return inner
  end
  if c:peek().kind ~= "name" then c:fail_expected "an expression" end
  local token = c:take()
  local node = ast.parsed("name", { name = token.text }, token)
  while BEHIND_NAMES[c:peek().text] do node = BEHIND_NAMES[c:peek().text](c, node) end
  if c:is ":" then
    c:fail "a method call is not accepted: call it before or behind the function, or a local function in its place"
  elseif c:is "{" or c:peek().kind == "string" then
    c:fail "a call with a string or a table is not accepted"
  end
  return node
end

expression_grammar.KEYS = "a table is a list here, numbers without keys: t[k] = v comes behind it"

--- `[0] = e`, an item with a key.
local function parse_keyed(c)
  local opener = c:expect "["
  local key = expression_grammar.parse(c)
  c:expect("]", opener)
  c:expect "="
  return { key = key, value = expression_grammar.parse(c) }
end

--- `{ 1, 2 }`, `{ { 1, 2 }, { 3, 4 } }`, `{}`, `{ [0] = 1, 2 }`.
local function parse_table(c)
  local opener, items, keyed, place = c:expect "{", {}, {}, nil
  while not c:is "}" do
    place = c:peek()
    if c:is "[" then
      keyed[#keyed + 1], place = parse_keyed(c), nil
    else
      items[#items + 1] = expression_grammar.parse(c)
      if c:is "=" then c:fail(expression_grammar.KEYS) end
    end
    if not c:accept "," and not c:accept ";" then break end
  end
  if place then end_list(items[#items], place) end
  c:expect("}", opener)
  return c:node("table", opener, { items = items, keyed = #keyed > 0 and keyed or nil })
end

--- The kind and the fields of what a token alone is; nil for other tokens.
local function literal(token)
  if token.kind == "number" then return "number", { value = token.value } end
  if token.text == "true" or token.text == "false" then return "boolean", { value = token.text == "true" } end
  if token.kind == "string" then return "string", {} end
  if token.text == "nil" then return "nil", {} end
end

local function parse_simple(c)
  local token = c:peek()
  if token.text == "{" then return parse_table(c) end
  if OUTSIDE[token.text] then c:fail(OUTSIDE[token.text]) end
  local kind, fields = literal(token)
  if not kind then return expression_grammar.primary(c) end
  c:take()
  return c:node(kind, token, fields)
end

local function parse_length(c, token)
  local operand = c:nested(subexpression, lua_text.UNARY)
  if operand.kind ~= "name" and operand.kind ~= "index" then c:fail("'#' takes the name of an array", token) end
  return c:node("length", token, { operand = operand })
end

local function parse_unary(c)
  local token = c:peek()
  if c:accept "#" then return parse_length(c, token) end
  if not SIGNS[token.text] then return parse_simple(c) end
  c:take()
  local operand = c:nested(subexpression, lua_text.UNARY)
  return c:node("unary", token, { op = token.text, operand = operand })
end

--- An expression whose operators bind more tightly than `limit`.
function subexpression(c, limit)
  local left = parse_unary(c)
  while true do
    local token = c:peek()
    local binding = lua_text.BINARY[token.text]
    if not binding or binding[1] <= limit then return left end
    if token.text == ".." then c:fail(NO_TEXTS) end
    c:take()
    local right = c:nested(subexpression, binding[2])
    left = c:node("binary", left, { op = token.text, left = left, right = right })
  end
end

return expression_grammar
