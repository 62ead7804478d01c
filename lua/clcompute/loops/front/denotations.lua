-- SPDX-License-Identifier: MIT

--- What a free name of a function denotes. Of a function value, its upvalues say so: `math` and functions of it,
-- functions to be put in place of their calls, numbers and arrays (whose values are taken at each call). Of a text, the
-- lines before the function do: `local sqrt = math.sqrt`, `local function f(x) ... end`, `local N <const> = 100`.
-- A denotation is `{ tag="math" }`, `{ tag="function", name= }`, `{ tag="constant", value= }`,
-- `{ tag="ipairs" }`, `{ tag="table" }`, `{ tag="inlined", name=, parameters=, parsed=, holder=, key= }`, where key is
-- the same for the same function,
-- `{ tag="upvalue", fn=, index=, id= }`, or `{ tag="refused", reason= }`.

local expression_grammar = require "clcompute.loops.front.expression_grammar"
local failure = require("clcompute.loops.tree").failure
local grammar = require "clcompute.loops.front.grammar"
local interrupt = require("clcompute.base").interrupt
local lexer = require "clcompute.loops.front.lexer"
local lua_text = require("clcompute.loops.tree").lua_text
local origin = require "clcompute.loops.front.origin"
local suggestion = require("clcompute.base").spelling.suggestion
local walk = require("clcompute.loops.tree").walk

local denotations = {}

-- --- math: pure functions of numbers, and constants ----------------------------------------

local function takes(least, most, result)
  return { least = least, most = most, result = result }
end

-- Function to how many arguments it takes, and what its result is: "float", "int", or "join", the type that all
-- arguments fit.
denotations.FUNCTIONS = {
  sqrt = takes(1, 1, "float"), exp = takes(1, 1, "float"), log = takes(1, 2, "float"),
  sin = takes(1, 1, "float"), cos = takes(1, 1, "float"), tan = takes(1, 1, "float"),
  asin = takes(1, 1, "float"), acos = takes(1, 1, "float"), atan = takes(1, 2, "float"),
  floor = takes(1, 1, "int"), ceil = takes(1, 1, "int"),
  tointeger = takes(1, 1, "int"), rad = takes(1, 1, "float"), deg = takes(1, 1, "float"),
  abs = takes(1, 1, "join"), fmod = takes(2, 2, "join"),
  max = takes(1, math.huge, "join"), min = takes(1, math.huge, "join"),
}

-- Function that is a product, as Lua computes it, to its factor.
denotations.FACTORS = { rad = math.pi / 180.0, deg = 180.0 / math.pi }

-- Constant to value.
denotations.CONSTANTS = { pi = math.pi, huge = math.huge, maxinteger = math.maxinteger, mininteger = math.mininteger }

-- What to write in place of others.
local INSTEAD = {
  pow = "x ^ y", log10 = "math.log(x, 10)", atan2 = "math.atan(y, x)",
  modf = "math.fmod(x, 1.0) for the fraction, and x minus that",
  random = "an array of random numbers, made before the call",
  sinh = "(math.exp(x) - math.exp(-x)) / 2", cosh = "(math.exp(x) + math.exp(-x)) / 2",
}

local accepted = {} -- the names of both
for _, members in ipairs { denotations.FUNCTIONS, denotations.CONSTANTS } do
  for name in pairs(members) do accepted[name] = true end
end

local function accepted_functions()
  local names = {}
  for name in pairs(denotations.FUNCTIONS) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

local function_names = {} -- of functions of math
for name, value in pairs(math) do
  if type(value) == "function" then function_names[value] = name end
end

-- --- free names ----------------------------------------------------------------------------

local function refused(reason, ...)
  return { tag = "refused", reason = reason:format(...) }
end

--- What cannot be taken from the globals: of Lua's own there is nothing to be passed.
local function of_global(name)
  local value = rawget(_G, name)
  local is_own = type(value) == "table" and package.loaded[name] == value
    or type(value) == "function" and debug.getinfo(value, "S").what == "C"
  local hint = value == nil and suggestion(name, { math = true }) or ""
  return refused(is_own and "'%s' stays in Lua, before or behind the compiled function"
    or "'%s' is a global: make it a local or a parameter%s", name, hint)
end

--- The function of `math` by that name.
function denotations.of_math(name)
  if denotations.FUNCTIONS[name] then return { tag = "function", name = name } end
  local value = denotations.CONSTANTS[name]
  if value then return { tag = "constant", value = value } end
  if INSTEAD[name] then return refused("write %s", INSTEAD[name]) end
  if rawget(math, name) ~= nil then
    return refused("math.%s is not accepted; functions that are: %s", name, accepted_functions())
  end
  return refused("math has no '%s'%s", name, suggestion(name, accepted))
