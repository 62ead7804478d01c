-- SPDX-License-Identifier: MIT

--- A function called in Lua and compiled, with the same arguments: times, and whether the results are the same.
-- @module clcompute.cli.loops_trial

local columns = require("clcompute.base").columns
local data = require("clcompute.suite").data
local explain = require "clcompute.loops.explain"
local interrupt = require("clcompute.base").interrupt
local loops_arguments = require "clcompute.cli.loops_arguments"
local need = require "clcompute.cli.need"

local HEADER = { "", "first call s", "second call s", "launches", "bytes copied", "result" }
local CALLS = 2 -- the first one analyses, and builds
local LUA_HAS = { double = true, long = true } -- of the dtypes of buffers

-- --- calls --------------------------------------------------------------------------------

--- Lua computes in doubles and 64-bit integers, so other buffers have other results.
local function check_dtypes(rows, kinds)
  for _, row in ipairs(rows) do
    local dtype = kinds[row.variable].dtype
    if dtype and not LUA_HAS[dtype] then
      error(("'%s' is a buffer of %s, which Lua has not: --run compares tables and buffers of double and long")
        :format(row.name, dtype), 0)
    end
  end
end

--- The values as a call takes them: buffers where the kinds say so.
local function passed(trial, device)
  local list = data.copies(trial.values)
  for i, row in ipairs(trial.rows) do
    local dtype = trial.kinds[row.variable].dtype
    if dtype then list[i] = device:buffer(list[i], dtype) end
  end
  return list
end

--- Sets arrays back to the values before a call.
local function restore(list, values)
  for i, value in ipairs(values) do
    if type(list[i]) == "table" then data.restore(list[i], value) end
    if type(list[i]) == "userdata" then list[i]:write(value) end
  end
end

local function seconds_of(f, list, device)
  device:wait()
  local clock = need.library().clock
  local start = clock()
  local ok, message = pcall(f, table.unpack(list))
  if not ok then error(message, 0) end
  device:wait()
  return clock() - start
end

-- --- results ------------------------------------------------------------------------------

--- Counts the elements that differ, and finds the largest relative difference; NaN is NaN, and 0 is not -0.
local function count_differences(expected, got, found)
  if type(expected) == "table" then
    for i, item in ipairs(expected) do count_differences(item, got[i], found) end
  elseif not data.equal(expected, got) then
    local relative = math.abs(got - expected) / math.abs(expected)
    found.count = found.count + 1
    found.largest = math.max(found.largest, relative == relative and relative or math.huge)
  end
end

local function compare(expected, list, found)
  for i, value in ipairs(list) do
    if type(value) == "userdata" then value = value:read() end
    count_differences(expected[i], value, found)
  end
end

local function describe(found)
  if found.count == 0 then return "as in Lua" end
  return ("%d elements differ, by %.2g at most"):format(found.count, found.largest)
end

-- --- the table ----------------------------------------------------------------------------

local function time_text(seconds)
  return ("%.6f"):format(seconds)
end

--- Runs the function itself, and keeps its results. Where it fails, the compiled one says in words what it fails at.
local function lua_row(trial, fn, compiled, device)
  local list, times = data.copies(trial.values), {}
  for i = 1, CALLS do
    restore(list, trial.values)
    local ok, message = pcall(function() times[i] = time_text(seconds_of(fn, list, device)) end)
    if not ok then
      interrupt.pass_on(message)
      seconds_of(compiled, passed(trial, device), device)
      error(message, 0)
    end
  end
  trial.expected = list
  return { "Lua", times[1], times[2], "", "", "" }
end

local function compiled_row(trial, name, compiled, device)
  local list, times, found, before = passed(trial, device), {}, { count = 0, largest = 0.0 }, nil
  for i = 1, CALLS do
    restore(list, trial.values)
    before = compiled:stats()
    times[i] = time_text(seconds_of(compiled, list, device))
    compare(trial.expected, list, found)
  end
  local after = compiled:stats()
  trial.has_failed = trial.has_failed or found.count > 0 and trial.is_exact
  return { name, times[1], times[2], ("%d"):format(after.launches - before.launches),
    ("%d"):format(after.bytes_up + after.bytes_down - before.bytes_up - before.bytes_down), describe(found) }
end

--- Why results may differ from Lua's, lines; none where they must not.
local function allowances(spec)
  local lines, inexact = {}, explain.inexact(spec.tree)
  local reorders, swaps = explain.shared_out(spec.plan)
  if #inexact > 0 then
    lines[1] = table.concat(inexact, ", ") .. ": the last digits may differ, as OpenCL allows\n"
  end
  if reorders then
    lines[#lines + 1] = "sums and products that are shared out: the last digits may differ, as another order rounds "
      .. "otherwise\n"
  end
  if swaps then
    lines[#lines + 1] = "minima and maxima that are shared out: NaN is left out, of 0.0 and -0.0 either may be left\n"
  end
  return lines
end

--- What lies below the table.
local function remarks(allowed, state)
  return ("%swhere it pays, the second call:\n%s"):format(table.concat(allowed), explain.latest(state))
end

local function has_parallel(plan)
  for _, kernel in ipairs(plan.kernels) do
    if not kernel.is_task then return true end
  end
  return false
end

--- Calls a function in Lua, compiled as profitability decides, and compiled with all parallel nests on the device.
-- @tparam function fn
-- @tparam table compiled of `loops.compile`
-- @tparam table forced the same with `force = true`
-- @tparam table request `device`; `given` and `size`, of `loops_arguments.make`; `presumed`, of
-- `clcompute.loops.explain.presumption`
-- @treturn string a table and, below it, where each nest ran
-- @treturn boolean whether results differ that should not
return function(fn, compiled, forced, request)
  local rows, presumed, device = compiled.state.rows, request.presumed, request.device
  check_dtypes(rows, presumed.kinds)
  local allowed = allowances(presumed.spec)
  local trial = { rows = rows, kinds = presumed.kinds, is_exact = #allowed == 0, has_failed = false,
    values = loops_arguments.make(rows, presumed.kinds, request.given, request.size) }
  local lines = { lua_row(trial, fn, compiled, device),
    compiled_row(trial, "compiled, where it pays", compiled, device) }
  if has_parallel(presumed.spec.plan) then
    lines[3] = compiled_row(trial, "compiled, all parallel nests on the device", forced, device)
  end
  return ("%s\non %s\n\n%s\n\n%s"):format(loops_arguments.describe(rows, presumed.kinds, trial.values), device.name,
    columns.format(HEADER, lines), remarks(allowed, compiled.state)), trial.has_failed
end
