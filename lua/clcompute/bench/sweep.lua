-- SPDX-License-Identifier: MIT
--- Every combination of the values of some axes, measured one after the other; what a file already holds
-- is not repeated.
-- @module clcompute.bench.sweep

local Journal = require "clcompute.bench.journal"
local clock = require "clcompute.bench.clock"
local combinations = require "clcompute.bench.combinations"
local interrupt = require("clcompute.base").interrupt
local queues = require "clcompute.bench.queues"

local sweep = {}

sweep.OPTIONS = { devices = "table", kernels = "table", sizes = "table", groups = "table", axes = "table",
  run = "function", file = "string", limit = "number", work = "function", together = "table" }

-- --- the time that is left ------------------------------------------------------
--
-- A point costs what every point costs, and so much for its work. Both are fitted to the points that are done, also to
-- those of earlier calls, whose rows tell what they took.

local Estimate = {}
Estimate.__index = Estimate

--- What work(point) returns, which must be a number that can be summed.
local function checked(work)
  return function(point)
    local amount = work(point)
    if type(amount) == "number" and amount - amount == 0 then return amount end
    local what = type(amount) == "number" and amount or type(amount)
    error(("sweep: option 'work': must return a finite number, returned %s"):format(what), 0)
  end
end

--- How long the open points take.
-- @tparam function|nil work work(point): how much there is to do, in any unit; without it all points
--  count alike
function sweep.estimate(work)
  local amount = work and checked(work) or function() return 0 end
  return setmetatable({ work = amount, open = {}, samples = {}, done = 0 }, Estimate)
end

--- Counts a point, with its row if it is done.
function Estimate:add(point, row)
  if row then return self:finish(point, row) end
  self.open[point] = self.work(point)
end

--- A point is done. One that was not measured says nothing of the time of others.
function Estimate:finish(point, row)
  self.open[point], self.done = nil, self.done + 1
  if row.status == "ok" and row.elapsed then
    self.samples[#self.samples + 1] = { work = self.work(point), seconds = row.elapsed }
  end
end

--- Least squares of seconds = constant + slope * work; neither is negative.
local function fit(samples)
  local n, work, seconds, squares, products = #samples, 0, 0, 0, 0
  for _, s in ipairs(samples) do
    work, seconds = work + s.work, seconds + s.seconds
    squares, products = squares + s.work ^ 2, products + s.work * s.seconds
  end
  local spread = n * squares - work ^ 2
  local slope = spread > 1e-12 * n * squares and (n * products - work * seconds) / spread or 0
  local constant = (seconds - slope * work) / n
  if slope < 0 then return seconds / n, 0 end
  if constant < 0 then return 0, products / squares end
  return constant, slope
end

--- Seconds that the open points take, or nil while none is done.
function Estimate:seconds()
  if #self.samples == 0 then return nil end
  local constant, slope = fit(self.samples)
  local total = 0
  for _, work in pairs(self.open) do total = total + constant + slope * work end
  return total
end

-- --- rows -----------------------------------------------------------------------

--- How rows are measured now. One in the file that was measured otherwise does not stand for a new one.
-- @tparam table given
-- @tparam boolean everywhere whether the row names no driver: any device of the process may have mattered
local function setup_of(given, everywhere)
  local version = clock.library and clock.library._VERSION or "no OpenCL"
  local words = { version, ("seconds %.14g"):format(given.seconds) }
  if given.rounds then words[#words + 1] = "rounds " .. given.rounds end
  if given.peak then words[#words + 1] = "peak" end
  if given.together then words[#words + 1] = "together " .. table.concat(given.together, " ") end
  if everywhere then words[#words + 1] = queues.machine() end
  return table.concat(words, ", ")
end

--- Whether a row of the file stands for a new one.
local function is_valid(row, given)
  if row.status ~= "ok" and row.status ~= "unsupported" then return false end
  if row.driver and not queues.is_here(row.device, row.driver) then return false end
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
    local all = combinations.plain(row.params)
    for key, value in pairs(params[at[k]]) do all[key] = value end
    row.params, rows[at[k]] = all, row
    if row.ratio then row.baseline = combinations.label(params[at[baseline]], given.together) end
  end
  return rows
end

--- The rows of the file that stand for new ones, by the key of their point. Those of a sweep over other axes would
-- stand for several points, or for none.
local function done_rows(journal, axes, given)
  local done, names = {}, combinations.names(axes)
  for _, row in ipairs(journal and journal.rows or {}) do
    if row.axes and row.axes ~= names then
      error(("sweep: option 'file': %s is of a sweep over %s, not over %s"):format(journal.path, row.axes, names), 0)
    end
    if is_valid(row, given) then done[combinations.key(row.params, axes)] = row end
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
  local axes = combinations.axes(given)
  local list, params, rows = combinations.product(axes), {}, {}
  for i, point in ipairs(list) do params[i] = combinations.plain(point) end
  local batches = combinations.batches(params, axes, given.together)
  local journal = given.file and Journal.open(given.file)
  local done, left, start = done_rows(journal, axes, given), sweep.estimate(given.work), clock.now()
  for i, point in ipairs(list) do
    rows[i] = done[combinations.key(params[i], axes)]
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
    row.elapsed, row.setup, row.axes = seconds, setup_of(given, not row.driver), combinations.names(axes)
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
