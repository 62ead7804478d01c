-- SPDX-License-Identifier: MIT
--- Moving elements: cl.gather, cl.scatter and cl.concat.

local enqueue = require("clcompute.core.internal").enqueue
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"

local options = require("clcompute.base").options

local operands, reduction = operations.operands, operations.reduction

local moving = {}

local CONCAT = { axis = "integer" }
local NONE = {}
local SLICE = 1 << 31 -- elements whose indices a uint has

--- Indices, described; anything but integers from 1 to n is an error, which names the first wrong one. Waits.
local function check_indices(where, arg, indices, n, device)
  local described = operands.describe(where, ("argument %d"):format(arg), indices, "indices")
  if not operands.is_integer(described.dtype) then
    error(("%s: argument %d: indices of an integer dtype expected, got %s"):format(where, arg, described.dtype), 0)
  end
  elements.check_device(where, ("argument %d"):format(arg), described, device)
  local wrong = reduction.all(where, "min(a, b)", { x = indices, n = n },
    { map = "x[i] < 1 || x[i] > n ? i : LONG_MAX", dtype = "long" })
  if wrong and wrong < described.count then
    local value = indices:reshape(described.count):get(wrong + 1)
    error(("%s: index number %d is %s, expected 1 to %d"):format(where, wrong + 1,
      described.dtype == "ulong" and ("%u"):format(value) or value, n), 0)
  end
  return described
end

function moving.gather(x, indices)
  local source = operands.describe("gather", "argument 1", x)
  local described = check_indices("gather", 2, indices, source.count, source.device)
  local out = elements.like(source.device, described, source.dtype)
  elements.gather(x, indices, out)
  return out
end

--- Raises where `out` has memory of an operand.
local function check_apart(out, value, name)
  if enqueue.check_result("scatter", out, value, name) then
    error(("scatter: argument 3 is '%s'; elements would be written before they are read"):format(name), 0)
  end
end

--- Queues the scatter of up to SLICE elements.
local function scatter(device, key, index, values, indices, out, winners)
  local n = #values
  winners:fill(0)
  elements.launch(device, n, "scatter_claim", index, { INDEX = index }, indices, winners)
  elements.launch(device, n, "scatter", key .. " " .. index, { KEY = key, INDEX = index }, values, indices, winners,
    out)
end

function moving.scatter(values, indices, out)
  local source = operands.describe("scatter", "argument 1", values)
  local target = operands.describe_target("scatter", "argument 3", out)
  if source.dtype ~= target.dtype then
    error(("scatter: argument 3 has %s elements, but argument 1 has %s"):format(target.dtype, source.dtype), 0)
  end
  elements.check_device("scatter", "argument 3", target, source.device)
  local described = check_indices("scatter", 2, indices, target.count, source.device)
  if described.count ~= source.count then
    error(("scatter: argument 1 has %d elements, but argument 2 has %d"):format(source.count, described.count), 0)
  end
  check_apart(out, values, "values")
  check_apart(out, indices, "indices")
  if source.count == 0 then return out end
  local device, key = source.device, elements.unsigned(source.dtype)
  local all <close> = elements.of(values)
  local to <close> = elements.of(out)
  local at <close> = indices:reshape(described.count)
  local winners = enqueue.take(device, "scatter", "uint", target.count)
  for first = 1, source.count, SLICE do
    local last = math.min(first + SLICE - 1, source.count)
    local part <close> = all:view(first, last)
    local places <close> = at:view(first, last)
    scatter(device, key, described.dtype, part, places, to, winners)
  end
  enqueue.give(winners, "scatter")
  return out
end

--- The extent of a buffer along the axis; raises unless the others are those of the first one.
local function extent_of(k, part, first, g)
  local what, shape = ("argument %d"):format(k), part.value.shape
  if part.dtype ~= first.dtype then
    error(("concat: %s has %s elements, but argument 1 has %s"):format(what, part.dtype, first.dtype), 0)
  end
  local fits = #shape == #g.full
  for dimension, extent in ipairs(g.full) do fits = fits and (dimension == g.axis or shape[dimension] == extent) end
  if not fits then
    error(("concat: %s has shape %s, but argument 1 has %s; extents beyond that of axis %d must be the same"):format(
      what, table.concat(shape, " x "), table.concat(g.full, " x "), g.axis), 0)
  end
  elements.check_device("concat", what, part, first.device)
  return shape[g.axis]
end

--- Takes the options from the end of arguments; there may be none.
local function take_options(parts)
  local o = parts.n > 1 and parts[parts.n]
  if operands.type_of(o) ~= "table" then return NONE end
  parts.n = parts.n - 1
  return options.check("concat", o, CONCAT)
end

function moving.concat(...)
  local parts, extent, at = table.pack(...), 0, 1
  local axis = take_options(parts).axis or 1
  local first = operands.describe("concat", "argument 1", parts[1])
  local g = operations.along_axis.read("concat", { axis = axis }, first.value)
  for k = 1, parts.n do
    parts[k] = operands.describe("concat", ("argument %d"):format(k), parts[k])
    extent = extent + extent_of(k, parts[k], first, g)
  end
  g.full[axis] = extent
  local out = first.device:empty(first.dtype, table.unpack(g.full))
  if out.count == 0 then return out end
  local rows <close> = out:reshape(g.outer, extent * g.inner)
  for k = 1, parts.n do
    local columns = parts[k].count // g.outer
    if columns > 0 then
      local from <close> = parts[k].value:reshape(g.outer, columns)
      from:copy_rect { to = rows, to_at = { 1, at } }
      at = at + columns
    end
  end
  return out
end

return moving
