-- SPDX-License-Identifier: MIT

--- Whether a nest runs on the device or in Lua: a pure function of what a call is about to do, what that costs on such
-- a device, and what earlier calls took.
--
-- "model" (unless told otherwise) compares times: launches, copies and the work on the device with the work in
-- Lua. Copies depend on which other nests run on the device, so nests are given back to Lua one by one as long as
-- that makes the whole shorter. Where calls were measured their factors correct the model, and the choice
-- that was made before is left only for one that is clearly shorter. "paper" takes the two rules that Belevantsev,
-- Kravets & Monakov 2012 derive from Amdahl's law: a nest must be deeper than the rank of what must be copied for it,
-- and deeper than the sequential loops around it. "none" takes every nest.

local costs = require "clcompute.loops.runtime.costs"
local plans = require("clcompute.loops.tree").plan

local profitability = {}

local CLEARLY = 0.8 -- of the time of the choice that stands
local MEASURED = 1.0 -- of it, where both were measured

-- --- figures ------------------------------------------------------------------------------

--- What each nest takes on either side.
-- @tparam table numbers of `clcompute.loops.generation.work_estimate`
-- @tparam table row of `clcompute.loops.runtime.costs`
-- @tparam ?table memory of `clcompute.loops.runtime.costs`
-- @treturn table `device` and `lua`, seconds by index of the nest; `is_measured`, the same fields, whether calls have
-- corrected them; `model`, the same fields, what the model says; `launches`, `has_rounds`, `is_spread`, `work`,
-- `items`, `row`, `memory`, `total` (statements of the call)
function profitability.figures(numbers, row, memory)
  local passes, waits = numbers.passes or {}, numbers.waits or {}
  local figures = { launches = numbers.launches, work = numbers.work, items = numbers.items,
    total = numbers.total, has_rounds = numbers.has_rounds, is_spread = numbers.is_spread or {}, row = row,
    memory = memory, model = { device = {}, lua = {} }, device = {}, lua = {},
    is_measured = { device = {}, lua = {} } }
  for index, work in ipairs(numbers.work) do
    local is_one_group = waits[index] and row.together and not figures.is_spread[index]
    local items = is_one_group and math.min(numbers.items[index], row.together)
    figures.model.device[index] = costs.device_seconds(row, numbers.launches[index], work,
      items or numbers.items[index], numbers.is_vector[index])
    local alone = numbers.alone and numbers.alone[index] or 0
    figures.model.device[index] = figures.model.device[index] + (waits[index] or 0) * row.meeting
      + alone * row.statement
    if costs.are_small(row, work, passes[index] or waits[index]) then
      figures.model.device[index] = figures.model.device[index] * costs.HOPE
    end
    figures.model.lua[index] = numbers.operations[index] * costs.HOST.operation
    for _, side in ipairs { "device", "lua" } do
      local factor = memory and costs.factor(memory, side, index, work)
      figures[side][index] = figures.model[side][index] * (factor or 1)
      figures.is_measured[side][index] = factor ~= nil
    end
    if passes[index] and figures.is_measured.device[index] then
      figures.device[index] = figures.device[index] * costs.DOUBT
    end
  end
  return figures
end

-- --- what a choice costs ------------------------------------------------------------------

--- Runs through a plan as a call would, counting copies and finding which nests run. A loop's second iteration stands
-- for all further ones, and every arm of an `if` is taken.
local Walk = {}
Walk.__index = Walk

local function copy(self, array, times)
  local row = self.row
  self.copies = self.copies + times
  self.bytes = self.bytes + times * array.bytes
  self.copy_seconds = self.copy_seconds
    + times * (row.copy + array.bytes * row.byte + array.elements * costs.HOST.element
      + (array.rows or 0) * costs.HOST.row)
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
    elseif part.instead and not self.on_device[part.index] then
      self:plan(part.instead, times)
    else
      if not self.runs[part] then table.insert(self.runs, part) end
      self.runs[part] = true
      use(self, part.kind == "kernel" and self.on_device[part.index] and "device" or "host", part, times)
    end
  end
end

