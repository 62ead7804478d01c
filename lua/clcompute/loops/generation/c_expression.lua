-- SPDX-License-Identifier: MIT

--- Expressions of the tree as OpenCL C with the meaning that they have in Lua.
--
-- A context says how: `real`, the C type of floats ("double" or "float"); `base`, the index of an array's first
-- element; `names`, what stands for a variable where that is not its id; `access`, a function of an index that may
-- return what stands for the element; `plural`, where numbers are vectors, what stands behind the names of functions;
-- `helpers`, a table in which the functions of clcompute.loops.generation.c_helpers that the text calls become keys;
-- `sites`, a list of what may fail; `known`, dimensions by element of which the subscripts were looked at before;
-- `counted`, variables of loops of which data say how far they go; `ends_at_once`, whether a work-item ends where an
-- element is not there.

local choices = require "clcompute.loops.generation.choices"
local faults = require "clcompute.loops.generation.faults"
local size_of = require("clcompute.loops.tree").ast.size

local c_expression = {}

local PRIMARY = 20 -- precedence of what needs no parentheses
local UNARY = 14
local PRECEDENCE = { ["*"] = 13, ["/"] = 13, ["+"] = 12, ["-"] = 12, ["<"] = 10, [">"] = 10, ["<="] = 10, [">="] = 10,
  ["=="] = 9, ["~="] = 9, ["&"] = 8, ["~"] = 7, ["|"] = 6, ["and"] = 5, ["or"] = 4 }
local CONDITIONAL = 3

local OF_INTEGERS = { ["+"] = "add_int", ["-"] = "sub_int", ["*"] = "mul_int", ["//"] = "floor_div_int",
  ["%"] = "mod_int", ["<<"] = "shift_left", [">>"] = "shift_right" }
local BY_LITERAL = { ["//"] = "floor_div_by", ["%"] = "mod_by" } -- above 0
local REORDERED = { ["+"] = "add_real", ["-"] = "sub_real", ["*"] = "mul_real" } -- of an accumulator
local OF_FLOATS = { ["%"] = "mod_real", ["^"] = "pow_real" }
local COMPARISON = { ["=="] = "eq", ["~="] = "eq", ["<"] = "lt", ["<="] = "le", [">"] = "lt", [">="] = "le" }
local SWAPPED = { [">"] = true, [">="] = true }
local C_NAME = { ["~="] = "!=", ["~"] = "^", ["and"] = "&&", ["or"] = "||" } -- where it is not Lua's

local print_node

--- A text in parentheses where it binds less than `least`.
local function enclosed(least, text, own)
  return own < least and "(" .. text .. ")" or text
end

local function call(name, context, ...)
  local texts = {}
  for i, node in ipairs { ... } do texts[i] = type(node) == "string" and node or (print_node(node, context)) end
  name = name .. (context.plural or "")
  context.helpers[name] = true
  return ("%s(%s)"):format(name, table.concat(texts, ", ")), PRIMARY
end

--- Whether a node is math.floor or math.ceil of a float, which in Lua is only an integer if that has 64 bits.
local function is_rounded(node)
  return node.kind == "call" and (node.name == "floor" or node.name == "ceil") and node.arguments[1].type == "float"
end

--- A number of type int as one of floats.
local function converted(node, context)
  if node.kind == "number" then return c_expression.number(node.value + 0.0, context), PRIMARY end
  if context.plural then
    return ("convert_%s8((long8)(%s))"):format(context.real, (print_node(node, context))), PRIMARY
  end
  if is_rounded(node) then -- what has no 64 bits stays as it is; -0.0 becomes 0, as an integer has no sign of zero
    return ("%s(%s) + 0.0%s"):format(node.name, (print_node(node.arguments[1], context)),
      context.real == "float" and "f" or ""), PRECEDENCE["+"]
  end
  return ("(%s)%s"):format(context.real, enclosed(UNARY, print_node(node, context))), UNARY
end

