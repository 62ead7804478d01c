-- SPDX-License-Identifier: MIT
--- A candidate of a bench: its first call and the check of what it computed, its timed runs, and the row that it
-- becomes.

local interrupt = require("clcompute.base").interrupt
local options = require("clcompute.base").options
local statistics = require("clcompute.base").statistics
local timing = require "clcompute.bench.timing"

local Candidate = {}
Candidate.__index = Candidate

local MAX_BATCH = 1 << 20
local QUARTERS = 4 -- runs; fewer have no quartiles
local PAUSE = 0.5 -- seconds: the longest that a busy machine makes a program wait

-- How many of each unit are a second.
local UNITS = { s = 1, ms = 1e3, us = 1e6, ns = 1e9 }

--- The options of a candidate (`clcompute.bench`) and their types.
Candidate.OPTIONS = { fn = "function", name = "string", params = "table", device = "Device|table|string",
  flops = "number", bytes = "number", dtype = "string", check = "function", reset = "function",
  timed = "boolean", split = "boolean", unit = "string", needs = "string", unsupported = "string" }

--- Raises unless the options of a candidate are right.
-- @string where begins messages: the function that was called
-- @tparam table given
function Candidate.check(where, given)
  options.check(where, given, Candidate.OPTIONS)
  if not given.fn and not given.unsupported then
    error(where .. ": option 'fn': function expected, got nil", 0)
  end
  timing.check(where, given.device)
  options.positive(where, given, "flops", "bytes")
  options.one_of(where, given, "dtype", { float = true, double = true })
  options.one_of(where, given, "needs", { double = true, half = true })
  options.one_of(where, given, "unit", UNITS)
  if given.needs and not given.device then error(where .. ": option 'needs' goes with 'device'", 0) end
end

--- Whether cl.profile sees the work: it sees neither the host's nor what times itself.
local function is_seen(self)
  return self.options.split ~= false and not self.options.timed and #self.target.devices > 0
end

--- A candidate from its checked options.
function Candidate.new(given)
  local self = setmetatable({ options = given, target = timing.target(given.device), batch = 1, times = {},
    status = "ok" }, Candidate)
  local lack = given.unsupported or timing.lacks(self.target, given.needs)
  if lack then self.status, self.reason = "unsupported", lack end
  return self
end

--- Calls f(...); an error fails the candidate, but an interrupt by the user goes on.
-- @return whether it went well, and what f returned
function Candidate:attempt(f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 1, results.n) end
  interrupt.pass_on(results[2])
  self.status, self.reason = "failed", interrupt.text(results[2])
  return false
end

--- Resets, and waits for what that queued: it is no part of a call.
local function prepare(self)
  if self.options.reset then self.options.reset() end
  timing.wait(self.target)
end

--- What a function that takes its own time may return.
local function check_seconds(value)
  if math.type(value) and value >= 0 and value < math.huge then return value end
  error(("timed: fn must return its seconds, returned %s"):format(math.type(value) and value or type(value)), 0)
end

--- Seconds of a run of n calls, each with what it queued.
-- @treturn number what they took, by the candidate's own clock if it has one
-- @treturn number what they lasted: the larger of that and what the clock shows. A clock may claim 0 s for
--  whatever is short, as POCL's of a command does
local function run(self, n)
  local fn, timed, own = self.options.fn, self.options.timed, 0
  prepare(self)
  local start = timing.now()
  for _ = 1, n do
    local result = fn()
    if timed then own = own + check_seconds(result) end
  end
  timing.wait(self.target)
  local wall = timing.now() - start
  return timed and own or wall, math.max(own, wall)
end

--- The function's results of a timed call are seconds, then what it computed.
local function first_call(self)
  local fn, timed = self.options.fn, self.options.timed
  prepare(self)
  local start = timing.now()
  local first, second = fn()
  timing.learn(self.target, first)
  timing.wait(self.target)
  local seconds = timing.now() - start
  if not timed then return seconds, first end
  return check_seconds(first), second
end

--- Judges what `check` returned: the error as a share of its bound, or whether it is right.
local function judge(self, verdict, detail)
  detail = type(detail) == "string" and detail or nil
  if type(verdict) == "number" and verdict < 0 then
    self.checked, detail = false, ("the check returned %s, which is no error: it must not be negative"):format(verdict)
  elseif type(verdict) == "number" then
    self.max_error = verdict
    self.checked = verdict <= 1
    detail = detail or ("the error is %.3g times its bound"):format(verdict)
  elseif type(verdict) == "boolean" then
    self.checked = verdict
  else
    detail = "the check returned " .. type(verdict) .. ", not a number or a boolean"
  end
  if not self.checked then self.status, self.reason = "failed", detail or "the check says no" end
