-- SPDX-License-Identifier: MIT

--- Parses the function that an origin means: numeric `for` loops, `if`, `do`, `local`, assignments. What Lua has and
-- this subset has not is a failure that names it. The tree has the kinds of `clcompute.loops.front.resolve`, but
-- names as
-- written, and `do`, `local` with several names, and `define` (a local function of one expression) beside them.
-- @module clcompute.loops.front.parser

local cursor = require "clcompute.loops.front.cursor"
local expression = require "clcompute.loops.front.expression"
local failure = require "clcompute.loops.tree.failure"
local functions = require "clcompute.loops.front.functions"
local interrupt = require("clcompute.base").interrupt

local parser = {}

local LARGEST_STEP = 1 << 53 -- places behind a loop's last one, up to a work-group, do not wrap

local OUTSIDE = {
  ["while"] = "'while' is not accepted: only a 'for' loop has a known number of iterations",
  ["repeat"] = "'repeat' is not accepted: only a 'for' loop has a known number of iterations",
  ["goto"] = "'goto' is not accepted",
  ["::"] = "a label is not accepted",
  ["break"] = "'break' is not accepted: a loop runs through all its iterations",
  ["function"] = "a global function is not accepted here: only 'local function f(x) return ... end' is",
}

local parse_block

local function reject_attribute(c)
  if c:is "<" then c:fail "an attribute of a local is not accepted" end
end

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

--- A function of one expression, behind the word `function` and the name.
local function parse_one_expression(c, first, name)
  local parameters = parse_parameters(c)
  if not c:is "return" then c:fail("a local function may only be the 'return' of one expression") end
  c:take()
  local value = expression.parse(c)
  if c:is "," then c:fail "a function returns one value" end
  c:accept ";"
  c:expect("end", first)
  return c:node("define", first, { name = name.text, parameters = parameters, value = value })
end

