-- SPDX-License-Identifier: MIT
--- One of those that are measured: its first call and the check of what it computed, and timed runs.
-- @module clcompute.bench.candidate

local clock = require "clcompute.bench.clock"
local split = require "clcompute.bench.split"
local target = require "clcompute.bench.target"

local Candidate = {}
Candidate.__index = Candidate

local MAX_BATCH = 1 << 20

--- A candidate from its checked options (`clcompute.bench`).
function Candidate.new(options)
  local self = setmetatable({ options = options, target = target.new(options.device), batch = 1, times = {},
    status = "ok", checked = false }, Candidate)
  local lack = options.unsupported or target.lacks(self.target, options.needs)
  if lack then self.status, self.reason = "unsupported", lack end
  return self
end

--- Calls f(...); an error fails the candidate, but an interrupt by the user goes on.
-- @return whether it went well, and what f returned
function Candidate:attempt(f, ...)
  local results = table.pack(pcall(f, ...))
  if results[1] then return table.unpack(results, 1, results.n) end
  local message = tostring(results[2])
  if message:find "interrupted!$" then error(message, 0) end
  self.status, self.reason = "failed", message
  return false
end

--- Seconds of a run of n calls, each with what it queued; and what the last one returned.
local function run(self, n)
  local fn, result, own = self.options.fn, nil, 0
  if self.options.reset then self.options.reset() end
  target.wait(self.target)
  local start = clock.now()
  for _ = 1, n do
    result = fn()
    if self.options.timed then own = own + result end
  end
  target.wait(self.target)
  return self.options.timed and own or clock.now() - start, result
end

--- The function's results of a timed call are seconds, then what it computed.
local function first_call(self)
  local fn, timed = self.options.fn, self.options.timed
  if self.options.reset then self.options.reset() end
  local start = clock.now()
  local first, second = fn()
  target.learn(self.target, first)
  target.wait(self.target)
  local seconds = clock.now() - start
  if not timed then return seconds, first end
  if type(first) ~= "number" then error("timed: fn must return its seconds, returned " .. type(first), 0) end
  return first, second
end

--- Judges what `check` returned: the error as a share of its bound, or whether it is right.
local function judge(self, verdict, detail)
  if type(verdict) == "number" then
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

--- The first call, timed by itself and profiled for what it compiles; then the check.
function Candidate:start()
  local ok, parts, seconds, result = self:attempt(split.of, first_call, self)
  if not ok then return end
  self.cold, self.compile = seconds, parts and parts.compile
  if not self.options.check then return end
  local went_well, verdict, detail = self:attempt(self.options.check, result)
  if went_well then judge(self, verdict, detail) end
end

--- A warm call, profiled if the first one could be: where its time goes.
function Candidate:divide()
  if not self.compile then return end
  local ok, parts, took = self:attempt(split.of, run, self, 1)
  if not (ok and parts) then return end
  self.warm = took
  self.upload, self.kernel, self.download = parts.upload, parts.kernel, parts.download
end

--- Warms up unless that was done, and finds how many calls of a run last at least so many seconds. What must be
-- reset before each call is called once a run.
function Candidate:calibrate(seconds)
  local ok, took = true, self.warm
  if not took then ok, took = self:attempt(run, self, 1) end
  while ok and took < seconds and self.batch < MAX_BATCH and not self.options.reset do
    local growth = took > 0 and math.min(10, math.max(1.1 * seconds / took, 1.2)) or 10
    self.batch = math.min(MAX_BATCH, math.ceil(self.batch * growth))
    ok, took = self:attempt(run, self, self.batch)
  end
end

--- One run; adds the seconds of a call to `times`.
-- @treturn number the seconds that it took
function Candidate:run()
  local ok, took = self:attempt(run, self, self.batch)
  if not ok then return 0 end
  self.times[#self.times + 1] = took / self.batch
  return took
end

return Candidate
