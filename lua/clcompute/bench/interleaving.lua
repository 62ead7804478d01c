-- SPDX-License-Identifier: MIT
--- Interleaves the runs of candidates, so that all meet the same moods of the machine, and relates their times: what
-- slows the machine for a while slows both of a round, so the ratio of a round moves less than either time.

local statistics = require("clcompute.base").statistics
local timing = require "clcompute.bench.timing"

local interleaving = {}

local AIM = 30          -- runs of a candidate, of which the seconds are made
local MIN = 5           -- rounds, however long they take
local MIN_TOGETHER = 11 -- with fewer an interval for a ratio has less than its confidence,
local PATIENCE = 5      -- which is put up with when they take so many times the seconds
local ALIKE = 2         -- times that the calls of candidates may differ to be run alike
local MAX = 500

--- The order of a round of n candidates by Williams' design: in 2 n rounds every candidate comes at every
-- place, and right after every other, twice. Two are run A B, B A, B A, A B.
function interleaving.order(round, n)
  local shift, backwards = (round - 1) // 2, round % 2 == 0
  local order = {}
  for place = 1, n do
    -- 0, 1, -1, 2, -2, ...: modulo n the differences of neighbours are all different
    local zigzag = place % 2 == 0 and place // 2 or -(place // 2)
    order[backwards and n + 1 - place or place] = (zigzag + shift) % n + 1
  end
  return order
end

local function alive(candidates)
  local list = {}
  for _, candidate in ipairs(candidates) do
    if candidate.status == "ok" then list[#list + 1] = candidate end
  end
  return list
end

--- The seconds that a run should last at least.
local function run_seconds(settings)
  return settings.seconds / (settings.rounds or AIM)
end

--- Whether n candidates, on all of which so many seconds were spent, ran in rounds enough.
local function is_enough(round, spent, n, settings)
  if settings.rounds then return round >= settings.rounds end
  if round >= MAX then return true end
  local share = spent / (n * settings.seconds)
  local patience = n > 1 and round < MIN_TOGETHER and PATIENCE or 1
  return round >= MIN and share >= patience
end

--- How much of the runs of n candidates is done, 0 to 1.
local function share_done(round, spent, n, settings)
  return math.min(1, settings.rounds and (round - 1) / settings.rounds or spent / (n * settings.seconds))
end

--- Takes the last round out of the times of whoever ran in it: one candidate failed, and pairs must stay
-- pairs.
local function drop_round(candidates, round)
  for _, candidate in ipairs(candidates) do candidate.times[round] = nil end
end

--- Makes the runs of candidates alike, so that what a run costs besides its calls does not tell them apart: as many
-- calls for those that take about as long, and one where one of them allows no more.
local function even_out(candidates)
  local batches, single = {}, false
  for i, candidate in ipairs(candidates) do
    batches[i] = candidate.batch
    single = single or candidate.options.reset ~= nil
    for _, other in ipairs(candidates) do
      local alike = other.call <= ALIKE * candidate.call and candidate.call <= ALIKE * other.call
      if alike then batches[i] = math.max(batches[i], other.batch) end
    end
  end
  for i, candidate in ipairs(candidates) do candidate.batch = single and 1 or batches[i] end
end

--- Calibrates the candidates that are well, then runs them in rounds until each had its seconds.
-- A candidate that fails on the way takes part no longer. What a candidate claims to have taken counts as
-- spent where it is more than the clock shows.
-- @tparam table candidates
-- @tparam table settings `seconds` of runs a candidate, `rounds` if their number is fixed
-- @tparam function report report(stage, candidate, round, share)
function interleaving.run(candidates, settings, report)
  for _, candidate in ipairs(alive(candidates)) do
    report("calibrate", candidate)
    candidate:calibrate(run_seconds(settings))
  end
  even_out(alive(candidates))
  collectgarbage()
  local list, round, start, lasted = alive(candidates), 0, timing.now(), 0
  while #list > 0 do
    round = round + 1
    for _, i in ipairs(interleaving.order(round, #list)) do
      report("run", list[i], round, share_done(round, math.max(lasted, timing.now() - start), #list, settings))
      lasted = lasted + list[i]:run()
    end
    local left = alive(list)
    if #left < #list then
      drop_round(list, round)
      list, round = left, round - 1
    elseif is_enough(round, math.max(lasted, timing.now() - start), #list, settings) then
      return
    end
  end
end

-- --- the ratio ---------------------------------------------------------------

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
function interleaving.relate(times, baseline)
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

return interleaving