--- Text and precedence of an expression whose type is to be `wanted`.
local function as(node, wanted, context)
  if wanted == "float" and node.type == "int" then return converted(node, context) end
  return print_node(node, context)
end

local function operand_as(node, wanted, context, precedence)
  return enclosed(precedence, as(node, wanted, context))
end

--- What stands for a variable.
function c_expression.name(variable, context)
  return context.names and context.names[variable] or variable.id
end

--- An int literal, or a float literal that reads back as the same number.
function c_expression.number(value, context)
  if math.type(value) == "integer" then
    if value == math.mininteger then return "(-9223372036854775807L - 1)" end
    return value < 0 and ("(%dL)"):format(value) or ("%dL"):format(value)
  end
  if value ~= value then return "NAN" end
  if value == math.huge then return "INFINITY" end
  if value == -math.huge then return "(-INFINITY)" end
  local text = ("%.15g"):format(value)
  if tonumber(text) ~= value then text = ("%.17g"):format(value) end
  if not text:find "[.e]" then text = text .. ".0" end
  if context.real == "float" then text = text .. "f" end
  return text:sub(1, 1) == "-" and "(" .. text .. ")" or text
end

-- --- indices ------------------------------------------------------------------------------

--- A subscript or bound: its value is known to be small, so C's own arithmetic will do. `added` is added to it.
local function plain(node, context, added)
  added = added or 0
  if node.kind == "number" then return ("%d"):format(node.value + added), PRIMARY end
  if node.kind == "binary" and (node.op == "+" or node.op == "-") then
    local right = node.right
    if right.kind == "number" then
      return plain(node.left, context, added + (node.op == "+" and right.value or -right.value))
    end
    return ("%s %s %s"):format(enclosed(PRECEDENCE["+"], plain(node.left, context, added)), node.op,
      enclosed(PRECEDENCE["+"] + 1, plain(right, context))), PRECEDENCE["+"]
  end
  if added ~= 0 then
    local text = enclosed(PRECEDENCE["+"], plain(node, context))
    return ("%s %s %d"):format(text, added > 0 and "+" or "-", math.abs(added)), PRECEDENCE["+"]
  end
  if node.kind == "binary" and node.op == "*" then
    if node.right.value == 1 then return plain(node.left, context) end
    local own = PRECEDENCE["*"]
    return enclosed(own, plain(node.left, context)) .. " * " .. enclosed(own + 1, plain(node.right, context)), own
  end
  if node.kind == "unary" and node.op == "-" then
    return "-" .. enclosed(UNARY + 1, plain(node.operand, context)), UNARY
  end
  return print_node(node, context)
end

--- The text of a subscript or loop bound, with `added` added to it.
function c_expression.plain(node, context, added)
  return (plain(node, context, added))
end

--- A subscript of an element, from 0, that is looked at.
function c_expression.inside(node, dimension, context)
  local form = context.ends_at_once and "INSIDE(%s, %s, %d)" or "inside(%s, %s, %d, &fault)"
  context.helpers[form:match "%a+"] = true
  return form:format((print_node(node.subscripts[dimension], context)), size_of(node.array, dimension),
    faults.number(context, { what = "index", node = node, dimension = dimension }))
end

--- A subscript, from 0; one that data decide is looked at, but where it is known to be inside.
local function place_in(node, dimension, context)
  local subscript = node.subscripts[dimension]
  local known = context.known and context.known[node]
  if not (node.checked and node.checked[dimension]) or known and known[dimension] then
    return plain(subscript, context, -context.base)
  end
  return c_expression.inside(node, dimension, context), PRIMARY
end

--- An element of an array, whose dimensions after the first are the integers `<id>_d2` and so on.
function c_expression.element(node, context)
  local variable, text, own = node.array, nil, nil
  for dimension in ipairs(node.subscripts) do
    local index, precedence = place_in(node, dimension, context)
    if not text then
      text, own = index, precedence
    else
      text, own = ("%s * %s + %s"):format(enclosed(PRECEDENCE["*"], text, own), size_of(variable, dimension),
        enclosed(PRECEDENCE["+"], index, precedence)), PRECEDENCE["+"]
    end
  end
  return ("%s[%s]"):format(variable.id, text)