end

--- Who holds the free names of a parsed function.
function denotations.holder(parsed)
  return { origin = parsed.origin, tokens = parsed.tokens, first = parsed.first, known = {} }
end

--- The function that begins at a token, to be put in place of its calls.
local function of_source(name, from, tokens, index)
  local parsed = grammar.parse_inlined(from, tokens, index)
  return { tag = "inlined", name = name, parameters = parsed.parameters, parsed = parsed,
    key = from.fn or tokens[index], holder = denotations.holder { origin = from, tokens = tokens, first = index } }
end

--- A function value, to be put in place of its calls.
local function of_lua_function(name, fn, fixed)
  local ok, result = pcall(function()
    local from = origin.of(fn)
    from.fixed = fixed
    local tokens = lexer.read(from)
    return of_source(name, from, tokens, origin.choose(from, tokens).first)
  end)
  if ok then return result end
  if not failure.is(result) then error(result, 0) end
  return refused("'%s' cannot be put in place of its call: %s", name, result[1])
end

local function of_function(name, value, fixed)
  local math_name = function_names[value]
  if math_name then return denotations.of_math(math_name) end
  if value == ipairs then return { tag = "ipairs" } end
  if debug.getinfo(value, "S").what ~= "C" then return of_lua_function(name, value, fixed) end
  return refused("'%s' is a function in C other than those of math", name)
end

local OWN = { math = math, ipairs = ipairs, table = table } -- of Lua, what means something here

--- What the environment of a function holds by that name; a function without one uses no globals.
local function of_environment(name, environment)
  if environment == nil then
    return refused("'%s' is not of the function that was loaded: its source has changed", name)
  end
  local ok, value = pcall(function() return environment[name] end) -- it may fall back on another one
  if not ok then interrupt.pass_on(value) end
  if ok and OWN[name] and OWN[name] == value then return { tag = name } end
  return of_global(name)
end

--- The index of what stands behind a name that is declared and its attribute.
local function behind(tokens, index)
  return index + (tokens[index + 1].text == "<" and 4 or 1)
end

--- The index of the value behind `name =`; nil where there is none.
local function value_at(tokens, index)
  local equals = behind(tokens, index)
  return tokens[equals].text == "=" and equals + 1 or nil
end

--- The index of the name in `local name`, `local other, name` or `local function name` that begins with the word at an
-- index; nil if that word begins none.
local function declared_at(tokens, index, name)
  if tokens[index].text ~= "local" then return nil end
  index = index + 1
  if tokens[index].text == "function" then return tokens[index + 1].text == name and index + 1 or nil end
  while tokens[index].kind == "name" do
    if tokens[index].text == name then return index end
    index = behind(tokens, index)
    if not tokens[index] or tokens[index].text ~= "," then return nil end
    index = index + 1
  end
end

