-- SPDX-License-Identifier: MIT

--- A row of the PolyKernels in the forms that are compared: Lua, C by gcc on one and on all cores, and
-- `clcompute.loops` on each device.
-- @module clcompute.suite.papers.polykernels.candidates

local baseline = require "clcompute.suite.papers.polykernels.baseline"
local data = require "clcompute.suite.papers.polykernels.data"
local loops = require "clcompute.loops"

local candidates = {}

-- What is measured of `clcompute.loops`, by method: on what arguments, and by which heuristics.
candidates.OURS = {
  { method = "loops", heuristics = "model" },
  { method = "forced", heuristics = "none" },
  { method = "buffers", heuristics = "model", buffers = true },
}

--- Elements of the arrays that the row writes, packed, after its nest ran in Lua.
local function results_of(row, arguments)
  local results = {}
  for i, position in ipairs(row.written) do results[i] = data.pack(arguments[position]) end
  return results
end

local function compare(row, expected, result_at)
  for i, name in ipairs(row.results) do
    if result_at(i, name) ~= expected[i] then return false, name .. " differs from Lua's" end
  end
  return true
end

-- --- the forms --------------------------------------------------------------------

local function lua(task)
  local arguments = data.copies(task.arguments)
  return {
    name = "Lua", params = { method = "Lua" }, device = "Lua",
    reset = function() data.restore(arguments, task.arguments) end,
    fn = function() task.row.run(table.unpack(arguments)) end,
    check = function()
      return compare(task.row, task.expected, function(i) return data.pack(arguments[task.row.written[i]]) end)
    end,
  }
end

local function c(task, method, compiled, lack)
  local packed = baseline.pack(task.row, task.arguments)
  return {
    name = method, params = { method = method }, device = method, unsupported = lack, timed = true,
    fn = function()
      local after, seconds = compiled:run(task.row, packed)
      return seconds, after
    end,
    check = function(after)
      return compare(task.row, task.expected, function(_, name) return after[name] end)
    end,
  }
end

local function on_device(task, device)
  local arguments, _, reset = data.on_device(task.arguments, device, "double")
  return arguments, reset
end

local function on_host(task)
  local arguments = data.copies(task.arguments)
  return arguments, function() data.restore(arguments, task.arguments) end
end

local function packed_value(value)
  return type(value) == "table" and data.pack(value) or value:string()
end

--- What a further call does: the heuristics may take a nest only once its program pays.
local function count_call(candidate, f)
  candidate.reset()
  local before = f:stats()
  candidate.fn()
  local right, reason = candidate.check()
  if not right then return nil, reason end
  local counts = f:stats()
  for name, count in pairs(before) do counts[name] = counts[name] - count end
  return counts
end

local function ours(task, device, form)
  local candidate = { name = ("%s, %s"):format(form.method, device.place), params = { method = form.method },
    device = device }
  local f, failure = loops.compile(task.row.run, { device = device, heuristics = form.heuristics })
  if not f then
    candidate.unsupported = tostring(failure)
    return candidate
  end
  local arguments, reset = (form.buffers and on_device or on_host)(task, device)
  candidate.reset = reset
  function candidate.fn() f(table.unpack(arguments)) end
  function candidate.check()
    return compare(task.row, task.expected, function(i) return packed_value(arguments[task.row.written[i]]) end)
  end
  task.count[candidate] = function() return count_call(candidate, f) end
  return candidate
end

--- The candidates for `bench.compare`.
-- @tparam table row of `clcompute.papers.polykernels.rows`
-- @tparam table settings `sizes` {n=, steps=}; `devices`; `alone` and `threads`, compiled baselines, or `lack`, why
--  there are none
-- @treturn table the candidates; Lua first
-- @treturn table by candidate of `clcompute.loops`, a function that makes one more call and returns what it did, as
--  `f:stats()` counts; or nil and what is wrong with its results
function candidates.of(row, settings)
  local task = { row = row, arguments = row.arguments(settings.sizes.n, settings.sizes.steps), count = {} }
  local oracle = data.copies(task.arguments)
  row.run(table.unpack(oracle))
  task.expected = results_of(row, oracle)
  local no_threads = settings.lack or not baseline.is_parallel(row) and "no loop is parallel in this order" or nil
  local list = { lua(task), c(task, "gcc", settings.alone, settings.lack),
    c(task, "gcc, OpenMP", settings.threads, no_threads) }
  for _, device in ipairs(settings.devices) do
    for _, form in ipairs(candidates.OURS) do list[#list + 1] = ours(task, device, form) end
  end
  return list, task.count
end

return candidates
