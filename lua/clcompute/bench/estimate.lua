-- SPDX-License-Identifier: MIT
--- How long the rest of a sweep takes: a point costs what every point costs, and so much for its work.
-- Both are fitted to the points that are done, also to those of earlier calls, whose rows tell what they
-- took.
-- @module clcompute.bench.estimate

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

--- @tparam function|nil work work(point): how much there is to do, in any unit; without it all points
--  count alike
function Estimate.new(work)
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

return Estimate