--- The index of the name in the declaration that the function sees: not the one whose value it is. And whether that is
-- in doubt, as what stands behind an `until` sees the locals of its block.
local function find_local(holder, name)
  local tokens, found, around, is_doubtful = holder.tokens, nil, {}, false
  for index = 1, holder.first - 1 do
    local text = tokens[index].text
    local declared = declared_at(tokens, index, name)
    if declared and value_at(tokens, declared) ~= holder.first then found = declared end
    if origin.OPENERS[text] then
      around[#around + 1] = found or false
    elseif origin.CLOSERS[text] then
      local before = table.remove(around) or nil
      is_doubtful = is_doubtful or text == "until" and found ~= before
      found = before
    elseif text == "else" or text == "elseif" then
      found = around[#around] or nil
    end
  end
  return found, is_doubtful
end

local NO_ASSIGNMENT = { ["local"] = true, ["for"] = true, ["."] = true }

--- Whether a name gets a value by an assignment; `name =` in braces, behind `local`, `for` or a dot is none.
local function is_assigned(tokens, name)
  local braces = 0
  for index = 2, #tokens - 1 do
    local text = tokens[index].text
    braces = braces + (text == "{" and 1 or text == "}" and -1 or 0)
    local is_target = text == name and tokens[index + 1].text == "=" and not NO_ASSIGNMENT[tokens[index - 1].text]
    if is_target and braces == 0 then return true end
  end
  return false
end

--- The index of the word in `local function name` and `local name = function`; nil for other declarations.
local function function_at(tokens, index)
  if tokens[index - 1].text == "function" then return index - 1 end
  local value = value_at(tokens, index)
  return tokens[index - 1].text == "local" and value and tokens[value].text == "function" and value or nil
end

--- The value of `local name = value`, parsed; nil where it is none of the subset. And whether it is `<const>`.
local function declared_value(holder, index)
  local tokens = holder.tokens
  local first = value_at(tokens, index)
  local is_constant = tokens[index + 1].text == "<" and tokens[index + 2].text == "const"
  if tokens[index - 1].text ~= "local" or not first then return nil end
  local ok, value = pcall(expression_grammar.parse, lexer.cursor(holder.origin, tokens, first))
  if not ok and not failure.is(value) then error(value, 0) end
  return ok and value or nil, is_constant
end

--- Whether `math` is Lua's where the function stands.
local function has_math(holder)
  local index = find_local(holder, "math")
  local value = index and declared_value(holder, index)
  return not index or value and value.kind == "name" and value.name == "math"
end

local OF_NUMBERS = { number = true, unary = true, binary = true }

--- The number that an expression of numbers as written gives; nil for others.
local function number_of(parsed)
  local is_other = walk.find({ parsed }, function(part) return not OF_NUMBERS[part.kind] end)
  local chunk = not is_other and lua_text.load("return " .. lua_text.expression(parsed), "number")
  local ok, value = pcall(chunk or error)
  return ok and math.type(value) and value == value and value or nil
end

--- What a declared value denotes: a part of math, or a number if it is `<const>`; nil for others.
local function of_value(holder, value, is_constant)
  local number = is_constant and number_of(value)
  if number then return { tag = "constant", value = number } end
  if value.name ~= "math" or not has_math(holder) then return nil end
  if value.kind == "field" then return denotations.of_math(value.field) end
  return value.kind == "name" and { tag = "math" } or nil
end

--- What `local name <const> = 1e-9` before a function value denotes, which is no upvalue; nil where there is none.
local function of_constant(holder, name)
  local index, is_doubtful = find_local(holder, name)
  if not index or holder.tokens[index + 1].text ~= "<" then return nil end
  local value, is_constant = declared_value(holder, index)
  local number = value and is_constant and not is_doubtful and number_of(value)
  if number then return { tag = "constant", value = number } end
  return refused("Lua keeps no value of the constant '%s': leave out <const>, or pass it as a parameter", name)
end

local TAKEN_AT_CALL = { number = true, table = true, userdata = true, ["nil"] = true }

local function of_upvalue(holder, name)
  local fn, fixed, environment, index = holder.origin.fn, holder.origin.fixed, nil, 1
  while true do
    local found, value = debug.getupvalue(fn, index)
    if not found then return of_constant(holder, name) or of_environment(name, environment) end
    if found == "_ENV" then environment = value end
    if found == name then
      if value == math or type(value) == "function" then
        local id = debug.upvalueid(fn, index)
        fixed[id] = fixed[id] or { fn = fn, index = index, name = name, value = value }
        return value == math and { tag = "math" } or of_function(name, value, fixed)
      end
      if not TAKEN_AT_CALL[type(value)] then
        return refused("upvalue '%s' is a %s: only numbers and arrays are accepted", name, type(value))
      end
      return { tag = "upvalue", fn = fn, index = index, id = debug.upvalueid(fn, index) }
    end
    index = index + 1
  end
end

local function of_text(holder, name)
  local tokens, index = holder.tokens, find_local(holder, name)
  if not index then
    if OWN[name] then return { tag = name } end
    return of_global(name)
  elseif is_assigned(tokens, name) then
    return refused("local '%s' is assigned after its declaration", name)
  end
  local first = function_at(tokens, index)
  if first then return of_source(name, holder.origin, tokens, first) end
  local value, is_constant = declared_value(holder, index)
  return value and of_value(holder, value, is_constant)
    or refused("the source is a text, so local '%s' has no value here: pass it as a parameter", name)
end

--- Raises an error if an upvalue that was put in place is another function now.
-- @tparam table fixed of an origin
function denotations.check_fixed(fixed)
  for _, upvalue in pairs(fixed) do
    local _, value = debug.getupvalue(upvalue.fn, upvalue.index)
    if value ~= upvalue.value then
      error(("upvalue '%s' is not the function any more that was compiled: compile again"):format(upvalue.name), 0)
    end
  end
end

--- What a free name denotes.
-- @tparam table holder of `denotations.holder`
-- @string name
-- @treturn table a denotation
function denotations.denote(holder, name)
  if not holder.known[name] then
    local fn = holder.origin.fn
    holder.known[name] = fn and of_upvalue(holder, name) or of_text(holder, name)
  end
  return holder.known[name]
end

return denotations
