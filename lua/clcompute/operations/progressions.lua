-- SPDX-License-Identifier: MIT

--- Buffers whose elements follow from their index: d:linspace, d:arange, d:eye.

local base = require "clcompute.base"
local internal = require "clcompute.core.internal"
local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"

local MANY = 2.0 ^ 53 -- elements that no device has; their number would not be exact

local function check_number(where, name, value)
  if type(value) == "number" then return end
  error(("%s: '%s': number expected, got %s"):format(where, name, base.options.type_of(value)), 0)
end

local function check_finite(where, name, value)
  check_number(where, name, value)
  if value - value ~= 0 then error(("%s: '%s' must be finite, got %s"):format(where, name, value), 0) end
end

local function check_size(where, name, value)
  if math.type(value) == "integer" and value >= 0 then return end
  error(("%s: '%s': integer from 0 on expected, got %s"):format(where, name, value), 0)
end

--- Raises where there would be more elements than can be counted.
local function check_many(where, elements, what)
  if elements >= MANY then error(("%s: %s are too many elements"):format(where, what), 0) end
end

--- Raises unless the numbers are elements of a dtype.
local function check_elements(where, dtype, ...)
  local bytes, _, why = internal.pack_elements(dtype, { ... })
  if not bytes then error(("%s: %s"):format(where, why), 0) end
end

--- Computes n elements by an expression of numbers of one type: "a" of {name=, value=} is arg_a.
local function compute(where, device, dtype, n, text, type, numbers)
  local out = operands.describe(where, "the result", device:empty(dtype, n))
  for _, number in ipairs(numbers) do number.type = type end
  if n > 0 then map.compute(text:gsub("TYPE", type), numbers, out) end
  return out.value
end

--- The type that floating elements are computed in.
local function wide_type(device) return device.has_double and "double" or "float" end

local progressions = {}

function progressions.linspace(device, a, b, n, dtype)
  dtype = dtype or "float"
  operands.check_dtype("linspace", dtype, true)
  if operands.is_integer(dtype) then
    error(("linspace: half, float or double expected, got %s; d:arange makes integers"):format(dtype), 0)
  end
  check_finite("linspace", "a", a)
  check_finite("linspace", "b", b)
  check_size("linspace", "n", n)
  check_many("linspace", n, n)
  check_elements("linspace", dtype, a, b)
  local step = (b + 0.0 - a) / math.max(n - 1, 1)
  if step - step ~= 0 then error(("linspace: b - a must be finite, got %s and %s"):format(a, b), 0) end
  return compute("linspace", device, dtype, n, "i == arg_last ? arg_b : fma((TYPE)i, arg_step, arg_a)",
    wide_type(device), { { name = "a", value = a }, { name = "b", value = n == 1 and a or b },
      { name = "last", value = n - 1 }, { name = "step", value = step } })
end

--- How many numbers there are from `first` on in steps up to `last`.
local function count(first, last, step)
  local span = last + 0.0 - first
  check_many("arange", math.abs(span) < 2.0 ^ 63 and span / step or MANY, ("%s .. %s by %s"):format(first, last, step))
  if span / step < 0 then return 0 end
  return (math.type(first + last + step) == "integer" and (last - first) // step or math.floor(span / step)) + 1
end

function progressions.arange(device, first, last, step, dtype)
  if type(last) == "string" and step == nil then last, dtype = nil, last end
  if type(step) == "string" and dtype == nil then step, dtype = nil, step end
  if last == nil then first, last = 1, first end
  step, dtype = step or 1, dtype or "float"
  operands.check_dtype("arange", dtype, true)
  check_finite("arange", "first", first)
  check_finite("arange", "last", last)
  check_finite("arange", "step", step)
  if step == 0 then error("arange: 'step' must not be 0", 0) end
  local n = count(first, last, step)
  if n > 0 then check_elements("arange", dtype, first, first + (n - 1) * step) end
  local numbers = { { name = "first", value = first }, { name = "step", value = step } }
  if not operands.is_integer(dtype) then
    return compute("arange", device, dtype, n, "fma((TYPE)i, arg_step, arg_first)", wide_type(device), numbers)
  end
  check_elements("arange", "long", step)
  return compute("arange", device, dtype, n, "arg_first + i * arg_step", "long", numbers)
end

function progressions.eye(device, n, m, dtype)
  if type(m) == "string" and dtype == nil then m, dtype = nil, m end
  local rows, columns = n, m or n
  operands.check_dtype("eye", dtype, true)
  check_size("eye", "n", rows)
  check_size("eye", "m", columns)
  check_many("eye", (rows + 0.0) * columns, ("%d x %d"):format(rows, columns))
  local matrix = device:zeros(dtype or "float", rows, columns)
  local diagonal = math.min(rows, columns)
  if diagonal > 0 then
    device:full(matrix.dtype, 1, diagonal):copy_rect { to = matrix:reshape(rows * columns), size = { diagonal, 1 },
      pitch = 1, to_pitch = columns + 1 }
  end
  return matrix
end

return progressions
