-- SPDX-License-Identifier: MIT
--- A nest of `clcompute.loops` on buffers against the same in C, in Lua, and in OpenCL C of one element a work-item.
--
-- Floats are computed in mode "fast", and C in floats may fuse products and sums; doubles in mode "exact", and C fuses
-- nothing: they must be equal to the bit. What floats are to be is C's result in doubles of the same numbers, which is
-- Lua's.
-- @module clcompute.suite.peers.loops

local baseline = require "clcompute.suite.papers.polykernels.baseline"
local cl = require "clcompute"
local loops = require "clcompute.loops"
local nested = require "clcompute.suite.papers.polykernels.data"
local packed_data = require "clcompute.suite.workload.data"
local rows = require "clcompute.suite.papers.polykernels.rows"
local sequential = require "clcompute.sequential"
local tiles = require "clcompute.suite.peers.tiles"

local SPIN = 0.01 -- seconds until the idle threads of OpenMP and POCL sleep
local FACTOR = 4  -- times C's own error in floats, that ours may reach: another order of the same sums

-- The matrix product in the order that reads rows: the same to the bit where nothing is fused.
local IKJ = [[
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
      for (long j = 0; j < n; j++) C[i][j] = 0;
      for (long k = 0; k < n; k++)
        for (long j = 0; j < n; j++) C[i][j] = C[i][j] + A[i][k] * B[k][j];
    }]]

-- --- what is right ----------------------------------------------------------------

local function compile_c(row, options)
  local compiled, reason = baseline.compile({ row }, options)
  return compiled or error(reason, 0)
end

--- The row with its loops in another order.
local function reordered(row, c)
  return setmetatable({ c = c }, { __index = row })
end

--- Its results, by name, as C makes them once, in an order that does not take seconds.
local function once_in_c(row, arguments, options)
  local quick = row.name == "mmm" and reordered(row, IKJ) or row
  local c <close> = compile_c(quick, options)
  return (c:run(quick, baseline.pack(quick, arguments)))
end

--- The same in doubles.
-- @tparam table row
-- @tparam table arguments arrays as nested tables or packed
-- @tparam string dtype of what is packed
local function oracle(row, arguments, dtype)
  local wide = {}
  for i, value in ipairs(arguments) do
    wide[i] = type(value) == "string" and packed_data.doubles(value, dtype) or value
  end
  return once_in_c(row, wide)
end

--- A check of arrays by name that must be those expected to the bit.
local function equality(row, expected)
  return function(found)
    for _, name in ipairs(row.results) do
      if found[name] ~= expected[name] then return false, name .. " differs from C's in doubles" end
    end
    return true
  end
end

--- A check of arrays of floats, by the errors of those of a run in C, and by one rounding of the largest element.
local function closeness(row, expected, plain)
  local bounds = {}
  for _, name in ipairs(row.results) do
    local largest = sequential.absolute_error(("\0"):rep(#plain[name]), expected[name], "float")
    bounds[name] = FACTOR * sequential.absolute_error(plain[name], expected[name], "float")
      + packed_data.UNIT.float * largest
  end
  return function(found)
    local worst = 0.0
    for _, name in ipairs(row.results) do
      local share = sequential.absolute_error(found[name], expected[name], "float") / bounds[name]
      if share ~= share then return share end -- NaN is no share that is right
      worst = math.max(worst, share)
    end
    return worst
  end
end

-- --- the forms --------------------------------------------------------------------

--- Seconds of `run()` with what it queued, after `prepare()`.
local function timed(device, prepare, run)
  prepare()
  device:wait()
  local start = cl.clock()
  run()
  device:wait()
  return cl.clock() - start
end

--- Elements of the arrays that the nest writes, by name.
local function read(row, buffers)
  local found = {}
  for i, name in ipairs(row.results) do found[name] = buffers[row.written[i]]:string() end
  return found
end

local function ours(row, dtype, device)
  local f, failure = loops.compile(row.run, { device = device, mode = dtype == "float" and "fast" or "exact" })
  return f or error(tostring(failure), 0)
end

--- A row in C as a peer: what runs it, and what it computed last.
local function in_c(row, c, arguments)
  local packed, after, seconds = baseline.pack(row, arguments), nil, nil
  return function()
    after, seconds = c:run(row, packed)
    return seconds
  end, function() return after end
end

--- A row in Lua as a peer, on nested tables of doubles; what it computed comes with a check of its own.
local function in_lua(row, sizes)
  local given = row.arguments(sizes.n, sizes.steps)
  local arguments = nested.copies(given)
  local function run()
    nested.restore(arguments, given)
    local start = cl.clock()
    row.run(table.unpack(arguments))
    return cl.clock() - start
  end
  return run, function()
    local found = {}
    for i, name in ipairs(row.results) do found[name] = nested.pack(arguments[row.written[i]]) end
    return found, equality(row, oracle(row, given, "double"))
  end
end

--- @tparam table line of `clcompute.peers.nests`
-- @tparam string dtype
-- @tparam Device device
-- @treturn table as of `clcompute.peers.gemm`; `ours` returns its seconds, results are checked where they are; `spin`,
--  and `launches()`, how many kernels the latest call queued
-- @raise where a nest cannot be compiled, in C or by `clcompute.loops`
return function(line, dtype, device)
  local row, work = rows.load(line.row), { timed = true, spin = SPIN, peers = {} }
  local buffers, packed, reset = nested.on_device(row.arguments(line.n, line.steps), device, dtype)
  local in_type = { dtype = dtype, fused = dtype == "float" }
  local expected = oracle(row, packed, dtype)
  local check = dtype == "double" and equality(row, expected)
    or closeness(row, expected, once_in_c(row, packed, in_type))
  function work.check(found, own) return (own or check)(found) end
  function work.result() return read(row, buffers) end

  local f, before = ours(row, dtype, device), 0
  function work.ours()
    before = f:stats().launches
    return timed(device, reset, function() f(table.unpack(buffers)) end)
  end
  function work.launches() return f:stats().launches - before end

  function work.peers.gcc() return in_c(row, compile_c(row, in_type), packed) end
  function work.peers.Lua() return in_lua(row, line.lua or line) end
  work.peers["gcc, ikj, OpenMP"] = function()
    local other = reordered(row, IKJ)
    return in_c(other, compile_c(other, { dtype = dtype, fused = in_type.fused, openmp = true }), packed)
  end
  function work.peers.tiles()
    local queue = tiles[line.row](device, buffers, line.n, line.steps)
    return function() return timed(device, reset, queue) end, work.result
  end
  return work
end
