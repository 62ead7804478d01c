-- SPDX-License-Identifier: MIT

--- Parses the function that an origin means: loops, `if`, `do`, `local`, assignments, calls, jumps. What Lua has and
-- this subset has not is a failure that names it. Names stay as written (`ast.parsed`); `while` and `repeat` become
-- loops without an end and a `break`.

local ast = require("clcompute.loops.tree").ast
local failure = require("clcompute.loops.tree").failure
local lexer = require "clcompute.loops.front.lexer"
local lua_text = require("clcompute.loops.tree").lua_text
local origin = require "clcompute.loops.front.origin"

local grammar = {}

local RECORDS = "records are arrays, one for each field"
local NO_TEXT = " is not accepted: values are numbers and booleans; texts are made before or behind the compiled "
  .. "function"
local SIGNS = { ["-"] = true, ["not"] = true, ["~"] = true }

local OUTSIDE_EXPRESSIONS = {
  ["..."] = "'...' is not accepted: every parameter has a name",
  ["function"] = "a function is not accepted here: only 'local f = function(x) ... end' is",
}

local parse_block, subexpression

local function parse_expression(c)
  return c:nested(subexpression, 0)
end

local function name_of(token)
  return ast.parsed("name", { name = token.text }, token)
end

--- Notes that an expression is the last one of a list: a call that is not in parentheses gives all its numbers.
local function end_list(last, place)
  if last.kind == "call" and place.text ~= "(" then last.takes = math.huge end
end

