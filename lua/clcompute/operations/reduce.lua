-- SPDX-License-Identifier: MIT
--- Reducing: all elements of an expression combined into one number by an operation of two results, a and b.

local enqueue = require("clcompute.core.internal").enqueue
local translation = require "clcompute.operations.translation"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"

local reduce = {}

-- --- operations -------------------------------------------------------------------

--- NaN wins: where one is NaN neither comparison holds, and the one that is NaN is taken.
reduce.NAN_MIN, reduce.NAN_MAX = "a < b || a != a ? a : b", "a > b || a != a ? a : b"

-- Operations that Lua computes with the few results of a CPU's chunks, which is quicker than one more launch, and has
-- more digits than float.
local IN_LUA = {
  ["a + b"] = function(a, b) return a + b end,
  ["max(a, b)"] = { long = math.max, ulong = function(a, b) return math.ult(a, b) and b or a end },
  ["min(a, b)"] = { long = math.min, ulong = function(a, b) return math.ult(a, b) and a or b end },
  [reduce.NAN_MAX] = function(a, b) return (a > b or a ~= a) and a or b end,
  [reduce.NAN_MIN] = function(a, b) return (a < b or a ~= a) and a or b end,
}

local function zero() return "0" end
local function one() return "1" end
local function lowest(dtype) return operands.lowest[dtype] end
local function highest(dtype) return operands.highest[dtype] end

-- Operations that commute and mean the same for vectors, as `translate` writes them down, with what leaves a value as
-- it is.
local KNOWN = {
  ["a + b"] = zero, ["b + a"] = zero, ["a * b"] = one, ["b * a"] = one,
  ["max ( a , b )"] = lowest, ["max ( b , a )"] = lowest, ["min ( a , b )"] = highest, ["min ( b , a )"] = highest,
  ["a | b"] = zero, ["b | a"] = zero, ["a ^ b"] = zero, ["b ^ a"] = zero,
}

local KINDS = { a = "scalar", b = "scalar" }

local translations = {} -- of texts that were right

--- Checks the text of an operation and returns it as kernels have it.
function reduce.translate(where, text)
  if translations[text] then return translations[text] end
  local translated, used = translation.translate(where, text, KINDS)
  for name in pairs(KINDS) do
    if not used[name] then
      error(("%s: an operation combines a and b, but \"%s\" has no %s"):format(where, text, name), 0)
    end
  end
  translations[text] = translated:gsub("%f[%w_]" .. translation.PREFIX, "")
  return translations[text]
end

--- The function of two numbers of a dtype that is an operation; nil where there is none in Lua.
local function in_lua(text, dtype)
  local f = IN_LUA[text]
  if type(f) == "table" then return f[dtype] end
  return f
end

--- What leaves a value as it is under a known operation, as text of OpenCL C; nil for others.
-- @string translated
-- @string dtype
function reduce.identity(translated, dtype)
  local of = KNOWN[translated]
  return of and of(dtype)
end

-- --- kernels ----------------------------------------------------------------------

local PARTIAL = { { name = "x" } } -- the operand of the launch that combines the chunks' results

local function defines_of(list, text, operation, r, row)
  local defines = macros.of(list, text, row, operands.wide_type, operands.wide_type(operands.result_dtype(r.list)))
  defines.RESULT, defines.OPERATION = r.result, operation
  return defines
end

--- Two kernels: one for the results of chunks of the elements, one for the chunks.
local function build(where, device, key, row, r)
  local operation = reduce.translate(where, r.operation)
  local translated, used = translation.translate(where, r.map, operands.kinds(where, r.list))
  operands.check_used(where, r.map, r.list, used)
  PARTIAL[1].dtype = r.result
  local of_rest, of_chunks = defines_of(PARTIAL, "arg_x", operation, r, row),
    defines_of(r.list, translated, operation, r, row)
  -- First the operation: what fails to build here is its text.
  local rest = macros.build(where, r.operation, device, row, "rest " .. key, row.kernel, of_rest)
  return macros.build(where, r.map, device, row, key, row.kernel, of_chunks), rest
end

--- The kernels for the chunks and for their results, from what is kept or built.
local function find_kernels(where, device, row, r)
  local key = ("%s\n%s\n%s\n%s"):format(r.operation, r.map, macros.signature(r.list), r.result)
  local chunks = row.kernels[key]
  local rest = chunks and row.kernels["rest " .. key]
  if rest then return chunks, rest end
  return build(where, device, key, row, r)
end

-- --- launches ---------------------------------------------------------------------

--- Combines the chunks' results in Lua.
local function fold(f, results)
  local total = results[1]
  for k = 2, #results do total = f(total, results[k]) end
  return total
end

--- One launch, of a kernel that has all n elements in one chunk; waits for the number.
local function launch_one(kernel, device, row, n, r, init, ...)
  local use = "result " .. r.result
  local out = enqueue.take(device, use, r.result, 1)
  enqueue.launch(kernel, row.group, row.group, n, n, out, init and 1 or 0, init or 0, ...)
  local result = out:get(1)
  enqueue.give(out, use)
  return result
end

local function compute(where, device, n, r, init)
  local row, items, workers, chunk = enqueue.spread(device, "reduce", n)
  local chunks, rest = find_kernels(where, device, row, r)
  if workers == 1 then return launch_one(chunks, device, row, n, r, init, operands.values(r.list)) end
  local use = "reduce " .. r.result
  local partials = enqueue.take(device, use, r.result, row.per_unit * row.units)
  enqueue.launch(chunks, items, row.group, n, chunk, partials, 0, 0, operands.values(r.list))
  local f = not init and row.kernel == "reduce_chunks" and in_lua(r.operation, r.result)
  local result = f and fold(f, partials:read(1, workers)) or launch_one(rest, device, row, workers, r, init, partials)
  enqueue.give(partials, use)
  return result
end

--- Reduces; the arguments are checked here, so that functions made of it name themselves.
-- @string where the function that was called
-- @string operation of a and b
-- @param given buffer or table of operands
-- @string[opt] map the expression of an element; x[i] unless given
-- @string[opt] dtype of the result
-- @param[opt] init number
-- @treturn number or nil where there are no elements and no init
function reduce.all(where, operation, given, map, dtype, init)
  local list, first = operands.read(where, given)
  operands.check_dtype(where, dtype)
  if init ~= nil and type(init) ~= "number" then
    error(("%s: option 'init': number expected, got %s"):format(where, type(init)), 0)
  end
  local result = operands.wide_type(dtype or operands.result_dtype(list))
  if first.count == 0 then return init end
  return compute(where, first.device, first.count, { operation = operation, map = map or "x[i]", list = list,
    result = result }, init)
end

return reduce
