-- SPDX-License-Identifier: MIT

--- What launches, copies and statements cost: a row of figures by kind of device, a pure function of a device's facts
-- that chooses among them, and what calls took beside what these figures said: factors for the next verdicts.
--
-- What is tried is measured, on the side where it runs. So of two figures for one thing the better one stands here:
-- what is too good is found out, what is too bad is not.

local costs = {}

--- In seconds, by kind of device. Of `units` compute units at `clock_mhz` each runs `items` work-items (on a CPU one
-- work-group) at once, and a single work-item takes `statement` for one.
costs.ROWS = {
  cpu = {
    name = "CPU devices",
    measured = "POCL 3.1 on two cores; examples/results/profile-pocl.txt: what a launch and compiling cost, transfers",
    clock_mhz = 2600,
    launch = 4e-6, -- each, in a queue
    wait = 30e-6, -- for the last one
    meeting = 0.5e-6, -- of groups that wait for each other
    copy = 26e-6, -- however small
    byte = 1 / 10e9,
    statement = 0.6e-9,
    vector = 0.4, -- of that where passes are lanes of vectors
    grain = 64, -- work-items that run one after the other: a group is a task of one core
    items = 1, -- such grains at once on a compute unit
    build = 0.3, -- of the program
    load = 5e-3, -- of the program that an earlier process left in the cache
  },
  gpu = {
    name = "GPUs",
    measured = "NVIDIA H200; examples/results/profile-h200.txt: what a launch and compiling cost, transfers, a load "
      .. "that is waited for; polykernels-h200-quick.txt",
    clock_mhz = 1980,
    launch = 8e-6,
    wait = 5e-6,
    meeting = 1.5e-6, -- of the work-items of a group, as only these wait for each other
    together = 256, -- so many work-items of the whole device are as fast as a group, for which one compute unit reads
    copy = 18e-6,
    byte = 1 / 10e9,
    statement = 250e-9, -- its loads are waited for
    vector = 1,
    grain = 1,
    items = 512,
    build = 0.1,
    load = 2e-3,
  },
}

--- Of the host, in seconds.
costs.HOST = {
  measured = "Lua 5.4 at 2.6 GHz: examples/results/estimates-pocl.txt, twelve programs on tables",
  operation = 4e-9,
  long_statement = 64e-9,
  element = 24e-9, -- from or to a table
  row = 1.1e-6, -- of a table of tables, beside its elements
}

--- The row for a device, with that device's figures.
-- @tparam table facts `type`, `compute_units`, `clock_mhz` (0 where the driver does not know it)
-- @treturn table `name`, `measured`; `launch`, `wait`, `copy`, `byte`, `build`, `load`, and of work-items: `statement`,
-- `vector`, `grain`, and `width`, how many grains the device runs at once; `together`, how many of them wait for each
-- other, nil: all
function costs.of(facts)
  local row = facts.type == "cpu" and costs.ROWS.cpu or costs.ROWS.gpu
  local pace = facts.clock_mhz > 0 and row.clock_mhz / facts.clock_mhz or 1.0
  return { name = row.name, measured = row.measured, launch = row.launch, wait = row.wait, meeting = row.meeting,
    together = row.together,
    copy = row.copy, byte = row.byte, build = row.build, load = row.load, statement = row.statement * pace,
    vector = row.vector, grain = row.grain, width = row.items * math.max(facts.compute_units, 1) }
end

-- A task in place of many small launches is thought to be faster than it may be, so that it is tried.
costs.HOPE = 0.4

-- One that was measured must be clearly faster than launches that several cores share: what disturbs a run makes these
-- slower than it.
costs.DOUBT = 1.25

local SMALL = 60e-6 -- seconds of a launch

--- Whether the launches in whose place a task would be are small.
-- @tparam table row of `of`
-- @number work statements of the task
-- @tparam ?number passes how many launches of nests there would be; nil or 0: it is no such task
function costs.are_small(row, work, passes)
  return passes ~= nil and passes > 1 and work * row.statement / passes < SMALL
end

--- Seconds of launches of a nest.
-- @tparam table row of `of`
-- @number launches
-- @number work statements of all launches
-- @number items work-items of a launch
-- @tparam ?boolean is_vector whether passes are lanes of vectors
function costs.device_seconds(row, launches, work, items, is_vector)
  if launches <= 0 or work <= 0 then return 0.0 end
  local side_by_side = math.min(math.max(items / row.grain, 1), row.width)
  return launches * row.launch + work * row.statement * (is_vector and row.vector or 1) / side_by_side
