-- SPDX-License-Identifier: MIT
--- Every combination of the values of some axes, measured one after the other, but for what a file already holds.

local Journal = require "clcompute.bench.journal"
local interrupt = require("clcompute.base").interrupt
local timing = require "clcompute.bench.timing"

local sweep = {}

sweep.OPTIONS = { devices = "table", kernels = "table", sizes = "table", groups = "table", axes = "table",
  run = "function", file = "string", limit = "number", work = "function", together = "table" }

-- --- points --------------------------------------------------------------------

local AXES = { { "device", "devices" }, { "kernel", "kernels" }, { "size", "sizes" }, { "group", "groups" } }

--- Raises unless values that are tables are lists of numbers or texts, as {16, 16}.
local function check_values(name, values)
  for i, value in ipairs(values) do
    local is_list = type(value) ~= "table" or #value > 0
    for _, part in ipairs(type(value) == "table" and value or {}) do
      is_list = is_list and (type(part) == "number" or type(part) == "string")
    end
    if not is_list then
      error(("sweep: axis '%s': value %d: a list of numbers expected where it is a table"):format(name, i), 0)
    end
  end
end

--- The axes of checked options, each { name, values }.
local function axes_of(given)
  local axes = {}
  for _, axis in ipairs(AXES) do
    if given[axis[2]] then axes[#axes + 1] = { axis[1], given[axis[2]] } end
  end
  for i, axis in ipairs(given.axes or {}) do
    if type(axis) ~= "table" or type(axis[1]) ~= "string" or type(axis[2]) ~= "table" then
      error(("sweep: option 'axes': element %d: { name, values } expected"):format(i), 0)
    end
    axes[#axes + 1] = axis
  end
  for _, axis in ipairs(axes) do check_values(axis[1], axis[2]) end
  if #axes == 0 then error("sweep: no axis: give sizes, groups, devices, kernels or axes", 0) end
  return axes
end

--- The cartesian product, the last axis varying first.
local function product(axes)
  local list = { {} }
  for _, axis in ipairs(axes) do
    local longer = {}
    for _, point in ipairs(list) do
      for _, value in ipairs(axis[2]) do
        local copy = { [axis[1]] = value }
        for key, other in pairs(point) do copy[key] = other end
        longer[#longer + 1] = copy
      end
    end
    list = longer
  end
  return list
end

--- A value as a file holds it: groups like {16, 16}, devices and what JSON has no number for as text; whole numbers
-- with all their digits.
local function plain(value)
  if type(value) == "table" then return table.concat(value, "x") end
  if type(value) == "number" and value - value == 0 then return math.tointeger(value) or value end
  if type(value) == "boolean" then return value end
  return tostring(value)
end

--- A point as a file holds it.
local function plain_point(point)
  local params = {}
  for key, value in pairs(point) do params[key] = plain(value) end
  return params
end

--- The names of the axes as one text, in an order of their own.
local function names_of(axes)
  local names = {}
  for i, axis in ipairs(axes) do names[i] = axis[1] end
  table.sort(names)
  return table.concat(names, ", ")
end

--- What the axes say of a point: tells it from the others, the same from a file as before it was written.
local function key_of(params, axes)
  local words = {}
  for i, axis in ipairs(axes) do
    local value = params[axis[1]]
    local text = math.type(value) == "float" and ("%.14g"):format(value) or tostring(value)
    words[i] = type(value) .. " " .. text
  end
  return table.concat(words, "\0")
end

--- What tells a point from those it is measured together with: "group 64".
local function label(params, names)
  local words = {}
  for i, name in ipairs(names) do words[i] = name .. " " .. tostring(params[name]) end
  return table.concat(words, ", ")
end

--- The axes whose points are measured one by one: those that are not named.
local function apart(axes, names)
  local left, named = {}, {}
  for _, name in ipairs(names) do named[name] = true end
  for _, axis in ipairs(axes) do
    if named[axis[1]] then named[axis[1]] = nil else left[#left + 1] = axis end
  end
  if next(named) then
    error(("sweep: option 'together': no axis is named '%s'"):format(tostring(next(named))), 0)
  end
  return left
end

--- The indices of the points in the lists that are measured at once, in the order of the first ones.
local function batches_of(params, axes, together)
  local batches, known = {}, {}
  if not together then
    for i = 1, #params do batches[i] = { i } end
    return batches
  end
  local rest = apart(axes, together)
  for i, each in ipairs(params) do
    local key = key_of(each, rest)
    if not known[key] then
      known[key] = {}
      batches[#batches + 1] = known[key]
    end
    table.insert(known[key], i)
  end
  return batches
end

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
-- @tparam function|nil work work(point): how much there is to do, in any unit; without it all points count alike
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

local function status_row(status, reason, params)
  return { params = params, date = timing.date(), unit = "s", status = status, reason = reason }
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
    local all = plain_point(row.params)
    for key, value in pairs(params[at[k]]) do all[key] = value end
    row.params, rows[at[k]] = all, row
    if row.ratio then row.baseline = label(params[at[baseline]], given.together) end
  end
  return rows
end

--- The rows of the file that stand for new ones, by the key of their point.
local function done_rows(journal, axes, given)
  local done = {}
  for _, row in ipairs(journal and journal:valid(given, names_of(axes)) or {}) do
    done[key_of(row.params, axes)] = row
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
  local axes = axes_of(given)
  local list, params, rows = product(axes), {}, {}
  for i, point in ipairs(list) do params[i] = plain_point(point) end
  local batches = batches_of(params, axes, given.together)
  local journal = given.file and Journal.open(given.file)
  local done, left, start = done_rows(journal, axes, given), sweep.estimate(given.work), timing.now()
  for i, point in ipairs(list) do
    rows[i] = done[key_of(params[i], axes)]
    left:add(point, rows[i])
  end
  local function tell(point, remaining)
    given.progress { done = left.done, total = #list, point = point, elapsed = timing.now() - start,
      remaining = remaining }
  end
  local function finish(i, row, seconds)
    row.elapsed, row.setup, row.axes = seconds, Journal.setup(given, not row.driver), names_of(axes)
    rows[i] = row
    if journal then journal:append(row) end
    left:finish(list[i], row)
  end
  for _, whole in ipairs(batches) do
    local batch, began = without_done(whole, rows), timing.now()
    if given.limit and began - start >= given.limit then
      local reason = ("the limit of %g s was reached"):format(given.limit)
      for _, i in ipairs(batch) do rows[i] = status_row("skipped", reason, params[i]) end
    elseif #batch > 0 then
      tell(list[batch[1]], left:seconds())
      local measured = measure_batch(given, batch, list, params, measure)
      local seconds = (timing.now() - began) / #batch
      for _, i in ipairs(batch) do finish(i, measured[i], seconds) end
    end
  end
  tell(nil, 0)
  return rows
end

return sweep