local function parse_values(c)
  local values, place = {}, c:peek()
  values[1] = parse_expression(c)
  while c:accept "," do
    place = c:peek()
    values[#values + 1] = parse_expression(c)
  end
  end_list(values[#values], place)
  return values
end

local function parse_arguments(c)
  local opener = c:expect "("
  if c:accept ")" then return {} end
  local arguments = parse_values(c)
  c:expect(")", opener)
  return arguments
end

local function parse_subscript(c, base)
  if base.kind == "field" then
    c:fail(("'%s.%s' is not accepted: make it a parameter, or a local around the function; %s"):format(base.name,
      base.field, RECORDS), base)
  end
  if base.kind ~= "name" and base.kind ~= "index" then c:fail "only a name can be indexed" end
  local opener = c:expect "["
  if c:peek().kind == "string" then c:fail("a key that is a string is not accepted: " .. RECORDS) end
  local subscripts = base.subscripts or {}
  subscripts[#subscripts + 1] = parse_expression(c)
  c:expect("]", opener)
  return c:node("index", base, { name = base.name, subscripts = subscripts })
end

local function parse_field(c, base)
  if base.kind ~= "name" then c:fail("a field of this is not accepted: " .. RECORDS) end
  c:expect "."
  return c:node("field", base, { name = base.name, field = c:expect_name().text })
end

local function parse_call(c, base)
  if base.kind ~= "name" and base.kind ~= "field" then c:fail "only a name can be called" end
  local arguments = parse_arguments(c)
  return c:node("call", base, { callee = base, arguments = arguments })
end

--- A name with what follows it, or an expression in parentheses.
local function parse_primary(c)
  local opener = c:accept "("
  if opener then
    local inner = parse_expression(c)
    c:expect(")", opener)
    if c:is "[" or c:is "." or c:is "(" then c:fail "only a name can be indexed or called" end
    return inner
  end
  if c:peek().kind ~= "name" then c:fail_expected "an expression" end
  local node = name_of(c:take())
  while true do
    local token = c:peek()
    if token.text == "[" then
      node = parse_subscript(c, node)
    elseif token.text == "." then
      node = parse_field(c, node)
    elseif token.text == "(" then
      node = parse_call(c, node)
    elseif token.text == ":" then
      c:fail "a method call is not accepted: call it before or behind the function, or a local function in its place"
    elseif token.kind == "string" or token.text == "{" then
      c:fail "a call with a string or a table is not accepted"
    else
      return node
    end
  end
end

--- `{ 1, 2 }`, `{ { 1, 2 }, { 3, 4 } }`, `{}`.
local function parse_table(c)
  local opener, items, place = c:expect "{", {}, nil
  while not c:is "}" do
    if c:is "[" then c:fail "a table is a list here: numbers without keys" end
    place = c:peek()
    items[#items + 1] = parse_expression(c)
    if c:is "=" then c:fail "a table is a list here: numbers without keys" end
    if not c:accept "," and not c:accept ";" then break end
  end
  if place then end_list(items[#items], place) end
  c:expect("}", opener)
  return c:node("table", opener, { items = items })
end

local function parse_simple(c)
  local token = c:peek()
  if token.text == "{" then return parse_table(c) end
  if token.kind == "number" then
    c:take()
    return c:node("number", token, { value = token.value })
  elseif token.text == "true" or token.text == "false" then
    c:take()
    return c:node("boolean", token, { value = token.text == "true" })
  elseif token.kind == "string" then
    c:take()
    return c:node("string", token, {})
  elseif token.text == "nil" then
    c:take()
    return c:node("nil", token, {})
  elseif OUTSIDE_EXPRESSIONS[token.text] then
    c:fail(OUTSIDE_EXPRESSIONS[token.text])
  end
  return parse_primary(c)
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
    if token.text == ".." then c:fail("'..'" .. NO_TEXT) end
    c:take()
    local right = c:nested(subexpression, binding[2])
    left = c:node("binary", left, { op = token.text, left = left, right = right })
  end
end

local LARGEST_STEP = 1 << 53 -- places behind a loop's last one, up to a work-group, do not wrap

local OUTSIDE = {
  ["function"] = "a global function is not accepted here: only 'local function f(x) ... end' is",
}

-- --- functions -----------------------------------------------------------------------------

local function parse_parameters(c)
  local opener, names = c:expect "(", {}
  if c:accept ")" then return names end
  repeat
    if c:is "..." then c:fail "'...' is not accepted: every parameter has a name" end
    names[#names + 1] = c:expect_name()
  until not c:accept ","
  c:expect(")", opener)
  return names
end

--- A function that is put in place of its calls, behind the word `function` and the name.
local function parse_inlined_function(c, first, name)
  local parameters = parse_parameters(c)
  local body = c:nested(parse_block)
  c:expect("end", first)
  return c:node("define", first, { name = name.text, parameters = parameters, body = body })
end

-- --- locals and assignments ----------------------------------------------------------------

--- `<const>`, which Lua itself has checked.
local function parse_attribute(c)
  if not c:accept "<" then return end
  if not c:is "const" then
    c:fail "an attribute other than <const> is not accepted: what is closed stays before or behind the function"
  end
  c:take()
  c:expect ">"
end

local function parse_names(c)
  local names = {}
  repeat
    names[#names + 1] = c:expect_name()
    parse_attribute(c)
  until not c:accept ","
  return names
end

--- Checks that there is a value for each place; a last call gives as many as there are places left.
local function adjust(c, noun, places, values, first)
  local last, left = values[#values], #places - #values + 1
  if left < 1 or left > 1 and not last.takes then
    c:fail(("every %s takes one value, here are %d for %d"):format(noun, #values, #places), first)
  end
  if last.takes then last.takes = left > 1 and left or nil end
end

local function parse_local(c)
  local first = c:expect "local"
  if c:accept "function" then
    local define = parse_inlined_function(c, first, c:expect_name())
    define.sees_itself = true
    return define
  end
  local names = parse_names(c)
  if not c:accept "=" then return c:node("local", first, { names = names, values = {} }) end
  if #names == 1 and c:accept "function" then return parse_inlined_function(c, first, names[1]) end
  local values = parse_values(c)
  adjust(c, "local", names, values, first)
  return c:node("local", first, { names = names, values = values })
end

local function check_target(c, target, first)
  if target.kind == "field" then c:fail("a field cannot be assigned: " .. RECORDS, first) end
  if target.kind ~= "name" and target.kind ~= "index" or first.text == "(" then
    c:fail("this cannot be assigned to", first)
  end
end

local ARITHMETIC = { ["+"] = true, ["-"] = true, ["*"] = true, ["/"] = true }

--- Raises a failure where a target has no `=` behind it.
local function fail_unassigned(c, first)
  if first.text == "continue" then
    c:fail("Lua has no 'continue': write 'goto continue', and '::continue::' at the end of the loop", first)
  elseif ARITHMETIC[c:peek().text] then
    c:fail(("Lua has no '%s=': write x = x %s 1"):format(c:peek().text, c:peek().text))
  end
  c:fail_expected "'='"
end

--- Targets and values of an assignment, or a call.
local function parse_assignment(c)
  local first, targets = c:peek(), {}
  repeat
    local place = c:peek()
    if place.kind ~= "name" and place.text ~= "(" then c:fail_expected(#targets == 0 and "a statement" or "a name") end
    local target = parse_primary(c)
    if #targets == 0 and target.kind == "call" and not c:is "," and not c:is "=" then
      return c:node("perform", first, { call = target })
    end
    targets[#targets + 1] = target
    if c:is "," or c:is "=" then check_target(c, target, place) end
  until not c:accept ","
  if not c:is "=" then fail_unassigned(c, first) end
  c:take()
  local values = parse_values(c)
  adjust(c, "target", targets, values, first)
  if #targets > 1 then return c:node("assigns", first, { targets = targets, values = values }) end
  return c:node("assign", first, { target = targets[1], value = values[1] })
end

-- --- loops ---------------------------------------------------------------------------------

--- An integer other than 0 as written, or 1 and an expression.
local function parse_step(c)
  if not c:accept "," then return 1 end
  local first = c:peek()
  local node = parse_expression(c)
  local sign, value = 1, node.value
  if node.kind == "unary" and node.op == "-" then sign, value = -1, node.operand.value end
  if type(value) ~= "number" then return 1, node end
  if math.type(value) ~= "integer" then
    c:fail(("the step of a loop must be an integer, not %s: write 'for i = 0, n do local x = i * %s'")
      :format(value, value), first)
  end
  if value == 0 then c:fail("the step of a loop must not be 0", first) end
  if value < 0 or value > LARGEST_STEP then c:fail("the step of a loop is too large", first) end
  return sign * value
end

local OTHER_FOR = "a generic 'for' goes over ipairs of an array: write 'for i, v in ipairs(x) do' or "
  .. "'for i = first, last do'"

--- `for i, v in ipairs(x) do`.
local function parse_generic_for(c, first, name)
  local value = c:accept "," and c:expect_name() or nil
  if not c:is "in" then c:fail(OTHER_FOR) end
  c:take()
  local place = c:peek()
  local call = parse_expression(c)
  local argument = call.kind == "call" and call.callee.name == "ipairs" and call.arguments[1]
  if argument and argument.kind ~= "name" then
    c:fail("ipairs takes the name of an array or a row here: write 'local row = a[i]' before, and 'ipairs(row)'", place)
  end
  if call.kind ~= "call" or call.callee.kind ~= "name" or #call.arguments ~= 1 or call.arguments[1].kind ~= "name" then
    c:fail(OTHER_FOR, place)
  end
  c:expect "do"
  local body = c:nested(parse_block)
  c:expect("end", first)
  return c:node("each", first, { name = name, value = value, call = call, body = body })
end

local function parse_for(c)
  local first = c:expect "for"
  local name = c:expect_name()
  if c:is "," or c:is "in" then return parse_generic_for(c, first, name) end
  c:expect "="
  local from = parse_expression(c)
  c:expect ","
  local to = parse_expression(c)
  local step, pace = parse_step(c)
  c:expect "do"
  local body = c:nested(parse_block)
  c:expect("end", first)
  return c:node("for", first, { name = name, from = from, to = to, step = step, pace = pace, body = body })
end

--- `if condition then break end`.
local function break_where(c, condition)
  local arm = c:node("arm", condition, { condition = condition, body = { c:node("break", condition, {}) } })
  return c:node("if", condition, { arms = { arm } })
end

local function parse_while(c)
  local first = c:expect "while"
  local condition = parse_expression(c)
  c:expect "do"
  local body = c:nested(parse_block)
  c:expect("end", first)
  if condition.value ~= true then
    table.insert(body, 1, break_where(c, c:node("unary", condition, { op = "not", operand = condition })))
  end
  return c:node("forever", first, { word = "while", body = body })
end

local function parse_repeat(c)
  local first = c:expect "repeat"
  local body = c:nested(parse_block)
  c:expect("until", first)
  body[#body + 1] = break_where(c, parse_expression(c))
  return c:node("forever", first, { word = "repeat", body = body })
end

local function parse_break(c)
  local first = c:expect "break"
  return c:node("break", first, {})
end

local function parse_goto(c)
  local first = c:expect "goto"
  return c:node("goto", first, { name = c:expect_name().text })
end

local function parse_label(c)
  local first = c:expect "::"
  local name = c:expect_name()
  c:expect "::"
  return c:node("label", first, { name = name.text })
end

-- --- other statements ----------------------------------------------------------------------

local BLOCK_ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

local function parse_arm(c)
  local first = c:peek()
  local condition = parse_expression(c)
  c:expect "then"
  local body = c:nested(parse_block)
  return c:node("arm", first, { condition = condition, body = body })
end

local function parse_if(c)
  local first = c:expect "if"
  local arms, otherwise = { parse_arm(c) }, nil
  while c:accept "elseif" do arms[#arms + 1] = parse_arm(c) end
  if c:accept "else" then otherwise = c:nested(parse_block) end
  c:expect("end", first)
  return c:node("if", first, { arms = arms, otherwise = otherwise })
end

local function parse_do(c)
  local first = c:expect "do"
  local body = c:nested(parse_block)
  c:expect("end", first)
  return c:node("do", first, { body = body })
end

--- `return` ends a block; what it returns are numbers.
local function parse_return(c)
  local first, values = c:expect "return", {}
  if not c:is ";" and not BLOCK_ENDS[c:peek().text] and c:peek().kind ~= "end" then values = parse_values(c) end
  c:accept ";"
  return c:node("return", first, { values = values })
end

local STATEMENTS = { ["for"] = parse_for, ["if"] = parse_if, ["do"] = parse_do, ["local"] = parse_local,
  ["while"] = parse_while, ["repeat"] = parse_repeat, ["break"] = parse_break, ["goto"] = parse_goto,
  ["::"] = parse_label, ["return"] = parse_return }

function parse_block(c)
  local statements = {}
  while true do
    local token = c:peek()
    if token.kind == "end" or BLOCK_ENDS[token.text] then return statements end
    if OUTSIDE[token.text] then c:fail(OUTSIDE[token.text]) end
    if not c:accept ";" then
      statements[#statements + 1] = (STATEMENTS[token.text] or parse_assignment)(c)
      if token.text == "return" then return statements end
    end
  end
end

--- The token that a message of Lua means: the last one on its line of the text behind "near", or the first.
local function find_named(tokens, line, message)
  local near, first, named = message:match "near '(.*)'$", nil, nil
  for _, token in ipairs(tokens) do
    if token.line == line then
      first = first or token
      if token.text == near then named = token end
    end
  end
  return named or first or tokens[#tokens]
end

--- A text around the function that is not Lua is a failure too. (Of a function value there is no doubt.)
local function check_whole(from, tokens)
  if from.fn then return end
  local is_expression = tokens[1].text == "function" and tokens[2].text == "("
  local text = from.text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\r\n]*", "")
  local loaded, message = lua_text.load(is_expression and "return " .. text or text, "text")
  if loaded then return end
  local line, reason = message:match "^text:(%d+): (.*)"
  failure.raise(from, find_named(tokens, tonumber(line), reason), "not Lua: " .. reason)
end

local METHOD = "a method is not accepted: it has the hidden parameter 'self'"

--- Parses the function that the origin means.
-- @tparam table from of `clcompute.loops.front.origin`
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @treturn table `{ kind="function", name=, parameters={tokens}, body=, origin=, tokens=, first= }`, where `first` is
-- the index of its first token
function grammar.parse(from, tokens)
  local chosen = origin.choose(from, tokens)
  local c = lexer.cursor(from, tokens, chosen.parenthesis)
  local first = tokens[chosen.first]
  if chosen.is_method then c:fail(METHOD, first) end
  local parameters = parse_parameters(c)
  local body = c:nested(parse_block)
  c:expect("end", first)
  check_whole(from, tokens)
  return c:node("function", first, { name = chosen.name, parameters = parameters, body = body, origin = from,
    tokens = tokens, first = chosen.first })
end

--- Parses a function that is to be put in place of its calls.
-- @tparam table from
-- @tparam table tokens
-- @tparam integer index of the word `function`
-- @treturn table `{ kind="define", name=, parameters={tokens}, body= }`
function grammar.parse_inlined(from, tokens, index)
  local name = tokens[index + 1].kind == "name" and tokens[index + 1] or tokens[index]
  local parenthesis = origin.parenthesis(tokens, index)
  local c = lexer.cursor(from, tokens, parenthesis)
  if tokens[parenthesis - 2].text == ":" then c:fail(METHOD, tokens[index]) end
  return parse_inlined_function(c, tokens[index], name)
end

--- Parses the expression at a token.
-- @tparam table from of `clcompute.loops.front.origin`
-- @tparam table tokens
-- @tparam integer index
-- @treturn table
function grammar.parse_expression(from, tokens, index)
  return parse_expression(lexer.cursor(from, tokens, index))
end

return grammar
