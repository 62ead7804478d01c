-- SPDX-License-Identifier: MIT
--- Every combination of the values of some axes, measured one after the other; what a file already holds
-- is not repeated.
-- @module clcompute.bench.sweep

local Journal = require "clcompute.bench.journal"
local clock = require "clcompute.bench.clock"
local estimate = require "clcompute.bench.estimate"
local interrupt = require("clcompute.base").interrupt
local points = require "clcompute.bench.points"
local target = require "clcompute.bench.target"

local sweep = {}

sweep.OPTIONS = { devices = "table", kernels = "table", sizes = "table", groups = "table", axes = "table",
  run = "function", file = "string", limit = "number", work = "function", together = "table" }

--- How rows are measured now. One in the file that was measured otherwise does not stand for a new one.
-- @tparam table given
-- @tparam boolean everywhere whether the row names no driver: any device of the process may have mattered
local function setup_of(given, everywhere)
  local version = clock.library and clock.library._VERSION or "no OpenCL"
  local words = { version, ("seconds %.14g"):format(given.seconds) }
  if given.rounds then words[#words + 1] = "rounds " .. given.rounds end
  if given.peak then words[#words + 1] = "peak" end
  if given.together then words[#words + 1] = "together " .. table.concat(given.together, " ") end
  if everywhere then words[#words + 1] = target.machine() end
  return table.concat(words, ", ")
end

--- Whether a row of the file stands for a new one.
local function is_valid(row, given)
  if row.status ~= "ok" and row.status ~= "unsupported" then return false end
  if row.driver and not target.is_here(row.device, row.driver) then return false end
  return row.setup == setup_of(given, not row.driver)
end

local function status_row(status, reason, params, name)
  return { name = name, params = params, date = clock.date(), unit = "s", status = status,
    reason = reason }
end

--- What run() says of a point: a candidate, or the row of one that it declines or fails to make.
local function candidate_of(given, point, params)
  local ok, candidate, reason = pcall(given.run, point)
  if ok and candidate ~= nil then return candidate end
  if ok and reason ~= nil and type(reason) ~= "string" then
    error(("sweep: run() returned nil and a %s; the reason must be a string"):format(type(reason)), 0)
  end
  if ok then return nil, status_row("unsupported", reason or "no candidate for this point", params) end
  interrupt.pass_on(candidate)
  return nil, status_row("failed", interrupt.text(candidate), params)
end

--- Measures the points of a batch.
-- @treturn table their rows, by the index of the point
local function measure_batch(given, batch, list, params, measure)
  local rows, candidates, at = {}, {}, {}
  for _, i in ipairs(batch) do
    local candidate
    candidate, rows[i] = candidate_of(given, list[i], params[i])
    if candidate then candidates[#candidates + 1], at[#at + 1] = candidate, i end
  end
  local measured, baseline = measure(candidates)
  for k, row in ipairs(measured) do
    local all = points.plain(row.params)
    for key, value in pairs(params[at[k]]) do all[key] = value end
    row.params, rows[at[k]] = all, row
    if row.ratio then row.baseline = points.label(params[at[baseline]], given.together) end
  end
  return rows
end

--- The rows of the file that stand for new ones, by the key of their point. Those of a sweep over other axes would
-- stand for several points, or for none.
local function done_rows(journal, axes, given)
  local done, names = {}, points.names(axes)
  for _, row in ipairs(journal and journal.rows or {}) do
    if row.axes and row.axes ~= names then
      error(("sweep: option 'file': %s is of a sweep over %s, not over %s"):format(journal.path, row.axes, names), 0)
    end
    if is_valid(row, given) then done[points.key(row.params, axes)] = row end
  end
  return done
end

local function without_done(batch, rows)
  local left = {}
  for _, i in ipairs(batch) do
    if not rows[i] then left[#left + 1] = i end
  end
  return left
end

--- Runs it.
-- @tparam table given the checked options
-- @tparam function measure makes rows of a list of candidates; where they are related, it also returns the
--  index of the one to which
-- @treturn table rows
function sweep.run(given, measure)
  if not given.run then error("sweep: option 'run': function expected, got nil", 0) end
  local axes = points.axes(given)
  local list, params, rows = points.product(axes), {}, {}
  for i, point in ipairs(list) do params[i] = points.plain(point) end
  local batches = points.batches(params, axes, given.together)
  local journal = given.file and Journal.open(given.file)
  local done, left, start = done_rows(journal, axes, given), estimate.new(given.work), clock.now()
  for i, point in ipairs(list) do
    rows[i] = done[points.key(params[i], axes)]
    left:add(point, rows[i])
  end
  local function tell(point, remaining)
    given.progress { done = left.done, total = #list, point = point, elapsed = clock.now() - start,
      remaining = remaining }
  end
  local function skip(i)
    rows[i] = status_row("skipped", ("the limit of %g s was reached"):format(given.limit), params[i])
  end
  local function finish(i, row, seconds)
    row.elapsed, row.setup, row.axes = seconds, setup_of(given, not row.driver), points.names(axes)
    rows[i] = row
    if journal then journal:append(row) end
    left:finish(list[i], row)
  end
  for _, whole in ipairs(batches) do
    local batch, began = without_done(whole, rows), clock.now()
    if given.limit and began - start >= given.limit then
      for _, i in ipairs(batch) do skip(i) end
    elseif #batch > 0 then
      tell(list[batch[1]], left:seconds())
      local measured = measure_batch(given, batch, list, params, measure)
      local seconds = (clock.now() - began) / #batch
      for _, i in ipairs(batch) do finish(i, measured[i], seconds) end
    end
  end
  tell(nil, 0)
  return rows
end

return sweep
