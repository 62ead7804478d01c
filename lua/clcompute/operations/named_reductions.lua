-- SPDX-License-Identifier: MIT

--- cl.reduce, and the reductions that have names.

local along_axis = require "clcompute.operations.along_axis"
local keyed_place = require "clcompute.operations.keyed_place"
local map = require "clcompute.operations.map"
local operands = require "clcompute.operations.operands"
local options = require("clcompute.base").options
local reduce = require "clcompute.operations.reduce"

local OPTIONS = { init = "number|table", map = "string", dtype = "string|table", preamble = "string",
  axis = "integer", keep = "boolean" }
local AXIS = { axis = "integer", keep = "boolean" }

local SUM = "a + b"
local MIN = { float = { operation = reduce.NAN_MIN }, integer = { operation = "min(a, b)" } }
local MAX = { float = { operation = reduce.NAN_MAX }, integer = { operation = "max(a, b)" } }

local reductions = {}

--- Reduces along an axis, into numbers alone.
local function reduce_along(operation, list, first, g, o)
  if type(o.dtype) == "table" then error("reduce: option 'dtype': with 'axis' a dtype expected, got table", 0) end
  operands.check_dtype("reduce", o.dtype)
  if type(o.init) == "table" then error("reduce: option 'init': with 'axis' number expected, got table", 0) end
  return along_axis.reduce("reduce", operation, list, first, g, o)
end

function reductions.reduce(operation, x, o)
  if type(operation) ~= "string" then reduce.translate("reduce", operation) end
  o = o and options.check("reduce", o, OPTIONS)
  local list, first = operands.read("reduce", x, nil, true)
  local g = along_axis.read("reduce", o, first.value)
  if g then return reduce_along(operation, list, first, g, o) end
  return reduce.list("reduce", operation, list, first, o)
    or error("reduce: no elements, and no option 'init'", 0)
end

--- One buffer, which is described, lazily unless told otherwise; and along which axis of it, or nil.
local function check_one(where, x, o, describe)
  local of = (describe or operands.describe_lazily)(where, "argument 1", x, "x")
  return of, o ~= nil and along_axis.read(where, options.check(where, o, AXIS), of.value) or nil
end

--- What stands for integers, or for floats, by the dtype of a buffer that is described.
local function for_dtype(x, choices)
  return choices[operands.is_integer(x.dtype) and "integer" or "float"]
end

local ZERO = { float = 0.0, integer = 0 }

local ELEMENTS = { operation = SUM }
local SUMS = { float = ELEMENTS, integer = ELEMENTS }
local MAGNITUDE = { float = "fabs(x[i])", integer = "abs(x[i])" }
local MAGNITUDES = { float = { operation = SUM, map = MAGNITUDE.float },
  integer = { operation = SUM, map = MAGNITUDE.integer } }

--- The sum of an expression of the elements; 0 of none.
local function sum(where, of_elements, x, o)
  local of, g = check_one(where, x, o)
  local fixed = for_dtype(of, of_elements)
  if g then return along_axis.reduce(where, SUM, { of }, of, g, { map = fixed.map, empty = 0 }) end
  return reduce.fixed(where, fixed, { of }, of) or for_dtype(of, ZERO)
end

function reductions.sum(x, o)
  return sum("sum", SUMS, x, o)
end

function reductions.asum(x, o)
  return sum("asum", MAGNITUDES, x, o)
end

local PRODUCT, SQUARES = { operation = SUM, map = "x[i]*y[i]" }, { operation = SUM, map = "x[i]*x[i]" }

function reductions.dot(x, y)
  local is_one = rawequal(x, y)
  local list = { check_one("dot", x), not is_one and operands.describe_lazily("dot", "argument 2", y, "y") or nil }
  return reduce.fixed("dot", is_one and SQUARES or PRODUCT, list, operands.check_counts("dot", list))
    or (operands.is_integer(operands.result_dtype(list)) and 0 or 0.0)
end

-- What has the smaller or larger of each two elements.
local OF_ELEMENTS = { min = "cl.minimum", max = "cl.maximum" }

local function extreme(where, operation, x, o, describe)
  if OF_ELEMENTS[where] and o ~= nil and type(o) ~= "table" then
    error(("%s: table of options expected, got %s; write %s(a, b) for elements, cl.%s(x, { axis = n }) for an axis")
      :format(where, operands.type_of(o), OF_ELEMENTS[where], where), 0)
  end
  local of, g = check_one(where, x, o, describe)
  local fixed = for_dtype(of, operation)
  if g then
    local type = operands.value_type(of.dtype)
    return along_axis.reduce(where, fixed.operation, { of }, of, g, { type = type, dtype = of.dtype }), of, g
  end
  return reduce.fixed(where, fixed, { of }, of) or error(where .. ": no elements", 0)
end

-- Elements that are m are at i, as a TYPE that holds every place; where m is NaN, those that are.
local PLACE, PLACE_OF_NAN = "x[i] == m ? (TYPE)i : TYPE_MAX", "x[i] != x[i] ? (TYPE)i : TYPE_MAX"
local PLACES = { integer = "x[i] == m[i] ? (TYPE)i : TYPE_MAX",
  float = "(m[i] == m[i] ? x[i] == m[i] : x[i] != x[i]) ? (TYPE)i : TYPE_MAX" }