local function parse_names(c)
  local names = {}
  repeat
    names[#names + 1] = c:expect_name()
    reject_attribute(c)
  until not c:accept ","
  return names
end

local function parse_local(c)
  local first = c:expect "local"
  if c:accept "function" then
    local define = parse_one_expression(c, first, c:expect_name())
    define.sees_itself = true
    return define
  end
  local names, values = parse_names(c), {}
  if not c:is "=" then c:fail(("local '%s' needs a value"):format(names[#names].text), names[#names]) end
  c:take()
  if #names == 1 and c:accept "function" then return parse_one_expression(c, first, names[1]) end
  repeat values[#values + 1] = expression.parse(c) until not c:accept ","
  if #names ~= #values then
    c:fail(("every local takes one value, here are %d for %d"):format(#values, #names), first)
  end
  return c:node("local", first, { names = names, values = values })
end

--- An integer other than 0, as written.
local function parse_step(c)
  if not c:accept "," then return 1 end
  local first = c:peek()
  local sign = c:accept "-" and -1 or 1
  local token = c:peek()
  if token.kind ~= "number" then c:fail("the step of a loop must be an integer as a literal", first) end
  c:take()
  if not c:is "do" then c:fail("the step of a loop must be an integer as a literal", first) end
  if math.type(token.value) ~= "integer" then
    c:fail(("the step of a loop must be an integer, not %s"):format(token.text), first)
  end
  if token.value == 0 then c:fail("the step of a loop must not be 0", first) end
  if token.value < 0 or token.value > LARGEST_STEP then c:fail("the step of a loop is too large", first) end
  return sign * token.value
end

local function parse_for(c)
  local first = c:expect "for"
  local name = c:expect_name()
  if c:is "," or c:is "in" then
    c:fail "a generic 'for' is not accepted: write 'for i = first, last do'"
  end
  c:expect "="
  local from = expression.parse(c)
  c:expect ","
  local to = expression.parse(c)
  local step = parse_step(c)
  local opener = c:expect "do"
  local body = c:nested(parse_block)
  c:expect("end", first)
  return c:node("for", first, { name = name, from = from, to = to, step = step, body = body, opener = opener })
end

local function parse_arm(c)
  local condition = expression.parse(c)
  c:expect "then"
  return { condition = condition, body = c:nested(parse_block) }
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

local function parse_assignment(c)
  local first = c:peek()
  if first.kind ~= "name" and first.text ~= "(" then c:fail_expected "a statement" end
  local target = expression.parse_primary(c)
  if target.kind == "call" then
    c:fail("a call is not a statement here: functions of the subset only give a value", first)
  end
  if c:is "," then c:fail "several targets of one assignment are not accepted: write one after the other" end
  if not c:is "=" then c:fail_expected "'='" end
  if target.kind ~= "name" and target.kind ~= "index" or first.text == "(" then
    c:fail("this cannot be assigned to", first)
  end
  c:take()
  local value = expression.parse(c)
  if c:is "," then c:fail "several values of one assignment are not accepted: write one after the other" end
  return c:node("assign", first, { target = target, value = value })
end

local STATEMENTS = { ["for"] = parse_for, ["if"] = parse_if, ["do"] = parse_do, ["local"] = parse_local }
local BLOCK_ENDS = { ["end"] = true, ["else"] = true, ["elseif"] = true, ["until"] = true }

--- `return` may end the function, without a value.
local function parse_return(c)
  local first = c:expect "return"
  if c.depth > 1 then c:fail("'return' is only accepted as the end of the function", first) end
  if not c:accept ";" and not c:is "end" and c:peek().kind ~= "end" then
    c:fail("the function returns nothing: results go into arrays", first)
  end
end

function parse_block(c)
  local statements = {}
  while true do
    local token = c:peek()
    if token.kind == "end" or BLOCK_ENDS[token.text] then return statements end
    if OUTSIDE[token.text] then c:fail(OUTSIDE[token.text]) end
    if token.text == "return" then
      parse_return(c)
      return statements
    end
    if not c:accept ";" then
      statements[#statements + 1] = (STATEMENTS[token.text] or parse_assignment)(c)
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
local function check_whole(origin, tokens)
  if origin.fn then return end
  local is_expression = tokens[1].text == "function" and tokens[2].text == "("
  local text = origin.text:gsub("^\xEF\xBB\xBF", ""):gsub("^#[^\r\n]*", "")
  local loaded, message = load(is_expression and "return " .. text or text, "=text", "t")
  if loaded then return end
  interrupt.pass_on(message)
  local line, reason = message:match "^text:(%d+): (.*)"
  failure.raise(origin, find_named(tokens, tonumber(line), reason), "not Lua: " .. reason)
end

--- Parses the function that the origin means.
-- @tparam table origin of `clcompute.loops.front.origin`
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @treturn table `{ kind="function", name=, parameters={tokens}, body=, origin=, tokens=, first= }`, where `first` is
-- the index of its first token
function parser.parse(origin, tokens)
  local chosen = functions.choose(origin, tokens)
  local c = cursor.new(origin, tokens, chosen.parenthesis)
  local first = tokens[chosen.first]
  if chosen.is_method then c:fail("a method is not accepted: it has the hidden parameter 'self'", first) end
  local parameters = parse_parameters(c)
  local body = c:nested(parse_block)
  c:expect("end", first)
  check_whole(origin, tokens)
  return c:node("function", first, { name = chosen.name, parameters = parameters, body = body, origin = origin,
    tokens = tokens, first = chosen.first })
end

--- Parses a function of one expression, to be put in place of its calls.
-- @tparam table origin
-- @tparam table tokens
-- @tparam integer index of the word `function`
-- @treturn table `{ kind="define", name=, parameters={tokens}, value= }`
function parser.parse_inlined(origin, tokens, index)
  local c = cursor.new(origin, tokens, index + 1)
  local name = c:peek().kind == "name" and c:take() or tokens[index]
  return parse_one_expression(c, tokens[index], name)
end

return parser
