-- SPDX-License-Identifier: MIT

--- cl.transpose: the axes of a buffer in another order.

local enqueue = require("clcompute.core.internal").enqueue
local evaluate = require "clcompute.operations.evaluate"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options

local OPTIONS = { axes = "table" }
local SAME_SIZE = { "uchar", "ushort", [4] = "uint", [8] = "ulong" } -- by bytes
local TILE = 64 -- rows and columns of a tile
local AREA = { 4096, 4096, [4] = 4096, [8] = 2048 } -- elements of a GPU's tile, by bytes
local NARROWEST = 8
local LANES = 4 -- elements that a GPU's work-item moves at once
local MOST = 1 << 32 -- that a uint does not count
local KERNEL = {} -- where it is at its place

--- The axes of the buffer in the order of the result's; the opposite order unless given.
local function axes_of(given, n)
  local axes, seen = {}, {}
  for k = 1, n do
    local axis = not given and n + 1 - k or rawget(given, k)
    if math.type(axis) ~= "integer" or axis < 1 or axis > n or seen[axis] then
      local complaint = "transpose: option 'axes': each of 1 .. %d once expected, got %s in place %d"
      error(complaint:format(n, tostring(axis), k), 0)
    end
    axes[k], seen[axis] = axis, true
  end
  if given and rawlen(given) ~= n then
    error(("transpose: option 'axes': %d numbers expected, one a dimension, got %d"):format(n, rawlen(given)), 0)
  end
  return axes
end

--- The result's dimensions of more than one element: their extents, and how many elements of the buffer lie between
-- neighbours along them; those that follow one another in both are one.
local function dimensions_of(shape, axes)
  local steps, step, dimensions = {}, 1, {}
  for k = #shape, 1, -1 do steps[k], step = step, step * shape[k] end
  for _, axis in ipairs(axes) do
    local extent, last = shape[axis], dimensions[#dimensions]
    if extent > 1 and last and last.step == extent * steps[axis] then
      last.extent, last.step = last.extent * extent, steps[axis]
    elseif extent > 1 then
      dimensions[#dimensions + 1] = { extent = extent, step = steps[axis] }
    end
  end
  local to = 1
  for k = #dimensions, 1, -1 do dimensions[k].to, to = to, to * dimensions[k].extent end
  return dimensions
end

--- The rows of the result lie in the buffer as they are.
local function copy_rows(x, out, dimensions)
  local extents, steps = {}, {}
  for k, dimension in ipairs(dimensions) do extents[k], steps[k] = dimension.extent, dimension.step end
  evaluate(out, "arg_x1", #extents > 1 and { extents = extents, steps } or nil, 1, x)
end

local NONE = { extent = 1, step = 0, to = 0 }

--- The least power of two that covers an extent, or the greatest that is allowed.
local function side(extent, most)
  local power = NARROWEST
  while power < extent and power < most do power = power * 2 end
  return power
end

--- Rows and columns of a tile: those of a GPU are long where the other side is narrow.
local function tile_of(is_cpu, rows, columns, area)
  if is_cpu then return TILE, TILE end
  local tall, wide = side(rows, TILE), side(columns, TILE)
  if tall == TILE then return side(rows, area // wide), wide end
  return tall, wide == TILE and side(columns, area // tall) or wide
end

local function find_kernel(of, row, tall, wide, lanes, task)
  local place = macros.place(row, { of }, "transpose", tall, wide, lanes, task)
  if not place[KERNEL] then
    place[KERNEL] = macros.build("transpose", of.dtype, of.device, "transpose",
      { ELEMENT = of.dtype, MOVED = SAME_SIZE[operands.sizes[of.dtype]], GROUP = row.group, TALL = tall,
        WIDE = wide, LANES = lanes, TASK = task })
  end
  return place[KERNEL]
end

--- Whether vectors of so many elements divide all of these.
local function is_aligned(lanes, ...)
  for k = 1, select("#", ...) do
    if select(k, ...) % lanes > 0 then return false end
  end
  return true
end

--- How the result's last dimension is exchanged with the one whose neighbours lie side by side in the buffer: {kernel=,
-- items=, group=} and the kernel's first arguments.
local function exchange_of(of, dimensions)
  local row = enqueue.spread(of.device, "reduce", 1)
  local is_cpu = row.group == 1
  local last, column, others = table.remove(dimensions), nil, {}
  for _, dimension in ipairs(dimensions) do
    if dimension.step == 1 then column = dimension else others[#others + 1] = dimension end
  end
  local inner, outer = others[2] or others[1] or NONE, others[2] and others[1] or NONE
  local tall, wide = tile_of(is_cpu, last.extent, column.extent, AREA[operands.sizes[of.dtype]])
  local tasks = outer.extent * inner.extent * -(-last.extent // tall) * -(-column.extent // wide)
  local share = is_cpu and -(-tasks // (row.per_unit * row.units)) or 1
  local lanes = not is_cpu and is_aligned(LANES, of.first, outer.step, inner.step, last.step, column.extent, outer.to,
    inner.to, column.to, last.extent) and LANES or 1
  return { kernel = find_kernel(of, row, tall, wide, lanes, tasks < MOST and "uint" or "ulong"),
    items = is_cpu and -(-tasks // share) or tasks * row.group, group = row.group, last.extent, column.extent,
    inner.extent, outer.step, inner.step, last.step, outer.to, inner.to, column.to, tasks, share }
end

--- A plan: what is to be done for a shape and axes; kept, as to find it takes longer than to launch it.
local function plan_of(of, shape, axes)
  local plan, dimensions = { shape = {} }, dimensions_of(shape, axes)
  for k, axis in ipairs(axes) do plan.shape[k] = shape[axis] end
  if #dimensions < 2 or dimensions[#dimensions].step == 1 then
    plan.copied = dimensions
  else
    plan.exchange = exchange_of(of, dimensions)
  end
  return plan
end

local KEPT = 64 -- plans of a device's row
local PLANS = {} -- where they are at their place

local function find_plan(of, shape, axes)
  local row = enqueue.spread(of.device, "reduce", 1)
  local plans = row.kernels[PLANS]
  if not plans or plans.n > KEPT then
    plans = { n = 0 }
    row.kernels[PLANS] = plans
  end
  local key = ("%s %d %s, %s"):format(of.dtype, of.first % LANES, table.concat(shape, " "), table.concat(axes, " "))
  if not plans[key] then plans[key], plans.n = plan_of(of, shape, axes), plans.n + 1 end
  return plans[key]
end

local function transpose(x, o)
  local of = operands.describe("transpose", "argument 1", x, "x")
  local given = o ~= nil and options.check("transpose", o, OPTIONS).axes or nil
  local shape = x.shape
  local axes = axes_of(given, #shape)
  if of.count == 0 then
    local turned = {}
    for k, axis in ipairs(axes) do turned[k] = shape[axis] end
    return of.device:empty(of.dtype, table.unpack(turned))
  end
  local plan = find_plan(of, shape, axes)
  local out, exchange = of.device:empty(of.dtype, table.unpack(plan.shape)), plan.exchange
  if exchange then
    local e = exchange
    enqueue.launch(e.kernel, e.items, e.group, e[1], e[2], e[3], e[4], e[5], e[6], e[7], e[8], e[9], e[10], e[11],
      of.value, out)
  else
    copy_rows(x, out, plan.copied)
  end
  return out
end

return transpose
