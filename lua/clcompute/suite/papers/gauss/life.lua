-- SPDX-License-Identifier: MIT

--- Figure 1 of Baranov & Vlatskaya 2013: the Game of Life on a cubic field, by its edge; a three-dimensional range.
-- @module clcompute.suite.papers.gauss.life

local bench = require "clcompute.bench"
local cl = require "clcompute"
local sequential = require "clcompute.sequential"

local EDGES = { full = { 16, 24, 32, 48, 64, 96, 128, 192 }, quick = { 16, 32, 64 } }
local ONE_CORE = "sequential, one core"

--- Cells 0 to 3, of which the ones live.
local function soup(n)
  local cells <close> = cl.device():random("uchar", n, n, n, { seed = n, high = 3 })
  return cells:string()
end

local function on_device(device, n, field, expected)
  local life = device:kernel "life"
  local from, to = device:buffer(field, "uchar", n, n, n), device:empty("uchar", n, n, n)
  return {
    device = device,
    fn = function()
      life({ n, n, n }, n, from, to)
      from, to = to, from
    end,
    check = function() return from:string() == expected, "a cell differs from the sequential program's" end,
  }
end

--- The oracle itself, which is checked against a slower one where it is specified.
local function on_one_core(n, field)
  return {
    device = ONE_CORE, timed = true,
    fn = function() return select(2, sequential.life(field, n, 1)) end,
  }
end

local function candidate(point)
  local n = point.edge
  local field = soup(n)
  local made
  if point.device == ONE_CORE then
    made = on_one_core(n, field)
  else
    made = on_device(point.device, n, field, sequential.life(field, n, 1))
  end
  made.name = ("edge %d"):format(n)
  return made
end

--- @tparam table options of `clcompute.papers.gauss`
-- @treturn table section
return function(options)
  local devices = table.move(options.devices, 1, #options.devices, 1, {})
  devices[#devices + 1] = ONE_CORE
  local rows = bench.sweep {
    axes = { { "edge", options.quick and EDGES.quick or EDGES.full }, { "device", devices } },
    run = candidate, work = function(point) return point.edge ^ 3 end,
    seconds = options.quick and 0.2 or 0.5, peak = false,
    limit = options.limit, file = options.file "life", progress = options.progress "Figure 1",
  }
  for _, row in ipairs(rows) do row.cells = row.params.edge ^ 3 | 0 end
  return {
    title = "Figure 1. Game of Life on a cubic field",
    text = { "Time of a generation over the edge of the field, 26 neighbours a cell, rule 4555; the first generation "
      .. "of each is checked against the sequential program's.",
      "The paper's figure, from Alekseenko and Kazennov 2010, sets CUDA against OpenCL." },
    rows = rows,
    columns = { { key = "params.edge", title = "edge" }, { key = "device" }, { key = "cold", unit = "s" },
      { key = "value", title = "generation" }, { key = { "q1", "q3" }, title = "quartiles" },
      { key = "cells", title = "cells" }, { key = "checked", title = "right" } },
    chart = { kind = "line", x = "params.edge", y = "value", series = "device", low = "q1", high = "q3", xlog = 2,
      ylog = 10, xtitle = "edge", ytitle = "time of a generation" },
  }
end
