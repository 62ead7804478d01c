-- SPDX-License-Identifier: MIT

--- How nests are launched that sum in elements of which data say where they are: in copies of arrays, or by a log. How
-- many chunks of passes there are depends on the device, the passes and the sizes of arrays alone, so results are the
-- same at every call.

local ast = require("clcompute.loops.tree").ast
local launchers = require "clcompute.loops.runtime.launchers"
local logged_sums = require("clcompute.loops.generation").logged_sums

local number_of_chunks = require("clcompute.loops.generation").chunks.number

local scattered = {}

local round_up, power_of_2 = launchers.round_up, launchers.power_of_2

local MOST_OF_MEMORY = 1 / 16 -- of a device's, for all copies or logs
local RESIDENT = 2048 -- work-items that a compute unit has at once
local MOST_LANES = 256 -- work-items of a group
local TOGETHER = 32 -- work-items that a GPU starts at once
local APART = 128 -- bytes: two chunks share no line of a cache

--- The range of a kernel of one work-item.
local ONE = { global = { 1 }, group = { 1 } }

--- How far it is from one copy of each array to the next, in elements of so many bytes; also the bytes of all.
local function distances_of(sizes, bytes)
  local distances, sum = {}, 0
  for i, size in ipairs(sizes) do
    distances[i] = round_up(math.max(size, 1), APART // bytes[i])
    sum = sum + distances[i] * bytes[i]
  end
  return distances, sum
end

--- Shares passes out to so many chunks at most, the outer loops first: the parts of each loop, and how many chunks
-- there are.
local function parts_of(counts, most)
  local parts, chunks, left = {}, 1, most
  for i, count in ipairs(counts) do
    parts[i] = math.max(math.min(count, left), 1)
    left, chunks = left // parts[i], chunks * parts[i]
  end
  return parts, chunks
end

--- The sum of numbers, and the greatest of them.
local function sum_of(list)
  local sum, most = 0, 0
  for _, number in ipairs(list) do sum, most = sum + number, math.max(most, number) end
  return sum, most
end

--- Makes room for so many elements in a list's buffer, which stays for later calls; one that is too small goes before.
local function make_place(list, key, device, dtype, count)
  local buffer = list[key]
  if buffer and #buffer >= count then return end
  list[key] = nil -- whatever fails
  if buffer then buffer:release() end
  list[key] = device:empty(dtype, math.max(count, 1))
end

-- --- in copies of arrays -----------------------------------------------------------------------

local Copies = {}
Copies.__index = Copies

local MOST_COPIED = 1 << 28 -- bytes
local LEAST_RUN = 1024 -- elements that a processor's work-item adds up

--- A nest on a device.
-- @tparam table nest with `scattered`
-- @tparam Program program with its kernels
-- @tparam Device device
-- @tparam table row numbers of `clcompute.tuning.known`
-- @treturn table `kernel`; `result`, the second one; `single`, that of one work-item; and the method `share`
function scattered.copies(nest, program, device, row)
  local is_wide, bytes = row.kernel == "items", {}
  for i, array in ipairs(nest.scattered.arrays) do bytes[i] = ast.bytes(array.element) end
  local result = program:kernel(nest.name .. "_result")
  return setmetatable({ kernel = program:kernel(nest.name), result = result, one = ONE,
    single = program:kernel(nest.name .. "_single"), device = device, is_wide = is_wide,
    arrays = nest.scattered.arrays, bytes = bytes, copies = {}, units = device.compute_units,
    most = (is_wide and RESIDENT or row.blocks) * device.compute_units,
    most_bytes = math.min(MOST_COPIED, device.global_memory * MOST_OF_MEMORY // 1 | 0),
    items = device.type == "cpu" and 1 or math.min(result:info().group_size, MOST_LANES) }, Copies)
end

--- The range of the kernel that adds the copies up. On a GPU few elements have a group each, whose work-items share the
-- copies.
local function range_of_result(self, elements, chunks)
  if not self.is_wide then
    return { global = { math.max(math.min(elements // LEAST_RUN, self.units), 1) }, group = { 1 } }
  end
  local columns = math.min(elements * self.items > self.most and TOGETHER or 1, self.items)
  local slices = power_of_2(math.min(self.items // columns, chunks))
  return { global = { round_up(math.max(elements, 1), columns), slices }, group = { columns, slices } }
end

--- Shares passes out.
-- @tparam {integer,...} counts passes of each loop, the outermost first, all above 0
-- @tparam {integer,...} sizes elements of each array
-- @tparam integer statements how many run, about
-- @treturn ?table the ranges of `kernel` and `result`; nil: one work-item has all passes
-- @treturn integer how many chunks there are; `parts` has the parts of each loop, `distances` those of copies
function Copies:share(counts, sizes, statements)
  local distances, bytes = distances_of(sizes, self.bytes)
  local elements, largest = sum_of(sizes)
  local chunks
  self.distances = distances
  self.parts, chunks = parts_of(counts, math.min(number_of_chunks(statements, elements, self.is_wide), self.most,
    self.most_bytes // bytes))
  for i, array in ipairs(self.arrays) do
    make_place(self.copies, i, self.device, array.element, chunks > 1 and chunks * distances[i] or 1)
  end
  if chunks == 1 then return nil, 1 end
  local group = self.is_wide and self.items > 1 and TOGETHER or 1
  return { kernel = { global = { round_up(chunks, group) }, group = { group } },
    result = range_of_result(self, largest, chunks) }, chunks
end

-- --- by a log ------------------------------------------------------------------------------------

local Logs = {}
Logs.__index = Logs

local MOST_LOGGED = 1 << 32 -- bytes
-- Statements for which four launches pay, and chunks, as several work-items write down and put in order what one does
-- at once: on an H200 a log took as long as one work-item at 256 statements of 20 to 30,000 elements, 1,000 of a
-- million and 20,000 of ten million.
local FEWEST, FEWEST_CHUNKS = 512, 16

--- A nest on a device.
-- @tparam table nest with `logged`
-- @tparam Program program with its kernels
-- @tparam Device device
-- @string real the dtype of floats, "float" or "double"
-- @treturn table `kernel`, `places`, `order` and `result`, one after the other; `single`, that of one work-item; and
-- the method `share`
function scattered.logs(nest, program, device, real)
  local self = setmetatable({ kernel = program:kernel(nest.name), one = ONE, device = device, types = {},
    widths = {}, log = {}, units = device.compute_units, most = RESIDENT * device.compute_units,
    most_bytes = math.min(MOST_LOGGED, device.global_memory * MOST_OF_MEMORY // 1 | 0) }, Logs)
  for _, name in ipairs { "places", "order", "result", "single" } do
    self[name] = program:kernel(nest.name .. "_" .. name)
  end
  for i, array in ipairs(nest.logged.arrays) do
    self.types[i], self.widths[i], self.log[i] = ast.is_float(array.element) and real or "long", ast.bytes "int", {}
  end
  self.items = device.type == "cpu" and 1 or math.min(self.places:info().group_size, logged_sums.MOST_ITEMS)
  return self
end

--- The slots that a chunk has for updates of each array, for some that a pass has.
local function slots_of(counts, parts, slots)
  local passes, list = 1, {}
  for i, count in ipairs(counts) do passes = passes * -(-count // parts[i]) end
  for i, count in ipairs(slots) do list[i] = passes * count end
  return list
end

--- For how many chunks there is memory: each has its counts, and some slots that it may not need.
local function chunks_for(self, counts, slots)
  local passes, all, each = 1, 0, 0
  for _, count in ipairs(counts) do passes = passes * count end
  for i, type in ipairs(self.types) do
    local updates = slots[i] * (self.widths[i] + 2 * ast.bytes(type))
    all, each = all + passes * updates, each + updates + self.distances[i] * self.widths[i]
  end
  return (self.most_bytes - all) // each
end

--- The bytes of all that chunks write down, and the most elements of one buffer.
local function needs_of(self, chunks)
  local bytes, most = 0, 0
  for i, type in ipairs(self.types) do
    local updates, counts = chunks * self.slots[i], chunks * self.distances[i]
    bytes = bytes + updates * (self.widths[i] + 2 * ast.bytes(type)) + counts * self.widths[i]
    most = math.max(most, updates, counts)
  end
  return bytes, most
end

--- Makes room for what is written down, and counts of 0; for arguments where nothing is.
local function make_room(self, chunks, sizes)
  for i, type in ipairs(self.types) do
    local log, counts, updates = self.log[i], chunks * self.distances[i], chunks * self.slots[i]
    make_place(log, "counts", self.device, "int", counts)
    if counts > 0 then log.counts:fill(0, 1, counts) end
    make_place(log, "places", self.device, "int", updates)
    make_place(log, "values", self.device, type, updates)
    make_place(log, "sorted", self.device, type, updates)
    make_place(log, "lists", self.device, "int", chunks > 0 and 2 * sizes[i] + 1 or 1)
  end
end

--- The ranges of the four kernels: in dimension 2 each of the later ones has the arrays.
local function ranges_of(self, chunks, elements)
  local group, arrays = self.items > 1 and TOGETHER or 1, #self.types
  local columns = math.min(elements * self.items > self.most and logged_sums.COLUMNS or 1, self.items)
  local slices = power_of_2(math.min(self.items // columns, chunks))
  local apart = elements > self.units * TOGETHER and group or 1 -- lists have a unit each, as long as there are some
  return { kernel = { global = { round_up(chunks, group) }, group = { group } },
    places = { global = { round_up(elements, columns), slices, arrays }, group = { columns, slices, 1 } },
    order = { global = { round_up(chunks, group), 1, arrays }, group = { group, 1, 1 } },
    result = { global = { round_up(elements, apart), 1, arrays }, group = { apart, 1, 1 } } }
end

--- Shares passes out.
-- @tparam {integer,...} counts passes of each loop, the outermost first, all above 0
-- @tparam {integer,...} sizes elements of each array
-- @tparam {integer,...} slots updates of each array that a pass has at most
-- @tparam integer statements how many run, about
-- @treturn ?table the ranges of `kernel`, `places`, `order` and `result`; nil: one work-item has all passes
-- @treturn integer how many chunks there are; `parts` has the parts of each loop, `distances` from the counts of a
-- chunk to the next, `slots` the updates of a chunk
function Logs:share(counts, sizes, slots, statements)
  local elements, largest = sum_of(sizes)
  local chunks
  self.distances = distances_of(sizes, self.widths)
  self.parts, chunks = parts_of(counts, math.min(number_of_chunks(statements, elements, true), self.most,
    chunks_for(self, counts, slots)))
  self.slots = slots_of(counts, self.parts, slots)
  local bytes, most = needs_of(self, chunks)
  local pays = statements >= FEWEST and chunks >= FEWEST_CHUNKS and bytes <= self.most_bytes and most < 1 << 31
  make_room(self, pays and chunks or 0, sizes)
  if not pays then return nil, 1 end
  return ranges_of(self, chunks, math.max(largest, 1)), chunks
end

return scattered
