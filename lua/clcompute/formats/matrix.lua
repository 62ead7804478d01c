-- SPDX-License-Identifier: MIT

--- Buffers as pictures: a matrix is gray, one of rows x columns x 3 or 4 elements has colours. Elements of uchar are
-- the pixels; others are spread from the least to the largest.

local matrix = {}

local PIECE = 1 << 18 -- elements that are read at once
local LONGEST_EDGE = 1 << 20 -- pixels, as when a picture is read
local FULL, MIDDLE = 255, 128
local BLACK = "\0"

local function fail(...) error(string.format(...), 0) end

--- The head of the picture that a buffer is.
local function head_of(buffer)
  local shape = buffer.shape
  local text, channels = table.concat(shape, "x"), shape[3] or 1
  if #shape < 2 or #shape > 3 or #shape == 3 and channels ~= 3 and channels ~= 4 then
    fail("a picture is rows x columns, or rows x columns x 3 or 4 channels; this buffer is %s", text)
  end
  if shape[1] < 1 or shape[2] < 1 or shape[1] > LONGEST_EDGE or shape[2] > LONGEST_EDGE then
    fail("a picture has 1 to %d rows and columns; this buffer is %s", LONGEST_EDGE, text)
  end
  return { width = shape[2], height = shape[1], channels = channels, bytes = 1,
    what = channels == 1 and "matrices" or ("matrices of %d channels"):format(channels) }
end

--- Iterates over lists of a buffer's elements.
local function pieces(buffer, count)
  local flat, first = buffer:reshape(count), 1 - PIECE
  return function()
    first = first + PIECE
    if first > count then
      flat:release()
      return nil
    end
    return flat:read(first, math.min(first + PIECE - 1, count))
  end
end

--- A function that makes a float of an element: those of ulong above all of long are negative in Lua.
local function float_of(dtype)
  if dtype ~= "ulong" then return function(v) return v + 0.0 end end
  return function(v) return v < 0 and v + 2.0 ^ 64 or v + 0.0 end
end

--- The least and the largest finite element, for those that were not told.
local function range_of(buffer, count, to_float, low, high)
  local least, largest = math.huge, -math.huge
  if low and high then return low, high end
  for list in pieces(buffer, count) do
    for _, element in ipairs(list) do
      local v = to_float(element)
      if v < least and v > -math.huge then least = v end
      if v > largest and v < math.huge then largest = v end
    end
  end
  return low or least, high or largest
end

--- A function that makes a byte of a float. Half the numbers are computed with, so that no difference is infinite.
local function spreader(low, high)
  local start, span = low / 2, high / 2 - low / 2
  return function(v)
    if v ~= v then return BLACK end
    if not (span > 0) then return string.char(v < low and 0 or v > high and FULL or MIDDLE) end
    local share = (v / 2 - start) / span
    return string.char(share <= 0 and 0 or share >= 1 and FULL or math.floor(share * FULL + 0.5))
  end
end

local function spread(buffer, count, options)
  local to_float, parts = float_of(buffer.dtype), {}
  local low, high = range_of(buffer, count, to_float, options.low, options.high)
  local to_byte = spreader(low, high)
  for list in pieces(buffer, count) do
    for i, element in ipairs(list) do list[i] = to_byte(to_float(element)) end
    parts[#parts + 1] = table.concat(list)
  end
  return table.concat(parts)
end

--- The picture of a buffer.
-- @tparam Buffer buffer
-- @tparam table options {low=, high=} what is black and what is white; the least and the largest element unless given
-- @treturn table head {width=, height=, channels=, bytes=, what= it is}
-- @treturn string rows
function matrix.picture(buffer, options)
  local head = head_of(buffer)
  for _, name in ipairs { "low", "high" } do
    local value = options[name]
    if value and value - value ~= 0 then fail("option '%s': a finite number expected, got %s", name, value) end
  end
  if options.low and options.high and options.low >= options.high then
    fail("option 'low': a number below 'high' expected, got %s and %s", options.low, options.high)
  end
  if buffer.dtype == "uchar" and not options.low and not options.high then return head, buffer:string() end
  return head, spread(buffer, head.width * head.height * head.channels, options)
end

return matrix