end

--- Calls f(self, ...), profiled where that shows what it does.
-- @return whether it went well
-- @return its parts or nil, then what f returned
local function profiled(self, f, ...)
  if is_seen(self) then return self:attempt(timing.split, f, self, ...) end
  return self:attempt(function(...) return nil, f(self, ...) end, ...)
end

--- The first call, timed alone and profiled for what it compiles; then the check.
function Candidate:start()
  local ok, parts, seconds, result = profiled(self, first_call)
  if not ok then return end
  self.cold, self.compile = seconds, parts and parts.compile
  if not self.options.check then return end
  local went_well, verdict, detail = self:attempt(self.options.check, result)
  if went_well then judge(self, verdict, detail) end
end

--- A warm call, profiled if the first one could be: where its time goes.
function Candidate:divide()
  if not is_seen(self) then return end
  local ok, parts, _, lasted = profiled(self, run, 1)
  self.warm = ok and lasted or nil
  if not (ok and parts) then return end
  self.upload, self.kernel, self.download = parts.upload, parts.kernel, parts.download
end

--- Seconds that a run lasts, or nil when it fails. One that is long enough is repeated where a pause of the
-- machine may have been most of it.
local function length_of_run(self, enough, known)
  local ok, lasted, _ = true, known, nil
  if not known then ok, _, lasted = self:attempt(run, self, self.batch) end
  if not ok or lasted < enough or lasted >= PAUSE or self.options.reset then return ok and lasted or nil end
  local again
  ok, _, again = self:attempt(run, self, self.batch)
  return ok and math.min(lasted, again) or nil
end

--- Warms up unless that was done, and finds how many calls of a run last at least so many seconds. What must
-- be reset before each call is called once a run.
function Candidate:calibrate(seconds)
  local lasted = length_of_run(self, seconds, self.warm)
  while lasted and lasted < seconds and self.batch < MAX_BATCH and not self.options.reset do
    local growth = lasted > 0 and math.min(10, math.max(1.1 * seconds / lasted, 1.2)) or 10
    self.batch = math.min(MAX_BATCH, math.ceil(self.batch * growth))
    lasted = length_of_run(self, seconds)
  end
  self.call = lasted and lasted / self.batch
end

--- One run; adds the seconds of a call to `times`.
-- @treturn number the seconds that it lasted
function Candidate:run()
  local ok, took, lasted = self:attempt(run, self, self.batch)
  if not ok then return 0 end
  self.times[#self.times + 1] = took / self.batch
  return lasted
end

-- --- the row -----------------------------------------------------------------

--- Adds to the reason of a row, which may have one.
function Candidate.note(result, text)
  result.reason = result.reason and result.reason .. "; " .. text or text
end

--- The share of the peak that binds: what the peaks allow at best, over what it took.
local function peak_share(given, seconds, peak)
  local best = 0
  if given.flops and peak.flops then best = math.max(best, given.flops / peak.flops) end
  if given.bytes and peak.bytes_per_second then
    best = math.max(best, given.bytes / peak.bytes_per_second)
  end
  return best > 0 and best / seconds or nil
end

local function add_times(result, candidate)
  local unit = UNITS[result.unit]
  local summary = statistics.summary(candidate.times)
  result.value, result.min = summary.median * unit, summary.min * unit
  if #candidate.times >= QUARTERS then result.q1, result.q3 = summary.q1 * unit, summary.q3 * unit end
  result.runs, result.batch = #candidate.times, candidate.batch
  local given = candidate.options
  if not (summary.median > 0) then
    return Candidate.note(result, "no rates: by its own clock a call took 0 s")
  end
  result.gflops = given.flops and given.flops / summary.median / 1e9
  result.gbs = given.bytes and given.bytes / summary.median / 1e9
  if candidate.peak then result.peak_share = peak_share(given, summary.median, candidate.peak) end
  if candidate.no_peak then Candidate.note(result, "no peak: " .. candidate.no_peak) end
end

--- The row of the candidate, however it fared: a plain table, the same for reports and files.
function Candidate:row()
  local given = self.options
  local result = {
    name = given.name, params = given.params or {}, device = self.target.name,
    driver = self.target.driver, date = timing.date(), unit = given.unit or "s",
    cold = self.cold, compile = self.compile, upload = self.upload, kernel = self.kernel,
    download = self.download, flops = given.flops, bytes = given.bytes,
    checked = self.checked, max_error = self.max_error,
    status = self.status, reason = self.reason,
  }
  if self.status == "ok" then add_times(result, self) end
  return result
end

return Candidate
