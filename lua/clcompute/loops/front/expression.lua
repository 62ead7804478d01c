-- SPDX-License-Identifier: MIT

--- Parses an expression, by precedence climbing. What Lua has and the subset has not is named at its first token.
-- Names stay as written: `{ kind="name", name= }`, `{ kind="field", name=, field= }`,
-- `{ kind="index", name=, subscripts= }`, `{ kind="call", callee=, arguments= }`, `{ kind="length", operand= }`.
-- @module clcompute.loops.front.expression

local operators = require "clcompute.loops.tree.operators"

local expression = {}

local SIGNS = { ["-"] = true, ["not"] = true, ["~"] = true }

local OUTSIDE = {
  ["nil"] = "nil is not accepted: values are numbers and booleans",
  ["..."] = "'...' is not accepted: every parameter has a name",
  ["{"] = "a table cannot be made here: pass the array as a parameter",
  ["function"] = "a function is not accepted here: only 'local f = function(x) return ... end' is",
}

local subexpression

local function name_of(token)
  return { kind = "name", name = token.text, line = token.line, column = token.column, offset = token.offset,
    finish = token.finish }
end

local function parse_arguments(cursor)
  local opener, arguments = cursor:expect "(", {}
  if cursor:accept ")" then return arguments end
  repeat arguments[#arguments + 1] = expression.parse(cursor) until not cursor:accept ","
  cursor:expect(")", opener)
  return arguments
end

local function parse_subscript(cursor, base)
  if base.kind ~= "name" and base.kind ~= "index" then cursor:fail "only a name can be indexed" end
  local opener = cursor:expect "["
  local subscripts = base.subscripts or {}
  subscripts[#subscripts + 1] = expression.parse(cursor)
  cursor:expect("]", opener)
  return cursor:node("index", base, { name = base.name, subscripts = subscripts })
end

local function parse_field(cursor, base)
  if base.kind ~= "name" then cursor:fail "a field of this is not accepted: only math has fields" end
  cursor:expect "."
  return cursor:node("field", base, { name = base.name, field = cursor:expect_name().text })
end

local function parse_call(cursor, base)
  if base.kind ~= "name" and base.kind ~= "field" then cursor:fail "only a name can be called" end
  local arguments = parse_arguments(cursor)
  return cursor:node("call", base, { callee = base, arguments = arguments })
end

--- A name with what follows it, or an expression in parentheses.
function expression.parse_primary(cursor)
  local opener = cursor:accept "("
  if opener then
    local inner = expression.parse(cursor)
    cursor:expect(")", opener)
    if cursor:is "[" or cursor:is "." or cursor:is "(" then cursor:fail "only a name can be indexed or called" end
    return inner
  end
  if cursor:peek().kind ~= "name" then cursor:fail_expected "an expression" end
  local node = name_of(cursor:take())
  while true do
    local token = cursor:peek()
    if token.text == "[" then
      node = parse_subscript(cursor, node)
    elseif token.text == "." then
      node = parse_field(cursor, node)
    elseif token.text == "(" then
      node = parse_call(cursor, node)
    elseif token.text == ":" then
      cursor:fail "a method call is not accepted"
    elseif token.kind == "string" or token.text == "{" then
      cursor:fail "a call with a string or a table is not accepted"
    else
      return node
    end
  end
end

local function parse_simple(cursor)
  local token = cursor:peek()
  if token.kind == "number" then
    cursor:take()
    return cursor:node("number", token, { value = token.value })
  elseif token.text == "true" or token.text == "false" then
    cursor:take()
    return cursor:node("boolean", token, { value = token.text == "true" })
  elseif token.kind == "string" then
    cursor:fail "a string is not accepted: values are numbers and booleans"
  elseif OUTSIDE[token.text] then
    cursor:fail(OUTSIDE[token.text])
  end
  return expression.parse_primary(cursor)
end

local function parse_length(cursor, token)
  local operand = cursor:nested(subexpression, operators.UNARY)
  if operand.kind ~= "name" and operand.kind ~= "index" then cursor:fail("'#' takes the name of an array", token) end
  return cursor:node("length", token, { operand = operand })
end

local function parse_unary(cursor)
  local token = cursor:peek()
  if cursor:accept "#" then return parse_length(cursor, token) end
  if not SIGNS[token.text] then return parse_simple(cursor) end
  cursor:take()
  local operand = cursor:nested(subexpression, operators.UNARY)
  return cursor:node("unary", token, { op = token.text, operand = operand })
end

--- An expression whose operators bind more tightly than `limit`.
function subexpression(cursor, limit)
  local left = parse_unary(cursor)
  while true do
    local token = cursor:peek()
    local binding = operators.BINARY[token.text]
    if not binding or binding[1] <= limit then return left end
    if token.text == ".." then cursor:fail "'..' is not accepted: values are numbers and booleans" end
    cursor:take()
    local right = cursor:nested(subexpression, binding[2])
    left = cursor:node("binary", left, { op = token.text, left = left, right = right })
  end
end

--- The expression at a cursor.
-- @tparam table cursor of `clcompute.loops.front.cursor`
-- @treturn table
function expression.parse(cursor)
  return cursor:nested(subexpression, 0)
end

return expression
