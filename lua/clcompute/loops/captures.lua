-- SPDX-License-Identifier: MIT

--- What a free name of a function denotes. Of a function value, its upvalues say so: `math` and functions of it,
-- functions of one expression, numbers and arrays (whose values are taken at each call). Of a text, the lines before
-- the function do: `local sqrt = math.sqrt`, `local function f(x) return ... end`, `local N <const> = 100`.
-- A denotation is `{ tag="math" }`, `{ tag="function", name= }`, `{ tag="constant", value= }`,
-- `{ tag="inlined", parameters=, value=, holder= }`, `{ tag="upvalue", fn=, index=, id= }`,
-- or `{ tag="refused", reason= }`.
-- @module clcompute.loops.captures

local failure = require "clcompute.loops.failure"
local functions = require "clcompute.loops.functions"
local lexer = require "clcompute.loops.lexer"
local mathematics = require "clcompute.loops.mathematics"
local origin = require "clcompute.loops.origin"
local parser = require "clcompute.loops.parser"

local captures = {}

local function refused(reason, ...)
  return { tag = "refused", reason = reason:format(...) }
end

--- The function of `math` by that name.
function captures.of_math(name)
  if mathematics.FUNCTIONS[name] then return { tag = "function", name = name } end
  local value = mathematics.CONSTANTS[name]
  if value then return { tag = "constant", value = value } end
  local known = rawget(math, name) ~= nil
  return refused(known and "math.%s is not accepted" or "math has no '%s'", name)
end

--- Who holds the free names of a parsed function.
function captures.holder(parsed)
  return { origin = parsed.origin, tokens = parsed.tokens, first = parsed.first, known = {} }
end

--- The function that begins at a token, to be put in place of its calls.
local function of_source(name, from, tokens, index)
  local parsed = parser.parse_inlined(from, tokens, index)
  return { tag = "inlined", name = name, parameters = parsed.parameters, value = parsed.value,
    holder = captures.holder { origin = from, tokens = tokens, first = index } }
end

--- A function value, to be put in place of its calls.
local function of_lua_function(name, fn)
  local ok, result = pcall(function()
    local from = origin.of(fn)
    local tokens = lexer.read(from)
    return of_source(name, from, tokens, functions.choose(from, tokens).first)
  end)
  if ok then return result end
  if not failure.is(result) then error(result, 0) end
  return refused("'%s' cannot be put in place of its call: %s", name, result[1])
end

local function of_function(name, value)
  local math_name = mathematics.name_of(value)
  if math_name then return captures.of_math(math_name) end
  if debug.getinfo(value, "S").what ~= "C" then return of_lua_function(name, value) end
  return refused("'%s' is a function in C other than those of math", name)
end

--- What the environment of a function holds by that name.
local function of_environment(name, environment)
  local ok, value = pcall(function() return environment[name] end) -- it may fall back on another one
  if name == "math" and ok and value == math then return { tag = "math" } end
  return refused("'%s' is a global: make it a local or a parameter", name)
end

local TAKEN_AT_CALL = { number = true, table = true, userdata = true, ["nil"] = true }

local function of_upvalue(fn, name)
  local environment, index = _G, 1
  while true do
    local found, value = debug.getupvalue(fn, index)
    if not found then return of_environment(name, environment) end
    if found == "_ENV" then environment = value end
    if found == name then
      if value == math then return { tag = "math" } end
      if type(value) == "function" then return of_function(name, value) end
      if not TAKEN_AT_CALL[type(value)] then
        return refused("upvalue '%s' is a %s: only numbers and arrays are accepted", name, type(value))
      end
      return { tag = "upvalue", fn = fn, index = index, id = debug.upvalueid(fn, index) }
    end
    index = index + 1
  end
end

local OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
local CLOSERS = { ["end"] = true, ["until"] = true }

--- Whether `local name` or `local function name` stands there; the index is that of the word before the name.
local function declares(tokens, index, name)
  if tokens[index + 1].text ~= name then return false end
  local text = tokens[index].text
  return text == "local" or text == "function" and index > 1 and tokens[index - 1].text == "local"
end

--- The index of the word before the name in the declaration that the function sees.
local function find_local(holder, name)
  local tokens, found, around = holder.tokens, nil, {}
  for index = 1, holder.first - 1 do
    local text = tokens[index].text
    if declares(tokens, index, name) then found = index end
    if OPENERS[text] then
      around[#around + 1] = found or false
    elseif CLOSERS[text] then
      found = table.remove(around) or nil
    end
  end
  return found
end

--- Whether a name gets a value anywhere but in its declaration.
local function is_assigned(holder, name, declaration)
  for index = 1, #holder.tokens - 1 do
    local is_target = holder.tokens[index].text == name and holder.tokens[index + 1].text == "="
    if is_target and index ~= declaration + 1 then return true end
  end
  return false
end

--- The value behind `local name =`: part of math, or a number that is declared `<const>`.
local function of_declared_value(holder, name, index)
  local tokens = holder.tokens
  local is_constant = tokens[index].text == "<" and tokens[index + 1].text == "const"
  if is_constant then index = index + 3 end
  local value = tokens[index].text == "=" and tokens[index + 1]
  if value and value.text == "math" then
    if tokens[index + 2].text == "." then return captures.of_math(tokens[index + 3].text) end
    return { tag = "math" }
  elseif value and value.kind == "number" and is_constant then
    return { tag = "constant", value = value.value }
  end
  return refused("the source is a text, so local '%s' has no value here: pass it as a parameter", name)
end

local function of_text(holder, name)
  local index = find_local(holder, name)
  if not index then
    if name == "math" then return { tag = "math" } end
    return refused("'%s' is a global: make it a local or a parameter", name)
  elseif is_assigned(holder, name, index) then
    return refused("local '%s' is assigned after its declaration", name)
  elseif holder.tokens[index].text == "function" then
    return of_source(name, holder.origin, holder.tokens, index)
  end
  return of_declared_value(holder, name, index + 2)
end

--- What a free name denotes.
-- @tparam table holder of `captures.holder`
-- @string name
-- @treturn table a denotation
function captures.denote(holder, name)
  if not holder.known[name] then
    local fn = holder.origin.fn
    holder.known[name] = fn and of_upvalue(fn, name) or of_text(holder, name)
  end
  return holder.known[name]
end

return captures
