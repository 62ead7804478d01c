-- SPDX-License-Identifier: MIT
--- Expressions: reading one, refusing what cannot be computed element by element, and writing it down for a kernel.

local spelling = require("clcompute.base").spelling
local type_of = require("clcompute.base").options.type_of

local translation = {}

--- What operands are called in a kernel: no macro or variable of the kernel's own begins so.
translation.PREFIX = "arg_"

-- --- the names of OpenCL C that an expression may use, and those that no operand may have ---

local function set(text)
  local names = {}
  for name in text:gmatch "%S+" do names[name] = true end
  return names
end

local TYPES = [[bool char uchar short ushort int uint long ulong float double size_t unsigned signed]]

-- By OpenCL C 1.2: 6.12.2 mathematics, 6.12.3 integers, 6.12.4 common, 6.12.6 relations.
local FUNCTIONS = [[
  acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh cospi erfc erf exp
  exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod hypot ilogb ldexp lgamma log log2 log10 log1p logb mad maxmag
  minmag nextafter pow pown powr remainder rint rootn round rsqrt sin sinh sinpi sqrt tan tanh tanpi tgamma trunc
  native_cos native_divide native_exp native_exp2 native_exp10 native_log native_log2 native_log10 native_powr
  native_recip native_rsqrt native_sin native_sqrt native_tan
  half_cos half_divide half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_powr half_recip half_rsqrt
  half_sin half_sqrt half_tan nan
  abs abs_diff add_sat hadd rhadd clamp clz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24
  degrees mix radians step smoothstep sign
  isequal isnotequal isgreater isgreaterequal isless islessequal islessgreater isfinite isinf isnan isnormal isordered
  isunordered signbit select bitselect]]

local CONSTANTS = [[
  MAXFLOAT HUGE_VALF HUGE_VAL INFINITY NAN CHAR_BIT CHAR_MAX CHAR_MIN INT_MAX INT_MIN LONG_MAX LONG_MIN SCHAR_MAX
  SCHAR_MIN SHRT_MAX SHRT_MIN UCHAR_MAX USHRT_MAX UINT_MAX ULONG_MAX FLT_DIG FLT_MANT_DIG FLT_MAX_10_EXP FLT_MAX_EXP
  FLT_MIN_10_EXP FLT_MIN_EXP FLT_RADIX FLT_MAX FLT_MIN FLT_EPSILON DBL_DIG DBL_MANT_DIG DBL_MAX_10_EXP DBL_MAX_EXP
  DBL_MIN_10_EXP DBL_MIN_EXP DBL_MAX DBL_MIN DBL_EPSILON true false
  M_E_F M_LOG2E_F M_LOG10E_F M_LN2_F M_LN10_F M_PI_F M_PI_2_F M_PI_4_F M_1_PI_F M_2_PI_F M_2_SQRTPI_F M_SQRT2_F
  M_SQRT1_2_F M_E M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2]]

local KEYWORDS = [[
  auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static
  struct switch typedef union void volatile while kernel global local constant private read_only write_only read_write
  half complex imaginary quad uniform pipe]]

local types, functions, constants, keywords = set(TYPES), set(FUNCTIONS), set(CONSTANTS), set(KEYWORDS)

for target in TYPES:gmatch "%S+" do -- 6.2.3 and 6.2.4: conversions
  functions["convert_" .. target] = true
  functions["as_" .. target] = true
  for rounding in ("rte rtz rtp rtn sat sat_rte sat_rtz sat_rtp sat_rtn"):gmatch "%S+" do
    functions["convert_" .. target .. "_" .. rounding] = true
  end
end

--- Whether a name means something in OpenCL C.
local function is_taken(name)
  return types[name] or functions[name] or constants[name] or keywords[name] or false
end

--- Whether an expression may use a name that is no operand's.
local function is_usable(name)
  return types[name] or functions[name] or constants[name] or false
end

-- --- reading --------------------------------------------------------------------

