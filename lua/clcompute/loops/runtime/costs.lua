-- SPDX-License-Identifier: MIT

--- What launches, copies and statements cost, by kind of device: a row of figures for each, and a pure function of a
-- device's facts that chooses among them.
--
-- What is tried is measured (`clcompute.loops.runtime.calibration`), on the side where it runs. So of two figures for
-- one thing the better one stands here: what is too good is found out, what is too bad is not.
-- @module clcompute.loops.runtime.costs

local costs = {}

--- In seconds, by kind of device. Of `units` compute units at `clock_mhz` each runs `items` work-items (on a CPU one
-- work-group) at once, and a work-item by itself takes `statement` for one.
costs.ROWS = {
  cpu = {
    name = "CPU devices",
    measured = "POCL 3.1 on two cores; examples/results/profile-pocl.txt: what a launch and compiling cost, transfers",
    clock_mhz = 2600,
    launch = 4e-6, -- each, in a queue
    wait = 30e-6, -- for the last one
    copy = 26e-6, -- however small
    byte = 1 / 10e9,
    statement = 1e-9,
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
    copy = 18e-6,
    byte = 1 / 10e9,
    statement = 250e-9, -- its loads are waited for
    grain = 1,
    items = 512,
    build = 0.1,
    load = 2e-3,
  },
}

--- Of the host, in seconds.
costs.HOST = {
  measured = "Lua 5.4.4 at 2.6 GHz: statements of 7 to 26 ns; long ones take more",
  statement = 8e-9,
  long_statement = 32e-9,
  element = 12e-9, -- from or to a table
}

--- The row for a device, its figures those of that device.
-- @tparam table facts `type`, `compute_units`, `clock_mhz` (0 where the driver does not know it)
-- @treturn table `name`, `measured`; `launch`, `wait`, `copy`, `byte`, `build`, `load`, and of work-items: `statement`,
-- `grain`, and `width`, how many grains the device runs at once
function costs.of(facts)
  local row = facts.type == "cpu" and costs.ROWS.cpu or costs.ROWS.gpu
  local pace = facts.clock_mhz > 0 and row.clock_mhz / facts.clock_mhz or 1.0
  return { name = row.name, measured = row.measured, launch = row.launch, wait = row.wait, copy = row.copy,
    byte = row.byte, build = row.build, load = row.load, statement = row.statement * pace, grain = row.grain,
    width = row.items * math.max(facts.compute_units, 1) }
end

--- Seconds of launches of a nest.
-- @tparam table row of `of`
-- @number launches
-- @number work statements of all launches
-- @number items work-items of a launch
function costs.device_seconds(row, launches, work, items)
  if launches <= 0 or work <= 0 then return 0.0 end
  local side_by_side = math.min(math.max(items / row.grain, 1), row.width)
  return launches * row.launch + work * row.statement / side_by_side
end

return costs
