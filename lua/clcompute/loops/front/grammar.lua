-- SPDX-License-Identifier: MIT

--- Parses the function that an origin means: loops, `if`, `do`, `local`, assignments, calls, jumps; expressions are
-- those of `expression_grammar`. What Lua has and this subset has not is a failure that names it. Names stay as written
-- (`ast.parsed`); `while` and `repeat` become loops without an end and a `break`.

local expression_grammar = require "clcompute.loops.front.expression_grammar"
local failure = require("clcompute.loops.tree").failure
local keyed_items = require "clcompute.loops.front.keyed_items"
local lexer = require "clcompute.loops.front.lexer"
local lua_text = require("clcompute.loops.tree").lua_text
local origin = require "clcompute.loops.front.origin"

local grammar = {}

local parse_block

--- Statements up to the `end` that closes what opens with a token; `word`: behind one that stands before them.
local function parse_body(c, opener, word)
  if word then c:expect(word) end
  local body = c:nested(parse_block)
  c:expect("end", opener)
  return body
end

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
  return c:node("define", first, { name = name.text, parameters = parameters, body = parse_body(c, first) })
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
  local values = expression_grammar.values(c)
  adjust(c, "local", names, values, first)
  return c:node("local", first, { names = names, values = values })
end

local function check_target(c, target, first)
  if target.kind == "field" then c:fail("a field cannot be assigned: " .. expression_grammar.RECORDS, first) end
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
    local target = expression_grammar.primary(c)
    if #targets == 0 and target.kind == "call" and not c:is "," and not c:is "=" then
      return c:node("perform", first, { call = target })
    end
    targets[#targets + 1] = target
    if c:is "," or c:is "=" then check_target(c, target, place) end
  until not c:accept ","
  if not c:is "=" then fail_unassigned(c, first) end
  c:take()
  local values = expression_grammar.values(c)
  adjust(c, "target", targets, values, first)
  if #targets > 1 then return c:node("assigns", first, { targets = targets, values = values }) end
  return c:node("assign", first, { target = targets[1], value = values[1] })
end

-- --- loops ---------------------------------------------------------------------------------

local LARGEST_STEP = 1 << 53 -- places behind a loop's last one, up to a work-group, do not wrap

--- An integer other than 0 as written, or 1 and an expression.
local function parse_step(c)
  if not c:accept "," then return 1 end
  local first = c:peek()
  local node = expression_grammar.parse(c)
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
  local call = expression_grammar.parse(c)
  local argument = call.kind == "call" and call.callee.name == "ipairs" and call.arguments[1]
  if argument and argument.kind ~= "name" then
    c:fail("ipairs takes the name of an array or a row here: write 'local row = a[i]' before, and 'ipairs(row)'", place)
  end
  if call.kind ~= "call" or call.callee.kind ~= "name" or #call.arguments ~= 1 or call.arguments[1].kind ~= "name" then
    c:fail(OTHER_FOR, place)
  end
  return c:node("each", first, { name = name, value = value, call = call, body = parse_body(c, first, "do") })
end

local function parse_for(c)
  local first = c:expect "for"
  local name = c:expect_name()
  if c:is "," or c:is "in" then return parse_generic_for(c, first, name) end
  c:expect "="
  local from = expression_grammar.parse(c)
  c:expect ","
  local to = expression_grammar.parse(c)
  local step, pace = parse_step(c)
  local body = parse_body(c, first, "do")
  return c:node("for", first, { name = name, from = from, to = to, step = step, pace = pace, body = body })
end

--- `if condition then break end`.
local function break_where(c, condition)
  local arm = c:node("arm", condition, { condition = condition, body = { c:node("break", condition, {}) } })
  return c:node("if", condition, { arms = { arm } })
end

local function parse_while(c)
  local first = c:expect "while"
  local condition = expression_grammar.parse(c)
  local body = parse_body(c, first, "do")
  if condition.value ~= true then
    table.insert(body, 1, break_where(c, c:node("unary", condition, { op = "not", operand = condition })))
  end
  return c:node("forever", first, { word = "while", body = body })
end

local function parse_repeat(c)
  local first = c:expect "repeat"
  local body = c:nested(parse_block)
  c:expect("until", first)
  body[#body + 1] = break_where(c, expression_grammar.parse(c))
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
  local condition = expression_grammar.parse(c)
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
  return c:node("do", first, { body = parse_body(c, first) })
end

--- `return` ends a block; what it returns are numbers.
local function parse_return(c)
  local first, values = c:expect "return", {}
  local is_last = c:is ";" or BLOCK_ENDS[c:peek().text] or c:peek().kind == "end"
  if not is_last then values = expression_grammar.values(c) end
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
    if token.text == "function" then
      c:fail "a global function is not accepted here: only 'local function f(x) ... end' is"
    end
    if not c:accept ";" then
      local statement = (STATEMENTS[token.text] or parse_assignment)(c)
      statements[#statements + 1] = statement
      for _, store in ipairs(keyed_items.behind(c, statement)) do statements[#statements + 1] = store end
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
  local parameters, body = parse_parameters(c), parse_body(c, first)
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

return grammar
