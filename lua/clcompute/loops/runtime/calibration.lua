-- SPDX-License-Identifier: MIT

--- What calls took beside what the model said: factors for the next verdicts.
--
-- A factor belongs to a nest on one side, or to the copies, and to a class of sizes, each four times the one before: a
-- launch of few statements says nothing of one of many. Two measurements make it, of which the smaller counts: what
-- disturbs a run makes it longer. The first few calls of a class and a choice are timed and no others, so that a
-- verdict changes a few times at most and later calls cost nothing more.
-- @module clcompute.loops.runtime.calibration

local calibration = {}

local TIMED = 4 -- calls; the first of them is not counted: it compiles, and fills caches
local COPIES = 0 -- their index among the nests

--- The memory of one function, kinds of arguments and device.
function calibration.new()
  return { device = {}, lua = {}, runs = {}, standing = {} }
end

local function class_of(size)
  return size > 1 and math.floor(math.log(size, 4)) or 0
end

local function samples_of(side, index, size)
  side[index] = side[index] or {}
  local class = class_of(size)
  side[index][class] = side[index][class] or {}
  return side[index][class]
end

--- The factor by which a figure of the model is wrong, or nil where it is not known.
-- @tparam table memory of `new`
-- @string side "device" or "lua"
-- @tparam integer index of the nest
-- @number size statements of the nest
function calibration.factor(memory, side, index, size)
  local samples = samples_of(memory[side], index, size)
  return samples[2] and math.min(samples[1], samples[2])
end

--- The factor of copies of so many bytes.
function calibration.copies(memory, bytes)
  return calibration.factor(memory, "device", COPIES, bytes)
end

local function note(side, index, size, factor)
  local samples = samples_of(side, index, size)
  samples[1], samples[2] = factor, samples[1]
end

--- The record of calls of a class of sizes with a choice.
-- @tparam table memory
-- @number total statements of the call
-- @tparam {boolean,...} on_device
function calibration.run_of(memory, total, on_device)
  local letters = {}
  for i, value in ipairs(on_device) do letters[i] = value and "d" or "l" end
  local key = ("%d%s"):format(class_of(total), table.concat(letters))
  memory.runs[key] = memory.runs[key] or { count = 0 }
  return memory.runs[key]
end

--- Whether a call is to be timed.
function calibration.is_due(run)
  return run.count < TIMED
end

--- The choice that was last made for calls of so many statements, or nil.
function calibration.standing(memory, total)
  return memory.standing[class_of(total)]
end

--- Notes a choice that was made.
function calibration.stand(memory, total, on_device)
  memory.standing[class_of(total)] = on_device
end

-- --- learning -----------------------------------------------------------------------------

--- What nests in Lua took. Those in an arm that was not taken say nothing.
local function learn_lua(memory, verdict, spent)
  local figures = verdict.figures
  for index, modelled in ipairs(figures.model.lua) do
    if not verdict.on_device[index] and spent[index] > 0 and modelled > 0 then
      note(memory.lua, index, figures.work[index], spent[index] / modelled)
    end
  end
end

local function expected_launches(verdict)
  local count = 0
  for index, launches in ipairs(verdict.figures.launches) do
    if verdict.on_device[index] then count = count + launches end
  end
  return count
end

--- All that is left is launches and copies, which are waited for together: one factor for all of them.
local function learn_device(memory, verdict, seconds, launches)
  local figures, expected = verdict.figures, expected_launches(verdict)
  if launches < expected / 2 or launches > expected * 2 then return end -- conditions of data
  local modelled = verdict.copy_seconds
  for index, value in ipairs(figures.model.device) do
    if verdict.on_device[index] then modelled = modelled + value end
  end
  if modelled <= 0 then return end
  local factor = math.max(seconds, 0.0) / modelled
  if verdict.copy_seconds > 0 then note(memory.device, COPIES, verdict.bytes, factor) end
  for index, value in ipairs(figures.model.device) do
    if verdict.on_device[index] and value > 0 then note(memory.device, index, figures.work[index], factor) end
  end
end

--- Learns from a call that was timed.
-- @tparam table memory
-- @tparam table verdict of `clcompute.loops.runtime.profitability`, and its `run`
-- @tparam table took `seconds`, of the call with its copies, waited for; `launches`; `spent`, seconds of the nests that
-- ran in Lua by index, and at 0 of what else ran there
function calibration.learn(memory, verdict, took)
  verdict.run.count = verdict.run.count + 1
  if verdict.run.count == 1 then return end
  learn_lua(memory, verdict, took.spent)
  local rest = took.seconds
  for index = 0, #verdict.on_device do rest = rest - took.spent[index] end
  learn_device(memory, verdict, rest, took.launches)
end

return calibration
