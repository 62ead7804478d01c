-- SPDX-License-Identifier: MIT

--- Archives of files (.zip): written with entries as they are, read with entries as they are or deflated. A directory
-- at the end says where the entries are. Files come from anywhere: nothing in one is trusted.

local compression = require "clcompute.formats.compression"

local zip = {}

local LOCAL, CENTRAL, END = "PK\3\4", "PK\1\2", "PK\5\6"
local VERSION, UTF8, ENCRYPTED = 20, 0x800, 1
local FIRST_DAY = 0x21 -- 1980-01-01, so that the same entries are the same file
local STORED, DEFLATED = 0, 8
local MOST = 0xfffffffe -- bytes of a file; what is larger takes another format, zip64
local MOST_ENTRIES = 0xfffe
local MOST_COMMENT, END_SIZE, CENTRAL_SIZE, LOCAL_SIZE = 65535, 22, 46, 30
local LONGEST_NAME = 65535

local function fail(...) error(string.format(...), 0) end

--- A name as a message may hold it.
function zip.quote(name)
  if #name > 40 then name = name:sub(1, 40) .. "..." end
  return "'" .. name:gsub("[^\x20-\x7e]", "?") .. "'"
end

local quote = zip.quote

-- --- writing -------------------------------------------------------------------------------------------

