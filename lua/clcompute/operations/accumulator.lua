-- SPDX-License-Identifier: MIT
--- What a reduction accumulates: numbers of a dtype, or structs of cl.struct, which lie in buffers of bytes.
--
-- An accumulator is {type= in OpenCL C, dtype= in buffers, width= elements of one there} with four functions:
-- argument(init) is what a kernel takes for it, alone(init) the result of nothing else, read(buffer) the one of a
-- buffer, sizes(row) how many a kernel has at once: work-items of a group, lanes, and elements of a GPU's work-item.
-- That of structs also has `declarations`, and `alias`, which declares the type.

local language = require "clcompute.language"

local accumulator = {}

-- --- numbers ----------------------------------------------------------------------

local numbers = {} -- by dtype

local function number_argument(init)
  return init or 0
end

local function number_alone(init)
  return init
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
    found = { type = dtype, dtype = dtype, width = 1, argument = number_argument, alone = number_alone,
      read = read_number, sizes = sizes_of_row }
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

--- The bytes of an init, whose faults are the option's.
local function pack_init(struct, init)
  local ok, bytes = pcall(struct.pack, struct, init)
  if ok then return bytes end
  error(type(bytes) == "string" and bytes:gsub("^[^\n]-pack: ", "option 'init': ") or bytes, 0)
end

--- Structs of cl.struct, whose type has a name that none of a kernel's hides; nil for what is none.
function accumulator.of_structs(where, struct, device)
  local layout = language.layout(struct)
  if not layout then return nil end
  local size = layout.size
  if size > LARGEST then
    error(("%s: a struct of at most %d bytes expected, '%s' has %d"):format(where, LARGEST, layout.name, size), 0)
  end
  return {
    type = "clc_result", dtype = "uchar", width = size, declarations = layout.declarations,
    alias = ("typedef %s clc_result;\n"):format(layout.name),
    argument = function(init) return init and pack_init(struct, init) or ("\0"):rep(size) end,
    alone = function(init) return struct:unpack(pack_init(struct, init)) end, -- every field, as of a result
    read = function(buffer) return struct:unpack(buffer:string()) end,
    sizes = function(row)
      local group = fit(row.group, size, device.local_memory // 2)
      return group, fit(row.lanes, size, PRIVATE), fit(AT_ONCE, size, PRIVATE)
    end,
  }
end

return accumulator
