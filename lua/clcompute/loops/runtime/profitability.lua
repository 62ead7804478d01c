-- SPDX-License-Identifier: MIT

--- Whether a nest runs on the device or in Lua: a pure function of what a call is about to do.
--
-- "model" (unless told otherwise) compares times: those of launches, of copies and of the work on the device with that
-- of the work in Lua. Copies depend on which other nests run on the device, so nests are given back to Lua one by one
-- as long as that makes the whole shorter. "paper" takes the two rules that Belevantsev, Kravets & Monakov 2012 derive
-- from Amdahl's law: a nest must be deeper than the rank of what must be copied for it, and deeper than the sequential
-- loops around it. "none" takes every nest.
-- @module clcompute.loops.runtime.profitability

local profitability = {}

--- Costs in seconds, measured with POCL 3.1 on two cores.
profitability.COSTS = {
  launch = 30e-6,
  copy = 17e-6, -- however small
  byte = 1 / 4.5e9,
  element = 50e-9, -- from or to a Lua table
  device_work = 0.5e-9, -- a statement, once
  lua_work = 50e-9,
  build = 0.4, -- of the program, the first time; less where an earlier process left it in the cache
}

-- --- what a choice costs ------------------------------------------------------------------

--- Runs through a plan as a call would, counting copies. A loop's second iteration stands for all further ones, and
-- every arm of an `if` is taken.
local Walk = {}
Walk.__index = Walk

local function copy(self, array, times)
  local costs = self.costs
  self.copies = self.copies + times
  self.bytes = self.bytes + times * array.bytes
  self.seconds = self.seconds + times * (costs.copy + array.bytes * costs.byte + array.elements * costs.element)
end

local function use(self, side, part, times)
  local other = side == "device" and "host" or "device"
  local unneeded = self.numbers.unneeded and self.numbers.unneeded[part.index] or {}
  for _, list in ipairs { part.reads, part.writes } do
    for _, variable in ipairs(list) do
      local state = self.valid[variable]
      if not state[side] and not unneeded[variable] then copy(self, self.arrays[variable], times) end
      state[side] = true
    end
  end
  for _, variable in ipairs(part.writes) do self.valid[variable][other] = false end
end

function Walk:plan(plan, times)
  if times <= 0 then return end
  for _, part in ipairs(plan) do
    if part.kind == "loop" then
      local count = self.numbers.counts[part.node] or 0
      if count > 0 then
        self:plan(part.body, times)
        self:plan(part.body, times * (count - 1))
      end
    elseif part.kind == "if" then
      use(self, "host", part, times)
      for _, arm in ipairs(part.arms) do self:plan(arm.body, times) end
      if part.otherwise then self:plan(part.otherwise, times) end
    elseif part.kind == "either" then
      self:plan(self.numbers.is_few[part] and part.few or part.many, times)
    elseif part.kind == "kernel" and self.on_device[part.index] then
      use(self, "device", part, times)
    else
      use(self, "host", part, times)
    end
  end
end

--- Seconds of a call's nests and copies for a choice.
-- @tparam table plan of `nests`
-- @tparam table numbers of `clcompute.loops.generation.estimate`
-- @tparam table arrays by variable: `bytes`, `elements` (those that go through a Lua table), `host`, `device` (where it
-- is valid at the start), `home` (where it must be valid at the end)
-- @tparam table on_device by index of the nest
-- @treturn table `seconds`, `copies`, `bytes`
function profitability.cost(plan, numbers, arrays, on_device)
  local costs = profitability.COSTS
  local walk = setmetatable({ costs = costs, numbers = numbers, arrays = arrays, on_device = on_device, valid = {},
    copies = 0, bytes = 0, seconds = 0.0 }, Walk)
  for variable, array in pairs(arrays) do walk.valid[variable] = { host = array.host, device = array.device } end
  walk:plan(plan, 1)
  for variable, array in pairs(arrays) do
    if not walk.valid[variable][array.home] then copy(walk, array, 1) end
  end
  for index, work in ipairs(numbers.work) do
    if on_device[index] then
      walk.seconds = walk.seconds + numbers.launches[index] * costs.launch + work * costs.device_work
    else
      walk.seconds = walk.seconds + work * costs.lua_work
    end
  end
  return walk
