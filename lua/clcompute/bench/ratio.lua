-- SPDX-License-Identifier: MIT
--- The ratio of two candidates' times, from runs of the same round: what slows the machine for a while
-- slows both, so the ratio of a round moves less than either time.
-- @module clcompute.bench.ratio

local statistics = require("clcompute.base").statistics

local ratio = {}

local CONFIDENCE = 0.999 -- so that ten comparisons of a candidate with itself all hold 1
local PARTS = 3          -- the ratio is taken so many times, in succession
local TOLERANCE = 1.1    -- within which these agree

--- The median of each third of the rounds; with fewer rounds than that, nil.
local function medians_of_parts(ratios)
  if #ratios < PARTS then return nil end
  local medians = {}
  for part = 1, PARTS do
    local first, last = #ratios * (part - 1) // PARTS + 1, #ratios * part // PARTS
    medians[part] = statistics.median(table.move(ratios, first, last, 1, {}))
  end
  return medians
end

local function disagreement(medians)
  if not medians then return ("fewer than %d rounds: no telling whether the ratio repeats"):format(PARTS) end
  local low, high = math.min(table.unpack(medians)), math.max(table.unpack(medians))
  if high <= TOLERANCE * low then return nil end
  local texts = {}
  for i, value in ipairs(medians) do texts[i] = ("%.3g"):format(value) end
  return ("the ratio taken %d times does not agree within %.0f %%: %s"):format(PARTS, (TOLERANCE - 1) * 100,
    table.concat(texts, ", "))
end

local function has_zero(times)
  for _, seconds in ipairs(times) do
    if seconds == 0 then return true end
  end
  return false
end

--- Relates times to those of the baseline in the same rounds.
-- @treturn table `ratio`, the median of the rounds (below 1 is faster); `ratio_low` and `ratio_high`,
--  between which it lies with `ratio_confidence`, widened to hold the ratio of each third of the rounds;
--  `agrees`, whether these thirds do within 10 %; `reason`, when not, or when there is no ratio
function ratio.relate(times, baseline)
  if has_zero(times) or has_zero(baseline) then
    return { agrees = false, reason = "no ratio: by its own clock a run took 0 s" }
  end
  local ratios = {}
  for i, seconds in ipairs(times) do ratios[i] = seconds / baseline[i] end
  local low, high, confidence = statistics.median_interval(ratios, CONFIDENCE)
  local medians = medians_of_parts(ratios)
  if medians then low, high = math.min(low, table.unpack(medians)), math.max(high, table.unpack(medians)) end
  local reason = disagreement(medians)
  return {
    ratio = statistics.median(ratios), ratio_low = low, ratio_high = high, ratio_confidence = confidence,
    agrees = reason == nil, reason = reason,
  }
end

return ratio
