-- SPDX-License-Identifier: MIT
--- How good the model is by which a product of floats chooses its blocks and its parts of k
--- (csrc/operations/gemm/blocking.c): at shapes drawn at random, the rate of `cl.gemm` over that of the fastest of the
--- device's blocks with 1 to 16 parts of k.
---
--- Usage: lua5.4 examples/gemm_model.lua [device [shapes [seed]]]
--- Every plan is checked against the plain product. All plans are timed by a few calls; the fastest few take turns with
--- what the model chooses then, so that the fastest of many is not the luckiest.

local cl = require "clcompute"
local data = require "clcompute.suite.data"
local options = require("clcompute.base").options
local statistics = require("clcompute.base").statistics
local tuning = require "clcompute.tuning"

local device, SHAPES, SEED = cl.device(arg[1]), tonumber(arg[2]) or 200, tonumber(arg[3]) or os.time() % 100000
local PARTS = { 1, 2, 3, 4, 5, 6, 8, 10, 12, 16 } -- of k
local LEAST = 64 -- elements of a part
local CALLS = 5 -- of every plan
local LEADERS, ROUNDS, TURN = 4, 9, 3 -- so many of the fastest, in rounds of so many calls
local BOUND = 4e-6 -- of an element's error, for each product of numbers between -1 and 1

cl.ready(device)
local row = tuning.of(device, "gemm", "float")
if not row.blocks then error(("%s: its kernel '%s' has no plans to choose from"):format(device.name, row.kernel), 0) end

-- --- plans -----------------------------------------------------------------------

local NEVER = { bm = 32, bn = 32, bk = 32, tm = 4, tn = 4, held = 1, alone = 1, full = 1 } -- the slowest block
local DEAR = 1 << 20 -- microseconds of a launch, which none is worth

--- A row of gemm_pipelined that leaves nothing to choose.
-- @tparam table changes of its only shape: `parts`, and 100 or 1 percents `along`: A is read as it lies, or never
-- @tparam ?integer part 1: the last group of a block adds up its parts; none: a launch does
local function pipelined(shape, changes, part)
  return { kernel = "pipelined", least = 0, launch = changes.along == 100 and DEAR or 1, stream = row.stream,
    part = part, shapes = { options.merge(shape, changes) }, blocks = { NEVER } }
end

local function blocks(shape, parts)
  return { kernel = "blocks", launch = 1, stream = row.stream, blocks = { options.merge(shape, { parts = parts }) } }
end

--- The parts that a shape can have of k: no count that gives fewer, as parts are whole slices.
local function parts_of(k, bk)
  local list = {}
  for _, parts in ipairs(PARTS) do
    local slices = math.ceil(k / bk)
    local depth = math.ceil(slices / parts) * bk
    if parts == 1 or parts * LEAST <= k and math.ceil(k / depth) == parts then list[#list + 1] = parts end
  end
  return list
end

local function add_shape(plans, k, shape)
  for _, along in ipairs { shape.along and 1 or 0, shape.along and 100 } do
    for _, parts in ipairs(parts_of(k, shape.bk)) do
      local changes = { parts = parts, along = along }
      local is_summed = parts > 1 and along ~= 100 -- by a launch, which has no edges where A is read as it lies
      for _, part in ipairs { 1, is_summed and 0 or nil } do
        plans[#plans + 1] = { row = pipelined(shape, changes, part), name = ("%dx%d, %d parts%s%s"):format(shape.bm,
          shape.bn, parts, along == 100 and ", along" or "", part == 0 and ", summed" or "") }
      end
    end
  end
end

--- The plans of a product: of each a row and a name.
local function plans_of(k)
  local plans = {}
  for _, shape in ipairs(row.shapes or {}) do add_shape(plans, k, shape) end
  for _, shape in ipairs(row.blocks) do
    for _, parts in ipairs(parts_of(k, shape.bk)) do
      plans[#plans + 1] = { row = blocks(shape, parts), name = ("blocks %dx%d, %d parts"):format(shape.bm, shape.bn,
        parts) }
    end
  end
  return plans
end

-- --- times -----------------------------------------------------------------------

--- Adds the seconds of some calls, each with its wait, to a plan's times.
local function time(plan, product, calls)
  tuning.use(device, "gemm", "float", plan.row)
  product()
  device:wait()
  for _ = 1, calls do
    local start = cl.clock()
    product()
    device:wait()
    table.insert(plan.times, cl.clock() - start)
  end
end

--- The model's choice, the fastest plan, and microseconds of both.
-- @tparam table plans
-- @tparam function forget sets the result to NaN, else that of the plan before would pass for the next one's
-- @tparam function product
-- @tparam function is_right
local function compare(plans, forget, product, is_right)
  local chosen = { name = "the model's", times = {} }
  for _, plan in ipairs(plans) do
    plan.times = {}
    forget()
    time(plan, product, CALLS)
    if not is_right() then error(plan.name .. " is wrong", 0) end
    plan.first = statistics.median(plan.times)
  end
  table.sort(plans, function(one, other) return one.first < other.first end)
  local leaders = table.move(plans, 1, LEADERS, 2, { chosen })
  for _, plan in ipairs(leaders) do plan.times = {} end
  for _ = 1, ROUNDS do
    for _, plan in ipairs(leaders) do time(plan, product, TURN) end
  end
  local best = chosen
  for _, plan in ipairs(leaders) do
    plan.median = statistics.median(plan.times)
    if plan.median < best.median then best = plan end
  end
  return chosen.median * 1e6, best.median * 1e6, best.name
end

local function measure(shape)
  local m, k, n = shape.m, shape.k, shape.n
  local a = device:random("float", m, k, { seed = 1, low = -1 })
  local b = device:random("float", k, n, { seed = 2, low = -1 })
  local c, plain = device:empty("float", m, n), cl.gemm(a, b, { kernel = "naive" })
  local function is_right() return cl.max(cl.abs(c - plain)) <= BOUND * k end
  local ours, best, name = compare(plans_of(k), function() c:fill(0 / 0) end, function() cl.gemm(a, b, { c = c }) end,
    is_right)
  tuning.use(device, "gemm", "float", nil)
  for _, buffer in ipairs { a, b, c, plain } do buffer:release() end
  print(("%5d x %5d x %5d  %8.1f us  %8.1f  %.3f  %s"):format(m, k, n, ours, best, best / ours, name))
  return best / ours
end

print(("%s, driver %s; seed %d\n    m x     k x     n      chosen  the best  ratio"):format(device.name, device.driver,
  SEED))
local ratios = {}
for i, shape in ipairs(data.random_shapes(SHAPES, SEED)) do ratios[i] = measure(shape) end
local sum = 0
for _, ratio in ipairs(ratios) do sum = sum + ratio end
print(("mean of %d: %.3f, median %.3f, least %.3f"):format(#ratios, sum / #ratios, statistics.median(ratios),
  statistics.summary(ratios).min))
