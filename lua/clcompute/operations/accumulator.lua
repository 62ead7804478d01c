-- SPDX-License-Identifier: MIT
--- What a reduction accumulates: numbers of a dtype, or structs of cl.struct, which lie in buffers of bytes.
--
-- An accumulator is {type= in OpenCL C, dtype= in buffers, width= elements of one there} with three functions:
-- argument(init) is what a kernel takes for it, read(buffer) the one of a buffer, sizes(row) how many a kernel has at
-- once: work-items of a group, lanes, and elements of a GPU's work-item.

local language = require "clcompute.language"

local accumulator = {}

-- --- numbers ----------------------------------------------------------------------

local numbers = {} -- by dtype

local function number_argument(init)
  return init or 0
end

local function read_number(buffer)
  return buffer:get(1)
end

local function sizes_of_row(row)
  return row.group, row.lanes
end

--- Numbers of a dtype.
function accumulator.of_numbers(dtype)
  local found = numbers[dtype]
  if not found then
    found = { type = dtype, dtype = dtype, width = 1, argument = number_argument, read = read_number,
      sizes = sizes_of_row }
    numbers[dtype] = found
  end
  return found
end

-- --- structs ----------------------------------------------------------------------

local LARGEST = 16384 -- bytes: some are on the stack of a work-item, and one for each work-item in local memory
local PRIVATE = 1024 -- bytes that the lanes of a work-item may take, where one does not take more
local AT_ONCE = 8

--- The largest power of two up to `most` of whose structs no more than so many bytes are taken; at least 1.
local function fit(most, size, bytes)
  while most > 1 and most * size > bytes do most = most // 2 end
  return most
end

--- Structs of a type.
function accumulator.of_structs(where, struct, device)
  local size = struct.size
  if size > LARGEST then
    error(("%s: a struct of at most %d bytes expected, '%s' has %d"):format(where, LARGEST, struct.name, size), 0)
  end
  return {
    type = struct.name, dtype = "uchar", width = size, struct = struct,
    argument = function(init) return init and struct:pack(init) or ("\0"):rep(size) end,
    read = function(buffer) return struct:unpack(buffer:string()) end,
    sizes = function(row)
      local group = fit(row.group, size, device.local_memory // 2)
      return group, fit(row.lanes, size, PRIVATE), fit(AT_ONCE, size, PRIVATE)
    end,
  }
end

--- Whether a value is a struct of cl.struct.
function accumulator.is_struct(value)
  return language.declarations(value) ~= nil
end

return accumulator
