-- SPDX-License-Identifier: MIT
--- Operands: the buffers and numbers an expression is computed from, by their names, and their types. That all are on
-- one device is found where the kernel's arguments are set (csrc/kernel/call.c).

local internal = require "clcompute.core.internal"
local enqueue = internal.enqueue
local translation = require "clcompute.operations.translation"
local interrupt = require("clcompute.base").interrupt
local options = require("clcompute.base").options

local facts, check_result, check_target = enqueue.facts, enqueue.check_result, enqueue.check_target
local expression, is_deferred = internal.expression, internal.is_deferred

local operands = {}

-- --- dtypes -----------------------------------------------------------------------
-- The result of operands has the dtype that comes last in `char uchar short ushort int uint long ulong half float
-- double` of those of the buffers; a Lua float among buffers of integers makes it float. Lua's numbers are weak: they
-- take the type of the result. Half is computed in float.

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
operands.is_integer = is_integer

operands.sizes, operands.lowest, operands.highest = SIZES, LOWEST, HIGHEST

--- Raises unless a dtype, given as an option or as an argument, is one.
function operands.check_dtype(where, dtype, is_argument)
  if dtype and not rank[dtype] then
    error(("%s: %sno dtype '%s'; there are: %s"):format(where, is_argument and "" or "option 'dtype': ", dtype,
      table.concat(ORDER, " ")), 0)
  end
end

--- The dtype of what operands make; `wanted` is one more dtype among theirs.
function operands.result_dtype(list, wanted)
  local widest, has_float = wanted or ORDER[1], false
  for _, operand in ipairs(list) do
    local dtype = operand.dtype
    if dtype and rank[dtype] > rank[widest] then widest = dtype end
    has_float = has_float or operand.kind == "float"
  end
  return has_float and is_integer(widest) and "float" or widest
end

--- The type an element is computed in.
function operands.value_type(dtype)
  return dtype == "half" and "float" or dtype
end

--- The same where many are combined: integers have 64 bits.
function operands.wide_type(dtype)
  if not is_integer(dtype) then return operands.value_type(dtype) end
  return dtype == "ulong" and dtype or "long"
end

--- The dtype of means and norms of elements: their own, or float.
function operands.floating(dtype)
  return is_integer(dtype) and "float" or dtype
end

--- The floating type of a device that has the most digits.
function operands.widest_real(device)
  return device.has_double and "double" or "float"
end

-- --- buffers and numbers ----------------------------------------------------------

local type_of = options.type_of
operands.type_of = type_of

--- What a buffer is: {name=, value=, dtype=, count=, first=, device=}; anything else is an error, which calls it
-- `what`, a format for the name.
function operands.describe(where, what, value, name)
  local ok, dtype, count, first, device = pcall(facts, value)
  if not ok then
    interrupt.pass_on(dtype)
    local is_buffer = type_of(value) == "Buffer"
    local complaint = is_buffer and " is released" or ": buffer expected, got " .. type_of(value)
      .. (type_of(value) == "table" and "; d:buffer(t) makes one of a table" or "")
    error(("%s: %s%s"):format(where, what:format(name), complaint), 0)
  end
  return { name = name, value = value, dtype = dtype, count = count, first = first, device = device }
end

--- The same of a buffer that is written to.
function operands.describe_target(where, what, value)
  local target = operands.describe(where, what, value)
  check_target(where .. ": " .. what, value)
  return target
end