-- Longest first.
local OPERATORS = { "<<=", ">>=", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "++", "--", "+=", "-=", "*=", "/=",
  "%=", "&=", "|=", "^=", "//", "/*", "->", "**", "~=", ".." }
local REFUSED = { ["++"] = "changes its operand", ["--"] = "changes its operand (write a - -b with a blank)",
  ["//"] = "begins a comment (write floor(x / y), of integers x / y)", ["/*"] = "begins a comment",
  ["->"] = "is for pointers", ["**"] = "is no operator of C: write pow(x, y)", ["~="] = "is Lua's: write !=",
  [".."] = "is Lua's, for strings" }
local CLOSING = { ["("] = ")", ["["] = "]", ["{"] = "}" }

local function fail(where, text, complaint, ...)
  error(("%s: %s, in \"%s\""):format(where, complaint:format(...), text), 0)
end

local function read_operator(text, at)
  for _, operator in ipairs(OPERATORS) do
    if text:sub(at, at + #operator - 1) == operator then return operator end
  end
  return text:match("^[-+*/%%<>=!&|^~?:()%[%],.{}]", at)
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
  elseif token == ")" or token == "]" or token == "}" then
    if table.remove(open) ~= token then fail(where, text, "'%s' closes nothing", token) end
  elseif token == "," and #open == 0 then
    fail(where, text, "',' outside of a function's arguments")
  end
end

local function tokenize(where, text, preamble)
  local tokens, open, at = {}, {}, 1
  while true do
    at = text:find("%S", at)
    if not at then break end
    local token, kind = read_token(text, at)
    if not token or (token == "{" or token == "}") and not preamble then
      fail(where, text, "'%s' has no place in an expression", character_at(text, at))
    end
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

local OF_LUA = { ["and"] = "&&", ["or"] = "||", ["not"] = "!", ["if"] = "c ? a : b", ["math.abs"] = "fabs(...)",
  ["math.max"] = "fmax(...)", ["math.min"] = "fmin(...)", ["math.huge"] = "INFINITY",
  ["math.pi"] = "M_PI_F, for doubles M_PI" }

--- What stands in C for a word of Lua, or a field of its `math`: the name with it, and that; or nil.
local function find_word_of_lua(tokens, k)
  local name, member = tokens[k].text, text_at(tokens, k + 1) == "." and text_at(tokens, k + 2)
  if name == "math" and member then
    name = "math." .. member
    return name, OF_LUA[name] or functions[member] and member .. "(...)"
  end
  return name, OF_LUA[name]
end

--- Raises what a name is that means nothing.
local function refuse_unknown(where, text, tokens, k, kinds)
  local name, in_c = find_word_of_lua(tokens, k)
  if in_c then fail(where, text, "'%s' is Lua's: write %s", name, in_c) end
  if text_at(tokens, k - 1) == "." then
    fail(where, text, "elements are numbers, without a field '%s'; buffers of structs are for kernels of d:program",
      name)
  end
  local is_called, meant = text_at(tokens, k + 1) == "(", ""
  name = tokens[k].text
  if #name > 2 then -- all shorter ones are alike
    meant = spelling.suggestion(name, is_called and functions or kinds)
    if meant == "" and not is_called then meant = spelling.suggestion(name, constants) end
  end
  meant = meant == "" and "; there are" or meant .. " There are"
  fail(where, text, "unknown name '%s'%s: %s", name, meant, list(kinds))
end

--- Whether a name behind a preamble may be one of its: it stands there, or in a file that it includes.
local function is_of_preamble(preamble, name)
  return preamble and not keywords[name] and (preamble.names[name] or preamble.includes) or false
end

--- Checks a token that is a name; returns how it is written down, and the number of tokens it takes.
local function resolve(where, text, tokens, k, kinds, preamble)
  local name = tokens[k].text
  local kind, subscript = kinds[name], text_at(tokens, k + 1) == "["
  if kind == "element" and not subscript then return translation.PREFIX .. name, 1 end
  if kind == "array" or kind == "element" then
    if not subscript then fail(where, text, "'%s' is a buffer: %s[i] is its element", name, name) end
    if text_at(tokens, k + 2) ~= "i" or text_at(tokens, k + 3) ~= "]" then
      fail(where, text, "a buffer is indexed by i alone, '%s[i]'", name)
    end
    return translation.PREFIX .. name, 4
  end
  if subscript and (kind or not is_usable(name)) then
    if kind then fail(where, text, "'%s' is a number, not a buffer", name) end
    refuse_unknown(where, text, tokens, k, kinds)
  end
  if kind == "index" then return name, 1 end
  if kind then return translation.PREFIX .. name, 1 end
  if is_of_preamble(preamble, name) then return name, 1 end
  if not is_usable(name) then refuse_unknown(where, text, tokens, k, kinds) end
  if functions[name] and text_at(tokens, k + 1) ~= "(" then
    fail(where, text, "'%s' is a function: %s(...)", name, name)
  end
  return name, 1
end

--- Whether an operator stands in front of its operand: at the beginning, behind another one, a type or a cast.
local function is_prefix(tokens, k)
  local before = tokens[k - 1]
  if not before or types[before.text] then return true end
  if before.text == ")" then return types[text_at(tokens, k - 2)] ~= nil end
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

local EXAMPLES = { map = "cl.map(\"2 * x[i]\", { x = x })", reduce = "cl.reduce(\"a + b\", x)",
  scan = "cl.scan(\"a + b\", x)" }

--- The translation of an expression; the rest of `translation.translate`.
local function translate(where, text, kinds, preamble)
  if type(text) ~= "string" then
    local example = EXAMPLES[where] and "; write " .. EXAMPLES[where] or ""
    error(("%s: expression (a string) expected, got %s%s"):format(where, type_of(text), example), 0)
  end
  local tokens, words, used, k = tokenize(where, text, preamble), {}, {}, 1
  while k <= #tokens do
    local word, taken = tokens[k].text, 1
    if tokens[k].kind == "name" and not (preamble and text_at(tokens, k - 1) == ".") then -- no field of a struct
      used[word] = kinds[word]
      word, taken = resolve(where, text, tokens, k, kinds, preamble)
    elseif tokens[k].kind == "operator" then
      check_place(where, text, tokens, k)
    end
    words[#words + 1] = word
    k = k + taken
  end
  return table.concat(words, " "), used
end

local MOST_KEPT = 256 -- translations
local kept, count = {}, 0

local function is_same(kinds, others)
  for name, kind in pairs(kinds) do
    if others[name] ~= kind then return false end
  end
  for name in pairs(others) do
    if not kinds[name] then return false end
  end
  return true
end

--- Checks an expression; returns it as a kernel has it, and the set of the operands it uses.
-- @string where begins messages: the function that was called
-- @string text
-- @tparam table kinds name to "array", "element" (an array whose [i] may be left out), "scalar" or "index", of what
-- it may use
-- @tparam[opt] table preamble of `preamble.read`, whose names it may use too; and structs' fields and values
function translation.translate(where, text, kinds, preamble)
  if preamble or type(text) ~= "string" then return translate(where, text, kinds, preamble) end
  local key = where .. " " .. text
  local found = kept[key]
  if found and is_same(found.kinds, kinds) then return found.translated, found.used end
  local translated, used = translate(where, text, kinds)
  if not found then count = count + 1 end
  if count > MOST_KEPT then kept, count = {}, 1 end
  local copy = {}
  for name, kind in pairs(kinds) do copy[name] = kind end
  kept[key] = { kinds = copy, translated = translated, used = used }
  return translated, used
end

--- Checks the name of an operand.
function translation.check_key(where, key)
  if type(key) ~= "string" or not key:find "^[%a_][%w_]*$" then
    error(("%s: '%s' is no name for an operand; a name has letters, digits and _"):format(where, tostring(key)), 0)
  end
  if key == "i" then error(where .. ": no operand can be called 'i', the index", 0) end
  if is_taken(key) then
    error(("%s: no operand can be called '%s', which is a word of OpenCL C"):format(where, key), 0)
  end
end

return translation
