-- SPDX-License-Identifier: MIT
--- cl.histogram: how many elements lie between each two of some edges.

local elements = require "clcompute.arrays.elements"
local operations = require "clcompute.operations"
local options = require("clcompute.base").options
local enqueue = require("clcompute.core.internal").enqueue

local macros, operands = operations.macros, operations.operands

local OPTIONS = { bins = "integer", low = "number", high = "number" }
local NONE = {}
local KERNEL = {} -- where it is at its place

local BINS = 10
local MOST = 1 << 24 -- bins
local LOCAL_BINS = { 256, 1024, 4096 } -- room for so many in local memory; more are counted in global memory
local SLICE = 1 << 31 -- elements that a uint counts
local LARGEST = { float = 0x1.fffffep127, double = 0x1.fffffffffffffp1023 }

-- --- edges ------------------------------------------------------------------------

--- A number as the device compares it: `round` is for integers.
local function to_value(number, wide, round, option)
  if wide == "float" then number = string.unpack("f", string.pack("f", number)) end
  if wide == "float" or wide == "double" then
    if number - number == 0 then return number end
  else
    local whole = math.type(number) == "integer" and number or round(number)
    if wide == "ulong" and math.type(whole) == "float" and whole >= 2.0 ^ 63 then whole = whole - 2.0 ^ 64 end
    local value = math.tointeger(whole)
    if value and (wide ~= "ulong" or number >= 0) and number < 2.0 ^ 64 then return value end
  end
  error(("histogram: option '%s': a finite number within the range of %s expected, got %s"):format(option, wide,
    number), 0)
end

--- An extreme of x: as a number, and as the device has it, where ulongs of 64 bits are negative in Lua.
local function extreme_of(x, f)
  local value = f(x.value)
  return x.dtype == "ulong" and value < 0 and value + 2.0 ^ 64 or value, value
end

--- The range, of the options or of the elements; and its ends as the device has them, where they are integers of x.
local function range_of(x, o)
  local low, high, first, last = o.low, o.high, nil, nil
  if x.count == 0 then
    low = low or (high or 1) - 1
    high = high or low + 1
  else
    if not low then low, first = extreme_of(x, operations.min) end
    if not high then high, last = extreme_of(x, operations.max) end
  end
  if low - low ~= 0 or high - high ~= 0 then
    error("histogram: the range is infinite or NaN; options 'low' and 'high' give another one", 0)
  end
  if low > high or o.low and low == o.high then
    error(("histogram: 'low' is %s, 'high' is %s, which must be above"):format(low, high), 0)
  end
  if low == high then low, high = o.low or low - 0.5, o.high or high + 0.5 end
  if not operands.is_integer(x.dtype) then return low, high end
  return low, high, first, last
end

--- How far the range reaches; infinite where that is too far.
local function width_of(low, high)
  if math.type(low) == "integer" and math.type(high) == "integer" then return high + 0.0 - low end
  return high - low + 0.0
end

--- Edge number k of so many bins.
local function edge_of(low, high, width, k, bins)
  if width - width == 0 then return low + width * k / bins end
  return low * (1 - k / bins) + high * (k / bins)
end

local ROW = 512 -- numbers packed or copied at once: each alone takes a microsecond

