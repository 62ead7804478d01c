-- SPDX-License-Identifier: MIT

--- The two sides of an array in one call: the elements in a buffer, and in a nested Lua table.
--
-- What a script passes is one of them; the other is made when it is needed. A view that does not start where the device
-- wants buffers to start is worked on in a copy.

local arguments = require "clcompute.loops.runtime.arguments"

local storage = {}

-- --- where the values are right ------------------------------------------------------------
--
-- Copies happen when a side that is not valid is about to be used, and make it valid; a write makes the other side
-- invalid. So a copy between launches in a loop happens once, and what is never used is never copied.

local Array = {}
Array.__index = Array

--- Counters of what calls did: `launches`, `uploads`, `downloads`, `bytes_up`, `bytes_down`.
function storage.counters()
  return { launches = 0, uploads = 0, downloads = 0, bytes_up = 0, bytes_down = 0 }
end

--- An array of one call.
-- @tparam table array `bytes`; `host`, `device`: which sides are valid at the start, at least one; `upload` and
-- `download`: functions that copy; `check`, one that is called before a download, or nil; `counters`. `is_changed`
-- tells whether it was written
function storage.coherent(array)
  assert(array.host or array.device, "an array that is valid nowhere")
  return setmetatable(array, Array)
end

--- Before a kernel uses the array: its values are there.
function Array:to_device()
  if self.device then return end
  assert(self.host)
  self:upload()
  self.device = true
  self.counters.uploads = self.counters.uploads + 1
  self.counters.bytes_up = self.counters.bytes_up + self.bytes
end

--- Before Lua uses the array. What kernels have noted is looked at first: where one has met a fault, those behind it
-- have stored nothing.
function Array:to_host()
  if self.is_scratch then storage.blank(self) end -- a table, if there was none
  if self.host then return end
  assert(self.device)
  if self.check then self.check() end
  self:download()
  self.host = true
  self.counters.downloads = self.counters.downloads + 1
  self.counters.bytes_down = self.counters.bytes_down + self.bytes
end

--- After a kernel that writes part or all of it was queued.
function Array:written_on_device()
  self.device, self.host, self.is_changed = true, false, true
end

--- When Lua writes part or all of it.
function Array:written_on_host()
  self.host, self.device, self.is_changed = true, false, true
end

-- --- nested tables ------------------------------------------------------------------------

--- Copies what is nested so deep from one table to another, whose first elements have such indices.
local function copy_nested(from, from_base, to, to_base, shape, depth)
  local count = shape[depth]
  if depth == #shape then
    table.move(from, from_base, from_base + count - 1, to_base, to)
    return
  end
  for i = 0, count - 1 do
    to[to_base + i] = to[to_base + i] or {}
    copy_nested(from[from_base + i], from_base, to[to_base + i], to_base, shape, depth + 1)
  end
end

local function blank_nested(shape, base, depth)
  local list = {}
  if depth == #shape then return list end
  for i = base, base + shape[depth] - 1 do list[i] = blank_nested(shape, base, depth + 1) end
  return list
end

--- The same elements, and nothing else, with another index of the first.
local function moved(list, from_base, to_base, shape)
  local result = {}
  copy_nested(list, from_base, result, to_base, shape, 1)
  return result
end

local function rebased(list, from_base, to_base, shape)
  return from_base == to_base and list or moved(list, from_base, to_base, shape)
end

--- What a copy of a buffer has beyond its elements: nothing.
local function fence_of(array, depth)
  local first, last = array.base, array.base + array.shape[depth] - 1
  local function check(index)
    if math.type(index) == "integer" and index >= first and index <= last then return end
    error(("%s: index %s of dimension %d is outside of %d .. %d"):format(array.row.label, index, depth, first, last), 3)
  end
  return {
    __index = function(_, index) check(index) end,
    __newindex = function(list, index, value)
      check(index)
      rawset(list, index, value)
    end,
  }
end

