-- SPDX-License-Identifier: MIT
--- The names of OpenCL C that an expression may use, and those that no operand may have.
-- @module clcompute.operations.names

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

local names = { types = set(TYPES), functions = set(FUNCTIONS), constants = set(CONSTANTS), keywords = set(KEYWORDS) }

for target in TYPES:gmatch "%S+" do -- 6.2.3 and 6.2.4: conversions
  names.functions["convert_" .. target] = true
  names.functions["as_" .. target] = true
  for rounding in ("rte rtz rtp rtn sat sat_rte sat_rtz sat_rtp sat_rtn"):gmatch "%S+" do
    names.functions["convert_" .. target .. "_" .. rounding] = true
  end
end

--- Whether a name means something in OpenCL C by itself.
function names.is_taken(name)
  return names.types[name] or names.functions[name] or names.constants[name] or names.keywords[name] or false
end

--- Whether an expression may use a name that is no operand's.
function names.is_usable(name)
  return names.types[name] or names.functions[name] or names.constants[name] or false
end

return names