end

-- --- what calls took -----------------------------------------------------------------------
--
-- A factor belongs to a nest on one side, or to the copies, and to a class of sizes, each four times the one before: a
-- launch of few statements says nothing of one of many. Two measurements make it, of which the smaller counts: what
-- disturbs a run makes it longer. The first few calls of a class and a choice are timed and then no others, so that a
-- verdict changes a few times at most and later calls cost nothing more. Whatever disturbed all of these may be over
-- later: then a choice is doubted, and one that seemed hardly longer is timed once more; each doubt comes after four
-- times as many calls as the one before.

local TIMED = 4 -- calls; the first of them is not counted: it compiles, and fills caches
local AGAIN = 2 -- of them, of one that is timed once more
local DOUBTED = 24 -- calls after those, until the first doubt
local HARDLY_LONGER = 0.6 -- the share of what it took that would be enough
local COPIES = 0 -- their index among the nests
costs.REST = 0 -- that of what is Lua beside nests

--- The memory of one function, kinds of arguments and device.
function costs.new_memory()
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
function costs.factor(memory, side, index, size)
  local samples = samples_of(memory[side], index, size)
  return samples[2] and math.min(samples[1], samples[2])
end

--- The factor of copies of so many bytes.
function costs.copy_factor(memory, bytes)
  return costs.factor(memory, "device", COPIES, bytes)
end

local function note(side, index, size, factor)
  local samples = samples_of(side, index, size)
  samples[1], samples[2] = factor, samples[1]
end

--- The record of calls of a class of sizes with a choice.
-- @tparam table memory
-- @number total statements of the call
-- @tparam {boolean,...} on_device
function costs.run_of(memory, total, on_device)
  local letters = {}
  for i, value in ipairs(on_device) do letters[i] = value and "d" or "l" end
  local key = ("%d%s"):format(class_of(total), table.concat(letters))
  memory.runs[key] = memory.runs[key] or { class = class_of(total), choice = on_device, count = 0, untimed = 0,
    doubt = DOUBTED, again = 0 }
  return memory.runs[key]
end

--- Whether a choice is to be doubted, by its record.
function costs.is_doubted(run)
  return run.untimed >= run.doubt
end

--- Counts a call that is not timed.
function costs.count(run)
  run.untimed = run.untimed + 1
end

--- Has a choice that is doubted timed once more, and those that took hardly longer: what is compared was measured in
-- one state of the machine.
-- @tparam table memory
-- @tparam table run the record of the doubted one
function costs.doubt(memory, run)
  run.untimed, run.doubt = 0, run.doubt * 4
  for _, other in pairs(memory.runs) do
    if other.class == run.class and (other.pace or math.huge) * HARDLY_LONGER < run.pace then
      other.count, other.again = math.min(other.count, TIMED - AGAIN), AGAIN
    end
  end
end

--- A choice that is to be timed once more by this call, of so many statements, or nil.
function costs.once_more(memory, total)
  for _, run in pairs(memory.runs) do
    if run.again > 0 and run.class == class_of(total) then
      run.again = run.again - 1
      return run.choice
    end
  end
end

--- Whether a call is to be timed.
function costs.is_due(run)
  return run.count < TIMED
end

--- The choice that was last made for calls of so many statements, or nil.
function costs.standing(memory, total)
  return memory.standing[class_of(total)]
end

--- Notes a choice that was made.
function costs.stand(memory, total, on_device)
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
  if spent[costs.REST] > 0 and verdict.rest > 0 then
    note(memory.lua, costs.REST, verdict.rest, spent[costs.REST] / (verdict.rest * costs.HOST.operation))
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
  if launches < expected / 2 then return end -- conditions of data
  if launches > expected * 2 and not figures.has_rounds then return end -- which may be shorter than they are thought
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
function costs.learn(memory, verdict, took)
  verdict.run.count = verdict.run.count + 1
  if verdict.run.count == 1 then return end
  local pace = took.seconds / math.max(verdict.figures.total, 1) -- of a statement
  verdict.run.pace = math.min(verdict.run.pace or pace, pace)
  learn_lua(memory, verdict, took.spent)
  local rest = took.seconds
  for index = 0, #verdict.on_device do rest = rest - took.spent[index] end
  learn_device(memory, verdict, rest, took.launches)
end

return costs
