-- SPDX-License-Identifier: MIT
--- Moving elements: cl.gather, cl.scatter and cl.concat.

local enqueue = require("clcompute.core.internal").enqueue
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"

local operands, reduction = operations.operands, operations.reduction

local moving = {}

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

--- Raises unless a buffer goes behind the first one.
local function check_part(k, part, shape, first, first_shape)
  local what = ("argument %d"):format(k)
  if part.dtype ~= first.dtype then
    error(("concat: %s has %s elements, but argument 1 has %s"):format(what, part.dtype, first.dtype), 0)
  end
  local fits = #shape == #first_shape
  for dimension = 2, #first_shape do fits = fits and shape[dimension] == first_shape[dimension] end
  if not fits then
    error(("concat: %s has shape %s, but argument 1 has %s; extents beyond the first must be the same"):format(what,
      table.concat(shape, " x "), table.concat(first_shape, " x ")), 0)
  end
  elements.check_device("concat", what, part, first.device)
end

function moving.concat(...)
  local parts, rows = { ... }, 0
  local first = operands.describe("concat", "argument 1", (...))
  local shape = first.value.shape
  for k = 1, select("#", ...) do
    local part = operands.describe("concat", ("argument %d"):format(k), parts[k])
    local own = part.value.shape
    check_part(k, part, own, first, shape)
    rows = rows + own[1]
  end
  shape[1] = rows
  local out, at = first.device:empty(first.dtype, table.unpack(shape)), 1
  for _, part in ipairs(parts) do
    if #part > 0 then out:write(part, at) end
    at = at + #part
  end
  return out
end

return moving
