-- SPDX-License-Identifier: MIT
--- Looks for better numbers for an operation on a device: one number after the other is changed, each candidate is
-- checked and measured in turns with the best one so far, and what is clearly faster stays. What was found is kept in
-- the user's configuration folder (`clcompute.tuning.store`) and used from then on.

local arity = require("clcompute.base").arity
local bench = require "clcompute.bench"
local cl = require "clcompute"
local options = require("clcompute.base").options
local raising = require("clcompute.base").raising
local suite = require "clcompute.suite"
local tuning = require "clcompute.tuning"

local candidates, store = tuning.candidates, tuning.store

local tune = {}

local ROUNDS, LAST_ROUNDS = 7, 15
local CLEARLY = 0.98 -- of the time of the best one so far, at most, with all the spread there is
local OPTIONS = { operations = "table", dtypes = "table", seconds = "number", keep = "boolean", progress = "function" }

function tune.operations()
  local names = {}
  for name in pairs(candidates) do names[#names + 1] = name end
  table.sort(names)
  return names
end

-- --- candidates -----------------------------------------------------------------

local function copy(row, key, value)
  local made = {}
  for name, number in pairs(row) do made[name] = number end
  made.units, made.where = nil, nil -- the device's own
  if key then made[key] = value end
  return made
end

local function is_same(x, y)
  if type(x) ~= "table" or type(y) ~= "table" then return x == y end
  for key, value in pairs(x) do
    if not is_same(value, y[key]) then return false end
  end
  for key in pairs(y) do
    if x[key] == nil then return false end
  end
  return true
end

--- What is tried for a row: the candidates for its kernel, or nil.
local function choice_for(operation, row)
  for _, choice in ipairs(candidates[operation]) do
    if choice.kernel == row.kernel then return choice end
  end
end

--- The workloads that a candidate runs through, one after the other.
local function parts_of(self)
  local parts = {}
  for i, line in ipairs(self.choice.lines) do
    parts[i] = suite.candidate(suite.workload(self.operation, line, self.dtype), self.device)
  end
  return parts
end

--- The largest share of what an error may be, or false and what is wrong.
local function worst_of(parts)
  local worst = 0.0
  for _, part in ipairs(parts) do
    local share, fault = part.check()
    if share == false then return false, fault end
    worst = math.max(worst, math.type(share) and share or 0.0)
  end
  return worst
end

local function candidate(self, name, row)
  local device, parts, total = self.device, self.parts, 0
  for _, part in ipairs(parts) do total = total + (part.flops or 0) end
  return {
    name = name, device = device, dtype = self.dtype, flops = total > 0 and total or nil,
    reset = parts[1].reset and function()
      for _, part in ipairs(parts) do part.reset() end
    end,
    fn = function()
      tuning.use(device, self.operation, self.dtype, row)
      for _, part in ipairs(parts) do part.fn() end
    end,
    check = function() return worst_of(parts) end,
  }
end

-- --- the search -----------------------------------------------------------------

--- Measures a row in turns with the best one. Returns its row of results, and whether it is clearly faster.
local function try(self, name, row, rounds)
  local rows = bench.compare({ candidate(self, "best so far", self.best), candidate(self, name, row) },
    { rounds = rounds, seconds = 0.2, peak = false })
  local result = rows[2]
  return result, result.status == "ok" and result.ratio_high ~= nil and result.ratio_high < CLEARLY, rows[1]
end

local function is_late(self) return cl.clock() >= self.deadline end

--- One pass over all numbers; returns whether anything became better.
local function pass(self)
  local improved = false
  for _, pair in ipairs(self.choice.values) do
    local key, values = pair[1], pair[2]
    for i, value in ipairs(values) do
      if is_late(self) then return false end
      if not is_same(value, self.best[key]) then
        local name = type(value) == "table" and ("%s %d"):format(key, i) or ("%s = %s"):format(key, value)
        local result, faster = try(self, name, copy(self.best, key, value), ROUNDS)
        if faster then self.best, improved = copy(self.best, key, value), true end
        self.tried[#self.tried + 1] = result
        self.progress { operation = self.operation, dtype = self.dtype, name = name, faster = faster,
          status = result.status }
      end
    end
  end
  return improved
end

--- Tunes one operation for one dtype.
local function search(device, operation, dtype, settings, deadline)
  local before = tuning.of(device, operation, dtype)
  local self = { device = device, operation = operation, dtype = dtype, best = copy(before), tried = {},
    choice = choice_for(operation, before), deadline = deadline, progress = settings.progress }
  local found = { operation = operation, dtype = dtype, tried = self.tried, before = copy(before) }
  if not self.choice then
    found.reason = ("nothing to tune: this device uses '%s'"):format(before.kernel)
    return found
  end
  self.parts = parts_of(self)
  while pass(self) do end
  found.after = self.best
  if is_same(self.best, found.before) then
    found.reason = "nothing faster was found"
    return found
  end
  local best = self.best
  self.best = found.before
  local result, faster, standing = try(self, "found", best, LAST_ROUNDS)
  found.before_seconds, found.after_seconds, found.ratio = standing.value, result.value, result.ratio
  found.is_faster = faster
  if not faster then found.reason = "not clearly faster when measured once more" end
  return found
end

function tune.run(device, given)
  if options.type_of(device) ~= "Device" then
    error("tune.run: Device expected, got " .. options.type_of(device), 0)
  end
  given = options.check("tune.run", given or {}, OPTIONS)
  options.positive("tune.run", given, "seconds")
  local wanted = given.operations or tune.operations()
  local dtypes = given.dtypes or (device.has_double and { "float", "double" } or { "float" })
  for _, operation in ipairs(wanted) do
    if not candidates[operation] then
      error(("tune.run: no operation '%s'; there are %s"):format(operation, table.concat(tune.operations(), ", ")), 0)
    end
  end
  local settings = { progress = given.progress or function() end }
  local list, share = {}, (given.seconds or 120) / (#wanted * #dtypes)
  for _, operation in ipairs(wanted) do
    for _, dtype in ipairs(dtypes) do
      local ok, found = pcall(search, device, operation, dtype, settings, cl.clock() + share)
      tuning.use(device, operation, dtype, nil)
      if not ok then error(found, 0) end
      if found.is_faster and given.keep ~= false then
        found.path = store.keep(store.key(device, operation, dtype), found.after)
      end
      list[#list + 1] = found
    end
  end
  tuning.reload()
  return list
end

return raising.guarded(arity.functions(tune))
