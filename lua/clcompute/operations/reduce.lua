-- SPDX-License-Identifier: MIT
--- Reducing: all elements of an expression combined into one number or struct by an operation of two results, a and b.

local enqueue = require("clcompute.core.internal").enqueue
local accumulator = require "clcompute.operations.accumulator"
local translation = require "clcompute.operations.translation"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local preambles = require "clcompute.operations.preamble"
local turns = require "clcompute.operations.turns"

local reduce = {}

-- --- operations -------------------------------------------------------------------

--- NaN wins: where one is NaN neither comparison holds, and the one that is NaN is taken.
reduce.NAN_MIN, reduce.NAN_MAX = "a < b || a != a ? a : b", "a > b || a != a ? a : b"

-- Operations that Lua computes with the few results of a CPU's chunks, which is quicker than one more launch, and has
-- more digits than float.
local IN_LUA = {
  ["a + b"] = function(a, b) return a + b end,
  ["max(a, b)"] = { int = math.max, long = math.max, ulong = function(a, b) return math.ult(a, b) and b or a end },
  ["min(a, b)"] = { int = math.min, long = math.min, ulong = function(a, b) return math.ult(a, b) and a or b end },
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

local TEXTS = {} -- where they are at their place
local PARTIAL = { { name = "x" } } -- the operand of the launch that combines the chunks' results
local ELEMENT = translation.PREFIX .. "x"

--- The operation, a function behind the preamble where there is one; the text of both, and the call.
local function behind(preamble, operation, results)
  if not preamble then return nil, operation end
  local before = ("%s\n%s"):format(preamble.text, results.alias or "")
  local head = ("static %s clc_operation(const %s a, const %s b)"):gsub("%%s", results.type)
  return { text = ("%s%s { return %s; }"):format(before, head, operation) }, "clc_operation(a, b)"
end

--- Whether the last group combines what all found, and no second launch does: not with structs, whose results do not
-- lie side by side as a kernel's own type.
local function is_once(row, results)
  return row.one_launch and not results.declarations or false
end

--- What kernels of a reduction are built of.
-- @string where
-- @tparam table r {operation=, map=, list=, results=, preamble=, type_of= of the elements of a dtype, wide unless
-- given}
-- @treturn table {element=, before=, type_of=, of the elements; combined=, before_rest=, of results; scalar= type of
-- numbers}
function reduce.texts(where, r)
  local type_of = r.type_of or operands.wide_type
  local scalar = type_of(operands.result_dtype(r.list))
  local operation = reduce.translate(where, r.operation, r.preamble)
  local translated, used = translation.translate(where, r.map, operands.kinds(where, r.list), r.preamble)
  operands.check_used(where, r.map, r.list, used)
  local before_rest, combined = behind(r.preamble, operation, r.results)
  local before, element = macros.behind(before_rest, r.results.type, translated, r.list, type_of, scalar)
  return { element = element, before = before, combined = combined, before_rest = before_rest and before_rest.text,
    scalar = scalar, type_of = type_of }
end

local function build(where, text, device, row, results, list, element, type_of, texts, name, more, before)
  local defines = macros.of(list, element, row, type_of, texts.scalar)
  defines.RESULT, defines.STORED, defines.OPERATION = results.type, results.dtype, texts.combined
  defines.IS_STRUCT = results.declarations and 1 or nil
  defines.GROUP, defines.LANES, defines.AT_ONCE = results.sizes(row)
  for key, value in pairs(more) do defines[key] = value end
  return macros.build(where, text, device, name, defines, before)
end

--- The kernel for the results of parts.
function reduce.build_rest(where, device, row, r, texts, name, more)
  PARTIAL[1].dtype, PARTIAL[1].struct = r.results.dtype, r.results.declarations and r.results.type
  return build(where, r.operation, device, row, r.results, PARTIAL, ELEMENT, operands.wide_type, texts, name, more,
    texts.before_rest)
end

--- The kernel for the elements of operands. What does not build may be the operation's fault, whose own kernel tells.
-- @tparam table texts of `reduce.texts`
-- @string name of the file
-- @tparam table more defines
function reduce.build_elements(where, device, row, r, texts, name, more)
  local ok, kernel = pcall(build, where, r.map, device, row, r.results, r.list, texts.element, texts.type_of, texts,
    name, more, texts.before)
  if ok then return kernel end
  reduce.build_rest(where, device, row, r, texts, name, more)
  error(kernel, 0)
end

--- How many elements a GPU's work-item reads as a vector: 1 where they do not lie as vectors do.
-- @tparam table row
-- @tparam table r as of `reduce.texts`
function reduce.lanes(row, r)
  return not r.results.declarations and macros.is_aligned(r.list, row.lanes) and row.lanes or 1
end

--- Where the kernels of a reduction are kept.
local function find_place(row, r, lanes)
  return macros.place(row, r.list, r.operation, r.map, r.results.alias or r.results.type,
    r.type_of == operands.wide_type, lanes or 0, r.preamble and r.preamble.text or "")
end

local AT_ONCE = 16 -- elements that a work-item of reduce_groups has on their way, at most

--- Whether groups take turns at tiles: those that one launch has, each with a tile at least.
local function takes_turns(row, results)
  return is_once(row, results) and row.granule >= row.group * AT_ONCE
end

--- The kernel at a place, built by `reduce.build_elements` or `reduce.build_rest` unless it is there.
local function kernel_at(place, build_kernel, where, device, row, r, lanes)
  if not place[build_kernel] then
    local once = is_once(row, r.results) and 1 or nil
    place[TEXTS] = place[TEXTS] or reduce.texts(where, r)
    place[build_kernel] = build_kernel(where, device, row, r, place[TEXTS], row.kernel,
      { LANES = lanes, ONE_LAUNCH = once, TOLD = once, TURNS = takes_turns(row, r.results) and 1 or nil })
  end
  return place[build_kernel]
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
  turns.pass()
  local result = results.read(out)
  enqueue.give(out, use)
  return result
end

reduce.COUNTERS = 4096 -- results of one launch, at most, that parts make

local zeroed = setmetatable({}, { __mode = "k" }) -- scratch that holds 0, as launches find and leave it

--- Scratch memory in which the groups of a launch count how many have ended, of each result. `give_counters` brings
-- it back, unless the launch failed.
function reduce.take_counters(device)
  local ended = enqueue.take(device, "ended", "uint", reduce.COUNTERS)
  if not zeroed[ended] then
    ended:fill(0)
    zeroed[ended] = true
  end
  return ended
end

function reduce.give_counters(ended)
  enqueue.give(ended, "ended")
end

local spaces = setmetatable({}, { __mode = "k" }) -- by device and type: what no launch uses now

--- The memory of a launch whose last group combines what all found.
local function take_space(device, row, results)
  local of = spaces[device]
  if not of then
    of = {}
    spaces[device] = of
  end
  local space = of[results.type]
  of[results.type] = nil
  local most = row.per_unit * row.units
  if space and space.most >= most then return space end
  return { most = most, out = enqueue.take(device, "result", results.dtype, 1),
    parts = enqueue.take(device, "parts", results.dtype, most), ended = enqueue.take(device, "end", "uint", 1):fill(0) }
end

--- One launch, whose last group combines what all found; waits for the result.
local function launch_once(kernel, device, row, n, workers, chunk, results, init, ...)
  local space = take_space(device, row, results)
  space.slot = space.slot or enqueue.slot(device)
  local told = space.slot and enqueue.expect(device, space.slot)
  enqueue.launch(kernel, workers * row.group, row.group, n, chunk, space.out, init and 1 or 0, results.argument(init),
    space.parts, space.ended, told or 0, ...)
  turns.pass()
  local result = told and enqueue.hear(space.out, space.slot) or space.out:get(1)
  spaces[device][results.type] = space
  return result
end

--- Where the kernel of a fixed reduction is kept for operands that lie as vectors do; nil for others.
local function find_plan(row, fixed, list)
  local place = macros.step(row.kernels, fixed)
  for _, operand in ipairs(list) do
    if operand.parts or operand.first % row.lanes ~= 0 then return nil end
    place = macros.step(place, operand.dtype)
  end
  return place
end

--- @tparam[opt] table plan where the kernel and the results of one launch are kept for the next
local function compute(where, device, n, r, init, plan, row, workers, chunk)
  local lanes = row.kernel == "reduce_groups" and reduce.lanes(row, r) or nil
  local place = find_place(row, r, lanes)
  local chunks = kernel_at(place, reduce.build_elements, where, device, row, r, lanes)
  local results, group = r.results, (r.results.sizes(row))
  if is_once(row, results) then
    if plan then plan.kernel, plan.results = chunks, results end
    return launch_once(chunks, device, row, n, workers, chunk, results, init, operands.values(r.list))
  end
  if workers == 1 then return launch_one(chunks, device, group, n, results, init, operands.values(r.list)) end
  local f = not init and not r.preamble and row.kernel == "reduce_chunks" and in_lua(r.operation, results.dtype)
  local rest = f or kernel_at(place, reduce.build_rest, where, device, row, r, lanes)
  local use = "reduce " .. results.type
  local partials = enqueue.take(device, use, results.dtype, row.per_unit * row.units * results.width)
  enqueue.launch(chunks, workers * group, group, n, chunk, partials, 0, results.argument(), operands.values(r.list))
  if f then turns.pass() end
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

local function spread(first)
  local row, _, workers, chunk = enqueue.spread(first.device, "reduce", first.count)
  return row, workers, chunk
end

local function run(where, operation, list, first, o, plan, row, workers, chunk)
  local results = o.type and accumulator.of_numbers(o.type) or results_of(where, o.dtype, list, first.device)
  check_init(where, o.init, results)
  if first.count == 0 then return o.init and results.alone(o.init) end
  if not row then row, workers, chunk = spread(first) end
  local r = { operation = operation, map = o.map or "x[i]", list = list, results = results,
    preamble = preambles.read(where, o.preamble, results.declarations), type_of = o.type_of or operands.wide_type }
  local result = compute(where, first.device, first.count, r, o.init, plan, row, workers, chunk)
  if operands.is_sound(list) then return result end
  return reduce.list(where, operation, operands.stored(where, list), first, o)
end

--- Reduces operands that were read, of expressions what they are computed from.
-- @string where the function that was called
-- @string operation of a and b
-- @tparam table list of `operands.read`, with a buffer
-- @tparam table first buffer of the list
-- @tparam[opt] table o {map= the expression of an element, x[i] unless given; dtype= of the result, or a struct;
-- init= number, or table of a struct's fields; preamble= text; type_of= of the elements of a dtype, wide unless given;
-- type= what is accumulated, instead of dtype's}
-- @return number, or table of a struct's fields; nil where there are no elements and no init
function reduce.list(where, operation, list, first, o)
  return run(where, operation, list, first, o or NONE)
end

--- The same by options that never change, {operation=, map=, dtype=}, of one or two buffers that are always called the
-- same: on a GPU the host has little to do before the launch.
function reduce.fixed(where, fixed, list, first)
  if first.count == 0 then return nil end
  local row, workers, chunk = spread(first)
  local plan = find_plan(row, fixed, list)
  if not (plan and plan.kernel) then
    return run(where, fixed.operation, list, first, fixed, plan, row, workers, chunk)
  end
  local other = list[2]
  return launch_once(plan.kernel, first.device, row, first.count, workers, chunk, plan.results, nil, list[1].value,
    other and other.value)
end

--- Reduces a buffer or a table of operands; the arguments are checked here, so that functions made of it name
-- themselves.
function reduce.all(where, operation, given, o)
  local list, first = operands.read(where, given)
  return reduce.list(where, operation, list, first, o)
end

return reduce
