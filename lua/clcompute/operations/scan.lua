-- SPDX-License-Identifier: MIT

--- cl.scan: running results.

local enqueue = require("clcompute.core.internal").enqueue
local along_axis = require "clcompute.operations.along_axis"
local lookback = require "clcompute.operations.lookback"
local macros = require "clcompute.operations.macros"
local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local OPTIONS = { exclusive = "boolean", init = "number", out = "Buffer", dtype = "string", axis = "integer" }
local NONE = {}
local SUMS, SCAN, ONE_PASS = {}, {}, {} -- where the kernels are at their place

local ELEMENT = "arg_x"

--- What both kernels have: elements in the type that is computed in.
local function defines_of(s, row)
  local defines = macros.of(s.list, ELEMENT, row, function() return s.value end)
  defines.OPERATION, defines.RESULT = s.operation, s.value
  return defines
end

-- The kernel that combines the elements of each chunk, in the groups of the scan.
local SUMMING = { scan_chunks = "reduce_chunks", scan_groups = "reduce_groups" }

local function build_sums(text, device, s, row)
  local kernel, reduce_row = SUMMING[row.kernel], enqueue.spread(device, "reduce", 1)
  local defines = defines_of(s, reduce_row)
  defines.ORDERED, defines.GROUP = s.identity and 0 or 1, row.group
  if reduce_row.kernel ~= kernel or kernel == "reduce_groups" then defines.LANES = 1 end
  return macros.build("scan", text, device, kernel, defines)
end

--- Sixteen elements at once.
local function elements(s)
  local read = s.list[1].dtype == "half" and "vload_half16" or "vload16"
  return ("convert_%s16(%s(0, mem_x + first_x + at))"):format(s.value, read)
end

local function build_scan(text, device, s, row, kernel, more)
  local defines = defines_of(s, row)
  defines.ELEMENTS = elements(s)
  defines.RESULT, defines.VALUE, defines.HALF = s.dtype, s.value, s.dtype == "half" and 1 or 0
  defines.EXCLUSIVE, defines.STREAM, defines.IDENTITY = s.exclusive and 1 or 0, s.streams and 1 or 0, s.identity
  for key, value in pairs(more or NONE) do defines[key] = value end
  return macros.build("scan", text, device, kernel, defines)
end

--- The kernel that sums up chunks, where there are several, and the scan, from what is kept or built.
local function find_kernels(text, device, s, row, has_sums)
  local place = macros.place(row, s.list, text, s.dtype, s.exclusive, s.streams, s.identity or false)
  if has_sums then place[SUMS] = place[SUMS] or build_sums(text, device, s, row) end
  place[SCAN] = place[SCAN] or build_scan(text, device, s, row, row.kernel)
  return place[SUMS], place[SCAN]
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

-- --- one pass -----------------------------------------------------------------------

--- Queues the scan of tiles, each of which waits for the sums of those before it.
local function launch_tiles(device, text, s, row, n, out)
  local place = macros.place(row, s.list, text, s.dtype, s.exclusive, "one pass")
  local size = operands.sizes[s.value]
  place[ONE_PASS] = place[ONE_PASS]
    or build_scan(text, device, s, row, "scan_lookback", lookback.defines(row, size))
  lookback.launch(place[ONE_PASS], device, row, size, n, out.value, s.init and 1 or 0, s.init or 0, s.list[1].value)
end

-- --- chunks -------------------------------------------------------------------------

--- Queues the sums of the chunks, unless there is one alone, and the scan.
local function launch(device, text, s, n, out, in_place)
  local row, items, workers, chunk = enqueue.spread(device, "scan", math.max(n, 1))
  if workers > 1 and not in_place and lookback.serves(device, row) then
    return launch_tiles(device, text, s, row, n, out)
  end
  s.streams = streams(row, out, in_place)
  local sum_up, scan = find_kernels(text, device, s, row, workers > 1)
  if n == 0 then return end
  local use, x = "scan " .. s.value, s.list[1].value
  local sums = enqueue.take(device, use, s.value, row.per_unit * row.units)
  if workers > 1 then enqueue.launch(sum_up, items, row.group, n, chunk, sums, 0, 0, x) end
  enqueue.launch(scan, items, row.group, n, chunk, out.value, sums, s.init and 1 or 0, s.init or 0, x)
  enqueue.give(sums, use)
end

-- --- along an axis ----------------------------------------------------------------

local COLUMN_LANES = 16 -- that a CPU's work-item scans at once
local ROWS_AT_ONCE = 16 -- elements of a column that a GPU's work-item has on their way

