-- SPDX-License-Identifier: MIT

--- Figures 3 to 6 of Baranov & Vlatskaya 2013: the time of an elimination over the group size, for matrices of several
-- sizes; and the best group measured against that of their rule.

local bench = require "clcompute.bench"
local group_rule = require "clcompute.suite.group_rule"
local workload = require "clcompute.suite.workload"

local SMALL = {
  full = { sizes = { 100, 200, 300, 400, 500, 600, 700, 800, 900 },
    groups = { 1, 32, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896 } },
  quick = { sizes = { 100, 200, 400 }, groups = { 1, 32, 64, 128, 192, 256, 512, 896 } },
}
local LARGE = {
  full = { groups = { 32, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 960, 1024 },
    seconds = 180 },
  quick = { groups = { 32, 64, 128, 192, 256, 320, 384, 512, 1024 }, seconds = 30 },
}
local FASTEST = { { key = "best", title = "fastest, within the quartiles" } } -- what is marked in charts
local ROUNDS = 5
local RUNS = ROUNDS + 2 -- of a point: the first one and a warm one too

--- A candidate for a point; the operands of a size are made once.
local function candidates(device)
  local work, operands
  return function(point)
    if point.group > device.max_group_size then
      return nil, ("the largest group is %d"):format(device.max_group_size)
    end
    if not work or work.size ~= point.size then
      if operands then workload.release(operands) end
      work = workload.new("gauss", { n = point.size }, "float")
      operands = work.prepare(device)
    end
    local this, own = work, operands
    return {
      name = ("N = %d, group %d"):format(point.size, point.group), device = device, flops = this.flops,
      fn = function() return this.run(own, "fixed", point.group) end,
      check = function() return this.check(this.result(own)) end,
    }
  end
end

local function sweep(device, options, figure, sizes, groups)
  return bench.sweep {
    sizes = sizes, groups = groups, together = { "group" }, run = candidates(device), rounds = ROUNDS, seconds = 0.1,
    peak = false,
    work = function(point) return point.size ^ 3 end,
    limit = options.limit, file = options.file("group_size_" .. figure, device),
    progress = options.progress("Figure " .. figure, device),
  }
end

--- Seconds of one elimination.
local function time_once(device, n)
  local one = candidates(device) { size = n, group = math.min(64, device.max_group_size) }
  return bench.measure(one.fn, { device = device, rounds = 1, seconds = 0.01, peak = false }).value or 1
end