--- Counts the copies of a choice.
local function count_copies(plan, numbers, arrays, on_device, row)
  local walk = setmetatable({ row = row, numbers = numbers, arrays = arrays, on_device = on_device, valid = {},
    runs = {}, copies = 0, bytes = 0, copy_seconds = 0.0 }, Walk)
  for variable, array in pairs(arrays) do walk.valid[variable] = { host = array.host, device = array.device } end
  walk:plan(plan, 1)
  for variable, array in pairs(arrays) do
    if array.home ~= "nowhere" and not walk.valid[variable][array.home] then copy(walk, array, 1) end
  end
  return walk
end

--- Seconds of a call's nests and copies for a choice.
-- @tparam table plan of `nests`
-- @tparam table numbers of `clcompute.loops.generation.work_estimate`
-- @tparam table arrays by variable: `bytes`, `elements` (those that go through a Lua table), `rows` (tables in that
-- table; nil: none), `host`, `device` (where it is valid at the start), `home` (where it must be valid at the end, or
-- "nowhere")
-- @tparam table on_device by index of the nest
-- @tparam table figures of the same numbers
-- @treturn table `seconds`, `copies`, `bytes`, `copy_seconds` (of copies and of waiting, by the model), `rest`: the
-- operations of Lua beside nests, `runs`: the nests and parts of Lua that run, also as keys
function profitability.cost(plan, numbers, arrays, on_device, figures)
  local walk = count_copies(plan, numbers, arrays, on_device, figures.row)
  local seconds, rest, is_used = 0.0, 0, false
  for _, part in ipairs(walk.runs) do
    local index = part.index
    if part.kind == "lua" then
      rest = rest + numbers.rest[part]
    else
      is_used = is_used or on_device[index] and numbers.launches[index] > 0
      seconds = seconds + figures[on_device[index] and "device" or "lua"][index]
    end
  end
  if is_used then walk.copy_seconds = walk.copy_seconds + figures.row.wait end
  local factor = figures.memory and costs.copy_factor(figures.memory, walk.bytes) or 1
  local of_rest = figures.memory and costs.factor(figures.memory, "lua", costs.REST, rest) or 1
  return { seconds = seconds + rest * costs.HOST.operation * of_rest + walk.copy_seconds * factor,
    copies = walk.copies, bytes = walk.bytes, copy_seconds = walk.copy_seconds, rest = rest, runs = walk.runs }
end

-- --- the model ----------------------------------------------------------------------------

local function all(plan, value)
  local on_device = {}
  for index in ipairs(plan.kernels) do on_device[index] = value end
  return on_device
end

