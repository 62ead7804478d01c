-- SPDX-License-Identifier: MIT
--- Measures functions: queued work of devices, or anything else. A measurement is a row, a plain table;
-- nothing is printed.

local Candidate = require "clcompute.bench.candidate"
local arity = require("clcompute.base").arity
local interleaving = require "clcompute.bench.interleaving"
local options = require("clcompute.base").options
local peak = require "clcompute.bench.peak"
local raising = require("clcompute.base").raising
local sweep = require "clcompute.bench.sweep"
local timing = require "clcompute.bench.timing"

local bench = {}

require "clcompute.core.internal".builds_all = true -- fast kernels are what is measured

local SETTINGS = { seconds = "number", rounds = "integer", progress = "function", peak = "boolean|table" }
local COMPARE = options.merge(SETTINGS, { baseline = "string" })
local MEASURE = options.merge(Candidate.OPTIONS, SETTINGS)
MEASURE.fn = nil -- the first argument
local KNOWN_PEAK = { flops = "number", bytes_per_second = "number", buffer = "integer", dtype = "string" }
local PEAK = { seconds = "number", dtype = "string", only = "string" }

-- --- options ------------------------------------------------------------------

local function with_defaults(where, settings)
  options.positive(where, settings, "seconds", "rounds")
  if type(settings.peak) == "table" then
    where = where .. ": option 'peak'"
    options.check(where, settings.peak, KNOWN_PEAK)
    options.positive(where, settings.peak, "flops", "bytes_per_second")
  end
  return options.merge({ seconds = 1, peak = true, progress = function() end }, settings)
end

-- --- measuring ----------------------------------------------------------------

--- Measures candidates that were checked together; they stay in their order.
local function measure_all(list, settings, peak_of)
  local candidates = {}
  for i, given in ipairs(list) do candidates[i] = Candidate.new(given) end
  local function report(stage, candidate, round, share)
    settings.progress { stage = stage, name = candidate.options.name, device = candidate.target.name,
      round = round, rounds = settings.rounds, share = share }
  end
  for _, candidate in ipairs(candidates) do
    if candidate.status == "ok" then
      report("cold", candidate)
      candidate:start()
    end
    if candidate.status == "ok" then candidate:divide() end
  end
  for _, candidate in ipairs(candidates) do
    if candidate.status == "ok" then report("peak", candidate) end
    candidate.peak, candidate.no_peak = peak_of(candidate)
  end
  interleaving.run(candidates, settings, report)
  return candidates
end

local function rows_of(candidates)
  local rows = {}
  for i, candidate in ipairs(candidates) do rows[i] = candidate:row() end
  return rows
end

function bench.measure(fn, given)
  options.check("measure", given or {}, MEASURE)
  local candidate, settings = { fn = fn }, {}
  for key, value in pairs(given or {}) do
    if SETTINGS[key] then settings[key] = value else candidate[key] = value end
  end
  if type(fn) ~= "function" then error("measure: function expected, got " .. type(fn), 0) end
  Candidate.check("measure", candidate)
  settings = with_defaults("measure", settings)
  return rows_of(measure_all({ candidate }, settings, peak.source(settings.peak)))[1]
end

local function find_baseline(candidates, name)
  if not name then return candidates[1] end
  for _, candidate in ipairs(candidates) do
    if candidate.options.name == name then return candidate end
  end
  error(("compare: option 'baseline': no candidate is named '%s'"):format(name), 0)
end

local function add_ratio(result, candidate, baseline)
  if candidate.status ~= "ok" then return end
  result.baseline = baseline.options.name
  if baseline.status ~= "ok" then
    Candidate.note(result, ("no ratio: the baseline is %s: %s"):format(baseline.status, baseline.reason))
  elseif candidate == baseline then
    result.ratio, result.ratio_low, result.ratio_high, result.agrees = 1, 1, 1, true
  else
    local found = interleaving.relate(candidate.times, baseline.times)
    if found.reason then Candidate.note(result, found.reason) end
    found.reason = nil
    for key, value in pairs(found) do result[key] = value end
  end
end

--- The rows of candidates that were measured together, related to one of them.
local function related_rows(candidates, baseline)
  local rows = rows_of(candidates)
  for i, candidate in ipairs(candidates) do add_ratio(rows[i], candidate, baseline) end
  return rows
end

function bench.compare(list, given)
  if type(list) ~= "table" then error("compare: list of candidates expected, got " .. type(list), 0) end
  local count = 0
  for key in pairs(list) do
    if math.type(key) ~= "integer" then
      error(("compare: list of candidates expected, got a table with the key '%s'"):format(key), 0)
    end
    count = math.max(count, key)
  end
  for i = 1, count do
    if list[i] == nil then error(("compare: candidate %d: table expected, got nil"):format(i), 0) end
  end
  options.check("compare", given or {}, COMPARE)
  for i, candidate in ipairs(list) do Candidate.check(("compare: candidate %d"):format(i), candidate) end
  local settings = with_defaults("compare", given or {})
  local named = {}
  for i, candidate in ipairs(list) do named[i] = { options = candidate } end
  if #list > 0 then find_baseline(named, settings.baseline) end -- before anything is measured
  local candidates = measure_all(list, settings, peak.source(settings.peak))
  return related_rows(candidates, find_baseline(candidates, settings.baseline))
end

function bench.peak(device, given)
  given = options.check("peak", given or {}, PEAK)
  if not timing.is_device(device) then error("peak: Device expected, got " .. type(device), 0) end
  options.positive("peak", given, "seconds")
  options.one_of("peak", given, "dtype", { float = true, double = true, half = true, int = true })
  options.one_of("peak", given, "only", { flops = true, bytes_per_second = true })
  local seconds, found = given.seconds or peak.SECONDS, { dtype = given.dtype or "float" }
  if given.only ~= "flops" then found.bytes_per_second, found.buffer = peak.bandwidth(device, seconds) end
  if given.only ~= "bytes_per_second" then found.flops = peak.flops(device, found.dtype, seconds) end
  return found
end

--- The index of the first that is well, of the candidates of points that are measured together.
local function first_well(candidates)
  for i, candidate in ipairs(candidates) do
    if candidate.status == "ok" then return i end
  end
end

function bench.sweep(given)
  options.check("sweep", given, options.merge(SETTINGS, sweep.OPTIONS))
  options.positive("sweep", given, "limit")
  local settings = with_defaults("sweep", given)
  local peak_of = peak.source(settings.peak)
  local quiet = options.merge(settings, { progress = function() end })
  return sweep.run(settings, function(list)
    for _, candidate in ipairs(list) do Candidate.check("sweep: what run() returned", candidate) end
    local candidates = measure_all(list, quiet, peak_of)
    local first = settings.together and first_well(candidates)
    if not first then return rows_of(candidates) end
    return related_rows(candidates, candidates[first]), first
  end)
end

return raising.guarded(arity.functions(bench))
