-- SPDX-License-Identifier: MIT
--- Measures functions: queued work of devices, or anything else. A measurement is a row, a plain table;
-- nothing is printed.
--
-- A candidate is a table of `fn` and any of these: `name`; `params`, plain values that identify it;
-- `device`, a Device or a list of them, whose queues each run waits for (default: all devices, and that
-- of the Event or Buffer that fn returns), or a string, the name of what runs it without a queue; `flops`
-- and `bytes` of a call; `dtype` ("float"), whose peak counts; `check(result)`, called once with what the
-- first call returned: it returns the largest error as a share of its bound, or whether the result is
-- right and why not, or raises; `reset`, called before each run, which then is one call; `timed=true`: fn
-- returns the seconds it took, then its result; `split=false`: what it queues is not this library's, so
-- `cl.profile` cannot tell where its time goes; `unit` of the times, "s", "ms", "us" or "ns"; `needs`,
-- "double" or "half"; `unsupported`, why it cannot run.
--
-- A row has `name`, `params`, `device`, `driver`, `date`; `value` (the median of a call), `min`, `q1`,
-- `q3` in `unit`; `runs` and `batch`, the calls of a run; in seconds `cold`, the first call with what it
-- compiled; as far as `cl.profile` sees it `compile` of the first call, and `upload`, `kernel`,
-- `download` of a warm one (nil for what is `timed`, runs without a queue or has `split=false`, and while
-- the script itself profiles); `flops`, `bytes`, `gflops`, `gbs`, `peak_share`, the share of the peak that
-- binds, above 1 where its data stay in a cache, since the peak is that of the memory; `checked`,
-- `max_error`; `status`, "ok", "unsupported", "skipped" or "failed", and the `reason`. That of a row which
-- is "ok" tells what else it lacks: rates, a peak that could not be measured, a ratio. A row of `compare`
-- also has `baseline`, its name; `ratio` of the times (below 1 is faster), `ratio_low` and `ratio_high`,
-- between which it lies with `ratio_confidence`: 0.999, or less after few rounds; and `agrees`: whether
-- the ratio, taken three times, is the same within 10 %; if not, `reason` says so.
-- @module clcompute.bench
-- @usage local row = bench.measure(function() cl.saxpy(2, x, y) end, { device = d, bytes = 12 * #x })

local Candidate = require "clcompute.bench.candidate"
local interleaving = require "clcompute.bench.interleaving"
local options = require("clcompute.base").options
local peak = require "clcompute.bench.peak"
local sweep = require "clcompute.bench.sweep"
local timing = require "clcompute.bench.timing"

local bench = {}

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
  local function report(stage, candidate, round)
    settings.progress { stage = stage, name = candidate.options.name, device = candidate.target.name,
      round = round, rounds = settings.rounds }
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

--- Measures one function: one call alone, then at least five runs, each of as many calls as make it last.
-- @function measure
-- @tparam function fn queues work or does it; not called with arguments
-- @tparam[opt] table given fields of a candidate, and `seconds` of warm runs (1); `rounds`, to fix their
--  number; `peak`, false to go without or what `bench.peak` returned (default: it is measured, where
--  `flops` or `bytes` and one device are known); `progress`, called with { stage=, name=, device=,
--  round=, rounds= }
-- @treturn table its row; a function that fails is one too
-- @raise only for wrong options
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

--- Measures candidates in turns, in an order that is fair to each, and relates them to one of them by the
-- runs of the same round. Eleven rounds at least; five where these take five times the `seconds`, as
-- `ratio_confidence` tells; or `rounds`.
-- @function compare
-- @tparam table list candidates
-- @tparam[opt] table given `seconds`, `rounds`, `peak`, `progress` as in `measure`; `baseline`, a name
--  (default: the first)
-- @treturn table a row for each, in their order
-- @raise only for wrong options
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

--- The most that a device does: operations by a loop of multiply-adds, bytes by a copy and an update in
-- place.
-- @function peak
-- @tparam Device device
-- @tparam[opt] table given `seconds` of each (0.2); `dtype` of the operations ("float", "double", "half" or "int");
--  `only`: "flops" or "bytes_per_second", where one of the two will do
-- @treturn table `flops` (operations a second, a multiply-add is two), `bytes_per_second` (read and
--  written, by buffers that exceed the cache where its memory allows), `buffer` (the bytes of each), `dtype`
-- @raise when the device computes a wrong result, or has no such dtype
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

--- Measures every combination of the values of some axes. Rows are appended to a file as they come; called
-- again, it goes on where it was cut off. A row of the file is kept only if it was measured as it would be
-- now (its `setup`: this version, `seconds`, `rounds`, `peak` and `together`) with a device and driver of
-- this process; others, and what failed, are measured again. One file is for one sweep: that of one over other
-- axes (`axes` of its rows) is refused. Which of several
-- devices a point is for, only an axis can tell.
-- @function sweep
-- @tparam table given the axes `devices`, `kernels`, `sizes`, `groups`, of which a point has `device`,
--  `kernel`, `size`, `group`, and further ones as `axes`, a list of { name, values } (the last axis
--  varies first); `run(point)` returns a candidate or nil and why there is none; `file`, a path ending in
--  .jsonl; `limit`, the seconds after which what is left becomes rows "skipped", not written;
--  `together`, names of axes, as { "group" }: points that differ only there are measured in turns, as by
--  `compare`, and their rows have its fields, relative to the first that is well; run() is called for all
--  of them before, and points kept from the file are left out; `work(point)`, how much there is to do, for
--  the estimate; `progress`, called with { done=, total=, point=, elapsed=, remaining= (seconds, nil while
--  nothing is known) }; `seconds`, `rounds` and `peak` as in `measure`, for each point
-- @treturn table rows in the order of the points; their `params` hold the point
-- @raise when options are wrong, or the file cannot be written or is not one of rows, before anything is measured
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

return bench
