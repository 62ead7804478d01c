-- SPDX-License-Identifier: MIT

--- What of Lua's `math` the subset has: pure functions of numbers, and constants.
-- @module clcompute.loops.tree.mathematics

local mathematics = {}

local function takes(least, most, result)
  return { least = least, most = most, result = result }
end

-- Function to how many arguments it takes, and what its result is: "float", "int", or "join", the type that all
-- arguments fit.
mathematics.FUNCTIONS = {
  sqrt = takes(1, 1, "float"), exp = takes(1, 1, "float"), log = takes(1, 1, "float"),
  sin = takes(1, 1, "float"), cos = takes(1, 1, "float"), tan = takes(1, 1, "float"),
  floor = takes(1, 1, "int"), ceil = takes(1, 1, "int"),
  abs = takes(1, 1, "join"), fmod = takes(2, 2, "join"),
  max = takes(1, math.huge, "join"), min = takes(1, math.huge, "join"),
}

-- Constant to value.
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
