-- SPDX-License-Identifier: MIT
--- Reducing: all elements of an expression combined into one number or struct by an operation of two results, a and b.

local enqueue = require("clcompute.core.internal").enqueue
local accumulator = require "clcompute.operations.accumulator"
local translation = require "clcompute.operations.translation"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local preambles = require "clcompute.operations.preamble"

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
-- @string where
-- @string text
-- @tparam[opt] table preamble of `preamble.read`
function reduce.translate(where, text, preamble)
  if translations[text] then return translations[text] end
  local translated, used = translation.translate(where, text, KINDS, preamble)
  for name in pairs(KINDS) do
    if not used[name] then
      error(("%s: an operation combines a and b, but \"%s\" has no %s"):format(where, text, name), 0)
    end
  end
  translated = translated:gsub("%f[%w_]" .. translation.PREFIX, "")
  if not preamble then translations[text] = translated end
  return translated
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
local ELEMENT = translation.PREFIX .. "x"

--- The operation, a function behind the preamble where there is one; the text of both, and the call.
local function behind(preamble, operation, results)
  if not preamble then return nil, operation end
  local before = ("%s\n%s"):format(preamble.text, results.alias or "")
  local head = ("static %s clc_operation(const %s a, const %s b)"):gsub("%%s", results.type)
  return { text = ("%s%s { return %s; }"):format(before, head, operation) }, "clc_operation(a, b)"
end

local function defines_of(list, text, scalar, operation, results, row)
  local defines = macros.of(list, text, row, operands.wide_type, scalar)
  defines.RESULT, defines.STORED, defines.OPERATION = results.type, results.dtype, operation
  defines.GROUP, defines.LANES, defines.AT_ONCE = results.sizes(row)
  return defines
end

--- Two kernels: one for the results of chunks of the elements, one for the chunks.
local function build(where, device, key, row, r)
  local results, scalar = r.results, operands.wide_type(operands.result_dtype(r.list))
  local operation = reduce.translate(where, r.operation, r.preamble)
  local translated, used = translation.translate(where, r.map, operands.kinds(where, r.list), r.preamble)
  operands.check_used(where, r.map, r.list, used)
  PARTIAL[1].dtype, PARTIAL[1].struct = results.dtype, results.declarations and results.type
  local before, combined = behind(r.preamble, operation, results)
  local before_all, element = macros.behind(before, results.type, translated, r.list, operands.wide_type, scalar)
  local of_rest, of_chunks = defines_of(PARTIAL, ELEMENT, scalar, combined, results, row),
    defines_of(r.list, element, scalar, combined, results, row)
  -- First the operation: what fails to build here is its text.
  local of_both = before and before.text
  local rest = macros.build(where, r.operation, device, row, "rest " .. key, row.kernel, of_rest, of_both)
  return macros.build(where, r.map, device, row, key, row.kernel, of_chunks, before_all), rest
end

--- The kernels for the chunks and for their results, from what is kept or built.
local function find_kernels(where, device, row, r)
  local key = ("%s\n%s\n%s\n%s"):format(r.operation, r.map, macros.signature(r.list), r.results.alias or r.results.type)
  if r.preamble then key = ("%s\n%s"):format(key, r.preamble.text) end
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

--- One launch, of a kernel that has all n elements in one chunk; waits for the result.
local function launch_one(kernel, device, group, n, results, init, ...)
  local use = "result " .. results.type
  local out = enqueue.take(device, use, results.dtype, results.width)
  enqueue.launch(kernel, group, group, n, n, out, init and 1 or 0, results.argument(init), ...)
  local result = results.read(out)
  enqueue.give(out, use)
  return result
end

local function compute(where, device, n, r, init)
  local row, _, workers, chunk = enqueue.spread(device, "reduce", n)
  local chunks, rest = find_kernels(where, device, row, r)
  local results, group = r.results, (r.results.sizes(row))
  if workers == 1 then return launch_one(chunks, device, group, n, results, init, operands.values(r.list)) end
  local use = "reduce " .. results.type
  local partials = enqueue.take(device, use, results.dtype, row.per_unit * row.units * results.width)
  enqueue.launch(chunks, workers * group, group, n, chunk, partials, 0, results.argument(), operands.values(r.list))
  local f = not init and not r.preamble and row.kernel == "reduce_chunks" and in_lua(r.operation, results.dtype)
  local result = f and fold(f, partials:read(1, workers))
    or launch_one(rest, device, group, workers, results, init, partials)
  enqueue.give(partials, use)
  return result
end

--- What the results are by the option `dtype`: a dtype, a struct or nil, for that of the operands.
local function results_of(where, dtype, list, device)
  if type(dtype) == "table" then
    return accumulator.of_structs(where, dtype, device)
      or error(where .. ": option 'dtype': a dtype or a struct of cl.struct expected, got table", 0)
  end
  operands.check_dtype(where, dtype)
  return accumulator.of_numbers(operands.wide_type(dtype or operands.result_dtype(list)))
end

--- Raises unless an init is what is accumulated.
local function check_init(where, init, results)
  local expected = results.declarations and "table" or "number"
  if init ~= nil and type(init) ~= expected then
    error(("%s: option 'init': %s expected, got %s"):format(where, expected, type(init)), 0)
  end
end

local NONE = {}

--- Reduces; the arguments are checked here, so that functions made of it name themselves.
-- @string where the function that was called
-- @string operation of a and b
-- @param given buffer or table of operands
-- @tparam[opt] table o {map= the expression of an element, x[i] unless given; dtype= of the result, or a struct;
-- init= number, or table of a struct's fields; preamble= text}
-- @return number, or table of a struct's fields; nil where there are no elements and no init
function reduce.all(where, operation, given, o)
  o = o or NONE
  local list, first = operands.read(where, given)
  local results = results_of(where, o.dtype, list, first.device)
  check_init(where, o.init, results)
  if first.count == 0 then return o.init and results.alone(o.init) end
  return compute(where, first.device, first.count, { operation = operation, map = o.map or "x[i]", list = list,
    results = results, preamble = preambles.read(where, o.preamble, results.declarations) }, o.init)
end

return reduce
