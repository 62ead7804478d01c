-- SPDX-License-Identifier: MIT
--- Reducing along one axis of a buffer: the axis, and how its results are spread over a device.
--
-- A buffer of extents (a..., n, b...) is `outer` = a... matrices of n rows and `inner` = b... columns. Where inner is 1
-- its rows are reduced (reduce_rows, long ones by the kernels of whole buffers), else its columns (reduce_columns). Few
-- and long ones are reduced in parts, whose results a second launch combines.

local enqueue = require("clcompute.core.internal").enqueue
local accumulator = require "clcompute.operations.accumulator"
local macros = require "clcompute.operations.macros"
local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"
local preambles = require "clcompute.operations.preamble"
local reduce = require "clcompute.operations.reduce"

local along_axis = {}

-- --- axes -------------------------------------------------------------------------

--- What the options `axis` and `keep` ask for; nil without them.
-- @treturn ?table {outer=, n=, inner=, axis=, shape= of the results, full= that of the buffer}
function along_axis.read(where, o, buffer)
  local axis = o and o.axis
  if not axis then
    if o and o.keep ~= nil then error(where .. ": option 'keep' is for option 'axis', which is missing", 0) end
    return nil
  end
  local full = buffer.shape
  if axis < 1 or axis > #full then
    error(("%s: option 'axis': 1 .. %d expected, the dimensions of the buffer, got %d"):format(where, #full, axis), 0)
  end
  local outer, inner, shape = 1, 1, {}
  for k, extent in ipairs(full) do
    if k < axis then outer = outer * extent elseif k > axis then inner = inner * extent end
    if k ~= axis then
      shape[#shape + 1] = extent
    elseif o.keep or #full == 1 then
      shape[#shape + 1] = 1
    end
  end
  return { axis = axis, n = full[axis], outer = outer, inner = inner, shape = shape, full = full }
end

-- --- how it is spread ---------------------------------------------------------------

local LONG_ROW = { reduce_chunks = 512, reduce_groups = 1024 } -- elements, from which on a row is a worker's
local LONGEST = 1 << 19 -- elements of a worker: sums of more would lose digits
local WIDE = 2048 -- columns that a CPU's work-item has the results of
local LANES = 64 -- of these at once
local STRIP = 32 -- columns of a GPU's group, or more where there are many strips: of wide ones there is much to combine
local ROWS = 16 -- rows, or elements of one, that a CPU's work-item has side by side
local EACH = 16 -- elements of a row that are worth a work-item of a GPU
local DEEP = 256 -- rows of a GPU's work-item: sums of more would lose digits

along_axis.WIDE = WIDE

local function parts_of(n, part)
  return -(-n // part)
end

--- The largest power of two that is not above n.
local function power_below(n)
  local power = 1
  while power * 2 <= n do power = power * 2 end
  return power
end

--- How long the parts of n are where there are so many tasks already, and enough is to do for so many workers.
local function chunk_of(n, tasks, workers, longest, granule)
  local chunk = math.min(parts_of(n, parts_of(workers, tasks)), longest)
  return math.min(n, parts_of(chunk, granule) * granule)
end

local function spread_rows(row, g, workers, is_whole, lanes)
  local outer, n, is_cpu = g.outer, g.n, row.group == 1
  if n >= LONG_ROW[row.kernel] and not is_whole then
    local chunk = chunk_of(n, outer, workers, LONGEST, is_cpu and ROWS or row.granule)
    local parts = parts_of(n, chunk)
    return { kernel = row.kernel, items = outer * parts * row.group, parts = parts, results = outer,
      lanes = not is_cpu and lanes or nil, n, chunk }
  end
  if is_cpu then
    local share = parts_of(parts_of(outer, workers), ROWS) * ROWS
    return { kernel = "reduce_rows", items = parts_of(outer, share), parts = 1, lanes = ROWS,
      variant = n <= ROWS and n or 0, outer, n, share }
  end
  local team = math.min(row.group, power_below(2 * parts_of(n, EACH) - 1))
  return { kernel = "reduce_rows", items = outer * team, parts = 1, lanes = lanes, outer, n, team }
end

local function spread_columns(row, g, workers, is_whole, is_ordered, lanes)
  local n, inner, is_cpu = g.n, g.inner, row.group == 1
  local strip = is_cpu and WIDE or STRIP
  local widest = is_cpu and WIDE or row.group * lanes
  while 2 * strip <= widest and g.outer * parts_of(inner, 2 * strip) >= workers do strip = 2 * strip end
  local strips = parts_of(inner, strip)
  local width = parts_of(inner, strips * lanes) * lanes
  local room = is_cpu and (strips == 1 and WIDE or 1) or row.group * lanes
  local fold = is_ordered and 1 or math.min(power_below(math.max(1, room // width)), power_below(2 * n - 1))
  local chunk = is_whole and n or chunk_of(n, g.outer * strips, workers, is_cpu and LONGEST or DEEP * fold, fold)
  local parts = parts_of(n, chunk)
  local tasks = g.outer * strips * parts
  local plan = { kernel = "reduce_columns", parts = parts, variant = fold > 1 and 1 or 0, results = g.outer * strips,
    lanes = lanes, n, inner, chunk, width, fold }
  if not is_cpu then
    plan.items = tasks * row.group
    return plan
  end
  local share = parts_of(tasks, workers)
  plan.items, plan.lanes, plan[6], plan[7] = parts_of(tasks, share), LANES, tasks, share
  return plan
end

--- The kernel, its work-items and first arguments, and how many parts the results are of.
-- @tparam table row of `clcompute.tuning.known`
-- @tparam table g geometry
-- @bool is_whole whether there is to be one part
-- @bool is_ordered whether the order of the elements matters
-- @int[opt] lanes elements that a GPU's work-item may read as a vector where rows begin on one; 1 unless given
function along_axis.spread(row, g, is_whole, is_ordered, lanes)
  local workers = math.max(1, math.min(row.per_unit * row.units, g.outer * g.n * g.inner // row.least))
  if row.group == 1 or not lanes or (g.inner > 1 and g.inner or g.n) % lanes > 0 then lanes = 1 end
  if g.inner == 1 then return spread_rows(row, g, workers, is_whole, lanes) end
  return spread_columns(row, g, workers, is_whole, is_ordered, lanes)
end

-- --- kernels and launches -----------------------------------------------------------

local TEXTS, PLAN = {}, {} -- where they are at their place

--- Adds the macros of how a launch is spread to those of its reduction.
function along_axis.add_defines(defines, row, plan)
  defines.FOLDED, defines.ROW, defines.LANES = plan.variant, plan.variant, plan.lanes
  defines.WIDE = plan.kernel == "reduce_columns" and row.group == 1 and WIDE or nil
  return defines
end

--- Whether a CPU adds up rows of 4 or 8 sooner one by one: those of vectors are gathered from all over a tile.
local function is_plain(r, plan)
  return (plan.variant == 4 or plan.variant == 8) and r.map == "x[i]" and r.list[1].dtype == r.results.type
end

--- The kernel of a launch, from what is kept at the reduction's place or built: `build` is one of two of `reduce`.
local function find_kernel(place, build, where, device, row, r, plan, dtype, is_once, finish)
  place[TEXTS] = place[TEXTS] or reduce.texts(where, r)
  local of = macros.place({ kernels = place }, {}, build, plan.kernel, dtype, plan.variant or 0, plan.lanes or 0,
    is_once, finish or "")
  if not of[TEXTS] then
    local defines = along_axis.add_defines({ STORED = dtype, HALF = dtype == "half" and 1 or 0 }, row, plan)
    defines.ONE_LAUNCH, defines.FINISH = is_once and 1 or nil, finish
    defines.PLAIN = is_plain(r, plan) and 1 or nil
    of[TEXTS] = build(where, device, row, r, place[TEXTS], plan.kernel, defines)
  end
  return of[TEXTS]
end

--- The first k numbers of a list, and what else is given.
local function prepend(list, k, ...)
  if k == 0 then return ... end
  return prepend(list, k - 1, list[k], ...)
end

--- Queues a launch that writes to `out`.
function along_axis.launch(kernel, row, plan, out, init, ...)
  enqueue.launch(kernel, plan.items, row.group, prepend(plan, #plan, out, init and 1 or 0, init or 0, ...))
end

--- How a geometry is reduced: {first=, kernel=, is_once= whether that launch combines the parts; of a second one rest=
-- and rest_kernel=}.
local function plan_of(place, where, device, row, r, g, lanes, dtype)
  local first = along_axis.spread(row, g, false, false, lanes)
  local is_once = first.parts > 1 and row.one_launch and first.results <= reduce.COUNTERS or false
  local is_alone = first.parts == 1 or is_once
  local plan = { outer = g.outer, n = g.n, inner = g.inner, dtype = dtype, first = first, is_once = is_once }
  plan.kernel = find_kernel(place, reduce.build_elements, where, device, row, r, first,
    is_alone and dtype or r.results.type, is_once, is_alone and r.finish and r.finish:gsub("x%[i%]", "a") or nil)
  if is_alone then return plan end
  plan.rest = along_axis.spread(row, { outer = g.outer, n = first.parts, inner = g.inner }, true, false, lanes)
  plan.rest_kernel = find_kernel(place, reduce.build_rest, where, device, row, r, plan.rest,
    r.finish and r.results.type or dtype, false)
  return plan
end

--- The same, as it was for the last call if that was of the same geometry.
local function find_plan(where, device, row, r, g, dtype)
  local lanes = row.group > 1 and reduce.lanes(row, r) or 1
  local place = macros.place(row, r.list, "axis", r.own or "", r.operation, r.map, r.results.type, lanes,
    r.preamble and r.preamble.text or "")
  local plan = place[PLAN]
  if not plan or plan.outer ~= g.outer or plan.n ~= g.n or plan.inner ~= g.inner or plan.dtype ~= dtype then
    plan = plan_of(place, where, device, row, r, g, lanes, dtype)
    place[PLAN] = plan
  end
  return plan
end

--- Reduces operands along an axis, whose extent is not 0, into a buffer. Queued.
-- @string where
-- @tparam table g of `along_axis.read`
-- @tparam table r {operation=, map=, list=, results= an accumulator of numbers, preamble=, own= a word for kernels that
-- no script can ask for, finish=}
-- @tparam Buffer out
-- @tparam ?number init
-- @string dtype of `out`
local function compute(where, device, g, r, out, init, dtype)
  local row = enqueue.spread(device, "reduce", 1)
  local plan = find_plan(where, device, row, r, g, dtype)
  local first, type = plan.first, r.results.type
  if first.parts == 1 then
    return along_axis.launch(plan.kernel, row, first, out, init, operands.values(r.list))
  end
  local use = "axis " .. type
  local partials = enqueue.take(device, use, type, g.outer * first.parts * g.inner)
  if plan.is_once then
    local ended = reduce.take_counters(device)
    along_axis.launch(plan.kernel, row, first, out, init, partials, ended, operands.values(r.list))
    reduce.give_counters(ended)
  else
    along_axis.launch(plan.kernel, row, first, partials, nil, operands.values(r.list))
    local sums = r.finish and device:empty(type, table.unpack(g.shape)) or out
    along_axis.launch(plan.rest_kernel, row, plan.rest, sums, init, partials)
    if r.finish then map.map(r.finish, { x = sums, n = r.finish:find "%f[%w]n%f[%W]" and g.n }, { out = out }) end
  end
  enqueue.give(partials, use)
end

--- Reduces operands along an axis. Queued.
-- @string where the function that was called
-- @string operation of a and b
-- @tparam table list of `operands.read`
-- @tparam table first buffer of the list
-- @tparam table g of `along_axis.read`
-- @tparam[opt] table o {map=; type= what is accumulated, dtype= of the results, those of sums unless given; init=, also
-- the results of no elements; preamble=; empty= the results of none where there is no init; own= as in `compute`;
-- type_of= of the elements of a dtype, wide unless given, then with `own`; finish= what is written of a result x[i] of
-- n elements, then with `own`}
-- @treturn Buffer of the results
function along_axis.reduce(where, operation, list, first, g, o)
  local type = o.type or operands.wide_type(o.dtype or operands.result_dtype(list))
  local dtype = o.dtype or (operands.result_dtype(list) == "half" and "half" or type)
  local out = first.device:empty(dtype, table.unpack(g.shape))
  if g.outer * g.inner == 0 then return out end
  if g.n == 0 then
    local value = o.init or o.empty or error(("%s: no elements along axis %d"):format(where, g.axis), 0)
    return out:fill(value)
  end
  local r = { operation = operation, map = o.map or "x[i]", list = list, own = o.own, type_of = o.type_of,
    finish = o.finish, results = accumulator.of_numbers(type), preamble = preambles.read(where, o.preamble) }
  compute(where, first.device, g, r, out, o.init, dtype)
  if operands.is_sound(list) then return out end
  return along_axis.reduce(where, operation, operands.stored(where, list), first, g, o)
end

return along_axis
