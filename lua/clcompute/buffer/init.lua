-- SPDX-License-Identifier: MIT

--- Buffers as .npy files, which numpy reads and writes: `d:load(path)`, `b:save(path)`.
--
-- Elements pass in pieces, so that a large file never becomes a large string.
-- @module clcompute

local files = require "clcompute.files"
local npy_header = require "clcompute.buffer.npy_header"

local npy = {}

local PIECE = 4 * 1024 * 1024 -- bytes
local LARGEST_RANGE = 2 ^ 30 | 0 -- work-items of a launch
local SAME_SIZE = { [1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong" }

local function fail(...)
  error(string.format(...), 0)
end

--- The type of what came in place of a path: an explicit nil is "nil", no argument "none".
local function type_given(...)
  return select("#", ...) == 0 and "none" or type((...))
end

--- Calls f(object, path), the path being the first of the further arguments, and raises its errors in
-- the name of the script that called the method: level 1 is `guard`, 2 the method below, 3 the core's
-- check of the object, 4 the script.
local function guard(method, f, object, ...)
  local path = ...
  if type(path) ~= "string" then
    error(("bad argument #1 to '%s' (path expected, got %s)"):format(method, type_given(...)), 4)
  end
  if path:find("\0", 1, true) then error(("bad argument #1 to '%s' (the path holds a NUL byte)"):format(method), 4) end
  local ok, result = pcall(f, object, path)
  if ok then return result end
  if type(result) ~= "string" then error(result, 0) end -- of a debug hook: not ours
  -- The core's own messages start with the line of this file that called it.
  error(("%s: %s"):format(path, (result:gsub("^[^\n]-npy%.lua:%d+: ", ""))), 4)
end

-- --- loading -------------------------------------------------------------------------------------

--- A bare check of the length spares allocating for a header that lies.
local function check_length(file, h)
  local length, message = file:seek("end")
  if not length then fail("not a file of known length: %s", message) end
  local expected, got = h.count * h.size, length - h.start
  if got ~= expected then
    fail("%s %s elements are %d bytes, but %d follow the header", table.concat(h.shape, "x"), h.dtype, expected, got)
  end
  file:seek("set", h.start)
end

local function read_exactly(file, n)
  local bytes, message = file:read(n)
  if message then fail("%s", message) end
  if not bytes or #bytes < n then fail("the file became shorter while it was read") end
  return bytes
end

--- A function that turns every element of a string of whole elements round.
local function swapper(h)
  if not h.swapped or h.size == 1 then return function(bytes) return bytes end end
  local captures, reversed = ("(.)"):rep(h.size), {}
  for i = 1, h.size do reversed[i] = "%" .. h.size + 1 - i end
  reversed = table.concat(reversed)
  return function(bytes) return (bytes:gsub(captures, reversed)) end
end

--- Copies the elements to a one-dimensional buffer as they come.
local function load_elements(file, h, flat)
  local swap, piece = swapper(h), PIECE // h.size
  for first = 1, h.count, piece do
    local n = math.min(piece, h.count - first + 1)
    flat:write(swap(read_exactly(file, n * h.size)), first)
  end
end

--- An array whose first index runs fastest: the device turns it round, which needs the memory twice.
local function load_columns(file, h, flat)
  local device = flat.device
  local columns <close> = device:empty(h.dtype, h.count)
  load_elements(file, h, columns)
  local kernel = device:kernel("reverse_axes", { dtype = SAME_SIZE[h.size] })
  local n = { 1, 1, 1, 1 }
  table.move(h.shape, 1, #h.shape, 5 - #h.shape, n)
  for first = 0, h.count - 1, LARGEST_RANGE do
    local last = math.min(first + LARGEST_RANGE, h.count)
    kernel({ global = last - first, group = 64, remainder = "pad" }, first, last, n, columns, flat)
  end
end

local function load_file(device, path)
  local file <close> = files.open(path)
  local h = npy_header.read(file)
  check_length(file, h)
  local buffer = device:empty(h.dtype, table.unpack(h.shape))
  if h.count == 0 then return buffer end
  local flat <close> = buffer:reshape(h.count)
  local fill = h.fortran and #h.shape > 1 and load_columns or load_elements
  local ok, message = pcall(fill, file, h, flat)
  if not ok then
    buffer:release() -- at once, not when the collector comes by
    error(message, 0)
  end
  return buffer
end

--- A new buffer with the array of a .npy file: of any dtype, 1 to 4 dimensions (a single number
-- becomes a buffer of one element), either byte order, C or Fortran order. Blocks.
-- @function Device:load
-- @tparam string path
-- @treturn Buffer
-- @raise when the file cannot be read, is no plain file, or is not exactly what its header says
function npy.load(device, ...)
  return (guard("load", load_file, device, ...))
end

-- --- saving --------------------------------------------------------------------------------------

local function write_elements(file, buffer)
  local shape = buffer.shape
  local count = 1
  for _, n in ipairs(shape) do count = count * n end
  local ok, message = file:write(npy_header.write(buffer.dtype, shape))
  if not ok or count == 0 then return ok, message end
  local flat <close> = buffer:reshape(count)
  local piece = PIECE * count // buffer.bytes
  for first = 1, count, piece do
    local part <close> = flat:view(first, math.min(first + piece - 1, count))
    ok, message = file:write(part:string())
    if not ok then return nil, message end
  end
  return true
end

local function save_file(buffer, path)
  files.replace(path, function(file) return write_elements(file, buffer) end)
  return buffer
end

--- Writes the buffer as a .npy file: version 1.0, C order, the machine's byte order, in place of
-- what was there: a regular file, whose owner and mode stay, or the one that a symbolic link names. Blocks.
-- @function Buffer:save
-- @tparam string path
-- @treturn Buffer the buffer
-- @raise when the file cannot be written; then the old one stays
function npy.save(buffer, ...)
  return (guard("save", save_file, buffer, ...))
end

return npy