--- Puts fences around a copy of a buffer where not all bounds were checked. Elsewhere there are none: an element that
-- is not there yet would be a call of a function.
local function fenced(array, list)
  if not array.is_fenced then return list end
  local fences = {}
  for depth = 1, #array.shape do fences[depth] = fence_of(array, depth) end
  local function visit(part, depth)
    setmetatable(part, fences[depth])
    if depth == #array.shape then return end
    for i = array.base, array.base + array.shape[depth] - 1 do visit(part[i], depth + 1) end
  end
  visit(list, 1)
  return list
end

-- --- memory -------------------------------------------------------------------------------

local function new_memory(array)
  if array.count == 0 then return array.place:empty(array.dtype, 1) end -- a kernel may be given no empty buffer
  return array.place:empty(array.dtype, table.unpack(array.shape))
end

--- The buffer that kernels work on.
function storage.memory(array)
  if not array.memory then
    array.memory = new_memory(array)
    array.is_own = true
  end
  return array.memory
end

--- The elements of an array that a call made for itself; those that have no value, which nothing reads, are 0: what
-- passes have not stored yet, what is behind the end of a table that gets longer.
local function whole(list, base, shape, depth)
  local result = {}
  for i = 1, shape[depth] do
    local item = list and list[base + i - 1]
    result[i] = depth < #shape and whole(item, base, shape, depth + 1) or item or 0
  end
  return result
end

--- Buffers refuse tables with further keys, which are none of a loop's business: then the elements alone are taken.
local function upload(array)
  if array.count == 0 then return end
  local memory = storage.memory(array)
  if array.home == "nowhere" or array.variable.cursor or array.variable.has_late_rows then
    memory:write(whole(array.table, array.base, array.shape, 1))
    return
  end
  local is_written, fault = pcall(memory.write, memory, rebased(array.table, array.base, 1, array.shape))
  if is_written then return end
  if not tostring(fault):find "^bad argument" then error(fault, 0) end
  arguments.check_elements(array.row, array.table, array.shape, array.base)
  memory:write(moved(array.table, array.base, 1, array.shape))
end

local function download(array)
  if array.count == 0 then
    storage.blank(array)
    return
  end
  local values = array.memory:read()
  if array.table then
    copy_nested(values, 1, array.table, array.base, array.shape, 1)
  else
    array.table = fenced(array, rebased(values, 1, array.base, array.shape))
  end
end

--- The table that Lua works on, its values whatever they are.
function storage.blank(array)
  if array.table then return end
  array.table = array.variable.has_late_rows and {} or fenced(array, blank_nested(array.shape, array.base, 1))
end

local function new(taken, dtype, base, place, counters)
  local count = arguments.count(taken.shape)
  return { row = taken.row, variable = taken.variable, shape = taken.shape, dtype = dtype, base = base, place = place,
    count = count, bytes = count * arguments.bytes_of(dtype), counters = counters, upload = upload,
    download = download }
end

--- An array of a call, as coherence has it.
-- @tparam table taken of `clcompute.loops.runtime.arguments`
-- @string dtype of its elements on the device
-- @tparam integer base the index of a table's first element
-- @tparam Device place
-- @tparam table counters
-- @tparam boolean is_fenced whether the function may leave the array, so that a copy in Lua has to be watched
function storage.new(taken, dtype, base, place, counters, is_fenced)
  local array = new(taken, dtype, base, place, counters)
  array.is_fenced = is_fenced
  if taken.table then
    array.table, array.host, array.home = taken.table, true, "host"
    return storage.coherent(array)
  end
  array.device, array.home = true, "device"
  if array.count > 0 then array.memory, array.buffer = taken.buffer, taken.buffer end
  if array.count > 0 and taken.first * arguments.bytes_of(dtype) % place.align ~= 0 then
    array.memory, array.is_own = taken.buffer:copy(), true
  end
  return storage.coherent(array)
end