--- The sizes of figures 5 and 6, multiples of 1000 up to 10000, as far as the device gets in the time; 1000 in any
-- case. Small sizes say little of large ones on a GPU, so each is timed before the next is thought of.
local function large_sizes(device, groups, seconds)
  local sizes, once, left = {}, time_once(device, 1000), seconds
  for n = 1000, 10000, 1000 do
    if n > 1000 then
      if once * (n / (n - 1000)) ^ 3 * #groups * RUNS > left then break end
      once = time_once(device, n)
    end
    sizes[#sizes + 1], left = n, left - once * #groups * RUNS
  end
  return sizes
end

--- The groups with the rule's own, where the device can take it.
local function with_rule(groups, found)
  local list = table.move(groups, 1, #groups, 1, {})
  for _, group in ipairs(groups) do
    if group == found.group then return list end
  end
  if found.group and not found.reason then list[#list + 1] = found.group end
  table.sort(list)
  return list
end

--- Finds the fastest group of each size, and marks it and those that its quartiles do not tell from it; returns the
-- rows of the fastest by size.
local function mark_best(rows)
  local best = {}
  for _, row in ipairs(rows) do
    local size = row.params.size
    if row.status == "ok" and (not best[size] or row.value < best[size].value) then best[size] = row end
  end
  for _, row in ipairs(rows) do
    local fastest = best[row.params.size]
    row.best = row.status == "ok" and (row == fastest or row.q1 ~= nil and row.q1 <= fastest.q3) or nil
  end
  return best
end

local function section(title, text, rows, from, to)
  local shown = {}
  for _, row in ipairs(rows) do
    if row.params.group >= (from or 1) and row.params.group <= (to or math.huge) then
      row.series = ("N = %d"):format(row.params.size)
      shown[#shown + 1] = row
    end
  end
  return {
    title = title, text = text, rows = shown,
    columns = { { key = "params.size", title = "N" }, { key = "params.group", title = "group" },
      { key = "value", title = "elimination" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "cold", title = "cold, with compile", unit = "s" }, { key = "gflops", title = "GFLOP/s" },
      { key = "max_error", title = "error/bound", format = "%.3f" }, { key = "best", title = "fastest" } },
    chart = { kind = "line", x = "params.group", y = "value", series = "series", low = "q1", high = "q3", xlog = 2,
      ylog = 10, xtitle = "group size", ytitle = "time of an elimination", marks = FASTEST },
  }
end

--- Relative to the fastest group of each size.
local function heat(title, rows)
  return {
    title = title, text = "The times of figure 5, divided by that of the fastest group of each size.",
    rows = rows,
    columns = { { key = "params.size", title = "N" }, { key = "params.group", title = "group" },
      { key = "relative", title = "times the fastest", format = "%.2f" } },
    chart = { kind = "heat", x = "params.group", y = "params.size", value = "relative", xtitle = "group size",
      ytitle = "N", vtitle = "times the fastest", marks = FASTEST },
  }
end

--- What came of the rule, in words.
local function verdict(list)
  local worst
  for _, row in ipairs(list) do
    if row.relative then worst = math.max(worst or 0, row.relative) end
  end
  if not worst then return "Its group was not measured." end
  return worst <= 1.1 and "Measured, its group is within 10 % of the fastest."
    or ("Measured, its group takes up to %.1f times as long as the fastest: the rule does not carry over here.")
      :format(worst)
end

--- What the rule says, against the best group of each size.
local function rule_section(device, found, rows, best, options)
  local list = {}
  for size, fastest in pairs(best) do
    local row = { size = size, best = fastest.params.group, value = fastest.value, rule = found.group,
      status = "ok" }
    for _, other in ipairs(rows) do
      if other.params.size == size and other.params.group == found.group and other.status == "ok" then
        row.relative = other.value / fastest.value
      end
    end
    list[#list + 1] = row
  end
  table.sort(list, function(a, b) return a.size < b.size end)
  local words = found.total and ("preferred multiple %d, %d compute units of %d cores: the smallest common multiple "
    .. "of %d and %d that exceeds %d is %d."):format(found.multiple, found.units, found.cores, found.multiple,
    found.cores, found.total, found.group) or ""
  return {
    title = "The rule for the group size" .. options.suffix(device),
    text = { "The paper: 32 and 48 cores a unit, above 144 cores, give 192. Here: " .. words .. (found.reason and
      " But " .. found.reason .. "." or ""), verdict(list) },
    rows = list,
    columns = { { key = "size", title = "N" }, { key = "best", title = "fastest group measured" },
      { key = "value", title = "its time" }, { key = "rule", title = "the rule's group" },
      { key = "relative", title = "the rule's, times the fastest", format = "%.2f" } },
  }
end

local function report_device(device, options, sections)
  local kind, found = options.quick and "quick" or "full", group_rule.of(device, options.cores)
  local small, large = SMALL[kind], LARGE[kind]
  local name = options.suffix(device)
  local rows = sweep(device, options, "3", options.sizes or small.sizes, small.groups)
  mark_best(rows)
  sections[#sections + 1] = section("Figure 3. Time over the group size, small matrices" .. name,
    "Fixed range; what no whole group covers is launched by itself. The paper: a group of one work-item is the worst.",
    rows)
  sections[#sections + 1] = section("Figure 4. The same without group 1" .. name,
    "The paper: 192 to 384 are best for most sizes; below N = 1000 the rest that is launched by itself shows.", rows, 2)
  local groups = with_rule(large.groups, found)
  local sizes = options.large_sizes or large_sizes(device, groups, large.seconds)
  local large_rows = sweep(device, options, "5", sizes, groups)
  local best = mark_best(large_rows)
  for _, row in ipairs(large_rows) do
    row.relative = row.status == "ok" and row.value / best[row.params.size].value or nil
  end
  sections[#sections + 1] = section("Figure 5. Time over the group size, large matrices" .. name,
    "As many sizes of 1000 to 10000 as the device gets through in the time.", large_rows)
  sections[#sections + 1] = section("Figure 6. The same from 128 to 384" .. name, "The paper's best is 192.",
    large_rows, 128, 384)
  sections[#sections + 1] = heat("How much a group costs" .. name, large_rows)
  sections[#sections + 1] = rule_section(device, found, large_rows, best, options)
end

--- @tparam table options of `clcompute.suite.baranov`
-- @treturn table a list of sections
return function(options)
  local sections = {}
  for _, device in ipairs(options.devices) do report_device(device, options, sections) end
  return sections
end