--- The next nests of plans in whose place something else may run.
local function tasks_in(bodies, list)
  for _, body in ipairs(bodies) do
    for _, part in ipairs(body) do
      if part.instead then list[#list + 1] = part else tasks_in(plans.bodies(part), list) end
    end
  end
  return list
end

--- What may be given back to Lua at once: each nest, and a task with those in its place that are such, too: one of them
-- alone may take as long, and what is in the place of all be much faster.
local function given_back(plan)
  local list = {}
  for _, kernel in ipairs(plan.kernels) do
    local nests, level = {}, { kernel }
    while #level > 0 do
      local bodies = {}
      for _, task in ipairs(level) do
        nests[#nests + 1], bodies[#bodies + 1] = task.index, task.instead
      end
      list[#list + 1] = table.move(nests, 1, #nests, 1, {})
      level = tasks_in(bodies, {})
    end
  end
  return list
end

--- Those of some nests that are on the device, if the first one is.
local function left_of(nests, on_device)
  local list = {}
  for _, index in ipairs(on_device[nests[1]] and nests or {}) do
    if on_device[index] then list[#list + 1] = index end
  end
  return list
end

--- Gives nests back to Lua, each time what helps most.
local function improve(plan, numbers, arrays, on_device, figures, best)
  local choices = given_back(plan)
  while true do
    local found
    for _, nests in ipairs(choices) do
      nests = left_of(nests, on_device)
      if #nests > 0 then
        for _, index in ipairs(nests) do on_device[index] = false end
        local without = profitability.cost(plan, numbers, arrays, on_device, figures)
        for _, index in ipairs(nests) do on_device[index] = true end
        if without.seconds < best.seconds then found, best = nests, without end
      end
    end
    if not found then return best end
    for _, index in ipairs(found) do on_device[index] = false end
  end
end

--- Whether all that a choice runs on the device was measured.
local function is_measured(cost, on_device, figures)
  for _, part in ipairs(cost.runs) do
    local index = part.kind == "kernel" and part.index
    if index and on_device[index] and not figures.is_measured.device[index] then return false end
  end
  return true
end

--- The choice that takes the shortest time, but the standing one where that is hardly longer; also its cost.
local function shortest(plan, numbers, arrays, figures, standing, in_lua, on_all)
  local on_device = all(plan, true)
  local best = improve(plan, numbers, arrays, on_device, figures, on_all)
  if best.seconds >= in_lua.seconds then on_device, best = all(plan, false), in_lua end
  if standing then
    local cost = profitability.cost(plan, numbers, arrays, standing, figures)
    local is_known = is_measured(cost, standing, figures) and is_measured(best, on_device, figures)
    if best.seconds > (is_known and MEASURED or CLEARLY) * cost.seconds then on_device, best = standing, cost end
  end
  return on_device, best
end

local function by_model(plan, numbers, arrays, figures, standing, preset)
  local in_lua = profitability.cost(plan, numbers, arrays, all(plan, false), figures)
  local on_all = profitability.cost(plan, numbers, arrays, all(plan, true), figures)
  local on_device, best = preset, preset and profitability.cost(plan, numbers, arrays, preset, figures)
  if not preset then on_device, best = shortest(plan, numbers, arrays, figures, standing, in_lua, on_all) end
  on_device = table.move(on_device, 1, #on_device, 1, {})
  for index, kernel in ipairs(plan.kernels) do on_device[index] = on_device[index] and best.runs[kernel] == true end
  return { on_device = on_device, seconds = best.seconds, lua_seconds = in_lua.seconds,
    device_seconds = on_all.seconds, copies = on_all.copies, bytes = best.bytes, all_bytes = on_all.bytes,
    copy_seconds = best.copy_seconds, rest = best.rest, in_lua = in_lua, reasons = {} }
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

--- The work of a nest and what it takes on either side, in words.
-- @tparam table figures
-- @tparam integer index of the nest
function profitability.sides(figures, index)
  local function told(side)
    return profitability.time(figures[side][index]), figures.is_measured[side][index] and "measured" or "model"
  end
  local device, of_device = told "device"
  local lua, of_lua = told "lua"
  return ("launches: %s, statements: %s, work-items: %s; they take %s on the device (%s), %s in Lua (%s)"):format(
    profitability.count(figures.launches[index]), profitability.count(figures.work[index]),
    profitability.count(figures.items[index]), device, of_device, lua, of_lua)
end

--- Decides for each nest of a plan.
-- @tparam table plan of `nests`
-- @tparam table numbers as for `cost`
-- @tparam table arrays as for `cost`
-- @tparam table figures as for `cost`
-- @tparam table options `heuristics`: "model", "paper" or "none"; `force`: true or false, for all nests
-- @tparam ?table standing the choice made before for calls like this, by index
-- @tparam ?table preset the choice that "model" is to make
-- @treturn table `on_device` and `reasons` (where there are any but figures) by index, `figures`; of "model" also
-- `lua_seconds`, `device_seconds`, `copies` and `all_bytes` (all on the device), `seconds`, `bytes`, `copy_seconds` and
-- `rest` of the choice, and `in_lua`, the cost of all in Lua
function profitability.decide(plan, numbers, arrays, figures, options, standing, preset)
  local fixed, verdict
  if options.force ~= nil then fixed = options.force elseif options.heuristics == "none" then fixed = true end
  if fixed ~= nil then
    local told = options.force ~= nil and ("force = %s"):format(options.force) or 'heuristics = "none"'
    verdict = { on_device = all(plan, fixed), reasons = all(plan, told) }
  elseif options.heuristics == "paper" then
    verdict = by_paper(plan, arrays)
  else
    verdict = by_model(plan, numbers, arrays, figures, standing, preset)
  end
  verdict.figures, verdict.is_spread = figures, figures.is_spread
  return verdict
end

return profitability