--- An array that a call makes for itself, whose elements are written before they are read, on either side. It is there
-- until `let_go`.
-- @tparam table variable
-- @tparam {integer,...} shape
-- @tparam integer base the index of a table's first element
-- @tparam Device place
-- @tparam table counters
-- @tparam ?string home where the call returns it: "host", as a table, or "device", as a buffer
function storage.scratch(variable, shape, base, place, counters, home)
  local row = { name = variable.name, label = ("'%s'"):format(variable.name) }
  local array = new({ row = row, variable = variable, shape = shape }, variable.element, base, place, counters)
  array.is_scratch, array.host, array.device, array.home = true, true, true, home or "nowhere"
  return storage.coherent(array)
end

--- A buffer of the first elements of a list, or rows of one.
local function shortened(array, count)
  if count == 0 then return array.place:empty(array.dtype, 0, table.unpack(array.shape, 2)) end
  if not array.memory then return array.place:buffer(table.move(array.table, 1, count, 1, {}), array.dtype) end
  local memory <close> = array.memory
  return memory:view(1, count):copy()
end

--- How many rows and elements a nested table has up to the last ones, `count` all its elements.
local function extents_of(list, base, rank, depth, extents)
  for key, item in pairs(list) do
    extents[depth] = math.max(extents[depth] or 0, key - base + 1)
    if depth < rank then
      extents_of(item, base, rank, depth + 1, extents)
    else
      extents.count = extents.count + 1
    end
  end
  return extents
end

--- A buffer of a table that Lua has filled. Data may say up to where: the array has room for the most.
local function filled_in_lua(array)
  storage.blank(array)
  local shape = extents_of(array.table, array.base, #array.shape, 1, { count = 0 })
  for d = 2, #array.shape do shape[d] = shape[d] or shape[1] and 0 or array.shape[d] end
  shape[1] = shape[1] or 0
  if shape.count == 0 then return array.place:empty(array.dtype, table.unpack(shape)) end
  if shape.count < arguments.count(shape) then
    local _, fault = pcall(arguments.check_elements, array.row, array.table, shape, array.base)
    error(fault .. "; the call returns a buffer: store a number in each element before the last", 0)
  end
  return array.place:buffer(rebased(array.table, array.base, 1, shape), array.dtype)
end

--- What a call returns of an array that is settled.
-- @tparam table array
-- @tparam ?integer count how long it got, of a list
function storage.value_of(array, count)
  if array.home == "host" then
    for i = #array.table, count and count + 1 or math.huge, -1 do array.table[i] = nil end
    return array.table
  end
  if count and (count < array.shape[1] or not array.memory) then return shortened(array, count) end
  return array.count > 0 and array.memory or array.place:empty(array.dtype, table.unpack(array.shape))
end

--- Releases the memory of arrays that a call made for itself.
function storage.let_go(arrays)
  for _, array in ipairs(arrays) do
    if array.home == "nowhere" and array.memory then
      array.memory:release()
      array.memory, array.is_own = nil, nil
    end
  end
end

--- Whether Lua has filled a list whose home is the device: what is behind its end does not go there.
local function is_list_in_lua(array)
  return array.is_scratch and array.variable.cursor ~= nil and array.table ~= nil and not array.device
end

--- Whether Lua alone knows what a table that is returned as a buffer has: it has filled it, or nobody has.
local function is_known_in_lua(array)
  return array.is_scratch and array.home == "device" and (not array.device or not array.is_changed)
end

--- Brings the values home at the end of a call, and lets go of what the call made, but for arrays of its own.
function storage.settle(array)
  if array.home == "nowhere" then return end
  if array.home == "host" then
    array:to_host()
  elseif is_list_in_lua(array) then
    if array.memory then array.memory:release() end
    array.memory = nil
  elseif is_known_in_lua(array) then
    if array.memory then array.memory:release() end
    array.memory = filled_in_lua(array)
    array.shape = array.memory.shape
    array.count = arguments.count(array.shape)
  else
    array:to_device()
    if array.is_own and array.buffer and array.is_changed then array.buffer:write(array.memory) end
  end
  if array.is_own and not (array.is_scratch and array.home == "device") then array.memory:release() end
end

return storage