--- Finite numbers as floats.
local function to_floats(numbers)
  local floats = {}
  for first = 1, #numbers, ROW do
    local last = math.min(first + ROW - 1, #numbers)
    local format = ("f"):rep(last - first + 1)
    local row = { string.unpack(format, string.pack(format, table.unpack(numbers, first, last))) }
    table.move(row, 1, last - first + 1, first, floats)
  end
  return floats
end

--- The edges of floats, which lie between finite ones.
local function float_edges(low, high, bins)
  local edges, width = { to_value(low, "float", nil, "low") }, width_of(low, high)
  for k = 1, bins - 1 do edges[k + 1] = edge_of(low, high, width, k, bins) end
  edges[bins + 1] = to_value(high, "float", nil, "high")
  return to_floats(edges)
end

--- The edges: as scripts have them, and as the device compares them.
local function edges_of(wide, low, high, first, last, bins)
  if wide == "float" then
    local edges = float_edges(low, high, bins)
    return edges, edges
  end
  local edges, values, width = { low }, { first or to_value(low, wide, math.ceil, "low") }, width_of(low, high)
  last = last or to_value(high, wide, math.floor, "high")
  for k = 1, bins - 1 do
    edges[k + 1] = edge_of(low, high, width, k, bins)
    values[k + 1] = to_value(edges[k + 1], wide, math.ceil, "high")
  end
  edges[bins + 1], values[bins + 1] = high, last
  return edges, values
end

local written = setmetatable({}, { __mode = "k" }) -- scratch: the edges in it, {list=, and what they are of}

--- Whether two ends of a range are the same number of the same type.
local function is_same(a, b)
  return a == b and math.type(a) == math.type(b) and (a ~= 0 or 1 / a == 1 / b)
end

--- Edges that were written, if they are of this range.
local function kept(edges, low, high, first, last)
  local w = written[edges]
  return w and is_same(w.low, low) and is_same(w.high, high) and w.first == first and w.last == last and w.list or nil
end

--- A copy of edges; a table of few elements is made at once.
local function copied(list)
  if #list <= ROW then return { table.unpack(list) } end
  return table.move(list, 1, #list, 1, {})
end

local USES = {} -- by type
for _, wide in ipairs { "float", "double", "long", "ulong" } do USES[wide] = "edges of " .. wide end

--- The edges: as scripts have them, and a buffer to be given back. Those of the last call are still there.
local function edges_on(device, wide, low, high, first, last, bins)
  local edges = enqueue.take(device, USES[wide], wide, bins + 1)
  local list = kept(edges, low, high, first, last)
  if not list then
    local values
    list, values = edges_of(wide, low, high, first, last, bins)
    edges:write(values)
    written[edges] = { list = list, low = low, high = high, first = first, last = last }
  end
  return copied(list), edges, USES[wide]
end

-- --- guessing -------------------------------------------------------------------------

-- Relative errors, with room for those of a few steps: of a guess in each type, and of an edge by the type of elements.
local GUESSED = { float = 2.0 ^ -21, double = 2.0 ^ -50 }
local ROUNDED = { float = 2.0 ^ -21, double = 2.0 ^ -50, long = 2.0 ^ -50, ulong = 2.0 ^ -50 }
local SMALLEST = { float = 2.0 ^ -124, double = 2.0 ^ -1020 } -- a device may take less for 0

--- What an element is multiplied by for its bin, and how far from an edge, in bins, the bin is right for sure.
local function guess_of(guess, wide, low, high, bins)
  local scale = bins / (high / 2 - low / 2) / 2
  if scale > LARGEST[guess] then return LARGEST[guess], 1 end
  local off = math.max(math.abs(low + 0.0), math.abs(high + 0.0)) * ROUNDED[wide] + SMALLEST[guess]
  if low ~= math.floor(low) and wide ~= guess then off = off + 1 end -- an integer edge is the next one
  return scale, math.min(bins * GUESSED[guess] + scale * off, 1)
end

-- --- counting -----------------------------------------------------------------------

--- Queues the counts of up to SLICE elements, which are described.
local function count(x, slice, h, out)
  local list = { slice }
  local row, items, _, chunk = enqueue.spread(x.device, "histogram", slice.count)
  local place = macros.place(row, list, "histogram", h.local_bins)
  if not place[KERNEL] then
    local defines = macros.of(list, "arg_x", row, operands.wide_type)
    defines.VALUE, defines.GUESS, defines.LOCAL_BINS = h.wide, h.guess, h.local_bins
    defines.IS_INTEGER = operands.is_integer(x.dtype) and 1 or 0
    place[KERNEL] = macros.build("histogram", "x[i]", x.device, "histogram", defines)
  end
  out:fill(0)
  enqueue.launch(place[KERNEL], items, row.group, slice.count, chunk, h.edges, h.bins, h.scale, h.slack, out,
    slice.value)
end

--- Bins that a kernel is built for: those that fit best; 0 for too many.
local function room_for(bins, device)
  for _, room in ipairs(LOCAL_BINS) do
    room = math.min(room, device.local_memory // 8)
    if bins <= room then return room end
  end
  return 0
end

--- Queues the counts of all elements, as numbers of a dtype.
local function count_all(x, buffer, h, index)
  if x.count == 0 then return x.device:zeros(index, h.bins) end
  if index == "uint" then
    local counts = x.device:empty(index, h.bins)
    count(x, x, h, counts)
    return counts
  end
  buffer = buffer:reshape(x.count)
  local counts, slice = x.device:zeros(index, h.bins), x.device:empty("uint", h.bins)
  for at = 1, x.count, SLICE do
    local part = buffer:view(at, math.min(at + SLICE - 1, x.count))
    count(x, operands.describe("histogram", "argument 1", part, "x"), h, slice)
    operations.map("a[i] + b[i]", { a = counts, b = slice }, { out = counts })
  end
  return counts
end

local function histogram(buffer, o)
  o = o and options.check("histogram", o, OPTIONS) or NONE
  local x = operands.describe("histogram", "argument 1", buffer, "x")
  local bins, wide, device = o.bins or BINS, operands.wide_type(x.dtype), x.device
  if bins < 1 or bins > MOST then
    error(("histogram: option 'bins': 1 to %d expected, got %d"):format(MOST, bins), 0)
  end
  local low, high, first, last = range_of(x, o)
  local index = elements.index_dtype(x.count)
  local list, edges, use = edges_on(device, wide, low, high, first, last, bins)
  local guess = wide == "double" and "double" or "float"
  local h = { bins = bins, wide = wide, guess = guess, edges = edges, local_bins = room_for(bins, device) }
  h.scale, h.slack = guess_of(guess, wide, low, high, bins)
  local counts = count_all(x, buffer, h, index)
  if h.local_bins > 0 then enqueue.give(edges, use) end -- many edges are not worth their memory
  return counts, list
end

return histogram
