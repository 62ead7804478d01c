-- SPDX-License-Identifier: MIT
--- cl.sort and cl.argsort.

local enqueue = require("clcompute.core.internal").enqueue
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local radix = require "clcompute.arrays.radix"

local operands = operations.operands

local sorting = {}

local SORT = { descending = "boolean", out = "Buffer", with = "Buffer|table" }
local ARGSORT = { descending = "boolean" }
local NONE = {}

--- Raises unless a buffer may move along with x; returns it, described.
local function check_with(name, value, x, out)
  local values = operands.describe("sort", ("option '%s'"):format(name), value)
  if values.count ~= x.count then
    error(("sort: option '%s' has %d elements, but 'x' has %d"):format(name, values.count, x.count), 0)
  end
  elements.check_device("sort", ("option '%s'"):format(name), values, x.device)
  if enqueue.check_result("sort", out, value, name) then
    error(("sort: option 'out' is '%s', which moves along"):format(name), 0)
  end
  return values
end

--- The buffers of the option `with`, described.
local function check_list(with, x, out)
  if type(with) ~= "table" then return { check_with("with", with, x, out) } end
  local list = {}
  for k = 1, #with do list[k] = check_with(("with[%d]"):format(k), rawget(with, k), x, out) end
  return list
end

--- The result of cl.sort: `out`, or a new buffer; and whether it is x.
local function check_out(target, x)
  local out, in_place = operands.result("sort", target, x.dtype, { x }, x)
  if out.dtype ~= x.dtype then
    error(("sort: option 'out' has %s elements, but 'x' has %s"):format(out.dtype, x.dtype), 0)
  end
  return out.value, in_place
end

--- Sorts x into `out`; returns what moved along. One buffer goes with the elements through each pass; of several the
-- indices do, by which all are gathered behind the last one.
local function sort_with(x, out, list, o)
  local moved = {}
  for k, values in ipairs(list) do moved[k] = elements.like(x.device, values, values.dtype) end
  if x.count == 0 then return moved end
  if #list < 2 then
    o.along, o.along_out = list[1] and list[1].value, moved[1]
    radix.sort(x.value, out, o)
    return moved
  end
  local dtype = elements.index_dtype(x.count)
  local indices = enqueue.take(x.device, "sort indices", dtype, x.count)
  o.along_out = indices
  radix.sort(x.value, out, o)
  for k, values in ipairs(list) do elements.gather(values.value, indices, moved[k]) end
  enqueue.give(indices, "sort indices")
  return moved
end

function sorting.sort(x, o)
  o = o and options.check("sort", o, SORT) or NONE
  local described = operands.describe("sort", "argument 1", x, "x")
  local out, in_place = check_out((operands.target("sort", o)), described)
  local list = o.with and check_list(o.with, described, out) or NONE
  local moved = sort_with(described, out, list, { descending = o.descending, in_place = in_place })
  if not o.with then return out end
  return out, type(o.with) == "table" and moved or moved[1]
end

function sorting.argsort(x, o)
  o = o and options.check("argsort", o, ARGSORT) or NONE
  local described = operands.describe("argsort", "argument 1", x, "x")
  local n, device, use = described.count, described.device, "argsort " .. described.dtype
  local indices = elements.like(described.device, described, elements.index_dtype(n))
  if n == 0 then return indices end
  local sorted = enqueue.take(device, use, described.dtype, n)
  radix.sort(x, sorted, { descending = o.descending, along_out = indices })
  enqueue.give(sorted, use)
  return indices
end

return sorting
