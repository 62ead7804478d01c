-- SPDX-License-Identifier: MIT

--- cl.scan: running results.

local enqueue = require("clcompute.core.internal").enqueue
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local OPTIONS = { exclusive = "boolean", init = "number", out = "Buffer", dtype = "string" }
local NONE = {}

local ELEMENT = "arg_x"

--- What both kernels have: elements in the type that is computed in.
local function defines_of(s, row)
  local defines = macros.of(s.list, ELEMENT, row, function() return s.value end)
  defines.OPERATION, defines.RESULT = s.operation, s.value
  return defines
end

-- The kernel that combines the elements of each chunk, in the groups of the scan.
local SUMS = { scan_chunks = "reduce_chunks", scan_groups = "reduce_groups" }

local function build_sums(text, device, key, s, row)
  local kernel, reduce_row = SUMS[row.kernel], enqueue.spread(device, "reduce", 1)
  local defines = defines_of(s, reduce_row)
  defines.ORDERED, defines.GROUP = s.identity and 0 or 1, row.group
  if reduce_row.kernel ~= kernel then defines.LANES = 1 end
  return macros.build("scan", text, device, row, key, kernel, defines)
end

--- Sixteen elements at once.
local function elements(s)
  local read = s.list[1].dtype == "half" and "vload_half16" or "vload16"
  return ("convert_%s16(%s(0, mem_x + first_x + at))"):format(s.value, read)
end

local function build_scan(text, device, key, s, row)
  local defines = defines_of(s, row)
  defines.ELEMENTS = elements(s)
  defines.RESULT, defines.VALUE, defines.HALF = s.dtype, s.value, s.dtype == "half" and 1 or 0
  defines.EXCLUSIVE, defines.STREAM, defines.IDENTITY = s.exclusive and 1 or 0, s.streams and 1 or 0, s.identity
  return macros.build("scan", text, device, row, key, row.kernel, defines)
end

--- Both kernels, from what is kept or built.
local function find_kernels(text, device, s, row)
  local key = ("%s\n%s %s %s %s %s"):format(text, s.list[1].dtype, s.dtype, s.exclusive, s.streams, s.identity)
  local sums, scan = "sums " .. key, "scan " .. key
  return row.kernels[sums] or build_sums(text, device, sums, s, row),
    row.kernels[scan] or build_scan(text, device, scan, s, row)
end

local NUMBERS = { ["0"] = 0, ["1"] = 1 }

--- The init that a script did not give: a known operation begins with what leaves all as it is.
local function default_init(text, identity, exclusive)
  if NUMBERS[identity] then return NUMBERS[identity] end
  if exclusive then
    error(("scan: with 'exclusive' \"%s\" needs an 'init', the first result"):format(text), 0)
  end
end

--- Whether the result goes past the caches.
local function streams(row, out, in_place)
  local size = operands.sizes[out.dtype]
  return row.stream and out.count * size >= row.stream and out.first % 16 == 0 and not in_place or false
end

--- Queues the sums of the chunks, unless there is one alone, and the scan.
local function launch(device, text, s, n, out, in_place)
  local row, items, workers, chunk = enqueue.spread(device, "scan", math.max(n, 1))
  s.streams = streams(row, out, in_place)
  local sum_up, scan = find_kernels(text, device, s, row)
  if n == 0 then return end
  local use, x = "scan " .. s.value, s.list[1].value
  local sums = enqueue.take(device, use, s.value, row.per_unit * row.units)
  if workers > 1 then enqueue.launch(sum_up, items, row.group, n, chunk, sums, 0, 0, x) end
  enqueue.launch(scan, items, row.group, n, chunk, out.value, sums, s.init and 1 or 0, s.init or 0, x)
  enqueue.give(sums, use)
end

local function scan(text, x, o)
  o = o and options.check("scan", o, OPTIONS) or NONE
  local operation = reduce.translate("scan", text)
  local first = operands.describe("scan", "argument 2", x, "x")
  local target, dtype = operands.target("scan", o)
  dtype = dtype or first.dtype
  local list = { first }
  local out, in_place = operands.result("scan", target, dtype, list, first)
  local s = { list = list, dtype = dtype, value = operands.value_type(dtype), exclusive = o.exclusive or false,
    operation = operation }
  s.identity = reduce.identity(s.operation, s.value)
  s.init = o.init or default_init(text, s.identity, s.exclusive)
  if not s.init then s.identity = nil end -- the vectors' scan begins with a total
  launch(first.device, text, s, first.count, out, in_place)
  return out.value
end

return scan