end

-- --- operators ----------------------------------------------------------------------------

local OF_BOTH = { ["and"] = "&", ["or"] = "|" } -- with both sides computed

--- Whether Lua takes a value for true, as 0 or 1. Numbers are true.
local function truth(node, context)
  if node.op == "and" or node.op == "or" then
    local both = choices.has_both(node) and OF_BOTH[node.op]
    local own, least = PRECEDENCE[both or node.op], both and PRECEDENCE["=="] -- compilers warn of `a & b | c`
    return ("%s %s %s"):format(enclosed(least or own, truth(node.left, context)), both or C_NAME[node.op],
      enclosed(least or own + 1, truth(node.right, context))), own
  end
  if node.type ~= "bool" then return "1", PRIMARY end
  return print_node(node, context)
end

--- The value of a part of `condition and a or b`, or `fallback` where it is false: `condition ? a : b`.
local function chosen(node, wanted, fallback, context)
  if not node.is_partial and node.type ~= "bool" then return operand_as(node, wanted, context, CONDITIONAL + 1) end
  if node.op == "or" then
    return chosen(node.left, wanted, chosen(node.right, wanted, fallback, context), context)
  end
  return ("(%s ? %s : %s)"):format(enclosed(CONDITIONAL + 1, truth(node.left, context)),
    chosen(node.right, wanted, fallback, context), fallback)
end

--- `condition and a or b` with both computed before.
local function both_computed(node, context)
  local choice = node.left
  if not choices.is_free(node) then return nil end
  return call(node.type == "int" and "choose_int" or "choose_real", context, (truth(choice.left, context)),
    (as(choice.right, node.type, context)), (as(node.right, node.type, context)))
end

--- `and` and `or` that give a number.
local function selected(node, context)
  if node.op == "and" then return print_node(node.right, context) end -- a number and b
  local text, own = both_computed(node, context)
  if text then return text, own end
  local fallback = operand_as(node.right, node.type, context, CONDITIONAL + 1)
  return chosen(node.left, node.type, fallback, context), PRIMARY
end

--- Whether a node subtracts 0 as written: Lua's compiler adds it, so -0.0 - 0 is 0.0; but not where 0 is an argument of
-- a function that stands in place of its call.
local function subtracts_zero(node)
  local right = node.right
  return node.op == "-" and right.kind == "number" and math.type(right.value) == "integer" and right.value == 0
    and right.inside == node.inside
end

local function infix(node, context, wanted)
  local own = PRECEDENCE[node.op]
  local name = subtracts_zero(node) and "+" or C_NAME[node.op] or node.op
  -- a + (b + c) is not (a + b) + c where numbers are rounded
  return ("%s %s %s"):format(operand_as(node.left, wanted, context, own), name,
    operand_as(node.right, wanted, context, own + 1)), own
end

--- Whether a node is an integer as written that floats hold exactly: it is compared with a float as one.
-- @tparam table node
-- @string real the type of floats
function c_expression.is_exact_literal(node, real)
  local largest = real == "float" and 1 << 24 or 1 << 53
  return node.kind == "number" and node.type == "int" and node.value <= largest and node.value >= -largest
end

local function comparison(node, context)
  local left, right = node.left, node.right
  if left.type == right.type then return infix(node, context) end
  if c_expression.is_exact_literal(left, context.real) or c_expression.is_exact_literal(right, context.real) then
    return infix(node, context, "float")
  end
  if SWAPPED[node.op] then left, right = right, left end
  local name = COMPARISON[node.op]
  if name == "eq" and left.type ~= "int" then left, right = right, left end
  local kinds = left.type == "int" and "_int_real" or "_real_int"
  local text, own = call(name .. kinds, context, left, right)
  if node.op == "~=" then return "!" .. text, UNARY end
  return text, own