--- Sums of the parts of columns, and their scan.
local function build_columns(text, device, s, row, plan)
  local sums, scan = defines_of(s, row), defines_of(s, row)
  along_axis.add_defines(sums, row, plan)
  scan.RESULT, scan.VALUE, scan.HALF, scan.EXCLUSIVE = s.dtype, s.value, s.dtype == "half" and 1 or 0,
    s.exclusive and 1 or 0
  if row.group == 1 then
    scan.LANES, scan.WIDE = COLUMN_LANES, along_axis.WIDE
  else
    scan.LANES, scan.WIDE, scan.AT_ONCE = 1, 1, ROWS_AT_ONCE
  end
  return plan.parts > 1 and macros.build("scan", text, device, "reduce_columns", sums),
    macros.build("scan", text, device, "scan_columns", scan)
end

local function find_columns(text, device, s, row, plan)
  local place = macros.place(row, s.list, "columns", text, s.dtype, s.exclusive, plan.parts > 1, plan.variant or 0)
  if not place[SCAN] then place[SUMS], place[SCAN] = build_columns(text, device, s, row, plan) end
  return place[SUMS], place[SCAN]
end

--- Kernels, then the scan's work-items and first arguments, where each row is a worker's, or more than one's.
local function plan_rows(text, device, s, row, plan, out, in_place)
  local n, chunk = plan[1], plan[2]
  s.streams = n % 16 == 0 and chunk % 16 == 0 and streams(row, out, in_place)
  local sum_up, scan = find_kernels(text, device, s, row, plan.parts > 1)
  return sum_up, scan, plan.items, { n, chunk }
end

--- The same where columns are, or short rows.
local function plan_columns(text, device, s, row, plan, g)
  local chunk = g.inner > 1 and plan[3] or g.n
  local width, share = 1, 1
  if row.group == 1 then width, share = g.inner > 1 and plan[4] or 1, g.inner > 1 and plan[7] or plan[3] end
  local tasks = g.outer * plan.parts * -(-g.inner // width)
  local sum_up, scan = find_columns(text, device, s, row, plan)
  return sum_up, scan, -(-tasks // share), { g.n, g.inner, chunk, width, tasks, share }
end

local ROWS = 4 -- short ones, that a CPU's work-item scans at once

--- Queues the scan of short rows on a CPU.
local function launch_rows(device, text, s, g, out, row)
  local place = macros.place(row, s.list, "rows", text, s.dtype, s.exclusive)
  if not place[SCAN] then
    local defines = defines_of(s, row)
    defines.RESULT, defines.VALUE, defines.HALF = s.dtype, s.value, s.dtype == "half" and 1 or 0
    defines.EXCLUSIVE, defines.LANES = s.exclusive and 1 or 0, ROWS
    place[SCAN] = macros.build("scan", text, device, "scan_rows", defines)
  end
  local workers = math.max(1, math.min(row.per_unit * row.units, out.count // row.least))
  local share = -(-g.outer // (workers * ROWS)) * ROWS
  enqueue.launch(place[SCAN], -(-g.outer // share), row.group, g.outer, g.n, share, out.value, s.init and 1 or 0,
    s.init or 0, s.list[1].value)
end

--- Queues the sums of parts, unless each column or row is one, and the scan.
local function launch_along(device, text, s, g, out, in_place)
  if out.count == 0 then return end
  local row = enqueue.spread(device, "scan", 1)
  local like = setmetatable({ kernel = SUMMING[row.kernel] }, { __index = row })
  local plan = along_axis.spread(like, g, false, not s.identity)
  local is_long = plan.kernel == like.kernel
  if plan.kernel == "reduce_rows" and row.group == 1 then return launch_rows(device, text, s, g, out, row) end
  local sum_up, scan, items, arguments = (is_long and plan_rows or plan_columns)(text, device, s, row, plan,
    is_long and out or g, in_place)
  local use, x = "scan along " .. s.value, s.list[1].value
  local sums = enqueue.take(device, use, s.value, g.outer * plan.parts * g.inner)
  if plan.parts > 1 then along_axis.launch(sum_up, row, plan, sums, nil, x) end
  for _, value in ipairs { out.value, sums, s.init and 1 or 0, s.init or 0, x } do arguments[#arguments + 1] = value end
  enqueue.launch(scan, items, row.group, table.unpack(arguments))
  enqueue.give(sums, use)
end

local function scan(text, x, o)
  o = o and options.check("scan", o, OPTIONS) or NONE
  local operation = reduce.translate("scan", text)
  local first = operands.describe("scan", "argument 2", x, "x")
  local target, dtype = operands.target("scan", o)
  dtype = dtype or first.dtype
  local list, g = { first }, along_axis.read("scan", o, first.value)
  local out, in_place = operands.result("scan", target, dtype, list, first)
  local s = { list = list, dtype = dtype, value = operands.value_type(dtype), exclusive = o.exclusive or false,
    operation = operation }
  s.identity = reduce.identity(s.operation, s.value)
  s.init = o.init or default_init(text, s.identity, s.exclusive)
  if not s.init then s.identity = nil end -- the vectors' scan begins with a total
  if g then
    launch_along(first.device, text, s, g, out, in_place)
  else
    launch(first.device, text, s, first.count, out, in_place)
  end
  return out.value
end

return scan