local function local_header(e)
  return LOCAL .. string.pack("<I2I2I2I2I2I4I4I4I2I2", VERSION, UTF8, STORED, 0, FIRST_DAY, e.crc, e.size, e.size,
    #e.name, 0) .. e.name
end

local function central_header(e)
  return CENTRAL .. string.pack("<I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4", VERSION, VERSION, UTF8, STORED, 0, FIRST_DAY,
    e.crc, e.size, e.size, #e.name, 0, 0, 0, 0, 0, e.start) .. e.name
end

local function check_written(ok, message)
  if not ok then error(message, 0) end
end

--- Writes one entry. Its head, which has the checksum, is written again when that is known.
-- @tparam function write called with what has the method `write` of a file; returns nil and the reason where it fails
local function write_entry(file, name, write)
  local e = { name = name, size = 0, crc = 0, start = file:seek() }
  local crc = compression.crc()
  check_written(file:write(local_header(e)))
  check_written(write { write = function(self, bytes)
    e.size, e.crc = e.size + #bytes, crc(bytes)
    if e.start + e.size > MOST then fail("an archive holds 4 GiB at most: save %s as a .npy file", quote(name)) end
    local ok, message = file:write(bytes)
    return ok and self, message
  end })
  local stop = file:seek()
  file:seek("set", e.start)
  check_written(file:write(local_header(e)))
  file:seek("set", stop)
  return e
end

--- Writes an archive to an open file.
-- @tparam table names of the entries, in their order
-- @tparam function write (entry's file, name); returns nil and the reason where it fails
-- @raise the reason
function zip.write(file, names, write)
  local directory = {}
  if #names > MOST_ENTRIES then fail("an archive has at most %d entries, these are %d", MOST_ENTRIES, #names) end
  for i, name in ipairs(names) do
    if #name > LONGEST_NAME then fail("a name of %d bytes; at most %d are kept", #name, LONGEST_NAME) end
    directory[i] = central_header(write_entry(file, name, function(entry) return write(entry, name) end))
  end
  local start, bytes = file:seek(), table.concat(directory)
  if start + #bytes > MOST then fail "an archive holds 4 GiB at most" end
  check_written(file:write(bytes, END, string.pack("<I2I2I2I2I4I4I2", 0, 0, #names, #names, #bytes, start, 0)))
  return true
end

-- --- reading -------------------------------------------------------------------------------------------

local function read_at(file, start, n)
  file:seek("set", start)
  local bytes, message = file:read(n)
  if message then fail("%s", message) end
  if n > 0 and (not bytes or #bytes < n) then fail "the file became shorter while it was read" end
  return bytes or ""
end

--- Where the directory is: {start=, size=, count=}. Its record stands at the end, behind which a comment may stand.
local function find_directory(file, length)
  local n = math.min(length, END_SIZE + MOST_COMMENT)
  local tail = read_at(file, length - n, n)
  for at = n - END_SIZE + 1, 1, -1 do
    if tail:sub(at, at + 3) == END and string.unpack("<I2", tail, at + 20) == n - END_SIZE + 1 - at then
      local disk, first, here, count, size, start = string.unpack("<I2I2I2I2I4I4", tail, at + 4)
      if count == 0xffff or size > MOST or start > MOST then fail "an archive of zip64, which is not read" end
      if disk ~= 0 or first ~= 0 or here ~= count then fail "an archive of several files, which is not read" end
      if start + size > length - n + at - 1 then fail "bad archive: its directory reaches beyond its place" end
      return { start = start, size = size, count = count }
    end
  end
  fail "bad archive: it has no directory at its end"
end

local function read_directory_entry(text, at)
  if #text - at + 1 < CENTRAL_SIZE or text:sub(at, at + 3) ~= CENTRAL then fail "bad archive: damaged directory" end
  local flags, method, _, crc, packed, size, name_size, extra, comment =
    string.unpack("<I2I2I4I4I4I4I2I2I2", text, at + 8)
  local start = string.unpack("<I4", text, at + 42)
  local name = text:sub(at + CENTRAL_SIZE, at + CENTRAL_SIZE + name_size - 1)
  local next_at = at + CENTRAL_SIZE + name_size + extra + comment
  if next_at > #text + 1 then fail "bad archive: damaged directory" end
  if flags & ENCRYPTED ~= 0 then fail("entry %s is encrypted", quote(name)) end
  if method ~= STORED and method ~= DEFLATED then
    fail("entry %s has compression method %d; 0 (stored) and 8 (deflated) are known", quote(name), method)
  end
  if packed > MOST or size > MOST or start > MOST then
    fail("entry %s is of zip64, which is not read", quote(name))
  end
  if method == STORED and packed ~= size then
    fail("entry %s is stored in %d bytes, but has %d", quote(name), packed, size)
  end
  return { name = name, method = method, crc = crc, packed = packed, size = size, start = start }, next_at
end

--- Reads the heads of the entries, which must be those of the directory; no two entries may share bytes.
local function place_entries(file, entries, stop)
  local order = table.move(entries, 1, #entries, 1, {})
  table.sort(order, function(a, b) return a.start > b.start end)
  for _, e in ipairs(order) do
    if e.start + LOCAL_SIZE > stop then fail("bad archive: entry %s reaches beyond its place", quote(e.name)) end
    local head = read_at(file, e.start, LOCAL_SIZE)
    local method, _, _, _, _, name_size, extra = string.unpack("<I2I4I4I4I4I2I2", head, 9)
    e.data = e.start + LOCAL_SIZE + name_size + extra
    if head:sub(1, 4) ~= LOCAL or method ~= e.method then
      fail("bad archive: the head of entry %s is not what the directory says", quote(e.name))
    end
    if e.data + e.packed > stop then fail("bad archive: entry %s reaches beyond its place", quote(e.name)) end
    if read_at(file, e.start + LOCAL_SIZE, name_size) ~= e.name then
      fail("bad archive: the head of entry %s has another name", quote(e.name))
    end
    stop = e.start
  end
end

--- The entries of an open archive, in the order of its directory.
-- @treturn table list of {name=, size=, ...}
function zip.entries(file)
  local length = file:seek "end"
  local directory = find_directory(file, length)
  local text, entries, names, at = read_at(file, directory.start, directory.size), {}, {}, 1
  for i = 1, directory.count do
    entries[i], at = read_directory_entry(text, at)
    if names[entries[i].name] then fail("entry %s comes twice", quote(entries[i].name)) end
    names[entries[i].name] = true
  end
  if at ~= #text + 1 then fail "bad archive: damaged directory" end
  place_entries(file, entries, directory.start)
  return entries
end

--- A function that returns at most so many of the bytes of an entry as they are stored, one piece after the other.
local function stored_pieces(file, e)
  local at = 0
  return function(most)
    local n = math.min(most, e.packed - at)
    at = at + n
    return n > 0 and read_at(file, e.data + at - n, n) or ""
  end
end

--- An entry as a file that is read from its beginning to its end: `read(n)`, and `seek` for its length.
-- @treturn table file
-- @treturn function is called at the end, and raises where the checksum is not that of what was read
function zip.open(file, e)
  local next_piece, crc, sum = stored_pieces(file, e), compression.crc(), 0
  if e.method == DEFLATED then
    if not compression.is_found() then
      fail("entry %s is compressed: to read it takes the Lua module zlib: apt install lua-zlib", quote(e.name))
    end
    next_piece = compression.inflater(next_piece, true, ("the bytes of entry %s"):format(quote(e.name)))
  end
  local kept, count = "", 0
  local entry = { seek = function() return e.size end }
  function entry.read(_, n)
    local parts, have = { kept }, #kept
    while have < n do
      local piece = next_piece(n)
      if not piece or piece == "" then break end
      count, sum = count + #piece, crc(piece)
      if count > e.size then fail("entry %s has more than its %d bytes", quote(e.name), e.size) end
      parts[#parts + 1], have = piece, have + #piece
    end
    local bytes = table.concat(parts)
    kept = bytes:sub(n + 1)
    return bytes ~= "" and bytes:sub(1, n) or nil
  end
  return entry, function()
    if count ~= e.size or sum ~= e.crc or (next_piece(1) or "") ~= "" then
      fail("the checksum of entry %s is wrong", quote(e.name))
    end
  end
end

return zip
