-- SPDX-License-Identifier: MIT
--- Medians, quartiles, and how far a median can be trusted. Nothing is assumed of how times are spread:
-- on a shared machine they have a long tail, and sometimes two peaks.

local statistics = {}

local function sorted(values)
  local copy = table.move(values, 1, #values, 1, {})
  table.sort(copy)
  return copy
end

--- Value at a share of a sorted list, between two of them by linear interpolation.
local function quantile(list, share)
  local at = 1 + (#list - 1) * share
  local below = math.floor(at)
  local above = list[below + 1] or list[below]
  return list[below] + (at - below) * (above - list[below])
end

--- The middle of a list that holds at least one number.
function statistics.median(values)
  return quantile(sorted(values), 0.5)
end

--- Median, minimum and quartiles of a list that holds at least one number.
function statistics.summary(values)
  local list = sorted(values)
  return { median = quantile(list, 0.5), min = list[1], q1 = quantile(list, 0.25), q3 = quantile(list, 0.75) }
end

--- The largest rank r, at least 1, whose interval from the r-th value to the r-th from the end holds the
-- true median with the confidence asked for, and the confidence it has: 1 - 2 P(fewer than r of n coins
-- are heads).
local function rank_of(n, confidence)
  local log_term = -n * math.log(2) -- of the probability of no head; of many coins it would underflow
  local tail, rank = math.exp(log_term), 1
  local reached = 1 - 2 * tail
  while 2 * (rank + 1) <= n do
    log_term = log_term + math.log((n - rank + 1) / rank)
    tail = tail + math.exp(log_term)
    if 1 - 2 * tail < confidence then break end
    rank, reached = rank + 1, 1 - 2 * tail
  end
  return rank, math.max(reached, 0)
end

--- An interval for the median of what the values are drawn from, by the sign test.
-- @treturn number low
-- @treturn number high
-- @treturn number the confidence that it has; of few values less than was asked for
function statistics.median_interval(values, confidence)
  local list = sorted(values)
  local rank, reached = rank_of(#list, confidence)
  return list[rank], list[#list + 1 - rank], reached
end

return statistics
