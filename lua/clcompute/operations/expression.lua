-- SPDX-License-Identifier: MIT
--- Expressions: reading one, refusing what cannot be computed element by element, and writing it down for a kernel.
-- @module clcompute.operations.expression

local names = require "clcompute.operations.names"

local expression = {}

--- What operands are called in a kernel: no macro or variable of the kernel's own begins so.
expression.PREFIX = "arg_"

-- Longest first.
local OPERATORS = { "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "++", "--", "+=", "-=", "*=", "/=",
  "%=", "&=", "|=", "^=", "//", "/*", "->" }
local REFUSED = { ["++"] = "changes its operand", ["--"] = "changes its operand (write a - -b with a blank)",
  ["//"] = "begins a comment", ["/*"] = "begins a comment", ["->"] = "is for pointers" }
local CLOSING = { ["("] = ")", ["["] = "]" }

local function fail(where, text, complaint, ...)
  error(("%s: %s, in \"%s\""):format(where, complaint:format(...), text), 0)
end

local function read_operator(text, at)
  for _, operator in ipairs(OPERATORS) do
    if text:sub(at, at + #operator - 1) == operator then return operator end
  end
  return text:match("^[-+*/%%<>=!&|^~?:()%[%],.]", at)
end

local function read_token(text, at)
  local word = text:match("^[%a_][%w_]*", at)
  if word then return word, "name" end
  local number = text:match("^%.?%d[%w.]*", at)
  if number then -- 1e-3, 0x1p-4: the sign belongs to it
    while number:find "^%d*%.?%d*[eE]$" or number:find "^0[xX][%x.]*[pP]$" do
      local rest = text:match("^[+-]%d+[fF]?", at + #number)
      if not rest then break end
      number = number .. rest
    end
    return number, "number"
  end
  return read_operator(text, at), "operator"
end

local function character_at(text, at)
  return text:match("^" .. utf8.charpattern, at) or text:sub(at, at)
end

local function check_operator(where, text, token)
  if REFUSED[token] then fail(where, text, "'%s' %s", token, REFUSED[token]) end
  if token == "=" or token:find "^[-+*/%%&|^]=$" or token == "<<=" or token == ">>=" then
    fail(where, text, "'%s' assigns; an expression only computes%s", token, token == "=" and " (== compares)" or "")
  end
end

--- Keeps brackets in pairs, and a comma within some.
local function check_nesting(where, text, open, token)
  if CLOSING[token] then
    open[#open + 1] = CLOSING[token]
  elseif token == ")" or token == "]" then
    if table.remove(open) ~= token then fail(where, text, "'%s' closes nothing", token) end
  elseif token == "," and #open == 0 then
    fail(where, text, "',' outside of a function's arguments")
  end
end

local function tokenize(where, text)
  local tokens, open, at = {}, {}, 1
  while true do
    at = text:find("%S", at)
    if not at then break end
    local token, kind = read_token(text, at)
    if not token then fail(where, text, "'%s' has no place in an expression", character_at(text, at)) end
    if kind == "operator" then
      check_operator(where, text, token)
      check_nesting(where, text, open, token)
    end
    tokens[#tokens + 1] = { text = token, kind = kind }
    at = at + #token
  end
  if #open > 0 then fail(where, text, "'%s' is missing", open[#open]) end
  if #tokens == 0 then fail(where, text, "nothing to compute") end
  return tokens
end

local function text_at(tokens, k)
  return tokens[k] and tokens[k].text
end

local function list(kinds)
  local all = {}
  for name in pairs(kinds) do all[#all + 1] = name end
  table.sort(all)
  return #all > 0 and table.concat(all, ", ") or "none"
end

--- Checks a token that is a name; returns how it is written down, and the number of tokens it takes.
local function resolve(where, text, tokens, k, kinds)
  local name = tokens[k].text
  local kind, subscript = kinds[name], text_at(tokens, k + 1) == "["
  if kind == "array" then
    if not subscript then fail(where, text, "'%s' is a buffer: %s[i] is its element", name, name) end
    if text_at(tokens, k + 2) ~= "i" or text_at(tokens, k + 3) ~= "]" then
      fail(where, text, "a buffer is indexed by i alone, '%s[i]'", name)
    end
    return expression.PREFIX .. name, 4
  end
  if subscript and (kind or not names.is_usable(name)) then
    if kind then fail(where, text, "'%s' is a number, not a buffer", name) end
    fail(where, text, "unknown name '%s'; there are: %s", name, list(kinds))
  end
  if kind == "index" then return name, 1 end
  if kind then return expression.PREFIX .. name, 1 end
  if not names.is_usable(name) then fail(where, text, "unknown name '%s'; there are: %s", name, list(kinds)) end
  if names.functions[name] and text_at(tokens, k + 1) ~= "(" then
    fail(where, text, "'%s' is a function: %s(...)", name, name)
  end
  return name, 1
end

--- Whether an operator stands in front of its operand: at the beginning, behind another one, a type or a cast.
local function is_prefix(tokens, k)
  local before = tokens[k - 1]
  if not before or names.types[before.text] then return true end
  if before.text == ")" then return names.types[text_at(tokens, k - 2)] ~= nil end
  return before.kind == "operator" and before.text ~= "]"
end

--- Refuses what reads elsewhere than at i: addresses, what lies at them, subscripts of anything but a buffer's name.
local function check_place(where, text, tokens, k)
  local token = tokens[k].text
  if (token == "&" or token == "&&" or token == "*") and is_prefix(tokens, k) then
    fail(where, text, "'%s' in front of an operand is for pointers", token)
  end
  if token == "[" then fail(where, text, "'[' has its place behind a buffer's name alone, 'x[i]'") end
end

--- Checks an expression; returns it as a kernel has it, and the set of the operands it uses.
-- @string where begins messages: the function that was called
-- @string text
-- @tparam table kinds name to "array", "scalar" or "index", of what it may use
function expression.translate(where, text, kinds)
  if type(text) ~= "string" then error(("%s: expression (a string) expected, got %s"):format(where, type(text)), 0) end
  local tokens, words, used, k = tokenize(where, text), {}, {}, 1
  while k <= #tokens do
    local word, taken = tokens[k].text, 1
    if tokens[k].kind == "name" then
      used[word] = kinds[word]
      word, taken = resolve(where, text, tokens, k, kinds)
    elseif tokens[k].kind == "operator" then
      check_place(where, text, tokens, k)
    end
    words[#words + 1] = word
    k = k + taken
  end
  return table.concat(words, " "), used
end

--- Checks the name of an operand.
function expression.check_key(where, key)
  if type(key) ~= "string" or not key:find "^[%a_][%w_]*$" then
    error(("%s: '%s' is no name for an operand; a name has letters, digits and _"):format(where, tostring(key)), 0)
  end
  if key == "i" then error(where .. ": no operand can be called 'i', the index", 0) end
  if names.is_taken(key) then
    error(("%s: no operand can be called '%s', which is a word of OpenCL C"):format(where, key), 0)
  end
end

return expression
