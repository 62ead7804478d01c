-- SPDX-License-Identifier: MIT
--- cl.unique: the distinct values of a buffer, and how often they are there.

local enqueue = require("clcompute.core.internal").enqueue
local choosing = require "clcompute.arrays.choosing"
local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local radix = require "clcompute.arrays.radix"

local operands = operations.operands

local OPTIONS = { counts = "boolean" }
local NONE = {}

local PREAMBLE = [[
#include <clcompute/key.h>
static int clc_is_first(__global const KEY *x, const long i) {
  return i == 0 || clc_key(x[i - 1]) != clc_key(x[i]);
}
static ulong clc_count_first(__global const KEY *x, const long i) {
  return i > 0 && clc_key(x[i - 1]) > clc_key(x[i]) ? FAULTul : (ulong)clc_is_first(x, i);
}
]]
PREAMBLE = PREAMBLE:gsub("FAULT", choosing.FAULT)

--- The preamble for keys of a dtype, which stands in front of all macros.
local function preamble_of(dtype)
  local lines = {}
  for name, value in pairs(radix.key_defines(dtype)) do lines[#lines + 1] = ("#define %s %s\n"):format(name, value) end
  table.sort(lines)
  return table.concat(lines) .. PREAMBLE
end

--- What `choosing.keep` takes for the first one of each run of equal elements.
local function first_of_runs(sorted, dtype, choice)
  local x = operands.describe("unique", "argument 1", elements.of(sorted), "x")
  choice.text, choice.list, choice.first, choice.preamble = "first of its kind", { x }, x, preamble_of(dtype)
  choice.expression, choice.counted = "clc_is_first(mem_x + first_x, i)", "clc_count_first(mem_x + first_x, i)"
  return choice
end

--- The values of a sorted buffer, and how many there are of each; nil where the elements are not in order. Of 5 5 7 9 9
-- the runs begin at places 1, 3 and 4, and end before 6: values 5 7 9, counts 2 1 2.
local function with_counts(sorted, described)
  local n, device = described.count, described.device
  local index = elements.index_dtype(n)
  local choice = first_of_runs(sorted, described.dtype,
    { kept = ("(%s)(i + 1)"):format(index), dtype = index, spare = 1 })
  local places, total = choosing.keep("unique", choice)
  choice.first.value:release()
  if not places then return nil end
  local values = device:empty(described.dtype, total)
  if total == 0 then return values, device:empty(index, 0) end
  places:set(total + 1, n + 1)
  local starts = places:view(1, total)
  elements.gather(sorted, starts, values)
  return values, operations.map("after[i] - at[i]", { after = places:view(2, total + 1), at = starts })
end

--- The distinct values of elements that are in order, and how often they are there where that is wanted; else nil.
local function of_sorted(sorted, described, has_counts)
  if has_counts then return with_counts(sorted, described) end
  local dtype = described.dtype
  local choice = first_of_runs(sorted, dtype, { kept = "mem_x[first_x + i]", dtype = dtype })
  local values = choosing.keep("unique", choice)
  choice.first.value:release()
  return values
end

local function unique(x, o)
  o = o and options.check("unique", o, OPTIONS) or NONE
  local described = operands.describe("unique", "argument 1", x, "x")
  local values, counts = of_sorted(x, described, o.counts) -- to look costs little, beside a sort
  if not values then
    local dtype, n, device, use = described.dtype, described.count, described.device, "unique " .. described.dtype
    local sorted = enqueue.take(device, use, dtype, n)
    radix.sort(x, sorted, {})
    values, counts = of_sorted(sorted, described, o.counts)
    enqueue.give(sorted, use)
  end
  if o.counts then return values, counts end
  return values
end

return unique
