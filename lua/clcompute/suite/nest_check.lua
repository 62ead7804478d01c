-- SPDX-License-Identifier: MIT
--- What a nest of loops is to compute, as C or Lua compute it once.
--
-- Floats are computed in mode "fast", and C in floats may fuse products and sums; doubles in mode "exact", and C fuses
-- nothing: they must be equal to the bit, but for the last digits of `exp` and `log`. What floats are to be is C's
-- result in doubles of the same numbers, which is Lua's.

local baseline = require "clcompute.suite.baseline"
local data = require "clcompute.suite.data"
local sequential = require "clcompute.sequential"

local nest_check = {}

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

--- The row of the matrix product with its loops in another order.
function nest_check.ikj(row)
  return setmetatable({ c = IKJ }, { __index = row })
end

--- As C computes them once, in an order that does not take seconds.
function nest_check.once_in_c(row, arguments, options)
  row = row.name == "mmm" and nest_check.ikj(row) or row
  local compiled <close> = assert(baseline.compile({ row }, options))
  return (compiled:run(row, baseline.pack(row, arguments)))
end

--- The dtype of an array of a row.
function nest_check.dtype_of(row, index, dtype)
  return row.parameters[index].integers and "long" or dtype
end

--- As Lua left them in nested tables, or `clcompute.loops` in buffers.
function nest_check.read(row, arguments, dtype)
  local found = {}
  for i, name in ipairs(row.results) do
    local array, own = arguments[row.written[i]], nest_check.dtype_of(row, row.written[i], dtype)
    found[name] = type(array) == "table" and data.pack(array, own) or array:string()
  end
  return found
end

--- As Lua computes them once.
function nest_check.once_in_lua(row, arguments)
  arguments = data.copies(arguments)
  row.run(table.unpack(arguments))
  return nest_check.read(row, arguments, "double")
end

-- --- what is right ----------------------------------------------------------------

--- A check of arrays that must be those expected to the bit, which are somebody's.
function nest_check.equality(row, expected, whose)
  return function(found)
    for _, name in ipairs(row.results) do
      if found[name] ~= expected[name] then return false, ("%s differs from %s"):format(name, whose) end
    end
    return true
  end
end

nest_check.C_IN_DOUBLES = "C's in doubles"

--- A check of arrays, by the errors of those of a run in C, and by some roundings of the largest element; integers
-- must be equal.
local function closeness(row, expected, plain, dtype, roundings)
  local bounds = {}
  for i, name in ipairs(row.results) do
    if nest_check.dtype_of(row, row.written[i], dtype) == dtype then
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

--- Arguments with arrays packed as dtype, as those of doubles.
local function widened(row, arguments, dtype)
  local wide = {}
  for i, value in ipairs(arguments) do
    local own = nest_check.dtype_of(row, i, dtype)
    wide[i] = type(value) == "string" and own == dtype and data.doubles(value, dtype) or value
  end
  return wide
end

--- The check of a nest by C, from arguments with arrays packed as dtype.
function nest_check.by_c(row, arguments, dtype)
  local expected = nest_check.once_in_c(row, widened(row, arguments, dtype))
  if dtype == "float" then
    return closeness(row, expected, nest_check.once_in_c(row, arguments, { dtype = dtype, fused = true }), dtype, 1)
  end
  if row.has_transcendental then return closeness(row, expected, expected, dtype, LAST_DIGITS) end
  return nest_check.equality(row, expected, nest_check.C_IN_DOUBLES)
end

--- The same for doubles whose sums stand in another order, which makes so many roundings.
function nest_check.of_sums(row, arguments, roundings)
  local expected = nest_check.once_in_c(row, arguments)
  return closeness(row, expected, expected, "double", roundings)
end

return nest_check