end

-- --- the model ----------------------------------------------------------------------------

local function all(plan, value)
  local on_device = {}
  for index in ipairs(plan.kernels) do on_device[index] = value end
  return on_device
end

--- Gives nests back to Lua, each time the one that helps most.
local function improve(plan, numbers, arrays, on_device, seconds)
  while true do
    local best, least = nil, seconds
    for index in ipairs(plan.kernels) do
      if on_device[index] then
        on_device[index] = false
        local without = profitability.cost(plan, numbers, arrays, on_device).seconds
        on_device[index] = true
        if without < least then best, least = index, without end
      end
    end
    if not best then return seconds end
    on_device[best], seconds = false, least
  end
end

--- The work of a nest and what it takes on either side, in words.
local function sides_of(numbers, index)
  local costs = profitability.COSTS
  return ("launches: %s, statements: %s; they take %s on the device, %s in Lua"):format(
    profitability.count(numbers.launches[index]), profitability.count(numbers.work[index]),
    profitability.time(numbers.launches[index] * costs.launch + numbers.work[index] * costs.device_work),
    profitability.time(numbers.work[index] * costs.lua_work))
end

local function by_model(plan, numbers, arrays)
  local in_lua = profitability.cost(plan, numbers, arrays, all(plan, false))
  local on_device = all(plan, true)
  local on_all = profitability.cost(plan, numbers, arrays, on_device)
  local seconds = improve(plan, numbers, arrays, on_device, on_all.seconds)
  if seconds >= in_lua.seconds then on_device, seconds = all(plan, false), in_lua.seconds end
  local verdict = { on_device = on_device, seconds = seconds, lua_seconds = in_lua.seconds,
    device_seconds = on_all.seconds, copies = on_all.copies, bytes = on_all.bytes, reasons = {} }
  for index in ipairs(plan.kernels) do verdict.reasons[index] = sides_of(numbers, index) end
  return verdict
end

-- --- the paper ----------------------------------------------------------------------------

local function by_paper(plan, arrays)
  local verdict = { on_device = {}, reasons = {} }
  for index, kernel in ipairs(plan.kernels) do
    local rank, outside = 0, #kernel.host_loops
    for _, list in ipairs { kernel.reads, kernel.writes } do
      for _, variable in ipairs(list) do
        if not arrays[variable].device then rank = math.max(rank, variable.rank) end
      end
    end
    verdict.on_device[index] = kernel.depth > rank and kernel.depth > outside
    verdict.reasons[index] = ("loops in it: %d; dimensions of what must be copied: %d; sequential loops around: %d; "
      .. "the first must be the largest"):format(kernel.depth, rank, outside)
  end
  return verdict
end

-- --- verdicts -----------------------------------------------------------------------------

--- A time for people.
function profitability.time(seconds)
  if seconds < 1e-3 then return ("%.3g us"):format(seconds * 1e6) end
  if seconds < 1 then return ("%.3g ms"):format(seconds * 1e3) end
  return ("%.3g s"):format(seconds)
end

--- A count for people.
function profitability.count(number)
  return number < 1e6 and ("%d"):format(number // 1 | 0) or ("%.3g"):format(number)
end

--- Decides for each nest of a plan.
-- @tparam table plan of `nests`
-- @tparam table numbers as for `cost`
-- @tparam table arrays as for `cost`
-- @tparam table options `heuristics`: "model", "paper" or "none"; `force`: true or false, for all nests
-- @treturn table `on_device` and `reasons` by index; of "model" also `lua_seconds`, `device_seconds`, `seconds`
function profitability.decide(plan, numbers, arrays, options)
  local fixed
  if options.force ~= nil then fixed = options.force elseif options.heuristics == "none" then fixed = true end
  if fixed ~= nil then
    local told = options.force ~= nil and ("force = %s"):format(options.force) or 'heuristics = "none"'
    local reasons = {}
    for index in ipairs(plan.kernels) do reasons[index] = ("%s; %s"):format(told, sides_of(numbers, index)) end
    return { on_device = all(plan, fixed), reasons = reasons }
  end
  if options.heuristics == "paper" then return by_paper(plan, arrays) end
  return by_model(plan, numbers, arrays)
end

return profitability
