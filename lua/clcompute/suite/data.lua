-- SPDX-License-Identifier: MIT
--- What is the same on every device and in every run: shapes of products, nested tables of random numbers, packed
-- strings.

local data = {}

-- --- nested tables: made from a seed, copied, packed and compared bit by bit ------

--- A generator of its own, so that nobody's `math.random` is disturbed: xorshift64*, 0 <= x < 1.
-- @tparam integer seed
-- @treturn function
function data.generator(seed)
  local state = seed * 2 + 0x9E3779B97F4A7C15 | 1 -- never 0
  return function()
    state = state ~ (state >> 12)
    state = state ~ (state << 25)
    state = state ~ (state >> 27)
    return (state * 0x2545F4914F6CDD1D >> 11) * 2.0 ^ -53
  end
end

local LEAST, LARGEST = 5, 13 -- of the exponents of m, n and k, powers of 2;
local VOLUME = 36 -- and their sum

--- Shapes of products drawn at random, the logarithms of their extents evenly.
-- @tparam integer count
-- @tparam integer seed
-- @treturn table of { m = , k = , n = }
function data.random_shapes(count, seed)
  local random, shapes = data.generator(seed), {}
  local function extent() return math.floor(2 ^ (LEAST + (LARGEST - LEAST) * random())) end
  while #shapes < count do
    local shape = { m = extent(), k = extent(), n = extent() }
    if shape.m * shape.k * shape.n <= 2 ^ VOLUME then shapes[#shapes + 1] = shape end
  end
  return shapes
end

--- A nested table, low <= x < high.
-- @tparam table extents outermost first
-- @tparam function random
-- @tparam[opt=-1] number low
-- @tparam[opt=1] number high
-- @treturn table
function data.array(extents, random, low, high)
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
function data.copy(value)
  if type(value) ~= "table" then return value end
  local copy = table.move(value, 1, #value, 1, {})
  if type(copy[1]) == "table" then
    for i, item in ipairs(copy) do copy[i] = data.copy(item) end
  end
  return copy
end

--- Copies of all arguments.
function data.copies(arguments)
  local list = {}
  for i, value in ipairs(arguments) do list[i] = data.copy(value) end
  return list
end

--- Sets nested tables back to what others of the same shape hold.
function data.restore(list, from)
  for i, value in ipairs(from) do
    if type(value) == "table" then data.restore(list[i], value) else list[i] = value end
  end
end

--- The extents of a nested table, outermost first.
function data.extents(array)
  local extents = {}
  while type(array) == "table" do
    extents[#extents + 1] = #array
    array = array[1]
  end
  return extents
end

local PACKED = 128 -- numbers packed by one call
local FORMAT = { float = "f", double = "d", long = "j" }

--- The elements of a nested table in a string, row by row.
-- @tparam table array
-- @tparam[opt="double"] string dtype
-- @treturn string
function data.pack(array, dtype)
  local parts, format = {}, FORMAT[dtype or "double"]
  if type(array[1]) == "table" then
    for i, item in ipairs(array) do parts[i] = data.pack(item, dtype) end
  else
    for first = 1, #array, PACKED do
      local last = math.min(first + PACKED - 1, #array)
      parts[#parts + 1] = string.pack(format:rep(last - first + 1), table.unpack(array, first, last))
    end
  end
  return table.concat(parts)
end

--- Whether two nested tables hold the same numbers; NaN equals NaN, and 0 is not -0.
-- @treturn boolean
-- @treturn ?string where they differ first
function data.equal(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then
    local same = a == b and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b
    return same, not same and (": %s and %s"):format(a, b) or nil
  end
  if #a ~= #b then return false, (": %d and %d elements"):format(#a, #b) end
  for i = 1, #a do
    local same, where = data.equal(a[i], b[i])
    if not same then return false, ("[%d]%s"):format(i, where) end
  end
  return true
end

-- --- packed strings, of random numbers that OpenCL makes ---------------------------

--- Bytes of an element.
data.SIZE = { float = 4, double = 8 }

--- Unit roundoff.
data.UNIT = { float = 2.0 ^ -24, double = 2.0 ^ -53 }

local PIECE = 1 << 20 -- elements that pass through a table at once

-- Looked up when it is asked for: who wants nested tables alone needs no OpenCL.
local function default_device() return require "clcompute".device() end

--- n random numbers, low <= x < high (0 and 1).
-- @tparam string dtype
-- @tparam integer n
-- @tparam integer seed
-- @tparam[opt] number low
-- @tparam[opt] number high
-- @treturn string
function data.random(dtype, n, seed, low, high)
  local buffer <close> = default_device():random(dtype, n, { seed = seed, low = low or 0, high = high or 1 })
  return buffer:string()
end

--- A random matrix that needs no pivoting: its diagonal dominates.
-- @treturn string
function data.dominant(dtype, n, seed)
  local matrix <close> = default_device():random(dtype, n, n, { seed = seed, low = -1 })
  for i = 1, n do matrix:set(i, i, n) end
  return matrix:string()
end

--- Packed elements as packed doubles.
-- @treturn string
function data.doubles(bytes, dtype)
  if dtype == "double" then return bytes end
  local device, size, pieces = default_device(), data.SIZE[dtype], {}
  for first = 1, #bytes, PIECE * size do
    local piece = bytes:sub(first, first + PIECE * size - 1)
    local narrow <close> = device:buffer(piece, dtype, #piece // size)
    local wide <close> = device.has_double and narrow:astype "double" or device:buffer(narrow:read(), "double")
    pieces[#pieces + 1] = wide:string()
  end
  return table.concat(pieces)
end

-- --- parts of what is large -----------------------------------------------------

local DENSE = 1 << 25 -- elements, of which all are compared; of more
local KEPT = 1 << 12 -- at the start of each part
local PART = 1 << 22

--- Divides n elements.
-- @treturn function an iterator: the first element of a part, from 0; how many it has; how many of them are compared
function data.parts(n)
  local first = -PART
  return function()
    first = first + PART
    if first >= n then return nil end
    local count = math.min(PART, n - first)
    return first, count, n > DENSE and math.min(KEPT, count) or count
  end
end

--- The larger of two errors, or the one that is NaN.
function data.worse(a, b) return (a ~= a or a > b) and a or b end

--- Some of packed elements.
-- @string bytes
-- @string dtype
-- @tparam integer first from 0
-- @tparam integer count
-- @treturn string
function data.slice(bytes, dtype, first, count)
  local size = data.SIZE[dtype]
  if count * size == #bytes then return bytes end
  return bytes:sub(first * size + 1, (first + count) * size)
end

return data
