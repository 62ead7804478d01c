-- SPDX-License-Identifier: MIT
--- Types: what a dtype is computed in, and the dtype of a result.
--
-- The result of operands has the dtype that comes last in `char uchar short ushort int uint long ulong half float
-- double` of those of the buffers; a Lua float among buffers of integers makes it float. Lua's numbers are weak: they
-- take the type of the result. Half is computed in float.
-- @module clcompute.operations.typing

local typing = {}

local ORDER = { "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "half", "float", "double" }
local SIZES = { char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, long = 8, ulong = 8, half = 2, float = 4,
  double = 8 }
local LOWEST = { char = "CHAR_MIN", uchar = "0", short = "SHRT_MIN", ushort = "0", int = "INT_MIN", uint = "0",
  long = "LONG_MIN", ulong = "0", half = "-INFINITY", float = "-INFINITY", double = "-INFINITY" }
local HIGHEST = { char = "CHAR_MAX", uchar = "UCHAR_MAX", short = "SHRT_MAX", ushort = "USHRT_MAX", int = "INT_MAX",
  uint = "UINT_MAX", long = "LONG_MAX", ulong = "ULONG_MAX", half = "INFINITY", float = "INFINITY",
  double = "INFINITY" }

local rank = {}
for k, name in ipairs(ORDER) do rank[name] = k end

local function is_integer(dtype)
  return rank[dtype] < rank.half
end
typing.is_integer = is_integer

typing.sizes, typing.lowest, typing.highest = SIZES, LOWEST, HIGHEST

--- Raises unless a dtype, given as an option, is one.
function typing.check(where, dtype)
  if dtype and not rank[dtype] then
    error(("%s: option 'dtype': no dtype '%s'; there are: %s"):format(where, dtype, table.concat(ORDER, " ")), 0)
  end
end

--- The dtype of what operands make; `wanted` is one more dtype among theirs.
function typing.result(operands, wanted)
  local widest, has_float = wanted or ORDER[1], false
  for _, operand in ipairs(operands) do
    local dtype = operand.dtype
    if dtype and rank[dtype] > rank[widest] then widest = dtype end
    has_float = has_float or operand.kind == "float"
  end
  return has_float and is_integer(widest) and "float" or widest
end

--- The type an element is computed in.
function typing.value(dtype)
  return dtype == "half" and "float" or dtype
end

--- The same where many are combined: integers have 64 bits.
function typing.wide(dtype)
  if not is_integer(dtype) then return typing.value(dtype) end
  return dtype == "ulong" and dtype or "long"
end

return typing
