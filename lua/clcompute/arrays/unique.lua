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
]]

--- The preamble for keys of a dtype, which stands in front of all macros.
local function preamble_of(dtype)
  local lines = {}
  for name, value in pairs(radix.key_defines(dtype)) do lines[#lines + 1] = ("#define %s %s\n"):format(name, value) end
  table.sort(lines)
  return table.concat(lines) .. PREAMBLE
end

--- What `choosing.keep` takes for the first one of each run of equal elements.
local function first_of_runs(sorted, dtype, kept)
  local x = operands.describe("unique", "argument 1", elements.of(sorted), "x")
  kept.text, kept.list, kept.first, kept.preamble = "first of its kind", { x }, x, preamble_of(dtype)
  kept.expression = "clc_is_first(mem_x + first_x, i)"
  return kept
end

--- The places of the first ones, from 1, and behind them the end; the values there, and how many there are of each.
local function with_counts(sorted, described)
  local n, device = described.count, described.device
  local index = elements.index_dtype(n)
  local places, total = choosing.keep("unique", first_of_runs(sorted, described.dtype,
    { kept = ("(%s)(i + 1)"):format(index), dtype = index, spare = 1 }))
  local values = device:empty(described.dtype, total)
  if total == 0 then return values, device:empty(index, 0) end
  places:set(total + 1, n + 1)
  local starts = places:view(1, total)
  elements.gather(sorted, starts, values)
  return values, operations.map("after[i] - at[i]", { after = places:view(2, total + 1), at = starts })
end

local function unique(x, o)
  o = o and options.check("unique", o, OPTIONS) or NONE
  local described = operands.describe("unique", "argument 1", x, "x")
  local dtype, n, device, use = described.dtype, described.count, described.device, "unique " .. described.dtype
  local sorted = n > 0 and enqueue.take(device, use, dtype, n) or device:empty(dtype, 0)
  if n > 0 then radix.sort(x, sorted, {}) end
  local results
  if o.counts then
    results = table.pack(with_counts(sorted, described))
  else
    local c = first_of_runs(sorted, dtype, { kept = "mem_x[first_x + i]", dtype = dtype })
    results = { (choosing.keep("unique", c)) }
  end
  if n > 0 then enqueue.give(sorted, use) end
  return table.unpack(results)
end

return unique