--- The options of a search for places in a buffer: by 32 bits where they hold all, which vectors have more of.
local function by_places(of, text)
  local dtype = of.count < 1 << 31 and "int" or "long"
  return { map = text:gsub("TYPE_MAX", dtype:upper() .. "_MAX"):gsub("TYPE", dtype), type = dtype, dtype = dtype }
end

--- The steps along the axis, from 1, to the elements at these places. No vectors of integers are divided; those of
-- doubles are, exactly where places are of 31 bits.
local function steps_to(at, g, device)
  local text, given = "x[i] / inner % n + 1", { x = at, inner = g.inner, n = g.n }
  if g.inner == 1 then
    text, given.inner = "x[i] - i * n + 1", nil
  elseif g.outer == 1 and at.dtype == "int" and operands.widest_real(device) == "double" then
    text, given.n = "(int)((double)(x[i] - (int)i) / inner) + 1", nil
  end
  return map.map(text, given, { dtype = "long" })
end

--- Where the extremes along an axis are, and these.
local function places(where, value, of, g)
  local extremes = operands.describe(where, "the result", value)
  extremes.name, extremes.of_results = "m", true
  local how = by_places(of, for_dtype(of, PLACES))
  how.own = "places"
  local at = along_axis.reduce(where, "min(a, b)", { extremes, of }, of, g, how)
  return steps_to(at, g, of.device), value
end

--- Where an extreme is, from 1, and the element.
local function place(where, operation, x, o)
  local described, along = check_one(where, x, o, operands.describe)
  if not along and keyed_place.serves(described) then
    return keyed_place.find(where, operation == MIN, described)
  end
  local value, of, g = extreme(where, operation, x, o, operands.describe)
  if g then return places(where, value, of, g) end
  local is_nan = value ~= value
  local how = by_places(described, is_nan and PLACE_OF_NAN or PLACE)
  local index = reduce.all(where, "min(a, b)", is_nan and x or { x = x, m = value }, how)
  return index + 1, value
end

function reductions.min(x, o)
  return (extreme("min", MIN, x, o))
end

function reductions.max(x, o)
  return (extreme("max", MAX, x, o))
end

function reductions.argmin(x, o)
  return place("argmin", MIN, x, o)
end

function reductions.argmax(x, o)
  return place("argmax", MAX, x, o)
end

-- Within these no square that counts is lost: those below the smallest number are less than a rounding of the sum.
local SAFE = { float = { 2.0 ^ -60, 2.0 ^ 127 }, double = { 2.0 ^ -900, 2.0 ^ 1023 } }

-- The largest power of two to scale by.
local LARGEST_SCALE = { float = 120, double = 1000 }

--- The norm of elements whose squares are too large or too small for the dtype: scaled by a power of two.
local function scaled_norm(x, dtype)
  local largest = reduce.all("norm2", reduce.NAN_MAX, x, { map = ("fabs((%s)x[i])"):format(dtype), dtype = dtype })
  if largest == 0 or largest ~= largest or largest == math.huge then return largest end
  local most = LARGEST_SCALE[dtype]
  local scale = 2.0 ^ math.max(-most, math.min(most, -(math.log(largest, 2) // 1)))
  local element = ("(%s)x[i]*s*((%s)x[i]*s)"):format(dtype, dtype)
  return math.sqrt(reduce.all("norm2", SUM, { x = x, s = scale }, { map = element, dtype = dtype })) / scale
end

-- The power of two by which elements up to x are scaled; what is 0, infinite or NaN stays.
local SCALE = "x[i] > 0 && x[i] < INFINITY ? ldexp(x[i] * 0 + 1, clamp(-ilogb(x[i]), -%d, %d)) : 1"

--- Norms along an axis. Where squares may be too large or too small for the dtype they are of scaled elements.
local function norms(of, g, dtype)
  local how = { map = ("(%s)x[i]*(%s)x[i]"):format(dtype, dtype), type = dtype, dtype = operands.floating(of.dtype),
    empty = 0, own = "norms", finish = "sqrt(x[i])" }
  if of.dtype ~= dtype or g.n == 0 then return along_axis.reduce("norm2", SUM, { of }, of, g, how) end
  local largest = along_axis.reduce("norm2", reduce.NAN_MAX, { of }, of, g,
    { map = MAGNITUDE.float, type = dtype, dtype = dtype })
  local most = LARGEST_SCALE[dtype]
  local scale = operands.describe("norm2", "the scale", map.map(SCALE:format(most, most), { x = largest }))
  scale.name, scale.of_results, how.map, how.own = "m", true, "x[i]*m[i]*(x[i]*m[i])", "scaled"
  how.finish = nil
  local squares = along_axis.reduce("norm2", SUM, { scale, of }, of, g, how)
  return map.map("sqrt(x[i]) / s[i]", { x = squares, s = scale.value }, { out = squares })
end

function reductions.norm2(x, o)
  local of, g = check_one("norm2", x, o, o and operands.describe)
  local dtype = operands.widest_real(of.device)
  if g then return norms(of, g, dtype) end
  local square = ("(%s)x[i]*(%s)x[i]"):format(dtype, dtype)
  local squares = reduce.list("norm2", SUM, { of }, of, { map = square, dtype = dtype })
  if not squares then return 0.0 end
  local safe = SAFE[dtype]
  if squares >= safe[1] and squares <= safe[2] then return math.sqrt(squares) end
  return scaled_norm(x, dtype)
end

return reductions
