-- SPDX-License-Identifier: MIT
--- A nest of loops as a workload: by `clcompute.loops` on tables and on buffers, in C, in Lua, and in OpenCL C of one
-- element a work-item.
--
-- Floats are computed in mode "fast", and C in floats may fuse products and sums; doubles in mode "exact", and C fuses
-- nothing: they must be equal to the bit, but for the last digits of `exp` and `log`. What floats are to be is C's
-- result in doubles of the same numbers, which is Lua's.

local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local loops = require "clcompute.loops"
local polykernels = require "clcompute.suite.polykernels"
local sequential = require "clcompute.sequential"
local workload = require "clcompute.suite.workload"

local nest = {}

-- How `clcompute.loops` computes it, by method: on what arguments, and by which heuristics.
local METHODS = {
  loops = { heuristics = "model" },
  forced = { heuristics = "none" },
  buffers = { heuristics = "model", on_device = true },
}

local LAST_DIGITS = 32 -- roundings of doubles that those of `exp` and `log` make
local FACTOR = 4 -- times C's own error in floats, that ours may reach: another order of the same sums

-- The matrix product in the order that reads rows: the same to the bit where nothing is fused.
local IKJ = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      for (long j = 0; j < n; j++) C[i][j] = 0;
      for (long k = 0; k < n; k++)
        for (long j = 0; j < n; j++) C[i][j] = C[i][j] + A[i][k] * B[k][j];
    }]]

-- --- results by name of the array, packed -----------------------------------------

--- The row with its loops in another order.
local function reordered(row, c)
  return setmetatable({ c = c }, { __index = row })
end

--- As C computes them once, in an order that does not take seconds.
local function once_in_c(row, arguments, options)
  row = row.name == "mmm" and reordered(row, IKJ) or row
  local compiled <close> = assert(baseline.compile({ row }, options))
  return (compiled:run(row, baseline.pack(row, arguments)))
end

--- The dtype of an array of a row.
local function dtype_of(row, index, dtype)
  return row.parameters[index].integers and "long" or dtype
end

--- As Lua left them in nested tables, or `clcompute.loops` in buffers.
local function read(row, arguments, dtype)
  local found = {}
  for i, name in ipairs(row.results) do
    local array = arguments[row.written[i]]
    found[name] = type(array) == "table" and data.pack(array, dtype_of(row, row.written[i], dtype)) or array:string()
  end
  return found
end

--- As Lua computes them once.
local function once_in_lua(row, arguments)
  arguments = data.copies(arguments)
  row.run(table.unpack(arguments))
  return read(row, arguments, "double")
end

-- --- what is right ----------------------------------------------------------------

--- A check of arrays that must be those expected to the bit, which are somebody's.
local function equality(row, expected, whose)
  return function(found)
    for _, name in ipairs(row.results) do
      if found[name] ~= expected[name] then return false, ("%s differs from %s"):format(name, whose) end
    end
    return true
  end
end

local C_IN_DOUBLES = "C's in doubles"

--- A check of arrays, by the errors of those of a run in C, and by some roundings of the largest element; integers
-- must be equal.
local function closeness(row, expected, plain, dtype, roundings)
  local bounds = {}
  for i, name in ipairs(row.results) do
    if dtype_of(row, row.written[i], dtype) == dtype then
      local largest = sequential.absolute_error(("\0"):rep(#plain[name]), expected[name], dtype)
      bounds[name] = FACTOR * sequential.absolute_error(plain[name], expected[name], dtype)
        + roundings * data.UNIT[dtype] * largest
    end
  end
  return function(found)
    local worst = 0.0
    for _, name in ipairs(row.results) do
      if not bounds[name] and found[name] ~= expected[name] then return false, name .. " differs from C's" end
      local share = bounds[name] and sequential.absolute_error(found[name], expected[name], dtype) / bounds[name] or 0.0
      if share ~= share then return share end -- NaN is no share that is right
      worst = math.max(worst, share)
    end
    return worst
  end
end

--- The check of a nest by C, from arguments with arrays packed as dtype.
local function by_c(row, arguments, dtype)
  local wide = {}
  for i, value in ipairs(arguments) do
    local own = dtype_of(row, i, dtype)
    wide[i] = type(value) == "string" and own == dtype and data.doubles(value, dtype) or value
  end
  local expected = once_in_c(row, wide)
  if dtype == "float" then
    return closeness(row, expected, once_in_c(row, arguments, { dtype = dtype, fused = true }), dtype, 1)
  end
  if row.has_transcendental then return closeness(row, expected, expected, dtype, LAST_DIGITS) end
  return equality(row, expected, C_IN_DOUBLES)
end

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
    task.bytes[i] = type(value) == "table" and data.pack(value, dtype_of(row, i, dtype)) or value
    task.extents[i] = data.extents(value)
  end
  return task
end

--- Arrays as buffers.
local function place(task, device)
  local placed = {}
  for i, value in ipairs(task.bytes) do
    placed[i] = type(value) == "string" and device:buffer(value, dtype_of(task.row, i, task.dtype),
      table.unpack(task.extents[i])) or value
  end
  return placed
end

--- Sets buffers back.
local function write_all(placed, bytes)
  for i, value in ipairs(bytes) do
    if type(value) == "string" then placed[i]:write(value) end
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

OTHERS["gcc, ikj, OpenMP"] = function(task) return in_c(task, reordered(task.row, IKJ), true) end

--- On nested tables of doubles, of sizes of its own where the shape has them.
function OTHERS.Lua(task)
  local row, own = task.row, task.shape.lua
  local given = own and row.arguments(own.n, own.steps) or task.tables()
  local arguments = data.copies(given)
  local form = { run = function() row.run(table.unpack(arguments)) end,
    reset = function() data.restore(arguments, given) end,
    result = function() return read(row, arguments, "double") end }
  if own or task.dtype ~= "double" then
    function form.check(found) return equality(row, once_in_c(row, given), C_IN_DOUBLES)(found) end
  end
  return form
end

function OTHERS.tiles(task, device)
  local placed, shape = place(task, device), task.shape
  return { device = device, run = baseline.tiled[shape.row](device, placed, shape.n, shape.steps),
    reset = function() write_all(placed, task.bytes) end, result = function() return read(task.row, placed) end }
end

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
  work.check = shape.oracle == "Lua" and equality(row, once_in_lua(row, task.tables()), "Lua's")
    or by_c(row, task.bytes, dtype)

  function work.prepare(device, method)
    local options = METHODS[method or "buffers"]
    local f, failure = loops.compile(row.run, { device = device, heuristics = options.heuristics,
      mode = dtype == "float" and "fast" or "exact" })
    if not f then return nil, tostring(failure) end
    return { f = f, on_device = options.on_device,
      arguments = options.on_device and place(task, device) or data.copies(task.tables()) }
  end
  function work.reset(o)
    if o.on_device then write_all(o.arguments, task.bytes) else data.restore(o.arguments, task.tables()) end
    o.before = o.f:stats()
  end
  function work.run(o) o.f(table.unpack(o.arguments)) end
  function work.result(o) return read(row, o.arguments, dtype) end
  function work.counts(o)
    local counts = o.f:stats()
    for name, count in pairs(o.before) do counts[name] = counts[name] - count end
    return counts
  end

  for name, other in pairs(OTHERS) do
    work.others[name] = function(device) return other(task, device) end
  end
  return work
end

return nest
