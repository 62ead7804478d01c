-- SPDX-License-Identifier: MIT
--- Plans: how an operation is spread over a device, from facts of the device and the number of elements.
-- @module clcompute.operations.plans

local plans = {}

-- CPU: a work-item goes through a chunk. More chunks than cores even out what else runs there.
-- GPU: a work-group goes through a chunk, some groups a compute unit; of map, each work-item does four neighbours.
-- `least`: elements of the smallest chunk; fewer are not worth a second worker. `granule`: chunks are multiples of it.
-- `per_unit`: workers a compute unit. `ahead`: bytes to prefetch. `stream`: bytes of a result that goes by the caches.
local ROWS = {
  cpu = {
    map = { kernel = "map_chunks", group = 1, least = 8192, granule = 2048, per_unit = 16, lanes = 64 },
    reduce = { kernel = "reduce_chunks", group = 1, least = 65536, granule = 2048, per_unit = 16, lanes = 64,
      finish_in_lua = true },
    scan = { kernel = "scan_chunks", group = 1, least = 16384, granule = 2048, per_unit = 16, lanes = 16 },
  },
  gpu = {
    map = { kernel = "map_vectors", group = 256, lanes = 4 },
    reduce = { kernel = "reduce_groups", group = 256, least = 8192, granule = 2048, per_unit = 8 },
    scan = { kernel = "scan_groups", group = 256, least = 8192, granule = 2048, per_unit = 8 },
  },
}
local MEMORY = { ahead = 8192, stream = 1 << 21 } -- where the compiler has what it takes

local pretended = setmetatable({}, { __mode = "k" })

--- What plans go by.
function plans.facts(device)
  return pretended[device] or {
    type = device.type == "cpu" and "cpu" or "gpu",
    compute_units = device.compute_units,
    is_pocl = device.type == "cpu" and device.platform == "Portable Computing Language",
  }
end

--- For tests: has a device treated as one with these facts; nil: its own.
function plans.pretend(device, facts)
  pretended[device] = facts
end

local function round_up(n, multiple)
  return -(-n // multiple) * multiple
end

--- The plan of an operation ("map", "reduce", "scan") on n elements, n > 0.
-- @treturn table {kernel=, group=, lanes=, chunk=, workers=, items=, ahead=, stream=, finish_in_lua=}
function plans.of(facts, operation, n)
  local row = ROWS[facts.type][operation]
  local plan = { kernel = row.kernel, group = row.group, lanes = row.lanes, finish_in_lua = row.finish_in_lua }
  if facts.is_pocl then plan.ahead, plan.stream = MEMORY.ahead, MEMORY.stream end
  if row.granule then
    local chunk = math.max(row.least, -(-n // (row.per_unit * facts.compute_units)))
    plan.chunk = round_up(chunk, row.granule)
    plan.workers = -(-n // plan.chunk)
  else
    plan.workers = -(-n // row.lanes)
  end
  plan.items = row.granule and plan.workers * row.group or plan.workers
  return plan
end

return plans
