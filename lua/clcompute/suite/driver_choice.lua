-- SPDX-License-Identifier: MIT

--- Figure 2 of Baranov & Vlatskaya 2013: the driver chooses the group, and chooses badly where the number of columns,
-- N + 1, is prime. The kernel records the group that it ran in. The remedy is measured beside it: a fixed group, and
-- one more launch for the columns that no whole group covers.

local bench = require "clcompute.bench"
local data = require "clcompute.suite.data"
local group_rule = require "clcompute.suite.group_rule"

local CHECKED_ROWS = 4

-- The first work-item stores the local size that it finds.
local RECORD = {
  RECORD = "if (get_global_id(0) == 0 && get_global_id(1) == 0) "
    .. "{ group[0] = get_local_size(0); group[1] = get_local_size(1); }",
  RECORD_TO = ", __global uint *group",
}
local LEAST_GROUP = 64 -- on a CPU the rule's is so small that launching groups would be what is timed
local WINDOW = 8 -- sizes on either side of the device's largest group

local function is_prime(n)
  for i = 2, math.floor(n ^ 0.5) do
    if n % i == 0 then return false end
  end
  return n > 1
end

local function next_prime(n, step)
  repeat n = n + step until is_prime(n)
  return n
end

--- Columns around the largest group: a prime below it may be a group of its own, one above it may not.
local function column_counts(largest, quick)
  local below, above = next_prime(largest, -1), next_prime(largest, 1)
  local list = {}
  if quick then
    list = { below, largest, above - 1, above, above + 1 }
  else
    for n = math.min(below, largest - WINDOW), math.max(above, largest) + WINDOW do list[#list + 1] = n end
  end
  return list
end

--- What works for a device without the driver's choice: the rule's group, where the kernel can take it.
local function fixed_group(device, cores)
  local found = group_rule.of(device, cores)
  return found.group and not found.reason and math.max(found.group, LEAST_GROUP) or math.min(256, device.max_group_size)
end

--- One step of the forward elimination of n rows and n + 1 columns on a device.
local function new_step(device, n)
  local columns = n + 1
  local w = device:random("float", n, columns, { seed = n, low = 0.5 })
  local step = {
    n = n, w = w, l = device:empty("float", n), group = device:zeros("uint", 2),
    divide = device:kernel "gauss_fwd_pre", eliminate = device:kernel("gauss_fwd", { defines = RECORD }),
    before = {},
  }
  for i = 1, CHECKED_ROWS do
    local row = i == 1 and 1 or 1 + (i - 1) * (n - 1) // (CHECKED_ROWS - 1)
    step.before[row] = w:view(row, row):read()[1]
  end
  return step
end

local function run(step, range)
  step.divide({ global = step.n, group = 64, remainder = "split" }, step.n, 0, step.w, step.l)
  step.eliminate(range, step.n, 0, step.w, step.l, step.group)
end

--- What element j of a row is after the step, and how far rounding may have it off: by a quotient, a product and a
-- difference. The first row stays.
local function expected(row, before, first, j)
  if row == 1 then return before[j], 0 end
  local product = before[1] / first[1] * first[j]
  return before[j] - product, 4 * data.UNIT.float * (math.abs(before[j]) + math.abs(product))
end

--- The largest error of some rows as a share of its bound; NaN and infinity are errors too.
local function check(step)
  local worst = 0
  for row, before in pairs(step.before) do
    local after = step.w:view(row, row):read()[1]
    for j = 2, #before do
      local value, bound = expected(row, before, step.before[1], j)
      local off = math.abs(after[j] - value)
      local error = off == 0 and 0 or off / bound
      if not (error <= worst) then worst = error end
    end
  end
  return worst
end

local function range_of(n, group)
  if not group then return { global = { n + 1, n }, group = "driver" } end
  return { global = { n + 1, n }, group = { group, 1 }, remainder = "split" }
end

--- The candidate of a point: a step by that group, or nil, the driver's. Its parameters learn what the kernel
-- recorded.
local function candidate(device, columns, group)
  local step, params = new_step(device, columns - 1), { prime = is_prime(columns) }
  local range = range_of(step.n, group)
  return {
    name = ("%d columns, %s"):format(columns, group or "driver"), device = device, params = params,
    fn = function() run(step, range) end,
    check = function()
      params.group = table.concat(step.group:read(), " x ")
      return check(step)
    end,
  }
end

local function sweep_device(device, options)
  return bench.sweep {
    axes = { { "columns", column_counts(device.max_group_size, options.quick) }, { "chooser", { "driver", "fixed" } } },
    run = function(point)
      return candidate(device, point.columns, point.chooser == "fixed" and fixed_group(device, options.cores) or nil)
    end,
    together = { "chooser" }, rounds = 5, seconds = options.quick and 0.1 or 0.3, peak = false, limit = options.limit,
    file = options.file("driver_choice", device),
    progress = options.progress("Figure 2", device),
  }
end

local CHOOSERS = { driver = "the driver's group", fixed = "a fixed group, the rest by itself" }

--- @tparam table options of `clcompute.suite.baranov`
-- @treturn table a list of sections, one a device
return function(options)
  local sections = {}
  for i, device in ipairs(options.devices) do
    local rows = sweep_device(device, options)
    for _, row in ipairs(rows) do row.chooser = CHOOSERS[row.params.chooser] end
    sections[i] = {
      title = "Figure 2. The driver's choice of the group" .. options.suffix(device),
      text = { ("Time of one step of the elimination over the columns of the augmented matrix, N + 1, about the "
        .. "largest group of the device, %d. A driver takes divisors of the range; where N + 1 is prime, it finds none "
        .. "along the rows of the matrix but 1 and all of it."):format(device.max_group_size),
        "Ringed: N + 1 is prime. The table has the group that the kernel found itself in." },
      rows = rows,
      columns = { { key = "params.columns", title = "N + 1" }, { key = "params.prime", title = "prime" },
        { key = "chooser", title = "group chosen" }, { key = "params.group", title = "group", align = "right" },
        { key = "value", title = "step" }, { key = { "q1", "q3" }, title = "quartiles" },
        { key = "cold", title = "cold, with compile", unit = "s" },
        { key = "max_error", title = "error/bound", format = "%.3f" } },
      chart = { kind = "line", x = "params.columns", y = "value", series = "chooser", low = "q1", high = "q3",
        ylog = 10, xtitle = "N + 1", ytitle = "time of a step",
        marks = { { key = "params.prime", title = "N + 1 is prime" } } },
    }
  end
  return sections
end