end

--- An integer divisor, which is looked at where it may be 0.
local function divisor(node, value, context)
  if not node.is_guarded then return value end
  return (call("nonzero", context, value, tostring(faults.number(context, { what = "zero", node = node })), "&fault"))
end

--- The power of two that a literal is, or nil.
local function exponent_of(node)
  local value = node.kind == "number" and node.value or 0
  return value > 0 and value & (value - 1) == 0 and math.tointeger(math.log(value, 2) // 1) or nil
end

--- // and % of an integer by a power of two: bits, which are rounded down as Lua's are.
local function by_power(node, exponent, context)
  local left = print_node(node.left, context)
  if node.op == "//" then return ("shift_down(%s, %d)"):format(left, exponent), PRIMARY end
  return ("low_bits(%s, %d)"):format(left, (1 << exponent) - 1), PRIMARY
end

local function arithmetic(node, context)
  if node.type == "int" then
    local exponent = (node.op == "//" or node.op == "%") and exponent_of(node.right)
    if exponent then
      context.helpers[node.op == "//" and "shift_down" or "low_bits"] = true
      return by_power(node, exponent, context)
    end
    local is_by_literal = node.right.kind == "number" and node.right.value > 0
    local name = is_by_literal and BY_LITERAL[node.op] or OF_INTEGERS[node.op]
    if name and node.is_guarded then return call(name, context, node.left, divisor(node, node.right, context)) end
    if name then return call(name, context, node.left, node.right) end
    return infix(node, context)
  end
  if node.op == "//" then
    context.helpers.ROUNDING = not context.is_wide or nil
    return ("floor(%s / %s)"):format(operand_as(node.left, "float", context, PRECEDENCE["/"]),
      operand_as(node.right, "float", context, PRECEDENCE["/"] + 1)), PRIMARY
  end
  local helper = (node.is_reordered and REORDERED or OF_FLOATS)[node.op]
  if not helper then return infix(node, context, "float") end
  return call(helper, context, (as(node.left, "float", context)), (as(node.right, "float", context)))
end

local function binary(node, context)
  if COMPARISON[node.op] then return comparison(node, context) end
  if node.op == "and" or node.op == "or" then
    return (node.type == "bool" and truth or selected)(node, context)
  end
  return arithmetic(node, context)
end

local function unary(node, context)
  local value = node.operand
  if node.op == "not" then
    return "!" .. enclosed(UNARY, truth(value, context)), UNARY
  end
  if node.op == "~" then return "~" .. enclosed(UNARY, print_node(value, context)), UNARY end
  if value.kind == "number" and value.value ~= 0 then return c_expression.number(-value.value, context), PRIMARY end
  if node.type == "int" then return call("neg_int", context, value) end
  return "-" .. enclosed(UNARY + 1, print_node(value, context)), UNARY
end

-- --- functions ----------------------------------------------------------------------------

local function extremum(node, context)
  local name = node.name .. (node.type == "int" and "_int" or "_real")
  local text = (as(node.arguments[1], node.type, context))
  for i = 2, #node.arguments do
    text = call(name, context, text, (as(node.arguments[i], node.type, context)))
  end
  return text, #node.arguments == 1 and 0 or PRIMARY
end

--- A function of all arguments, or of so many.
local function function_of_floats(name, count)
  return function(node, context)
    local texts = {}
    for i = 1, count or #node.arguments do texts[i] = (as(node.arguments[i], "float", context)) end
    return ("%s(%s)"):format(name, table.concat(texts, ", ")), PRIMARY
  end
end

--- math.floor and math.ceil, which turn a float into an integer; beyond 64 bits, where Lua's stay floats, the nearest.
local function rounding(node, context)
  local argument = node.arguments[1]
  if argument.type == "int" then return print_node(argument, context) end
  context.helpers.ROUNDING = not context.is_wide or nil
  local text = ("%s(%s)"):format(node.name, (print_node(argument, context)))
  if node.type ~= "int" then return text, PRIMARY end
  if context.is_wide then return ("convert_long_sat(%s)"):format(text), PRIMARY end
  context.helpers.nearest_int = true
  return ("nearest_int(%s)"):format(text), PRIMARY
end

--- A call of a function that vectors are made of, which a processor's own may not be.
local function own_function(name, text, context)
  if context.is_wide then return ("%s(%s)"):format(name, text) end
  local own = ("%s_%s"):format(name, context.real)
  context.helpers[own] = true
  return ("%s(%s)"):format(own, text)
end

local function logarithm(node, context)
  local of = node.arguments[2]
  if not of then return own_function("log", (as(node.arguments[1], "float", context)), context), PRIMARY end
  if of.kind == "number" and (of.value == 2 or of.value == 10) then
    return function_of_floats("log" .. (of.value == 2 and 2 or 10), 1)(node, context)
  end
  context.helpers.log_of = true
  return function_of_floats "log_of"(node, context)
end

--- math.atan: of two numbers the angle of a point.
local function arctangent(node, context)
  return function_of_floats(node.arguments[2] and "atan2" or "atan")(node, context)
end

local FUNCTIONS = {
  max = extremum, min = extremum, floor = rounding, ceil = rounding, log = logarithm, atan = arctangent,
  abs = function(node, context)
    if node.type == "int" then return call("abs_int", context, node.arguments[1]) end
    return function_of_floats "fabs"(node, context)
  end,
  fmod = function(node, context)
    if node.type == "int" then
      return call("fmod_int", context, node.arguments[1], divisor(node, node.arguments[2], context))
    end
    context.helpers.rest_of = true
    return function_of_floats "rest_of"(node, context)
  end,
}
function FUNCTIONS.tointeger(node, context)
  local argument = node.arguments[1]
  if argument.type == "int" then return print_node(argument, context) end
  return call("whole", context, argument, tostring(faults.number(context, { what = "integer", node = node })), "&fault")
end

function FUNCTIONS.exp(node, context)
  return own_function("exp", (as(node.arguments[1], "float", context)), context), PRIMARY
end

for _, name in ipairs { "sqrt", "sin", "cos", "tan", "asin", "acos" } do FUNCTIONS[name] = function_of_floats(name) end

-- --- all ----------------------------------------------------------------------------------

local PRINTERS = {
  number = function(node, context)
    local is_float = node.type == "float" -- times 1, as -0.0 + 0.0 is 0.0
    return c_expression.number(is_float and node.value * 1.0 or node.value, context), PRIMARY
  end,
  boolean = function(node) return node.value and "1" or "0", PRIMARY end,
  name = function(node, context) return c_expression.name(node.variable, context), PRIMARY end,
  text = function(node) return node.text, PRIMARY end,
  bound = function(node, context) return plain(node.node, context) end,
  length = function(node) return size_of(node.array, node.dimension), PRIMARY end,
  index = function(node, context)
    local other = context.access and context.access(node)
    if other then return other, PRIMARY end
    local text, element = c_expression.element(node, context), node.array.element
    local own = node.type == "int" and "long" or context.real
    if element == own then return text, PRIMARY end
    return ("(%s)%s"):format(own, text), UNARY
  end,
  binary = binary, unary = unary,
  call = function(node, context)
    local printer = FUNCTIONS[node.name] or error("no OpenCL C for the function " .. node.name)
    return printer(node, context)
  end,
}

function print_node(node, context)
  return PRINTERS[node.kind](node, context)
end

--- The larger ("max_int") or smaller ("min_int") of two integers, which are texts.
function c_expression.extremum(name, left, right, context)
  return (call(name, context, left, right))
end

--- The text of a condition.
function c_expression.condition(node, context)
  return (truth(node, context))
end

--- The text of an expression.
-- @tparam table node
-- @tparam table context
-- @tparam[opt] string wanted "float": what the value is to be converted to
function c_expression.text(node, context, wanted)
  return (as(node, wanted, context))
end

return c_expression
