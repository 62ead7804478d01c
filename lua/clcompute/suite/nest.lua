-- SPDX-License-Identifier: MIT
--- A nest of loops as a workload: by `clcompute.loops` on tables and on buffers, in C, in Lua, and in OpenCL C of one
-- element a work-item.

local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local loops = require "clcompute.loops"
local nest_check = require "clcompute.suite.nest_check"
local nest_on_nvidia = require "clcompute.suite.nest_on_nvidia"
local polykernels = require "clcompute.suite.polykernels"
local workload = require "clcompute.suite.workload"

local nest = {}

-- How `clcompute.loops` computes it, by method: on what arguments, and by which heuristics.
local METHODS = {
  loops = { heuristics = "model" },
  forced = { heuristics = "none" },
  buffers = { heuristics = "model", on_device = true },
}

-- --- arguments --------------------------------------------------------------------

--- A row with arguments: `bytes`, arrays packed, with their `extents`; and `tables()`, arrays as nested tables, which
-- are made when they are first asked for.
local function task_of(shape, dtype)
  local row, tables = polykernels.load(shape.row), nil
  local task = { row = row, shape = shape, dtype = dtype, bytes = {}, extents = {} }
  function task.tables()
    tables = tables or row.arguments(shape.n, shape.steps)
    return tables
  end
  for i, value in ipairs(row.arguments(shape.n, shape.steps)) do
    task.bytes[i] = type(value) == "table" and data.pack(value, nest_check.dtype_of(row, i, dtype)) or value
    task.extents[i] = data.extents(value)
  end
  return task
end

--- Arrays as buffers.
local function place(task, device)
  local placed = {}
  for i, value in ipairs(task.bytes) do
    placed[i] = type(value) == "string" and device:buffer(value, nest_check.dtype_of(task.row, i, task.dtype),
      table.unpack(task.extents[i])) or value
  end
  return placed
end

--- Sets buffers back to others, on their device: what comes from the host leaves caches as no program that keeps its
-- data there finds them.
local function write_all(placed, given)
  for i, value in ipairs(given) do
    if type(value) == "userdata" then placed[i]:write(value) end
  end
end

-- --- others -----------------------------------------------------------------------

--- The row in C, compiled when it is asked for: gcc may be missing.
local function in_c(task, row, openmp)
  local dtype = task.dtype
  local compiled, reason = baseline.compile({ row }, { dtype = dtype, fused = dtype == "float", openmp = openmp })
  if not compiled then return nil, reason end
  return workload.in_c(compiled.run, compiled, row, baseline.pack(row, task.bytes))
end

local OTHERS = {}

function OTHERS.gcc(task) return in_c(task, task.row) end

OTHERS["gcc, OpenMP"] = function(task)
  if baseline.is_parallel(task.row) then return in_c(task, task.row, true) end
  return nil, baseline.lack() or "no loop is parallel in this order"
end

OTHERS["gcc, ikj, OpenMP"] = function(task) return in_c(task, nest_check.ikj(task.row), true) end

--- On nested tables of doubles, of sizes of its own where the shape has them.
function OTHERS.Lua(task)
  local row, own = task.row, task.shape.lua
  local given = own and row.arguments(own.n, own.steps) or task.tables()
  local arguments = data.copies(given)
  local form = { run = function() row.run(table.unpack(arguments)) end,
    reset = function() data.restore(arguments, given) end,
    result = function() return nest_check.read(row, arguments, "double") end }
  if own or task.dtype ~= "double" then
    function form.check(found)
      return nest_check.equality(row, nest_check.once_in_c(row, given), nest_check.C_IN_DOUBLES)(found)
    end
  end
  return form
end

function OTHERS.tiles(task, device)
  local placed, given, shape = place(task, device), place(task, device), task.shape
  return { device = device, run = baseline.tiled[shape.row](device, placed, shape.n, shape.steps),
    reset = function() write_all(placed, given) end,
    result = function() return nest_check.read(task.row, placed) end }
end

OTHERS.CUDA, OTHERS.cuBLAS = nest_on_nvidia.CUDA, nest_on_nvidia.cuBLAS

-- --- the workload -----------------------------------------------------------------

--- One of the PolyKernels, or of the others. Its methods are "loops", on tables that are copied in and out; "forced",
-- on tables without heuristics; and "buffers", also without a method.
-- @tparam table shape `row`, the name of the nest; `n` and `steps`; `lua`: the sizes for Lua, where they are others;
--  `oracle="Lua"`: results must be Lua's in doubles, else C's
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
-- @raise where C cannot be compiled, unless Lua is the oracle
function nest.loops(shape, dtype)
  local task = task_of(shape, dtype)
  local row = task.row
  local work = { name = shape.row, size = shape.n, dtype = dtype, anywhere = true,
    methods = { "loops", "forced", "buffers" }, others = {} }
  work.check = shape.oracle == "Lua" and nest_check.equality(row, nest_check.once_in_lua(row, task.tables()), "Lua's")
    or nest_check.by_c(row, task.bytes, dtype)

  function work.prepare(device, method)
    local options = METHODS[method or "buffers"]
    local f, failure = loops.compile(row.run, { device = device, heuristics = options.heuristics,
      mode = dtype == "float" and "fast" or "exact",
      reduce = dtype == "float" and device.type ~= "cpu" and "tree" or nil })
    if not f then return nil, tostring(failure) end
    if options.on_device then return { f = f, arguments = place(task, device), given = place(task, device) } end
    return { f = f, arguments = data.copies(task.tables()) }
  end
  function work.reset(o)
    if o.given then write_all(o.arguments, o.given) else data.restore(o.arguments, task.tables()) end
    o.before = o.f:stats()
  end
  function work.run(o) o.f(table.unpack(o.arguments)) end
  function work.result(o) return nest_check.read(row, o.arguments, dtype) end
  function work.counts(o)
    local counts = o.f:stats()
    for name, count in pairs(o.before) do counts[name] = counts[name] - count end
    return counts
  end

  for name, other in pairs(OTHERS) do
    work.others[name] = function(device, library) return other(task, device, library) end
  end
  return work
end

return nest
