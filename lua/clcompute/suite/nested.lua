-- SPDX-License-Identifier: MIT

--- Nested tables of random numbers: made from a seed, copied, packed and compared bit by bit.
-- @module clcompute.suite.nested

local nested = {}

--- A generator of its own, so that nobody's `math.random` is disturbed: xorshift64*, 0 <= x < 1.
-- @tparam integer seed
-- @treturn function
function nested.generator(seed)
  local state = seed * 2 + 0x9E3779B97F4A7C15 | 1 -- never 0
  return function()
    state = state ~ (state >> 12)
    state = state ~ (state << 25)
    state = state ~ (state >> 27)
    return (state * 0x2545F4914F6CDD1D >> 11) * 2.0 ^ -53
  end
end

--- A nested table, low <= x < high.
-- @tparam table extents outermost first
-- @tparam function random
-- @tparam[opt=-1] number low
-- @tparam[opt=1] number high
-- @treturn table
function nested.array(extents, random, low, high)
  low, high = low or -1, high or 1
  local function fill(dimension)
    local list = {}
    for i = 1, extents[dimension] do
      list[i] = dimension == #extents and low + (high - low) * random() or fill(dimension + 1)
    end
    return list
  end
  return fill(1)
end

--- A copy in depth of tables; anything else stays itself.
function nested.copy(value)
  if type(value) ~= "table" then return value end
  local copy = table.move(value, 1, #value, 1, {})
  if type(copy[1]) == "table" then
    for i, item in ipairs(copy) do copy[i] = nested.copy(item) end
  end
  return copy
end

--- Copies of all arguments.
function nested.copies(arguments)
  local list = {}
  for i, value in ipairs(arguments) do list[i] = nested.copy(value) end
  return list
end

--- Sets nested tables back to what others of the same shape hold.
function nested.restore(list, from)
  for i, value in ipairs(from) do
    if type(value) == "table" then nested.restore(list[i], value) else list[i] = value end
  end
end

--- The extents of a nested table, outermost first.
function nested.extents(array)
  local extents = {}
  while type(array) == "table" do
    extents[#extents + 1] = #array
    array = array[1]
  end
  return extents
end

local PIECE = 128 -- numbers packed by one call
local FORMAT = { float = "f", double = "d" }

--- The elements of a nested table in a string, row by row.
-- @tparam table array
-- @tparam[opt="double"] string dtype
-- @treturn string
function nested.pack(array, dtype)
  local parts, format = {}, FORMAT[dtype or "double"]
  if type(array[1]) == "table" then
    for i, item in ipairs(array) do parts[i] = nested.pack(item, dtype) end
  else
    for first = 1, #array, PIECE do
      local last = math.min(first + PIECE - 1, #array)
      parts[#parts + 1] = string.pack(format:rep(last - first + 1), table.unpack(array, first, last))
    end
  end
  return table.concat(parts)
end

--- Whether two nested tables hold the same numbers; NaN equals NaN, and 0 is not -0.
-- @treturn boolean
-- @treturn ?string where they differ first
function nested.equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    local same = a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b
    return same, not same and (": %s and %s"):format(a, b) or nil
  end
  if #a ~= #b then return false, (": %d and %d elements"):format(#a, #b) end
  for i = 1, #a do
    local same, where = nested.equal(a[i], b[i])
    if not same then return false, ("[%d]%s"):format(i, where) end
  end
  return true
end

return nested
