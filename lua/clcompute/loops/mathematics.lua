-- SPDX-License-Identifier: MIT

--- What of Lua's `math` the subset has: pure functions of numbers, and constants.
-- @module clcompute.loops.mathematics

local mathematics = {}

--- Function to the least and the largest number of arguments, and what its result is: "float", "int", or "join", the
-- type that all arguments fit.
mathematics.FUNCTIONS = {
  sqrt = { 1, 1, "float" }, exp = { 1, 1, "float" }, log = { 1, 1, "float" },
  sin = { 1, 1, "float" }, cos = { 1, 1, "float" }, tan = { 1, 1, "float" },
  floor = { 1, 1, "int" }, ceil = { 1, 1, "int" },
  abs = { 1, 1, "join" }, fmod = { 2, 2, "join" }, max = { 1, math.huge, "join" }, min = { 1, math.huge, "join" },
}

--- Constant to value.
mathematics.CONSTANTS = { pi = math.pi, huge = math.huge, maxinteger = math.maxinteger, mininteger = math.mininteger }

local names = {}
for name, value in pairs(math) do
  if type(value) == "function" then names[value] = name end
end

--- The name of a function value in `math`, nil for others.
function mathematics.name_of(value)
  return names[value]
end

return mathematics