--- As `describe`, but an expression that nothing has computed yet is {name=, value=, dtype=, count=, first=, device=,
-- text= of the element, in its dtype, parts= its own operands}: no memory, for kernels that compute what they read.
function operands.describe_lazily(where, what, value, name)
  local found = is_deferred(value) and table.pack(expression(value))
  if not found or found.n == 0 then return operands.describe(where, what, value, name) end
  local dtype, count, device, text, buffers = table.unpack(found, 1, 5)
  local parts = {}
  for k = 1, buffers do
    parts[k] = operands.describe(where, what, found[5 + k], ("%s_x%d"):format(name, k))
  end
  for k = 6 + buffers, found.n, 2 do
    parts[#parts + 1] = { name = ("%s_s%d"):format(name, #parts - buffers + 1), value = found[k], type = found[k + 1] }
  end
  return { name = name, value = value, dtype = dtype, count = count, first = 0, device = device, parts = parts,
    text = text:gsub("%f[%w_]arg_", ("arg_%s_"):format(name)) }
end

--- Whether what was described is still so: a hook may write to what an expression is computed from, and its elements
-- are stored before.
function operands.is_sound(list)
  for _, operand in ipairs(list) do
    if operand.parts and not is_deferred(operand.value) then return false end
  end
  return true
end

--- The same operands, the elements of expressions stored.
function operands.stored(where, list)
  local all = {}
  for k, operand in ipairs(list) do
    all[k] = operand.parts and operands.describe(where, "operand '%s'", operand.value, operand.name) or operand
  end
  return all
end

--- Memory and numbers: in place of expressions their own operands. The list itself where there are none.
function operands.leaves(list)
  local has_parts = false
  for _, operand in ipairs(list) do has_parts = has_parts or operand.parts ~= nil end
  if not has_parts then return list end
  local all = {}
  for _, operand in ipairs(list) do
    local parts = operand.parts or { operand }
    table.move(parts, 1, #parts, #all + 1, all)
  end
  return all
end

local function read_one(where, name, value, describe)
  if type(value) == "number" then return { name = name, value = value, kind = math.type(value) } end
  if type(value) ~= "userdata" then
    translation.check_key(where, name)
    error(("%s: operand '%s': buffer or number expected, got %s"):format(where, name, type_of(value)), 0)
  end
  return describe(where, "operand '%s'", value, name)
end

local function sorted_names(where, given)
  local names = {}
  for name in next, given do
    if type(name) ~= "string" then translation.check_key(where, name) end
    local k = #names + 1 -- for two or three names, shorter than a call of table.sort
    while k > 1 and names[k - 1] > name do
      names[k], k = names[k - 1], k - 1
    end
    names[k] = name
  end
  return names
end

--- Raises unless all buffers have as many elements; returns the first one, `target` where there is none.
function operands.check_counts(where, list, target)
  local first
  for _, operand in ipairs(list) do
    if operand.dtype and not first then first = operand end
    if operand.dtype and operand.count ~= first.count then
      error(("%s: '%s' has %d elements, but '%s' has %d"):format(where, first.name, first.count, operand.name,
        operand.count), 0)
    end
  end
  return first or target or error(where .. ": a buffer expected among the operands", 0)
end

--- Reads a table of operands, or a buffer that is to be called x; in the order of their names.
-- @tparam ?table target the buffer for the result, from whose index alone elements can be computed
-- @bool is_lazy as `describe_lazily`
-- @treturn table list of {name=, value=, dtype= and what else a buffer has, or kind="integer"|"float"}
-- @treturn table the first buffer of these
function operands.read(where, given, target, is_lazy)
  if type(given) == "userdata" then given = { x = given } end
  if type(given) ~= "table" then
    error(("%s: buffer or table of operands by their names expected, as { x = x, y = y }, got %s"):format(where,
      type(given)), 0)
  end
  local list = {}
  local describe = is_lazy and operands.describe_lazily or operands.describe
  for k, name in ipairs(sorted_names(where, given)) do
    list[k] = read_one(where, name, rawget(given, name), describe)
  end
  return list, operands.check_counts(where, list, target)
end

--- What expressions may use of them: name to "array" or "scalar", and i.
function operands.kinds(where, list)
  local kinds = { i = "index" }
  for _, operand in ipairs(list) do
    translation.check_key(where, operand.name)
    kinds[operand.name] = operand.dtype and "array" or "scalar"
  end
  return kinds
end

--- Raises when an expression leaves an operand out that is not there for the number of its elements alone.
function operands.check_used(where, text, list, used)
  for _, operand in ipairs(list) do
    if not used[operand.name] and not operand.is_extent then
      error(("%s: operand '%s' is not used in \"%s\""):format(where, operand.name, text), 0)
    end
  end
end

local function values_from(list, k)
  local operand = list[k]
  if operand then return operand.value, values_from(list, k + 1) end
end

--- The values, as a kernel takes them.
function operands.values(list)
  return values_from(operands.leaves(list), 1)
end

--- Checks the keys of an option table; what the values must be is found out where they are used.
function operands.check_options(where, o, known)
  if type(o) ~= "table" then options.check(where, o, known) end
  for key in next, o do
    if not known[key] then options.check(where, o, known) end
  end
  return o
end

--- What the options `out` and `dtype` ask for: the buffer, described, and the dtype; nil where they do not.
function operands.target(where, o)
  operands.check_dtype(where, o.dtype)
  if not o.out then return nil, o.dtype end
  local out = operands.describe_target(where, "option 'out'", o.out)
  if o.dtype and o.dtype ~= out.dtype then
    error(("%s: option 'dtype' is %s, but 'out' has %s elements"):format(where, o.dtype, out.dtype), 0)
  end
  return out, out.dtype
end

--- The buffer for the result: that of `target`, or a new one like the first operand; and whether it is an operand too.
function operands.result(where, out, dtype, list, first)
  if not out then
    local shape = first.value.shape
    return operands.describe(where, "the result", first.device:empty(dtype, table.unpack(shape))), false
  end
  local in_place = false
  if out.count ~= first.count then
    error(("%s: option 'out' has %d elements, but '%s' has %d"):format(where, out.count, first.name, first.count), 0)
  end
  for _, operand in ipairs(list) do
    in_place = operand.dtype and check_result(where, out.value, operand.value, operand.name) or in_place
  end
  return out, in_place
end

return operands
