-- SPDX-License-Identifier: MIT
--- Numbers that know how far arithmetic in floats may have taken them from what they are: a running error analysis,
-- Higham, Accuracy and Stability of Numerical Algorithms, section 3.3.

local running_error = {}

local UNIT = 2.0 ^ -24
local QUOTIENT = 5 * UNIT -- 2.5 units in the last place, as OpenCL allows where division is not rounded correctly
local SMALLEST = 2.0 ^ -126 -- below it a device may round to 0
local LARGEST = 2.0 ^ 127 -- beyond twice that there is infinity

local Number = {}

--- The value of an operand, and its error.
local function parts(operand)
  if type(operand) == "table" then return operand.value, operand.error end
  return operand, math.abs(operand) * UNIT
end

local function new(value, error, unit)
  error = error + unit * (math.abs(value) + error) + SMALLEST
  if math.abs(value) + error > LARGEST then error = math.huge end
  return setmetatable({ value = value, error = error }, Number)
end

function Number.__add(one, other)
  local a, a_error = parts(one)
  local b, b_error = parts(other)
  return new(a + b, a_error + b_error, UNIT)
end

function Number.__sub(one, other) return one + -other end

function Number.__unm(one) return setmetatable({ value = -one.value, error = one.error }, Number) end

function Number.__mul(one, other)
  local a, a_error = parts(one)
  local b, b_error = parts(other)
  return new(a * b, math.abs(a) * b_error + math.abs(b) * a_error + a_error * b_error, UNIT)
end

--- By a number that has no error.
function Number.__div(one, divisor) return new(one.value / divisor, one.error / math.abs(divisor), QUOTIENT) end

--- By what they are, as if there were no errors: to be asked only of numbers that are not that close.
function Number.__lt(one, other) return (parts(one)) < (parts(other)) end

function Number.__le(one, other) return (parts(one)) <= (parts(other)) end

--- Of a number that is kept as a float.
function running_error.number(value) return new((string.unpack("f", string.pack("f", value))), 0.0, 0.0) end

--- Whether a float is what a number may have become.
function running_error.allows(expected, got)
  if math.type(expected) == "float" then return math.abs(expected - got) <= math.abs(expected) * UNIT end -- only kept
  if type(expected) ~= "table" then return expected == got end
  return math.abs(expected.value - got) <= expected.error or expected.error == math.huge
    or expected.error ~= expected.error
end

return running_error
