-- SPDX-License-Identifier: MIT

--- Buffers as .npy files, which numpy reads and writes.
--
-- Elements pass in pieces, so that a large file never becomes a large string.

local internal = require "clcompute.core.internal"

local npy = {}

local PIECE = 4 * 1024 * 1024 -- bytes
local MUCH = 4 * PIECE -- for so many bytes host arrays, which a driver pins, are worth it
local LARGEST_RANGE = 2 ^ 30 | 0 -- work-items of a launch
local SAME_SIZE = { [1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong" }

local function fail(...)
  error(string.format(...), 0)
end

-- --- the header (numpy's NEP 1) -----------------------------------------------------------
-- It is read strictly and written as numpy writes it: the text of one Python literal, a dict with the keys 'descr',
-- 'fortran_order' and 'shape'; nothing else is understood. Files come from anywhere, so nothing in one is trusted: each
-- fault is an error (a string without a position), and the number of bytes that a header promises does not overflow.

local MAGIC = "\x93NUMPY"
local MAX_LENGTH = 65535 -- of the header's text; what version 1.0 can say
local MAX_DIMENSIONS = 4
local ALIGNMENT = 64
local GROWTH = 21 -- numpy leaves room for the first extent to grow to so many digits

-- numpy's letter and size for each dtype, and back.
local CODES = {
  char = "i1", uchar = "u1", short = "i2", ushort = "u2", int = "i4", uint = "u4", long = "i8", ulong = "u8",
  half = "f2", float = "f4", double = "f8",
}
local DTYPES = {}
for dtype, code in pairs(CODES) do DTYPES[code] = dtype end
DTYPES.b1 = "uchar" -- numpy's bool: 0 or 1

local NATIVE = string.pack("=I2", 1) == string.pack("<I2", 1) and "<" or ">"

--- Text of a file as a message may hold it.
local function quote(text)
  if #text > 24 then text = text:sub(1, 24) .. "..." end
  return "'" .. text:gsub("[^\x20-\x7e]", function(c) return ("\\x%02x"):format(c:byte()) end) .. "'"
end

-- --- the literal ---------------------------------------------------------------------------------
-- A cursor is {text=, at=}: the next character that was not read.

--- Reads what matches an anchored pattern after blanks, or returns nil.
local function take(cursor, pattern)
  local start = cursor.text:match("^[ \t\r\n]*()", cursor.at)
  local first, last, capture, more = cursor.text:find(pattern, start)
  if not first then return nil end
  cursor.at = last + 1
  return capture or cursor.text:sub(first, last), more
end

local function expect(cursor, pattern, what)
  local found, more = take(cursor, pattern)
  if found then return found, more end
  local rest = cursor.text:match("^[ \t\r\n]*(.*)", cursor.at)
  fail("bad header: %s expected, got %s", what, rest == "" and "its end" or quote(rest))
end

local function read_string(cursor, what)
  local _, text = expect(cursor, "^(['\"])([^'\"\\\n]*)%1", what)
  return text
end

local function read_boolean(cursor)
  local word = expect(cursor, "^%a+", "True or False")
  if word ~= "True" and word ~= "False" then fail("bad header: True or False expected, got %s", quote(word)) end
  return word == "True"
end

--- A tuple of integers: (), (3,), (3, 4), (3, 4,); but (3) is a number. Python 2 wrote (3L,).
local function read_tuple(cursor)
  local numbers = {}
  expect(cursor, "^%(", "the shape, a tuple,")
  while not take(cursor, "^%)") do
    numbers[#numbers + 1] = expect(cursor, "^%-?%d+", "an integer extent")
    take(cursor, "^L")
    if #numbers > 32 then fail("bad header: the shape has more than 32 extents") end
    if not take(cursor, "^,") then
      expect(cursor, "^%)", "',' or ')' of the shape")
      if #numbers == 1 then fail("bad header: the shape (%s) is no tuple", quote(numbers[1])) end
      break
    end
  end
  return numbers
end

local READERS = {
  descr = function(cursor) return read_string(cursor, "the type, a string,") end,
  fortran_order = read_boolean,
  shape = read_tuple,
}

--- The dict as a table; keys in any order, each once, a comma at the end or not.
local function read_dict(text)
  local cursor, fields = { text = text, at = 1 }, {}
  expect(cursor, "^{", "'{'")
  while not take(cursor, "^}") do
    local key = read_string(cursor, "a key")
    if not READERS[key] then fail("bad header: unknown key %s", quote(key)) end
    if fields[key] ~= nil then fail("bad header: key '%s' comes twice", key) end
    expect(cursor, "^:", "':'")
    fields[key] = READERS[key](cursor)
    if not take(cursor, "^,") then
      expect(cursor, "^}", "',' or '}'")
      break
    end
  end
  if take(cursor, "^[^ \t\r\n]") then fail("bad header: it goes on after its dict") end
  for _, key in ipairs { "descr", "fortran_order", "shape" } do
    if fields[key] == nil then fail("bad header: key '%s' is missing", key) end
  end
  return fields
end

-- --- what it means -------------------------------------------------------------------------------

local function check_type(descr)
  local order, code = descr:match("^([<>|=])(%w+)$")
  local dtype = DTYPES[code]
  if not dtype then
    fail("type %s has no dtype here; there are b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 after <, >, = or |", quote(descr))
  end
  return dtype, tonumber(code:sub(2)), (order == "<" or order == ">") and order ~= NATIVE
end

--- Extents as integers, and their product; an extent of 0 must not hide that the others overflow.
local function check_shape(digits, size)
  if #digits > MAX_DIMENSIONS then fail("%d dimensions; a buffer has at most %d", #digits, MAX_DIMENSIONS) end
  local shape, count, product = {}, 1, size
  for i, text in ipairs(digits) do
    local n = math.tointeger(tonumber(text))
    if not n or text:find("^%-?0%d") then fail("extent %s is no integer of 64 bits", quote(text)) end
    if text:find "^%-" then fail("negative extent %s", text) end
    if n > 0 and product > math.maxinteger // n then
      fail("bad header: %s elements of %d bytes overflow", table.concat(digits, "x"), size)
    end
    shape[i], count, product = n, count * n, product * math.max(n, 1)
  end
  if #shape == 0 then shape[1] = 1 end -- a single number
  return shape, count
end

--- Reads exactly n bytes.
local function read_bytes(file, n, what)
  if n == 0 then return "" end
  local bytes, message = file:read(n)
  if message then fail("%s", message) end
  if not bytes or #bytes < n then fail("truncated in its %s", what) end
  return bytes
end

--- Reads magic, version and header from the start of a file.
-- @param file an open file; it stands at the first element afterwards
-- @treturn table {dtype=, size= (bytes of an element), swapped= (byte order is not the machine's),
-- fortran= (first index fastest), shape=, count= (elements), start= (bytes before the elements)}
-- @raise a string that tells the fault
local function read_header(file)
  local magic, message = file:read(#MAGIC)
  if message then fail("%s", message) end
  if magic ~= MAGIC then
    fail("no .npy, .npz or .csv file and no picture (.png, binary .pgm or .ppm): it starts with %s", quote(magic or ""))
  end
  local major, minor = read_bytes(file, 2, "version"):byte(1, 2)
  if major < 1 or major > 3 or minor ~= 0 then
    fail("format version %d.%d; 1.0, 2.0 and 3.0 are known", major, minor)
  end
  local width = major == 1 and 2 or 4
  local length = string.unpack("<I" .. width, read_bytes(file, width, "header length"))
  if length > MAX_LENGTH then fail("a header of %d bytes; at most %d are read", length, MAX_LENGTH) end
  local fields = read_dict(read_bytes(file, length, "header"))
  local dtype, size, swapped = check_type(fields.descr)
  local shape, count = check_shape(fields.shape, size)
  return {
    dtype = dtype, size = size, swapped = swapped, fortran = fields.fortran_order,
    shape = shape, count = count, start = #MAGIC + 2 + width + length,
  }
end

--- The bytes before the elements: version 1.0, C order, the machine's byte order.
-- @tparam string dtype
-- @tparam table shape
-- @treturn string
local function write_header(dtype, shape)
  local code = CODES[dtype]
  local order = code:sub(2) == "1" and "|" or NATIVE
  local text = ("{'descr': '%s%s', 'fortran_order': False, 'shape': (%s%s), }"):format(
    order, code, table.concat(shape, ", "), #shape == 1 and "," or "")
  text = text .. (" "):rep(GROWTH - #tostring(shape[1]))
  local length = #MAGIC + 4 + #text + 1
  text = text .. (" "):rep(-length % ALIGNMENT) .. "\n"
  return MAGIC .. "\1\0" .. string.pack("<s2", text)
end

npy.read_header = read_header -- for specs of hostile files

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

local SHORTER = "the file became shorter while it was read"

local function read_exactly(file, n)
  local bytes, message = file:read(n)
  if message then fail("%s", message) end
  if not bytes or #bytes < n then fail(SHORTER) end
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

--- The elements of a buffer in one dimension; a spread one has them for formats alone.
local function flat_of(buffer, count)
  local meta = getmetatable(buffer)
  return meta and meta.flat(buffer) or buffer:reshape(count)
end

--- Whether elements pass between a buffer of one device and a file of the system by host arrays.
local function passes_directly(file, flat, bytes)
  return bytes >= MUCH and io.type(file) == "file" and not getmetatable(flat) -- which spread buffers show
end

--- The whole pieces of a file: one host array is on its way while the file fills the other. Returns the first element
-- behind them.
local function load_pieces(file, flat, piece, count)
  local one <close> = flat.device:host(flat.dtype, piece)
  local other <close> = flat.device:host(flat.dtype, piece)
  local now, later = one, other
  for first = 1, count - piece + 1, piece do
    local n, message = internal.fill_host(now, file)
    if message then fail("%s", message) end
    if n < piece then fail(SHORTER) end
    flat:write(now, first)
    now, later = later, now
  end
  return count // piece * piece + 1
end

--- Copies the elements to a one-dimensional buffer as they come.
local function load_elements(file, h, flat)
  local swap, piece = swapper(h), PIECE // h.size
  local is_direct = not h.swapped and passes_directly(file, flat, h.count * h.size)
  local start = is_direct and load_pieces(file, flat, piece, h.count) or 1
  for first = start, h.count, piece do
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

--- A new buffer with the array of an open file.
function npy.read(device, file)
  local h = read_header(file)
  check_length(file, h)
  local buffer = device:empty(h.dtype, table.unpack(h.shape))
  if h.count == 0 then return buffer end
  local flat <close> = flat_of(buffer, h.count)
  local fill = h.fortran and #h.shape > 1 and load_columns or load_elements
  local ok, message = pcall(fill, file, h, flat)
  if not ok then
    buffer:release() -- at once, not when the collector comes by
    error(message, 0)
  end
  return buffer
end

-- --- saving --------------------------------------------------------------------------------------

local function store(array, file)
  local ok, message = internal.store_host(array, file)
  if not ok then fail("%s", message) end
end

--- The other way round: the file takes one host array while the device fills the other.
local function save_pieces(file, flat, piece, count)
  local one <close> = flat.device:host(flat.dtype, piece)
  local other <close> = flat.device:host(flat.dtype, piece)
  local now, before = one, nil
  for first = 1, count - piece + 1, piece do
    local part <close> = flat:view(first, first + piece - 1)
    part:read_async(now)
    if before then store(before, file) end
    now, before = before or other, now
  end
  store(before, file)
  return count // piece * piece + 1
end

--- Writes a buffer to an open file; returns nil and the reason where that fails, or raises it.
function npy.write(file, buffer)
  local shape = buffer.shape
  local count = 1
  for _, n in ipairs(shape) do count = count * n end
  local ok, message = file:write(write_header(buffer.dtype, shape))
  if not ok or count == 0 then return ok, message end
  local flat <close> = flat_of(buffer, count)
  local piece = PIECE * count // buffer.bytes
  local start = passes_directly(file, flat, buffer.bytes) and save_pieces(file, flat, piece, count) or 1
  for first = start, count, piece do
    local part <close> = flat:view(first, math.min(first + piece - 1, count))
    ok, message = file:write(part:string())
    if not ok then return nil, message end
  end
  return true
end

return npy
